from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import commands
from recall_core.adapters.parser import parse
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.errors import UsageError
from recall_core.evaluate.fixture.harness import Fixture, holds, parse_fixtures, read_fixtures, verdict
from recall_core.evaluate.fixture.rates import gate_values, rate, recorded_passes, wilson
from recall_core.types import Root

FILES = {
    "vault.md": "The vault code of the Oslo office is 7741.\n",
    "retry.md": "\n\n".join(f"Retry rule {n}: " + f"call {n} waits and is retried. " * 9 for n in range(12)) + "\n",
    "plan.md": "Plan heading about budgets.\n"
    + "filler words here " * 30
    + "\nThe ceiling of the budget is ninety.\n",
}


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in FILES.items():
        (docs / name).write_text(text)
    Recall.init(str(tmp_path), settings=("chunk_tokens=60", "overlap_tokens=0"))
    with Recall.open(start=tmp_path) as opened:
        list(opened.add([str(docs)], Root("")))
        yield opened


def line(**changes: Any) -> str:
    whole = {"id": "f1", "query": "vault code", "gold": "docs/vault.md", "must_contain": ["7741"]}
    return json.dumps({**whole, **changes})


def check(recall: Recall, *lines: str, ask: Ask = Ask(), baseline: Any = None, gate: str | None = None) -> Any:
    path, before = recall.engine.base / "fixtures.jsonl", recall.engine.base / "before.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    if baseline is not None:
        before.write_text(json.dumps(baseline))
    return recall.check_fixtures(path, ask, baseline=None if baseline is None else before, gate=gate)


def only(recall: Recall, ask: Ask = Ask(), **changes: Any) -> Any:
    return check(recall, line(**changes), ask=ask)["fixtures"]["results"][0]


def test_fixture_accepts_one_or_several_gold_names() -> None:
    first, second = parse_fixtures(line() + "\n\n" + line(id="f2", gold=["a.md", "b.md:3"], sparse=True), name="f")
    assert first == Fixture("f1", "vault code", ("docs/vault.md",), ("7741",), None, "f:1")
    assert (second.gold, second.sparse, second.place) == (("a.md", "b.md:3"), True, "f:3")


def test_bad_fixture_is_refused_with_its_position() -> None:
    for text, reason in [
        ("", "fx: the file has no fixtures"),
        (line() + "\n{", "fx:2: Input data was truncated"),
        (line(note="x"), "fx:1: Object contains unknown field `note`"),
        (line(must_contain="7741"), "fx:1: Expected `array`, got `str` - at `$.must_contain`"),
        (line(must_contain=[]), "fx:1: must_contain is empty"),
        (line(gold=["a.md", " "]), "fx:1: gold is empty"),
        (line(query=""), "fx:1: query is empty"),
        (line() + "\n" + line(), "fx:2: the id 'f1' is already used at fx:1"),
    ]:
        with pytest.raises(UsageError) as error:
            parse_fixtures(text, name="fx")
        assert (error.value.code, error.value.message) == ("bad_fixtures", f"{reason}."), text


def test_unreadable_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: cannot be read"):
        read_fixtures(tmp_path / "none.jsonl")


def test_verdict_names_the_failing_part() -> None:
    for forced, on, by_injection, baseline, expected in [
        (True, True, False, True, "ok"),
        (True, True, False, False, "ok"),
        (True, True, True, False, "recovered_by_sparse_recall"),
        (True, False, False, True, "retrieval_regression"),
        (True, False, False, False, "retrieval_miss"),
        (True, False, False, None, "retrieval_miss"),
        (False, False, False, True, "ingestion_failure"),
        (False, True, False, False, "gold_incomplete"),
    ]:
        assert verdict(forced=forced, on=on, by_injection=by_injection, baseline=baseline) == expected, (
            forced,
            on,
            by_injection,
            baseline,
        )


def test_white_space_is_ignored_but_case_counts() -> None:
    assert holds("retry\n  after", "retry after")
    assert not holds("Retry after", "retry after")


def test_wilson_agrees_with_newcombe_1998() -> None:
    for passed, of, bounds in [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ]:
        found = wilson(passed, of)
        assert found is not None, (passed, of)
        assert (round(found[0], 4), round(found[1], 4)) == bounds, (passed, of)


def test_wilson_of_all_is_one_and_of_none_is_undefined() -> None:
    assert (wilson(20, 20) or (0, 0))[1] == 1.0
    assert wilson(0, 0) is None


def test_rate_of_nothing_is_null() -> None:
    assert rate(0, 0) == {"passed": 0, "of": 0, "rate": None, "interval": None}


def test_found_fact_is_ok(recall: Recall) -> None:
    view = only(recall)
    assert (view["verdict"], view["forced"], view["on"], view["gold_hit"], view["sparse"]) == (
        "ok",
        True,
        True,
        True,
        True,
    )
    assert "cause" not in view


def test_sparse_mark_of_a_fixture_overrides_the_chunk_count(recall: Recall) -> None:
    assert only(recall, sparse=False)["sparse"] is False


def test_gold_may_be_a_document_or_lines(recall: Recall) -> None:
    for gold in ["docs/plan.md", "docs/plan.md:3", "docs/plan.md:3-3"]:
        view = only(recall, query="ceiling of the budget", gold=gold, must_contain=["is ninety"])
        assert (view["verdict"], view["gold_hit"]) == ("ok", True), gold


def test_gold_may_be_a_chunk_id(recall: Recall) -> None:
    found = recall.search("vault code", Ask(k=1))["results"][0]["chunk"]["id"]
    assert only(recall, gold=found[:12])["forced"] is True


_MISSED = ({"query": "call retried rule"}, {"query": "vault", "gold": "docs/retry.md:1", "must_contain": ["rule 0"]})


