"""Pane 6: the judged queries, how well the ranking does on them, and what it misses."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp

from recall_core.errors import RecallError
from recall_tui.actions.table import table_of
from recall_tui.state import judging
from recall_tui.state.judging import Board, JudgedQueries, QueryLine
from recall_tui.state.session import Session
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Glyphs, blank, figure, fit, fit_place, fold
from recall_tui.widgets.lines import NONE, LineView, entitle

BEGIN = ("No grades yet. g starts grading: a s d f give 3 2 1 0.", "No grades yet. g starts grading.")
GRADING = ("No grades yet. a s d f give the selected result 3 2 1 0.", "No grades yet. a s d f: 3 2 1 0.")
"""Empty state before grading and while grading is on. The second text of each is for narrow panes."""
NAMES = {"ndcg@10": "nDCG@10", "mrr": "MRR", "map": "MAP", "p@10": "P@10", "recall@10": "R@10", "recall@100": "R@100"}
"""Names of the measures as in the literature, short enough for a column."""
SAVED = "vs saved"
"""Heading of the differences from the settings in recall.toml."""
MOVED_CELLS = 10
MARK_CELLS = 3  # of the pointer, and of the query on the screen
QUERY_CELLS = 12  # most cells of an id
TALL = 18  # height from which the missed documents have the lower half
LEAST_MISSED = 3  # lines left below all queries from which a lower pane shows the missed documents
VERDICT = 10  # height from which the verdict has its own line if it does not fit after the difference
MISSED_LINES = 6  # in a lower pane, while the list of missed documents has the keys


class JudgePane(LineView, inherit_bindings=False):
    """Judged queries with their measure. The heads stay; the rows scroll with the choice."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__(id="judge")
        self._shown: tuple[object, ...] = ()
        self._layout = JudgeLines((), {}, 0)

    def show_session(self, session: Session) -> None:
        """Show the judgements of this session's store."""
        entitle(self, "6 Judge", table_of(self.app).spell(subtitle(session)))
        shown = _drawn_from(session)
        if shown != self._shown:
            self._shown = shown

            def build(width: int) -> list[Text]:
                size = width, self.scrollable_content_region.height
                self._layout = layout(session, size, self.glyphs, self._layout.first)
                self.chosen_line = self._layout.chosen_line
                return list(self._layout.lines)

            self.show(build)

    def page_rows(self, name: str) -> int:
        """Return the number of visible rows of this list."""
        return max(1, sum(listed == name for listed, _ in self._layout.places.values()))

    def on_click(self, event: Click) -> None:
        """Choose the line under the mouse. A second click acts on it."""
        place = self._layout.places.get(event.y - self.gutter.top)
        if place is not None:
            self.post_message(Do("choose_query", *place, event.chain > 1))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Point to the next query, since the heads do not scroll."""
        event.stop()
        self.post_message(Do("point_query", 1))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Point to the previous query."""
        event.stop()
        self.post_message(Do("point_query", -1))


class JudgeLines(NamedTuple):
    """The lines of the pane. places: list and row by line. first: index of the first visible query."""

    lines: tuple[Text, ...]
    places: dict[int, tuple[str, int]]
    first: int
    chosen_line: int = NONE


def subtitle(session: Session) -> str:
    """Return the judged share of the first rows or the progress of the board; without either, the key for grading."""
    known, way = judging.board(session), judging.headway(session)
    if way is not None:
        return f"measured {figure(way[0])} of {_queries(way[1])}"
    if isinstance(known, Board) and known.judged is not None:
        return f"judged@{judging.TOP} {known.judged:.0%} of {judging.UNITS[known.unit]}"
    return "{switch_grading} ends grading" if session.judge.is_grading else "{switch_grading} grade"


def summary_line(session: Session, width: int, glyphs: Glyphs) -> str:
    """Return the number of judged queries, and the measure if there is room."""
    known, judged = judging.board(session), judging.judged_queries(session)
    if judged is None:
        return "Reading the judgements."
    if not any(judged.places.values()):
        return _fitting(GRADING if session.judge.is_grading else BEGIN, width)
    counts = _count_line(session, judged)
    if isinstance(known, Board):
        measure = judging.measure_of(session)
        more = f"{glyphs.dot}{NAMES[measure]} {known.figures[measure].mean:.3f}"
    else:
        more = "" if judging.has_relevant(judged) else f"{glyphs.dot}measures need a grade above 0"
    return _fitting((counts + more, counts), width)


def _count_line(session: Session, judged: JudgedQueries) -> str:
    """Return `14 of 40 queries judged (chunks)`."""
    count = sum(map(bool, judged.places.values()))
    total = max(count, len(judged.texts))
    return f"{figure(count)} of {_queries(total)} judged ({judging.UNITS[judging.unit_here(session)]})"


