"""The shell command that says what the tab in front of the explain pane says."""

from __future__ import annotations

from recall_core import shell
from recall_tui.state.explaining import (
    Absence,
    Passage,
    absence_study,
    chunk_of,
    passage_study,
    rows_given,
    short,
    versus_study,
)
from recall_tui.state.findings import found
from recall_tui.state.session import Session, assignments, filter_of
from recall_tui.state.weighing import differences


def typed(store: str | None, *words: str) -> str:
    """A command as it is typed, with the store where one was named."""
    return shell.join(["recall", *(["--store", store] if store else []), *words])


def explained(session: Session, store: str | None) -> str:
    """A `recall` command line for the tab, or "" where it has nothing to say yet."""
    if session.answer is None:
        return ""
    match session.view:
        case "passage":
            words = _get(session)
        case "absence":
            words = _whynot(session)
        case "funnel":
            words = ["trace", *_question(session, (*_k(session), *_budget(session)))]
        case "ledger" | "versus":
            words = _explain(session)
    return typed(store, *words) if words else ""


def _explain(session: Session) -> list[str]:
    """The ledger of the chunk; with another beside it where the two are compared."""
    chunk, study = chunk_of(session), versus_study(session) if session.view == "versus" else None
    if not chunk:
        return []
    versus = ["--vs", short(study.other)] if study is not None else []
    return ["explain", "--chunk", short(chunk), *versus, *_question(session, _listing(session))]


def _listing(session: Session) -> tuple[str, ...]:
    """What ranks the rows of a command as the list ranks them.

    Words list the whole ranking, in which sparse-document recall gives no row away; ten rows are another matter.
    """
    answer = session.answer
    if answer is not None and (rows := rows_given(answer)) is not None:
        return ("--k", str(rows))
    if answer is None or answer.plan.rql is not None or answer.plan.is_capped or not answer.plan.config.sparse_recall:
        return _k(session)
    return ("--set", "sparse_recall=false")


def _whynot(session: Session) -> list[str]:
    if not session.sought:
        return []
    study = absence_study(session)
    finding = found(session, study, of=Absence) if study is not None else None
    in_list = not isinstance(finding, Absence) or finding.in_list
    target = [f"--target={session.sought}"] if session.sought.startswith("-") else ["--target", session.sought]
    return ["whynot", *target, *_question(session, (*_k(session), *_budget(session)) if in_list else _rows(session))]


def _rows(session: Session) -> tuple[str, ...]:
    """The rows of the list; words alone list as many as the store has."""
    if session.k is not None or session.answer is None or session.answer.plan.rql is not None:
        return _k(session)
    return ("--k", str(max(1, session.info.chunks if session.info else 1)))


def _get(session: Session) -> list[str]:
    """The document, or those of its lines that are shown."""
    study = passage_study(session)
    passage = found(session, study, of=Passage) if study is not None else None
    if not isinstance(passage, Passage):
        return []
    whole = passage.from_start and passage.to_end
    lines = "" if whole else f":{passage.lines[0].number}-{passage.lines[-1].number}"
    return ["get", f"{passage.path}{lines}"]


def _budget(session: Session) -> tuple[str, ...]:
    return ("--budget-tokens", str(session.budget_tokens))


def _k(session: Session) -> tuple[str, ...]:
    return () if session.k is None else ("--k", str(session.k))


def _question(session: Session, flags: tuple[str, ...]) -> list[str]:
    """Flags, moved settings, and last the question."""
    answer = session.answer
    assert answer is not None  # noqa: S101 - the caller looked
    plan, said = answer.plan, [*flags]
    for assignment in assignments(differences(plan.config, session.plain)):
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
