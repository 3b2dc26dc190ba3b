"""The six records of a session: what is known of query, results, weights, context, judgements and store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from recall_core.config import Config
from recall_core.errors import RecallError
from recall_core.text import behind
from recall_core.types import Hit, Packed, Progress, StoreInfo
from recall_tui.home.history import PastQuestion
from recall_tui.state.grouping import BY_RANK, Grouping
from recall_tui.state.runs import Run

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.evaluate.judgements import Regrade
    from recall_core.explain.sweep import Interval
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.rql.ast import Field, Value
    from recall_core.rql.complete import KnownValue

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


class Lookup(NamedTuple):
    """Values of a field that begin with a prefix, or, without a field, metadata keys that do."""

    field: Field | None
    prefix: str


class LookupResult(NamedTuple):
    """What the store said to a lookup, in its order. is_whole: nothing was left out."""

    known: tuple[KnownValue, ...]
    is_whole: bool


class KnownNames:
    """A vocabulary of what has been looked up; `missing` gathers what was asked in vain."""

    def __init__(self, entries: Mapping[Lookup, LookupResult]) -> None:
        self._entries = entries
        self.missing: list[Lookup] = []

    def keys(self, prefix: str) -> tuple[KnownValue, ...]:
        """Metadata keys that begin with the prefix, as far as they are known."""
        return self._find(Lookup(None, prefix))

    def values(self, field: Field, prefix: str) -> tuple[KnownValue, ...]:
        """Return values of the field that begin with the prefix, as far as they are known."""
        return self._find(Lookup(field, prefix))

    def _find(self, lookup: Lookup) -> tuple[KnownValue, ...]:
        """Return the entry, or what that of the longest shorter prefix has of it, which must be whole."""
        for length in range(len(lookup.prefix), -1, -1):
            entry = self._entries.get(lookup._replace(prefix=lookup.prefix[:length]))
            if entry is None:
                continue
            if length < len(lookup.prefix) and not entry.is_whole:
                self.missing.append(lookup)
            return tuple(known for known in entry.known if _write(known.value).startswith(lookup.prefix))
        self.missing.append(lookup)
        return ()


def _write(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Tweaks: TypeAlias = Mapping[str, str | float | bool]
"""Settings that are moved away from their saved values, by key."""
FIRST_WINDOW = 100  # rows fetched with an answer, before the list has said what it shows
FIRST_SEEN = 20  # of them those that have their passage at once


def cite_row(hit: Hit, passage: PassageView | None) -> tuple[str, str]:
    """Return what a row has after its path, `:12` or `#turn=3`, and its heading; "" and "" without a chunk.

    They are those of its passage, or of its chunk until the passage is known.
    """
    path, chunk = hit.doc.path, hit.chunk
    if passage is not None:
        return behind(path, passage["line_start"], place=passage.get("place")), passage.get("heading", "")
    return ("", "") if chunk is None else (behind(path, chunk.line_start, place=chunk.place), chunk.heading or "")


class Packing(NamedTuple):
    """How a context is packed. pins, drops: ids of chunks that must be in it, or must not."""

    budget_tokens: int
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """A chunk that is pinned or excluded, and that the question does not have. path: "" once the store has not."""

    chunk_id: str
    path: str


class QuestionChange(NamedTuple):
    """A question that took the place of another in one step with settings: text and filter, of each."""

    before: tuple[str, str]
    after: tuple[str, str]


class Moved(NamedTuple):
    """What a person has moved away from where it is saved."""

    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    asked: QuestionChange | None = None
    """Among what can be undone, or made again: the question that came with the step away from here."""


Want = Literal["in", "out"]


class PinnedChunk(NamedTuple):
    """A target of one question: a chunk that is required among its first rows, or excluded from them."""

    question: str
    want: Want
    chunk_id: str
    place: str
    """The chunk's path and lines, for people."""


class FixState(NamedTuple):
    """All that a fix may change."""

    text: str
    filter: str
    moved: Moved
    budget_tokens: int
    pins: tuple[str, ...]
    drops: tuple[str, ...]


class Tried(NamedTuple):
    """A fix that was tried: what stood before it, and what it made of that."""

    before: FixState
    after: FixState
    change: str = ""
    """What it changes, in words."""


class Grading(NamedTuple):
    """A grade that no result has yet. written: the number of tasks that had ended when it was in the store."""

    change: Regrade
    is_undo: bool = False
    written: int | None = None


class QueryTab(NamedTuple):
    """One of several queries that are kept side by side."""

    text: str = ""
    filter: str = ""


class QueryState(NamedTuple):
    """The question: what is written, what was asked last, and what completion knows."""

    text: str = ""
    filter: str = ""
    """An expression that the rows of plain words have to satisfy; a query in RQL has its own."""
    generation: int = 0
    """Counts questions and moved settings; an event of an older one changes nothing."""
    question: int = 0
    """Counts questions alone."""
    asked_at: float = 0.0
    """Seconds on the caller's clock when the newest question was asked."""
    busy: bool = False
    lingers: int = -1
    """The question that has been under way for so long that it is offered to give it up, counted."""
    given_up: int = -1
    """The question that was given up, counted."""
    trouble: RecallError | None = None
    """Why the newest question has no answer; the older answer is stale then."""
    is_settled: bool = False
    """The person has left the text as it is: ran it, went on from it, or left."""
    kept: PastQuestion = PastQuestion("")
    """The question that went into the history last."""
    kept_at: int = 0
    """Which question that was, counted."""
    entries: Mapping[Lookup, LookupResult] = {}
    """What completion knows of the store as it is."""
    lookups: tuple[Lookup, ...] = ()
    """What completion still wants to know."""
    tabs: tuple[QueryTab, ...] = ()
    """The queries side by side, each as it was left; () while there is but one."""
    tab: int = 0
    """The place of the one that is asked."""


