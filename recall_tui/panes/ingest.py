"""Pane 7: the ingest run as one line; when open, also its stages, the skipped files and the sources."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.ingest.skips import by_reason
from recall_core.types import Progress
from recall_tui.state.runs import EVERYTHING, PipelineStage, Run, seconds_left, stages
from recall_tui.state.session import Session, has_strip, is_ingesting
from recall_tui.state.store_pane import StoreOverview, cursor_of, overview
from recall_tui.widgets.draw import Glyphs, bar, blank, figure, fit, fit_place, fold, pluralize
from recall_tui.widgets.lines import NONE, ChoosingView, entitle

BAR_CELLS = 20
NARROW_BAR_CELLS = 10
WIDE = 100  # width from which a bar has its full length
LEAST_PATH = 24  # least cells for a path
SOURCE_CELLS = 37  # of a source's line, after its folder
NEWEST_CELLS = 19  # of these, for the newest document if there is room
LEAST_FOLDER = 11
NOTHING = "No ingest run yet: A adds a folder, R syncs every folder."
STATES = {"": "not running", "done": "done", "cancelled": "cancelled", "failed": "failed"}


class IngestPane(ChoosingView):
    """A progress line. In front, the pane shows the whole run, with one line for each skipped file."""

    def __init__(self) -> None:
        super().__init__("ingest")

    def show_session(self, session: Session) -> None:
        """Show the run of this session, or hide without one."""
        is_open = session.pane == "ingest"
        self.display = has_strip(session) or is_open
        if not self.display:
            return
        self.set_class(is_open, "-open")
        state = ""
        if is_open:
            run = session.store.run
            state = "running" if is_ingesting(session) else STATES[run.ended if run else ""]
            state = "paused" if run and run.hold == "held" else state
            state = f"{state}, following" if session.store.watching else state
        entitle(self, "7 Ingest", state)
        if is_open:

            def build(width: int) -> list[Text]:
                lines, self.places = opened_lines(session, width, self.glyphs)
                return lines

            self.offer(build, chosen=cursor_of(session))
        else:
            self.chosen_line, self.places = NONE, ()
            self.show(lambda width: [strip(session, width, self.glyphs)])


def strip(session: Session, width: int, glyphs: Glyphs) -> Text:
    """Return the line that is shown while another pane is in front."""
    run = session.store.run
    if run is None:
        return Text(fit(" following every folder; 7 lists them", width, glyphs), Style(bold=True))
    is_running = is_ingesting(session)
    head = _running(run, width, glyphs) if is_running else _over(run, width, glyphs)
    watching = f"{glyphs.dot}following" if session.store.watching else ""
    return Text(fit(f" {_doing(run)} {head}{watching}", width, glyphs), Style(bold=True))


def _doing(run: Run) -> str:
    if run.ended:
        return "ingest"
    return "syncing" if run.folder == EVERYTHING else "adding"


def _running(run: Run, width: int, glyphs: Glyphs) -> str:
    progress = run.progress
    hold = {"": "", "asked": "pausing  ", "held": "PAUSED  "}[run.hold]
    if progress is None or progress.files_total == 0:
        files_found = f", {pluralize(progress.files_done, 'file')}" if progress else ""
        return f"{_name(run, width, glyphs)}: {hold}looking for files{files_found}"
    share = run.meter.reached.run
    drawn = f"{glyphs.left}{bar(share, _cells(width), glyphs)}{glyphs.right}"
    files = f"{figure(progress.files_done)} of {pluralize(progress.files_total, 'file')}"
    figures = [
        files,
        _time_left(run),
        _skipped_words(progress),
        f"{run.meter.rates.embedded:,.0f} chunks/s",
        "^g cancels",
    ]
    head = f"{_name(run, width, glyphs)} {drawn}{share:>5.0%}  {hold}"
    return head + _fitting(figures, glyphs.dot, width - cell_len(f" {_doing(run)} {head}"))


def _over(run: Run, width: int, glyphs: Glyphs) -> str:
    skipped = _skipped_words(run.progress) if run.progress else ""
    summary = "cancelled, F5 in pane 7 resumes" if run.ended == "cancelled" else run.summary
    ended = f"{_name(run, width, glyphs)} {_mark(run, glyphs)} {summary}"
    listed = glyphs.dot.join([ended, f"{skipped}, 7 lists them"])
    if skipped and cell_len(f" ingest {listed}") <= width:
        return listed
    return glyphs.dot.join(filter(None, [ended, skipped]))


def _name(run: Run, width: int, glyphs: Glyphs) -> str:
    """Return the folder's name, at most a quarter of the line wide: the figures matter more."""
    return _short(run.name, max(LEAST_PATH, width // 4), glyphs)


def _short(path: str, width: int, glyphs: Glyphs) -> str:
    """Return a path, cut at its front if it is longer than `width`."""
    path = blank(path)
    return path if cell_len(path) <= width else fit_place(path, "", width, glyphs).rstrip()


def _mark(run: Run, glyphs: Glyphs) -> str:
    return {"done": glyphs.yes, "failed": glyphs.no}.get(run.ended, glyphs.out)


def opened_lines(session: Session, width: int, glyphs: Glyphs) -> tuple[list[Text], range]:
    """Return the lines of the run and the sources, and the line numbers of the skipped files."""
    run = session.store.run
    lines = [Text(line) for line in fold(NOTHING, width)] if run is None else _above(run, width, glyphs)
    above, skips = len(lines), run.skipped if run else ()
    for row, skip in enumerate(skips):
        is_chosen = row == cursor_of(session)
        head = f"{glyphs.pointer if is_chosen else ' '}{glyphs.out} "
        path = _short(skip.path, max(LEAST_PATH, width - cell_len(f"{head}: {skip.reason}")), glyphs)
        text = fit(f"{head}{path}: {blank(skip.reason)}", width, glyphs)  # shorten the path, not the reason
        lines.append(Text(text, Style(bold=is_chosen)))
    return [*lines, *_sources(session, width, glyphs)], range(above, above + len(skips))


def _above(run: Run, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the lines above the skipped files."""
    head = fold(_headline(run, width, glyphs), width)
    lines = [Text(fit(line, width, glyphs), Style(bold=True)) for line in head]
    steps = stages(run.meter)
    digits = max((len(figure(max(step.done, step.total))) for step in steps), default=0)
    lines += [_stage(step, run, digits, width, glyphs) for step in steps]
    if run.progress is not None and (facts := _queue(run, run.progress)):
        lines.append(Text(fit(_fitting(facts, glyphs.dot, width), width, glyphs)))
    if run.skipped:
        groups = [f"{figure(group.files)} {group.kind}" for group in by_reason(run.skipped)]
        heading = [f"Skipped {figure(len(run.skipped))}", "Enter shows why", *groups]
        lines.append(_heading(_fitting(heading, glyphs.dot, width), width, glyphs))
    return lines


def _headline(run: Run, width: int, glyphs: Glyphs) -> str:
    """Return the folder and the state of the run, with the folder cut so that the state fits on the first line."""
    mark = f"{_mark(run, glyphs)} " if run.ended else ""
    if run.ended:
        again = "" if run.ended == "cancelled" else "F5 runs it again"  # its summary already says how to resume
        facts = [run.summary, again]
    else:
        states = {
            "": "running, H pauses, ^g cancels",
            "asked": "pausing after this step",
            "held": "PAUSED, H resumes, ^g cancels",
        }
        facts = [states[run.hold], _time_left(run)]
    state = glyphs.dot.join(filter(None, facts))
    if run.folder == EVERYTHING:
        return f"{mark}sync of every folder: {state}"
    room = max(LEAST_PATH, width - cell_len(f"{mark}add : {state}"))
    return f"{mark}add {_short(run.folder, room, glyphs)}: {state}"


def _stage(stage: PipelineStage, run: Run, digits: int, width: int, glyphs: Glyphs) -> Text:
    """Return `read   [####    ] 61%    784 of 1,284 files   120/s`, without a rate while the run is paused."""
    drawn = f"{glyphs.left}{bar(stage.share, _cells(width), glyphs)}{glyphs.right}{stage.share:>5.0%}"
    drawn = drawn if run.progress is not None and run.progress.files_total else " " * len(drawn)
    total = f" of {figure(stage.total):>{digits}}" if stage.total else " " * (digits + len(" of "))
    rate = "" if run.ended or run.hold == "held" else f"{stage.rate:>9,.0f}/s"
    count = f"{figure(stage.done):>{digits}}{total}"
    return Text(fit(f"{stage.name:<6}{drawn}   {count} {stage.unit:<6}{rate}", width, glyphs))


def _queue(run: Run, progress: Progress) -> list[str]:
    """Return what waits, then what the stages do not count, most urgent first."""
    wait = f"wait{'s' * (progress.waiting == 1)} for the embedder"
    facts = [f"{pluralize(progress.waiting, 'text')} {wait}"] if progress.waiting and not run.ended else []
    if run.hold == "held":
        unkept = progress.chunks - run.meter.indexed
        are = "is" if unkept == 1 else "are"
        unstored = f"{pluralize(unkept, 'chunk')} {are} not stored yet" if unkept else ""
        facts = ["the store is not locked", unstored, *facts]
    if progress.unchanged:
        facts.append(f"{figure(progress.unchanged)} unchanged")
    if progress.reused:
        facts.append(f"{pluralize(progress.reused, 'vector')} reused")
    if progress.without_text:
        facts.append(f"{figure(progress.without_text)} without text")
    if progress.tokens is not None:
        facts.append(f"{pluralize(progress.tokens, 'token')} charged")
    return facts


def _sources(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    known = overview(session)
    if not isinstance(known, StoreOverview):
        return []
    watched = f"{glyphs.dot}followed, F stops that" if session.store.watching else f"{glyphs.dot}F follows them"
    heading = f"Sources {figure(len(known.sources))}{glyphs.dot}R syncs them{watched}"
    lines = [_heading(heading, width, glyphs)]
    is_wide = width > LEAST_FOLDER + SOURCE_CELLS + NEWEST_CELLS
    room = max(LEAST_FOLDER, width - SOURCE_CELLS - 1 - NEWEST_CELLS * is_wide)
    for source in known.sources:
        folder = source.root.folder
        synced = f"synced {session.store.synced[folder]}" if folder in session.store.synced else "not synced here yet"
        options = " ".join([*source.root.globs, *(f"#{tag}" for tag in source.root.tags)])
        docs = f"{figure(source.documents):>9} {'doc ' if source.documents == 1 else 'docs'}"
        newest = f"newest {source.newest[:10]}" if source.newest else ""
        behind = f"{docs}  {newest:<17}  {synced}" if is_wide else f"{docs}  {synced}"
        more = f" {options}" if options else ""
        name = fit_place(blank(folder), "", room, glyphs, more=blank(more))
        lines.append(Text(fit(f" {name} {behind}", width, glyphs)))
    return lines


def _fitting(facts: list[str], gap: str, width: int) -> str:
    """Join as many of the leading non-empty facts as fit."""
    line = ""
    for fact in filter(None, facts):
        longer = f"{line}{gap}{fact}" if line else fact
        if cell_len(longer) > width:
            break
        line = longer
    return line


def _heading(text: str, width: int, glyphs: Glyphs) -> Text:
    return Text(fit(text, width, glyphs).rstrip(), Style(bold=True, underline=True))


def _time_left(run: Run) -> str:
    """Return `0:14 left`, or "" until there is an estimate."""
    left = None if run.hold else seconds_left(run.meter)
    if left is None:
        return ""
    minutes, seconds = divmod(round(left), 60)
    return f"{minutes}:{seconds:02} left"


def _cells(width: int) -> int:
    return BAR_CELLS if width >= WIDE else NARROW_BAR_CELLS


def _skipped_words(progress: Progress) -> str:
    """Return the number of skipped files, or "" for none."""
    return f"{figure(len(progress.skipped))} skipped" if progress.skipped else ""
