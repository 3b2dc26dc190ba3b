"""An ingest run, as far as it has come."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from recall_core.types import Progress, Skip
from recall_tui.state.events import Advanced, Ended, Held
from recall_tui.state.rates import Meter, embedded

VERBS = ("added", "updated", "unchanged", "removed")
EVERYTHING = ""
"""In place of a folder: every remembered folder is brought up to date."""


class Run(NamedTuple):
    """An ingest run: what it reads, its newest progress with the rates, and how it ended once it has."""

    folder: str
    """As it was typed, or EVERYTHING."""
    meter: Meter = Meter()
    hold: Literal["", "asked", "held"] = ""
    """A pause is asked for; the run stands still."""
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
    """Every step with its counts. How many chunks there will be is known when the last file is read."""
    progress = meter.progress
    if progress is None:
        return ()
    rates, reached = meter.rates, meter.reached
    is_read = 0 < progress.files_total <= progress.files_done
    chunks = progress.chunks if is_read else 0
    return (
        PipelineStage("read", progress.files_done, progress.files_total, "files", rates.read, reached.read),
        PipelineStage("chunk", progress.chunks, chunks, "chunks", rates.cut, reached.read),
        PipelineStage("embed", embedded(progress), chunks, "chunks", rates.embedded, reached.embedded),
        PipelineStage("index", meter.indexed, chunks, "chunks", rates.stored, reached.indexed),
    )


def run_after(run: Run, event: Advanced | Held | Ended) -> Run:
    """The run once this has happened to it."""
    if isinstance(event, Advanced):
        return run._replace(meter=event.meter)
    if isinstance(event, Held):
        return run._replace(hold="held" if event.is_held else "")
    if event.error is not None:
        hint = f" ({event.error.hint})" if event.error.hint else ""
        return run._replace(ended="failed", hold="", summary=f"{event.error.message}{hint}")
    if event.view is None:
        summary = "cancelled; what was committed stays, F5 in pane 7 resumes"
        return run._replace(ended="cancelled", hold="", summary=summary)
    counts = [f"{event.view[verb]:,} {verb}" for verb in VERBS if event.view[verb]]  # type: ignore[literal-required]
    return run._replace(ended="done", hold="", summary=", ".join(counts) or "nothing to add")


def may_hold(run: Run | None) -> bool:
    """True while the run can be paused or goes on after a pause."""
    return run is not None and not run.ended
