"""Changes to a query that are tried out, and bounds that show without a search that a change cannot help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recall_core.config import LEAST_WEIGHT, Settings
from recall_core.explain.sweep import Interval
from recall_core.explain.whynot.question import KeptAsker, Question, is_present, position_in, rowids_in
from recall_core.explain.whynot.target import Sought
from recall_core.rank.bm25 import bound, contributions
from recall_core.rank.fuse import signal_ranks
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import lexical_query
from recall_core.types import LexicalQuery, LiteralQuery, Phrase, Pool, TermStat

K_MOST = 200
"""The most rows that a fix asks for and a proof covers. A person can still look through them."""


class Start(NamedTuple):
    """A query with its answer, and the changes that led to it. Further changes start here."""

    question: Question
    answer: Answer
    kinds: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    settings: Settings = MappingProxyType({})
    size: float = 0


class Change(NamedTuple):
    """A change to try. smaller: the next smaller change, and its description."""

    kind: str
    description: str
    question: Question
    settings: Settings
    size: float
    smaller: Question | None = None
    smaller_description: str | None = None
    weights: Interval | None = None


def try_change(asker: KeptAsker, change: Change, target_chunk: Sought) -> Change | None:
    """Return the change if the changed query shows the target and the next smaller change does not."""
    if not is_present(asker, change.question, target_chunk):
        return None
    if change.smaller is not None and is_present(asker, change.smaller, target_chunk):
        return None
    return change


def from_start(
    start: Start,
    kind: str,
    description: str,
    question: Question,
    *,
    size: float,
    settings: Settings = MappingProxyType({}),
    smaller: tuple[Question, str] | None = None,
    weights: Interval | None = None,
) -> Change:
    """Return the change to `question`, including the earlier changes of the start."""
    return Change(
        "+".join([*start.kinds, kind]),
        "; ".join([*start.descriptions, description]),
        question,
        {**start.settings, **settings},
        start.size + size,
        None if smaller is None else smaller[0],
        None if smaller is None else smaller[1],
        weights,
    )


def move_start(
    start: Start,
    kind: str,
    description: str,
    question: Question,
    answer: Answer,
    *,
    size: float,
    settings: Settings = MappingProxyType({}),
) -> Start:
    """Return the start that follows after this change."""
    return Start(
        question,
        answer,
        (*start.kinds, kind),
        (*start.descriptions, description),
        {**start.settings, **settings},
        start.size + size,
    )


_EFFORT = {
    kind: effort
    for effort, kinds in enumerate(
        (
            "filter collapse min_score min_cosine match stop_words rerank sparse_recall",
            "k offset budget diversity",
            "mode exact pool",
            "spelling",
            "name",
            "weight sparse",
            "term",
        )
    )
    for kind in kinds.split()
}
"""The order in which a person tries changes: drop a filter or a flag, ask for more, use another mode, correct a word,
add a word they may know, move a weight, add a word that only readers of the text know."""


def by_effort(changes: Iterable[Change]) -> list[Change]:
    """Return the changes in the order in which a person tries them.

    A change of several kinds sorts by its last kind. Ties keep their order.
    """
    return sorted(changes, key=lambda change: max(_EFFORT[kind] for kind in change.kind.split("+")))


Values: TypeAlias = NDArray[np.float64]
_MOST_ROWS = 1_000
"""The longest list for which the bounds below are computed. For longer lists each change is searched."""

_SPARE_ROWS = 100  # spare leaders, because some fall behind when a word is added
_MARGIN = 1e-5  # more than rounding stage values to six decimals can move a score


class _Rivals(NamedTuple):
    """Candidates that may keep the target off the page."""

    positions: list[int]
    texts: NDArray[np.int64] | None
    """The text number of each; None if every row counts alone."""

    def count(self, ahead: NDArray[np.bool_]) -> int:
        """Return how many of these are ahead. Rows with the same text count once."""
        return int(np.count_nonzero(ahead)) if self.texts is None else len(np.unique(self.texts[ahead]))


class _RawValues(NamedTuple):
    """The target's raw values; 0 for none."""

    lexical: float
    semantic: float


