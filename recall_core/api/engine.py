"""One open store with its settings and embedder: plan, answer, rank again, fetch hits, pack."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recall_core import embed, explain, ingest, retrieve, rql
from recall_core import store as stores
from recall_core.api.context import packing, with_passage
from recall_core.api.names import PathNames
from recall_core.api.stores import disagreements
from recall_core.config import EMBEDDING, FILE_NAME, NO_VECTORS, WATCH_REST_MS, Config, cut_as, load, override
from recall_core.embed.registry import agrees, embedder_of
from recall_core.embed.trust import AT_HOME, EMBEDDER, RERANKER, FoundSettings
from recall_core.errors import ConfigError, EmbedError, RecallError, StoreError, UsageError
from recall_core.named import NamedTuple
from recall_core.ports import Embedder, Interruptible, Reranker
from recall_core.retrieve import answer as answering
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.plan import Plan, mode_named, plan_rql, plan_words, replan
from recall_core.rql.ast import And, Expr
from recall_core.store.port import Store
from recall_core.text import ESTIMATES, GIVEN
from recall_core.types import Hit, Packed, Pool, Progress, Vector
from recall_core.views import Leaves

if TYPE_CHECKING:
    from threading import Event

    from recall_core.agents.profiles import Agent
    from recall_core.api.query_cache import QueryCache
    from recall_core.contract.ledger import PassageView
    from recall_core.embed.rescore import VectorKey, VectorMaker
    from recall_core.ingest.watch import Stop
    from recall_core.store.values import RerankVector

Result = TypeVar("Result")


def result_of(steps: Generator[Progress, None, Result]) -> Result:
    """Run every step and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


class Scope(NamedTuple):
    """The part of its store that an agent sees.

    where: the filter of every query. reasons: why `auto` chose the embedder.
    stamp: the file whose time is that of the last sync. warnings: on every answer.
    """

    agent: Agent
    where: Expr
    reasons: tuple[str, ...]
    stamp: Path
    warnings: tuple[str, ...]


