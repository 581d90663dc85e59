"""A run from the configuration to the page."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from eval import __main__ as command
from eval import config, report, store, tables
from eval.run import run
from eval.world import environment
from gitmem.authoring import init
from tests.eval.conftest import SYSTEMS, Quiet, make_config

VOID = {"meta", "br", "hr", "img", "line", "circle", "rect", "path"}


class Page(HTMLParser):
    """Reads a page and notes what does not nest, what it loads, and its words."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.loads: list[str] = []
        self.rows: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loads += [
            str(given[name])
            for name in ("src", "href")
            if given.get(name) and not str(given[name]).startswith("#")
        ]
        if tag in ("script", "iframe", "link"):
            self.loads.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)
        if self.open and self.open[-1] == "th":
            self.rows.append(data)


@pytest.fixture(scope="module")
def page(small) -> str:
    return report.write(small).read_text(encoding="utf-8")


def test_the_page_nests_loads_nothing_and_names_every_system(page):
    found = Page()
    found.feed(page)
    assert (found.wrong, found.open, found.loads) == ([], [], [])
    assert (
        "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        and "https://" not in page
        and "url(" not in page
    )
    asked = set(SYSTEMS.split(", ")) - {"mem0"}
    assert asked <= set(found.rows)
    assert page.count("<svg") >= 4


def test_the_page_shows_text_as_text(page):
    assert "A small set &amp; its &lt;tags&gt;" in page
    assert "&lt;memory-context&gt;" in page and "<memory-context>" not in page


def test_what_is_not_set_or_not_installed_is_left_out_and_named(page, small):
    assert "data set `absent`: skipped, NO_SUCH_SET is not set" in page
    assert "system `mem0`: skipped" in page
    assert json.loads((small / "run.json").read_text())["skipped"]


def test_results_say_of_what_they_are(small):
    head, outcomes = store.read(store.file_of(small, "small", "bm25"))
    assert {"key", "data", "system", "code", "seed", "now", "dataset", "commit", "versions"} == set(head)
    assert len(outcomes) == 7 + 8 + 3
    found = json.loads((small / "report.json").read_text(encoding="utf-8"))
    assert {"commit", "seed", "versions", "bootstraps"} <= set(found)
    rows = {one["name"]: one for one in found["datasets"][0]["systems"]}
    assert rows["bm25"]["tried"] == 1 and rows["bm25"]["thresholds"] > 1


def test_the_numbers_of_the_small_set_are_those_one_can_count(small, page):
    found = json.loads((small / "report.json").read_text(encoding="utf-8"))["datasets"][0]
    stale = {row["system"]: row for row in found["stale"]}
    assert stale["product"]["stale_top5"] == 0 and stale["product"]["live_top2"] == 1
    assert stale["bm25"]["stale_first"] == 1 and stale["bm25+scope+live"]["stale_top5"] == 0
    doses = {(row["system"], row["split"]): row for row in found["doses"] if row["how"] == "as shipped"}
    assert doses["silent", "all"]["bytes"]["total"] == 0 and doses["silent", "all"]["silent"] == 1
    assert doses["always", "all"]["injected"]["value"] == 1
    assert doses["everything", "all"]["recall"]["value"] == 1
    assert doses["full", "all"]["n"] == 17 and doses["personal", "all"]["n"] == 1
    assert found["never_written"]["missing"] == 1 and found["never_written"]["needing"] == 7
    assert found["oracle"]["recall"] == 1
    quiet = {(kind, row["system"]): row for kind, rows in found["quiet_kinds"].items() for row in rows}
    assert quiet["routine, later turn", "working"]["triggered"] == 0
    assert quiet["routine, first turn", "working"]["triggered"] == 4
    assert found["streams"]["sessions"] == 1


