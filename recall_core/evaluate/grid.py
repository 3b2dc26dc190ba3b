"""The ranking settings that are tried beside the weight: every combination of the values asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from recall_core.config import Config, assign
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store

MOST: Final = 200

"""Combinations of one run."""

FUSION: Final = ("fusion", "normalize", "rrf_k")

RETRIEVAL: Final = ("lexical_model", "bm25_k1", "bm25_b", "title_weight", "match", "pool")

"""Settings that decide the candidates and their raw values; those of FUSION only rank what is there."""

_GRID: Final = flag("grid")
_HINT: Final = Hint(AGAIN, grid="normalize=bound,max")


def parse_grid(texts: Sequence[str], config: Config) -> tuple[Config, ...]:
    """The settings to compare, those of the config first, each combination that ranks in its own way once.

    texts: `key=value,value`. Raises UsageError `bad_value`, ConfigError `unknown_key`, `bad_value`.
    """
    axes = [_axis(text) for text in texts]
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > MOST:
        raise UsageError("bad_value", f"{_GRID} asks for {count} combinations, more than {MOST}.", hint=_HINT)
    tried = [assign(config, settings, where=_GRID) for settings in product(*axes)]
    return tuple(dict.fromkeys([config, *(_without_unused(each, config) for each in tried)]))


def differing(config: Config, current: Config) -> dict[str, str | float]:
    """The settings of a combination that are not the current ones, by name."""
    pairs = ((key, getattr(config, key), getattr(current, key)) for key in (*FUSION, *RETRIEVAL))
    return {key: value for key, value, before in pairs if value != before}


def retrieval(config: Config) -> tuple[object, ...]:
    """Equal for settings that share their pools."""
    return tuple(getattr(config, key) for key in RETRIEVAL)


def unswept(config: Config) -> tuple[str, ...]:
    """The settings that are set, decide rows, and take no part in a sweep."""
    return tuple(name for name in ("rerank", "min_score", "min_cosine") if getattr(config, name))


def not_swept(config: Config) -> Iterator[str]:
    """The same, each as the warning that says so."""
    unused = unswept(config)
    if "rerank" in unused:
        yield f"W_NOT_SWEPT: rerank={config.rerank} scores the best rows again; the weights are swept without it"
    for name in ("min_score", "min_cosine"):
        if name in unused:
            yield f"W_NOT_SWEPT: {name}={getattr(config, name):g} drops hits; the weights are swept without it"


def with_each_copy(config: Config, store: Store) -> Iterator[str]:
    """The warning that copies have rows of their own here, where search would show them once and there are any."""
    if config.collapse and store.has_copies():
        yield "W_COPIES: copies of a text, which search shows once, have a row each here"


def _without_unused(config: Config, current: Config) -> Config:
    """What has no effect under these settings stays as it is, so that settings which rank alike are equal."""
    if config.fusion == "rrf":
        config = config._replace(normalize=current.normalize)
    else:
        config = config._replace(rrf_k=current.rrf_k)
    if config.lexical_model != "bm25f":
        config = config._replace(bm25_k1=current.bm25_k1, bm25_b=current.bm25_b)
    return config


def _axis(text: str) -> list[str]:
    key, equals, values = text.partition("=")
    key = key.strip()
    if key not in (*FUSION, *RETRIEVAL):
        known = ", ".join((*FUSION, *RETRIEVAL))
        raise UsageError("bad_value", f"{_GRID} cannot try {key!r}: it takes {known}.", hint=_HINT)
    chosen = [value.strip() for value in values.split(",") if value.strip()]
    if not equals or not chosen:
        raise UsageError("bad_value", f"{_GRID} {text} has no value.", hint=_HINT)
    return [f"{key}={value}" for value in dict.fromkeys(chosen)]
