"""Fill and maintain a store: files, pipes, imports, roots, settings, backups and vectors made ahead."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

from recall_core import evaluate, maintain, paths, views
from recall_core.api.engine import MEGABYTE, Engine, StoredVectors
from recall_core.api.stores import expect_care
from recall_core.config import COMMIT_SECONDS, DAY_NS, FILE_NAME, Config, GivenSettings, load, override
from recall_core.contract import OK
from recall_core.contract.responses import (
    IngestResponse,
    RechunkResponse,
    ReembedResponse,
    ReindexResponse,
    RootsResponse,
    TransferResponse,
)
from recall_core.contract.store import (
    ForgottenView,
    IngestView,
    RootChangeView,
    RootEditView,
    RootsPart,
    RootValue,
    RootView,
    SkipGroupView,
)
from recall_core.contract.views import WarmView
from recall_core.embed.rescore import EmbedderReranker
from recall_core.embed.trust import EMBEDDER, FoundSettings
from recall_core.errors import IngestError, StoreLocked, UnknownTarget, UsageError
from recall_core.ingest import pipeline, skips
from recall_core.ingest.decode import check_encoding
from recall_core.ingest.discover import Found, walk
from recall_core.ingest.kinds import missing_packages
from recall_core.ingest.parse import PLUG_INS, check_name, missing_plug_ins
from recall_core.ingest.reader import RawFile
from recall_core.ingest.targets import belongs, check_labels
from recall_core.ingest.vectors import InProcesses, Pace, embed_in_calls
from recall_core.paths import os_path_of, shorten
from recall_core.ports import Embedder
from recall_core.retrieve.asking import Ask
from recall_core.rql.patterns import check_glob
from recall_core.shell import AGAIN, REST, Hint, flag
from recall_core.store.port import Store
from recall_core.store.values import KnownRoot, RerankVector, Source
from recall_core.types import MetaValue, Progress, Root, Skip, Stage

if TYPE_CHECKING:
    from recall_core.contract.responses import (
        BackupResponse,
        RecoverResponse,
        WarmResponse,
    )


def reembed(
    engine: Engine, name: str, settings: GivenSettings, *, given: bool
) -> Generator[Progress, None, ReembedResponse]:
    """Rebuild every vector with another embedder, and update the settings. given: also vectors that programs gave."""
    done = yield from maintain.embedders.reembed(
        engine.store, name, settings, found=engine.found, toml=engine.toml, given=given
    )
    engine.take_over(done.found)
    return {**OK, "reembedded": done.view, "warnings": [*done.warnings, *engine.notes()]}


def rechunk(engine: Engine, settings: GivenSettings, *, dry_run: bool) -> Generator[Progress, None, RechunkResponse]:
    """Cut every document again, and update the settings."""
    found, toml = engine.found, engine.toml
    done = yield from maintain.rechunk.rechunk(
        engine.store, settings, found=found, toml=toml, own=lambda: engine.embedder, dry_run=dry_run
    )
    engine.take_over(done.found)
    return {**OK, "rechunked": done.view, "warnings": [*done.warnings, *engine.notes()]}


def reindex(engine: Engine, language: str | None) -> Generator[Progress, None, ReindexResponse]:
    """Index every chunk with newer words, or those of another language, and update the settings."""
    expect_care(engine.store.path, "indexing again")
    done = yield from maintain.rechunk.reindex(engine.store, language, found=engine.found, toml=engine.toml)
    engine.take_over(done.found)
    return {**OK, "reindexed": done.view, "warnings": [*done.warnings, *engine.notes()]}


def backup(
    engine: Engine, target: Path, *, force: bool = False, mode: int | None = None
) -> Generator[Progress, None, BackupResponse]:
    """Copy one state of the store into a file, in steps that report progress; see `Recall.backup`.

    The target stays unchanged until the last step. force: replace an existing file. mode: of the copy; by default
    only its owner may read it.
    """
    kind = expect_care(engine.store.path, "backups")
    view = yield from maintain.copies.backup(engine.store, target, kind=kind, force=force, mode=mode)
    return {**OK, "backup": view, "warnings": []}


def recover(old: Path, new: Path) -> RecoverResponse:
    """Make a new store from the readable part of a damaged one."""
    kind = expect_care(str(old), "recovering")
    toml = paths.absolute(old).parent / FILE_NAME
    found = FoundSettings(load(toml), toml) if toml.is_file() else None
    config = found.config if found is not None and found.refusal(EMBEDDER) is None else None
    view, checks = maintain.copies.recover(old, new, kind=kind, config=config)
    return {**OK, "recovered": view, "checks": checks, "warnings": []}


_TOLD = 5  # roots in an error
_OF_FOLDERS = ("globs", "ignores", "hidden", "gitignore", "follow")


class RootFields(TypedDict, total=False):
    """Changes of a root; other fields stay. globs, ignores, tags, meta: replace all earlier ones."""

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
    """Changes to the roots with these numbers before they are listed; one of three.

    accept: sync imported roots from now on.
    edit: change a root as in `changes`; the next sync applies it.
    forget: stop syncing the roots. rm: also remove their documents, except those of other roots.
    """

    accept: Sequence[int]
    edit: int
    changes: RootFields
    forget: Sequence[int]
    rm: bool


def roots(engine: Engine, **wanted: Unpack[RootsFields]) -> RootsResponse:
    """Return every root by number, in the order added, after the requested changes, which apply all or nothing.

    Raises UnknownTarget for an unknown number; UsageError `root_exists` if an edit would duplicate a root,
    `conflicting_flags` for folder rules on a file, `bad_pattern`, `unknown_parser`.
    """
    done: RootsPart = {}
    if "edit" in wanted:
        done["edited"] = _edit(engine, wanted["edit"], wanted.get("changes", {}))
    elif "forget" in wanted:
        done["forgotten"] = _forget(engine.store, wanted["forget"], rm=wanted.get("rm", False))
    else:
        waiting = [each.root for each in _find_roots(engine.store, wanted.get("accept", ())) if not each.is_active]
        if waiting:
            with engine.store.writer() as writer:
                for root in waiting:
                    writer.put_root(root)
    return {**OK, "roots": root_views(engine.store), **done, "warnings": []}


def root_views(store: Store) -> list[RootView]:
    """Return every root by number, in the order added."""
    pairs = zip(store.known_roots(), store.root_sources(), strict=True)
    return [_view(number, *pair) for number, pair in enumerate(pairs, 1)]


def waiting_warnings(store: Store) -> list[str]:
    """Return a warning that names the roots that wait to be accepted, if any."""
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
    """Return what an add changed in existing roots of these folders."""
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


def _find_roots(store: Store, numbers: Sequence[int]) -> list[KnownRoot]:
    """Return the roots with these numbers. Raises UnknownTarget, which lists the roots."""
    known = store.known_roots()
    for number in numbers:
        if not 0 < number <= len(known):
            existing = [f"{n} {each.root.folder}" for n, each in enumerate(known[:_TOLD], 1)]
            existing += [f"{len(known) - _TOLD} more"] if len(known) > _TOLD else []
            there = f"there are {', '.join(existing)}" if existing else "no folder was added"
            hint = Hint("roots") if existing else Hint("add", "DIR")
            raise UnknownTarget("unknown_target", f"No root has the number {number}: {there}.", hint=hint)
    return [known[number - 1] for number in dict.fromkeys(numbers)]


def _edit(engine: Engine, number: int, changes: RootFields) -> RootEditView:
    store, (known,) = engine.store, _find_roots(engine.store, [number])
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
        "changes": [
            {"field": name, "before": _value(getattr(before, name)), "after": _value(getattr(after, name))}
            for name in fields
        ],
        "files": files,
    }


def _check(engine: Engine, before: Root, after: Root, fields: Sequence[str]) -> None:
    """Raise UsageError if the root cannot be changed like this."""
    for pattern in (*after.globs, *after.ignores):
        check_glob(pattern)
    check_name(after.parser)
    check_encoding(after.encoding)
    check_labels(after)
    of_folders = [name for name in fields if name in _OF_FOLDERS]
    if of_folders and os.path.isfile(engine.base / before.folder):  # noqa: PTH113 - Path.is_file raises for some
        message = f"{before.folder} is a file: {', '.join(of_folders)} apply only to folders."
        raise UsageError("conflicting_flags", message, hint=Hint("roots"))
    known = [each.root for each in engine.store.known_roots()]
    if after != before and after in known:
        number = known.index(after) + 1
        message = f"Root {number} is already the same for {after.folder}."
        raise UsageError("root_exists", message, hint=Hint("roots", "forget", str(known.index(before) + 1)))


def _value(value: Any) -> RootValue:
    """Return a field as in RootView."""
    is_meta = isinstance(value, tuple) and any(isinstance(each, tuple) for each in value)
    return cast(RootValue, dict(value) if is_meta else list(value) if isinstance(value, tuple) else value)


def _forget(store: Store, numbers: Sequence[int], *, rm: bool) -> ForgottenView:
    going = [each.root for each in _find_roots(store, numbers)]
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
    """Return the paths of the documents below these roots, by the path of their file."""
    files = {file.path for file in store.files() if file.os_path and any(belongs(root, file.path) for root in roots)}
    found: dict[str, list[str]] = {}
    for path, file in store.document_files():
        if file in files:
            found.setdefault(str(file), []).append(path)
    return found


def _view(number: int, known: KnownRoot, source: Source) -> RootView:
    """Return the view of a root."""
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


_NOTES = 10  # notes on how files were read


class AddFields(TypedDict, total=False):
    """Options for reading files.

    mtime_only: trust size and time. strict: raise for skipped files, after reading the rest.
    executor: `process` to compute vectors in worker processes, which import the script that runs.
    content: the content of the single target, which is then a name instead of a file.
    """

    mtime_only: bool
    strict: bool
    executor: Literal["inline", "process"]
    content: bytes


def add(
    engine: Engine, targets: Sequence[str], template: Root, **how: Unpack[AddFields]
) -> Generator[Progress, None, IngestResponse]:
    """Ingest files and folders, or content without a file."""
    if "content" in how:
        return (yield from _add_content(engine, targets, how["content"], template))
    before = engine.store.known_roots()
    with ExitStack() as stack:
        embedder: Embedder = engine.embedder
        if how.get("executor") == "process":
            embedder = workers = InProcesses(embedder, engine.usable)
            stack.callback(workers.pool.shutdown, cancel_futures=True)
        events = pipeline.ingest(
            targets,
            template=template,
            store=engine.store,
            embedder=embedder,
            config=engine.store_config(),
            base=engine.base,
            mtime_only=how.get("mtime_only", False),
        )
        answer = yield from _ingest(engine, events, strict=how.get("strict", False))
    folders = [os_path_of(Path(target), engine.base, is_added=True) for target in targets]
    if changes := changes_of(before, engine.store.known_roots(), folders):
        answer["ingest"]["roots"] = changes
    answer["warnings"] += _why_nothing(engine, template, targets, answer["ingest"])
    return answer


def _add_content(
    engine: Engine, names: Sequence[str], content: bytes, template: Root
) -> Generator[Progress, None, IngestResponse]:
    if len(names) != 1:
        raise UsageError(
            "unexpected_argument", "Content needs exactly one name.", hint=Hint("add", "-", name="notes/today.md")
        )
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
    return (yield from _ingest(engine, events, strict=False))


def sync(engine: Engine, *, reparse: bool = False) -> Generator[Progress, None, IngestResponse]:
    """Update every added folder and file. reparse: also read unchanged files."""
    has_roots = bool(engine.store.known_roots())
    now_ns = time_ns()
    events = pipeline.sync(
        engine.store, engine.embedder, engine.store_config(), engine.base, reparse=reparse, now_ns=now_ns
    )
    answer = yield from _ingest(engine, events, strict=False, is_all=True)
    if engine.config.retention_days:
        purging = partial(evaluate.judgements.forget, engine.store)
        done = maintain.remove.purge_expired(engine.store, day=now_ns // DAY_NS, purge=purging)
        if done.documents:
            answer["ingest"]["purged"] = done.documents
        if not done.is_complete:
            waits = "text of old sessions stays in the log while another process reads the store"
            answer["warnings"].append(f"W_PURGE_WAITS: {waits}; the next sync erases it")
    if not has_roots:
        answer["warnings"].append(f"W_NOTHING_ADDED: there is no folder to sync; {Hint('add', 'DIR')}")
    answer["warnings"] += waiting_warnings(engine.store)
    if engine.scope is not None:
        engine.scope.stamp.touch()
    return answer


class ImportFields(TypedDict, total=False):
    """Options for reading an export. on_conflict: `error`, `skip` or `replace`, for documents that already exist.

    embeddings: False to leave out vectors, for reembed to make. accept_roots: sync its folders, which otherwise wait
    for `roots`, because a person decides that.
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
        language=engine.config.language,
    )
    known = zip(engine.store.known_roots(), root_views(engine.store), strict=True)
    roots = [(each.root, root) for each, root in known]
    if waiting := [root for _, root in roots if not root["active"]]:
        view["waiting_roots"] = waiting
    if accepted := [root for own, root in roots if root["active"] and own not in before]:
        view["accepted_roots"] = accepted
    return {**OK, "transfer": view, "warnings": waiting_warnings(engine.store)}


