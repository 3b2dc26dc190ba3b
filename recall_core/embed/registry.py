"""Embedders by name: how a setting or a store's record becomes an embedder, built in or plugged in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from recall_core import paths
from recall_core._lazy import difflib, metadata
from recall_core.config import Config, anchor
from recall_core.errors import ConfigError, EmbedError
from recall_core.named import NamedTuple
from recall_core.ports import Embedder, EmbedderKind
from recall_core.shell import REST, Hint
from recall_core.types import Vector

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

HASH_NOTE = "hash vectors match spelling, not meaning; they help with typos and word forms"

KINDS: dict[str, str] = {
    "hash": "recall_core.embed.hash:HASH",
    "local": "recall_core.embed.local:LOCAL",
    "minilm": "recall_core.embed.onnx:MINILM",
    "onnx": "recall_core.embed.onnx:ONNX",
    "openai": "recall_core.embed.providers.openai:OPENAI",
    "ollama": "recall_core.embed.providers.openai:OLLAMA",
    "llamacpp": "recall_core.embed.providers.openai:LLAMACPP",
    "gemini": "recall_core.embed.providers.openai:GEMINI",
    "sentence-transformers": "recall_core.embed.providers.sentence:SENTENCE",
}

"""What is built in: name to `module:attribute` of an EmbedderKind, imported when it is asked for."""

GROUP = "recall.embedder"

"""The entry points of plug-ins, each an EmbedderKind; looked at when a name is not built in."""

AUTO = "auto"

FOUND_BY_AUTO = ("local", "openai", "gemini")

_KNOWN_BY_IDENTITY = ("hash", "local", "minilm")

_TAKES_ARGUMENT = "onnx"


class BrokenKind(NamedTuple):
    """A plug-in that cannot be loaded, so that a list can say why."""

    name: str
    reason: str
    purpose: str = "a plug-in that cannot be loaded"
    vector_weight: float = 0.0

    def sends_text(self, config: Config) -> bool:
        """Never: it does nothing."""
        return False

    def missing(self, config: Config) -> str:
        """Why it cannot be loaded."""
        return self.reason

    def dimension(self, config: Config) -> None:
        """Unknown."""
        return

    def recognises(self, identity: str, config: Config) -> bool:
        """Nothing."""
        return False

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        """Raises EmbedError `embedder_unavailable`."""
        raise EmbedError("embedder_unavailable", f"{self.reason}.", hint=Hint("embedders"))


def kind(name: str) -> EmbedderKind:
    """The kind that this setting names, whatever stands behind a colon.

    Raises EmbedError `unknown_embedder`, `embedder_unavailable` for a plug-in that cannot be loaded.
    """
    bare, colon, _ = name.partition(":")
    if bare in KINDS:
        if colon and bare != _TAKES_ARGUMENT:
            message = f"The embedder {bare} takes nothing behind a colon."
            raise EmbedError("unknown_embedder", message, hint=f'embedding = "{bare}"')
        return _built_in(bare)
    for point in _plug_ins():
        if point.name == bare:
            return _load(point)
    raise _unknown(name)


def kinds() -> list[EmbedderKind]:
    """Every kind: the built-in ones in their order, then plug-ins by name, a broken one as a BrokenKind."""
    return [*(_built_in(name) for name in KINDS), *(_describe(point) for point in _plug_ins())]


def new_embedder(config: Config) -> Embedder:
    """The embedder that these settings name, for vectors that are yet to be made.

    Raises EmbedError `unknown_embedder`, `embedder_unavailable`, `embedder_damaged`, `network_not_allowed`.
    """
    found = kind(config.embedding)
    check_network(found, config)
    return found.new(config)


def embedder_of(identity: str, config: Config = Config()) -> Embedder:
    """The embedder that made a store's vectors, from the identity recorded there and what the settings name.

    Raises EmbedError `embedder_unavailable` when this installation cannot make such vectors, `network_not_allowed`.
    """
    size = identity.rpartition(":")[2]
    dimension = int(size) if size.isdecimal() else 0
    reason = f"recall.toml names {config.embedding}"
    for found, settings in _candidates(identity, config, dimension):
        check_network(found, settings)
        embedder = found.new(settings, dimension=dimension)
        if embedder.identity == identity:
            return embedder
        reason = f"{settings.embedding} makes those of {embedder.identity}"
    message = f"This installation cannot make vectors of {identity}; {reason}."
    raise EmbedError("embedder_unavailable", message, hint=Hint("search", REST, mode="lexical"))


def agrees(config: Config, identity: str) -> bool:
    """Whether these settings may name the embedder behind a store's vectors; found out without loading any model."""
    return any(found.recognises(identity, settings) for found, settings in _find_named(config))


