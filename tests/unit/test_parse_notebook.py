"""Promises of the notebook parser."""

import json
from hashlib import sha256
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse import parser
from recall_core.marks import Mark, Places, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import counter, is_storable
from tests.odd_json import odd
from tests.unit.test_parse_elsewhere import NightlyElsewhere


def raw_of(*cells: Any, **others: Any) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **others}).encode()


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str | list[str], *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def parse(raw: bytes, path: str = "work/a.ipynb") -> ParsedDocument:
    (document,) = parser("notebook").parse(raw, path=path, digest=sha256(raw).hexdigest())
    return document


def refusal(raw: bytes) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(raw)
    return caught.value


PLOT = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"]}}
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\u001b[31mno\u001b[0m"]}
FORMAT_3 = {
    "nbformat": 3,
    "metadata": {"name": "old"},
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 2, "source": ["Old heading"]},
                {"cell_type": "code", "input": ["x = 1", "x"], "outputs": [{"output_type": "pyout", "text": ["1"]}]},
                {
                    "cell_type": "code",
                    "input": "1/0",
                    "outputs": [{"output_type": "pyerr", "ename": "Z", "evalue": "v"}],
                },
            ]
        }
    ],
}


class TestNotebooks(NightlyElsewhere):
    name = "notebook"
    samples: ClassVar = {
        "a.ipynb": raw_of(
            markdown(["# Fitting\n", "\n", "Words, 題, naïve.\n", "\n", "```\n", "# no heading\n", "```"]),
            code(["import numpy as np\n", "np.ones(3)"], {"output_type": "stream", "text": ["one\n", "two\n"]}, PLOT),
            markdown(""),
            {"cell_type": "raw", "source": "raw words"},
            code("1 / 0", ERROR),
            metadata={"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}},
        ),
        "old.ipynb": json.dumps(FORMAT_3).encode(),
    }


def test_cells_are_in_order_with_a_place_for_each() -> None:
    document = parse(raw_of(markdown("first"), code("x = 1"), markdown(""), {"cell_type": "raw", "source": "last"}))

    assert document.text == "first\n\nx = 1\n\nlast"
    places = Places(document.marks)
    assert [
        places.at(document.text.index(word), document.text.index(word) + 1) for word in ("first", "x", "last")
    ] == [
        "cell 1",
        "cell 2",
        "cell 4",
    ]


def test_headings_are_marks_by_level_outside_fenced_code() -> None:
    document = parse(
        raw_of(markdown("# One\n\n```\n# no\n```\n"), markdown("intro\n\n### Three #\n\nUnder\n-----\n"))
    )

    headings = [
        (mark.name, mark.level, document.text[mark.offset]) for mark in document.marks if mark.kind == "heading"
    ]
    assert headings == [("One", 1, "#"), ("Three", 3, "#"), ("Under", 2, "U")]


def test_headings_of_a_cell_follow_commonmark() -> None:
    text = "<!--\n# hidden\n-->\n\n- a\n\n  # in a list\n\nTwo\nlines\n===\n\n# `code` *it*\n\n- - -\n"
    headings = [mark.name for mark in parse(raw_of(markdown([text]))).marks if mark.kind == "heading"]
    assert headings == ["Two lines", "code it"]


def test_hash_sign_in_code_is_not_a_heading() -> None:
    assert not [mark for mark in parse(raw_of(code("# comment"))).marks if mark.kind == "heading"]


def test_title_is_the_first_heading_or_the_file_name() -> None:
    assert parse(raw_of(code("# no"), markdown("text"), markdown("## Yes \n"))).title == "Yes"
    assert parse(raw_of(code("x"))).title == "a.ipynb"


def test_output_and_errors_follow_the_source_without_colours() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "\u001b[1;32mgreen\u001b[0m\n"}
    shown = {"output_type": "execute_result", "data": {"text/plain": ["array([1.])"], "text/html": ["<b>bold</b>"]}}

    assert parse(raw_of(code("run()", stream, shown, ERROR))).text == "run()\n\ngreen\narray([1.])\nValueError: no"


def test_pictures_and_html_are_dropped() -> None:
    text = parse(raw_of(code("plot()", PLOT, {"output_type": "display_data", "data": {"text/html": "<b>"}}))).text

    assert text == "plot()\n\n<Figure>"


