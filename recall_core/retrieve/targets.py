"""Resolve a path, an id, `path:first-last` or `path#name` in a store. docs/decisions/0016 has the rule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path

from recall_core import caller, paths, shell
from recall_core._lazy import difflib
from recall_core.errors import UnknownTarget, UsageError
from recall_core.marks import PLACES, SEPARATOR, Mark, Outline, Places, Unit, anchor_unit
from recall_core.named import NamedTuple
from recall_core.paths import path_of
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.text import is_storable, nfc
from recall_core.types import Row

_RANGE = "(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18}))?"  # int() limits the digits too
PART = re.compile(rf"(?P<path>.+)(?::|#(?P<kind>[a-z]+)=){_RANGE}", re.DOTALL)
"""A path followed by lines or another place of its document."""

_SAYS_WHERE = re.compile(r"\.\.?(/|$)")

_LINES = re.compile(r":[0-9]+(-[0-9]+)?$")

_MOST_SIGNS = 16
_SHORTEST = 4  # letters of a name, below which no similar name is suggested
_MOST_SIMILAR = 1_000  # paths searched for a similar name

_WILD = re.compile(r"[\\*?\[\]{},]")


class NamedPart(NamedTuple):
    """A named part of a document: an element of a page, a section, a definition, a speaker's turn.

    place: `id NAME`, or `heading PATH`.
    unit: of the text.
    others: further units of that name, in order.
    """

    place: str
    unit: Unit
    others: tuple[Unit, ...] = ()


class Reading(NamedTuple):
    """One possible meaning of a name.

    names: spellings that the store may use, likeliest first.
    globs: the same for a name that is a pattern.
    place: on disk.
    """

    names: tuple[str, ...]
    globs: tuple[str, ...]
    place: Path


def one(
    store: Store, target: str, *, base: Path, start: Path | None = None, part: str = ""
) -> tuple[str, str] | None:
    """Return (kind, id) of the only document or chunk that a live path, an id or a prefix names. start: see
    `readings`.

    part: the lines or place that follow the name; used in errors.

    Raises the errors of `readings`; UsageError `ambiguous_path`, `ambiguous_id`.
    """
    meanings = readings(target, base=base, start=start)
    ids = [first for each in meanings if (first := first_document(store, each.names)) is not None]
    if len(set(ids)) > 1:
        raise ambiguous(target + part, base=base)
    return ("doc", ids[0]) if ids else by_id(store, target)


def by_id(store: Store, target: str) -> tuple[str, str] | None:
    """Return (kind, id) of the only document or chunk whose id has this prefix. Raises UsageError `ambiguous_id`."""
    found = store.resolve(target)
    if len(found) > 1:
        some = ", ".join(full[:12] for _, full in found[:4])
        raise UsageError("ambiguous_id", f"{target} could be any of {some}.", hint="give more digits")
    return found[0] if found else None


def chunk(store: Store, target: str, *, base: Path) -> Row:
    """Return the chunk of that id or prefix. Raises UnknownTarget, also for a document; UsageError `ambiguous_id`."""
    kind, full_id = one(store, target, base=base) or ("", "")
    if kind == "doc":
        message = f"{target} is a document, not a chunk."
        raise UnknownTarget("unknown_target", message, hint=Hint("search", "WORDS", json=True))
    if not kind:
        raise unknown(target)
    return store.fetch([store.rowid("chunk", full_id)])[0]


def readings(target: str, *, base: Path, start: Path | None = None) -> tuple[Reading, ...]:
    """Return the possible meanings of a path: from the current folder, as for `add`, then as Recall prints paths.

    A path that says where it starts (`.`, `..`, `./x`, `../x`, `/x`) has only the first meaning, and so does a path
    for which both are equal. Without a current folder a relative path has only the second.

    base: the store's folder.
    start: replaces the current folder.

    Raises UsageError `empty_target`; UnknownTarget for a name that no store can have; RecallError `no_folder`.
    """
    if not target:
        raise UsageError("empty_target", "The name is empty.", hint=Hint("stats"))
    if not is_storable(target):
        raise unknown(target)
    typed, start = target.replace(os.sep, "/"), start or caller.folder()
    if Path(typed).is_absolute():
        names = _names(Path(typed), base)
        return (Reading(names, names, Path(typed)),)
    if _SAYS_WHERE.match(typed):
        return (_from(start or paths.folder(), typed, base),)
    printed = Reading((nfc(typed).rstrip("/"),), (nfc(typed),), base / typed)
    if start is None:
        return (printed,)
    seen = _from(start, typed, base)
    return (seen,) if printed.names[0] in seen.names else (seen, printed)


def ambiguous(target: str, *, base: Path) -> UsageError:
    """Return the error for a path with different meanings from here and as Recall prints it."""
    folder, home = paths.folder(), Path(os.path.realpath(base))
    is_inside = folder.is_relative_to(home)
    printed = "../" * len(folder.relative_to(home).parts) + target if is_inside else str(base / target)
    forms = shell.quote(f"./{target}"), shell.quote(printed)
    message = f"{target} could be {forms[0]} from this folder, or {forms[1]} as Recall prints it."
    return UsageError("ambiguous_path", message, hint=" or ".join(forms))


def by_ending(store: Store, target: str, *, base: Path) -> list[str]:
    """Return live paths, and files of records, that end with these whole segments, sorted. For otherwise unknown
    names.

    Return none for a name that says where it starts, and for a file on disk, because then that file is meant.
    """
    name = nfc(target.replace(os.sep, "/")).rstrip("/")
    if not name or _SAYS_WHERE.match(name) or name.startswith("/"):
        return []
    if any(_is_there(each.place) for each in readings(target, base=base)):
        return []
    found = store.paths_with((name,), _MOST_SIMILAR)
    files = (path if path.endswith(f"/{name}") else path.partition("#")[0] for path in found)
    return sorted({path for path in files if path.endswith(f"/{name}")})


def record_at(store: Store, path: str, line: int, *, base: Path) -> str | None:
    """Return the id of the document on this line of a file of records; None for a file without records.

    Raises UnknownTarget if there is no record on this line.
    """
    names = [name for each in readings(path, base=base) for name in each.names]
    if (record := record_on(store, names, line)) is not None:
        return record
    if any(map(store.chunks_of_file, names)):
        message = f"{path} has no record with text on line {line}."
        raise UnknownTarget("unknown_target", message, hint=Hint("search", "WORDS"))
    return None


def record_on(store: Store, names: Iterable[str], line: int) -> str | None:
    """Return the id of the record on this line of the first of these files that has one."""
    for name in names:
        if rowids := store.chunks_of_file(name, place=f"line {line}"):
            return store.fetch(rowids[:1])[0].doc.id
    return None


def document_of_part(store: Store, target: str, *, base: Path) -> tuple[str, str] | None:
    """Return the id of a live document and the name of its part, from `path#name`; None if there is none.

    Both may contain a `#`. The longest path wins, and a whole path wins over an ending.

    Raises the errors of `one`.
    """
    ends = part_signs(target)
    for i in reversed(ends):
        found = one(store, target[:i], base=base, part=target[i:])
        if found is not None and found[0] == "doc":
            return found[1], target[i + 1 :]
    for i in reversed(ends):
        paths = by_ending(store, target[:i], base=base)
        if len(paths) > 1:
            raise several(target[:i], paths, part=target[i:])
        doc_id = first_document(store, paths)
        if doc_id is not None:
            return doc_id, target[i + 1 :]
    return None


def part_signs(target: str) -> list[int]:
    """Return where a `#` may end a path in a name. Only the first few, because each costs a lookup in the store."""
    return list(
        islice((i for i, letter in enumerate(target) if letter == "#" and 0 < i < len(target) - 1), _MOST_SIGNS)
    )


def named_part(path: str, size: int, marks: Sequence[Mark], name: str) -> NamedPart:
    """Return the part of a document with this name: the id of an element, else a unit's path or its last names.

    size: of the text.

    Raises UsageError `bad_place`, whose hint has the nearest names.
    """
    element = anchor_unit(marks, size, name)
    if element is not None:
        return NamedPart(f"id {name}", element)
    units = Outline(marks, size).units_named(name)
    if units:
        first, *others = units
        return NamedPart(f"heading {first[0]}", first[1], tuple(unit for _, unit in others))
    names = list(dict.fromkeys(mark.name for mark in marks if mark.name and mark.kind not in PLACES))[:_MOST_SIMILAR]
    if not names:
        raise UsageError("bad_place", f"{path} has no named parts.", hint=Hint("get", path))
    forms: dict[str, str] = {}
    for each in names:  # `close` should match `def close`
        forms.setdefault(each.casefold(), each)
        forms.setdefault(each.casefold().rpartition(" ")[2], each)
    near = dict.fromkeys(forms[form] for form in _similar(name.rpartition(SEPARATOR)[2].casefold(), forms, 3))
    hint = " or ".join(shell.quote(f"{path}#{each}") for each in near or names[:3])
    raise UsageError("bad_place", f"{path} has no part named {name}.", hint=hint)


def first_document(store: Store, names: Iterable[str]) -> str | None:
    """Return the id of the first live document of these."""
    return next((found for name in names if (found := store.document_at(name)) is not None), None)


def no_such_place(path: str, place: str, marks: Sequence[Mark]) -> UsageError:
    """Return the error for a place that a document does not have, which names the places it has."""
    own = Places(marks)
    if not own.kind:
        hint = Hint("get", path)
        return UsageError("bad_place", f"{path} has no {place.partition(' ')[0]}: it has only lines.", hint=hint)
    first, last = own.bounds
    message = f"{path} has no {place}: it has {own.kind} {first}{'' if first == last else f' to {last}'}."
    return UsageError("bad_place", message, hint=f"{path}#{own.kind}={first}")


def several(target: str, paths: Sequence[str], *, part: str = "") -> UsageError:
    """Return the error for an ending of several paths. part: see `one`."""
    named = " or ".join(shell.quote(path + part) for path in paths[:3]) + (" …" if len(paths) > 3 else "")
    return UsageError("ambiguous_path", f"{len(paths)} paths end with {target}.", hint=named)


def lines_in(text: str) -> int:
    """Return the number of lines of a text; a newline at its end starts none."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def no_such_lines(path: str, count: int) -> UsageError:
    """Return the error for lines that a document of `count` lines does not have."""
    if not count:
        return UsageError("bad_lines", f"{path} has no lines: it is empty.")
    return UsageError("bad_lines", f"{path} has lines 1 to {count}.", hint=f"{path}:1-{count}")


