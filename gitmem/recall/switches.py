"""Off switches: here, for a while, or everywhere but in some folders. Local to this computer; capture obeys them too."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from gitmem.record import record


@record()
class Switches:
    """`until`: RFC 3339 time up to which everything is off. `only`: the folders that are on, when not empty."""

    until: str | None = None
    folders: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def off(self, cwd: Path | None, now: datetime) -> str | None:
        """Why recall is off in a folder now; None when it is on."""
        if self.until:
            try:
                if now < datetime.fromisoformat(self.until):
                    return f"off until {self.until}"
            except ValueError:
                pass
        place = [os.path.normpath(cwd), os.path.realpath(cwd)] if cwd is not None else []
        for folder in self.folders:
            if any(_inside(one, folder) for one in place):
                return f"off in {folder}"
        if self.only and not any(_inside(one, folder) for one in place for folder in self.only):
            return "off outside " + ", ".join(self.only)
        return None


def load(state: Path) -> Switches:
    try:
        kept = json.loads((state / "off.json").read_text(encoding="utf-8"))
        return Switches(kept.get("until"), tuple(kept.get("folders", ())), tuple(kept.get("only", ())))
    except (OSError, ValueError, AttributeError, TypeError):
        return Switches()


def save(state: Path, switches: Switches) -> None:
    state.mkdir(parents=True, exist_ok=True)
    file = state / "off.json"
    fresh = file.with_suffix(f".{os.getpid()}.tmp")
    kept = {"until": switches.until, "folders": list(switches.folders), "only": list(switches.only)}
    fresh.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    fresh.replace(file)


def _inside(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")
