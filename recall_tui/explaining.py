"""What the explain pane asks to be found out about the selected hit. Pure, and without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from recall_tui.session import Session, is_seen
from recall_tui.studies import Study

if TYPE_CHECKING:
    from recall_core.contract.ledger import ExplanationView


class Ledger(NamedTuple):
    """The finding of a ledger: what `recall explain CHUNK --json` says under `explanation`."""

    view: ExplanationView


def ledger_study(session: Session) -> Study | None:
    """The study that takes the selected hit's score apart."""
    if session.hit is None or session.hit.chunk is None:
        return None
    return Study("ledger", session.hit.chunk.id)


def wants(session: Session) -> Iterator[Study]:
    """What is to be found out for the view in front."""
    if not is_seen(session, "explain"):
        return
    study = ledger_study(session) if session.view == "ledger" else None
    if study is not None:
        yield study
