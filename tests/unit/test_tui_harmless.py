"""What is drawn cannot steer the terminal."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from recall_tui.widgets.sanitize import Harmless, harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("notes/red\x1b[31m.md", "notes/red[31m.md"),
        ("\x1b]0;another title\x07", "]0;another title"),
        ("two\nlines\r\tand\x85\u2028more", "twolinesandmore"),
        ("\u202efdp.exe\u2066", "fdp.exe"),
        ("half \udcff", "half ?"),
        ("📁 Überblick 漢字 👩\u200d👧", "📁 Überblick 漢字 👩\u200d👧"),
    ],
)
def test_what_a_terminal_would_obey_is_left_out_and_the_width_stays(text: str, shown: str) -> None:
    assert harmless(text) == shown
    assert cell_len(shown) == cell_len(text)


def test_the_filter_keeps_styles() -> None:
    bold = Style(bold=True)

    assert Harmless().apply([Segment("a\x1b", bold), Segment("b")], Color.parse("black")) == [
        Segment("a", bold),
        Segment("b"),
    ]
