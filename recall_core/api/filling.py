"""What comes into a store: files, what comes through a pipe, and an export, as responses."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import time_ns
from typing import Any, TypedDict, Unpack

from recall_core import maintain, views
from recall_core.api.engine import Engine
from recall_core.api.roots import changes_of, root_views, waiting_warnings
from recall_core.contract import OK
from recall_core.contract.filling import IngestView, SkipGroupView
from recall_core.contract.responses import IngestResponse, TransferResponse
from recall_core.errors import IngestError, StoreLocked, UsageError
from recall_core.ingest import pipeline, skips
from recall_core.ingest.discover import Found, walk
from recall_core.ingest.kinds import missing_packages
from recall_core.ingest.reader import RawFile
from recall_core.ingest.targets import check_labels
from recall_core.paths import os_path_of, typed
from recall_core.shell import REST, Hint, flag
from recall_core.store.port import Store
from recall_core.types import Progress, Root, Skip

_NOTES = 10  # of how files were read, that are told


class AddFields(TypedDict, total=False):
    """How files are read. mtime_only: trust size and time. strict: skipped files are an error, told after the rest.

    content: of the one target, which is no file, but the name that this content has from now on.
    """

    mtime_only: bool
    strict: bool
    content: bytes


def add(
    engine: Engine, targets: Sequence[str], template: Root, **how: Unpack[AddFields]
) -> Generator[Progress, None, IngestResponse]:
    """Ingest files and folders, or content that no file holds."""
    if "content" in how:
        return (yield from _add_content(engine, targets, how["content"], template))
    before = engine.store.known_roots()
    events = pipeline.ingest(
        targets,
        template=template,
        store=engine.store,
        embedder=engine.embedder,
        config=engine.store_config(),
        base=engine.base,
        mtime_only=how.get("mtime_only", False),
    )
    answer = yield from _ingested(engine, events, strict=how.get("strict", False))
    folders = [os_path_of(Path(target), engine.base, is_added=True) for target in targets]
    if changes := changes_of(before, engine.store.known_roots(), folders):
        answer["ingest"]["roots"] = changes
    answer["warnings"] += _why_nothing(engine, template, targets, answer["ingest"])
    return answer


def _add_content(
    engine: Engine, names: Sequence[str], content: bytes, template: Root
) -> Generator[Progress, None, IngestResponse]:
    if len(names) != 1:
        raise UsageError("unexpected_argument", "Content has one name.", hint=Hint("add", "-", name="notes/today.md"))
    check_labels(template)
    raw = RawFile(content, len(content), time_ns(), sha256(content).hexdigest())
    events = pipeline.ingest_content(
        raw,
        names[0],
        template=template,
        store=engine.store,
        embedder=engine.embedder,
        config=engine.store_config(),
        base=engine.base,
    )
    return (yield from _ingested(engine, events, strict=False))


def sync(engine: Engine, *, reparse: bool = False) -> Generator[Progress, None, IngestResponse]:
    """Bring every remembered folder and file up to date. reparse: read those too that did not change."""
    has_roots = bool(engine.store.known_roots())
    events = pipeline.sync(engine.store, engine.embedder, engine.store_config(), engine.base, reparse=reparse)
    answer = yield from _ingested(engine, events, strict=False, is_all=True)
    if not has_roots:
        answer["warnings"].append(f"W_NOTHING_ADDED: there is no folder to be synced; {Hint('add', 'DIR')}")
    answer["warnings"] += waiting_warnings(engine.store)
    return answer


class ImportFields(TypedDict, total=False):
    """How an export is read. on_conflict: `error`, `skip` or `replace`, for a document that is here already.

    embeddings: False leaves its vectors out; reembed makes them anew. accept_roots: sync the folders that it names,
    which otherwise wait for `roots`; a person decides that.
    """

    on_conflict: str
    embeddings: bool
    reembed: bool
    accept_roots: bool


def import_(engine: Engine, source: Path, options: ImportFields) -> TransferResponse:
    """Read an export into the store."""

    before = engine.store.roots()
    view = maintain.transfer.import_(
        engine.store,
        source,
        embedder=engine.embedder,
        on_conflict=options.get("on_conflict", "error"),
        reembed=options.get("reembed", False) or not options.get("embeddings", True),
        accept_roots=options.get("accept_roots", False),
    )
    known = zip(engine.store.known_roots(), root_views(engine.store), strict=True)
    roots = [(each.root, root) for each, root in known]
    if waiting := [root for _, root in roots if not root["active"]]:
        view["waiting_roots"] = waiting
    if accepted := [root for own, root in roots if root["active"] and own not in before]:
        view["accepted_roots"] = accepted
    return {**OK, "transfer": view, "warnings": waiting_warnings(engine.store)}


def _ingested(
    engine: Engine, events: Iterator[Progress], *, strict: bool, is_all: bool = False
) -> Generator[Progress, None, IngestResponse]:
    """The outcome of a run. is_all: every root was walked, so that what was not skipped is not skipped any more."""
    last: Progress | None = None
    for last in events:
        yield last
    if last is None:
        raise UsageError("missing_argument", "There is nothing to add.", hint=Hint("add", "FOLDER"))
    if strict and last.skipped:
        engine.store.fold()
        first = last.skipped[0]
        raise IngestError(
            "files_skipped",
            f"{len(last.skipped)} files were skipped, the first {first.path}: {first.reason}",
            hint=f"{Hint('add', REST)} without {flag('strict')}",
            details=[views.skip_view(skip) for skip in last.skipped],
        )
    view = views.ingest_view(last)
    if groups := _skip_groups(engine.store, last.skipped, is_all=is_all):
        view["skipped_by"] = groups
    engine.store.fold()
    told = [*engine.notes(), *_read_notes(last.notes), *_missing_packages(last.skipped)]
    return {**OK, "ingest": view, "warnings": told}


def _missing_packages(skipped: Sequence[Skip]) -> Iterator[str]:
    """What to install for files that were skipped for want of a package."""
    for files, kind, install in missing_packages(skip.path for skip in skipped if skip.code == "parser_unavailable"):
        yield f"W_PARSER: {files:,} {kind}{'s' * (files > 1)} would be read with: {install}"


def _read_notes(notes: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What is to be told of how files were read; of many alike the first few."""
    by_text: dict[str, list[str]] = {}
    for path, text in notes:
        by_text.setdefault(text, []).append(path)
    for text, paths in islice(by_text.items(), _NOTES):
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        yield f"W_READ: {paths[0]}{more}: {text}"
    if len(by_text) > _NOTES:
        yield f"W_READ: {len(by_text) - _NOTES} more notes of how files were read"


