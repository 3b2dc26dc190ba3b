"""The terms of the full-text index in memory, equal to those in the index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.lab import settle
from recall_core import Recall
from recall_core.store.port import Store
from recall_core.store.sqlite.memory.words import TermFrequencies
from tests.workbench_corpus import build_store

WORDS = st.dictionaries(st.text("ab́é東z", min_size=1, max_size=6), st.integers(1, 9), min_size=1)


@given(words=WORDS, cut=st.integers(1, 5), shortest=st.integers(1, 4), letters=st.text("ab́é東zy", max_size=3))
def test_terms_are_found_by_text_first_letter_and_length(
    words: dict[str, int], cut: int, shortest: int, letters: str
) -> None:
    ordered = sorted(words.items(), key=lambda pair: pair[0].encode())
    terms = TermFrequencies()
    for start in range(0, len(ordered), cut):
        terms.put(ordered[start : start + cut])

    assert terms.frequencies([*words, "absent"]) == words
    chosen = {word: df for word, df in ordered if shortest <= len(word) <= shortest + 1 and word[0] in letters}
    assert terms.beginning(letters, shortest, shortest + 1) == chosen


def test_memory_and_file_give_the_same_terms(tmp_path: Path) -> None:
    asked = [("abt", 1, 30, 12), ("rs", 4, 6, 999), ("x", 9, 9, 12)]

    def terms(store: Store) -> list[Mapping[str, int]]:
        also = ["token", "absent"]
        return [store.terms_beginning(*span, also=also, most=most) for *span, most in asked]  # type: ignore[arg-type]

    with Recall.open(str(build_store(tmp_path))) as recall:
        from_file = terms(recall.store)
        settle(recall, lambda: recall.search("token budget"))

        with recall.store.reading():
            memory = recall.store.in_memory()  # type: ignore[attr-defined]
            assert memory is not None
            assert memory.vocabulary is not None
            assert terms(recall.store) == from_file
            assert [len(found) > 1 for found in from_file] == [True, True, False]
