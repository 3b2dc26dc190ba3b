"""Promises of front matter."""

import json

from hypothesis import given
from hypothesis import strategies as st

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


def test_a_key_without_a_value_is_left_out() -> None:
    for nothing in ["", "~", "null", "# comment"]:
        assert yaml(f"key: {nothing}\nother: 1").meta == {"other": 1}, nothing


def test_lines_not_understood_are_left_out_and_named() -> None:
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
        ),
    ]:
        found = yaml(f"first: 1\nkey: {written}\nlast: 2")

        assert (found.meta, found.notes) == ({"first": 1, "last": 2}, ("front matter: line 3 was not understood",)), (
            written
        )


def test_of_many_lines_that_are_not_understood_some_are_named_and_the_others_counted() -> None:
    notes = yaml("a: 1\n" + "nothing\n" * 20).notes

    assert notes[0] == "front matter: line 3 was not understood"
    assert (len(notes), notes[-1]) == (9, "front matter: 12 further lines were not understood")


def test_tags_keywords_and_categories_are_tags_once_each() -> None:
    found = yaml("tags: [a, b c, 2020, true]\nKeywords: b c, d ,, e\ncategories:\n- a\n- f")

    assert (found.tags, found.meta) == (("a", "b c", "2020", "true", "d", "e", "f"), {})


def test_the_title_is_one_line() -> None:
    assert yaml('title: "A\\n  B"').title == "A B"


def test_a_key_may_be_quoted_and_a_later_one_counts() -> None:
    assert yaml('"a b": 1\nx: 1\nx: 2\nog:kind: y').meta == {"a b": 1, "x": 2, "og:kind": "y"}


def test_a_text_without_front_matter_has_none() -> None:
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


def test_it_ends_behind_its_last_line() -> None:
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
    assert found.notes == ("front matter: big was not understood", "front matter: params was not understood")


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
def test_any_front_matter_is_read_and_can_be_stored(fence: str, pieces: list[str]) -> None:
    found = front_matter(f"{fence}\n{''.join(pieces)}\n{fence}\n")

    if found is not None:
        assert why_unfit(found.meta) is None
        json.dumps(found).encode()
