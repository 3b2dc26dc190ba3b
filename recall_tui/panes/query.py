"""Pane 1: the query editor, with the place of an error shown below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import OptionList, Static, TextArea

from recall_core.errors import Interrupted, RecallError, RqlError
from recall_core.rql.parser import is_query
from recall_core.text import one_line
from recall_tui.state.session import Session, is_lingering, is_stale
from recall_tui.widgets import Do
from recall_tui.widgets.draw import UNICODE, Drawing, Glyphs, cut, fit, fold
from recall_tui.widgets.editor import Editor, Offers
from recall_tui.widgets.lines import entitle

if TYPE_CHECKING:
    pass

MOST_NOTES = 2
"""Lines below the editor. In a short terminal the pane grows by one line if both are used."""
TAB_CELLS = 14  # of a query's first words in the title
MORE = " more"
"""End of a line that stands in for other warnings too."""
_UNKNOWN = re.compile(r"W_UNKNOWN_TERM: (.*) occurs nowhere in this store")


class QueryPane(Vertical, Drawing):
    """The editor and, below it, the error of the text or the warnings of its answer."""

    def __init__(self) -> None:
        super().__init__(id="query")
        self._offers = Offers()
        self._trouble: RecallError | None = None
        self._warnings: tuple[str, ...] = ()
        self._noted: list[str] = []
        self._session = Session()

    def compose(self) -> ComposeResult:
        """Yield the editor, then its message."""
        yield Editor(self._offers)
        yield Static(id="notes", markup=False)

    def on_mount(self) -> None:
        """Mount the list of completions after the first frame, which need not wait for its styles."""

        async def mount_offers() -> None:
            if self.is_attached:  # the user may have quit already
                await self.mount(self._offers)

        self.call_after_refresh(mount_offers)

    def show(self, session: Session) -> None:
        """Show the state of this session's query."""
        self._session, self._trouble = session, session.query.trouble
        answer = session.results.answer
        words = answer.pool.dropped if answer is not None and answer.pool else ()
        dropped = f"ignored: {', '.join(map(one_line, words))}" if words else ""
        is_on_edge = 0 < cell_len(dropped) <= self.content_size.width // 2 and not is_stale(session)
        warnings = [each for each in (answer.warnings if answer else ()) if not each.startswith("W_DROPPED")]
        self._warnings = (*((dropped,) if dropped and not is_on_edge else ()), *warnings)
        kind = "RQL" if is_query(session.query.text) else "words"
        state = f"{dropped}{self.glyphs.dot}{_state(session)}" if is_on_edge else _state(session)
        by = f", filter {session.query.filter}" if session.query.filter and kind == "words" else ""
        entitle(
            self,
            f"1 Query ({kind}{by}){_tabs(session, self.glyphs)}",
            f"{state}, results stale" if is_stale(session) else state,
        )
        self.set_class(session.query.trouble is not None, "-trouble")
        self.query_one(Editor).mark(_fault(session.query.trouble, session.query.text))
        self.query_one(Editor).learn(session.query.entries)
        self._draw_notes()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Pass on the new text."""
        event.stop()
        self.query_one(Editor).follow()
        self.post_message(Do("search_as_typed", event.text_area.text))

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Update the list of completions for the new place of the cursor."""
        event.stop()
        self.query_one(Editor).follow()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Insert the candidate that was clicked."""
        event.stop()
        candidate = self.query_one(Offers).candidate_at(event.option_index)
        if candidate is not None:
            self.query_one(Editor).take(candidate)

    def on_resize(self, _event: Resize) -> None:
        """Draw the caret and the border texts for the new width."""
        self.show(self._session)

    def _draw_notes(self) -> None:
        below = self.query_one("#notes", Static)
        lines = self._notes(1) if self.screen.has_class("-short") else []
        if not lines or lines[0].endswith((self.glyphs.cut, MORE)):
            lines = self._notes(MOST_NOTES)
        if lines == self._noted:
            return  # an update lays the whole screen out again
        self._noted = lines
        self.set_class(bool(lines), "-noted")
        self.set_class(len(lines) > 1, "-long")
        below.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"))

    def _notes(self, height: int) -> list[str]:
        width = self.content_size.width
        if self._trouble is None:
            return warning_lines(self._warnings, width, height, self.glyphs)
        return trouble_lines(self._trouble, self.query_one(Editor).text, width, height, self.glyphs)


def _tabs(session: Session, glyphs: Glyphs) -> str:
    """Return the query tabs by number and first words, with the open one marked. Return "" for a single tab."""
    query, shown = session.query, []
    for place, tab in enumerate(query.tabs if len(query.tabs) > 1 else ()):
        text = query.text if place == query.tab else tab.text
        mark = glyphs.pointer if place == query.tab else " "
        shown.append(f"{mark}{place + 1} {cut(one_line(text), TAB_CELLS, glyphs) or 'empty'}")
    return "".join(f" {each}" for each in shown)


def _state(session: Session) -> str:
    if is_lingering(session):
        return "searching, ^g cancels"
    if session.query.trouble is not None:
        return "cancelled" if isinstance(session.query.trouble, Interrupted) else "error"
    return "searching" if session.query.busy else "live"


def trouble_lines(error: RecallError, text: str, width: int, height: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """Return the error: carets below a one-line text if they fit, else the place in numbers.

    width: cells of the editor, where the text is folded. height: lines available.
    """
    message = f"{error.message} ({error.hint})" if error.hint else error.message
    if not isinstance(error, RqlError):
        return cut_lines(message, width, height, glyphs)
    fault = _fault(error, text)
    if fault is not None and "\n" not in text and cell_len(text) < width:
        carets = " " * cell_len(text[: fault[0]]) + "^" * max(1, cell_len(text[fault[0] : fault[1]]))
        if cell_len(f"{carets} {message}") <= width:
            return [f"{carets} {message}"]
        if len(below := fold(message, width)) < height:
            return [carets, *below]
    return cut_lines(f"{error.line}:{error.column} {message}", width, height, glyphs)


def warning_lines(warnings: Sequence[str], width: int, height: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """Return the warnings: a single one folded, several on one line each, and the number that does not fit."""
    warnings = join_unknown_terms(warnings)
    if len(warnings) == 1:
        return cut_lines(warnings[0], width, height, glyphs)
    if len(warnings) <= height:
        return [fit(warning, width, glyphs).rstrip() for warning in warnings]
    more = f" and {len(warnings) - height}{MORE}"
    lines = [fit(warning, width, glyphs).rstrip() for warning in warnings[: height - 1]]
    return [*lines, fit(warnings[height - 1], width - cell_len(more), glyphs).rstrip() + more]


def join_unknown_terms(warnings: Sequence[str]) -> Sequence[str]:
    """Return the warnings, with the words of all "occurs nowhere" warnings joined into the first of them."""
    words = [match[1] for match in map(_UNKNOWN.fullmatch, warnings) if match]
    if len(words) < 2:
        return warnings
    rest = [warning for warning in warnings if not _UNKNOWN.fullmatch(warning)]
    place = next(place for place, warning in enumerate(warnings) if _UNKNOWN.fullmatch(warning))
    text = f"W_UNKNOWN_TERM: {', '.join(words[:-1])} and {words[-1]} occur nowhere in this store"
    return [*rest[:place], text, *rest[place:]]


def cut_lines(text: str, width: int, height: int, glyphs: Glyphs) -> list[str]:
    """Fold a text to at most `height` lines, with a mark at the end if it is cut."""
    lines = fold(text, width)
    if len(lines) <= height:
        return lines
    last = lines[height - 1]
    room = width - cell_len(glyphs.cut)
    return [*lines[: height - 1], set_cell_size(last, min(room, cell_len(last))).rstrip() + glyphs.cut]


def _fault(error: RecallError | None, text: str) -> tuple[int, int] | None:
    """Return the error's span in the text, at least one code point wide."""
    if not isinstance(error, RqlError) or (shift := text.find(error.text)) < 0:
        return None
    return shift + error.start, shift + max(error.end, error.start + 1)
