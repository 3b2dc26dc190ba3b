"""Rerankers by name: an embedder that compares texts with the query, or a plug-in."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import fsum, isfinite
from operator import mul
from typing import NamedTuple, Protocol, cast

import recall_core
from recall_core._lazy import np
from recall_core.config import Config
from recall_core.embed import registry
from recall_core.embed.model_files import components
from recall_core.errors import EmbedError
from recall_core.ports import Embedder, EmbedderKind, OfFiles, Reranker
from recall_core.types import Vector

GROUP = "recall.reranker"
"""Entry point group of plug-ins: each takes a Config, whose `rerank` names it, and returns a Reranker."""

_DECIMALS = 6
_SCALE = 1_000_000  # 10 to the power of _DECIMALS
_DOUBT = 1e-4  # in units of the last decimal; far above the rounding error of any float64 dot product here
_KEPT_TEXTS = 4_096  # vectors kept in memory, a few MB
_NOT_YET = 0  # dimension of a model that is not loaded; it may never be needed


class VectorKey(NamedTuple):
    """sha256 of a text, and whether it is a query: an embedder may treat queries differently."""

    text_hash: bytes
    is_query: bool


class KeptVectors(Protocol):
    """Storage for vectors across processes."""

    def find(self, keys: Sequence[VectorKey]) -> Mapping[VectorKey, Vector]:
        """Return the known vectors."""

    def leave(self, made: Mapping[VectorKey, Vector]) -> None:
        """Accept new vectors, to be stored after the answer is returned."""


class EmbedderReranker:
    """Scores a text by its cosine with the query, negative values as 0. Keeps vectors for repeated texts.

    The embedder is called only for unknown vectors, so its model is not loaded if all are known.

    kept: storage that outlasts the process.
    """

    def __init__(self, embedder: Embedder, kept: KeptVectors | None = None) -> None:
        self.embedder = embedder
        self._kept = kept
        self._known: dict[VectorKey, Vector] = {}

    @property
    def identity(self) -> str:
        """The embedder's identity."""
        return self.embedder.identity

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return max(0, cosine) per text, in order: float64 rounded half-even to 6 decimals, 0 without a vector."""
        (query_vector,) = self.vectors([question], is_query=True)
        vectors = self.vectors(texts)
        if not query_vector:
            return [0.0] * len(texts)
        similar = iter(_similarities(query_vector, [vector for vector in vectors if vector]))
        return [next(similar) if vector else 0.0 for vector in vectors]

    def vectors(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return the texts' vectors, and keep the most recently used."""
        keys = [VectorKey(_hash(text), is_query) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        self._known |= self._learn(unknown, is_query=is_query) if unknown else {}
        found = {key: self._known.pop(key) for key in dict.fromkeys(keys)}
        self._known |= found
        for key in list(self._known)[: max(0, len(self._known) - _KEPT_TEXTS)]:
            del self._known[key]
        return [found[key] for key in keys]

    def _learn(self, texts: Mapping[VectorKey, str], *, is_query: bool) -> Mapping[VectorKey, Vector]:
        """Return the vectors, taking stored ones and making the others, each text once."""
        stored = {} if self._kept is None else self._kept.find(list(texts))
        new = [key for key in texts if key not in stored]
        if not new:
            return stored
        made = dict(zip(new, self.embedder.embed([texts[key] for key in new], is_query=is_query), strict=True))
        if self._kept is not None:
            self._kept.leave(made)
        return {**stored, **made}


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorMaker(NamedTuple):
    """Identification of an embedder's vectors in storage.

    name: includes the checksum of the model if it comes from files.
    identity: the embedder's identity, or its prefix if the rest is known only once the model is loaded.
    """

    name: str
    identity: str

    def is_of(self, identity: str) -> bool:
        """Return True if an embedder of that identity makes the same vectors."""
        return identity == self.identity or (self.identity.endswith(":") and identity.startswith(self.identity))


def new_reranker(
    name: str,
    config: Config,
    *,
    loaded: Embedder | None = None,
    keep: Callable[[VectorMaker], KeptVectors] | None = None,
) -> Reranker:
    """Return the reranker of that name: an embedder as recall.toml would name it, or a plug-in.

    loaded: an existing embedder, reused if it makes the same vectors.
    keep: returns the storage for a maker's vectors.
    Raises EmbedError `unknown_reranker`, and the errors of creating an embedder.
    """
    bare = name.partition(":")[0]
    if bare not in registry.KINDS:
        point = recall_core.plug_ins.find(GROUP).get(bare)
        if point is not None:
            with recall_core.plug_ins.loading(
                "reranker", point, EmbedError, "embedder_unavailable", hint='rerank = ""'
            ):
                return cast(Reranker, point.load()(config._replace(rerank=name)))
    settings = config._replace(embedding=name)
    found = _kind(name)
    registry.check_network(found, settings)
    embedder = found.new(settings, dimension=_NOT_YET if bare == "onnx" else found.dimension(settings))
    maker = _maker(bare, embedder)
    if loaded is not None and maker.is_of(loaded.identity):
        embedder = loaded
    return EmbedderReranker(embedder, None if keep is None else keep(maker))


def _maker(bare: str, embedder: Embedder) -> VectorMaker:
    if not isinstance(embedder, OfFiles):
        return VectorMaker(embedder.identity, embedder.identity)
    name = f"{bare}-{embedder.checksum}"
    return VectorMaker(name, f"{name}:" if bare == "onnx" else embedder.identity)


def check_reranker(name: str) -> None:
    """Raise EmbedError `unknown_reranker` if no embedder or plug-in has that name. Loads nothing."""
    bare = name.partition(":")[0]
    if bare in registry.KINDS or bare not in recall_core.plug_ins.find(GROUP):
        _kind(name)


def _kind(name: str) -> EmbedderKind:
    try:
        return registry.kind(name)
    except EmbedError as error:
        if error.code != "unknown_embedder":
            raise
        message = f"Unknown reranker {name!r}."
        raise EmbedError("unknown_reranker", message, hint=error.hint) from error


def _similarities(question: Vector, texts: Sequence[Vector]) -> list[float]:
    """Return cosines of unit vectors, at least 0. With or without NumPy, equal to the store's to the last bit."""
    query = components(question)
    if "numpy" in sys.modules and {len(text) for text in texts} == {len(question)}:
        matrix = np.frombuffer(b"".join(texts), dtype="<f4").reshape(len(texts), -1).astype(np.float64)
        sums: list[float] = (matrix @ np.array(query)).tolist()
    else:
        sums = [sum(map(mul, query, array("f", text))) for text in texts]
    return [_settle(total, query, text) for total, text in zip(sums, texts, strict=True)]


def _settle(total: float, question: Sequence[float], text: Vector) -> float:
    """Round the sum. Compute it again exactly if the order of addition could change the last decimal."""
    scaled = total * _SCALE
    if not isfinite(scaled) or abs(abs(scaled - round(scaled)) - 0.5) < _DOUBT:
        total = fsum(map(mul, question, components(text)))
    return max(0.0, min(1.0, round(total, _DECIMALS)))
