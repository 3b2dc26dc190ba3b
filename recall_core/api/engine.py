"""One store, opened with its settings and its embedder: plan, answer, rank again, fetch hits, pack."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recall_core import embed, explain, ingest, retrieve, rql
from recall_core import store as stores
from recall_core.api.context import packing, with_passage
from recall_core.api.stores import disagreements
from recall_core.config import EMBEDDING, FILE_NAME, WATCH_REST_MS, Config, cut_as, load, override
from recall_core.embed.registry import agrees, embedder_of
from recall_core.embed.trust import AT_HOME, EMBEDDER, RERANKER, FoundSettings
from recall_core.errors import ConfigError, EmbedError, RecallError, StoreError, UsageError
from recall_core.ports import Embedder, Interruptible, Reranker
from recall_core.retrieve import answer as answering
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.plan import Plan, mode_named, plan_rql, plan_words, replan
from recall_core.store.port import Store
from recall_core.text import ESTIMATES
from recall_core.types import Hit, Packed, Pool, Progress, Vector
from recall_core.views import Leaves

if TYPE_CHECKING:
    from threading import Event

    from recall_core.contract.ledger import PassageView
    from recall_core.embed.rescore import VectorKey, VectorMaker
    from recall_core.ingest.watch import Stop
    from recall_core.store.values import RerankVector

Result = TypeVar("Result")


def result_of(steps: Generator[Progress, None, Result]) -> Result:
    """Take every step, and what they come to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


