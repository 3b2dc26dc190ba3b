"""What a store counts of itself, kept in `meta` so that no question walks through a table for it.

Numbers that every version has kept stand in a row each. The others are the census, one row, beside the generation
that they are true of: a version that knows nothing of them leaves them behind when it changes the store, and they are
counted when they are asked for, until the next change.
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
"""Counts with a row of their own in `meta`."""

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
    """The rows of an empty store."""
    return {**dict.fromkeys(COUNTS, "0"), KEY: spelled(0, (0, 0, 0, ""))}


def spelled(generation: int, census: Census) -> str:
    """The row of the census, true of this generation."""
    return " ".join(map(str, (generation, *census)))


def kept(meta: Mapping[str, str]) -> Census | None:
    """The census, or None where there is none of the generation that the store is at. Raises ValueError."""
    at, *counted = meta.get(KEY, "").split(" ")
    if at != meta["generation"]:
        return None
    tokens, windowed, without_text, newest = counted
    return int(tokens), int(windowed), int(without_text), newest


def taken(execute: Execute) -> Census:
    """The census, taken anew: tables are walked through."""
    return _one(execute, _TOKENS), _one(execute, _WINDOWED), _one(execute, _WITHOUT_TEXT), newest(execute)


def totals(execute: Execute) -> Totals:
    """What the live chunks come to, as it is kept, or else as it is counted."""

    own = kept(_meta(execute)) or taken(execute)
    return store.values.Totals(own[0], own[2])


def told(execute: Execute, meta: Mapping[str, str]) -> tuple[int, str]:
    """What every answer tells of the census: vectors made of several windows, and the newest time."""
    own = kept(meta)
    return (_one(execute, _WINDOWED), newest(execute)) if own is None else (own[1], own[3])


def newest(execute: Execute) -> str:
    """The newest doc.mtime of a live document, or ""."""
    return str(execute(_NEWEST)[0][0])


def recount(execute: Execute, generation: int) -> dict[str, str]:
    """Every row of `meta` that counts something, taken anew."""
    counts = {name: str(_one(execute, sql)) for name, sql in COUNTS.items()}
    return {**counts, KEY: spelled(generation, taken(execute))}


def wrong(execute: Execute, meta: Mapping[str, str]) -> list[str]:
    """Names of what is kept otherwise than it is counted."""
    found = [name for name, sql in COUNTS.items() if meta.get(name) != str(_one(execute, sql))]
    found += ["copies"] if copies.are_wrong(execute) else []
    try:
        own = kept(meta)
    except (LookupError, ValueError):
        return [*found, KEY]
    if own is None:
        return found
    return found + [name for name, mine, counted in zip(NAMES, own, taken(execute), strict=True) if mine != counted]


class Tally:
    """The counts inside a write transaction, as documents come and go."""

    def __init__(self, execute: Execute) -> None:
        meta = _meta(execute)
        self._execute = execute
        self._counts = {name: int(meta[name]) for name in COUNTS}
        own = kept(meta)
        self._census = None if own is None else dict(zip(NAMES[:-1], own[:-1], strict=True))

    def come(self, tokens: Sequence[int]) -> None:
        """A live document with chunks of so many tokens each."""
        self._add(1, documents=1, chunks=len(tokens), tokens=sum(tokens), without_text=not tokens)

    def embedded(self, windows: int) -> None:
        """A vector of so many windows."""
        self._add(1, vectors=1, windowed=windows > 1)

    def go(self, rowid: int) -> None:
        """A live document that is about to become a tombstone, all of it being in the tables."""
        chunks, tokens, vectors, windowed = self._execute(_OF_DOCUMENT, (rowid,))[0]
        named = {"vectors": vectors, "windowed": windowed}
        self._add(-1, documents=1, tombstones=-1, chunks=chunks, tokens=tokens, without_text=not chunks, **named)

    def drop(self, tombstones: int) -> None:
        """So many tombstones that were deleted."""
        self._add(-1, tombstones=tombstones)

    def rows(self, generation: int) -> dict[str, str]:
        """The rows of `meta`, of this generation; a census that nobody kept is taken."""
        if self._census is None:
            census = taken(self._execute)
        else:
            tokens, windowed, without_text = self._census.values()
            census = tokens, windowed, without_text, newest(self._execute)
        return {**{name: str(count) for name, count in self._counts.items()}, KEY: spelled(generation, census)}

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
