"""A change to a question, tried: the changed question brings the target in, and the next smaller change does not."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import NamedTuple

from recall_core.config import Settings
from recall_core.explain.intervals import Interval
from recall_core.explain.whynot.kept import KeptAsker
from recall_core.explain.whynot.present import is_present
from recall_core.explain.whynot.question import Question
from recall_core.explain.whynot.target import Sought
from recall_core.retrieve.answer import Answer

K_MOST = 200
"""Rows that a person may still look through: a fix asks for no more, and a proof speaks of so many."""


class Start(NamedTuple):
    """A question with its answer, from which a change sets out, and what was changed to come here."""

    question: Question
    found: Answer
    kinds: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    settings: Settings = MappingProxyType({})
    size: float = 0


class Change(NamedTuple):
    """A change that is to be tried. smaller: the next smaller one, and what it is."""

    kind: str
    said: str
    question: Question
    settings: Settings
    size: float
    smaller: Question | None = None
    smaller_said: str | None = None
    weights: Interval | None = None


def confirmed(asker: KeptAsker, change: Change, sought: Sought) -> Change | None:
    """The change, if the question as it leaves it is answered with what is sought and the smaller one is not."""
    if not is_present(asker, change.question, sought):
        return None
    if change.smaller is not None and is_present(asker, change.smaller, sought):
        return None
    return change


def from_start(
    start: Start,
    kind: str,
    said: str,
    question: Question,
    *,
    size: float,
    settings: Settings = MappingProxyType({}),
    smaller: tuple[Question, str] | None = None,
    weights: Interval | None = None,
) -> Change:
    """The change that `question` is, together with what was changed before it."""
    return Change(
        "+".join([*start.kinds, kind]),
        "; ".join([*start.said, said]),
        question,
        {**start.settings, **settings},
        start.size + size,
        None if smaller is None else smaller[0],
        None if smaller is None else smaller[1],
        weights,
    )


def moved(
    start: Start,
    kind: str,
    said: str,
    question: Question,
    found: Answer,
    *,
    size: float,
    settings: Settings = MappingProxyType({}),
) -> Start:
    """A start from which to go on, one change further."""
    return Start(
        question, found, (*start.kinds, kind), (*start.said, said), {**start.settings, **settings}, start.size + size
    )


_EFFORT = {
    kind: effort
    for effort, kinds in enumerate(
        (
            "filter collapse min_score min_cosine match stop_words rerank sparse_recall",
            "k offset budget diversity",
            "mode exact pool",
            "spelling",
            "name",
            "weight sparse",
            "term",
        )
    )
    for kind in kinds.split()
}
"""What a person tries first: leave out a filter or a flag, ask for more, ask in another way, correct a word, add a
word that they may know, move a weight, add a word that only who has the text can know."""


def by_effort(changes: Iterable[Change]) -> list[Change]:
    """Return the changes in the order in which a person would try them.

    One of several kinds comes where the last of them does; those of one place keep their order.
    """
    return sorted(changes, key=lambda change: max(_EFFORT[kind] for kind in change.kind.split("+")))
