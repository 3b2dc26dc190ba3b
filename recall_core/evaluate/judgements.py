"""Judgements in a store: kept by path and span, so that they outlast the chunks they were made on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from hashlib import sha256
from typing import NamedTuple

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.evaluate.grades import Judgement, Regrade, at_home, words
from recall_core.evaluate.names import WHOLE, Names, Spot, unknown_spot
from recall_core.store.sqlite.store import SqliteStore

_PUT = """
INSERT INTO judgement(query, path, offset, end_offset, grade) VALUES(?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET grade = excluded.grade
"""

_JUDGEMENTS = "SELECT query, path, offset, end_offset, grade FROM judgement ORDER BY query, path, offset, end_offset"

_STRAYS = """
SELECT query, path, offset, end_offset FROM judgement j
WHERE NOT EXISTS (SELECT 1 FROM doc WHERE doc.path = j.path AND doc.deleted = 0)
"""
"""Judgements of no live document's path; some may by now be found by the name that they are kept under."""

_DELETE = "DELETE FROM judgement WHERE query = ? AND path = ? AND offset = ? AND end_offset = ?"

Place = tuple[str, Spot]
"""A query, and what is judged for it."""


class Located(NamedTuple):
    """Judgements whose names were looked up in a store. unknown: how many are of no live document, or several."""

    judgements: tuple[Judgement, ...]
    unknown: int


class Since(NamedTuple):
    """What stands where a grade was to be taken back. grade: None where it was taken away."""

    spot: Spot
    grade: int | None


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

    A judgement made before its document came, under another name than its path, gives way to the new one of it.
    Every judgement is of a query given here or stored before. Raises UsageError `query_conflict` where a query is
    stored with another text; then nothing is written.
    """
    added = tuple(judgements)
    with store.transaction():
        _delete(store, _strays(store, {(query, spot) for query, spot, _ in added}))
        _put(store, queries, added)


def change(store: SqliteStore, regrade: Regrade) -> None:
    """Make a change of one query's judgements, in one transaction. Raises UsageError `query_conflict`.

    A query that it begins takes the id that its words have in the store by now, or the next free one where its own is
    taken.
    """
    with store.transaction():
        _change(store, _at_home(store, regrade))


def take_back(store: SqliteStore, regrade: Regrade) -> Since | None:
    """Make a change that undoes another, in one transaction. Where the store no longer has what is to be undone,
    nothing changes, and what it has instead is given back.

    A query that ends with the change leaves the store, unless it has other judgements by now.
    """
    with store.transaction():
        regrade = _at_home(store, regrade)
        since = _since(store, regrade)
        if since is None:
            _change(store, regrade)
    return since


def ids_of(texts: Mapping[str, str]) -> dict[str, str]:
    """The words of each query to its id, the first one where several ask for the same."""
    ids: dict[str, str] = {}
    for query in sorted(texts, key=lambda query: (len(query), query)):
        ids.setdefault(words(texts[query]), query)
    return ids


def stored_queries(store: SqliteStore) -> dict[str, str]:
    """Query id to text, by id."""
    return dict(store.execute("SELECT id, text FROM judged_query ORDER BY id"))


def digest(store: SqliteStore) -> str:
    """SHA-256 of every judged query and judgement, in hexadecimal: the digest of the store knows none of them."""
    found = store.execute(_JUDGEMENTS)
    return sha256(json.dumps([stored_queries(store), found]).encode()).hexdigest()


def stored(store: SqliteStore, names: Names) -> Located:
    """The store's judgements by query, path and span, each at the document that its path names at this moment.

    Of several that stand at one place by now, the one under the document's own path counts, else the last by name.
    """
    rows = store.execute(_JUDGEMENTS)
    grades: dict[Place, int] = {}
    unknown = 0
    for query, path, offset, end, grade in sorted(rows, key=lambda row: row[1] in names):
        spot = _spot(names, path, offset, end)
        unknown += spot is None
        grades[query, spot or Spot(path, offset, end)] = grade
    return Located(tuple(Judgement(*place, grade) for place, grade in sorted(grades.items())), unknown)


def count(store: SqliteStore) -> int:
    """How many judgements the store has, those that stand at one place counted once."""
    if not store.execute(f"{_STRAYS} LIMIT 1"):
        return store.judgements()
    return len(stored(store, names_of(store)).judgements)


def by_document(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Query id to path to grade: the last grade of each span, the highest of a document's spans."""
    last = {(query, spot): grade for query, spot, grade in judgements}
    found: dict[str, dict[str, int]] = {}
    for (query, spot), grade in last.items():
        grades = found.setdefault(query, {})
        grades[spot.path] = max(grade, grades.get(spot.path, grade))
    return found


def _at_home(store: SqliteStore, regrade: Regrade) -> Regrade:
    texts = stored_queries(store)
    return at_home(regrade, texts, ids_of(texts))


def _change(store: SqliteStore, regrade: Regrade) -> None:
    removed = [(regrade.query, each.spot) for each in regrade.removed]
    added = [(regrade.query, each.spot) for each in regrade.added]
    _delete(store, [*removed, *_strays(store, {*removed, *added})])
    if not regrade.ends:
        _put(store, {regrade.query: regrade.text}, regrade.added)
    elif not store.execute("SELECT 1 FROM judgement WHERE query = ? LIMIT 1", (regrade.query,)):
        store.execute("DELETE FROM judged_query WHERE id = ?", (regrade.query,))


def _since(store: SqliteStore, undo: Regrade) -> Since | None:
    """The first place with another grade than the one to be taken back; None where the store has all of them."""
    left: dict[Spot, int | None] = {each.spot: None for each in undo.added}
    left |= {each.spot: each.grade for each in undo.removed}
    is_there = stored_queries(store).get(undo.query) == undo.text
    found = stored(store, names_of(store)).judgements if is_there else ()
    standing = {spot: grade for query, spot, grade in found if query == undo.query}
    others = (Since(spot, standing.get(spot)) for spot in sorted(left) if standing.get(spot) != left[spot])
    return next(others, None)


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


def _strays(store: SqliteStore, places: Set[Place]) -> list[Place]:
    """Where judgements of these places are kept under other names; documents are looked up only where some may be."""
    queries = json.dumps(sorted({query for query, _ in places}))
    rows = store.execute(f"{_STRAYS} AND query IN (SELECT value FROM json_each(?))", (queries,))
    names = names_of(store) if rows else Names(())
    return [(query, Spot(*row)) for query, *row in rows if (query, _spot(names, *row)) in places]


def _delete(store: SqliteStore, places: Iterable[Place]) -> None:
    for query, spot in places:
        store.execute(_DELETE, (query, *spot))


def _spot(names: Names, path: str, offset: int, end: int) -> Spot | None:
    """Where a stored judgement stands: at the document that its path names at this moment, None without one."""
    spot = Spot(path) if path in names else names.find(path)
    if spot is None or (offset, end) == WHOLE:
        return spot
    return Spot(spot.path, offset, end)
