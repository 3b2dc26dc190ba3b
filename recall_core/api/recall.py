"""Recall: one store with one method a command. The only place where everything meets."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from recall_core import views
from recall_core.api import answers, stores
from recall_core.api.answers import Ask, Pack
from recall_core.api.measure import Measured
from recall_core.config import Config
from recall_core.contract import Response, StatsView
from recall_core.errors import IngestError, UsageError
from recall_core.retrieve import Plan, plan_rql, targets
from recall_core.shell import REST, Hint, flag
from recall_core.store.one_thread import Steps, one_thread_at_a_time
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from recall_core.api.compare import DiffRequest
    from recall_core.explain.whynot.question import Asker as Seeker
    from recall_core.explain.whynot.question import Question

__all__ = ["Ask", "Pack", "Recall"]


@one_thread_at_a_time
class Recall(Measured):
    """One store. Close it, or use it in a `with` block.

    It serves one thread at a time: open one in each thread, or hand one on, also between two steps of a generator.
    A call beside another thread's raises UsageError `wrong_thread`, as `close` does in the midst of any call, and
    every call in a process that was forked off since it was opened. `interrupt` and `end` may come from any thread.
    """

    @staticmethod
    def init(
        folder: str = ".", *, embedding: str | None = None, settings: Sequence[str] = (), name: str = ""
    ) -> Response:
        """Make a store and its recall.toml in a folder. settings: `key=value` for any setting; name: see `make`."""
        place, store, warnings, resolved = stores.make(Path(folder), embedding, settings, name)
        with Recall(store, config=place.config, base=place.base, toml=place.toml) as recall:
            if resolved:
                from recall_core.maintain.settings import settle  # noqa: PLC0415 - rarely needed

                warnings += settle(place.toml, resolved)
            response = recall.stats()
            return {**response, "warnings": [*warnings, *response.get("warnings", [])]}

    # Commands that read.

    def search(self, words: str, ask: Ask = Ask()) -> Response:
        """The best chunks for these words."""
        return self._listed(self.words_plan(words, ask), ask)

    def query(self, rql: str, ask: Ask = Ask()) -> Response:
        """The rows of an RQL query."""
        return self._listed(self.rql_plan(rql, ask), ask)

    def context(self, words: str | None, ask: Ask, pack: Pack, *, rql: str | None = None) -> Response:
        """The best chunks for these words, or the rows of an RQL query, packed under a token budget."""
        started = perf_counter()
        plan = self.words_plan(words or "", ask) if rql is None else self.rql_plan(rql, ask)
        self._refresh(ask)
        with self.store.reading():
            answer = answers.asserted(self.answer(plan), ask)
            return answers.packed(
                answer,
                ask,
                pack,
                store=self.store,
                base=self.base,
                notes=self.notes(),
                started=started,
                ledger=self.leaves if ask.explain else None,
            )

    def explain(
        self, words: str | None, ask: Ask, chunk: str, *, versus: str | None = None, rql: str | None = None
    ) -> Response:
        """Why a chunk scores what it scores for these words or an RQL query, whatever its rank; beside another."""
        from recall_core.explain.explanation import explanation  # noqa: PLC0415 - a search never needs it

        started = perf_counter()
        plan = self.words_plan(words or "", ask) if rql is None else self.rql_plan(rql, ask)
        self._refresh(ask)
        with self.store.reading():
            answer = answers.asserted(self.answer(plan), ask)
            embedder = None if plan.semantic is None else self.embedder
            rows = [targets.chunk(self.store, each, base=self.base) for each in (chunk, versus) if each is not None]
            _, stale = answers.checked((row.doc for row in rows), ask, store=self.store, base=self.base)
            return views.ok(
                query=views.query_echo(plan, answer.pool, limit=plan.limit),
                explanation=explanation(answer, *rows, store=self.store, embedder=embedder),
                sparse=views.sparse_view(answer, explain=True),
                stats=answers.stats_view(answer, started),
                warnings=[*self.notes(), *answer.warnings, *stale],
            )

    def why_not(
        self,
        words: str | None,
        target: str,
        ask: Ask = Ask(),
        pack: Pack = Pack(),
        *,
        rql: str | None = None,
        fixes: bool = True,
    ) -> Response:
        """Why a chunk, document, line, file or text is not in the answer, and what would bring it in.

        pack: with a budget, the answer is a context. fixes: try changes to the question, and tell those that do.
        """
        from recall_core.api import whynot  # noqa: PLC0415 - a search never needs it

        self._refresh(ask)
        with self.store.reading():
            question = whynot.question_of(words, ask, pack, rql=rql)
            return whynot.why_not(self.seeker(question), question, target, ask, fixes=fixes, notes=self.notes())

    def trace(self, words: str | None, ask: Ask = Ask(), pack: Pack = Pack(), *, rql: str | None = None) -> Response:
        """How many rows are left after each step from the store to the answer, or to the context of a budget."""
        from recall_core.api import whynot  # noqa: PLC0415 - a search never needs it

        self._refresh(ask)
        with self.store.reading():
            question = whynot.question_of(words, ask, pack, rql=rql)
            return whynot.trace(self.seeker(question), question, ask, notes=self.notes())

    def get(self, target: str) -> Response:
        """A document, lines of it (`path:first-last`) or a chunk, verbatim as ingested."""
        from recall_core.api.get import find  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            return find(self.store, target, base=self.base)

    def stats(self) -> Response:
        """What the store holds."""
        from recall_core.evaluate.judgements import count  # noqa: PLC0415 - a search never needs it

        started = perf_counter()
        info = self.store.info()
        view = views.store_view(
            info,
            size=self.store.size_bytes(),
            sizes=self.store.sizes(),
            roots=self.store.roots(),
            judgements=count(self.store),
        )
        took_ms = round((perf_counter() - started) * 1000, 3)
        stats = StatsView(took_ms=took_ms, snapshot=info.snapshot, digest=info.digest)
        return views.ok(store=view, stats=stats, warnings=list(self.notes()))

    def doctor(self, *, fix: bool = False, dups: bool = False) -> Response:
        """Every check of the store. fix: repair what can be, after a backup. dups: look for near-duplicates too."""
        from recall_core.maintain.doctor import doctor  # noqa: PLC0415 - a search never needs it

        return views.ok(checks=doctor(self.store, self.base, config=self.config, fix=fix, dups=dups), warnings=[])

    def export(self, out: TextIO, *, embeddings: bool = True) -> Response:
        """Write the whole store as JSONL."""
        from recall_core.maintain.transfer import export  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            return views.ok(transfer=export(self.store, out, embeddings=embeddings), warnings=[])

    @staticmethod
    def embedders(config: Config = Config(), *, in_use: str | None = None, probe: bool = False) -> Response:
        """Every kind of embedder under these settings; no store is needed. in_use: the identity of a store's own."""
        from recall_core.maintain.embedders import embedders  # noqa: PLC0415 - a search never needs it

        return views.ok(embedders=embedders(config, in_use=in_use, probe=probe), warnings=[])

    def under(self, given: Sequence[str]) -> Recall:
        """The same store under other ranking settings: recall.toml files, or `key=value,…`; later ones win."""
        from recall_core.api.compare import configured  # noqa: PLC0415 - a search never needs it

        return Recall(self.store, config=configured(self.config, given), base=self.base, toml=self.toml)

    def diff(self, other: Recall, asked: DiffRequest, ask: Ask = Ask()) -> Generator[Progress, None, Response]:
        """What another store, or the same one under other settings, answers beside what this one answers."""
        from recall_core.api.compare import compare  # noqa: PLC0415 - a search never needs it
        from recall_core.embed.cached import Once  # noqa: PLC0415

        sides = self.under(()), other.under(())
        if other.store is self.store and ask.mode != "lexical" and not asked.is_rql:
            sides[0]._embedder = sides[1]._embedder = Once(self.embedder)
        mine, theirs = (each._asker(ask, is_rql=asked.is_rql) for each in sides)
        return Steps(other.guard, compare(mine, theirs, asked))

    def report(self, text: str, ask: Ask, pack: Pack, *, is_rql: bool = False) -> Response:
        """Everything about one question, for a page: results with their ledgers, the context, the rank lines."""
        from recall_core.api.report import Shared, report  # noqa: PLC0415 - a search never needs it

        started = perf_counter()
        plan = self.rql_plan(text, ask) if is_rql else self.words_plan(text, ask)
        self._refresh(ask)
        with self.store.reading():
            answer = answers.asserted(self.answer(plan), ask)
            traced = self.trace(text, ask._replace(fresh=False), rql=text if is_rql else None)
            kept = Shared(self.leaves, traced["trace"], self.store, self.base, self.notes(), started)
            return report(answer, ask, pack, kept)

    # The query language, for those who write queries.

    @staticmethod
    def check_rql(text: str, settings: Sequence[str] = ()) -> Response:
        """A query that can be asked, in its canonical spelling; no store is needed. Raises RqlError."""
        from recall_core.rql.parser import parse_query  # noqa: PLC0415 - a search never needs it
        from recall_core.rql.print import print_query  # noqa: PLC0415

        plan = plan_rql(text, config=Config(), exact=False, settings=settings)
        return views.ok(rql={"text": print_query(parse_query(text).query)}, warnings=list(plan.warnings))

    @staticmethod
    def format_rql(text: str) -> Response:
        """A query in its canonical spelling, below its comments; no store is needed. Raises RqlError."""
        from recall_core.rql.parser import format_query  # noqa: PLC0415 - a search never needs it

        return views.ok(rql={"text": format_query(text)}, warnings=[])

    def explain_rql(self, text: str, ask: Ask = Ask()) -> Response:
        """What a query does: the effective plan, the filter with the rows each part leaves, SQLite's own steps."""
        from recall_core.api.whynot import explained_query  # noqa: PLC0415 - a search never needs it

        started = perf_counter()
        plan = self.rql_plan(text, ask)
        with self.store.reading():
            answer = answers.asserted(self.answer(plan), ask)
            return views.ok(
                query=views.query_echo(plan, answer.pool, limit=plan.limit),
                explained=explained_query(plan, self.store),
                stats=answers.stats_view(answer, started),
                warnings=[*self.notes(), *answer.warnings],
            )

    def complete_rql(self, text: str, cursor: int) -> Response:
        """What may stand at a cursor (code points) of a query that is being written."""
        from recall_core.rql.complete import SUGGESTIONS  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            return views.completion(text, cursor, self.store.vocabulary(SUGGESTIONS))

    # Commands that write.

    def add(
        self, targets: Sequence[str], template: Root, *, mtime_only: bool = False, strict: bool = False
    ) -> Generator[Progress, None, Response]:
        """Ingest files and folders. strict: files that had to be skipped are an error, told after the rest is in."""
        from recall_core.ingest.pipeline import ingest  # noqa: PLC0415 - a search never needs it

        events = ingest(
            targets,
            template=template,
            store=self.store,
            embedder=self.embedder,
            config=self.store_config(),
            base=self.base,
            mtime_only=mtime_only,
        )
        return (yield from self._ingested(events, strict=strict))

    def sync(self) -> Generator[Progress, None, Response]:
        """Bring every remembered folder and file up to date."""
        from recall_core.ingest.pipeline import sync  # noqa: PLC0415 - a search never needs it

        return (yield from self._ingested(sync(self.store, self.embedder, self.store_config(), self.base)))

    def remove(self, targets: Sequence[str], *, purge: bool = False, dry_run: bool = False) -> Response:
        """Take documents out, or name them; purge: leave no byte of their text in any file of the store."""
        from recall_core.maintain.remove import remove  # noqa: PLC0415 - a search never needs it

        view = remove(self.store, targets, base=self.base, purge=purge, dry_run=dry_run)
        return views.ok(removed=view, warnings=[])

    def compact(self) -> Response:
        """Drop tombstones and give their space back; answers stay as they are."""
        from recall_core.maintain.compact import compact  # noqa: PLC0415 - a search never needs it

        return views.ok(compacted=compact(self.store), warnings=[])

    def reembed(self, name: str, settings: Sequence[str] = ()) -> Generator[Progress, None, Response]:
        """Make every vector anew with another embedder; recall.toml follows. settings: `key=value` for it."""
        from recall_core.maintain.reembed import reembed  # noqa: PLC0415 - a search never needs it

        done = yield from reembed(self.store, name, settings, config=self.config, toml=self.toml)
        self.config = done.config
        return views.ok(reembedded=done.view, warnings=[*done.warnings, *self.notes()])

    def import_(
        self, source: Path, *, on_conflict: str = "error", embeddings: bool = True, reembed: bool = False
    ) -> Response:
        """Read an export into this store, whole or not at all."""
        from recall_core.maintain.transfer import import_  # noqa: PLC0415 - a search never needs it

        view = import_(
            self.store, source, embedder=self.embedder, on_conflict=on_conflict, reembed=reembed or not embeddings
        )
        return views.ok(transfer=view, warnings=[])

    def _listed(self, plan: Plan, ask: Ask) -> Response:
        started = perf_counter()
        self._refresh(ask)
        with self.store.reading():
            answer = answers.asserted(self.answer(plan), ask)
            return answers.listed(
                answer,
                ask,
                store=self.store,
                base=self.base,
                notes=self.notes(),
                started=started,
                ledger=self.leaves if ask.explain else None,
            )

    def seeker(self, question: Question) -> Seeker:
        """The store as the explanations of absence ask it, step by step."""
        from recall_core.api.whynot import pack_of  # noqa: PLC0415 - a search never needs it
        from recall_core.explain.whynot.question import Asker as Seeker  # noqa: PLC0415

        asked = self if question.mode == "lexical" else self._asked_once()
        return Seeker(
            self.store,
            self.base,
            self.config,
            asked.answer,
            asked.weigh,
            lambda found, changed: asked.pack(found, pack_of(changed)),
        )

    def _refresh(self, ask: Ask) -> None:
        for _ in self.sync() if ask.fresh else ():
            pass

    def _ingested(self, events: Iterator[Progress], *, strict: bool = False) -> Generator[Progress, None, Response]:
        last: Progress | None = None
        for last in events:
            yield last
        if last is None:
            raise UsageError("missing_argument", "There is nothing to add.", hint=Hint("add", "FOLDER"))
        self.store.fold()
        if strict and last.skipped:
            first = last.skipped[0]
            raise IngestError(
                "files_skipped",
                f"{len(last.skipped)} files were skipped, the first {first.path}: {first.reason}",
                hint=f"{Hint('add', REST)} without {flag('strict')}",
                details=[skip._asdict() for skip in last.skipped],
            )
        return views.ok(ingest=views.ingest_view(last), warnings=list(self.notes()))
