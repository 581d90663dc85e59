"""Judge a change of the memory wherever it comes from: the staged index, a range, a draft, a whole tree.

One engine (`gitmem.checks`) behind all of them. This module only finds out what differs from which parent,
who makes the commit, and by which registry it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gitmem import config
from gitmem.checks import card as card_check
from gitmem.checks import change as change_check
from gitmem.checks import registry_files
from gitmem.checks.corpus import TreeCorpus
from gitmem.checks.problem import APPEND_ONLY, SCHEMA, SCOPE, SUPERSEDES, Problem, Report
from gitmem.errors import GitFailed, MemError
from gitmem.git import objects
from gitmem.git.locate import MARK, Memory
from gitmem.git.objects import Change, Entry
from gitmem.git.run import Git
from gitmem.model.registry import LEARNER, Registry, Tombstones, tombstones
from gitmem.registry import load

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_HOST_TRAILER = re.compile(r"^Mem-Host:[ \t]*\S", re.MULTILINE)
_TRAILER = re.compile(r"^Mem-Agent:[ \t]*(\S+)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def check_staged(cwd: Path, variables: Mapping[str, str] | None = None) -> Report:
    """Judge what the index holds, the index that git hands to hooks included. Nothing is touched."""
    git = hook_git(cwd, variables)
    head = _head(git)
    changes = objects.raw_changes(
        git.run(
            "diff-index",
            "--cached",
            "--ita-invisible-in-index",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            head or _EMPTY_TREE,
        ).out
    )
    merged = _merged(git)
    whole = {(change.path, change.new): change for change in changes}
    differs_from_parent = {change.path: change.new for change in changes}
    for other in merged if changes else ():
        against = objects.raw_changes(
            git.run(
                "diff-index",
                "--cached",
                "--ita-invisible-in-index",
                "--raw",
                "-z",
                "--no-abbrev",
                "--no-renames",
                other,
            ).out
        )
        differs = {(change.path, change.new): change for change in against}
        changes = [change for change in changes if (change.path, change.new) in differs]
        whole |= differs
    if not _is_memory(git, head) and not any(change.path == MARK and change.new for change in changes):
        return Report()
    identity = _identity(variables if variables is not None else config.from_process().vars)

    reader = objects.open_light(git)

    def staged(path: str) -> bytes | None:
        # by its id, or from the parent where it does not differ: git would read the whole index to look a path up in it
        try:
            if path in differs_from_parent:
                entry = differs_from_parent[path]
                return None if entry is None else reader.blob(entry.oid)
            return None if head is None else reader.blob(f"{head}:{path}")
        except KeyError:
            return None

    try:
        report = _judge(git, head, changes, staged, identity, merge=bool(merged), email=_author_email(git))
    finally:
        reader.close()
    return _with_brought(git, report, whole, changes, forgotten_at(git, head, *merged)) if merged else report


def check_message(cwd: Path, message: Path, variables: Mapping[str, str] | None = None) -> Report:
    """Judge once more with the agent that the commit message names, when it names one."""
    try:
        text = message.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise GitFailed(f"cannot read the commit message `{message}`") from error
    named = _TRAILER.findall(text)
    if not named:
        return Report()
    variables = dict(variables if variables is not None else config.from_process().vars)
    stated = variables.get("GIT_MEM_AGENT")
    if stated and stated != named[-1] and named[-1] != LEARNER:
        problem = Problem(MARK, 1, "scope", f"the trailer names `{named[-1]}`, the environment `{stated}`")
        return Report((problem,), 1)
    variables["GIT_MEM_AGENT"] = named[-1]
    return check_staged(cwd, variables)


def check_range(cwd: Path, base: str | None, tip: str, variables: Mapping[str, str] | None = None) -> Report:
    """Judge every commit of `base..tip` by its own parent. `base` None: what no remote has yet."""
    return check_commits(
        hook_git(cwd, variables), [tip, "--not", "--remotes"] if base is None else [f"{base}..{tip}"]
    )


def check_commits(git: Git, asked: Sequence[str]) -> Report:
    """Judge every commit that `git rev-list` lists for `asked`, each by its own parent.

    What was forgotten counts for all of them, whichever end of the range says so, and so does what the memory of this
    repository has forgotten: after an erasure, old commits stand before the tombstones that they need, and a copy
    that still holds what was erased knows of none.

    A memory begins once. Whoever began it anew beside it, with rights as they please, and merged the two, would have
    judged themselves; so a second beginning is refused.
    """
    listed = git.run("rev-list", "--reverse", "--topo-order", "--parents", "--boundary", *asked, check=False)
    if listed.code != 0:
        raise GitFailed(f"cannot list {' '.join(asked)}: " + listed.err.decode("utf-8", "replace").strip())
    lines = [line.split() for line in listed.text().split("\n") if line]
    begun = any(_is_memory(git, one[1:]) for one, *_ in lines if one.startswith("-"))
    problems: list[Problem] = []
    files = 0
    ends = [end for one in asked if not one.startswith("--") for end in one.split("..")]
    forgotten = forgotten_at(git, *ends, _own_branch(git)) if lines else Tombstones()
    for commit, *parents in lines:
        if commit.startswith("-"):
            continue
        if not _is_memory(git, parents[0] if parents else None) and _is_memory(git, commit):
            if begun:
                problems.append(_second_beginning(commit))
            begun = True
        report = check_commit(git, commit, parents, forgotten)
        problems.extend(report.problems)
        files += report.files
    return Report(tuple(problems), max(files, len({one.path for one in problems})), committing=False)


def _second_beginning(commit: str) -> Problem:
    return Problem(
        MARK,
        1,
        SCOPE,
        f"commit `{commit[:7]}` begins a memory anew, beside the one that is there",
        "merge branches of this memory alone; cards of another one: git mem import jsonl FILE",
    )


def forgotten_at(git: Git, *commits: str | None) -> Tombstones:
    """What any of these commits says was forgotten; one that is not there, or whose file is faulty, says nothing."""
    found = Tombstones()
    for commit in dict.fromkeys(commits):
        kept = (
            git.run("cat-file", "blob", f"{commit}:registry/forgotten.yaml", check=False) if commit else None
        )
        if kept is not None and kept.code == 0:
            found |= tombstones(registry_files.read("forgotten", kept.out)[0])
    return found


def _own_branch(git: Git) -> str:
    return f"refs/heads/{git.run('config', 'mem.branch', check=False).text() or 'main'}"


def check_commit(
    git: Git, commit: str, parents: Sequence[str], forgotten: Tombstones | None = None
) -> Report:
    """Judge one commit that exists. `forgotten`: what counts as that beyond what its parent's registry says."""
    first = parents[0] if parents else None
    if not _is_memory(git, first) and not _is_memory(git, commit):
        return Report()
    changes = objects.changes(git, first, commit)
    whole = {(change.path, change.new): change for change in changes}
    for other in parents[1:]:
        differs = {(change.path, change.new): change for change in objects.changes(git, other, commit)}
        changes = [change for change in changes if (change.path, change.new) in differs]
        whole |= differs
    email, message = git.run("log", "-1", "--format=%ae%x00%B", commit).text().split("\0", 1)
    named = _TRAILER.findall(message)
    by_host = bool(_HOST_TRAILER.search(message))

    def read(path: str) -> bytes | None:
        found = git.run("cat-file", "blob", f"{commit}:{path}", check=False)
        return found.out if found.code == 0 else None

    identity = (named[-1], False) if named else (None, not by_host)
    report = _judge(
        git, first, changes, read, identity, merge=len(parents) > 1, email=email, forgotten=forgotten
    )
    if len(parents) < 2:
        return report
    return _with_brought(
        git, report, whole, changes, forgotten_at(git, *parents) | (forgotten or Tombstones())
    )


