"""Counts of a store's content, kept in `meta` so that no query reads a table for them.

The counts that every version keeps have a row each. The others form the census: one row together with the generation
for which it is true. A version that does not know the census leaves it outdated when it changes the store; then the
numbers are counted on demand until the next change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recall_core import store
from recall_core.store.sqlite import copies
from recall_core.store.sqlite.records import Execute, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from recall_core.store.values import Totals

    Census: TypeAlias = tuple[int, int, int, str]
    """Tokens of the live chunks, vectors of several windows, live documents without a chunk, newest doc.mtime."""

KEY = "census"

NAMES = ("tokens", "windowed", "without_text", "snapshot")

COUNTS = {
    "documents": "SELECT count(*) FROM doc WHERE deleted = 0",
    "chunks": "SELECT count(*) FROM chunk WHERE deleted = 0",
    "vectors": "SELECT count(*) FROM vec",
    "tombstones": "SELECT count(*) FROM doc WHERE deleted = 1",
}
"""Counts with their own row in `meta`."""

_TOKENS = "SELECT coalesce(sum(tokens), 0) FROM chunk WHERE deleted = 0"
_WINDOWED = "SELECT count(*) FROM vec WHERE windows > 1"
_WITHOUT_TEXT = (
    "SELECT count(*) FROM doc WHERE deleted = 0 AND rowid NOT IN (SELECT doc FROM chunk WHERE deleted = 0)"
)
_OF_DOCUMENT = """
SELECT count(*), coalesce(sum(c.tokens), 0), count(v.chunk), coalesce(sum(v.windows > 1), 0)
FROM chunk c LEFT JOIN vec v ON v.chunk = c.rowid WHERE c.doc = ? AND c.deleted = 0
"""
_NEWEST = "SELECT coalesce(max(mtime), '') FROM doc WHERE deleted = 0"


def none() -> dict[str, str]:
    """Return the count rows of an empty store."""
    return {**dict.fromkeys(COUNTS, "0"), KEY: spell(0, (0, 0, 0, ""))}


def spell(generation: int, census: Census) -> str:
    """Return the row of the census for this generation."""
    return " ".join(map(str, (generation, *census)))


def read_census(meta: Mapping[str, str]) -> Census | None:
    """Return the census, or None if it is not of the current generation. Raises ValueError."""
    at, *counted = meta.get(KEY, "").split(" ")
    if at != meta["generation"]:
        return None
    tokens, windowed, without_text, newest = counted
    return int(tokens), int(windowed), int(without_text), newest


def count_census(execute: Execute) -> Census:
    """Count the census from the tables."""
    return _one(execute, _TOKENS), _one(execute, _WINDOWED), _one(execute, _WITHOUT_TEXT), newest(execute)


def totals(execute: Execute) -> Totals:
    """Return the totals of the live chunks, stored or else counted."""
    own = read_census(_meta(execute)) or count_census(execute)
    return store.values.Totals(own[0], own[2])


def read_windowed_and_newest(execute: Execute, meta: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of vectors made of several windows, and the newest time. Every answer has both."""
    own = read_census(meta)
    return (_one(execute, _WINDOWED), newest(execute)) if own is None else (own[1], own[3])


def newest(execute: Execute) -> str:
    """Return the newest doc.mtime of a live document, or ""."""
    return str(execute(_NEWEST)[0][0])


def recount(execute: Execute, generation: int) -> dict[str, str]:
    """Count every count row of `meta` from the tables."""
    counts = {name: str(_one(execute, sql)) for name, sql in COUNTS.items()}
    return {**counts, KEY: spell(generation, count_census(execute))}


def advance(execute: Execute) -> None:
    """Record that the open transaction changed the store: increment the generation and count everything again."""
    execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    generation = int(execute("SELECT value FROM meta WHERE key = 'generation'")[0][0])
    for pair in recount(execute, generation).items():
        execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", pair)


def find_wrong(execute: Execute, meta: Mapping[str, str]) -> list[str]:
    """Return the names of wrong counts."""
    found = [name for name, sql in COUNTS.items() if meta.get(name) != str(_one(execute, sql))]
    found += ["copies"] if copies.are_wrong(execute) else []
    try:
        own = read_census(meta)
    except (LookupError, ValueError):
        return [*found, KEY]
    if own is None:
        return found
    return found + [
        name for name, mine, counted in zip(NAMES, own, count_census(execute), strict=True) if mine != counted
    ]


class Tally:
    """Counts during a write transaction."""

    def __init__(self, execute: Execute) -> None:
        meta = _meta(execute)
        self._execute = execute
        self._counts = {name: int(meta[name]) for name in COUNTS}
        own = read_census(meta)
        self._census = None if own is None else dict(zip(NAMES[:-1], own[:-1], strict=True))

    def add_document(self, tokens: Sequence[int]) -> None:
        """Count a new live document. tokens: of each of its chunks."""
        self._add(1, documents=1, chunks=len(tokens), tokens=sum(tokens), without_text=not tokens)

    def add_vector(self, windows: int) -> None:
        """Count a new vector of this many windows."""
        self._add(1, vectors=1, windowed=windows > 1)

    def remove_document(self, rowid: int) -> None:
        """Count a live document that is about to become a tombstone. Its rows are still in the tables."""
        chunks, tokens, vectors, windowed = self._execute(_OF_DOCUMENT, (rowid,))[0]
        named = {"vectors": vectors, "windowed": windowed}
        self._add(-1, documents=1, tombstones=-1, chunks=chunks, tokens=tokens, without_text=not chunks, **named)

    def drop_tombstones(self, tombstones: int) -> None:
        """Count this many deleted tombstones."""
        self._add(-1, tombstones=tombstones)

    def rows(self, generation: int) -> dict[str, str]:
        """Return the rows of `meta` for this generation. Count the census if it was not kept."""
        if self._census is None:
            census = count_census(self._execute)
        else:
            tokens, windowed, without_text = self._census.values()
            census = tokens, windowed, without_text, newest(self._execute)
        return {**{name: str(count) for name, count in self._counts.items()}, KEY: spell(generation, census)}

    def _add(self, sign: int, **changes: int) -> None:
        for name, change in changes.items():
            if name in self._counts:
                self._counts[name] += sign * change
            elif self._census is not None:
                self._census[name] += sign * change


def _meta(execute: Execute) -> dict[str, str]:
    return {key: text_of(value) for key, value in execute("SELECT key, value FROM meta")}


def _one(execute: Execute, sql: str) -> int:
    return int(execute(sql)[0][0])
