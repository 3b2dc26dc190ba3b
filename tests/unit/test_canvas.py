"""Dots drawn as characters."""

from __future__ import annotations

from recall_tui.widgets.draw import ASCII, UNICODE, Canvas


def test_dots_become_braille_and_outside_dots_are_dropped() -> None:
    canvas = Canvas(2, 1)

    canvas.dot(0, 0)
    canvas.upright(3, 0, 3)
    canvas.dot(4, 0)
    canvas.dot(-1, 2)

    assert canvas.lines(UNICODE) == ["⠁⢸"]


def test_ascii_strokes_replace_the_dots() -> None:
    canvas = Canvas(4, 1)

    canvas.upright(0, 0, 3)
    canvas.dot(2, 1)
    canvas.dot(3, 1)
    canvas.upright(4, 0, 2)
    canvas.dot(5, 0)

    assert canvas.lines(ASCII) == ["|-+ "]