def test_cell_output_is_limited_to_two_thousand_characters() -> None:
    stream = {"output_type": "stream", "text": "\u001b[0mab" * 30_000}

    text = parse(raw_of(code("x", *[stream] * 50), code("y", {"output_type": "stream", "text": "z" * 2_000}))).text

    first, second = text.removeprefix("x\n\n").split("\n\ny\n\n")
    assert (len(first), first[-1], second) == (2_000, "…", "z" * 2_000)


def test_language_and_kernel_are_metadata() -> None:
    told = {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"version": "4"}}

    assert parse(raw_of(metadata=told)).meta == {"language": "R", "kernel": "ir"}
    assert parse(raw_of(metadata={"kernelspec": [1]})).meta == {}


def test_format_3_has_worksheets_heading_cells_and_bare_lines() -> None:
    document = parse(json.dumps(FORMAT_3).encode())

    assert document.text == "Old heading\n\nx = 1\nx\n\n1\n\n1/0\n\nZ: v"
    assert document.title == "Old heading"
    assert document.marks[:2] == (Mark(0, "cell"), Mark(0, "heading", "Old heading", 2))


def test_fitting_cell_is_never_split() -> None:
    cells = [code("\n\n".join(f"line_{i} = {j}" for j in range(9))) for i in range(40)]
    document = parse(raw_of(*cells))

    spans = chunk(
        document.text,
        counter=counter("whitespace"),
        config=Config(chunk_tokens=70, overlap_tokens=0),
        marks=document.marks,
    )

    begins = {mark.offset for mark in document.marks if mark.kind == "cell"}
    assert len(spans) > 5
    assert all(span.offset in begins for span in spans)


def test_file_other_than_a_notebook_is_refused() -> None:
    for raw, reason in [
        (b"", "it is empty"),
        (b"[]", "not a JSON object"),
        (b"{", "not JSON"),
        (b"plain words", "not JSON"),
        (b"{}", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"worksheets": [1]}', "no list of cells"),
        (raw_of(markdown("fine"), 7), "cell 2 is not an object"),
        (raw_of({"cell_type": "code", "source": 7}), "the source of cell 1 is not text"),
        (raw_of({"cell_type": "code", "source": ["a", 7]}), "the source of cell 1 is not text"),
        (raw_of({"cell_type": "code", "source": [7, "a"]}), "the source of cell 1 is not text"),
    ]:
        error = refusal(raw)

        assert error.code == "bad_notebook", (raw, reason)
        assert reason in error.message, (raw, reason)


def test_more_than_five_hundred_levels_are_refused() -> None:
    for levels in [501, 5_000, 100_000]:
        inner = levels - 1  # the notebook itself is a level
        raw = b'{"cells": [], "deep": ' + b"[" * inner + b"]" * inner + b"}"

        assert refusal(raw).code == "too_deep", levels


def test_five_hundred_levels_are_read() -> None:
    assert parse(b'{"cells": [], "deep": ' + b"[" * 499 + b"]" * 499 + b"}").text == ""


def test_nonstandard_notebooks_are_read() -> None:
    raw = (
        b'{"cells": [{"cell_type": "code", "source": "a \\ud83d b", "outputs": [{"data": {"x": NaN}}, 3]}], "n": 1'
        + (b"0" * 10_000 + b"}")
    )

    assert parse(raw).text == "a \ufffd b"


KEYS = ["cells", "cell_type", "source", "outputs", "text", "data", "text/plain", "metadata", "worksheets", "level"]
CELL_TYPES = ["code", "markdown", "heading", "raw"]


@given(st.integers(0, 2**32), st.sampled_from(CELL_TYPES))
def test_any_json_is_read_or_refused_with_a_code(seed: int, cell_type: str) -> None:
    cells = odd(seed, keys=KEYS, words=CELL_TYPES, depth=6)
    value = {"cells": [{"cell_type": cell_type, **cells}]} if isinstance(cells, dict) else {"cells": cells}
    try:
        document = parse(json.dumps({**value, "metadata": odd(seed, keys=KEYS)}).encode())
    except IngestError as error:
        assert error.code == "bad_notebook"  # noqa: PT017 - the other outcome is asserted below
    else:
        assert why_unfit(document.marks, len(document.text)) is None
        assert is_storable(document.text)
