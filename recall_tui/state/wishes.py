"""What the screen wants of the query thread, read off the session. Pure, and without a screen."""

from __future__ import annotations

from typing import NamedTuple

from recall_core.config import Config
from recall_tui.state.lexicon import Lookup
from recall_tui.state.session import Packing, Session, assignments


class Wish(NamedTuple):
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


def wish(session: Session) -> Wish:
    """What the query thread should make true."""
    return Wish(
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
