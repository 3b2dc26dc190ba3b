"""What a path, an id, `path:first-last` or `path#name` names in a store. docs/decisions/0016 has the rule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path

from recall_core import paths, shell
from recall_core._lazy import difflib
from recall_core.errors import UnknownTarget, UsageError
from recall_core.marks import PLACES, SEPARATOR, Mark, Outline, Places, Unit, anchor_unit
from recall_core.named import NamedTuple
from recall_core.paths import path_of
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.text import is_storable, nfc
from recall_core.types import Row

_RANGE = "(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18}))?"  # int() has a limit itself
PART = re.compile(rf"(?P<path>.+)(?::|#(?P<kind>[a-z]+)=){_RANGE}", re.DOTALL)
"""A path with lines or another place of its document behind it."""

_SAYS_WHERE = re.compile(r"\.\.?(/|$)")

_LINES = re.compile(r":[0-9]+(-[0-9]+)?$")

_MOST_SIGNS = 16
_SHORTEST = 4  # letters of a name that another may be like
_MOST_SIMILAR = 1_000  # paths that are looked through for one

_WILD = re.compile(r"[\\*?\[\]{},]")


class NamedPart(NamedTuple):
    """A part of a document that has a name: an element of a page, a section, a definition, the turn of a speaker.

    place: `id NAME`, or `heading PATH`.  unit: of the text.  others: more units of that name, in order.
    """

    place: str
    unit: Unit
    others: tuple[Unit, ...] = ()


class Reading(NamedTuple):
    """One place that a name may mean.

    names: as the store may spell it, likeliest first.  globs: the same for a name that is a pattern.  place: on disk.
    """

    names: tuple[str, ...]
    globs: tuple[str, ...]
    place: Path


def one(
    store: Store, target: str, *, base: Path, start: Path | None = None, part: str = ""
) -> tuple[str, str] | None:
    """(kind, id) of the only document or chunk that a live path, an id or a prefix names. start: see `readings`.

    part: the lines or the place behind it that are wanted of it, for what an error spells.

    Raises what `readings` raises; UsageError `ambiguous_path`, `ambiguous_id`.
    """
    meanings = readings(target, base=base, start=start)
    ids = [first for each in meanings if (first := first_document(store, each.names)) is not None]
    if len(set(ids)) > 1:
        raise ambiguous(target + part, base=base)
    return ("doc", ids[0]) if ids else by_id(store, target)


def by_id(store: Store, target: str) -> tuple[str, str] | None:
    """(kind, id) of the only document or chunk whose id begins so. Raises UsageError `ambiguous_id`."""
    found = store.resolve(target)
    if len(found) > 1:
        some = ", ".join(full[:12] for _, full in found[:4])
        raise UsageError("ambiguous_id", f"{target} could be any of {some}.", hint="give more digits")
    return found[0] if found else None


def chunk(store: Store, target: str, *, base: Path) -> Row:
    """The chunk of that id or prefix. Raises UnknownTarget, also for a document; UsageError `ambiguous_id`."""
    kind, full_id = one(store, target, base=base) or ("", "")
    if kind == "doc":
        message = f"{target} is a document, not a chunk."
        raise UnknownTarget("unknown_target", message, hint=Hint("search", "WORDS", json=True))
    if not kind:
        raise unknown(target)
    return store.fetch([store.rowid("chunk", full_id)])[0]


def readings(target: str, *, base: Path, start: Path | None = None) -> tuple[Reading, ...]:
    """What a path may mean: seen from the current folder, as `add` takes it, and then as Recall prints paths.

    A path that says where it begins (`.`, `..`, `./x`, `../x`, `/x`) has the first meaning alone, and so has one
    where both are the same; without a current folder a relative path has the second alone.  base: the store's
    folder.  start: stands for the current folder.  Raises UsageError `empty_target`; UnknownTarget for what no store
    has as a name; RecallError `no_folder`.
    """
    if not target:
        raise UsageError("empty_target", "An empty name names nothing.", hint=Hint("stats"))
    if not is_storable(target):
        raise unknown(target)
    typed, start = target.replace(os.sep, "/"), start or paths.known()
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
    """The error for a path that means something here and something else as Recall prints it."""
    folder, home = paths.folder(), Path(os.path.realpath(base))
    is_inside = folder.is_relative_to(home)
    printed = "../" * len(folder.relative_to(home).parts) + target if is_inside else str(base / target)
    forms = shell.quote(f"./{target}"), shell.quote(printed)
    message = f"{target} could be {forms[0]}, seen from this folder, or {forms[1]}, as Recall prints it."
    return UsageError("ambiguous_path", message, hint=" or ".join(forms))


def by_ending(store: Store, target: str, *, base: Path) -> list[str]:
    """Live paths, and files of records, that end with these whole segments, sorted; for a name that nothing else has.

    None for one that says where it begins, and for one that a file on disk has: this file is meant, and not read.
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
    """The id of the document that a file of records has on a line; None for a file without records.

    Raises UnknownTarget where no record is on this line.
    """
    names = [name for each in readings(path, base=base) for name in each.names]
    if (record := record_on(store, names, line)) is not None:
        return record
    if any(map(store.chunks_of_file, names)):
        message = f"{path} has no record with a text on line {line}."
        raise UnknownTarget("unknown_target", message, hint=Hint("search", "WORDS"))
    return None


def record_on(store: Store, names: Iterable[str], line: int) -> str | None:
    """The id of the record that the first file of these has on a line."""
    for name in names:
        if rowids := store.chunks_of_file(name, place=f"line {line}"):
            return store.fetch(rowids[:1])[0].doc.id
    return None