def _queries(count: int) -> str:
    return f"{figure(count)} quer{'y' if count == 1 else 'ies'}"


def layout(session: Session, size: tuple[int, int], glyphs: Glyphs, first: int) -> JudgeLines:
    """Lay out the pane in `size` (columns, lines). first: the first query shown before."""
    width, height = size
    known = judging.board(session)
    if isinstance(known, RecallError) and known.code != "no_judgements":
        reason = f"{known.message} ({known.hint})" if known.hint else known.message
        return JudgeLines(tuple(Text(line) for line in fold(reason, width)), {}, 0)
    if not isinstance(known, Board) or height <= 1:
        line = fit(summary_line(session, width, glyphs), width, glyphs)
        return JudgeLines((Text(line, Style(dim=not isinstance(known, Board))),), {}, 0)
    heads = len(_heads(session, known, size, glyphs))
    below = _below(session, width, height - heads, glyphs)
    return _fill(session, heads, below, size, glyphs, first=first)


def _fitting(lines: tuple[str, ...], width: int) -> str:
    """Return the first line that fits, or the last one."""
    return next((line for line in lines if cell_len(line) <= width), lines[-1])


def _heads(session: Session, known: Board, size: tuple[int, int], glyphs: Glyphs, shown: str = "") -> list[Text]:
    """Return the number of judged queries if there is room, the figures, and the column names.

    shown: range of the visible rows.
    """
    width, height = size
    measure = judging.measure_of(session)
    figures = summary(known, measure, size, glyphs)
    style = Style(bold=True, dim=not judging.is_current(session))
    lines = [Text(line, style) for line in figures]
    if height >= len(lines) + 4:
        judged = judging.judged_queries(session)
        counts = _count_line(session, judged) if judged is not None else ""
        lines.insert(0, Text(fit(counts, width, glyphs), Style(dim=True)))
    if height >= len(lines) + 2:
        moved = f"{SAVED:>{MOVED_CELLS}}" if known.is_moved else ""
        right = f"{NAMES[measure]:>8}{'judged':>8}{moved}"
        ids = _id_cells(known)
        cells = max(0, width - MARK_CELLS - ids - 1 - len(right))
        text = f"text {shown}" if len(shown) + 6 <= cells else "text"
        columns = f"{' ' * MARK_CELLS}{'query':<{ids}} {text:<{cells}}{right}"
        lines.append(Text(fit(columns, width, glyphs), Style(dim=True)))
    return lines


def summary(known: Board, measure: str, size: tuple[int, int], glyphs: Glyphs) -> list[str]:
    """Return a measure over all queries with its interval, and its difference from the saved settings.

    A single query has no interval, since resampling one value always gives that value.
    """
    width, height = size
    shown, is_alone = known.figures[measure], len(known.lines) == 1
    interval = "of one query" if is_alone else f"95 % {shown.low:.3f} to {shown.high:.3f}"
    lines = [f"{NAMES[measure]} ({judging.UNITS[known.unit]}) {shown.mean:.3f}  {interval}"]
    if known.is_moved:
        counts = f"{glyphs.up}{shown.wins} {glyphs.down}{shown.losses} ={shown.ties}"
        interval = "" if is_alone else f" ({shown.difference_low:+.3f} to {shown.difference_high:+.3f})"
        spread = f"{shown.difference:+.3f}{interval}"
        lines.append(f"{SAVED} {spread} {counts}")
        if cell_len(f"{lines[1]}{glyphs.dot}{shown.verdict}") <= width:
            lines[1] += f"{glyphs.dot}{shown.verdict}"
        elif height >= VERDICT:
            lines.append(shown.verdict)
    joined = glyphs.dot.join(lines)
    return [joined] if cell_len(joined) <= width else [fit(line, width, glyphs) for line in lines]


def delta(now: float, before: float, glyphs: Glyphs) -> str:
    """Return how far a value moved from its value under the saved settings."""
    if abs(now - before) < 0.0005:
        return "="
    return f"{glyphs.up if now > before else glyphs.down}{abs(now - before):.3f}"


def _id_cells(known: Board) -> int:
    return min(QUERY_CELLS, max(5, *(cell_len(line.query) for line in known.lines)))


