"""The report: one page that needs nothing beside itself, and the same numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from eval import plots, store, tables
from eval.run import dataset_of

STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")


def write(out: Path) -> Path:
    """Write `report.json` and `report.html` of a folder of results; the page's path.

    Raises:
        OSError: there are no results in it.
    """
    found = analysed(out)
    store.write_json(out / "report.json", found)
    place = out / "report.html"
    place.write_text(page(found), encoding="utf-8")
    return place


def analysed(out: Path) -> dict[str, Any]:
    """Everything the page says, as values."""
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    sets = [
        tables.of_dataset(
            out, dataset_of(out, one["name"]), run["bootstraps"], run["seed"], run["need_weight"]
        )
        for one in run["datasets"]
    ]
    measures = {
        name: json.loads((out / "measures" / f"{name}.json").read_text(encoding="utf-8"))
        for name in run["measures"]
    }
    judged = {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted((out / "judged").glob("*.json"))
    }
    kept = {
        key: run[key]
        for key in (
            "name",
            "title",
            "seed",
            "now",
            "bootstraps",
            "need_weight",
            "commit",
            "code",
            "versions",
            "skipped",
        )
    }
    return {
        **kept,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "datasets": sets,
        "measures": measures,
        "judged": judged,
    }


def page(found: Mapping[str, Any]) -> str:
    """The page of what `analysed` gives."""
    parts = [_dataset(one) for one in found["datasets"]]
    parts += [_judged(name, one) for name, one in found["judged"].items()]
    parts += [_measure(name, one) for name, one in found["measures"].items()]
    where = "".join(
        f'<a href="#{_anchor(one["name"])}">{escape(one["name"])}</a>' for one in found["datasets"]
    )
    skipped = "".join(f"<li>{escape(one)}</li>" for one in found["skipped"])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(found["title"])}</title><style>{STYLE}</style></head><body><main>
<header><p class="over">git mem · evaluation</p><h1>{escape(found["title"])}</h1>
<p class="lead">Does recall say the right thing, and does it stay quiet when there is nothing to say? Both are shown together: a system that never
speaks would win on the second alone.</p><nav>{where}</nav></header>
{_tiles(found)}{"".join(parts)}
{f"<section><h2>Left out</h2><ul>{skipped}</ul></section>" if skipped else ""}
{_provenance(found)}</main></body></html>
"""


def _tiles(found: Mapping[str, Any]) -> str:
    tiles = []
    for one in found["datasets"][:1]:
        doses = {row["system"]: row for row in one["doses"] if row["how"] == "as shipped"}
        for name in ("full", "working"):
            if name in doses and doses[name]["recall"] and doses[name]["injected"]:
                row = doses[name]
                tiles.append(
                    (
                        f"{row['injected']['value']:.0%}",
                        f"of quiet turns disturbed by {name}",
                        f"{row['recall']['value']:.0%} of needed cards said · {one['name']}",
                    )
                )
        for row in one.get("stale", ()):
            if row["system"] == "product":
                tiles.append(
                    (
                        f"{row['live_top2']}/{row['n']}",
                        "replaced cards lead to their successor",
                        f"stale in the top 5: {row['stale_top5']} · {one['name']}",
                    )
                )
    for one in found["datasets"]:
        if one.get("streams", {}).get("saved") is not None:
            tiles.append(
                (
                    f"{one['streams']['saved']:.0%}",
                    "fewer bytes under working than full",
                    f"{one['streams']['sessions']} conversations · {one['name']}",
                )
            )
            break
    made = "".join(
        f'<div class="tile"><b>{escape(a)}</b><span>{escape(b)}</span><small>{escape(c)}</small></div>'
        for a, b, c in tiles[:6]
    )
    return f'<div class="tiles">{made}</div>' if made else ""


