"""A missing current folder: absolute paths to a store work, and other paths report the reason."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recall_core import caller, paths
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed.registry import resolve_auto
from recall_core.errors import RecallError
from recall_core.retrieve.targets import readings
from recall_core.store.sqlite.connect import connect
from recall_tui.handlers.ingest import missing
from recall_tui.handlers.judge import unreadable, unwritable
from recall_tui.home import crash
from recall_tui.opening import Count, candidates, completions, count_files, settings_there
from tests.builders import without_privileges


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "a.txt").write_text("store weights\n", encoding="utf-8")
    Recall.init(str(folder), embedding="hash")
    assert ask("--store", str(folder / "recall.db"), "add", str(folder / "a.txt"))["ok"]
    return folder


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Path:
    """Return a store of one file, in a folder that stays."""
    return Path(shutil.copytree(template, tmp_path / "stays", copy_function=shutil.copy2)) / "recall.db"


@pytest.fixture
def no_folder(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the current folder one that no longer exists."""
    folder = tmp_path / "goes"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()


def ask(*words: str) -> dict[str, Any]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    cli.main(["--json", *words], streams=streams)
    return dict(json.loads(streams.stdout.getvalue().splitlines()[-1]))  # type: ignore[attr-defined]


def test_current_folder_is_returned_while_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert paths.folder() == caller.folder() == tmp_path
    assert paths.absolute(Path("../a")) == tmp_path / "../a"


@pytest.mark.usefixtures("no_folder")
def test_only_absolute_paths_work_without_a_current_folder() -> None:
    assert caller.folder() is None
    assert paths.absolute(Path("/a")) == Path("/a")
    with pytest.raises(RecallError) as caught:
        paths.absolute(Path("a"))

    assert (caught.value.code, caught.value.hint, caught.value.exit_code) == ("no_folder", "cd DIR", 1)


@pytest.mark.parametrize(
    "words",
    [
        ["search", "store"],
        ["get", "a.txt"],
        ["stats"],
        ["sync"],
        ["whynot", "store", "--target", "a.txt"],
        ["rm", "a.txt"],
        ["compact"],
        ["doctor"],
        ["reembed", "hash"],
        ["rechunk"],
    ],
)
@pytest.mark.usefixtures("no_folder")
def test_absolute_store_path_works_without_a_current_folder(store: Path, words: Sequence[str]) -> None:
    answer = ask("--store", str(store), *words)

    assert answer["ok"], answer


@pytest.mark.usefixtures("no_folder")
def test_absolute_file_path_works_without_a_current_folder(store: Path) -> None:
    assert ask("--store", str(store), "get", str(store.parent / "a.txt"))["ok"]
    assert [reading.names for reading in readings("b.txt", base=store.parent)] == [("b.txt",)]
    assert ask("--store", str(store), "rm", ".")["error"]["code"] == "no_folder"
    assert ask("--store", str(store), "get", "b.txt")["error"]["code"] == "unknown_target"
    assert ask("--store", str(store), "whynot", "store", "--target", "b.txt")["error"]["code"] == "unknown_target"


@pytest.mark.parametrize(
    "words",
    [
        ["search", "store"],
        ["--store", "recall.db", "stats"],
        ["init"],
        ["init", "--embedding", "onnx:model"],
        ["--store", "{store}", "add", "."],
    ],
)
@pytest.mark.usefixtures("no_folder")
def test_relative_path_reports_the_missing_current_folder(store: Path, words: Sequence[str]) -> None:
    answer = ask(*(word.format(store=store) for word in words))

    assert (answer["ok"], answer.get("error", {}).get("code")) == (False, "no_folder"), answer


@pytest.mark.usefixtures("no_folder")
def test_embedder_needs_current_folder_only_for_a_relative_path() -> None:
    assert resolve_auto(Config(embedding="hash"))[0].embedding == "hash"
    assert resolve_auto(Config(embedding="onnx:/model"))[0].embedding == "onnx:/model"


@pytest.mark.usefixtures("no_folder")
def test_first_store_offers_other_folders_than_the_missing_one(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()

    assert candidates(".", caller.folder(), tmp_path) == ("~/notes",)
    assert count_files(".", lambda: 0.0) == Count(0, is_all=True)


@pytest.mark.usefixtures("no_folder")
def test_invalid_store_is_reported_without_a_current_folder(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"no database " * 500)

    with pytest.raises(RecallError) as caught:
        connect(str(tmp_path / "other.db"))

    assert (caught.value.code, caught.value.hint) == (
        "not_a_store",
        f"mv {tmp_path}/other.db {tmp_path}/other.db.old && recall init {tmp_path}",
    )


@pytest.mark.parametrize("named", [None, "recall.db", "."], ids=["by recall.toml", "by --store", "by its folder"])
def test_inaccessible_folder_is_reported(store: Path, monkeypatch: pytest.MonkeyPatch, named: str | None) -> None:
    monkeypatch.chdir(store.parent)
    store.parent.chmod(0)
    try:
        with without_privileges(store.parent.parent), pytest.raises(RecallError) as caught:
            Recall.open(None if named is None else str(store.parent / named), start=store.parent)
    finally:
        store.parent.chmod(0o755)

    assert "permission denied" in caught.value.message
    assert caught.value.exit_code in (1, 2)
    if named is None:
        assert (caught.value.code, caught.value.hint) == ("store_unreadable", f"ls -ld {store.parent}")
        assert caught.value.message == f"{store.parent}/recall.toml: permission denied."


def test_new_store_in_an_inaccessible_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shut"
    folder.mkdir(mode=0)
    with without_privileges(tmp_path), pytest.raises(RecallError) as caught:
        Recall.init(str(folder), embedding="hash")

    assert caught.value.code == "store_unreadable"


def test_file_in_an_inaccessible_folder_is_not_offered(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    shut.mkdir()
    (shut / "qrels.tsv").write_text("", encoding="utf-8")
    shut.chmod(0)
    with without_privileges(tmp_path):
        assert missing(str(shut / "qrels.tsv")) == f"There is no file or folder {str(shut / 'qrels.tsv')!r}."
        assert unreadable(str(shut / "qrels.tsv")) == f"There is no file {str(shut / 'qrels.tsv')!r}."
        assert unwritable(str(shut / "new" / "qrels.tsv")).endswith(
            "cannot be written: its folder does not exist, or it is a folder."
        )
        assert settings_there(str(shut)) == ""
        assert crash.kept_queries({"XDG_STATE_HOME": str(shut)}) == []


def test_unknown_home_folder_is_not_a_folder_of_texts() -> None:
    assert missing("~nobody-of-this-name/texts") == "There is no file or folder '~nobody-of-this-name/texts'."
    assert completions("~nobody-of-this-name/", 3) == ()
    assert count_files("~nobody-of-this-name", lambda: 0.0) == Count(0, is_all=True, is_there=False)