def _ingest(
    engine: Engine, events: Iterator[Progress], *, strict: bool, is_all: bool = False
) -> Generator[Progress, None, IngestResponse]:
    """Return the outcome of a run. is_all: True if every root was walked, so that earlier skips can be cleared."""
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
            f"{len(last.skipped)} files were skipped; the first is {first.path}: {first.reason}",
            hint=f"{Hint('add', REST)} without {flag('strict')}",
            details=[views.skip_view(skip) for skip in last.skipped],
        )
    view = views.ingest_view(last)
    if groups := _skip_groups(engine.store, last.skipped, is_all=is_all):
        view["skipped_by"] = groups
    engine.store.fold()
    known = missing_plug_ins(engine.store.parsers()) if is_all else {}
    warnings = [*engine.notes(), *_read_notes(last.notes), *_missing_packages(last.skipped, known)]
    return {**OK, "ingest": view, "warnings": warnings}


def _missing_packages(skipped: Sequence[Skip], known: Mapping[str, int]) -> Iterator[str]:
    """Yield what to install for files that were skipped because a package is missing.

    known: by parser name, how many files a missing Recall plug-in read earlier.
    """
    for files, kind, install in missing_packages(skip.path for skip in skipped if skip.code == "parser_unavailable"):
        yield f"W_PARSER: {files:,} {kind}{'s' * (files > 1)} can be read after: {install}"
    waiting = Counter(skip.kind for skip in skipped if skip.code == "parser_missing")
    for name, plug_in in PLUG_INS.items():
        counts = {f"{plug_in.kind}s skipped": waiting[plug_in.kind], "files kept as it read them": known.get(name, 0)}
        if parts := [f"{what}: {count:,}" for what, count in counts.items() if count]:
            yield f"W_PARSER: {plug_in.distribution} is not installed; {', '.join(parts)}; {plug_in.install()}"


