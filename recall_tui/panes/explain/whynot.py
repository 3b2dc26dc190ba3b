"""The tab that says why something is not there, with its fixes; and the funnel tab, the rows left after each step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import SIGNALS
from recall_tui.panes.explain.ledger import DIM, one_line
from recall_tui.state.explaining import FixOffer, Missing
from recall_tui.state.fixes import is_doable
from recall_tui.widgets.draw import Glyphs, bar, counted, figure, fit, fit_place, folded, with_figures

if TYPE_CHECKING:
    from recall_core.contract.whynot import (
        EvidenceView,
        PredicateView,
        RivalView,
        SoughtView,
        StageView,
        TargetView,
        TraceView,
        WhyNotView,
    )

FIX = "fix"

"""The key under which a line of a fix carries its place."""

COMMAND = "command"

"""The key under which a line of a fix says that it is of its command."""

FAILING = "failing"

"""The key under which the sentence of the opened stage says that it is the one."""

STAGE = 12  # cells of a mark and a stage's name

ID = 12  # digits of an id

COUNTING = (
    "semantic",
    "pool",
    "fusion",
    "min_score",
    "rerank",
    "page",
    "diversity",
    "duplicate",
    "budget",
    "truncated",
)

"""The stages whose sentences quote neither a name nor a word nor a value of a document."""

_RANK = re.compile(r"\brank [0-9]+ of [0-9]+(?=;|$)")

SIZED = ("k", "budget", "diversity", "pool", "sparse")

"""The kinds of fixes that change a number, and name nothing else."""


def whynot_lines(whynot: Missing, place: int, note: str, width: int, glyphs: Glyphs) -> list[Text]:
    """The verdict, the ladder, the fixes. place: of the chosen fix. note: what the account leaves out of account."""
    view = whynot.view
    lines = [*_verdict(whynot, width, glyphs), *_ladder(whynot, width, glyphs)]
    lines += [Text(line, DIM) for line in folded(note, width)]
    if not view["present"]:
        lines += _fixes(whynot, place, width, glyphs)
    others = view["target"].get("others", [])
    if others:
        lines.append(Text(fit("other chunks of it", width, glyphs), DIM))
        lines += [Text("  " + _place(each, width - 2, glyphs)) for each in others]
    return lines


def top_for_fix(lines: list[Text], place: int, top: int, height: int) -> int:
    """The line to begin with to see a fix below the failing stage, or alone where both do not fit.

    top: the line that the view of `height` lines begins with now. It moves as little as it takes, and not for the
    command of the first fix alone: the verdict is worth more.
    """
    rows = [row for row, line in enumerate(lines) if _meta(line).get(FIX) == place]
    if not rows:
        return top
    if place == top == 0 and max(row for row in rows if COMMAND not in _meta(lines[row])) < height:
        return top
    first, end = rows[0], rows[-1] + 1
    failing = next((row for row, line in enumerate(lines) if FAILING in _meta(line)), first)
    start = failing if end - failing <= height else first
    return min(start, max(top, end - height))


def _meta(line: Text) -> dict[str, object]:
    return line.style.meta if isinstance(line.style, Style) else {}


def _verdict(whynot: Missing, width: int, glyphs: Glyphs) -> Iterator[Text]:
    view = whynot.view
    where = "context" if whynot.in_list else "results"
    said = f"{glyphs.yes} in the {where}" if view["present"] else f"{glyphs.no} not in the {where}: {view['verdict']}"
    if view["present"] and whynot.in_list:
        said = f"{glyphs.yes} in the results and in the context"
    yield Text(fit(said, width, glyphs).rstrip(), Style(bold=True))
    yield Text(f"   {_target(view['target'], width - 3, glyphs)}".rstrip())


def _target(view: TargetView, width: int, glyphs: Glyphs) -> str:
    return _place(view["chosen"], width, glyphs) if "chosen" in view else fit(one_line(view["text"]), width, glyphs)


def _place(view: SoughtView, width: int, glyphs: Glyphs) -> str:
    """Where it is with its rank and id, in exactly `width` cells."""
    rank = "not ranked" if view["rank"] is None else f"rank {figure(view['rank'])}"
    told = f":{view['line_start']}-{view['line_end']}  {rank}  {view['chunk_id'][:ID]}"
    return fit_place(view["path"], told, width, glyphs)


def _ladder(whynot: Missing, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """The first failing stage with its evidence; those with something to say on a line; the others together."""
    view = whynot.view
    failing = next((stage for stage in view["stages"] if stage["status"] == "fail"), None)
    is_opened = failing is not None and not view["present"]
    plain: list[str] = []
    for stage in view["stages"]:
        if stage["status"] == "pass" and not stage.get("evidence"):
            plain.append(stage["stage"])
        elif stage["status"] != "not_applicable":
            yield from _together(glyphs.yes, plain, width, glyphs)
            plain = []
            more = _more(stage, whynot) if is_opened and stage is failing else None
            yield from _stage(stage, more, width, glyphs)
    yield from _together(glyphs.yes, plain, width, glyphs)
    passed_over = [stage["stage"] for stage in view["stages"] if stage["status"] == "not_applicable"]
    told = [f"do not apply: {passed_over[0]}", *passed_over[1:]] if passed_over else []
    yield from _together(glyphs.dot.strip(), told, width, glyphs)


def _together(mark: str, names: list[str], width: int, glyphs: Glyphs) -> Iterator[Text]:
    for place, line in enumerate(folded(", ".join(names), width - 3)):
        yield Text(f"{mark if place == 0 else '':<2} {line}", DIM)


def _stage(stage: StageView, more: list[str] | None, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """Its sentence, and more of it where it is the opened one."""
    mark = glyphs.yes if stage["status"] == "pass" else glyphs.no
    head = f"{mark:<2} {stage['stage']:<{STAGE - 3}} "
    for place, line in enumerate(folded(one_line(_detail(stage)), width - len(head)) or [""]):
        style = Style() if more is None else Style(bold=True, meta={FAILING: True})
        yield Text(f"{head if place == 0 else '':<{len(head)}}{line}".rstrip(), style)
    for each in more or ():
        yield from (Text(f"     {line}") for line in folded(each, width - 5))


def _detail(stage: StageView) -> str:
    """The sentence of a stage with its counts as people read them; what it quotes stands as it is."""
    if stage["stage"] in COUNTING:
        return with_figures(stage["detail"])
    if stage["stage"] == "lexical":
        return _RANK.sub(lambda found: with_figures(found[0]), stage["detail"])
    return stage["detail"]


def _more(stage: StageView, whynot: Missing) -> list[str]:
    """What neither the sentence of a stage says nor a fix."""
    fixes = [remedy.change for remedy in whynot.remedies]
    told = [each for each in _evidence(stage.get("evidence", {})) if not any(each in change for change in fixes)]
    return [*told, *([stage["hint"]] if "hint" in stage else [])]


def _evidence(view: EvidenceView) -> Iterator[str]:
    """What a stage goes by, beyond its sentence, which names the predicates that fail and their values."""
    for dropped in view.get("drop", []):
        yield f"drop {' and '.join(dropped)}"
    for term in view.get("terms", []):
        stem = f" ({term['stem']})" if "stem" in term else ""
        words = f" of {term['words']} words" if "words" in term else ""
        is_counted = "title" in term and "body" in term
        held = f", title {figure(term['title'])} body {figure(term['body'])}" if is_counted else ""
        yield f"{one_line(term['text'])}{stem} df {figure(term['df'])} idf {term['idf']:.3f}{words}{held}"
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
        heads = f"{len(whynot.remedies)} fixes: Up and Down choose, Enter tries"
        yield Text(fit(heads if len(whynot.remedies) > 1 else "1 fix: Enter tries it", width, glyphs), DIM)
    for at, remedy in enumerate(whynot.remedies):
        yield from _fix(remedy, at, width, glyphs, is_chosen=at == place)
    yield from _proof(whynot.view, width)
    if not whynot.remedies and "proof" not in whynot.view:
        yield Text(fit("No fix was found.", width, glyphs))


def _fix(remedy: FixOffer, at: int, width: int, glyphs: Glyphs, *, is_chosen: bool) -> Iterator[Text]:
    """What it changes, what less would not do, and its command. Every line knows the fix, for the mouse."""
    mark = glyphs.pointer if is_chosen else " "
    doubt = f"; {remedy.doubt} would not do" if remedy.doubt else ""
    is_sized = all(kind in SIZED for kind in remedy.kind.split("+"))
    change, doubt = map(with_figures, (remedy.change, doubt)) if is_sized else (remedy.change, doubt)
    other = "" if is_doable(remedy) else "; for the command line"
    for place, line in enumerate(folded(one_line(f"{change}{doubt}{other}"), width - 2)):
        yield Text(f"{mark if place == 0 else ' '} {line}", Style(bold=is_chosen, meta={FIX: at}))
    for line in folded(f"$ {one_line(remedy.command)}", width - 4):
        yield Text(f"    {line}", Style(dim=True, meta={FIX: at, COMMAND: True}))


def _proof(view: WhyNotView, width: int) -> Iterator[Text]:
    if "proof" not in view:
        return
    proof = view["proof"]
    at = "" if proof["at"] is None else f" at {proof['at']:g}"
    first, best = figure(proof["k"]), figure(proof["best_rank"])
    said = f"No weight brings it among the first {first}: its best rank is {best}{at}, "
    ahead = proof["always_ahead"]
    said += f"and {counted(ahead, 'chunk')} {'is' if ahead == 1 else 'are'} ahead at every weight."
    yield from (Text(line) for line in folded(said, width))
    for rival in proof["ahead"]:
        yield from (Text(f"  {line}", DIM) for line in folded(_rival(rival), width - 2))


FUNNEL_FIGURES = 10 + 10 + 10 + 8  # stage, rows in, rows out, milliseconds


def funnel_lines(view: TraceView, note: str, width: int, glyphs: Glyphs) -> list[Text]:
    """One line a stage with a bar as long as its rows; below the filter its predicates. note: what it leaves out."""
    most = max((stage["rows_out"] for stage in view["stages"]), default=0)
    lines = [Text(fit(f"{'stage':<10}{'rows in':>10}{'rows out':>10}{'ms':>8}", width, glyphs), DIM)]
    for stage in view["stages"]:
        spent = view["timings"].get(stage["stage"])
        ms = "" if spent is None else f"{spent:.1f}"
        line = Text(f"{stage['stage']:<10}{figure(stage['rows_in']):>10}{figure(stage['rows_out']):>10}{ms:>8}")
        if width - FUNNEL_FIGURES - 2 >= 4:
            line.append("  ").append(
                bar(stage["rows_out"] / most if most else 0.0, width - FUNNEL_FIGURES - 2, glyphs)
            )
        lines.append(line)
        if stage["stage"] == "filter" and "filter" in view:
            lines += _filter(view["filter"], width, glyphs)
    whole = view["timings"].get("answer")
    spent_in_all = "" if whole is None else f"The answer took {whole:.1f} ms."
    told = " ".join(filter(None, [_signals(view), spent_in_all]))
    return [*lines, *(Text(line, DIM) for text in (told, note) for line in folded(text, width))]


def _signals(view: TraceView) -> str:
    """Why rows come in again after the filter; nothing where no signal is asked."""
    asked = [stage["stage"] for stage in view["stages"] if stage["stage"] in SIGNALS]
    if any(stage["stage"] == "union" and stage["rows_out"] == stage["rows_in"] for stage in view["stages"]):
        return "Every row that the filter leaves is a candidate, also one that no signal has a value for."
    if len(asked) > 1:
        return "Both signals take what the filter leaves; union is what they propose together."
    return f"Only {asked[0]} proposes rows, out of what the filter leaves." if asked else ""


def _filter(predicates: list[PredicateView], width: int, glyphs: Glyphs) -> Iterator[Text]:
    heads = f"{'  removed':<10}{'alone':>8}{'in order':>10}{'only by':>9}"
    yield Text(fit(heads, width, glyphs), DIM)
    for predicate in predicates:
        yield from _predicate(predicate, width, 0)


def _predicate(view: PredicateView, width: int, depth: int) -> Iterator[Text]:
    """The figures of a predicate, its text behind them, or folded below where it is too long."""
    missing = f", {figure(view['missing'])} without a value" if view.get("missing") else ""
    indent, told = " " * (4 + 2 * depth), f"{view['text']}: {figure(view['rows'])} pass{missing}"
    if "removed_alone" in view:
        removed = (view["removed_alone"], view["removed_in_order"], view["removed_only_by_this"])
        figures = f"{'':<10}{figure(removed[0]):>8}{figure(removed[1]):>10}{figure(removed[2]):>9}"
        told = view["text"] + missing
        if cell_len(f"{figures}  {told}") <= width:
            yield Text(f"{figures}  ").append(told, Style(bold=True))
            told = ""
        else:
            yield Text(figures)
    for line in folded(told, max(1, width - len(indent))):
        yield Text(indent + line, Style(bold=depth == 0))
    for term in view.get("terms", []):
        yield from _predicate(term, width, depth + 1)
