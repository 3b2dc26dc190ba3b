"""An ingest run: how fast it goes, and how far it has come. Pure: the time is an argument."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import Literal, NamedTuple

from recall_core import adapters
from recall_core.types import Progress, Skip

REMEMBERED_SECONDS = 3.0  # what is older than this hardly counts in a rate
ESTIMATE_SECONDS = 2.0  # of a run before anything is said of its end


class Rates(NamedTuple):
    """A second: files read, chunks cut, chunks with their vector, chunks in the store; and the share of the run."""

    read: float = 0.0
    cut: float = 0.0
    embedded: float = 0.0
    stored: float = 0.0
    share: float = 0.0


class Reached(NamedTuple):
    """The most that was shown of each stage, and of the run: a bar that grew never shrinks.

    embedded, indexed: the share of the whole run, as far as the chunks of the files that are read tell it.
    """

    read: float = 0.0
    embedded: float = 0.0
    indexed: float = 0.0
    run: float = 0.0


class Meter(NamedTuple):
    """What was read off last. indexed: chunks that were committed; seconds: the time of the run, without pauses."""

    at: float = 0.0
    progress: Progress | None = None
    indexed: int = 0
    seconds: float = 0.0
    rates: Rates = Rates()
    before: Reached = Reached()
    """What was reached by then."""

    @property
    def reached(self) -> Reached:
        """How far it has come: where more files or chunks have turned up, as far as it was before."""
        if self.progress is None:
            return self.before
        return Reached(*map(max, self.before, _shares(self.progress, self.indexed)))


def chunks_embedded(progress: Progress) -> int:
    """Chunks that have their vector: made by this run, or found again."""
    return max(0, progress.chunks - progress.waiting)


def chunks_committed(meter: Meter, progress: Progress) -> int:
    """Chunks in the store after this event."""
    return progress.chunks if progress.stage in ("commit", "done") else meter.indexed


def update_meter(meter: Meter, progress: Progress, indexed: int, at: float) -> Meter:
    """Return the meter at a later moment. indexed: see `committed`, which has to be asked at every event."""
    seconds = at - meter.at
    rates = meter.rates
    if seconds > 0:
        now, before = _counts(progress, indexed), _counts(meter.progress, meter.indexed)
        rates = Rates(*(smooth_rate(*each, seconds) for each in zip(rates, now, before, strict=True)))
    return Meter(at, progress, indexed, meter.seconds + max(0.0, seconds), rates, meter.reached)


def smooth_rate(rate: float, now: float, before: float, seconds: float) -> float:
    """Return the exponentially weighted rate after a count went from `before` to `now` in that time."""
    newest = (now - before) / seconds
    return newest if rate == 0 else rate + (1 - exp(-seconds / REMEMBERED_SECONDS)) * (newest - rate)


def seconds_left(meter: Meter) -> float | None:
    """Return how long the run will go on, or None while that cannot be said."""
    if meter.progress is None or meter.seconds < ESTIMATE_SECONDS or meter.rates.share <= 0:
        return None
    return (1 - meter.reached.run) / meter.rates.share


def _shares(progress: Progress, indexed: int) -> Reached:
    read = min(1.0, progress.files_done / progress.files_total) if progress.files_total else 0.0
    done = adapters.progress.share_done(progress)
    if not progress.chunks:
        return Reached(read, read, read, done)
    of_embedding, of_storing = (min(1.0, count / progress.chunks) for count in (chunks_embedded(progress), indexed))
    return Reached(read, read * of_embedding, read * of_storing, done)


def _counts(progress: Progress | None, indexed: int) -> tuple[float, ...]:
    if progress is None:
        return (0, 0, 0, 0, 0)
    return (
        progress.files_done,
        progress.chunks,
        chunks_embedded(progress),
        indexed,
        adapters.progress.share_done(progress),
    )


EVERYTHING = ""
"""In place of a folder: every remembered folder is brought up to date."""


class Run(NamedTuple):
    """An ingest run: what it reads, its newest progress with the rates, and how it ended once it has."""

    folder: str
    """As it was typed, or EVERYTHING."""
    meter: Meter = Meter()
    hold: Literal["", "asked", "held"] = ""
    """A pause is asked for; the run has stopped for it."""
    ended: Literal["", "done", "cancelled", "failed"] = ""
    summary: str = ""
    is_owed: bool = False
    """A change in a watched folder waits for it."""

    @property
    def progress(self) -> Progress | None:
        """How far it is; None before its first report."""
        return self.meter.progress

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """The files that it found and could not read, as far as they are known."""
        return self.progress.skipped if self.progress else ()

    @property
    def name(self) -> str:
        """The last part of the folder's path, for a line that is short."""
        return "every folder" if self.folder == EVERYTHING else Path(self.folder).name or self.folder


class PipelineStage(NamedTuple):
    """One step of the pipeline. total: 0 while it is unknown; rate: a second; share: of the run, never less."""

    name: Literal["read", "chunk", "embed", "index"]
    done: int
    total: int
    unit: Literal["files", "chunks"]
    rate: float
    share: float


def stages(meter: Meter) -> tuple[PipelineStage, ...]:
    """Return every step with its counts. How many chunks there will be is known when the last file is read."""
    progress = meter.progress
    if progress is None:
        return ()
    rates, reached = meter.rates, meter.reached
    is_read = 0 < progress.files_total <= progress.files_done
    chunks = progress.chunks if is_read else 0
    return (
        PipelineStage("read", progress.files_done, progress.files_total, "files", rates.read, reached.read),
        PipelineStage("chunk", progress.chunks, chunks, "chunks", rates.cut, reached.read),
        PipelineStage("embed", chunks_embedded(progress), chunks, "chunks", rates.embedded, reached.embedded),
        PipelineStage("index", meter.indexed, chunks, "chunks", rates.stored, reached.indexed),
    )


def may_hold(run: Run | None) -> bool:
    """Return True while the run can be paused or goes on after a pause."""
    return run is not None and not run.ended
