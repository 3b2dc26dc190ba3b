"""What comes into a store: files, an export, and the roots that files are read from, as responses."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from recall_core import views
from recall_core.api.engine import Engine
from recall_core.contract import OK
from recall_core.contract.responses import IngestResponse, RootsResponse, TransferResponse
from recall_core.contract.views import RootView, TransferView
from recall_core.errors import IngestError, UnknownTarget, UsageError
from recall_core.ingest import pipeline
from recall_core.shell import REST, Hint, flag
from recall_core.store.values import KnownRoot, Source
from recall_core.types import Progress, Root


def add(
    engine: Engine, targets: Sequence[str], template: Root, *, mtime_only: bool, strict: bool
) -> Generator[Progress, None, IngestResponse]:
    """Ingest files and folders. strict: files that had to be skipped are an error, told after the rest is in."""
    events = pipeline.ingest(
        targets,
        template=template,
        store=engine.store,
        embedder=engine.embedder,
        config=engine.store_config(),
        base=engine.base,
        mtime_only=mtime_only,
    )
    return (yield from _ingested(engine, events, strict=strict))


def sync(engine: Engine) -> Generator[Progress, None, IngestResponse]:
    """Bring every remembered folder and file up to date."""
    events = pipeline.sync(engine.store, engine.embedder, engine.store_config(), engine.base)
    return (yield from _ingested(engine, events, strict=False))


class ImportFields(TypedDict, total=False):
    """How an export is read. on_conflict: `error`, `skip` or `replace`, for a document that is here already.

    embeddings: False leaves its vectors out; reembed makes them anew. with_roots: sync the folders that it names
    outside of the store's folder too, which wait for `roots` otherwise.
    """

    on_conflict: str
    embeddings: bool
    reembed: bool
    with_roots: bool


def import_(engine: Engine, source: Path, options: ImportFields) -> TransferResponse:
    """Read an export into the store."""
    from recall_core.maintain import transfer  # noqa: PLC0415 - add never needs it

    view = transfer.import_(
        engine.store,
        source,
        embedder=engine.embedder,
        base=engine.base,
        on_conflict=options.get("on_conflict", "error"),
        reembed=options.get("reembed", False) or not options.get("embeddings", True),
        with_roots=options.get("with_roots", False),
    )
    return {**OK, "transfer": view, "warnings": list(_waiting(view))}


def roots(engine: Engine, accept: Sequence[int]) -> RootsResponse:
    """Every root by its number, once those that are accepted are synced from now on, all of them or none.

    Raises UnknownTarget for a number that none has.
    """
    store = engine.store
    known = store.known_roots()
    for number in accept:
        if not 0 < number <= len(known):
            raise UnknownTarget("unknown_target", f"No root has the number {number}.", hint=Hint("roots"))
    if waiting := [known[number - 1].root for number in accept if not known[number - 1].is_active]:
        with store.writer() as writer:
            for root in waiting:
                writer.put_root(root)
    pairs = zip(store.known_roots(), store.root_sources(), strict=True)
    return {**OK, "roots": [_root_view(n, *pair) for n, pair in enumerate(pairs, 1)], "warnings": []}


def _waiting(view: TransferView) -> Iterator[str]:
    """What is to be told of the roots that an import brought."""
    if folders := view.get("inactive_roots"):
        some = ", ".join(folders[:3]) + (f" and {len(folders) - 3} more" if len(folders) > 3 else "")
        yield (
            f"W_ROOTS: {some}: outside of the store's folder, hence not synced until you accept it; {Hint('roots')}"
        )


def _root_view(number: int, known: KnownRoot, source: Source) -> RootView:
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
    if root.source is not None:
        view["source"] = root.source
    return view


def _ingested(
    engine: Engine, events: Iterator[Progress], *, strict: bool
) -> Generator[Progress, None, IngestResponse]:
    last: Progress | None = None
    for last in events:
        yield last
    if last is None:
        raise UsageError("missing_argument", "There is nothing to add.", hint=Hint("add", "FOLDER"))
    engine.store.fold()
    if strict and last.skipped:
        first = last.skipped[0]
        raise IngestError(
            "files_skipped",
            f"{len(last.skipped)} files were skipped, the first {first.path}: {first.reason}",
            hint=f"{Hint('add', REST)} without {flag('strict')}",
            details=[skip._asdict() for skip in last.skipped],
        )
    return {**OK, "ingest": views.ingest_view(last), "warnings": list(engine.notes())}
