"""The index of signatures: kept as the settings want it, held against its vectors, and how much it finds again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from recall_core.config import EXACT_VECTORS, Config
from recall_core.contract.store import VectorIndexView
from recall_core.embed.registry import kind
from recall_core.errors import ConfigError, EmbedError
from recall_core.ports import Embedder
from recall_core.retrieve.pool import by_signatures
from recall_core.retrieve.query import telling
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import Finding, Signing, signing_of
from recall_core.text import spaced
from recall_core.types import Row

_COMPACT = Hint("compact")
_REPAIR = Hint("doctor", fix=True)
_QUESTIONS = 20
_LEAST_QUESTIONS = 4
_COMPARED = 2_000_000  # vectors that all questions together are held against, above the least of questions
_WORDS = 5
_DEPTH = 10


class IndexRecall(NamedTuple):
    """What share of the nearest rows the index finds, on average over some questions of words."""

    questions: int
    at_10: float | None
    at_pool: float | None
    pool: int

    def __str__(self) -> str:
        if self.at_10 is None or self.at_pool is None:
            return "there is no question to measure its recall by"
        return (
            f"recall@10 {self.at_10:.3f} and recall@{self.pool} {self.at_pool:.3f} on {self.questions} word questions"
        )


def settle(store: Store, config: Config) -> int | None:
    """Keep the signatures that the settings want, or none; how many by now, None where none are wanted."""
    if "signatures" not in store.capabilities:
        return None
    wanted = signing_of(config)
    store.sign(wanted)
    return None if wanted is None else store.info().vectors


def make_anew(store: Store, config: Config) -> None:
    """Make the signatures that the settings want, where some are not those of their vectors."""
    if "signatures" not in store.capabilities or (wanted := signing_of(config)) is None:
        return
    if store.signing() == wanted and store.wrong_signatures():
        store.sign(None)
    store.sign(wanted)


def measure_recall(store: Store, embedder: Embedder, config: Config) -> IndexRecall:
    """Return how much of what is nearest is found by the signatures that the settings want, each of which is there.

    A question is made of each of up to 20 chunks, evenly spaced by path and offset: five of the words of its text
    that tell something, evenly spaced too. Time is bounded: above 100,000 vectors there are fewer, but at least 4.
    """
    depth = max(config.pool, _DEPTH)
    shares: dict[int, list[float]] = {_DEPTH: [], depth: []}
    with store.reading():
        texts = [text for row in _sample(store) if (text := _question(store, row, config.stop_words))]
        for vector in embedder.embed(texts, is_query=True) if texts else ():
            near = by_signatures(store, vector, config, where=None, k=depth) if vector else None
            if near is not None:
                exact = store.nearest(vector, where=None, k=depth).cosines
                for k in shares:
                    shares[k] += _share(exact, near.cosines, k)
    return IndexRecall(len(shares[depth]), _mean(shares[_DEPTH]), _mean(shares[depth]), config.pool)


def _sample(store: Store) -> list[Row]:
    rowids = store.in_order()
    most = max(_LEAST_QUESTIONS, min(_QUESTIONS, _COMPARED // max(1, store.info().vectors)))
    count = min(len(rowids), most)
    return store.fetch([rowids[place * len(rowids) // count] for place in range(count)])


def _question(store: Store, row: Row, stop_words: str) -> str:
    words = telling(dict.fromkeys(store.tokens(spaced(row.chunk.text))), stop_words)
    count = min(len(words), _WORDS)
    return " ".join(words[place * len(words) // count] for place in range(count))


def _share(exact: Mapping[int, float], near: Mapping[int, float], k: int) -> list[float]:
    """Return what share of the k nearest is found, of those that are similar at all."""
    wanted = [rowid for rowid, cosine in list(exact.items())[:k] if cosine > 0]
    found = set(list(near)[:k])
    return [sum(rowid in found for rowid in wanted) / len(wanted)] if wanted else []


def _mean(shares: list[float]) -> float | None:
    return round(sum(shares) / len(shares), 6) if shares else None


def view_of(store: Store, own: Callable[[], Embedder], config: Config) -> VectorIndexView:
    """Return what stats says of the index of signatures that the settings want."""
    is_ready = _is_ready(store, Signing(config.ann_bits, config.ann_seed))
    is_used = is_ready and store.info().vectors > EXACT_VECTORS
    view = VectorIndexView(name="lsh", bits=config.ann_bits, seed=config.ann_seed, ready=is_ready, used=is_used)
    found = _recall_or_reason(store, own, config) if is_ready else None
    if isinstance(found, str):
        view["unmeasured"] = found
    elif found is not None:
        view["questions"] = found.questions
        view["recall_at_10"] = found.at_10
        view["recall_at_pool"] = found.at_pool
    return view


def check(store: Store, own: Callable[[], Embedder], config: Config) -> Finding:
    """Warn if signatures that the settings want are missing; report an error if some are of other vectors."""
    signing = signing_of(config)
    if signing is None or "signatures" not in store.capabilities:
        return Finding("ok", "this kind of store keeps no signatures")
    made = f"signatures of {signing.bits} bits with seed {signing.seed}"
    if not _is_ready(store, signing):
        return Finding("warning", f"not every vector has {made}: every one is compared", _COMPACT)
    if wrong := store.wrong_signatures():
        return Finding("error", f"{wrong} signatures are not those of their vectors", _REPAIR)
    return Finding("ok", f"{store.info().vectors} {made}; {_recall_or_reason(store, own, config)}")


def _is_ready(store: Store, signing: Signing) -> bool:
    return "signatures" in store.capabilities and store.is_signed(signing)


def _recall_or_reason(store: Store, own: Callable[[], Embedder], config: Config) -> IndexRecall | str:
    """Return how much it finds, or why nobody knows: no text is sent off this machine for it."""
    try:
        if kind(config.embedding).sends_text(config):
            return "its recall is not measured, because the embedder sends text off this machine"
        return measure_recall(store, own(), config)
    except (EmbedError, ConfigError) as error:
        return f"its recall is not measured: {error.message}"
