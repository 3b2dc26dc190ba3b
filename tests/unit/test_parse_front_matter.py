"""Promises of front matter."""

import json
import subprocess
import sys
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core._lazy import yaml as pyyaml
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.parse.front_matter import FrontMatter, front_matter
from tests.examples import examples


def yaml(body: str) -> FrontMatter:
    found = front_matter(f"---\n{body}\n---\ntext\n")
    assert found is not None
    return found


def test_scalars_and_lists_of_scalars_are_metadata() -> None:
    for written, value in [
        ("plain words", "plain words"),
        ("words # comment", "words"),
        ("a#b", "a#b"),
        ("https://example.org/#part", "https://example.org/#part"),
        ("more: colons: here", "more: colons: here"),
        ('"quoted \\"words\\" \\u00e9"  # c', 'quoted "words" é'),
        ("'it''s'", "it's"),
        ("'# no comment'", "# no comment"),
        ("12", 12),
        ("-3", -3),
        ("007", "007"),
        ("9" * 30, "9" * 30),
        ("1.5", 1.5),
        ("1.2.3", "1.2.3"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("0123", "0123"),
        ("12:30:45", "12:30:45"),
        ("C++: a tour  # c", "C++: a tour"),
        ("\ttabbed", "tabbed"),
        ("a list:", "a list:"),
        ('"\\x41 \\ud83d\\ude00"', "A \U0001f600"),
        ("2024-01-05", "2024-01-05"),
        ("2024-01-05 10:20:30 +02:00", "2024-01-05T10:20:30+02:00"),
        ("2024-01-05T10:20:30Z", "2024-01-05T10:20:30+00:00"),
        ("2024-13-05 10:20:30", "2024-13-05 10:20:30"),
        ("[a, 'b, c', \"d\", 2, e f]", ["a", "b, c", "d", 2, "e f"]),
        ("[]  # none", []),
        ("\n- a\n- 'b: c'\n- 3", ["a", "b: c", 3]),
        ("\n  - a\n  # comment\n\n  - b", ["a", "b"]),
    ]:
        found = yaml(f"key: {written}")

        assert (found.meta, found.notes) == ({"key": value}, ()), (written, value)
        assert type(found.meta["key"]) is type(value), (written, value)


def test_key_without_a_value_is_dropped() -> None:
    for nothing in ["", "~", "null", "# comment"]:
        assert yaml(f"key: {nothing}\nother: 1").meta == {"other": 1}, nothing


def test_unsupported_lines_are_dropped_and_named() -> None:
    for written in [
        *(
            "&anchor x",
            "*alias",
            "!!str x",
            "{a: b}",
            "|\n  text\n  text",
            ">-\n  text",
            "words\n  and more",
            "[a,\n  b]",
        ),
        *(
            "\n  a: b",
            "\n  - a: b",
            "\n  - - a",
            "\n  - a\n    - b",
            "[a, [b]]",
            "[a",
            "'open",
            '"open',
            '"a" b',
            "@x",
            "`x`",
            "!x y",
            "[a, *b]",
            "[a: b]",
            "{}",
            "? a",
            '"\\ud83d"',
            '"\\UFFFFFFFF"',
            '"a\n  b"',
            "\n  - a\n    b",
        ),
    ]:
        found = yaml(f"first: 1\nkey: {written}\nlast: 2")

        assert (found.meta, found.notes) == ({"first": 1, "last": 2}, ("front matter: line 3 not understood",)), (
            written
        )


def test_some_unsupported_lines_are_named_and_others_counted() -> None:
    notes = yaml("a: 1\n" + "nothing\n" * 20).notes

    assert notes[0] == "front matter: line 3 not understood"
    assert (len(notes), notes[-1]) == (9, "front matter: 12 more lines not understood")


def test_tags_keywords_and_categories_are_unique_tags() -> None:
    found = yaml("tags: [a, b c, 2020, true]\nKeywords: b c, d ,, e\ncategories:\n- a\n- f")

    assert (found.tags, found.meta) == (("a", "b c", "2020", "true", "d", "e", "f"), {})


def test_title_is_one_line() -> None:
    assert yaml('title: "A\\n  B"').title == "A B"


def test_key_may_be_quoted_and_the_last_value_counts() -> None:
    assert yaml('"a b": 1\nx: 1\nx: 2\nog:kind: y').meta == {"a b": 1, "x": 2, "og:kind": "y"}


def test_text_without_front_matter_has_none() -> None:
    for text in [
        *(
            "text",
            "---\nnever: closed\n",
            "--- \nprose\n---\n",
            "----\na: 1\n----\n",
            "\n---\na: 1\n---\n",
            "+++\na=1\n---\n",
        ),
        "---\na: 1\n" + "#\n" * 200_000 + "---\n",
    ]:
        assert front_matter(text) is None, text


def test_front_matter_ends_after_its_last_line() -> None:
    for text in ["---\na: 1\n---\nt", "---\r\na: 1\r\n---\r\nt", "--- \na: 1\n...\nt"]:
        found = front_matter(text)

        assert found is not None, text
        assert (text[found.end :], found.meta) == ("t", {"a": 1}), text


def test_toml_is_read_and_dates_are_text() -> None:
    found = front_matter(
        "+++\ntitle = 'T'\ntags = ['a', 'b']\nday = 2024-01-05\nat = 2024-01-05T10:20:30Z\nbig = 1e400\n"
        "[params]\nx = 1\n+++\n"
    )

    assert found is not None
    assert (found.title, found.tags) == ("T", ("a", "b"))
    assert found.meta == {"day": "2024-01-05", "at": "2024-01-05T10:20:30+00:00"}
    assert found.notes == ("front matter: big not understood", "front matter: params not understood")


def test_malformed_toml_is_a_note() -> None:
    for body in ["a = ", "a = " + "[" * 5000, "a = " + "9" * 5000, "a = 1\na = 2"]:
        found = front_matter(f"+++\n{body}\n+++\ntext\n")

        assert found is not None, body
        assert found.meta == {}, body
        assert found.notes[0].startswith("front matter: not understood: "), body


@examples(100)
@given(
    st.sampled_from(("---", "+++")),
    st.lists(
        st.sampled_from(
            ("a", "title", ":", ": ", "- ", "[", "]", ",", "'", '"', "\\", "#", " ", "\n", "=", "1e9", "\n  ")
        ),
        max_size=40,
    ),
)
def test_any_front_matter_is_read_and_storable(fence: str, pieces: list[str]) -> None:
    found = front_matter(f"{fence}\n{''.join(pieces)}\n{fence}\n")

    if found is not None:
        assert why_unfit(found.meta) is None
        json.dumps(found).encode()


def test_aliases_are_not_followed() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{c}: &{c} [*{b}, *{b}]\n" for b, c in zip("abcdefgh", "bcdefghi", strict=True)
    )

    assert front_matter(f"---\n{bomb}<<: *a\nt: 1\n---\n") == FrontMatter(
        end=len(bomb) + 20,
        title="",
        tags=(),
        meta={"t": 1},
        notes=(
            *(f"front matter: line {number} not understood" for number in range(2, 10)),
            "front matter: 2 more lines not understood",
        ),
    )


