"""The unit of a measure: whole documents, each by its best chunk, or chunks as they were graded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from recall_core.evaluate.grades import Judgement, stands_for
from recall_core.evaluate.judgements import by_document
from recall_core.evaluate.names import WHOLE, Names, Spot
from recall_core.retrieve.plan import Plan
from recall_core.store.port import Store
from recall_core.types import Key

Unit = Literal["chunk", "doc"]
PLURAL: Mapping[Unit, str] = {"chunk": "chunks", "doc": "documents"}
"""A unit as figures name it."""


class Graded(NamedTuple):
    """What judgements say of items that can be ranked: documents by their path, chunks by path and offset.

    grades: query to item to grade.  unknown: the items that the store does not hold.
    lines: of each graded chunk, its path and its first and last line.
    """

    grades: Mapping[str, Mapping[str, int]]
    unknown: frozenset[str]
    lines: Mapping[str, tuple[str, int, int]]


def unit_of(judgements: Collection[Judgement]) -> Unit:
    """What judgements in a store are measured by where nobody says: chunks, if every one is of a chunk or a span.

    One of a whole document does not say which of its chunks is relevant, while one of a chunk says that its document
    is: judgements of both sorts have documents in common.
    """
    return "chunk" if judgements and not whole(judgements) else "doc"


def whole(judgements: Iterable[Judgement]) -> int:
    """How many judgements are of a whole document."""
    return sum(each.spot[1:] == WHOLE for each in judgements)


def graded(store: Store, names: Names, judgements: Collection[Judgement], unit: Unit) -> Graded:
    """The grades of documents or of chunks. A document has the highest grade of its spans.

    A chunk has the highest of the judgements that stand for it, as the workbench shows it; one of a whole document
    stands for every chunk of it. A judgement that stands for no live chunk is an item that no ranking has.
    """
    if unit == "doc":
        grades = by_document(judgements)
        paths = {path for documents in grades.values() for path in documents}
        return Graded(grades, frozenset(path for path in paths if path not in names), {})
    last = {(each.query, each.spot): each for each in judgements}
    chunks = _Chunks(store)
    found: dict[str, dict[str, int]] = {}
    lines: dict[str, tuple[str, int, int]] = {}
    unknown: set[str] = set()
    for (query, path), judged in _by_path(last.values()).items():
        grades_of = found.setdefault(query, {})
        left = dict.fromkeys(each.spot for each in judged)
        for spot, first, end in chunks.of(path):
            standing = [each for each in judged if stands_for(each.spot, spot)]
            if standing:
                name = item(path, spot.offset)
                grades_of[name] = max(each.grade for each in standing)
                lines[name] = (path, first, end)
                for each in standing:
                    left.pop(each.spot, None)
        absent = {_absent(each.spot): each.grade for each in judged if each.spot in left}
        grades_of.update(absent)
        unknown.update(absent)
    return Graded(found, frozenset(unknown), lines)


def item(path: str, offset: int) -> str:
    """A chunk as rankings and grades name it."""
    return f"{path}[{offset}]"


def items(keys: Iterable[Key], unit: Unit) -> tuple[str, ...]:
    """Candidates as rankings name them, in their order."""
    return tuple(key.path if unit == "doc" else item(key.path, key.offset) for key in keys)


def ranked_as(plan: Plan, unit: Unit) -> Plan:
    """The plan with a row for each document, or for each chunk, copies of a text too."""
    if unit == "doc":
        return plan._replace(table="doc")
    return plan._replace(config=plan.config._replace(collapse=False))


class _Chunks:
    """Where the chunks of documents stand, each document looked up once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[tuple[Spot, int, int], ...]] = {}

    def of(self, path: str) -> tuple[tuple[Spot, int, int], ...]:
        """The place of each chunk with its first and last line, by offset; none of a document that is not there."""
        if path not in self._known:
            doc_id = self._store.document_at(path)
            chunks = [row.chunk for row in self._store.chunks_of(doc_id)] if doc_id is not None else []
            self._known[path] = tuple(
                (Spot(path, each.offset, each.end), each.line_start, each.line_end) for each in chunks
            )
        return self._known[path]


def _by_path(judgements: Iterable[Judgement]) -> dict[tuple[str, str], list[Judgement]]:
    found: dict[tuple[str, str], list[Judgement]] = {}
    for each in judgements:
        found.setdefault((each.query, each.spot.path), []).append(each)
    return found


def _absent(spot: Spot) -> str:
    return spot.path if spot[1:] == WHOLE else f"{spot.path}[{spot.offset}:{spot.end}]"
