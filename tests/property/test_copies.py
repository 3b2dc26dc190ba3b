"""A list that shows a text once is the full list without rows whose text appears higher."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import corpus
from benchmarks.speed.lab import settle
from recall_core import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.rank.copies import Copies, texts_among
from recall_core.rank.fuse import rank
from recall_core.rank.sparse import in_place, near_documents, recall_short
from recall_core.rank.weighing import Ranking, head, rescore
from recall_core.types import Pool
from tests.arrays import in_arrays
from tests.property.test_estimates import CONFIGS, Case, cases, unsettled

TEXTS = st.lists(st.integers(0, 12), min_size=60, max_size=60)
EVERY = 10_000
"""More rows than any list in these tests."""


def struck(order: Sequence[int], kept: int, numbers: Mapping[int, int]) -> list[int]:
    """Return the order without rows of the list whose text appears higher."""
    seen: set[int] = set()
    listed = []
    for place, position in enumerate(order):
        text = numbers.get(position)
        if place >= kept or text is None or text not in seen:
            listed.append(position)
        if place < kept and text is not None:
            seen.add(text)
    return listed


def numbers_of(pool: Pool, texts: Sequence[int]) -> dict[int, int]:
    """Return the text number of each row by position; texts 0 to 3 occur once and have none."""
    return {position: text for position, text in zip(range(len(pool.keys)), texts, strict=False) if text > 3}


def shapes(case: Case, config: Config) -> Iterator[Ranking]:
    """Yield rankings of tuples, arrays and estimates, reranked, and by ORDER BY."""
    plain = rank(case.pool, config)
    yield plain
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recall_core.rank.fuse._PLAIN_ROWS", 0)
        yield rank(in_arrays(case.pool), config)
    yield rank(unsettled(*case).pool, config)
    said = {position: position * 0.618034 % 1 for position in head(plain, config)}
    yield rescore(plain, said, config)
    yield plain.reorder(sorted(plain.order[: plain.kept], key=lambda at: -at), kept=plain.kept)


@given(case=cases(), config=CONFIGS, texts=TEXTS, page=st.tuples(st.integers(0, 20), st.integers(0, 12)))
def test_collapse_drops_only_lower_ranked_copies(
    case: Case, config: Config, texts: list[int], page: tuple[int, int]
) -> None:
    numbers = numbers_of(case.pool, texts)
    start, rows = page
    for ranking in shapes(case, config):
        copies = Copies(ranking, texts_among(numbers), least=config.min_score)
        standing = copies.standing()
        first = standing.order[start : start + rows]
        expected = struck(list(ranking.order), ranking.kept, numbers)
        kept = len(struck(list(ranking.order)[: ranking.kept], ranking.kept, numbers))

        assert list(first) == expected[start : start + rows]
        assert list(standing.order) == expected
        assert (standing.kept, len(standing)) == (kept, len(expected))
        assert copies.struck == ranking.kept - kept
        assert [standing.scores[at] for at in expected] == [ranking.scores[at] for at in expected]
        listed = [[at, *copies.behind(at)] for at in expected[:kept]]
        assert sorted(at for group in listed for at in group) == sorted(ranking.order[: ranking.kept])
        assert [copies.count_behind(group[0]) for group in listed] == [len(group) - 1 for group in listed]
        order = {at: place for place, at in enumerate(ranking.order)}
        for group in listed:
            assert group == sorted(group, key=order.__getitem__)
            assert {copies.first(at) for at in group} == {group[0]}
            assert [copies.is_struck(at) for at in group] == [False] + [True] * (len(group) - 1)


@given(case=cases(), config=CONFIGS, texts=TEXTS, leader=st.integers(0, 59))
def test_leading_copy_takes_the_place_of_the_shown_row(
    case: Case, config: Config, texts: list[int], leader: int
) -> None:
    numbers = numbers_of(case.pool, texts)
    for ranking in shapes(case, config):
        before = Copies(ranking, texts_among(numbers), least=config.min_score)
        first, plain = before.first(leader), before.standing()
        after = before.led_by([leader])
        led = after.standing()
        expected = [leader if at == first else at for at in plain.order if at != leader or at == first]
        assert list(led.order) == expected
        assert led.kept == plain.kept
        if first != leader:
            assert after.is_struck(first)
            assert first in after.behind(leader)
            assert not after.is_struck(leader)


@given(case=cases(), config=CONFIGS, texts=TEXTS, limit=st.integers(0, 12))
def test_sparse_recall_gives_no_row_to_listed_text(case: Case, config: Config, texts: list[int], limit: int) -> None:
    numbers = numbers_of(case.pool, texts)
    counts = {key.doc_rowid: 1 + key.doc_rowid % 4 for key in case.pool.keys}
    found = []
    for pool in (case.pool, unsettled(*case).pool):
        ranking = rank(pool, config)
        copies = Copies(ranking, texts_among(numbers), least=config.min_score)
        plain = copies.standing()
        near_documents(pool, plain, limit=limit)
        after = recall_short(pool, plain, config, limit=limit, chunk_counts=counts, copies=copies)
        for each in (after, in_place(plain, after, copies)):
            order, kept = list(each.ranking.order), each.ranking.kept
            told = [numbers[at] for at in order[:kept] if at in texts_among(numbers).numbers]
            assert len({*told}) == len(told)
            assert len({*order}) == len(order) == len(each.ranking)
            assert kept == len(struck(list(ranking.order)[: ranking.kept], ranking.kept, numbers)) + sum(
                copies.first(at) == at and ranking.order.index(at) >= ranking.kept for at in after.given
            )
        listed = {*plain.order[: min(limit, plain.kept)]}
        texts_listed = {numbers[at] for at in listed if at in numbers}
        assert not any(numbers.get(at, -1) in texts_listed for at in after.given)
        found.append((after.given, after.report, list(after.ranking.order)))
    assert found[0] == found[1]


def fill(home: Path, chunks: int) -> list[str]:
    """Make a store whose paragraphs appear in several files, some below other titles; return the paragraphs."""
    random = Random(chunks)
    pieces = list(corpus.paragraphs(chunks))
    common = pieces[: chunks // 8]
    (home / "docs").mkdir()
    for number in range(0, chunks, 5):
        own = pieces[number : number + 5]
        own += random.choices(common, k=random.choice((0, 0, 1, 2, 3)))
        random.shuffle(own)
        (home / "docs" / f"{number:05}.md").write_text(
            f"# About {random.choice(('birds', 'stones'))}\n\n" + "\n\n".join(own) + "\n"
        )
    for number, text in enumerate(common):
        (home / "docs" / f"short{number:05}.txt").write_text(text + "\n")
    Recall.init(str(home), embedding="hash", settings=corpus.SETTINGS)
    with Recall.open(start=home) as recall:
        recall.index(str(home / "docs"))
        assert recall.store.has_copies()
    return pieces


def queries(pieces: Sequence[str], count: int) -> Iterator[tuple[str, Ask]]:
    """Yield `count` queries under all kinds of settings."""
    random = Random(count)
    for number in range(count):
        words = random.choice(pieces).split()
        start = random.randrange(max(1, len(words) - 8))
        text = " ".join(words[start : start + random.choice((1, 3, 8))])
        settings: list[str] = ["sparse_recall=false"]
        settings += random.choice(((), ("min_score=0.1",), ("min_score=0.3",), ("fusion=rrf",), ("normalize=max",)))
        settings += random.choice((("pool=40",), ("pool=15",), ()))
        settings += random.choice(
            ((), (), ("rerank=hash", "rerank_rows=20"), ("bm25_weight=0.2", "vector_weight=0.8"))
        )
        filters = random.choice((None, None, "doc.path LIKE 'docs/0%'", "chunk.offset > 300"))
        mode = random.choice(("hybrid", "hybrid", "lexical", "semantic"))
        yield text, Ask(mode=mode, filter=filters, settings=tuple(settings), explain=number % 5 == 0, k=EVERY)


def rows_of(response: Any) -> list[dict[str, Any]]:
    """Return the rows without their other places, and without the sentence that counts rows."""
    rows = [{key: value for key, value in row.items() if key != "copies"} for row in response["results"]]
    for row in rows:
        if "explain" in row:
            row["explain"] = {key: value for key, value in row["explain"].items() if key != "summary"}
    return rows


def holds(recall: Recall, text: str, ask: Ask, random: Random) -> None:
    each = ask._replace(settings=(*ask.settings, "collapse=false"))
    every = rows_of(recall.search(text, each))
    seen: set[str] = set()
    expected = [row for row in every if row["chunk"]["text"] not in seen and not seen.add(row["chunk"]["text"])]
    response = recall.search(text, ask)
    stats = response["stats"]

    assert rows_of(response) == expected
    assert (stats["total_hits"], stats.get("copies", 0)) == (len(every), len(every) - len(expected))
    k = random.randrange(1, 15)
    assert rows_of(recall.search(text, ask._replace(k=k))) == expected[:k]
    recalled_too = recall.search(text, ask._replace(k=k, settings=(*ask.settings, "sparse_recall=true")))
    texts = [row["chunk"]["text"] for row in recalled_too["results"]]
    assert len({*texts}) == len(texts)
    places = {row["chunk"]["id"]: row for row in response["results"]}
    for row in random.choices(response["results"], k=min(2, len(places))):
        alike = [other for other in every if other["chunk"]["text"] == row["chunk"]["text"]]
        assert row.get("copies", {}).get("count", 0) >= len(alike) - 1
    copies = [row["chunk"]["id"] for row in every if row not in expected]
    for pack in (Pack(600), Pack(600, diversity=1), Pack(600, pack="optimal")):
        for options in (pack, pack._replace(pins=tuple(copies[:1]), drops=tuple(copies[1:2]))):
            packs(recall.context(text, ask._replace(k=None), pack=options)["context"], options, every)


def packs(view: Any, options: Pack, every: Sequence[Any]) -> None:
    packed = [chunk["text"] for chunk in view["chunks"]]
    assert len({*packed}) == len(packed)
    below = sum(left["count"] for left in view["omitted"] if left["reason"] == "below_min_score")
    assert view["candidates"] - below == len(every)
    assert sum(left["count"] for left in view["omitted"]) + len(packed) == view["candidates"]
    if options.pins and packed:
        assert options.pins[0] in [chunk["id"] for chunk in view["chunks"]]


def asks(home: Path, pieces: Sequence[str], count: int) -> None:
    for text, ask in queries(pieces, count):
        with Recall.open(start=home) as recall:
            holds(recall, text, ask, Random(text))
    with Recall.open(start=home) as recall:
        settle(recall, lambda: recall.search("any"))
        for text, ask in queries(pieces, count):
            holds(recall, text, ask, Random(text))


class Filled(NamedTuple):
    home: Path
    pieces: Sequence[str]


@pytest.fixture(scope="module")
def with_copies(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    home = tmp_path_factory.mktemp("copies")
    return Filled(home, fill(home, 330))


@pytest.mark.parametrize("bounded", [False, True])
def test_store_with_copies_shows_each_text_once(
    with_copies: Filled, bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bounded:
        monkeypatch.setattr("recall_core.retrieve.pool.EXACT_VECTORS", 0)
    asks(*with_copies, 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 2)


@pytest.mark.slow
@pytest.mark.timeout(7_200)
def test_each_text_is_shown_once_for_five_hundred_queries(tmp_path: Path) -> None:
    asks(tmp_path, fill(tmp_path, 400), 500)
