"""Judgements in a store: kept by path and span, so that they outlast the chunks they were made on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Set
from hashlib import sha256
from typing import NamedTuple

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.evaluate.grades import Judgement, Regrade, at_home, words
from recall_core.evaluate.names import WHOLE, Names, Spot, unknown_spot
from recall_core.store.care import JudgementWriter
from recall_core.store.port import Store
from recall_core.store.values import JudgementRow

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


def names_of(store: Store) -> Names:
    """The names of the store's live documents."""
    return Names(store.document_files())


def located(rows: Iterable[Qrel], names: Names) -> Located:
    """The judgements at their documents' places, in order; an unknown document's name is taken for its path."""
    found, unknown = [], set()
    for row in rows:
        spot = names.find(row.document)
        found.append(Judgement(row.query, spot or unknown_spot(row.document), row.grade))
        if spot is None:
            unknown.add(found[-1][:2])
    return Located(tuple(found), len(unknown))


def put(store: Store, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    """Add queries and judgements in one transaction; a span that was judged takes the last grade.

    A judgement made before its document came, under another name than its path, gives way to the new one of it.
    Every judgement is of a query given here or stored before. Raises UsageError `query_conflict` where a query is
    stored with another text; then nothing is written.
    """
    added = tuple(judgements)
    with store.judging() as writer:
        _delete(writer, _strays(store, {(query, spot) for query, spot, _ in added}))
        _put(store, writer, queries, added)


def change(store: Store, regrade: Regrade) -> None:
    """Make a change of one query's judgements, in one transaction. Raises UsageError `query_conflict`.

    A query that it begins takes the id that its words have in the store by now, or the next free one where its own is
    taken.
    """
    with store.judging() as writer:
        _change(store, writer, _at_home(store, regrade))


def take_back(store: Store, regrade: Regrade) -> Since | None:
    """Make a change that undoes another, in one transaction. Where the store no longer has what is to be undone,
    nothing changes, and what it has instead is given back.

    A query that ends with the change leaves the store, unless it has other judgements by now.
    """
    with store.judging() as writer:
        regrade = _at_home(store, regrade)
        since = _since(store, regrade)
        if since is None:
            _change(store, writer, regrade)
    return since


def forget(store: Store, writer: JudgementWriter, paths: Iterable[str]) -> None:
    """Delete the judgements of these documents, live or gone, by whatever name they are kept, in one batch."""
    names, gone = names_of(store), frozenset(paths)
    kept = [(row.query, Spot(row.path, row.offset, row.end)) for row in store.judgements()]
    _delete(writer, [each for each in kept if each[1].path in gone or _is_of(_spot(names, *each[1]), gone)])


def _is_of(spot: Spot | None, paths: Collection[str]) -> bool:
    return spot is not None and spot.path in paths


def ids_of(texts: Mapping[str, str]) -> dict[str, str]:
    """The words of each query to its id, the first one where several ask for the same."""
    ids: dict[str, str] = {}
    for query in sorted(texts, key=lambda query: (len(query), query)):
        ids.setdefault(words(texts[query]), query)
    return ids


def stored_queries(store: Store) -> dict[str, str]:
    """Query id to text, by id."""
    return store.judged_queries()


def digest(store: Store) -> str:
    """SHA-256 of every judged query and judgement, in hexadecimal: the digest of the store knows none of them."""
    return sha256(json.dumps([stored_queries(store), store.judgements()]).encode()).hexdigest()


def stored(store: Store, names: Names) -> Located:
    """The store's judgements by query, path and span, each at the document that its path names at this moment.

    Of several that stand at one place by now, the one under the document's own path counts, else the last by name.
    """
    grades: dict[Place, int] = {}
    unknown = 0
    for query, path, offset, end, grade in sorted(store.judgements(), key=lambda row: row.path in names):
        spot = _spot(names, path, offset, end)
        unknown += spot is None
        grades[query, spot or Spot(path, offset, end)] = grade
    return Located(tuple(Judgement(*place, grade) for place, grade in sorted(grades.items())), unknown)


def count(store: Store) -> int:
    """How many judgements the store has, those that stand at one place counted once."""
    if not store.stray_judgements():
        return store.judgement_count()
    return len(stored(store, names_of(store)).judgements)


def by_document(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Query id to path to grade: the last grade of each span, the highest of a document's spans."""
    last = {(query, spot): grade for query, spot, grade in judgements}
    found: dict[str, dict[str, int]] = {}
    for (query, spot), grade in last.items():
        grades = found.setdefault(query, {})
        grades[spot.path] = max(grade, grades.get(spot.path, grade))
    return found


def _at_home(store: Store, regrade: Regrade) -> Regrade:
    texts = stored_queries(store)
    return at_home(regrade, texts, ids_of(texts))


def _change(store: Store, writer: JudgementWriter, regrade: Regrade) -> None:
    removed = [(regrade.query, each.spot) for each in regrade.removed]
    added = [(regrade.query, each.spot) for each in regrade.added]
    _delete(writer, [*removed, *_strays(store, {*removed, *added})])
    if regrade.ends:
        writer.drop_query(regrade.query)
    else:
        _put(store, writer, {regrade.query: regrade.text}, regrade.added)


def _since(store: Store, undo: Regrade) -> Since | None:
    """The first place with another grade than the one to be taken back; None where the store has all of them."""
    left: dict[Spot, int | None] = {each.spot: None for each in undo.added}
    left |= {each.spot: each.grade for each in undo.removed}
    is_there = stored_queries(store).get(undo.query) == undo.text
    found = stored(store, names_of(store)).judgements if is_there else ()
    standing = {spot: grade for query, spot, grade in found if query == undo.query}
    others = (Since(spot, standing.get(spot)) for spot in sorted(left) if standing.get(spot) != left[spot])
    return next(others, None)


def _put(store: Store, writer: JudgementWriter, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    known = store.judged_queries()
    for query, text in queries.items():
        if known.setdefault(query, text) != text:
            raise UsageError(
                "query_conflict",
                f"Query {query} is in the store with another text: {known[query]}",
                hint="give the query another id",
            )
        writer.put_query(query, text)
    for query, spot, grade in judgements:
        writer.put(JudgementRow(query, *spot, grade))


def _strays(store: Store, places: Set[Place]) -> list[Place]:
    """Where judgements of these places are kept under other names; documents are looked up only where some may be."""
    rows = store.stray_judgements({query for query, _ in places})
    names = names_of(store) if rows else Names(())
    strays = [(row, (row.query, _spot(names, row.path, row.offset, row.end))) for row in rows]
    return [(row.query, Spot(row.path, row.offset, row.end)) for row, place in strays if place in places]


def _delete(writer: JudgementWriter, places: Iterable[Place]) -> None:
    for query, spot in places:
        writer.remove(query, *spot)


def _spot(names: Names, path: str, offset: int, end: int) -> Spot | None:
    """Where a stored judgement stands: at the document that its path names at this moment, None without one."""
    spot = Spot(path) if path in names else names.find(path)
    if spot is None or (offset, end) == WHOLE:
        return spot
    return Spot(spot.path, offset, end)
