"""Everything that the threads tell the session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recall_core.config import Config
from recall_core.errors import ConfigError, RecallError
from recall_core.types import Hit, Packed, Progress, StoreInfo
from recall_tui.state.records import Analysis, Lookup, LookupResult, Stamp
from recall_tui.state.runs import Meter

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.store import IngestView
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_tui.state.records import Chart, Packing, Waiting

Ranks: TypeAlias = Mapping[int, int | None]
"""By row of the list: its rank under the saved settings, None where it has none. Empty while those hold."""
Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Half-open ranges of code points, in order."""


class StoreOpened(NamedTuple):
    """The store is open, or has changed."""

    info: StoreInfo
    config: Config | None = None
    """The saved settings; None when only the figures changed."""
    toml: Path | None = None
    """Where they are saved."""
    is_altered: bool = False
    """It has other documents or judgements than were last reported, and has come to rest."""
    judged: str = ""
    """The digest of what is judged in it."""
    is_written: bool = False
    """Something was written since the last report, if only the same again."""
    upgrade: str = ""
    """What opening it has changed, where it was of an earlier version."""


class Answered(NamedTuple):
    """A question has its ranking and the first rows."""

    generation: int
    answer: Answer
    hits: Mapping[int, Hit]
    states: Mapping[str, State]
    at: float
    plain: Config | None = None
    """The settings of the question when no weight is moved."""
    fixed: tuple[str, ...] = ()
    """The settings that the question itself names, so that moving them changes nothing."""
    before: Mapping[int, int | None] = {}
    question: int = 0
    """A weight that was moved meanwhile makes the generation old, and the question stay."""
    matched: Mapping[str, Spans] = {}
    """Where words of the question are in titles and headings, by their text."""
    passages: Mapping[str, PassageView] = {}
    """Of the rows that are seen, by chunk.id."""
    with_words: int | None = None
    """Rows of the whole ranking that hold a word of the question."""


class Reweighed(NamedTuple):
    """The same pool under other settings."""

    generation: int
    answer: Answer
    hits: Mapping[int, Hit]
    states: Mapping[str, State]
    plain: Config
    before: Ranks
    matched: Mapping[str, Spans] = {}
    passages: Mapping[str, PassageView] = {}
    with_words: int | None = None


class Fetched(NamedTuple):
    """Rows that the list asked for."""

    generation: int
    hits: Mapping[int, Hit]
    states: Mapping[str, State]
    before: Mapping[int, int | None] = {}
    matched: Mapping[str, Spans] = {}


class Cited(NamedTuple):
    """The passages of rows that came into view, by chunk.id. matched: as in `Answered`, of their headings."""

    question: int
    passages: Mapping[str, PassageView]
    matched: Mapping[str, Spans]


class Charted(NamedTuple):
    """Every weight of the answer's two signals has been looked at. A weight that moved meanwhile changes nothing."""

    question: int
    chart: Chart


class Repacked(NamedTuple):
    """The context of an answer at one budget. block_tokens: tokens of each block's text, without its header.

    packing: as it was done, without what waits.  waiting: pins and drops that are not among the candidates.
    """

    generation: int
    packed: Packed
    block_tokens: tuple[int, ...]
    packing: Packing | None = None
    waiting: tuple[Waiting, ...] = ()


class Failed(NamedTuple):
    """A question that has no answer, however often a weight was moved since it was asked."""

    question: int
    error: RecallError


class Learned(NamedTuple):
    """What the store said to a lookup."""

    lookup: Lookup
    entry: LookupResult


class Unread(NamedTuple):
    """recall.toml has changed and cannot be read; the settings that were read before hold."""

    error: ConfigError


class Waits(NamedTuple):
    """What recall.toml says waits to be accepted; until then questions go by words alone."""

    error: ConfigError


class Unusable(NamedTuple):
    """The store cannot be opened."""

    error: RecallError


class Advanced(NamedTuple):
    """An ingest run moved on."""

    meter: Meter


class Held(NamedTuple):
    """An ingest run pauses, or goes on."""

    is_held: bool


class Changed(NamedTuple):
    """Something below a watched folder has changed and come to rest; 0 places: the watch has begun."""

    places: int


class Unwatched(NamedTuple):
    """The folders cannot be watched any longer."""

    error: RecallError


class Ended(NamedTuple):
    """An ingest run is over: with its figures, with an error, or with neither when it was cancelled."""

    view: IngestView | None
    error: RecallError | None


class AnalysisDone(NamedTuple):
    """An analysis is done: what it found, or why it cannot be done."""

    analysis: Analysis
    stamp: Stamp
    result: object


class AnalysisMoved(NamedTuple):
    """A long analysis has done so many of its steps."""

    analysis: Analysis
    done: int
    total: int


class TaskDone(NamedTuple):
    """A task is done. summary: what it did, in a line; error: why it did not."""

    name: str
    summary: str
    error: RecallError | None = None


class TaskMoved(NamedTuple):
    """A task under way has come this far."""

    name: str
    progress: Progress


class Ran(NamedTuple):
    """A command line is done: its exit code, and what it wrote."""

    line: str
    code: int
    stdout: str
    stderr: str


class Crashed(NamedTuple):
    """A defect stopped a worker thread."""

    error: BaseException


OfQuestion: TypeAlias = Answered | Failed | Charted | Cited
OfGeneration: TypeAlias = Reweighed | Fetched | Repacked
Event: TypeAlias = (
    OfQuestion
    | OfGeneration
    | StoreOpened
    | Learned
    | Unread
    | Waits
    | Unusable
    | Advanced
    | Held
    | Ended
    | Changed
    | Unwatched
    | AnalysisDone
    | AnalysisMoved
    | TaskDone
    | TaskMoved
    | Ran
    | Crashed
)
