"""The one-line bars around the panes: the store above, the gauge and the command below, the keys at the foot."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static

from recall_tui.actions.table import footer
from recall_tui.panes.context import budget_line, gauge_of
from recall_tui.session import Session, is_ingesting
from recall_tui.shell import command
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs, figure, fit

SHARING = (("3", "explain"), ("4", "weights"), ("5", "context"), ("6", "judge"), ("8", "store"))
"""The panes that share a place on a narrow screen, with their keys."""
NARROW = 100  # below this the context pane may be hidden, so its gauge stands in the status line


class Line(Static):
    """One line that is drawn again from the last session when its width changes."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False)
        self._session = Session()

    def show(self, session: Session) -> None:
        """Show this session."""
        self._session = session
        if self.size.width > 0:
            self.update(self.drawn(session, self.size.width), layout=False)

    @abstractmethod
    def drawn(self, session: Session, width: int) -> Text:
        """The line for a width in cells."""

    def on_resize(self, _event: Resize) -> None:
        """Fill the new width."""
        self.show(self._session)


class HeaderLine(Line):
    """Store, sizes, embedder, state of the store, and whether work is under way."""

    def drawn(self, session: Session, width: int) -> Text:
        """The header; what does not fit is cut on the left of the activity, which always shows."""
        glyphs = _glyphs(self)
        activity = "searching" if session.busy else "ingesting" if is_ingesting(session) else "idle"
        facts = [" recall"]
        if session.info is not None:
            info = session.info
            facts.append(Path(info.path).name)
            facts.append(f"{_counted(info.documents, 'doc')}{glyphs.dot}{_counted(info.chunks, 'chunk')}")
            facts.append(info.embedder)
            facts.append(f"g{info.generation}{glyphs.dot.strip()}{info.digest[:6]}")
        left = fit("   ".join(facts), width - len(activity) - 2, glyphs)
        return Text(f"{left} {activity} ", Style(bold=True))


class StatusLine(Line):
    """The gauge where there is no room for its pane, and the command that reproduces the view."""

    def __init__(self, store: str | None) -> None:
        super().__init__(id="status")
        self._store = store

    def drawn(self, session: Session, width: int) -> Text:
        """The status for a width in cells."""
        glyphs = _glyphs(self)
        line = " "
        if width < NARROW:
            others = " ".join(f"{key} {tab}" for key, tab in SHARING if tab != session.tab)
            line += f"budget {gauge_of(session, 20, glyphs)} {budget_line(session)}{glyphs.dot}{others}"
            return Text(fit(line, width, glyphs))
        typed = command(session, self._store)
        hint = "Y copies " if typed else ""
        shown = f" $ {typed}".replace("\n", " ") if typed else ""
        return Text(fit(shown, width - len(hint), glyphs) + hint, Style(dim=True))


class FooterLine(Line):
    """The state, in a word, and the keys that can be pressed in it."""

    def drawn(self, session: Session, width: int) -> Text:
        """As many keys as fit; help and quit, the last two, always do."""
        editing = session.pane == "query"
        line = Text().append(" EDIT " if editing else " NAV ", Style(reverse=True, bold=True))
        *keys, help_key, quit_key = footer(session, editing=editing)
        room = width - sum(cell_len(f"  {key} {label}") for key, label in (help_key, quit_key))
        for key, label in keys:
            if line.cell_len + cell_len(f"  {key} {label}") > room:
                break
            _add_key(line, key, label)
        _add_key(line, *help_key)
        _add_key(line, *quit_key)
        return line


def _add_key(line: Text, key: str, label: str) -> None:
    line.append("  ").append(key, Style(bold=True)).append(f" {label}")


def _glyphs(widget: Widget) -> Glyphs:
    return ASCII if widget.app.has_class("-ascii") else UNICODE


def _counted(number: int, noun: str) -> str:
    return f"{figure(number)} {noun}{'' if number == 1 else 's'}"