def document_of_part(store: Store, target: str, *, base: Path) -> tuple[str, str] | None:
    """Return the id of a live document and the name of a part of it, which `path#name` has; None if there is none.

    Both may contain a `#`. Of several paths the longest counts, and a whole path before the end of one.

    Raises what `one` raises.
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
    """Return where a `#` may end a path in a name. Only the first ones count: each costs a look into the store."""
    return list(
        islice((i for i, letter in enumerate(target) if letter == "#" and 0 < i < len(target) - 1), _MOST_SIGNS)
    )


def named_part(path: str, size: int, marks: Sequence[Mark], name: str) -> NamedPart:
    """Return the part of a document that has a name: the id of an element, else a unit's path or its last names.

    size: of the text.  Raises UsageError `bad_place`, whose hint has the nearest names.
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
        raise UsageError("bad_place", f"{path} has no part with a name.", hint=Hint("get", path))
    forms: dict[str, str] = {}
    for each in names:  # `close` is meant to be like `def close`
        forms.setdefault(each.casefold(), each)
        forms.setdefault(each.casefold().rpartition(" ")[2], each)
    near = dict.fromkeys(forms[form] for form in _similar(name.rpartition(SEPARATOR)[2].casefold(), forms, 3))
    hint = " or ".join(shell.quote(f"{path}#{each}") for each in near or names[:3])
    raise UsageError("bad_place", f"{path} has no part named {name}.", hint=hint)


def first_document(store: Store, names: Iterable[str]) -> str | None:
    """The id of the first live document of these."""
    return next((found for name in names if (found := store.document_at(name)) is not None), None)


def no_such_place(path: str, place: str, marks: Sequence[Mark]) -> UsageError:
    """The error for a place that a document has not, which names those it has."""
    own = Places(marks)
    if not own.kind:
        hint = Hint("get", path)
        return UsageError("bad_place", f"{path} has no {place.partition(' ')[0]}: its places are lines.", hint=hint)
    first, last = own.bounds
    message = f"{path} has no {place}: it has {own.kind} {first}{'' if first == last else f' to {last}'}."
    return UsageError("bad_place", message, hint=f"{path}#{own.kind}={first}")


def several(target: str, paths: Sequence[str], *, part: str = "") -> UsageError:
    """The error for the ending of more paths than one. part: see `one`."""
    named = " or ".join(shell.quote(path + part) for path in paths[:3]) + (" …" if len(paths) > 3 else "")
    return UsageError("ambiguous_path", f"{len(paths)} paths end with {target}.", hint=named)


def lines_in(text: str) -> int:
    """How many lines a text has; a break at its end begins none."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def no_such_lines(path: str, count: int) -> UsageError:
    """The error for lines that a document of `count` lines has not."""
    if not count:
        return UsageError("bad_lines", f"{path} has no lines: it is empty.")
    return UsageError("bad_lines", f"{path} has lines 1 to {count}.", hint=f"{path}:1-{count}")


def unknown(target: str, store: Store | None = None) -> UnknownTarget:
    """The error for a target that names nothing, with the nearest path of the store where one is like it."""
    is_quoted = len(target) > 2 and target[0] == target[-1] == '"'
    words = target[1:-1] if is_quoted else target
    near = None if is_quoted or store is None else nearest(store, target)
    hint: str = Hint("search", words) if words.strip() else Hint("stats")
    if near is not None:
        hint = f"did you mean {shell.quote(near)}?"
    message = f"The store holds nothing {'with the text' if is_quoted else 'named'} {target}."
    return UnknownTarget("unknown_target", message, hint=hint)


def holder(store: Store, target: str, *, base: Path) -> UnknownTarget | None:
    """The error for a folder, or a file of records, where a document is wanted; None where the target is neither."""
    for reading in readings(target, base=base):
        for name in reading.names:
            if paths := store.paths_below(name):
                kind = "a file of {} record{}" if paths[0].startswith(f"{name}#") else "a folder of {} document{}"
                message = f"{target} is {kind.format(len(paths), 's' * (len(paths) > 1))}."
                hint = Hint("ls", *([] if name == "." else [name]))
                return UnknownTarget("unknown_target", message, hint=hint)
    return None


def nearest(store: Store, target: str) -> str | None:
    """The live path whose last segment is most like that of the target, of those that begin or end as it does."""
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
    """Return the names that are most like a name, the nearest first."""
    return difflib.get_close_matches(name, list(others), n=most, cutoff=least)


def _is_there(place: Path) -> bool:
    try:
        return os.path.lexists(place)
    except ValueError:  # no file has a NUL in its name
        return False


def _from(start: Path, typed: str, base: Path) -> Reading:
    """A path as it is seen from a folder. Only what was typed is a pattern, whatever the folder is called."""
    parts = typed.split("/")
    lead = list(takewhile(lambda part: part in ("", ".", ".."), parts))
    rest = "/".join(parts[len(lead) :])
    folders = [_WILD.sub(r"\\\g<0>", name) for name in _names(start / "/".join(lead), base)]
    globs = (rest if folder == "." else f"{folder.rstrip('/')}/{rest}" for folder in folders)
    return Reading(_names(start / typed, base), tuple(map(nfc, globs)), start / typed)


def _names(place: Path, base: Path) -> tuple[str, ...]:
    """How the store may know a place: as `add` spells it, and with the links on the way to it resolved."""
    try:
        real = _normal(place)
        home = os.path.realpath(base)
        resolved = real.relative_to(home) if real.is_relative_to(home) else real
        return tuple(dict.fromkeys((path_of(place, base), nfc(resolved.as_posix()))))
    except ValueError:  # no file has a NUL in its name
        return (nfc(place.as_posix()),)


def _normal(path: Path) -> Path:
    """Without `.` and `..`, its folder resolved, its last part as it is, so that a link keeps its own name.

    A link to itself is resolved to itself; Path.resolve has an error for it.
    """
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent), path.name)
