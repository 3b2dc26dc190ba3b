"""Both conformance suites fail on a collection in Postgres with one fault, in the check for it."""

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
from recall_core.store.values import Nearest
from recall_core.testing import SearchConformance, WriteConformance
from recall_core.types import Key, LexicalQuery, Row, TermStat, Vector
from tests import postgres_server
from tests.postgres_server import collection

if not postgres_server.is_available():
    pytest.skip(postgres_server.MISSING, allow_module_level=True)

from recall_core.store.postgres import held
from recall_core.store.postgres.opened import address_of, connect
from recall_core.store.postgres.store import POSTGRES, PostgresStore


class Faulty(PostgresStore):
    """A collection with one fault: an overridden method, or a changed statement.

    promise: the test of StoreConformance that fails.
    question, place: the question of the suite as data that fails, and where; "" if it is not asked here.
    statement: a module, the name of its statement, and the part that is replaced by another.
    """

    promise: ClassVar[str]
    question = place = ""
    statement: ClassVar[tuple[Any, str, str, str] | None] = None

    @classmethod
    def create(cls, where: str, **recorded: Any) -> Store:
        POSTGRES.create(where, **recorded).close()
        address = address_of(where)
        return cls(connect(address), address)


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


class TiesByNumber(Faulty):
    promise = "test_rows_are_in_natural_order"

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        return sorted(super().candidates(where, rowids=rowids), key=lambda key: key.rowid)


class Float32Words(Faulty):
    promise = "test_lexical_values_equal_the_formula_of_the_core"

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        found = super().lexical(query, where=where, k=k, title_weight=title_weight, also=also)
        return {rowid: float(np.float32(each)) for rowid, each in found.items()}


class CosinesOffByAMillionth(Faulty):
    promise = "test_cosines_are_exact_to_the_sixth_decimal"

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        found = super().cosines(vector, where=where, rowids=rowids)
        return {rowid: round(each + 1e-6, 6) for rowid, each in found.items()}


class LostCopies(Faulty):
    promise = "test_equal_texts_are_recognized_as_chunks_come_and_go"
    statement = held, "_COPIES", "count(*) > 1", "count(*) > 1000"


class StaleIdf(Faulty):
    promise = "test_statistics_count_rows_with_a_phrase"

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        terms = super().term_stats(query, is_searched=is_searched)
        return tuple(each._replace(idf=idf(each.df, self.all_chunks())) for each in terms)


class StrippedText(Faulty):
    promise = "test_stored_text_comes_back_verbatim"

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        return [row._replace(chunk=row.chunk._replace(text=row.chunk.text.strip())) for row in super().fetch(rowids)]


FAULTS = Faulty.__subclasses__()


def seed(fault: type[Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    if fault.statement is not None:
        module, name, right, wrong = fault.statement
        sql = getattr(module, name)
        assert right in sql
        monkeypatch.setattr(module, name, sql.replace(right, wrong))


@pytest.mark.parametrize("fault", FAULTS)
def test_store_suite_fails_in_the_check_for_the_fault(
    fault: type[Faulty], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Store] = []

    class Suite(SearchConformance, WriteConformance):
        def new(self, **recorded: Any) -> Store:
            url = collection(server, f"{fault.__name__}{len(made)}")
            made.append(fault.create(stores.store_url(url).where, **recorded))
            return made[-1]

    seed(fault, monkeypatch)
    with pytest.raises(AssertionError):
        getattr(Suite(), fault.promise)()
    for store in made:
        store.close()
        POSTGRES.discard(stores.store_url(store.path).where)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.question])
def test_suite_as_data_names_the_fault(fault: type[Faulty], server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = collection(server, f"data{fault.__name__}")
    monkeypatch.setitem(stores.STORE_KINDS, "postgresql", f"{__name__}:{fault.__name__}")
    seed(fault, monkeypatch)

    assert (fault.question, fault.place) in {(each["id"], each["place"]) for each in run(url)}
    POSTGRES.discard(stores.store_url(url).where)
