"""The command of a list gives its rows, also with sparse-document recall and with groups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as some

from recall_core.api.recall import Ask, Recall
from recall_tui.state.grouping import grouping_of
from recall_tui.state.session import WORDS_K, list_range
from recall_tui.threads.answering import rows_at, rows_of, weigh
from tests.examples import examples
from tests.workbench_corpus import build_store

WORDS = some.lists(
    some.sampled_from(["budget", "file", "tea", "manual", "step", "café", "token", "mind", "yields"]),
    min_size=1,
    max_size=3,
).map(" ".join)
SETTINGS = some.fixed_dictionaries(
    {},
    optional={
        "bm25_weight": some.sampled_from([0.0, 0.5]),
        "vector_weight": some.sampled_from([0.3, 1.0]),
        "fusion": some.just("rrf"),
        "min_score": some.sampled_from([0.05, 0.2, 0.5, 0.9]),
        "sparse_chunk_threshold": some.sampled_from([1, 2]),
        "sparse_distance_ceiling": some.sampled_from([0.2, 0.9, 1.0, 2.0]),
        "sparse_max_injections": some.integers(0, 40),
    },
)


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    store = build_store(tmp_path_factory.mktemp("listed"))
    long = store.parent / "long.md"
    long.write_text("\n\n".join(f"The budget of token {n}. " * 75 for n in range(12)))
    with Recall.open(str(store)) as opened:
        opened.index(str(long))
        yield opened


@examples(25)
@given(words=WORDS, settings=SETTINGS, k=some.just(WORDS_K) | some.integers(1, 40), is_moved=some.booleans())
def test_the_list_equals_a_search_for_as_many_rows(
    recall: Recall, words: str, settings: dict[str, float], k: int, is_moved: bool
) -> None:
    assignments = tuple(f"{key}={value}" for key, value in settings.items())
    plan = recall.engine.words_plan(words, Ask(settings=assignments, k=k))
    start = recall.engine.words_plan(words, Ask(k=WORDS_K)) if is_moved else plan
    answer = recall.engine.answer(start)
    answer = weigh(recall, answer, plan) if is_moved else answer

    rows = rows_of(recall, answer, range(min(100, list_range(answer)[1])))

    found = recall.search(words, Ask(settings=assignments, k=answer.plan.limit))["results"]
    assert [(row["chunk"]["id"], row["score"]) for row in found] == [
        (hit.chunk.id, hit.score) for hit in rows.values() if hit.chunk
    ]


def test_some_lists_give_rows_away(recall: Recall) -> None:
    settings = ("min_score=0.5", "sparse_distance_ceiling=2", "sparse_max_injections=3")

    answer = recall.engine.answer(recall.engine.words_plan("budget token", Ask(settings=settings, k=WORDS_K)))

    assert answer.recall is not None
    assert answer.recall.given


@examples(25)
@given(words=WORDS, first=some.integers(0, 60), rows=some.integers(0, 30))
def test_grouped_rows_are_those_of_the_list_by_rank(recall: Recall, words: str, first: int, rows: int) -> None:
    answer = recall.engine.answer(recall.engine.words_plan(words, Ask(k=WORDS_K)))
    whole = rows_of(recall, answer, range(list_range(answer)[1]))
    grouping = grouping_of(answer, *list_range(answer))

    wanted = rows_at(answer, (first, first + rows), is_grouped=True)

    places = range(first, min(first + rows, len(whole)))
    assert wanted == sorted(grouping.row(place) for place in places)
    assert rows_of(recall, answer, wanted) == {row: whole[row] for row in wanted}
    by_rank = [whole[row].doc.id for row in range(len(whole))]
    painted = [by_rank[grouping.row(place)] for place in range(len(whole))]
    assert painted == [document for document in dict.fromkeys(by_rank) for _ in range(by_rank.count(document))]
