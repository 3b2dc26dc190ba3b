"""A short document in a context: its share of the budget, and what every command reports about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters.render import talk_of_context
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.types import Root
from tests.contracts import validator

WORDS = "kestrel gateway throttle"
NOTE = "kestrelgateway throttle = 7741\n"
NEAR = ("sparse_distance_ceiling=0.8", "vector_weight=0", "sparse_share=0")
SHARED = (*NEAR, "sparse_share=0.15")


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Yield two manuals of a dozen chunks with the words in every sentence, and a note that joins the words."""
    folder = tmp_path_factory.mktemp("manuals")
    for volume in range(2):
        lines = [f"The kestrel gateway throttle of section {n} volume {volume}. " * 5 for n in range(12)]
        (folder / f"manual{volume}.md").write_text("\n\n".join(lines))
    (folder / "note.txt").write_text(NOTE)
    (folder / "tea.txt").write_text("Tea is made of leaves, and of water that boils.\n")
    Recall.init(str(folder), embedding="hash", settings=("chunk_tokens=50", "overlap_tokens=0"))
    with Recall.open(start=folder) as opened:
        list(opened.add([str(folder)], Root("")))
        yield opened


def context(recall: Recall, budget_tokens: int, *settings: str, k: int | None = None, **pack: Any) -> dict[str, Any]:
    ask = Ask(k=k, settings=settings or SHARED, explain=True)
    response: Any = recall.context(WORDS, ask, Pack(budget_tokens=budget_tokens, **pack))
    validator().validate(json.loads(json.dumps(response)))
    return dict(response)


def paths(response: dict[str, Any]) -> list[str]:
    return [block["path"] for block in response["context"]["blocks"]]


def test_short_document_keeps_its_share_of_a_context(recall: Recall) -> None:
    for k in [None, 10]:
        shared, plain = context(recall, 300, k=k), context(recall, 300, *NEAR, k=k)

        assert "note.txt" in paths(shared), k
        assert "note.txt" not in paths(plain), k
        assert "reserved_tokens" not in plain["context"], k
        assert shared["context"]["reserved_tokens"] == 45, k
        assert [chunk["recall_injected"] for chunk in shared["context"]["chunks"] if chunk["path"] == "note.txt"] == [
            True
        ], k
        assert shared["context"]["used_tokens"] <= 300, k


def test_context_without_k_leaves_every_row_at_its_rank(recall: Recall) -> None:
    shared = context(recall, 5_000)
    ranked = recall.search(WORDS, Ask(k=100, settings=NEAR))["results"]

    packed = {
        chunk["id"]: rank for block in shared["context"]["blocks"] for chunk, rank in _with_ranks(shared, block)
    }
    assert packed == {
        each["chunk"]["id"]: rank for rank, each in enumerate(ranked, 1) if each["chunk"]["id"] in packed
    }
    assert shared["sparse"]["reason"] == "injected"


