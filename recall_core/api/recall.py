"""Recall: one store with one method a command. The only place where everything meets."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO, Unpack

from recall_core import api, deadline, evaluate, maintain, rql, views
from recall_core.api import answers, stores
from recall_core.api.engine import Engine, result_of
from recall_core.argument_types import checks_types
from recall_core.config import WATCH_REST_MS, Config, GivenSettings
from recall_core.contract import OK
from recall_core.errors import StoreError, UsageError
from recall_core.evaluate import fixture
from recall_core.paths import spot
from recall_core.retrieve.asking import Ask, AskFields, Pack, QuestionFields, asked_and_packed, merge_ask
from recall_core.retrieve.plan import Plan
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from recall_core.api.compare import DiffRequest
    from recall_core.api.write import AddFields, ImportFields, RootsFields, WarmFields
    from recall_core.contract import responses
    from recall_core.evaluate.formats import QrelsFormat
    from recall_core.evaluate.measures import EvalOptions
    from recall_core.evaluate.tune import TuneOptions
    from recall_core.evaluate.tune_question import PinTarget
    from recall_core.ingest.watch import Stop

__all__ = ["Ask", "Pack", "Recall"]


@checks_types
class Recall:
    """One store. Close it, or use it in a `with` block.

    It serves one thread at a time: open one in each thread, or hand one on, also between two steps of a generator.
    What reads or writes the store during another thread's call raises UsageError `wrong_thread`, as `close` does
    during any call, and every use of the store in a process that was forked off since. A generator whose step is
    refused ends. `interrupt` and `end` may come from any thread.
    What asks a question takes an Ask, or its fields as keywords; what packs a context takes a Pack, or its fields.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        """The finer steps: plan, answer, rank again, fetch hits, pack."""
        self.store = engine.store
        """The store itself. It serves one thread at a time, as this object does."""

    @classmethod
    def open(
        cls, store: str | None = None, *, start: Path | None = None, create: bool = False, trust: bool = False
    ) -> Self:
        """The store at that path or URL, or the one named by the nearest recall.toml upwards from `start`.

        start: None is the current folder. `:memory:` is a new, empty store that ends with this object, under the
        settings of that recall.toml or else the defaults. create: where no file is, make it and its recall.toml as
        `init` does; a name that ends like a file names the database, any other its folder. trust: what recall.toml
        says may be done without a person who accepts it.
        """
        try:
            place = stores.find(store, start=start)
            opened, config, found = stores.open_store(place, is_vouched=trust)
        except StoreError as error:
            url = stores.store_url(store or str(start or "."))
            if not create or error.code != "no_store" or url.kind != "sqlite":
                raise
            folder, name = spot(url.where)
            cls.init(folder, settings={"store_path": name} if name else {}, name=name, trust=trust)
            return cls.open(store, start=start, trust=trust)
        return cls(Engine(opened, config=config, base=place.base, toml=place.toml, found=found))

    @staticmethod
    def init(folder: str = ".", **options: Unpack[stores.NewStoreFields]) -> responses.StatsResponse:
        """Make a store and its recall.toml in a folder. options: see NewStoreFields."""
        place, store, warnings = stores.make(Path(folder), **options)
        with Recall(Engine(store, config=place.config, base=place.base, toml=place.toml)) as recall:
            response = recall.stats()
            return {**response, "warnings": [*warnings, *response["warnings"]]}

    @property
    def config(self) -> Config:
        """The settings."""
        return self.engine.config

    def close(self) -> None:
        """Let go of the file, as often as one likes. Raises UsageError `wrong_thread` in the midst of any call."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except UsageError as refused:
            if error is None:
                raise
            error.add_note(str(refused))  # what ends the block is not hidden by what that leaves open

    def interrupt(self) -> None:
        """From any thread: end a watch, and abort the statement that runs, where one does; its call raises
        Interrupted, as does one that asks an embedder's server, or else the next one that does."""
        self.engine.interrupt()

    def end(self) -> None:
        """Interrupt for good: between two statements there is none to abort, and the next one raises Interrupted."""
        self.store.guard.expect_own_process()
        self.store.end()
        self.engine.interrupt()

    within = staticmethod(deadline.within)
    """`with Recall.within(2.5):` gives all that this thread asks in the block, of any Recall, so many seconds.
    Then TimedOut is raised, nothing was written for the answer, and the Recall goes on to be of use."""

    def changes(self, stop: Stop | None = None, *, rest_ms: int = WATCH_REST_MS) -> Iterator[tuple[str, ...]]:
        """The places below the remembered roots that changed, once nothing has for a while; sync after each."""
        return self.engine.changes(stop, rest_ms=rest_ms)

    def under(self, given: Sequence[str]) -> Recall:
        """The same store under other ranking settings: recall.toml files, or `key=value,…`; later ones win."""
        return Recall(
            self.engine.beside(api.compare.configure(self.config, given, is_vouched=self.engine.found.is_vouched))
        )

    # Commands that read.

    def search(self, words: str, ask: Ask | None = None, **fields: Unpack[AskFields]) -> responses.SearchResponse:
        """Return the best chunks for these words."""
        plan = self.engine.words_plan(words, ask := merge_ask(ask, fields))
        with answers.fresh_reading(self.engine, ask) as started:
            answer = self.engine.answer(plan, is_read_on=not ask.documents_with_words)
            return answers.listing(self.engine, answer, ask, started=started)

    def query(self, rql: str, ask: Ask | None = None, **fields: Unpack[AskFields]) -> responses.SearchResponse:
        """Return the rows of an RQL query."""
        plan = self.engine.rql_plan(rql, ask := merge_ask(ask, fields))
        with answers.fresh_reading(self.engine, ask) as started:
            answer = self.engine.answer(plan, is_read_on=not ask.documents_with_words)
            return answers.listing(self.engine, answer, ask, started=started)

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
        ask, pack = asked_and_packed(ask, pack, fields)
        plan = self._plan(words, rql, ask)
        with answers.fresh_reading(self.engine, ask) as started:
            answer = self.engine.answer(plan, is_read_on=True)
            return answers.context(self.engine, answer, ask, pack, started=started)

    def replay(self, receipt: Path | str) -> responses.ReplayResponse:
        """The question of a receipt, by its file or its text, asked again; and what is another by now."""
        return api.report.replay(self.engine, receipt)

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
        """Explain why a chunk scores what it scores for these words or an RQL query, whatever its rank.

        chunk: an id, or `path:line`; by default the first hit. versus: another one, to compare it with.
        """
        return answers.explain_chunk(
            self.engine, self._plan(words, rql, ask := merge_ask(ask, fields)), ask, chunk, versus
        )

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
        """Why a chunk, document, line, file or text is not in the answer, and what would bring it in.

        pack: with a budget, the answer is a context. fixes: try changes to the question, and tell those that do.
        """
        ask, pack = asked_and_packed(ask, pack, fields)
        answers.refresh(self.engine, ask)
        return api.whynot.why_not(
            self.engine, api.whynot.question_of(words, ask, pack, rql=rql), target, ask, fixes=fixes
        )

    def trace(
        self,
        words: str | None,
        ask: Ask | None = None,
        pack: Pack | None = None,
        *,
        rql: str | None = None,
        **fields: Unpack[QuestionFields],
    ) -> responses.TraceResponse:
        """Return how many rows are left after each step from the store to the answer, or to a context."""
        ask, pack = asked_and_packed(ask, pack, fields)
        answers.refresh(self.engine, ask)
        return api.whynot.trace(self.engine, api.whynot.question_of(words, ask, pack, rql=rql), ask)

    def get(self, target: str) -> responses.GetResponse:
        """A document, lines of it (`path:first-last`) or a chunk, verbatim as ingested."""
        with self.store.reading():
            return api.get.find(self.store, target, base=self.engine.base)

    def list(
        self, prefix: str = "", *, glob: str | None = None, limit: int | None = None, offset: int = 0
    ) -> responses.ListResponse:
        """The live documents whose paths begin so and match a glob, by path; see `api.get.list_documents`."""
        return api.get.list_documents(self.engine, prefix, glob, limit=limit, offset=offset)

    def stats(self, *, sizes: bool = False) -> responses.StatsResponse:
        """What the store holds. sizes: what its file is made of, too, which every page of it is looked at for."""
        return api.get.describe_store(self.engine, sizes=sizes)

    def doctor(self, *, fix: bool = False, dups: bool = False) -> responses.DoctorResponse:
        """Run every check of the store. fix: repair what can be, after a backup. dups: find near-duplicates too."""
        engine = self.engine
        with self.store.guard.turn():  # a check that is refused would read as damage
            checks = maintain.doctor.doctor(
                self.store,
                engine.base,
                config=engine.usable,  # an embedder that waits to be accepted is not asked
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

    def backup(self, target: Path | str, *, force: bool = False) -> responses.BackupResponse:
        """Copy the store into a file, checked before it gets its name. force: over a file that is there."""
        return result_of(api.write.backup(self.engine, Path(target), force=force))

    @staticmethod
    def verify(source: Path | str) -> responses.VerifyResponse:
        """Check a store's file, a backup or an export, of which nothing changes; no store is opened."""
        view, checks = maintain.copies.verify(Path(source), stores.store_kind("sqlite"))
        return {**OK, "verified": view, "checks": checks, "warnings": []}

    @staticmethod
    def recover(old: Path | str, new: Path | str) -> responses.RecoverResponse:
        """Make a new store of what can be read of a damaged one, which is only read, and say what is lost."""
        return api.write.recover(Path(old), Path(new))

    @staticmethod
    def embedders(
        config: Config = Config(), *, in_use: str | None = None, probe: bool = False, waits: bool = False
    ) -> responses.EmbeddersResponse:
        """Every kind of embedder under these settings; no store is needed. in_use: the identity of a store's own."""
        return {
            **OK,
            "embedders": maintain.embedders.embedders(config, in_use=in_use, probe=probe, waits=waits),
            "warnings": [],
        }

    def diff(
        self, other: Recall, request: DiffRequest, ask: Ask = Ask()
    ) -> Generator[Progress, None, responses.DiffResponse]:
        """What another store, or the same one under other settings, answers beside what this one answers."""
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
        """Everything about one question, for a page: results with their ledgers, the context, the rank lines."""
        ask, pack = asked_and_packed(ask, pack, fields)
        plan = self._plan(None, text, ask) if is_rql else self._plan(text, None, ask)
        return api.report.report(self.engine, plan, ask, pack)

    # The query language, for those who write queries.

    check_rql = staticmethod(answers.query_checked)
    """A query that can be asked, in its canonical spelling; no store is needed. Raises RqlError."""

    format_rql = staticmethod(answers.query_formatted)
    """A query in its canonical spelling, below its comments; no store is needed. Raises RqlError."""

    def explain_rql(
        self, text: str, ask: Ask | None = None, **fields: Unpack[AskFields]
    ) -> responses.ExplainedResponse:
        """What a query does: the effective plan, the filter with the rows each part leaves, SQLite's own steps."""
        return api.whynot.explain_query(self.engine, self.engine.rql_plan(text, ask := merge_ask(ask, fields)), ask)

    def complete_rql(self, text: str, cursor: int) -> responses.CompletionResponse:
        """Return what may be written at a cursor (code points) of a query."""
        with self.store.reading():
            return views.completion(text, cursor, self.store.vocabulary(rql.complete.SUGGESTIONS))

    # Commands that measure.

    def evaluate(self, options: EvalOptions) -> Generator[Progress, None, responses.EvaluationResponse]:
        """Measure the ranking on judged queries; documents are ranked by their best chunk."""
        return self.store.guard.steps(
            evaluate.run.evaluate(options, self.engine.once() if options.is_semantic else self.engine)
        )

    def tune(self, options: TuneOptions, ask: Ask = Ask()) -> Generator[Progress, None, responses.TuneResponse]:
        """The weights that judged queries speak for, written into recall.toml if that is asked for."""
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
        """One answer at every weight. breaks: each weight that changes it. wishes: rather those that grant them.

        collapse: a text that several chunks hold counts once.
        """
        ask = merge_ask(ask, fields)
        plan = self._plan(None, text, ask) if is_rql else self._plan(text, None, ask)
        return answers.sweep(self.engine, plan, ask, wishes, breaks=breaks, collapse=collapse)

    def judge_import(self, *, queries: Path | None, qrels: Path | None) -> responses.JudgeResponse:
        """Read queries and judgements into the store, whole or not at all."""
        return evaluate.questions.import_(self.store, queries=queries, qrels=qrels)

    def judge_export(
        self, *, queries: TextIO | None, qrels: TextIO | None, form: QrelsFormat = "beir"
    ) -> responses.JudgeResponse:
        """Write the store's queries and judgements."""
        return evaluate.questions.export(self.store, queries=queries, qrels=qrels, form=form)

    def check_fixtures(
        self, fixtures: Path, ask: Ask = Ask(), *, baseline: Path | None = None, gate: str | None = None
    ) -> responses.FixturesResponse:
        """Check whether contexts hold the facts of a file of fixtures. baseline: an earlier answer, as JSON."""
        with self.store.guard.turn():
            view, warnings = fixture.rates.check_file(fixtures, self.engine, ask, baseline=baseline, gate=gate)
        return {**OK, "fixtures": view, "warnings": [*self.engine.notes(), *warnings]}

    def calibrate_sparse(
        self, ask: Ask = Ask(), *, queries: Path | None = None, qrels: Path | None = None
    ) -> responses.CalibrationResponse:
        """A sparse_distance_ceiling proposed from judged queries: those of files, else those of the store."""
        view, warnings = evaluate.calibrate.calibrate_judged(self.engine, ask, queries=queries, qrels=qrels)
        return {**OK, "calibration": view, "warnings": [*self.engine.notes(), *warnings]}

    # Commands that write.

    def index(self, *targets: str, template: Root = Root(""), strict: bool = False) -> responses.IngestResponse:
        """Ingest files and folders, to the end. `add` does it in steps, and says what template and strict are."""
        return result_of(self.add(targets, template, strict=strict))

    def add(
        self, targets: Sequence[str], template: Root = Root(""), **how: Unpack[AddFields]
    ) -> Generator[Progress, None, responses.IngestResponse]:
        """Ingest files and folders, as steps that say how far it is; `index` does it in one call. template: what
        holds for the files of each. how: see AddFields; strict, or the content of what is no file."""
        return self.store.guard.steps(api.write.add(self.engine, targets, template, **how))

    def sync(self, *, reparse: bool = False) -> Generator[Progress, None, responses.IngestResponse]:
        """Bring every remembered folder and file up to date. reparse: read those too that did not change."""
        return self.store.guard.steps(api.write.sync(self.engine, reparse=reparse))

    def remove(
        self, targets: Sequence[str], *, purge: bool = False, dry_run: bool = False
    ) -> responses.RemoveResponse:
        """Take documents out, or name them. purge: leave no byte of their text, nor a judgement."""
        purging = partial(evaluate.judgements.forget, self.store) if purge else None
        view = maintain.remove.remove(self.store, targets, base=self.engine.base, purge=purging, dry_run=dry_run)
        return {**OK, "removed": view, "warnings": []}

    def compact(self) -> responses.CompactResponse:
        """Drop tombstones and give their space back; keep the index of vectors that the settings want, or none."""
        return {**OK, "compacted": maintain.remove.compact(self.store, self.engine.config), "warnings": []}

    def reembed(
        self, name: str, settings: GivenSettings = ()
    ) -> Generator[Progress, None, responses.ReembedResponse]:
        """Make every vector anew with another embedder; recall.toml follows. settings: its own."""
        return self.store.guard.steps(api.write.reembed(self.engine, name, settings))

    def rechunk(
        self, settings: GivenSettings = (), *, dry_run: bool = False
    ) -> Generator[Progress, None, responses.RechunkResponse]:
        """Cut every document anew by these settings, some of `config.CUTTING`, or else recall.toml's; it follows."""
        return self.store.guard.steps(api.write.rechunk(self.engine, settings, dry_run=dry_run))

    def warm(self, **wanted: Unpack[WarmFields]) -> Generator[Progress, None, responses.WarmResponse]:
        """Embed ahead what a reranker will read, of some questions or of every text, and keep it; see WarmFields."""
        return self.store.guard.steps(api.write.warm(self.engine, **wanted))

    def roots(self, **wanted: Unpack[RootsFields]) -> responses.RootsResponse:
        """What was added, by number, with its rules; accepted, edited or forgotten before: see RootsFields."""
        return api.write.roots(self.engine, **wanted)

    trust = staticmethod(stores.trust)
    """What the recall.toml of a store says that waits for the person; accept, forget: from now on."""

    def import_(self, source: Path, **options: Unpack[ImportFields]) -> responses.TransferResponse:
        """Read an export into this store, whole or not at all."""
        return api.write.import_(self.engine, source, options)

    def _plan(self, words: str | None, rql: str | None, ask: Ask) -> Plan:
        return self.engine.words_plan(words or "", ask) if rql is None else self.engine.rql_plan(rql, ask)
