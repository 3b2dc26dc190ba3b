"""The reason for a hit, and the least cosine of hits without a word of the query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core import Recall
from recall_core.retrieve.asking import Ask, Pack

TEXTS = {
    "lamp.txt": "Lanterns are lit in the harbour.",
    "lamps.txt": "Lanternmaker, lanternlight.",
    "bees.txt": "Bees dance.",
    "numbers.txt": "17 23 42",
}
NONSENSE = "zzyzx"
WORDS = "lanterns"
NEAR = 0.1
"""Between the cosines of lamps.txt and bees.txt."""


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    folder = tmp_path_factory.mktemp("matched")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    Recall.init(str(folder), settings=("stop_words=none", "sparse_recall=false"))
    with Recall.open(start=folder) as opened:
        opened.index(str(folder))
        yield opened


def match_kinds(recall: Recall, words: str = WORDS, **fields: Any) -> dict[str, str | None]:
    results = recall.search(words, Ask(k=100, **fields))["results"]
    return {each["doc"]["path"]: each.get("matched") for each in results}


def cosine_of(recall: Recall, path: str) -> float:
    (row,) = [each for each in recall.search(WORDS, Ask(k=100))["results"] if each["doc"]["path"] == path]
    return row["cosine"]


def chunk_of(recall: Recall, path: str) -> str:
    (row,) = [each for each in recall.search(WORDS, Ask(k=100))["results"] if each["doc"]["path"] == path]
    return row["chunk"]["id"]


def test_hit_names_the_signal_that_found_it(recall: Recall) -> None:
    by_both = {"lamp.txt": "both", "lamps.txt": "meaning", "bees.txt": "meaning", "numbers.txt": "meaning"}

    assert match_kinds(recall) == by_both
    assert match_kinds(recall, mode="lexical") == {"lamp.txt": "words"}
    assert set(match_kinds(recall, mode="semantic").values()) == {"meaning"}
    assert match_kinds(recall, settings=("match=all",)) == by_both


def test_distant_row_with_a_word_matches_by_words_only(recall: Recall) -> None:
    query = "SELECT doc.path FROM chunk USING lexical('bees'), semantic('17 23 42') LIMIT 100"
    rows = {row["doc"]["path"]: row for row in recall.query(query, Ask(explain=True))["results"]}
    part = rows["bees.txt"]["explain"]["parts"][1]

    assert part["signal"] == "semantic"
    assert rows["bees.txt"]["matched"] == ("both" if part["raw"] > 0 else "words")
    assert rows["numbers.txt"]["matched"] == "meaning"


def test_query_without_a_signal_has_no_match(recall: Recall) -> None:
    rows = recall.query("SELECT doc.path FROM doc")["results"]

    assert len(rows) == len(TEXTS)
    assert not any("matched" in row or "cosine" in row for row in rows)


def test_only_hybrid_answers_report_cosines_of_semantic_rows(recall: Recall) -> None:
    for mode, held in (("hybrid", {False: False, True: True}), ("semantic", {True: False})):
        for row in recall.search(WORDS, Ask(k=100, mode=mode, explain=True))["results"]:
            is_by_meaning = row["matched"] == "meaning"
            assert ("cosine" in row) == held[is_by_meaning], (mode, row["doc"]["path"])
            if "cosine" in row:
                assert row["cosine"] == row["explain"]["parts"][1]["raw"]


def test_document_has_the_words_of_all_its_chunks(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("Bees dance here. " * 300 + "\n\nThe harbour. " + "It is quiet. " * 300)
    (tmp_path / "other.txt").write_text("Ants walk.")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))
        query = "SELECT doc.path FROM doc USING lexical('harbour'), semantic('bees dance') OPTION {}"

        weights = "lexical_weight 0, semantic_weight 1"
        found = recall.query(query.format(weights))
        assert {row["doc"]["path"]: row["matched"] for row in found["results"]} == {
            "long.txt": "both",
            "other.txt": "meaning",
        }
        kept = recall.query(query.format(f"{weights}, min_cosine 1"))["results"]
        assert [row["doc"]["path"] for row in kept] == ["long.txt"]


def test_pin_without_a_signal_is_reported(recall: Recall) -> None:
    for name, settings, expected in [
        ("lamps.txt", (), "meaning"),
        ("lamps.txt", ("min_cosine=1",), "pinned"),
        ("lamp.txt", ("min_cosine=1",), "both"),
    ]:
        pinned = chunk_of(recall, name)
        chunks = recall.context(WORDS, Ask(settings=settings), Pack(pins=(pinned,)))["context"]["chunks"]
        assert chunks[0]["id"] == pinned
        assert chunks[0]["matched"] == expected, (name, settings)


def test_packed_copy_reports_its_match_too(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Lanterns are lit.")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))
        first = recall.search(WORDS)["results"][0]["chunk"]["id"]
        chunks = recall.context(WORDS, Ask(), Pack(drops=(first,)))["context"]["chunks"]

        assert [(chunk["path"], chunk["matched"]) for chunk in chunks] == [("b.txt", "both")]


def test_min_cosine_drops_only_rows_without_a_word(recall: Recall) -> None:
    least = (f"min_cosine={NEAR}",)
    assert cosine_of(recall, "bees.txt") < NEAR < cosine_of(recall, "lamps.txt")

    assert list(match_kinds(recall, settings=least)) == ["lamp.txt", "lamps.txt"]
    assert list(match_kinds(recall, settings=("min_cosine=1",))) == ["lamp.txt"]
    assert match_kinds(recall, settings=("min_cosine=1",), mode="lexical") == {"lamp.txt": "words"}
    assert match_kinds(recall, NONSENSE, settings=("min_cosine=1",)) == {}
    query = f"SELECT doc.path FROM chunk USING lexical('{WORDS}'), semantic('{WORDS}') OPTION min_cosine {NEAR}"
    assert [row["doc"]["path"] for row in recall.query(query)["results"]] == ["lamp.txt", "lamps.txt"]


def test_min_cosine_is_inclusive(recall: Recall) -> None:
    cosine = cosine_of(recall, "lamps.txt")

    assert "lamps.txt" in match_kinds(recall, settings=(f"min_cosine={cosine}",))
    assert "lamps.txt" not in match_kinds(recall, settings=(f"min_cosine={cosine + 1e-6:.6f}",))


def test_dropped_rows_are_omitted_with_their_reason(recall: Recall) -> None:
    settings = (f"min_cosine={NEAR}", "min_score=0.001")
    whole = recall.context(WORDS)["context"]
    context = recall.context(WORDS, Ask(settings=settings))["context"]

    omitted = {each["reason"]: each["count"] for each in context["omitted"]}
    assert omitted["below_min_cosine"] >= 1
    assert context["candidates"] == whole["candidates"] == len(context["chunks"]) + sum(omitted.values())


def test_sparse_recall_row_is_not_dropped(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"long{n}.txt").write_text(f"lanterns {n} " + "word " * 2_000)
    (tmp_path / "short.txt").write_text("Lanternlight.")
    Recall.init(str(tmp_path), settings=("sparse_recall=true",))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))
        settings = ("min_cosine=1", "sparse_distance_ceiling=2")
        results = recall.search(WORDS, Ask(k=3, settings=settings))["results"]

        (given,) = [row for row in results if "recall" in row]
        assert (given["doc"]["path"], given["matched"]) == ("short.txt", "meaning")


def test_whynot_trace_and_explain_use_min_cosine(recall: Recall) -> None:
    settings = (f"min_cosine={NEAR}",)
    cosine = cosine_of(recall, "numbers.txt")

    view = recall.why_not(WORDS, "numbers.txt", Ask(settings=settings))["whynot"]
    assert view["verdict"] == "distant"
    stage = next(each for each in view["stages"] if each["stage"] == "min_cosine")
    assert stage["evidence"] == {"cosine": cosine, "min_cosine": NEAR}
    fix = view["fixes"][0]
    assert (fix["kind"], fix["settings"]) == ("min_cosine", [f"min_cosine={cosine:g}"])
    assert "proof" not in view
    behind = recall.why_not(WORDS, "numbers.txt", Ask(k=2, settings=("min_cosine=0.9",)), fixes=False)["whynot"]
    assert behind["verdict"] == "distant"  # lamps.txt, ranked before it, is dropped too

    stages = {
        each["stage"]: each["rows_out"] for each in recall.trace(WORDS, Ask(settings=settings))["trace"]["stages"]
    }
    assert (stages["kept"], stages["near"], stages["top_k"]) == (4, 2, 2)

    explanation = recall.explain(WORDS, chunk_of(recall, "numbers.txt"), Ask(settings=settings))["explanation"]
    assert (explanation["chunk"]["rank"], explanation["chunk"]["absent"]) == (None, "below_min_cosine")
    assert "stability" not in explanation  # it counts every candidate
    assert "stability" in recall.explain(WORDS, chunk_of(recall, "numbers.txt"))["explanation"]


def test_effective_plan_contains_min_cosine_only_if_set(recall: Recall) -> None:
    assert "min_cosine" not in recall.search(WORDS)["query"]["plan"]
    assert recall.search(WORDS, Ask(settings=("min_cosine=0.3",)))["query"]["plan"]["min_cosine"] == 0.3


def test_documents_with_words_are_all_listed_without_k(recall: Recall) -> None:
    ask = Ask(documents_with_words=True)

    def paths(words: str, ask: Ask) -> list[str]:
        return [row["doc"]["path"] for row in recall.search(words, ask)["results"]]

    assert paths("lanterns bees", ask) == paths("lanterns bees", Ask(k=2)) == ["bees.txt", "lamp.txt"]
    assert paths("lanterns bees", ask._replace(k=1)) == ["bees.txt"]
    by_meaning = ("lexical_weight=0", "semantic_weight=1")  # lamps.txt, which has no word, ranks before bees.txt
    assert set(paths("lanterns bees", ask._replace(settings=by_meaning, k=2))) == {"bees.txt", "lamp.txt"}
    assert paths(NONSENSE, ask) == []
    assert len(paths(NONSENSE, ask._replace(mode="semantic"))) == len(TEXTS)


def test_dropping_rows_keeps_the_rest_of_the_list(recall: Recall) -> None:
    cases = [
        ("fusion=rrf",),
        ("normalize=minmax",),
        ("lexical_model=bm25f",),
        ("collapse=false",),
        ("semantic_weight=1", "lexical_weight=0"),
        ("min_score=0.01",),
        ("rerank=hash", "rerank_weight=1"),
    ]
    for settings in cases:
        for words in ("lanterns bees", "harbour 17", NONSENSE):
            whole = recall.search(words, Ask(k=100, settings=settings))["results"]
            kept = [row for row in whole if row["matched"] != "meaning" or row["cosine"] >= NEAR]
            found = recall.search(words, Ask(k=100, settings=(*settings, f"min_cosine={NEAR}")))

            rows = [(row["doc"]["path"], row["score"], row["matched"]) for row in found["results"]]
            assert rows == [(row["doc"]["path"], row["score"], row["matched"]) for row in kept], (settings, words)
            assert found["stats"]["total_hits"] == len(kept)


def test_meaningless_queries_warn_and_list_no_document(recall: Recall) -> None:
    for question in (
        *("zzyzx", "qwrtp vbnm", "xq-77b", '"fnord wibble"', "Blorptastic?", "how do I frobnicate zlarg"),
        *("ñandúxyz", "0xdeadbeef", "grmpf grmpf grmpf", "snarkle.frump"),
    ):
        found = recall.search(question)

        assert found["results"], question
        assert any(each.startswith("W_NO_MATCH") for each in found["warnings"]), question
        assert recall.search(question, Ask(documents_with_words=True))["results"] == [], question
