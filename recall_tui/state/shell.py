"""The shell command that reproduces what a pane or its tab in front shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core import shell
from recall_core.config import Config, assignments, named
from recall_tui.state import judging
from recall_tui.state.chart import DEPTH
from recall_tui.state.explaining import (
    DocumentPassage,
    Missing,
    chunk_of,
    compare_analysis,
    passage_analysis,
    short,
    whynot_analysis,
)
from recall_tui.state.optioning import with_options
from recall_tui.state.packing import flags
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, filter_of
from recall_tui.state.store_pane import kept_by
from recall_tui.state.tuning import first_rows, of_words, pins_of
from recall_tui.state.weighing import differences, is_hybrid, why_no_lines

if TYPE_CHECKING:
    from recall_core.retrieve.plan import Plan


def command(session: Session, store: str | None) -> str:
    """A `recall` command line for what the pane in front shows, or "" before there is an answer.

    store: the --store value the workbench was opened with, or None when it was found from the current folder.
    """
    answer = session.results.answer
    if session.pane == "judge":
        return _evaluation(session, store)
    if session.pane in ("ingest", "store"):
        return typed(store, *kept_by(session))
    if answer is None:
        return ""
    if session.pane == "explain":
        return explained(session, store)
    plan = answer.plan
    in_context = session.pane == "context"
    if in_context:
        verb = ["context", *flags(session.context.packing, session.context.budget_tokens)]
        verb += ["--k", str(plan.limit)] if session.weights.k is not None and plan.is_capped else []
    elif plan.rql is not None:
        verb = ["query"]
    else:
        verb = ["search", "--k", str(plan.limit)]
    verb += _set(_moved(session, plan.config))
    rql = plan.rql
    if plan.query is not None and session.weights.k is not None and not in_context:
        rql = with_options(plan.text, plan.query, {}, limit=plan.limit)
    return typed(store, *verb, *_question(plan, rql))


def commands(session: Session, store: str | None) -> str:
    """The command of the pane; in front of the weights a second line, for what is drawn over all of them."""
    lines = [command(session, store)]
    if session.pane == "weights" and lines[0]:
        lines.append(_tune(session, store))
    return "\n".join(filter(None, lines))


def _tune(session: Session, store: str | None) -> str:
    """The command that says at every weight what the pane draws: the mean curve, the pins, or the rank lines."""
    answer = session.results.answer
    if session.weights.is_of_all and judging.is_measurable(session):
        changed = differences(of_words(session), session.weights.saved)
        return typed(store, "tune", "--sweep", *_set(assignments(named(changed))))
    if answer is None or not is_hybrid(answer) or why_no_lines(answer):
        return ""
    verb, plan, pins = ["tune"], answer.plan, pins_of(session)
    for pin in pins:
        verb += ["--pin" if pin.want == "in" else "--pin-not", pin.chunk_id]
    verb += ["--k", str(first_rows(session))] if pins else ["--sweep", "--k", str(max(1, min(plan.limit, DEPTH)))]
    verb += ["--collapse"] if plan.collapses and not pins else []
    verb += _set(_moved(session, plan.config))
    return typed(store, *verb, *_question(plan, plan.rql))


def _evaluation(session: Session, store: str | None) -> str:
    """What measures the judged queries; where settings are moved, against what the saved ones give."""
    if judging.pointed_line(session) is None:
        return ""
    measure = judging.measure_of(session)
    measures = ",".join((measure, *(other for other in judging.MEASURES if other != measure)))
    saved = typed(store, "eval", "--metrics", measures)
    if not session.weights.tweaks:
        return f"{saved} --per-query"
    moved = shell.join(_set(assignments(named(session.weights.tweaks))))
    return f"{saved} --json | {saved} --per-query {moved} --baseline /dev/stdin"


def _moved(session: Session, config: Config) -> tuple[str, ...]:
    """The settings that differ from those that the question has when nothing is moved."""
    return assignments(named(differences(config, session.weights.plain)))


def _set(changed: tuple[str, ...]) -> list[str]:
    return [word for assignment in changed for word in ("--set", assignment)]


def _question(plan: Plan, rql: str | None) -> list[str]:
    if rql is not None:
        return ["--rql", rql]
    filters, words = filter_of(plan), plan.text.strip()
    said = [] if filters is None else ["--filter", filters]
    return [*said, "--", words] if words.startswith("-") else [*said, words]


def typed(store: str | None, *words: str) -> str:
    """A command as it is typed, with the store where one was named."""
    return shell.in_store(shell.join(["recall", *words]), store or None)


def explained(session: Session, store: str | None) -> str:
    """A `recall` command line for the tab, or "" where it has nothing to say yet."""
    if session.results.answer is None:
        return ""
    match session.view:
        case "passage":
            words = _get(session)
        case "whynot":
            words = _whynot(session)
        case "funnel":
            words = ["trace", *_asked_question(session, (*_k(session), *_budget(session)))]
        case "ledger" | "compare":
            words = _explain(session)
    return typed(store, *words) if words else ""


def _explain(session: Session) -> list[str]:
    """The ledger of the chunk; with another beside it where the two are compared."""
    chunk, analysis = chunk_of(session), compare_analysis(session) if session.view == "compare" else None
    if not chunk:
        return []
    versus = ["--vs", short(analysis.other)] if analysis is not None else []
    return ["explain", "--chunk", short(chunk), *versus, *_asked_question(session, _listing(session))]


def _listing(session: Session) -> tuple[str, ...]:
    """The rows that are listed."""
    answer = session.results.answer
    return _k(session) if answer is None or answer.plan.rql is not None else ("--k", str(answer.plan.limit))


def _whynot(session: Session) -> list[str]:
    if not session.results.sought:
        return []
    analysis = whynot_analysis(session)
    result = result_of(session, analysis, of=Missing) if analysis is not None else None
    in_list = not isinstance(result, Missing) or result.in_list
    target = (
        [f"--target={session.results.sought}"]
        if session.results.sought.startswith("-")
        else ["--target", session.results.sought]
    )
    return [
        "whynot",
        *target,
        *_asked_question(session, (*_k(session), *_budget(session)) if in_list else _listing(session)),
    ]


def _get(session: Session) -> list[str]:
    """The document, or those of its lines that are shown."""
    analysis = passage_analysis(session)
    passage = result_of(session, analysis, of=DocumentPassage) if analysis is not None else None
    if not isinstance(passage, DocumentPassage):
        return []
    whole = passage.from_start and passage.to_end
    lines = "" if whole else f":{passage.lines[0].number}-{passage.lines[-1].number}"
    return ["get", f"{passage.path}{lines}"]


def _budget(session: Session) -> tuple[str, ...]:
    return ("--budget-tokens", str(session.context.budget_tokens))


def _k(session: Session) -> tuple[str, ...]:
    return () if session.weights.k is None else ("--k", str(session.weights.k))


def _asked_question(session: Session, flags: tuple[str, ...]) -> list[str]:
    """Flags, moved settings, and last the question."""
    answer = session.results.answer
    assert answer is not None  # noqa: S101 - the caller looked
    plan, said = answer.plan, [*flags]
    for assignment in _moved(session, plan.config):
        said += ["--set", assignment] if not _is_said(assignment, flags) else []
    if plan.rql is not None:
        return [*said, "--rql", plan.rql]
    if (filters := filter_of(plan)) is not None:
        said += ["--filter", filters]
    words = plan.text.strip()
    return [*said, "--", words] if words.startswith("-") else [*said, words]


def _is_said(assignment: str, flags: tuple[str, ...]) -> bool:
    key = assignment.partition("=")[0]
    return any(flag.partition("=")[0] == key for flag in flags)
