"""Gates, baselines and options: valid forms, and refusals before any measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.figures import Baseline, find_fallen, read_baseline
from recall_core.evaluate.measures import Condition, EvalOptions, parse_gate, parse_modes


def test_conditions_have_mode_sign_and_number() -> None:
    assert parse_gate("ndcg@10>=.38, BM25:mrr < 0.5,regressions=0") == (
        Condition("ndcg@10>=.38", None, "ndcg@10", ">=", 0.38),
        Condition("BM25:mrr < 0.5", "bm25", "mrr", "<", 0.5),
        Condition("regressions=0", None, "regressions", "=", 0.0),
    )


def test_malformed_condition_is_refused() -> None:
    for text in ["", "ndcg@10", "ndcg@10>", ">=.3", "a:b:c>1", "mrr>=1e3", "mrr=>.3", "mrr>.5,", "mrr>."]:
        with pytest.raises(UsageError) as caught:
            parse_gate(text)

        assert (caught.value.code, caught.value.exit_code) == ("bad_gate", 2), text


def test_condition_holds_as_its_sign_requires() -> None:
    for sign, holds in [
        (">=", [False, True, True]),
        (">", [False, False, True]),
        ("<=", [True, True, False]),
        ("=", [False, True, False]),
    ]:
        condition = parse_gate(f"mrr{sign}.5")[0]

        assert [condition.holds(value) for value in (0.4, 0.5, 0.6)] == holds, sign
        assert not condition.holds(None), sign


def test_modes_are_a_list_without_duplicates() -> None:
    assert parse_modes("bm25, Hybrid,bm25") == ("bm25", "hybrid")
    assert parse_modes("semantic,vector,lexical") == ("vector", "bm25")
    assert [EvalOptions(modes=modes).is_semantic for modes in ("bm25", "bm25,vector", "hybrid")] == [
        False,
        True,
        True,
    ]
    with pytest.raises(UsageError) as caught:
        parse_modes("hybird")
    assert caught.value.hint == "did you mean hybrid?"


def test_baseline_is_an_answer_or_a_run(tmp_path: Path) -> None:
    modes = [{"mode": "bm25", "measures": [{"measure": "mrr", "values": {"q1": 0.5, "q2": 1}}]}]
    (tmp_path / "answer").write_text(json.dumps({"ok": True, "evaluation": {"modes": modes}}))
    (tmp_path / "run").write_text("q1 Q0 a 1 1 x\n")

    answer = read_baseline(tmp_path / "answer", lambda run: {})
    run = read_baseline(
        tmp_path / "run", lambda run: {"mrr": {query: float(len(hits)) for query, hits in run.items()}}
    )

    assert answer.values_for("bm25", "mrr", ["q2", "q3"]) == {"q2": 1.0}
    assert answer.values_for("bm25", "map", ["q2"]) == {}
    assert run.values_for("hybrid", "mrr", ["q1"]) == {"q1": 1.0}


def test_other_files_are_refused_as_baselines(tmp_path: Path) -> None:
    for text in [
        "{",
        "{}",
        '{"evaluation": {"modes": []}}',
        '{"evaluation": {"modes": [{"mode": "bm25", "measures": [{"measure": "mrr", "values": {"q": NaN}}]}]}}',
        '{"evaluation": {"modes": [{"mode": "bm25", "measures": [{"measure": "mrr", "values": {"q": "x"}}]}]}}',
        '{"evaluation": {"modes": 3}}',
        '{"evaluation": {"modes": [{"mode": "bm25", "measures": [{"measure": "mrr", "values": []}]}]}}',
    ]:
        (tmp_path / "f").write_text(text)

        with pytest.raises(UsageError) as caught:
            read_baseline(tmp_path / "f", lambda run: {})

        assert caught.value.code == "bad_baseline", text


def test_mode_is_compared_with_its_own_or_the_only_baseline() -> None:
    one, two = Baseline({"bm25": {}}), Baseline({"bm25": {}, "vector": {}})

    assert [one.against("hybrid"), two.against("vector"), two.against("hybrid")] == ["bm25", "vector", None]


def test_worst_regressions_come_first() -> None:
    before = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5, "e": 0.5}
    after = {"a": 0.4, "b": 0.1, "c": 0.5, "d": 0.4, "e": 0.9, "f": 0.0}

    assert list(find_fallen(after, before)) == ["b", "a", "d"]
