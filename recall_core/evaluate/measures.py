"""What a ranking is worth: named measures, five computed here, and what the missing judgements could change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate
from math import log2
from types import ModuleType
from typing import Any, NamedTuple

from recall_core.deadline import check
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint, install_extra

DEFAULT = "ndcg@10,map,mrr,p@5,recall@100"
DIGITS = 6  # of every value, so that two runs compare equal to the last digit
EPSILON = 1e-9  # values are rounded: a difference that is smaller is none
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
_CUT = ("P", "R", "Success")  # measures that mean nothing without a cutoff
_UNCUT = ("Rprec", "Bpref")  # and those that have none
_MEASURE = re.compile(r"([a-z]+)(?:@([0-9]{1,9}))?")


class Measure(NamedTuple):
    """A measure by ir_measures' name for it. cutoff: hits that it looks at, None for all."""

    kind: str
    cutoff: int | None

    @property
    def name(self) -> str:
        """As it is written and shown: `ndcg@10`."""
        return _NAMES.get(self.kind, self.kind.lower()) + ("" if self.cutoff is None else f"@{self.cutoff}")


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Return the measures in a list with commas, each once. Raises UsageError `unknown_metric`, `bad_value`."""
    return tuple(dict.fromkeys(parse_measure(part.strip()) for part in text.split(",")))


def parse_measure(text: str) -> Measure:
    """Return one measure, in capitals or not. Raises UsageError `unknown_metric`, `bad_value`."""
    found = _MEASURE.fullmatch(text.lower())
    if found is None or found[1] not in _KINDS:
        name, at, depth = text.lower().partition("@")
        near = get_close_matches(name, list(_KINDS), n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}{at}{depth}?" if near else Hint(AGAIN, metrics=DEFAULT)
        raise UsageError("unknown_metric", f"There is no measure {text!r}.", hint=hint)
    kind, cutoff = _KINDS[found[1]], None if found[2] is None else int(found[2])
    if (cutoff is None and kind in _CUT) or (cutoff is not None and not 1 <= cutoff <= DEEPEST):
        raise UsageError("bad_value", f"{text} needs a cutoff from 1 to {DEEPEST}.", hint=f"{found[1]}@10")
    if cutoff is not None and kind in _UNCUT:
        raise UsageError("bad_value", f"{found[1]} has no cutoff.", hint=found[1])
    return Measure(kind, cutoff)


def values(
    measures: Sequence[Measure],
    grades: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Sequence[str]],
) -> dict[Measure, dict[str, float]]:
    """Return each measure for each query of `grades`, in its order, rounded; a query without a ranking has 0.

    grades: query to document to grade, relevant from 1; documents without a grade are taken for irrelevant.
    rankings: query to documents, best first, each once. Every query has a relevant document.
    Raises UsageError `eval_unavailable` for a measure that takes a package which is not installed.
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
    """Added one by one, as trec_eval does: `sum` rounds otherwise from Python 3.12 on."""
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
"""Of the grades of the hits, best hit first, and the grades above 0 that there are, highest first."""


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
            f"Measuring {measures[0].name} needs the package ir-measures, which is not installed.",
            hint=install_extra("eval"),
        ) from error
    module: ModuleType = library
    return module


def _as_known_to(library: ModuleType, measure: Measure) -> Any:
    """Return the library's own measure, put together without its parser, which warns from Python 3.12 on."""
    kind = getattr(library, measure.kind)
    return kind if measure.cutoff is None else kind @ measure.cutoff


def _number(
    grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgements and run with numbers for names, which C code may cut, and scores that fall by 1 from hit to hit,
    because trec_eval orders equal scores by name."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, (query, judged) in enumerate(grades.items()):
        hits = rankings.get(query, ())
        names = {document: str(place) for place, document in enumerate(dict.fromkeys((*hits, *judged)))}
        qrels[str(number)] = {names[document]: grade for document, grade in judged.items()}
        run[str(number)] = {names[document]: float(len(hits) - rank) for rank, document in enumerate(hits)}
    return qrels, run


def judged_share(judged: Mapping[str, int], hits: Sequence[str], cutoff: int) -> float | None:
    """Return the share of the first `cutoff` hits that have a judgement, None without hits."""
    shown = hits[:cutoff]
    return sum(document in judged for document in shown) / len(shown) if shown else None


def bounds(
    measure: Measure, judged: Mapping[str, int], hits: Sequence[str], *, best: int
) -> tuple[float, float] | None:
    """Return the least and the most that p@k or ndcg@k of one query could be, None for other measures.

    Each unjudged one of the first k hits may turn out irrelevant or of grade `best`, the highest of all judgements.
    No grades give less; grades between the two can give a little more nDCG than the most that is returned.
    With m of them relevant, nDCG is least when they are the last m and most when they are the first m; the ideal
    ranking grows with m, which is why a hit that turns out relevant can also cost nDCG.
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
