"""The answer for the screen: its rows, their passages and files, its context, and its rank lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from recall_core import api, retrieve, rql
from recall_core.config import Config, by_key
from recall_core.errors import RecallError
from recall_core.evaluate.measures import RETRIEVAL, retrieval
from recall_core.text import counter
from recall_core.types import Hit
from recall_tui.state.events import Answered, Charted, Cited, Fetched, Learned, Repacked, Reweighed
from recall_tui.state.packing import to_pack
from recall_tui.state.records import Lookup, LookupResult, Packing, Waiting, cite_row
from recall_tui.state.session import grouping_in, list_range
from recall_tui.state.transitions import QueryRequest
from recall_tui.state.tuning import DEPTH, chart_of
from recall_tui.state.weighing import KEYS, is_hybrid, why_no_lines
from recall_tui.threads import Clock, Post

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.retrieve.plan import Plan
    from recall_core.store.port import Store
    from recall_tui.state.events import Ranks, Spans

WARM_CHUNKS = 20_000
"""Largest store whose vectors are loaded before the first question. Larger ones take too long."""
WARM_QUESTIONS = 2
"""The second question on a state of the store loads its vectors into memory."""
_WARM_WORDS = "recall"
_OWN_EMBEDDERS = ("local", "hash")
States = dict[str, "State | None"]
"""By doc.id, None if the file did not change since it was read. Grows as rows are fetched."""


class Progressed(NamedTuple):
    """The answer that the screen already shows. An answer stays while newer questions have none."""

    states: States
    """States of the files of this question. A new question checks them again."""
    generation: int = 0
    question: int = 0
    answer: Answer | None = None
    fixed: tuple[str, ...] = ()
    plain: Answer | None = None
    """The same question under the saved settings, if these find other candidates."""
    ranks: Mapping[int, int] = {}
    """Ranks under the saved settings, by position in the pool. Empty while these apply."""
    rows: Sequence[int] = ()
    """The rows fetched last."""
    passages: Mapping[str, PassageView | None] = {}
    """Passages of the rows seen for this question, by chunk.id. Weights do not change them."""
    packing: Packing | None = None
    charted: tuple[str, ...] = ()
    """The settings of the chart that was sent: everything it depends on besides the pool."""


class Answering:
    """Answers requests in an open store. Each time, it sends only what the screen lacks."""

    def __init__(
        self,
        recall: Recall,
        post: Post,
        clock: Clock,
        has_newer: Callable[[], bool],
        report_store: Callable[[], None],
    ) -> None:
        """has_newer: another request waits. report_store: report another state of the store."""
        self._recall = recall
        self._post = post
        self._clock = clock
        self._has_newer = has_newer
        self._report_store = report_store
        self._progress = Progressed({})
        self._is_warm = False

    @property
    def question(self) -> int:
        """Number of the answered question."""
        return self._progress.question

    def forget(self) -> None:
        """Start over, as for a newly opened store."""
        self._progress = Progressed({})

    def mark_served(self, request: QueryRequest) -> None:
        """Mark the request as served. The answer of an older question stays."""
        self._progress = self._progress._replace(generation=request.generation, question=request.question)

    def serve(self, request: QueryRequest) -> None:
        """Send what the request wants and the screen lacks. Raises Interrupted, Outdated, RecallError."""
        for field, prefix in request.lookups:  # the most frequent keys or values with the prefix
            vocabulary = self._recall.store.vocabulary(rql.complete.SUGGESTIONS)
            known = vocabulary.keys(prefix) if field is None else vocabulary.values(field, prefix)
            result = LookupResult(tuple(known), len(known) < rql.complete.SUGGESTIONS)
            self._post(Learned(Lookup(field, prefix), result))
        if not request.text.strip():
            self._progress = Progressed({}, request.generation, request.question)
            self._warm(request._replace(text=_WARM_WORDS, filter=""))
        elif request.question != self.question and request.is_given_up:
            self.mark_served(request)
        elif request.question != self.question:
            self._answer(request)
        elif request.generation != self._progress.generation and self._progress.answer is not None:
            self._weigh(request, self._progress.answer)
        answer = self._progress.answer
        if answer is None:
            return
        if (rows := rows_at(answer, request.window, is_grouped=request.is_grouped)) != self._progress.rows:
            hits = rows_of(self._recall, answer, rows)
            before = before_of(answer, hits, self._progress.ranks)
            states = states_of(self._recall, hits, self._progress.states)
            matched = matched_in(hits, self._progress.passages, answer, self._recall.store)
            self._post(Fetched(request.generation, hits, states, before, matched))
            self._progress = self._progress._replace(rows=rows)
        seen_rows = rows_of(self._recall, answer, rows_at(answer, request.seen, is_grouped=request.is_grouped))
        if passages := self._cite(answer, seen_rows):
            fresh = {at: hit for at, hit in seen_rows.items() if hit.chunk and hit.chunk.id in passages}
            self._post(Cited(request.question, passages, matched_in(fresh, passages, answer, self._recall.store)))
        if request.packing != self._progress.packing and not self._has_newer():
            self._post(repack(self._recall, answer, request))
            self._progress = self._progress._replace(packing=request.packing)
        self._draw_lines(request, answer)

    def _warm(self, request: QueryRequest) -> None:
        """Load the model, NumPy and the vectors of a small store before the first question, once.

        Does nothing if that would call a server: only for a local embedder without a reranker.
        """
        recall = self._recall
        is_own = recall.config.embedding in _OWN_EMBEDDERS and not recall.config.rerank
        if self._is_warm or not is_own or recall.store.info().chunks > WARM_CHUNKS:
            return
        self._is_warm = True
        with suppress(RecallError):  # the first question reports it
            for _ in range(WARM_QUESTIONS):
                if not self._has_newer():
                    recall.engine.answer(plan_saved(recall, request))

    def _answer(self, request: QueryRequest) -> None:
        recall = self._recall
        take_over(recall, request.saved)
        plain = plan_saved(recall, request)
        plan = plan_moved(recall, plain, request)
        before = self._progress.answer
        with recall.store.reading():
            answer = recall.engine.answer(plan)
            progress, self._progress = self._progress, Progressed({}, answer=answer, fixed=keys_fixed_by(plain))
            try:
                rows, states = self._read(request, answer, plain)
                seen = rows_at(answer, request.seen, is_grouped=request.is_grouped)
                passages = self._cite(answer, {row: rows[row] for row in seen if row in rows})
            except RecallError:
                self._progress = progress  # the old answer stays; the aborted question is asked again
                raise
        self._post(
            Answered(
                generation=request.generation,
                answer=answer,
                hits=rows,
                states=states,
                at=self._clock(),
                plain=plain.config,
                fixed=self._progress.fixed,
                before=before_of(answer, rows, self._progress.ranks),
                question=request.question,
                matched=matched_in(rows, passages, answer, recall.store),
                passages=passages,
                with_words=retrieve.answer.rows_with_words(answer),
            )
        )
        self.mark_served(request)
        if before is None or before.generation != answer.generation:
            self._report_store()

    def _weigh(self, request: QueryRequest, answer: Answer) -> None:
        """Rank the same pool under the requested settings."""
        recall = self._recall
        take_over(recall, request.saved)
        plain, plan = recall.engine.replan(answer.plan), plan_moved(recall, answer.plan, request)
        answer = weigh(recall, answer, plan)
        self._progress = self._progress._replace(answer=answer, packing=None)
        rows, states = self._read(request, answer, plain)
        before = before_of(answer, rows, self._progress.ranks)
        seen = rows_at(answer, request.seen, is_grouped=request.is_grouped)
        passages = self._cite(answer, {row: rows[row] for row in seen if row in rows})
        self._post(
            Reweighed(
                generation=request.generation,
                answer=answer,
                hits=rows,
                states=states,
                plain=plain.config,
                before=before,
                matched=matched_in(rows, self._progress.passages, answer, recall.store),
                passages=passages,
                with_words=retrieve.answer.rows_with_words(answer),
            )
        )
        self._progress = self._progress._replace(generation=request.generation)

    def _read(self, request: QueryRequest, answer: Answer, plain: Plan) -> tuple[dict[int, Hit], dict[str, State]]:
        """Return the rows of the window with their files' states, and store the ranks under the saved settings."""
        ranks = self._saved_ranks(answer, plain) if answer.plan.config != plain.config else {}
        places = rows_at(answer, request.window, is_grouped=request.is_grouped)
        rows = rows_of(self._recall, answer, places)
        states = states_of(self._recall, rows, self._progress.states)
        self._progress = self._progress._replace(rows=places, ranks=ranks)
        return rows, states

    def _saved_ranks(self, answer: Answer, plain: Plan) -> dict[int, int]:
        """Return these ranks by position in the pool. Other candidates are searched once, not at every weight."""
        if retrieval(plain.config) == retrieval(answer.plan.config):
            return ranks_of(weigh(self._recall, answer, plain))
        known = self._progress.plain
        if known is None or retrieval(known.plan.config) != retrieval(plain.config):
            known = self._recall.engine.answer(plain)
        else:
            known = weigh(self._recall, known, plain)
        self._progress = self._progress._replace(plain=known)
        return ranks_among(answer, known)

    def _cite(self, answer: Answer, rows: Mapping[int, Hit]) -> dict[str, PassageView]:
        """Return the passages of the rows that have none yet."""
        known = self._progress.passages
        hits = [hit for hit in rows.values() if hit.chunk is not None and hit.chunk.id not in known]
        if not hits:
            return {}
        pairs = zip(hits, self._recall.engine.passages(answer, hits), strict=True)
        fresh = {hit.chunk.id: passage for hit, passage in pairs if hit.chunk is not None}
        self._progress = self._progress._replace(passages={**known, **fresh})
        return {chunk_id: passage for chunk_id, passage in fresh.items() if passage is not None}

    def _draw_lines(self, request: QueryRequest, answer: Answer) -> None:
        """Send the chart over all weights, after everything else and once for each pool and scale."""
        config, pool = answer.plan.config, answer.pool
        limit, copies = answer.plan.limit, answer.copies
        scale = (config.fusion, config.normalize, str(config.rrf_k))
        charted = (str(request.question), *scale, str(min(limit, DEPTH)), str(copies is None))
        if pool is None or not is_hybrid(answer) or why_no_lines(answer) or charted == self._progress.charted:
            return
        if not self._has_newer():
            texts = None if copies is None else copies.text_numbers
            self._post(Charted(request.question, chart_of(pool, config, limit=limit, texts=texts)))
            self._progress = self._progress._replace(charted=charted)


