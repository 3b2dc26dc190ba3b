"""Bars, gauges, folding, and the place of an error."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recall_core.errors import RqlError, StoreLocked
from recall_tui.panes.query import trouble_lines, warning_lines
from recall_tui.widgets.draw import (
    ASCII,
    UNICODE,
    Glyphs,
    bar,
    fit,
    fit_place,
    fold,
    gauge,
    glyphs_for,
    split,
    with_figures,
)

GLYPHS = st.sampled_from([UNICODE, ASCII])


@given(st.lists(st.integers(0, 10_000), max_size=30), st.integers(0, 80))
def test_split_uses_every_cell(weights: list[int], width: int) -> None:
    cells = split(weights, width)

    assert sum(cells) == (width if sum(weights) else 0)
    for weight, count in zip(weights, cells, strict=True):
        exact = weight * width / sum(weights) if sum(weights) else 0
        assert abs(count - exact) < 1


def test_a_bar_fills_its_cells_exactly() -> None:
    shares = (-0.1, 0.0, 0.004, 0.5, 0.999, 1.0, 1.7)
    for case in product(shares, (0, 1, 12), (UNICODE, ASCII), (0, 1)):
        share, width, glyphs, series = case
        assert cell_len(bar(share, width, glyphs, series=series)) == width, case


def test_a_folded_line_keeps_its_indentation() -> None:
    assert fold("    return self.value", 14) == ["    return", "    self.value"]


def test_a_small_share_is_visible() -> None:
    for series in [0, 1]:
        assert bar(0.001, 10, UNICODE, series=series).strip(), series
        assert not bar(0.0, 10, UNICODE, series=series).strip(), series


def test_a_bar_grows_in_eighths() -> None:
    assert [bar(step / 8, 1, UNICODE) for step in range(9)] == [" ", *"▏▎▍▌▋▊▉█"]


@given(
    glyphs=GLYPHS,
    blocks=st.lists(st.integers(0, 500), max_size=12),
    headers=st.integers(0, 99),
    free=st.integers(0, 3_000),
)
def test_a_gauge_keeps_its_width(glyphs: Glyphs, blocks: list[int], headers: int, free: int) -> None:
    used = sum(blocks) + headers

    assert cell_len(gauge(blocks, used, used + free or 1, 30, glyphs)) == 30


def test_a_gauge_draws_blocks_then_headers_then_free_space() -> None:
    assert gauge([4, 2], 8, 10, 12, ASCII) == "[####==||  ]"


@given(st.text(max_size=300), st.integers(1, 40))
def test_folded_lines_fit_and_lose_no_word(text: str, width: int) -> None:
    lines = fold(text, width)

    assert all(cell_len(line) <= max(width, 2) for line in lines)
    printable = "".join(mark for mark in text if mark.isprintable() and not mark.isspace())
    assert "".join("".join(lines).split()) == "".join(printable.split())


@given(st.text(max_size=50), st.integers(0, 30))
def test_fitted_text_has_exactly_its_width(text: str, width: int) -> None:
    clean = "".join(mark for mark in text if mark.isprintable())

    assert cell_len(fit(clean, width, UNICODE)) == width


def test_another_encoding_gets_ascii() -> None:
    for environment, glyphs in [
        ({}, UNICODE),
        ({"LANG": "en_GB.UTF-8"}, UNICODE),
        ({"LANG": "C.utf8"}, UNICODE),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, ASCII),
        ({"LANG": "de_DE.ISO-8859-1"}, ASCII),
    ]:
        assert glyphs_for(environment) is glyphs, environment


def test_the_ascii_glyphs_are_ascii() -> None:
    for glyphs in [ASCII]:
        assert all(mark.isascii() for mark in glyphs), glyphs


def test_carets_are_below_the_span_of_a_short_text() -> None:
    text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    error = RqlError("unknown_field", "There is no field doc.tgas.", text=text, start=27, end=35, hint="doc.tags")

    (line,) = trouble_lines(error, text, 100, 3)

    assert line.index("^") == text.index("doc.tgas")
    assert line.count("^") == len("doc.tgas")
    assert line.endswith("There is no field doc.tgas. (doc.tags)")


def test_a_long_message_moves_below_or_replaces_the_carets() -> None:
    text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    error = RqlError("unknown_field", "There is no field doc.tgas.", text=text, start=27, end=35)

    assert trouble_lines(error, text, 50, 2) == [" " * 27 + "^" * 8, "There is no field doc.tgas."]
    assert trouble_lines(error, text, 50, 1) == ["1:28 There is no field doc.tgas."]


def test_a_text_of_several_lines_gets_a_numeric_place() -> None:
    text = "SELECT *\nFROM chunks"
    error = RqlError("unknown_table", "There is no table chunks.", text=text, start=14, end=20)

    assert trouble_lines(error, text, 100, 3) == ["2:6 There is no table chunks."]


def test_an_error_without_a_place_is_unchanged() -> None:
    assert trouble_lines(StoreLocked("store_locked", "Locked.", hint="wait"), "x", 80, 3) == ["Locked. (wait)"]


NAMES = st.text(st.characters(exclude_characters="/"), min_size=1, max_size=12).filter(str.isprintable)


@given(GLYPHS, st.lists(NAMES, min_size=1, max_size=6).map("/".join), st.integers(1, 99), st.integers(0, 60))
def test_a_place_fills_its_width_and_shows_its_name(glyphs: Glyphs, path: str, line: int, width: int) -> None:
    lines, name = f":{line}-{line + 1}", path.rpartition("/")[2]

    drawn = fit_place(path, lines, width, glyphs, more=" > a heading")

    assert cell_len(drawn) == width
    if cell_len(path + lines) <= width:
        assert drawn.startswith(path + lines)
    elif cell_len(glyphs.cut_front + name + lines) <= width:
        assert drawn.startswith(glyphs.cut_front)
        assert drawn.rstrip().endswith((name + lines).rstrip())


def test_a_narrow_place_loses_its_heading_then_its_folders() -> None:
    for width, drawn in [
        (40, "src/embed/registry.py:1-20 › Providers  "),
        (32, "src/embed/registry.py:1-20 › Pr…"),
        (26, "src/embed/registry.py:1-20"),
        (25, "…/embed/registry.py:1-20 "),
        (20, "…/registry.py:1-20  "),
        (17, "…registry.py:1-20"),
        (12, "…try.py:1-20"),
        (4, ":1-…"),
    ]:
        assert fit_place("src/embed/registry.py", ":1-20", width, UNICODE, more=" › Providers") == drawn, width


def test_a_cut_path_does_not_look_like_the_home_folder() -> None:
    path = "corpora/data/cranfield/corpus.jsonl"

    assert fit_place(path, ":1-20", 34, ASCII) == "</data/cranfield/corpus.jsonl:1-20"
    assert fit_place(path, ":1-20", 34, UNICODE) == "…/data/cranfield/corpus.jsonl:1-20"
    assert fit_place(path, "", 40, ASCII, more=" > a heading") == f"{path} > a~"


def test_a_wide_character_is_dropped_whole() -> None:
    assert fit_place("日記帳.md", ":1-2", 10, UNICODE) == "…帳.md:1-2"
    assert fit_place("日記帳.md", ":1-2", 9, UNICODE) == "….md:1-2 "


def test_a_message_replaces_the_carets_if_both_do_not_fit() -> None:
    text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    message = "There is no field of this name, neither of documents nor of chunks."
    error = RqlError("unknown_field", message, text=text, start=27, end=35)

    assert trouble_lines(error, text, 50, 2) == [
        "1:28 There is no field of this name, neither of",
        "documents nor of chunks.",
    ]
    assert trouble_lines(error, text, 50, 3) == [
        " " * 27 + "^" * 8,
        "There is no field of this name, neither of",
        "documents nor of chunks.",
    ]


def test_a_long_message_ends_in_a_mark() -> None:
    error = StoreLocked("store_locked", "Another process is writing to the store, and has been for a while.")

    for glyphs in (UNICODE, ASCII):
        assert trouble_lines(error, "x", 20, 2, glyphs) == ["Another process is", f"writing to the{glyphs.cut}"]


def test_words_that_occur_nowhere_share_a_warning() -> None:
    unknown = [f"W_UNKNOWN_TERM: {word} occurs nowhere in this store" for word in ("zzqq", "xxqq", "yyqq")]
    other = "W_FTS_SANITIZED: syntax"

    assert warning_lines(unknown, 100, 1) == ["W_UNKNOWN_TERM: zzqq, xxqq and yyqq occur nowhere in this store"]
    assert warning_lines([other, *unknown[:2]], 100, 2) == [
        other,
        "W_UNKNOWN_TERM: zzqq and xxqq occur nowhere in this store",
    ]
    assert warning_lines(unknown[:1], 100, 1) == unknown[:1]
    assert warning_lines(unknown * 40, 40, 2)[-1].endswith("…")


def test_counts_in_a_sentence_have_thousands_separators() -> None:
    for sentence, drawn in [
        ("rank 1200 of 39010 with 0.123456", "rank 1,200 of 39,010 with 0.123456"),
        ("cosine 1e-0600, 12345.5 and 1234", "cosine 1e-0600, 12345.5 and 1,234"),
        ("it has 999 tokens", "it has 999 tokens"),
        ("v2024 and 2,024 stay", "v2024 and 2,024 stay"),
    ]:
        assert with_figures(sentence) == drawn, sentence


def test_several_warnings_have_a_line_each() -> None:
    long = "W_UNKNOWN_FIELD: no chunk has the field meta.colour, so the filter keeps none."

    assert warning_lines((long,), 40, 2) == [
        "W_UNKNOWN_FIELD: no chunk has the field",
        "meta.colour, so the filter keeps none.",
    ]
    assert warning_lines((long,), 100, 2) == [long]
    assert warning_lines((long, "Another."), 40, 2) == ["W_UNKNOWN_FIELD: no chunk has the field…", "Another."]
    assert warning_lines((long, "Another.", "A third."), 40, 2) == [
        "W_UNKNOWN_FIELD: no chunk has the field…",
        "Another. and 1 more",
    ]
    assert warning_lines((long, long, "3", "4"), 40, 2)[1] == "W_UNKNOWN_FIELD: no chunk ha… and 2 more"
    assert warning_lines((), 40, 2) == []
