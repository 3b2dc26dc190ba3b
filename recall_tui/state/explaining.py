"""What the tabs of the explain pane want to be found out, and what is found. Pure, and without a screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from recall_core.types import Hit
from recall_tui.state.analyses import Analysis
from recall_tui.state.records import Tweaks
from recall_tui.state.session import VIEWS, Session, View, focused, is_seen

if TYPE_CHECKING:
    from recall_core.contract.explaining import TraceView, WhyNotView
    from recall_core.contract.ledger import ExplanationView

DIGITS = 12
MarkKind = Literal["term", "keyword", "name", "string", "comment", "heading"]
"""What a stretch of a document is: a word of the question, or what its language makes of it."""


class RowsAround(NamedTuple):
    """What a row stands among, as far as the sentence above its ledger needs it."""

    chunks: int
    """Of the whole store."""
    first: Mapping[int, tuple[str, ...]]
    """The phrases of the question that each of the first rows holds, by rank; empty where rows are documents."""
    df: Mapping[str, int]
    """How many chunks hold each phrase of the question."""
    held: tuple[str, ...] = ()
    """The phrases of the question that the row holds."""
    above: Hit | None = None
    """The row right above."""
    held_above: tuple[str, ...] = ()
    of_documents: bool = False
    """Rows are documents."""


class Ledger(NamedTuple):
    """The result of a ledger: what `recall explain CHUNK --json` says under `explanation`, and the rows around it."""

    view: ExplanationView
    around: RowsAround | None = None


class Comparison(NamedTuple):
    """Two chunks side by side: what `recall explain A --vs B --json` says under `explanation`."""

    view: ExplanationView


class Funnel(NamedTuple):
    """What `recall trace --json` says under `trace`."""

    view: TraceView


class FixOffer(NamedTuple):
    """One thing that brings in what is missed, as the workbench can do it. Fields that change nothing are empty."""

    kind: str
    change: str
    command: str
    doubt: str = ""
    """The next smaller change, which would not do."""
    proof: str = ""
    """Where the target stands with it."""
    text: str | None = None
    filter: str | None = None
    settings: Tweaks = MappingProxyType({})
    k: int | None = None
    budget_tokens: int | None = None
    pin: str = ""


class Missing(NamedTuple):
    """What `recall whynot --json` says under `whynot`, of the list, or of the context where the list has it."""

    view: WhyNotView
    in_list: bool
    """The list shows it, so that the context was asked."""
    remedies: tuple[FixOffer, ...] = ()
    k: int | None = None
    """How many rows the list may have; None where nothing bounds it."""


class LineMark(NamedTuple):
    """A stretch of a line, in its code points."""

    start: int
    end: int
    kind: MarkKind


class PassageLine(NamedTuple):
    """A line of a document. offset: of its first code point in the document."""

    number: int
    offset: int
    text: str
    marks: tuple[LineMark, ...]


class Stretch(NamedTuple):
    """A chunk by its place in the document."""

    id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    tokens: int
    place: str | None = None
    """Where the file has it, where its lines are not the file's; of a record for all of it."""


class DocumentPassage(NamedTuple):
    """A document around one of its chunks. from_start, to_end: nothing is left out on that side."""

    path: str
    chunk_id: str
    lines: tuple[PassageLine, ...]
    chunks: tuple[Stretch, ...]
    from_start: bool
    to_end: bool


class Paths(NamedTuple):
    """Paths of documents that hold every typed word. are_all: False where there are more of them."""

    paths: tuple[str, ...]
    are_all: bool


# What is wanted.


def chunk_of(session: Session) -> str:
    """The id of the selected chunk, or ""."""
    return (
        session.results.hit.chunk.id
        if session.results.hit is not None and session.results.hit.chunk is not None
        else ""
    )


def short(chunk_id: str) -> str:
    """As many digits of an id as a person has to see, and a command to be given."""
    return chunk_id[:DIGITS]


def ledger_analysis(session: Session) -> Analysis | None:
    """The analysis that takes the selected hit's score apart."""
    return Analysis("ledger", chunk) if (chunk := chunk_of(session)) else None


def passage_analysis(session: Session) -> Analysis | None:
    """The analysis that reads the document around the selected hit."""
    plan = session.results.answer.plan if session.results.answer else None
    return Analysis("passage", chunk, (plan and plan.lexical) or "") if (chunk := chunk_of(session)) else None


def whynot_analysis(session: Session) -> Analysis | None:
    """The analysis that looks for what is missed. Its context depends on the budget, and on what is pinned to it."""
    if not session.results.sought or session.results.answer is None:
        return None
    return Analysis(
        "whynot",
        session.results.sought,
        " ".join([str(session.context.budget_tokens), *session.context.pins, *session.context.drops]),
    )


def funnel_analysis(session: Session) -> Analysis | None:
    """The analysis that counts rows from the store to the context."""
    return Analysis("funnel", str(session.context.budget_tokens)) if session.results.answer is not None else None


def other_hit(session: Session) -> Hit | None:
    """What the selected hit is compared with: the marked one, else the one above it; the first, the one below."""
    chunk, marked, selected = chunk_of(session), session.results.marked, session.results.selected
    if marked is not None and marked.chunk is not None and marked.chunk.id != chunk:
        return marked
    grouping = session.results.grouping
    place = grouping.place(selected)
    other = session.results.hits.get(grouping.row(place - 1 if place else 1))
    return other if other is not None and other.chunk is not None else None


def compare_analysis(session: Session) -> Analysis | None:
    """The analysis that compares the selected hit with the other one."""
    chunk, other = chunk_of(session), other_hit(session)
    if not chunk or other is None or other.chunk is None or other.chunk.id == chunk:
        return None
    answer = session.results.answer
    return None if answer is None or answer.pool is None else Analysis("compare", chunk, other.chunk.id)


_ANALYSES = {
    "ledger": (ledger_analysis, passage_analysis),
    "passage": (passage_analysis,),
    "whynot": (whynot_analysis,),
    "funnel": (funnel_analysis,),
    "compare": (compare_analysis,),
}


def wants(session: Session) -> Iterator[Analysis]:
    """What is to be found out for the view in front."""
    if session.results.picking is not None:
        yield Analysis("paths", session.results.picking)
    if not is_seen(session, "explain"):
        return
    for analysis_of in _ANALYSES[session.view]:
        if (analysis := analysis_of(session)) is not None:
            yield analysis


# What a person does.


def turned_to(session: Session, view: View) -> Session:
    """The session with the explain pane in front, at this tab."""
    return focused(session, "explain")._replace(view=view)


def stepped_view(session: Session, tabs: int) -> Session:
    """The session that many tabs further, round the ends."""
    return session._replace(view=VIEWS[(VIEWS.index(session.view) + tabs) % len(VIEWS)])


def sought_after(session: Session, target: str) -> Session:
    """The session at the tab that says why the target is not there."""
    fresh = session._replace(results=session.results._replace(sought=target), cursors={**session.cursors, "fixes": 0})
    return turned_to(fresh, "whynot")


def marked_hit(session: Session) -> Session:
    """The session with the selected hit marked, to compare others with it; marking it again takes the mark off."""
    hit: Hit | None = session.results.hit
    if hit is None or hit.chunk is None:
        return session
    was = session.results.marked.chunk.id if session.results.marked and session.results.marked.chunk else ""
    return session._replace(results=session.results._replace(marked=None if was == hit.chunk.id else hit))
