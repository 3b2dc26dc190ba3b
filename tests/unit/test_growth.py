"""The growth order of a chunk that must be cut, by example."""

from __future__ import annotations

from recall_core.pack.growth import Growth
from recall_core.types import Chunk, Document, Hit, HitPassage

DOCUMENT = Document("d", "a.md", "h", "2026-01-01T00:00:00.000000Z", 1, "t", None, (), {})


def growth(text: str, passage: str = "", match: str = "", *, offset: int = 0) -> Growth:
    chunk = Chunk("c", "d", offset, offset + len(text), 1, 1, 1, None, text)
    start = offset + text.index(passage)
    at = start + passage.index(match)
    own = HitPassage(start, start + len(passage), (at, at + len(match)), None, None) if passage else None
    return Growth(Hit(1, 1.0, DOCUMENT, chunk, (), passage=own))


def steps(order: Growth) -> list[str]:
    """Return each text that the order takes, from the smallest to the whole."""
    spans = dict.fromkeys(order.span(size) for size in range(len(order.text) + 1))
    return [order.text[start:end] for start, end in spans]


def test_passage_grows_from_match_by_words_then_by_letters() -> None:
    order = growth("ab\nx one two three y\ncd", "one two three", "two", offset=100)

    assert steps(order) == [
        "",
        "two",
        "two three",
        "one two three",
        *("one two three ", "one two three y"),
        *(" one two three y", "x one two three y"),
        *("x one two three y\n", "x one two three y\nc", "x one two three y\ncd"),
        *("\nx one two three y\ncd", "b\nx one two three y\ncd", "ab\nx one two three y\ncd"),
    ]


def test_match_across_words_takes_all_of_them_at_once() -> None:
    assert steps(growth("one two three", "one two three", "ne tw"))[1] == "one two"


def test_passage_without_a_match_grows_from_its_first_word() -> None:
    assert steps(growth("zero one two", "one two"))[:3] == ["", "one", "one two"]


def test_characters_are_words_in_scripts_without_white_space() -> None:
    assert steps(growth("日本語の文", "日本語の文", "語"))[1:4] == ["語", "語の", "本語の"]


def test_no_grapheme_is_split_on_either_side() -> None:
    order = growth("e\u0301a\none\nae\u0301", "one", "one")

    shown = steps(order)
    assert "one\na" in shown
    assert "a\none\nae\u0301" in shown
    assert all(each.count("\u0301") == each.count("e\u0301") == each.count("e") - each.count("one") for each in shown)


def test_text_without_a_passage_grows_from_its_beginning() -> None:
    assert steps(growth("abc")) == ["", "a", "ab", "abc"]


def test_longest_fitting_span_is_taken_but_never_the_whole() -> None:
    order = growth("a b c d e", "c", "c")

    def taken(most: int) -> str | None:
        span = order.longest(count, 1, lambda span: count(order.text[slice(*span)]) <= most)
        return None if span is None else order.text[slice(*span)].strip()

    assert [taken(most) for most in range(6)] == [None, "c", "c d", "c d e", "b c d e", "b c d e"]
    assert order.longest(count, 6, lambda _: True) is None


def count(text: str) -> int:
    return len(text.split())