def _read_notes(notes: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield notes on how files were read, equal notes once, the first few in full."""
    by_text: dict[str, list[str]] = {}
    for path, text in notes:
        by_text.setdefault(text, []).append(path)
    for text, names in islice(by_text.items(), _NOTES):
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        yield f"W_READ: {names[0]}{more}: {text}"
    if len(by_text) > _NOTES:
        yield f"W_READ: {len(by_text) - _NOTES} more notes on how files were read"


def _skip_groups(store: Store, skipped: Sequence[Skip], *, is_all: bool) -> list[SkipGroupView]:
    """Return the skipped files by reason, and record them so that the next run reports only new ones."""
    told = store.told_skips()
    now = {skips.key(skip) for skip in skipped}
    kept = now if is_all else told | now
    if kept != told:
        with suppress(StoreLocked), store.writer() as writer:  # the files are in; skips are reported once more
            writer.keep_told(kept)
    return [
        {"code": group.code, "kind": group.kind, "files": group.files, "new": group.new, "first": list(group.first)}
        for group in skips.by_reason(skipped, told)
    ]


def _why_nothing(engine: Engine, template: Root, targets: Sequence[str], view: IngestView) -> Iterator[str]:
    """Yield what to do if nothing was added."""
    if any(view[count] for count in ("added", "updated", "unchanged")):
        return
    roots = [template._replace(folder=os_path_of(Path(target), engine.base, is_added=True)) for target in targets]
    empty = [
        ("", {}) if _has_file(root, engine) else _why_empty(root, target, engine)
        for root, target in zip(roots, targets, strict=True)
    ]
    if (groups := view.get("skipped_by")) and not any(rules for _, rules in empty):
        files = sum(group["files"] for group in groups)
        every = "the only file" if files == 1 else f"each of the {files} files"
        way = _way_out(groups[0], targets, engine.base)
        if way and groups[0]["files"] < files:
            way = f"for {groups[0]['files']} ({groups[0]['kind']}): {way}"
        yield f"W_NOTHING_ADDED: {every} that could be read was skipped{f'; {way}' if way else ''}"
        return
    known = [each.root for each in engine.store.known_roots()]
    for root, (why, rules) in zip(roots, empty, strict=True):
        way = f"; {Hint('roots', 'edit', str(known.index(root) + 1), **rules, sync=True)}" if rules else ""
        if why:
            yield f"W_NOTHING_ADDED: {why}{way}"


def _way_out(group: SkipGroupView, targets: Sequence[str], base: Path) -> str:
    """Return how to read the files of a group, if possible."""
    if group["kind"].startswith(("compressed", "archive")):
        return "unpack it, and add the files"
    if group["code"] == "not_utf8" or group["kind"].startswith("UTF-"):
        return f"save them as UTF-8, or name their encoding: {Hint('add', *targets, encoding='NAME')}"
    ways: dict[str, str] = {
        "file_too_large": "raise max_file_bytes in recall.toml",
        "left_out": Hint("add", *(shorten(base / name) for name in group["first"])),
        "symlink_outside": Hint("add", *targets, follow=True),
        "unreadable": "check their permissions with ls -l",
    }
    return ways.get(group["code"], "")


def _has_file(root: Root, engine: Engine) -> bool:
    """Return True if the rules of a root leave a file to read."""
    return any(isinstance(step, Found) for step in walk(root, engine.base, engine.config))


def _why_empty(root: Root, target: str, engine: Engine) -> tuple[str, dict[str, Any]]:
    """Return which rule excludes every file, and the options of `roots edit` that change it."""

    def has_file(**rules: Any) -> bool:
        return _has_file(root._replace(**rules), engine)

    if root.globs and has_file(globs=()):
        wider = tuple(pattern if pattern.startswith("**/") else f"**/{pattern}" for pattern in root.globs)
        named = " ".join(f"{flag('glob')} {pattern}" for pattern in root.globs)
        helps = wider != root.globs and has_file(globs=wider)
        return f"no file in {target} matches {named}, which is relative to it", {"glob": wider if helps else ""}
    if root.ignores and has_file(ignores=()):
        return f"{flag('ignore')} excludes every file in {target}", {"ignore": ""}
    if root.gitignore and has_file(gitignore=False):
        return f"git ignores every file in {target}", {"gitignore": False}
    if not root.hidden and has_file(hidden=True):
        return f"every file in {target} is hidden", {"hidden": True}
    if has_file(globs=(), ignores=(), gitignore=False, hidden=True):
        rules: dict[str, Any] = {"glob": "", "ignore": "", "gitignore": False, "hidden": True}
        return f"several rules together exclude every file in {target}", rules
    return f"{target} has no file of a readable type", {}


_BLOCK_TEXTS = 1_024
_ROW_BYTES = 256  # upper bound for a stored vector, without its components


class WarmFields(TypedDict, total=False):
    """The texts to embed in advance. queries: a file of queries as for `eval`. everything: every text of the store.

    budget_s: stop after this many seconds and keep the vectors made so far. settings: of the reranker.
    """

    queries: Path | None
    everything: bool
    budget_s: float | None
    settings: GivenSettings


def warm(engine: Engine, **wanted: Unpack[WarmFields]) -> Generator[Progress, None, WarmResponse]:
    """Embed missing texts and save the vectors. If stopped, the same call continues later.

    Raises UsageError `no_reranker`, `rerank_unkept` for one without vectors, `bad_queries`; EmbedError; StoreLocked.
    """
    config = override(engine.config, wanted.get("settings", ()))
    queries = wanted.get("queries")
    if (queries is None) != wanted.get("everything", False):
        message = f"warm needs either {flag('queries')} FILE or {flag('all')}."
        raise UsageError("missing_argument", message, hint=Hint("warm", all=True))
    run = _WarmRun(engine, config, wanted.get("budget_s"))
    yield from run.texts() if queries is None else run.questions(queries)
    yield run.event("done")
    return {**OK, "warmed": run.view(), "warnings": [*engine.notes(), *run.warnings]}


class _WarmRun:
    """One run: the vectors made, and those left."""

    def __init__(self, engine: Engine, config: Config, budget_s: float | None) -> None:
        if not config.rerank:
            raise UsageError("no_reranker", "No reranker is set.", hint=Hint(AGAIN, set="rerank=minilm"))
        kept, reranker = engine.vectors_of_reranker(config), engine.reranker(config)
        if kept is None or not isinstance(reranker, EmbedderReranker):
            message = f"The reranker {config.rerank} has no vectors to keep."
            raise UsageError("rerank_unkept", message, hint=Hint(AGAIN, set="rerank=minilm"))
        self.engine = engine
        self.config = config
        self.reranker = reranker
        self.kept: StoredVectors = kept
        self.store = engine.store
        self.last = None if budget_s is None else monotonic() + budget_s
        self.warnings: list[str] = []
        self.documents = self.store.info().documents
        self.total = self.store.texts()
        self.before = self.texts_there()
        self._made_before = kept.made
        self.asked = self.left = 0

    @property
    def embedded(self) -> int:
        """The number of texts embedded by this run."""
        return self.kept.made - self._made_before

    def texts_there(self) -> int:
        """Return how many texts have a vector."""
        return self.total if self.kept.is_own else self.store.texts_reranked(self.kept.maker)

    def texts(self) -> Iterator[Progress]:
        """Embed every text of the store while there is room. Yield progress."""
        yield self.event("embed")
        if self.kept.is_own:
            return
        unsaved: list[RerankVector] = []
        since = monotonic()
        try:
            for made in self._made():
                unsaved += made
                self.kept.made += len(made)
                if monotonic() - since >= COMMIT_SECONDS:
                    self._save(unsaved)
                    unsaved, since = [], monotonic()
                yield self.event("embed")
                if self._is_over():
                    break
        finally:
            self._save(unsaved)
        self.left = self.total - self.texts_there()
        if self.left and self._room() == 0:
            self.warnings.append(
                f"W_RERANK_MB: rerank_mb = {self.config.rerank_mb} has no room for {self.left} texts; "
                "these are embedded when a query needs them"
            )

    def _made(self) -> Iterator[list[RerankVector]]:
        after, pace = b"", Pace()
        while (room := self._room()) and (
            texts := self.store.texts_to_rerank(self.kept.maker, after=after, limit=min(room, _BLOCK_TEXTS))
        ):
            for answers in embed_in_calls(texts, self.reranker.embedder, pace):
                yield [RerankVector(key, False, found.vector) for key, found in answers.items()]
            after = max(texts)

    def _save(self, made: Sequence[RerankVector]) -> None:
        if made:
            self.store.keep_reranked(
                self.kept.maker, made, most_bytes=self.config.rerank_mb * MEGABYTE, may_wait=True
            )

    def _room(self) -> int:
        """Return how many vectors fit without evicting others."""
        one = 4 * self.reranker.embedder.dimension + _ROW_BYTES
        return max(0, self.config.rerank_mb * MEGABYTE // one - self.before - self.embedded)

    def questions(self, queries: Path) -> Iterator[Progress]:
        """Embed what these queries need: the texts read for each, and its own vector. Yield progress."""
        texts = evaluate.formats.read_queries(queries)
        self.left = len(texts)
        since = monotonic()
        try:
            for number, (query, text) in enumerate(texts.items(), start=1):
                plan = self.engine.words_plan(text, Ask(), is_typed=False)._replace(config=self.config)
                with self.store.reading():  # so nothing is saved query by query
                    self.engine.answer(plan)
                self.asked, self.left = number, len(texts) - number
                if monotonic() - since >= COMMIT_SECONDS:
                    self.kept.keep(megabytes=self.config.rerank_mb, may_wait=True)
                    since = monotonic()
                yield Progress("ask", query, number, len(texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
                if self._is_over():
                    break
        finally:
            self.kept.keep(megabytes=self.config.rerank_mb, may_wait=True)

    def _is_over(self) -> bool:
        return self.last is not None and monotonic() >= self.last

    def event(self, stage: Stage) -> Progress:
        """Return a progress event. Documents count as files; chunks are distinct texts."""
        documents = self.documents
        waiting = max(0, self.total - self.before - self.embedded)
        counters = (documents, documents, documents, self.total, self.embedded, self.before)
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting)

    def view(self) -> WarmView:
        """Return what the run did."""
        return WarmView(
            reranker=self.config.rerank,
            texts=self.total,
            kept=self.texts_there(),
            embedded=self.embedded,
            questions=self.asked,
            left=self.left,
            bytes=self.store.reranked_bytes(),
        )
