"""Compare one step of a slider with the same sum and order in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.timing import Comparison, compare, cpu
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.retrieve.answer import Answer
from recall_core.types import Pool


def slider(recall: Recall, words: str, *, chunks: int, rounds: int) -> Iterator[Comparison]:
    """Yield the same pool under other weights, from the second step on, with 500 and with 5,000 candidates."""
    whole = recall.engine.answer(recall.engine.plan(words))
    config = whole.plan.config._replace(bm25_weight=0.4, vector_weight=0.6)
    for candidates in (500, 5_000):
        answer = recall.engine.weigh(_shortened(whole, candidates), whole.plan.config)  # the first step
        if answer.pool is not None and len(answer.pool.keys) == candidates:
            ours, peer = cpu(partial(recall.engine.weigh, answer, config)), cpu(order(answer.pool, config))
            yield compare(f"slider, {candidates} hits", ours, "NumPy sort", peer, chunks=chunks, rounds=rounds)


def order(pool: Pool, config: Config) -> Callable[[], object]:
    """Return a function that weighs, adds and sorts the two columns of the pool."""
    lexical = np.array([raw or 0.0 for raw in pool.lexical]) / pool.bound
    semantic = np.array([max(0.0, raw or 0.0) for raw in pool.semantic])
    return lambda: np.argsort(-(config.bm25_weight * lexical + config.vector_weight * semantic), kind="stable")


def _shortened(answer: Answer, candidates: int) -> Answer:
    """Return the answer with only the first candidates of its pool."""
    pool = answer.pool or Pool((), (), (), 0.0, (), exact=True, index_kind="exact")
    lexical, semantic = pool.lexical[:candidates], pool.semantic[:candidates]
    return answer._replace(pool=pool._replace(keys=pool.keys[:candidates], lexical=lexical, semantic=semantic))
