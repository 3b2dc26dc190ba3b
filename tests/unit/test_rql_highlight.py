"""Colours, brackets and the Pygments lexer, on complete and incomplete queries."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Error, Keyword, Name

from recall_core.adapters.pygments_rql import TOKENS, RqlLexer
from recall_core.errors import RqlError
from recall_core.rql.highlight import MarkKind, bracket_match, highlight
from recall_core.rql.lexer import pieces, tokenize

GOLDEN = (Path(__file__).parents[1] / "golden" / "identity.rql").read_text(encoding="utf-8").splitlines()
FRAGMENTS = (
    "SELECT FROM doc chunk . doc.tag 'a '' \" \\ \\' ( ) -- \n 1 1x -1.5 é 🙂 \ud800 \x00 % OPTION fusion rrf".split(
        " "
    )
)
texts = st.text() | st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(" ".join)


def kinds(text: str) -> list[tuple[str, MarkKind]]:
    return [(text[mark.start : mark.end], mark.kind) for mark in highlight(text)]


def test_each_word_has_the_colour_of_its_part() -> None:
    text = "SELECT path, score FROM chunk USING lexical('x') FILTER doc.meta.limit IS NULL -- why\n"
    text += "OPTION fusion rrf, pool 3"

    assert dict(kinds(text)) == {
        "SELECT": "keyword", "path": "field", ",": "punctuation", "score": "field", "FROM": "keyword",
        "chunk": "table", "USING": "keyword", "lexical": "function", "(": "punctuation", "'x'": "string",
        ")": "punctuation", "FILTER": "keyword", "doc": "field", ".": "punctuation", "meta": "field",
        "limit": "field", "IS": "keyword", "NULL": "constant", "-- why": "comment", "OPTION": "keyword",
        "fusion": "option", "rrf": "constant", "pool": "option", "3": "number",
    }  # fmt: skip


def test_unreadable_text_is_marked_as_an_error() -> None:
    for text, wrong in [("FILTER doc.tag = 'open", "'open"), ("LIMIT 10k", "10k"), ("a & b", "&"), ("“x”", "“")]:
        assert (wrong, "error") in kinds(text), text


def test_unknown_word_is_a_plain_name() -> None:
    assert kinds("dco.tag WHERE") == [("dco", "name"), (".", "punctuation"), ("tag", "name"), ("WHERE", "name")]


@given(texts | st.sampled_from(GOLDEN))
def test_marks_cover_everything_except_white_space_in_order(text: str) -> None:
    end = 0
    for mark in highlight(text):
        assert text[end : mark.start].strip() == ""
        assert mark.start < mark.end
        end = mark.end
    assert text[end:].strip() == ""


@given(texts | st.sampled_from(GOLDEN))
def test_pieces_equal_the_lexer_tokens(text: str) -> None:
    try:
        tokens = tokenize(text)[:-1]
    except RqlError:
        return
    found = [piece for piece in pieces(text) if piece.kind != "comment"]
    assert [(token.kind, token.text, token.start, token.end) for token in tokens] == found


def test_bracket_finds_its_partner() -> None:
    for text, cursor, pair in [
        ("(a)", 0, (0, 2)),
        ("(a)", 3, (0, 2)),
        ("(a)", 1, (0, 2)),
        ("((a) b)", 3, (1, 3)),
        ("(')' -- )\n)", 0, (0, 10)),
        ("(a", 0, None),
        ("a)", 1, None),
        ("abc", 1, None),
        ("", 0, None),
    ]:
        assert bracket_match(text, cursor) == pair, (text, cursor, pair)


def test_pygments_finds_the_language_by_name_and_file() -> None:
    assert isinstance(get_lexer_by_name("recall-rql"), RqlLexer)
    assert isinstance(get_lexer_for_filename("nightly.rql"), RqlLexer)


@given(texts)
def test_pygments_lexer_loses_no_character(text: str) -> None:
    parts = list(RqlLexer().get_tokens_unprocessed(text))

    assert "".join(value for _, _, value in parts) == text
    assert [offset for offset, _, _ in parts] == [sum(len(v) for _, _, v in parts[:i]) for i in range(len(parts))]


def test_pygments_colours_a_query() -> None:
    tokens = list(get_lexer_by_name("recall-rql").get_tokens("SELECT doc.path FROM doc LIMIT 1k"))

    assert (Keyword, "SELECT") in tokens
    assert (Name.Attribute, "path") in tokens
    assert (Error, "1k") in tokens
    assert len(set(TOKENS.values())) == len(TOKENS)
