"""The analysis thread and the writer thread, on a real store and without a screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import load
from recall_core.errors import EmbedError, Interrupted, RecallError, StoreLocked, UsageError
from recall_core.evaluate.judgements import Judgement, Spot, put
from recall_core.explain.explanation import explanation
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.targets import chunk as chunk_row
from recall_core.types import Progress
from recall_tui.analyses.explain import language_marks
from recall_tui.state.events import AnalysisDone, AnalysisMoved, Crashed, Event, StoreOpened, TaskDone, TaskMoved
from recall_tui.state.explaining import Funnel, Ledger, Paths
from recall_tui.state.records import SCOPES, Analysis, Kind, StoreState
from recall_tui.state.session import Session, ask, result_of, stamp_of
from recall_tui.state.transitions import after
from recall_tui.threads import analysis_thread
from recall_tui.threads.analysis_thread import AnalysisThread
from recall_tui.threads.writing import WriterTask, WriterThread
from tests.builders import opened_by
from tests.event_log import EventLog
from tests.provider_server import provider_server
from tests.workbench_corpus import build_store, build_store_elsewhere


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("analyses"))


@pytest.fixture
def log() -> EventLog:
    return EventLog()


@pytest.fixture
def thread(store: Path, log: EventLog) -> Iterator[AnalysisThread]:
    thread = AnalysisThread(lambda: Recall.open(str(store)), log.post)
    thread.start()
    yield thread
    thread.stop()


@pytest.fixture
def tasks(store: Path, log: EventLog) -> Iterator[WriterThread]:
    thread = WriterThread(lambda: Recall.open(str(store)), log.post, time.monotonic)
    thread.start()
    yield thread
    thread.stop()


class Tries:
    """An opener that records its calls."""

    def __init__(self, opener: Callable[[], Recall]) -> None:
        self._opener = opener
        self._asked = threading.Condition()
        self.times: list[float] = []

    def __call__(self) -> Recall:
        with self._asked:
            self.times.append(time.monotonic())
            self._asked.notify_all()
        return self._opener()

    def wait(self, times: int) -> None:
        """Wait for this number of calls."""
        with self._asked:
            assert self._asked.wait_for(lambda: len(self.times) >= times, 10)


def answered(store: Path, text: str = "token budget") -> tuple[Session, str]:
    """Return a session at its first row, and the row's chunk."""
    with Recall.open(str(store)) as recall:
        answer = recall.engine.answer(recall.engine.plan(text))
        hits = dict(enumerate(recall.engine.hits(answer, 0, 3)))
        info = recall.store.info()
    first = hits[0]
    assert first.chunk is not None
    asking = ask(Session(store=StoreState(info=info)), text, 0.0)
    session = asking._replace(
        query=asking.query._replace(busy=False),
        results=asking.results._replace(answer=answer, answered=asking.query.question, hits=hits, hit=first),
    )
    return session, first.chunk.id


def test_every_kind_of_analysis_has_a_scope() -> None:
    assert set(SCOPES) == set(get_args(Kind))


def test_an_analysis_returns_its_result(store: Path, log: EventLog, thread: AnalysisThread) -> None:
    session, chunk = answered(store)
    analysis = Analysis("ledger", chunk)

    thread.submit([(analysis, stamp_of(session, analysis))], session)
    log.wait_for(lambda event: isinstance(event, AnalysisDone))

    event = log.events[-1]
    assert isinstance(event, AnalysisDone)
    result = result_of(after(session, event), analysis, Ledger)
    assert isinstance(result, Ledger)
    assert result.view["chunk"]["id"] == chunk
    assert result.view["chunk"]["rank"] == 1