def is_led_in_deeper_pools(asker: KeptAsker, start: Start, target_chunk: Sought) -> bool:
    """Return True if no deeper pool shows the target, because enough candidates lead it in every pool."""
    answer, plan = start.answer, start.answer.plan
    pool, needed = answer.pool, _rows_that_hide(start)
    if pool is None or needed is None or pool.index_kind != "exact":
        return False
    query, _ = lexical_query(plan, asker.store)
    if query is not None and not _is_plain(query):
        return False
    own = _raw_values(asker, pool, plan, target_chunk)
    if own is None or (_is_near(plan, own.semantic) and _is_short(asker, plan, target_chunk)):
        return False
    rivals = _rivals(asker, answer, target_chunk, range(len(pool.keys)))
    lexical = _column(pool.lexical, rivals.positions)
    semantic = _column(pool.semantic, rivals.positions)
    ahead = _scores(plan, lexical, semantic, pool.bound) > _score(plan, own, pool.bound) + _MARGIN
    return rivals.count(ahead) >= needed


class Lead:
    """The best candidates other than the target, to check whether an added word changes who leads."""

    def __init__(
        self, asker: KeptAsker, start: Start, target_chunk: Sought, words: Sequence[TermStat], needed: int
    ) -> None:
        pool, ranked = start.answer.pool, start.answer.ranked
        assert pool is not None  # noqa: S101 - the caller checked
        assert ranked is not None  # noqa: S101 - a pool is always ranked
        self._asker, self._plan, self._pool, self._needed = asker, start.answer.plan, pool, needed
        self._own_rowid = target_chunk.row.rowid
        self._query, _ = lexical_query(self._plan, asker.store)
        rowids = rowids_in(pool)
        best = ranked.order[: 2 * needed + _SPARE_ROWS] if pool.exact else range(len(rowids))
        self._rivals = _rivals(asker, start.answer, target_chunk, best)
        positions = self._rivals.positions
        self._rowids = [rowids[at] for at in positions]
        self._lexical = _column(pool.lexical, positions)
        own = _raw_values(asker, pool, self._plan, target_chunk)
        self._own_lexical = inf if own is None else own.lexical
        self._is_short = _is_short(asker, self._plan, target_chunk)
        self._gains = {word.text: 0.0 for word in words}
        if self._plan.lexical is not None:
            self._look_at(words)

    def stays(self, plan: Plan, word: TermStat, *, instead_of: str = "") -> bool:
        """Return True if enough rows still lead the target after this word is added to the plan.

        instead_of: the query word, found in no row, that the new word replaces; "" to append the new word.
        """
        query, _ = lexical_query(plan, self._asker.store)
        if not self._adds_only(query, word, instead_of):
            return False
        by_words = not self._is_short and self._stays_by_words(plan, word)
        return by_words or self._stays_by_both(plan, query, word)

    def _stays_by_words(self, plan: Plan, word: TermStat) -> bool:
        """Return True if enough rows lead even with cosine 1 for the target and 0 for the others."""
        if plan.lexical is None:
            return False
        own = _RawValues(self._own_lexical + self._gains[word.text], 1.0)
        ahead = self._ahead(plan, word, own, np.zeros(len(self._rowids)))
        return self._is_enough(ahead & ((self._lexical > 0) if self._pool.exact else self._remain(word)))

    def _stays_by_both(self, plan: Plan, query: LexicalQuery | None, word: TermStat) -> bool:
        """Return True if enough rows lead with the cosines of the changed query."""
        vector = self._asker.vector(plan)
        semantic = np.zeros(len(self._rowids) + 1)
        if vector:
            semantic = self._vectors @ np.frombuffer(vector, dtype="<f4").astype(np.float64)
        *others, near = semantic.tolist()
        own = _RawValues(self._own_lexical + self._gains[word.text], near)
        if self._is_short and _is_near(plan, near):
            return False
        if self._is_passed_over(own, np.array(others)):
            return True
        ahead = self._ahead(plan, word, own, np.array(others))
        if self._pool.exact:
            return self._is_enough(ahead if vector else ahead & (self._lexical > 0))
        if not self._is_enough(ahead):
            return False
        return self._is_enough(ahead & self._remain(word)) or self._is_enough(ahead & self._propose(plan, query))

    def _ahead(self, plan: Plan, word: TermStat, own: _RawValues, semantic: Values) -> NDArray[np.bool_]:
        """Return the rows that score higher under the plan with the word, even if they lack the word."""
        config = plan.config._replace(lexical_model=self._pool.lexical_model)
        most = bound((*self._pool.terms, word), config) if plan.lexical is not None else 0.0
        ahead: NDArray[np.bool_] = _scores(plan, self._lexical, semantic, most) > _score(plan, own, most) + _MARGIN
        return ahead

    def _is_enough(self, ahead: NDArray[np.bool_]) -> bool:
        return self._rivals.count(ahead) >= self._needed

    def _is_passed_over(self, own: _RawValues, semantic: Values) -> bool:
        """Return True if a bounded pool leaves out the target: each signal proposes enough other known rows."""
        depth = self._plan.config.pool
        by_words = self._plan.lexical is None or np.count_nonzero(self._lexical > own.lexical + _MARGIN) >= depth
        by_meaning = self._plan.semantic is None or np.count_nonzero(semantic > own.semantic + _MARGIN) >= depth
        is_known = not self._pool.exact and self._pool.index_kind == "exact"
        return is_known and bool(by_words and by_meaning)

    def _look_at(self, words: Sequence[TermStat]) -> None:
        """Store how much each of these words adds to the target's lexical value."""
        query = LiteralQuery("", tuple(self._phrase(word) for word in words))
        found = self._asker.store.occurrences(query, [self._own_rowid])
        config = self._plan.config._replace(lexical_model=self._pool.lexical_model)
        given = contributions(found, self._own_rowid, config)
        self._gains |= {word.text: value for word, value in zip(words, given, strict=True)}

    def _phrase(self, word: TermStat) -> Phrase:
        words = self._asker.store.analyzer
        return words.each(words.tokens(word.text))[0]

    def _adds_only(self, query: LexicalQuery | None, word: TermStat, instead_of: str) -> bool:
        """Return True if the query keeps its words and gains only this one."""
        before = self._query
        if not (isinstance(before, LiteralQuery) and isinstance(query, LiteralQuery)):
            return before is None and query is None and self._pool.exact
        added = self._phrase(word)
        phrases = (*before.phrases, added)
        if instead_of:
            phrases = tuple(added if each.text == instead_of else each for each in before.phrases)
        is_known = self._pool.exact or (_is_plain(before) and self._pool.lexical_model == "fts5")
        return is_known and query.match == "any" and query.phrases == phrases and phrases.count(added) == 1

    def _remain(self, word: TermStat) -> NDArray[np.bool_]:
        """Return the rows that stay in a bounded lexical pool even if every row with the new word passes them."""
        ranks = signal_ranks(self._pool.lexical) if self._pool.lexical else ()
        own = np.array([ranks[at] or np.inf for at in self._rivals.positions] if ranks else [], dtype=np.float64)
        remain: NDArray[np.bool_] = own + word.df <= self._plan.config.pool
        return remain

    def _propose(self, plan: Plan, query: LexicalQuery | None) -> NDArray[np.bool_]:
        """Return the rows in the bounded lexical pool, by running the lexical search."""
        if query is None:
            return np.zeros(len(self._rowids), dtype=np.bool_)
        k, weight = plan.config.pool, plan.config.title_weight
        proposed = self._asker.store.lexical(query, where=plan.where, k=k, title_weight=weight)
        return np.array([rowid in proposed for rowid in self._rowids])

    @cached_property
    def _vectors(self) -> Values:
        """The vectors of the rows, then of the target; zeros for rows without one."""
        if self._plan.semantic is None:
            return np.zeros((len(self._rowids) + 1, 0))
        wanted = [*self._rowids, self._own_rowid]
        held = self._asker.store.vectors(wanted)
        dimension = self._asker.store.info().dimension
        none = bytes(4 * dimension)
        rows = b"".join([held.get(rowid, none) for rowid in wanted])
        return np.frombuffer(rows, dtype="<f4").reshape(-1, dimension).astype(np.float64)