class Engine:
    """One store and what it takes to ask it, for one thread at a time, as class Recall says.

    toml: where its settings stand; by default recall.toml in its folder.  found: the settings as they were found,
    where a person has to accept what they say; otherwise whoever makes this answers for them.
    """

    def __init__(
        self,
        store: Store,
        *,
        config: Config,
        base: Path,
        toml: Path | None = None,
        embedder: Embedder | None = None,
        found: FoundSettings | None = None,
    ) -> None:
        self.store = store
        """Its guard lets in one thread at a time, whatever else uses the same store."""
        self._config = config
        store.memory_mb = config.memory_mb
        self.base = base
        self.toml = toml or base / FILE_NAME
        self.found = found or FoundSettings(config, self.toml, is_vouched=True)
        """The settings as recall.toml has them, and whether what they say may be done."""
        self.is_for_others = False
        """Whether who asks may be no user of this machine: nothing that a question names is opened or loaded."""
        self.goes_on = False
        """Whether questions go by words alone while embedder or reranker wait to be accepted."""
        self._may_embed = False
        self._watched: Event | None = None
        self._cited: tuple[Pool | None, dict[str, PassageView | None]] = (None, {})
        """The passages of the last answer by chunk: a context needs them before and after it is packed."""
        self._embedder = embedder
        self._rerankers: dict[str, Reranker] = {}
        self._kept: dict[str, StoredVectors] = {}
        """Of the rerankers that are embedders, by name."""

    def beside(self, config: Config | None = None, *, embedder: Embedder | None = None) -> Engine:
        """Another one of the same store, with settings and an embedder of its own."""
        config = config or self.config
        other = Engine(self.store, config=config, base=self.base, toml=self.toml, embedder=embedder, found=self.found)
        other.goes_on, other.is_for_others = self.goes_on, self.is_for_others
        if all(getattr(config, key) == getattr(self._config, key) for key in EMBEDDING):
            other._rerankers, other._kept = self._rerankers, self._kept
        return other

    def once(self) -> Engine:
        """Another one of the same store, whose embedder reads a question once however often it is asked in a row."""
        return self.beside(embedder=embed.registry.Once(self.embedder))

    @property
    def config(self) -> Config:
        """The settings; with others of who makes the vectors, embedder and rerankers are made anew."""
        return self._config

    @config.setter
    def config(self, config: Config) -> None:
        with self.store.guard.turn():
            if any(getattr(config, key) != getattr(self._config, key) for key in EMBEDDING):
                self._embedder, self._rerankers, self._kept = None, {}, {}
            self._config = config
            self.store.memory_mb = config.memory_mb
            self.found, self._may_embed = self.found._replace(config=config), False

    @property
    def embedder(self) -> Embedder:
        """The embedder that made this store's vectors, which a reembed may have changed since the last question.

        Raises EmbedError; ConfigError `untrusted_config`.
        """
        identity = self.store.embedder()
        if self._embedder is None or self._embedder.identity != identity:
            if not agrees(self.usable, identity):
                fresh = load(self.toml)  # a reembed in another process has written it
                makers = {key: getattr(fresh, key) for key in EMBEDDING}
                found = self.found.config._replace(**makers)
                self.config = self.config._replace(**makers)
                self.found = self.found._replace(config=found)
            try:
                self._embedder = embedder_of(identity, self.usable)
            except EmbedError:
                self.found.expect(EMBEDDER)
                raise
        return self._embedder

    def use_embedder(self, embedder: Embedder) -> None:
        """Ask this one, which others may use, too, as long as it is the one that made the store's vectors."""
        self._embedder = embedder

    def take_over(self, found: FoundSettings) -> None:
        """Go by these settings from now on."""
        self.config, self.found = found.config, found

    @property
    def usable(self) -> Config:
        """The settings, with `hash` in the place of an embedder that waits to be accepted."""
        self._may_embed = self._may_embed or self.found.refusal(EMBEDDER) is None
        return self.config if self._may_embed else self.config._replace(**AT_HOME)

    def untrusted(self) -> ConfigError | None:
        """Why a question by meaning, or one that is reranked, would be refused by what the settings say; or None."""
        return self.found.refusal(EMBEDDER, RERANKER)

    def reranker(self, config: Config) -> Reranker:
        """The reranker that these settings name; kept, because loading one takes time."""
        if config.rerank not in self._rerankers:

            def keep(maker: VectorMaker) -> StoredVectors:
                return self._kept.setdefault(config.rerank, StoredVectors(self.store, maker))

            self.found.expect_reranker(config.rerank)
            reranker = embed.rescore.new_reranker(config.rerank, self.config, loaded=self._embedder, keep=keep)
            self._rerankers[config.rerank] = reranker
        return self._rerankers[config.rerank]

    def vectors_of_reranker(self, config: Config) -> StoredVectors | None:
        """Those of the reranker that these settings name; None for a plug-in's, which has none."""
        self.reranker(config)
        return self._kept.get(config.rerank)

    @property
    def has_vectors_to_keep(self) -> bool:
        """Return True if `keep_vectors` has anything to do."""
        return self.config.rerank_keep and any(kept.waiting for kept in self._kept.values())

    def keep_vectors(self) -> None:
        """Put what rerankers have made into the store, where that waits for nobody; the next question does, too."""
        if self.config.rerank_keep:
            for kept in self._kept.values():
                kept.keep(megabytes=self.config.rerank_mb)

    def close(self) -> None:
        """Let go of the file, as often as one likes. Raises UsageError `wrong_thread` in the midst of any call.

        What rerankers have made is kept before, where that waits for nobody.
        """
        with self.store.guard.last_turn():
            try:
                with suppress(RecallError):  # what is not kept is made again
                    self.keep_vectors()
            finally:
                self._kept.clear()
                self.store.close()

    def interrupt(self) -> None:
        """From any thread: end a watch, and abort the statement that runs; its call raises Interrupted.

        So does one that asks an embedder's server, or else the next one that does: it can meet only one.
        Where no statement runs, or all is closed, there is none to abort.
        """
        self.store.guard.expect_own_process()
        if self._watched is not None:
            self._watched.set()
        self.store.interrupt()
        embedder: object = self._embedder  # the other thread may take another one meanwhile
        if isinstance(embedder, Interruptible):
            embedder.interrupt()

    def changes(self, stop: Stop | None = None, *, rest_ms: int = WATCH_REST_MS) -> Iterator[tuple[str, ...]]:
        """The places below the remembered roots that changed, as they change; sync after each answer.

        Only this call reads the store: waiting for the next answer keeps no thread out.
        """
        if stop is None:
            from threading import Event  # noqa: PLC0415 - a search never needs it

            stop = self._watched = Event()
        return ingest.watch.changes(
            self.store.roots(), base=self.base, config=self.config, stop=stop, rest_ms=rest_ms
        )

    # A question in steps, for those who rank and pack the same pool again.

    def plan(self, text: str, ask: Ask = Ask()) -> Plan:
        """A question understood: RQL when it begins with SELECT, words otherwise."""
        return self.rql_plan(text, ask) if rql.parser.is_query(text) else self.words_plan(text, ask)

    def replan(self, plan: Plan, ask: Ask = Ask()) -> Plan:
        """The question under the settings and for the rows of `ask`; all else stays, and no text is read again."""
        return self._without_waiting(replan(plan, config=self.config, settings=ask.settings, k=ask.k))

    def answer(self, plan: Plan, *, is_read_on: bool = False) -> Answer:
        """Search and rank: the only step that searches the store. What earlier questions have made is kept first.

        is_read_on: the caller is done with the answer within the block of `store.reading` that it asks in.
        """
        with self.store.guard.turn():
            self.keep_vectors()
            with self.store.reading():  # the question's vector and those it meets are of one embedder
                embedder = self.embedder if plan.semantic is not None else None
            reranker = self.reranker(plan.config) if plan.config.rerank else None
            return answering.answer(plan, self.store, embedder, reranker, is_read_on=is_read_on)

    def vector(self, plan: Plan) -> Vector | None:
        """What the question means, as its embedder has it: b"" without a feature, None where it does not ask."""
        return None if plan.semantic is None else self.embedder.embed([plan.semantic], is_query=True)[0]

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """The same pool under other ranking settings: those of answer.plan.config with what is to be changed."""
        reranker = self.reranker(config) if config.rerank else None
        return answering.weigh(answer, config, self.store, reranker)

    def hits(self, answer: Answer, start: int, stop: int) -> list[Hit]:
        """Ranks start + 1 to stop of the full list, with their texts and where else these stand."""
        hits = answering.hits(answer, self.store, start=start, stop=stop)
        return answering.with_twins(answer, hits, self.store, start=start)

    def leaves(self, answer: Answer, hits: Sequence[Hit]) -> list[Leaves]:
        """What the parts of these hits add up from, by signal. Where an embedder is a black box, words alone."""
        embedder = self.embedder if answer.plan.semantic is not None else None
        return explain.ledger.hit_leaves(answer, hits, store=self.store, embedder=embedder)

    def passages(self, answer: Answer, hits: Sequence[Hit]) -> list[PassageView | None]:
        """Return the passage of each hit of an answer; None for one without a score, or without a text."""
        pool, known = self._cited
        if pool is None or pool is not answer.pool:
            known = {}
            self._cited = answer.pool, known
        scores = {hit.chunk.id: hit.score for hit in hits if hit.chunk is not None and hit.chunk.id not in known}
        if scores:
            rows = [row for row in answer.rows.values() if scores.get(row.chunk.id) is not None]
            embedder = self.embedder if answer.plan.semantic is not None else None
            made = retrieve.passage.passages(answer, rows, store=self.store, embedder=embedder)
            known |= dict.fromkeys(scores)
            known |= {row.chunk.id: each for row, each in zip(rows, made, strict=True)}
        return [None if hit.chunk is None else known[hit.chunk.id] for hit in hits]

    def cited(self, answer: Answer, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits of an answer with their passages, as they are packed."""
        if answer.pool is None:
            return [*hits]
        made = self.passages(answer, hits)
        return [with_passage(hit, each, answer.pool.terms) for hit, each in zip(hits, made, strict=True)]

    def pack(self, answer: Answer, options: Pack = Pack(), *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget; see `retrieve.asking.Asker.pack`."""
        cite = self.cited if cites else lambda _, hits: [*hits]
        return packing(answering.packable(answer, self.store), options, store=self.store, cite=cite)

    # What commands share.

    def words_plan(self, words: str, ask: Ask) -> Plan:
        """A search for these words, understood."""
        config = override(self.config, ask.settings)
        mode = "lexical" if self.goes_on and self.found.refusal(EMBEDDER) else ask.mode
        plan = plan_words(words, config=config, mode=mode, filter_text=ask.filter, k=ask.k, exact=ask.exact)
        return self._without_waiting(plan)

    def rql_plan(self, text: str, ask: Ask) -> Plan:
        """A query in RQL, understood. Raises RqlError; UsageError `bad_value` for a mode, of which it has no use."""
        mode_named(ask.mode)
        plan = self._without_waiting(plan_rql(text, config=self.config, exact=ask.exact, settings=ask.settings))
        return plan if ask.k is None else plan._replace(limit=ask.k, is_capped=True)

    def notes(self) -> tuple[str, ...]:
        """Where recall.toml and the store disagree."""
        return disagreements(self.config, self.usable, self.store.info())

    def store_config(self) -> Config:
        """The settings with those that the store was made with in place of what recall.toml says by now."""
        info = self.store.info()
        return cut_as(self.config, chunker=info.chunker, counter=info.counter)

    def _without_waiting(self, plan: Plan) -> Plan:
        """The plan, without a reranker that waits where questions go on all the same.

        Raises UsageError `bad_value` for a reranker or a counter that only a user of this machine may name.
        """
        if self.is_for_others:
            _expect_own(plan.config, self._config)
        waits = self.goes_on and plan.config.rerank and self.found.refusal(RERANKER)
        return plan._replace(config=plan.config._replace(rerank="")) if waits else plan


def _expect_own(asked: Config, own: Config) -> None:
    """Raises UsageError `bad_value` where a question names what would be opened or loaded for it."""
    for key, harmless in _NAMING.items():
        value = getattr(asked, key)
        if value not in (getattr(own, key), *harmless):
            allowed = ", ".join(repr(each) for each in dict.fromkeys((getattr(own, key), *harmless)))
            message = f"{key} cannot be {value!r} in a question of a client."
            raise UsageError("bad_value", message, hint=f"{key} may be {allowed}; others belong into {FILE_NAME}")


_NAMING = {"rerank": ("",), "pack_counter": ("", *ESTIMATES)}
"""Settings of a question that may name a file or a program, with the values that name none."""


MEGABYTE = 1_000_000
_MOST_WAITING = 4_096  # a few MB; what waits longer than that is made again some day


class StoredVectors:
    """The vectors of a reranker that outlast a process: found in the store, and put into it once an answer is out.

    Where their maker is that of the store's own vectors, these serve for texts.
    """

    def __init__(self, store: Store, maker: VectorMaker) -> None:
        self._store = store
        self._maker = maker
        self.waiting: dict[VectorKey, RerankVector] = {}
        self.made = 0
        """Texts that were embedded so far because the store has no vector of them."""

    @property
    def maker(self) -> str:
        """As the store knows it."""
        return self._maker.name

    @property
    def is_own(self) -> bool:
        """Return True if it is the maker of the store's own vectors at this moment."""
        return self._maker.is_of(self._store.embedder())

    def find(self, keys: Sequence[VectorKey]) -> dict[VectorKey, Vector]:
        """Those that the store has."""
        found: dict[VectorKey, Vector] = {}
        for is_query in dict.fromkeys(key.is_query for key in keys):
            hashes = [key.text_hash for key in keys if key.is_query == is_query]
            own = self._store.cached_vectors(hashes) if self.is_own and not is_query else {}
            left = [each for each in hashes if each not in own]
            kept = self._store.reranked(self.maker, left, is_query=is_query) if left else {}
            found |= {embed.rescore.VectorKey(each, is_query): vector for each, vector in (own | kept).items()}
        return found

    def leave(self, made: Mapping[VectorKey, Vector]) -> None:
        """Let these wait, but for those that are no vectors."""
        generation = self._store.generation()
        self.made += sum(not key.is_query for key in made)
        size = max(map(len, made.values()), default=0) // 4
        bad = stores.values.find_flaws(list(made.values()), dimension=size) if size else {}
        for place, (key, vector) in enumerate(made.items()):
            if place not in bad:
                self.waiting[key] = stores.values.RerankVector(*key, vector, generation)
        for key in list(self.waiting)[: max(0, len(self.waiting) - _MOST_WAITING)]:
            del self.waiting[key]

    def keep(self, *, megabytes: int, may_wait: bool = False) -> None:
        """Put those that wait into the store; they go on waiting where somebody else writes at this moment.

        may_wait: for whoever does. Otherwise nothing is waited for, and nothing is said where the store takes none:
        an answer is out by now, and what is not kept is made again.
        """
        made = list(self.waiting.values())
        if may_wait:
            self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE, may_wait=True)
            self.waiting.clear()
            return
        with suppress(StoreError):
            if made and self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE):
                self.waiting.clear()