def take_over(recall: Recall, saved: Config | None, keys: Iterable[str] = KEYS) -> None:
    """Use these settings, which the workbench read from recall.toml."""
    if saved is not None:
        recall.engine.config = recall.config._replace(**{key: getattr(saved, key) for key in keys})


def weigh(recall: Recall, answer: Answer, plan: Plan) -> Answer:
    """Rank the candidates of an answer under another plan of its question. The candidates stay the same."""
    retrieval_settings = {key: getattr(answer.plan.config, key) for key in RETRIEVAL}
    paged = answer.plan._replace(limit=plan.limit, offset=plan.offset, is_capped=plan.is_capped)
    return recall.engine.weigh(answer._replace(plan=paged), plan.config._replace(**retrieval_settings))


def plan_saved(recall: Recall, request: QueryRequest) -> Plan:
    """Plan the requested question under the saved settings."""
    return recall.engine.plan(request.text, api.recall.Ask(filter=request.filter or None))


def plan_moved(recall: Recall, plan: Plan, request: QueryRequest) -> Plan:
    """Plan a question under the changed settings."""
    return recall.engine.replan(plan, api.recall.Ask(settings=request.settings, k=request.k))


def keys_fixed_by(plan: Plan) -> tuple[str, ...]:
    """Return the settings that a query's OPTION clause sets, by key."""
    return () if plan.query is None else tuple(key for key in by_key(dict(plan.query.options)) if key in KEYS)


