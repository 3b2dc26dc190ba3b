"""Completion: the offered candidates, and a check that every word of a valid query is offered."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall_core.rql.complete import SUGGESTIONS, Completion, NoVocabulary, Vocabulary, complete
from recall_core.rql.highlight import highlight
from recall_core.rql.parser import parse_query
from tests.builders import memory_store, new_file, put

GOLDEN = (Path(__file__).parents[1] / "golden" / "identity.rql").read_text(encoding="utf-8").splitlines()
FRAGMENTS = (
    "SELECT * FROM doc chunk . , doc.tag = doc.meta. doc.meta.'a 'do \" \\ ( ) -- \n 1 1x é \ud800 \x00 IN BETWEEN "
    "AND NOT IS HAS ANY USING lexical ORDER BY score LIMIT OFFSET OPTION fusion pool exact rerank FILTER"
).split(" ")
KEYS = ("year", "'a b'", "'it''s'", "list", "ok")
CLAUSES = ["USING", "FILTER", "ORDER BY", "LIMIT", "OPTION"]


@lru_cache
def vocabulary() -> Vocabulary:
    store = memory_store()
    put(
        store,
        new_file(
            "docs/a.md", ["a"], tags=["docs", "api"], source="wiki", meta={"year": 2024, "a b": "x", "ok": True}
        ),
        new_file("docs/b.md", ["b"], tags=["docs"], source="wiki", meta={"year": 2024, "it's": None, "list": [1]}),
        new_file("src/c.py", ["c"], tags=["code", "o'clock"], source=None, meta={"year": "unknown"}),
        *(new_file(f"many/{n:03}.md", [f"m {n}"]) for n in range(40)),
    )
    return store.vocabulary(SUGGESTIONS)


def at(text: str, known: Vocabulary | None = None) -> list[Completion]:
    """Return the candidates at the bar in the text."""
    cursor = text.index("|")
    return complete(text.replace("|", ""), cursor, vocabulary=known or NoVocabulary())


def candidate_texts(text: str, known: Vocabulary | None = None) -> list[str]:
    return [candidate.text for candidate in at(text, known)]


def test_valid_continuations_are_offered() -> None:
    for text, expected in [
        ("|", ["SELECT"]),
        ("sel|", ["SELECT"]),
        ("SELECT * |", ["FROM"]),
        ("SELECT doc.pa|, score FROM doc", ["doc.path"]),
        ("SELECT pa|", ["doc.path"]),
        ("SELECT * FROM |", ["chunk", "doc"]),
        ("SELECT * FROM doc |", CLAUSES),
        ("SELECT * FROM doc LIMIT 5 |", ["OFFSET", "USING", "FILTER", "ORDER BY", "OPTION"]),
        ("SELECT * FROM doc USING |", ["semantic(", "lexical(", "lexical_fts("]),
        ("SELECT * FROM doc USING lexical('a'), |", ["semantic("]),
        ("SELECT * FROM doc USING lexical(|", []),
        ("SELECT * FROM doc FILTER doc.ta|", ["doc.tag", "doc.tags"]),
        ("SELECT * FROM doc FILTER NOT le|", ["lexical("]),
        ("SELECT * FROM doc FILTER lexical('a') |", ["AND", "OR", "USING", "ORDER BY", "LIMIT", "OPTION"]),
        ("SELECT * FROM doc FILTER doc.tag NOT |", ["IN", "LIKE", "ILIKE", "GLOB"]),
        ("SELECT * FROM doc FILTER doc.tag HAS |", ["ANY", "ALL"]),
        ("SELECT * FROM doc FILTER doc.path IS |", ["NULL", "NOT"]),
        ("SELECT * FROM doc FILTER (doc.path IS NULL |", ["AND", "OR"]),
        ("SELECT * FROM doc FILTER (doc.path IS NULL) |", ["AND", "OR", "USING", "ORDER BY", "LIMIT", "OPTION"]),
        ("SELECT * FROM chunk FILTER chunk.tokens BETWEEN 1 |", ["AND"]),
        ("SELECT * FROM chunk FILTER doc.meta.k = T|", ["TRUE"]),
        ("SELECT * FROM chunk FILTER doc.meta.k < |", []),
        ("SELECT * FROM chunk ORDER |", ["BY"]),
        ("SELECT * FROM chunk ORDER BY chunk.t|", ["chunk.tokens", "chunk.text"]),
        ("SELECT * FROM doc ORDER BY chunk.t|", []),
        ("SELECT * FROM doc ORDER BY doc.path |", ["ASC", "DESC", "USING", "FILTER", "LIMIT", "OPTION"]),
        ("SELECT * FROM doc OPTION min|", ["min_score", "min_cosine"]),
        ("SELECT * FROM doc OPTION fusion |", ["weighted", "rrf"]),
        ("SELECT * FROM doc OPTION fusion rrf, fu|", []),
        ("SELECT * FROM doc OPTION exact |", ["ON", "OFF"]),
        ("SELECT * FROM doc OPTION rerank |", ["OFF"]),
        ("SELECT * FROM doc -- FIL|", []),
        ("SELECT * FROM doc; |", []),
    ]:
        assert candidate_texts(text) == expected, text


def test_operators_match_the_field_type() -> None:
    of_tags = candidate_texts("SELECT * FROM doc FILTER doc.tags |")
    of_number = candidate_texts("SELECT * FROM chunk FILTER chunk.tokens |")

    assert ("HAS" in of_tags, "<" in of_tags, "BETWEEN" in of_tags) == (True, False, False)
    assert ("HAS" in of_number, "<" in of_number, "LIKE" in of_number) == (False, True, False)


def test_values_and_keys_come_from_the_store() -> None:
    for text, expected in [
        ("SELECT * FROM doc FILTER doc.tag = |", ["'docs'", "'api'", "'code'", "'o''clock'"]),
        ("SELECT * FROM doc FILTER doc.tag = 'd|", ["'docs'"]),
        ("SELECT * FROM doc FILTER doc.tag IN ('api', \"c|\")", ["'code'"]),
        ("SELECT * FROM doc FILTER doc.source = |", ["'wiki'"]),
        ("SELECT * FROM doc FILTER doc.path LIKE 'docs|", ["'docs/a.md'", "'docs/b.md'"]),
        ("SELECT * FROM doc FILTER doc.mtime >= |", ["'2023-11-14'"]),
        ("SELECT * FROM doc FILTER doc.meta.|", [f"doc.meta.{key}" for key in KEYS]),
        ("SELECT * FROM doc FILTER doc.meta.y|", ["doc.meta.year"]),
        ("SELECT * FROM doc FILTER doc.meta.year = |", ["2024", "'unknown'", "TRUE", "FALSE"]),
        ("SELECT * FROM doc FILTER doc.meta.ok = |", ["TRUE", "TRUE", "FALSE"]),
        ("SELECT * FROM doc FILTER doc.meta.list = |", ["TRUE", "FALSE"]),
        ("SELECT * FROM chunk FILTER chunk.text LIKE '|", []),
        ("SELECT * FROM chunk USING lexical('d|')", []),
    ]:
        assert list(dict.fromkeys(candidate_texts(text, vocabulary()))) == list(dict.fromkeys(expected)), text


def test_value_shows_its_document_count() -> None:
    first = at("SELECT * FROM doc FILTER doc.tag = 'd|'", vocabulary())[0]

    assert first == Completion("'docs'", "value", 35, 38, "2 documents")


def test_number_of_offered_values_is_limited() -> None:
    assert len(at("SELECT * FROM doc FILTER doc.path = 'many|", vocabulary())) == SUGGESTIONS


def test_candidate_replaces_the_word_but_not_text_after_it() -> None:
    text = "SELECT * FROM doc FILTER doc.ta = 'x' LIMIT 5"
    for cursor in (27, 29, 31):
        chosen = next(c for c in complete(text, cursor, vocabulary=NoVocabulary()) if c.text == "doc.tag")
        assert text[: chosen.start] + chosen.text + text[chosen.end :] == text.replace("doc.ta", "doc.tag")


def test_open_string_does_not_swallow_the_rest_of_the_query() -> None:
    text = "SELECT * FROM doc FILTER doc.tag = 'do AND doc.source = 'wiki'"
    chosen = complete(text, 38, vocabulary=vocabulary())[0]

    assert text[: chosen.start] + chosen.text + text[chosen.end :] == text.replace("'do ", "'docs' ")


def test_completion_offers_every_word_of_a_valid_query() -> None:
    for line in GOLDEN:
        parse_query(line)
        chained = 0
        for mark in highlight(line):
            word = line[mark.start : mark.end]
            if mark.kind in ("string", "number", "punctuation") or mark.start < chained:
                continue
            if mark.kind == "field" and word in ("doc", "chunk"):
                chained = line.find(" ", mark.start)
                if line.startswith("doc.meta", mark.start):
                    continue
            if mark.kind == "constant" and "rerank" in line[: mark.start].rsplit(",", 1)[-1]:
                continue
            texts = [c.text for c in complete(line[: mark.start], mark.start, vocabulary=NoVocabulary())]
            assert any(text.startswith(word) for text in texts), ((word, line[: mark.start], texts), line)


texts = st.text() | st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(" ".join)


@given(texts | st.sampled_from(GOLDEN), st.integers(-2, 80))
def test_no_text_or_cursor_makes_completion_fail(text: str, cursor: int) -> None:
    for candidate in complete(text, cursor, vocabulary=vocabulary()):
        assert 0 <= candidate.start <= min(max(cursor, 0), len(text))
        assert candidate.start <= candidate.end <= len(text)
        assert candidate.text
