"""The chart matches the ranking at every weight."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rich.style import Style

from recall_core.config import Config
from recall_core.explain.explanation import ground_of
from recall_core.rank.copies import Copies, texts_among
from recall_core.rank.fuse import rank
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import plan_words
from recall_core.types import Key, Pool
from recall_tui.panes.plot import LABEL_CELLS, NamedLine, axis, cell_of, legend, rank_lines, stability
from recall_tui.state.records import Chart
from recall_tui.state.tuning import DEPTH, changes, chart_of, stability_at, top_at, tops_over
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs

VALUES = some.lists(
    some.tuples(some.none() | some.integers(0, 8), some.none() | some.integers(-2, 8)), min_size=1, max_size=14
)


def pool_of(values: list[tuple[int | None, int | None]]) -> Pool:
    keys = tuple(Key(at, at, f"{at:03}.txt", 0, 1) for at in range(len(values)))
    lexical = tuple(None if value is None else value / 8 for value, _ in values)
    semantic = tuple(None if value is None else value / 8 for _, value in values)
    return Pool(keys, lexical, semantic, 1.0, (), exact=True, index_kind="scan")


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@given(values=VALUES, hundredths=some.integers(0, 100))
def test_the_chart_orders_match_the_ranking(
    fusion: str, values: list[tuple[int | None, int | None]], hundredths: int
) -> None:
    pool, weight = pool_of(values), Fraction(hundredths, 100)
    config = Config(fusion=fusion, bm25_weight=round(1 - hundredths / 100, 2), vector_weight=hundredths / 100)

    chart = chart_of(pool, config)

    if weight not in chart.weights:  # on a break point, floats may break a tie of the fractions
        assert list(top_at(chart, weight)) == rank(pool, config).order[:DEPTH]


@given(values=VALUES, hundredths=some.integers(0, 100))
def test_the_gauge_spans_weights_of_stable_order_and_set(
    values: list[tuple[int | None, int | None]], hundredths: int
) -> None:
    weight = Fraction(hundredths, 100)
    chart = chart_of(pool_of(values), Config())

    gauge = stability_at(chart, weight)

    assert gauge.order.holds(weight)
    assert gauge.members.low <= gauge.order.low <= gauge.order.high <= gauge.members.high
    middle = (gauge.order.low + gauge.order.high) / 2
    assert top_at(chart, middle) == top_at(chart, weight)
    assert gauge.fragile == (gauge.order_distance is not None and gauge.order_distance < 0.02)


@given(values=VALUES, columns=some.integers(1, 40))
def test_the_drawing_uses_the_middle_of_each_column(
    values: list[tuple[int | None, int | None]], columns: int
) -> None:
    chart = chart_of(pool_of(values), Config())

    middles = [Fraction(2 * column + 1, 2 * columns) for column in range(columns)]

    assert tops_over(chart, columns) == [top_at(chart, middle) for middle in middles]


def crossing() -> Pool:
    """Return two candidates that swap at 1/2."""
    return pool_of([(8, 0), (0, 8)])


def sentences(chart: Chart, weight: Fraction, glyphs: Glyphs = UNICODE) -> tuple[str, str]:
    held = stability_at(chart, weight)
    return stability(len(chart.orders[0]), held.order, held.members, glyphs, fragile=held.fragile)


def test_stability_names_the_rows_and_the_axis() -> None:
    chart, flat = chart_of(crossing(), Config()), chart_of(pool_of([(8, 8), (4, 4)]), Config())
    same = "the same 2 rows at any weight"

    assert changes(chart) == (Fraction(1, 2),)
    for drawn, weight, expected in (
        (
            chart,
            Fraction(49, 100),
            ("✗ unstable: first 2 rows keep their order for lexical weight 0.50 to 1.00", same),
        ),
        (chart, Fraction(20, 100), ("✓ first 2 rows keep their order for lexical weight 0.50 to 1.00", same)),
        (chart, Fraction(60, 100), ("✓ first 2 rows keep their order for lexical weight 0.00 to 0.49", same)),
        (flat, Fraction(1, 3), ("✓ first 2 rows keep their order at any weight", same)),
    ):
        assert sentences(drawn, weight) == expected, weight
        assert sentences(drawn, weight, ASCII)[0].isascii()


@given(
    values=VALUES,
    numbers=some.lists(some.integers(0, 3), min_size=14, max_size=14),
    hundredths=some.integers(0, 100),
    limit=some.integers(1, 12),
)
def test_explain_and_the_chart_agree_on_stability(
    values: list[tuple[int | None, int | None]], numbers: list[int], hundredths: int, limit: int
) -> None:
    config = Config(bm25_weight=round(1 - hundredths / 100, 2), vector_weight=hundredths / 100)
    pool, weight = pool_of(values), Fraction(hundredths, 100)
    plan = plan_words("words", config=config, mode="hybrid", filter_text=None, k=limit, exact=False)
    ranking = rank(pool, config)
    copies = Copies(ranking, texts_among(dict(enumerate(numbers[: len(values)]))), least=0.0)
    answer = Answer(
        plan, pool, copies.standing(), copies.kept, "", 0, "", 0.0, {}, (), "", {}, fused=ranking, copies=copies
    )

    view = ground_of(answer).stability
    chart = chart_of(pool, config, limit=limit, texts=copies.text_numbers)

    assert view is not None
    order, members = (
        (each["low"], each["high"], each["low_open"], each["high_open"]) for each in (view["order"], view["members"])
    )
    assert stability(view["k"], order, members, UNICODE, fragile=view["fragile"]) == sentences(chart, weight)


def test_few_rows_go_to_the_first_ranks() -> None:
    chart = chart_of(pool_of([(9, 1), (8, 2), (7, 3), (6, 4)]), Config())

    drawn = [line.plain for line in rank_lines(chart, Fraction(0), (), (12, 3), UNICODE)]

    assert [line[:2] for line in drawn] == ["1 ", "2 ", "3 "]


def test_a_line_continues_when_rows_are_fewer_than_ranks() -> None:
    chart = chart_of(crossing(), Config())

    (drawn,) = rank_lines(chart, Fraction(1, 5), (), (12, 1), ASCII)

    assert drawn.plain.startswith("1 ")
    assert " " not in drawn.plain[2:]


def test_crossing_lines_swap_rows_at_their_break_point() -> None:
    chart = chart_of(crossing(), Config())

    drawn = [line.plain for line in rank_lines(chart, Fraction(1, 5), (), (12, 2), ASCII)]

    assert [line[:2] for line in drawn] == ["1 ", "2 "]
    assert [line[4] for line in drawn] == ["|", "|"]  # the exact weight
    assert {line[7] for line in drawn} <= {"|", "+"}
    assert all(line[at] == "-" for line in drawn for at in (2, 3, 5, 9, 11))


def test_a_named_line_has_its_own_rank_stroke_and_colour() -> None:
    chart, named = chart_of(crossing(), Config()), (NamedLine(0, 1, "a.md"),)

    first, second = rank_lines(chart, Fraction(1, 5), named, (12, 2), ASCII)

    assert (first.plain[4], second.plain[4]) == ("1", "|")
    assert first.plain[2:7] == "==1=="
    assert second.plain[8:] == "===="  # it continues at the second rank
    assert "=" not in first.plain[8:]
    colours = {span.style.color for span in first.spans if isinstance(span.style, Style) and span.style.color}
    assert len(colours) == 1
    thick, thin = (rank_lines(chart, Fraction(1, 5), each, (12, 2), UNICODE)[0].plain for each in (named, ()))
    assert thick[2] != thin[2]


@given(values=VALUES, hundredths=some.integers(0, 100), best=some.none() | some.integers(0, 100))
def test_the_axis_has_ticks_ends_and_marks(
    values: list[tuple[int | None, int | None]], hundredths: int, best: int | None
) -> None:
    chart, weight, cells = chart_of(pool_of(values), Config()), Fraction(hundredths, 100), 50
    at_best = None if best is None else best / 100

    row, keys = axis(chart, weight, at_best, cells + LABEL_CELLS, UNICODE)

    here = cell_of(weight, cells)
    marked = {here} if at_best is None else {here, cell_of(at_best, cells)}
    ticks = {cell for cell in range(cells) if row.plain[LABEL_CELLS + cell] == UNICODE.tick}
    assert ticks == {cell_of(each, cells) for each in changes(chart)} - marked
    assert row.plain[LABEL_CELLS + here] == UNICODE.here
    assert keys.plain.split()[0] == "lexical"
    assert keys.plain.endswith("semantic")
    assert keys.cell_len == row.cell_len == cells + LABEL_CELLS
    assert f"▲ now {hundredths / 100:.2f}" in keys.plain
    assert at_best is None or f"● best {at_best:.2f}" in keys.plain


def test_a_short_axis_shows_only_figures() -> None:
    chart = chart_of(crossing(), Config())

    _, keys = axis(chart, Fraction(3, 10), 0.52, 38, ASCII)

    assert keys.plain.split() == ["lexical", "^", "0.30", "O", "0.52", "semantic"]
    assert keys.cell_len == 38


def test_names_share_a_line_if_they_fit() -> None:
    named = tuple(NamedLine(at, at + 1, f"{at}.md") for at in range(3))

    assert [line.plain for line in legend(named, 46, UNICODE)] == [f"1 0.md{' ' * 17}2 1.md", "3 2.md"]
    assert [line.plain for line in legend(named, 46, UNICODE, columns=1)] == ["1 0.md", "2 1.md", "3 2.md"]
