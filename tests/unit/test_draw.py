"""Bars, gauges, folding, and the line that names an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recall_core.errors import RqlError, StoreLocked
from recall_tui.panes.query import trouble_lines
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs, bar, fit, folded, gauge, glyphs_for, level, split

BOTH = pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])


@given(st.lists(st.integers(0, 10_000), max_size=30), st.integers(0, 80))
def test_split_uses_every_cell_and_is_never_off_by_one(weights: list[int], width: int) -> None:
    cells = split(weights, width)

    assert sum(cells) == (width if sum(weights) else 0)
    for weight, count in zip(weights, cells, strict=True):
        exact = weight * width / sum(weights) if sum(weights) else 0
        assert abs(count - exact) < 1


@BOTH
@pytest.mark.parametrize("share", [-0.1, 0.0, 0.004, 0.5, 0.999, 1.0, 1.7])
@pytest.mark.parametrize("series", [0, 1])
@pytest.mark.parametrize("width", [0, 1, 12])
def test_a_bar_fills_its_cells_exactly(glyphs: Glyphs, share: float, series: int, width: int) -> None:
    assert cell_len(bar(share, width, glyphs, series=series)) == width


def test_a_folded_line_keeps_its_indentation() -> None:
    assert folded("    return self.value", 14) == ["    return", "    self.value"]


@pytest.mark.parametrize("series", [0, 1])
def test_a_small_share_is_still_seen(series: int) -> None:
    assert bar(0.001, 10, UNICODE, series=series).strip()
    assert not bar(0.0, 10, UNICODE, series=series).strip()


def test_a_bar_grows_in_eighths() -> None:
    assert [bar(step / 8, 1, UNICODE) for step in range(9)] == [" ", *"▏▎▍▌▋▊▉█"]


@BOTH
def test_a_share_of_nothing_is_a_dot_and_the_whole_is_the_highest_mark(glyphs: Glyphs) -> None:
    assert level(0.0, glyphs) == "."
    assert level(1.0, glyphs) == glyphs.levels[-1]


@BOTH
@given(blocks=st.lists(st.integers(0, 500), max_size=12), headers=st.integers(0, 99), free=st.integers(0, 3_000))
def test_a_gauge_keeps_its_width_whatever_is_packed(
    glyphs: Glyphs, blocks: list[int], headers: int, free: int
) -> None:
    used = sum(blocks) + headers

    assert cell_len(gauge(blocks, used, used + free or 1, 30, glyphs)) == 30


def test_a_gauge_draws_blocks_then_headers_then_free_space() -> None:
    assert gauge([4, 2], 8, 10, 12, ASCII) == "[####==||  ]"


@given(st.text(max_size=300), st.integers(1, 40))
def test_folded_lines_fit_and_lose_no_word(text: str, width: int) -> None:
    lines = folded(text, width)

    assert all(cell_len(line) <= max(width, 2) for line in lines)
    printable = "".join(mark for mark in text if mark.isprintable() and not mark.isspace())
    assert "".join("".join(lines).split()) == "".join(printable.split())


@given(st.text(max_size=50), st.integers(0, 30))
def test_fitted_text_has_exactly_its_width(text: str, width: int) -> None:
    clean = "".join(mark for mark in text if mark.isprintable())

    assert cell_len(fit(clean, width, UNICODE)) == width


@pytest.mark.parametrize(
    ("environment", "glyphs"),
    [
        ({}, UNICODE),
        ({"LANG": "en_GB.UTF-8"}, UNICODE),
        ({"LANG": "C.utf8"}, UNICODE),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, ASCII),
        ({"LANG": "de_DE.ISO-8859-1"}, ASCII),
    ],
)
def test_a_locale_of_another_encoding_gets_ascii(environment: dict[str, str], glyphs: Glyphs) -> None:
    assert glyphs_for(environment) is glyphs


@pytest.mark.parametrize("glyphs", [ASCII])
def test_the_ascii_glyphs_are_ascii(glyphs: Glyphs) -> None:
    assert all(mark.isascii() for mark in glyphs)


def test_carets_stand_under_the_span_of_a_short_text() -> None:
    text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    error = RqlError("unknown_field", "There is no field doc.tgas.", text=text, start=27, end=35, hint="doc.tags")

    (line,) = trouble_lines(error, text, 100, 3)

    assert line.index("^") == text.index("doc.tgas")
    assert line.count("^") == len("doc.tgas")
    assert line.endswith("There is no field doc.tgas. (doc.tags)")


def test_the_message_goes_below_the_carets_or_the_carets_become_numbers_where_space_is_short() -> None:
    text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    error = RqlError("unknown_field", "There is no field doc.tgas.", text=text, start=27, end=35)

    assert trouble_lines(error, text, 50, 2) == [" " * 27 + "^" * 8, "There is no field doc.tgas."]
    assert trouble_lines(error, text, 50, 1) == ["1:28 There is no field doc.tgas."]


def test_a_text_of_several_lines_gets_the_place_in_numbers() -> None:
    text = "SELECT *\nFROM chunks"
    error = RqlError("unknown_table", "There is no table chunks.", text=text, start=14, end=20)

    assert trouble_lines(error, text, 100, 3) == ["2:6 There is no table chunks."]


def test_an_error_without_a_place_is_told_as_it_is() -> None:
    assert trouble_lines(StoreLocked("store_locked", "Locked.", hint="wait"), "x", 80, 3) == ["Locked. (wait)"]
