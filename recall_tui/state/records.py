"""The six records of a session: query, results, weights, context, judgements and store."""

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
"""How long a result is valid, by kind.

answer: for one ranking.
question: for one question at every weight.
store: until documents or judgements change.
file: until anything is written.
"""
LASTING: tuple[Kind, ...] = ("grades", "board")
"""Kinds whose newest result stays visible until the next one."""


class Analysis(NamedTuple):
    """One analysis. target and other: ids, paths or texts, depending on the kind."""

    kind: Kind
    target: str = ""
    other: str = ""


Stamp: TypeAlias = tuple[int, ...]
"""The counters that a result depends on. A result with another stamp is not shown."""
TASKS_AT = 2  # index of the number of finished tasks in a stamp


class Lookup(NamedTuple):
    """Values of a field that begin with a prefix, or metadata keys if there is no field."""

    field: Field | None
    prefix: str


class LookupResult(NamedTuple):
    """The store's answer to a lookup, in its order. is_whole: nothing was cut."""

    known: tuple[KnownValue, ...]
    is_whole: bool


class KnownNames:
    """A vocabulary of finished lookups. `missing` collects the lookups that it could not answer."""

    def __init__(self, entries: Mapping[Lookup, LookupResult]) -> None:
        self._entries = entries
        self.missing: list[Lookup] = []

    def keys(self, prefix: str) -> tuple[KnownValue, ...]:
        """Return the known metadata keys that begin with the prefix."""
        return self._find(Lookup(None, prefix))

    def values(self, field: Field, prefix: str) -> tuple[KnownValue, ...]:
        """Return the known values of the field that begin with the prefix."""
        return self._find(Lookup(field, prefix))

    def _find(self, lookup: Lookup) -> tuple[KnownValue, ...]:
        """Return the entry, or the part of the longest shorter prefix's entry, which must be whole."""
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
"""Settings that differ from their saved values, by key."""
FIRST_WINDOW = 100  # rows fetched with an answer, before the list reports what it shows
FIRST_SEEN = 20  # of these, rows fetched with their passages


def cite_row(hit: Hit, passage: PassageView | None) -> tuple[str, str]:
    """Return the text after a row's path, `:12` or `#turn=3`, and its heading. Both are "" without a chunk.

    They belong to the row's passage, or to its chunk until the passage is known.
    """
    path, chunk = hit.doc.path, hit.chunk
    if passage is not None:
        return behind(path, passage["line_start"], place=passage.get("place")), passage.get("heading", "")
    return ("", "") if chunk is None else (behind(path, chunk.line_start, place=chunk.place), chunk.heading or "")


class Packing(NamedTuple):
    """The packing of a context. pins, drops: ids of chunks that must or must not be in it."""

    budget_tokens: int
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """A pinned or excluded chunk that is not in the answer. path: "" if it is not in the store either."""

    chunk_id: str
    path: str


class QuestionChange(NamedTuple):
    """A question that replaced another together with settings: text and filter of each."""

    before: tuple[str, str]
    after: tuple[str, str]


class Moved(NamedTuple):
    """The settings that differ from the saved ones."""

    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    asked: QuestionChange | None = None
    """In undo and redo: the question that changed together with the next step."""


Want = Literal["in", "out"]


class PinnedChunk(NamedTuple):
    """A target of one question: a chunk required among its first rows, or excluded from them."""

    question: str
    want: Want
    chunk_id: str
    place: str
    """The chunk's path and lines, for display."""


class FixState(NamedTuple):
    """Everything that a fix may change."""

    text: str
    filter: str
    moved: Moved
    budget_tokens: int
    pins: tuple[str, ...]
    drops: tuple[str, ...]


class Tried(NamedTuple):
    """An applied fix: the state before and after it."""

    before: FixState
    after: FixState
    change: str = ""
    """Its description."""


class Grading(NamedTuple):
    """A grade that no result includes yet. written: number of finished tasks when it was stored."""

    change: Regrade
    is_undo: bool = False
    written: int | None = None


class QueryTab(NamedTuple):
    """A query in one of several tabs."""

    text: str = ""
    filter: str = ""


class QueryState(NamedTuple):
    """The question: the text, the newest request, and the completions known."""

    text: str = ""
    filter: str = ""
    """Expression that the rows of plain words must satisfy. A query in RQL has its own."""
    generation: int = 0
    """Counts questions and changed settings. Events of an older generation are ignored."""
    question: int = 0
    """Counts only questions."""
    asked_at: float = 0.0
    """Seconds on the caller's clock when the newest question was asked."""
    busy: bool = False
    lingers: int = -1
    """Number of the question that takes so long that the user may cancel it."""
    given_up: int = -1
    """Number of the question that was cancelled."""
    trouble: RecallError | None = None
    """Why the newest question has no answer. An older answer is stale then."""
    is_settled: bool = False
    """The user is done with the text: ran it, moved on from it, or left."""
    kept: PastQuestion = PastQuestion("")
    """The question added to the history last."""
    kept_at: int = 0
    """Number of that question."""
    entries: Mapping[Lookup, LookupResult] = {}
    """Completions known for the store's current state."""
    lookups: tuple[Lookup, ...] = ()
    """Lookups that completion still needs."""
    tabs: tuple[QueryTab, ...] = ()
    """The queries in tabs, each as it was left; () for a single one."""
    tab: int = 0
    """Index of the current tab."""