def unknown(target: str, store: Store | None = None) -> UnknownTarget:
    """Return the error for a target that names nothing, with the store's most similar path, if any."""
    is_quoted = len(target) > 2 and target[0] == target[-1] == '"'
    words = target[1:-1] if is_quoted else target
    near = None if is_quoted or store is None else nearest(store, target)
    hint: str = Hint("search", words) if words.strip() else Hint("stats")
    if near is not None:
        hint = f"did you mean {shell.quote(near)}?"
    message = f"The store contains nothing {'with the text' if is_quoted else 'named'} {target}."
    return UnknownTarget("unknown_target", message, hint=hint)


def holder(store: Store, target: str, *, base: Path) -> UnknownTarget | None:
    """Return the error for a folder or a file of records where a document is needed; None for other targets."""
    for reading in readings(target, base=base):
        for name in reading.names:
            if paths := store.paths_below(name):
                kind = "a file of {} record{}" if paths[0].startswith(f"{name}#") else "a folder of {} document{}"
                message = f"{target} is {kind.format(len(paths), 's' * (len(paths) > 1))}."
                hint = Hint("ls", *([] if name == "." else [name]))
                return UnknownTarget("unknown_target", message, hint=hint)
    return None


def nearest(store: Store, target: str) -> str | None:
    """Return the live path with the most similar last segment, among paths with the same beginning or ending."""
    name = _LINES.sub("", target).replace(os.sep, "/").rstrip("/").rpartition("/")[2]
    if len(name) < _SHORTEST:
        return None
    some = (*store.paths_with((name[:3],), _MOST_SIMILAR), *store.paths_with((name[-5:],), _MOST_SIMILAR))
    by_name: dict[str, str] = {}
    for path in some:
        by_name.setdefault(path.rpartition("/")[2], path)
    near = _similar(name, by_name, 1, least=0.75)
    return by_name[near[0]] if near else None


