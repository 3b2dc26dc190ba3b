"""Embedders by name: create one, built in or plugged in, from a setting or a store's record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import recall_core
from recall_core import paths
from recall_core._lazy import difflib
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
    "given": "recall_core.embed.given:GIVEN",
    "none": "recall_core.embed.given:NONE",
}

"""Built-in kinds: name to `module:attribute` of an EmbedderKind, imported on demand."""

GROUP = "recall.embedder"

"""Entry point group of plug-ins, each an EmbedderKind. Used for names that are not built in."""

AUTO = "auto"

FOUND_BY_AUTO = ("local", "openai", "gemini")

KNOWN_BY_IDENTITY = ("hash", "local", "minilm", "given", "none")

_TAKE_ARGUMENT = ("onnx", "given")


class BrokenKind(NamedTuple):
    """A plug-in that cannot be loaded. A list shows it with its reason."""

    name: str
    reason: str
    purpose: str = "a plug-in that cannot be loaded"
    vector_weight: float = 0.0

    def sends_text(self, config: Config) -> bool:
        """Return False: a broken plug-in sends nothing."""
        return False

    def missing(self, config: Config) -> str:
        """Return why the plug-in cannot be loaded."""
        return self.reason

    def dimension(self, config: Config) -> None:
        """Return None: the dimension is unknown."""
        return

    def recognises(self, identity: str, config: Config) -> bool:
        """Return False for every identity."""
        return False

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        """Raise EmbedError `embedder_unavailable`."""
        raise EmbedError("embedder_unavailable", f"{self.reason}.", hint=Hint("embedders"))


def kind(name: str) -> EmbedderKind:
    """Return the kind named by this setting, ignoring an argument after a colon.

    Raises EmbedError `unknown_embedder`, `embedder_unavailable` for a plug-in that cannot be loaded.
    """
    bare, colon, _ = name.partition(":")
    if bare in KINDS:
        if colon and bare not in _TAKE_ARGUMENT:
            message = f"The embedder {bare} takes no argument after a colon."
            raise EmbedError("unknown_embedder", message, hint=f'embedding = "{bare}"')
        return _built_in(bare)
    if (point := _plug_ins().get(bare)) is not None:
        return _load(point)
    raise _unknown(name)


def kinds() -> list[EmbedderKind]:
    """Return all kinds: built-in ones in their order, then plug-ins by name, broken ones as BrokenKind."""
    return [*(_built_in(name) for name in KINDS), *map(_describe, _plug_ins().values())]


def new_embedder(config: Config) -> Embedder:
    """Return the embedder named by these settings, for new vectors.

    Raises EmbedError `unknown_embedder`, `embedder_unavailable`, `embedder_damaged`, `network_not_allowed`.
    """
    found = kind(config.embedding)
    check_network(found, config)
    return found.new(config)


def embedder_of(identity: str, config: Config = Config()) -> Embedder:
    """Return the embedder that made a store's vectors, given their recorded identity and the settings.

    Raises EmbedError `embedder_unavailable` if this installation cannot make such vectors, `network_not_allowed`.
    """
    size = identity.rpartition(":")[2]
    dimension = int(size) if size.isdecimal() else 0
    reason = f"recall.toml names {config.embedding}"
    for found, settings in _candidates(identity, config, dimension):
        check_network(found, settings)
        embedder = found.new(settings, dimension=dimension)
        if embedder.identity == identity:
            return embedder
        reason = f"{settings.embedding} makes vectors of {embedder.identity}"
    message = f"This installation cannot make vectors of {identity}: {reason}."
    raise EmbedError("embedder_unavailable", message, hint=Hint("search", REST, mode="lexical"))


def agrees(config: Config, identity: str) -> bool:
    """Return True if these settings may name the embedder of a store's vectors. Loads no model."""
    return any(found.recognises(identity, settings) for found, settings in _find_named(config))


