from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.evaluate.calibrate import Effect, JudgedDistances, ShortDocument, effect, held_out, propose
from recall_core.maintain.checks import ceiling_reachable
from recall_core.types import Root


def near(*rows: tuple[float, bool]) -> list[ShortDocument]:
    return [ShortDocument(query, distance, relevant) for query, (distance, relevant) in enumerate(rows)]


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "vault.md").write_text("The vault code of the harbour office is 7741 and nobody else may know it.\n")
    for n in range(4):
        text = "\n\n".join(f"Office vault harbour code rules {n} {i}. " + "Office code. " * 20 for i in range(6))
        (docs / f"rules-{n}.md").write_text(f"# Vault code office harbour\n\n{text}\n")
    Recall.init(str(tmp_path), settings=("chunk_tokens=40", "overlap_tokens=0"))
    with Recall.open(start=tmp_path) as opened:
        list(opened.add([str(docs)], Root("")))
        yield opened


def calibrate(recall: Recall, judged: dict[str, list[str]], *, k: int = 3) -> Any:
    queries, qrels = recall.engine.base / "queries.jsonl", recall.engine.base / "qrels.tsv"
    queries.write_text("".join(json.dumps({"_id": f"q{n}", "text": text}) + "\n" for n, text in enumerate(judged)))
    rows = [f"q{n}\t{path}\t1\n" for n, paths in enumerate(judged.values()) for path in paths]
    qrels.write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return recall.calibrate_sparse(Ask(k=k), queries=queries, qrels=qrels)["calibration"]


def test_effect_counts_rows_up_to_and_including_the_ceiling() -> None:
    rows = near((0.1, True), (0.2, False), (0.3, True))
    assert effect(rows, 0.2) == Effect(0.2, 2, 1)
    assert effect(rows, 0.05) == Effect(0.05, 0, 0)


def test_ceiling_with_the_best_f_measure_is_proposed() -> None:
    rows = near((0.1, True), (0.2, True), (0.3, False), (0.4, False), (0.5, True))
    # F of 3 missed: 0.1 -> 2/4, 0.2 -> 4/5, 0.5 -> 6/8
    assert propose(rows, 3) == Effect(0.2, 2, 2)


def test_lowest_of_equal_ceilings_is_proposed() -> None:
    rows = near((0.1, True), (0.2, False), (0.3, False), (0.4, True))
    # F of 2 missed: 0.1 -> 2/3, 0.4 -> 4/6
    assert propose(rows, 2) == Effect(0.1, 1, 1)


def test_proposed_ceiling_includes_its_own_distance() -> None:
    chosen = propose(near((0.12341, True)), 1)
    assert chosen is not None
    assert chosen.ceiling == 0.1235


def test_no_ceiling_is_proposed_without_relevant_rows() -> None:
    assert propose(near((0.1, False)), 2) is None
    assert propose([], 0) is None


def test_query_is_left_out_of_its_own_ceiling() -> None:
    rows = near((0.1, True), (0.4, True))
    # The first is within the ceiling that the second proposes, the second beyond that of the first.
    assert held_out(JudgedDistances(tuple(rows), tuple(rows), (1, 1)), 0.4) == Effect(0.4, 1, 1)


def test_calibration_reports_useless_default_and_proposes_a_ceiling(recall: Recall) -> None:
    judged = {"office vault harbour code": ["docs/vault.md"]}
    view = calibrate(recall, judged)
    assert (view["left_out"], view["can_fire"], view["current"]["injections"]) == (1, False, 0)
    assert view["relevant"]["least"] is not None
    assert view["relevant"]["least"] > 0.2
    proposed = view["proposed"]
    assert (proposed["injections"], proposed["precision"]["rate"], proposed["recall"]["rate"]) == (1, 1.0, 1.0)
    assert view["setting"] == f"sparse_distance_ceiling = {proposed['ceiling']:g}"


def test_search_under_the_proposed_ceiling_injects_as_predicted(recall: Recall) -> None:
    judged = {"office vault harbour code": ["docs/vault.md"]}
    ceiling = calibrate(recall, judged)["proposed"]["ceiling"]
    settings = (f"sparse_distance_ceiling={ceiling}",)
    rows = recall.search("office vault harbour code", Ask(k=3, settings=settings))["results"]
    assert [row["doc"]["path"] for row in rows if row.get("recall_injected")] == ["docs/vault.md"]
    lower = (f"sparse_distance_ceiling={ceiling - 0.0002}",)
    assert not any(
        row.get("recall_injected")
        for row in recall.search("office vault harbour code", Ask(k=3, settings=lower))["results"]
    )


def test_no_ceiling_is_proposed_if_nothing_is_left_out(recall: Recall) -> None:
    view = calibrate(recall, {"office": ["docs/rules-0.md"]}, k=100)
    assert view["left_out"] == 0
    assert view["current"]["recall"]["rate"] is None
    assert "proposed" not in view


def test_unreachable_ceiling_is_a_warning(recall: Recall) -> None:
    assert (
        ceiling_reachable(recall.store, recall.engine.embedder, recall.config).severity == "ok"
    )  # nothing to judge by
    calibrate(recall, {"office": ["docs/rules-0.md"]})
    recall.judge_import(queries=recall.engine.base / "queries.jsonl", qrels=recall.engine.base / "qrels.tsv")
    for changes, severity, evidence in [
        ({}, "warning", "0 of 1 short documents are within distance 0.2"),
        ({"sparse_distance_ceiling": 0.9}, "ok", "1 of 1 short documents are within distance 0.9"),
        ({"sparse_recall": False}, "ok", "sparse-document recall is off"),
        ({"sparse_max_injections": 0}, "ok", "sparse-document recall is off"),
    ]:
        config = recall.config._replace(**changes)
        found = ceiling_reachable(recall.store, recall.engine.embedder, config)
        assert found.severity == severity, changes
        assert found.evidence.startswith(evidence), changes


def test_store_without_short_documents_needs_no_ceiling(recall: Recall) -> None:
    recall.remove(["docs/vault.md"])
    found = ceiling_reachable(recall.store, recall.engine.embedder, recall.config)
    assert (found.severity, found.evidence) == ("ok", "no short documents to check")