def _skip_groups(store: Store, skipped: Sequence[Skip], *, is_all: bool) -> list[SkipGroupView]:
    """What was skipped by its reason; who asks the next time is told what is new by then."""
    told = store.told_skips()
    now = {skips.key(skip) for skip in skipped}
    kept = now if is_all else told | now
    if kept != told:
        with suppress(StoreLocked), store.writer() as writer:  # the files are in, and skips are told once more
            writer.keep_told(kept)
    return [
        {"code": group.code, "kind": group.kind, "files": group.files, "new": group.new, "first": list(group.first)}
        for group in skips.by_reason(skipped, told)
    ]


def _why_nothing(engine: Engine, template: Root, targets: Sequence[str], view: IngestView) -> Iterator[str]:
    """What is to be done where nothing came in."""
    if any(view[count] for count in ("added", "updated", "unchanged")):
        return
    roots = [template._replace(folder=os_path_of(Path(target), engine.base, is_added=True)) for target in targets]
    empty = [
        ("", {}) if _has_file(root, engine) else _why_empty(root, target, engine)
        for root, target in zip(roots, targets, strict=True)
    ]
    if (groups := view.get("skipped_by")) and not any(rules for _, rules in empty):
        files = sum(group["files"] for group in groups)
        every = "the one file" if files == 1 else f"each of the {files} files"
        way = _way_out(groups[0], targets, engine.base)
        if way and groups[0]["files"] < files:
            way = f"for {groups[0]['files']} ({groups[0]['kind']}): {way}"
        yield f"W_NOTHING_ADDED: {every} that could have been read was skipped{f'; {way}' if way else ''}"
        return
    known = [each.root for each in engine.store.known_roots()]
    for root, (why, rules) in zip(roots, empty, strict=True):
        way = f"; {Hint('roots', 'edit', str(known.index(root) + 1), **rules, sync=True)}" if rules else ""
        if why:
            yield f"W_NOTHING_ADDED: {why}{way}"


def _way_out(group: SkipGroupView, targets: Sequence[str], base: Path) -> str:
    """What has files of a group read after all, where anything has."""
    if group["kind"].startswith(("compressed", "archive")):
        return "unpack what is to be found, and add that"
    if group["code"] == "not_utf8" or group["kind"].startswith("UTF-"):
        return f"save them as UTF-8, or name what they are in: {Hint('add', *targets, encoding='NAME')}"
    ways: dict[str, str] = {
        "file_too_large": "raise max_file_bytes in recall.toml",
        "left_out": Hint("add", *(typed(base / name) for name in group["first"])),
        "symlink_outside": Hint("add", *targets, follow=True),
        "unreadable": "ls -l shows who may read them",
    }
    return ways.get(group["code"], "")


def _has_file(root: Root, engine: Engine) -> bool:
    """Whether the rules of a root leave a file to be read."""
    return any(isinstance(step, Found) for step in walk(root, engine.base, engine.config))


def _why_empty(root: Root, target: str, engine: Engine) -> tuple[str, dict[str, Any]]:
    """Which rule leaves every file out, and what of the root to change, as options of `roots edit`."""

    def has_file(**rules: Any) -> bool:
        return _has_file(root._replace(**rules), engine)

    if root.globs and has_file(globs=()):
        wider = tuple(pattern if pattern.startswith("**/") else f"**/{pattern}" for pattern in root.globs)
        named = " ".join(f"{flag('glob')} {pattern}" for pattern in root.globs)
        helps = wider != root.globs and has_file(globs=wider)
        return f"no file in {target} matches {named}, which is relative to it", {"glob": wider if helps else ""}
    if root.ignores and has_file(ignores=()):
        return f"{flag('ignore')} leaves out every file in {target}", {"ignore": ""}
    if root.gitignore and has_file(gitignore=False):
        return f"git ignores every file in {target}", {"gitignore": False}
    if not root.hidden and has_file(hidden=True):
        return f"every file in {target} is hidden", {"hidden": True}
    if has_file(globs=(), ignores=(), gitignore=False, hidden=True):
        rules: dict[str, Any] = {"glob": "", "ignore": "", "gitignore": False, "hidden": True}
        return f"every file in {target} is left out, by several rules", rules
    return f"there is no file in {target} that is ever read", {}
