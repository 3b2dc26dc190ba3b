"""The terms of the full-text index in memory: the same words and counts as the index gives."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.lab import settle
from recall_core import Recall
from recall_core.store.sqlite.memory.terms import TermFrequencies
from tests.workbench_corpus import build_store

WORDS = st.dictionaries(st.text("ab́é東z", min_size=1, max_size=6), st.integers(1, 9), min_size=1)


@given(words=WORDS, cut=st.integers(1, 5), shortest=st.integers(1, 4), most=st.integers(1, 8))
def test_terms_are_found_by_themselves_and_by_their_length_the_most_frequent_first(
    words: dict[str, int], cut: int, shortest: int, most: int
) -> None:
    ordered = sorted(words.items(), key=lambda pair: pair[0].encode())
    terms = TermFrequencies()
    for start in range(0, len(ordered), cut):
        terms.put(ordered[start : start + cut])

    assert terms.frequencies([*words, "absent"]) == words
    chosen = [(word, df) for word, df in ordered if shortest <= len(word) <= shortest + 1]
    assert terms.of_length(shortest, shortest + 1, most) == sorted(chosen, key=lambda pair: -pair[1])[:most]


def test_a_store_names_the_same_terms_from_memory_as_from_its_file(tmp_path: Path) -> None:
    lengths = [(1, 30), (4, 6), (9, 9)]
    with Recall.open(str(build_store(tmp_path))) as recall:
        from_file = [recall.store.terms_of_length(shortest, longest, 12) for shortest, longest in lengths]
        settle(recall, lambda: recall.search("token budget"))

        with recall.store.reading():
            memory = recall.store.in_memory()  # type: ignore[attr-defined]
            assert memory is not None
            assert memory.vocabulary is not None
            from_memory = [recall.store.terms_of_length(shortest, longest, 12) for shortest, longest in lengths]
            assert from_memory == from_file