def rows_at(answer: Answer, window: tuple[int, int], *, is_grouped: bool) -> list[int]:
    """Return the rows at the places of a window (first and end), by rank from 0."""
    count = list_range(answer)[1]
    return grouping_in(answer, is_grouped=is_grouped).rows(min(window[0], count), min(window[1], count))


def rows_of(recall: Recall, answer: Answer, rows: Sequence[int]) -> dict[int, Hit]:
    """Fetch these ascending rows and return them by their place in the list."""
    offset = list_range(answer)[0]
    hits: dict[int, Hit] = {}
    for _, run in groupby(enumerate(rows), lambda each: each[1] - each[0]):
        run_rows = [row for _, row in run]
        fetched = recall.engine.hits(answer, offset + run_rows[0], offset + run_rows[-1] + 1)
        hits.update(zip(run_rows, fetched, strict=True))
    return hits


def states_of(recall: Recall, rows: dict[int, Hit], known: States) -> dict[str, State]:
    """Return the states of changed files of these rows, by doc.id. Each file is checked once."""
    documents = list(dict.fromkeys(hit.doc.id for hit in rows.values()))
    if unknown := [each for each in documents if each not in known]:
        changed = retrieve.freshness.stale_documents(unknown, store=recall.store, base=recall.engine.base)
        known.update({each: changed.get(each) for each in unknown})
    return {each: state for each in documents if (state := known[each]) is not None}