def test_a_failed_analysis_explains_and_the_next_runs(store: Path, log: EventLog, thread: AnalysisThread) -> None:
    session, chunk = answered(store)
    wanted = [Analysis("ledger", "f" * 64), Analysis("ledger", chunk)]

    thread.submit([(analysis, stamp_of(session, analysis)) for analysis in wanted], session)
    log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.analysis == wanted[1])

    first = log.events[0]
    assert isinstance(first, AnalysisDone)
    assert isinstance(first.result, RecallError)


def test_a_result_is_valid_until_its_inputs_change(store: Path) -> None:
    session, chunk = answered(store)
    ledger, overview = Analysis("ledger", chunk), Analysis("overview")
    for analysis in (ledger, overview):
        session = after(session, AnalysisDone(analysis, stamp_of(session, analysis), Ledger({})))  # type: ignore[typeddict-item]

    moved = session._replace(query=session.query._replace(generation=session.query.generation + 1))
    written = after(session, TaskDone("judge", "done"))

    assert result_of(session, ledger, Ledger) is not None
    assert (result_of(moved, ledger, Ledger), result_of(moved, overview, Ledger) is not None) == (None, True)
    assert result_of(written, overview, Ledger) is None


def test_a_late_result_changes_nothing(store: Path) -> None:
    session, chunk = answered(store)
    analysis = Analysis("ledger", chunk)
    late = AnalysisDone(analysis, stamp_of(session, analysis), Ledger({}))  # type: ignore[typeddict-item]

    moved = session._replace(query=session.query._replace(generation=session.query.generation + 1))

    assert after(moved, late).analyses == {}


def test_an_unwanted_analysis_is_dropped(store: Path, log: EventLog, thread: AnalysisThread) -> None:
    session, chunk = answered(store)
    analysis = Analysis("ledger", chunk)
    newer = session._replace(query=session.query._replace(generation=session.query.generation + 1))

    for _ in range(20):
        thread.submit([(analysis, stamp_of(session, analysis))], session)
        thread.submit([(analysis, stamp_of(newer, analysis))], newer)
    log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.stamp == stamp_of(newer, analysis))

    assert all(isinstance(event, AnalysisDone) for event in log.events)


class EndlessEngine(Engine):
    """Return a store whose searches end only when aborted."""

    begun = threading.Event()
    aborted = threading.Event()

    def answer(self, plan: Plan) -> Answer:
        self.begun.set()
        assert self.aborted.wait(60)
        raise Interrupted("interrupted", "The query was interrupted.")

    def interrupt(self) -> None:
        self.aborted.set()
        super().interrupt()


def test_the_search_of_an_unwanted_analysis_is_aborted(tmp_path: Path, log: EventLog) -> None:
    store = build_store(tmp_path)
    with Recall.open(str(store)) as recall:
        put(recall.store, {"q": "token budget"}, [Judgement("q", Spot("docs/budget.md"), 1)])
    board, paths = Analysis("board"), Analysis("paths")
    thread = AnalysisThread(lambda: opened_by(EndlessEngine, store), log.post)
    thread.start()
    thread.submit([(board, stamp_of(Session(), board))], Session())
    assert EndlessEngine.begun.wait(60)

    thread.submit([(paths, stamp_of(Session(), paths))], Session())
    log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.analysis == paths)
    thread.stop()

    assert not any(isinstance(event, Crashed) for event in log.events)


class OnceEndless(EndlessEngine):
    """Return a store whose searches end once one was aborted."""

    begun = threading.Event()
    aborted = threading.Event()

    def answer(self, plan: Plan) -> Answer:
        return Engine.answer(self, plan) if self.aborted.is_set() else super().answer(plan)


