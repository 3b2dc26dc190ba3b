"""The number of rows with a query word, and the note if none has one, in every hybrid answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recall_core import Recall
from recall_core.retrieve.asking import Ask

WORDS = "harbour lanterns"


@pytest.fixture
def recall(tmp_path: Path) -> Recall:
    (tmp_path / "both.txt").write_text(
        "".join(f"The harbour {n}. " for n in range(500)) + "".join(f"Nothing else is {n}. " for n in range(500))
    )
    (tmp_path / "one.txt").write_text("Lanterns are lit.")
    (tmp_path / "none.txt").write_text("Bees dance, harbors differ by spelling.")
    Recall.init(str(tmp_path), settings=("stop_words=none",))
    opened = Recall.open(start=tmp_path)
    for _ in opened.add([str(tmp_path)]):
        pass
    return opened


def count_hits(recall: Recall, words: str = WORDS, **fields: Any) -> tuple[int | None, int]:
    stats = recall.search(words, Ask(**fields))["stats"]
    return stats.get("word_hits"), stats["total_hits"]


def test_row_with_a_word_of_the_query_counts(recall: Recall) -> None:
    rows = recall.search(WORDS, Ask(k=1000))["results"]
    texts = [row["chunk"]["text"].lower() for row in rows]

    held, total = count_hits(recall)

    assert held == sum("harbour" in text or "lanterns" in text for text in texts)
    assert 0 < held < total == len(rows)


def test_count_covers_all_rows_regardless_of_k(recall: Recall) -> None:
    assert len({count_hits(recall, k=k) for k in (0, 1, 10, 1000)}) == 1


def test_rows_below_min_score_do_not_count(recall: Recall) -> None:
    least = "min_score=0.3"
    rows = recall.search(WORDS, Ask(k=1000, settings=(least,)))["results"]
    by_words = {row["chunk"]["id"] for row in recall.search(WORDS, Ask(k=1000, mode="lexical"))["results"]}

    held, total = count_hits(recall, settings=(least,))

    assert total == len(rows) < count_hits(recall)[1]
    assert held == sum(row["chunk"]["id"] in by_words for row in rows)


def test_document_counts_once_for_any_matching_chunk(recall: Recall) -> None:
    query = f"SELECT doc.path FROM doc USING lexical('{WORDS}'), semantic('bees')"

    assert recall.query(query)["stats"]["word_hits"] == 2
    assert recall.query(query)["stats"]["total_hits"] == 3


def test_only_hybrid_answers_have_the_count(recall: Recall) -> None:
    assert count_hits(recall, mode="lexical")[0] is count_hits(recall, mode="semantic")[0] is None
    assert "word_hits" not in recall.query("SELECT doc.path FROM doc")["stats"]


def test_purely_semantic_answer_is_reported(recall: Recall) -> None:
    found, context = recall.search("harbors lantern", Ask(settings=("match=all",))), recall.context("zzyzx")

    assert found["stats"]["word_hits"] == context["stats"]["word_hits"] == 0
    told = "W_NO_MATCH: no row has {} of the query; rows are ranked by meaning alone"
    assert told.format("every word") in found["warnings"]
    assert told.format("a word") in context["warnings"]
    assert not any("W_NO_MATCH" in each for each in recall.search(WORDS)["warnings"])


def test_empty_list_has_no_word_warning(recall: Recall) -> None:
    found = recall.search("zzyzx", Ask(filter="doc.path = 'gone'"))

    assert not any("W_NO_MATCH" in each for each in found["warnings"])


def test_copies_count_separately(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.txt").write_text("The harbour. ")
    (tmp_path / "other.txt").write_text("Bees dance.")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))

        assert count_hits(recall) == count_hits(recall, settings=("collapse=false",)) == (3, 4)
        assert count_hits(recall, settings=("min_score=0.2",)) == (3, 3)


def test_filter_without_matches_is_reported(recall: Recall, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_text("A harbour.")
    for _ in recall.add([str(tmp_path)]):
        pass
    nothing = "W_EMPTY_FILTER: no row passes the filter"
    for where, warning in (
        ("doc.tag = 'none'", nothing),
        ("doc.path GLOB '*.md'", f"{nothing}; did you mean GLOB '**/*.md'?"),
        ("doc.tag = 'none' OR NOT NOT doc.path GLOB 'a.*'", f"{nothing}; did you mean GLOB '**/a.*'?"),
        ("doc.tag = 'none' AND doc.path GLOB '*.md'", nothing),
        ("doc.path GLOB '*.txt'", None),
    ):
        answers = [
            recall.search(WORDS, filter=where),
            recall.context(WORDS, filter=where, mode="lexical"),
            recall.query(f"SELECT * FROM doc FILTER {where}"),
        ]
        for answer in answers:
            found = [each for each in answer["warnings"] if each.startswith("W_EMPTY_FILTER")]
            assert found == ([] if warning is None else [warning]), where
    assert "W_EMPTY" not in str(recall.search("zzyzx", filter="doc.path GLOB '*.txt'", mode="lexical")["warnings"])
