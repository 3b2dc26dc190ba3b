"""An ingest run: its rates and its progress. Pure: the time is an argument."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import Literal, NamedTuple

from recall_core import adapters
from recall_core.types import Progress, Skip

REMEMBERED_SECONDS = 3.0  # older figures hardly count in a rate
ESTIMATE_SECONDS = 2.0  # of a run before its end is estimated


class Rates(NamedTuple):
    """Per second: files read, chunks cut, chunks embedded, chunks stored; and the share of the run."""

    read: float = 0.0
    cut: float = 0.0
    embedded: float = 0.0
    stored: float = 0.0
    share: float = 0.0


class Reached(NamedTuple):
    """The largest share shown for each stage and the run, so that a bar never shrinks.

    embedded, indexed: share of the whole run, estimated from the chunks of the files read so far.
    """

    read: float = 0.0
    embedded: float = 0.0
    indexed: float = 0.0
    run: float = 0.0


class Meter(NamedTuple):
    """The last reading. indexed: committed chunks; seconds: duration without pauses."""

    at: float = 0.0
    progress: Progress | None = None
    indexed: int = 0
    seconds: float = 0.0
    rates: Rates = Rates()
    before: Reached = Reached()
    """Shares reached before."""

    @property
    def reached(self) -> Reached:
        """The progress. It does not shrink when more files or chunks turn up."""
        if self.progress is None:
            return self.before
        return Reached(*map(max, self.before, _shares(self.progress, self.indexed)))


def chunks_embedded(progress: Progress) -> int:
    """Return the number of chunks with a vector, made by this run or reused."""
    return max(0, progress.chunks - progress.waiting)


def chunks_committed(meter: Meter, progress: Progress) -> int:
    """Return the number of chunks in the store after this event."""
    return progress.chunks if progress.stage in ("commit", "done") else meter.indexed


def update_meter(meter: Meter, progress: Progress, indexed: int, at: float) -> Meter:
    """Return the meter at a later moment. indexed: from `chunks_committed`, called at every event."""
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
    """Return the seconds left, or None if they cannot be estimated yet."""
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
"""Stands for all remembered folders."""


class Run(NamedTuple):
    """An ingest run: its folder, its progress with rates, and how it ended."""

    folder: str
    """As typed, or EVERYTHING."""
    meter: Meter = Meter()
    hold: Literal["", "asked", "held"] = ""
    """"asked": a pause was requested; "held": the run is paused."""
    ended: Literal["", "done", "cancelled", "failed"] = ""
    summary: str = ""
    is_owed: bool = False
    """It includes a change in a watched folder."""

    @property
    def progress(self) -> Progress | None:
        """Its progress, or None before the first report."""
        return self.meter.progress

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """Files that it could not read, as far as known."""
        return self.progress.skipped if self.progress else ()

    @property
    def name(self) -> str:
        """The last part of the folder's path, for short lines."""
        return "every folder" if self.folder == EVERYTHING else Path(self.folder).name or self.folder


class PipelineStage(NamedTuple):
    """A stage of the pipeline. total: 0 while unknown; rate: per second; share: of the run, never shrinking."""

    name: Literal["read", "chunk", "embed", "index"]
    done: int
    total: int
    unit: Literal["files", "chunks"]
    rate: float
    share: float


def stages(meter: Meter) -> tuple[PipelineStage, ...]:
    """Return every stage with its counts. The number of chunks is known once the last file is read."""
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
    """Return True while the run can be paused or resumed."""
    return run is not None and not run.ended
