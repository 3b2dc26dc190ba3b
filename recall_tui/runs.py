"""An ingest run, as far as it has come."""

from __future__ import annotations

from typing import Literal, NamedTuple

from recall_core.types import Progress
from recall_tui.events import Advanced, Ended

VERBS = ("added", "updated", "unchanged", "removed")


class Run(NamedTuple):
    """An ingest run: the folder, its newest progress, chunks a second, and how it ended once it has."""

    folder: str
    progress: Progress | None = None
    rate: float = 0.0
    ended: Literal["", "done", "cancelled", "failed"] = ""
    summary: str = ""


def run_after(run: Run, event: Advanced | Ended) -> Run:
    """The run once this has happened to it."""
    if isinstance(event, Advanced):
        return run._replace(progress=event.progress, rate=event.rate)
    if event.error is not None:
        hint = f" ({event.error.hint})" if event.error.hint else ""
        return run._replace(ended="failed", summary=f"{event.error.message}{hint}")
    if event.view is None:
        return run._replace(ended="cancelled", summary="cancelled; what was committed stays, add it again to go on")
    counts = [f"{event.view[verb]} {verb}" for verb in VERBS if event.view[verb]]  # type: ignore[literal-required]
    return run._replace(ended="done", summary=", ".join(counts) or "nothing to add")
