"""Rerankers by name: an embedder that compares a text with the question anew, or one of a plug-in."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import fsum, isfinite
from operator import mul
from typing import NamedTuple, Protocol, cast

from recall_core._lazy import metadata, np
from recall_core.config import Config
from recall_core.embed import registry
from recall_core.embed.model_files import components
from recall_core.errors import EmbedError
from recall_core.ports import Embedder, EmbedderKind, OfFiles, Reranker
from recall_core.types import Vector

GROUP = "recall.reranker"
"""The entry points of plug-ins: each is called with a Config, whose `rerank` names it, and returns a Reranker."""

_DECIMALS = 6
_SCALE = 1_000_000  # 10 to the power of _DECIMALS
_DOUBT = 1e-4  # in units of the last decimal: far above the rounding error of any float64 dot product here
_KEPT_TEXTS = 4_096  # vectors in memory, a few MB
_NOT_YET = 0  # components of a model's vectors that are found out once it is loaded, which may never be needed


class VectorKey(NamedTuple):
    """sha256 of a text, and whether it is a question: an embedder may read those otherwise."""

    text_hash: bytes
    is_query: bool


class KeptVectors(Protocol):
    """Where vectors of earlier processes are found, and new ones are left for later ones."""

    def find(self, keys: Sequence[VectorKey]) -> Mapping[VectorKey, Vector]:
        """Those that are known."""

    def leave(self, made: Mapping[VectorKey, Vector]) -> None:
        """Take these, to be kept once the answer is out."""


class EmbedderReranker:
    """Scores a text by its cosine with the question, below 0 as 0; for what is asked again it keeps vectors.

    kept: where they outlast the process. The embedder is only asked for what nobody has, so that its model is not
    loaded where everything is there.
    """

    def __init__(self, embedder: Embedder, kept: KeptVectors | None = None) -> None:
        self.embedder = embedder
        self._kept = kept
        self._known: dict[VectorKey, Vector] = {}

    @property
    def identity(self) -> str:
        """The embedder's."""
        return self.embedder.identity

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """max(0, cosine) a text, in order, in float64 rounded half-even to 6 decimals; 0 without a vector."""
        (asked,) = self.vectors([question], is_query=True)
        vectors = self.vectors(texts)
        if not asked:
            return [0.0] * len(texts)
        similar = iter(_similarities(asked, [vector for vector in vectors if vector]))
        return [next(similar) if vector else 0.0 for vector in vectors]

    def vectors(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """The texts' vectors; the ones used last are kept."""
        keys = [VectorKey(_hash(text), is_query) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        self._known |= self._learn(unknown, is_query=is_query) if unknown else {}
        found = {key: self._known.pop(key) for key in dict.fromkeys(keys)}
        self._known |= found
        for key in list(self._known)[: max(0, len(self._known) - _KEPT_TEXTS)]:
            del self._known[key]
        return [found[key] for key in keys]

    def _learn(self, texts: Mapping[VectorKey, str], *, is_query: bool) -> Mapping[VectorKey, Vector]:
        """Their vectors: those that were kept, and the others made, each text once."""
        kept = {} if self._kept is None else self._kept.find(list(texts))
        new = [key for key in texts if key not in kept]
        if not new:
            return kept
        made = dict(zip(new, self.embedder.embed([texts[key] for key in new], is_query=is_query), strict=True))
        if self._kept is not None:
            self._kept.leave(made)
        return {**kept, **made}


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorMaker(NamedTuple):
    """What tells an embedder's vectors from all others. name: with the checksum of its model, where that is in files.

    identity: the embedder's own, or what it begins with where the rest is only known once a model is loaded.
    """

    name: str
    identity: str

    def is_of(self, identity: str) -> bool:
        """Whether vectors of an embedder of that identity are of this maker."""
        return identity == self.identity or (self.identity.endswith(":") and identity.startswith(self.identity))


def new_reranker(
    name: str,
    config: Config,
    *,
    loaded: Embedder | None = None,
    keep: Callable[[VectorMaker], KeptVectors] | None = None,
) -> Reranker:
    """The reranker of that name: an embedder as recall.toml would name it, or a plug-in.

    loaded: an embedder that is there already, taken where it is the one. keep: where vectors of that maker outlast
    the process. Raises EmbedError `unknown_reranker`, and what making an embedder raises.
    """
    bare = name.partition(":")[0]
    if bare not in registry.KINDS:
        plug_in = _plug_in(bare)
        if plug_in is not None:
            return plug_in(config._replace(rerank=name))
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
    """Raise EmbedError `unknown_reranker` where no embedder and no plug-in has that name; nothing is loaded."""
    bare = name.partition(":")[0]
    if bare in registry.KINDS or not metadata.entry_points(group=GROUP, name=bare):
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
    for point in metadata.entry_points(group=GROUP, name=name):
        try:
            return cast(Callable[[Config], Reranker], point.load())
        except Exception as error:  # a stranger's module may raise anything while it is imported
            message = f"The reranker {name} ({point.value}) cannot be loaded: {error}."
            raise EmbedError("embedder_unavailable", message, hint='rerank = ""') from error
    return None


def _similarities(question: Vector, texts: Sequence[Vector]) -> list[float]:
    """Cosines of unit vectors, below 0 as 0, as the store computes them: whichever way, to the last bit the same."""
    asked = components(question)
    if "numpy" in sys.modules and {len(text) for text in texts} == {len(question)}:
        matrix = np.frombuffer(b"".join(texts), dtype="<f4").reshape(len(texts), -1).astype(np.float64)
        sums: list[float] = (matrix @ np.array(asked)).tolist()
    else:
        sums = [sum(map(mul, asked, array("f", text))) for text in texts]
    return [_settle(total, asked, text) for total, text in zip(sums, texts, strict=True)]


def _settle(total: float, question: Sequence[float], text: Vector) -> float:
    """The sum, rounded; taken again exactly where the order of addition could decide the last decimal."""
    scaled = total * _SCALE
    if not isfinite(scaled) or abs(abs(scaled - round(scaled)) - 0.5) < _DOUBT:
        total = fsum(map(mul, question, components(text)))
    return max(0.0, min(1.0, round(total, _DECIMALS)))