class Engine:
    """One store and everything needed to query it, for one thread at a time; see class Recall.

    toml: the settings file; by default recall.toml in the store's folder.
    found: the settings as read, if a person must accept what they request; otherwise the caller vouches for them.
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
        """Its guard admits one thread at a time, for all users of the store."""
        self._config = config
        store.memory_mb = config.memory_mb
        self.base = base
        self.toml = toml or base / FILE_NAME
        self.found = found or FoundSettings(config, self.toml, is_vouched=True)
        """The settings as in recall.toml, and whether their requests are accepted."""
        self.scope: Scope | None = None
        """The agent whose memory this is. Its filter applies to every query, its defaults to searches by words."""
        self.is_for_others = False
        """True if callers may not be users of this machine. Then a query cannot open or load anything by name."""
        self.cache: QueryCache | None = None
        """Answers to give again, for servers."""
        self.goes_on = False
        """True to answer by words alone while an embedder or reranker waits to be accepted."""
        self._may_embed = False
        self._watched: Event | None = None
        self._cited: tuple[Pool | None, dict[str, PassageView | None]] = (None, {})
        """Passages of the last answer by chunk. A context needs them before and after packing."""
        self._embedder = embedder
        self._rerankers: dict[str, Reranker] = {}
        self._kept: dict[str, StoredVectors] = {}
        """The vectors of rerankers that are embedders, by name."""

    def beside(self, config: Config | None = None, *, embedder: Embedder | None = None) -> Engine:
        """Return another engine of the same store, with its own settings and embedder."""
        config = config or self.config
        other = Engine(self.store, config=config, base=self.base, toml=self.toml, embedder=embedder, found=self.found)
        other.goes_on, other.is_for_others, other.scope = self.goes_on, self.is_for_others, self.scope
        if all(getattr(config, key) == getattr(self._config, key) for key in EMBEDDING):
            other._rerankers, other._kept = self._rerankers, self._kept
        return other

    def once(self) -> Engine:
        """Return another engine of the same store that embeds repeated questions once."""
        return self.beside(embedder=embed.registry.Once(self.embedder))

    @property
    def config(self) -> Config:
        """The settings. Setting another source of vectors reloads embedder and rerankers."""
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
        """The embedder of this store's vectors, reloaded if a reembed changed it.

        Raises EmbedError; ConfigError `untrusted_config`.
        """
        identity = self.store.embedder()
        if self._embedder is None or self._embedder.identity != identity:
            if not agrees(self.usable, identity):
                fresh = load(self.toml)  # a reembed in another process wrote it
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
        """Use this embedder, possibly shared, while it matches the store's vectors."""
        self._embedder = embedder

    def take_over(self, found: FoundSettings) -> None:
        """Use these settings from now on."""
        self.config, self.found = found.config, found

    @property
    def usable(self) -> Config:
        """The settings, with `hash` in place of an embedder that waits to be accepted."""
        self._may_embed = self._may_embed or self.found.refusal(EMBEDDER) is None
        return self.config if self._may_embed else self.config._replace(**AT_HOME)

    def untrusted(self) -> ConfigError | None:
        """Return the error that a query by meaning or with reranking would raise for these settings, or None."""
        return self.found.refusal(EMBEDDER, RERANKER)

    def reranker(self, config: Config) -> Reranker:
        """Return the reranker of these settings. Cached, because loading takes time."""
        if config.rerank not in self._rerankers:

            def keep(maker: VectorMaker) -> StoredVectors:
                return self._kept.setdefault(config.rerank, StoredVectors(self.store, maker))

            self.found.expect_reranker(config.rerank)
            reranker = embed.rescore.new_reranker(config.rerank, self.config, loaded=self._embedder, keep=keep)
            self._rerankers[config.rerank] = reranker
        return self._rerankers[config.rerank]

    def vectors_of_reranker(self, config: Config) -> StoredVectors | None:
        """Return the stored vectors of the reranker of these settings; None for a plug-in's reranker."""
        self.reranker(config)
        return self._kept.get(config.rerank)

    @property
    def has_vectors_to_keep(self) -> bool:
        """True if `keep_vectors` has vectors to save."""
        return self.config.rerank_keep and any(kept.waiting for kept in self._kept.values())

    def keep_vectors(self) -> None:
        """Save the rerankers' vectors if the store is free to write. The next query does this too."""
        if self.config.rerank_keep:
            for kept in self._kept.values():
                kept.keep(megabytes=self.config.rerank_mb)

    def close(self) -> None:
        """Close the store. May be called twice. Raises UsageError `wrong_thread` during any call.

        Saves the rerankers' vectors first if the store is free to write.
        """
        with self.store.guard.last_turn():
            try:
                with suppress(RecallError):  # lost vectors are made again
                    self.keep_vectors()
            finally:
                self._kept.clear()
                self.store.close()

    def interrupt(self) -> None:
        """Stop a watch and abort the running statement, whose call raises Interrupted. Safe from any thread.

        A call that waits for an embedder's server also raises it, or else the next such call, but only one of them.
        Does nothing if no statement runs or the store is closed.
        """
        self.store.guard.expect_own_process()
        if self._watched is not None:
            self._watched.set()
        self.store.interrupt()
        embedder: object = self._embedder  # another thread may replace it meanwhile
        if isinstance(embedder, Interruptible):
            embedder.interrupt()

    def changes(self, stop: Stop | None = None, *, rest_ms: int = WATCH_REST_MS) -> Iterator[tuple[str, ...]]:
        """Yield the changed places below the added roots, as they change. Sync after each.

        Only this call reads the store. Waiting for changes blocks no other thread.
        """
        if stop is None:
            from threading import Event  # noqa: PLC0415 - a search never needs it

            stop = self._watched = Event()
        return ingest.watch.changes(
            self.store.roots(), base=self.base, config=self.config, stop=stop, rest_ms=rest_ms
        )

    # One query in steps, to rank and pack the same pool again.

    def plan(self, text: str, ask: Ask = Ask()) -> Plan:
        """Return the plan of a query: RQL if it starts with SELECT, else words."""
        return self.rql_plan(text, ask) if rql.parser.is_query(text) else self.words_plan(text, ask)

    def replan(self, plan: Plan, ask: Ask = Ask()) -> Plan:
        """Return the plan with the settings and rows of `ask`. No text is parsed again."""
        return self._without_waiting(replan(plan, config=self.config, settings=ask.settings, k=ask.k))

    def answer(self, plan: Plan, *, is_read_on: bool = False) -> Answer:
        """Search and rank. Only this step searches the store. Saves vectors from earlier queries first.

        is_read_on: True if the caller uses the answer only inside its own `store.reading` block.
        """
        plan = self.scoped(plan)
        with self.store.guard.turn():
            self.keep_vectors()
            with self.store.reading():  # the query's vector and the store's vectors must be of one embedder
                embedder = self.embedder if plan.semantic is not None else None
            reranker = self.reranker(plan.config) if plan.config.rerank else None
            return answering.answer(plan, self.store, embedder, reranker, is_read_on=is_read_on)

    def vector(self, plan: Plan) -> Vector | None:
        """Return the query's vector: b"" if it has no feature, None if the query has no semantic part."""
        return None if plan.semantic is None else self.embedder.embed([plan.semantic], is_query=True)[0]

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """Rank the same pool again. config: answer.plan.config with other ranking settings."""
        reranker = self.reranker(config) if config.rerank else None
        return answering.weigh(answer, config, self.store, reranker)

    def hits(self, answer: Answer, start: int, stop: int) -> list[Hit]:
        """Return ranks start + 1 to stop of the full list, with texts and copies."""
        hits = answering.hits(answer, self.store, start=start, stop=stop)
        return answering.with_twins(answer, hits, self.store, start=start)

    def leaves(self, answer: Answer, hits: Sequence[Hit]) -> list[Leaves]:
        """Return the leaves of these hits' parts, by signal. With a black-box embedder, only lexical leaves."""
        embedder = self.embedder if answer.plan.semantic is not None else None
        return explain.ledger.hit_leaves(answer, hits, store=self.store, embedder=embedder)

    def passages(self, answer: Answer, hits: Sequence[Hit]) -> list[PassageView | None]:
        """Return the passage of each hit; None without a score or text."""
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
        """Return the hits with their passages, ready to pack."""
        if answer.pool is not None:
            made = self.passages(answer, hits)
            hits = [with_passage(hit, each, answer.pool.terms) for hit, each in zip(hits, made, strict=True)]
        if (names := self.names) is not None:  # headers show the name, and the budget counts it
            hits = [hit._replace(doc=hit.doc._replace(path=names.shown(hit.doc.path))) for hit in hits]
        return [*hits]

    @property
    def names(self) -> PathNames | None:
        """The names of documents in answers about an agent's memory; None if they are the store's paths."""
        return None if self.scope is None else PathNames(self.store, self.base)

    def pack(self, answer: Answer, options: Pack = Pack(), *, cites: bool = True) -> Packed:
        """Pack the ranked list within a budget; see `retrieve.asking.Asker.pack`."""
        cite = self.cited if cites else lambda _, hits: [*hits]
        return packing(answering.packable(answer, self.store), options, store=self.store, cite=cite)

    # Shared by commands.

    def expect_own_counter(self, pack: Pack) -> None:
        """Raise UsageError `bad_value` for a counter that only a user of this machine may name."""
        if self.is_for_others and pack.counter:
            _expect_own(self._config._replace(pack_counter=pack.counter), self._config)

    def words_plan(self, words: str, ask: Ask, *, is_typed: bool = True) -> Plan:
        """Return the plan of a search for these words. is_typed: they may have syntax."""
        config = override(self.config, ask.settings)
        mode = self.scope.agent.mode if self.scope is not None and ask.mode == "hybrid" else ask.mode
        mode = "lexical" if self.goes_on and self.found.refusal(EMBEDDER) else mode
        plan = plan_words(
            words,
            config=config,
            mode=mode,
            filter_text=ask.filter,
            k=ask.k,
            exact=ask.exact,
            is_typed=is_typed,
        )
        if self.scope is not None and ask.k is None:
            plan = plan._replace(limit=self.scope.agent.max_results)
        return self._without_waiting(plan)

    def rql_plan(self, text: str, ask: Ask) -> Plan:
        """Return the plan of an RQL query. Raises RqlError; UsageError `bad_value` for a mode, which RQL does not
        use.
        """
        mode_named(ask.mode)
        plan = self._without_waiting(plan_rql(text, config=self.config, exact=ask.exact, settings=ask.settings))
        return plan if ask.k is None else plan._replace(limit=ask.k, is_capped=True)

    def notes(self) -> tuple[str, ...]:
        """Return where recall.toml and the store disagree, and the warnings of an agent."""
        own = () if self.scope is None else self.scope.warnings
        return (*own, *disagreements(self.config, self.usable, self.store.info()))

    def store_config(self) -> Config:
        """Return the settings, with those of the store's creation in place of recall.toml's."""
        info = self.store.info()
        return cut_as(self.config, chunker=info.chunker, counter=info.counter)

    def scoped(self, plan: Plan) -> Plan:
        """Return the plan with the filter of the agent whose memory this is, if it has none yet.

        Its own filter may have names as in answers; `plan.filters` keeps them.
        """
        if self.scope is None or self.names is None:
            return plan
        terms = plan.where.terms if isinstance(plan.where, And) else () if plan.where is None else (plan.where,)
        if self.scope.where in terms:
            return plan
        where = And((self.scope.where, *terms)) if terms else self.scope.where
        return plan._replace(where=self.names.in_filter(where), filters=rql.print.print_filter(where))

    def _without_waiting(self, plan: Plan) -> Plan:
        """Return the plan, without a reranker that waits to be accepted if queries may continue without it.

        Words have no vector in a store of given ones, or without vectors, so its plan is lexical.

        Raises UsageError `bad_value` for a reranker or counter that only a user of this machine may name.
        """
        plan = self.scoped(plan)
        if self.is_for_others:
            _expect_own(plan.config, self._config)
        if plan.semantic is not None and plan.lexical is not None and self.store.embedder().startswith(GIVEN):
            warning = "W_NO_QUERY_VECTOR: the vectors of this store were given; searched by words alone"
            plan = plan._replace(semantic=None, warnings=tuple(dict.fromkeys((*plan.warnings, warning))))
        if plan.semantic is not None and plan.lexical is not None and self.store.embedder() == NO_VECTORS:
            plan = plan._replace(semantic=None)
        waits = self.goes_on and plan.config.rerank and self.found.refusal(RERANKER)
        return plan._replace(config=plan.config._replace(rerank="")) if waits else plan


