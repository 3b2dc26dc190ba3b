"""Scroll bars of whole cells, since not every terminal draws parts of one, and the colours of a widget's edge."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.scrollbar import ScrollBarRender
from textual.style import Style


class WholeCells(ScrollBarRender):
    """Begins and ends its thumb between two cells."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


MOST_PAIRS = 256  # of colours; a theme has a few dozen


@lru_cache(MOST_PAIRS)
def inner_outer(base: Color, background: Color) -> tuple[Style, Style]:
    """The style within an edge and the one around it."""
    return Style(background=base + background), Style(background=base)


def let_go_of_closed_widgets() -> None:
    """Let what a closed dialog painted be freed.

    Textual 8 remembers these pairs by the widget's line cache too, and so keeps the painted lines of
    the last 1,024 widgets (Textualize/textual#6665). Harmless where that is mended.
    """
    StylesCache.get_inner_outer = staticmethod(inner_outer)  # type: ignore[assignment]