def _with_brought(
    git: Git,
    report: Report,
    whole: Mapping[tuple[str, Entry | None], Change],
    judged: Sequence[Change],
    forgotten: Tombstones,
) -> Report:
    """A merge's report, with what it takes from one side although the other side forgot it."""
    if not forgotten.cards and not forgotten.turns:
        return report
    answered = {(change.path, change.new) for change in judged}
    rest = [change for key, change in whole.items() if key not in answered]
    reader = objects.open_light(git)
    try:
        found = change_check.brought_back(rest, forgotten, reader.blob)
    finally:
        reader.close()
    return (
        replace(report, problems=(*report.problems, *found), files=report.files + len(rest))
        if found
        else report
    )


def check_draft(
    memory: Memory,
    registry: Registry,
    files: Mapping[str, bytes | None],
    *,
    agent: str | None,
    person: bool,
    email: str | None,
    now: datetime,
    corpus: change_check.Corpus | None = None,
) -> Report:
    """Judge files about to be written, before anything is written."""
    old = {entry.path: entry for entry in _entries_of(memory, list(files))}
    blobs = {f"draft:{path}": data for path, data in files.items() if data is not None}
    changes = [
        Change(path, old.get(path), None if data is None else Entry(path, objects.REGULAR, f"draft:{path}"))
        for path, data in files.items()
    ]

    def source(path: str) -> bytes | None:
        if path in files:
            return files[path]
        found = (
            memory.git.run("cat-file", "blob", f"{memory.tip}:{path}", check=False) if memory.tip else None
        )
        return found.out if found and found.code == 0 else None

    reader = objects.open_light(memory.git)
    try:
        commit = change_check.Commit(
            changes=changes,
            registry=registry if memory.registry_tree else None,
            new_registry=_new_registry(registry, changes, lambda path: files.get(path))
            if _touches_registry(changes)
            else registry,
            corpus=corpus
            or tree_corpus(memory.git, memory.tip, reader, registry if memory.registry_tree else None),
            read_new=lambda oid: blobs[oid],  # type: ignore[return-value]
            read_source=source,
            now=now,
            agent=agent,
            person=person,
            author_email=email,
        )
        return Report(tuple(_judged(commit, memory.git, memory.tip, reader)), len(changes), committing=False)
    finally:
        reader.close()


