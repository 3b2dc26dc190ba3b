"""Judgements: document names in files, judgements in the store, and the grade of a chunk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from hashlib import sha256
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.store.care import JudgementWriter
from recall_core.store.port import Store
from recall_core.store.values import JudgementRow

_SPAN = re.compile(r"(?P<name>.+)\[(?P<offset>[0-9]{1,9}):(?P<end>[0-9]{1,9})\]", re.DOTALL)
WHOLE = (0, -1)
"""The span of a whole document."""


class Spot(NamedTuple):
    """A live document, or a span of it in code points."""

    path: str
    offset: int = 0
    end: int = -1


class Names:
    """The names of live documents: paths, ids of records, and file names with and without suffix.

    A name that several documents share is not a name. A span follows in brackets: `docs/a.md[120:450]`.
    """

    def __init__(self, documents: Iterable[tuple[str, str | None]]) -> None:
        """Index pairs of a document's path and its file's path, which differ for records."""
        self._paths: set[str] = set()
        self._records: dict[str, str] = {}
        self._files: dict[str, str] = {}
        shared: set[str] = set()
        for path, file in documents:
            self._paths.add(path)
            if file is not None and path.startswith(f"{file}#"):
                shared.update(_enter(self._records, path[len(file) + 1 :], path))
            else:
                for name in dict.fromkeys((PurePosixPath(path).name, PurePosixPath(path).stem)):
                    shared.update(_enter(self._files, name, path))
        for name in shared:
            self._records.pop(name, None)
            self._files.pop(name, None)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    @property
    def has_uncut(self) -> bool:
        """True if a file of records was read as one document."""
        return any(path.endswith(".jsonl") for path in self._paths)

    def find(self, name: str) -> Spot | None:
        """Return the document or span with that name, as is or percent-decoded; None if none or several match."""
        for spelling in dict.fromkeys((unquote(name), name)):
            path = self._path(spelling)
            if path is not None:
                return Spot(path)
            span = _SPAN.fullmatch(spelling)
            path = None if span is None else self._path(span["name"])
            if span is not None and path is not None and int(span["offset"]) < int(span["end"]):
                return Spot(path, int(span["offset"]), int(span["end"]))
        return None

    def name(self, spot: Spot) -> str:
        """Return a name that `find` resolves to this spot: the record's id if that is enough, else the path."""
        _, mark, record = spot.path.partition("#")
        short = record if mark and self._path(record) == spot.path else spot.path
        span = "" if (spot.offset, spot.end) == WHOLE else f"[{spot.offset}:{spot.end}]"
        return quote_name(short + span)

    def _path(self, name: str) -> str | None:
        if name in self._paths:
            return name
        return self._records.get(name) or self._files.get(name)


def unknown_spot(name: str) -> Spot:
    """Return the spot of a name without a live document: the inverse of `Names.name` for deleted documents."""
    name = unquote(name)
    span = _SPAN.fullmatch(name)
    if span is None or int(span["offset"]) >= int(span["end"]):
        return Spot(name)
    return Spot(span["name"], int(span["offset"]), int(span["end"]))


def quote_name(name: str) -> str:
    """Return the name as one word, with blanks, unprintable characters and percent signs encoded."""
    return "".join(
        quote(letter, safe="") if letter in " %" or not letter.isprintable() else letter for letter in name
    )


def _enter(names: dict[str, str], name: str, path: str) -> Iterator[str]:
    """Add a name of the document. Yield the name if another document already has it."""
    if names.setdefault(name, path) != path:
        yield name


class Judgement(NamedTuple):
    """The relevance of a document, or of a span of it, to a query. spot.path may have no live document."""

    query: str
    spot: Spot
    grade: int


class Regrade(NamedTuple):
    """A change of one query's judgements that contains everything needed to apply and undo it.

    begins: True if the change adds the query to the store.
    ends: True if the change removes the query from the store.
    """

    query: str
    text: str
    removed: tuple[Judgement, ...] = ()
    added: tuple[Judgement, ...] = ()
    begins: bool = False
    ends: bool = False


def stands_for(judged: Spot, chunk: Spot) -> bool:
    """Return True if a judgement of one spot counts for the other.

    This is so if one of them is the whole document, the middle of the judged span is in the chunk, or the chunk is
    inside the span. A neighbouring chunk that only shares an overlap with a judged chunk is not judged.
    """
    if judged.path != chunk.path:
        return False
    if WHOLE in (judged[1:], chunk[1:]):
        return True
    middle = (judged.offset + judged.end) // 2
    is_within = judged.offset <= chunk.offset and chunk.end <= judged.end
    return is_within or chunk.offset <= middle < chunk.end


