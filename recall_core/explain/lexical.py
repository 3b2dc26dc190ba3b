"""What each phrase of a question gives to a row's lexical score, exactly, whatever the shape of the expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from recall_core.config import Config
from recall_core.contract import LeafView
from recall_core.contract.ledger import ColumnsView, LeafKind
from recall_core.ports import Store
from recall_core.rank.bm25f import contributions
from recall_core.retrieve import Answer
from recall_core.retrieve.pool import lexical_query
from recall_core.types import Occurrences

FLOOR = 1e-6
"""The least idf, of a phrase that half the rows or more hold (sqlite fts5_aux.c)."""


class Contribution(NamedTuple):
    """A summand of a raw value, in the signal's own unit, with what is known of it."""

    kind: LeafKind
    text: str
    value: float
    details: Mapping[str, Any] = MappingProxyType({})

    def leaf(self, points: float) -> LeafView:
        """The same as a leaf of that many points."""
        view = {"kind": self.kind, "text": self.text, "points": points, "contribution": self.value, **self.details}
        return cast(LeafView, view)


def lexical_contributions(found: Answer, rowids: Sequence[int], store: Store) -> dict[int, list[Contribution]]:
    """rowid to its phrases that count there, in query order; together they are the row's raw lexical value.

    One pass over the rows, in FTS5's own counting or, where the answer was ranked so, by BM25F.
    """
    query, _ = lexical_query(found.plan, store)
    if query is None or found.pool is None or not rowids:
        return {}
    config = found.plan.config._replace(lexical_model=found.pool.lexical_model)
    standing = store.phrases(query, found.pool.terms, rowids)
    return {rowid: list(_terms(standing, rowid, config)) for rowid in rowids if rowid in standing.lengths}


def _terms(standing: Occurrences, rowid: int, config: Config) -> Iterator[Contribution]:
    given = contributions(standing, rowid, config)
    for phrase, counts, value in zip(standing.phrases, standing.counts, given, strict=True):
        if value:
            details: dict[str, Any] = {"df": phrase.df, "idf": phrase.idf}
            if phrase.idf <= FLOOR:
                details["floored"] = True
            details |= {
                "tf": _columns(counts[rowid]),
                "length": _columns(standing.lengths[rowid]),
                "average_length": _columns(standing.averages),
            }
            yield Contribution("term", phrase.text, value, details)


def _columns(pair: tuple[float, float]) -> ColumnsView:
    return ColumnsView(title=pair[0], body=pair[1])
