"""Queries that are kept side by side, one of which is asked. Pure, and without a screen."""

from __future__ import annotations

from recall_tui.state.records import QueryTab
from recall_tui.state.session import Session

MOST_TABS = 9
"""As many as a title has room for."""


def tabs_of(session: Session, text: str) -> tuple[QueryTab, ...]:
    """Every tab; the one in front as it stands by now. text: what is written in the field."""
    query = session.query
    tabs = query.tabs or (QueryTab(),)
    return (*tabs[: query.tab], QueryTab(text, query.filter), *tabs[query.tab + 1 :])


def has_tabs(session: Session) -> bool:
    """While there are several."""
    return len(session.query.tabs) > 1


def opened(session: Session, text: str) -> Session:
    """The session with an empty tab behind all others, in front."""
    tabs = tabs_of(session, text)
    return _at((*tabs, QueryTab()), len(tabs), session) if len(tabs) < MOST_TABS else session


def gone_to(session: Session, text: str, place: int) -> Session:
    """The session with the tab of that place in front, counted from 0 and round the ends."""
    tabs = tabs_of(session, text)
    return _at(tabs, place % len(tabs), session)


def closed(session: Session) -> Session:
    """The session without the tab in front, at the one before it; the only one stays, empty."""
    tabs = session.query.tabs[: session.query.tab] + session.query.tabs[session.query.tab + 1 :]
    return _at(tabs or (QueryTab(),), max(0, session.query.tab - 1), session)


def _at(tabs: tuple[QueryTab, ...], place: int, session: Session) -> Session:
    return session._replace(query=session.query._replace(tabs=tabs, tab=place, filter=tabs[place].filter))
