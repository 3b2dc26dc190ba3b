"""Passages, compared with a search of every window and with the tokens of the index."""

from __future__ import annotations

import re
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from recall_core.retrieve.passage import best_window
from recall_core.store.port import Instance
from recall_core.store.sqlite.lexical import expression
from recall_core.types import RawQuery, TermStat
from recall_core.words.question import literal
from tests.builders import memory_store, new_file, put
from tests.windows import check_window

WORDS = ("ant", "bee", "cow")
PIECE = st.sampled_from(
    [
        *WORDS,
        *WORDS,
        "word",
        "x" * 70,
        "Über",
        "鱼",
        "e\u0301",
        " ",
        " ",
        "  ",
        ". ",
        "! ",
        ".\n",
        "\n",
        "\n\n",
        "\r\n",
        "。",
    ]
)
TEXTS = st.lists(PIECE, max_size=60).map("".join)
WEIGHTS = st.lists(st.sampled_from([1e-6, 0.5, 1.0, 1.0, 2.5]), min_size=3, max_size=3)


def instances(text: str) -> list[Instance]:
    """Return every occurrence of the words, and of the first two next to each other."""
    found = [
        Instance(n, each.start(), each.end()) for n, word in enumerate(WORDS) for each in re.finditer(word, text)
    ]
    pairs = re.finditer(r"ant\s+bee", text)
    return [*found, *(Instance(3, each.start(), each.end()) for each in pairs)]


@given(TEXTS, WEIGHTS)
def test_window_is_the_best_of_all(text: str, weights: list[float]) -> None:
    weights = [*weights, weights[0] + weights[1]]
    found = instances(text)
    best = best_window(text, found, [TermStat(str(n), 1, weight) for n, weight in enumerate(weights)])
    check_window(text, found, weights, best)


@given(
    st.lists(
        st.sampled_from(
            ["Fish", "fishing", "naïve", "naive", "鱼", "件鱼", "😀", "e\u0301", "-", "x_y", " ", "\n", ", "]
        )
    ).map("".join)
)
def test_every_token_of_the_stem_counts_and_no_other(text: str) -> None:
    if not text.strip():
        return
    store = memory_store()
    put(store, new_file("a.txt", [text]))
    asked = literal("fish naive 鱼 y", analyzer=store.analyzer, match="any")
    rows = store.fetch([key.rowid for key in store.candidates(None)])
    (found,) = store.instances(asked, store.term_stats(asked), rows)

    assert [(each.start, each.end) for each in found] == store.analyzer.spans(text, ["fish", "naive", "鱼", "y"])


ASKED = ("fish", "fishes", '"fish naive"', '"naive fishing"', '"fish fish"', "鱼", '"件鱼"', "y", "unknown")


@given(
    texts=st.lists(
        st.lists(
            st.sampled_from(
                ["Fish", "fishing", "naïve", "naive", "鱼", "件鱼", "😀", "e\u0301", "x_y", " ", " ", "\n", ", "]
            )
        )
        .map("".join)
        .filter(lambda text: bool(text.strip())),
        min_size=1,
        max_size=4,
    ),
    asked=st.lists(st.sampled_from(ASKED), min_size=1, max_size=5).map(" ".join),
    match=st.sampled_from(["any", "all"]),
)
def test_words_and_phrases_match_where_fts5_matches(
    texts: list[str], asked: str, match: Literal["any", "all"]
) -> None:
    store = memory_store()
    put(store, *(new_file(f"{n} fish naive 鱼.txt", [text]) for n, text in enumerate(texts)))
    query = literal(asked, analyzer=store.analyzer, match=match)
    rows = store.fetch([key.rowid for key in store.candidates(None)])
    terms = store.term_stats(query)
    raw = RawQuery(expression(query))
    of_fts5 = store.instances(raw, store.term_stats(raw), rows)

    assert store.instances(query, terms, rows) == of_fts5