def _similar(name: str, others: Iterable[str], most: int, *, least: float = 0.6) -> list[str]:
    """Return the names most similar to a name, the nearest first."""
    return difflib.get_close_matches(name, list(others), n=most, cutoff=least)


def _is_there(place: Path) -> bool:
    try:
        return os.path.lexists(place)
    except ValueError:  # no file name contains a NUL
        return False


def _from(start: Path, typed: str, base: Path) -> Reading:
    """Return the meaning of a path from a folder. Only the typed part is a pattern, not the folder's name."""
    parts = typed.split("/")
    lead = list(takewhile(lambda part: part in ("", ".", ".."), parts))
    rest = "/".join(parts[len(lead) :])
    folders = [_WILD.sub(r"\\\g<0>", name) for name in _names(start / "/".join(lead), base)]
    globs = (rest if folder == "." else f"{folder.rstrip('/')}/{rest}" for folder in folders)
    return Reading(_names(start / typed, base), tuple(map(nfc, globs)), start / typed)


def _names(place: Path, base: Path) -> tuple[str, ...]:
    """Return the store's possible names for a place: as `add` spells it, and with the links on the way resolved."""
    try:
        real = _normal(place)
        home = os.path.realpath(base)
        resolved = real.relative_to(home) if real.is_relative_to(home) else real
        return tuple(dict.fromkeys((path_of(place, base), nfc(resolved.as_posix()))))
    except ValueError:  # no file name contains a NUL
        return (nfc(place.as_posix()),)


def _normal(path: Path) -> Path:
    """Return the path without `.` and `..`, its folder resolved and its last part kept, so a link keeps its own name.

    A link to itself resolves to itself; Path.resolve raises an error for it.
    """
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent), path.name)
