"""Pane 7: the ingest run, one line high; opened, its stages, the skipped files and the sources."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import Progress
from recall_tui.state.keeping import Shelf, cursor_of, shelf
from recall_tui.state.rates import done_share, left_seconds
from recall_tui.state.runs import EVERYTHING, Run, Stage, stages
from recall_tui.state.session import Session, has_strip, is_ingesting
from recall_tui.widgets.choosing import ChoosingView
from recall_tui.widgets.draw import Glyphs, bar, figure, fit
from recall_tui.widgets.lines import NONE, entitle

BAR_CELLS = 20
NARROW_BAR_CELLS = 10
WIDE = 100  # cells from which a bar has its full length
STATES = {"": "not running", "done": "done", "cancelled": "cancelled", "failed": "failed"}


class IngestPane(ChoosingView):
    """A progress line; with the pane in front, everything about the run, one line a skipped file."""

    def __init__(self) -> None:
        super().__init__("ingest")

    def show_session(self, session: Session) -> None:
        """Show this session's run, or nothing without one."""
        is_open = session.pane == "ingest"
        self.display = has_strip(session) or is_open
        if not self.display:
            return
        self.set_class(is_open, "-open")
        entitle(self, "7 Ingest", _state(session) if is_open else "")
        above = len(_above(session, WIDE, self.glyphs))
        self.places = range(above, above + len(session.run.skipped) if session.run else above)
        if is_open:
            self.offer(lambda width: _opened(session, width, self.glyphs), chosen=cursor_of(session))
        else:
            self.chosen_line = NONE
            self.show(lambda width: [_strip(session, width, self.glyphs)])


def _strip(session: Session, width: int, glyphs: Glyphs) -> Text:
    run = session.run
    if run is None:
        return Text(fit(" watching every folder; 7 shows which", width, glyphs), Style(bold=True))
    head = _running(run, width, glyphs) if is_ingesting(session) else _over(run, glyphs)
    watching = f"{glyphs.dot}watching" if session.watching else ""
    return Text(fit(f" ingest {head}{watching}", width, glyphs), Style(bold=True))


def _running(run: Run, width: int, glyphs: Glyphs) -> str:
    progress = run.progress
    hold = {"": "", "asked": "pausing  ", "held": "PAUSED  "}[run.hold]
    if progress is None or progress.files_total == 0:
        found = f", {figure(progress.files_done)} files" if progress else ""
        return f"{run.name}: {hold}looking for files{found}"
    drawn = f"{glyphs.left}{bar(done_share(progress), _cells(width), glyphs)}{glyphs.right}"
    files = f"{figure(progress.files_done)}/{figure(progress.files_total)} files"
    figures = [files, _left(run), skipped_words(progress), f"{run.meter.rates.embedded:,.0f} chunks/s", "^g cancels"]
    head = f"{run.name} {drawn}{done_share(progress):>5.0%}  {hold}"
    return head + _fitting(figures, "  ", width - cell_len(f" ingest {head}"))


def _over(run: Run, glyphs: Glyphs) -> str:
    skipped = skipped_words(run.progress) if run.progress else ""
    facts = [f"{run.name} {_mark(run, glyphs)} {run.summary}", f"{skipped}, 7 lists them" if skipped else ""]
    return glyphs.dot.join(filter(None, facts))


def _mark(run: Run, glyphs: Glyphs) -> str:
    return {"done": glyphs.yes, "failed": glyphs.no}.get(run.ended, glyphs.out)