def resolve_auto(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Return the settings with a name in place of `auto`, and a sentence on each candidate that was tried.

    Takes the first usable candidate of local, openai, gemini, embedding_fallback. A relative folder in a name
    (`onnx:DIR`) becomes absolute. Without `auto` there are no sentences.
    Raises EmbedError `embedder_unavailable` if no candidate is usable.
    """
    if config.embedding != AUTO:
        return config._replace(embedding=anchor(config.embedding, paths.absolute)), ()
    reasons: list[str] = []
    for name in _auto_names(config):
        settings = config._replace(embedding=anchor(name, paths.absolute))
        reason = _why_unusable(settings)
        if reason is None:
            return settings, (*reasons, f'Using embedder "{name}" (saved in recall.toml)')
        reasons.append(f"{name} is not available: {reason}")
    message = f"auto found no usable embedder: {'; '.join(reasons)}."
    raise EmbedError("embedder_unavailable", message, hint='embedding_fallback = "hash"', details=reasons)


def check_network(found: EmbedderKind, config: Config) -> None:
    """Raise EmbedError `network_not_allowed` if the kind sends text to another machine without permission."""
    if found.sends_text(config) and not config.allow_network:
        raise EmbedError(
            "network_not_allowed",
            f"The embedder {found.name} sends text to another machine, and allow_network is false.",
            hint="allow_network = true in recall.toml",
        )


def vector_weight(config: Config) -> float:
    """Return the vector weight that suits the embedder in these settings."""
    return kind(config.embedding).vector_weight


def note(identity: str) -> str | None:
    """Return a remark on vectors of this identity, or None."""
    if not identity.startswith("hash-"):
        return None
    if kind("local").missing(Config()) is not None:
        return HASH_NOTE
    return f"{HASH_NOTE}; for meaning, {Hint('reembed', 'local')}, or {Hint('init', embedding='local')}"


def _built_in(name: str) -> EmbedderKind:
    from importlib import import_module  # noqa: PLC0415 - next to its only use

    module, _, attribute = KINDS[name].partition(":")
    return cast(EmbedderKind, getattr(import_module(module), attribute))


def _plug_ins() -> dict[str, EntryPoint]:
    """Return the plug-ins by name. They cannot replace a built-in name."""
    return {name: point for name, point in recall_core.plug_ins.find(GROUP).items() if name not in KINDS}


def _load(point: EntryPoint) -> EmbedderKind:
    with recall_core.plug_ins.loading("embedder", point, EmbedError, "embedder_unavailable", hint=Hint("embedders")):
        return cast(EmbedderKind, point.load())


def _describe(point: EntryPoint) -> EmbedderKind:
    try:
        return _load(point)
    except EmbedError as error:
        return BrokenKind(point.name, error.message.rstrip("."))


def _unknown(name: str) -> EmbedError:
    known = [*KINDS, AUTO, *_plug_ins()]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}"
    return EmbedError("unknown_embedder", f"Unknown embedder {name!r}.", hint=hint)


def _find_named(config: Config) -> Iterator[tuple[EmbedderKind, Config]]:
    """Yield the kinds that the settings may mean, as far as they can be loaded."""
    for name in _auto_names(config) if config.embedding == AUTO else (config.embedding,):
        try:
            yield kind(name), config._replace(embedding=name)
        except EmbedError:
            continue


def _candidates(identity: str, config: Config, dimension: int) -> Iterator[tuple[EmbedderKind, Config]]:
    """Yield kinds that may have made vectors of this identity: first from the settings, then by its name."""
    yield from ((found, settings) for found, settings in _find_named(config) if found.recognises(identity, settings))
    for name in KNOWN_BY_IDENTITY:
        settings = config._replace(embedding=name, embedding_dim=dimension)
        if f"{identity}:".startswith((f"{name}-", f"{name}:")) and kind(name).recognises(identity, settings):
            yield kind(name), settings


def _auto_names(config: Config) -> tuple[str, ...]:
    if config.embedding_fallback == AUTO:
        message = "embedding_fallback cannot be auto."
        raise ConfigError("bad_value", message, hint='embedding_fallback = "hash"')
    return tuple(dict.fromkeys((*FOUND_BY_AUTO, config.embedding_fallback)))


def _why_unusable(config: Config) -> str | None:
    """Return why the embedder of these settings cannot be used now, or None."""
    try:
        found = kind(config.embedding)
        check_network(found, config)
    except EmbedError as error:
        return error.message.rstrip(".")
    return found.missing(config)


class Once:
    """An embedder that caches the vectors of its last call."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: tuple[tuple[str, ...], bool] | None = None
        self._vectors: list[Vector] = []

    @property
    def identity(self) -> str:
        """The wrapped embedder's identity."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    @property
    def max_input(self) -> int | None:
        """The wrapped embedder's input limit."""
        return self._embedder.max_input

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text; see ports.Embedder."""
        call = (tuple(texts), is_query)
        if call != self._asked:
            self._vectors = self._embedder.embed(texts, is_query=is_query)
            self._asked = call
        return self._vectors

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return the number of windows of each text."""
        return self._embedder.windows(texts)
