"""Promises of the outline."""

from itertools import pairwise

from recall_core.ingest.parse import text as outline


def titles(text: str) -> tuple[str, ...]:
    return tuple(mark.name for mark in outline.markdown_marks(text) if mark.kind == "heading")


def blocks(text: str) -> list[str]:
    marks = outline.markdown_marks(text)
    starts = [mark.offset for mark in marks if mark.kind == "block"]
    ends = [mark.offset for mark in marks if mark.kind == "end"]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def definitions(text: str) -> list[str]:
    starts = [mark.offset for mark in outline.source_marks(text)]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def test_headings_are_atx_or_one_line_setext() -> None:
    for text, expected in [
        ("# One\n\n## Two ##\n", ("One", "Two")),
        ("   ### Three\r\ntext\r\n", ("Three",)),
        ("Title\n=====\n\nSub\n---\n", ("Title", "Sub")),
        ("#hashtag\n    # indented code\n####### seven\n", ()),
        ("# C#\n", ("C#",)),
        ("#\n", ("",)),
        ("a paragraph\nof two lines\n---\n", ()),
        ("---\n", ()),
        ("---\ntitle: x\n---\n\n# Real\n", ("Real",)),
    ]:
        assert titles(text) == expected, (text, expected)


def test_fenced_text_is_never_a_heading() -> None:
    text = "# A\n```sh\n# a comment\n~~~\n```\n# B\n"

    assert titles(text) == ("A", "B")
    assert blocks(text) == ["```sh\n# a comment\n~~~\n```\n"]


def test_unclosed_fence_reaches_the_end() -> None:
    text = "words\n```\n# code\n"

    assert blocks(text) == [text[6:]]


def test_definition_begins_with_its_comments_and_decorators() -> None:
    text = (
        "import x\n\n\n# why\n@wrap\ndef one():\n    pass\n\n\nasync def two():\n    pass\n\nexport class Three {}\n"
    )

    assert [definition.partition("\n")[0] for definition in definitions(text)] == [
        "# why",
        "async def two():",
        "export class Three {}",
    ]


def test_definition_needs_an_empty_line_above() -> None:
    assert outline.source_marks("x = 1\ndef one():\n    pass\n") == ()


def test_first_heading_skips_empty_headings() -> None:
    assert outline.first_heading("##\n\n# Found #\n") == "Found"
    assert outline.first_heading("no heading\n") == ""