def test_thresholds_are_tuned_on_the_first_half_and_shown_on_both(small, page):
    found = json.loads((small / "report.json").read_text(encoding="utf-8"))["datasets"][0]
    for system in ("full", "product", "bm25", "dense", "rrf"):
        lines = [row for row in found["doses"] if row["system"] == system and row["how"] == "tuned"]
        assert [row["split"] for row in lines] == ["dev", "test"]
        assert len({row["threshold"] for row in lines}) == 1


def test_the_more_quiet_turns_may_be_disturbed_the_more_is_said(small, page):
    found = json.loads((small / "report.json").read_text(encoding="utf-8"))["datasets"][0]
    rows = {row["system"]: [row[str(cap)] for cap in tables.QUIET_CAPS] for row in found["at_quiet"]}
    assert {"full", "working", "product", "bm25", "dense", "rrf"} <= set(rows)
    assert all(values == sorted(values) for values in rows.values())
    points = found["curves"]["full"]
    assert rows["full"][0] == max(p["recall"] for p in points if p["injected"] == 0)


def test_no_answer_of_any_profile_leaks(small):
    assert json.loads((small / "measures" / "leaks.json").read_text())["leaks"] == 0


@pytest.fixture
def stopped(small, tmp_path):
    """A copy of the run whose file of one system was cut off in the middle of a line."""
    make_config(tmp_path, "bm25, working")
    out = tmp_path / "out"
    shutil.copytree(small, out)
    file = store.file_of(out, "small", "bm25")
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    return tmp_path, out, file, whole


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_answers(stopped):
    place, out, file, whole = stopped
    run(config.read(place / "small.yaml"), out, True, Quiet())
    asked = {
        row["name"]: row["asked"]
        for row in json.loads((out / "datasets" / "small.json").read_text())["systems"]
    }
    assert asked == {"bm25": 14, "working": 0}

    def answers(data: bytes):
        return {row["probe"]: {**row, "ms": 0} for row in map(json.loads, data.splitlines()[1:])}

    assert answers(file.read_bytes()) == answers(whole)


def test_without_resume_everything_is_asked_again(stopped):
    place, out, _, _ = stopped
    run(config.read(place / "small.yaml"), out, False, Quiet())
    asked = {
        row["name"]: row["asked"]
        for row in json.loads((out / "datasets" / "small.json").read_text())["systems"]
    }
    assert asked == {"bm25": 18, "working": 18}


def test_other_data_is_not_answered_from_old_results(stopped):
    place, out, _, _ = stopped
    probes = (place / "probes.jsonl").read_text(encoding="utf-8").replace("until when", "till when")
    (place / "probes.jsonl").write_text(probes, encoding="utf-8")
    run(config.read(place / "small.yaml"), out, True, Quiet())
    asked = {
        row["name"]: row["asked"]
        for row in json.loads((out / "datasets" / "small.json").read_text())["systems"]
    }
    assert asked == {"bm25": 18, "working": 18}


def test_the_command_runs_reports_and_refuses_what_it_cannot_read(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_config(tmp_path, "silent, working")
    assert command.main(["run", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "report.html")
    assert command.main(["report", str(tmp_path / "nowhere")]) == 1
    (tmp_path / "bad.yaml").write_text("datsets: []\n")
    assert command.main(["run", str(tmp_path / "bad.yaml")]) == 1
    assert "unknown key `datsets`" in capsys.readouterr().err
    (tmp_path / "none.yaml").write_text("systems: [nobody]\ndatasets: [{cards: cards.jsonl}]\n")
    assert command.main(["run", str(tmp_path / "none.yaml"), "--out", str(tmp_path / "o")]) == 1
    assert "no system `nobody`; systems are full" in capsys.readouterr().err


def test_a_run_into_a_relative_folder_needs_no_name_of_the_person(tmp_path, monkeypatch):
    """As on a fresh machine, whose git does not know who sits before it."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.chdir(tmp_path)
    world = environment(Path("worlds/one"))
    init.init(world, Path("worlds/one/memory").resolve(), "main")
    assert Path(world.vars["GIT_CONFIG_GLOBAL"]).is_absolute()
