"""Receipts: a repeated query gives an identical answer, and every changed byte is detected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.recall import Recall
from recall_core.errors import UsageError
from recall_core.maintain.receipts import read_receipt, seal
from recall_core.types import Root

TEXTS = (
    "red fish, blue fish",
    "one fish. fish fish",
    "nothing of the kind",
    "色 blue 红色的鱼",
    "fish\n\n# one\n\nred",
    "",
)
WORDS = st.lists(st.sampled_from(["fish", "red", '"blue fish"', "色", "zzz", "the"]), max_size=3).map(" ".join)
FILTERS = st.sampled_from([None, "doc.tag = 'even'", "doc.path GLOB '*1*'", "doc.meta.n >= 1.5", "chunk.tokens > 99"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "fusion": st.sampled_from(["rrf", "weighted"]),
        "normalize": st.sampled_from(["bound", "max", "minmax"]),
        "match": st.sampled_from(["any", "all"]),
        "lexical_model": st.sampled_from(["fts5", "bm25f"]),
        "title_weight": st.floats(0, 10),
        "min_score": st.floats(0, 0.9),
        "min_cosine": st.sampled_from([0, 0.2]),
        "vector_weight": st.floats(0.01, 1),
        "sparse_recall": st.booleans(),
        "rerank": st.sampled_from(["", "hash"]),
        "header": st.sampled_from(["[{n}] {path}", "", "« {title} »"]),
    },
)
QUESTIONS = st.fixed_dictionaries(
    {
        "k": st.none() | st.integers(0, 4),
        "mode": st.sampled_from(["hybrid", "lexical", "semantic"]),
        "filter": FILTERS,
        "settings": SETTINGS,
        "exact": st.booleans(),
    }
)
PACKS = st.fixed_dictionaries(
    {
        "budget_tokens": st.integers(1, 60),
        "diversity": st.none() | st.integers(0, 2),
        "format": st.sampled_from(["plain", "markdown"]),
        "counter": st.sampled_from([None, "approx", "whitespace"]),
    }
)


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    home: Path = tmp_path_factory.mktemp("receipts")
    with Recall.open(str(home / "recall.db"), create=True) as opened:
        for number, text in enumerate(TEXTS):
            (home / f"ü{number}.md").write_text(text)
            tags = ("even",) if number % 2 == 0 else ()
            for _ in opened.add([str(home / f"ü{number}.md")], Root("", tags=tags, meta=(("n", number / 2),))):
                pass
        yield opened


def identical(recall: Recall, answer: Any) -> bool:
    view = recall.replay(answer["receipt"]["text"])["replay"]
    assert view["sha256"] == answer["receipt"]["sha256"]
    return view["identical"] and not view["changes"]


@given(words=WORDS, question=QUESTIONS)
def test_repeated_list_is_identical(recall: Recall, words: str, question: dict[str, Any]) -> None:
    assert identical(recall, recall.search(words, receipt=True, **question))


@given(words=WORDS, question=QUESTIONS, pack=PACKS)
def test_repeated_context_is_identical(
    recall: Recall, words: str, question: dict[str, Any], pack: dict[str, Any]
) -> None:
    assert identical(recall, recall.context(words, receipt=True, **question, **pack))


CLAUSES = st.tuples(
    st.sampled_from(["", "USING lexical('fish')", "USING semantic('red'), lexical_fts('fish OR re*')"]),
    FILTERS.map(lambda where: f"FILTER {where}" if where else ""),
    st.sampled_from(["", "ORDER BY doc.path DESC", "ORDER BY doc.mtime"]),
    st.sampled_from(["", "LIMIT 2", "LIMIT 2 OFFSET 1", "LIMIT 0"]),
).map(" ".join)


@given(table=st.sampled_from(["chunk", "doc"]), clauses=CLAUSES)
def test_repeated_query_is_identical(recall: Recall, table: str, clauses: str) -> None:
    assert identical(recall, recall.query(f"SELECT * FROM {table} {clauses}", receipt=True))


@given(words=WORDS, draw=st.data())
def test_changing_any_byte_of_a_receipt_is_detected(recall: Recall, words: str, draw: st.DataObject) -> None:
    raw = recall.search(words, receipt=True)["receipt"]["text"].encode()
    at = draw.draw(st.integers(0, len(raw) - 1))
    other = draw.draw(st.integers(0, 255).filter(lambda byte: byte != raw[at]))
    cut = draw.draw(st.integers(0, len(raw) - 1))

    for changed in (raw[:at] + bytes([other]) + raw[at + 1 :], raw[:cut], raw + b"\n", b" " + raw):
        with pytest.raises(UsageError) as caught:
            read_receipt(changed)
        assert caught.value.code == "bad_receipt"


@given(words=WORDS)
def test_receipt_survives_reading_and_writing(recall: Recall, words: str) -> None:
    text = recall.context(words, receipt=True)["receipt"]["text"]
    assert seal(read_receipt(text.encode())) == text
