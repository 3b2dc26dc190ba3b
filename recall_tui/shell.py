"""The shell command that reproduces what a pane shows."""

from __future__ import annotations

import shlex

from recall_tui.session import Session, assignments, listed
from recall_tui.weighing import differences


def command(session: Session, store: str | None) -> str:
    """A `recall` command line for what the pane in front shows, or "" before there is an answer.

    store: the --store value the workbench was opened with, or None when it was found from the current folder.
    """
    answer = session.answer
    if answer is None:
        return ""
    verb = ["recall", *(["--store", store] if store else [])]
    plan = answer.plan
    in_context = session.pane == "context"
    if in_context:
        verb += ["context", "--budget-tokens", str(session.budget_tokens)]
    elif plan.rql is not None:
        verb += ["query"]
    else:
        verb += ["search", "--k", str(max(1, listed(answer)[1]))]
    if session.pane == "explain":
        verb.append("--explain")
    for assignment in assignments(differences(plan.config, session.plain)):
        verb += ["--set", assignment]
    return shlex.join([*verb, *_question(plan.rql, plan.text)])


def _question(rql: str | None, text: str) -> list[str]:
    if rql is not None:
        return ["--rql", rql]
    words = text.strip()
    return ["--", words] if words.startswith("-") else [words]