def _with_ranks(response: dict[str, Any], block: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    chunks = {chunk["id"]: chunk for chunk in response["context"]["chunks"]}
    for chunk_id, rank in zip(block["chunk_ids"], block["ranks"], strict=True):
        yield chunks[chunk_id], rank


def test_list_of_short_documents_reserves_nothing(recall: Recall) -> None:
    response: Any = recall.context(
        "tea of leaves", Ask(k=1, settings=(*SHARED, "sparse_distance_ceiling=2"), explain=True), Pack()
    )
    assert response["sparse"]["reason"] == "not_mostly_long"
    assert (response["sparse"]["rows"], response["sparse"]["long_rows"]) == (1, 0)
    assert "reserved_tokens" not in response["context"]
    told = "sparse     nothing recalled: not_mostly_long (0 of 1 rows are of documents with more than 2 chunks)"
    assert told in list(talk_of_context(response, True))


def test_eval_reports_fact_blocked_without_crowding_documents(recall: Recall, tmp_path: Path) -> None:
    fixture = {"id": "gateway", "query": "tea of leaves", "gold": "note.txt", "must_contain": ["7741"]}
    (tmp_path / "facts.jsonl").write_text(json.dumps(fixture))
    ask = Ask(k=1, settings=(*SHARED, "sparse_distance_ceiling=2"))

    view = recall.check_fixtures(tmp_path / "facts.jsonl", ask)["fixtures"]

    assert [result.get("blocked") for result in view["results"]] == ["not_mostly_long"]
    assert view["sparse_recall"]["blocked"] == {"not_mostly_long": 1}


def test_calibration_considers_only_lists_of_long_documents(recall: Recall, tmp_path: Path) -> None:
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    asked = {"q0": WORDS, "q1": "tea of leaves"}
    queries.write_text("".join(json.dumps({"_id": each, "text": text}) + "\n" for each, text in asked.items()))
    qrels.write_text("query-id\tcorpus-id\tscore\nq0\tnote.txt\t1\nq1\tnote.txt\t1\n")

    view = recall.calibrate_sparse(Ask(k=1), queries=queries, qrels=qrels)["calibration"]

    assert (view["queries"], view["mostly_long"], view["left_out"]) == (2, 1, 2)
    assert view["relevant"]["count"] == 1
    assert view["proposed"]["injections"] == 1


def test_reserved_tokens_are_reported(recall: Recall) -> None:
    response: Any = context(recall, 300)
    assert any("45 reserved for recalled documents" in line for line in talk_of_context(response, False))


def test_pinned_and_dropped_documents_reserve_no_budget(recall: Recall) -> None:
    for pack in ["rank", "optimal"]:
        note = next(
            chunk["id"] for chunk in context(recall, 300, pack=pack)["context"]["chunks"] if "7741" in chunk["text"]
        )
        pinned, dropped = (
            context(recall, 300, pack=pack, pins=(note,)),
            context(recall, 300, pack=pack, drops=(note,)),
        )

        assert "note.txt" in paths(pinned), pack
        assert "note.txt" not in paths(dropped), pack
        assert "reserved_tokens" not in {**pinned["context"], **dropped["context"]}, pack


def test_optimal_packing_reserves_the_same_share(recall: Recall) -> None:
    response = context(recall, 300, pack="optimal")
    assert paths(response)[-1] == "note.txt"
    assert response["context"]["reserved_tokens"] == 45
    assert response["context"]["account"]["efficiency"] <= 1


def test_whynot_of_a_context_row_names_a_sufficient_budget(recall: Recall) -> None:
    ask, pack = Ask(settings=SHARED), Pack(budget_tokens=300)
    left_out = context(recall, 300)["context"]["omitted"][-1]["id"]
    view = recall.why_not(WORDS, left_out, ask, pack=pack)["whynot"]

    budget = next(stage for stage in view["stages"] if stage["stage"] == "budget")
    assert view["verdict"] in ("budget", "truncated")
    assert "of 255 left (without 45 reserved for a short document)" in budget["detail"]
    assert budget["evidence"]["left_tokens"] < 255
    assert "budget" in {fix["kind"] for fix in view["fixes"]}


def test_account_of_a_short_document_mentions_its_reserve(recall: Recall) -> None:
    view = recall.why_not(WORDS, "note.txt", Ask(settings=SHARED), pack=Pack(budget_tokens=300))["whynot"]
    stages = {stage["stage"]: stage for stage in view["stages"]}

    assert view["present"]
    assert stages["sparse"]["detail"].startswith("has a reserved part of the budget")
    assert "of 45 tokens left (reserved for short documents)" in stages["budget"]["detail"]


def test_document_too_large_for_its_reserve_is_omitted_by_budget(recall: Recall) -> None:
    shared = context(recall, 30)
    assert [left["reason"] for left in shared["context"]["omitted"] if left["path"] == "note.txt"] == ["budget"]
    view = recall.why_not(WORDS, "note.txt", Ask(settings=SHARED), pack=Pack(budget_tokens=30))["whynot"]
    fix = next(fix for fix in view["fixes"] if fix["kind"] == "budget")
    assert view["verdict"] == "budget"
    assert any("sparse_share=0.15" in setting or "budget_tokens" in setting for setting in fix["settings"])


def test_trace_counts_the_rows_of_the_context(recall: Recall) -> None:
    view = recall.trace(WORDS, Ask(settings=SHARED), Pack(budget_tokens=300))
    packed = next(stage for stage in view["trace"]["stages"] if stage["stage"] == "packed")
    assert packed["rows_out"] == len(context(recall, 300)["context"]["chunks"])