class ResultsState(NamedTuple):
    """The rows of an answer, the selected row, and the search for a missing document."""

    answer: Answer | None = None
    answered: int = 0
    """Number of the question that `answer` belongs to."""
    ranked_at: int = 0
    """The generation that `answer` belongs to. Settings changed since are not in its order yet."""
    took_ms: float = 0.0
    """Time from the question to its first rows."""
    window: tuple[int, int] = (0, FIRST_WINDOW)
    """Rows that the list needs, by places on the screen: first and end."""
    seen: tuple[int, int] = (0, FIRST_SEEN)
    """Of these, the rows on the screen, which have their passages."""
    hits: Mapping[int, Hit] = {}
    """The fetched rows by their place in the list, from 0."""
    hit: Hit | None = None
    """The selected hit, or the one before it until it is fetched."""
    states: Mapping[str, State] = {}
    """State of the files of fetched rows that changed since they were read, by doc.id."""
    matched: Mapping[str, tuple[tuple[int, int], ...]] = {}
    """Spans of the query's words in the titles and headings of the fetched rows, by their text."""
    passages: Mapping[str, PassageView] = {}
    """Passages of the rows seen for this question, by chunk.id. Rows without a score have none."""
    with_words: int | None = None
    """Number of rows in the whole ranking with a word of the query. None unless both signals were asked."""
    is_grouped: bool = False
    """The rows are grouped by document, if possible."""
    grouping: Grouping = BY_RANK
    """The order in which the rows of `answer` are listed."""
    selected: int = 0
    displaced: int = 0
    """Counts how often the selected document left the list, so that another one replaced it."""
    marked: Hit | None = None
    """The hit to compare the selected one with."""
    sought: str = ""
    """The missing target: a path, lines, an id or a text, as in `recall whynot`."""
    picking: str | None = None
    """The text typed to find it, while the prompt is open."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The first ranks at every weight. See `recall_core.explain.sweep` for its pieces.

    Charts are compared by identity, so that drawings can be cached by chart.
    """

    fusion: str
    normalize: str
    rrf_k: int
    """The scale it was drawn on. It is invalid on another scale."""
    weights: tuple[Fraction, ...]
    """Break points, with 0 and 1."""
    orders: tuple[tuple[int, ...], ...]
    """Positions in the pool, best first: at each break point and between each two, in turn."""
    same_order: tuple[Interval, ...]
    """The longest intervals without any change, ascending."""
    same_members: tuple[Interval, ...]
    """The same, but the order may change."""


class WeightsState(NamedTuple):
    """The settings: the saved ones, the changes to them, and their effect on the rows."""

    saved: Config | None = None
    """The settings in recall.toml."""
    toml: Path | None = None
    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    """Rows asked for. None leaves it to the question: its LIMIT, or 50 for plain words."""
    undo: tuple[Moved, ...] = ()
    """States before the newest changes, for undo."""
    redo: tuple[Moved, ...] = ()
    """Undone states, newest last."""
    plain: Config | None = None
    """The settings of the answer's question without tweaks."""
    fixed: tuple[str, ...] = ()
    """Settings that the answer's question sets itself."""
    saved_ranks: Mapping[int, int | None] = {}
    chart: Chart | None = None
    targets: tuple[PinnedChunk, ...] = ()
    """Chunks required among the first rows of a question, or excluded from them."""
    is_of_all: bool = False
    """The curve is the mean of all judged queries, not that of the question."""
    is_beside: bool = False
    """The pane shows the rows under the saved and the changed settings side by side."""
    applied: tuple[Tried, ...] = ()
    """The applied fixes, newest last. `fixes_in_force` returns those that still apply."""


class ContextState(NamedTuple):
    """The budget, the pinned and excluded chunks, and the packed context."""

    budget_tokens: int = 2_000
    pins: tuple[str, ...] = ()
    """Ids of chunks that the user pinned to the context."""
    drops: tuple[str, ...] = ()
    """Ids of chunks that the user excluded from it."""
    packed: Packed | None = None
    block_tokens: tuple[int, ...] = ()
    packing: Packing | None = None
    """The packing of `packed`, with the pins and drops among its candidates."""
    packed_at: int = 0
    """The generation that `packed` belongs to."""
    waiting: tuple[Waiting, ...] = ()
    """Pins and drops that are not among its candidates. They wait for a question that has them."""
    unfolded: str = ""
    """Id of a chunk whose block is shown in full."""
    details: bool = False
    """The secondary figures are shown."""


class JudgeState(NamedTuple):
    """The grades given in this session."""

    gradings: tuple[Grading, ...] = ()
    """Grades that no result includes yet, newest last."""
    regrades: tuple[Regrade, ...] = ()
    """Changes that can be undone, newest last."""
    is_grading: bool = False
    """Letters grade."""


class StoreState(NamedTuple):
    """The store, its ingest run, and its tasks."""

    info: StoreInfo | None = None
    is_storeless: bool = False  # no store can be opened
    run: Run | None = None
    watching: bool = False
    """The store follows its folders."""
    is_behind: bool = False
    """A change in them was not read yet, because no run started or a run failed."""
    synced: Mapping[str, str] = {}
    """Time of day at which this workbench last synced each folder."""
    task: str = ""
    """The name of the running task."""
    task_progress: Progress | None = None
    tasks_done: int = 0
    """Counts finished tasks: judgements and repairs change the results of analyses."""
    open_folders: tuple[str, ...] = ()
    """Open folders in the tree of documents, each with a trailing slash."""
    writes: int = 0
    """Counts writes by any program. Some change only the file."""
