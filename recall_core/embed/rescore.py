"""Rerankers by name: an embedder that compares a text with the question anew, or one of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from math import fsum
from operator import mul
from typing import cast

from recall_core.config import Config
from recall_core.embed import registry
from recall_core.embed.windows import components
from recall_core.errors import EmbedError
from recall_core.ports import Embedder, EmbedderKind, Reranker
from recall_core.types import Vector

GROUP = "recall.reranker"
"""The entry points of plug-ins: each is called with a Config, whose `rerank` names it, and returns a Reranker."""

_DECIMALS = 6
_KEPT_TEXTS = 4_096  # vectors in memory, a few MB


class EmbedderReranker:
    """Scores a text by its cosine with the question, below 0 as 0; for questions asked again it keeps vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[bytes, Vector] = {}

    @property
    def identity(self) -> str:
        """The embedder's."""
        return self._embedder.identity

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """max(0, cosine) a text, in order, in float64 rounded half-even to 6 decimals; 0 without a vector."""
        (asked,) = self._embedder.embed([question], is_query=True)
        vectors = self._vectors(texts)
        if not asked:
            return [0.0] * len(texts)
        question_components = components(asked)
        return [_similarity(question_components, components(vector)) if vector else 0.0 for vector in vectors]

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        """The texts' vectors; the ones used last are kept."""
        keys = [sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        made = dict(zip(new, self._embedder.embed(list(new.values())), strict=True)) if new else {}
        found = {key: made[key] if key in made else self._kept.pop(key) for key in dict.fromkeys(keys)}
        self._kept |= found
        for key in list(self._kept)[: max(0, len(self._kept) - _KEPT_TEXTS)]:
            del self._kept[key]
        return [found[key] for key in keys]


def new_reranker(name: str, config: Config) -> Reranker:
    """The reranker of that name: an embedder as recall.toml would name it, or a plug-in.

    Raises EmbedError `unknown_reranker`, and what making an embedder raises.
    """
    bare = name.partition(":")[0]
    if bare not in registry.KINDS:
        plug_in = _plug_in(bare)
        if plug_in is not None:
            return plug_in(config._replace(rerank=name))
    settings = config._replace(embedding=name)
    found = _kind(name)
    registry.check_network(found, settings)
    return EmbedderReranker(found.new(settings, dimension=found.dimension(settings)))


def check_reranker(name: str) -> None:
    """Raise EmbedError `unknown_reranker` where no embedder and no plug-in has that name; nothing is loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 60 ms that a built-in name does not pay

    bare = name.partition(":")[0]
    if bare in registry.KINDS or not entry_points(group=GROUP, name=bare):
        _kind(name)


def _kind(name: str) -> EmbedderKind:
    try:
        return registry.kind(name)
    except EmbedError as error:
        if error.code != "unknown_embedder":
            raise
        message = f"There is no reranker named {name!r}."
        raise EmbedError("unknown_reranker", message, hint=error.hint) from error


def _plug_in(name: str) -> Callable[[Config], Reranker] | None:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 60 ms that a built-in name does not pay

    for point in entry_points(group=GROUP, name=name):
        try:
            return cast(Callable[[Config], Reranker], point.load())
        except Exception as error:  # a stranger's module may raise anything while it is imported
            message = f"The reranker {name} ({point.value}) cannot be loaded: {error}."
            raise EmbedError("embedder_unavailable", message, hint='rerank = ""') from error
    return None


def _similarity(question: Sequence[float], text: Sequence[float]) -> float:
    cosine = round(fsum(map(mul, question, text)), _DECIMALS)  # of unit vectors, as the store computes it
    return max(0.0, min(1.0, cosine))
