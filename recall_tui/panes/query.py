"""Pane 1: the question, typed, with the place of an error shown under it."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import Static, TextArea

from recall_core.errors import RecallError, RqlError
from recall_tui.messages import Typed
from recall_tui.session import Session, is_stale


class Editor(TextArea):
    """The text of the question; the span of an error is underlined."""

    def __init__(self) -> None:
        super().__init__(id="editor", soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        self.highlight_cursor_line = False
        self._fault: tuple[int, int] | None = None

    def mark(self, fault: tuple[int, int] | None) -> None:
        """Underline this span of the text, in code points; None underlines nothing."""
        if fault != self._fault:
            self._fault = fault
            self.notify_style_update()
            self.refresh()

    def get_line(self, line_index: int) -> Text:
        """A line of the text with the faulty part of it underlined."""
        line = super().get_line(line_index)
        if self._fault is not None:
            lines = self.document.lines[:line_index]
            before = sum(map(len, lines)) + len(lines) * len(self.document.newline)
            start, end = (place - before for place in self._fault)
            if start < len(line.plain) and end > 0:
                line.stylize(Style(underline=True, bold=True), max(0, start), end)
        return line


class QueryPane(Vertical):
    """The editor and, under it, what is wrong with the text or what its answer warns of."""

    def __init__(self) -> None:
        super().__init__(id="query")
        self._trouble: RecallError | None = None
        self._warnings: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """The editor above its message."""
        yield Editor()
        yield Static(id="notes", markup=False)

    def show(self, session: Session) -> None:
        """Show how this session's question fares."""
        self._trouble = session.trouble
        self._warnings = session.answer.warnings if session.answer else ()
        kind = "RQL" if is_rql(session.text) else "words"
        state = "error" if session.trouble else "searching" if session.busy else "live"
        self.border_title = f"1 Query ({kind})"
        self.border_subtitle = f"{state}, results stale" if is_stale(session) else state
        self.set_class(session.trouble is not None, "-trouble")
        self.query_one(Editor).mark(_fault(session.trouble, session.text))
        self._draw_notes()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Pass on what was typed."""
        event.stop()
        self.post_message(Typed(event.text_area.text))

    def on_resize(self, _event: Resize) -> None:
        """Another width puts the caret elsewhere."""
        self._draw_notes()

    def _draw_notes(self) -> None:
        below = self.query_one("#notes", Static)
        lines = list(self._warnings)
        if self._trouble is not None:
            text = self.query_one(Editor).text
            lines = trouble_lines(self._trouble, text, self.content_size.width, self.content_size.height - 1)
        self.set_class(bool(lines), "-noted")
        below.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"))


def is_rql(text: str) -> bool:
    """True when the text is read as a query and not as plain words."""
    head = text.lstrip()[:7].lower()
    return head[:6] == "select" and not (head[6:].isalnum() or head[6:] == "_")


def trouble_lines(error: RecallError, text: str, width: int, height: int) -> list[str]:
    """What is wrong: carets under a text of one unbroken line where they fit, or the place in numbers.

    width: cells of the editor, which is where the text above was folded.  height: lines there are for it.
    """
    message = f"{error.message} ({error.hint})" if error.hint else error.message
    if not isinstance(error, RqlError):
        return [message]
    fault = _fault(error, text)
    if fault is not None and "\n" not in text and cell_len(text) < width:
        carets = " " * cell_len(text[: fault[0]]) + "^" * max(1, cell_len(text[fault[0] : fault[1]]))
        if cell_len(f"{carets} {message}") <= width:
            return [f"{carets} {message}"]
        if height > 1:
            return [carets, message]
    return [f"{error.line}:{error.column} {message}"]


def _fault(error: RecallError | None, text: str) -> tuple[int, int] | None:
    """The error's span in the text as it stands, at least one code point wide."""
    if not isinstance(error, RqlError) or (shift := text.find(error.text)) < 0:
        return None
    return shift + error.start, shift + max(error.end, error.start + 1)
