"""The names in `from recall_core import …`, and how a library user opens, fills and queries a store with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import recall_core
from recall_core import Ask, Pack, Recall, RecallError
from recall_core.retrieve.asking import AskFields, QuestionFields


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recall:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name, text in (("a", "a red apple"), ("b", "a blue sky"), ("c", "red rain on a roof")):
        Path(f"docs/{name}.txt").write_text(text)
    opened = Recall.open("mine.db", create=True)
    opened.index("docs")
    return opened


def test_all_lists_the_public_names() -> None:
    for name in recall_core.__all__:
        assert getattr(recall_core, name) is not None
    with pytest.raises(AttributeError):
        _ = recall_core.Recal


def test_importing_recall_core_loads_no_numpy_or_unused_module() -> None:
    script = (
        "import sys, recall_core;"
        "print([name for name in sys.modules if name.startswith('recall_core.') and '._' not in name]);"
        "from recall_core import Recall, Ask, Pack, RecallError; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "False"]


def test_keywords_are_the_fields_of_ask_and_pack() -> None:
    assert set(get_type_hints(AskFields)) == set(Ask._fields)
    assert set(get_type_hints(QuestionFields)) == {*Ask._fields, *Pack._fields} - {"pack"}


def test_keywords_and_ask_give_the_same_answer(recall: Recall) -> None:
    def rows(response: recall_core.contract.responses.SearchResponse) -> list[object]:
        return [response["results"], response["query"]]

    told = recall.search("red", k=1, mode="lexical")
    assert rows(told) == rows(recall.search("red", Ask(k=1, mode="lexical")))
    assert len(told["results"]) == 1
    packed = recall.context("red", k=1, budget_tokens=3)["context"]
    assert packed == recall.context("red", Ask(k=1), Pack(budget_tokens=3))["context"]


def test_keyword_next_to_its_object_is_refused(recall: Recall) -> None:
    for both in (
        lambda: recall.search("red", Ask(), k=1),
        lambda: recall.context("red", Ask(), mode="lexical"),
        lambda: recall.context("red", pack=Pack(), budget_tokens=9),
    ):
        with pytest.raises(RecallError) as caught:
            both()
        assert caught.value.code == "conflicting_flags"
    with pytest.raises(TypeError, match="colour"):
        recall.search("red", colour=1)  # type: ignore[call-arg]


def test_open_creates_a_missing_store_and_later_reopens_it(tmp_path: Path) -> None:
    with pytest.raises(RecallError, match="There is no store"):
        Recall.open(str(tmp_path / "new"))
    for place in (f"{tmp_path}/new", f"sqlite:{tmp_path}/other/mine.db", f"{tmp_path}/other/mine.db"):
        for _ in range(2):
            with Recall.open(place, create=True) as opened:
                assert opened.stats()["store"]["documents"] == 0
    assert sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.*")) == [
        "new/recall.db",
        "new/recall.toml",
        "other/mine.db",
        "other/recall.toml",
    ]
    with Recall.open(start=tmp_path / "other") as opened:
        assert opened.stats()["store"]["path"].endswith("mine.db")


def test_index_runs_to_its_end_and_again_reads_nothing(recall: Recall) -> None:
    again = recall.index("docs")["ingest"]
    assert (again["added"], again["unchanged"], again["documents"]) == (0, 3, 3)


def test_new_store_keeps_its_given_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with Recall.open(r"my\notes\queue.db", create=True) as opened:
        assert opened.config.store_path == r"my\notes\queue.db"
    assert Path(r"my\notes\queue.db").is_file()