def matched_in(
    rows: Mapping[int, Hit], passages: Mapping[str, PassageView | None], answer: Answer, store: Store
) -> dict[str, Spans]:
    """Return the spans of the query's words in the titles and headings of these rows, by text."""
    phrases = tuple(term.text for term in answer.pool.terms) if answer.pool else ()
    texts = {hit.doc.title for hit in rows.values()}
    texts |= {cite_row(hit, passages.get(hit.chunk.id))[1] for hit in rows.values() if hit.chunk}
    ordered = sorted(texts - {""})
    words = store.analyzer
    return {text: tuple(spans) for text in ordered if (spans := words.spans(text, phrases))}


def ranks_of(answer: Answer) -> dict[int, int]:
    """Return the rank of every listed candidate, by its position in the pool."""
    if answer.ranked is None:
        return {}
    return {position: rank for rank, position in enumerate(answer.ranked.order[: answer.total], start=1)}


def ranks_among(answer: Answer, other: Answer) -> dict[int, int]:
    """Return the rank of each of this answer's candidates in another answer, by position in this pool."""
    if answer.pool is None or other.pool is None:
        return {}
    rowids = {other.pool.keys[position].rowid: rank for position, rank in ranks_of(other).items()}
    return {at: rowids[key.rowid] for at, key in enumerate(answer.pool.keys) if key.rowid in rowids}


def before_of(answer: Answer, rows: Iterable[int], ranks: Mapping[int, int]) -> Ranks:
    """Return the rank of each of these rows in another ranking of the same pool."""
    if answer.ranked is None or not ranks:
        return {}
    offset, order = list_range(answer)[0], answer.ranked.order
    return {row: ranks.get(order[offset + row]) for row in rows}


def repack(recall: Recall, answer: Answer, request: QueryRequest) -> Repacked:
    """Pack the answer under the requested budget. Pins and drops that are not candidates wait."""
    budget_tokens, pins, drops = request.packing
    answer = to_pack(answer, is_k_moved=request.is_k_moved)
    waiting = _waiting(recall, answer, (*pins, *drops)) if pins or drops else ()
    absent = {each.chunk_id for each in waiting}
    pins, drops = (tuple(each for each in ids if each not in absent) for ids in (pins, drops))
    packed = recall.engine.pack(answer, api.recall.Pack(budget_tokens=budget_tokens, pins=pins, drops=drops))
    count = counter(packed.counter).count
    block_tokens = tuple(count(block.text) for block in packed.blocks)
    return Repacked(request.generation, packed, block_tokens, Packing(budget_tokens, pins, drops), waiting)


def _waiting(recall: Recall, answer: Answer, chunk_ids: tuple[str, ...]) -> tuple[Waiting, ...]:
    """Return the chunks that left the store or cannot be packed for this answer."""
    store = recall.store
    waiting = []
    with store.reading():
        answer = retrieve.answer.packable(answer, store)
        start, stop = retrieve.answer.candidate_range(answer)
        if answer.pool is not None and answer.ranked is not None:
            keys = answer.pool.keys
            positions = answer.ranked.order[start:stop]
            if answer.copies is not None:
                positions = [each for position in positions for each in answer.copies.alike(position)]
            inside = {keys[position].rowid for position in positions}
        else:
            inside = _chunks_without_scores(recall, answer, start, stop)
        for chunk_id in chunk_ids:
            if ("chunk", chunk_id) not in store.resolve(chunk_id):
                waiting.append(Waiting(chunk_id, ""))
            elif (rowid := store.rowid("chunk", chunk_id)) not in inside:
                waiting.append(Waiting(chunk_id, store.fetch([rowid])[0].doc.path))
    return tuple(waiting)


def _chunks_without_scores(recall: Recall, answer: Answer, start: int, stop: int) -> set[int]:
    """Return the chunks of rows without scores. For a row that is a document, return its first chunk."""
    plan, store = answer.plan, recall.store
    rows = retrieve.copies.list_rows(plan, store, start=start, stop=stop)
    if plan.table != "doc":
        return {chunk for _, chunk in rows if chunk is not None}
    documents = store.documents([doc for doc, _ in rows]).values()
    firsts = [chunks[0] for each in documents if (chunks := store.chunks_of(each.id))]
    return {row.rowid for row in firsts}
