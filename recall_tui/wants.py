"""Everything that the panes on the screen want to be found out, in the order in which it is studied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recall_tui import explaining
from recall_tui.session import Session, found, stamp_of
from recall_tui.studies import Stamp, Study

WANTS: tuple[Callable[[Session], Iterator[Study]], ...] = (explaining.wants,)
"""What each pane wants; a pane in front of the others comes first."""


def wanted(session: Session) -> tuple[tuple[Study, Stamp], ...]:
    """The studies that are not done yet; none while a question is being answered or typed wrongly."""
    if session.info is None or session.busy or session.trouble is not None:
        return ()
    studies = dict.fromkeys(study for wants in WANTS for study in wants(session))
    return tuple((study, stamp_of(session, study)) for study in studies if found(session, study, object) is None)
