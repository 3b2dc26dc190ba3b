"""The roots of a store: what was added, by number; accepted, edited and forgotten."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

from recall_core.api.engine import Engine
from recall_core.contract import OK
from recall_core.contract.filling import (
    ForgottenView,
    RootChangeView,
    RootEditView,
    RootFieldView,
    RootsPart,
    RootValue,
    RootView,
)
from recall_core.contract.responses import RootsResponse
from recall_core.errors import UnknownTarget, UsageError
from recall_core.ingest.decode import check_encoding
from recall_core.ingest.parse import check_name
from recall_core.ingest.targets import belongs, check_labels
from recall_core.rql.patterns import check_glob
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import KnownRoot, Source
from recall_core.types import MetaValue, Root

_TOLD = 5  # roots that an error names
_OF_FOLDERS = ("globs", "ignores", "hidden", "gitignore", "follow")


class RootFields(TypedDict, total=False):
    """What of a root is changed; other fields stay. globs, ignores, tags, meta: in the place of all of before."""

    globs: tuple[str, ...]
    ignores: tuple[str, ...]
    parser: str
    tags: tuple[str, ...]
    source: str | None
    meta: tuple[tuple[str, MetaValue], ...]
    hidden: bool
    gitignore: bool
    follow: bool
    encoding: str


class RootsFields(TypedDict, total=False):
    """What happens to the roots of these numbers before they are listed, one of three.

    accept: brought by an import, they are synced from now on. edit: it is changed as `changes` say, which the next
    sync applies. forget: they are not synced any more; rm: their documents go too, but those that another root holds.
    """

    accept: Sequence[int]
    edit: int
    changes: RootFields
    forget: Sequence[int]
    rm: bool


def roots(engine: Engine, **wanted: Unpack[RootsFields]) -> RootsResponse:
    """Every root by its number, in the order in which they were added, once what is wanted is done, all or nothing.

    Raises UnknownTarget for a number that none has; UsageError `root_exists` where an edit would make a root that is
    there, `conflicting_flags` for rules of folders and a root that is a file, `bad_pattern`, `unknown_parser`.
    """
    done: RootsPart = {}
    if "edit" in wanted:
        done["edited"] = _edit(engine, wanted["edit"], wanted.get("changes", {}))
    elif "forget" in wanted:
        done["forgotten"] = _forget(engine.store, wanted["forget"], rm=wanted.get("rm", False))
    else:
        _accept(engine.store, wanted.get("accept", ()))
    return {**OK, "roots": root_views(engine.store), **done, "warnings": []}


def root_views(store: Store) -> list[RootView]:
    """Return every root by its number, in the order in which they were added."""
    pairs = zip(store.known_roots(), store.root_sources(), strict=True)
    return [_view(number, *pair) for number, pair in enumerate(pairs, 1)]


def waiting_warnings(store: Store) -> list[str]:
    """Return a warning that names the roots which wait to be accepted, or nothing."""
    waiting = [f"{n} {each.root.folder}" for n, each in enumerate(store.known_roots(), 1) if not each.is_active]
    if not waiting:
        return []
    named = ", ".join(waiting[:_TOLD]) + (f" and {len(waiting) - _TOLD} more" if len(waiting) > _TOLD else "")
    count = len(waiting)
    some = "1 root waits and is" if count == 1 else f"{count} roots wait and are"
    them = "it" if count == 1 else "them"
    return [f"W_ROOTS_WAIT: {some} not synced until you accept {them}: {named}; {Hint('roots')}"]


def changes_of(
    before: Sequence[KnownRoot], after: Sequence[KnownRoot], folders: Iterable[str]
) -> list[RootChangeView]:
    """What an add did to the roots of these folders, as far as they had one before; a first root says nothing new."""
    were = [each.root for each in before]
    active = {each.root for each in before if each.is_active}
    stayed = [each.root for each in after if each.root in were]
    views: list[RootChangeView] = []
    for folder in dict.fromkeys(folders):
        numbered = [(number, each.root) for number, each in enumerate(after, 1) if each.root.folder == folder]
        if not any(root in were for _, root in numbered):
            continue
        for number, root in numbered:
            others = [other for other, _ in numbered if other != number]
            if root not in were:
                views.append({"number": number, "folder": folder, "change": "made", "others": others})
            elif root not in active and after[number - 1].is_active:
                views.append({"number": number, "folder": folder, "change": "accepted", "others": others})
            elif {*were[: were.index(root)]} < {*stayed[: stayed.index(root)]}:
                views.append({"number": number, "folder": folder, "change": "last", "others": others})
    return views


def _numbered(store: Store, numbers: Sequence[int]) -> list[KnownRoot]:
    """The roots of these numbers. Raises UnknownTarget, which says what there is."""
    known = store.known_roots()
    for number in numbers:
        if not 0 < number <= len(known):
            told = [f"{n} {each.root.folder}" for n, each in enumerate(known[:_TOLD], 1)]
            told += [f"{len(known) - _TOLD} more"] if len(known) > _TOLD else []
            there = f"there are {', '.join(told)}" if told else "no folder was added"
            hint = Hint("roots") if told else Hint("add", "DIR")
            raise UnknownTarget("unknown_target", f"No root has the number {number}: {there}.", hint=hint)
    return [known[number - 1] for number in dict.fromkeys(numbers)]


def _accept(store: Store, numbers: Sequence[int]) -> None:
    if waiting := [each.root for each in _numbered(store, numbers) if not each.is_active]:
        with store.writer() as writer:
            for root in waiting:
                writer.put_root(root)


def _edit(engine: Engine, number: int, changes: RootFields) -> RootEditView:
    store, (known,) = engine.store, _numbered(engine.store, [number])
    before = known.root
    after = before._replace(**changes)
    fields = [name for name in Root._fields if getattr(before, name) != getattr(after, name)]
    _check(engine, before, after, fields)
    files = 0
    if fields:
        paths = [
            file.path
            for file in store.files()
            if known.is_active and file.os_path and (belongs(before, file.path) or belongs(after, file.path))
        ]
        with store.writer() as writer:
            writer.edit_root(before, after, paths)
        files = len(paths)
    return {
        "number": number,
        "folder": before.folder,
        "active": known.is_active,
        "changes": [_field(name, before, after) for name in fields],
        "files": files,
    }


def _check(engine: Engine, before: Root, after: Root, fields: Sequence[str]) -> None:
    """Raises UsageError where the root cannot be as it is to be."""
    for pattern in (*after.globs, *after.ignores):
        check_glob(pattern)
    check_name(after.parser)
    check_encoding(after.encoding)
    check_labels(after)
    of_folders = [name for name in fields if name in _OF_FOLDERS]
    if of_folders and os.path.isfile(engine.base / before.folder):  # noqa: PTH113 - Path.is_file raises for some
        message = f"{before.folder} is a file: {', '.join(of_folders)} are for folders."
        raise UsageError("conflicting_flags", message, hint=Hint("roots"))
    known = [each.root for each in engine.store.known_roots()]
    if after != before and after in known:
        number = known.index(after) + 1
        message = f"Root {number} says just that of {after.folder} already."
        raise UsageError("root_exists", message, hint=Hint("roots", "forget", str(known.index(before) + 1)))


def _field(name: str, before: Root, after: Root) -> RootFieldView:
    return {"field": name, "before": _value(getattr(before, name)), "after": _value(getattr(after, name))}


def _value(value: Any) -> RootValue:
    """A field as RootView has it."""
    is_meta = isinstance(value, tuple) and any(isinstance(each, tuple) for each in value)
    return cast(RootValue, dict(value) if is_meta else list(value) if isinstance(value, tuple) else value)


def _forget(store: Store, numbers: Sequence[int], *, rm: bool) -> ForgottenView:
    going = [each.root for each in _numbered(store, numbers)]
    views = [view for number, view in enumerate(root_views(store), 1) if number in numbers]
    staying = [root for root in store.roots() if root not in going]
    documents = _documents(store, going)
    held = {file for file in documents if any(belongs(root, file) for root in staying)}
    files = sorted(documents.keys() - held) if rm else []
    with store.writer() as writer:
        count = writer.tombstone(files)
        for root in going:
            writer.forget_root(root)
    every = sum(len(paths) for paths in documents.values())
    paths = sorted(path for file in files for path in documents[file])
    return {"roots": views, "documents": count, "paths": paths, "kept": every - len(paths)}


def _documents(store: Store, roots: Sequence[Root]) -> Mapping[str, list[str]]:
    """The paths of the documents below these roots, by that of the file that each was read from."""
    files = {file.path for file in store.files() if file.os_path and any(belongs(root, file.path) for root in roots)}
    found: dict[str, list[str]] = {}
    for path, file in store.document_files():
        if file in files:
            found.setdefault(str(file), []).append(path)
    return found


def _view(number: int, known: KnownRoot, source: Source) -> RootView:
    """A root by its number."""
    root = known.root
    view = RootView(
        number=number,
        folder=root.folder,
        globs=list(root.globs),
        ignores=list(root.ignores),
        parser=root.parser,
        tags=list(root.tags),
        meta=dict(root.meta),
        hidden=root.hidden,
        gitignore=root.gitignore,
        follow=root.follow,
        active=known.is_active,
        documents=source.documents,
        left_out=list(known.left_out),
    )
    if root.encoding:
        view["encoding"] = root.encoding
    if root.source is not None:
        view["source"] = root.source
    return view
