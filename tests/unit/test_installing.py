"""Commands that install packages for this Recall, however it was installed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from recall_core import installing
from recall_core.shell import INSTALL, Hint, install_extra

ROOT = Path(installing.__file__).parents[1]

NAME = re.compile(r"[A-Za-z0-9._-]+")


def environment(prefix: Path, monkeypatch: pytest.MonkeyPatch, *, cfg: str = "", name: str = "") -> None:
    prefix.mkdir()
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\n{cfg}")
    if name:
        (prefix / name).write_text("{}")
    monkeypatch.setattr(sys, "prefix", str(prefix))


def test_extra_lists_its_packages_not_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert installing.requirements("local") == tuple(extras["local"])
    for extra in extras:
        found = installing.requirements(extra)
        assert found
        assert not any(installing.DISTRIBUTION in each for each in found)


def test_installation_without_source_lists_the_same_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The build writes the metadata, and may reorder constraints."""

    def parts(requirement: str) -> tuple[str, frozenset[str]]:
        name = NAME.match(requirement)
        assert name is not None
        return name[0], frozenset(requirement[name.end() :].split(","))

    extras = ("local", "minilm", "hf", "providers", "eval", "serve", "all")
    from_source = {extra: set(map(parts, installing.requirements(extra))) for extra in extras}

    monkeypatch.setattr(installing, "__file__", str(tmp_path / "recall_core" / "installing.py"))

    assert installing.source() is None
    assert {extra: set(map(parts, installing.requirements(extra))) for extra in extras} == from_source


def test_hint_is_one_shell_line_with_this_interpreter() -> None:
    assert shlex.split(install_extra("local")) == [
        sys.executable, "-m", "pip", "install", *installing.requirements("local"),
    ]  # fmt: skip


def test_pip_understands_the_line() -> None:
    line = [*shlex.split(Hint(INSTALL, "numpy", upgrade=True)), "--dry-run", "--no-index"]

    assert "usage:" not in subprocess.run(line, capture_output=True, text=True, check=False).stderr.lower()


def test_pipx_hint_injects_into_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(tmp_path / "recall-tui", monkeypatch, name="pipx_metadata.json")

    assert install_extra("hf") == "pipx inject recall-tui 'tokenizers>=0.20'"
    assert Hint(INSTALL, "apsw", force_reinstall=True) == "pipx inject --force recall-tui apsw"


def test_uv_environment_has_no_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(tmp_path / "tool", monkeypatch, cfg="uv = 0.8.1\n")

    python = shlex.quote(sys.executable)
    assert install_extra("hf") == f"uv pip install --python {python} 'tokenizers>=0.20'"
    assert Hint(INSTALL, "apsw", force_reinstall=True) == f"uv pip install --python {python} --reinstall apsw"


def test_managed_interpreter_gets_a_line_that_pip_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))

    assert installing.command()[1:] == ("-m", "pip", "install", "--user", "--break-system-packages")


def test_virtual_environment_of_a_managed_interpreter_uses_plain_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))

    assert installing.command() == (sys.executable, "-m", "pip", "install")


def test_upgrade_uses_the_source_of_this_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert str(ROOT) in installing.upgrade()

    monkeypatch.setattr(installing, "__file__", str(tmp_path / "recall_core" / "installing.py"))
    monkeypatch.setattr(installing, "DISTRIBUTION", "no-such-project")
    assert installing.upgrade() == "install the Recall that wrote it"


def test_plug_in_uses_the_source_of_this_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert installing.locate_plug_in("recall-man") == str(ROOT / "plugins" / "recall-man")
    assert installing.locate_plug_in("recall-other") is None

    (tmp_path / "plugins" / "recall-man").mkdir(parents=True)
    monkeypatch.setattr(installing, "source", lambda: None)
    for origin, place in [
        (str(tmp_path), str(tmp_path / "plugins" / "recall-man")),
        ("git+https://example.org/recall.git", "git+https://example.org/recall.git#subdirectory=plugins/recall-man"),
        ("https://example.org/recall.tar.gz", "https://example.org/recall.tar.gz#subdirectory=plugins/recall-man"),
        ("https://example.org/recall.whl", None),
        (str(tmp_path / "recall.whl"), None),
        (None, None),
    ]:
        monkeypatch.setattr(installing, "_came_from", lambda origin=origin: origin)
        assert installing.locate_plug_in("recall-man") == place, origin
