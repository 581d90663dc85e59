"""demo: both doses, a correction and a refused commit, on an invented memory in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from shlex import quote

import click

from gitmem import config
from gitmem.authoring import demo as world
from gitmem.authoring import init as initial
from gitmem.cli import output
from gitmem.cli.common import examples
from gitmem.git import locate
from gitmem.model import ids


@click.command(epilog=examples("git mem demo", "git mem demo --keep"))
@click.option("--keep", is_flag=True, help="Leave the folder, to try things in it")
def demo(keep: bool) -> int:
    """Show what it does, in a temporary folder and under a minute. Your own memory is not touched."""
    room = Path(tempfile.mkdtemp(prefix="git-mem-demo-"))
    try:
        return _Stage(room).play()
    finally:
        if keep:
            output.say(f"kept in {room}; try: git mem --repo {quote(str(room / 'memory'))} search uv")
        else:
            shutil.rmtree(room, ignore_errors=True)


class _Stage:
    """A home of its own, three project folders and a memory; commands run as they would in a terminal."""

    def __init__(self, room: Path):
        self.room = room
        self.memory = room / "memory"
        kept = {
            key: value
            for key, value in config.git_env(os.environ).items()
            if not key.startswith(("GIT_MEM_", "CLAUDE"))
        }
        self.env = {
            **{key: value for key, value in kept.items() if key not in config.HOST_VARS},
            "HOME": str(room),
            "XDG_CONFIG_HOME": str(room / ".config"),
            "GIT_CONFIG_GLOBAL": str(room / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_MEM_REPO": str(self.memory),
        }
        # the package that runs is the package that is shown, installed or not
        self.env["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(Path(__file__).resolve().parents[2]), kept.get("PYTHONPATH", "")])
        )
        self.failed: list[str] = []

    def play(self) -> int:
        names = self._furnish()
        self._title("An invented memory: one person, three projects, cards in English and Chinese")
        self._run("status", cwd="dashboard")
        self._title("1. Same question, two doses: the main assistant, then a coding agent")
        self._run("recall", "Set up the Python environment for this project", cwd="dashboard", wants=["uv"])
        self._run(
            "recall",
            "--profile",
            "working",
            "帮我配一下这个项目的 Python 环境",
            cwd="dashboard",
            wants=["uv"],
        )
        self._title("2. An ordinary step of a coding agent: silence (the second turn of a session)")
        self._run("recall", "--agent", "codex", "--session", "s1", "hello", cwd="dashboard")
        self._run(
            "recall",
            "--agent",
            "codex",
            "--session",
            "s1",
            "把 parse_table 改个名，顺便更新测试",
            cwd="dashboard",
            silent=True,
        )
        self._title(
            "3. Another project's decision: the main assistant hears it, a coding agent in `dashboard` does not"
        )
        question = "How does the thesis cite software licences?"
        self._run("recall", question, cwd="dashboard", wants=["SPDX"])
        self._run("recall", "--profile", "working", question, cwd="dashboard", silent=True)
        self._title("4. A correction: amber became teal, and old words find the new card")
        self._run("search", "琥珀色", cwd="dashboard", wants=["青色"])
        self._run("show", ids.short(names["teal"]), cwd="dashboard", wants=["琥珀色"])
        self._run(
            "recall",
            "--at",
            self._before_the_correction(),
            "未验证的条目用什么颜色",
            cwd="dashboard",
            wants=["琥珀色"],
        )
        self._title("   Taking the correction back revives amber; undoing that brings teal back")
        self._run("retract", ids.short(names["teal"]), cwd="dashboard")
        self._run("recall", "未验证的条目用什么颜色", cwd="dashboard", wants=["琥珀色"])
        self._run("undo", cwd="dashboard")
        self._run("recall", "未验证的条目用什么颜色", cwd="dashboard", wants=["青色"])
        self._title(
            "5. Writing: where it went, who hears it; a near duplicate is no success; one step takes it back"
        )
        self._run("add", "Use pnpm 9 in the dashboard, never npm", cwd="dashboard")
        self._run("add", "Use pnpm 9 in the dashboard, and never npm", cwd="dashboard", fails=True)
        self._run("undo", cwd="dashboard")
        self._title("6. A commit whose quote is one letter off is refused; nothing changes")
        self._refused()
        self._title("7. What became of every candidate")
        self._run(
            "recall",
            "--profile",
            "working",
            "--explain",
            "Set up the Python environment",
            cwd="dashboard",
            wants=["said"],
        )
        if self.failed:
            output.say("error: the demo did not show what it should: " + "; ".join(self.failed))
            return 1
        output.answer("\nThat was it. Yours: git mem init\n")
        return 0

    def _furnish(self) -> dict[str, str]:
        """The memory with its cards, hooks and index, and the folders of its projects."""
        from gitmem.hooks import place
        from gitmem.index import build
        from gitmem.registry import load

        (self.room / ".gitconfig").write_text(
            "[user]\n\tname = Demo\n\temail = demo@example.com\n[init]\n\tdefaultBranch = main\n"
        )
        env = config.read(self.env, self.room)
        initial.init(env, self.memory, "main")
        found = locate.open_at(self.memory, env)
        assert found is not None
        names = world.load_demo(found, datetime.now().astimezone())
        found = locate.refreshed(found)
        place.install_into(found)
        for project in world.PROJECTS:
            (self.room / project).mkdir()
            found.git.run(
                "config", "--local", "--add", f"mem.project.{project}.path", str(self.room / project)
            )
        show = output.progress()
        build.build(found, load.current(found), show)
        self._quiet("agent", "add", "codex", "--profile", "working")
        return names

    def _before_the_correction(self) -> str:
        """The commit before the cards that replaced others."""
        log = self._git("log", "--format=%h %s", "main").split("\n")
        return next(
            line.split(" ")[0] + "~1" for line in log if "Mem" not in line and self._holds(line.split(" ")[0])
        )

    def _holds(self, commit: str) -> bool:
        return "supersedes:" in self._git("show", "--format=", commit)

    def _refused(self) -> None:
        """Copy a card, change one letter of its quote, and try to commit it."""
        card = next(
            path
            for path in sorted(self.memory.glob("cards/dashboard/**/*.md"))
            if "quote:" in path.read_text(encoding="utf-8")
        )
        text = card.read_text(encoding="utf-8")
        old_id = card.stem[-ids.LENGTH :]
        new_id = world.demo_id("a card with a wrong quote")
        lines = text.replace(f"id: {old_id}", f"id: {new_id}", 1).split("\n")
        at = next(i for i, line in enumerate(lines) if line.strip().startswith("quote:"))
        middle = lines[at].index("quote:") + 8 + (len(lines[at]) - lines[at].index("quote:") - 8) // 2
        while not lines[at][middle].isalnum():
            middle -= 1
        lines[at] = (
            lines[at][:middle] + ("题" if ord(lines[at][middle]) > 0x2E80 else "q") + lines[at][middle + 1 :]
        )
        place = card.with_name(card.name.replace(old_id, new_id))
        place.write_text(
            "\n".join(line for line in lines if not line.startswith("supersedes:")), encoding="utf-8"
        )
        self._git("add", "cards")
        self._command("git commit -m note", "~/memory")
        done = subprocess.run(
            ["git", "commit", "-m", "note"],
            cwd=self.memory,
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        output.answer(done.stdout + done.stderr)
        if done.returncode == 0 or "EVIDENCE" not in done.stderr:
            self.failed.append("the commit was not refused")
        self._git("rm", "-q", "--cached", str(place.relative_to(self.memory)))
        place.unlink()

    def _run(
        self, *args: str, cwd: str, wants: list[str] | None = None, silent: bool = False, fails: bool = False
    ) -> None:
        self._command("git mem " + " ".join(_shell(arg) for arg in args), f"~/{cwd}")
        done = self._call(args, cwd)
        output.answer(done.stdout + done.stderr)
        if silent and not done.stdout:
            output.answer(output.dim("(0 bytes)\n"))
        label = f"`git mem {args[0]}`"
        if (done.returncode != 0) != fails:
            self.failed.append(f"{label} exited {done.returncode}")
        if silent and done.stdout:
            self.failed.append(f"{label} was not silent")
        self.failed.extend(f"{label} did not say `{want}`" for want in wants or () if want not in done.stdout)

    def _quiet(self, *args: str) -> None:
        done = self._call(args, ".")
        if done.returncode != 0:
            self.failed.append(f"`git mem {args[0]}` exited {done.returncode}: {done.stderr.strip()}")

    def _call(self, args: tuple[str, ...], cwd: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gitmem", *args],
            cwd=self.room / cwd,
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
        )

    def _git(self, *args: str) -> str:
        return subprocess.run(
            ["git", *args],
            cwd=self.memory,
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        ).stdout.strip()

    def _title(self, text: str) -> None:
        output.answer("\n" + output.style(text, "cyan") + "\n")

    def _command(self, text: str, where: str) -> None:
        output.answer(output.style(f"{where} $ {text}", "green") + "\n")


def _shell(word: str) -> str:
    return f'"{word}"' if any(c in word for c in " “”‘’?？，。") else word
