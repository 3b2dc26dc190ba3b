"""A row of the results: its widths, the line of its score, and the visible stretch of the passage."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from recall_core.contract.ledger import PassageView
from recall_core.types import Chunk, Document, Hit, Part
from recall_tui.panes.results import (
    MATCHED,
    Best,
    Frame,
    ResultLine,
    document_line,
    heads,
    passage_line,
    row_lines,
    score_line,
    shared_folder,
    ungrouped_line,
)
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs

BOTH = [UNICODE, ASCII]


def part(signal: str, points: float) -> Part:
    return Part(signal, 1.0, 1.0, 1.0, 1, points)  # type: ignore[arg-type]


def hit(*parts: Part, path: str = "docs/a.md", title: str = "a.md", place: str | None = None) -> Hit:
    text = "The budget is a limit.\nHeaders count."
    doc = Document("d", path, "h", "2020-01-01T00:00:00.000000Z", 1, title, None, (), {})
    chunk = Chunk("c", "d", 0, len(text), 3, 4, 12, "Budget", text, place=place)
    return Hit(1, sum(each.points for each in parts), doc, chunk, parts)


def passage(text: str, *matches: str) -> PassageView:
    spans: list[list[int | str]] = []
    for word in matches:
        at = text.find(word)
        spans.append([100 + at, 100 + at + len(word), word])
    return PassageView(
        text=text, offset=100, end=100 + len(text), line_start=3, line_end=3, matches=spans, title_matches=[]
    )


def emphasised(line: Text) -> list[str]:
    return [line.plain[span.start : span.end] for span in line.spans if span.style == MATCHED]


@given(
    glyphs=st.sampled_from(BOTH),
    width=st.integers(20, 200),
    lines=st.sampled_from([1, 2]),
    columns=st.tuples(st.booleans(), st.booleans()),
    path=st.text("ab/é東.", min_size=1, max_size=80),
)
def test_every_line_of_a_row_fills_the_width(
    glyphs: Glyphs, width: int, lines: int, columns: tuple[bool, bool], path: str
) -> None:
    frame = Frame(max(width, 50), 3, "", lines, columns[0], glyphs, has_grades=columns[1])
    row = ResultLine(1, hit(part("lexical", 0.5), path=path), passage("a budget of tokens", "budget"), grade="3")

    drawn = row_lines(row, frame)

    assert [line.cell_len for line in drawn] == [frame.width] * lines
    assert heads(frame).cell_len == frame.width
    assert heads(frame._replace(caution="by meaning alone " * 20)).cell_len == frame.width


def test_a_caution_replaces_the_folder_above_the_rows() -> None:
    frame = Frame(60, 3, "docs/", 2, False, UNICODE, caution="No row has a query term")

    assert "No row has a query term" in heads(frame).plain
    assert "docs/" not in heads(frame).plain
    assert heads(frame).plain.rstrip().endswith("tokens")


def test_grades_have_a_named_column_once_there_are_any() -> None:
    row = ResultLine(1, hit(part("lexical", 0.5)), passage("a budget of tokens", "budget"), grade="3")
    for lines in (1, 2):
        frame = Frame(80, 3, "", lines, False, UNICODE, has_grades=True)
        column = heads(frame).plain.index("grade") + len("grade") - 1

        assert row_lines(row, frame)[0].plain[column] == "3"
        assert "grade" not in heads(frame._replace(has_grades=False)).plain


def test_a_score_is_a_line_split_by_its_points() -> None:
    for glyphs in BOTH:
        lexical, semantic, _ = glyphs.strokes

        drawn = score_line(hit(part("lexical", 0.5), part("semantic", 0.25)), 8, glyphs).plain

        assert drawn == lexical * 4 + semantic * 2 + "  ", glyphs


def test_a_score_of_zero_has_no_line() -> None:
    assert score_line(hit(part("lexical", 0.0)), 8, UNICODE).plain == " " * 8
    assert score_line(hit(part("lexical", 0.001)), 8, UNICODE).plain.strip() == UNICODE.strokes[0]


def test_a_long_passage_shows_its_best_stretch() -> None:
    text = f"A budget first. {'Words that say nothing of it. ' * 6}Then tokens of the limit stand here."

    drawn = passage_line(passage(text, "budget", "tokens", "limit"), 50, UNICODE)

    assert emphasised(drawn) == ["tokens", "limit"]
    assert drawn.plain.startswith("…")
    assert cell_len(drawn.plain) == 50


def test_the_excerpt_starts_in_the_cited_line() -> None:
    cited = "The budget of a context is counted in tokens."
    text = f"{cited}\nA block has a header.\nThe limit holds for headers and separators of the budget, too."
    shown = passage(text, "tokens", "header", "limit", "headers", "separators")

    for width in range(8, 200):
        for glyphs in BOTH:
            excerpt = passage_line(shown, width, glyphs).plain.rstrip().removesuffix(glyphs.cut)
            whole = excerpt.removeprefix(glyphs.cut)
            at = text.replace("\n", " ").find(whole)
            assert 0 <= at < len(cited), (width, excerpt)
            assert width < len(cited) or excerpt.startswith(cited[: width - len(glyphs.cut)]), (width, excerpt)


def test_a_passage_of_several_lines_becomes_one() -> None:
    drawn = passage_line(passage("def pack(\n        budget\n)", "budget"), 40, UNICODE)

    assert drawn.plain.rstrip() == "def pack( budget )"
    assert emphasised(drawn) == ["budget"]


def test_the_shared_folder_is_complete() -> None:
    for paths, folder in [
        (["docs/a.md", "docs/notes/b.md"], "docs/"),
        (["docs/a.md", "docx/b.md"], ""),
        (["docs/a.md", "docs/a.md"], "docs/"),
        (["docs/a.md"], ""),
        (["a.md", "b.md"], ""),
    ]:
        assert shared_folder(paths) == folder, paths


def test_a_record_shows_its_title_then_its_number() -> None:
    frame = Frame(80, 2, "", 2, False, UNICODE)
    row = ResultLine(1, hit(part("lexical", 0.5), path="n.jsonl#184", title="A talk", place="line 207"))

    assert "A talk #184 › Budget" in row_lines(row, frame)[0].plain


@given(
    glyphs=st.sampled_from(BOTH),
    place=st.sampled_from([None, "line 207"]),
    width=st.integers(50, 200),
    lines=st.sampled_from([1, 2]),
    title=st.text("ab é東.", max_size=80),
)
def test_a_document_and_its_rows_fill_the_width(
    glyphs: Glyphs, place: str | None, width: int, lines: int, title: str
) -> None:
    frame = Frame(width, 3, "", lines, True, glyphs)
    of_hit = hit(part("lexical", 0.5), path=f"docs/{title}#1", title=title, place=place)
    row = ResultLine(1, of_hit, passage("a budget of tokens", "budget"), "modified", shown="chunk")

    above = (document_line(row, Best(3, 0.5, 12_000), frame), ungrouped_line(2_001, 100_000, frame))

    assert {line.cell_len for line in (*above, *row_lines(row, frame))} == {width}


def test_a_document_is_named_once_above_its_rows() -> None:
    for of_hit, document, row in [
        (hit(part("lexical", 0.5)), "a.md", ":3 › Budget "),
        (
            hit(part("lexical", 0.5), path="n.jsonl#184", title="A talk", place="line 207"),
            "A talk #184",
            " › Budget ",
        ),
    ]:
        frame = Frame(80, 2, "docs/", 2, False, UNICODE)
        line = ResultLine(4, of_hit, state="modified", shown="chunk")

        above = document_line(line, Best(2, 0.75, 3), frame).plain
        below = row_lines(line, frame)[0].plain

        assert re.fullmatch(rf"(\(modified\) )?{re.escape(document)} +3 chunks · best 2 · 0\.750 ", above), of_hit
        assert row in below, of_hit
        assert not any(name in below for name in ("a.md", "talk", "184", "modified")), of_hit


def test_a_document_without_fetched_rows_waits() -> None:
    assert (
        document_line(ResultLine(4, None), Best(2, None, 3), Frame(80, 2, "", 1, False, UNICODE)).plain.strip() == "…"
    )


def test_the_first_of_equal_stretches_is_shown() -> None:
    text = f"Here {'words that say nothing of it ' * 4}budget once, {'and then more of them ' * 5}tokens at last."

    drawn = passage_line(passage(text, "budget", "tokens"), 40, UNICODE)

    assert emphasised(drawn) == ["budget"]