def grade_of_chunk(judgements: Iterable[Judgement], chunk: Spot) -> int | None:
    """Return the highest grade of the judgements that count for the chunk; None without any.

    judgements: of one query, each span once. chunk: the spot of a chunk, or a whole document.
    """
    return max((grade for _, spot, grade in judgements if stands_for(spot, chunk)), default=None)


def regrade_chunk(query: str, text: str, judgements: Iterable[Judgement], chunk: Spot, grade: int | None) -> Regrade:
    """Return the smallest change that gives the chunk this grade, or no grade for None.

    If the whole document is judged, the document gets the grade. A lower grade replaces higher ones of other spans
    that count for the chunk.
    """
    standing = [each for each in judgements if each.query == query and stands_for(each.spot, chunk)]
    if grade is None:
        return Regrade(query, text, removed=tuple(standing))
    whole = any(each.spot[1:] == WHOLE for each in standing)
    added = Judgement(query, Spot(chunk.path) if whole else chunk, grade)
    removed = tuple(each for each in standing if each.spot == added.spot or each.grade > grade)
    return Regrade(query, text, removed, (added,))


def undo_of(change: Regrade) -> Regrade:
    """Return the change that undoes this one."""
    return change._replace(removed=change.added, added=change.removed, begins=change.ends, ends=change.begins)


def apply_change(judgements: Iterable[Judgement], change: Regrade) -> tuple[Judgement, ...]:
    """Return a query's judgements after a change, in order of their spots."""
    gone = {each.spot for each in (*change.removed, *change.added)}
    left = [each for each in judgements if each.query != change.query or each.spot not in gone]
    return tuple(sorted((*left, *change.added)))


def at_home(change: Regrade, texts: Mapping[str, str], ids: Mapping[str, str]) -> Regrade:
    """Return the change under the current id and text of its query.

    If another query has its id, use the id of the query with the same words, or the next free id.
    texts: query id to text. ids: words to query id.
    """
    known = words(change.text)
    query = change.query if words(texts.get(change.query, "")) == known else ids.get(known, change.query)
    if query in texts and words(texts[query]) != known:
        if not change.begins:
            return change
        query = free_id(texts)
    removed, added = (tuple(each._replace(query=query) for each in of) for of in (change.removed, change.added))
    return change._replace(query=query, text=texts.get(query, change.text), removed=removed, added=added)


def free_id(queries: Iterable[str]) -> str:
    """Return the next query id: the first of q1, q2, ... that is free."""
    taken = set(queries)
    return next(query for number in range(1, len(taken) + 2) if (query := f"q{number}") not in taken)


def words(text: str) -> str:
    """Return the words of a query's text with one blank between them, to compare texts."""
    return " ".join(text.split())


Place = tuple[str, Spot]
"""A query and the spot judged for it."""


class Located(NamedTuple):
    """Judgements with their spots in a store. unknown: how many match no live document, or several."""

    judgements: tuple[Judgement, ...]
    unknown: int


class Since(NamedTuple):
    """The current state where an undo was rejected. grade: None if the judgement is gone."""

    spot: Spot
    grade: int | None


def names_of(store: Store) -> Names:
    """Return the names of the store's live documents."""
    return Names(store.document_files())


def locate(rows: Iterable[Qrel], names: Names) -> Located:
    """Return the judgements with their spots, in order. Unknown names count as paths."""
    found, unknown = [], set()
    for row in rows:
        spot = names.find(row.document)
        found.append(Judgement(row.query, spot or unknown_spot(row.document), row.grade))
        if spot is None:
            unknown.add(found[-1][:2])
    return Located(tuple(found), len(unknown))


