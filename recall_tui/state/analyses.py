"""Analyses: what panes want to know of the store beyond the rows and the context. Pure, and without a screen."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Kind = Literal[
    "ledger",
    "passage",
    "whynot",
    "funnel",
    "compare",
    "worth",
    "curve",
    "pins",
    "saved",
    "grades",
    "board",
    "line",
    "overview",
    "health",
    "documents",
    "paths",
]

Scope = Literal["answer", "question", "store", "file"]

SCOPES: dict[Kind, Scope] = {
    "ledger": "answer",
    "passage": "store",
    "whynot": "answer",
    "funnel": "answer",
    "compare": "answer",
    "worth": "answer",
    "curve": "store",
    "pins": "question",
    "saved": "question",
    "grades": "store",
    "board": "store",
    "line": "store",
    "overview": "file",
    "health": "file",
    "documents": "store",
    "paths": "store",
}
"""How long a result holds: for one ranking, for one question at every weight, until documents or judgements change,
or until anything is written."""
LASTING: tuple[Kind, ...] = ("grades", "board")
"""The newest result of such a kind stays, to be shown until there is a newer one."""


class Analysis(NamedTuple):
    """One thing to find out. target and other: ids, paths or texts, as the kind takes them."""

    kind: Kind
    target: str = ""
    other: str = ""


Stamp: TypeAlias = tuple[int, ...]
"""What a result depends on, counted; a result of another stamp is not shown."""
TASKS_AT = 2  # where a stamp has the number of tasks that were done
