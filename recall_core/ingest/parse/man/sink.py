"""The seam between roff and the macros of a page."""

from __future__ import annotations

from typing import Protocol


class Sink(Protocol):
    """What the lines of a page go to. number: of the line in the file."""

    def text(self, line: str, number: int) -> None:
        """A line of text; glyphs and fonts are still escapes."""

    def macro(self, name: str, rest: str, number: int) -> None:
        """A macro or a request that says how the text looks."""

    def table(self, lines: list[str], number: int) -> None:
        """The lines between .TS and .TE."""
