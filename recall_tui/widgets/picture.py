"""What is on the screen, as a picture and as text."""

from __future__ import annotations

import re

from textual.app import App

_REMOTE_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


def picture(app: App[None]) -> str:
    """The screen as SVG."""
    return app.export_screenshot()


def without_remote_fonts(svg: str) -> str:
    """The picture, drawn in a font of the machine that shows it: nothing is fetched when it is opened."""
    return _REMOTE_FONT.sub("", svg)


def plain_text(app: App[None]) -> str:
    """The characters of the screen, without colours and without blanks at the ends of lines."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    lines = [strip.crop(0, width).text.rstrip() for strip in strips[:height]]
    return "\n".join(lines)
