"""For any query, dropped words are reported, some words remain, and the others are unchanged."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.config import SETTINGS
from recall_core.types import LiteralQuery
from recall_core.words.analyzer import Analyzer
from recall_core.words.question import literal, pieces
from tests.sixty_questions import QUESTIONS, SHAPES

MARKS = st.text(st.sampled_from("aeigcmdst.,'\u2019\u0301\ue000 \"+#-_/@1é色ÅZ\u00ad"), max_size=24)
ASKED = st.lists(
    st.sampled_from([*SHAPES, *(words for words, _ in QUESTIONS)]) | MARKS | st.text(max_size=8), max_size=6
).map(" ".join)


def read_query(text: str, stop_words: str) -> LiteralQuery:
    return literal(text, analyzer=Analyzer(), match="any", stop_words=stop_words)


@given(text=ASKED)
@example(text="e\u0301 d\u0301 x\u0301.y a\U00040000")
def test_pieces_cover_the_text_and_give_index_tokens(text: str) -> None:
    found = list(pieces(text, with_question_words=True))
    assert "".join(text[piece.start : piece.end] for piece in found) == text
    read = [token for piece in found for token in Analyzer().tokens(text[piece.start : piece.end])]
    assert tuple(read) == Analyzer().tokens(text)


@given(text=ASKED)
def test_longer_lists_drop_more_but_never_everything(text: str) -> None:
    tokens = [[token for phrase in read_query(text, which).phrases for token in phrase.tokens] for which in CHOICES]
    assert len({bool(each) for each in tokens}) == 1
    assert is_within(tokens[1], tokens[0])
    assert is_within(tokens[2], tokens[0])
    assert is_within(tokens[3], tokens[2])


@given(text=ASKED)
def test_only_reported_words_are_dropped(text: str) -> None:
    for which in CHOICES[2:]:
        query = read_query(text, which)
        kept = [token for phrase in query.phrases for token in phrase.tokens]
        reported = [token for written in query.dropped for token in Analyzer().tokens(written)]
        without = [token for phrase in read_query(text, "english").phrases for token in phrase.tokens]
        assert set(without) <= {*kept, *reported}
        assert not query.dropped or kept


@given(text=ASKED)
def test_quoted_words_are_always_searched(text: str) -> None:
    quoted = [phrase.text for phrase in read_query(text, "none").phrases if phrase.text.startswith('"')]
    for which in CHOICES:
        assert [phrase.text for phrase in read_query(text, which).phrases if phrase.text.startswith('"')] == quoted


@given(text=ASKED)
def test_capitals_digits_and_cjk_are_searched_as_before(text: str) -> None:
    for which in CHOICES[2:]:
        for written in read_query(text, which).dropped:
            assert not any(mark.isdigit() or mark == "色" for mark in written)
            assert len(written) > 1 or written.islower()


CHOICES = SETTINGS["stop_words"].choices


def is_within(some: list[str], whole: list[str]) -> bool:
    """Return True if a list is a subsequence of another one."""
    rest = iter(whole)
    return all(each in rest for each in some)
