"""Proofs with copies: rows that no weight admits match brute force, in stores whose copies have two titles."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from recall_core.api.engine import Engine
from recall_core.explain.lines import Lines, crossing, lines_of, order_at
from recall_core.explain.whynot import ranking_fixes
from recall_core.explain.whynot.fix import Start
from recall_core.explain.whynot.fixes import fixes
from recall_core.explain.whynot.question import Question, plan_of, with_settings
from recall_core.explain.whynot.ranking_fixes import never
from recall_core.explain.whynot.target import Sought
from recall_core.retrieve import pool as pool_module
from recall_core.retrieve.answer import Answer
from recall_core.store.sqlite.store import SqliteStore
from tests.builders import memory_store, new_file, put
from tests.property.test_whynot import SIMILAR, WORDS, asker_of, shows

STORES = 200 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 40
GRID = [Fraction(n, 100) for n in range(101)]


def make(rng: Random) -> SqliteStore:
    """Make a store of six texts; half of them appear in two or three files with different titles."""
    store = memory_store()
    words = [*WORDS, *SIMILAR]
    texts = [" ".join(rng.choices(words, k=rng.randint(2, 6))) + "\n" for _ in range(6)]
    held = [text for text in texts for _ in range(rng.choice([1, 1, 2, 3]))]
    rng.shuffle(held)
    titles = [" ".join(rng.choices(words, k=rng.randint(1, 3))) for _ in range(4)]
    put(store, *(new_file(f"{n}.txt", [text], title=rng.choice(titles)) for n, text in enumerate(held)))
    return store


def ask(store: SqliteStore, rng: Random, **settings: str) -> tuple[Engine, Question, Answer]:
    asker = asker_of(store)
    words = " ".join(rng.choices([*WORDS, *SIMILAR], k=rng.randint(1, 4)))
    asked = Question(words=words, k=1)
    question = with_settings(asked, {"sparse_recall": False, "normalize": rng.choice(["bound", "max"]), **settings})
    return asker, question, asker.answer(plan_of(question, asker))


def every_weight(lines: Lines) -> list[Fraction]:
    """Return 0 to 1 in hundredths, every break point, and the middle between adjacent ones."""
    pairs = ((x, y) for x in range(len(lines.a)) for y in range(x))
    breaks = {weight for weight in (crossing(lines, x, y) for x, y in pairs) if weight is not None}
    weights = sorted({*GRID, *breaks})
    return sorted({*weights, *((low + high) / 2 for low, high in pairwise(weights))})


def test_proofs_with_copies_match_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = swaps = copies = 0
    for seed in range(STORES):
        rng = Random(seed)
        store, most = make(rng), rng.randint(1, 4)
        monkeypatch.setattr(ranking_fixes, "K_MOST", most)
        asker, question, found = ask(store, rng)
        assert found.pool is not None
        lines = lines_of(found.pool, found.plan.config)
        rows = {row.rowid: row for row in store.fetch([key.rowid for key in found.pool.keys])}
        texts = [rows[key.rowid].chunk.text for key in found.pool.keys]
        tops = [list(dict.fromkeys(texts[at] for at in order_at(lines, w))) for w in every_weight(lines)]
        for position, key in enumerate(found.pool.keys):
            best = 1 + min(top.index(texts[position]) for top in tops)
            proof = never(Start(question, found), Sought(rows[key.rowid], key.doc_rowid, None))
            where = (seed, position, texts)
            assert (proof is not None) == (best > most), where
            if proof is not None:
                assert proof.winning.best_rank == best, where
                ahead = [set(top[: top.index(texts[position])]) for top in tops]
                assert len(proof.winning.always_ahead) == len(set.intersection(*ahead)), where
                assert len({texts[each] for each in proof.ahead}) == len(proof.ahead) == best - 1, where
                proofs += 1
                copies += texts.count(texts[position]) > 1
        listed = [standing(asker, found, w) for w in GRID]
        shown = [list(map(texts.__getitem__, row)) for row in listed]
        assert shown == [list(dict.fromkeys(texts[at] for at in order_at(lines, w))) for w in GRID], seed
        swaps += len({frozenset(row) for row in listed}) > 1

    assert min(proofs, copies, swaps) > STORES // 10, (proofs, copies, swaps)


def standing(asker: Engine, found: Answer, weight: Fraction) -> tuple[int, ...]:
    """Return the list of a search at this weight, by position."""
    config = found.plan.config._replace(bm25_weight=float(1 - weight), vector_weight=float(weight))
    weighed = asker.weigh(found, config)
    assert weighed.ranked is not None
    return tuple(weighed.ranked.order)


def test_fixes_with_copies_are_confirmed_and_complete() -> None:
    done = 0
    for seed in range(30):
        rng = Random(seed)
        store = make(rng)
        asker, question, found = ask(store, rng)
        assert found.pool is not None
        key = rng.choice(found.pool.keys)
        (row,) = store.fetch([key.rowid])
        if shows(store, question, row):
            continue
        position = found.pool.keys.index(key)
        weights = [w for w in GRID if standing(asker, found, w)[0] == position]
        kinds = set()
        for change in fixes(asker, question, found, Sought(row, key.doc_rowid, None)).changes:
            assert shows(store, change.question, row), (seed, change)
            assert change.smaller is None or not shows(store, change.smaller, row), (seed, change)
            kinds.add(change.kind)
        is_listed = any(position == each for each in standing(asker, found, Fraction(1, 2)))
        if weights and is_listed:
            assert "weight" in kinds, (seed, kinds)
            done += 1
    assert done > 3


@pytest.mark.parametrize(
    ("settings", "is_bounded", "word"), [({"fusion": "rrf"}, False, "fusion"), ({}, True, "complete pool")]
)
def test_ranks_and_bounded_pools_prove_nothing_with_copies(
    settings: dict[str, str], is_bounded: bool, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking_fixes, "K_MOST", 1)
    if is_bounded:
        monkeypatch.setattr(pool_module, "EXACT_VECTORS", 0)
    doubts = set()
    for seed in range(20):
        rng = Random(seed)
        store = make(rng)
        _, question, found = ask(store, rng, **settings)
        assert found.pool is not None
        for key, row in zip(found.pool.keys, store.fetch([key.rowid for key in found.pool.keys]), strict=True):
            proof = never(Start(question, found), Sought(row, key.doc_rowid, None))
            if proof is not None and found.copies is not None:
                doubts.add(word in proof.doubt)
    assert doubts == {True}
