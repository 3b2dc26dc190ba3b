"""The evaluation board in words and aligned figures, the same in a pipe and on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall_core.contract.judging import ComparisonView, EvaluationView, IntervalView
    from recall_core.contract.responses import Response

Rows = list[tuple[str, ...]]
"""A head, then one row a line."""

LEFT = {"mode", "measure", "unit", "verdict", "query", "text", "against", "condition", "gate"}
"""Columns of words; the others are of figures."""


def lines(view: EvaluationView) -> Iterator[str]:
    """The board line by line: every table, an empty line between."""
    for number, rows in enumerate(tables(view)):
        if number:
            yield ""
        yield from aligned(rows)
    yield from runs(view)


def runs(view: EvaluationView) -> Iterator[str]:
    """The files that --run wrote."""
    yield from (f"wrote  {path}" for path in view.get("runs", []))


def tables(view: EvaluationView) -> Iterator[Rows]:
    """The tables that have a row: modes, comparisons, regressions, single queries, the gate."""
    yield _modes(view)
    if view["comparisons"]:
        yield _comparisons(view["comparisons"])
    fallen = _regressions(view["comparisons"])
    if len(fallen) > 1:
        yield fallen
    if "per_query" in view:
        yield _queries(view)
    if "gate" in view:
        yield _gate(view)


def aligned(rows: Rows) -> Iterator[str]:
    """The rows in columns, figures to the right; the last column is as wide as it likes."""
    head = rows[0]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    for row in rows:
        cells = [
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def talk(response: Response) -> str:
    """What was measured, on one line."""
    view = response["evaluation"]
    passed_over = [
        f"{count} {what}"
        for count, what in (
            (view["unjudged"], "without a judgement"),
            (view["without_relevant"], "without a relevant document"),
        )
        if count
    ]
    left_out = f" ({', '.join(passed_over)} left out)" if passed_over else ""
    return (
        f"{queries(view['queries'])}{left_out}, {view['judgements']} judgements, "
        f"{view['depth']} hits deep, in {response['stats']['took_ms'] / 1000:.1f} s"
    )


def judged(response: Response) -> Iterator[str]:
    """What judge did."""
    view = response["judged"]
    unknown = f", {view['unknown']} of them of no live document" if view["unknown"] else ""
    judgements = f"{view['judgements']} judgement{'' if view['judgements'] == 1 else 's'}"
    yield f"{queries(view['queries'])}, {judgements}{unknown}"
    yield from (f"wrote  {path}" for path in view.get("paths", []))


def queries(count: int) -> str:
    """`1 query`, `2 queries`."""
    return f"{count} {'query' if count == 1 else 'queries'}"


def verdict(view: ComparisonView) -> str:
    """`better (p=.012)`: significance in words, so that no colour has to be told from another."""
    chance = "p<.001" if view["p"] < 0.001 else f"p={view['p']:.3f}".replace("0.", ".")
    return f"{view['verdict']} ({chance})"


def _modes(view: EvaluationView) -> Rows:
    rows: Rows = [("mode", "measure", "unit", "mean", "95 % interval", "judged", "could be")]
    for mode in view["modes"]:
        for measure in mode["measures"]:
            judged, bounds = measure["judged"], measure["bounds"]
            rows.append(
                (
                    mode["mode"],
                    measure["measure"],
                    view["unit"],
                    f"{measure['mean']:.3f}",
                    _between(measure["interval"]),
                    "-" if judged is None else f"{judged:.0%}",
                    "-" if bounds is None else _between(bounds),
                )
            )
    return rows


def _comparisons(views: Sequence[ComparisonView]) -> Rows:
    rows: Rows = [("mode", "against", "measure", "difference", "95 % interval", "wins", "losses", "ties", "verdict")]
    for view in views:
        low, high = view["interval"]["low"], view["interval"]["high"]
        rows.append(
            (
                view["mode"],
                other(view),
                view["measure"],
                _signed(view["difference"]),
                f"{_signed(low)} to {_signed(high)}",
                str(view["wins"]),
                str(view["losses"]),
                str(view["ties"]),
                verdict(view),
            )
        )
    return rows


def other(view: ComparisonView) -> str:
    """What the mode is compared with."""
    return f"baseline {view['against']}" if view["baseline"] else view["against"]


def _regressions(views: Iterable[ComparisonView]) -> Rows:
    """The queries that fell furthest against the baseline, by each mode's first measure."""
    rows: Rows = [("mode", "measure", "query", "before", "after", "text")]
    seen = set()
    for view in views:
        if not view["baseline"] or view["mode"] in seen:
            continue
        seen.add(view["mode"])
        for each in view["regressions"]:
            before, after = f"{each['before']:.3f}", f"{each['after']:.3f}"
            rows.append((view["mode"], view["measure"], each["query"], before, after, _short(each["text"])))
    return rows


def _queries(view: EvaluationView) -> Rows:
    measures = [measure["measure"] for measure in view["modes"][0]["measures"]]
    rows: Rows = [("query", "mode", "relevant", *measures, "text")]
    for each in view.get("per_query", []):
        for mode, found in each["values"].items():
            figures = [f"{found[measure]:.3f}" for measure in measures]
            rows.append((each["query"], mode, str(each["relevant"]), *figures, _short(each["text"])))
    return rows


def _gate(view: EvaluationView) -> Rows:
    rows: Rows = [("gate", "condition", "value")]
    for each in view.get("gate", []):
        value = "-" if each["value"] is None else f"{each['value']:.6f}".rstrip("0").rstrip(".")
        rows.append(("holds" if each["holds"] else "fails", each["condition"], value))
    return rows


def _signed(value: float) -> str:
    """With its sign, unless it is too small to be shown."""
    text = f"{value:+.3f}"
    return text if float(text) else "0.000"


def _between(view: IntervalView) -> str:
    return f"{view['low']:.3f} to {view['high']:.3f}"


def _short(text: str, width: int = 60) -> str:
    """The first words on one line, without control characters."""
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return line if len(line) <= width else line[: width - 1] + "…"
