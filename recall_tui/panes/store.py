"""Pane 8: what the store holds, and whether it is sound."""

from __future__ import annotations

from rich.text import Text

from recall_core.types import StoreInfo
from recall_tui.session import Session
from recall_tui.widgets.draw import Glyphs, figure, fit
from recall_tui.widgets.lines import LineView


class StorePane(LineView):
    """The figures of the store."""

    def __init__(self) -> None:
        super().__init__(id="store")
        self._shown: StoreInfo | None = None

    def show_session(self, session: Session) -> None:
        """Show the store of this session."""
        info = session.info
        self.border_title = "8 Store"
        if info is not None and info != self._shown:
            self._shown = info
            self.show(lambda width: _lines(info, width, self.glyphs))


def _lines(info: StoreInfo, width: int, glyphs: Glyphs) -> list[Text]:
    facts = {
        "file": info.path,
        "documents": figure(info.documents),
        "chunks": figure(info.chunks),
        "embedder": info.embedder,
        "generation": str(info.generation),
        "digest": info.digest,
    }
    return [Text(fit(f"{name:<12}{value}", width, glyphs)) for name, value in facts.items()]
