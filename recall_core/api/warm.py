"""Warm: what a reranker will read is embedded ahead, so that the first question costs what the next one does."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypedDict, Unpack

from recall_core import evaluate
from recall_core.api.engine import Engine
from recall_core.api.kept import MEGABYTE, StoredVectors
from recall_core.config import COMMIT_SECONDS, Config, GivenSettings, override
from recall_core.contract import OK
from recall_core.contract.views import WarmView
from recall_core.embed.rescore import EmbedderReranker
from recall_core.errors import UsageError
from recall_core.ingest.vectors import Pace, embed_in_calls
from recall_core.retrieve.asking import Ask
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.values import RerankVector
from recall_core.types import Progress, Stage

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.contract.responses import WarmResponse

_BLOCK_TEXTS = 1_024
_ROW_BYTES = 256  # at most what a store takes for a vector beside its components


class WarmFields(TypedDict, total=False):
    """What is embedded ahead. queries: what these questions need, in a file as `eval` reads it. everything: every
    text of the store. budget_s: seconds after which it ends, with what is made by then. settings: of the reranker."""

    queries: Path | None
    everything: bool
    budget_s: float | None
    settings: GivenSettings


def warm(engine: Engine, **wanted: Unpack[WarmFields]) -> Generator[Progress, None, WarmResponse]:
    """Embed what is missing and keep it. Stopped, it leaves what it has made, and the same call goes on there.

    Raises UsageError `no_reranker`, `rerank_unkept` for one without vectors, `bad_queries`; EmbedError; StoreLocked.
    """
    config = override(engine.config, wanted.get("settings", ()))
    queries = wanted.get("queries")
    if (queries is None) != wanted.get("everything", False):
        message = f"warm takes {flag('queries')} FILE or {flag('all')}, one of them."
        raise UsageError("missing_argument", message, hint=Hint("warm", all=True))
    run = _WarmRun(engine, config, wanted.get("budget_s"))
    yield from run.texts() if queries is None else run.questions(queries)
    yield run.event("done")
    return {**OK, "warmed": run.view(), "warnings": [*engine.notes(), *run.warnings]}


class _WarmRun:
    """One run: what is made, and what is left."""

    def __init__(self, engine: Engine, config: Config, budget_s: float | None) -> None:
        if not config.rerank:
            raise UsageError("no_reranker", "No reranker is set.", hint=Hint(AGAIN, set="rerank=minilm"))
        kept, reranker = engine.vectors_of_reranker(config), engine.reranker(config)
        if kept is None or not isinstance(reranker, EmbedderReranker):
            message = f"The reranker {config.rerank} has no vectors that could be kept."
            raise UsageError("rerank_unkept", message, hint=Hint(AGAIN, set="rerank=minilm"))
        self.engine = engine
        self.config = config
        self.reranker = reranker
        self.kept: StoredVectors = kept
        self.store = engine.store
        self.last = None if budget_s is None else monotonic() + budget_s
        self.warnings: list[str] = []
        self.documents = self.store.info().documents
        self.total = self.store.texts()
        self.before = self.texts_there()
        self._made_before = kept.made
        self.asked = self.left = 0

    @property
    def embedded(self) -> int:
        """How many texts this run has embedded."""
        return self.kept.made - self._made_before

    def texts_there(self) -> int:
        """How many of the texts have their vector."""
        return self.total if self.kept.is_own else self.store.texts_reranked(self.kept.maker)

    def texts(self) -> Iterator[Progress]:
        """Every text of the store, as far as there is room."""
        yield self.event("embed")
        if self.kept.is_own:
            return
        unsaved: list[RerankVector] = []
        since = monotonic()
        try:
            for made in self._made():
                unsaved += made
                self.kept.made += len(made)
                if monotonic() - since >= COMMIT_SECONDS:
                    self._save(unsaved)
                    unsaved, since = [], monotonic()
                yield self.event("embed")
                if self._is_over():
                    break
        finally:
            self._save(unsaved)
        self.left = self.total - self.texts_there()
        if self.left and self._room() == 0:
            self._warn(self.left)

    def _made(self) -> Iterator[list[RerankVector]]:
        after, pace = b"", Pace()
        while (room := self._room()) and (
            texts := self.store.texts_to_rerank(self.kept.maker, after=after, limit=min(room, _BLOCK_TEXTS))
        ):
            for answers in embed_in_calls(texts, self.reranker.embedder, pace):
                yield [RerankVector(key, False, found.vector) for key, found in answers.items()]
            after = max(texts)

    def _save(self, made: Sequence[RerankVector]) -> None:
        if made:
            self.store.keep_reranked(
                self.kept.maker, made, most_bytes=self.config.rerank_mb * MEGABYTE, may_wait=True
            )

    def _room(self) -> int:
        """For how many more vectors there is room, so that none makes room for another."""
        one = 4 * self.reranker.embedder.dimension + _ROW_BYTES
        return max(0, self.config.rerank_mb * MEGABYTE // one - self.before - self.embedded)

    def questions(self, queries: Path) -> Iterator[Progress]:
        """What these need: the texts that are read for each, and its own vector."""
        texts = evaluate.formats.read_queries(queries)
        self.left = len(texts)
        since = monotonic()
        try:
            for number, (query, text) in enumerate(texts.items(), start=1):
                plan = self.engine.words_plan(text, Ask())._replace(config=self.config)
                with self.store.reading():  # in whose midst nothing is kept question by question
                    self.engine.answer(plan)
                self.asked, self.left = number, len(texts) - number
                if monotonic() - since >= COMMIT_SECONDS:
                    self._keep()
                    since = monotonic()
                yield Progress("ask", query, number, len(texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
                if self._is_over():
                    break
        finally:
            self._keep()

    def _keep(self) -> None:
        self.kept.keep(megabytes=self.config.rerank_mb, may_wait=True)

    def _is_over(self) -> bool:
        return self.last is not None and monotonic() >= self.last

    def _warn(self, left: int) -> None:
        self.warnings.append(
            f"W_RERANK_MB: rerank_mb = {self.config.rerank_mb} has no room for {left} of the texts; "
            "they are embedded when a question needs them"
        )

    def event(self, stage: Stage) -> Progress:
        """Documents count as files, which all are there; chunks are distinct texts."""
        documents = self.documents
        waiting = max(0, self.total - self.before - self.embedded)
        counters = (documents, documents, documents, self.total, self.embedded, self.before)
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting)

    def view(self) -> WarmView:
        """What the run did."""
        return WarmView(
            reranker=self.config.rerank,
            texts=self.total,
            kept=self.texts_there(),
            embedded=self.embedded,
            questions=self.asked,
            left=self.left,
            bytes=self.store.reranked_bytes(),
        )