def _opened(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    lines = _above(session, width, glyphs)
    for row, skip in enumerate(session.run.skipped if session.run else ()):
        is_chosen = row == cursor_of(session)
        mark = glyphs.pointer if is_chosen else " "
        line = f"{mark}{glyphs.out} {skip.path}: {skip.reason}"
        lines.append(Text(fit(line, width, glyphs), Style(bold=is_chosen)))
    return [*lines, *_sources(session, width, glyphs)]


def _above(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """The lines over the skipped files; their number does not depend on the width."""
    run = session.run
    if run is None:
        return [Text(fit("Nothing was read yet: A adds a folder, s syncs every folder.", width, glyphs))]
    lines = [Text(fit(_headline(run, glyphs), width, glyphs), Style(bold=True))]
    steps = stages(run.meter)
    digits = max((len(figure(max(step.done, step.total))) for step in steps), default=0)
    lines += [_stage(step, run, digits, width, glyphs) for step in steps]
    if run.progress is not None and (facts := _queue(run, run.progress)):
        lines.append(Text(fit(_fitting(facts, glyphs.dot, width), width, glyphs)))
    if run.skipped:
        heading = f"Skipped {figure(len(run.skipped))}{glyphs.dot}Enter says why"
        lines.append(_heading(heading, width, glyphs))
    return lines


def _headline(run: Run, glyphs: Glyphs) -> str:
    what = "sync of every folder" if run.folder == EVERYTHING else f"add {run.folder}"
    if run.ended:
        again = [] if run.ended == "cancelled" else ["r again"]  # how it goes on is in its summary
        return glyphs.dot.join([f"{_mark(run, glyphs)} {what}: {run.summary}", *again])
    state = {
        "": "running, p pauses, ^g cancels",
        "asked": "pausing after the step under way",
        "held": "PAUSED, p goes on, ^g cancels",
    }[run.hold]
    return glyphs.dot.join(filter(None, [f"{what}: {state}", _left(run)]))


def _stage(stage: Stage, run: Run, digits: int, width: int, glyphs: Glyphs) -> Text:
    """`read   [####    ] 61%    784 of 1,284 files   120/s`; the rate of a run that stands still says nothing."""
    drawn = f"{glyphs.left}{bar(stage.share, _cells(width), glyphs)}{glyphs.right}{stage.share:>5.0%}"
    drawn = drawn if stage.total else " " * len(drawn)
    total = f" of {figure(stage.total):>{digits}}" if stage.total else " " * (digits + len(" of "))
    rate = "" if run.ended or run.hold == "held" else f"{stage.rate:>9,.0f}/s"
    count = f"{figure(stage.done):>{digits}}{total}"
    return Text(fit(f"{stage.name:<6}{drawn}   {count} {stage.unit:<6}{rate}", width, glyphs))


def _queue(run: Run, progress: Progress) -> list[str]:
    """What waits, and what the counts of the stages do not say; the most urgent first."""
    facts = [f"{figure(progress.waiting)} texts wait for the embedder"] if progress.waiting and not run.ended else []
    if run.hold == "held":
        unkept = f"{figure(progress.chunks - run.meter.indexed)} chunks are not stored yet"
        facts = ["the store is not locked", unkept, *facts]
    if progress.unchanged:
        facts.append(f"{figure(progress.unchanged)} unchanged")
    if progress.reused:
        facts.append(f"{figure(progress.reused)} vectors found again")
    if progress.tokens is not None:
        facts.append(f"{figure(progress.tokens)} tokens charged")
    return facts


def _sources(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    known = shelf(session)
    if not isinstance(known, Shelf):
        return []
    watched = f"{glyphs.dot}watched, w stops" if session.watching else f"{glyphs.dot}w watches them"
    heading = f"Sources {figure(len(known.sources))}{glyphs.dot}s syncs them{watched}"
    lines = [_heading(heading, width, glyphs)]
    for source in known.sources:
        folder = source.root.folder
        synced = f"synced {session.synced[folder]}" if folder in session.synced else "not synced here yet"
        options = " ".join([*source.root.globs, *(f"#{tag}" for tag in source.root.tags)])
        docs = f"{figure(source.documents):>9} docs"
        newest = f"newest {source.newest[:10]}" if source.newest else ""
        name = fit(f" {folder} {options}".rstrip(), max(12, width - 56), glyphs)
        lines.append(Text(fit(f"{name} {docs}  {newest:<17}  {synced}", width, glyphs)))
    return lines


def _fitting(facts: list[str], gap: str, width: int) -> str:
    """As many of the facts, from the first, as have room; those that say nothing are passed over."""
    line = ""
    for fact in filter(None, facts):
        longer = f"{line}{gap}{fact}" if line else fact
        if cell_len(longer) > width:
            break
        line = longer
    return line


def _heading(text: str, width: int, glyphs: Glyphs) -> Text:
    return Text(fit(text, width, glyphs).rstrip(), Style(bold=True, underline=True))


def _state(session: Session) -> str:
    state = "running" if is_ingesting(session) else STATES[session.run.ended if session.run else ""]
    if session.run and session.run.hold == "held":
        state = "paused"
    return f"{state}, watching" if session.watching else state


def _left(run: Run) -> str:
    """`0:14 left`, once there is something to tell it from."""
    left = None if run.hold else left_seconds(run.meter)
    if left is None:
        return ""
    minutes, seconds = divmod(round(left), 60)
    return f"{minutes}:{seconds:02} left"


def _cells(width: int) -> int:
    return BAR_CELLS if width >= WIDE else NARROW_BAR_CELLS


def skipped_words(progress: Progress) -> str:
    """How many files were skipped; nothing when none was."""
    return f"{len(progress.skipped)} skipped" if progress.skipped else ""