def _expect_own(asked: Config, own: Config) -> None:
    """Raise UsageError `bad_value` if a query names something to open or load."""
    for key, harmless in _NAMING.items():
        value = getattr(asked, key)
        if value not in (getattr(own, key), *harmless):
            allowed = ", ".join(repr(each) for each in dict.fromkeys((getattr(own, key), *harmless)))
            message = f"{key} cannot be {value!r} in a client's query."
            raise UsageError("bad_value", message, hint=f"use {allowed} for {key}, or set it in {FILE_NAME}")


_NAMING = {"rerank": ("",), "pack_counter": ("", *ESTIMATES)}
"""Settings of a query that may name a file or program, with the values that do not."""


MEGABYTE = 1_000_000
_MOST_WAITING = 4_096  # a few MB; vectors over this limit are made again


class StoredVectors:
    """Reranker vectors that outlast the process: read from the store, and saved after an answer.

    If the reranker is the store's own embedder, the store's vectors are used for texts.
    """

    def __init__(self, store: Store, maker: VectorMaker) -> None:
        self._store = store
        self._maker = maker
        self.waiting: dict[VectorKey, RerankVector] = {}
        self.made = 0
        """Texts embedded so far because the store has no vector for them."""

    @property
    def maker(self) -> str:
        """The maker's name in the store."""
        return self._maker.name

    @property
    def is_own(self) -> bool:
        """True if it is the current maker of the store's own vectors."""
        return self._maker.is_of(self._store.embedder())

    def find(self, keys: Sequence[VectorKey]) -> dict[VectorKey, Vector]:
        """Return the vectors in the store."""
        found: dict[VectorKey, Vector] = {}
        for is_query in dict.fromkeys(key.is_query for key in keys):
            hashes = [key.text_hash for key in keys if key.is_query == is_query]
            own = self._store.cached_vectors(hashes) if self.is_own and not is_query else {}
            left = [each for each in hashes if each not in own]
            kept = self._store.reranked(self.maker, left, is_query=is_query) if left else {}
            found |= {embed.rescore.VectorKey(each, is_query): vector for each, vector in (own | kept).items()}
        return found

    def leave(self, made: Mapping[VectorKey, Vector]) -> None:
        """Queue these vectors to be saved, except invalid ones."""
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
        """Save the queued vectors. They stay queued if another process is writing.

        may_wait: wait for the other process. Otherwise return at once and ignore errors: the answer is done, and
        unsaved vectors are made again.
        """
        made = list(self.waiting.values())
        if may_wait:
            self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE, may_wait=True)
            self.waiting.clear()
            return
        with suppress(StoreError):
            if made and self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE):
                self.waiting.clear()
