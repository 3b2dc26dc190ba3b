"""What the store is known to hold, as completion reads it, and what it has to be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from recall_core.rql.ast import Field, Value
    from recall_core.rql.complete import KnownValue


class Lookup(NamedTuple):
    """Values of a field that begin with a prefix, or, without a field, metadata keys that do."""

    field: Field | None
    prefix: str


class LookupResult(NamedTuple):
    """What the store said to a lookup, in its order. is_whole: nothing was left out."""

    known: tuple[KnownValue, ...]
    is_whole: bool


class KnownNames:
    """A vocabulary of what has been looked up; `missing` gathers what was asked in vain."""

    def __init__(self, entries: Mapping[Lookup, LookupResult]) -> None:
        self._entries = entries
        self.missing: list[Lookup] = []

    def keys(self, prefix: str) -> tuple[KnownValue, ...]:
        """Metadata keys that begin with the prefix, as far as they are known."""
        return self._find(Lookup(None, prefix))

    def values(self, field: Field, prefix: str) -> tuple[KnownValue, ...]:
        """Return values of the field that begin with the prefix, as far as they are known."""
        return self._find(Lookup(field, prefix))

    def _find(self, lookup: Lookup) -> tuple[KnownValue, ...]:
        """Return the entry, or what that of the longest shorter prefix has of it, which must be whole."""
        for length in range(len(lookup.prefix), -1, -1):
            entry = self._entries.get(lookup._replace(prefix=lookup.prefix[:length]))
            if entry is None:
                continue
            if length < len(lookup.prefix) and not entry.is_whole:
                self.missing.append(lookup)
            return tuple(known for known in entry.known if _write(known.value).startswith(lookup.prefix))
        self.missing.append(lookup)
        return ()


def _write(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