def check_tree(git: Git, tree: str, progress: Callable[[int, int], None] | None = None) -> Report:
    """Judge everything a tree holds, as if it had come in one commit."""
    entries = objects.entries(git, tree)
    by_path = {entry.path: entry for entry in entries}
    common = git.run("rev-parse", "--path-format=absolute", "--git-common-dir").text()
    reader = objects.open_bulk(git, common)
    blobs = objects.Blobs(reader)
    try:
        registry = load.at(git, tree)

        def source(path: str) -> bytes | None:
            return blobs[by_path[path].oid] if path in by_path else None

        problems: list[Problem] = []
        judged = [entry for entry in entries if entry.path.startswith(change_check.FOLDERS)]
        seen: dict[str, str] = {}
        lower: dict[str, str] = {}
        for number, entry in enumerate(judged, 1):
            if progress and number % 200 == 0:
                progress(number, len(judged))
            twin = lower.setdefault(entry.path.lower(), entry.path)
            if twin != entry.path:
                problems.append(Problem(entry.path, 1, SCHEMA, f"differs from `{twin}` in case only"))
            problems.extend(_judge_entry(entry, blobs, source, registry, seen))
        corpus = TreeCorpus(entries, lambda oid: blobs[oid])
        problems.extend(edge_problems(corpus, registry))
        return Report(tuple(sorted(problems, key=lambda p: (p.path, p.line))), len(judged), committing=False)
    finally:
        reader.close()


