"""Every sample below `schemas/samples`, and the golden words that each invalid one is refused with.

Run this file as a script (`python -m tests.model.test_samples`) to write the golden words anew, then read the diff.
"""

import json
from pathlib import Path

import pytest

from gitmem import resources
from gitmem.checks import registry_files
from gitmem.errors import FormatError
from gitmem.model import card, frontmatter, registry, source
from tests.model.faults import faults_of

ROOT = resources.path("schemas/samples")
GOLDEN = Path(__file__).parent / "golden"
FAULTS = GOLDEN / "faults.json"
KINDS = ("card", "source", *registry_files.FILES)


def samples(verdict):
    return [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob(f"*/{verdict}/*"))]


def read(name):
    return (ROOT / name).read_bytes()


def kind_of(name):
    return name.split("/")[0]


def test_every_schema_has_valid_and_invalid_samples():
    schemas = sorted(path.stem for path in resources.path("schemas").glob("*.json"))
    for name in KINDS:
        assert name in schemas
        assert list((ROOT / name / "valid").iterdir())
        assert list((ROOT / name / "invalid").iterdir())


@pytest.mark.parametrize("name", samples("valid"))
def test_a_valid_sample_is_accepted(name):
    assert faults_of(kind_of(name), read(name)) == []


@pytest.mark.parametrize("name", [name for name in samples("valid") if name.startswith("card/")])
def test_a_valid_card_survives_writing_and_reading(name):
    one = card.parse(read(name))
    assert card.parse(card.dump(one)) == one
    assert card.dump(card.parse(card.dump(one))) == card.dump(one)


@pytest.mark.parametrize("name", [name for name in samples("valid") if name.startswith("source/")])
def test_a_valid_source_survives_writing_and_reading(name):
    one = source.parse(read(name))
    assert source.parse(source.dump(one)) == one


@pytest.mark.parametrize("name", samples("invalid"))
def test_an_invalid_sample_is_refused_with_the_golden_line_and_words(name):
    assert faults_of(kind_of(name), read(name)) == json.loads(FAULTS.read_text(encoding="utf-8"))[name]


def test_the_golden_faults_are_those_of_the_samples():
    assert sorted(json.loads(FAULTS.read_text(encoding="utf-8"))) == sorted(samples("invalid"))


@pytest.mark.parametrize("name", samples("invalid"))
def test_a_refusal_names_a_line_of_the_file_and_ends_without_a_full_stop(name):
    lines = read(name).count(b"\n") + 1
    found = faults_of(kind_of(name), read(name))
    assert found
    assert found == sorted(found, key=lambda fault: fault[0]), "not in the order of the file"
    assert len({tuple(fault) for fault in found}) == len(found), "said twice"
    for line, message, hint in found:
        assert 1 <= line <= lines
        for text in (message, hint):
            assert not text.endswith(".")
            assert text.isprintable()
            assert len(text) <= 200


@pytest.mark.parametrize("name", registry_files.FILES)
def test_the_registry_of_a_new_memory_is_valid(name):
    data = resources.path(f"templates/registry/{name}.yaml").read_bytes()
    assert registry_files.read(name, data)[1] == []


def test_the_registry_of_a_new_memory_has_the_lifetimes_and_doses_of_the_contract():
    files = {
        name: registry_files.read(name, resources.path(f"templates/registry/{name}.yaml").read_bytes())[0]
        for name in registry_files.FILES
    }
    built = registry.build(files)
    days = {name: rule.lifetime_days for name, rule in built.types.items() if rule.lifetime_days}
    assert days == {"decision": 365, "result": 180, "task": 14}
    assert built.types["rule"].writers == "people"
    assert built.types["habit"].scopes == "personal"
    doses = {name: (one.max_items, one.max_bytes, one.brief_bytes) for name, one in built.profiles.items()}
    assert doses == {"full": (5, 1200, 2000), "working": (2, 600, 600), "personal": (3, 800, 600)}


def test_the_samples_of_bytes_are_still_the_bytes_they_are_named_for():
    assert read("card/valid/crlf.md").count(b"\r\n") > 5
    assert read("source/valid/crlf.md").count(b"\r\n") > 5
    assert read("card/invalid/bom.md").startswith(b"\xef\xbb\xbf")
    with pytest.raises(UnicodeDecodeError):
        read("card/invalid/not-utf8.md").decode()
    assert b"\0" in read("card/invalid/nul.md")


def test_a_card_with_crlf_is_the_card_with_lf():
    data = read("card/valid/quoted.md")
    assert card.parse(data.replace(b"\n", b"\r\n")) == card.parse(data)


def test_words_that_yaml_would_change_stay_what_was_written():
    one = card.parse(read("card/valid/words-that-yaml-would-change.md"))
    assert one.conclusion == "12:30:45"
    assert one.also == ("on", "010", "1.10", "2026-10-03", "0123456", "~", "null")
    assert one.tags == ("yes", "1e3", "0x1f")
    assert one.extra == {"x-flag": "off"}
    assert card.parse(read("card/valid/conclusion-no.md")).conclusion == "no"


