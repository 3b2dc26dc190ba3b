"""Faults of a store that do not depend on its kind. Each class goes before the class of a store.

promise: the test of the store suite that fails.
question, place: the question of the suite as data that fails, and where; "" if the fault changes no answer there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recall_core.rank.bm25 import idf
from recall_core.rql.ast import Expr
from recall_core.store.values import Nearest
from recall_core.types import Key, LexicalQuery, Row, TermStat, Vector


class NearestFilteredAfterTheCut:
    promise = "test_filter_applies_before_the_limit"
    question, place = "nearest-08", "rows[0]"

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        passing = {key.rowid for key in self.candidates(where)}
        found = super().nearest(vector, where=None, k=k)
        return found._replace(cosines={rowid: each for rowid, each in found.cosines.items() if rowid in passing})


class WordsFilteredAfterTheCut:
    promise = "test_filter_applies_before_the_limit"
    question = place = ""

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        passing = {key.rowid for key in self.candidates(where)}
        found = super().lexical(query, where=None, k=k, title_weight=title_weight, also=also)
        return {rowid: each for rowid, each in found.items() if rowid in passing}


class TiesByRowid:
    promise = "test_rows_are_in_natural_order"
    question, place = "search-03", "rows[0].path"

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        return sorted(super().candidates(where, rowids=rowids), key=lambda key: key.rowid)


class Float32Words:
    promise = "test_lexical_values_equal_the_formula_of_the_core"
    question, place = "search-10", "rows[0].ledger[0].raw"

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        found = super().lexical(query, where=where, k=k, title_weight=title_weight, also=also)
        return {rowid: float(np.float32(each)) for rowid, each in found.items()}


class Float32Cosines:
    promise = "test_cosines_are_exact_to_the_sixth_decimal"
    question, place = "search-32", "rows[0].score"

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        held = self.vectors(list(super().cosines(vector, where=where, rowids=rowids)))
        query = np.frombuffer(vector, "<f4")
        # Four sums, added at the end. The order in which `@` adds depends on the processor.
        sums = {
            rowid: np.cumsum((query * np.frombuffer(each, "<f4")).reshape(-1, 4), axis=0)[-1]
            for rowid, each in held.items()
        }
        return {rowid: round(float(np.cumsum(each)[-1]), 6) for rowid, each in sums.items()}


class CosinesOffByAMillionth:
    promise = "test_cosines_are_exact_to_the_sixth_decimal"
    question, place = "search-01", "rows[0].ledger[1].raw"

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        found = super().cosines(vector, where=where, rowids=rowids)
        return {rowid: round(each + 1e-6, 6) for rowid, each in found.items()}


class LostCopies:
    promise = "test_equal_texts_are_recognized_as_chunks_come_and_go"
    question, place = "search-07", "rows[0].copies"

    def same_texts(self, rowids: Sequence[int]) -> Mapping[int, int]:
        return {}


class StaleIdf:
    promise = "test_statistics_count_rows_with_a_phrase"
    question, place = "search-02", "rows[0].ledger[0].leaves[0].idf"

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        terms = super().term_stats(query, is_searched=is_searched)
        return tuple(each._replace(idf=idf(each.df, self.all_chunks())) for each in terms)


class StrippedText:
    promise = "test_stored_text_comes_back_verbatim"
    question, place = "context-01", "text"

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        return [row._replace(chunk=row.chunk._replace(text=row.chunk.text.strip())) for row in super().fetch(rowids)]


SHARED = (
    NearestFilteredAfterTheCut,
    WordsFilteredAfterTheCut,
    TiesByRowid,
    Float32Words,
    Float32Cosines,
    CosinesOffByAMillionth,
    LostCopies,
    StaleIdf,
    StrippedText,
)
