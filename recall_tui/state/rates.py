"""How fast an ingest run goes: a meter that is read at every report. Pure: the time is an argument."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

from recall_core import adapters
from recall_core.types import Progress

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
        return Reached(*map(max, self.before, _reached(self.progress, self.indexed)))


def embedded(progress: Progress) -> int:
    """Chunks that have their vector: made by this run, or found again."""
    return max(0, progress.chunks - progress.waiting)


def committed(meter: Meter, progress: Progress) -> int:
    """Chunks in the store after this event."""
    return progress.chunks if progress.stage in ("commit", "done") else meter.indexed


def measured(meter: Meter, progress: Progress, indexed: int, at: float) -> Meter:
    """The meter at a later moment. indexed: see `committed`, which has to be asked at every event."""
    seconds = at - meter.at
    rates = meter.rates
    if seconds > 0:
        now, before = _counts(progress, indexed), _counts(meter.progress, meter.indexed)
        rates = Rates(*(smoothed(*each, seconds) for each in zip(rates, now, before, strict=True)))
    return Meter(at, progress, indexed, meter.seconds + max(0.0, seconds), rates, meter.reached)


def smoothed(rate: float, now: float, before: float, seconds: float) -> float:
    """The exponentially weighted rate after a count went from `before` to `now` in that time."""
    newest = (now - before) / seconds
    return newest if rate == 0 else rate + (1 - exp(-seconds / REMEMBERED_SECONDS)) * (newest - rate)


def left_seconds(meter: Meter) -> float | None:
    """How long the run will go on, or None while that cannot be said."""
    if meter.progress is None or meter.seconds < ESTIMATE_SECONDS or meter.rates.share <= 0:
        return None
    return (1 - meter.reached.run) / meter.rates.share


def done_share(progress: Progress) -> float:
    """How much of the run is done, from 0 to 1."""
    return adapters.progress.share_done(progress)


def _reached(progress: Progress, indexed: int) -> Reached:
    read = min(1.0, progress.files_done / progress.files_total) if progress.files_total else 0.0
    if not progress.chunks:
        return Reached(read, read, read, done_share(progress))
    of_embedding, of_storing = (min(1.0, count / progress.chunks) for count in (embedded(progress), indexed))
    return Reached(read, read * of_embedding, read * of_storing, done_share(progress))


def _counts(progress: Progress | None, indexed: int) -> tuple[float, ...]:
    if progress is None:
        return (0, 0, 0, 0, 0)
    return progress.files_done, progress.chunks, embedded(progress), indexed, done_share(progress)
