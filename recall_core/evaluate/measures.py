"""The options of an evaluation: measures, modes, settings to try, and gate conditions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate, product
from math import log2, prod
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from recall_core.config import Config, Settings, assign
from recall_core.deadline import check
from recall_core.errors import UsageError
from recall_core.evaluate.questions import Unit
from recall_core.shell import AGAIN, Hint, Verbatim, flag, install_extra
from recall_core.store.port import Store

DEFAULT = "ndcg@10,map,mrr,p@5,recall@100"
DIGITS = 6  # decimals of every value, so that two runs compare equal
EPSILON = 1e-9  # values are rounded, so smaller differences count as 0
DEEPEST = 10_000
_KINDS = {
    "ndcg": "nDCG",
    "map": "AP",
    "ap": "AP",
    "mrr": "RR",
    "rr": "RR",
    "p": "P",
    "precision": "P",
    "recall": "R",
    "r": "R",
    "success": "Success",
    "rprec": "Rprec",
    "bpref": "Bpref",
}
_NAMES = {"nDCG": "ndcg", "AP": "map", "RR": "mrr", "P": "p", "R": "recall"}
_CUT = ("P", "R", "Success")  # measures that need a cutoff
_UNCUT = ("Rprec", "Bpref")  # measures without a cutoff
_MEASURE = re.compile(r"([a-z]+)(?:@([0-9]{1,9}))?")


class Measure(NamedTuple):
    """A measure by its ir_measures name. cutoff: how many hits count; None for all."""

    kind: str
    cutoff: int | None

    @property
    def name(self) -> str:
        """The display name: `ndcg@10`."""
        return _NAMES.get(self.kind, self.kind.lower()) + ("" if self.cutoff is None else f"@{self.cutoff}")


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Return the measures of a comma-separated list, each once. Raises UsageError `unknown_metric`, `bad_value`."""
    return tuple(dict.fromkeys(parse_measure(part.strip()) for part in text.split(",")))


def parse_measure(text: str) -> Measure:
    """Return one measure; case is ignored. Raises UsageError `unknown_metric`, `bad_value`."""
    found = _MEASURE.fullmatch(text.lower())
    if found is None or found[1] not in _KINDS:
        name, at, depth = text.lower().partition("@")
        near = get_close_matches(name, list(_KINDS), n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}{at}{depth}?" if near else Hint(AGAIN, metrics=DEFAULT)
        raise UsageError("unknown_metric", f"Unknown measure {text!r}.", hint=hint)
    kind, cutoff = _KINDS[found[1]], None if found[2] is None else int(found[2])
    if (cutoff is None and kind in _CUT) or (cutoff is not None and not 1 <= cutoff <= DEEPEST):
        raise UsageError("bad_value", f"{text} needs a cutoff from 1 to {DEEPEST}.", hint=f"{found[1]}@10")
    if cutoff is not None and kind in _UNCUT:
        raise UsageError("bad_value", f"{found[1]} takes no cutoff.", hint=found[1])
    return Measure(kind, cutoff)


def values(
    measures: Sequence[Measure],
    grades: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Sequence[str]],
) -> dict[Measure, dict[str, float]]:
    """Return each measure for each query of `grades`, in order, rounded. A query without a ranking gets 0.

    grades: query to document to grade, relevant from 1. Documents without a grade count as irrelevant.
    rankings: query to documents, best first, each once. Every query needs a relevant document.
    Raises UsageError `eval_unavailable` for a measure whose package is not installed.
    """
    others = [measure for measure in measures if measure.kind not in _OWN]
    by_library = _of_library(others, grades, rankings) if others else {}
    return {
        measure: by_library[measure] if measure in by_library else _of_own(measure, grades, rankings)
        for measure in measures
    }


