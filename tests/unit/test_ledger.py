"""`recall explain`: a chunk's ledger, its neighbours, a second chunk, and the stability of the list."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import reduce
from io import StringIO
from math import fsum
from operator import add, mul
from pathlib import Path
from typing import cast

import pytest

from recall_core.adapters import cli, ledger, searching
from recall_core.adapters.streams import Streams
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.contract.ledger import LeafView, LedgerView, PartView
from recall_core.contract.responses import SearchResponse
from recall_core.embed.model_files import components
from recall_core.errors import RecallError, StaleError, UnknownTarget
from recall_core.explain.explanation import standings
from recall_core.explain.ledger import SHAPLEY_SENTENCES, sentence_contributions, sentences
from recall_core.types import Root, Vector
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.damage import change_vectors

TEXTS = {
    "a.txt": "retry the payment with backoff and a timeout",
    "b.txt": "a timeout of the queue is not an error",
    "c.txt": "payment payment payment retry",
    "d.txt": "nothing of that kind here",
    "e.txt": "a timeout of the queue is not an error",
}
ASK = Ask(settings=("vector_weight=0.4", "bm25_weight=0.6"))


class BlackBox:
    """The hash embedder without its shares; it counts its texts."""

    identity = EMBEDDER.identity
    dimension = EMBEDDER.dimension
    max_input = None

    def __init__(self) -> None:
        self.calls: list[int] = []

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        self.calls.append(len(texts))
        return EMBEDDER.embed(texts)

    def windows(self, texts: Sequence[str]) -> list[int]:
        return [1] * len(texts)


@pytest.fixture
def recall() -> Recall:
    store = memory_store()
    put(store, *(new_file(path, [text]) for path, text in TEXTS.items()))
    return Recall(Engine(store, config=Config(embedding_dim=64, collapse=False), base=Path("/nowhere")))


@pytest.fixture
def crowded_store(recall: Recall) -> Recall:
    """Return the store with a long document, one chunk of which has the words of a query."""
    put(recall.engine.store, new_file("long.txt", ["payment nothing ", "river ", "fish "]))  # type: ignore[arg-type]
    return recall


def chunk_id(recall: Recall, path: str) -> str:
    kind, doc_id = recall.store.resolve(path)[0]
    assert kind == "doc"
    return recall.store.chunks_of(doc_id)[0].chunk.id


def explain(recall: Recall, words: str, path: str, ask: Ask = ASK) -> LedgerView:
    return recall.explain(words, chunk_id(recall, path), ask)["explanation"]["chunk"]


def test_chunk_has_the_rank_score_and_parts_of_search(recall: Recall) -> None:
    listed = recall.search("payment timeout", ASK._replace(explain=True))["results"]
    for rank, result in enumerate(listed, start=1):
        view = explain(recall, "payment timeout", result["doc"]["path"])
        assert (view["rank"], view["of"], view["score"]) == (rank, len(TEXTS), result["score"])
        assert [part["points"] for part in view["explain"]["parts"]] == [
            part["points"] for part in result["explain"]["parts"]
        ]


def test_term_leaf_shows_the_factors_of_its_points(recall: Recall) -> None:
    (leaf, *rest) = explain(recall, "payment", "c.txt", Ask(mode="lexical"))["explain"]["parts"][0]["leaves"]
    assert (leaf["kind"], leaf["text"], leaf["df"]) == ("term", "payment", 2)
    assert leaf["tf"] == {"title": 0, "body": 3}
    assert leaf["length"] == {"title": 0, "body": 4}
    assert leaf["average_length"]["body"] == 7
    assert [each["kind"] for each in rest] in ([], ["rounding"])


def test_word_in_half_the_chunks_is_marked_as_floored(recall: Recall) -> None:
    leaves = explain(recall, "timeout", "a.txt", Ask(mode="lexical"))["explain"]["parts"][0]["leaves"]
    assert leaves[0]["floored"] is True


def test_quoted_phrase_is_one_leaf_with_summed_idf(recall: Recall) -> None:
    words = '"backoff and a timeout"'
    found = recall.search(words, Ask(mode="lexical", explain=True))
    (leaf, *_) = found["results"][0]["explain"]["parts"][0]["leaves"]
    alone = recall.search('"backoff" "and" "a" "timeout"', Ask(mode="lexical"))["query"]["plan"]["signals"][0][
        "terms"
    ]
    assert (leaf["text"], leaf["words"], leaf["df"]) == (words, 4, 1)
    assert leaf["idf"] == reduce(add, (term["idf"] for term in alone))  # sum() is more exact from Python 3.12 on
    assert "floored" not in leaf
    assert found["query"]["plan"]["signals"][0]["terms"][0]["words"] == 4
    (line,) = [
        each for each in searching.hit_lines(cast(SearchResponse, found)) if "backoff and" in each and "term" in each
    ]
    assert f"phrase of 4 words, idf {leaf['idf']:.3f}  in 1 chunk " in line
    assert not [term for term in alone if "words" in term]


def test_chunk_beyond_the_page_is_explained_too(recall: Recall) -> None:
    view = explain(recall, "payment timeout", "d.txt", ASK._replace(k=1))
    assert view["rank"] == len(TEXTS)
    assert "score" in view


def test_chunk_without_any_signal_is_reported(recall: Recall) -> None:
    view = explain(recall, "payment", "d.txt", Ask(mode="lexical"))
    assert (view["rank"], view["absent"]) == (None, "not_in_pool")
    assert view["hint"].startswith("recall whynot payment --target ")


def test_filtered_chunk_is_reported(recall: Recall) -> None:
    view = explain(recall, "payment", "c.txt", ASK._replace(filter="doc.path = 'a.txt'"))
    assert view["absent"] == "filtered"


def test_chunk_below_min_score_still_has_its_ledger(recall: Recall) -> None:
    view = explain(recall, "payment", "d.txt", ASK._replace(settings=("min_score=0.9", "sparse_recall=off")))
    assert (view["rank"], view["absent"]) == (None, "below_min_score")
    assert view["residual"] == pytest.approx(0, abs=1e-9)


def test_equal_scores_are_ordered_by_path(recall: Recall) -> None:
    sides = {each["side"]: each for each in explain(recall, "queue", "b.txt")["neighbours"]}
    assert (sides["below"]["path"], sides["below"]["decided_by"], sides["below"]["margin"]) == ("e.txt", "path", 0)


def test_injected_chunk_has_its_row_from_recall(crowded_store: Recall) -> None:
    recall = crowded_store
    settings = ("vector_weight=0", "sparse_distance_ceiling=2", "min_score=0.2")
    response = recall.search("payment nothing", Ask(k=1, settings=settings))
    assert response["results"][0]["recall_injected"]
    view = explain(recall, "payment nothing", response["results"][0]["doc"]["path"], Ask(k=1, settings=settings))
    assert view["rank"] == 1
    assert "displaced" in view["recall"]
    assert {each["decided_by"] for each in view["neighbours"]} == {"recall"}
    assert not any("flips_at" in each for each in view["neighbours"])


def test_order_by_distance_names_no_weight(crowded_store: Recall) -> None:
    recall = crowded_store
    settings = ("sparse_distance_ceiling=2", "min_score=0.5", "sparse_max_injections=1")
    ask = Ask(k=1, settings=("vector_weight=0", "bm25_weight=1", *settings))
    rows = recall.search("payment nothing", ask._replace(k=3))["results"]
    given = recall.search("payment nothing", ask)["results"][0]["chunk"]["id"]
    other = next(row["chunk"]["id"] for row in rows if row["chunk"]["id"] != given)
    view = recall.explain("payment nothing", given, ask, versus=other)["explanation"]
    assert view["versus"]["decided_by"] == "recall"
    assert "flips_at" not in view["versus"]
    shown = "\n".join(ledger.lines(recall.explain("payment nothing", given, ask, versus=other)))
    assert "by sparse-document recall" in shown
    assert "changes places" not in shown
    rivals = [row["chunk"]["id"] for row in recall.search("payment timeout", ASK)["results"]][:2]
    beside = recall.explain("payment timeout", rivals[0], ASK, versus=rivals[1])["explanation"]["versus"]
    assert "flips_at" in beside


def test_reranker_has_its_own_part_without_leaves(recall: Recall) -> None:
    view = explain(recall, "payment", "a.txt", ASK._replace(settings=("rerank=hash",)))
    parts = {part["signal"]: part for part in view["explain"]["parts"]}
    assert "leaves" not in parts["rerank"]
    assert abs(view["residual"]) < 1e-9


def test_chunk_difference_is_the_difference_of_their_leaves(recall: Recall) -> None:
    one, other = chunk_id(recall, "a.txt"), chunk_id(recall, "c.txt")
    view = recall.explain("payment timeout", one, ASK, versus=other)["explanation"]
    scores = view["chunk"]["score"], view["other"]["score"]
    deltas = [each["delta"] for each in view["versus"]["differences"]]
    assert fsum(deltas) == pytest.approx(scores[0] - scores[1], abs=1e-9)
    assert [abs(delta) for delta in deltas] == sorted(map(abs, deltas), reverse=True)
    assert view["versus"]["winner"] == (one if scores[0] > scores[1] else other)
    assert view["versus"]["margin"] == max(scores) - min(scores)


@pytest.mark.parametrize("settings", [(), ("rerank=hash",), ("fusion=rrf",), ("normalize=minmax",)])
def test_chunk_difference_is_reported_by_signal_too(recall: Recall, settings: tuple[str, ...]) -> None:
    one, other = chunk_id(recall, "a.txt"), chunk_id(recall, "c.txt")
    response = recall.explain("payment timeout", one, ASK._replace(settings=settings), versus=other)
    view = response["explanation"]
    subtotals = view["versus"]["subtotals"]

    for side, ledger_of in (("points", view["chunk"]), ("other_points", view["other"])):
        assert {each["signal"]: each[side] for each in subtotals} == {
            part["signal"]: part["points"] for part in ledger_of["explain"]["parts"]
        }
        assert sum(each[side] for each in subtotals) == ledger_of["score"]
    deltas = fsum(each["delta"] for each in subtotals)
    assert deltas == pytest.approx(view["chunk"]["score"] - view["other"]["score"], abs=1e-12)
    totals = [line.split()[-2] for line in ledger.lines(response) if line.endswith(" total")]
    assert totals == ["lexical", "semantic", "rerank"][: len(subtotals)]


def test_two_chunks_swap_at_the_named_weight(recall: Recall) -> None:
    words, paths = "payment timeout retry queue", list(TEXTS)
    crossings = 0
    for number, path in enumerate(paths):
        for other in paths[number + 1 :]:
            pair = chunk_id(recall, path), chunk_id(recall, other)
            at = recall.explain(words, pair[0], ASK, versus=pair[1])["explanation"]["versus"]["flips_at"]
            if at is not None and 0.01 < at < 0.99:
                crossings += 1
                assert winner(recall, words, pair, at - 1e-3) != winner(recall, words, pair, at + 1e-3)
            elif at is None:
                assert len({winner(recall, words, pair, weight) for weight in (0.001, 0.4, 0.999)}) == 1
    assert crossings


def winner(recall: Recall, words: str, pair: tuple[str, str], weight: float) -> str:
    ask = Ask(settings=(f"vector_weight={weight}", f"bm25_weight={1 - weight}"))
    return recall.explain(words, pair[0], ask, versus=pair[1])["explanation"]["versus"]["winner"]


def test_stability_is_reported_where_weights_decide(recall: Recall) -> None:
    one = chunk_id(recall, "a.txt")
    view = recall.explain("payment timeout", one, ASK._replace(k=3))["explanation"]["stability"]
    assert view["k"] == 3
    assert view["weight"] == pytest.approx(0.4)
    assert view["order"]["low"] <= 0.4 <= view["order"]["high"]
    assert "stability" not in recall.explain("payment", one, Ask(mode="lexical"))["explanation"]


def test_chunk_may_be_named_by_line_or_omitted(crowded_store: Recall) -> None:
    ask = Ask(mode="lexical")
    by_rank = [each["chunk"]["id"] for each in crowded_store.search("payment nothing", ask)["results"]]

    assert crowded_store.explain("payment nothing", None, ask)["explanation"]["chunk"]["id"] == by_rank[0]
    last = crowded_store.explain("payment nothing", by_rank[-1], ask)["explanation"]["chunk"]
    for target in (f"{last['path']}:1", f"{last['path']}:1-1"):
        assert crowded_store.explain("payment nothing", target, ask)["explanation"]["chunk"]["id"] == last["id"]
    of_a_line = crowded_store.explain("fish", "long.txt:1", ask)["explanation"]["chunk"]
    assert of_a_line["id"] == crowded_store.search("fish", ask)["results"][0]["chunk"]["id"]
    put(crowded_store.engine.store, new_file("quoted.txt", ["it stood in none.txt:1"]))  # type: ignore[arg-type]
    for target, code in (("long.txt:9", "bad_lines"), ("none.txt:1", "unknown_target"), (None, "unknown_target")):
        with pytest.raises(RecallError) as caught:
            crowded_store.explain("quokka", target, ask)
        assert caught.value.code == code, target


def test_unknown_chunk_is_an_unknown_target(recall: Recall) -> None:
    for target in ("abcdef123", "a.txt"):
        with pytest.raises(UnknownTarget) as caught:
            recall.explain("payment", target, ASK)
        assert (caught.value.code, caught.value.exit_code) == ("unknown_target", 8)


def test_joined_sentences_are_the_text() -> None:
    text = "One. Two!  Three?\n\nfour\n五。六"
    assert "".join(sentences(text)) == text
    assert [each.strip() for each in sentences(text)] == ["One.", "Two!", "Three?", "four\n五。", "六"]
    assert sentences(" \n") == []


def test_few_sentences_get_shapley_values_from_one_call() -> None:
    box, text = BlackBox(), "Retry the payment. Queue it. The payment failed."
    made = sentence_contributions(box, "payment retry", text)
    assert [each.kind for each in made] == ["sentence"] * 3
    assert fsum(each.value for each in made) == pytest.approx(cosine("payment retry", text), abs=1e-9)
    assert box.calls == [1, 2**3 - 1]


def test_many_sentences_get_removal_costs_and_a_residual() -> None:
    text = " ".join(f"Payment number {n}." for n in range(SHAPLEY_SENTENCES + 1))
    made = sentence_contributions(BlackBox(), "payment", text)
    assert [each.kind for each in made] == ["removal"] * (SHAPLEY_SENTENCES + 1) + ["residual"]
    assert fsum(each.value for each in made) == pytest.approx(cosine("payment", text), abs=1e-9)


def cosine(question: str, text: str) -> float:
    question_vector, vector = map(components, EMBEDDER.embed([question, text]))
    return fsum(map(mul, question_vector, vector))


def test_only_explain_asks_a_black_box_about_sentences(recall: Recall) -> None:
    box = BlackBox()
    recall.engine._embedder = box
    result = recall.search("payment timeout", ASK._replace(explain=True))["results"][0]
    assert "leaves" not in {part["signal"]: part for part in result["explain"]["parts"]}["semantic"]
    assert box.calls == [1]
    view = recall.explain("payment timeout", result["chunk"]["id"], ASK)["explanation"]["chunk"]
    kinds = {leaf["kind"] for leaf in view["explain"]["parts"][1]["leaves"]}
    assert "sentence" in kinds
    assert abs(view["residual"]) < 1e-9


def test_vector_of_another_text_leaves_a_residual(recall: Recall) -> None:
    with recall.store.transaction():
        change_vectors(recall.store.db)  # type: ignore[attr-defined]
        recall.store.execute("UPDATE vec SET embedding = ?", (EMBEDDER.embed(["payment timeout"])[0],))
    semantic = explain(recall, "payment timeout", "d.txt")["explain"]["parts"][1]
    assert semantic["leaves"][-1]["kind"] == "residual"


def test_cosine_below_zero_is_clipped(recall: Recall) -> None:
    for words in ("error", "kind", "backoff", "queue", "retry"):
        for path in TEXTS:
            part = explain(recall, words, path, Ask(mode="semantic"))["explain"]["parts"][0]
            if part["raw"] is not None and part["raw"] < 0:
                assert part["leaves"][-1]["kind"] == "clipped"
                assert fsum(leaf["points"] for leaf in part["leaves"]) == pytest.approx(0, abs=1e-12)
                return
    pytest.fail("no cosine is below 0")


def test_standings_follow_the_order_of_the_rows(recall: Recall) -> None:
    found = recall.engine.answer(recall.engine.words_plan("payment", ASK))
    rows = recall.store.fetch([key.rowid for key in found.pool.keys]) if found.pool else []
    made = standings(found, rows, recall.store, recall.engine.embedder)
    assert [each.row for each in made] == rows
    assert sorted(each.place for each in made if each.place is not None) == list(range(len(TEXTS)))


def test_tree_shows_bars_a_sum_and_the_neighbours(recall: Recall) -> None:
    pair = chunk_id(recall, "a.txt"), chunk_id(recall, "c.txt")
    response = recall.explain("payment timeout", pair[0], ASK, versus=pair[1])
    lines = list(ledger.lines(response))
    assert lines[0].startswith("a.txt:1  ")
    assert lines[1] == "       " + response["explanation"]["chunk"]["passage"]["text"]
    assert sum("Σ ✓" in line for line in lines) == 2
    assert any("term      payment" in line and "#" in line for line in lines)
    assert any(line.startswith(("above", "below")) for line in lines)
    assert any("leads by" in line for line in lines)
    assert lines[-1].startswith("members")


def test_absent_chunk_is_one_line(recall: Recall) -> None:
    lines = list(ledger.lines(recall.explain("payment", chunk_id(recall, "d.txt"), Ask(mode="lexical"))))
    assert lines[2].startswith("not among the 2 rows: no signal found it; recall whynot payment --target")


def test_command_exits_0_or_8(recall: Recall) -> None:
    out, err = StringIO(), StringIO()
    streams = Streams(StringIO(), out, err)
    prefix = chunk_id(recall, "d.txt")[:12]
    codes = [
        cli.main(["explain", "payment", *rest], streams=streams, opener=lambda _: nullcontext(recall))
        for rest in (["--chunk", prefix], ["--chunk", "abcdef123"], [])
    ]
    assert codes == [0, 8, 0]
    assert prefix in out.getvalue()


def test_changed_file_is_reported_or_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("retry the payment", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path / "recall.db")) as recall:
        for _ in recall.add([str(tmp_path / "a.txt")], Root(folder="")):
            pass
        (tmp_path / "a.txt").write_text("something else by now", encoding="utf-8")
        target = recall.search("payment")["results"][0]["chunk"]["id"]
        assert [each.split(":")[0] for each in recall.explain("payment", target, Ask())["warnings"]] == ["W_STALE"]
        with pytest.raises(StaleError):
            recall.explain("payment", target, Ask(strict_fresh=True))


def test_blank_token_is_quoted() -> None:
    leaf: LeafView = {"kind": "token", "text": "", "contribution": 0.5, "points": 0.25}
    part: PartView = {
        "signal": "semantic",
        "raw": 0.5,
        "rank": 1,
        "value": 0.5,
        "weight": 0.5,
        "points": 0.5,
        "leaves": [leaf, {**leaf, "text": " \n"}],
    }

    assert list(ledger.leaf_lines(part)) == ["    +0.250  token     ''", "    +0.250  token     ' \\n'"]
