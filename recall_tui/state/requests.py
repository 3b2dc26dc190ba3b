"""What the screen wants of the query thread, read off the session. Pure, and without a screen.

Everything that the panes on the screen want to be found out, in the order in which it is studied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from recall_core.config import Config
from recall_tui.state import explaining, judging, packing, store_pane, tuning
from recall_tui.state.analyses import SCOPES, Analysis, Stamp
from recall_tui.state.completion import Lookup
from recall_tui.state.results import found, stamp_of
from recall_tui.state.session import Packing, Session, assignments


class QueryRequest(NamedTuple):
    """All that the screen wants of the store now; the newest wish replaces every older one."""

    generation: int
    text: str
    window: tuple[int, int]
    packing: Packing
    lookups: tuple[Lookup, ...] = ()
    question: int = 0
    settings: tuple[str, ...] = ()
    """`key=value` for each tweak, as --set takes them."""
    saved: Config | None = None
    k: int | None = None
    filter: str = ""
    is_given_up: bool = False
    """Its question is to be answered no more; what has an answer keeps it."""


def query_request(session: Session) -> QueryRequest:
    """What the query thread should make true."""
    return QueryRequest(
        generation=session.generation,
        text=session.text,
        window=session.window,
        packing=Packing(session.budget_tokens, session.pins, session.drops),
        lookups=session.lookups,
        question=session.question,
        settings=assignments(session.tweaks),
        saved=session.saved,
        k=session.k,
        filter=session.filter,
        is_given_up=session.given_up == session.question,
    )


WANTS: tuple[Callable[[Session], Iterator[Analysis]], ...] = (
    explaining.wants,
    packing.wants,
    judging.wants,
    store_pane.wants,
    tuning.wants,
)

"""What each pane wants; a pane in front of the others comes first, and the curve of all queries last of all."""


def wanted(session: Session) -> tuple[tuple[Analysis, Stamp], ...]:
    """The studies that are not done yet: none while a question is answered, what it needs not while it is wrong.

    Nor what looks into an order, while another is being made: its finding would be kept for that one.
    """
    if session.info is None or session.busy:
        return ()
    studies = dict.fromkeys(study for wants in WANTS for study in wants(session))
    if session.answer is not None and session.ranked_at != session.generation:
        studies = dict.fromkeys(study for study in studies if SCOPES[study.kind] != "answer")
    if session.trouble is not None:
        studies = dict.fromkeys(study for study in studies if SCOPES[study.kind] in ("store", "file"))
    return tuple((study, stamp_of(session, study)) for study in studies if found(session, study, object) is None)