def lead(asker: KeptAsker, start: Start, target_chunk: Sought, words: Sequence[TermStat]) -> Lead | None:
    """Return the bounds for these words; None if each word needs a search."""
    pool, needed = start.answer.pool, _rows_that_hide(start)
    if pool is None or needed is None or len(pool.keys) <= needed or not words:
        return None
    return Lead(asker, start, target_chunk, words, needed)


def _rivals(asker: KeptAsker, answer: Answer, target_chunk: Sought, positions: Sequence[int]) -> _Rivals:
    """Return the candidates at these positions whose text differs from the target's."""
    assert answer.pool is not None  # noqa: S101 - the caller checked
    rowids, own = rowids_in(answer.pool), target_chunk.row.rowid
    if answer.copies is None:
        return _Rivals([at for at in positions if rowids[at] != own], None)
    alike = {own, *asker.store.twins([own]).get(own, ())}
    others = [at for at in positions if rowids[at] not in alike]
    return _Rivals(others, np.array([answer.copies.text_numbers[at] for at in others], dtype=np.int64))


def _rows_that_hide(start: Start) -> int | None:
    """Return how many rows with higher scores keep a chunk off the page; None if scores alone do not decide.

    If the list shows each text once, this counts texts: rows with the same text hide the chunk as one row.
    """
    plan, config = start.answer.plan, start.answer.plan.config
    if start.answer.pool is not None and start.answer.pool.lexical_model == "ts_rank":
        return None  # no word has a score that could be added
    is_by_score = plan.table == "chunk" and not plan.order and start.question.budget_tokens is None
    if config.min_cosine:
        return None  # a dropped row hides nothing
    last = max(plan.offset + plan.limit, config.rerank_rows if config.rerank else 0)
    is_steady = config.fusion == "weighted" and config.normalize == "bound"  # one score never depends on another
    return last if is_by_score and is_steady and last <= _MOST_ROWS else None


