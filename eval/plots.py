"""Plots as inline SVG. Colours are variables of the page, so that light and dark are one drawing; every mark has a title to hover.

Written by hand rather than by a plotting library: five kinds of marks, a few kilobytes a figure, nothing to install.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

WIDTH = 1000
# The product's profiles keep their colour in every figure; everybody else is told apart by label, and drawn in grey.
COLOURS = {
    "full": "--c1",
    "working": "--c2",
    "personal": "--c3",
    "product": "--c1",
    "product+scope": "--c2",
    "bm25": "--c4",
    "dense": "--c5",
    "rrf": "--c6",
}
OTHER = "--mute"


def colour(name: str) -> str:
    return f"var({COLOURS.get(name, OTHER)})"


def dose_curve(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Injection rate (x) against recall (y) over the threshold; a dot where the system is shipped, a ring where one was tuned."""
    shown = {
        name: points
        for name, points in curves.items()
        if name in ("full", "working", "personal", "bm25", "dense", "rrf") and points
    }
    if not shown:
        return ""
    left, right, top, bottom, height = 56, 96, 16, 44, 400
    across, down = WIDTH - left - right, height - top - bottom

    def x(value: float) -> float:
        return left + across * value

    def y(value: float) -> float:
        return top + down * (1 - value)

    parts = [
        _grid(
            left,
            top,
            across,
            down,
            x,
            y,
            "turns that need nothing in which something was said",
            "needed cards said",
        )
    ]
    ends: list[tuple[float, str]] = []
    for name, points in shown.items():
        path = sorted({(p["injected"], p["recall"]) for p in points})
        best = 0.0
        stairs = []
        for injected, recall in path:
            best = max(best, recall)
            stairs.append((injected, best))
        # between two thresholds there is nothing to choose: steps, not slopes
        line = f"M{x(stairs[0][0]):.1f} {y(stairs[0][1]):.1f}" + "".join(
            f"H{x(a):.1f}V{y(b):.1f}" for a, b in stairs[1:]
        )
        dashed = "" if name in ("full", "working", "personal") else ' stroke-dasharray="5 4"'
        parts.append(
            f'<path d="{line}" fill="none" stroke="{colour(name)}" stroke-width="2" stroke-linejoin="round"{dashed}><title>{escape(name)}</title></path>'
        )
        for p in points:
            if p["shipped"] or p["tuned"]:
                what = "as shipped" if p["shipped"] else "tuned on the first half"
                title = f"{name}, {what}: threshold {p['threshold']:.3g}, injected {p['injected']:.1%}, recall {p['recall']:.1%}, {p['bytes']:.0f} bytes a turn"
                fill = colour(name) if p["shipped"] else "var(--surface)"
                parts.append(
                    f'<circle cx="{x(p["injected"]):.1f}" cy="{y(p["recall"]):.1f}" r="5" fill="{fill}" stroke="{colour(name)}" stroke-width="2"><title>{escape(title)}</title></circle>'
                )
        ends.append((y(stairs[-1][1]), name))
    for at, (place, name) in _apart(sorted(ends)):
        end = max(p["injected"] for p in shown[name])
        parts.append(
            f'<path d="M{x(end) + 4:.1f} {at:.1f}L{x(1) + 4:.1f} {place:.1f}" stroke="var(--line)" fill="none"/>'
        )
        parts.append(
            f'<text x="{x(1) + 8:.1f}" y="{place + 4:.1f}" style="fill:{colour(name)}" class="b">{escape(name)}</text>'
        )
    return _svg(height, "Dose curve", parts)


def _apart(ends: Sequence[tuple[float, str]], step: float = 16.0) -> list[tuple[float, tuple[float, str]]]:
    """Places of labels, moved until none covers another: (where it belongs, (where it stands, name))."""
    out = []
    last = -step
    for place, name in ends:
        last = max(place, last + step)
        out.append((place, (last, name)))
    # what ran over the lower end is pushed back up
    over = max(0.0, last - 356)
    return [(belongs, (stands - over, name)) for belongs, (stands, name) in out]


def intervals(rows: Sequence[Mapping[str, Any]], measure: str, label: str) -> str:
    """One row a system: a dot, and its 95 % interval."""
    if not rows:
        return ""
    ordered = sorted(rows, key=lambda row: -row[measure]["value"])
    left, right, step, top = 170, 60, 26, 28
    height = top + step * len(ordered) + 34
    across = WIDTH - left - right

    def x(value: float) -> float:
        return left + across * value

    parts = []
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{height - 30}" class="grid"/><text x="{x(tick):.1f}" y="{height - 14}" class="t" text-anchor="middle">{tick:.1f}</text>'
        )
    parts.append(f'<text x="{left}" y="12" class="t">{escape(label)}, 95 % interval</text>')
    for number, row in enumerate(ordered):
        at = top + step * number + step / 2
        value = row[measure]
        title = f"{row['system']}: {value['value']:.3f} ({value['low']:.3f} to {value['high']:.3f}), {value['n']} probes"
        heavy = (
            ' class="b"'
            if row["system"] in ("full", "working", "personal") or row["system"].startswith("product")
            else ""
        )
        parts.append(
            f'<text x="{left - 12}" y="{at + 4:.1f}" text-anchor="end"{heavy}>{escape(row["system"])}</text>'
        )
        parts.append(
            f'<line x1="{x(value["low"]):.1f}" x2="{x(value["high"]):.1f}" y1="{at:.1f}" y2="{at:.1f}" stroke="{colour(row["system"])}" stroke-width="2" opacity=".55"/>'
        )
        parts.append(
            f'<circle cx="{x(value["value"]):.1f}" cy="{at:.1f}" r="5" fill="{colour(row["system"])}"><title>{escape(title)}</title></circle>'
        )
        parts.append(f'<text x="{WIDTH - right + 12}" y="{at + 4:.1f}" class="n">{value["value"]:.3f}</text>')
    return _svg(height, label, parts)