def _judge_entry(
    entry: Entry,
    blobs: objects.Blobs,
    source: Callable[[str], bytes | None],
    registry: Registry,
    seen: dict[str, str],
) -> list[Problem]:
    data = blobs[entry.oid] if entry.mode in (objects.REGULAR, "100755") else b""
    if entry.path.startswith("cards/"):
        verdict = card_check.judge(entry.path, entry.mode, data, source)
        problems = list(verdict.problems)
        if verdict.card and verdict.document:
            problems.extend(change_check.in_registry(entry.path, verdict.card, verdict.document, registry))
            if verdict.card.id in registry.forgotten:
                message = f"the card `{verdict.card.id}` was forgotten and is still here"
                problems.append(Problem(entry.path, 2, APPEND_ONLY, message, "git mem forget --continue"))
            twin = seen.setdefault(verdict.card.id, entry.path)
            if twin != entry.path:
                problems.append(
                    Problem(entry.path, 2, SCHEMA, f"the id `{verdict.card.id}` is taken by {twin}")
                )
        return problems
    if entry.path.startswith("sources/"):
        return card_check.judge_source(entry.path, entry.mode, data)[1]
    if entry.path.startswith("registry/"):
        return registry_files.judge_file(entry.path, entry.mode, data)
    return (
        card_check.scan(entry.path, data, "brief")
        if entry.mode == objects.REGULAR
        else [Problem(entry.path, 1, SCHEMA, "not a regular file (100644)")]
    )


def edge_problems(corpus: TreeCorpus, registry: Registry) -> list[Problem]:
    """Edges that lead nowhere, out of their scope, or round in a circle."""
    problems = []
    for card_id in corpus.all_ids():
        facts = corpus.facts(card_id)
        if facts is None:
            continue
        path = corpus.path_of(card_id) or card_id
        for kind, target in facts.edges:
            other = corpus.facts(target)
            if other is None and corpus.path_of(target) is None and target not in registry.forgotten:
                problems.append(Problem(path, 1, SUPERSEDES, f"no card `{target}` ({kind})"))
            elif other is not None and other.scope != facts.scope and kind != "overrides":
                problems.append(
                    Problem(
                        path, 1, SUPERSEDES, f"`{target}` is of `{other.scope}`, this card of `{facts.scope}`"
                    )
                )
        if card_id in _reach(corpus, card_id):
            problems.append(Problem(path, 1, SUPERSEDES, f"`{card_id}` supersedes itself over a chain"))
    return problems


def _reach(corpus: change_check.Corpus, start: str) -> set[str]:
    """Every card that supersedes edges lead to from `start`."""
    seen: set[str] = set()
    queue = [start]
    while queue:
        facts = corpus.facts(queue.pop())
        for target in facts.targets("supersedes") if facts else ():
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def tree_corpus(
    git: Git, tree: str | None, reader: objects.Objects, registry: Registry | None = None
) -> TreeCorpus:
    """The cards of a tree-ish, read when first asked for; with `registry` without those that it rules out."""
    return TreeCorpus(_LazyEntries(git, tree), objects.Blobs(reader).__getitem__, registry)


class _LazyEntries:
    def __init__(self, git: Git, tree: str | None):
        self._git, self._tree = git, tree

    def __iter__(self) -> Iterable[Entry]:
        return iter(objects.entries(self._git, self._tree, "cards", "sources") if self._tree else [])


def _judged(
    commit: change_check.Commit, git: Git, parent: str | None, reader: objects.Objects
) -> list[Problem]:
    """The problems of a commit; where the index proves damaged, by the cards themselves."""
    try:
        return change_check.judge(commit)
    except Exception as error:
        from gitmem.index.catalogue import is_damage

        if not is_damage(error):
            raise
        plain = tree_corpus(git, parent, reader, commit.registry)
        return change_check.judge(replace(commit, corpus=plain))


def hook_git(cwd: Path, variables: Mapping[str, str] | None) -> Git:
    """git as the memory's own hooks use it: what git exported to the hook is obeyed."""
    return Git(cwd, dict(variables if variables is not None else config.from_process().vars))


