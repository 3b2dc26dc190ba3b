"""The memory of a process that queries a store repeatedly: when it is loaded, its owner, and identical answers."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from recall_core.errors import StoreCorrupt
from recall_core.rql.parser import parse_filter
from recall_core.store.sqlite.connect import STATE, state_of
from recall_core.store.sqlite.memory import matrix, snapshot
from recall_core.store.sqlite.memory import words as arithmetic
from recall_core.store.sqlite.memory.rows import PIECE_ROWS
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.types import LiteralQuery, Occurrences, Phrase, Vector
from recall_core.words.question import literal
from tests.builders import EMBEDDER, memory_store, new_file, put

WORDS = "ant bee cat dog elk fox gnu hen ibis jay running runs ran".split()
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
ASKED = EMBEDDER.embed(["ant bee"])[0]


def random_files(random: Random, count: int) -> Iterator[object]:
    for number in range(count):
        texts = [" ".join(random.choices(WORDS, k=random.randint(1, 30))) for _ in range(random.randint(1, 4))]
        title = " ".join(random.choices(WORDS, k=random.randint(0, 3)))
        yield new_file(
            f"{random.randint(0, 9)}/{number:03}.txt", texts, title=title, source=random.choice(["a", "b"])
        )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of a store that tests only read."""
    where = str(tmp_path_factory.mktemp("made") / "recall.db")
    store = memory_store(where)
    put(store, *random_files(Random(1), 60))
    with store.writer() as writer:
        writer.tombstone(["1/001.txt", "2/002.txt"])
    store.close()
    return where


@pytest.fixture
def path(template: str, tmp_path: Path) -> str:
    return str(shutil.copy(template, tmp_path))


@contextmanager
def opening(path: str, *, memory_mb: int = 512) -> Iterator[SqliteStore]:
    store = open_store(path)
    store.memory_mb = memory_mb
    try:
        yield store
    finally:
        store.close()


def query(store: SqliteStore, text: str, match: str = "any") -> LiteralQuery:
    return literal(text, analyzer=store.analyzer, match=match, stop_words="none")


def ask(store: SqliteStore, text: str = "ant bee") -> dict[int, float]:
    """Run one query."""
    with store.reading():
        return dict(store.lexical(query(store, text), where=None, k=5, title_weight=3.0))


def is_in_memory(store: SqliteStore) -> bool:
    """Return True if a query finds something in memory."""
    with store.reading():
        store.remember(object())
        return store.in_memory() is not None


def other_spelling(phrase: Phrase, random: Random) -> Phrase:
    """Return the phrase, or one that also counts another, or one with less weight."""
    other = random.choice(WORDS)
    also = Phrase(other, (other,), (other,))
    return random.choice([phrase, phrase._replace(share=0.1), phrase._replace(any_of=(phrase, also))])


def everything(store: SqliteStore, random: Random) -> list[object]:
    """Return everything that a query with a random text may read, in one reading."""
    words = [random.choice(WORDS) for _ in range(random.randint(1, 5))]
    phrase = '"' + " ".join(random.choices(WORDS, k=random.randint(2, 3))) + '"'
    text = " ".join([*words, *([phrase] if random.random() < 0.5 else [])])
    asked = query(store, text, random.choice(["any", "all"]))
    if random.random() < 0.5:
        asked = asked._replace(phrases=tuple(other_spelling(each, random) for each in asked.phrases))
    vector = EMBEDDER.embed([text], is_query=True)[0]
    where = random.choice([None, "doc.source = 'a'", "doc.path GLOB '3/*'", "doc.source = 'nowhere'"])
    given = None if where is None else parse_filter(where)
    k, weight = random.choice([0, 1, 3, 10, 1000]), random.choice([0.0, 0.1, 1.0, 1.7, 3.0])
    with store.reading():
        rowids = [key.rowid for key in store.candidates(None)]
        some = [*random.sample(rowids, 7), 10**6]
        passing = [key.rowid for key in store.candidates(given, rowids=some)]
        return [
            store.term_stats(asked),
            list(store.lexical(asked, where=given, k=k, title_weight=weight).items()),
            sorted(store.lexical(asked, where=given, k=k, title_weight=weight, also=passing).items()),
            sorted(store.lexical(asked, where=given, k=None, title_weight=weight).items()),
            sorted(store.lexical_scores(asked, some, title_weight=weight).items()),
            plain(store.occurrences(asked, some)),
            plain(store.occurrences(asked, None)),
            plain(store.phrases(asked, store.term_stats(asked), some)),
            list(store.nearest(vector, where=given, k=k).cosines.items()),
            [store.ahead(vector, rowid, where=given) for rowid in some],
            sorted(store.cosines(vector, where=given).items()),
            sorted(store.cosines(vector, where=None, rowids=some).items()),
            tuple(store.candidates(given)),
            tuple(store.candidates(None, rowids=some)),
            tuple(store.candidates(given, rowids=some)),
        ]


