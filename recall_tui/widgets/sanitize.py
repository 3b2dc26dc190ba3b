"""What is drawn cannot steer the terminal, whatever the names and the texts of files hold."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

"""Characters that make a text look like another."""

_BREAKS = "\u2028\u2029"

_OBEYED = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *map(ord, _TURNS + _BREAKS))),
    **dict.fromkeys(range(0xD800, 0xE000), "?"),
}

"""What a terminal obeys, which has no width on the screen, and halves of characters, which cannot be written."""


class Harmless(LineFilter):
    """Shows every text without what a terminal would obey."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, in the same cells."""
        if all(segment.text.isprintable() for segment in segments):
            return segments  # nearly every line, at every frame
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """The text without control characters and changes of direction; as wide as before."""
    return text if text.isprintable() else text.translate(_OBEYED)
