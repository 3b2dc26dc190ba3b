"""Judgements in a store: kept by path and span, so that they outlast the chunks they were made on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.evaluate.grades import Judgement, Regrade
from recall_core.evaluate.names import WHOLE, Names, Spot, unknown_spot
from recall_core.store.sqlite.store import SqliteStore

_PUT = """
INSERT INTO judgement(query, path, offset, end_offset, grade) VALUES(?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET grade = excluded.grade
"""

_JUDGEMENTS = "SELECT query, path, offset, end_offset, grade FROM judgement ORDER BY query, path, offset, end_offset"


class Located(NamedTuple):
    """Judgements whose names were looked up in a store. unknown: how many are of no live document, or several."""

    judgements: tuple[Judgement, ...]
    unknown: int


def names_of(store: SqliteStore) -> Names:
    """The names of the store's live documents."""
    rows = store.execute(
        "SELECT d.path, f.path FROM doc d LEFT JOIN file f ON f.rowid = d.file WHERE d.deleted = 0 ORDER BY d.path"
    )
    return Names((path, file) for path, file in rows)


def located(rows: Iterable[Qrel], names: Names) -> Located:
    """The judgements at their documents' places, in order; an unknown document's name is taken for its path."""
    found, unknown = [], set()
    for row in rows:
        spot = names.find(row.document)
        found.append(Judgement(row.query, spot or unknown_spot(row.document), row.grade))
        if spot is None:
            unknown.add(found[-1][:2])
    return Located(tuple(found), len(unknown))


def put(store: SqliteStore, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    """Add queries and judgements in one transaction; a span that was judged takes the last grade.

    Every judgement is of a query given here or stored before. Raises UsageError `query_conflict` where a query is
    stored with another text; then nothing is written.
    """
    with store.transaction():
        _put(store, queries, judgements)


def change(store: SqliteStore, regrade: Regrade) -> None:
    """Make a change of one query's judgements, in one transaction. Raises UsageError `query_conflict`.

    A query that ends with the change leaves the store, unless it has other judgements by now.
    """
    with store.transaction():
        _clear(store, regrade.query, [each.spot for each in regrade.removed])
        if not regrade.ends:
            _put(store, {regrade.query: regrade.text}, regrade.added)
        elif not store.execute("SELECT 1 FROM judgement WHERE query = ? LIMIT 1", (regrade.query,)):
            store.execute("DELETE FROM judged_query WHERE id = ?", (regrade.query,))


def stored_queries(store: SqliteStore) -> dict[str, str]:
    """Query id to text, by id."""
    return dict(store.execute("SELECT id, text FROM judged_query ORDER BY id"))


def digest(store: SqliteStore) -> str:
    """SHA-256 of every judged query and judgement, in hexadecimal: the digest of the store knows none of them."""
    found = store.execute(_JUDGEMENTS)
    return sha256(json.dumps([stored_queries(store), found]).encode()).hexdigest()


def stored(store: SqliteStore, names: Names) -> Located:
    """The store's judgements by query, path and span, each at the document that its path names at this moment."""
    rows = store.execute(_JUDGEMENTS)
    found, unknown = [], 0
    for query, path, offset, end, grade in rows:
        spot = _spot(names, path, offset, end)
        unknown += spot is None
        found.append(Judgement(query, Spot(path, offset, end) if spot is None else spot, grade))
    return Located(tuple(found), unknown)


def by_document(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Query id to path to grade: the last grade of each span, the highest of a document's spans."""
    last = {(query, spot): grade for query, spot, grade in judgements}
    found: dict[str, dict[str, int]] = {}
    for (query, spot), grade in last.items():
        grades = found.setdefault(query, {})
        grades[spot.path] = max(grade, grades.get(spot.path, grade))
    return found


def _put(store: SqliteStore, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    known = dict(store.execute("SELECT id, text FROM judged_query"))
    for query, text in queries.items():
        if known.setdefault(query, text) != text:
            raise UsageError(
                "query_conflict",
                f"Query {query} is in the store with another text: {known[query]}",
                hint="give the query another id",
            )
        store.execute("INSERT INTO judged_query(id, text) VALUES(?, ?) ON CONFLICT DO NOTHING", (query, text))
    for query, spot, grade in judgements:
        store.execute(_PUT, (query, *spot, grade))


def _clear(store: SqliteStore, query: str, spots: Iterable[Spot]) -> None:
    """Documents are looked up by name only where a judgement does not stand at the path that is asked for."""
    wanted = set(spots)
    rows = store.execute("SELECT path, offset, end_offset FROM judgement WHERE query = ?", (query,))
    gone = [row for row in rows if Spot(*row) in wanted]
    if len(gone) < len(wanted):
        names = names_of(store)
        gone = [row for row in rows if (_spot(names, *row) or Spot(*row)) in wanted]
    for row in gone:
        store.execute(
            "DELETE FROM judgement WHERE query = ? AND path = ? AND offset = ? AND end_offset = ?", (query, *row)
        )


def _spot(names: Names, path: str, offset: int, end: int) -> Spot | None:
    """Where a stored judgement stands: at the document that its path names at this moment, None without one."""
    spot = Spot(path) if path in names else names.find(path)
    if spot is None or (offset, end) == WHOLE:
        return spot
    return Spot(spot.path, offset, end)