def _dataset(one: Mapping[str, Any]) -> str:
    blocks = [
        f'<section id="{_anchor(one["name"])}"><h2>{escape(one["name"])}</h2>',
        f'<p class="facts">{one["cards"]:,} cards, {one["probes"]:,} probes: {one["needing"]:,} with a known answer, {one["quiet"]:,} that need nothing; {one["clusters"]:,} clusters.</p>',
    ]
    if one["curves"]:
        blocks.append(
            _figure(
                "The dose curve", plots.dose_curve(one["curves"]),
                "Each line is one system over its threshold: further left is quieter, higher says more of what is needed. A dot is where it is shipped, a ring where one threshold was tuned on the first half.",
            )
        )  # fmt: skip
    if one["ranking"]:
        blocks.append(
            _figure(
                "Quality by system",
                plots.intervals(one["ranking"], "r5", "Recall@5, no threshold"),
                "Whiskers: 2,000 bootstraps over whole clusters.",
            )
        )
    lines = _one_a_system(one["doses"])
    if lines:
        blocks.append(
            _figure(
                "Bytes and items",
                plots.bytes_and_items(lines),
                "Bar: mean bytes a turn over all turns, silent ones included. Mark: 95th percentile. As shipped, or at the tuned threshold on the second half.",
            )
        )
    if one.get("streams"):
        blocks.append(_streams(one["streams"]))
    if one.get("examples"):
        blocks.append(_examples(one["examples"]))
    if one["ranking"]:
        blocks.append(_ranking(one["ranking"]))
    blocks.append(_doses(one["doses"]))
    if one["at_quiet"]:
        blocks.append(_at_quiet(one["at_quiet"]))
    if one.get("stale"):
        blocks.append(_stale(one["stale"]))
    if len(one["languages"]) > 1:
        blocks.append(_matrix("By language", one["languages"]))
    if len(one["kinds"]) > 1:
        blocks.append(_matrix("By kind of question", one["kinds"]))
    if one["quiet_kinds"]:
        blocks.append(_quiet(one["quiet_kinds"]))
    if one["differences"]:
        blocks.append(_differences(one["differences"]))
    blocks.append(_limits(one))
    blocks.append("</section>")
    return "".join(blocks)