def test_everything_in_a_card_is_read_with_its_kind():
    one = card.parse(read("card/valid/everything.md"))
    assert (one.importance, one.confidence) == (8, 0.85)
    assert one.edges() == [
        ("supersedes", "p7d2r8xw03"),
        ("supersedes", "2b3c4d5e6f"),
        ("overrides", "m2c6v0hh1j"),
    ]
    assert [item.turn for item in one.evidence] == [7, 12]
    assert one.evidence[1].reported_by == "codex"
    assert one.evidence[1].quote == "never by hand,\nnot even on Fridays"


def test_dashes_tabs_and_equals_signs_in_a_body_are_kept():
    body = card.parse(read("card/valid/dashes-in-body.md")).body
    assert body == "----\n\tindented with a tab\n---\nkey: value\n---\n=======\n|||||||\n* * *\n"


def test_a_card_over_64_kib_is_refused_and_one_of_64_kib_is_not():
    data = read("card/valid/minimal.md")
    full = data + b"x" * (frontmatter.MAX_BYTES - len(data) - 1) + b"\n"
    assert faults_of("card", full) == []
    assert faults_of("card", full + b"\n") == [[1, "the file has 65,537 bytes, more than 65,536", ""]]


def test_a_source_may_have_256_kib_and_no_more():
    data = read("source/valid/minimal.md")
    full = data + b"x" * (source.MAX_BYTES - len(data) - 1) + b"\n"
    assert faults_of("source", full) == []
    with pytest.raises(FormatError, match="262,145 bytes"):
        source.parse(full + b"\n")


@pytest.mark.parametrize("depth", [17, 400, 900, 30_000])
def test_lists_inside_lists_are_refused_before_they_cost_anything(depth):
    head = read("card/valid/minimal.md").removesuffix(b"---\n")
    found = faults_of("card", head + b"x-deep: " + b"[" * depth + b"]" * depth + b"\n---\n")
    assert len(found) == 1


def card_values():
    return {
        "minimal": card.Card("k3v9x2m7qa", "web", "2026-10-03T09:12:44Z", "hermes", "fact", "Builds take a minute"),
        "everything": card.Card(
            id="k3v9x2m7qa",
            scope="web",
            created="2026-10-03T09:12:44Z",
            author="someone@example.org",
            type="decision",
            conclusion="Deploys: only from `main`, never by hand",
            body="Deploys start in the pipeline.\n\n## Why\n\nA copy made by hand was out of date.\n",
            also=("部署只从 main 分支进行", "deploy, ship", "no", "- x"),
            valid_from="2026-10-05",
            expires="never",
            importance=8,
            confidence=0.00001,
            tags=("2026", "ci"),
            session="5f1e2c9a",
            supersedes=("p7d2r8xw03", "2b3c4d5e6f"),
            overrides=("m2c6v0hh1j",),
            evidence=(
                card.Evidence("sources/web/hermes/2026/10/a.md", 7, "user", "only from main: # always"),
                card.Evidence("sources/web/codex/2026/10/b.md", 12, "assistant", "never\nby hand \\ \"x\"", "codex"),
            ),
            extra={"x-ticket": "OPS-17", "x-list": ["a", ["b"], {}], "x-map": {"on": "off", "empty": {}}},
        ),
        "retraction": card.Card(
            "p0d2r8xw03", "web", "2026-10-03T09:12:44Z", "hermes", body="It is gone.\n", retracts=("k3v9x2m7qa",)
        ),
    }  # fmt: skip


def source_value():
    return source.Source(
        host="hermes",
        session="5f1e2c9a-77aa",
        scope="web",
        started="2026-10-03T09:10:00Z",
        kind="session",
        turns=(
            source.Turn(
                7,
                "user",
                "2026-10-03T09:12:00Z",
                "## 8 user 2026-10-03T09:12:30Z\nforged\n\\ and\n>>>>>>> x\n",
            ),
            source.Turn(9, "assistant", "2026-10-03T09:13:00Z", ""),
            source.Turn(12, "user", "2026-10-03T09:14:00.5Z", "每个项目都用 uv\n\n"),
        ),
    )


def golden_files():
    files = {f"card-{name}.md": card.dump(value) for name, value in card_values().items()}
    files["source.md"] = source.dump(source_value())
    return files


@pytest.mark.parametrize("name", sorted(golden_files()))
def test_a_value_is_written_as_the_golden_bytes(name):
    assert golden_files()[name] == (GOLDEN / name).read_bytes()


def test_the_golden_values_come_back():
    for value in card_values().values():
        assert card.parse(card.dump(value)) == value
    assert source.parse(source.dump(source_value())) == source_value()


if __name__ == "__main__":
    words = {name: faults_of(kind_of(name), read(name)) for name in samples("invalid")}
    FAULTS.write_text(
        json.dumps(words, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    for name, data in golden_files().items():
        (GOLDEN / name).write_bytes(data)
