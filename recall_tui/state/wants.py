"""Everything that the panes on the screen want to be found out, in the order in which it is studied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recall_tui.state import explaining, judging, keeping, packing, tuning
from recall_tui.state.findings import found, stamp_of
from recall_tui.state.session import Session
from recall_tui.state.studies import SCOPES, Stamp, Study

WANTS: tuple[Callable[[Session], Iterator[Study]], ...] = (
    explaining.wants,
    packing.wants,
    judging.wants,
    keeping.wants,
    tuning.wants,
)
"""What each pane wants; a pane in front of the others comes first, and the curve of all queries last of all."""


def wanted(session: Session) -> tuple[tuple[Study, Stamp], ...]:
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
