"""Both conformance suites fail on a store with one fault, in the check for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from recall_core.api import stores
from recall_core.conformance.__main__ import run
from recall_core.rank.bm25 import idf
from recall_core.rql.ast import Expr
from recall_core.store.port import Store
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.store.values import Nearest
from recall_core.testing import StoreConformance
from recall_core.types import Key, LexicalQuery, Row, TermStat, Vector

_TOMBSTONE = """
DROP TRIGGER chunk_tombstone;
CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1 BEGIN
"""


class Faulty(SqliteStore):
    """A kind of store in memory with one fault: an overridden method, or a changed schema.

    promise: the test of StoreConformance that fails.
    question, place: the question of the suite as data that fails, and where; "" if the fault changes no answer there.
    """

    schema = question = place = ""
    promise: ClassVar[str]

    @classmethod
    def create(cls, where: str, **recorded: Any) -> Store:
        made = create_store(":memory:", **recorded)
        made.db.pragma("query_only", False)
        made.db.execute(cls.schema)
        return cls(made.db, ":memory:", writable=True)


class NearestFilteredAfterTheCut(Faulty):
    promise = "test_filter_applies_before_the_limit"
    question, place = "nearest-08", "rows[0]"

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        passing = {key.rowid for key in self.candidates(where)}
        found = super().nearest(vector, where=None, k=k)
        return found._replace(cosines={rowid: each for rowid, each in found.cosines.items() if rowid in passing})


class WordsFilteredAfterTheCut(Faulty):
    promise = "test_filter_applies_before_the_limit"

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        passing = {key.rowid for key in self.candidates(where)}
        found = super().lexical(query, where=None, k=k, title_weight=title_weight, also=also)
        return {rowid: each for rowid, each in found.items() if rowid in passing}


class TiesByRowid(Faulty):
    promise = "test_rows_are_in_natural_order"
    question, place = "search-03", "rows[0].path"

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        return sorted(super().candidates(where, rowids=rowids), key=lambda key: key.rowid)


class Float32Words(Faulty):
    promise = "test_lexical_values_equal_the_formula_of_the_core"
    question, place = "search-10", "rows[0].ledger[0].raw"

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        found = super().lexical(query, where=where, k=k, title_weight=title_weight, also=also)
        return {rowid: float(np.float32(each)) for rowid, each in found.items()}


class Float32Cosines(Faulty):
    promise = "test_cosines_are_exact_to_the_sixth_decimal"
    question, place = "query-20", "rows[2].score"

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        held = self.vectors(list(super().cosines(vector, where=where, rowids=rowids)))
        query = np.frombuffer(vector, "<f4")
        return {rowid: round(float(query @ np.frombuffer(each, "<f4")), 6) for rowid, each in held.items()}


class CosinesOffByAMillionth(Faulty):
    promise = "test_cosines_are_exact_to_the_sixth_decimal"
    question, place = "search-01", "rows[0].ledger[1].raw"

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        found = super().cosines(vector, where=where, rowids=rowids)
        return {rowid: round(each + 1e-6, 6) for rowid, each in found.items()}


class LostCopies(Faulty):
    promise = "test_equal_texts_are_recognized_as_chunks_come_and_go"
    question, place = "search-07", "rows[0].copies"

    def same_texts(self, rowids: Sequence[int]) -> dict[int, int]:
        return {}


class GhostVector(Faulty):
    promise = "test_removed_documents_are_in_no_index"
    schema = f"""{_TOMBSTONE}
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
END;"""


class GhostPosting(Faulty):
    promise = "test_removed_documents_are_in_no_index"
    question, place = "search-02", "rows[0].ledger[0].leaves[0].df"
    schema = f"{_TOMBSTONE} DELETE FROM vec_place WHERE chunk = old.rowid; END;"


class StaleIdf(Faulty):
    promise = "test_statistics_count_rows_with_a_phrase"
    question, place = "search-02", "rows[0].ledger[0].leaves[0].idf"

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        terms = super().term_stats(query, is_searched=is_searched)
        return tuple(each._replace(idf=idf(each.df, self.all_chunks())) for each in terms)


class OldMetadata(Faulty):
    promise = "test_file_is_replaced_as_a_whole"
    question, place = "query-05", "total"
    schema = """
CREATE TRIGGER keep_metadata AFTER INSERT ON doc
BEGIN
  UPDATE doc SET meta = coalesce((SELECT meta FROM doc WHERE path = new.path AND rowid < new.rowid), meta)
  WHERE rowid = new.rowid;
END;"""


class StrippedText(Faulty):
    promise = "test_stored_text_comes_back_verbatim"
    question, place = "context-01", "text"

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        return [row._replace(chunk=row.chunk._replace(text=row.chunk.text.strip())) for row in super().fetch(rowids)]


FAULTS = Faulty.__subclasses__()


@pytest.mark.parametrize("fault", FAULTS)
def test_store_suite_fails_in_the_check_for_the_fault(fault: type[Faulty]) -> None:
    class Suite(StoreConformance):
        def new(self, **recorded: Any) -> Store:
            return fault.create("", **recorded)

    with pytest.raises(AssertionError):
        getattr(Suite(), fault.promise)()


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.question])
def test_suite_as_data_names_the_fault(fault: type[Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORE_KINDS, "faulty", f"{__name__}:{fault.__name__}")

    assert (fault.question, fault.place) in {(each["id"], each["place"]) for each in run("faulty:")}


def test_store_of_these_tests_without_a_fault_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORE_KINDS, "faulty", f"{__name__}:{Faulty.__name__}")

    assert run("faulty:") == []
