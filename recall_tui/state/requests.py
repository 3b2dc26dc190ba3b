"""What the screen wants of the query thread, and in which order, read off the session. Pure, and without a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from recall_core.config import Config
from recall_tui.state import explaining, judging, packing, store_pane, tuning
from recall_tui.state.analyses import SCOPES, Analysis, Stamp
from recall_tui.state.completion import Lookup
from recall_tui.state.records import Packing, Tweaks
from recall_tui.state.session import Session, k_of, result_of, stamp_of


class QueryRequest(NamedTuple):
    """All that the screen wants of the store now; the newest request replaces every older one."""

    generation: int
    text: str
    window: tuple[int, int]
    packing: Packing
    lookups: tuple[Lookup, ...] = ()
    question: int = 0
    settings: Tweaks = MappingProxyType({})
    saved: Config | None = None
    k: int | None = None
    seen: tuple[int, int] = (0, 0)
    """Places of the window that stand on the screen, whose rows have their passages."""
    is_grouped: bool = False
    """Places are those of rows below their documents, not ranks."""
    is_k_moved: bool = False
    """A person asked for this number: it holds for the context too."""
    filter: str = ""
    is_given_up: bool = False
    """Its question is to be answered no more; what has an answer keeps it."""


def query_request(session: Session) -> QueryRequest:
    """Return what the query thread should make true."""
    return QueryRequest(
        generation=session.query.generation,
        text=session.query.text,
        window=session.results.window,
        seen=session.results.seen,
        is_grouped=session.results.is_grouped,
        packing=Packing(session.context.budget_tokens, session.context.pins, session.context.drops),
        lookups=session.query.lookups,
        question=session.query.question,
        settings=session.weights.tweaks,
        saved=session.weights.saved,
        k=k_of(session),
        is_k_moved=session.weights.k is not None,
        filter=session.query.filter,
        is_given_up=session.query.given_up == session.query.question,
    )


WANTS: tuple[Callable[[Session], Iterator[Analysis]], ...] = (
    explaining.wants,
    packing.wants,
    judging.wants,
    store_pane.wants,
    tuning.wants,
)
"""What each pane wants; a pane in front of the others comes first, and the curve of all queries last of all."""


def wanted_analyses(session: Session) -> tuple[tuple[Analysis, Stamp], ...]:
    """Return the analyses that are not done yet: none while a question is answered.

    While the question is wrong, only those of the store. While another order is made, none of the present order: the
    result would be kept for the new one.
    """
    if session.store.info is None or session.query.busy:
        return ()
    analyses = dict.fromkeys(analysis for wants in WANTS for analysis in wants(session))
    if session.results.answer is not None and session.results.ranked_at != session.query.generation:
        analyses = dict.fromkeys(analysis for analysis in analyses if SCOPES[analysis.kind] != "answer")
    if session.query.trouble is not None:
        analyses = dict.fromkeys(analysis for analysis in analyses if SCOPES[analysis.kind] in ("store", "file"))
    return tuple(
        (analysis, stamp_of(session, analysis))
        for analysis in analyses
        if result_of(session, analysis, object) is None
    )
