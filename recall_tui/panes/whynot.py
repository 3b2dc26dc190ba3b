"""The Why not tab: verdict and target, then the fixes, then each stage. Also the Funnel tab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core import adapters
from recall_core.text import behind_unit
from recall_core.types import SIGNALS
from recall_tui.state.explaining import FixOffer, Missing, is_doable
from recall_tui.widgets.draw import (
    BOLD,
    COLOURS,
    DIM,
    Glyphs,
    bar,
    figure,
    fit,
    fit_place,
    fold,
    harmless,
    one_line,
    pluralize,
    truncate,
    with_figures,
)

if TYPE_CHECKING:
    from recall_core.contract.explaining import (
        EvidenceView,
        PredicateView,
        RivalView,
        SoughtView,
        StageView,
        TargetView,
        TraceView,
        WhyNotView,
    )
    from recall_core.contract.ledger import PassageView

FIX = "fix"
"""Style key with the number of the fix that a line belongs to."""
PINNED = 2  # lines that always stay at the top: the verdict and the target
STAGE = 12  # cells of a mark and a stage's name
ID = 12  # digits of an id
COUNTING = (
    "semantic",
    "pool",
    "fusion",
    "min_score",
    "min_cosine",
    "rerank",
    "page",
    "diversity",
    "duplicate",
    "budget",
    "truncated",
)
"""Stages whose sentences quote no name, word or value of a document."""
_RANK = re.compile(r"\brank [0-9]+ of [0-9]+(?=;|$)")
SIZED = ("k", "budget", "diversity", "pool", "sparse")
"""Kinds of fixes that only change a number."""


def whynot_lines(
    whynot: Missing,
    place: int,
    note: str,
    width: int,
    glyphs: Glyphs,
    *,
    applied: Sequence[str] = (),
    is_pinned: bool = False,
    is_whole: bool = False,
) -> list[Text]:
    """Return the verdict and the target, the fixes, the failing stages, and a line for the passed stages.

    place: index of the chosen fix.
    note: what the account ignores.
    applied: the fixes that are applied, newest last.
    is_pinned: the target is packed because the user pinned it.
    is_whole: also show the evidence of passed stages.
    """
    view = whynot.view
    lines = [*_verdict(whynot, width, glyphs, is_pinned=is_pinned), *applied_lines(applied, width, glyphs)]
    if not view["present"]:
        lines += _fixes(whynot, place, width, glyphs)
    lines += _stages(whynot, width, glyphs, is_whole=is_whole)
    lines += [Text(line, DIM) for line in fold(note, width)]
    others = view["target"].get("others", [])
    if others:
        lines.append(Text(fit("other chunks of it", width, glyphs).rstrip(), DIM))
        lines += [Text("  " + _place(each, each, width - 2, glyphs)) for each in others]
    return lines


def applied_lines(applied: Sequence[str], width: int, glyphs: Glyphs) -> Iterator[Text]:
    """Yield the applied fixes, and how to undo the newest one."""
    for at, change in enumerate(applied, start=1):
        undo = "; u undoes it" if at == len(applied) else ""
        head = f"{glyphs.yes:<2}applied: "
        for row, line in enumerate(fold(f"{one_line(change)}{undo}", width - len(head))):
            yield Text(f"{head if row == 0 else '':<{len(head)}}{line}", BOLD)


def top_for_fix(lines: list[Text], place: int, top: int, height: int) -> int:
    """Return the least scroll position, below the pinned lines, that shows a fix completely.

    top: the current position. height: visible lines.
    For the first fix, return 0 if it is visible there, even if its command is cut.
    """
    rows = [
        row for row, line in enumerate(lines) if isinstance(line.style, Style) and line.style.meta.get(FIX) == place
    ]
    if not rows or (place == 0 and rows[0] + 1 < height):
        return 0 if rows else top
    return max(0, min(rows[0] - PINNED, max(top, rows[-1] + 1 - height)))


def _verdict(whynot: Missing, width: int, glyphs: Glyphs, *, is_pinned: bool) -> Iterator[Text]:
    """Yield whether the target is there or what keeps it out, then the target with its rank."""
    view = whynot.view
    where = "context" if whynot.in_list else "results" if whynot.k is None else f"top {figure(whynot.k)}"
    if view["present"]:
        text = f"{glyphs.yes} in the {'results and in the context' if whynot.in_list else where}"
    else:
        failing = _failing(view)
        why = view["verdict"] if failing is None else one_line(_detail(failing))
        text = f"{glyphs.no} not in the {where}: {why}"
        if is_pinned:
            text = f"{glyphs.yes} in the context, pinned; without the pin: {why}"
    yield Text(fit(text, width, glyphs).rstrip(), BOLD)
    yield Text(f"   {_target(view['target'], width - 3, glyphs)}".rstrip())


def _failing(view: WhyNotView) -> StageView | None:
    return next((stage for stage in view["stages"] if stage["status"] == "fail"), None)


def _target(view: TargetView, width: int, glyphs: Glyphs) -> str:
    if "chosen" not in view:
        return fit(one_line(view["text"]), width, glyphs)
    chosen = view["chosen"]
    unit = chosen if view["kind"] in ("lines", "text") else chosen.get("passage", chosen)  # as the user named it
    return _place(chosen, unit, width, glyphs)


def _place(view: SoughtView, unit: SoughtView | PassageView, width: int, glyphs: Glyphs) -> str:
    """Return its place with rank and id, in exactly `width` cells."""
    rank = "not ranked" if view["rank"] is None else f"rank {figure(view['rank'])}"
    where = behind_unit(view["path"], unit)
    text = f"{where}  {rank}  {view['chunk_id'][:ID]}"
    return fit_place(harmless(view["path"]), text, width, glyphs)


def _stages(whynot: Missing, width: int, glyphs: Glyphs, *, is_whole: bool) -> Iterator[Text]:
    """Yield the first failing stage with its evidence, the other failing stages, and a line for each other status."""
    view = whynot.view
    first = _failing(view)
    for stage in view["stages"]:
        is_shown = is_whole and stage["status"] == "pass" and bool(stage.get("evidence"))
        if stage["status"] == "fail" or is_shown:
            more = _more(stage, whynot) if stage is first and not view["present"] else None
            yield from _stage(stage, more, width, glyphs)
    for name, status in (("passed", "pass"), ("not applied", "not_applicable")):
        names = [stage["stage"] for stage in view["stages"] if stage["status"] == status]
        if names:
            yield from (Text(line, DIM) for line in fold(f"{name}: {', '.join(names)}", width))


def _stage(stage: StageView, more: list[str] | None, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """Yield the sentence of a stage, and its evidence if `more` is given."""
    mark = glyphs.yes if stage["status"] == "pass" else glyphs.no
    head = f"{mark:<2} {stage['stage']:<{STAGE - 3}} "
    for place, line in enumerate(fold(one_line(_detail(stage)), width - len(head)) or [""]):
        yield Text(f"{head if place == 0 else '':<{len(head)}}{line}".rstrip(), BOLD if more is not None else "")
    for each in more or ():
        yield from (Text(f"     {line}") for line in fold(each, width - 5))


def _detail(stage: StageView) -> str:
    """Return the sentence of a stage with its counts formatted for reading. Quotes stay unchanged."""
    if stage["stage"] in COUNTING:
        return with_figures(stage["detail"])
    if stage["stage"] == "lexical":
        return _RANK.sub(lambda match: with_figures(match[0]), stage["detail"])
    return adapters.whynot.detail_of(stage)


def _more(stage: StageView, whynot: Missing) -> list[str]:
    """Return the evidence that neither the sentence of a stage nor a fix mentions."""
    fixes = [remedy.change for remedy in whynot.remedies]
    facts = [each for each in _evidence(stage.get("evidence", {})) if not any(each in change for change in fixes)]
    return [*facts, *([stage["hint"]] if "hint" in stage else [])]


def _evidence(view: EvidenceView) -> Iterator[str]:
    """Yield the evidence of a stage. Its sentence already names the failing predicates and their values."""
    for dropped in view.get("drop", []):
        yield f"search without {' and without '.join(dropped)}"
    for term in view.get("terms", []):
        stem = f" ({term['stem']})" if "stem" in term else ""
        words = f" of {term['words']} words" if "words" in term else ""
        is_counted = "title" in term and "body" in term
        counts = f", title {figure(term['title'])} body {figure(term['body'])}" if is_counted else ""
        idf = f" idf {term['idf']:.3f}" if "idf" in term else ""
        yield f"{one_line(term['text'])}{stem} df {figure(term['df'])}{idf}{words}{counts}"
    if "last_score" in view and "gap" in view:
        yield f"score {view['score']:.3f}, row {figure(view['last'])} has {view['last_score']:.3f}"
    if "against" in view:
        yield _rival(view["against"])
    yield from (f"packed: {chunk_id[:ID]}" for chunk_id in view.get("siblings", []))
    yield from (f"rule: {rule}" for rule in view.get("rules", []))


def _rival(view: RivalView) -> str:
    figures = [f"{name} {view[name]:.3f}" for name in ("lexical", "semantic", "score") if name in view]
    return " ".join([view["path"], view["chunk_id"][:ID], *figures])


def _fixes(whynot: Missing, place: int, width: int, glyphs: Glyphs) -> Iterator[Text]:
    if whynot.remedies:
        heads = f"{len(whynot.remedies)} fixes: Up and Down select, Enter applies"
        yield Text(fit(heads if len(whynot.remedies) > 1 else "1 fix: Enter applies it", width, glyphs).rstrip(), DIM)
    for at, remedy in enumerate(whynot.remedies):
        yield from _fix(remedy, at, width, glyphs, is_chosen=at == place)
    yield from _proof(whynot.view, width)
    if not whynot.remedies and "proof" not in whynot.view:
        yield Text(fit("No fix was found.", width, glyphs).rstrip())


def _fix(remedy: FixOffer, at: int, width: int, glyphs: Glyphs, *, is_chosen: bool) -> Iterator[Text]:
    """Yield the change, its effect, the smaller change that is not enough, and the command.

    Every line carries the index of the fix.
    """
    mark = glyphs.pointer if is_chosen else " "
    proof = f"{glyphs.dot}{remedy.proof}" if remedy.proof else ""
    doubt = f"; {remedy.doubt} is not enough" if remedy.doubt else ""
    is_sized = all(kind in SIZED for kind in remedy.kind.split("+"))
    change, doubt = map(with_figures, (remedy.change, doubt)) if is_sized else (remedy.change, doubt)
    other = "; on the command line only" if not is_doable(remedy) else ""
    for place, line in enumerate(fold(one_line(f"{change}{doubt}{other}{proof}"), width - 2)):
        yield Text(f"{mark if place == 0 else ' '} {line}", Style(bold=is_chosen, meta={FIX: at}))
    for line in fold(f"$ {one_line(remedy.command)}", width - 4):
        yield Text(f"    {line}", Style(dim=True, meta={FIX: at}))


def _proof(view: WhyNotView, width: int) -> Iterator[Text]:
    if "no_proof" in view:
        yield from (Text(line) for line in fold(f"No proof: {view['no_proof']}.", width))
    if "proof" not in view:
        return
    proof = view["proof"]
    at = "" if proof["at"] is None else f" at {proof['at']:g}"
    first, best = figure(proof["k"]), figure(proof["best_rank"])
    text = f"No weight puts it in the top {first}: its best rank is {best}{at}, "
    ahead = proof["always_ahead"]
    text += f"and {pluralize(ahead, 'chunk')} {'is' if ahead == 1 else 'are'} ahead at every weight."
    yield from (Text(line) for line in fold(text, width))
    for rival in proof["ahead"]:
        yield from (Text(f"  {line}", DIM) for line in fold(_rival(rival), width - 2))


STAGES = {
    "store": "in the store",
    "live": "not removed",
    "filter": "pass the filter",
    "lexical": "found by lexical",
    "semantic": "found by semantic",
    "union": "are candidates",
    "documents": "as documents",
    "kept": "reach min_score",
    "near": "reach min_cosine",
    "copies": "without copies",
    "top_k": "are listed",
    "packed": "in the context",
}
NAME = max(map(len, STAGES.values()))
ROWS, MS = 9, 9  # cells of the figures, with a blank before them
LEAST_BAR = 4


def funnel_lines(view: TraceView, note: str, width: int, glyphs: Glyphs) -> list[Text]:
    """Return one line for each stage, with a bar, and the predicates below the filter. note: what the counts ignore.

    A bar is a share of the whole store and never longer than the one before. The bars of the signals are independent,
    since both search the rows that pass the filter.
    """
    stages = view["stages"]
    total = max((stage["rows_out"] for stage in stages[:1]), default=0)
    lines = [_row(("step", "rows", "ms"), 0.0, width, glyphs)]
    lines[0].stylize(DIM)
    longest = 1.0
    for stage in stages:
        spent = view["timings"].get(stage["stage"])
        share = min(longest, stage["rows_out"] / total if total else 0.0)
        signal = stage["stage"] if stage["stage"] in SIGNALS else ""
        longest = longest if signal else share
        name = ("  " if signal else "") + STAGES.get(stage["stage"], stage["stage"])
        ms = "" if spent is None else f"{spent:.1f}"
        lines.append(_row((name, figure(stage["rows_out"]), ms), share, width, glyphs, signal=signal))
        if stage["stage"] == "filter" and "filter" in view:
            heads = f"{'  removes':<10}{'alone':>8}{'in order':>10}{'only it':>9}"
            lines.append(Text(fit(heads, width, glyphs).rstrip(), DIM))
            lines += [line for predicate in view["filter"] for line in _predicate(predicate, width, 0)]
    spent = view["timings"].get("answer")
    in_all = "" if spent is None else f"The answer took {spent:.1f} ms."
    notes = " ".join(filter(None, [_signals(view), in_all]))
    return [*lines, *(Text(line, DIM) for text in (notes, note) for line in fold(text, width))]


def _row(cells_text: tuple[str, str, str], share: float, width: int, glyphs: Glyphs, *, signal: str = "") -> Text:
    """Return a step with its rows, then its bar and its milliseconds if they fit."""
    name, rows, ms = cells_text
    names = min(NAME + 2, max(1, width - ROWS))
    line = Text(f"{fit(name, names, glyphs)}{rows:>{ROWS}}")
    if line.cell_len + MS <= width:
        line.append(f"{ms:>{MS}}", DIM)
    cells = width - line.cell_len - 2
    if cells >= LEAST_BAR:
        series = SIGNALS.index(signal) + 1 if signal else 0
        line.append("  ").append(bar(share, cells, glyphs, series=series), Style(color=COLOURS.get(signal)))
    return truncate(line, width)


def _signals(view: TraceView) -> str:
    """Return why the row counts rise again after the filter, or "" if no signal is used."""
    signals = [stage["stage"] for stage in view["stages"] if stage["stage"] in SIGNALS]
    if any(stage["stage"] == "union" and stage["rows_out"] == stage["rows_in"] for stage in view["stages"]):
        return "Every row that passes the filter is a candidate, even without a signal value."
    if len(signals) > 1:
        return "Both signals search the rows that pass the filter. Candidates are the rows that either finds."
    return f"Only {signals[0]} finds rows, among those that pass the filter." if signals else ""


def _predicate(view: PredicateView, width: int, depth: int) -> Iterator[Text]:
    """Yield the figures of a predicate with its text, folded below if it is too long."""
    missing = f", {figure(view['missing'])} without a value" if view.get("missing") else ""
    text = harmless(view["text"])
    indent, message = " " * (4 + 2 * depth), f"{text}: {figure(view['rows'])} pass{missing}"
    if "removed_alone" in view:
        removed = (view["removed_alone"], view["removed_in_order"], view["removed_only_by_this"])
        figures = f"{'':<10}{figure(removed[0]):>8}{figure(removed[1]):>10}{figure(removed[2]):>9}"
        message = text + missing
        if cell_len(f"{figures}  {message}") <= width:
            yield Text(f"{figures}  ").append(message, BOLD)
            message = ""
        else:
            yield truncate(Text(figures), width)
    for line in fold(message, max(1, width - len(indent))):
        yield Text(indent + line, BOLD if depth == 0 else "")
    for term in view.get("terms", []):
        yield from _predicate(term, width, depth + 1)
