"""The hint for a missing package installs it from the registry, however Recall itself was installed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_readme import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def shell(line: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": "", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def venv(place: Path) -> Path:
    """Return the interpreter of a new environment."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    return place / "bin" / "python"


def install(python: Path, *what: str) -> None:
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *what], check=True)


def in_a_venv(folder: Path) -> tuple[str, dict[str, str]]:
    python = venv(folder / "venv")
    install(python, str(ROOT))
    return str(python.parent / "recall"), {}


def under_pipx(folder: Path) -> tuple[str, dict[str, str]]:
    python = venv(folder / "tools")
    install(python, "pipx")
    environ = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    environ["PATH"] = f"{python.parent}:{os.environ['PATH']}"
    done = shell(f"pipx install --python {shlex.quote(sys.executable)} {shlex.quote(str(ROOT))}", folder, **environ)
    assert done.returncode == 0, done.stderr
    return str(folder / "bin" / "recall"), environ


def in_the_source_tree(folder: Path) -> tuple[str, dict[str, str]]:
    python = venv(folder / "venv")
    install(python, str(ROOT))
    install(python, "pip")
    subprocess.run([str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "recall-tui"], check=True)
    return f"{python} -m recall_core", {"PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("way", [in_a_venv, under_pipx, in_the_source_tree])
def test_hint_installs_the_missing_package(way, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    recall, environ = way(tmp_path)
    init = f"{recall} init store --embedding local"

    refused = shell(init, tmp_path, **environ)
    hint = refused.stderr.partition("hint: ")[2].strip()
    assert (refused.returncode, bool(hint)) == (1, True), refused.stderr
    pasted = shell(hint, tmp_path, **environ)
    assert pasted.returncode == 0, f"{hint}\n{pasted.stderr}"
    done = shell(init, tmp_path, **environ)

    assert done.returncode == 0, done.stderr
    assert "embedder  local" in done.stdout
