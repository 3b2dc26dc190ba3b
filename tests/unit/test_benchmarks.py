"""The benchmarks run and tell every figure; how fast anything is, no test may judge on a shared machine."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import corpus, speed
from benchmarks.timing import Comparison, Spread, compare

SPREAD = {"median", "least", "most"}


def test_the_corpus_is_the_same_every_time_and_a_paragraph_is_a_chunk(tmp_path: Path) -> None:
    assert list(corpus.paragraphs(3)) == list(corpus.paragraphs(3))
    assert list(corpus.paragraphs(3)) != list(corpus.paragraphs(3, seed=2))
    _, weighed = speed.measure(41, tmp_path, rounds=1)
    assert (weighed.chunks, weighed.vector_bytes) == (41, 41 * 512 * 4)
    assert weighed.text_bytes == sum(file.stat().st_size for file in (tmp_path / "docs").iterdir())


def test_a_report_is_json_with_every_figure_as_a_spread() -> None:
    figures = json.loads(json.dumps(speed.report([30, 60], rounds=1)))
    assert {"python", "sqlite", "numpy", "cores", "rounds", "comparisons", "files", "growth"} == set(figures)
    assert {row["chunks"] for row in figures["comparisons"]} == {30, 60}
    for row in figures["comparisons"]:
        assert set(row) == {"name", "peer", "chunks", "ours_ms", "peer_ms", "ratio"}
        assert set(row["ours_ms"]) == set(row["peer_ms"]) == set(row["ratio"]) == SPREAD
    assert {row["name"] for row in figures["growth"]} == {row["name"] for row in figures["comparisons"]}
    assert len(list(speed.table(figures))) > len(figures["comparisons"])


def test_a_ratio_is_taken_within_each_round_and_the_first_round_does_not_count() -> None:
    ours, peer = iter([99.0, 2.0, 6.0, 3.0]), iter([99.0, 1.0, 2.0, 3.0])
    found = compare("a", lambda: next(ours), "b", lambda: next(peer), chunks=1, rounds=3)
    assert found == Comparison("a", "b", 1, Spread(3.0, 2.0, 6.0), Spread(2.0, 1.0, 3.0), Spread(2.0, 1.0, 3.0))


def test_growth_is_told_for_four_times_as_many_whatever_the_sizes() -> None:
    flat = Spread(1.0, 1.0, 1.0)
    rows = [Comparison("a", "b", chunks, Spread(float(chunks), 0, 0), flat, flat) for chunks in (10, 20, 160)]
    assert [(row.chunks, row.factor) for row in speed.growth(rows)] == [((10, 20), 4.0), ((20, 160), 4.0)]
