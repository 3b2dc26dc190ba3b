"""Progress of long work: a bar or lines on stderr, a clean stop on Ctrl-C, and `sync --watch`."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

from recall_core import adapters, personal
from recall_core.errors import Interrupted

if TYPE_CHECKING:
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import IngestResponse
    from recall_core.types import Progress, Stage

_SILENT_S = 10  # seconds between two lines: short logs that still show progress

Done = TypeVar("Done")
WorkName = Literal["reading", "embedding", "indexing", "asking", "copying"]


def follow(
    work: Generator[Progress, None, Done],
    *,
    streams: Streams,
    name: WorkName = "reading",
    kept: Callable[[Progress | None], str] | None = None,
    clock: Callable[[], float] = monotonic,
) -> Done:
    """Run the work and return its response. Show a bar if stderr is a terminal, else lines.

    name: the label of the bar before the first event.
    kept: says what is saved if the work stops after this event (default: the documents of the last commit).
    Raises Interrupted on Ctrl-C or when the streams are ending, after the work has closed its transaction.
    """
    if not streams.stderr.isatty():
        said_at = clock()

        def say(event: Progress) -> None:
            nonlocal said_at
            if clock() - said_at >= _SILENT_S:
                said_at = clock()
                streams.say(f"{name_stage(event, name)} {counts(event, name)}")

        return _drain(work, say, streams.is_ending, kept)
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415 - slow
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counts]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left", style="dim"),
        TimeRemainingColumn(),
    )
    color = streams.color or personal.load(os.environ).color
    with Bar(*columns, console=adapters.terminal.new_console(streams.stderr, color), transient=True) as bar:
        task = bar.add_task(name, total=None, counts="")

        def show(event: Progress) -> None:
            total = 1.0 if event.files_total else None
            label, text = name_stage(event, name), counts(event, name)
            bar.update(task, description=label, completed=share_done(event), total=total, counts=text)

        return _drain(work, show, streams.is_ending, kept)


_OF_READING: Mapping[Stage, str] = {
    "discover": "looking for files",
    "chunk": "chunking",
    "embed": "embedding",
    "index": "indexing",
    "commit": "writing",
}
_UNITS: Mapping[Stage, str] = {"ask": "queries", "copy": "pages"}


def name_stage(event: Progress, name: WorkName) -> str:
    """Return the label of the current stage."""
    if name == "embedding" and event.stage == "ask":
        return "asking"
    return _OF_READING.get(event.stage, name) if name == "reading" else name


def share_done(event: Progress) -> float:
    """Return the finished share from 0 to 1: files read, minus texts that wait to be embedded."""
    files = event.files_done / event.files_total if event.files_total else 0.0
    return files * (event.chunks - min(event.waiting, event.chunks)) / event.chunks if event.chunks else files


def counts(event: Progress, name: WorkName = "reading") -> str:
    """Return counts such as `3/12 files`, `3/12 files, 840 texts` or, for embedding, `840/900 texts`."""
    if name == "indexing":
        return f"{event.reused}/{event.chunks} chunks"
    if name == "embedding" and event.stage != "ask":
        return f"{event.embedded + event.reused}/{event.chunks} texts"
    texts = f", {event.embedded} texts" if event.embedded else ""
    unit = _UNITS.get(event.stage, "files")
    return f"{event.files_done}/{event.files_total or '?'} {unit}{texts}"


def _drain(
    work: Generator[Progress, None, Done],
    show: Callable[[Progress], None],
    is_ending: Callable[[], bool],
    kept: Callable[[Progress | None], str] | None,
) -> Done:
    documents = 0
    event: Progress | None = None
    try:
        while not is_ending():
            event = next(work)
            if event.stage in ("commit", "done"):
                documents = event.documents
            show(event)
    except StopIteration as stop:
        response: Done = stop.value
        return response
    except (KeyboardInterrupt, Interrupted):
        pass
    work.close()
    saved = f"{documents} documents saved" if kept is None else kept(event)
    raise Interrupted(
        "interrupted",
        f"interrupted: {saved}; run the same command again to continue",
        hint="run the same command again",
    )


_COUNTS = ("added", "updated", "removed")


def watch(
    recall: Recall, streams: Streams, emit: Callable[[IngestResponse], None], *, reparse: bool = False
) -> NoReturn:
    """Sync now and on every change. Emit the first answer and each later one that has changes.

    reparse: parse every file again in the first sync.
    Raises Interrupted on Ctrl-C and SIGTERM, also during a sync, and the errors of a sync.
    """
    is_first = True
    try:
        for _ in recall.changes():
            response = follow(recall.sync(reparse=reparse and is_first), streams=streams)
            if is_first or any(response["ingest"][count] for count in _COUNTS):  # type: ignore[literal-required]
                emit(response)
                streams.stdout.flush()
            is_first = False
    except (KeyboardInterrupt, Interrupted):
        pass
    raise Interrupted("interrupted", "Stopped. All reported changes are saved.")
