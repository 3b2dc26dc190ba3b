"""What files of judgements call the documents of a store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote

_SPAN = re.compile(r"(?P<name>.+)\[(?P<offset>[0-9]{1,9}):(?P<end>[0-9]{1,9})\]", re.DOTALL)
WHOLE = (0, -1)
"""The span that stands for a whole document."""


class Spot(NamedTuple):
    """A live document, or a span of it in code points."""

    path: str
    offset: int = 0
    end: int = -1


class Names:
    """The names of live documents: their paths; the ids of records; file names with and without their ending.

    A name that several documents share names none. A span follows in brackets: `docs/a.md[120:450]`.
    """

    def __init__(self, documents: Iterable[tuple[str, str | None]]) -> None:
        """documents: (path, the path of its file) pairs; they differ for records."""
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
        """True when a file of records was read as one document."""
        return any(path.endswith(".jsonl") for path in self._paths)

    def find(self, name: str) -> Spot | None:
        """The document, or span of one, of that name, as it stands or percent-decoded; None for no or several."""
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
        """A name that `find` resolves to this spot: the record's id where that is enough, else the path."""
        _, mark, record = spot.path.partition("#")
        short = record if mark and self._path(record) == spot.path else spot.path
        span = "" if (spot.offset, spot.end) == WHOLE else f"[{spot.offset}:{spot.end}]"
        return quoted(short + span)

    def _path(self, name: str) -> str | None:
        if name in self._paths:
            return name
        return self._records.get(name) or self._files.get(name)


def unknown_spot(name: str) -> Spot:
    """What a name stands for that no live document has: the inverse of `Names.name` for documents that are gone."""
    name = unquote(name)
    span = _SPAN.fullmatch(name)
    if span is None or int(span["offset"]) >= int(span["end"]):
        return Spot(name)
    return Spot(span["name"], int(span["offset"]), int(span["end"]))


def quoted(name: str) -> str:
    """The name with blanks, unprintable characters and the percent sign encoded, so that it is one word."""
    return "".join(_quoted_letters(name))


def _quoted_letters(name: str) -> Iterator[str]:
    for letter in name:
        yield quote(letter, safe="") if letter in " %" or not letter.isprintable() else letter


def _enter(names: dict[str, str], name: str, path: str) -> Iterator[str]:
    """Give the document its name; the name itself where another document has it."""
    if names.setdefault(name, path) != path:
        yield name
