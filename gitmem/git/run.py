"""Run git: bytes in, bytes out, foreign GIT_* variables kept away, failures as our own errors."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitmem import config
from gitmem.errors import GitFailed
from gitmem.record import fresh, record


@record()
class Result:
    """How git ended, and what it wrote."""

    code: int
    out: bytes
    err: bytes

    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape").removesuffix("\n")


@record()
class Git:
    """git in one directory. `env` is already clean (`config.git_env`)."""

    cwd: Path
    env: Mapping[str, str] = fresh(dict)

    def run(
        self,
        *args: str,
        input: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Result:
        """Run `git ARGS`. `pass_fds`: descriptors that it inherits.

        Raises:
            GitFailed: git is not installed, or (with `check`) it exited with another code than 0.
        """
        full = {**self.env, **(env or {})}
        try:
            done = subprocess.run(
                ["git", *args],
                cwd=self.cwd,
                env=full,
                input=input,
                stdin=None if input is not None else subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                pass_fds=pass_fds,
            )
        except FileNotFoundError as error:
            if not self.cwd.is_dir():
                raise GitFailed(f"no folder `{self.cwd}`") from error
            raise GitFailed("git is not installed, or not on PATH", ["install git 2.31 or newer"]) from error
        except NotADirectoryError as error:
            raise GitFailed(f"`{self.cwd}` is not a folder") from error
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"`git {_command(args)}` did not end within {timeout_s:g} s") from error
        if check and done.returncode != 0:
            raise failure(args, done.stderr, done.returncode)
        return Result(done.returncode, done.stdout, done.stderr)

    def lines(self, *args: str) -> list[str]:
        return [line for line in self.run(*args).text().split("\n") if line]


def failure(args: Sequence[str], stderr: bytes, code: int) -> GitFailed:
    """git's own words as an error of ours."""
    words = stderr.decode("utf-8", "replace").strip().split("\n")
    first = next((w for w in words if w.startswith(("fatal:", "error:"))), words[0] if words else "")
    first = first.removeprefix("fatal: ").removeprefix("error: ") or f"exit code {code}"
    hints = [w.removeprefix("hint: ") for w in words if w.startswith("hint: ")][:3]
    return GitFailed(f"git {_command(args)}: {first}", hints)


def _command(args: Sequence[str]) -> str:
    """`commit` of `-c key=value commit …`."""
    rest = list(args)
    while rest[:1] == ["-c"]:
        del rest[:2]
    return rest[0] if rest else ""


def clean(cwd: Path, variables: Mapping[str, str]) -> Git:
    """git in `cwd` with the environment the memory works in."""
    return Git(cwd, config.git_env(variables))
