"""Two devices and the repository that they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import config, context
from tests.conftest import open_memory
from tests.erasure.scan import git
from tests.learn.conftest import captured, kept  # noqa: F401

SECRET = "the staging password is XYZZY-hunter2-plugh"
HEAD = "XYZZY-hunter2"


@pytest.fixture
def add(run, memory) -> Callable[..., str]:  # type: ignore[no-untyped-def]
    """`add("words", …)`: one card; its id."""

    def write(*args: str, repo: Path | None = None, **more) -> str:  # type: ignore[no-untyped-def]
        done = run(*(["--repo", str(repo)] if repo else []), "add", *args, **more)
        assert done.code == 0, done.err
        return done.out.strip()

    return write


@pytest.fixture
def forget(run):  # type: ignore[no-untyped-def]
    """`forget(ID, …)`: they are gone."""

    def erase(*ids: str, repo: Path | None = None):  # type: ignore[no-untyped-def]
        done = run(*(["--repo", str(repo)] if repo else []), "forget", *ids, "--yes")
        assert done.code == 0, done.err
        return done

    return erase


@pytest.fixture
def root(memory) -> Path:  # type: ignore[no-untyped-def]
    return memory.root


@pytest.fixture
def server(home, root) -> Path:
    """A bare repository that holds the memory, `origin` of it."""
    place = home / "server.git"
    git(home, "init", "-q", "--bare", str(place))
    git(root, "remote", "add", "origin", str(place))
    git(root, "push", "-q", "origin", "main")
    return place


@pytest.fixture
def other(home, server) -> Path:
    """A second clone."""
    place = home / "other"
    git(home, "clone", "-q", str(server), str(place))
    return place


@pytest.fixture
def stale(root, server, other, add, forget) -> str:
    """The card that `other` alone has, which still holds what `root` forgot and pushed by force."""
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    own = add("The staging server listens on port 8443", repo=other)
    forget(card)
    git(root, "push", "--force", "-q", "origin", "main")
    return own


@pytest.fixture
def opened() -> Callable[[Path], context.Context]:
    """A person's context on the memory at a folder."""
    return lambda place: context.build(config.from_process(), str(open_memory(place).root))
