"""For any lists and settings, overlaps stay within their bounds, and causes add up to the difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.explain.ledger import FACTORS, causes, inputs_at, points_of, score_of, shapley
from recall_core.explain.moves import alike_chunks, jaccard, rbo
from recall_core.rank.fuse import rank
from recall_core.rank.weighing import Ranking, head, rescore
from recall_core.types import Chunk, Document, Key, Pool, Row

lists = st.lists(st.integers(0, 14), unique=True, max_size=12)
persistences = st.sampled_from([0.5, 0.9, 0.98])
raws = st.one_of(st.none(), st.integers(0, 8_000_000).map(lambda n: n / 1_000_000))
cosines = st.one_of(st.none(), st.integers(-1_000_000, 1_000_000).map(lambda n: n / 1_000_000))
weights = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0])


def prefix_sum(a: list[int], b: list[int], depth: int, p: float) -> float:
    """Return the overlap by definition: agreement at each depth, weighted by the chance that a reader gets there."""
    return (1 - p) * sum(p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d for d in range(1, depth + 1))


@given(lists, lists, persistences)
def test_overlaps_are_symmetric_between_0_and_1(a: list[int], b: list[int], p: float) -> None:
    assert 0.0 <= rbo(a, b, p=p) <= 1.0
    assert rbo(a, b, p=p) == rbo(b, a, p=p)
    assert 0.0 <= jaccard(a, b) == jaccard(b, a) <= 1.0


@given(lists, lists, persistences)
def test_overlap_is_1_for_equal_and_0_for_disjoint_lists(a: list[int], b: list[int], p: float) -> None:
    assert rbo(a, a, p=p) == jaccard(a, a) == 1.0
    if a or b:
        assert rbo(a, [-1 - each for each in b], p=p) == jaccard(a, [-1 - each for each in b]) == 0.0


@given(st.permutations(range(10)), st.permutations(range(10)), persistences)
def test_rbo_of_equal_lengths_matches_its_definition(a: list[int], b: list[int], p: float) -> None:
    depth = 7
    a, b = a[:depth], b[:depth]
    shared = len(set(a) & set(b))

    assert rbo(a, b, p=p) == pytest.approx(prefix_sum(a, b, depth, p) + p**depth * shared / depth, abs=1e-12)


@given(st.permutations(range(12)), st.permutations(range(12)), st.integers(1, 12), persistences)
def test_deeper_lists_change_rbo_by_at_most_the_tail(a: list[int], b: list[int], depth: int, p: float) -> None:
    assert abs(rbo(a[:depth], b[:depth], p=p) - rbo(a, b, p=p)) <= p**depth + 1e-12


@given(st.permutations(range(9)), st.integers(1, 8), persistences)
def test_list_overlaps_fully_with_its_prefix(a: list[int], short: int, p: float) -> None:
    assert rbo(a, a[:short], p=p) == pytest.approx(1.0)


@given(st.lists(st.floats(-10, 10), min_size=16, max_size=16))
def test_shapley_values_add_up_and_idle_players_get_zero(worths: list[float]) -> None:
    def worth(coalition: int) -> float:
        return worths[coalition & 0b1011]  # the player of bit 2 never matters

    shares = shapley(worth, 4)

    assert sum(shares) == pytest.approx(worth(15) - worth(0), abs=1e-9)
    assert shares[2] == 0.0


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6))
def test_additive_players_get_what_they_bring(brought: list[float]) -> None:
    shares = shapley(lambda coalition: sum(v for bit, v in enumerate(brought) if coalition >> bit & 1), len(brought))

    assert shares == pytest.approx(brought, abs=1e-9)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    bm25, vector = draw(weights), draw(weights)
    return Config(
        fusion=draw(st.sampled_from(["weighted", "rrf"])),
        normalize=draw(st.sampled_from(["bound", "max", "minmax"])),
        rrf_k=draw(st.sampled_from([0, 10, 60])),
        bm25_weight=bm25,
        vector_weight=vector or (1.0 if not bm25 else 0.0),
        rerank=draw(st.sampled_from(["", "some"])),
        rerank_weight=draw(st.sampled_from([0.0, 0.3, 1.0])),
        rerank_rows=draw(st.integers(1, 4)),
    )


@st.composite
def ranked(draw: st.DrawFn, size: int) -> tuple[Ranking, Pool, Config]:
    """Return a ranked pool of `size` candidates with its settings, reranked or not."""
    config = draw(configs())
    asked = draw(st.sampled_from(["both", "both", "lexical", "semantic"]))
    pool = Pool(
        keys=tuple(Key(row, row, f"{row}", 0, 1) for row in range(size)),
        lexical=tuple(draw(raws) for _ in range(size)) if asked != "semantic" else (),
        semantic=tuple(draw(cosines) for _ in range(size)) if asked != "lexical" else (),
        bound=draw(st.sampled_from([0.0, 4.0, 9.5])),
        terms=(),
        exact=True,
        index_kind="exact",
    )
    ranking = rank(pool, config)
    if config.rerank:
        values = {position: draw(st.integers(0, 1000)) / 1000 for position in head(ranking, config)}
        ranking = rescore(ranking, values, config)
    return ranking, pool, config


@given(ranked(5))
def test_inputs_reproduce_the_score(given_: tuple[Ranking, Pool, Config]) -> None:
    ranking, pool, config = given_
    for position in range(5):
        assert score_of(inputs_at(position, ranking, pool, config)) == pytest.approx(
            ranking.scores[position], abs=1e-12
        )


@given(ranked(5))
def test_points_of_each_signal_match_its_part(given_: tuple[Ranking, Pool, Config]) -> None:
    ranking, pool, config = given_
    for position in range(5):
        points = points_of(inputs_at(position, ranking, pool, config))
        (row,) = ranking.reorder([position], kept=1)
        parts = {part.signal: part.points for part in row.parts}

        assert sum(points.values()) == pytest.approx(ranking.scores[position], abs=1e-12)
        assert {signal: points.get(signal, 0.0) for signal in parts} == pytest.approx(parts, abs=1e-12)


@given(ranked(4), ranked(4))
def test_causes_add_up_to_score_difference(a: tuple[Ranking, Pool, Config], b: tuple[Ranking, Pool, Config]) -> None:
    for position in range(4):
        before, after = (inputs_at(position, *each) for each in (a, b))
        split = causes(before, after)

        assert sum(each.points for each in split) == pytest.approx(
            b[0].scores[position] - a[0].scores[position], abs=1e-9
        )
        assert [each.factor for each in split] == [each for each in FACTORS if each in {c.factor for c in split}]
        assert causes(before, before) == ()


@st.composite
def chunks(draw: st.DrawFn) -> list[Row]:
    """Return a document's chunks by offset, of few texts, so that some repeat."""
    offset, rows = 0, []
    for text in draw(st.lists(st.sampled_from(["a", "bb", "ccc"]), max_size=5)):
        document = Document("d", "d", "h", "", 1, "", None, (), {})
        chunk = Chunk(f"{offset}", "d", offset, offset + len(text), 1, 1, 1, None, text)
        rows.append(Row(offset, document, chunk))
        offset += len(text)
    return rows


@given(chunks(), chunks())
def test_chunks_pair_up_once_and_equal_texts_match(a: list[Row], b: list[Row]) -> None:
    pairs = alike_chunks(a, b)

    assert sorted(pair.a for pair in pairs if pair.a is not None) == sorted(row.rowid for row in a)
    assert sorted(pair.b for pair in pairs if pair.b is not None) == sorted(row.rowid for row in b)
    texts_a, texts_b = ({row.rowid: row.chunk.text for row in rows} for rows in (a, b))
    for text in ("a", "bb", "ccc"):
        equal = sum(texts_a.get(pair.a) == texts_b.get(pair.b) == text for pair in pairs)  # type: ignore[arg-type]
        assert equal == min(list(texts_a.values()).count(text), list(texts_b.values()).count(text))
    assert [pair for pair in alike_chunks(a, a) if pair.a != pair.b] == []