def test_a_held_analysis_is_aborted_and_done_later(tmp_path: Path, log: EventLog) -> None:
    store = build_store(tmp_path)
    with Recall.open(str(store)) as recall:
        put(recall.store, {"q": "token budget"}, [Judgement("q", Spot("docs/budget.md"), 1)])
    board, seconds = Analysis("board"), 0.3
    thread = AnalysisThread(lambda: opened_by(OnceEndless, store), log.post)
    thread.start()
    thread.submit([(board, stamp_of(Session(), board))], Session())
    assert OnceEndless.begun.wait(60)

    since = time.monotonic()
    thread.hold(seconds)
    done = log.wait_for(lambda event: isinstance(event, AnalysisDone))
    thread.stop()

    assert OnceEndless.aborted.is_set()
    assert time.monotonic() - since >= seconds
    assert isinstance(done, AnalysisDone)
    assert not isinstance(done.result, RecallError)


def test_a_result_is_not_computed_twice(store: Path, log: EventLog, thread: AnalysisThread) -> None:
    session, chunk = answered(store)
    wanted = [(analysis, stamp_of(session, analysis)) for analysis in (Analysis("ledger", chunk),)]

    thread.submit(wanted, session)
    log.wait_for(lambda event: isinstance(event, AnalysisDone))
    thread.submit(wanted, session)
    thread.stop()

    assert len(log.events) == 1


def test_changing_requests_are_served_once_they_stop(
    store: Path, log: EventLog, thread: AnalysisThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_thread, "REST_SECONDS", 0.5)
    session, _ = answered(store)
    chunks = [hit.chunk.id for hit in session.results.hits.values() if hit.chunk]
    wanted = [(analysis, stamp_of(session, analysis)) for analysis in (Analysis("ledger", chunk) for chunk in chunks)]

    for each in wanted:
        thread.submit([each], session)
    log.wait_for(lambda event: isinstance(event, AnalysisDone))

    assert [event.analysis for event in log.events if isinstance(event, AnalysisDone)] == [wanted[-1][0]]


def test_ledgers_of_one_answer_are_independent(store: Path, log: EventLog, thread: AnalysisThread) -> None:
    session, _ = answered(store)
    assert session.results.answer is not None
    chunks = [hit.chunk.id for hit in session.results.hits.values() if hit.chunk]
    wanted = [(analysis, stamp_of(session, analysis)) for analysis in (Analysis("ledger", chunk) for chunk in chunks)]

    thread.submit(wanted, session)
    log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.analysis == wanted[-1][0])

    with Recall.open(str(store)) as recall:
        alone = [
            explanation(
                session.results.answer,
                chunk_row(recall.store, chunk, base=recall.engine.base),
                store=recall.store,
                embedder=recall.engine.embedder,
            )
            for chunk in chunks
        ]
    results = [event.result for event in log.events if isinstance(event, AnalysisDone)]
    assert [result.view for result in results if isinstance(result, Ledger)] == alone


def test_a_defect_in_an_analysis_reaches_the_screen(log: EventLog, thread: AnalysisThread) -> None:
    session = Session()  # without the answer that a ledger explains

    thread.submit([(Analysis("ledger", "c" * 64), (0, 0))], session)
    log.wait_for(lambda event: isinstance(event, Crashed) and isinstance(event.error, AssertionError))

    thread.submit([(Analysis("overview"), (0, 0))], session)
    thread.stop()

    assert "recall-analyses" not in [each.name for each in threading.enumerate()]
    assert [type(event) for event in log.events] == [Crashed]


def test_a_missing_store_is_reported_by_the_query_thread(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_thread, "AGAIN_SECONDS", 0.05)
    asked_for = Tries(lambda: Recall.open(str(tmp_path / "none.db")))
    thread = AnalysisThread(asked_for, log.post)
    thread.start()

    thread.submit([(Analysis("overview"), (0, 0))], Session())
    asked_for.wait(3)
    thread.stop()

    assert "recall-analyses" not in [each.name for each in threading.enumerate()]
    assert log.events == []


