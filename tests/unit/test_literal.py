from __future__ import annotations

from recall_core.store.sqlite.lexical import expression
from recall_core.words.question import literal
from tests.builders import memory_store

STORE = memory_store()


def match(text: str, how: str = "any") -> str:
    return expression(literal(text, analyzer=STORE.analyzer, match=how))


def test_words_mean_themselves() -> None:
    for text, expected in [
        ("Retry BACKOFF", '"retry" OR "backoff"'),
        ("the retry of a retry", '"retry" OR "retry"'),
        ("to be or not to be", '"to" OR "be" OR "or" OR "not" OR "to" OR "be"'),
        ('say "to be" now', '"say" OR "to be"'),
        ('"to be"', '"to be"'),
        ('"to be" or "not to be"', '"to be" OR "not to be"'),
        ('"unclosed phrase', '"unclosed phrase"'),
        ("foo-bar it's what?", '"foo" OR "bar"'),
        ("Naïve café", '"naive" OR "cafe"'),
        ("全文検", '"全文" OR "文検"'),
        ('"全文検"', '"全文 文検"'),
        ("a AND b* NEAR(c)", '"b" OR "near" OR "c"'),
        ("   ", ""),
        ('"" ""', ""),
    ]:
        assert match(text) == expected, (text, expected)


def test_match_all_joins_with_and() -> None:
    assert match("retry backoff", "all") == '"retry" AND "backoff"'


def test_any_text_is_valid_syntax() -> None:
    for text in ['"', "''", "a:b", "^x", "{a b}", "-x", "x NOT y", "*", "\0", "(" * 50, "-" * 99]:
        query = literal(text, analyzer=STORE.analyzer, match="any")
        assert STORE.lexical(query, where=None, k=None, title_weight=3.0) == {}, text
