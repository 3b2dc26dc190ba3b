"""Promises of the outline."""

import pytest

from recall_core.ingest import outline


def titles(text: str) -> tuple[str, ...]:
    return outline.markdown(text).titles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\n## Two ##\n", ("One", "Two")),
        ("   ### Three\r\ntext\r\n", ("Three",)),
        ("Title\n=====\n\nSub\n---\n", ("Title", "Sub")),
        ("#hashtag\n    # indented code\n####### seven\n", ()),
        ("# C#\n", ("C#",)),
        ("#\n", ("",)),
        ("a paragraph\nof two lines\n---\n", ()),
        ("---\n", ()),
        ("---\ntitle: x\n---\n\n# Real\n", ("Real",)),
    ],
)
def test_headings_are_atx_or_one_line_setext(text: str, expected: tuple[str, ...]) -> None:
    assert titles(text) == expected


def test_nothing_inside_a_fence_is_a_heading() -> None:
    text = "# A\n```sh\n# a comment\n~~~\n```\n# B\n"

    found = outline.markdown(text)

    assert found.titles == ("A", "B")
    assert [text[start:end] for start, end in found.blocks] == ["```sh\n# a comment\n~~~\n```\n"]


def test_a_fence_that_is_never_closed_reaches_the_end() -> None:
    text = "words\n```\n# code\n"

    assert outline.markdown(text).blocks == ((6, len(text)),)


def test_a_definition_begins_with_the_comments_and_decorators_above_it() -> None:
    text = (
        "import x\n\n\n# why\n@wrap\ndef one():\n    pass\n\n\nasync def two():\n    pass\n\nexport class Three {}\n"
    )

    found = outline.source(text)

    assert [text[start:end].partition("\n")[0] for start, end in found.blocks] == [
        "# why",
        "async def two():",
        "export class Three {}",
    ]
    assert found.joints == tuple(start for start, _ in found.blocks)


def test_a_definition_without_an_empty_line_above_it_is_no_joint() -> None:
    assert outline.source("x = 1\ndef one():\n    pass\n").joints == ()


def test_the_first_heading_passes_over_empty_ones() -> None:
    assert outline.first_heading("##\n\n# Found #\n") == "Found"
    assert outline.first_heading("no heading\n") == ""