def bytes_and_items(rows: Sequence[Mapping[str, Any]]) -> str:
    """One row a system: mean bytes a turn as a bar, the 95th percentile as a mark, items in words."""
    if not rows:
        return ""
    left, right, step, top = 170, 190, 26, 12
    height = top + step * len(rows) + 34
    across = WIDTH - left - right
    # what costs far more than anything else (all cards, always) would flatten the rest: it is cut off and labelled
    sizes = sorted(max(row["bytes"]["p95"], row["bytes"]["mean"]) for row in rows)
    limit = _round(
        max(100.0, sizes[-1] if len(sizes) < 2 or sizes[-1] <= 3 * max(1.0, sizes[-2]) else sizes[-2] * 1.1)
    )

    def x(value: float) -> float:
        return left + across * min(1.0, value / limit)

    parts = []
    for i in range(5):
        tick = limit * i / 4
        parts.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 4}" y2="{height - 30}" class="grid"/><text x="{x(tick):.1f}" y="{height - 14}" class="t" text-anchor="middle">{tick:,.0f}</text>'
        )
    for number, row in enumerate(rows):
        at = top + step * number
        cut = row["bytes"]["mean"] > limit
        title = f"{row['system']}: mean {row['bytes']['mean']:,.0f} bytes a turn, median {row['bytes']['p50']:,.0f}, 95 % {row['bytes']['p95']:,.0f}; silent in {row['silent']:.0%}"
        parts.append(f'<text x="{left - 12}" y="{at + 17}" text-anchor="end">{escape(row["system"])}</text>')
        parts.append(
            f'<rect x="{left}" y="{at + 5}" width="{max(1.0, x(row["bytes"]["mean"]) - left):.1f}" height="14" rx="3" fill="{colour(row["system"])}"><title>{escape(title)}</title></rect>'
        )
        if not cut:
            parts.append(
                f'<line x1="{x(row["bytes"]["p95"]):.1f}" x2="{x(row["bytes"]["p95"]):.1f}" y1="{at + 2}" y2="{at + 22}" stroke="var(--ink)" stroke-width="1.5"><title>95th percentile</title></line>'
            )
        words = f"{row['bytes']['mean']:,.0f} B, {row['items']['mean']:.2f} items" + (" →" if cut else "")
        parts.append(f'<text x="{WIDTH - right + 12}" y="{at + 17}" class="n">{words}</text>')
    return _svg(height, "Bytes a turn", parts)


def _round(value: float) -> float:
    """The next of 1, 2, 4 or 8 times a power of ten, so that quarters of it are round."""
    power = 10 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if power * step >= value)


def stream_bars(streams: Mapping[str, Any]) -> str:
    """Bytes of each conversation under full and working, side by side."""
    rows = {row["system"]: row["sessions"] for row in streams["rows"] if row["system"] in ("full", "working")}
    if len(rows) != 2:
        return ""
    names = [name for name in rows["full"] if rows["full"][name] or rows["working"][name]][:12]
    if not names:
        return ""
    left, right, step, top = 170, 70, 44, 8
    height = top + step * len(names) + 10
    limit = max(max(rows["full"][name], rows["working"][name]) for name in names)
    parts = []
    for number, name in enumerate(names):
        at = top + step * number
        parts.append(f'<text x="{left - 12}" y="{at + 23}" text-anchor="end">{escape(name[:22])}</text>')
        for place, profile in ((4, "full"), (20, "working")):
            width = (WIDTH - left - right) * rows[profile][name] / limit
            parts.append(
                f'<rect x="{left}" y="{at + place}" width="{max(1.0, width):.1f}" height="13" rx="3" fill="{colour(profile)}"><title>{profile}: {rows[profile][name]:,} bytes</title></rect>'
            )
            parts.append(
                f'<text x="{left + max(1.0, width) + 6:.1f}" y="{at + place + 11}" class="n">{rows[profile][name]:,}</text>'
            )
    return _svg(height, "Bytes of whole conversations", parts)


def _grid(left, top, across, down, x, y, below: str, beside: str) -> str:  # type: ignore[no-untyped-def]
    out = []
    for tick in (0, 0.25, 0.5, 0.75, 1.0):
        out.append(
            f'<line x1="{left}" x2="{left + across}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" class="grid"/><text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end" class="t">{tick:.0%}</text>'
        )
        out.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{top + down}" class="grid"/><text x="{x(tick):.1f}" y="{top + down + 16}" text-anchor="middle" class="t">{tick:.0%}</text>'
        )
    out.append(
        f'<text x="{left + across / 2:.1f}" y="{top + down + 36}" text-anchor="middle" class="t">{escape(below)}</text>'
    )
    out.append(
        f'<text x="14" y="{top + down / 2:.1f}" text-anchor="middle" class="t" transform="rotate(-90 14 {top + down / 2:.1f})">{escape(beside)}</text>'
    )
    return "".join(out)


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title, quote=True)}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
