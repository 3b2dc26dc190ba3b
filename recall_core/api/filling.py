"""Files brought into a store, or up to date, as steps that end in a response."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from recall_core import views
from recall_core.api.engine import Engine
from recall_core.contract import OK
from recall_core.contract.responses import IngestResponse, TransferResponse
from recall_core.errors import IngestError, UsageError
from recall_core.ingest import pipeline
from recall_core.shell import REST, Hint, flag
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
    from recall_core.maintain import roots, transfer  # noqa: PLC0415 - add never needs it

    view = transfer.import_(
        engine.store,
        source,
        embedder=engine.embedder,
        base=engine.base,
        on_conflict=options.get("on_conflict", "error"),
        reembed=options.get("reembed", False) or not options.get("embeddings", True),
        with_roots=options.get("with_roots", False),
    )
    return {**OK, "transfer": view, "warnings": list(roots.inactive(view))}


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
