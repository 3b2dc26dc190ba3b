"""Plain lines and JSON: the same facts, safe for pipes and terminals."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, TextIO, cast, get_args

import pytest

from recall_core.adapters import commands, filling, reading, render, searching
from recall_core.contract.responses import AnyResponse
from recall_core.contract.views import ResultView
from recall_core.rank.sparse import Reason


def hit(**changes: Any) -> ResultView:
    view = {
        "score": 0.8434,
        "doc": {"id": "a" * 64, "path": "docs/a.md"},
        "chunk": {
            "id": "b" * 64,
            "line_start": 10,
            "line_end": 24,
            "heading": "Deploy",
            "text": "Roll\n  out slowly.",
        },
    }
    return cast(ResultView, {**view, **changes})


def answer(*results: ResultView, **changes: Any) -> AnyResponse:
    base = {
        "ok": True,
        "schema_version": "1",
        "query": {},
        "results": list(results),
        "stats": {"took_ms": 3.2, "total_hits": 7},
    }
    return cast(AnyResponse, {**base, **changes})


def talk(command: str, response: AnyResponse, *, is_verbose: bool = False) -> Iterator[str]:
    return commands.talk(commands.BY_NAME[command], response, is_verbose=is_verbose)


def draw(command: str, response: AnyResponse, stdout: TextIO) -> bool:
    return commands.draw(commands.BY_NAME[command], response, stdout, None)


def test_hit_line_has_score_path_heading_and_text() -> None:
    assert searching.hit_line(hit()) == "0.843  docs/a.md:10-24  Deploy  Roll out slowly."


def test_hit_shows_only_selected_fields() -> None:
    assert searching.hit_line({"doc": {"path": "a.md"}}) == "a.md"
    assert searching.hit_line({"chunk": {"text": "only text"}}) == "only text"
    assert searching.hit_line({"score": 0.5, "chunk": {"id": "c" * 64}}) == "0.500  chunk.id=cccccccccccc"


def test_stale_hit_is_marked() -> None:
    assert "docs/a.md:10-24 (modified)" in searching.hit_line(hit(doc={"path": "docs/a.md", "state": "modified"}))


def test_hit_sends_no_control_characters_to_a_terminal() -> None:
    line = searching.hit_line(hit(chunk={"text": "red \x1b[31malert\x07\tnow\r\n"}))

    assert line.isprintable()
    assert "red [31malert now" in line


def test_long_text_is_cut_to_one_short_line() -> None:
    line = searching.snippet(hit(chunk={"text": "word " * 1000}))

    assert len(line) == render.SNIPPET
    assert line.endswith("…")


def test_explained_hit_shows_one_line_per_part() -> None:
    parts = [
        {"signal": "lexical", "raw": 4.2, "value": 0.8, "weight": 0.9, "rank": 1, "points": 0.72},
        {"signal": "semantic", "raw": None, "value": 0.0, "weight": 0.1, "rank": None, "points": 0.0},
    ]
    shown = list(searching.hit_lines(answer(hit(explain={"parts": parts}))))

    assert shown[1] == "  +0.720  lexical   value 0.800  weight 0.9  raw 4.200  rank #1\n"
    assert shown[2] == "  +0.000  semantic  value 0.000  weight 0.1  raw -  rank -\n"


RECALL = {"recall_injected": True, "reason": "sparse_doc_recall", "distance": 0.11, "displaced": "d" * 64}


def test_recalled_hit_is_marked_in_lines_and_tables() -> None:
    recalled = hit(recall_injected=True, recall=RECALL)
    chosen: ResultView = {"doc": {"path": "a.md"}, "recall": recalled["recall"]}
    out = io.StringIO()

    draw("search", answer(recalled), out)
    draw("search", answer(chosen, {"doc": {"path": "b.md"}}), out)

    assert searching.hit_line(recalled).endswith("Roll out slowly.  [recalled: distance 0.11]")
    assert searching.hit_line(chosen) == "a.md  [recalled: distance 0.11]"
    assert out.getvalue().count("[recalled: distance 0.11]") == 2


def test_explained_recall_names_the_displaced_chunk() -> None:
    displacing = hit(recall=RECALL, explain={"parts": []})
    free = hit(recall={"distance": 0.5}, explain={"parts": []})

    assert list(searching.ledger_lines(displacing)) == [
        "  recalled: short document at distance 0.11, replaces dddddddddddd"
    ]
    assert list(searching.ledger_lines(free)) == ["  recalled: short document at distance 0.5, in a free row"]


SPARSE = {
    "injections": 0, "reason": "too_far", "looked_at": 30, "near": 9, "short": 5,
    "within_ceiling": 0, "present": 0, "blocked": 0, "threshold": 2, "ceiling": 0.2,
}  # fmt: skip


def test_verbose_explains_missing_sparse_recall() -> None:
    for counts, reason in [
        ({"reason": "no_vector"}, "no_vector (no candidate has a vector)"),
        ({"reason": "whole_list"}, "whole_list (every candidate is in the list)"),
        ({"reason": "not_short"}, "not_short (0 of 9 near documents have at most 2 chunks)"),
        ({"reason": "too_far"}, "too_far (0 of 5 short documents are within 0.2)"),
        (
            {"reason": "already_present", "within_ceiling": 2},
            "already_present (2 of 2 documents within 0.2 are already in the list)",
        ),
        ({"reason": "no_row"}, "no_row (the list is empty)"),
        ({"reason": "max_injections"}, "max_injections (sparse_max_injections = 0)"),
    ]:
        response = answer(hit(), sparse={**SPARSE, **counts, "present": counts.get("within_ceiling", 0)})

        assert list(talk("search", response)) == ["1 of 7 hits in 3 ms"], counts
        assert list(talk("search", response, is_verbose=True)) == [
            "1 of 7 hits in 3 ms",
            f"sparse     nothing recalled: {reason}",
        ], counts
        assert len(list(searching.hit_lines(response))) == 1, counts


def test_successful_recall_and_reports_print_no_reason() -> None:
    given = answer(hit(recall=RECALL), sparse={**SPARSE, "injections": 1, "reason": "injected"})
    context = {"used_tokens": 0, "budget_tokens": 9, "counter": "approx", "blocks": [], "candidates": 1}
    report = answer(hit(), sparse=SPARSE, report={}, context=context)

    assert list(talk("search", given, is_verbose=True)) == ["1 of 7 hits in 3 ms"]
    assert list(talk("report", report, is_verbose=True)) == [
        "1 of 7 hits in 3 ms",
        "0 of 9 tokens (approx), 0 blocks from 1 candidate",
    ]


def test_every_reason_for_no_recall_has_words() -> None:
    assert {"injected", *render.NOTHING_RECALLED} == set(get_args(Reason))


def test_figures_and_warnings_go_to_stderr() -> None:
    response = answer(hit(), warnings=["W_STALE: docs/a.md has changed"], next_offset=1, query={"rql": "SELECT"})

    assert list(talk("search", response)) == [
        "1 of 7 hits in 3 ms, next page: OFFSET 1",
        "warning: W_STALE: docs/a.md has changed",
    ]
    assert len(list(searching.hit_lines(response))) == 1


def test_summary_reports_word_hits() -> None:
    figures = {"took_ms": 3.2, "total_hits": 1420, "word_hits": 31}
    response = answer(hit(), stats=figures)

    (line,) = talk("search", response)

    assert line == "1 of 1,420 hits in 3 ms · 31 with a query word"


def test_no_hits_prints_a_note_and_no_rows() -> None:
    response = answer(stats={"took_ms": 1.0, "total_hits": 0})

    assert list(searching.hit_lines(response)) == []
    assert next(talk("search", response)).startswith("no hits")


def test_skipped_files_go_to_stderr_with_their_reason() -> None:
    ingest = {
        "added": 1, "updated": 0, "unchanged": 2, "removed": 0, "files": 4, "documents": 3, "chunks": 1,
        "embedded": 1, "reused": 0, "skipped": [{"path": "x.bin", "code": "binary", "reason": "a NUL byte"}],
    }  # fmt: skip
    response = cast(AnyResponse, {"ok": True, "schema_version": "1", "ingest": ingest})

    assert filling.ingest_line(response["ingest"]) == (
        "files: 1 added, 0 updated, 2 unchanged, 0 removed, 1 skipped; 3 documents, 1 chunk"
    )
    assert list(talk("add", response)) == ["skipped x.bin: a NUL byte (binary)"]


def test_context_is_printed_unchanged() -> None:
    view = {"text": "[1] a.md:1-2\n\x0bé\r\nend", "blocks": [], "candidates": 0}
    response = cast(AnyResponse, {"ok": True, "context": view})

    assert "".join(searching.packed_text(response)) == view["text"] + "\n"


def test_get_text_is_printed_without_an_added_newline() -> None:
    response = cast(AnyResponse, {"ok": True, "found": {"kind": "lines", "text": "a\r\nb"}})

    assert "".join(reading.text(response)) == "a\r\nb"


def test_json_is_one_compact_utf8_line_in_built_order() -> None:
    line = render.json_line({"z": "é\u2028\n", "a": [1, 2.5]})

    assert line == '{"z":"é\u2028\\n","a":[1,2.5]}\n'


def test_json_refuses_nan() -> None:
    with pytest.raises(ValueError, match="JSON"):
        render.json_line({"score": float("nan")})


def test_table_shows_hits_without_reading_markup() -> None:
    out = io.StringIO()

    drawn = draw("search", answer(hit(chunk={"text": "[bold]not markup[/bold] [/]"})), out)

    assert drawn
    assert "0.843" in out.getvalue()
    assert "docs/a.md" in out.getvalue()
    assert "[bold]not markup[/bold] [/]" in out.getvalue().replace("\n", " ")


def test_table_has_no_colour_without_a_terminal() -> None:
    out = io.StringIO()

    draw("search", answer(hit()), out)

    assert "\x1b" not in out.getvalue()


def test_answer_without_a_table_falls_back_to_plain_lines() -> None:
    assert not draw("get", cast(AnyResponse, {"ok": True, "found": {"text": "x"}}), io.StringIO())


def test_selected_fields_are_shown_by_name() -> None:
    result: ResultView = {
        "score": 0.5,
        "doc": {"path": "a.md", "tags": ["x", "y"], "meta": {"year": 1958}},
        "chunk": {"tokens": 12, "text": "some\nwords"},
    }

    assert searching.hit_line(result) == "0.500  a.md  doc.tags=x, y  doc.meta.year=1958  chunk.tokens=12  some words"
