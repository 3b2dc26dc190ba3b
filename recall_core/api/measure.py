"""One store, measured: judged queries, fixtures, and the weights that they speak for."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from recall_core import views
from recall_core.api.answers import Ask, asserted, stats_view
from recall_core.api.engine import Engine
from recall_core.config import SEARCH_K, override
from recall_core.contract import Response
from recall_core.store.one_thread import one_thread_at_a_time
from recall_core.types import Progress

if TYPE_CHECKING:
    from recall_core.evaluate.asker import Searching
    from recall_core.evaluate.formats import QrelsFormat
    from recall_core.evaluate.options import EvalOptions
    from recall_core.evaluate.tune import TuneOptions
    from recall_core.evaluate.tune_question import PinTarget


@one_thread_at_a_time
class Measured(Engine):
    """One store with the commands that measure it."""

    def evaluate(self, options: EvalOptions) -> Generator[Progress, None, Response]:
        """Measure the ranking on judged queries; documents are ranked by their best chunk."""
        from recall_core.evaluate.options import MODES  # noqa: PLC0415
        from recall_core.evaluate.run import evaluate  # noqa: PLC0415 - a search never needs it

        asked = self._asked_once() if options.is_semantic else self

        def documents(words: str, mode: str, depth: int) -> list[str]:
            plan = asked.words_plan(words, Ask(k=depth, mode=MODES[mode], settings=options.settings))
            answer = asked.answer(plan._replace(table="doc"))
            if answer.pool is None or answer.ranked is None:
                return []
            return [answer.pool.keys[each].path for each in answer.ranked.order[: min(depth, answer.total)]]

        return evaluate(options, store=self.store, rank=documents)

    def tune(self, options: TuneOptions, ask: Ask = Ask()) -> Generator[Progress, None, Response]:
        """The weights that judged queries speak for, written into recall.toml if that is asked for."""
        from recall_core.evaluate.tune import tune  # noqa: PLC0415 - a search never needs it

        return tune(options, self._asked_once()._asker(ask), toml=self.toml)

    def sweep(
        self,
        text: str,
        ask: Ask = Ask(),
        *,
        is_rql: bool = False,
        breaks: bool = False,
        wishes: tuple[PinTarget, ...] = (),
    ) -> Response:
        """One answer at every weight. breaks: each weight that changes it. wishes: rather those that grant them."""
        from recall_core.evaluate.grid import not_swept  # noqa: PLC0415 - a search never needs it
        from recall_core.evaluate.tune_question import tuning_view  # noqa: PLC0415

        started = perf_counter()
        plan = self.rql_plan(text, ask) if is_rql else self.words_plan(text, ask)
        with self.store.reading():
            answer = asserted(self.answer(plan), ask)
            tuning = tuning_view(answer, wishes, self._asker(ask), breaks=breaks)
            return views.ok(
                query=views.query_echo(plan, answer.pool, limit=plan.limit),
                tuning=tuning,
                stats=stats_view(answer, started),
                warnings=[*self.notes(), *answer.warnings, *not_swept(answer.plan.config)],
            )

    def _asked_once(self) -> Measured:
        """The same store, whose embedder reads a question once however often it is asked in a row."""
        from recall_core.embed.cached import Once  # noqa: PLC0415 - a search never needs it

        asked = Measured(self.store, config=self.config, base=self.base, toml=self.toml)
        asked._embedder = Once(self.embedder)
        return asked

    def judge_import(self, *, queries: Path | None, qrels: Path | None) -> Response:
        """Read queries and judgements into the store, whole or not at all."""
        from recall_core.evaluate.questions import import_  # noqa: PLC0415 - a search never needs it

        return import_(self.store, queries=queries, qrels=qrels)

    def judge_export(self, *, queries: TextIO | None, qrels: TextIO | None, form: QrelsFormat = "beir") -> Response:
        """Write the store's queries and judgements."""
        from recall_core.evaluate.questions import export  # noqa: PLC0415 - a search never needs it

        return export(self.store, queries=queries, qrels=qrels, form=form)

    def check_fixtures(
        self, fixtures: Path, ask: Ask = Ask(), *, baseline: Path | None = None, gate: str | None = None
    ) -> Response:
        """Whether contexts hold the facts of a file of fixtures. baseline: an earlier answer to them, as JSON."""
        from recall_core.evaluate.fixture.rates import checked  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            view = checked(fixtures, self._asker(ask), baseline=baseline, gate=gate)
        return views.ok(fixtures=view, warnings=list(self.notes()))

    def calibrate_sparse(
        self, ask: Ask = Ask(), *, queries: Path | None = None, qrels: Path | None = None
    ) -> Response:
        """A sparse_distance_ceiling proposed from judged queries: those of files, else those of the store."""
        from recall_core.evaluate.calibrate import calibrate, judged_paths  # noqa: PLC0415 - a search never needs it

        with self.store.reading():
            judged, warnings = judged_paths(self.store, queries=queries, qrels=qrels)
            view = calibrate(judged, self._asker(ask))
        return views.ok(calibration=view, warnings=[*self.notes(), *warnings])

    def _asker(self, ask: Ask, *, is_rql: bool = False) -> Searching:
        from recall_core.evaluate.asker import Searching  # noqa: PLC0415 - a search never needs it

        k = SEARCH_K if ask.k is None else ask.k
        plan = partial(self.rql_plan if is_rql else self.words_plan, ask=ask._replace(k=k))
        return Searching(self.store, self.base, override(self.config, ask.settings), k, plan, self.answer, self.weigh)
