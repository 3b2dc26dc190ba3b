from __future__ import annotations

from recall_core.store.sqlite.lexical import expression
from recall_core.store.sqlite.schema import WORDS
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery
from recall_core.words.question import SHARE_OF_PIECES, literal
from tests.builders import memory_store, new_file, put

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


def store_with(*texts: str, has_old_words: bool = False) -> SqliteStore:
    store = memory_store()
    if has_old_words:
        with store.transaction():
            store.execute("DELETE FROM meta WHERE key = ?", (WORDS,))
    put(store, new_file("a.md", texts))
    return store


def read(store: SqliteStore, text: str) -> LiteralQuery:
    return literal(text, analyzer=store.analyzer, match="any", index=store)


def test_store_with_the_phrase_weighs_loose_pieces_little() -> None:
    store = store_with("runs on node.js here", "a node of js")
    assert [(each.terms, each.share) for each in read(store, "node.js").phrases] == [
        (("node", "js"), 1.0),
        (("node",), SHARE_OF_PIECES),
        (("js",), SHARE_OF_PIECES),
    ]


def test_store_with_old_words_reads_joined_words_as_pieces() -> None:
    store = store_with("runs on node.js here", "a node of js", has_old_words=True)
    assert [(each.terms, each.share) for each in read(store, "node.js").phrases] == [(("node",), 1.0), (("js",), 1.0)]


def test_word_in_some_chunks_finds_its_hyphenated_spelling() -> None:
    store = store_with(*["send an email"] * 9, "send an e-mail")
    (phrase,) = read(store, "email").phrases
    assert [each.terms for each in phrase.any_of] == [("email",), ("e", "mail")]
