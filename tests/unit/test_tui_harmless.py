"""Nothing drawn can control the terminal."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from recall_tui.widgets.draw import Harmless, harmless


def test_control_characters_are_dropped_and_the_width_kept() -> None:
    for text, shown in [
        ("notes/red\x1b[31m.md", "notes/red[31m.md"),
        ("\x1b]0;another title\x07", "]0;another title"),
        ("two\nlines\r\tand\x85\u2028more", "twolinesandmore"),
        ("\u202efdp.exe\u2066", "fdp.exe"),
        ("half \udcff", "half ?"),
        ("📁 Überblick 漢字 👩\u200d👧", "📁 Überblick 漢字 👩\u200d👧"),
    ]:
        assert harmless(text) == shown, text
        assert cell_len(shown) == cell_len(text), text


def test_the_filter_keeps_styles() -> None:
    bold = Style(bold=True)

    assert Harmless().apply([Segment("a\x1b", bold), Segment("b")], Color.parse("black")) == [
        Segment("a", bold),
        Segment("b"),
    ]
