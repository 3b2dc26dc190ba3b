"""The notes of the funnel tab on candidates."""

from recall_core.contract.explaining import FunnelStageView, TraceView
from recall_tui.panes.whynot import funnel_lines
from recall_tui.widgets.draw import ASCII, UNICODE

EVERY = "Every row that passes the filter is a candidate"
BOTH = "Candidates are the rows that either finds"


def said(*stages: tuple[str, int, int]) -> str:
    views = [FunnelStageView(stage=stage, rows_in=before, rows_out=left) for stage, before, left in stages]
    view = TraceView(table="chunk", stages=views, timings={})
    return " ".join(line.plain for line in funnel_lines(view, "", 100, UNICODE))


def test_a_pool_of_every_row_shows_no_union() -> None:
    for stages in [
        (("lexical", 9, 3), ("semantic", 9, 7)),
        (("semantic", 9, 7),),
    ]:
        text = said(("live", 12, 9), *stages, ("union", 9, 9), ("kept", 9, 9))

        assert EVERY in text, stages
        assert BOTH not in text, stages
        assert "Only" not in text, stages


def test_a_pool_of_both_signals_is_their_union() -> None:
    text = said(("live", 90, 90), ("lexical", 90, 5), ("semantic", 90, 5), ("union", 90, 8), ("kept", 8, 8))

    assert BOTH in text
    assert EVERY not in text


def test_a_single_signal_is_named() -> None:
    text = said(("live", 90, 90), ("lexical", 90, 5), ("union", 90, 5))

    assert "Only lexical finds rows, among those that pass the filter." in text


def test_a_list_without_signals_mentions_no_candidates() -> None:
    text = said(("live", 90, 90), ("top_k", 90, 10))

    assert EVERY not in text
    assert "propose" not in text


STAGES = (("store", 9, 9), ("live", 9, 8), ("filter", 8, 3), ("lexical", 3, 1), ("union", 3, 3), ("packed", 3, 7))


def test_bars_never_grow_or_exceed_the_store() -> None:
    for glyphs in [UNICODE, ASCII]:
        for width in [44, 60, 118]:
            views = [FunnelStageView(stage=stage, rows_in=before, rows_out=left) for stage, before, left in STAGES]
            lines = funnel_lines(TraceView(table="chunk", stages=views, timings={}), "", width, glyphs)

            fills = set(glyphs.eighths + glyphs.series)
            bars = {
                line.plain.strip().split("  ")[0]: sum(mark in fills for mark in line.plain) for line in lines[1:7]
            }
            lengths = [
                bars.pop(name) for name in ("in the store", "not removed", "pass the filter", "are candidates")
            ]
            assert lengths == sorted(lengths, reverse=True), (glyphs, width)
            assert max(line.cell_len for line in lines) <= width, (glyphs, width)
            assert bars["in the context"] == lengths[-1], (
                "7 chunks of 3 rows draw no longer bar than these",
                glyphs,
                width,
            )
            assert width < 60 or 0 < bars["found by lexical"] < lengths[-1], (glyphs, width)


def test_stages_have_plain_names() -> None:
    assert "union" not in said(("live", 90, 90), ("lexical", 90, 5), ("semantic", 90, 5), ("union", 90, 8))
    assert "are candidates" in said(("live", 90, 90), ("lexical", 90, 5), ("semantic", 90, 5), ("union", 90, 8))