def test_a_store_is_opened_again_while_analyses_wait(
    store: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_thread, "AGAIN_SECONDS", 0.3)

    def opener() -> Recall:
        if len(tries.times) < 3:
            raise StoreLocked("store_locked", "It is being written.")
        return Recall.open(str(store))

    tries = Tries(opener)
    thread = AnalysisThread(tries, log.post)
    thread.start()

    thread.submit([(Analysis("paths"), (0, 0))], Session())
    log.wait_for(lambda event: isinstance(event, AnalysisDone))
    thread.stop()

    assert len(tries.times) == 3
    assert all(later - earlier >= 0.3 for earlier, later in pairwise(tries.times))


def test_a_store_is_not_opened_again_without_analyses(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_thread, "AGAIN_SECONDS", 0.05)

    def opener() -> Recall:
        raise StoreLocked("store_locked", "It is being written.")

    tries = Tries(opener)
    thread = AnalysisThread(tries, log.post)
    thread.start()
    thread.submit([(Analysis("paths"), (0, 0))], Session())
    tries.wait(1)

    thread.submit([], Session())
    tried = len(tries.times)
    time.sleep(0.3)
    thread.stop()

    assert len(tries.times) <= tried + 1  # one may have been running
    assert log.events == []


def test_a_replaced_store_is_analysed_instead(tmp_path: Path, log: EventLog) -> None:
    place = build_store(tmp_path / "one")
    Recall.init(str(tmp_path / "two"))
    other = tmp_path / "two" / "recall.db"
    session, _ = answered(place)
    thread = AnalysisThread(lambda: Recall.open(str(place)), log.post)
    thread.start()
    thread.submit([(Analysis("paths"), (0, 0))], session)
    before = log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.stamp == (0, 0))

    other.replace(place)
    thread.submit([(Analysis("paths"), (0, 1))], session)
    after = log.wait_for(lambda event: isinstance(event, AnalysisDone) and event.stamp == (0, 1))
    thread.stop()

    assert [_paths(event) for event in (before, after)] == [37, 0]


def _paths(event: Event) -> int:
    assert isinstance(event, AnalysisDone)
    assert isinstance(event.result, Paths)
    return len(event.result.paths)


def test_stores_of_one_generation_have_different_stamps(store: Path) -> None:
    session, _ = answered(store)
    assert session.store.info is not None
    other = session._replace(store=session.store._replace(info=session.store.info._replace(digest="0" * 64)))

    assert stamp_of(session, Analysis("paths")) != stamp_of(other, Analysis("paths"))


def test_tasks_run_in_order_and_report_their_end(log: EventLog, tasks: WriterThread) -> None:
    done: list[int] = []
    for number in range(5):
        tasks.submit(WriterTask(f"task {number}", lambda _recall, _say, number=number: done.append(number) or "done"))
    log.wait_for(lambda event: isinstance(event, TaskDone) and event.name == "task 4")

    assert done == [0, 1, 2, 3, 4]
    assert [event.name for event in log.events if isinstance(event, TaskDone)] == [f"task {n}" for n in range(5)]
    assert sum(isinstance(event, StoreOpened) for event in log.events) == 5


def test_a_failed_task_explains_and_the_next_runs(log: EventLog, tasks: WriterThread) -> None:
    def refuse(_recall: Recall, _say: object) -> str:
        raise UsageError("bad_value", "Not like this.")

    tasks.submit(WriterTask("first", refuse))
    tasks.submit(WriterTask("second", lambda _recall, _say: "done"))
    log.wait_for(lambda event: isinstance(event, TaskDone) and event.name == "second")

    first = next(event for event in log.events if isinstance(event, TaskDone))
    assert first.error is not None
    assert first.error.code == "bad_value"


def test_the_workbench_ends_after_its_tasks(log: EventLog, tasks: WriterThread) -> None:
    done: list[int] = []

    def slowly(_recall: Recall, _say: object) -> str:
        time.sleep(0.05)
        done.append(1)
        return ""

    for _ in range(3):
        tasks.submit(WriterTask("slow", slowly))
    tasks.stop()

    assert len(done) == 3


