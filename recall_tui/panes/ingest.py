"""Pane 7: the ingest run, one line high; with the focus it also lists the skipped files."""

from __future__ import annotations

from pathlib import Path

from rich.style import Style
from rich.text import Text

from recall_core.types import Progress
from recall_tui.runs import Run
from recall_tui.session import Session, is_ingesting
from recall_tui.widgets.draw import Glyphs, bar, figure, fit
from recall_tui.widgets.lines import LineView

BAR_CELLS = 20


class IngestPane(LineView):
    """A progress line, then one line a skipped file."""

    def __init__(self) -> None:
        super().__init__(id="ingest")

    def show_session(self, session: Session) -> None:
        """Show this session's run, or nothing without one."""
        run, running = session.run, is_ingesting(session)
        self.display = run is not None
        if run is not None:
            self.show(lambda width: _lines(run, running, width, self.glyphs), keep_place=True)


def _lines(run: Run, running: bool, width: int, glyphs: Glyphs) -> list[Text]:
    head = _running(run, width, glyphs) if running else _over(run, glyphs)
    lines = [Text(fit(f" {head}", width, glyphs), Style(bold=True))]
    skipped = run.progress.skipped if run.progress else ()
    return [*lines, *(Text(fit(f" {glyphs.out} {skip.path}: {skip.reason}", width, glyphs)) for skip in skipped)]


def _running(run: Run, width: int, glyphs: Glyphs) -> str:
    progress = run.progress
    if progress is None or progress.files_total == 0:
        found = f", {figure(progress.files_done)} files" if progress else ""
        return f"ingest {_name(run)}: looking for files{found}"
    share = progress.files_done / progress.files_total
    drawn = f"{glyphs.left}{bar(share, BAR_CELLS if width >= 100 else 10, glyphs)}{glyphs.right}"
    files = f"{figure(progress.files_done)}/{figure(progress.files_total)} files"
    figures = [files, f"{figure(progress.chunks)} chunks", f"{run.rate:,.0f} ch/s", skipped_words(progress)]
    return f"ingest {_name(run)} {drawn}{share:>5.0%}  " + "  ".join([*filter(None, figures), "^g cancels"])


def _over(run: Run, glyphs: Glyphs) -> str:
    skipped = skipped_words(run.progress) if run.progress else ""
    mark = {"done": glyphs.yes, "failed": glyphs.no}.get(run.ended, glyphs.out)
    return f"ingest {_name(run)} {mark} {run.summary}" + (f"{glyphs.dot}{skipped}, 7 lists them" if skipped else "")


def _name(run: Run) -> str:
    """The last part of the path: the strip is one line."""
    return Path(run.folder).name or run.folder


def skipped_words(progress: Progress) -> str:
    """How many files were skipped; nothing when none was."""
    return f"{len(progress.skipped)} skipped" if progress.skipped else ""
