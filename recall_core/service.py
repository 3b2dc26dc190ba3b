"""Recall: one store, opened, with one method a command. The only place where everything meets."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Self, TextIO

from recall_core import asking, found, locate, respond
from recall_core.asking import Ask, Pack
from recall_core.config import Config, override
from recall_core.contract import Response, StatsView
from recall_core.embed.registry import embedder_of
from recall_core.errors import IngestError, UsageError
from recall_core.ports import Embedder
from recall_core.retrieve import Answer, Plan, plan_rql, plan_words
from recall_core.retrieve import answer as answering
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.types import Hit, Packed, Progress, Root

__all__ = ["Ask", "Pack", "Recall"]


class Recall:
    """One store. Use one in each thread; close it, or use it in a `with` block."""

    def __init__(self, store: SqliteStore, *, config: Config, base: Path) -> None:
        self.store = store
        self.config = config
        self.base = base
        self._embedder: Embedder | None = None

    @staticmethod
    def init(folder: str = ".", *, embedding: str | None = None, settings: Sequence[str] = ()) -> Response:
        """Make a store and its recall.toml in a folder. settings: `key=value` for any setting."""
        place, store = locate.make(Path(folder), locate.initial_config(embedding, settings))
        with Recall(store, config=place.config, base=place.base) as recall:
            return recall.stats()

    @classmethod
    def open(cls, store: str | None = None, *, start: Path | None = None) -> Self:
        """The store at that path, or the one named by the nearest recall.toml upwards from `start`."""
        place = locate.find(store, start=start or Path.cwd())
        return cls(open_store(str(place.path)), config=place.config, base=place.base)

    @property
    def embedder(self) -> Embedder:
        """The embedder that made this store's vectors."""
        if self._embedder is None:
            self._embedder = embedder_of(self.store.info().embedder)
        return self._embedder

    def close(self) -> None:
        """Let go of the file."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def interrupt(self) -> None:
        """From another thread: abort the statement that is running; its call raises Interrupted."""
        self.store.interrupt()

    # A question in steps, for those who rank and pack the same pool again.

    def plan(self, text: str, ask: Ask = Ask()) -> Plan:
        """A question understood: RQL when it begins with SELECT, words otherwise."""
        from recall_core.rql.head import is_query  # noqa: PLC0415 - search and query know what they were given

        return self._rql(text, ask) if is_query(text) else self._words(text, ask)

    def answer(self, plan: Plan) -> Answer:
        """Search and rank: the only step that searches the store."""
        return answering.answer(plan, self.store, self.embedder if plan.semantic is not None else None)

    def rerank(self, answer: Answer, config: Config) -> Answer:
        """The same pool under other ranking settings."""
        return answering.rerank(answer, config, self.store)

    def hits(self, answer: Answer, start: int, stop: int) -> list[Hit]:
        """Ranks start + 1 to stop of the full list, with their texts."""
        return answering.hits(answer, self.store, start=start, stop=stop)

    def pack(self, answer: Answer, options: Pack = Pack()) -> Packed:
        """The ranked list packed under a budget."""
        return asking.packing(answer, options, store=self.store)

    # Commands that read.

    def search(self, words: str, ask: Ask = Ask()) -> Response:
        """The best chunks for these words."""
        return self._listed(self._words(words, ask), ask)

    def query(self, rql: str, ask: Ask = Ask()) -> Response:
        """The rows of an RQL query."""
        return self._listed(self._rql(rql, ask), ask)

    def context(self, words: str | None, ask: Ask, pack: Pack, *, rql: str | None = None) -> Response:
        """The best chunks for these words, or the rows of an RQL query, packed under a token budget."""
        started = perf_counter()
        plan = self._words(words or "", ask) if rql is None else self._rql(rql, ask)
        self._refresh(ask)
        with self.store.reading():
            answer = asking.asserted(self.answer(plan), ask)
            return asking.packed(
                answer, ask, pack, store=self.store, base=self.base, notes=self._notes(), started=started
            )

    def get(self, target: str) -> Response:
        """A document, lines of it (`path:first-last`) or a chunk, verbatim as ingested."""
        with self.store.reading():
            return found.find(self.store, target, base=self.base)

    def stats(self) -> Response:
        """What the store holds."""
        started = perf_counter()
        info = self.store.info()
        view = respond.store_view(info, size=self.store.size_bytes(), roots=self.store.roots())
        took_ms = round((perf_counter() - started) * 1000, 3)
        stats = StatsView(took_ms=took_ms, snapshot=info.snapshot, digest=info.digest)
        return respond.ok(store=view, stats=stats, warnings=list(self._notes()))

    def doctor(self, *, fix: bool = False) -> Response:
        """Every check of the store; fix: repair what can be repaired, after a backup."""
        from recall_core.maintain.doctor import doctor  # noqa: PLC0415 - a search never needs it

        return respond.ok(checks=doctor(self.store, fix=fix), warnings=[])

    def export(self, out: TextIO, *, embeddings: bool = True) -> Response:
        """Write the whole store as JSONL."""
        from recall_core.maintain.transfer import export  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            return respond.ok(transfer=export(self.store, out, embeddings=embeddings), warnings=[])

    # The query language, for those who write queries.

    @staticmethod
    def check_rql(text: str, settings: Sequence[str] = ()) -> Response:
        """A query that can be asked, in its canonical spelling; no store is needed. Raises RqlError."""
        from recall_core.rql.parser import parse_query  # noqa: PLC0415 - a search never needs it
        from recall_core.rql.print import print_query  # noqa: PLC0415

        plan = plan_rql(text, config=override(Config(), settings), exact=False)
        return respond.ok(rql={"text": print_query(parse_query(text).query)}, warnings=list(plan.warnings))

    @staticmethod
    def format_rql(text: str) -> Response:
        """A query in its canonical spelling, below its comments; no store is needed. Raises RqlError."""
        from recall_core.rql.format import format_query  # noqa: PLC0415 - a search never needs it

        return respond.ok(rql={"text": format_query(text)}, warnings=[])

    def explain_rql(self, text: str, ask: Ask = Ask()) -> Response:
        """What a query does: the effective plan, the filter with the rows each part leaves, SQLite's own steps."""
        from recall_core.explaining import explained  # noqa: PLC0415 - a search never needs it

        started = perf_counter()
        plan = self._rql(text, ask)
        with self.store.reading():
            answer = asking.asserted(self.answer(plan), ask)
            return respond.ok(
                query=respond.query_echo(plan, answer.pool, limit=plan.limit),
                explained=explained(plan, self.store),
                stats=asking.stats_view(answer, started),
                warnings=[*self._notes(), *answer.warnings],
            )

    def complete_rql(self, text: str, cursor: int) -> Response:
        """What may stand at a cursor (code points) of a query that is being written."""
        from recall_core.store.sqlite.vocabulary import SqliteVocabulary  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            return respond.completion(text, cursor, SqliteVocabulary(self.store.execute))

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
            config=self._store_config(),
            base=self.base,
            mtime_only=mtime_only,
        )
        return (yield from self._ingested(events, strict=strict))

    def sync(self) -> Generator[Progress, None, Response]:
        """Bring every remembered folder and file up to date."""
        from recall_core.ingest.pipeline import sync  # noqa: PLC0415 - a search never needs it

        events = sync(self.store, self.embedder, self._store_config(), self.base)
        return (yield from self._ingested(events, strict=False))

    def remove(self, targets: Sequence[str], *, purge: bool = False) -> Response:
        """Take documents out; purge: leave no byte of their text in any file of the store."""
        from recall_core.maintain.remove import remove  # noqa: PLC0415 - a search never needs it

        return respond.ok(removed=remove(self.store, targets, base=self.base, purge=purge), warnings=[])

    def compact(self) -> Response:
        """Drop tombstones and give their space back; answers stay as they are."""
        from recall_core.maintain.compact import compact  # noqa: PLC0415 - a search never needs it

        return respond.ok(compacted=compact(self.store), warnings=[])

    def import_(
        self, source: Path, *, on_conflict: str = "error", embeddings: bool = True, reembed: bool = False
    ) -> Response:
        """Read an export into this store, whole or not at all."""
        from recall_core.maintain.transfer import import_  # noqa: PLC0415 - a search never needs it

        view = import_(
            self.store, source, embedder=self.embedder, on_conflict=on_conflict, reembed=reembed or not embeddings
        )
        return respond.ok(transfer=view, warnings=[])

    def _words(self, words: str, ask: Ask) -> Plan:
        config = override(self.config, ask.settings)
        return plan_words(words, config=config, mode=ask.mode, filter_text=ask.filter, k=ask.k, exact=ask.exact)

    def _rql(self, text: str, ask: Ask) -> Plan:
        plan = plan_rql(text, config=override(self.config, ask.settings), exact=ask.exact)
        return plan if ask.k is None else plan._replace(limit=ask.k, is_capped=True)

    def _listed(self, plan: Plan, ask: Ask) -> Response:
        started = perf_counter()
        self._refresh(ask)
        with self.store.reading():
            answer = asking.asserted(self.answer(plan), ask)
            return asking.listed(answer, ask, store=self.store, base=self.base, notes=self._notes(), started=started)

    def _refresh(self, ask: Ask) -> None:
        if ask.fresh:
            for _ in self.sync():
                pass

    def _notes(self) -> tuple[str, ...]:
        return locate.disagreements(self.config, self.store.info())

    def _store_config(self) -> Config:
        return locate.stored_config(self.config, self.store.info())

    def _ingested(self, events: Iterator[Progress], *, strict: bool) -> Generator[Progress, None, Response]:
        last: Progress | None = None
        for last in events:
            yield last
        if last is None:
            raise UsageError("missing_argument", "There is nothing to add.", hint="recall add FOLDER")
        if strict and last.skipped:
            first = last.skipped[0]
            raise IngestError(
                "files_skipped",
                f"{len(last.skipped)} files were skipped, the first {first.path}: {first.reason}",
                hint="recall add … without --strict",
                details=[skip._asdict() for skip in last.skipped],
            )
        return respond.ok(ingest=respond.ingest_view(last), warnings=list(self._notes()))
