"""The unit of a figure: graded chunks, or documents by their best chunk; and mixed judgements."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.contract.responses import EvaluationResponse, TuneResponse
from recall_core.errors import UsageError
from recall_core.evaluate.judgements import Judgement, Spot, names_of, put
from recall_core.evaluate.measures import EvalOptions
from recall_core.evaluate.questions import Unit, questions
from recall_core.evaluate.tune import TuneOptions
from recall_core.types import Root

UNITS: tuple[Unit, ...] = ("chunk", "doc")
MEASURED = EvalOptions(metrics="ndcg@10,recall@100")
TOPICS = ("apple", "pear", "plum", "fig")


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    """Yield two documents of four chunks each; every chunk contains `fruit` and a unique word."""
    (tmp_path / "recall.toml").write_text("chunk_tokens = 7\noverlap_tokens = 0\n")
    Recall.init(str(tmp_path))
    for name in ("a", "b"):
        text = "\n\n".join(f"# {topic}\n\nfruit {topic} of {name} here" for topic in TOPICS)
        (tmp_path / f"{name}.md").write_text(text + "\n")
    with Recall.open(str(tmp_path)) as opened:
        for _ in opened.add([str(tmp_path / "a.md"), str(tmp_path / "b.md")], Root("")):
            pass
        yield opened


def chunks(recall: Recall, path: str) -> list[Spot]:
    doc_id = recall.store.document_at(path)
    assert doc_id is not None
    return [Spot(path, row.chunk.offset, row.chunk.end) for row in recall.store.chunks_of(doc_id)]


def judge(recall: Recall, *judged: tuple[Spot, int]) -> None:
    put(recall.store, {"q": "fruit plum"}, [Judgement("q", spot, grade) for spot, grade in judged])


def evaluate(recall: Recall, options: EvalOptions = MEASURED) -> EvaluationResponse:
    work = recall.evaluate(options)
    while True:
        try:
            next(work)
        except StopIteration as stop:
            response: EvaluationResponse = stop.value
            return response


def tune(recall: Recall, options: TuneOptions) -> TuneResponse:
    work = recall.tune(options, Ask())
    while True:
        try:
            next(work)
        except StopIteration as stop:
            response: TuneResponse = stop.value
            return response


def test_chunk_grades_are_measured_by_chunk(recall: Recall) -> None:
    plum, fig = chunks(recall, "a.md")[2:4]
    judge(recall, (plum, 3), (fig, 0))

    view = evaluate(recall)["evaluation"]

    assert (view["unit"], view["judgements"], view["unknown"]) == ("chunk", 2, 0)
    judged = view["modes"][0]["measures"][0]["judged"]
    assert judged == 0.25  # two of eight chunks; of documents it would be one of two


def test_low_ranked_graded_chunk_counts_by_chunk(recall: Recall) -> None:
    apple = chunks(recall, "a.md")[0]
    judge(recall, (apple, 1))

    by_chunk, by_doc = (
        evaluate(recall, EvalOptions(metrics="mrr", unit=unit))["evaluation"]["modes"][0]["measures"][0]["mean"]
        for unit in UNITS
    )

    assert (by_chunk < 0.5, by_doc) == (True, 1.0)


def test_one_document_judgement_makes_documents_the_unit(recall: Recall) -> None:
    judge(recall, (chunks(recall, "a.md")[2], 3), (Spot("b.md"), 1))

    view = evaluate(recall)["evaluation"]

    assert (view["unit"], view["judgements"]) == ("doc", 2)


def test_document_judgement_counts_for_each_chunk_when_measuring_chunks(recall: Recall) -> None:
    spots = chunks(recall, "a.md")
    judge(recall, (Spot("a.md"), 1), (spots[2], 3))

    response = evaluate(recall, EvalOptions(unit="chunk"))
    asked = questions(recall.store, names_of(recall.store), queries=None, qrels=None, unit="chunk")

    assert sorted(asked.grades["q"].values()) == [1, 1, 1, 3]
    assert response["evaluation"]["judgements"] == 4
    assert [each.partition(":")[0] for each in response["warnings"]] == ["W_UNIT"]
    assert "1 judgement is of a whole document and counts for every chunk" in response["warnings"][0]


def test_files_with_spans_are_still_measured_by_document(recall: Recall, tmp_path: Path) -> None:
    spot = chunks(recall, "a.md")[2]
    (tmp_path / "q.jsonl").write_text(json.dumps({"_id": "q", "text": "fruit plum"}) + "\n")
    (tmp_path / "r.tsv").write_text(f"q\ta.md[{spot.offset}:{spot.end}]\t1\n")
    files = EvalOptions(queries=tmp_path / "q.jsonl", qrels=tmp_path / "r.tsv")

    assert evaluate(recall, files)["evaluation"]["unit"] == "doc"
    assert evaluate(recall, files._replace(unit="chunk"))["evaluation"]["unit"] == "chunk"


def test_judged_span_without_a_chunk_counts_as_missed(recall: Recall) -> None:
    judge(recall, (chunks(recall, "a.md")[2], 1), (Spot("gone.md", 0, 9), 1), (Spot("a.md", 900, 950), 1))

    view = evaluate(recall)["evaluation"]

    assert (view["judgements"], view["unknown"]) == (3, 2)
    assert view["modes"][0]["measures"][1]["mean"] == pytest.approx(1 / 3, abs=1e-6)


def test_run_by_chunk_is_a_baseline_by_chunk(recall: Recall, tmp_path: Path) -> None:
    judge(recall, (chunks(recall, "a.md")[1], 2))
    run = tmp_path / "x.run"

    def write(mode: str, lines: Iterator[str]) -> str:
        run.write_text("".join(lines))
        return str(run)

    evaluate(recall, EvalOptions(write_run=write))
    view = evaluate(recall, EvalOptions(metrics="mrr", baseline=run))["evaluation"]

    assert "[" in run.read_text().split()[2]
    assert (view["comparisons"][0]["ties"], view["comparisons"][0]["difference"]) == (1, 0.0)


def test_baseline_of_the_other_unit_is_refused(recall: Recall, tmp_path: Path) -> None:
    judge(recall, (chunks(recall, "a.md")[1], 2))
    before = tmp_path / "before.json"
    before.write_text(json.dumps(evaluate(recall, EvalOptions(unit="doc"))))

    with pytest.raises(UsageError) as caught:
        evaluate(recall, EvalOptions(baseline=before))

    assert (caught.value.code, "--unit doc" in str(caught.value.hint)) == ("bad_baseline", True)


def test_tune_and_eval_agree_at_the_current_weight(recall: Recall) -> None:
    for unit in UNITS:
        judge(recall, (chunks(recall, "a.md")[0], 1), (chunks(recall, "b.md")[2], 2))
        options = TuneOptions(unit=unit)

        view = tune(recall, options)["tuning"]["judged"]
        measured = evaluate(recall, EvalOptions(unit=options.unit))["evaluation"]["modes"][0]["measures"][0]

        assert (view["unit"], view["measure"]) == (unit, "ndcg@10"), unit
        assert view["current"] == pytest.approx(measured["mean"], abs=1e-6), unit


def test_default_installation_measures_grades(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    judge(recall, (chunks(recall, "a.md")[0], 1))

    assert evaluate(recall, EvalOptions())["evaluation"]["unit"] == "chunk"
