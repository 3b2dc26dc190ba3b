"""How an evaluation is asked for: measures and modes, settings to try, and conditions that figures must meet."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from itertools import product
from math import prod
from pathlib import Path
from typing import Final, NamedTuple

from recall_core.config import Config, Settings, assign
from recall_core.errors import UsageError
from recall_core.evaluate.measures import DEFAULT
from recall_core.evaluate.questions import Unit
from recall_core.shell import AGAIN, Hint, Verbatim, flag
from recall_core.store.port import Store

DEPTH = 100  # TREC's own runs go to 1,000; few people read beyond 100
MODES = {"hybrid": "hybrid", "bm25": "lexical", "vector": "semantic"}
"""As the command line names them, and as a plan does. Each is read by either name."""


RunWriter = Callable[[str, Iterator[str]], str]
"""Writes the lines of a mode's run, and returns where."""


class EvalOptions(NamedTuple):
    """What eval is told. queries and qrels: without a file, those in the store."""

    queries: Path | None = None
    qrels: Path | None = None
    modes: str = "hybrid"
    metrics: str = DEFAULT
    depth: int = DEPTH
    baseline: Path | None = None
    gate: str | None = None
    per_query: bool = False
    settings: Settings | tuple[str, ...] = ()
    """As in Ask."""
    write_run: RunWriter | None = None
    unit: Unit | None = None
    """None: documents where a file gives the judgements, else chunks if the store's are all of chunks or spans."""

    @property
    def is_semantic(self) -> bool:
        """Some mode takes vectors."""
        return any(MODES[mode] != "lexical" for mode in parse_modes(self.modes))


def parse_modes(text: str) -> tuple[str, ...]:
    """Return the modes in a list with commas, each once. Raises UsageError `bad_value`."""
    names = {mode: name for name, mode in MODES.items()}
    parts = (part.strip().lower() for part in text.split(","))
    modes = tuple(dict.fromkeys(names.get(part, part) for part in parts))
    for mode in modes:
        if mode not in MODES:
            near = get_close_matches(mode, MODES, n=1)
            hint = f"did you mean {near[0]}?" if near else Hint(AGAIN, modes=",".join(MODES))
            raise UsageError("bad_value", f"{flag('modes')}: there is no mode {mode!r}.", hint=hint)
    return modes


MOST: Final = 200
"""Combinations of one run."""

FUSION: Final = ("fusion", "normalize", "rrf_k")
RETRIEVAL: Final = ("lexical_model", "bm25_k1", "bm25_b", "title_weight", "match", "pool")
"""Settings that decide the candidates and their raw values; those of FUSION only rank what is there."""

_GRID: Final = flag("grid")
_GRID_HINT: Final = Hint(AGAIN, grid="normalize=bound,max")


def parse_grid(texts: Sequence[str], config: Config) -> tuple[Config, ...]:
    """Return the settings to compare, those of the config first, each combination that ranks in its own way once.

    texts: `key=value,value`. Raises UsageError `bad_value`, ConfigError `unknown_key`, `bad_value`.
    """
    axes = [_axis(text) for text in texts]
    count = prod(map(len, axes))
    if count > MOST:
        raise UsageError("bad_value", f"{_GRID} asks for {count} combinations, more than {MOST}.", hint=_GRID_HINT)
    tried = [assign(config, settings, where=_GRID) for settings in product(*axes)]
    return tuple(dict.fromkeys([config, *(_without_unused(each, config) for each in tried)]))


def differing(config: Config, current: Config) -> dict[str, str | float]:
    """Return the settings of a combination that are not the current ones, by name."""
    pairs = ((key, getattr(config, key), getattr(current, key)) for key in (*FUSION, *RETRIEVAL))
    return {key: value for key, value, before in pairs if value != before}


def retrieval(config: Config) -> tuple[object, ...]:
    """Equal for settings that share their pools."""
    return tuple(getattr(config, key) for key in RETRIEVAL)


def unswept(config: Config) -> tuple[str, ...]:
    """Return the settings that are set, decide rows, and take no part in a sweep."""
    return tuple(name for name in ("rerank", "min_score", "min_cosine") if getattr(config, name))


def not_swept(config: Config) -> Iterator[str]:
    """Yield the same, each as the warning that says so."""
    unused = unswept(config)
    if "rerank" in unused:
        yield f"W_NOT_SWEPT: rerank={config.rerank} scores the best rows again; the weights are swept without it"
    for name in ("min_score", "min_cosine"):
        if name in unused:
            yield f"W_NOT_SWEPT: {name}={getattr(config, name):g} drops hits; the weights are swept without it"


def with_each_copy(config: Config, store: Store) -> Iterator[str]:
    """Yield the warning that copies have rows of their own here, if search would show them once and there are any."""
    if config.collapse and store.has_copies():
        yield "W_COPIES: copies of a text, which search shows once, have a row each here"


def _without_unused(config: Config, current: Config) -> Config:
    """Reset settings that have no effect, so that settings which rank alike are equal."""
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
        raise UsageError("bad_value", f"{_GRID} cannot try {key!r}: it takes {known}.", hint=_GRID_HINT)
    chosen = [value.strip() for value in values.split(",") if value.strip()]
    if not equals or not chosen:
        raise UsageError("bad_value", f"{_GRID} {text} has no value.", hint=_GRID_HINT)
    return [f"{key}={value}" for value in dict.fromkeys(chosen)]


_CONDITION = re.compile(
    r"(?:(?P<mode>[a-z0-9_]+)\s*:\s*)?(?P<figure>[a-z_]+(?:@[0-9]+)?)\s*(?P<sign>>=|<=|==|=|>|<)\s*"
    r"(?P<number>[+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))"
)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
}
_GATE_HINT = Hint(AGAIN, gate=Verbatim('"ndcg@10>=.38"'))


class Condition(NamedTuple):
    """A figure, of one mode where it is named, that has to stand so to a number. text: as it was written."""

    text: str
    mode: str | None
    figure: str
    sign: str
    number: float

    def holds(self, value: float | None) -> bool:
        """Return True if this value meets it; a figure that has no value meets nothing."""
        return value is not None and _HOLDS[self.sign](value, self.number)


def parse_gate(text: str) -> tuple[Condition, ...]:
    """Return the conditions in a list with commas, in capitals or not. Raises UsageError `bad_gate`."""
    conditions = []
    for part in map(str.strip, text.split(",")):
        found = _CONDITION.fullmatch(part.lower())
        if found is None:
            raise bad_gate(f"{part!r} is not a figure, one of >= <= > < = and a number")
        conditions.append(Condition(part, found["mode"], found["figure"], found["sign"], float(found["number"])))
    return tuple(conditions)


def bad_gate(reason: str, *, hint: str = _GATE_HINT) -> UsageError:
    """Return the error for a condition that cannot be asked."""
    return UsageError("bad_gate", f"{flag('gate')}: {reason}.", hint=hint)
