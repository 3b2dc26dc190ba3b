"""Compare a store with signatures with the same store without them: the time they save, and the results they miss."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.speed.asked import Question
from benchmarks.speed.lab import Lab, settle
from benchmarks.speed.peers import BOTH, NUMPY, Peers
from benchmarks.speed.rows import Row, in_turns
from benchmarks.speed.warm import A_ROUND, USUAL
from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.api.stores import store_kind
from recall_core.config import EXACT_VECTORS, Config
from recall_core.store.values import index_of

LSH = ", lsh"
"""Suffix of these rows. Their recall is ours: the share of the ten nearest, or best, that we find."""
EXACT = "without an index"

Way = Callable[[Question], list[str]]


def by_signatures(lab: Lab) -> Iterator[Row]:
    """Yield vectors alone and both signals. With 20,000 vectors or fewer, Recall does not use an index."""
    if lab.chunks <= EXACT_VECTORS:
        return
    peers = Peers(lab)
    with _signed(lab) as signed:
        for recall in (lab.recall, signed):
            settle(recall, partial(recall.search, lab.asker.draw(USUAL, 1)[0].text))
        for name, mode, peer in (("vector", "semantic", NUMPY), ("hybrid", "hybrid", BOTH)):
            rounds = [lab.asker.draw(USUAL, A_ROUND) for _ in range(lab.rounds + 1)]
            every = [each for asked in rounds for each in asked]
            for question in every:
                peers.vector(question)
            ways = {EXACT: partial(_search, lab.recall, mode), peer: peers.named(peer)}
            found = list(in_turns(partial(_search, signed, mode), ways, rounds))
            recalled = _recall(partial(_search, signed, mode), partial(_search, lab.recall, mode), every)
            for peer_name, ours, its, ratio in found:
                label = f"{name}, {USUAL}{LSH}"
                yield Row(label, lab.made.embedding, lab.chunks, peer_name, ours, its, ratio, recalled)


@contextmanager
def _signed(lab: Lab) -> Iterator[Recall]:
    """Yield a copy of the lab's store with signatures. Both use the lab's files."""
    config = lab.recall.config._replace(vector_index="lsh")
    path = lab.home / "signed.db"
    if not path.exists():
        part = path.with_suffix(".part")
        shutil.copyfile(lab.home / config.store_path, part)
        _sign(part, config)
        part.rename(path)
    store = store_kind("sqlite").open(str(path))
    with Recall(Engine(store, config=config, base=lab.home)) as recall:
        yield recall


def _sign(path: Path, config: Config) -> None:
    store = store_kind("sqlite").open(str(path))
    store.sign(index_of(config, store.capabilities))
    store.close()


def _search(recall: Recall, mode: str, question: Question) -> list[str]:
    found = recall.search(question.text, question.ask._replace(mode=mode))
    return [hit["chunk"]["id"] for hit in found["results"]]


def _recall(ours: Way, best: Way, questions: Sequence[Question]) -> float:
    shares = [len({*ours(each)} & {*wanted}) / len(wanted) for each in questions if (wanted := best(each))]
    return round(sum(shares) / len(shares), 3)