def _is_plain(query: LexicalQuery) -> bool:
    """Return True if the bounded list contains the best rows. With phrases it also contains other rows."""
    return isinstance(query, LiteralQuery) and not query.long_phrases


def _is_short(asker: KeptAsker, plan: Plan, target_chunk: Sought) -> bool:
    """Return True if sparse-document recall may bring in the target when it is near, regardless of its rank."""
    most = plan.config.sparse_chunk_threshold
    return (
        plan.config.sparse_recall
        and asker.store.chunk_counts([target_chunk.doc_rowid])[target_chunk.doc_rowid] <= most
    )


def _is_near(plan: Plan, cosine: float) -> bool:
    return 1.0 - cosine <= plan.config.sparse_distance_ceiling + _MARGIN


def _raw_values(asker: KeptAsker, pool: Pool, plan: Plan, target_chunk: Sought) -> _RawValues | None:
    """Return the target's raw values in a pool that contains it; None if only such a pool can tell."""
    rowid = target_chunk.row.rowid
    at = position_in(pool, target_chunk)
    if at is not None:
        return _RawValues(*(float(raw[at] or 0.0) if raw else 0.0 for raw in (pool.lexical, pool.semantic)))
    lexical = semantic = 0.0
    query, _ = lexical_query(plan, asker.store)
    if query is not None and not query.is_empty:
        if pool.lexical_model != "fts5":
            return None
        weight = plan.config.title_weight
        lexical = asker.store.lexical_scores(query, [rowid], title_weight=weight).get(rowid, 0.0)
    if vector := asker.vector(plan):
        semantic = asker.store.cosines(vector, where=None, rowids=[rowid]).get(rowid, 0.0)
    return _RawValues(lexical, semantic)


def _column(raw: Sequence[float | None], positions: Sequence[int]) -> Values:
    return np.array([raw[at] or 0.0 for at in positions] if raw else [0.0] * len(positions), dtype=np.float64)


def _scores(plan: Plan, lexical: Values, semantic: Values, most: float) -> Values:
    """Return the scores of weighted fusion, before stage values are rounded. most: the query's bound."""
    shares = np.minimum(1.0, lexical / most) if most > 0 else np.zeros(len(lexical))
    words = plan.config.bm25_weight if plan.lexical is not None else 0.0
    meaning = plan.config.vector_weight if plan.semantic is not None else 0.0
    if words + meaning < LEAST_WEIGHT:
        words, meaning = float(plan.lexical is not None), float(plan.semantic is not None)
    scores: Values = (words * shares + meaning * np.clip(semantic, 0.0, 1.0)) / (words + meaning)
    return scores


def _score(plan: Plan, own: _RawValues, most: float) -> float:
    return float(_scores(plan, np.array([own.lexical]), np.array([own.semantic]), most)[0])