def resolve_auto(config: Config) -> tuple[Config, tuple[str, ...]]:
    """The settings with a name in place of `auto`, and a sentence on each candidate that was looked at.

    The candidates, in order: local, openai, gemini, embedding_fallback; the first that can be used is taken.
    A relative folder in a name (`onnx:DIR`) becomes absolute. Without `auto` there is nothing to say.
    Raises EmbedError `embedder_unavailable` when no candidate can be used.
    """
    if config.embedding != AUTO:
        return config._replace(embedding=anchor(config.embedding, paths.absolute)), ()
    reasons: list[str] = []
    for name in _auto_names(config):
        settings = config._replace(embedding=anchor(name, paths.absolute))
        reason = _obstacle(settings)
        if reason is None:
            return settings, (*reasons, f"{name} is chosen and written down")
        reasons.append(f"{name} is not available: {reason}")
    message = f"auto finds no embedder: {'; '.join(reasons)}."
    raise EmbedError("embedder_unavailable", message, hint='embedding_fallback = "hash"', details=reasons)


def check_network(found: EmbedderKind, config: Config) -> None:
    """Raises EmbedError `network_not_allowed` for a kind that sends text off this machine unless that is allowed."""
    if found.sends_text(config) and not config.allow_network:
        raise EmbedError(
            "network_not_allowed",
            f"The embedder {found.name} sends text to another machine, and allow_network is false.",
            hint="allow_network = true in recall.toml",
        )


def vector_weight(config: Config) -> float:
    """The weight that suits the vectors of the embedder that these settings name."""
    return kind(config.embedding).vector_weight


def note(identity: str) -> str | None:
    """What to know about the vectors of that identity, or None."""
    if not identity.startswith("hash-"):
        return None
    if kind("local").missing(Config()) is not None:
        return HASH_NOTE
    return f"{HASH_NOTE}; {Hint('reembed', 'local')}, or {Hint('init', embedding='local')}, for meaning"


def _built_in(name: str) -> EmbedderKind:
    from importlib import import_module  # noqa: PLC0415 - beside its only use

    module, _, attribute = KINDS[name].partition(":")
    return cast(EmbedderKind, getattr(import_module(module), attribute))


def _plug_ins() -> list[EntryPoint]:
    """By name; a name that is built in cannot be taken."""
    return sorted(
        (point for point in metadata.entry_points(group=GROUP) if point.name not in KINDS), key=lambda p: p.name
    )


def _load(point: EntryPoint) -> EmbedderKind:
    try:
        return cast(EmbedderKind, point.load())
    except Exception as error:  # a stranger's module may raise anything while it is imported
        message = f"The embedder {point.name} ({point.value}) cannot be loaded: {error}."
        raise EmbedError("embedder_unavailable", message, hint=Hint("embedders")) from error


def _describe(point: EntryPoint) -> EmbedderKind:
    try:
        return _load(point)
    except EmbedError as error:
        return BrokenKind(point.name, error.message.rstrip("."))


def _unknown(name: str) -> EmbedError:
    known = [*KINDS, AUTO, *(point.name for point in _plug_ins())]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}"
    return EmbedError("unknown_embedder", f"There is no embedder named {name!r}.", hint=hint)


def _find_named(config: Config) -> Iterator[tuple[EmbedderKind, Config]]:
    """The kinds that the settings may stand for, those that can be loaded."""
    for name in _auto_names(config) if config.embedding == AUTO else (config.embedding,):
        try:
            yield kind(name), config._replace(embedding=name)
        except EmbedError:
            continue


def _candidates(identity: str, config: Config, dimension: int) -> Iterator[tuple[EmbedderKind, Config]]:
    """Who may have made vectors of that identity: what the settings name, then what its name alone tells."""
    yield from ((found, settings) for found, settings in _find_named(config) if found.recognises(identity, settings))
    for name in _KNOWN_BY_IDENTITY:
        settings = config._replace(embedding=name, embedding_dim=dimension)
        if identity.startswith(f"{name}-") and kind(name).recognises(identity, settings):
            yield kind(name), settings


def _auto_names(config: Config) -> tuple[str, ...]:
    if config.embedding_fallback == AUTO:
        message = "embedding_fallback cannot be auto itself."
        raise ConfigError("bad_value", message, hint='embedding_fallback = "hash"')
    return tuple(dict.fromkeys((*FOUND_BY_AUTO, config.embedding_fallback)))


def _obstacle(config: Config) -> str | None:
    """Why the embedder of these settings cannot be used here and now, or None."""
    try:
        found = kind(config.embedding)
        check_network(found, config)
    except EmbedError as error:
        return error.message.rstrip(".")
    return found.missing(config)


class Once:
    """The embedder, with the vectors of the last texts it was given kept; what it says is what the other says."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: tuple[tuple[str, ...], bool] | None = None
        self._vectors: list[Vector] = []

    @property
    def identity(self) -> str:
        """The embedder's own."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The embedder's own."""
        return self._embedder.dimension

    @property
    def max_input(self) -> int | None:
        """The embedder's own."""
        return self._embedder.max_input

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """One vector a text; see ports.Embedder."""
        asked = (tuple(texts), is_query)
        if asked != self._asked:
            self._vectors = self._embedder.embed(texts, is_query=is_query)
            self._asked = asked
        return self._vectors

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes."""
        return self._embedder.windows(texts)
