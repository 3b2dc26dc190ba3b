"""The themes: every colour with a meaning is readable on all its backgrounds."""

from __future__ import annotations

import colorsys

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from recall_tui.themes import EASY, HUES, NAMES, NO_COLOUR, READABLE, THEMES, Shades, contrast, grounds, shades
from recall_tui.widgets.draw import COLOURS
from recall_tui.widgets.editor import STYLES

COLOURED = [theme for theme in THEMES if theme.name != NO_COLOUR]


def test_contrast_matches_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#abcdef", "#abcdef") == 1


def test_hues_and_text_are_legible_on_every_background() -> None:
    for theme in COLOURED:
        least = EASY if theme.name.startswith("high-contrast") else READABLE
        text = theme.to_color_system().generate()["foreground"]

        for ground in grounds(theme):
            assert contrast(text, ground) >= least, theme
            for shade in shades(theme.name).values():
                assert contrast(shade, ground) >= least, ((theme.name, shade, ground), theme)


def test_a_shade_keeps_its_hue() -> None:
    for theme in COLOURED:
        for hue, shade in shades(theme.name).items():
            apart = abs(_tone(hue) - _tone(shade))
            assert min(apart, 1 - apart) < 0.02, theme


def test_every_colour_in_use_has_a_shade() -> None:
    drawn = {*COLOURS.values(), *(style.color.name for style in STYLES.values() if style.color is not None)}

    assert drawn <= set(HUES)


def test_signals_are_distinct_in_every_theme() -> None:
    for theme in COLOURED:
        assert len(set(shades(theme.name).values())) == len(HUES)


def test_only_the_hues_change_to_their_shades() -> None:
    segments = [
        Segment("a", Style(color="#56b4e9", bgcolor="#ffffff", bold=True)),
        Segment("b", Style(color="#123456")),
        Segment("c"),
    ]

    shown = Shades("light").apply(segments, Color.parse("white"))

    assert shown[0].style == Style(color=shades("light")["#56b4e9"], bgcolor="#ffffff", bold=True)
    assert shown[1:] == segments[1:]
    assert Shades(NO_COLOUR).apply(segments, Color.parse("white")) == segments


def test_no_theme_shows_control_characters() -> None:
    for theme in NAMES:
        shown = Shades(theme).apply(
            [Segment("a\x1b[2J", Style(color="#56b4e9")), Segment("\x07b")], Color.parse("white")
        )

        assert [segment.text for segment in shown] == ["a[2J", "b"], theme


def test_the_themes_start_dark_and_end_without_colours() -> None:
    assert NAMES == ("dark", "light", "high-contrast", "high-contrast-light", "no-colour")


def _tone(colour: str) -> float:
    triplet = RichColor.parse(colour).get_truecolor()
    return colorsys.rgb_to_hls(*(part / 255 for part in triplet))[0]
