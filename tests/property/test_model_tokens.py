"""The estimates of model tokens for any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall_core.model_tokens import _word, model_tokens
from recall_core.model_tokens.modern import modern_tokens

pieces = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="aZé0.-_ \t\n", max_size=200),
    st.sampled_from(
        [
            "가나다",
            "漢字",
            "これは数据库です",
            "informati",
            "on",
            " ()->",
            "Überblick",
            "кириллица",
            "🙂",
            "\u200b",
            "\x00",
            "\udfff",
            "a" * 99,
        ]
    ),
)
texts = st.lists(pieces, max_size=6).map("".join)
ESTIMATES = (model_tokens, modern_tokens)
blanks = st.text(alphabet=" \t\n\r\u3000", min_size=1, max_size=4)


@given(texts, blanks, texts)
def test_splitting_text_at_white_space_never_lowers_the_count(first: str, blank: str, second: str) -> None:
    for count in ESTIMATES:
        assert count(first + blank + second) <= count(first + blank) + count(second), count
        assert count(first + blank + second) <= count(first) + count(blank + second), count


@given(texts, texts)
def test_count_never_falls_as_text_grows(first: str, second: str) -> None:
    for count in ESTIMATES:
        assert count(first) <= count(first + second), count


def test_prefix_of_a_word_never_counts_more() -> None:
    for word in (" information", "environment", "数据库", "これは", "Überblick", "authentication_token"):
        for count in ESTIMATES:
            counts = [count(word[:size]) for size in range(len(word) + 1)]
            assert counts == sorted(counts), (count, word)


@given(texts)
def test_tokens_never_exceed_twice_the_bytes(text: str) -> None:
    for count in ESTIMATES:
        assert count(text) == count(text) <= 2 * len(text.encode("utf-8", "surrogatepass")), count
        assert (count(text) == 0) == (text == ""), count


def test_repeated_word_costs_the_same() -> None:
    for word in ("budget", "Zürich", "x" * 32, "x" * 33, "a.b.c", "0123"):
        assert model_tokens(word) == -(-_word(word) // 32)