class ResultsState(NamedTuple):
    """The rows of an answer, which one is selected, and what is looked for among them."""

    answer: Answer | None = None
    answered: int = 0
    """The question that `answer` belongs to, counted."""
    ranked_at: int = 0
    """The generation that `answer` belongs to: a setting that has moved since is not in its order yet."""
    took_ms: float = 0.0
    """From the question to its first rows."""
    window: tuple[int, int] = (0, FIRST_WINDOW)
    """Rows the list wants, by their places on the screen: first and end."""
    seen: tuple[int, int] = (0, FIRST_SEEN)
    """Of them those on the screen, which have their passages."""
    hits: Mapping[int, Hit] = {}
    """The fetched rows by their place in the list, from 0."""
    hit: Hit | None = None
    """The selected hit; the one before it until its own has arrived."""
    states: Mapping[str, State] = {}
    """What happened to the file of a fetched row since it was read, by doc.id; nothing happened to the others."""
    matched: Mapping[str, tuple[tuple[int, int], ...]] = {}
    """Where words of the question are in the titles and headings of the fetched rows, by their text."""
    passages: Mapping[str, PassageView] = {}
    """The passages of the rows that were seen of this question, by chunk.id; a row without a score has none."""
    with_words: int | None = None
    """How many rows of the whole ranking hold a word of the question; None unless words and meaning were asked."""
    is_grouped: bool = False
    """The rows are listed below their documents, where they can be."""
    grouping: Grouping = BY_RANK
    """How the rows of `answer` are listed."""
    selected: int = 0
    displaced: int = 0
    """Counts how often another document came under the selection because the one before it left the list."""
    marked: Hit | None = None
    """The hit that the selected one is compared with."""
    sought: str = ""
    """What is missed: a path, lines, an id or a text, as `recall whynot` takes it."""
    picking: str | None = None
    """What has been typed to find it, while that is asked for."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The first ranks at every weight; see `recall_core.explain.sweep` for what a piece is.

    One chart is not compared with another, so that what is drawn of it can be kept by it.
    """

    fusion: str
    normalize: str
    rrf_k: int
    """The scale it was drawn on: on another one it says nothing."""
    weights: tuple[Fraction, ...]
    """Break points, with 0 and 1."""
    orders: tuple[tuple[int, ...], ...]
    """Positions in the pool, best first: at each break point and between each two, in turn."""
    same_order: tuple[Interval, ...]
    """The longest stretches over which nothing changes, ascending."""
    same_members: tuple[Interval, ...]
    """The same where only the order may change."""


class WeightsState(NamedTuple):
    """The settings: those that are saved, what was moved away from them, and what that does to the rows."""

    saved: Config | None = None
    """The settings in recall.toml."""
    toml: Path | None = None
    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    """Rows that are asked for; None leaves it to the question: its LIMIT, or for words the first 50."""
    undo: tuple[Moved, ...] = ()
    """What was moved before the newest change, and before those."""
    redo: tuple[Moved, ...] = ()
    """What was undone, the newest last."""
    plain: Config | None = None
    """The settings of the answer's question without tweaks."""
    fixed: tuple[str, ...] = ()
    """The settings that the answer's question itself decides."""
    saved_ranks: Mapping[int, int | None] = {}
    chart: Chart | None = None
    targets: tuple[PinnedChunk, ...] = ()
    """Chunks that are required among the first rows of a question, or excluded from them."""
    is_of_all: bool = False
    """The curve is the mean of all judged queries, not that of the question."""
    is_beside: bool = False
    """The pane shows the rows under the saved settings next to those under the moved ones."""
    applied: tuple[Tried, ...] = ()
    """The fixes that were tried, the newest last; `standing` gives those that still are."""


class ContextState(NamedTuple):
    """The budget, what is pinned or excluded, and what was packed."""

    budget_tokens: int = 2_000
    pins: tuple[str, ...] = ()
    """Chunks that a person pinned to the context, by id."""
    drops: tuple[str, ...] = ()
    """Chunks that a person excluded from it."""
    packed: Packed | None = None
    block_tokens: tuple[int, ...] = ()
    packing: Packing | None = None
    """How `packed` was packed, with the pins and drops that were among its candidates."""
    packed_at: int = 0
    """The generation that `packed` belongs to."""
    waiting: tuple[Waiting, ...] = ()
    """Pins and drops that were not among its candidates: they wait for a question that has them."""
    unfolded: str = ""
    """The id of a chunk whose block is shown whole."""
    details: bool = False
    """The secondary figures are shown."""


class JudgeState(NamedTuple):
    """The grades that were given here."""

    gradings: tuple[Grading, ...] = ()
    """Grades that were given and that no result has yet, the newest last."""
    regrades: tuple[Regrade, ...] = ()
    """What was graded, the newest last, for an undo."""
    is_grading: bool = False
    """Letters grade."""


class StoreState(NamedTuple):
    """The store, what is read into it, and what is done to it."""

    info: StoreInfo | None = None
    is_storeless: bool = False  # no store can be opened; before the first is open, one may be
    run: Run | None = None
    watching: bool = False
    """The store follows its folders."""
    is_behind: bool = False
    """Something changed in them that no run has begun to read, or that one could not."""
    synced: Mapping[str, str] = {}
    """The time of day at which each folder was last brought up to date by this workbench."""
    task: str = ""
    """What is being done to the store."""
    task_progress: Progress | None = None
    tasks_done: int = 0
    """Counts tasks that ended: judgements and repairs change what analyses find."""
    open_folders: tuple[str, ...] = ()
    """Folders that are open in the tree of documents, each with a slash at its end."""
    writes: int = 0
    """Counts what was seen to be written, by whomever: it may change the file alone."""
