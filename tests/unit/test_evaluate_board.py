"""The evaluation board over a store: measured queries, skipped queries and baselines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.contract.responses import EvaluationResponse
from recall_core.embed.registry import Once
from recall_core.errors import UsageError
from recall_core.evaluate.measures import EvalOptions
from recall_core.types import Root
from tests.builders import EMBEDDER

DOCUMENTS = {"1": "red apple", "2": "green apple pie", "3": "blue sky", "4": "grey sky and rain", "5": "red sky"}
QUERIES = {"a": "apple pie", "b": "blue sky", "c": "rain", "d": "nothing known", "e": "green"}
QRELS = "query-id\tcorpus-id\tscore\na\t2\t2\na\t1\t1\nb\t3\t1\nb\tgone\t1\nc\t4\t1\ne\t2\t0\n"


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recall]:
    monkeypatch.chdir(tmp_path)
    Recall.init(".")
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in DOCUMENTS.items()))
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in QUERIES.items()))
    (tmp_path / "r.tsv").write_text(QRELS)
    with Recall.open() as opened:
        for _ in opened.add(["c.jsonl"], Root("", parser="jsonl")):
            pass
        yield opened


FILES = EvalOptions(queries=Path("q.jsonl"), qrels=Path("r.tsv"), modes="bm25", metrics="mrr,ndcg@10,p@1")


def evaluate(recall: Recall, options: EvalOptions = FILES) -> EvaluationResponse:
    work = recall.evaluate(options)
    while True:
        try:
            next(work)
        except StopIteration as stop:
            response: EvaluationResponse = stop.value
            return response


def refusal(recall: Recall, options: EvalOptions) -> str:
    with pytest.raises(UsageError) as caught:
        evaluate(recall, options)
    return caught.value.code


def test_queries_without_relevant_documents_are_skipped_and_counted(recall: Recall) -> None:
    view = evaluate(recall)["evaluation"]

    assert (view["queries"], view["unjudged"], view["without_relevant"]) == (3, 1, 1)
    assert (view["judgements"], view["unknown"], view["depth"]) == (5, 1, 100)
    assert view["modes"][0]["measures"][0]["values"] == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_relevant_document_missing_from_the_store_counts_as_missed(recall: Recall) -> None:
    response = evaluate(recall, FILES._replace(metrics="recall@10"))

    assert response["evaluation"]["modes"][0]["measures"][0]["values"] == {"a": 1.0, "b": 0.5, "c": 1.0}
    assert response["warnings"][0].startswith("W_UNKNOWN_DOCUMENT: 1 of the judgements")


def test_stored_judgements_give_the_same_figures_as_files(recall: Recall) -> None:
    lines = Path("q.jsonl").read_text().splitlines(keepends=True)
    Path("q.jsonl").write_text("".join(reversed(lines)))
    from_files = evaluate(recall)["evaluation"]
    recall.judge_import(queries=Path("q.jsonl"), qrels=Path("r.tsv"))

    from_store = evaluate(recall, FILES._replace(queries=None, qrels=None))["evaluation"]

    assert json.dumps(from_store) == json.dumps(from_files)
    assert evaluate(recall, FILES._replace(qrels=None))["evaluation"] == from_files


def test_repeated_evaluation_differs_only_in_time(recall: Recall) -> None:
    options = FILES._replace(modes="hybrid,bm25,vector", per_query=True)

    first, second = evaluate(recall, options), evaluate(recall, options)

    first["stats"]["took_ms"] = second["stats"]["took_ms"] = 0.0
    assert json.dumps(first, allow_nan=False) == json.dumps(second)


def test_documents_rank_as_in_a_document_search(recall: Recall) -> None:
    written: dict[str, list[str]] = {}

    def write(mode: str, lines: Iterator[str]) -> str:
        written[mode] = [line.split()[2] for line in lines if line.startswith("b ")]
        return mode

    response = evaluate(recall, FILES._replace(modes="hybrid,bm25", write_run=write))
    asked = recall.query("SELECT doc.path FROM doc USING lexical('blue sky'), semantic('blue sky')")["results"]

    assert response["evaluation"]["runs"] == ["hybrid", "bm25"]
    assert [f"c.jsonl#{name}" for name in written["hybrid"]] == [hit["doc"]["path"] for hit in asked]
    assert set(written["bm25"]) == {"3", "4", "5"}


def test_modes_are_compared_with_each_other(recall: Recall) -> None:
    views = evaluate(recall, FILES._replace(modes="hybrid,bm25,vector", metrics="mrr"))["evaluation"]["comparisons"]

    assert [(view["mode"], view["against"]) for view in views] == [
        ("hybrid", "bm25"),
        ("hybrid", "vector"),
        ("bm25", "vector"),
    ]
    assert all(view["wins"] + view["losses"] + view["ties"] == view["queries"] == 3 for view in views)


def test_answer_serves_as_a_baseline(recall: Recall, tmp_path: Path) -> None:
    before = evaluate(recall)
    before["evaluation"]["modes"][0]["measures"][0]["values"] = {"a": 0.5, "b": 1.0, "c": 1.0, "x": 0.1}
    (tmp_path / "before.json").write_text(json.dumps(before))

    view = evaluate(recall, FILES._replace(baseline=Path("before.json"), gate="regressions=0,mrr>=1"))["evaluation"]

    first = view["comparisons"][0]
    assert (first["baseline"], first["queries"], first["wins"], first["losses"]) == (True, 3, 1, 0)
    assert view["gate"] == [
        {"condition": "regressions=0", "value": 0, "holds": True},
        {"condition": "mrr>=1", "value": 1.0, "holds": True},
    ]


def test_run_serves_as_a_baseline_with_its_documents(recall: Recall, tmp_path: Path) -> None:
    (tmp_path / "b.run").write_text("a Q0 c.jsonl#2 1 2 x\na Q0 1 2 1 x\nb Q0 3 1 9 x\n")

    options = FILES._replace(baseline=Path("b.run"), gate="regressions<1", modes="vector", metrics="mrr")
    view = evaluate(recall, options)["evaluation"]

    first = view["comparisons"][0]
    assert (first["against"], first["queries"]) == ("run", 2)
    assert view["gate"][0]["value"] == len(first["regressions"])


def test_invalid_request_is_refused(recall: Recall) -> None:
    for change, code in [
        ({"gate": "map>.5"}, "bad_gate"),
        ({"gate": "vector:mrr>.5"}, "bad_gate"),
        ({"gate": "regressions=0"}, "bad_gate"),
        ({"metrics": "speed"}, "unknown_metric"),
        ({"modes": "sparse"}, "bad_value"),
        ({"queries": None, "qrels": None}, "no_judgements"),
        ({"baseline": Path("nowhere")}, "bad_baseline"),
        ({"qrels": Path("q.jsonl")}, "bad_qrels"),
        ({"queries": Path("nowhere")}, "bad_queries"),
    ]:
        assert refusal(recall, FILES._replace(**change)) == code, change  # type: ignore[arg-type]


def test_baseline_of_other_queries_cannot_be_gated_on(recall: Recall, tmp_path: Path) -> None:
    (tmp_path / "b.run").write_text("zzz Q0 1 1 2 x\n")

    assert refusal(recall, FILES._replace(baseline=Path("b.run"), gate="regressions=0")) == "bad_gate"
    assert evaluate(recall, FILES._replace(baseline=Path("b.run")))["evaluation"]["comparisons"] == []


def test_stopped_evaluation_releases_the_store(recall: Recall) -> None:
    work = recall.evaluate(FILES)
    event = next(work)
    work.close()

    assert (event.stage, event.files_done, event.files_total) == ("ask", 1, 3)
    assert not recall.store.db.in_transaction


def test_repeated_query_is_embedded_once() -> None:
    once = Once(EMBEDDER)

    first = once.embed(["red sky"], is_query=True)

    assert once.embed(["red sky"], is_query=True) is first
    assert once.embed(["blue"], is_query=True) == EMBEDDER.embed(["blue"])
    assert (once.identity, once.dimension, once.max_input) == (EMBEDDER.identity, 64, EMBEDDER.max_input)
    assert once.windows(["a", "b"]) == [1, 1]