def _of_own(
    measure: Measure, grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    value, found = _OWN[measure.kind], {}
    for query, judged in grades.items():
        check()
        ideal = sorted((grade for grade in judged.values() if grade >= 1), reverse=True)
        gains = [max(judged.get(document, 0), 0) for document in rankings.get(query, ())]
        found[query] = round(value(gains, ideal, measure.cutoff), DIGITS) if ideal else 0.0
    return found


def _ndcg(gains: Sequence[int], ideal: Sequence[int], cutoff: int | None) -> float:
    return _discount(gains[:cutoff]) / _discount(ideal[:cutoff])


def _discount(gains: Sequence[int]) -> float:
    """Return the discounted sum, added one by one as in trec_eval. `sum` rounds differently from Python 3.12 on."""
    total = 0.0
    for rank, gain in enumerate(gains):
        if gain:
            total += gain / log2(rank + 2)
    return total


def _average_precision(gains: Sequence[int], ideal: Sequence[int], cutoff: int | None) -> float:
    total, relevant = 0.0, 0
    for rank, gain in enumerate(gains[:cutoff], start=1):
        if gain:
            relevant += 1
            total += relevant / rank
    return total / len(ideal)


def _reciprocal_rank(gains: Sequence[int], ideal: Sequence[int], cutoff: int | None) -> float:
    return next((1 / rank for rank, gain in enumerate(gains[:cutoff], start=1) if gain), 0.0)


def _precision(gains: Sequence[int], ideal: Sequence[int], cutoff: int | None) -> float:
    return sum(gain > 0 for gain in gains[:cutoff]) / (cutoff or 1)


def _recall(gains: Sequence[int], ideal: Sequence[int], cutoff: int | None) -> float:
    return sum(gain > 0 for gain in gains[:cutoff]) / len(ideal)


_OWN: dict[str, Callable[[Sequence[int], Sequence[int], int | None], float]] = {
    "nDCG": _ndcg,
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "P": _precision,
    "R": _recall,
}
"""Each takes the grades of the hits, best hit first, and all grades above 0, highest first."""


def _of_library(
    measures: Sequence[Measure], grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[Measure, dict[str, float]]:
    library = _ir_measures(measures)
    wanted = {_as_known_to(library, measure): measure for measure in measures}
    qrels, run = _number(grades, rankings)
    found: dict[Measure, dict[str, float]] = {measure: dict.fromkeys(grades, 0.0) for measure in measures}
    queries = list(grades)
    for metric in library.iter_calc(list(wanted), qrels, run):
        check()
        found[wanted[metric.measure]][queries[int(metric.query_id)]] = round(float(metric.value), DIGITS)
    return found


def _ir_measures(measures: Sequence[Measure]) -> ModuleType:
    try:
        import ir_measures as library  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "eval_unavailable",
            f"{measures[0].name} needs the package ir-measures, which is not installed.",
            hint=install_extra("eval"),
        ) from error
    module: ModuleType = library
    return module


def _as_known_to(library: ModuleType, measure: Measure) -> Any:
    """Return the library's measure, built without its parser, which warns from Python 3.12 on."""
    kind = getattr(library, measure.kind)
    return kind if measure.cutoff is None else kind @ measure.cutoff


def _number(
    grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgements and a run with numbers for names, and scores that fall by 1 from hit to hit.

    C code may truncate names, and trec_eval orders equal scores by name.
    """
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, (query, judged) in enumerate(grades.items()):
        hits = rankings.get(query, ())
        names = {document: str(place) for place, document in enumerate(dict.fromkeys((*hits, *judged)))}
        qrels[str(number)] = {names[document]: grade for document, grade in judged.items()}
        run[str(number)] = {names[document]: float(len(hits) - rank) for rank, document in enumerate(hits)}
    return qrels, run


def judged_share(judged: Mapping[str, int], hits: Sequence[str], cutoff: int) -> float | None:
    """Return the share of the first `cutoff` hits that are judged; None without hits."""
    shown = hits[:cutoff]
    return sum(document in judged for document in shown) / len(shown) if shown else None


def bounds(
    measure: Measure, judged: Mapping[str, int], hits: Sequence[str], *, best: int
) -> tuple[float, float] | None:
    """Return the least and the most that p@k or ndcg@k of one query can be; None for other measures.

    Each unjudged hit in the first k may be irrelevant or have grade `best`, the highest of all judgements. The least
    is exact. For nDCG, grades in between can exceed the most slightly. With m of them relevant, nDCG is least if they
    are the last m and most if they are the first m. The ideal ranking grows with m, so an extra relevant hit can also
    lower nDCG.
    """
    cutoff = measure.cutoff
    if cutoff is None or measure.kind not in ("P", "nDCG"):
        return None
    shown = hits[:cutoff]
    if measure.kind == "P":
        sure = sum(judged.get(document, 0) >= 1 for document in shown)
        holes = sum(document not in judged for document in shown)
        return sure / cutoff, (sure + holes) / cutoff
    return _ndcg_bounds(judged, shown, cutoff, best)


def _ndcg_bounds(judged: Mapping[str, int], shown: Sequence[str], cutoff: int, best: int) -> tuple[float, float]:
    discounts = [1 / log2(rank + 2) for rank in range(cutoff)]
    holes = [discounts[rank] for rank, document in enumerate(shown) if document not in judged]
    sure = sum(max(judged.get(document, 0), 0) * discounts[rank] for rank, document in enumerate(shown))
    ideal = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:cutoff]
    first, last = list(accumulate(holes, initial=0.0)), list(accumulate(reversed(holes), initial=0.0))
    found = []
    for relevant, (worth, most) in enumerate(zip(first, accumulate(discounts, initial=0.0), strict=False)):
        rest = sum(grade * discount for grade, discount in zip(ideal, discounts[relevant:], strict=False))
        whole = best * most + rest
        found += [(sure + best * worth) / whole, (sure + best * last[relevant]) / whole]
    return min(found), max(found)


DEPTH = 100  # TREC runs have 1,000 hits; few people read beyond 100
MODES = {"hybrid": "hybrid", "bm25": "lexical", "vector": "semantic"}
"""Mode names on the command line and in plans. Both are accepted."""


RunWriter = Callable[[str, Iterator[str]], str]
"""Write the lines of a mode's run and return where."""


class EvalOptions(NamedTuple):
    """Options of eval. queries and qrels: the store's if None."""

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
    """None: documents if a file contains the judgements, else chunks if all stored judgements are of chunks or
    spans."""

    @property
    def is_semantic(self) -> bool:
        """True if any mode uses vectors."""
        return any(MODES[mode] != "lexical" for mode in parse_modes(self.modes))


def parse_modes(text: str) -> tuple[str, ...]:
    """Return the modes of a comma-separated list, each once. Raises UsageError `bad_value`."""
    names = {mode: name for name, mode in MODES.items()}
    parts = (part.strip().lower() for part in text.split(","))
    modes = tuple(dict.fromkeys(names.get(part, part) for part in parts))
    for mode in modes:
        if mode not in MODES:
            near = get_close_matches(mode, MODES, n=1)
            hint = f"did you mean {near[0]}?" if near else Hint(AGAIN, modes=",".join(MODES))
            raise UsageError("bad_value", f"{flag('modes')}: unknown mode {mode!r}.", hint=hint)
    return modes


MOST: Final = 200
"""The most combinations per run."""

FUSION: Final = ("fusion", "normalize", "rrf_k")
RETRIEVAL: Final = ("lexical_model", "bm25_k1", "bm25_b", "title_weight", "match", "pool")
"""Settings that change the candidates and their raw values. FUSION settings only change their ranking."""

_GRID: Final = flag("grid")
_GRID_HINT: Final = Hint(AGAIN, grid="normalize=bound,max")


def parse_grid(texts: Sequence[str], config: Config) -> tuple[Config, ...]:
    """Return the settings to compare, the current ones first. Combinations that rank alike appear once.

    texts: `key=value,value`. Raises UsageError `bad_value`, ConfigError `unknown_key`, `bad_value`.
    """
    axes = [_axis(text) for text in texts]
    count = prod(map(len, axes))
    if count > MOST:
        raise UsageError("bad_value", f"{_GRID} has {count} combinations; the limit is {MOST}.", hint=_GRID_HINT)
    tried = [assign(config, settings, where=_GRID) for settings in product(*axes)]
    return tuple(dict.fromkeys([config, *(_without_unused(each, config) for each in tried)]))


def differing(config: Config, current: Config) -> dict[str, str | float]:
    """Return a combination's settings that differ from the current ones, by name."""
    pairs = ((key, getattr(config, key), getattr(current, key)) for key in (*FUSION, *RETRIEVAL))
    return {key: value for key, value, before in pairs if value != before}


def retrieval(config: Config) -> tuple[object, ...]:
    """Return the settings that determine the pool; equal values share pools."""
    return tuple(getattr(config, key) for key in RETRIEVAL)


def unswept(config: Config) -> tuple[str, ...]:
    """Return the active settings that a sweep ignores."""
    return tuple(name for name in ("rerank", "min_score", "min_cosine") if getattr(config, name))


def not_swept(config: Config) -> Iterator[str]:
    """Yield a warning for each setting that a sweep ignores."""
    unused = unswept(config)
    if "rerank" in unused:
        yield f"W_NOT_SWEPT: rerank={config.rerank} is ignored in the sweep of weights"
    for name in ("min_score", "min_cosine"):
        if name in unused:
            yield f"W_NOT_SWEPT: {name}={getattr(config, name):g} is ignored in the sweep of weights"


def with_each_copy(config: Config, store: Store) -> Iterator[str]:
    """Yield a warning if search would collapse copies and the store has any, because here each copy is a row."""
    if config.collapse and store.has_copies():
        yield "W_COPIES: each copy of a text is a row here; search shows a text once"


def _without_unused(config: Config, current: Config) -> Config:
    """Reset settings without effect, so that settings with the same ranking are equal."""
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
        raise UsageError("bad_value", f"{_GRID} cannot vary {key!r}. Use one of: {known}.", hint=_GRID_HINT)
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
    """A figure, optionally of one mode, compared with a number. text: as typed."""

    text: str
    mode: str | None
    figure: str
    sign: str
    number: float

    def holds(self, value: float | None) -> bool:
        """Return True if the value meets the condition; a missing value never does."""
        return value is not None and _HOLDS[self.sign](value, self.number)


def parse_gate(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a comma-separated list; case is ignored. Raises UsageError `bad_gate`."""
    conditions = []
    for part in map(str.strip, text.split(",")):
        found = _CONDITION.fullmatch(part.lower())
        if found is None:
            raise bad_gate(f"{part!r} is not FIGURE, one of >= <= > < =, and NUMBER")
        conditions.append(Condition(part, found["mode"], found["figure"], found["sign"], float(found["number"])))
    return tuple(conditions)


def bad_gate(reason: str, *, hint: str = _GATE_HINT) -> UsageError:
    """Return the error for an invalid condition."""
    return UsageError("bad_gate", f"{flag('gate')}: {reason}.", hint=hint)