def _judge(
    git: Git,
    parent: str | None,
    changes: Sequence[Change],
    read_path: Callable[[str], bytes | None],
    identity: tuple[str | None, bool],
    *,
    merge: bool,
    email: str | None,
    forgotten: Tombstones | None = None,
) -> Report:
    changes = [change for change in changes if change.path.startswith(change_check.FOLDERS)]
    if not changes:
        return Report()
    parent_memory = _is_memory(git, parent)
    registry = _registry(git, parent) if parent_memory else None
    reader = (
        objects.open_light(git)
        if len(changes) < 200
        else objects.open_bulk(git, git.run("rev-parse", "--path-format=absolute", "--git-common-dir").text())
    )
    blobs = objects.Blobs(reader)
    corpus, close = _corpus(git, parent, reader, registry)
    try:
        agent, person = identity
        commit = change_check.Commit(
            changes=changes,
            registry=registry,
            new_registry=_new_registry(registry, changes, read_path)
            if _touches_registry(changes) or registry is None
            else registry,
            corpus=corpus,
            read_new=lambda oid: blobs[oid],
            read_source=read_path,
            now=datetime.now(UTC),
            agent=agent,
            person=person,
            author_email=email,
            merge=merge,
            tombstones=forgotten or Tombstones(),
        )
        return Report(tuple(_judged(commit, git, parent, reader)), len(changes))
    finally:
        close()
        reader.close()


def _corpus(
    git: Git, parent: str | None, reader: objects.Objects, registry: Registry | None
) -> tuple[change_check.Corpus, Callable[[], None]]:
    """The parent's cards, from the index where it knows this very tree, else read from git; and what closes them."""
    if parent is not None:
        try:
            from gitmem.index.catalogue import corpus_of

            found = corpus_of(git, parent)
            if found is not None:
                return found, found.close
        except (MemError, OSError):
            pass
    return tree_corpus(git, parent, reader, registry), lambda: None


def _registry(git: Git, parent: str | None) -> Registry:
    if parent is not None and objects.quarantined(git):
        # what a push has brought is on probation, and so is everything made from it: nothing is kept
        return load.at(git, parent)
    tree = git.run("rev-parse", "--verify", "-q", f"{parent}:registry", check=False).text()
    common = Path(git.run("rev-parse", "--path-format=absolute", "--git-common-dir").text())
    memory = Memory(
        git.cwd, common, common, False, "", git, tip=parent, tree=None, registry_tree=tree or None
    )
    return load.current(memory)


def _new_registry(
    old: Registry | None, changes: Sequence[Change], read_path: Callable[[str], bytes | None]
) -> Registry | None:
    return load.from_entries(read_path)


def _touches_registry(changes: Sequence[Change]) -> bool:
    return any(change.path.startswith("registry/") for change in changes)


def _entries_of(memory: Memory, paths: list[str]) -> list[Entry]:
    if memory.tip is None:
        return []
    if len(paths) > 200:
        wanted = set(paths)
        return [entry for entry in objects.entries(memory.git, memory.tip) if entry.path in wanted]
    return objects.entries(memory.git, memory.tip, *paths)


def _is_memory(git: Git, commit: str | None) -> bool:
    return commit is not None and git.run("cat-file", "-e", f"{commit}:{MARK}", check=False).code == 0


def _head(git: Git) -> str | None:
    found = git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", check=False)
    return found.text() if found.code == 0 else None


def _merged(git: Git) -> list[str]:
    """The other sides of a merge that is being committed.

    A clean merge runs its hook before it writes MERGE_HEAD, and says in GITHEAD_<commit> what it merges.
    """
    place = git.run("rev-parse", "--git-path", "MERGE_HEAD", check=False).text()
    try:
        named = (git.cwd / place).read_text().split()
    except OSError:
        named = [key.removeprefix("GITHEAD_") for key in git.env if key.startswith("GITHEAD_")]
    return [one for one in named if git.run("cat-file", "-e", f"{one}^{{commit}}", check=False).code == 0]


def _author_email(git: Git) -> str | None:
    found = git.run("var", "GIT_AUTHOR_IDENT", check=False)
    match = re.search(r"<([^>]*)>", found.text())
    return match[1] if match else None


def _identity(variables: Mapping[str, str]) -> tuple[str | None, bool]:
    env = config.read(variables, Path("."))
    return env.agent, env.person
