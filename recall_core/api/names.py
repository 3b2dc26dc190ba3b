"""Names of documents for callers: relative to a base, and below the name of the added folder elsewhere."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from recall_core.deadline import check
from recall_core.errors import RecallError
from recall_core.named import NamedTuple
from recall_core.rql.ast import And, Compare, Expr, Field, In, Like, Not, Or, PatternOperator
from recall_core.shell import Hint, Verbatim
from recall_core.store.port import Store
from recall_core.text import nfc
from recall_core.types import Root

_PATH = Field("doc", "path")
_WILD = {"LIKE": re.compile(r"[%_\\]"), "ILIKE": re.compile(r"[%_\\]"), "GLOB": re.compile(r"[*?\[\]{},\\]")}
"""Characters to escape in a pattern."""
SOME = 1_000
"""Most entries of a folder that are read to find a name."""
_REST = "outside"
"""The label of documents outside any added folder."""
_OF_DOCUMENTS = "meta"
"""The key of answers whose value is that of a document."""
_SENTENCES = ("warnings", "detail")

Answer = TypeVar("Answer", bound=Mapping[str, Any])


class _LabelledFolder(NamedTuple):
    """A folder on disk, and the label, with a trailing slash, that replaces it in names."""

    folder: str
    label: str


_known: WeakKeyDictionary[Store, tuple[tuple[str, int], tuple[_LabelledFolder, ...]]] = WeakKeyDictionary()
"""Labelled folders by store, with the base and generation they are for."""


class PathNames:
    """The names of a store's documents, relative to a folder.

    home: the folder that paths in the store are relative to. base: the folder that names are relative to, by default
    the home. Other names start with the name of the added folder, `wiki/a.md`. If two folders have the same name, or
    one has the name of a folder below the base, it becomes `wiki-2/`.
    """

    def __init__(self, store: Store, home: Path, base: str | None = None) -> None:
        self._store = store
        self._home = os.path.abspath(home)  # noqa: PTH100 - links stay as they are
        self._base = self._home if base is None else os.path.abspath(base)  # noqa: PTH100
        self._is_home = self._base == self._home
        self._places: tuple[_LabelledFolder, ...] | None = None

    def shown(self, path: str) -> str:
        """Return a document's path for callers."""
        check()
        if self._is_home and not path.startswith("/"):
            return path
        whole = self._whole(path)
        if whole.startswith(below(self._base)):
            return whole[len(below(self._base)) :]
        return next(
            each.label + whole[len(each.folder) :] for each in self._elsewhere() if whole.startswith(each.folder)
        )

    def typed(self, name: str, op: PatternOperator | None = None) -> str:
        """Return a typed path as the store has it: the folder in place of its label. Other names stay.

        op: the name is a pattern.
        """
        for place in self._elsewhere():
            if f"{name}/".startswith(place.label) and (place.folder != "/" or name[len(place.label) :]):
                folder = place.folder if op is None else _WILD[op].sub(r"\\\g<0>", place.folder)
                return folder + nfc(name[len(place.label) :])
        return name

    def rename(self, error: RecallError) -> RecallError:
        """Return the error with names in place of the store's paths, also in its hint."""
        error.message = self._with_names(error.message)
        if isinstance(error.hint, Hint):
            words = (word if isinstance(word, Verbatim) else self._with_names(word) for word in error.hint.words)
            error.hint = error.hint.about(words)
        elif error.hint is not None:
            error.hint = self._with_names(error.hint)
        return error

    def _with_names(self, text: str) -> str:
        for place in self._elsewhere():
            text = text.replace(place.folder, place.label) if place.folder != "/" else text
        return text

    def rename_in(self, answer: Answer) -> Answer:
        """Return the answer with names in place of the store's paths, also in its warnings and details."""
        renamed = {path: self.shown(path) for path in dict.fromkeys(_paths(answer))}
        others = sorted((path for path, name in renamed.items() if name != path), key=len, reverse=True)

        def replace(text: str) -> str:
            for path in others:
                text = text.replace(path, renamed[path])
            return text

        def rename(value: Any, key: str = "") -> Any:
            check()
            if isinstance(value, dict):
                return {
                    name: rename(inner, name) if name != _OF_DOCUMENTS else inner for name, inner in value.items()
                }
            if isinstance(value, list):
                return [rename(each, key) for each in value]
            if isinstance(value, str) and key == "path":
                return renamed.get(value, value)
            return replace(value) if isinstance(value, str) and key in _SENTENCES else value

        return cast("Answer", rename(dict(answer)))

    def folders(self) -> dict[str, int]:
        """Return the entries of the base folder with their document counts, folders first and with a trailing slash.

        At most a thousand entries; empty folders are left out.
        """
        listing = self._store.folder("" if self._is_home else self._of_store(below(self._base)), SOME)
        found = {entry.name: entry.documents for entry in listing.entries if entry.name != "/"}
        above = below(self._base)
        if not self._is_home and self._home.startswith(above):  # the store's own folder is listed separately
            own = self._store.folder("", SOME).entries
            name = self._home[len(above) :].partition("/")[0] + "/"
            found = {name: found.get(name, 0) + sum(each.documents for each in own if each.name != "/"), **found}
        return {name: documents for name, documents in found.items() if documents}

    def labels(self) -> list[str]:
        """Return the labels of added folders outside the base."""
        return [place.label for place in self._elsewhere() if place.folder != "/"]

    def in_filter(self, expr: Expr) -> Expr:
        """Return the filter with the store's form of each path."""
        match expr:
            case Compare(field=field, op="=" | "!=") if field == _PATH:
                return expr._replace(value=self.typed(str(expr.value)))
            case In(field=field) if field == _PATH:
                return expr._replace(values=tuple(self.typed(str(each)) for each in expr.values))
            case Like(field=field) if field == _PATH:
                return expr._replace(pattern=self.typed(expr.pattern, expr.op))
            case Not():
                return Not(self.in_filter(expr.operand))
            case And() | Or():
                return expr._replace(terms=tuple(map(self.in_filter, expr.terms)))
        return expr

    def _elsewhere(self) -> tuple[_LabelledFolder, ...]:
        """Return the folders outside the base, longest first, then the label for everything else."""
        if self._places is None:
            state = (self._base, self._store.info().generation)
            known = _known.get(self._store)
            if known is None or known[0] != state:
                known = _known[self._store] = (state, self._found_elsewhere())
            self._places = known[1]
        return self._places

    def _found_elsewhere(self) -> tuple[_LabelledFolder, ...]:
        folders = dict.fromkeys(map(self._folder_of, self._store.roots()))
        outside = [each for each in folders if not below(each).startswith(below(self._base))]
        inside = (posixpath.relpath(each, self._base) for each in folders if each not in outside)
        taken = {name.rstrip("/") for name in self.folders()} | {each.partition("/")[0] for each in inside}
        places = []
        for whole in (*outside, "/"):
            name = posixpath.basename(whole) or _REST
            label = next(each for each in chain((name,), (f"{name}-{n}" for n in count(2))) if each not in taken)
            taken.add(label)
            places.append(_LabelledFolder(below(whole), f"{label}/"))
        return tuple(sorted(places, key=lambda place: (-len(place.folder), place.folder)))

    def _folder_of(self, root: Root) -> str:
        """Return the added folder, or the folder of a file that was added alone."""
        whole = posixpath.normpath(self._whole(root.folder))
        is_file = self._store.document_at(self._of_store(whole)) is not None
        return posixpath.dirname(whole) if is_file else whole

    def _whole(self, path: str) -> str:
        """Return a store path as an absolute path."""
        return path if path.startswith("/") else below(self._home) + path

    def _of_store(self, whole: str) -> str:
        """Return an absolute path as a store path."""
        home = below(self._home)
        return nfc(whole[len(home) :] if whole.startswith(home) else whole)


def below(folder: str) -> str:
    """Return the folder with a trailing slash."""
    return folder.rstrip("/") + "/"


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        check()
        for key, each in value.items():
            if key != _OF_DOCUMENTS:
                yield from (each,) if key == "path" and isinstance(each, str) else _paths(each)
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each)
