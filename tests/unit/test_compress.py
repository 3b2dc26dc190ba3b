"""Sentences, their windows, and their selection under a budget."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.pack.compress import Excerpt, Passage, compress, overlap, sentence_spans
from recall_core.text import counter

TEXT = "Cats sleep. Dogs bark at cats. Birds sing.\n\nFish swim"


def cats(texts: Sequence[str]) -> list[float]:
    return [float(text.lower().count("cats")) for text in texts]


def best(*passages: Passage, sentences: int = 1, budget: int = 100) -> list[Excerpt]:
    return compress(passages, score=cats, sentences=sentences, budget_tokens=budget, counter=counter("whitespace"))


def test_sentences_end_at_full_stops_and_empty_lines() -> None:
    for text, sentences in [
        (TEXT, ["Cats sleep.", "Dogs bark at cats.", "Birds sing.", "Fish swim"]),
        ("See fig. two. “Stop!” (Really?) Yes", ["See fig. two.", "“Stop!”", "(Really?)", "Yes"]),
        ("猫睡觉。狗叫！鸟", ["猫睡觉。", "狗叫！", "鸟"]),
        ("version 1.2 of it", ["version 1.2 of it"]),
        ("  \n\n  one  \n \t\n two  ", ["one", "two"]),
        ("", []),
        (" \n ", []),
    ]:
        assert [text[start:end] for start, end in sentence_spans(text)] == sentences, text


def test_excerpts_are_slices_of_the_document_best_first() -> None:
    found = best(Passage("b", 0, 0, TEXT), Passage("a", 3, 10, "Cats chase cats. No."))
    assert [(each.doc_id, each.chunk_index, each.offset, each.end, each.text) for each in found] == [
        ("a", 3, 10, 26, "Cats chase cats."),
        ("b", 0, 0, 11, "Cats sleep."),
        ("b", 0, 12, 30, "Dogs bark at cats."),
    ]


def test_windows_of_several_sentences_never_overlap() -> None:
    found = best(Passage("a", 0, 0, TEXT), sentences=2)
    assert [each.text for each in found] == ["Cats sleep. Dogs bark at cats."]
    assert [each.text for each in best(Passage("a", 0, 0, TEXT), sentences=9)] == [TEXT]


def test_overlapping_chunks_give_a_sentence_once() -> None:
    found = best(Passage("a", 0, 0, TEXT[:30]), Passage("a", 1, 12, TEXT[12:]))
    assert [(each.chunk_index, each.text) for each in found] == [(0, "Cats sleep."), (0, "Dogs bark at cats.")]


def test_excerpt_that_does_not_fit_is_skipped() -> None:
    passage = Passage("a", 0, 0, "Cats and cats and cats. Cats sleep. Many cats.")
    assert [each.text for each in best(passage, budget=4)] == ["Cats sleep.", "Many cats."]
    assert best(passage, budget=0) == []


def test_bm25_prefers_rarer_words_and_shorter_texts() -> None:
    texts = ["common rare", "common other", "common", "nothing here at all"]
    values = overlap(["common", "rare"], texts, words=str.split)
    assert values[0] > values[2] > values[1] > values[3] == 0


def test_bm25_of_empty_input_is_zero() -> None:
    assert overlap([], ["a"], words=str.split) == [0.0]
    assert overlap(["a"], ["", "  "], words=str.split) == [0.0, 0.0]
    assert overlap(["a"], [], words=str.split) == []
