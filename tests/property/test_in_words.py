"""The sentence above a ledger claims nothing that the answer does not support, for any query."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.recall import Ask, Recall
from recall_core.contract.ledger import ExplainView, LeafView, PartView
from recall_core.contract.views import ResultView
from recall_core.explain.ledger import Among, sentence
from tests.examples import examples
from tests.property.test_ledger import DOCUMENTS, QUESTIONS, SETTINGS, SHAPES, recall_of

NAMED = ("term", "feature", "token", "sentence")
SHARE = r"(?P<points>[\d.]+)(?: of |, reduced to )(?P<score>[\d.]+)"
ALONE = "no other row shown has points for "
WHERE = re.compile(r"(first|row (?P<rank>[\d,]+) of (?P<of>[\d,]+)|not in the list)")
TERM = re.compile(rf"\*(?P<text>.+)\* \(in (?P<df>[\d,]+) of (?P<chunks>[\d,]+) chunks?\): {SHARE}")
MEANING = re.compile(rf"the meaning of \*(?P<text>.+)\*: {SHARE}")
PART = re.compile(rf"(?P<part>its words|its meaning|the reranker): {SHARE}")
SIGNALS = {"its words": "lexical", "its meaning": "semantic", "the reranker": "rerank"}


def figure(text: str) -> int:
    return int(text.replace(",", ""))


def terms(result: ResultView) -> list[str]:
    return [
        leaf["text"]
        for part in result["explain"]["parts"]
        for leaf in part.get("leaves", [])
        if leaf["kind"] == "term"
    ]


def check(
    view: ExplainView, own: str, results: Sequence[ResultView], *, rank: int | None, of: int, chunks: int
) -> str:
    """Check every claim against the answer, and return the form of the sentence."""
    told = view["summary"]
    where = WHERE.match(told)
    assert where is not None
    assert (told.startswith("first"), told.startswith("not in")) == (rank == 1, rank is None)
    assert where["rank"] is None or (figure(where["rank"]), figure(where["of"])) == (rank, of)
    points = [part["points"] for part in view["parts"]]
    if "sparse-document recall" in told:
        (result,) = (each for each in results if each["chunk"]["id"] == own)
        assert f"at distance {result['recall']['distance']:g}" in told
        return "recall"
    if ", 0 points: " in told:
        assert max(points, default=0.0) <= 0
        return "nothing"
    found = TERM.search(told) or MEANING.search(told) or PART.search(told)
    assert found is not None
    assert found["score"] == f"{sum(points):.3f}"
    claims = found.groupdict()
    leaves = [leaf for part in view["parts"] for leaf in part.get("leaves", []) if leaf["kind"] in NAMED]
    if "part" in claims:
        (part,) = (each for each in view["parts"] if each["signal"] == SIGNALS[claims["part"]])
        assert part["points"] == max(points)
        assert found["points"] == f"{part['points']:.3f}"
        return "part"
    best = max(leaves, key=lambda leaf: leaf["points"])
    assert best["text"] == found["text"]
    assert found["points"] == f"{best['points']:.3f}"
    if "df" in claims:
        check_term(told, best, own, results, score=sum(points))
        assert (figure(found["df"]), figure(found["chunks"])) == (best["df"], chunks)
    return "alone" if ALONE in told else "leaf"


def check_term(told: str, leaf: LeafView, own: str, results: Sequence[ResultView], *, score: float) -> None:
    others = [result for result in results if result["chunk"]["id"] != own]
    if ALONE in told:
        assert others != []
        assert not any(leaf["text"] in terms(result) for result in others)
    if "because" in told:
        assert score - leaf["points"] < max(result["score"] for result in others)


@given(documents=DOCUMENTS, words=QUESTIONS, mode=st.sampled_from(["hybrid", "lexical", "semantic"]), chosen=SETTINGS)
@examples(20)
def test_every_claim_of_a_sentence_is_true(
    documents: list[tuple[str, list[str]]], words: str, mode: str, chosen: tuple[str, ...]
) -> None:
    recall = recall_of(documents)
    ask = Ask(k=4, mode=mode, settings=chosen, explain=True)
    results = recall.search(words, ask)["results"]
    chunks = recall.store.info().chunks
    for rank, result in enumerate(results, start=1):
        own = result["chunk"]["id"]
        explained = recall.explain(words, own, ask)["explanation"]["chunk"]
        assert explained["rank"] == rank
        check(result["explain"], own, results, rank=rank, of=explained["of"], chunks=chunks)
        check(explained["explain"], own, results, rank=rank, of=explained["of"], chunks=chunks)


@given(documents=DOCUMENTS, match=SHAPES)
@examples(40)
def test_sentences_of_raw_expressions_are_true(documents: list[tuple[str, list[str]]], match: str) -> None:
    text = match.replace("'", "''")
    recall = recall_of(documents)
    rql = f"SELECT * FROM chunk USING lexical_fts('{text}'), semantic('alpha') LIMIT 5"
    answer = recall.query(rql, Ask(explain=True))
    total = answer["stats"]["total_hits"]
    for rank, result in enumerate(answer["results"], start=1):
        own, chunks = result["chunk"]["id"], recall.store.info().chunks
        check(result["explain"], own, answer["results"], rank=rank, of=total, chunks=chunks)


ONE = [("", ["alpha beta "]), ("", ["beta "]), ("", ["filler "]), ("", ["beta filler "])]


def summaries_of(recall: Recall, words: str, **settings: str) -> list[str]:
    given = tuple(f"{key}={value}" for key, value in settings.items())
    return [each["explain"]["summary"] for each in recall.search(words, Ask(explain=True, settings=given))["results"]]


def test_deciding_word_is_named_as_the_reason() -> None:
    assert summaries_of(recall_of(ONE), "alpha beta", vector_weight="0")[0].startswith(
        "first because no other row shown has points for *alpha* (in 1 of 4 chunks): "
    )
    assert "because" not in summaries_of(recall_of(ONE[:1]), "alpha")[0]


def test_summary_names_signal_and_reports_missing_points() -> None:
    summaries = summaries_of(recall_of(ONE), "alpha", fusion="rrf", vector_weight="0", sparse_recall="false")

    assert summaries[0].startswith("first, mostly from its words: ")
    assert summaries[-1].endswith(", 0 points: nothing in the query matches it")


def test_no_word_is_called_largest_while_unlisted_words_remain() -> None:
    def said(points: float) -> str:
        word = LeafView(kind="term", text="y", points=points, df=1)
        words = PartView(signal="lexical", raw=1, value=0.1, weight=1, rank=1, points=points, leaves=[word])
        leaves = [
            LeafView(kind="collision", text="x", points=-0.4),
            LeafView(kind="feature", text="z", points=-0.2),
            LeafView(kind="other", text="9 smaller", points=1.1),
        ]
        meaning = PartView(signal="semantic", raw=0.5, value=0.5, weight=1, rank=1, points=0.5, leaves=leaves)
        return sentence(ExplainView(parts=[words, meaning]), Among(rank=1, of=9, chunks=9))

    assert said(0.3) == "first, mostly from *y* (in 1 of 9 chunks): 0.300 of 0.800"
    assert said(0.1) == "first, mostly from its meaning: 0.500 of 0.600"


def test_row_given_by_sparse_recall_is_named() -> None:
    view = ExplainView(parts=[])

    assert sentence(view, Among(rank=3, of=9, chunks=9, distance=0.125)) == (
        "row 3 of 9: sparse-document recall gave it this row (short document at distance 0.125)"
    )


@pytest.mark.parametrize(("rank", "said"), [(None, "not in the list"), (1, "first"), (1234, "row 1,234 of 5,678")])
def test_rank_comes_first(rank: int | None, said: str) -> None:
    assert sentence(ExplainView(parts=[]), Among(rank=rank, of=5678, chunks=9)).startswith(f"{said}, ")
