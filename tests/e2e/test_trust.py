"""A found recall.toml, from outside: nothing reaches the server that it names before a user accepts it."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests import warm
from tests.e2e.test_cli import environment
from tests.provider_server import ProviderServer, provider_server

KEY = {"OPENAI_API_KEY": "the-key-of-this-person"}


def run(*argv: str, cwd: Path, module: str = "recall_core", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that starts at once and has imported the provider modules."""
    return warm.run(argv, cwd=cwd, env=environment(**env), module=module, kind="providers")


@pytest.fixture(scope="module")
def listening() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, listening: ProviderServer) -> Path:
    """Return the folder of a stranger: a store, and a recall.toml that names the stranger's server."""
    tmp_path = tmp_path_factory.mktemp("theirs")
    folder = tmp_path / "clone"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n")
    env = {"XDG_STATE_HOME": str(tmp_path / "their-state"), "OPENAI_API_KEY": "their-own"}
    named = ("--set", f"embedding_url={listening.url}", "--set", "embedding_model=theirs")
    for argv in (("init", "--embedding", "openai", *named), ("add", "docs")):
        done = run(*argv, cwd=folder, **env)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def server(theirs: Path, listening: ProviderServer) -> ProviderServer:
    """Return the stranger's server without any requests."""
    listening.seen.clear()
    return listening


@pytest.fixture
def foreign(theirs: Path, server: ProviderServer, tmp_path: Path) -> Path:
    """Return a clone of the folder."""
    return Path(shutil.copytree(theirs, tmp_path / "clone"))


@pytest.fixture
def mine(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state"), **KEY}


def test_search_in_a_clone_posts_neither_query_nor_key(
    foreign: Path, server: ProviderServer, mine: dict[str, str]
) -> None:
    done = run("search", "retry", cwd=foreign / "docs", **mine)

    assert (done.returncode, done.stdout, server.seen) == (2, "", [])
    assert f"recall.toml in {foreign} would send every question and text to {server.url}" in done.stderr
    assert run("search", "--bm25", "retry", cwd=foreign / "docs", **mine).returncode == 0
    assert server.seen == []


def test_workbench_without_terminal_sends_nothing(
    foreign: Path, server: ProviderServer, mine: dict[str, str]
) -> None:
    done = run("--cmd", "search retry", cwd=foreign, module="recall_tui", **mine)

    assert (done.returncode, server.seen) == (2, [])
    accepting = ("--cmd", "trust --yes", "--cmd", "search retry")
    assert run(*accepting, cwd=foreign, module="recall_tui", **mine).returncode == 0
    assert server.seen[-1].headers["authorization"] == "Bearer the-key-of-this-person"


@pytest.mark.slow
def test_ci_names_the_digest_and_a_container_has_no_home(foreign: Path, server: ProviderServer) -> None:
    bare = {key: value for key, value in environment(**KEY).items() if key not in ("HOME", "XDG_STATE_HOME")}

    def ran(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        return warm.run(argv, cwd=foreign, env={**bare, **env}, kind="providers")

    assert ran("search", "retry").returncode == 2
    kept = ran("trust", "--yes")
    assert (kept.returncode, server.seen) == (2, [])
    shown = ran("trust", "--show").stdout.split("sha256")[1].split()[0]
    assert f"export RECALL_TRUST={shown}" in kept.stderr

    assert ran("search", "retry", RECALL_TRUST=shown).returncode == 0
    assert len(server.seen) == 1
    assert ran("search", "retry", RECALL_TRUST=shown[:-1] + "x").returncode == 2
    assert len(server.seen) == 1


def test_user_at_a_terminal_is_asked(foreign: Path, server: ProviderServer, mine: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    asked = warm.Process(
        ["trust"], cwd=foreign, env=environment(**mine), kind="providers", stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, b"y\n")
    told = b""
    with suppress(OSError):  # end of file: the other side is closed
        while piece := os.read(ours, 4096):
            told += piece
    os.close(ours)

    assert asked.wait(60) == 0
    assert b"Accept these settings? [y/N]" in told
    assert server.url.encode() in told
    assert run("search", "retry", cwd=foreign, **mine).returncode == 0
    assert len(server.seen) == 1


@pytest.mark.slow
def test_provider_in_use_before_an_upgrade_is_accepted_once(
    foreign: Path, server: ProviderServer, mine: dict[str, str]
) -> None:
    first = run("sync", cwd=foreign, **mine)
    assert "Since version 0.1.0 such settings wait until you accept them." in first.stderr

    assert run("trust", "--yes", cwd=foreign, **mine).returncode == 0

    assert [run(*argv, cwd=foreign, **mine).returncode for argv in (("sync",), ("search", "retry"))] == [0, 0]
    assert len(server.seen) == 1
