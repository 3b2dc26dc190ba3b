"""The themes, and readable shades of the signals' colours in each of them."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from recall_tui.widgets.draw import Harmless

HUES = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#2fb58a")
"""Colours that panes draw with: Okabe and Ito's, and a lighter shade of their green."""
GROUNDS = ("background", "surface", "panel", "primary-muted")
"""Backgrounds that the colours are drawn on, by Textual's variables."""
NO_COLOUR = "no-colour"
READABLE, EASY = 4.5, 7.0  # WCAG 2.2: contrast of text at levels AA and AAA
_STEP = 0.01  # of lightness


def _bar(thumb: str) -> dict[str, str]:
    """Return a scrollbar with a thumb of this colour and no track, which would be a stripe next to a short list."""
    tracks = ("scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active")
    return {"scrollbar": thumb, **dict.fromkeys(tracks, "transparent"), "scrollbar-corner-color": "transparent"}


_FOCUS = ("#c792ea", "#7b1fa2")
"""The focused pane's colour on a dark and on a light background. No signal has it."""
_LIGHT = Theme(
    name="light",
    primary="#004578",
    secondary="#0178D4",
    accent="#9a4d00",
    warning="#8a5a00",
    error="#a8203f",
    success="#1d6b33",
    foreground="#1a1a1a",
    background="#f8f8f8",
    surface="#f0f0f0",
    panel="#e2e7eb",
    dark=False,
    variables={"primary-muted": "#cfe0ee", **_bar("#6f8ea5"), "focus": _FOCUS[1]},
)
_DARK, _ANSI = BUILTIN_THEMES["textual-dark"], BUILTIN_THEMES["ansi-dark"]
THEMES: tuple[Theme, ...] = (
    replace(_DARK, name="dark", variables={**_DARK.variables, **_bar("#5c6f80"), "focus": _FOCUS[0]}),
    _LIGHT,
    Theme(
        name="high-contrast",
        primary="#6fb7ff",
        accent="#ffd700",
        warning="#ffd700",
        error="#ff8a8a",
        success="#7dff9b",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1a1a1a",
        text_alpha=1.0,
        variables={"primary-muted": "#003a6b", **_bar("#5b8bb8"), "focus": "#e0b3ff"},
    ),
    Theme(
        name="high-contrast-light",
        primary="#003a6b",
        accent="#7a2600",
        warning="#5c3c00",
        error="#8a0020",
        success="#004d1a",
        foreground="#000000",
        background="#ffffff",
        surface="#ffffff",
        panel="#f0f0f0",
        dark=False,
        text_alpha=1.0,
        variables={"primary-muted": "#d6e6f5", **_bar("#4f6f8a"), "focus": "#4a0072"},
    ),
    replace(
        _ANSI,
        name=NO_COLOUR,
        variables={**_ANSI.variables, "input-cursor-text-style": "reverse", "focus": "ansi_default"},
    ),
)
NAMES = tuple(theme.name for theme in THEMES)


class Shades(Harmless):
    """Maps the hues to the shades of a theme.

    It also removes control characters, since each filter copies every line.
    """

    def __init__(self, theme: str) -> None:
        super().__init__()
        self._shades = {RichColor.parse(hue): Style(color=shade) for hue, shade in shades(theme).items()}

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with the hues mapped to their shades, without control characters."""
        return [
            Segment(text, style + self._shades[style.color], control)
            if style is not None and style.color in self._shades
            else Segment(text, style, control)
            for text, style, control in super().apply(segments, background)
        ]


@cache
def shades(name: str) -> dict[str, str]:
    """Return the readable shade of each hue on all backgrounds of this theme, or {} without colours."""
    if name == NO_COLOUR:
        return {}
    theme = next(theme for theme in THEMES if theme.name == name)
    least = EASY if name.startswith("high-contrast") else READABLE
    behind = grounds(theme)
    return {hue: readable(hue, behind, least, is_dark=theme.dark) for hue in HUES}


def grounds(theme: Theme) -> tuple[str, ...]:
    """Return the colours behind the text of a theme."""
    variables = theme.to_color_system().generate()
    return tuple(variables[name] for name in GROUNDS)


def readable(hue: str, behind: Sequence[str], least: float, *, is_dark: bool) -> str:
    """Return the shade nearest to a hue with at least this contrast to all backgrounds.

    Only the lightness changes.
    """
    red, green, blue = (channel / 255 for channel in _channels(hue))
    tone, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    shade = hue
    while min(contrast(shade, ground) for ground in behind) < least and 0 < lightness < 1:
        lightness = min(1.0, max(0.0, lightness + (_STEP if is_dark else -_STEP)))
        shade = "#" + "".join(f"{round(part * 255):02x}" for part in colorsys.hls_to_rgb(tone, lightness, saturation))
    return shade


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2): 1 for none, 21 for black on white."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (channel / 255 for channel in _channels(colour))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
