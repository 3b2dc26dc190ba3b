"""One store, opened with its settings and its embedder: plan, answer, rank again, fetch hits, pack."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from recall_core import asking, locate
from recall_core.asking import Ask, Pack
from recall_core.config import Config, override
from recall_core.embed.registry import embedder_of
from recall_core.ports import Embedder
from recall_core.retrieve import Answer, Plan, plan_rql, plan_words
from recall_core.retrieve import answer as answering
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.types import Hit, Packed


class Opened:
    """One store and what it takes to ask it. Use one in each thread; close it, or use it in a `with` block."""

    def __init__(self, store: SqliteStore, *, config: Config, base: Path) -> None:
        self.store = store
        self.config = config
        self.base = base
        self._embedder: Embedder | None = None

    @classmethod
    def open(cls, store: str | None = None, *, start: Path | None = None) -> Self:
        """The store at that path, or the one named by the nearest recall.toml upwards from `start`."""
        place = locate.find(store, start=start or Path.cwd())
        return cls(open_store(str(place.path)), config=place.config, base=place.base)

    @property
    def embedder(self) -> Embedder:
        """The embedder that made this store's vectors."""
        if self._embedder is None:
            self._embedder = embedder_of(self.store.info().embedder, self.config)
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

        return self.rql_plan(text, ask) if is_query(text) else self.words_plan(text, ask)

    def answer(self, plan: Plan) -> Answer:
        """Search and rank: the only step that searches the store."""
        return answering.answer(plan, self.store, self.embedder if plan.semantic is not None else None)

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """The same pool under other ranking settings."""
        return answering.weigh(answer, config, self.store)

    def hits(self, answer: Answer, start: int, stop: int) -> list[Hit]:
        """Ranks start + 1 to stop of the full list, with their texts."""
        return answering.hits(answer, self.store, start=start, stop=stop)

    def pack(self, answer: Answer, options: Pack = Pack()) -> Packed:
        """The ranked list packed under a budget."""
        return asking.packing(answer, options, store=self.store)

    # What commands share.

    def words_plan(self, words: str, ask: Ask) -> Plan:
        """A search for these words, understood."""
        config = override(self.config, ask.settings)
        return plan_words(words, config=config, mode=ask.mode, filter_text=ask.filter, k=ask.k, exact=ask.exact)

    def rql_plan(self, text: str, ask: Ask) -> Plan:
        """A query in RQL, understood. Raises RqlError."""
        plan = plan_rql(text, config=override(self.config, ask.settings), exact=ask.exact)
        return plan if ask.k is None else plan._replace(limit=ask.k, is_capped=True)

    def notes(self) -> tuple[str, ...]:
        """Where recall.toml and the store disagree."""
        return locate.disagreements(self.config, self.store.info())

    def store_config(self) -> Config:
        """The settings with those that the store was made with in place of what recall.toml says by now."""
        return locate.stored_config(self.config, self.store.info())