def _row(session: Session, line: QueryLine, known: Board, width: int, glyphs: Glyphs, *, is_chosen: bool) -> Text:
    """Return a query's line: mark, id, text, measure, judged share and difference."""
    measure, ids = judging.measure_of(session), _id_cells(known)
    is_here = line.query == judging.query_here(session)
    is_fresh = judging.is_current(session) or line is judging.line_here(session)
    moved = f"{delta(line.values[measure], line.before[measure], glyphs) if line.before else '':>{MOVED_CELLS}}"
    judged = "-" if line.judged is None else f"{line.judged:.0%}"
    right = f"{line.values[measure]:>8.3f}{judged:>8}{moved if known.is_moved else ''}"
    marks = f"{glyphs.pointer if is_chosen else ' '}{glyphs.knob if is_here else ' '} "
    room = width - MARK_CELLS - ids - 1 - len(right)
    left = f"{fit(blank(line.query), ids, glyphs)} {fit(blank(line.text), room, glyphs)}"
    return Text(f"{marks}{left}{right}", Style(bold=is_chosen or is_here, dim=not is_fresh))


def _below(session: Session, width: int, room: int, glyphs: Glyphs) -> list[tuple[Text, int | None]]:
    """Return what the selected query misses, each line with its row. Return nothing without room or keys."""
    line, at_missed = judging.pointed_line(session), judging.is_at_missed(session)
    spare = room - len(judging.lines_of(session))
    if line is None or not (at_missed or room >= TALL or spare >= LEAST_MISSED):
        return []
    lines = max(spare, room // 2 if room >= TALL else min(MISSED_LINES, room - 1))
    head = f"{blank(line.query)}: {judging.in_top(line, judging.unit_here(session))}"
    keys = "Left back, Enter explains why" if at_missed else "Right opens the list" if line.missed else ""
    if keys and cell_len(f"{head}{glyphs.dot}{keys}") <= width:
        head += f"{glyphs.dot}{keys}"
    shown: list[tuple[Text, int | None]] = [(Text(fit(head, width, glyphs), Style(dim=True)), None)]
    chosen = min(session.cursors.get("missed", 0), max(0, len(line.missed) - 1))
    start = max(0, min(chosen - (lines - 2) // 2, len(line.missed) - lines + 1))
    for row, missed in list(enumerate(line.missed))[start : start + max(1, lines - 1)]:
        is_chosen = at_missed and row == chosen
        absent = f"not in {missed.depth}" if missed.depth else "not ranked"
        rank = absent if missed.rank is None else f"rank {missed.rank}"
        mark = glyphs.pointer if is_chosen else " "
        path = fit_place(blank(missed.place), "", width - 16, glyphs)
        shown.append((Text(f"{mark} {missed.grade} {path} {rank:>11}", Style(bold=is_chosen)), row))
    return shown


def _fill(
    session: Session,
    heads: int,
    below: list[tuple[Text, int | None]],
    size: tuple[int, int],
    glyphs: Glyphs,
    *,
    first: int,
) -> JudgeLines:
    """Return the heads, as many queries around the chosen one as fit, and what that query misses."""
    known = judging.board(session)
    assert isinstance(known, Board)  # noqa: S101 - the caller checked
    width, height = size
    lines = judging.lines_of(session)
    room = max(1, height - heads - len(below))
    chosen = min(session.cursors.get("judge", 0), len(lines) - 1)
    first = max(chosen - room + 1, min(first, chosen, max(0, len(lines) - room)))
    end = min(len(lines), first + room)
    shown = f"{first + 1}-{end}/{len(lines)}" if end - first < len(lines) else ""
    drawn, places = _heads(session, known, size, glyphs, shown), {}
    for row in range(first, end):
        is_chosen = row == chosen and not judging.is_at_missed(session)
        places[len(drawn)] = ("judge", row)
        drawn.append(_row(session, lines[row], known, width, glyphs, is_chosen=is_chosen))
    for text, missed_row in below:
        if missed_row is not None:
            places[len(drawn)] = ("missed", missed_row)
        drawn.append(text)
    pointed = judging.pointed_line(session)
    missed = min(session.cursors.get("missed", 0), len(pointed.missed) - 1) if pointed else NONE
    wanted = ("missed", missed) if judging.is_at_missed(session) else ("judge", chosen)
    chosen_line = next((row for row, place in places.items() if place == wanted), NONE)
    return JudgeLines(tuple(drawn[: max(height, 1)]), places, first, chosen_line)


def _drawn_from(session: Session) -> tuple[object, ...]:
    """Return everything that the pane is drawn from."""
    names = ("judge", "missed", "at missed", "measure")
    return (
        session.judge.is_grading,
        judging.board(session),
        judging.line_here(session),
        judging.query_here(session),
        judging.is_current(session),
        judging.judged_queries(session),
        tuple(session.cursors.get(name, 0) for name in names),
    )
