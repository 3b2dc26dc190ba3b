"""Promises of the table parser."""

import csv
from hashlib import sha256
from io import StringIO
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse import parser
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.text import counter
from tests.unit.test_parse_elsewhere import NightlyElsewhere


def parse(text: str, path: str = "in/a.csv") -> ParsedDocument:
    raw = text.encode()
    (document,) = parser("table").parse(raw, path=path, digest=sha256(raw).hexdigest())
    return document


def rows_of(document: ParsedDocument) -> list[str]:
    """Return the text from each row to the next."""
    starts = [mark.offset for mark in document.marks if mark.kind == "row"]
    return [document.text[start:end] for start, end in zip(starts, [*starts[1:], len(document.text)], strict=True)]


class TestTables(NightlyElsewhere):
    name = "table"
    samples: ClassVar = {
        "ships.csv": b'name,berth,note\nAurora,4,"two\nlines, and ""quotes"""\n\nBoreas,5,\xe9\x9a\x8e\n'.replace(
            b"\xe9\x9a\x8e", "題".encode()
        ),
        "ships.tsv": b"name\tberth\r\nAurora\t4\r\n",
        "numbers.csv": b"1;2\n3;4\n",
        "empty.csv": b"",
    }


def test_every_row_is_a_unit_under_the_column_names() -> None:
    document = parse("ship,berth\nAurora,4\nBoreas,5\n")

    assert document.marks == (
        Mark(0, "heading", "ship, berth", 1),
        Mark(11, "row", "", 2),
        Mark(20, "row", "", 2),
    )
    assert document.meta == {"columns": ["ship", "berth"], "rows": 2}
    assert document.title == "a.csv"


def test_quoted_line_breaks_stay_in_their_row() -> None:
    document = parse('題,b\r\n"題\r\n\r\nx",1\r\n"a ""b"",\n",2\r\n')

    assert rows_of(document) == ['"題\r\n\r\nx",1\r\n', '"a ""b"",\n",2\r\n']


def test_quote_within_a_value_is_an_ordinary_character() -> None:
    assert rows_of(parse('a,b\n5" disk,1\n6" disk,2\n')) == ['5" disk,1\n', '6" disk,2\n']


def test_empty_lines_are_not_rows() -> None:
    document = parse("a,b\n\n\r\n1,2\n\n3,4\n\n")

    assert [document.text[mark.offset] for mark in document.marks[1:]] == ["1", "3"]
    assert document.meta["rows"] == 2


def test_rows_end_in_any_line_end() -> None:
    for end in ["\n", "\r\n", "\r"]:
        assert rows_of(parse(end.join(["a,b", "1,2", "3,4"]))) == [f"1,2{end}", "3,4"], end


def test_name_like_first_row_names_the_columns() -> None:
    for text, columns in [
        ("name,year\nx,1\n", ["name", "year"]),
        ('"last, first",year\nx,1\n', ["last, first", "year"]),
        ("name,2019\nx,1\n", None),
        ("name,\nx,1\n", None),
        ("name,name\nx,1\n", None),
        ("-1.5,name\nx,1\n", None),
        ("name,year\n", None),
        ("", None),
    ]:
        document = parse(text)

        assert document.meta.get("columns") == columns, (text, columns)
        assert [mark.kind for mark in document.marks].count("heading") == (columns is not None), (text, columns)


def test_first_lines_decide_the_delimiter() -> None:
    for text, columns in [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ["a", "b"]),
        ("a,b\nx; y,1\nz,2\n", ["a", "b"]),
        ("a|b\n1|2\n", ["a", "b"]),
        ("a\tb\n1, 2\t3\n4, 5\t6\n", ["a", "b"]),
        ("movie,genres\n1,x|y\n2,x|y|z\n", ["movie", "genres"]),
        ("sep=;\na;b,c\n1;2\n", ["a", "b,c"]),
        ("words alone\nmore words\n", ["words alone"]),
    ]:
        assert parse(text).meta["columns"] == columns, (text, columns)


def test_tsv_file_is_split_by_tabs_only() -> None:
    assert parse("a,b\tc\n1,2\t3\n", "a.tsv").meta["columns"] == ["a,b", "c"]


def test_tsv_file_may_have_unclosed_quotes() -> None:
    document = parse('a\tb\n"Hamlet\t1\nOthello\t2\n', "a.tsv")

    assert (rows_of(document), document.notes) == (['"Hamlet\t1\n', "Othello\t2\n"], ())


def test_unclosed_quote_is_reported() -> None:
    document = parse('a,b\n1,2\n3,"4\n5,6\n')

    assert rows_of(document) == ["1,2\n", '3,"4\n5,6\n']
    assert document.notes == ("line 3: a quote opens in this row and is never closed",)


def test_quote_that_swallows_the_rest_is_an_error_with_line() -> None:
    with pytest.raises(IngestError, match=r"in/a\.csv:3: .* never closed") as caught:
        parse('a,b\n1,2\n3,"4\n' + "5,6\n" * 20_000)

    assert (caught.value.code, caught.value.details) == ("bad_row", {"path": "in/a.csv", "line": 3})


def test_long_quoted_value_is_read_and_csv_limit_is_restored() -> None:
    before = csv.field_size_limit()

    document = parse('a,b\n"' + "x\n" * 200_000 + '",1\n2,3\n')

    assert [len(row) for row in rows_of(document)] == [400_005, 4]
    assert csv.field_size_limit() == before


def test_heading_and_column_names_are_short() -> None:
    document = parse(",".join(f"column  number {i}" for i in range(900)) + "\n" + ",".join(["x"] * 900), "a.csv")

    assert document.marks[0].name.startswith("column number 0, column number 1,")
    assert (len(document.marks[0].name) <= 120, document.marks[0].name[-1]) == (True, "…")
    assert len(document.meta["columns"]) == 500


def test_chunks_of_a_table_begin_with_a_row() -> None:
    document = parse("name,note\n" + "".join(f'{i},"words. And. {"more " * 9}\nline"\n' for i in range(60)))
    config = Config(chunk_tokens=50, overlap_tokens=0)

    spans = chunk(document.text, counter=counter("whitespace"), config=config, marks=document.marks)

    rows = {mark.offset for mark in document.marks}
    assert len(spans) > 9
    assert all(span.offset in rows and span.heading == "name, note" for span in spans)


cells = st.text(alphabet='ab1,;\t|"\n\r é題', max_size=6)


@given(st.lists(st.lists(cells, min_size=1, max_size=4), max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_written_rows_are_read_back(table: list[list[str]], end: str) -> None:
    file = StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end).writerows([["n,a", "b"], *table])

    document = parse(file.getvalue())

    assert document.meta["rows"] + ("columns" in document.meta) == len(table) + 1


@given(st.text(alphabet='a1,;\t|"\n\r é題', max_size=60), st.sampled_from(["a.csv", "a.tsv"]))
def test_any_text_is_read_and_its_rows_cover_it(text: str, path: str) -> None:
    document = parse(text, path)

    starts = [mark.offset for mark in document.marks if mark.kind == "row"]
    assert starts == sorted(set(starts))
    assert all(start == 0 or text[start - 1] in "\r\n" for start in starts)
