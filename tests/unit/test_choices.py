"""Library options with a few allowed words refuse any other word and list the allowed ones."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core.api.compare import DiffRequest
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.errors import UsageError
from recall_core.evaluate.measures import EvalOptions
from recall_core.evaluate.tune import TuneOptions
from recall_core.evaluate.tune_question import PinTarget
from recall_core.steps import RetrievePlan, fuse, retrieve

MODES = ("hybrid", "lexical", "semantic")
FORMATS = ("plain", "markdown", "xml")
UNITS = ("chunk", "doc")
WRONG = Ask(mode="anything")
JUDGED = {"queries": Path("q.tsv"), "qrels": Path("r.txt")}

CALLS: dict[str, tuple[tuple[str, ...], Callable[[Recall], object]]] = {
    "search": (MODES, lambda recall: recall.search("words", mode="anything")),
    "search with an Ask": (MODES, lambda recall: recall.search("words", WRONG)),
    "query": (MODES, lambda recall: recall.query("SELECT * FROM chunk", mode="anything")),
    "context": (MODES, lambda recall: recall.context("words", mode="anything")),
    "explain": (MODES, lambda recall: recall.explain("words", "0123", mode="anything")),
    "why_not": (MODES, lambda recall: recall.why_not("words", "a.md", mode="anything")),
    "trace": (MODES, lambda recall: recall.trace("words", mode="anything")),
    "report": (MODES, lambda recall: recall.report("words", mode="anything")),
    "sweep": (MODES, lambda recall: recall.sweep("words", mode="anything")),
    "diff": (MODES, lambda recall: list(recall.diff(recall, DiffRequest("words"), WRONG))),
    "diff of a query": (
        MODES,
        lambda recall: list(recall.diff(recall, DiffRequest("SELECT * FROM chunk", is_rql=True), WRONG)),
    ),
    "a step of retrieval": (MODES, lambda recall: retrieve("words", RetrievePlan(mode="anything"), recall)),
    "the format of a context": (FORMATS, lambda recall: recall.context("words", format="anything")),
    "the format of a context with a Pack": (
        FORMATS,
        lambda recall: recall.context("words", None, Pack(format="html")),
    ),
    "the format of a trace": (FORMATS, lambda recall: recall.trace("words", format="anything")),
    "the packing": (("rank", "optimal"), lambda recall: recall.context("words", pack=Pack(pack="anything"))),
    "the packing of a trace": (("rank", "optimal"), lambda recall: recall.trace("words", pack=Pack(pack="anything"))),
    "the unit of an evaluation": (UNITS, lambda recall: list(recall.evaluate(EvalOptions(**JUDGED, unit="any")))),  # type: ignore[arg-type]
    "the unit of a tuning": (UNITS, lambda recall: list(recall.tune(TuneOptions(**JUDGED, unit="any")))),  # type: ignore[arg-type]
    "what a pin wants": (("in", "out"), lambda recall: recall.sweep("words", wishes=(PinTarget("up", "a.md"),))),  # type: ignore[arg-type]
    "judgements": (
        ("beir", "trec", "quepid"),
        lambda recall: recall.judge_export(queries=None, qrels=io.StringIO(), form="csv"),  # type: ignore[arg-type]
    ),
    "an import": (
        ("error", "skip", "replace"),
        lambda recall: recall.import_(Path("none.jsonl"), on_conflict="anything"),
    ),
    "a fusion of lists": (("rrf", "weighted"), lambda recall: fuse([], "anything")),
}


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recall]:
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("words that are found\n")
    Path("q.tsv").write_text("q1\twords\n")
    Path("r.txt").write_text("q1 0 a.md 1\n")
    Recall.init()
    with Recall.open() as opened:
        opened.index("a.md")
        yield opened


def test_wrong_budget_or_pack_is_refused_with_accepted_values(recall: Recall) -> None:
    asks: list[tuple[dict[str, object], str, str]] = [
        ({"pack": "optimal"}, "pack must be of class Pack, not str.", "pack=Pack(budget_tokens=2000, pack='rank')"),
        ({"pack": "optimal", "budget_tokens": 9}, "pack must be of class Pack, not str.", "rank, optimal"),
        ({"budget_tokens": "9"}, "budget_tokens must be a whole number, not str.", "give budget_tokens as"),
        ({"budget_tokens": 0}, "budget_tokens must be at least 1, not 0.", "--budget-tokens 2000"),
        ({"ask": "words"}, "ask must be of class Ask, not str.", "hybrid, lexical, semantic"),
    ]
    for given, message, hint in asks:
        with pytest.raises(UsageError) as caught:
            recall.context("words", **given)  # type: ignore[arg-type]

        assert (caught.value.code, caught.value.message) == ("bad_value", message)
        assert hint in (caught.value.hint or ""), given


def test_mode_accepts_both_names(recall: Recall) -> None:
    calls: list[Callable[[Ask], object]] = [
        lambda ask: recall.search("words", ask)["query"]["plan"],
        lambda ask: recall.why_not("words", "a.md", ask)["whynot"],
        lambda ask: recall.search("words", ask._replace(receipt=True))["receipt"]["sha256"],
        lambda ask: retrieve("words", RetrievePlan(mode=ask.mode), recall),
        lambda ask: recall.query("SELECT * FROM chunk", ask)["results"],
    ]
    for name, mode in (("bm25", "lexical"), ("vector", "semantic")):
        for call in calls:
            assert call(Ask(mode=name)) == call(Ask(mode=mode)), name


def test_unknown_choice_is_refused_with_the_known_choices(recall: Recall) -> None:
    for name, (choices, call) in CALLS.items():
        with pytest.raises(UsageError) as caught:
            call(recall)

        assert caught.value.code == "bad_value", name
        assert all(choice in (caught.value.hint or "") for choice in choices), caught.value.hint