def put(store: Store, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    """Add queries and judgements in one transaction. A span that is already judged gets the last grade.

    A judgement under another name, made before its document existed, is replaced by the new one. Every judgement must
    be of a query given here or stored earlier. Raises UsageError `query_conflict` and writes nothing if a query is
    stored with another text.
    """
    added = tuple(judgements)
    with store.judging() as writer:
        _delete(writer, _strays(store, {(query, spot) for query, spot, _ in added}))
        _put(store, writer, queries, added)


def change(store: Store, regrade: Regrade) -> None:
    """Apply a change of one query's judgements, in one transaction. Raises UsageError `query_conflict`.

    A new query gets the id of a stored query with the same words, or the next free id if its own is taken.
    """
    with store.judging() as writer:
        _change(store, writer, _at_home(store, regrade))


def take_back(store: Store, regrade: Regrade) -> Since | None:
    """Apply an undo in one transaction. If the store changed in between, change nothing and return its current state.

    A query that ends with the undo leaves the store, unless it has other judgements.
    """
    with store.judging() as writer:
        regrade = _at_home(store, regrade)
        since = _since(store, regrade)
        if since is None:
            _change(store, writer, regrade)
    return since


def forget(store: Store, writer: JudgementWriter, paths: Iterable[str]) -> None:
    """Delete the judgements of these documents, live or gone, under all their names, in one batch."""
    names, gone = names_of(store), frozenset(paths)
    going = []
    for row in store.judgements():
        spot = Spot(row.path, row.offset, row.end)
        now = _spot(names, *spot)
        if spot.path in gone or (now is not None and now.path in gone):
            going.append((row.query, spot))
    _delete(writer, going)


def ids_of(texts: Mapping[str, str]) -> dict[str, str]:
    """Return query ids by words; the first id if several queries have the same words."""
    ids: dict[str, str] = {}
    for query in sorted(texts, key=lambda query: (len(query), query)):
        ids.setdefault(words(texts[query]), query)
    return ids


def digest(store: Store) -> str:
    """Return the SHA-256 of all judged queries and judgements, in hexadecimal. The store's digest excludes them."""
    return sha256(json.dumps([store.judged_queries(), store.judgements()]).encode()).hexdigest()


def read_stored(store: Store, names: Names) -> Located:
    """Return the store's judgements by query, path and span, each with the document that its path names now.

    If several have the same spot, the one under the document's own path counts, else the last by name.
    """
    grades: dict[Place, int] = {}
    unknown = 0
    for query, path, offset, end, grade in sorted(store.judgements(), key=lambda row: row.path in names):
        spot = _spot(names, path, offset, end)
        unknown += spot is None
        grades[query, spot or Spot(path, offset, end)] = grade
    return Located(tuple(Judgement(*place, grade) for place, grade in sorted(grades.items())), unknown)


def count(store: Store) -> int:
    """Return how many judgements the store has. Judgements of the same spot count once."""
    if not store.stray_judgements():
        return store.judgement_count()
    return len(read_stored(store, names_of(store)).judgements)


def by_document(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Return each query's grades by path: the last grade of each span, and the highest of a document's spans."""
    last = {(query, spot): grade for query, spot, grade in judgements}
    found: dict[str, dict[str, int]] = {}
    for (query, spot), grade in last.items():
        grades = found.setdefault(query, {})
        grades[spot.path] = max(grade, grades.get(spot.path, grade))
    return found


def _at_home(store: Store, regrade: Regrade) -> Regrade:
    texts = store.judged_queries()
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
    """Return the first place whose grade differs from the one to undo; None if all match."""
    left: dict[Spot, int | None] = {each.spot: None for each in undo.added}
    left |= {each.spot: each.grade for each in undo.removed}
    is_there = store.judged_queries().get(undo.query) == undo.text
    found = read_stored(store, names_of(store)).judgements if is_there else ()
    standing = {spot: grade for query, spot, grade in found if query == undo.query}
    others = (Since(spot, standing.get(spot)) for spot in sorted(left) if standing.get(spot) != left[spot])
    return next(others, None)


def _put(store: Store, writer: JudgementWriter, queries: Mapping[str, str], judgements: Iterable[Judgement]) -> None:
    known = store.judged_queries()
    for query, text in queries.items():
        if known.setdefault(query, text) != text:
            raise UsageError(
                "query_conflict",
                f"Query {query} is already stored with a different text: {known[query]}",
                hint="use another id for the query",
            )
        writer.put_query(query, text)
    for query, spot, grade in judgements:
        writer.put(JudgementRow(query, *spot, grade))


def _strays(store: Store, places: Set[Place]) -> list[Place]:
    """Return where judgements of these places are stored under other names. Names are read only if some may be."""
    rows = store.stray_judgements({query for query, _ in places})
    names = names_of(store) if rows else Names(())
    strays = [(row, (row.query, _spot(names, row.path, row.offset, row.end))) for row in rows]
    return [(row.query, Spot(row.path, row.offset, row.end)) for row, place in strays if place in places]


def _delete(writer: JudgementWriter, places: Iterable[Place]) -> None:
    for query, spot in places:
        writer.remove(query, *spot)


def _spot(names: Names, path: str, offset: int, end: int) -> Spot | None:
    """Return the spot of a stored judgement in the document that its path names now; None without one."""
    spot = Spot(path) if path in names else names.find(path)
    if spot is None or (offset, end) == WHOLE:
        return spot
    return Spot(spot.path, offset, end)
