"""python -m tests.write_anchors: write the vectors of `gitmem.index.anchors` for the bundled embedder."""

from __future__ import annotations

from gitmem.index import anchors, embed
from tests.conftest import ROOT

if __name__ == "__main__":
    for name in embed.BUNDLED:
        file = ROOT / "templates" / "embedders" / f"{name}.f32"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(anchors.made(embed.load(name, for_query=False)))
        print(file)
