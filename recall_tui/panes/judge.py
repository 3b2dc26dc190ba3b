"""Pane 6: the judged queries, and how the ranking does on them."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from recall_tui.session import Session
from recall_tui.widgets.draw import fit
from recall_tui.widgets.lines import LineView


class JudgePane(LineView):
    """Judged queries with their measure."""

    def __init__(self) -> None:
        super().__init__(id="judge")

    def show_session(self, session: Session) -> None:
        """Show the judgements of this session's store."""
        self.border_title = "6 Judge"
        hint = "Nothing is judged yet."
        self.show(lambda width: [Text(fit(hint, width, self.glyphs), Style(dim=True))])
