"""The sentence above a ledger in the workbench claims nothing that the answer does not support."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.recall import Ask, Recall
from recall_core.contract.ledger import LeafView, LedgerView
from recall_core.explain.explanation import explanation
from recall_core.retrieve.answer import Answer, hits
from recall_core.types import SIGNALS, Hit, Row
from recall_tui.analyses.explain import rows_around, words_by_rank
from recall_tui.panes.ledger import AHEAD, BEST, ORDINALS, TIES, sentence
from tests.examples import examples
from tests.property.test_ledger import DOCUMENTS, QUESTIONS, SETTINGS, recall_of

COUNT = re.compile(r"\((\d+) of (\d+)\)|found in (\d+) of (\d+) chunks|this chunk of (\d+) contains")


class Told(NamedTuple):
    """A sentence with its subject."""

    text: str
    words: tuple[str, ...]
    hit: Hit
    view: LedgerView
    above: Hit | None


def tell(recall: Recall, found: Answer, rank: int) -> Told:
    store = recall.store
    first = words_by_rank(found, range(1, min(found.plan.limit, found.total) + 1), store)
    (hit,) = hits(found, store, start=rank - 1, stop=rank)
    above = next(iter(hits(found, store, start=rank - 2, stop=rank - 1)), None) if rank > 1 else None
    view = explanation(found, row_of(found, recall, rank), store=store, embedder=recall.engine.embedder)["chunk"]
    said = sentence(hit, view, rows_around(found, rank, store, first=first))
    return Told(
        "".join(each.text for each in said), tuple(each.text for each in said if each.is_word), hit, view, above
    )


def row_of(found: Answer, recall: Recall, rank: int) -> Row:
    assert found.pool is not None
    assert found.ranked is not None
    (row,) = recall.store.fetch([found.pool.keys[found.ranked.order[rank - 1]].rowid])
    return row


def terms(view: LedgerView) -> dict[str, LeafView]:
    leaves = [leaf for part in view["explain"]["parts"] for leaf in part.get("leaves", [])]
    return {" ".join(leaf["text"].split()): leaf for leaf in leaves if leaf["kind"] == "term"}


@given(documents=DOCUMENTS, words=QUESTIONS, mode=st.sampled_from(["hybrid", "lexical", "semantic"]), chosen=SETTINGS)
@examples(20)
def test_every_claim_of_the_sentence_is_true(
    documents: list[tuple[str, list[str]]], words: str, mode: str, chosen: tuple[str, ...]
) -> None:
    recall = recall_of(documents)
    found = recall.engine.answer(recall.engine.words_plan(words, Ask(k=4, mode=mode, settings=chosen)))
    with recall.store.reading():
        shown = [tell(recall, found, rank) for rank in range(1, found.total + 1)]
        held = words_by_rank(found, range(1, found.total + 1), recall.store)
    for each in shown:
        assert found.pool is not None
        df = {" ".join(term.text.split()): term.df for term in found.pool.terms}
        check(each, shown, held, df, chunks=recall.store.info().chunks, first=min(4, found.total))


def check(
    each: Told,
    shown: list[Told],
    held: dict[int, tuple[str, ...]],
    df: dict[str, int],
    *,
    chunks: int,
    first: int,
) -> None:
    text, rank = each.text, each.hit.rank
    own = [" ".join(word.split()) for word in held[rank]]
    assert text.endswith(".")
    assert text.startswith(f"{ORDINALS[rank - 1]}: " if rank <= 10 else f"Row {rank} of {len(shown)}: ")
    rival = [" ".join(word.split()) for word in held.get(rank - 1, ())]
    for word in each.words:
        is_rivals = f"contains {word} (" in text
        assert (word in rival and word not in own) if is_rivals else word in own
        counted = re.search(rf"{re.escape(word)} \((\d+) of", text)
        assert counted is None or int(counted[1]) == df[word]
        assert is_rivals or terms(each.view)[word]["df"] == df[word]
    for counts in COUNT.finditer(text):
        figures = [int(figure) for figure in counts.groups() if figure is not None]
        assert figures[-1] == chunks
    if "only this" in text:
        (word, *_) = each.words
        leaf = terms(each.view)[word]
        others = [other for other in range(1, first + 1) if other != rank]
        assert f"found in {leaf['df']} of" in text if "only this row" in text else leaf["df"] == 1
        assert all(word not in [" ".join(text.split()) for text in held[other]] for other in others)
        if rank < len(shown):
            below = shown[rank].hit.score
            assert below is not None
            assert each.hit.score is not None
            assert each.hit.score - leaf["points"] < below
    parts = {part.signal: part for part in each.hit.parts}
    for signal in SIGNALS:
        if BEST[signal] in text:
            assert parts[signal].rank == 1
        if each.above is not None and AHEAD[signal].format(f"#{rank - 1}") in text:
            assert next(part for part in each.above.parts if part.signal == signal).points > parts[signal].points
    if any(rule in text for rule in TIES.values()):
        neighbours = [shown[at].hit.score for at in (rank - 2, rank) if 0 <= at < len(shown)]
        assert each.hit.score in neighbours
    if "nothing that was asked" in text:
        assert all(part.points <= 0 for part in each.hit.parts)


ONE = [("", ["alpha beta "]), ("", ["beta "]), ("", ["filler "]), ("", ["beta filler "])]


@pytest.mark.parametrize(
    ("documents", "words", "rank", "said"),
    [
        (ONE, "alpha beta", 1, "First: only this chunk of 4 contains alpha."),
        (ONE, "alpha beta", 2, "Second: 2nd by words, most by beta (3 of 4); #1 also contains alpha (1 of 4)."),
        ([("", ["beta "]), ("", ["filler "]), ("", ["beta "])], "beta", 1, "equal scores go by path."),
    ],
)
def test_deciding_word_is_named(documents: list[tuple[str, list[str]]], words: str, rank: int, said: str) -> None:
    recall = recall_of(documents)
    settings = ("vector_weight=0", "sparse_recall=false", "collapse=false", "stop_words=none")
    found = recall.engine.answer(recall.engine.words_plan(words, Ask(k=4, settings=settings)))

    assert said in tell(recall, found, rank).text
