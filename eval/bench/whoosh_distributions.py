"""Compare the packages that install a module named `whoosh`, on made-up bilingual cards.

    python eval/bench/whoosh_distributions.py WORKDIR [--cards 10000] [--repeat 9] [--python PATH ...]

For each distribution a fresh virtual environment is made in WORKDIR, the same cards are indexed in it,
and import, build, cold query, warm query and small updates are timed. Further `--python` interpreters
are used only to count the warnings that importing the package gives there. A last step plants pickles in
an index and tells which of them a search runs. Prints Markdown tables; needs only the standard library
here (the measured packages live in the environments it makes) and a package index that pip can reach.

Times are milliseconds of processor time, user and system, so that other work on the machine disturbs them
less; each is the median of `--repeat` rounds, and every round visits every distribution, so that a slow
minute hits all alike. A build is timed once. `import` is without the bare interpreter; `cold` is a whole
process: start, open the index, one query. `warm` is one query in an open searcher.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

DISTRIBUTIONS = ("Whoosh==2.7.4", "whoosh-reloaded", "whoosh3", "whoosh-ng")
IMPORTS = "import whoosh.index, whoosh.fields, whoosh.query, whoosh.scoring"
QUERIES = 20
TERMS_PER_QUERY = 8
CJK = re.compile(r"[\u4e00-\u9fff]+|[a-z0-9]+")


# ---- the cards ---------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Lower-case words as they stand; a run of Chinese becomes its characters and its bigrams."""
    found: list[str] = []
    for run in CJK.findall(text.lower()):
        if run[0] < "\u4e00":
            found.append(run)
        else:
            found.extend(run)
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found