def plain(found: Occurrences) -> object:
    held = {rowid for counts in found.counts for rowid in counts}
    lengths = {rowid: found.lengths[rowid] for rowid in held}
    return found._replace(counts=tuple(map(dict, found.counts)), lengths=lengths)


@pytest.mark.parametrize("memory_mb", [512, 0])
def test_memory_equals_the_file(template: str, memory_mb: int) -> None:
    with opening(template, memory_mb=0) as cold, opening(template, memory_mb=memory_mb) as memory:
        assert not memory_mb or memory.fill_memory()
        assert is_in_memory(memory) is bool(memory_mb)
        for seed in range(40 if NIGHTLY else 12):
            assert everything(memory, Random(seed)) == everything(cold, Random(seed)), seed


def test_narrow_matrix_proposes_the_same_rows_as_a_wide_one(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = matrix.Matrix.__init__

    def narrow(self: matrix.Matrix, rows: int, dimension: int, *, is_wide: bool) -> None:
        wide(self, rows, dimension, is_wide=False)

    monkeypatch.setattr(matrix.Matrix, "__init__", narrow)
    with opening(template, memory_mb=0) as cold, opening(template) as memory:
        assert memory.fill_memory()
        for seed in range(20 if NIGHTLY else 5):
            assert everything(memory, Random(seed)) == everything(cold, Random(seed)), seed


def test_store_without_room_for_vectors_keeps_other_data(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MEGABYTE", 20_000)
    with opening(path, memory_mb=0) as cold, opening(path, memory_mb=1) as memory:
        assert memory.fill_memory()
        with memory.reading():
            found = memory.in_memory()
            assert found is not None
            assert found.matrix is None
        assert everything(memory, Random(3)) == everything(cold, Random(3))


def test_process_with_one_query_loads_nothing(path: str) -> None:
    with opening(path) as store:
        ask(store)
        assert store._lease is None


def test_second_query_loads_the_store(path: str) -> None:
    with opening(path) as store:
        first = ask(store)
        second = ask(store, "cat")
        assert store._lease is not None
        assert store.fill_memory()
        assert is_in_memory(store)
        assert (ask(store), ask(store, "cat")) == (first, second)


def test_queries_inside_one_reading_count_separately(path: str) -> None:
    with opening(path) as store, store.reading():
        for text in ("ant", "bee"):
            store.lexical(query(store, text), where=None, k=5, title_weight=3.0)
        assert store._lease is not None


def test_query_of_words_and_a_vector_counts_once(path: str) -> None:
    with opening(path) as store, store.reading():
        store.lexical(query(store, "ant"), where=None, k=5, title_weight=3.0)
        store.nearest(ASKED, where=None, k=5)
        store.cosines(ASKED, where=None, rowids=[1, 2])
        assert store._lease is None


def test_connections_of_one_process_share_loaded_data(path: str) -> None:
    with opening(path) as one, opening(path) as other:
        assert one.fill_memory()
        assert is_in_memory(one)
        ask(other)
        with one.reading(), other.reading():
            one.remember(object())
            other.remember(object())
            assert one.in_memory() is other.in_memory() is not None


@pytest.mark.timeout(60)
def test_waiting_for_an_overwritten_state_ends(path: str) -> None:
    with opening(path) as reading, opening(path) as writing:
        with reading.reading():
            state = reading.state()
            put(writing, new_file("b.txt", ["unheard"]))
            assert reading._share().wait(state, 512) is None
        assert reading.fill_memory()


def test_memory_is_freed_when_the_last_connection_closes(path: str) -> None:
    with opening(path) as store:
        assert store.fill_memory()
        assert store._file in snapshot._Files.shared
    assert store._file not in snapshot._Files.shared


def test_memory_of_an_unclosed_connection_is_freed(path: str) -> None:
    store = open_store(path)
    assert store.fill_memory()
    file = store._file
    del store
    gc.collect()
    assert file not in snapshot._Files.shared


def test_own_writes_are_seen_at_once(path: str) -> None:
    with opening(path) as store:
        assert store.fill_memory()
        before = len(store.candidates(None))
        put(store, new_file("b.txt", ["unheard"]))
        assert list(ask(store, "unheard").values()) != []
        with store.reading():
            assert len(store.candidates(None)) == before + 1
        assert store.fill_memory()
        assert list(ask(store, "unheard").values()) != []


def test_writes_of_another_connection_are_seen_at_once(path: str) -> None:
    with opening(path) as reading, opening(path) as writing:
        assert reading.fill_memory()
        assert ask(reading, "unheard") == {}
        put(writing, new_file("b.txt", ["unheard"]))
        assert len(ask(reading, "unheard")) == 1
        with writing.writer() as writer:
            writer.tombstone(["b.txt"])
        assert ask(reading, "unheard") == {}


def test_rolled_back_rows_are_never_kept(path: str) -> None:
    with opening(path) as store:
        assert store.fill_memory()
        before = len(store.candidates(None))
        with suppress(ZeroDivisionError), store.writer() as writer:
            assert writer.tombstone([store.candidates(None)[0].path]) == 1
            for _ in range(3):
                assert len(store.candidates(None)) < before
            raise ZeroDivisionError
        with store.reading():
            assert len(store.candidates(None)) == before


def test_reading_keeps_its_state_while_others_write(path: str) -> None:
    with opening(path) as reading, opening(path) as writing:
        assert reading.fill_memory()
        with reading.reading():
            before = reading.lexical(query(reading, "unheard"), where=None, k=5, title_weight=3.0)
            put(writing, new_file("b.txt", ["unheard"]))
            assert writing.fill_memory()
            after = reading.lexical(query(reading, "unheard cat"), where=None, k=5, title_weight=3.0)
            assert (before, reading.term_stats(query(reading, "unheard"))[0].df) == ({}, 0)
            assert len(after) == 5


def test_word_of_a_missing_row_is_damage_in_memory_too(path: str) -> None:
    with opening(path) as store:
        put(store, new_file("b.txt", ["unheard"]))
        with store.transaction():
            (row,) = store.execute("SELECT rowid, title, text FROM chunk WHERE text = 'unheard'")
            store.execute("INSERT INTO chunk_fts(chunk_fts, rowid, title, body) VALUES('delete', ?, ?, ?)", row)
            store.execute("INSERT INTO chunk_fts(rowid, title, body) VALUES(?, ?, ?)", (9_999, *row[1:]))
            store.execute("UPDATE chunk_fts_docsize SET id = ? WHERE id = 9999", row[:1])
        assert store.fill_memory()

        with pytest.raises(StoreCorrupt):
            ask(store, "unheard")


def test_inconsistent_store_is_not_kept_in_memory(path: str) -> None:
    with opening(path) as store:
        raw = sqlite3.connect(path)
        raw.execute("DELETE FROM chunk_fts_docsize WHERE id = 3")
        raw.commit()
        raw.close()
        assert not store.fill_memory()
        with pytest.raises(StoreCorrupt):
            ask(store)


def test_forked_child_discards_the_memory_of_its_parent(path: str) -> None:
    with opening(path) as store:
        assert store.fill_memory()
        child = os.fork()
        if not child:
            os._exit(len(snapshot._Files.shared))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_in_memory_store_is_loaded_at_the_second_query() -> None:
    store = memory_store()
    put(store, new_file("b.txt", ["ant bee", "cat"]))
    answers = [ask(store), ask(store), ask(store)]
    assert is_in_memory(store)
    assert answers[0] == answers[1] == answers[2]


def test_state_consists_of_generation_and_content(path: str) -> None:
    with opening(path) as store, store.reading():
        generation, digest, _ = state_of(store.execute(STATE))
        assert (generation, len(digest)) == (store.generation(), 64)


def test_more_rows_than_one_batch_are_read_completely() -> None:
    store = memory_store()
    put(store, *(new_file(f"{number}.txt", [f"w{piece}" for piece in range(100)]) for number in range(21)))
    assert PIECE_ROWS < 2_100
    cold = everything(store, Random(5))
    assert store.fill_memory()
    assert everything(store, Random(5)) == cold


def test_fts5_scores_words_itself_if_rounding_differs(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one_bit_more = "-bm25(chunk_fts, ?, 1.0) * 1.0000000000000002"
    monkeypatch.setattr(arithmetic, "_SCORES", arithmetic._SCORES.replace("-bm25(chunk_fts, ?, 1.0)", one_bit_more))
    arithmetic.is_that_of_fts5.cache_clear()
    try:
        assert not arithmetic.is_that_of_fts5()
        with opening(path) as store:
            assert store.fill_memory()
            with store.reading():
                held = store.in_memory()
                assert held is not None
                assert held.words(store.execute, query(store, "ant")) is None
            assert ask(store)
    finally:
        arithmetic.is_that_of_fts5.cache_clear()


def test_rows_of_old_filters_are_evicted_for_new_ones(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_FILTERS_SHARE", 10**9)
    monkeypatch.setattr(snapshot, "MEGABYTE", 100)
    with opening(path) as store:
        assert store.fill_memory()
        with store.reading():
            held = store.in_memory()
            assert held is not None
            for source in ("a", "b", "a"):
                where = parse_filter(f"doc.source = '{source}'")
                assert len(held.passing(where, store.execute)) == len(store._candidates(where, None))
            assert len(held._passing) == 1


def test_this_machine_rounds_like_fts5() -> None:
    assert arithmetic.is_that_of_fts5()


def test_kth_best_equals_that_of_a_sort() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        values = np.round(random.standard_normal(int(random.integers(2, 20_000))), 2)
        k = int(random.integers(1, len(values)))
        assert matrix.kth_best(values, k) == sorted(values.tolist(), reverse=True)[k - 1], seed


def near_ties(count: int, dimension: int) -> list[Vector]:
    """Return unit vectors whose products with the first differ by little more than float32 resolves."""
    random = np.random.default_rng(7)
    base = random.standard_normal(dimension)
    base /= np.linalg.norm(base)
    rows = base + random.standard_normal((count, dimension)) * 1e-4
    return [bytes((row / np.linalg.norm(row)).astype("<f4")) for row in rows]


@pytest.mark.parametrize("is_wide", [True, False])
def test_near_ties_are_all_proposed(is_wide: bool) -> None:
    rows = near_ties(500, 384)
    held = matrix.Matrix(500, 384, is_wide=is_wide)
    held.put(np.arange(500, dtype=np.int32), rows)
    wide = np.array([np.frombuffer(row, "<f4") for row in rows], dtype=np.float64)
    cosines = np.clip(np.round(wide @ wide[0], 6), -1, 1)
    for k in (1, 10, 200):
        least = np.sort(cosines)[-k]
        assert set(np.flatnonzero(cosines >= least)) <= set(held.near(rows[0], k, None).tolist())
