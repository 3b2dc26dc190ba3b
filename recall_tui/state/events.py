"""The events that threads send to the session."""

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
"""Rank under the saved settings by row of the list, None without one. Empty while the saved settings apply."""
Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Half-open ranges of code points, in order."""


class StoreOpened(NamedTuple):
    """The store was opened, or it changed."""

    info: StoreInfo
    config: Config | None = None
    """The saved settings, or None if only the figures changed."""
    toml: Path | None = None
    """The file of the saved settings."""
    is_altered: bool = False
    """Its documents or judgements differ from the last report, and the writer is idle."""
    judged: str = ""
    """Digest of its judgements."""
    is_written: bool = False
    """Something was written since the last report, even if it is the same again."""
    upgrade: str = ""
    """What opening it changed, if it had an earlier schema."""


class Answered(NamedTuple):
    """A question has its ranking and the first rows."""

    generation: int
    answer: Answer
    hits: Mapping[int, Hit]
    states: Mapping[str, State]
    at: float
    plain: Config | None = None
    """The settings of the question without changed weights."""
    fixed: tuple[str, ...] = ()
    """Settings that the question itself sets, so that changing them has no effect."""
    before: Mapping[int, int | None] = {}
    question: int = 0
    """Number of the question. A changed weight makes only the generation old."""
    matched: Mapping[str, Spans] = {}
    """Spans of the query's words in titles and headings, by their text."""
    passages: Mapping[str, PassageView] = {}
    """Passages of the visible rows, by chunk.id."""
    with_words: int | None = None
    """Number of rows in the whole ranking that contain a word of the query."""


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
    """The passages of newly visible rows, by chunk.id. matched: as in `Answered`, for their headings."""

    question: int
    passages: Mapping[str, PassageView]
    matched: Mapping[str, Spans]


class Charted(NamedTuple):
    """The chart of the answer's two signals over all weights. It stays valid if a weight changed meanwhile."""

    question: int
    chart: Chart


class Repacked(NamedTuple):
    """The context of an answer at one budget.

    block_tokens: tokens of each block's text, without its header.
    packing: as done, without the chunks that wait.
    waiting: pins and drops that are not among the candidates.
    """

    generation: int
    packed: Packed
    block_tokens: tuple[int, ...]
    packing: Packing | None = None
    waiting: tuple[Waiting, ...] = ()


class Failed(NamedTuple):
    """A question has no answer. Weights changed since it was asked do not matter."""

    question: int
    error: RecallError


class Learned(NamedTuple):
    """The store's answer to a lookup."""

    lookup: Lookup
    entry: LookupResult


class Unread(NamedTuple):
    """recall.toml changed and cannot be read. The previous settings still apply."""

    error: ConfigError


class Waits(NamedTuple):
    """Settings in recall.toml wait to be accepted. Until then questions use only the lexical signal."""

    error: ConfigError


class Unusable(NamedTuple):
    """The store cannot be opened."""

    error: RecallError


class Advanced(NamedTuple):
    """An ingest run made progress."""

    meter: Meter


class Held(NamedTuple):
    """An ingest run paused or resumed."""

    is_held: bool


class Changed(NamedTuple):
    """Files changed below a watched folder, and the changes have stopped. places: 0 when the watch starts."""

    places: int


class Unwatched(NamedTuple):
    """The folders cannot be watched any longer."""

    error: RecallError


class Ended(NamedTuple):
    """An ingest run ended: with its figures, with an error, or cancelled without either."""

    view: IngestView | None
    error: RecallError | None


class AnalysisDone(NamedTuple):
    """An analysis is done. result: its result, or the error."""

    analysis: Analysis
    stamp: Stamp
    result: object


class AnalysisMoved(NamedTuple):
    """A long analysis made progress. done, total: steps."""

    analysis: Analysis
    done: int
    total: int


class TaskDone(NamedTuple):
    """A task is done. summary: its result in a line; error: why it failed."""

    name: str
    summary: str
    error: RecallError | None = None


class TaskMoved(NamedTuple):
    """A running task made progress."""

    name: str
    progress: Progress


class Ran(NamedTuple):
    """A command line is done: its exit code and its output."""

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
