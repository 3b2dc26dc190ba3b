"""No reordering loses a row, changes a score, touches another page or breaks the ledger."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.rank.sparse import in_place, near_documents, recall_short
from recall_core.rank.weighing import Ranking, head, rescore
from recall_core.types import Key, Pool

COSINES = st.none() | st.integers(-1_000_000, 1_000_000).map(lambda millionths: millionths / 1_000_000)
NEAR = st.none() | st.sampled_from([1.0, 0.9, 0.85, 0.8, 0.799999, 0.5, 0.0])
SHARES = st.floats(0, 1)
CONFIGS = st.builds(
    Config()._replace,  # with Config itself, hypothesis would invent every other setting too, and an invalid one
    fusion=st.sampled_from(["weighted", "rrf"]),
    normalize=st.sampled_from(["bound", "max", "minmax"]),
    bm25_weight=SHARES,
    vector_weight=SHARES,
    min_score=st.sampled_from([0.0, 0.3, 0.6]),
    rerank_rows=st.integers(1, 20),
    rerank_weight=SHARES,
    sparse_max_injections=st.integers(0, 4),
    sparse_distance_ceiling=st.sampled_from([0.0, 0.2, 1.0]),
)


@st.composite
def pools(draw: st.DrawFn, cosines: st.SearchStrategy[float | None] = COSINES) -> Pool:
    lexical = draw(st.lists(st.none() | st.floats(0, 10), max_size=25))
    semantic = draw(st.lists(cosines, min_size=len(lexical), max_size=len(lexical)))
    documents = sorted(draw(st.lists(st.integers(0, 12), min_size=len(lexical), max_size=len(lexical))))
    keys = tuple(Key(100 + n, doc, f"{doc:02}.txt", n, 1) for n, doc in enumerate(documents))
    return Pool(keys, tuple(lexical), tuple(semantic), 10.0, (), exact=True, index_kind="exact")


def counts(pool: Pool) -> dict[int, int]:
    """Return the number of chunks per document; every second document is long and has more than the pool contains."""
    documents = [key.doc_rowid for key in pool.keys]
    return {document: documents.count(document) + 3 * (document % 2) for document in documents}


def values(ranking: Ranking, config: Config) -> dict[int, float]:
    return {position: round(position * 0.618034 % 1, 6) for position in head(ranking, config)}


@given(pool=pools(NEAR), config=CONFIGS, limit=st.integers(0, 12), by_document=st.booleans())
def test_recall_only_gives_away_the_last_rows(pool: Pool, config: Config, limit: int, by_document: bool) -> None:
    before = rank(pool, config)
    if by_document:
        before = best_of_each_document(pool, before)
    found = recall_short(pool, before, config, limit=limit, chunk_counts=counts(pool))
    after, injected = found.ranking, found.given
    listed = after.order[: min(limit, after.kept)]

    assert sorted(after.order) == sorted(before.order)
    assert after.scores is before.scores
    assert [each for each in after.order if each not in injected] == [
        each for each in before.order if each not in injected
    ]
    assert len(injected) == found.report.injections <= min(limit, config.sparse_max_injections)
    assert listed[len(listed) - len(injected) :] == list(injected)
    assert listed[: len(listed) - len(injected)] == before.order[: len(listed) - len(injected)]
    assert after.kept == len({*before.order[: before.kept], *injected})
    assert not injected.keys() & set(before.order[: min(limit, before.kept)])
    assert {each.displaced for each in injected.values()} - {None} <= set(before.order[:limit]) - set(listed)
    assert all(each.distance <= config.sparse_distance_ceiling for each in injected.values())
    distances = [each.distance for each in injected.values()]
    assert distances == sorted(distances)


@given(pool=pools(NEAR), config=CONFIGS, limit=st.integers(1, 12))
def test_recall_agrees_with_its_definition(pool: Pool, config: Config, limit: int) -> None:
    ranking = rank(pool, config)
    rows = [pool.keys[position].doc_rowid for position in ranking.order[: min(limit, ranking.kept)]]
    listed, long = set(rows), [row for row in rows if counts(pool)[row] > config.sparse_chunk_threshold]
    by_distance = sorted(
        (round(1 - cosine, 6), position) for position, cosine in enumerate(pool.semantic) if cosine is not None
    )
    due: dict[int, int] = {}
    for distance, position in by_distance[: max(3 * limit, 50)]:
        document = pool.keys[position].doc_rowid
        is_short = counts(pool)[document] <= config.sparse_chunk_threshold
        if is_short and document not in listed and distance <= config.sparse_distance_ceiling:
            due.setdefault(document, position)
    found = recall_short(pool, ranking, config, limit=limit, chunk_counts=counts(pool))
    allowed = min(limit, config.sparse_max_injections) if len(long) > len(rows) / 2 else 0
    assert list(found.given) == list(due.values())[:allowed]
    assert set(near_documents(pool, ranking, limit=limit)) <= counts(pool).keys()


@given(pool=pools(NEAR), config=CONFIGS, limit=st.integers(0, 12), by_document=st.booleans())
def test_rows_keep_their_places_when_none_is_recalled(
    pool: Pool, config: Config, limit: int, by_document: bool
) -> None:
    before = rank(pool, config)
    if by_document:
        before = best_of_each_document(pool, before)
    given_rows = recall_short(pool, before, config, limit=limit, chunk_counts=counts(pool))
    found = in_place(before, given_rows)

    listed, below = (
        before.order[: before.kept],
        [row for row in given_rows.given if row not in before.order[: before.kept]],
    )
    assert found.ranking.order[: found.ranking.kept] == [*listed, *below]
    assert sorted(found.ranking.order) == sorted(before.order)
    assert [(row, given.distance) for row, given in found.given.items()] == [
        (row, given.distance) for row, given in given_rows.given.items()
    ]
    assert all(each.displaced is None for each in found.given.values())


@given(pool=pools(), config=CONFIGS)
def test_reranked_score_sums_its_parts_in_any_order(pool: Pool, config: Config) -> None:
    before = rank(pool, config)
    after = rescore(before, values(before, config), config)
    assert sorted(after.order) == sorted(before.order)
    for each in after:
        points = [part.points for part in each.parts]
        assert each.score == sum(points) == sum(reversed(points))
    scores = [each.score for each in after]
    assert scores == sorted(scores, reverse=True)
    assert after.kept == sum(score >= config.min_score for score in scores)


@given(pool=pools(), config=CONFIGS)
def test_no_lower_row_overtakes_reranked_rows(pool: Pool, config: Config) -> None:
    before = rank(pool, config)
    top = values(before, config)
    after = rescore(before, top, config)
    lowest = min((after.scores[position] for position in top), default=1.0)
    rest = [position for position in after.order if position not in top]
    assert all(after.scores[position] <= lowest + 1e-15 for position in rest)
    kept_order = [before.scores[position] for position in rest]
    assert all(upper >= lower - 1e-15 for upper, lower in pairwise(kept_order)) or config.rerank_weight > 1 - 1e-9


@given(pool=pools(), config=CONFIGS.map(lambda config: config._replace(rerank_weight=0.0)))
def test_zero_weight_reranker_changes_nothing(pool: Pool, config: Config) -> None:
    before = rank(pool, config)
    after = rescore(before, values(before, config), config)
    assert (after.order, after.scores, after.kept) == (before.order, before.scores, before.kept)