def test_failure_names_the_stage_that_lost_the_fact(recall: Recall) -> None:
    for changes, settings, expected in [
        ({"gold": "docs/none.md", "query": "waits"}, (), ("ingestion_failure", "not_ingested")),
        ({"must_contain": ["8852"]}, (), ("ingestion_failure", "absent")),
        ({"gold": "docs/plan.md:1", "must_contain": ["is ninety"]}, (), ("ingestion_failure", "split")),
        ({}, ("budget_tokens=4",), ("ingestion_failure", "context_failure")),
        (_MISSED[0], (), ("retrieval_miss", "beyond_k")),
        (_MISSED[1], (), ("retrieval_miss", "beyond_k")),
        ({"query": "call retried vault"}, ("min_score=0.9",), ("retrieval_miss", "below_min_score")),
        ({"query": "retrial"}, ("min_cosine=0.9",), ("retrieval_miss", "below_min_cosine")),
    ]:
        view = only(recall, Ask(k=1, settings=("sparse_recall=off", *settings)), **changes)
        assert (view["verdict"], view["cause"]["code"]) == expected, changes


def test_listed_chunk_cut_by_the_budget_is_a_budget_miss(recall: Recall) -> None:
    ask = Ask(k=20, settings=("budget_tokens=60", "sparse_recall=off"))
    view = only(recall, ask, query="call waits retried", gold="docs/retry.md:23", must_contain=["Retry rule 11"])
    assert (view["verdict"], view["cause"]["code"]) == ("retrieval_miss", "budget")
    assert view["cause"]["rank"] > 1


def test_removed_document_is_an_ingestion_failure_by_tombstone(recall: Recall) -> None:
    recall.remove(["docs/vault.md"])
    view = only(recall)
    assert (view["verdict"], view["cause"]["code"]) == ("ingestion_failure", "tombstoned")
    assert "sparse" not in view


def test_fact_only_in_the_changed_file_is_stale(recall: Recall) -> None:
    (recall.engine.base / "docs/vault.md").write_text("The vault code of the Oslo office is 9003.\n")
    view = only(recall, must_contain=["9003"])
    assert (view["verdict"], view["cause"]["code"]) == ("ingestion_failure", "stale")


def test_answer_found_elsewhere_makes_the_gold_incomplete(recall: Recall) -> None:
    assert only(recall, gold="docs/plan.md")["verdict"] == "gold_incomplete"


def test_recorded_pass_makes_a_miss_a_regression(recall: Recall) -> None:
    before = check(recall, line())
    away = check(recall, line(query="call retried rule"), ask=Ask(k=1), baseline=before)["fixtures"]
    assert (away["baseline"], away["verdicts"]) == ("recorded", {"retrieval_regression": 1})
    assert gate_values(away)["regressions"] == 1


def test_baseline_without_fixtures_is_refused(tmp_path: Path) -> None:
    for text in ["{}", "[]", "{", '{"fixtures": {"results": [{}]}}']:
        (tmp_path / "before.json").write_text(text)
        with pytest.raises(UsageError) as error:
            recorded_passes(tmp_path / "before.json")
        assert error.value.code == "bad_baseline", text


def test_gate_checks_fixture_rates(recall: Recall) -> None:
    gate = check(recall, line(), line(id="f2", must_contain=["8852"]), gate="forced=1,on>=.5,dense_on>=0")[
        "fixtures"
    ]["gate"]
    assert [(each["value"], each["holds"]) for each in gate] == [(0.5, False), (0.5, True), (None, False)]


def test_gate_on_fixtures_accepts_only_fixture_figures(recall: Recall) -> None:
    for gate in ["ndcg@10>=.3", "hybrid:forced=1", "forced"]:
        with pytest.raises(UsageError) as error:
            check(recall, line(), gate=gate)
        assert error.value.code == "bad_gate", gate


def test_rates_count_the_outcomes(recall: Recall) -> None:
    view = check(recall, line(), line(id="f2", must_contain=["8852"]), line(id="f3", gold="docs/plan.md"))["fixtures"]
    assert view["verdicts"] == {"ok": 1, "gold_incomplete": 1, "ingestion_failure": 1}
    assert (view["forced"]["passed"], view["on"]["passed"], view["fixtures"]) == (1, 2, 3)
    assert view["sparse_recall"]["sparse_recall_hit_rate"]["rate"] is None


def test_same_fixtures_give_the_same_bytes(recall: Recall) -> None:
    lines = (line(), line(id="f2", query="call retried rule"))
    assert json.dumps(check(recall, *lines)) == json.dumps(check(recall, *lines))


def command(recall: Recall, *argv: str) -> tuple[int, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = commands.run(parse(argv), streams=streams, opener=lambda _: nullcontext(recall))
    return code, streams.stdout.getvalue()  # type: ignore[attr-defined]


def test_eval_shows_verdicts_and_a_failed_gate_exits_7(recall: Recall) -> None:
    check(recall, line(), line(id="f2", must_contain=["8852"]))
    code, out = command(
        recall, "eval", "--fixtures", str(recall.engine.base / "fixtures.jsonl"), "--gate", "forced=1"
    )
    assert code == 7
    assert "verdicts          1 ok, 1 ingestion_failure" in out
    assert "ingestion_failure           f2  absent: no gold document contains the fact" in out
    assert "forced=1  0.500  FAILS" in out


def test_conflicting_flags_are_refused(recall: Recall) -> None:
    for flags in [
        ("--fixtures", "f", "--qrels", "q"),
        ("--calibrate-sparse", "--gate", "on=1"),
        ("--fixtures", "f", "--run", "r"),
    ]:
        with pytest.raises(UsageError) as error:
            command(recall, "eval", *flags)
        assert error.value.code == "conflicting_flags", flags
