"""Measures: their names, hand-computed values, and the effect of unjudged hits."""

from __future__ import annotations

import sys
from itertools import product
from math import log2

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.measures import (
    DEFAULT,
    Measure,
    bounds,
    judged_share,
    parse_measure,
    parse_measures,
    values,
)


def refusal(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse_measures(text)
    return caught.value


def value(name: str, judged: dict[str, int], hits: list[str]) -> float:
    measure = parse_measure(name)
    return values([measure], {"q": judged}, {"q": hits})[measure]["q"]


def test_each_measure_has_one_canonical_name() -> None:
    assert [measure.name for measure in parse_measures(DEFAULT)] == DEFAULT.split(",")
    assert [measure.name for measure in parse_measures("NDCG@10, ap,RR@5,precision@3,R@7,map")] == [
        "ndcg@10",
        "map",
        "mrr@5",
        "p@3",
        "recall@7",
    ]


def test_unknown_measure_suggests_the_nearest() -> None:
    assert (refusal("ndgc@10").code, refusal("ndgc@10").hint) == ("unknown_metric", "did you mean ndcg@10?")
    assert refusal("").code == refusal("ndcg@").code == refusal("@5").code == "unknown_metric"


def test_missing_or_too_large_cutoff_is_refused() -> None:
    for name in ["p", "recall", "ndcg@0", "p@10001"]:
        assert refusal(name).code == "bad_value", name


def test_values_match_hand_computation() -> None:
    judged, hits = {"a": 2, "b": 1, "c": 0}, ["x", "a", "c", "b"]

    assert value("p@2", judged, hits) == 0.5
    assert value("p@5", judged, hits) == 0.4
    assert value("recall@2", judged, hits) == 0.5
    assert value("mrr", judged, hits) == 0.5
    assert value("map", judged, hits) == 0.5
    ideal = 2 + 1 / log2(3)
    assert value("ndcg@10", judged, hits) == round((2 / log2(3) + 1 / log2(5)) / ideal, 6)
    assert value("ndcg@3", judged, hits) == round(2 / log2(3) / ideal, 6)


def test_ties_are_broken_by_rank_not_by_name() -> None:
    assert value("mrr", {"z": 1}, ["z", "a", "b"]) == 1.0
    assert value("mrr", {"a": 1}, ["z", "y", "a"]) == round(1 / 3, 6)


def test_query_without_hits_scores_0_with_any_name() -> None:
    measure = parse_measure("p@1")

    found = values([measure], {"é\0": {"a\0": 1}, "é\0x": {"a\0b": 1}}, {"é\0": ["a\0b"]})

    assert found[measure] == {"é\0": 0.0, "é\0x": 0.0}


def test_five_measures_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)

    found = values(parse_measures(DEFAULT), {"q": {"a": 1, "b": 2}}, {"q": ["b", "x", "a"]})

    assert {measure.name: each["q"] for measure, each in found.items()} == {
        "ndcg@10": round((2 + 1 / 2) / (2 + 1 / log2(3)), 6),
        "map": round((1 + 2 / 3) / 2, 6),
        "mrr": 1.0,
        "p@5": 0.4,
        "recall@100": 1.0,
    }


def test_missing_measure_package_is_reported_before_any_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)

    with pytest.raises(UsageError) as caught:
        values(parse_measures("map,success@5"), {}, {})

    assert caught.value.code == "eval_unavailable"
    assert "success@5 needs the package ir-measures" in caught.value.message


def test_ir_measures_computes_other_measures() -> None:
    judged, hits = {"a": 2, "b": 1, "c": 0}, ["x", "a", "c", "b"]

    assert value("success@1", judged, hits) == 0.0
    assert value("success@2", judged, hits) == 1.0
    assert value("rprec", judged, hits) == 0.5
    assert value("bpref", judged, hits) == 0.5
    assert refusal("rprec@5").code == refusal("success").code == "bad_value"


def test_judged_is_a_share_of_the_returned_hits() -> None:
    assert judged_share({"a": 0, "b": 1}, ["a", "x", "b"], 2) == 0.5
    assert judged_share({"a": 0}, ["a"], 10) == 1.0
    assert judged_share({"a": 0}, [], 10) is None


def test_bounds_cover_every_way_to_fill_missing_judgements() -> None:
    judged = {"a": 2, "b": 1, "c": 0, "d": 3}
    hits = ["x", "a", "y", "c", "z", "b"]
    for measure in (Measure("nDCG", 5), Measure("P", 5), Measure("nDCG", 10)):
        filled = []
        for grades in product((0, 3), repeat=3):
            whole = judged | dict(zip("xyz", grades, strict=True))
            filled.append(values([measure], {"q": whole}, {"q": hits})[measure]["q"])

        found = bounds(measure, judged, hits, best=3)

        assert found == pytest.approx((min(filled), max(filled)), abs=1e-6)


def test_intermediate_grade_can_exceed_only_the_upper_ndcg_bound() -> None:
    judged, hits, measure = {"b": 2, "d": 2, "x": 3}, ["a", "b", "c", "d", "e"], Measure("nDCG", 5)
    grades = [{**judged, **dict(zip("ace", filled, strict=True))} for filled in product(range(4), repeat=3)]

    low, high = bounds(measure, judged, hits, best=3) or (0, 0)
    found = [values([measure], {"q": each}, {"q": hits})[measure]["q"] for each in grades]

    assert min(found) == pytest.approx(low, abs=1e-6)
    assert high + 1e-3 < max(found) < high + 1e-2


def test_complete_judgements_make_both_bounds_the_value() -> None:
    judged = {"a": 1, "b": 0}

    low, high = bounds(Measure("nDCG", 10), judged, ["b", "a"], best=1) or (0, 0)

    assert low == high == pytest.approx(1 / log2(3))


def test_only_measures_with_a_cutoff_have_bounds() -> None:
    assert bounds(Measure("AP", None), {"a": 1}, ["b"], best=1) is None
    assert bounds(Measure("nDCG", None), {"a": 1}, ["b"], best=1) is None
