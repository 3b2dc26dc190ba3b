"""The thread that answers the newest question: its rows, its context, its rank lines, and what completion asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core import evaluate, rql
from recall_core.config import load
from recall_core.errors import ConfigError, Interrupted, Outdated, RecallError
from recall_core.evaluate.measures import retrieval
from recall_core.types import Hit
from recall_tui.state.chart import DEPTH, chart_of
from recall_tui.state.completion import Lookup, LookupResult
from recall_tui.state.events import (
    Answered,
    Charted,
    Cited,
    Crashed,
    Failed,
    Fetched,
    Learned,
    Reweighed,
    StoreOpened,
    Unread,
    Unusable,
    Waits,
)
from recall_tui.state.records import Packing
from recall_tui.state.requests import QueryRequest
from recall_tui.state.weighing import is_hybrid, why_no_lines
from recall_tui.threads import Clock, Post, ranking
from recall_tui.threads.ranking import (
    States,
    among,
    before_of,
    matched_in,
    ranks_among,
    ranks_of,
    repacked,
    rows_at,
    rows_of,
    states_of,
)

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.retrieve.plan import Plan


class Progressed(NamedTuple):
    """What the query thread has made true so far. An answer outlives newer questions that have none."""

    states: States
    """Of the files of this question; a new one looks at them anew."""
    generation: int = 0
    question: int = 0
    answer: Answer | None = None
    fixed: tuple[str, ...] = ()
    plain: Answer | None = None
    """The same question with the candidates that the saved settings find, where those that are moved find others."""
    ranks: Mapping[int, int] = {}
    """Under the saved settings, by position in the pool; empty while those hold."""
    rows: Sequence[int] = ()
    """Those that were fetched last."""
    passages: Mapping[str, PassageView | None] = {}
    """Of the rows that were seen of this question, by chunk.id: what a weight does changes none."""
    packing: Packing | None = None
    charted: tuple[str, ...] = ()
    """The settings whose chart was sent: all that a chart depends on besides the pool."""


class Written(NamedTuple):
    """What shows that others have written."""

    changes: int = -1
    generation: int = 0
    judged: str = ""


def learned(recall: Recall, lookup: Lookup) -> Learned:
    """The keys or the values that begin so, the most frequent first."""
    vocabulary = recall.store.vocabulary(rql.complete.SUGGESTIONS)
    field, prefix = lookup
    known = vocabulary.keys(prefix) if field is None else vocabulary.values(field, prefix)
    return Learned(lookup, LookupResult(tuple(known), len(known) < rql.complete.SUGGESTIONS))


LOOK_SECONDS = 2.0  # a writer's batches are at most that far apart, so two equal looks mean that it has come to rest


WARM_CHUNKS = 20_000
"""Above, vectors take longer to load than a person who only looks in should wait for."""
WARM_QUESTIONS = 2
"""The second one of a state of the store reads its vectors into memory."""
_WARM_WORDS = "recall"
_OWN_EMBEDDERS = ("local", "hash")


class QueryThread:
    """Answers the newest request. The mailbox holds one: a newer request replaces an older, and aborts its search."""

    def __init__(
        self,
        opener: Callable[[], Recall],
        post: Post,
        clock: Clock,
        set_aside: Callable[[bool], None] = lambda _is_aside: None,
    ) -> None:
        """set_aside: have the other threads close the store and open it no more, or let them."""
        self._opener = opener
        self._set_aside = set_aside
        self._post = post
        self._clock = clock
        self._changed = threading.Condition()
        self._request: QueryRequest | None = None
        self._closing = False
        self._recall: Recall | None = None
        self._warmed: Recall | None = None
        self._asking = 0
        self._progress = Progressed({})
        self._told = self._looked = Written()
        self._settings: tuple[int, int] | None = None
        """What tells the settings that were read from those that someone writes afterwards."""
        self._thread = threading.Thread(target=self._live, name="recall-query", daemon=True)

    def start(self) -> None:
        """Open the store and begin to listen."""
        self._thread.start()

    def submit(self, request: QueryRequest) -> None:
        """Make this the newest request; never waits for the store."""
        with self._changed:
            self._request = request
            if self._asking < request.generation or (
                request.is_given_up and request.question != self._progress.question
            ):
                self._abort()
            self._changed.notify()

    def stop(self, timeout: float = 2.0) -> None:
        """Abort what runs, close the store and end; waits at most `timeout` seconds."""
        with self._changed:
            self._closing = True
            self._abort()
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _abort(self) -> None:
        # Under the lock the thread cannot take a new request, so the interrupt meets the old search or nothing.
        if self._recall is not None and self._asking > 0:
            self._recall.interrupt()

    def _live(self) -> None:
        is_another = False
        try:
            while not self._closing:
                with self._opener() as recall:
                    self._set_aside(False)
                    opened, self._settings = (
                        self._tell(recall, is_altered=is_another),
                        _written_at(recall.engine.toml),
                    )
                    upgrade = recall.store.upgrade
                    self._post(opened._replace(config=recall.config, toml=recall.engine.toml, upgrade=upgrade))
                    self._say_what_waits(recall)
                    self._serve_all(recall)
                    is_another = True
        except RecallError as error:
            self._post(Unusable(error))
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _warm(self, recall: Recall, request: QueryRequest) -> None:
        """Load the model, NumPy and the vectors of a small store before the first question needs them, once.

        Asks nothing of a server: only with an embedder of this machine, and without a reranker.
        """
        is_own = recall.config.embedding in _OWN_EMBEDDERS and not recall.config.rerank
        if self._warmed is recall or not is_own or recall.store.info().chunks > WARM_CHUNKS:
            return
        self._warmed = recall
        with suppress(RecallError):  # the first question reports it
            for _ in range(WARM_QUESTIONS):
                if not self._has_newer():
                    recall.engine.answer(ranking.understood(recall, request))

    def _serve_all(self, recall: Recall) -> None:
        """Answer until the end, or until another file stands in the store's place: then its answers begin anew."""
        self._recall = recall
        while (request := self._take(recall)) is not None:
            if recall.store.is_replaced():
                self._again(request)
                self._let_go()
                recall.store.leave()
                return
            try:
                self._read_settings(recall)
                self._serve(recall, request)
            except Interrupted:
                self._again(request)
            except Outdated:
                self._progress = Progressed({})
                self._again(request)
            except RecallError as error:
                self._progress = self._progress._replace(generation=request.generation, question=request.question)
                self._post(Failed(request.question, error))
            finally:
                with self._changed:
                    self._asking = 0

    def _take(self, recall: Recall) -> QueryRequest | None:
        while not self._is_called():
            if self._look(recall):
                self._let_go()
                return None
        with self._changed:
            request, self._request = self._request, None
            if self._closing or request is None:
                self._recall = None
                return None
            self._asking = request.generation
            return request

    def _is_called(self) -> bool:
        """Wait for a request or the end; False when neither has come for a while."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closing or self._request is not None, LOOK_SECONDS)

    def _look(self, recall: Recall) -> bool:
        """Say so when someone else has written, once that is over; True when another store stands here by now.

        A store that cannot be read is for a question.
        """
        try:
            if recall.store.is_replaced():
                recall.store.leave()  # before another program opens the file that stands here now
                return recall.store.is_there()
            before, self._looked = self._looked, self._written(recall)
            if self._looked == before:
                recall.store.fold(wait_ms=0)  # whoever wrote could not while this thread was reading
            if self._looked == before and self._looked != self._told:
                self._post(self._tell(recall, is_altered=self._looked[1:] != self._told[1:]))
            self._read_settings(recall)
        except RecallError:
            return False
        return False

    def _read_settings(self, recall: Recall) -> None:
        """Take over what someone has written into recall.toml; what cannot be read is told once, no more."""
        settings = _written_at(recall.engine.toml)
        if settings is None or settings == self._settings:
            return
        try:
            config, info = load(recall.engine.toml), recall.store.info()
        except ConfigError as error:
            self._post(Unread(error))
        else:
            recall.engine.config = config
            self._post(StoreOpened(info, config, recall.engine.toml))
            self._say_what_waits(recall)
        self._settings = settings

    def _say_what_waits(self, recall: Recall) -> None:
        if (error := recall.engine.untrusted()) is not None:
            self._post(Waits(error))

    def _tell(self, recall: Recall, *, is_altered: bool = False) -> StoreOpened:
        """What there is to say of the store; from then on it is known."""
        before, self._looked = self._told, Written()  # those of another connection mean nothing to this one
        self._told = self._looked = self._written(recall)
        is_written, judged = self._told.changes != before.changes, self._told.judged if is_altered else ""
        return StoreOpened(recall.store.info(), is_altered=is_altered, judged=judged, is_written=is_written)

    def _written(self, recall: Recall) -> Written:
        """It is read anew only once something was committed."""
        changes = recall.store.changes()
        if changes == self._looked.changes:
            return self._looked
        return Written(changes, recall.store.generation(), evaluate.judgements.digest(recall.store))

    def _let_go(self) -> None:
        """Nothing runs in the store that is about to be closed, and what it answered is no more.

        Were another connection to it left, SQLite would give the next one its log, which stands there no longer.
        """
        self._set_aside(True)
        self._progress, self._told = Progressed({}), Written()
        with self._changed:
            self._recall, self._asking = None, 0

    def _again(self, request: QueryRequest) -> None:
        """Put an interrupted request back, unless a newer one stands there: an abort can arrive a step late."""
        with self._changed:
            self._request = self._request or request

    def _serve(self, recall: Recall, request: QueryRequest) -> None:
        for lookup in request.lookups:
            self._post(learned(recall, lookup))
        if not request.text.strip():
            self._progress = Progressed({}, request.generation, request.question)
            self._warm(recall, request._replace(text=_WARM_WORDS, filter=""))
        elif request.question != self._progress.question and request.is_given_up:
            self._progress = self._progress._replace(generation=request.generation, question=request.question)
        elif request.question != self._progress.question:
            self._answer(recall, request)
        elif request.generation != self._progress.generation and self._progress.answer is not None:
            self._weigh(recall, request, self._progress.answer)
        answer = self._progress.answer
        if answer is None:
            return
        if (rows := rows_at(answer, request.window, is_grouped=request.is_grouped)) != self._progress.rows:
            self._fetch(recall, request, answer, rows)
        seen = rows_at(answer, request.seen, is_grouped=request.is_grouped)
        seen_rows = rows_of(recall, answer, seen)
        if passages := self._cite(recall, answer, seen_rows):
            cited = {at: hit for at, hit in seen_rows.items() if hit.chunk and hit.chunk.id in passages}
            self._post(Cited(request.question, passages, matched_in(cited, passages, answer, recall.store)))
        if request.packing != self._progress.packing and not self._has_newer():
            self._post(repacked(recall, answer, request))
            self._progress = self._progress._replace(packing=request.packing)
        self._draw_lines(request, answer)

    def _answer(self, recall: Recall, request: QueryRequest) -> None:
        ranking.take_over(recall, request.saved)
        plain = ranking.understood(recall, request)
        plan = ranking.moved(recall, plain, request)
        before = self._progress.answer
        with recall.store.reading():
            answer = recall.engine.answer(plan)
            kept, self._progress = self._progress, Progressed({}, answer=answer, fixed=ranking.fixed(plain))
            try:
                rows, states = self._read(recall, request, answer, plain)
                seen = rows_at(answer, request.seen, is_grouped=request.is_grouped)
                passages = self._cite(recall, answer, among(rows, seen))
            except RecallError:
                self._progress = kept  # what is on the screen still; an abort leaves this one to be asked again
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
                with_words=ranking.rows_with_words(answer),
            )
        )
        self._progress = self._progress._replace(generation=request.generation, question=request.question)
        if before is None or before.generation != answer.generation:
            self._post(self._tell(recall))

    def _weigh(self, recall: Recall, request: QueryRequest, answer: Answer) -> None:
        """Rank the same pool again under the settings that are asked for."""
        ranking.take_over(recall, request.saved)
        plain, plan = recall.engine.replan(answer.plan), ranking.moved(recall, answer.plan, request)
        answer = ranking.weighed(recall, answer, plan)
        self._progress = self._progress._replace(answer=answer, packing=None)
        rows, states = self._read(recall, request, answer, plain)
        before = before_of(answer, rows, self._progress.ranks)
        seen = rows_at(answer, request.seen, is_grouped=request.is_grouped)
        passages = self._cite(recall, answer, among(rows, seen))
        matched = matched_in(rows, self._progress.passages, answer, recall.store)
        self._post(
            Reweighed(
                generation=request.generation,
                answer=answer,
                hits=rows,
                states=states,
                plain=plain.config,
                before=before,
                matched=matched,
                passages=passages,
                with_words=ranking.rows_with_words(answer),
            )
        )
        self._progress = self._progress._replace(generation=request.generation)

    def _read(
        self, recall: Recall, request: QueryRequest, answer: Answer, plain: Plan
    ) -> tuple[dict[int, Hit], dict[str, State]]:
        """The rows of the window with their files' states; the ranks under the saved settings are at hand then."""
        ranks = self._saved_ranks(recall, answer, plain) if answer.plan.config != plain.config else {}
        wanted = rows_at(answer, request.window, is_grouped=request.is_grouped)
        rows = rows_of(recall, answer, wanted)
        states = states_of(recall, rows, self._progress.states)
        self._progress = self._progress._replace(rows=wanted, ranks=ranks)
        return rows, states

    def _saved_ranks(self, recall: Recall, answer: Answer, plain: Plan) -> dict[int, int]:
        """By position in the answer's pool. Other candidates are searched for once, not at every weight."""
        if retrieval(plain.config) == retrieval(answer.plan.config):
            return ranks_of(ranking.weighed(recall, answer, plain))
        known = self._progress.plain
        if known is None or retrieval(known.plan.config) != retrieval(plain.config):
            known = recall.engine.answer(plain)
        else:
            known = ranking.weighed(recall, known, plain)
        self._progress = self._progress._replace(plain=known)
        return ranks_among(answer, known)

    def _fetch(self, recall: Recall, request: QueryRequest, answer: Answer, wanted: Sequence[int]) -> None:
        rows = rows_of(recall, answer, wanted)
        before = before_of(answer, rows, self._progress.ranks)
        states = states_of(recall, rows, self._progress.states)
        matched = matched_in(rows, self._progress.passages, answer, recall.store)
        self._post(Fetched(request.generation, rows, states, before, matched))
        self._progress = self._progress._replace(rows=wanted)

    def _cite(self, recall: Recall, answer: Answer, rows: Mapping[int, Hit]) -> dict[str, PassageView]:
        """The passages of those of these rows that have none yet."""
        known = self._progress.passages
        hits = [hit for hit in rows.values() if hit.chunk is not None and hit.chunk.id not in known]
        if not hits:
            return {}
        found = zip(hits, recall.engine.passages(answer, hits), strict=True)
        fresh = {hit.chunk.id: passage for hit, passage in found if hit.chunk is not None}
        self._progress = self._progress._replace(passages={**known, **fresh})
        return {chunk_id: passage for chunk_id, passage in fresh.items() if passage is not None}

    def _draw_lines(self, request: QueryRequest, answer: Answer) -> None:
        """Look at every weight, last of all and once for each pool and scale."""
        config, pool = answer.plan.config, answer.pool
        limit, copies = answer.plan.limit, answer.copies
        scale = (config.fusion, config.normalize, str(config.rrf_k))
        drawn = (str(request.question), *scale, str(min(limit, DEPTH)), str(copies is None))
        if pool is None or not is_hybrid(answer) or why_no_lines(answer) or drawn == self._progress.charted:
            return
        if not self._has_newer():
            texts = None if copies is None else copies.text_numbers
            self._post(Charted(request.question, chart_of(pool, config, limit=limit, texts=texts)))
            self._progress = self._progress._replace(charted=drawn)

    def _has_newer(self) -> bool:
        with self._changed:
            return self._request is not None or self._closing


def _written_at(toml: Path) -> tuple[int, int] | None:
    """When the file was written, and its size; None where there is none to be seen."""
    try:
        status = toml.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