def _one_a_system(doses: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    chosen: dict[str, Mapping[str, Any]] = {}
    for row in doses:
        if row["how"] == "as shipped" or (row["split"] == "test" and row["system"] not in chosen):
            chosen[row["system"]] = row
    return list(chosen.values())


def _ranking(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["system", "n", "R@1", "R@2", "R@5", "95 %", "R@10", "hit@5", "MRR", "nDCG@10", "ms"]
    body = [
        [
            row["system"],
            row["n"],
            *(_v(row[m]) for m in ("r1", "r2", "r5")),
            _ci(row["r5"]),
            *(_v(row[m]) for m in ("r10", "hit5", "mrr", "ndcg10")),
            f"{row['ms_p50']:.1f}",
        ]
        for row in rows
    ]
    return _table(
        "Ranking, before any threshold",
        head,
        body,
        best=(2, 3, 4, 6, 7, 8, 9),
        note="ms: the median of one answer, the prompt's vector ready.",
    )


def _doses(rows: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "system",
        "threshold",
        "part",
        "n",
        "said",
        "injected",
        "score",
        "looked",
        "silent",
        "bytes mean · p50 · p95",
        "items mean · p95",
        "useful",
        "stale",
    ]
    body = [
        [
            row["system"], ("" if row["threshold"] is None else f"{row['threshold']:.3g} ") + f"<small>{row['how']}</small>", row["split"], row["n"],
            f"{_p(row['recall'])} <small>{_ci(row['recall'])}</small>", f"{_p(row['injected'])} <small>{_ci(row['injected'])}</small>",
            "" if row["score"] is None else f"{row['score']:.3f}", f"{row['triggered']:.0%}", f"{row['silent']:.0%}",
            f"{row['bytes']['mean']:,.0f} · {row['bytes']['p50']:,.0f} · {row['bytes']['p95']:,.0f}", f"{row['items']['mean']:.2f} · {row['items']['p95']:.0f}",
            "" if row["useful"] is None else f"{row['useful']:.0%}", "" if row["stale_said"] is None else f"{row['stale_said']:.0%}",
        ]
        for row in rows
    ]  # fmt: skip
    return _table(
        "What is said", head, body, raw=True,
        note="said: share of needed cards that were said. injected: share of turns that need nothing in which something was said. score: mean of hit and silence, to which one threshold a row is tuned on the part dev. useful: share of said cards that are gold. stale: share of changed answers in which what was replaced was said.",
    )  # fmt: skip


def _at_quiet(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["system", "n", *(f"injected ≤ {cap:.0%}" for cap in tables.QUIET_CAPS)]
    body = [[row["system"], row["n"], *(f"{row[str(cap)]:.3f}" for cap in tables.QUIET_CAPS)] for row in rows]
    best = tuple(range(2, 2 + len(tables.QUIET_CAPS)))
    return _table(
        "Said at equal quiet",
        head,
        body,
        best=best,
        note="Share of needed cards said at the best threshold that disturbs at most so many of the turns that need nothing; both halves together, so a ceiling and no promise.",
    )


def _stale(rows: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "system",
        "n",
        "stale in top 5",
        "stale first",
        "any dead in top 5",
        "current in top 2",
        "current in top 5",
    ]
    body = [
        [
            row["system"],
            row["n"],
            _of(row["stale_top5"], row["n"]),
            _of(row["stale_first"], row["n"]),
            _of(row["dead_top5"], row["n"]),
            _of(row["live_top2"], row["n"]),
            _of(row["live_top5"], row["n"]),
        ]
        for row in rows
    ]
    return _table("After a change of mind", head, body, note="Asked in the words of what was replaced.")


def _matrix(title: str, groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Recall@5 and its interval, a column a group."""
    systems = list(dict.fromkeys(row["system"] for rows in groups.values() for row in rows))
    counts = {name: max(row["n"] for row in rows) for name, rows in groups.items()}
    values = {(name, row["system"]): row for name, rows in groups.items() for row in rows}
    head = ["system", *(f"{name} ({counts[name]})" for name in groups)]
    body = []
    for system in systems:
        line = [system]
        for name in groups:
            row = values.get((name, system))
            line.append(f"{row['r5']['value']:.3f} <small>{_ci(row['r5'])}</small>" if row else "")
        body.append(line)
    return _table(f"{title}: recall@5", head, body, best=tuple(range(1, len(groups) + 1)), raw=True)


def _quiet(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    head = ["kind of turn", "system", "turns", "looked", "spoke", "share", "bytes a turn"]
    body = [
        [
            name,
            row["system"],
            row["n"],
            row["triggered"],
            row["injected"],
            f"{row['injected'] / row['n']:.0%}",
            f"{row['bytes']:,.0f}",
        ]
        for name, rows in groups.items()
        for row in rows
    ]
    return _table("Turns that need nothing, or of which nobody knows, as shipped", head, body)


def _differences(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["system", "against", "of", "n", "recall@5", "95 %", "MRR", "95 %"]
    merged: dict[tuple[str, str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        merged.setdefault((row["system"], row["against"], row["of"]), {})[row["measure"]] = row
    body = []
    for (system, against, group), by in merged.items():
        line: list[Any] = [system, against, group, by["r5"]["n"]]
        for measure in ("r5", "mrr"):
            one = by[measure]
            mark = "good" if one["low"] > 0 else "bad" if one["high"] < 0 else ""
            line += [
                f'<span class="{mark}">{one["value"]:+.3f}</span>',
                f"{one['low']:+.3f} to {one['high']:+.3f}",
            ]
        body.append(line)
    return _table("Differences, paired over the same probes and draws", head, body, raw=True, folded=True)


def _limits(one: Mapping[str, Any]) -> str:
    lines = []
    if one["oracle"]:
        lines.append(
            f"Pool oracle: a perfect choice from the first 10 of every system together ({one['oracle']['pool']:.0f} cards a probe) would find {one['oracle']['recall']:.1%}."
        )
    missing = one["never_written"]
    if missing["needing"]:
        kinds = ", ".join(f"{name} {count}" for name, count in missing["kinds"].items())
        lines.append(
            f"Never written: {missing['missing']} of {missing['needing']} moments that need memory have no card{f' ({kinds})' if kinds else ''}."
        )
    lines += one["notes"]
    return f'<ul class="notes">{"".join(f"<li>{escape(line)}</li>" for line in lines)}</ul>' if lines else ""


def _streams(streams: Mapping[str, Any]) -> str:
    drawn = plots.stream_bars(streams)
    head = ["system", "bytes", "turns with words", "of turns"]
    body = [
        [row["system"], f"{row['bytes']:,}", row["turns_with"], streams["turns"]] for row in streams["rows"]
    ]
    saved = f"Working costs {streams['saved']:.0%} less than full." if streams["saved"] is not None else ""
    return _figure(
        "Whole conversations", drawn, f"Bytes of each conversation: full above, working below. {saved}"
    ) + _table(f"{streams['sessions']} conversations", head, body)


def _examples(examples: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for one in examples:
        most = max(dose["bytes"] for dose in one["doses"])
        doses = "".join(
            f'<div class="dose"><p><b style="color:{plots.colour(dose["system"])}">{escape(dose["system"])}</b> {dose["bytes"]:,} bytes, {dose["items"]} item{"s" if dose["items"] != 1 else ""}</p>'
            f'<div class="bar" style="width:{100 * dose["bytes"] / most:.0f}%;background:{plots.colour(dose["system"])}"></div><pre>{escape(dose["text"])}</pre></div>'
            for dose in one["doses"]
        )
        parts.append(
            f'<article><p class="prompt">{escape(one["prompt"])}</p><div class="two">{doses}</div></article>'
        )
    return f"<h3>Same prompt, two doses</h3>{''.join(parts)}"


def _judged(name: str, one: Mapping[str, Any]) -> str:
    head = [
        "system",
        "probes",
        "composite",
        "95 %",
        "necessary said",
        "helpful said",
        "irrelevant",
        "harmful",
        "spoke",
        "silent rightly",
    ]
    body = [
        [
            row["system"],
            row["n"],
            f"{row['composite']['value']:.3f}",
            _ci(row["composite"]),
            row["necessary"],
            row["helpful"],
            row["irrelevant"],
            row["harmful"],
            row["spoke"],
            row["right_silence"],
        ]
        for row in one["rows"]
    ]
    again = one.get("second")
    words = f"{one['needing']} of {one['probes']} moments needed memory; {one['void']} labels void for want of a true citation; decoys called useful: {one['decoys_useful']}; superseded versions called useful: {one['stale_useful']}; in {one['never_written']} needing moments no card of any system helped."
    if again:
        words += f" Second labelling of {again['probes']} probes: agreement on need {again['need_agreement']:.2f} (kappa {again['need_kappa']:.2f}), on {again['labels']} labels {again['agreement']:.2f} (kappa {again['kappa']:.2f})."
    return f'<section><h2>Judged blindly: {escape(name)}</h2><p class="facts">{escape(words)}</p>{_table("Composite score", head, body)}</section>'


def _measure(name: str, one: Mapping[str, Any]) -> str:
    if one["kind"] == "quotes":
        body = [
            [kind, f"{row['accepted']} of {row['pairs']}", "accepted" if row["true"] else "refused"]
            for kind, row in one["by_kind"].items()
        ]
        body += [
            [kind, f"{row['accepted']} of {row['pairs']}", "by rule"] for kind, row in one["policy"].items()
        ]
        words = f"{one['pairs']:,} pairs: precision {one['precision']:.4f}, recall {one['recall']:.4f}; spans that do not give the original back: {one['spans_that_differ']}; one-character edits accepted: {one['edits_accepted']} of {one['edits_tried']}."
        return f'<section><h2>Quotes</h2><p class="facts">{escape(words)}</p>{_table("By language and kind", ["kind", "accepted", "should be"], body, folded=True)}</section>'
    if one["kind"] == "leaks":
        words = f"{one['answers']:,} answers over every probe, project and profile, each scanned for the token of a card that must not be heard: {one['leaks']} leaks."
        return f'<section><h2>Leaks</h2><p class="facts">{escape(words)}</p></section>'
    words = f"{one['silent_turns']:,} silent and {one['spoken_turns']:,} answered turns in the log, {one['searches']:,} searches by agents: {one['missed']} within 3 turns of a silent one (missed moments), {one['missed_and_found']} of which found something."
    return f'<section><h2>Missed moments</h2><p class="facts">{escape(words)}</p></section>'


def _provenance(found: Mapping[str, Any]) -> str:
    rows = [
        [one["name"], one["hash"], system["name"], system["about"], system["tried"], system["thresholds"]]
        for one in found["datasets"]
        for system in one["systems"]
    ]
    facts = [
        ("commit", found["commit"] or "none"), ("code", found["code"]), ("seed", found["seed"]), ("asked as of", found["now"]), ("bootstraps", found["bootstraps"]), ("made", found["made"]),
        *found["versions"].items(),
    ]  # fmt: skip
    listed = "".join(f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>" for key, value in facts)
    table = _table(
        "Systems",
        ["data set", "data", "system", "what it is", "variants tried", "thresholds tried"],
        rows,
        folded=True,
    )
    return f"<section><h2>Provenance</h2><dl>{listed}</dl>{table}</section>"


def _figure(title: str, drawn: str, words: str) -> str:
    return (
        f"<figure><h3>{escape(title)}</h3>{drawn}<figcaption>{escape(words)}</figcaption></figure>"
        if drawn
        else ""
    )


def _table(
    title: str,
    head: Sequence[str],
    body: Sequence[Sequence[Any]],
    *,
    best: Sequence[int] = (),
    note: str = "",
    raw: bool = False,
    folded: bool = False,
) -> str:
    """A table; in columns of `best` the largest numbers are marked. `raw`: cells are HTML already, the first excepted."""
    if not body:
        return ""
    # a system that was asked only a part is not compared with those that were asked all
    most = max((_number(row[1]) or 0 for row in body), default=0)
    compared = [row for row in body if (row[0] not in tables.PROFILES if raw else _number(row[1]) == most)]
    top = {}
    for column in best:
        numbers = [value for row in compared if (value := _number(row[column])) is not None]
        top[column] = max(numbers) if numbers else None
    rows = []
    for row in body:
        cells = []
        for column, value in enumerate(row):
            text = str(value) if raw and column else escape(str(value))
            is_best = (
                column in top
                and top[column] is not None
                and row in compared
                and _number(value) == top[column]
            )
            mark = ' class="best"' if is_best else ""
            cells.append(f"<th scope=row>{text}</th>" if column == 0 else f"<td{mark}>{text}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    made = f'<div class="scroll"><table><thead><tr>{"".join(f"<th>{escape(one)}</th>" for one in head)}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    made += f'<p class="note">{escape(note)}</p>' if note else ""
    return (
        f"<details><summary>{escape(title)}</summary>{made}</details>"
        if folded
        else f"<h3>{escape(title)}</h3>{made}"
    )


def _number(value: Any) -> float | None:
    try:
        return float(str(value).split(" ")[0])
    except ValueError:
        return None


def _v(value: Mapping[str, float] | None) -> str:
    return "" if value is None else f"{value['value']:.3f}"


def _p(value: Mapping[str, float] | None) -> str:
    return "" if value is None else f"{value['value']:.1%}"


def _ci(value: Mapping[str, float] | None) -> str:
    return "" if value is None else f"{value['low']:.2f}–{value['high']:.2f}"


def _of(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.0%})"


def _anchor(name: str) -> str:
    return "set-" + "".join(char if char.isalnum() else "-" for char in name)