def test_deep_nesting_is_refused_quickly() -> None:
    for unit in ("[", "{", "{a: ", "[\n ", "- ", "? "):
        began = process_time()

        yaml("a: 1\nkey: " + unit * (40_000 // len(unit)))

        assert process_time() - began < 1, unit


@examples(300)
@given(
    st.lists(
        st.sampled_from(
            (
                *(
                    "a",
                    "key",
                    "tags",
                    ": ",
                    ":\n",
                    "- ",
                    "\n- ",
                    "\n  - ",
                    "[",
                    "]",
                    ", ",
                    "'",
                    '"',
                    " #",
                    " ",
                    "\n",
                    "\n  ",
                ),
                *(
                    "\\",
                    "\\u00e9",
                    "\\ud83d\\ude00",
                    "\\x41",
                    "&",
                    "*",
                    "!",
                    "|",
                    ">",
                    "%",
                    "@",
                    "?",
                    "{",
                    "}",
                    "~",
                    "---",
                    "...",
                ),
                *("\t", "\x85", "\u2028", "\ufeff", "\x07", "\0", "\ue000", "\U0001f600"),
            )
        ),
        max_size=12,
    ).map("".join)
)
@example("\n  - a\tb")
@example("\t# c")
@example("\x85\ufeffa")
@example('"\\ud83d\\ude00"')
def test_machine_without_the_c_parser_reads_the_same(body: str) -> None:
    text = f"---\na: 1\nkey: {body}\n---\n"
    expected = front_matter(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyyaml, "__with_libyaml__", False)
        assert front_matter(text) == expected


def test_only_front_matter_imports_pyyaml() -> None:
    script = (
        "import sys; from recall_core.ingest.parse.markdown import Markdown\n"
        "for raw in (b'# A', b'---\\na: 1\\n---\\n'):\n"
        "    Markdown().parse(raw, path='a.md', digest=''); print('yaml' in sys.modules)"
    )

    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == ["False", "True"]