def test_a_long_task_reports_its_progress(log: EventLog, tasks: WriterThread) -> None:
    progress = Progress("embed", "", 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, ())

    def tell(_recall: Recall, say: Callable[[Progress], None]) -> str:
        say(progress)
        say(progress)
        return "done"

    tasks.submit(WriterTask("tell", tell))
    log.wait_for(lambda event: isinstance(event, TaskDone))

    assert [event for event in log.events if isinstance(event, TaskMoved)] == [TaskMoved("tell", progress)]


def test_a_defect_in_a_task_reaches_the_screen(log: EventLog, tasks: WriterThread) -> None:
    tasks.submit(WriterTask("broken", lambda _recall, _say: str(1 // 0)))

    log.wait_for(lambda event: isinstance(event, Crashed) and isinstance(event.error, ZeroDivisionError))


def test_a_board_of_many_queries_reports_its_progress(tmp_path: Path, log: EventLog) -> None:
    store, queries = build_store(tmp_path), 1_505
    with Recall.open(str(store)) as recall:
        names = [f"q{number}" for number in range(queries)]
        grades = [Judgement(name, Spot("docs/budget.md"), 1) for name in names]
        put(recall.store, dict.fromkeys(names, "token budget"), grades)
    analysis = Analysis("board")
    thread = AnalysisThread(lambda: Recall.open(str(store)), log.post)
    thread.start()

    thread.submit([(analysis, stamp_of(Session(), analysis))], Session())
    log.wait_for(lambda event: isinstance(event, AnalysisDone), seconds=60.0)
    thread.stop()

    event_done = [event.done for event in log.events if isinstance(event, AnalysisMoved)]
    assert len(event_done) >= 9
    assert event_done[-1] > queries * 0.8


def test_an_analysis_uses_no_network_once_it_is_forbidden(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with provider_server(768) as server:
        place = build_store_elsewhere(tmp_path, server)
        saved, analysis = load(tmp_path / "recall.toml"), Analysis("funnel")
        before = (base := answered(place)[0])._replace(weights=base.weights._replace(saved=saved))
        later = before._replace(
            weights=before.weights._replace(saved=saved._replace(allow_network=False)),
            query=before.query._replace(generation=before.query.generation + 1),
        )
        thread = AnalysisThread(lambda: Recall.open(str(place)), log.post)
        thread.start()
        thread.submit([(analysis, stamp_of(before, analysis))], before)
        log.wait_for(lambda event: isinstance(event, AnalysisDone) and isinstance(event.result, Funnel))
        asked = server.texts()

        thread.submit([(analysis, stamp_of(later, analysis))], later)
        event_done = log.wait_for(
            lambda event: isinstance(event, AnalysisDone) and event.stamp == stamp_of(later, analysis)
        )
        thread.stop()

        assert isinstance(event_done, AnalysisDone)
        assert isinstance(event_done.result, EmbedError)
        assert event_done.result.code == "network_not_allowed"
        assert server.texts() == asked


def test_line_breaks_keep_colours_on_their_words() -> None:
    for line_break in ["\n", "\r\n", "\r"]:
        for path, lines in [
            ("bench.py", ["import os", "", "def one():", '    """Two', '    lines."""', "    return 1  # why"]),
            ("notes.md", ["# Title", "", "```python", "def one():", "    return None", "```", "**end**"]),
            ("page.html", ["<p class='a'>", "<!-- one", "two -->", "<script>var one = 'x';</script>"]),
            ("one.c", ["#define ONE \\", "  1", "int main() { return ONE; } /* why */"]),
        ]:
            plain, text = "\n".join(lines), line_break.join(lines)

            marks = language_marks(path, text)

            coloured = [(mark.kind, plain[mark.start : mark.end]) for mark in language_marks(path, plain)]
            assert coloured, (line_break, path)
            found = [(mark.kind, text[mark.start : mark.end].replace(line_break, "\n")) for mark in marks]
            assert found == coloured, (line_break, path)
