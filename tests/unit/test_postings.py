"""Occurrences in the FTS5 index, equal for every way to read them."""

from __future__ import annotations

import pytest

from recall_core.store.sqlite import postings
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery, Occurrences
from recall_core.words.question import literal
from tests.builders import fish_store, memory_store, new_file, put


@pytest.fixture
def store() -> SqliteStore:
    return fish_store()


def rowids(store: SqliteStore) -> dict[str, int]:
    return {key.path[0]: key.rowid for key in store.candidates(None)}


def question(store: SqliteStore, words: str) -> LiteralQuery:
    return literal(words, analyzer=store.analyzer, match="any")


def by_letter(store: SqliteStore, found: Occurrences) -> list[dict[str, tuple[int, int]]]:
    letters = {rowid: letter for letter, rowid in rowids(store).items()}
    return [{letters[rowid]: tf for rowid, tf in sorted(counts.items())} for counts in found.counts]


def test_word_is_counted_in_title_and_body(store: SqliteStore) -> None:
    found = store.occurrences(question(store, "fishes story"), None)
    assert by_letter(store, found) == [{"a": (0, 2), "b": (1, 4)}, {"b": (1, 0)}]


def test_phrase_occurrences_may_overlap(store: SqliteStore) -> None:
    assert by_letter(store, store.occurrences(question(store, '"fish fish"'), None)) == [{"b": (0, 3)}]


def test_pairs_of_cjk_characters_are_words(store: SqliteStore) -> None:
    found = store.occurrences(question(store, '红色 "红色的鱼"'), None)
    assert by_letter(store, found) == [{"c": (0, 1)}, {"c": (0, 1)}]


def test_repeated_phrases_keep_their_positions(store: SqliteStore) -> None:
    found = store.occurrences(question(store, "blue fish blue"), None)
    assert [phrase.text for phrase in found.phrases] == ["blue", "fish", "blue"]
    assert found.counts[0] == found.counts[2] != found.counts[1]


def test_frequencies_equal_term_stats(store: SqliteStore) -> None:
    query = question(store, 'blue fish unknown "fish fish" the')
    assert store.occurrences(query, None).phrases == store.term_stats(query)


def test_lengths_and_averages_count_tokens_of_each_column(store: SqliteStore) -> None:
    found = store.occurrences(question(store, "fish blue"), None)
    row = rowids(store)
    assert {row["a"]: (0, 4), row["b"]: (2, 5), row["c"]: (0, 7)}.items() <= found.lengths.items()
    assert found.rows == 4
    assert found.averages == (2 / 4, (4 + 5 + 7 + 4) / 4)


def test_removed_rows_are_not_counted(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.tombstone(["b.txt"])
    found = store.occurrences(question(store, "fish"), None)
    assert by_letter(store, found) == [{"a": (0, 2)}]
    assert (found.rows, found.averages) == (3, (0.0, 5.0))


def test_both_ways_to_read_give_the_same(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    query = question(store, 'fish "fish fish" blue unknown 红色')
    wanted = [rowids(store)[letter] for letter in "ca"]
    ways = []
    for price in (0, 1_000):
        monkeypatch.setattr(postings, "_LOOK_UP", price)
        ways.append(store.occurrences(query, wanted))
    assert by_letter(store, ways[0]) == [{"a": (0, 2)}, {}, {"a": (0, 1), "c": (0, 2)}, {}, {"c": (0, 1)}]
    assert ways[0] == ways[1]._replace(lengths=ways[0].lengths)
    assert ways[0].lengths.items() <= ways[1].lengths.items() or ways[1].lengths.items() <= ways[0].lengths.items()


def test_empty_index_and_empty_query_give_nothing() -> None:
    store = memory_store()
    found = store.occurrences(question(store, "fish"), None)
    assert (found.counts, found.rows, found.averages) == (({},), 0, (0.0, 0.0))
    assert store.occurrences(question(store, "?"), None).phrases == ()


def test_lengths_of_any_size_are_read() -> None:
    for words in [126, 127, 128, 129, 16_383, 16_384, 20_000]:
        store = memory_store()
        put(store, new_file("a.txt", ["w " * words], title="t " * 200), new_file("b.txt", ["x"]))
        found = store.occurrences(question(store, "w"), None)
        assert next(iter(found.lengths.values())) == (200, words), words
        assert found.averages == (100.0, (words + 1) / 2), words


def test_bm25_of_chosen_rows_equals_the_full_search(store: SqliteStore) -> None:
    query = question(store, "fish blue")
    whole = store.lexical(query, where=None, k=None, title_weight=3.0)
    assert store.lexical_scores(query, [*whole, 99], title_weight=3.0) == whole
