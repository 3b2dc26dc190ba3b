"""The choices for a first store: folders, their files, and embedders."""

import io
from pathlib import Path

import pytest

from recall_core.adapters.streams import Streams
from recall_core.errors import UsageError
from recall_core.paths import NewPlace, spot
from recall_tui import opening, program
from recall_tui.opening import (
    MOST_SECONDS,
    Count,
    FirstStore,
    candidates,
    completions,
    count_files,
    create_store,
    embedders,
    settings_there,
)


def still() -> float:
    return 0.0


def test_the_current_folder_is_offered_before_likely_ones(tmp_path: Path) -> None:
    (tmp_path / "Documents").mkdir()
    (tmp_path / "notes").write_text("a file", encoding="utf-8")

    (tmp_path / "work").mkdir()

    assert candidates(".", tmp_path / "work", tmp_path) == (".", "~/Documents")
    assert candidates(".", tmp_path / "Documents", tmp_path) == (".",)
    assert candidates(".", tmp_path, None) == (".",)


def test_the_folder_of_a_named_store_comes_first(tmp_path: Path) -> None:
    (tmp_path / "Documents" / "mine").mkdir(parents=True)
    named = tmp_path / "Documents"

    assert candidates("mine", named, tmp_path) == ("mine", ".")
    assert candidates(str(named), tmp_path, tmp_path) == (str(named), ".")
    assert candidates(str(tmp_path), tmp_path, tmp_path) == (str(tmp_path), "~/Documents")
    assert candidates("nowhere", tmp_path, tmp_path) == (".", "~/Documents")


def test_a_new_store_is_named_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.v2").mkdir()

    assert spot(None) == NewPlace(".", "")
    assert spot("notes") == NewPlace("notes", "")
    assert spot("mine.db") == NewPlace(".", "mine.db")
    assert spot("sub/mine.db") == NewPlace("sub", "mine.db")
    assert spot("docs.v2") == NewPlace("docs.v2", "")
    assert spot("~/mine.db") == NewPlace("./~", "mine.db")


def test_a_path_is_completed_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("notes", "novels", "other", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "nofolder.txt").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert completions("no", 9) == ("notes", "novels")
    assert completions("~/n", 9) == ("~/notes", "~/novels")
    assert completions(f"{tmp_path}/", 9) == tuple(f"{tmp_path}/{name}" for name in ("notes", "novels", "other"))
    assert completions("./.h", 9) == ("./.hidden",)
    assert completions("no", 1) == ("notes",)
    assert completions("nowhere/x", 9) == ()


def test_only_text_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\0")
    (tmp_path / ".secret").write_text("hidden", encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "c.js").write_text("code", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (tmp_path / "d.log").write_text("ignored", encoding="utf-8")

    assert count_files(str(tmp_path), still) == Count(1, is_all=True)
    assert count_files(str(tmp_path / "a.md"), still) == Count(1, is_all=True)
    assert count_files(str(tmp_path / "nowhere"), still) == Count(0, is_all=True, is_there=False)


def test_counting_stops_in_time_and_says_so(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("text", encoding="utf-8")
    ticks = iter(range(100))

    found = count_files(str(tmp_path), lambda: next(ticks) * MOST_SECONDS / 4)

    assert not found.is_all
    assert 0 < found.files < 9


def test_counting_stops_at_a_number_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MOST_FILES", 30)
    for number in range(31):
        (tmp_path / f"{number}").write_bytes(b"x")

    assert count_files(str(tmp_path), still) == Count(30, is_all=False)


def test_a_provider_that_only_needs_permission_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a real one")

    found = {each["name"]: each for each in embedders()}

    assert found["openai"]["available"]
    assert found["openai"]["network"]
    assert found["hash"]["available"]


def test_settings_are_searched_where_the_store_will_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("docs.v2", "sub"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "recall.toml").write_text("", encoding="utf-8")

    assert settings_there("docs.v2") == "docs.v2/recall.toml"
    assert settings_there("sub/mine.db") == "sub/recall.toml"
    assert settings_there(None) == ""


def test_a_first_store_gets_the_weights_of_its_embedder(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text('embedding = "local"\n', encoding="utf-8")

    with create_store(str(tmp_path), FirstStore("texts", "hash")) as recall:
        assert (recall.config.bm25_weight, recall.config.vector_weight) == (0.7, 0.3)


def test_the_workbench_rejects_a_store_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for argv in [(":memory:",), ("--store", "sqlite::memory:"), ("--serve", ":memory:"), ()]:
        monkeypatch.setenv("RECALL_STORE", ":memory:")

        with pytest.raises(UsageError) as caught:
            program.run(argv, streams=Streams(io.StringIO(), io.StringIO(), io.StringIO()))

        assert (caught.value.code, caught.value.hint) == ("bad_value", "recall-tui scratch.db"), argv


def test_a_first_store_keeps_the_case_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with create_store(r"my\queue.db", FirstStore("texts", "hash", {"allow_network": True})) as recall:
        assert (recall.config.store_path, recall.config.allow_network) == (r"my\queue.db", True)


def test_command_lines_share_a_store_in_memory(tmp_path: Path) -> None:
    (tmp_path / "tea.txt").write_text("a cup of tea", encoding="utf-8")
    out = io.StringIO()

    lines = ("--cmd", f"add {tmp_path}", "--cmd", "search tea --json")
    code = program.run((":memory:", *lines), streams=Streams(io.StringIO(), out, io.StringIO()))

    assert code == 0
    assert "a cup of tea" in out.getvalue()