def make_cards(count: int, seed: int = 7) -> list[tuple[str, str]]:
    """`count` pairs (key, space-joined tokens) of about 400 characters of text, word use falling as 1/rank."""
    rng = random.Random(seed)
    syllables = [c + v for c in "bcdfghklmnprstvw" for v in ("a", "e", "i", "o", "u", "an", "er")]
    words = list(dict.fromkeys("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(12000)))
    pairs = ["".join(chr(0x4E00 + rng.randrange(1800)) for _ in range(2)) for _ in range(3000)]
    # Chinese comes in set phrases, so that the bigrams across two words recur as they do in real text.
    phrases = ["".join(rng.choices(pairs, k=rng.randint(2, 4))) for _ in range(8000)]
    falling = [[1 / (rank + 3) for rank in range(len(pool))] for pool in (words, phrases)]
    cards = []
    for number in range(count):
        parts: list[str] = []
        while sum(map(len, parts)) < 400:
            if rng.random() < 0.5:
                parts.append(" ".join(rng.choices(words, falling[0], k=rng.randint(4, 12))) + ". ")
            else:
                parts.append("，".join(rng.choices(phrases, falling[1], k=rng.randint(2, 5))) + "。")
        cards.append((f"c{number:06d}", " ".join(tokens("".join(parts)))))
    return cards


def make_queries(cards: list[tuple[str, str]], seed: int = 11) -> list[list[str]]:
    """Queries of eight different tokens, each query's tokens taken from one card, so that each has an answer."""
    rng = random.Random(seed)
    return [rng.sample(sorted(set(rng.choice(cards)[1].split())), TERMS_PER_QUERY) for _ in range(QUERIES)]


# ---- run inside a measured environment ---------------------------------------------------------


def _schema():
    from whoosh.fields import ID, KEYWORD, Schema

    return Schema(
        key=ID(stored=True, unique=True), words=KEYWORD(lowercase=False, commas=False, scorable=True)
    )


def _fill(index, cards: list[tuple[str, str]], update: bool = False, **commit) -> None:
    try:
        writer = index.writer(limitmb=256, compound=False)
    except TypeError:  # a fork that dropped the option still takes part
        writer = index.writer(limitmb=256)
    put = writer.update_document if update else writer.add_document
    for key, words in cards:
        put(key=key, words=words)
    writer.commit(**commit)


def _load(work: Path) -> tuple[list[tuple[str, str]], list[list[str]]]:
    held = json.loads((work / "cards.json").read_text("utf-8"))
    return held["cards"], held["queries"]


def do_build(work: Path, folder: Path) -> None:
    from whoosh import index

    cards, _ = _load(work)
    began = time.process_time()
    _fill(index.create_in(str(folder), _schema()), cards)
    took = (time.process_time() - began) * 1000
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(json.dumps({"build": took, "size": size, "files": len(list(folder.iterdir()))}))


def _search(searcher, terms: list[str]) -> list[tuple[str, float]]:
    from whoosh.query import Or, Term

    found = searcher.search(Or([Term("words", term) for term in terms]), limit=50)
    return [(hit["key"], round(hit.score, 4)) for hit in found]


def do_cold(folder: Path, terms: list[str]) -> None:
    from whoosh import index, scoring

    with index.open_dir(str(folder), schema=_schema()).searcher(weighting=scoring.BM25F()) as searcher:
        print(json.dumps(_search(searcher, terms)))


def do_warm(work: Path, folder: Path, repeat: int) -> None:
    from whoosh import index, scoring

    _, queries = _load(work)
    with index.open_dir(str(folder), schema=_schema()).searcher(weighting=scoring.BM25F()) as searcher:
        for terms in queries:
            _search(searcher, terms)
        times = []
        for _ in range(repeat):
            for terms in queries:
                began = time.process_time()
                _search(searcher, terms)
                times.append((time.process_time() - began) * 1000)
    print(json.dumps({"warm": statistics.median(times)}))


def do_update(work: Path, folder: Path, merge: bool) -> None:
    from whoosh import index

    cards, _ = _load(work)
    opened = index.open_dir(str(folder), schema=_schema())
    began = time.process_time()
    _fill(opened, [(key, words + " zhen") for key, words in cards[100:110]], update=True, merge=merge)
    took = (time.process_time() - began) * 1000
    print(json.dumps({"update": took, "segments": len(index.open_dir(str(folder))._segments())}))


def do_two_cards(folder: Path) -> None:
    """Whether an index of two cards can be searched: all its words are rare."""
    from whoosh import index

    _fill(index.create_in(str(folder), _schema()), [("a", "one two three"), ("b", "two three four")])
    try:
        with index.open_dir(str(folder), schema=_schema()).searcher() as searcher:
            said = f"{len(_search(searcher, ['two']))} hits"
    except Exception as error:
        said = type(error).__name__
    print(json.dumps({"two cards": said}))


def _pickle(marker: Path) -> bytes:
    """A pickle that, when it is loaded, creates `marker` and gives an empty dict."""
    return b"cbuiltins\nopen\n(V" + str(marker).encode() + b"\nVw\ntR0}."


def do_plant(folder: Path, where: str) -> None:
    """Build a small index with a planted pickle, open it with a schema, search, say when it ran."""
    from whoosh import index
    from whoosh.codec import whoosh3
    from whoosh.filedb import structfile

    marker = folder / "RAN"
    evil = _pickle(marker)
    held = structfile.StructFile.write_pickle, whoosh3.dumps

    def planted_write(self, obj, protocol=-1):
        if isinstance(obj, list if where == "TOC segment list" else dict):
            self.write(evil)
        else:
            held[0](self, obj, protocol)

    def planted_dumps(obj, protocol=2):
        in_block = isinstance(obj, tuple) and len(obj) == 6  # else a block's data
        return evil if in_block == (where == "postings block") else held[1](obj, protocol)

    cards = [(f"c{i}", f"one two w{i}") for i in range(200)]  # both many-card and one-card words
    opened = index.create_in(str(folder), _schema())
    if where in ("postings block", "postings data"):
        whoosh3.dumps = planted_dumps
    else:
        structfile.StructFile.write_pickle = planted_write
    # One fork refuses to open a segment whose postings file is empty, hence not just two cards.
    # What the planted index gives back is rubbish and may raise; the one question is whether the pickle ran.
    with contextlib.suppress(Exception):
        _fill(opened, cards)
    structfile.StructFile.write_pickle, whoosh3.dumps = held
    marker.unlink(missing_ok=True)
    stage = "at open_dir"
    with contextlib.suppress(Exception):
        again = index.open_dir(str(folder), schema=_schema())
        if not marker.exists():
            stage = "at searcher()"
            searcher = again.searcher()
        if not marker.exists():
            stage = "at search()"
            _search(searcher, ["one", "w7"])
    print(json.dumps({"ran": stage if marker.exists() else "no"}))


# ---- the comparison ----------------------------------------------------------------------------


def _run(command: list[str]) -> tuple[float, str]:
    """Milliseconds of processor time of a whole process, and what it printed; RuntimeError when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{command[-5:]}: {done.stderr[-400:]}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000, done.stdout


def _environment(work: Path, requirement: str, python: str, name: str) -> Path:
    folder = work / name
    if not (folder / "bin" / "python").exists():
        _run([python, "-m", "venv", str(folder)])
        _run([str(folder / "bin" / "pip"), "install", "--quiet", requirement])
    return folder / "bin" / "python"


def _facts(python: Path, requirement: str) -> dict[str, str]:
    """Version, licence and top-level package, from the installed metadata; newest file date, from the wheel."""
    name = requirement.split("==")[0]
    code = (
        "import importlib.metadata as m, json, whoosh\n"
        f"d = m.metadata({name!r})\n"
        "c = [x.split(' :: ')[-1] for x in d.get_all('Classifier') or [] if x.startswith('License')]\n"
        "print(json.dumps({'version': d['Version'], 'licence': d['License-Expression'] or d['License'] or "
        "', '.join(c) or '?', "
        f"'needs': ', '.join(r for r in m.requires({name!r}) or [] if 'extra' not in r) or 'nothing'}}))"
    )
    facts = json.loads(_run([str(python), "-c", code])[1])
    with tempfile.TemporaryDirectory() as folder:
        _run([str(python.parent / "pip"), "download", "--quiet", "--no-deps", "--dest", folder, requirement])
        wheels = list(Path(folder).glob("*.whl"))
        newest = max((i.date_time[:3] for w in wheels for i in zipfile.ZipFile(w).infolist()), default=())
    return facts | {"released": "-".join(f"{part:02d}" for part in newest) or "no wheel"}


def _warnings(python: Path) -> str:
    """How many warnings importing and compiling the package gives, by category; or the error it ends with."""
    code = (
        "import collections, json, warnings\n"
        "with warnings.catch_warnings(record=True) as w:\n"
        "    warnings.simplefilter('always')\n"
        "    import whoosh.index, whoosh.fields, whoosh.query, whoosh.qparser, whoosh.scoring, whoosh.writing\n"
        "    from whoosh.codec import default_codec; default_codec()\n"
        "c = collections.Counter(x.category.__name__ for x in w)\n"
        "print(', '.join(f'{n} {k}' for k, n in sorted(c.items())) or 'none')"
    )
    for cached in python.parent.parent.glob("lib/*/site-packages/whoosh/**/__pycache__"):
        shutil.rmtree(cached)  # SyntaxWarnings come only when a file is compiled
    try:
        return _run([str(python), "-B", "-c", code])[1].strip()
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1][-80:]


class Measured:
    """One distribution's environment and index under `work`; each method runs real processes in it."""

    def __init__(self, work: Path, slug: str, python: Path) -> None:
        self.work, self.python = work, str(python)
        self.folder, self.scratch = work / f"{slug}-index", work / f"{slug}-scratch"

    def command(self, *words: object) -> list[str]:
        return [self.python, str(Path(__file__).resolve()), "--step", *map(str, words)]

    def step(self, *words: object) -> dict:
        return json.loads(_run(self.command(*words))[1])

    def fresh(self, source: Path | None = None) -> Path:
        shutil.rmtree(self.scratch, ignore_errors=True)
        shutil.copytree(source, self.scratch) if source else self.scratch.mkdir()
        return self.scratch

    def once(self, queries: list[list[str]]) -> dict:
        """What needs no repeating: the build, the answers, the two-card index, the planted pickles."""
        _run([self.python, "-c", IMPORTS])  # compile first
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        found = self.step("build", self.work, self.folder)
        found["answers"] = [_run(self.command("cold", self.folder, *terms))[1] for terms in queries]
        found |= self.step("two-cards", self.fresh())
        for where in ("TOC segment list", "term table extras", "postings data", "postings block"):
            found["planted: " + where] = self.step("plant", self.fresh(), where)["ran"]
        return found

    def round(self, terms: list[str]) -> dict[str, float]:
        """One timing of everything that is repeated."""
        bare = _run([self.python, "-c", "pass"])[0]
        found = {"import": _run([self.python, "-c", IMPORTS])[0] - bare}
        found["cold"] = _run(self.command("cold", self.folder, *terms))[0]
        found |= self.step("warm", self.work, self.folder, 1)
        for label, merge in (("update", 1), ("update, no merge", 0)):
            found[label] = self.step("update", self.work, self.fresh(self.folder), merge)["update"]
        shutil.rmtree(self.scratch)
        return found


def _table(rows: list[tuple[str, Callable[[dict], object]]], results: dict[str, dict]) -> str:
    lines = ["| | " + " | ".join(results) + " |", "| --- " * (len(results) + 1) + "|"]
    for label, cell in rows:
        lines.append(f"| {label} | " + " | ".join(str(cell(found)) for found in results.values()) + " |")
    return "\n".join(lines)


def compare(work: Path, count: int, repeat: int, pythons: list[str]) -> None:
    work.mkdir(parents=True, exist_ok=True)
    cards = make_cards(count)
    queries = make_queries(cards)
    (work / "cards.json").write_text(json.dumps({"cards": cards, "queries": queries}), "utf-8")
    results: dict[str, dict] = {}
    measured: dict[str, Measured] = {}
    for requirement in DISTRIBUTIONS:
        name = requirement.replace("==", " ")
        slug = re.sub(r"[^a-z0-9]+", "-", requirement.lower())
        print(f"measuring {name}", file=sys.stderr)
        found = results[name] = {}
        try:
            python = _environment(work, requirement, sys.executable, slug)
            found |= _facts(python, requirement)
            for other in [sys.executable, *pythons]:
                version = _run([other, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])[1].strip()
                elsewhere = _environment(work, requirement, other, f"{slug}-{version}")
                found[f"warnings {version}"] = _warnings(elsewhere)
            measured[name] = Measured(work, slug, python)
            found |= measured[name].once(queries)
        except RuntimeError as error:
            found["failed"] = str(error)
            print(f"{name}: {error}", file=sys.stderr)
            measured.pop(name, None)
    rounds = {name: [] for name in measured}
    for number in range(repeat):
        for name, one in measured.items():
            rounds[name].append(one.round(queries[number % len(queries)]))
    for name, times in rounds.items():
        results[name] |= {key: statistics.median(t[key] for t in times) for key in times[0]}
    first = next(iter(results.values()))
    timed = ("import", "build", "cold", "warm", "update", "update, no merge")
    said = ["version", "licence", "released", "needs", "two cards"]
    said += sorted({key for found in results.values() for key in found if key.startswith(("warn", "plant"))})

    def time_cell(key: str) -> Callable[[dict], object]:
        def cell(found: dict) -> str:
            if key not in found or key not in first:
                return "failed"
            return f"{found[key]:.{0 if found[key] > 100 else 1}f} ({found[key] / first[key]:.2f}x)"

        return cell

    rows: list[tuple[str, Callable[[dict], object]]] = [(f"{key}, ms", time_cell(key)) for key in timed]
    rows.append(("index, MB", lambda f: f"{f['size'] / 1e6:.1f}" if "size" in f else "failed"))
    rows.append(
        (
            "same answers as the first",
            lambda f: sum(
                a == b for a, b in zip(f.get("answers", ()), first.get("answers", ()), strict=False)
            ),
        )
    )
    rows += [(key, lambda f, key=key: f.get(key, "?")) for key in said]
    print(
        f"{count} cards, {len(queries)} queries of {TERMS_PER_QUERY} terms, Python {sys.version.split()[0]}\n"
    )
    print(_table(rows, results))


def main() -> None:
    if sys.argv[1:2] == ["--step"]:
        step, *rest = sys.argv[2:]
        match step:
            case "build":
                do_build(Path(rest[0]), Path(rest[1]))
            case "cold":
                do_cold(Path(rest[0]), rest[1:])
            case "warm":
                do_warm(Path(rest[0]), Path(rest[1]), int(rest[2]))
            case "update":
                do_update(Path(rest[0]), Path(rest[1]), rest[2] == "1")
            case "two-cards":
                do_two_cards(Path(rest[0]))
            case "plant":
                do_plant(Path(rest[0]), rest[1])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", type=Path, metavar="WORKDIR", help="folder for environments and indexes")
    parser.add_argument("--cards", type=int, default=10_000, help="how many cards to make up")
    parser.add_argument("--repeat", type=int, default=9, help="runs that each median is taken over")
    parser.add_argument("--python", action="append", default=[], help="another interpreter to import under")
    given = parser.parse_args()
    compare(given.work.resolve(), given.cards, given.repeat, given.python)


if __name__ == "__main__":
    main()
