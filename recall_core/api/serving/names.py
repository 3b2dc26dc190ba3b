"""What callers of a server call documents: paths below one folder, labels for what lies elsewhere, ids.

A name that comes from a caller is looked up among the live documents of the store, and nowhere else: no file is
opened, listed or looked for by it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from recall_core.api.get import at_place
from recall_core.api.recall import Recall
from recall_core.deadline import check
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.retrieve import targets
from recall_core.shell import Hint, Verbatim
from recall_core.store.port import Store
from recall_core.text import nfc
from recall_core.types import Root

_SIGNS = re.compile(r"[\\`]|\*(?=\*)|(?<=\*)\*|(?<!\S)·|·(?!\S)|\[(?=\d+\])")
"""What ends or imitates a citation in an answer: bold, code, the sign between fields, the number of a block."""
_BLANKS = re.compile(r"^ | (?=$)|(?<= ) ")
_SPELLED = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[ntr]|[^\w\s])")
_LEAST_OF_ID = 4
_ID = re.compile(rf"[0-9a-f]{{{_LEAST_OF_ID},64}}")
_PART = re.compile(
    r"(?P<path>.+?)(?P<part>(?::[0-9]{1,18}(?:-[0-9]{1,18})?|#[a-z]+=[0-9]{1,18}(?:-[0-9]{1,18})?))", re.DOTALL
)
_SOME = 1_000
_SHOWN = 3
_SIMILAR = 0.75
_REST = "outside"
"""The label of documents that no folder was added for."""


def spelled(name: str) -> str:
    """Return a name for the text of an answer, on one line, where it can neither end nor imitate a citation.

    `CallerNames.find` reads it. Controls and signs of our own are escaped by a backslash, and so are backslashes.
    """
    if name.isprintable() and not (_SIGNS.search(name) or _BLANKS.search(name)):
        return name
    shown = _BLANKS.sub(r"\\x20", _SIGNS.sub(r"\\\g<0>", name))
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)


def meant(name: str) -> str:
    """Return the name that is spelled so in answers, or the name itself if no answer spells one so."""
    if "\\" not in name:
        return name
    plain = _SPELLED.sub(_unescaped, name)
    return plain if spelled(plain) == name else name


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    return found[0].encode().decode("unicode_escape") if sign[0].isalnum() and sign.isascii() else sign


class ServedTarget(NamedTuple):
    """What a caller's name means. target: for the methods of Recall, always by an id. path: as callers know it.

    warnings: of what else the name means, for the answer, with documents as the store has them.
    """

    target: str
    path: str | None
    warnings: tuple[str, ...] = ()


class _LabelledFolder(NamedTuple):
    """A folder on disk, and what stands for it, with a slash at its end, before the names of what is below."""

    folder: str
    label: str


_known: WeakKeyDictionary[Store, tuple[tuple[str, int], tuple[_LabelledFolder, ...]]] = WeakKeyDictionary()
"""What lies elsewhere, by store: for which base and generation, and the places."""


class CallerNames:
    """The names of one store's documents for callers.

    base: the folder that paths are relative to; what lies elsewhere begins with the name of the folder that was
    added, `wiki/a.md`, and where two have the same name, or one is that of a folder below the base, with `wiki-2/`.
    """

    def __init__(self, recall: Recall, base: str | None = None) -> None:
        self._store: Store = recall.store
        self._home = os.path.abspath(recall.engine.base)  # noqa: PTH100 - links stay as they are
        self._base = self._home if base is None else os.path.abspath(base)  # noqa: PTH100
        self._is_home = self._base == self._home
        self._places: tuple[_LabelledFolder, ...] | None = None
        self._renamed: dict[str, str] = {}

    def shown(self, path: str) -> str:
        """A document's path as callers know it."""
        check()
        if self._is_home and not path.startswith("/"):
            return path
        whole = self._whole(path)
        if whole.startswith(_below(self._base)):
            return whole[len(_below(self._base)) :]
        return next(
            each.label + whole[len(each.folder) :] for each in self._elsewhere() if whole.startswith(each.folder)
        )

    def find(self, name: str) -> ServedTarget:
        """The document, lines of it, place in it or chunk of that name, as an answer spells it or as it is.

        A whole path comes first, then an id or the beginning of one, then the end of a path that no other has.
        Raises UsageError `bad_path` for what is no name here, `ambiguous_path`, `ambiguous_id`; UnknownTarget with
        the nearest name.
        """
        for path in dict.fromkeys((meant(name), name)):
            for whole, part in _readings(self._expect_name(path)):
                found = self._document(whole)
                if found is not None:
                    return self._served(found, part)
        path = self._expect_name(name)
        for whole, part in _readings(path):
            if _ID.fullmatch(whole) and (one := targets.by_id(self._store, whole)) is not None:
                return ServedTarget(one[1] + part, None)
        for whole, part in _readings(path):
            if (ending := self._ending(whole, part)) is not None:
                return self._served(ending, part)
        raise self._unknown(name)

    def _served(self, doc_id: str, part: str) -> ServedTarget:
        path = self._path_of(doc_id)
        warnings = () if part else tuple(self._other_meaning(path, doc_id))
        return ServedTarget(doc_id + part, self._noted(path, doc_id), warnings)

    def _path_of(self, doc_id: str) -> str:
        return next(iter(self._store.documents([self._store.rowid("doc", doc_id)]).values())).path

    def _noted(self, path: str, doc_id: str) -> str:
        """The path as callers know it, which errors call the document from now on."""
        shown = self.shown(path)
        self._renamed |= {path: shown, doc_id: shown}
        return shown

    def _other_meaning(self, path: str, doc_id: str) -> Iterator[str]:
        """A warning for the path of a document that is a place in another too, with a name for what lies there."""
        named = targets.PART.fullmatch(path)
        other = named and at_place(self._store, [named["path"]], named, base=Path(self._home))
        if other and not doc_id.startswith(other):
            yield f"W_AMBIGUOUS_PATH: {path} is a place in another document too: get {other}"

    def stored(self, name: str) -> Iterator[str]:
        """What the store may call a path, or the beginning of one, that a caller gave."""
        yield self._of_store(_below(self._base) + name)
        for place in self._elsewhere():
            if f"{name}/".startswith(place.label):
                yield self._of_store(place.folder + name[len(place.label) :])

    def stored_as(self, name: str) -> str:
        """The beginning of a path, or a pattern of paths, that a caller gave, as the store has it."""
        *_, found = self.stored(meant(name))
        return found

    def folders(self) -> dict[str, int]:
        """What is right in the folder that paths are relative to, folders first and with a slash at the end, and how
        many documents each holds; at most a thousand, and of folders only those that have some."""
        listing = self._store.folder("" if self._is_home else self._of_store(_below(self._base)), _SOME)
        found = {entry.name: entry.documents for entry in listing.entries if entry.name != "/"}
        above = _below(self._base)
        if not self._is_home and self._home.startswith(above):  # the store has what is below its own folder apart
            own = self._store.folder("", _SOME).entries
            name = self._home[len(above) :].partition("/")[0] + "/"
            found = {name: found.get(name, 0) + sum(each.documents for each in own if each.name != "/"), **found}
        return {name: documents for name, documents in found.items() if documents}

    def labels(self) -> list[str]:
        """What paths begin with that lie in folders which were added elsewhere."""
        return [place.label for place in self._elsewhere() if place.folder != "/"]

    def _expect_name(self, name: str) -> str:
        path = nfc(name.removeprefix("./"))
        is_odd = path.startswith(("~", "\\"))
        if (
            not path
            or "\0" in path
            or path.startswith("/")
            or ".." in path.split("/")
            or (is_odd and not self._has(path))
        ):
            hint = "paths look as in an answer, such as notes/a.md"
            raise UsageError("bad_path", f"{name!r} is no path in this store.", hint=hint)
        return path

    def _has(self, name: str) -> bool:
        return any(self._document(whole) for whole, _ in _readings(name))

    def _document(self, name: str) -> str | None:
        found = (self._store.document_at(path) for path in self.stored(name))
        return next((each for each in found if each is not None), None)

    def _ending(self, name: str, part: str) -> str | None:
        """The id of the only document whose path ends so, in whole parts. Raises `ambiguous_path`, with `part`."""
        paths = sorted(path for path in self._store.paths_with((name,), _SOME) if path.endswith(f"/{name}"))
        if len(paths) > 1:
            some = " or ".join(self.shown(path) + part for path in paths[:_SHOWN]) + (
                " …" if len(paths) > _SHOWN else ""
            )
            raise UsageError("ambiguous_path", f"{len(paths)} paths end with {name}.", hint=some)
        return self._store.document_at(paths[0]) if paths else None

    def _unknown(self, name: str) -> UnknownTarget:
        near = self._near(name)
        message = f"The store holds nothing named {name}."
        if not near:
            return UnknownTarget("unknown_target", message, hint="list the documents, or search for words")
        hint = f"did you mean {near[0]}?"
        return UnknownTarget("unknown_target", message, hint=hint, details={"near": near})

    def _near(self, name: str) -> list[str]:
        """Paths like it, the likest first: of the same folder, or with a like name in any."""
        folder, _, _ = name.rpartition("/")
        beside = [path for each in self.stored(folder) for path in self._store.paths_below(each)] if folder else []
        elsewhere = targets.nearest(self._store, name)
        shown = {self.shown(path): path for path in (*beside[:_SOME], *([elsewhere] if elsewhere else ()))}
        return get_close_matches(name, shown, n=_SHOWN, cutoff=_SIMILAR) or list(
            map(self.shown, filter(None, [elsewhere]))
        )

    def renamed(self, error: RecallError) -> RecallError:
        """The error with documents that were asked for by the names that callers know."""
        error.message = self._with_names(error.message)
        if isinstance(error.hint, Hint):
            words = (word if isinstance(word, Verbatim) else self._with_names(word) for word in error.hint.words)
            error.hint = error.hint.about(words)
        elif error.hint is not None:
            error.hint = self._with_names(error.hint)
        return error

    def _with_names(self, text: str) -> str:
        for stored, shown in self._renamed.items():
            text = text.replace(stored, shown)
        return text

    def _elsewhere(self) -> tuple[_LabelledFolder, ...]:
        """The places that are not below the base, the longest first, and last where all the rest is."""
        if self._places is None:
            state = (self._base, self._store.info().generation)
            known = _known.get(self._store)
            if known is None or known[0] != state:
                known = _known[self._store] = (state, self._found_elsewhere())
            self._places = known[1]
        return self._places

    def _found_elsewhere(self) -> tuple[_LabelledFolder, ...]:
        folders = dict.fromkeys(map(self._folder_of, self._store.roots()))
        outside = [each for each in folders if not _below(each).startswith(_below(self._base))]
        taken = {name.rstrip("/") for name in self.folders()}
        places = []
        for whole in (*outside, "/"):
            label = next(each for each in _numbered(posixpath.basename(whole) or _REST) if each not in taken)
            taken.add(label)
            places.append(_LabelledFolder(_below(whole), f"{label}/"))
        return tuple(sorted(places, key=lambda place: (-len(place.folder), place.folder)))

    def _folder_of(self, root: Root) -> str:
        """The folder that was added, or that of a file that was added by itself."""
        whole = posixpath.normpath(self._whole(root.folder))
        is_file = self._store.document_at(self._of_store(whole)) is not None
        return posixpath.dirname(whole) if is_file else whole

    def _whole(self, path: str) -> str:
        """A path of the store from the root."""
        return path if path.startswith("/") else _below(self._home) + path

    def _of_store(self, whole: str) -> str:
        """A path from the root as the store has it."""
        home = _below(self._home)
        return nfc(whole[len(home) :] if whole.startswith(home) else whole)


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """Return all of a name as a path; then paths with lines, another place, or the name of a part behind them."""
    yield name, ""
    parted = _PART.fullmatch(name)
    if parted:
        yield parted["path"], parted["part"]
    yield from ((name[:i], name[i:]) for i in reversed(targets.part_signs(name)))


def _below(folder: str) -> str:
    return folder.rstrip("/") + "/"


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
