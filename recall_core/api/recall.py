"""Recall: one store with one method per command."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar, Unpack

from recall_core import api, contract, deadline, evaluate, maintain, paths, personal, rql, views
from recall_core.api import answers, stores
from recall_core.api.engine import Engine, result_of
from recall_core.argument_types import checks_types
from recall_core.config import WATCH_REST_MS, Config, GivenSettings
from recall_core.contract import OK
from recall_core.errors import UNMADE, RecallError, StoreError, UsageError
from recall_core.evaluate import fixture
from recall_core.paths import spot
from recall_core.retrieve.asking import Ask, AskFields, Pack, QuestionFields, asked_and_packed, merge_ask
from recall_core.retrieve.plan import Plan
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from recall_core.api.collections import Collections
    from recall_core.api.compare import DiffRequest
    from recall_core.api.put import PutCounts, PutDocument
    from recall_core.api.write import AddFields, ImportFields, RootsFields, WarmFields
    from recall_core.contract import responses
    from recall_core.evaluate.formats import QrelsFormat
    from recall_core.evaluate.measures import EvalOptions
    from recall_core.evaluate.tune import TuneOptions
    from recall_core.evaluate.tune_question import PinTarget
    from recall_core.ingest.watch import Stop
    from recall_core.retrieve.freshness import State
    from recall_core.rql.ast import Expr

Answer = TypeVar("Answer", bound=Mapping[str, Any])

__all__ = ["Ask", "Pack", "Recall"]


@checks_types
class Recall:
    """One store. Close it, or use it in a `with` block.

    Use it from one thread at a time: open one per thread, or hand it on between calls, or between two steps of a
    generator. A call during another thread's call raises UsageError `wrong_thread`. So does `close` during any call,
    and any use in a forked process. A generator whose step raises ends. `interrupt` and `end` are safe from any
    thread. Methods that query take an Ask, or its fields as keywords. Methods that pack a context take a Pack, or its
    fields.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        """The single steps: plan, answer, rank again, fetch hits, pack."""
        self.store = engine.store
        """The store. Use it from one thread at a time, like this object."""

    @classmethod
    def open(
        cls, store: str | None = None, *, start: Path | None = None, create: bool = False, trust: bool = False
    ) -> Self:
        """Open the store at that path or URL, or the one named by the nearest recall.toml from `start` upwards.

        start: None is the current folder. `:memory:` is a new, temporary store with the settings of that recall.toml,
        or the defaults.
        create: if there is no file, make it and its recall.toml, as `init` does. A name with a file suffix is the
        database, any other name its folder.
        trust: accept everything that recall.toml requests.
        """
        try:
            place = stores.find(store, start=start)
            opened, config, found = stores.open_store(place, is_vouched=trust)
        except StoreError as error:
            url = stores.store_url(store or str(start or "."))
            if not create or error.code not in UNMADE:
                raise
            if url.kind != "sqlite":
                stores.create(url, place.config).close()
                return cls.open(store, start=start, trust=trust)
            folder, name = spot(url.where)
            cls.init(folder, settings={"store_path": name} if name else {}, name=name, trust=trust)
            return cls.open(store, start=start, trust=trust)
        return cls(Engine(opened, config=config, base=place.base, toml=place.toml, found=found))

    @classmethod
    def agent(cls, name: str, *, start: Path | None = None) -> Self:
        """Open the memory of an agent of agents.toml, and make it if it is missing; see docs/memory.md.

        start: the folder whose agents.toml counts besides the person's own; None is the current folder.
        Raises UsageError `unknown_agent`, `memory_off`; ConfigError, such as `untrusted_config`; StoreError.
        """
        return cls(api.agents.open_engine(name, start))

    @staticmethod
    def init(folder: str = ".", **options: Unpack[stores.NewStoreFields]) -> responses.StatsResponse:
        """Make a store and its recall.toml in a folder. options: see NewStoreFields."""
        place, store, warnings = stores.make(Path(folder), **options)
        with Recall(Engine(store, config=place.config, base=place.base, toml=place.toml)) as recall:
            response = recall.stats()
            return {**response, "warnings": [*warnings, *response["warnings"]]}

    @classmethod
    def collections(cls, folder: Path | str, *, trust: bool = False) -> Collections[Self]:
        """Return the collections of a folder: named stores that are created and opened by name.

        trust: accept everything that the folder's recall.toml and the names of embedders request.
        """
        return api.collections.Collections(Path(folder), cls, trust=trust)

    @property
    def config(self) -> Config:
        """The settings."""
        return self.engine.config

    def close(self) -> None:
        """Close the store. May be called twice. Raises UsageError `wrong_thread` during any call."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RecallError) and (names := self.engine.names) is not None:
            with suppress(RecallError):  # a damaged store cannot name its folders
                names.rename(error)
        try:
            self.close()
        except UsageError as refused:
            if error is None:
                raise
            error.add_note(str(refused))  # keep the error that ended the block visible

    def interrupt(self) -> None:
        """Stop a watch and abort the running statement, whose call raises Interrupted. Safe from any thread.

        A call that waits for an embedder's server also raises it, or else the next such call.
        """
        self.engine.interrupt()

    def end(self) -> None:
        """Interrupt for good: if no statement runs, the next one raises Interrupted."""
        self.store.guard.expect_own_process()
        self.store.end()
        self.engine.interrupt()

    within = staticmethod(deadline.within)
    """`with Recall.within(2.5):` limits all calls of this thread in the block, on any Recall, to this many seconds.
    Then TimedOut is raised. The answer wrote nothing, and the Recall stays usable."""

    def changes(self, stop: Stop | None = None, *, rest_ms: int = WATCH_REST_MS) -> Iterator[tuple[str, ...]]:
        """Yield the changed places below the added roots, once changes pause. Sync after each."""
        return self.engine.changes(stop, rest_ms=rest_ms)

    def under(self, given: Sequence[str]) -> Recall:
        """Return the same store under other ranking settings: recall.toml files or `key=value,…`; later ones win."""
        return Recall(
            self.engine.beside(api.compare.configure(self.config, given, is_vouched=self.engine.found.is_vouched))
        )

    # Read commands.

    def search(self, words: str, ask: Ask | None = None, **fields: Unpack[AskFields]) -> responses.SearchResponse:
        """Return the best chunks for these words."""
        return self._list(self.engine.words_plan(words, ask := merge_ask(ask, fields)), ask)

    def query(self, rql: str, ask: Ask | None = None, **fields: Unpack[AskFields]) -> responses.SearchResponse:
        """Return the rows of an RQL query."""
        return self._list(self.engine.rql_plan(rql, ask := merge_ask(ask, fields)), ask)

    def nearest(
        self,
        vector: Sequence[float],
        k: int = 10,
        filter: str | Expr | None = None,  # noqa: A002 - as in Ask
    ) -> responses.SearchResponse:
        """Return the k chunks nearest to a vector, of those that pass the filter. No chunk is skipped.

        vector: of the store's dimension and any length above 0. filter: RQL, or its tree.
        A score is the cosine, from -1 to 1, rounded half-even to 6 decimals. Best first, ties by path and offset.
        Chunks with the same text each have a row; chunks without a vector have none. `stats.total_hits` counts the
        chunks that pass the filter. Raises UsageError `dimension_mismatch`, `bad_vector`, and `bad_value` for a
        negative k; RqlError.
        """
        with self.store.reading():
            return self._named(api.put.nearest(self.engine, vector, k, filter))

    def context(
        self,
        words: str | None = None,
        ask: Ask | None = None,
        pack: Pack | None = None,
        *,
        rql: str | None = None,
        **fields: Unpack[QuestionFields],
    ) -> responses.ContextResponse:
        """Pack the best chunks for these words, or the rows of an RQL query, under a token budget."""
        ask, pack = self._merge(ask, pack, fields)
        plan = self._plan(words, rql, ask)
        with answers.fresh_reading(self.engine, ask) as started:

            def make(checked: dict[str, State | None]) -> responses.ContextResponse:
                answer = self.engine.answer(plan, is_read_on=True)
                return answers.context(self.engine, answer, ask, pack, started=started, checked=checked)

            return self._named(self._again(plan, ask, pack, make, started))

    def replay(self, receipt: Path | str) -> responses.ReplayResponse:
        """Run the query of a receipt (file or text) again, and return what changed."""
        return self._named(api.report.replay(self.engine, receipt))

    def explain(
        self,
        words: str | None,
        chunk: str | None = None,
        ask: Ask | None = None,
        *,
        versus: str | None = None,
        rql: str | None = None,
        **fields: Unpack[AskFields],
    ) -> responses.ExplainResponse:
        """Explain the score of a chunk for these words or an RQL query, at any rank.

        chunk: an id or `path:line`; by default the first hit. versus: another chunk to compare with.
        """
        plan = self._plan(words, rql, ask := merge_ask(ask, fields))
        chunk, versus = (each and self._typed(each) for each in (chunk, versus))
        return self._named(answers.explain_chunk(self.engine, plan, ask, chunk, versus))

    def why_not(
        self,
        words: str | None,
        target: str,
        ask: Ask | None = None,
        pack: Pack | None = None,
        *,
        rql: str | None = None,
        fixes: bool = True,
        **fields: Unpack[QuestionFields],
    ) -> responses.WhyNotResponse:
        """Explain why a chunk, document, line, file or text is not in the answer, and what would bring it in.

        pack: with a budget, the answer is a context. fixes: try changes to the query, and return those that work.
        """
        ask, pack = self._merge(ask, pack, fields)
        answers.refresh(self.engine, ask)
        question = api.whynot.question_of(words, ask, pack, rql=rql)
        answer = api.whynot.why_not(self.engine, question, self._typed(target), ask, fixes=fixes)
        answer["whynot"]["target"]["text"] = target
        return self._named(answer)

    def trace(
        self,
        words: str | None,
        ask: Ask | None = None,
        pack: Pack | None = None,
        *,
        rql: str | None = None,
        **fields: Unpack[QuestionFields],
    ) -> responses.TraceResponse:
        """Return how many rows remain after each step from the store to the answer, or to a context."""
        ask, pack = self._merge(ask, pack, fields)
        answers.refresh(self.engine, ask)
        return api.whynot.trace(self.engine, api.whynot.question_of(words, ask, pack, rql=rql), ask)

    def get(self, target: str) -> responses.GetResponse:
        """Return a document, lines of it (`path:first-last`) or a chunk, verbatim as ingested."""
        with self.store.reading():
            return self._named(api.get.find(self.store, self._typed(target), base=self.engine.base))

    def list(
        self, prefix: str = "", *, glob: str | None = None, limit: int | None = None, offset: int = 0
    ) -> responses.ListResponse:
        """Return live documents with this path prefix that match a glob, by path; see `api.get.list_documents`."""
        if (names := self.engine.names) is not None:
            prefix, glob = names.typed(prefix), glob and names.typed(glob, "GLOB")
        return self._named(api.get.list_documents(self.engine, prefix, glob, limit=limit, offset=offset))

    def stats(self, *, sizes: bool = False) -> responses.StatsResponse:
        """Return the store's statistics. sizes: also the sizes of the parts of its file, which reads every page."""
        return api.get.describe_store(self.engine, sizes=sizes)

    def doctor(self, *, fix: bool = False, dups: bool = False) -> responses.DoctorResponse:
        """Check the store. fix: repair what is possible, after a backup. dups: also find near-duplicates."""
        engine = self.engine
        with self.store.guard.turn():  # a refused check would look like damage
            checks = maintain.doctor.doctor(
                self.store,
                engine.base,
                config=engine.usable,  # do not load an embedder that waits to be accepted
                own=lambda: engine.embedder,
                is_known=engine.usable == engine.config,
                fix=fix,
                dups=dups,
            )
        return {**OK, "checks": checks, "warnings": []}

    def export(self, out: TextIO, *, embeddings: bool = True) -> responses.TransferResponse:
        """Write the whole store as JSONL."""
        with self.store.guard.turn():  # the last line is written after the last statement
            return {
                **OK,
                "transfer": maintain.transfer.export(self.store, out, embeddings=embeddings),
                "warnings": [],
            }

    def copy(self, target: str) -> responses.TransferResponse:
        """Copy the store to a path or URL that does not exist. The copy appears there when it is complete.

        After an interruption the same call continues, or starts again if the store has changed meanwhile.
        """
        url, info = stores.store_url(target), self.store.info()
        where = str(paths.absolute(Path(url.where))) if url.kind == "sqlite" else url.where
        kind = stores.store_kind(url.kind)
        stores.expect_free(kind, where)
        part = kind.unfinished(where)
        view = None
        while view is None:
            try:
                made = kind.create(
                    part, embedder=info.embedder, dimension=info.dimension, counter=info.counter, chunker=info.chunker
                )
            except StoreError as error:
                if error.code != "store_exists":
                    raise
                made = kind.open(part)
            with closing(made):
                view = maintain.transfer.copy(self.store, made)
            if view is None:
                kind.discard(part)
        kind.publish(where)
        with closing(kind.open(where)) as made:
            return {**OK, "transfer": {**view, "path": made.path}, "warnings": []}

    def backup(self, target: Path | str, *, force: bool = False) -> responses.BackupResponse:
        """Copy the store into a file, which gets its name only after a check. force: overwrite an existing file."""
        return result_of(api.write.backup(self.engine, Path(target), force=force))

    @staticmethod
    def verify(source: Path | str) -> responses.VerifyResponse:
        """Check a store's file, a backup or an export without changing it. Opens no store."""
        view, checks = maintain.copies.verify(Path(source), stores.expect_care(str(source), "verifying; see doctor"))
        return {**OK, "verified": view, "checks": checks, "warnings": []}

    @staticmethod
    def recover(old: Path | str, new: Path | str) -> responses.RecoverResponse:
        """Make a new store from the readable part of a damaged one, and report losses. The old one is only read."""
        return api.write.recover(Path(old), Path(new))

    @staticmethod
    def embedders(
        config: Config = Config(), *, in_use: str | None = None, probe: bool = False, waits: bool = False
    ) -> responses.EmbeddersResponse:
        """List every kind of embedder under these settings, without a store. in_use: the identity of a store's
        embedder.
        """
        return {
            **OK,
            "embedders": maintain.embedders.embedders(config, in_use=in_use, probe=probe, waits=waits),
            "warnings": [],
        }

    @staticmethod
    def personal(
        name: str | None = None, *, value: str | None = None, unset: bool = False
    ) -> responses.ConfigResponse:
        """Return the person's own settings in the order of the documentation, or only the one with this name.

        value: write this value to the person's file, spelled as on a command line. unset: remove the line from it.
        Raises ConfigError `unknown_key`, `bad_value`, `config_invalid`, `settings_unwritable`.
        """
        warnings: tuple[str, ...] = ()
        if name is None:
            settings = personal.resolve(os.environ)
        elif value is None and not unset:
            personal.default_of(name)
            settings = {name: personal.resolve(os.environ)[name]}
        else:
            settings = {}
            settings[name], warnings = personal.save(name, value, os.environ)
        shown = [
            contract.views.SettingView(
                name=each,
                value=resolved.value,
                default=personal.default_of(each),
                origin=resolved.origin,
                meaning=personal.TABLE.settings[each].doc,
            )
            for each, resolved in settings.items()
        ]
        return {**OK, "settings": shown, "warnings": list(warnings)}

    def diff(
        self, other: Recall, request: DiffRequest, ask: Ask = Ask()
    ) -> Generator[Progress, None, responses.DiffResponse]:
        """Compare the answers of another store, or of this one under other settings, with this one's."""
        steps = api.compare.beside(self.engine, other.engine, request, merge_ask(ask, {}))
        return self.store.guard.steps(other.store.guard.steps(steps))

    def report(
        self,
        text: str,
        ask: Ask | None = None,
        pack: Pack | None = None,
        *,
        is_rql: bool = False,
        **fields: Unpack[QuestionFields],
    ) -> responses.ReportResponse:
        """Return everything about one query, for a page: results with ledgers, the context, and rank lines."""
        ask, pack = self._merge(ask, pack, fields)
        plan = self._plan(None, text, ask) if is_rql else self._plan(text, None, ask)
        return self._named(api.report.report(self.engine, plan, ask, pack))

    # RQL, for those who write queries.

    check_rql = staticmethod(answers.query_checked)
    """Return a valid query in its canonical spelling, without a store. Raises RqlError."""

    format_rql = staticmethod(answers.query_formatted)
    """Return a query in its canonical spelling, below its comments, without a store. Raises RqlError."""

    def explain_rql(
        self, text: str, ask: Ask | None = None, **fields: Unpack[AskFields]
    ) -> responses.ExplainedResponse:
        """Return what a query does: the effective plan, the rows that pass each part of the filter, SQLite's own
        steps.
        """
        return api.whynot.explain_query(self.engine, self.engine.rql_plan(text, ask := merge_ask(ask, fields)), ask)

    def complete_rql(self, text: str, cursor: int) -> responses.CompletionResponse:
        """Return the completions at a cursor (code points) of a query."""
        with self.store.reading():
            return views.completion(text, cursor, self.store.vocabulary(rql.complete.SUGGESTIONS))

    # Evaluation commands.

    def evaluate(self, options: EvalOptions) -> Generator[Progress, None, responses.EvaluationResponse]:
        """Measure the ranking on judged queries; documents are ranked by their best chunk."""
        return self.store.guard.steps(
            evaluate.run.evaluate(options, self.engine.once() if options.is_semantic else self.engine)
        )

    def tune(self, options: TuneOptions, ask: Ask = Ask()) -> Generator[Progress, None, responses.TuneResponse]:
        """Find the weights that judged queries support. Saves them in recall.toml if requested."""
        return self.store.guard.steps(evaluate.tune.tune(options, self.engine.once(), ask, toml=self.engine.toml))

    def sweep(
        self,
        text: str,
        ask: Ask | None = None,
        *,
        is_rql: bool = False,
        breaks: bool = False,
        collapse: bool = False,
        wishes: tuple[PinTarget, ...] = (),
        **fields: Unpack[AskFields],
    ) -> responses.SweepResponse:
        """Return one answer at every weight. breaks: also each weight that changes it.

        wishes: return the weights that satisfy these pins instead.
        collapse: a text that several chunks have counts once.
        """
        ask = merge_ask(ask, fields)
        plan = self._plan(None, text, ask) if is_rql else self._plan(text, None, ask)
        return answers.sweep(self.engine, plan, ask, wishes, breaks=breaks, collapse=collapse)

    def judge_import(self, *, queries: Path | None, qrels: Path | None) -> responses.JudgeResponse:
        """Read queries and judgements into the store, all or nothing."""
        return evaluate.questions.import_(self.store, queries=queries, qrels=qrels)

    def judge_export(
        self, *, queries: TextIO | None, qrels: TextIO | None, form: QrelsFormat = "beir"
    ) -> responses.JudgeResponse:
        """Write the store's queries and judgements."""
        return evaluate.questions.export(self.store, queries=queries, qrels=qrels, form=form)

    def check_fixtures(
        self, fixtures: Path, ask: Ask = Ask(), *, baseline: Path | None = None, gate: str | None = None
    ) -> responses.FixturesResponse:
        """Check whether contexts contain the facts of a file of fixtures. baseline: an earlier answer, as JSON."""
        with self.store.guard.turn():
            view, warnings = fixture.rates.check_file(fixtures, self.engine, ask, baseline=baseline, gate=gate)
        return {**OK, "fixtures": view, "warnings": [*self.engine.notes(), *warnings]}

    def calibrate_sparse(
        self, ask: Ask = Ask(), *, queries: Path | None = None, qrels: Path | None = None
    ) -> responses.CalibrationResponse:
        """Propose a sparse_distance_ceiling from the judged queries of files, else of the store."""
        view, warnings = evaluate.calibrate.calibrate_judged(self.engine, ask, queries=queries, qrels=qrels)
        return {**OK, "calibration": view, "warnings": [*self.engine.notes(), *warnings]}

    # Write commands.

    def index(self, *targets: str, template: Root = Root(""), strict: bool = False) -> responses.IngestResponse:
        """Ingest files and folders in one call. See `add` for template and strict."""
        return result_of(self.add(targets, template, strict=strict))

    def add(
        self, targets: Sequence[str], template: Root = Root(""), **how: Unpack[AddFields]
    ) -> Generator[Progress, None, responses.IngestResponse]:
        """Ingest files and folders in steps that report progress; `index` does it in one call.

        template: options for the files of each target. how: see AddFields; strict, or content without a file.
        """
        return self.store.guard.steps(api.write.add(self.engine, targets, template, **how))

    def put(self, documents: Iterable[PutDocument]) -> PutCounts:
        """Store documents of a program, all or none. A document replaces the one with the same id.

        With an embedding, a document is one chunk, whatever its length, and the vector is its own: no text shares it.
        Without one, it is cut and embedded like a file; where the embedder is `given:N`, words alone find it.
        `sync` keeps these documents. doc.path is `put://ID`; see `api.put.path_of` and `id_of`.
        Raises UsageError `bad_id`, `duplicate_id` within one call, `bad_document` for metadata that is not JSON,
        `dimension_mismatch`, `bad_vector` (NaN, infinity, length 0); EmbedError; StoreError `embedder_changed`,
        `chunker_changed`.
        """
        with self.store.guard.turn():
            return api.put.put(self.engine, documents)

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents that `put` stored. Return their number; unknown ids do not count."""
        paths = dict.fromkeys(map(api.put.path_of, ids))
        with self.store.writer() as writer:
            return writer.tombstone(paths)

    def sync(self, *, reparse: bool = False) -> Generator[Progress, None, responses.IngestResponse]:
        """Update every added folder and file. reparse: also read unchanged files."""
        return self.store.guard.steps(api.write.sync(self.engine, reparse=reparse))

    def remove(
        self, targets: Sequence[str], *, purge: bool = False, dry_run: bool = False
    ) -> responses.RemoveResponse:
        """Remove documents, or list them with dry_run. purge: also erase their text and judgements."""
        purging = partial(evaluate.judgements.forget, self.store) if purge else None
        stored = [*map(self._typed, targets)]
        view = maintain.remove.remove(self.store, stored, base=self.engine.base, purge=purging, dry_run=dry_run)
        if (names := self.engine.names) is not None:
            view["paths"] = [*map(names.shown, view["paths"])]
            if "copies" in view:
                view["copies"] = [*map(names.shown, view["copies"])]
        return {**OK, "removed": view, "warnings": []}

    def compact(self) -> responses.CompactResponse:
        """Delete tombstones and free their space. Keep the vector index that the settings want, or none."""
        return {**OK, "compacted": maintain.remove.compact(self.store, self.engine.config), "warnings": []}

    def reembed(
        self, name: str, settings: GivenSettings = (), *, given: bool = False
    ) -> Generator[Progress, None, responses.ReembedResponse]:
        """Rebuild every vector with another embedder, and update recall.toml. settings: the embedder's own.

        given: also replace the vectors that `put` was given. Without it, they raise StoreError `vectors_given`.
        """
        return self.store.guard.steps(api.write.reembed(self.engine, name, settings, given=given))

    def rechunk(
        self, settings: GivenSettings = (), *, dry_run: bool = False
    ) -> Generator[Progress, None, responses.RechunkResponse]:
        """Cut every document again with these settings (of `config.CUTTING`), which are saved, or recall.toml's."""
        return self.store.guard.steps(api.write.rechunk(self.engine, settings, dry_run=dry_run))

    def reindex(self, language: str | None = None) -> Generator[Progress, None, responses.ReindexResponse]:
        """Index every chunk with newer words, in steps that report progress. Vectors stay, and no file is read.

        language: as in the setting, which is saved, but not `auto`; by default that of recall.toml, else the store's.
        If the store has the newest words of this language and its index is sound, nothing changes.

        Until the last step, searches use the old words, and others may read and write the store. A stopped or failed
        run leaves it answering as before, and the next call continues. Raises ConfigError `bad_value`; StoreError
        `reindex_replaced`, `read_only`; StoreLocked.
        """
        return self.store.guard.steps(api.write.reindex(self.engine, language))

    def warm(self, **wanted: Unpack[WarmFields]) -> Generator[Progress, None, responses.WarmResponse]:
        """Embed ahead what a reranker reads, for some queries or all texts, and save it; see WarmFields."""
        return self.store.guard.steps(api.write.warm(self.engine, **wanted))

    def roots(self, **wanted: Unpack[RootsFields]) -> responses.RootsResponse:
        """Return the added roots by number, with their rules. May change roots first; see RootsFields."""
        return api.write.roots(self.engine, **wanted)

    trust = staticmethod(stores.trust)
    """Return the requests in a store's recall.toml that wait for a person. accept, forget: record a decision."""

    def import_(self, source: Path, **options: Unpack[ImportFields]) -> responses.TransferResponse:
        """Read an export into this store, all or nothing."""
        return api.write.import_(self.engine, source, options)

    def _list(self, plan: Plan, ask: Ask) -> responses.SearchResponse:
        with answers.fresh_reading(self.engine, ask) as started:

            def make(checked: dict[str, State | None]) -> responses.SearchResponse:
                answer = self.engine.answer(plan, is_read_on=not ask.documents_with_words)
                return answers.listing(self.engine, answer, ask, started=started, checked=checked)

            return self._named(self._again(plan, ask, None, make, started))

    def _again(
        self,
        plan: Plan,
        ask: Ask,
        pack: Pack | None,
        make: Callable[[dict[str, State | None]], Answer],
        started: float,
    ) -> Answer:
        """Return an answer from the cache, or make it. A reranker may change its mind, so its answers are made."""
        engine = self.engine
        if engine.cache is None or plan.config.rerank:
            return make({})
        asked = (engine.notes(), plan, ask, pack)
        return engine.cache.answer(self.store, engine.base, asked, make, started=started)

    def _typed(self, target: str) -> str:
        """Return the store's form of a target with a name as in answers."""
        names = self.engine.names
        return target if names is None else names.typed(target)

    def _named(self, answer: Answer) -> Answer:
        """Return the answer with the names of documents in an agent's memory."""
        names = self.engine.names
        return answer if names is None else names.rename_in(answer)

    def _merge(self, ask: Ask | None, pack: Pack | None, fields: QuestionFields) -> tuple[Ask, Pack]:
        """Return the options of a query and of packing, which this caller may ask for."""
        ask, pack = asked_and_packed(ask, pack, fields)
        self.engine.expect_own_counter(pack)
        return ask, pack

    def _plan(self, words: str | None, rql: str | None, ask: Ask) -> Plan:
        return self.engine.words_plan(words or "", ask) if rql is None else self.engine.rql_plan(rql, ask)
