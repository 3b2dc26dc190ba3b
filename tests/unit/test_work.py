"""The query thread and its mailbox, on a real store and without a screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config, load
from recall_core.errors import EmbedError, Interrupted
from recall_core.evaluate import judgements
from recall_core.maintain.embedders import write_settings
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.rql.ast import Field
from recall_core.types import Hit, Progress, Root
from recall_tui.handlers.store import reembed_all
from recall_tui.state.events import (
    Advanced,
    Answered,
    Charted,
    Crashed,
    Ended,
    Event,
    Failed,
    Fetched,
    Learned,
    Repacked,
    Reweighed,
    StoreOpened,
    TaskDone,
    Unread,
    Unusable,
)
from recall_tui.state.records import Lookup, Packing
from recall_tui.state.store_pane import StoreCommand
from recall_tui.state.transitions import QueryRequest
from recall_tui.threads import answering, query_thread
from recall_tui.threads.answering import Answering
from recall_tui.threads.query_thread import QueryThread
from recall_tui.threads.writing import IngestThread, Say, WriterTask, WriterThread
from tests.builders import opened_by
from tests.event_log import EventLog
from tests.provider_server import ProviderServer, provider_server
from tests.workbench_corpus import build_store, build_store_elsewhere


class SlowEngine(Engine):
    """A store with slow searches, like a large one, that stop on request."""

    searches = 0
    seconds = 0.1

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.aborted = threading.Event()

    def answer(self, plan: Plan) -> Answer:
        SlowEngine.searches += 1
        self.aborted.clear()
        if self.aborted.wait(self.seconds):
            raise Interrupted("interrupted", "The query was interrupted.")
        return super().answer(plan)

    def interrupt(self) -> None:
        self.aborted.set()
        super().interrupt()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("work"))


@pytest.fixture
def log() -> EventLog:
    return EventLog()


@pytest.fixture
def thread(store: Path, log: EventLog) -> Iterator[QueryThread]:
    thread = QueryThread(lambda: Recall.open(str(store)), log.post, time.monotonic)
    thread.start()
    yield thread
    thread.stop()


@pytest.fixture
def slow_thread(store: Path, log: EventLog) -> Iterator[QueryThread]:
    SlowEngine.searches = 0
    thread = QueryThread(lambda: opened_by(SlowEngine, store), log.post, time.monotonic)
    thread.start()
    yield thread
    thread.stop()


class CutOffEngine(Engine):
    """A store whose first reading of rows is aborted, as by a weight change."""

    reads = threading.Event()
    moved = threading.Event()

    def hits(self, answer: Answer, start: int, stop: int) -> list[Hit]:
        if not self.reads.is_set():
            self.reads.set()
            assert self.moved.wait(60)
            raise Interrupted("interrupted", "The query was interrupted.")
        return super().hits(answer, start, stop)


def request_for(generation: int, text: str = "token budget") -> QueryRequest:
    return QueryRequest(generation, text, (0, 10), Packing(500), question=generation, k=50)


def is_packed(generation: int) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, Repacked) and event.generation == generation


def test_query_survives_a_weight_change_during_reading(
    store: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CutOffEngine, "reads", threading.Event())
    monkeypatch.setattr(CutOffEngine, "moved", threading.Event())
    thread = QueryThread(lambda: opened_by(CutOffEngine, store), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    assert CutOffEngine.reads.wait(60)
    thread.submit(request_for(2)._replace(question=1, settings={"vector_weight": 0.5}))
    CutOffEngine.moved.set()
    log.wait_for(is_packed(2))
    thread.stop()

    answered = [event for event in log.events if isinstance(event, Answered)]
    assert [(event.generation, event.question) for event in answered] == [(2, 1)]
    assert answered[0].answer.plan.config.vector_weight == 0.5


def test_abandoned_query_leaves_nothing_behind(store: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CutOffEngine, "reads", threading.Event())
    monkeypatch.setattr(CutOffEngine, "moved", threading.Event())
    thread = QueryThread(lambda: opened_by(CutOffEngine, store), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    assert CutOffEngine.reads.wait(60)
    thread.submit(request_for(1)._replace(is_given_up=True))
    CutOffEngine.moved.set()
    thread.submit(request_for(1)._replace(is_given_up=True, window=(0, 20), lookups=((None, ""),)))
    log.wait_for(lambda event: isinstance(event, Learned))
    thread.stop()

    assert not any(isinstance(event, Answered | Fetched | Repacked) for event in log.events)


def test_request_is_answered_with_rows_then_a_context(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1))
    packed = log.wait_for(is_packed(1))

    kinds = [type(event) for event in log.events]
    assert kinds.index(StoreOpened) < kinds.index(Answered) < kinds.index(Repacked)
    found = next(event for event in log.events if isinstance(event, Answered))
    assert [hit.rank for hit in found.hits.values()] == list(range(1, 11))
    assert isinstance(packed, Repacked)
    assert packed.packed.budget_tokens == 500
    assert len(packed.block_tokens) == len(packed.packed.blocks)


def test_another_window_or_budget_does_not_search_again(slow_thread: QueryThread, log: EventLog) -> None:
    slow_thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    slow_thread.submit(QueryRequest(1, "token budget", (20, 30), Packing(200), question=1, k=50))
    fetched = log.wait_for(lambda event: isinstance(event, Fetched))
    log.wait_for(lambda event: isinstance(event, Repacked) and event.packed.budget_tokens == 200)

    assert isinstance(fetched, Fetched)
    assert list(fetched.hits) == list(range(20, 30))
    assert SlowEngine.searches == 1


def test_purged_rows_lead_to_a_new_answer(tmp_path: Path, log: EventLog) -> None:
    (tmp_path / "manual").mkdir()
    for number in range(60):
        (tmp_path / "manual" / f"more{number}.txt").write_text(f"Another budget of tokens, number {number}.\n")
    store = str(build_store(tmp_path))
    thread = QueryThread(lambda: Recall.open(store), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))
    with Recall.open(store) as other:
        other.remove(["manual/*"], purge=True)

    thread.submit(request_for(2)._replace(question=1, settings={"vector_weight": 0.25}, window=(60, 97)))
    packed = log.wait_for(is_packed(2))
    thread.stop()

    assert isinstance(packed, Repacked)
    assert not any(isinstance(event, Failed) for event in log.events)
    newest = [event for event in log.events if isinstance(event, Answered)][-1]
    assert (newest.generation, newest.question) == (2, 1)
    assert newest.answer.plan.config.vector_weight == 0.25
    assert not any(hit.doc.path.startswith("manual/") for hit in newest.hits.values())


def test_thirty_requests_per_second_cost_few_searches(store: Path, log: EventLog) -> None:
    searches = 0
    moments: Queue[None] = Queue()

    class Stubborn(Engine):
        """A search that takes as long as three requests, a tenth of a second."""

        def answer(self, plan: Plan) -> Answer:
            nonlocal searches
            searches += 1
            for _ in range(3):
                moments.get()
                moments.task_done()
            return super().answer(plan)

        def interrupt(self) -> None:
            """Ignore the abort, as if the statement ended before the abort arrived."""

    thread = QueryThread(lambda: opened_by(Stubborn, store), log.post, time.monotonic)
    thread.start()
    log.wait_for(lambda event: isinstance(event, StoreOpened))
    for generation in range(1, 31):
        thread.submit(request_for(generation, "token budget"[: generation % 12 + 1]))
        moments.put(None)
        moments.join()
    for _ in range(100):
        moments.put(None)
    log.wait_for(is_packed(30))
    thread.stop()

    assert searches <= 16
    assert log.generations(Answered)[-1] == 30
    assert log.generations(Repacked)[-1] == 30


def test_newer_request_aborts_and_drops_the_older_search(
    slow_thread: QueryThread, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SlowEngine, "seconds", 30.0)
    log.wait_for(lambda event: isinstance(event, StoreOpened))
    slow_thread.submit(request_for(1, "household"))
    while SlowEngine.searches == 0:
        time.sleep(0.005)

    monkeypatch.setattr(SlowEngine, "seconds", 0.0)
    slow_thread.submit(request_for(2, "cosine"))
    log.wait_for(is_packed(2))

    assert log.generations(Answered) == [2]
    assert not any(isinstance(event, Failed) for event in log.events)


def test_newer_window_of_the_same_query_aborts_nothing(slow_thread: QueryThread, log: EventLog) -> None:
    log.wait_for(lambda event: isinstance(event, StoreOpened))
    slow_thread.submit(request_for(1))
    while SlowEngine.searches == 0:
        time.sleep(0.005)

    slow_thread.submit(QueryRequest(1, "token budget", (5, 15), Packing(500), question=1, k=50))
    log.wait_for(is_packed(1))

    assert SlowEngine.searches == 1


def test_failed_query_leaves_the_older_answer_scrollable(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    thread.submit(request_for(2, "SELECT nonsense"))
    failed = log.wait_for(lambda event: isinstance(event, Failed))
    thread.submit(QueryRequest(2, "SELECT nonsense", (20, 30), Packing(500), question=2, k=50))
    fetched = log.wait_for(lambda event: isinstance(event, Fetched))

    assert isinstance(failed, Failed)
    assert failed.question == 2
    assert isinstance(fetched, Fetched)
    assert (fetched.generation, list(fetched.hits)) == (2, list(range(20, 30)))


def test_missing_completions_are_loaded_before_any_query(thread: QueryThread, log: EventLog) -> None:
    path, key = Lookup(Field("doc", "path"), "docs/"), Lookup(None, "")

    thread.submit(request_for(0, "")._replace(lookups=(path, key)))
    log.wait_for(lambda event: isinstance(event, Learned) and event.lookup == key)

    learned = [event.entry for event in log.events if isinstance(event, Learned)]
    texts = [known.value for known in learned[0].known]
    assert texts == ["docs/budget.md", "docs/files.md", "docs/scoring.md"]
    assert learned[0].is_whole
    assert [known.value for known in learned[1].known] == ["language"]


def test_truncated_value_list_is_not_complete(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(0, "")._replace(lookups=(Lookup(Field("doc", "path"), ""),)))

    event = log.wait_for(lambda event: isinstance(event, Learned))

    assert isinstance(event, Learned)
    assert event.entry.known
    assert not event.entry.is_whole


def test_empty_text_runs_no_query(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1, "  "))
    thread.submit(request_for(2))
    log.wait_for(is_packed(2))

    assert log.generations(Answered) == [2]


class CountingEngine(Engine):
    """An engine that counts its searches."""

    searches = 0
    warmed = threading.Event()

    def answer(self, plan: Plan) -> Answer:
        answer = super().answer(plan)
        CountingEngine.searches += 1
        if CountingEngine.searches == answering.WARM_QUESTIONS:
            self.warmed.set()
        return answer


def test_store_is_warmed_once_before_the_first_query(store: Path, log: EventLog) -> None:
    thread = QueryThread(lambda: opened_by(CountingEngine, store), log.post, time.monotonic)
    CountingEngine.searches = 0
    CountingEngine.warmed.clear()
    thread.start()
    thread.submit(request_for(1, ""))
    assert CountingEngine.warmed.wait(60)
    thread.submit(request_for(2, " "))
    thread.submit(request_for(3))
    log.wait_for(is_packed(3))
    thread.stop()

    assert CountingEngine.searches == answering.WARM_QUESTIONS + 1


def test_warming_sends_no_text_to_a_server(tmp_path: Path, log: EventLog) -> None:
    with provider_server(768) as server:
        place = build_store_elsewhere(tmp_path, server)
        sent = len(server.seen)
        with Recall.open(str(place), trust=True) as recall:
            answers = Answering(recall, log.post, time.monotonic, lambda: False, lambda: None)
            answers.serve(request_for(1, ""))

        assert len(server.seen) == sent


def test_unopenable_store_is_reported(tmp_path: Path, log: EventLog) -> None:
    thread = QueryThread(lambda: Recall.open(start=tmp_path), log.post, time.monotonic)
    thread.start()

    event = log.wait_for(lambda event: isinstance(event, Unusable))
    thread.stop()

    assert isinstance(event, Unusable)
    assert event.error.code == "no_store"


def test_replaced_store_file_answers(tmp_path: Path, log: EventLog) -> None:
    place = build_store(tmp_path / "one")
    Recall.init(str(tmp_path / "two"))
    other = tmp_path / "two" / "recall.db"
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    other.replace(place)
    thread.submit(request_for(2))
    answered = log.wait_for(lambda event: isinstance(event, Answered) and event.generation == 2)
    thread.stop()

    assert isinstance(answered, Answered)
    assert answered.answer.total == 0
    opened = [event for event in log.events if isinstance(event, StoreOpened)]
    assert [event.info.documents for event in opened if event.config is not None] == [37, 0]


def grade(recall: Recall, _say: Say) -> str:
    judgements.put(recall.store, {"q1": "token budget"}, [])
    return "graded"


def do(place: Path, log: EventLog, task: WriterTask) -> None:
    """Run one task in a thread to its end."""
    tasks = WriterThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    tasks.start()
    tasks.submit(task)
    tasks.stop()
    done = log.wait_for(lambda event: isinstance(event, TaskDone))
    assert isinstance(done, TaskDone)
    assert done.error is None


def newest_settings(log: EventLog) -> Config | None:
    """Return the settings of the newest task."""
    return [event for event in log.events if isinstance(event, StoreOpened)][-1].config


def test_task_does_not_restore_outdated_settings(tmp_path: Path, log: EventLog) -> None:
    def saved_meanwhile(recall: Recall, _say: Say) -> str:
        write_settings(recall.engine.toml, {"vector_weight": 0.75})
        return "done"

    do(build_store(tmp_path), log, WriterTask("grade", saved_meanwhile))

    assert newest_settings(log) is None


def test_reembed_keeps_settings_saved_in_the_meantime(tmp_path: Path, log: EventLog) -> None:
    def run(recall: Recall, _say: Say) -> str:
        def save(_: Progress) -> None:
            write_settings(recall.engine.toml, {"pool": 7})

        return reembed_all(recall, save, remedy=StoreCommand("reembed", "local"), stopped=threading.Event())

    do(build_store(tmp_path), log, WriterTask("reembed", run))

    told = newest_settings(log)
    assert told == load(tmp_path / "recall.toml")
    assert (told.embedding, told.pool) == ("local", 7)


def log_bytes(place: Path) -> int:
    log = Path(f"{place}-wal")
    return log.stat().st_size if log.exists() else 0


def test_task_leaves_an_empty_log_next_to_open_readers(tmp_path: Path, log: EventLog) -> None:
    place = build_store(tmp_path)
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    do(place, log, WriterTask("grade", grade))

    assert Path(f"{place}-wal").exists()
    assert log_bytes(place) == 0
    thread.stop()


def test_ingest_leaves_an_empty_log_next_to_open_readers(tmp_path: Path, log: EventLog) -> None:
    place = build_store(tmp_path)
    (tmp_path / "new.txt").write_text("A quokka.\n", encoding="utf-8")
    with Recall.open(str(place)) as reader:
        assert reader.store.info().documents == 37
        ingest = IngestThread(lambda: Recall.open(str(place)), str(tmp_path / "new.txt"), log.post, time.monotonic)
        ingest.start()
        log.wait_for(lambda event: isinstance(event, Ended))
        ingest.stop()

        assert Path(f"{place}-wal").exists()
        assert log_bytes(place) == 0
        assert reader.store.info().documents == 38


def test_log_blocked_by_a_reader_is_folded_later(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    place = build_store(tmp_path)
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    with Recall.open(str(place)) as reader:
        with reader.store.reading():
            reader.store.info()
            do(place, log, WriterTask("grade", grade))
            assert log_bytes(place) > 0
        ends = time.monotonic() + 10
        while log_bytes(place) and time.monotonic() < ends:
            time.sleep(0.01)
        assert log_bytes(place) == 0
    thread.stop()


@pytest.mark.parametrize("size", [1, 3_000])
def test_file_replacing_a_graded_store_answers_and_stays_sound(tmp_path: Path, log: EventLog, size: int) -> None:
    place = build_store(tmp_path / "one")
    Recall.init(str(tmp_path / "two"))
    (tmp_path / "two" / "quokka.txt").write_text("A token budget of a quokka.\n\n" * size, encoding="utf-8")
    with Recall.open(str(tmp_path / "two")) as other:
        for _ in other.add([str(tmp_path / "two" / "quokka.txt")], Root("")):
            pass
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))
    with Recall.open(str(place)) as analysing:  # like the analysis thread, which notices the new file last
        analysing.store.info()
        do(place, log, WriterTask("grade", grade))

        (tmp_path / "two" / "recall.db").replace(place)
        thread.submit(request_for(2))
        answered = log.wait_for(
            lambda event: isinstance(event, Unusable) or (isinstance(event, Answered) and event.generation == 2)
        )

        assert isinstance(answered, Answered)
        assert {hit.doc.path for hit in answered.hits.values()} == {"quokka.txt"}
        assert analysing.store.is_replaced()
        with Recall.open(str(place)) as fresh:
            assert fresh.store.execute("PRAGMA integrity_check") == [("ok",)]
    thread.stop()


def test_other_programs_can_open_a_replaced_file(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    Recall.init(str(tmp_path / "one"))
    place, larger = tmp_path / "one" / "recall.db", build_store(tmp_path / "two")
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    log.wait_for(lambda event: isinstance(event, StoreOpened))
    do(place, log, WriterTask("grade", grade))  # SQLite's index of the log now contains the size of this file

    larger.replace(place)
    log.wait_for(lambda event: isinstance(event, StoreOpened) and event.is_altered and event.info.documents == 37)

    with Recall.open(str(place)) as fresh:
        assert fresh.store.info().documents == 37
    thread.stop()
    with Recall.open(str(place)) as fresh:
        assert fresh.store.execute("PRAGMA integrity_check") == [("ok",)]


def test_outside_writes_are_reported_once_when_quiet(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    place = build_store(tmp_path)
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    with Recall.open(str(place)) as other:
        path = other.store.execute("SELECT path FROM doc LIMIT 1")[0][0]
        other.remove((path,))
    told = log.wait_for(lambda event: isinstance(event, StoreOpened) and event.is_altered)
    time.sleep(0.3)
    thread.stop()

    assert isinstance(told, StoreOpened)
    assert told.info.documents == 36
    assert sum(isinstance(event, StoreOpened) and event.is_altered for event in log.events) == 1


def test_deleted_store_no_longer_answers(tmp_path: Path, log: EventLog) -> None:
    place = build_store(tmp_path)
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    place.unlink()
    thread.submit(request_for(2))
    gone = log.wait_for(lambda event: isinstance(event, Unusable))
    thread.stop()

    assert isinstance(gone, Unusable)
    assert gone.error.code == "no_store"
    assert log.generations(Answered) == [1]


def test_defect_in_a_thread_reaches_the_screen(log: EventLog) -> None:
    thread = QueryThread(lambda: 1 / 0, log.post, time.monotonic)  # type: ignore[arg-type, return-value]
    thread.start()

    event = log.wait_for(lambda event: isinstance(event, Crashed))
    thread.stop()

    assert isinstance(event, Crashed)
    assert isinstance(event.error, ZeroDivisionError)


def test_stopping_aborts_a_running_search(
    slow_thread: QueryThread, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SlowEngine, "seconds", 30.0)
    slow_thread.submit(request_for(1))
    while SlowEngine.searches == 0:
        time.sleep(0.005)
    started = time.monotonic()

    slow_thread.stop(timeout=60)

    assert time.monotonic() - started < 10
    assert not any(worker.name == "recall-query" for worker in threading.enumerate())


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[ProviderServer, Path]]:
    """Yield a server that stops answering, and a store with its vectors."""
    with provider_server() as server:
        settings = (f"embedding_url={server.url}", "embedding_model=some-model")
        (tmp_path / "one.txt").write_text("the budget of a text")
        Recall.init(str(tmp_path), embedding="openai", settings=settings)
        with Recall.open(start=tmp_path) as recall:
            list(recall.add([str(tmp_path / "one.txt")], Root("")))
            place = Path(recall.store.path)
        server.asked.clear()
        server.gate.clear()
        yield server, place
        server.gate.set()


def test_newer_query_does_not_wait_for_a_silent_server(silent: tuple[ProviderServer, Path], log: EventLog) -> None:
    server, place = silent
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1, "a question for the server"))
    assert server.asked.wait(60)

    thread.submit(request_for(2, "SELECT chunk.text, score FROM chunk USING lexical('budget')"))

    log.wait_for(lambda event: isinstance(event, Answered) and event.generation == 2)
    thread.stop()
    assert not any(isinstance(event, Failed) for event in log.events)
    assert not server.gate.is_set()


def test_abandoned_query_is_released_and_not_retried(silent: tuple[ProviderServer, Path], log: EventLog) -> None:
    server, place = silent
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    words = "SELECT chunk.text, score FROM chunk USING lexical('budget')"
    thread.submit(request_for(1, words))
    log.wait_for(is_packed(1))
    thread.submit(request_for(2, "a question for the server"))
    assert server.asked.wait(60)

    server.asked.clear()
    given_up = request_for(2, "a question for the server")._replace(is_given_up=True)
    thread.submit(given_up)
    thread.submit(given_up._replace(packing=Packing(499)))
    repacked = log.wait_for(lambda event: isinstance(event, Repacked) and event.packing == Packing(499))

    thread.stop()
    assert isinstance(repacked, Repacked)
    assert repacked.packed.text != ""  # the screen still shows the previous answer
    assert not server.asked.is_set()
    assert not any(isinstance(event, Failed | Crashed) for event in log.events)
    assert not any(isinstance(event, Answered) and event.generation == 2 for event in log.events)


def test_stopping_does_not_wait_for_a_silent_server(silent: tuple[ProviderServer, Path], log: EventLog) -> None:
    server, place = silent
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1, "a question for the server"))
    assert server.asked.wait(60)

    thread.stop(timeout=60)

    assert not thread._thread.is_alive()
    assert not any(isinstance(event, Failed | Crashed) for event in log.events)


def test_ingest_ends_with_its_figures(tmp_path: Path, log: EventLog) -> None:
    store = build_store(tmp_path)
    (tmp_path / "new.txt").write_text("A quokka.\n", encoding="utf-8")

    thread = IngestThread(lambda: Recall.open(str(store)), str(tmp_path / "new.txt"), log.post, time.monotonic)
    thread.start()
    ended = log.wait_for(lambda event: isinstance(event, Ended))
    thread.stop()

    assert isinstance(ended, Ended)
    assert ended.view is not None
    assert ended.view["added"] == 1
    assert log.events.index(ended) > [type(event) for event in log.events].index(StoreOpened)


def test_cancelled_ingest_has_no_figures_and_leaves_store_sound(tmp_path: Path, log: EventLog) -> None:
    store = build_store(tmp_path)
    (tmp_path / "more").mkdir()
    for number in range(50):
        (tmp_path / "more" / f"{number}.txt").write_text(f"Note {number}.\n", encoding="utf-8")
    thread = IngestThread(lambda: Recall.open(str(store)), str(tmp_path / "more"), log.post, time.monotonic)

    thread.cancel()
    thread.start()
    ended = log.wait_for(lambda event: isinstance(event, Ended))
    thread.stop()

    assert ended == Ended(None, None)
    with Recall.open(str(store)) as recall:
        assert recall.store.info().documents >= 37


def test_progress_is_reported_at_most_twenty_times_a_second(tmp_path: Path, log: EventLog) -> None:
    store = build_store(tmp_path)
    (tmp_path / "more").mkdir()
    for number in range(60):
        (tmp_path / "more" / f"{number}.txt").write_text(f"Note {number}.\n", encoding="utf-8")
    ticks = iter(range(10_000))
    thread = IngestThread(
        lambda: Recall.open(str(store)), str(tmp_path / "more"), log.post, lambda: next(ticks) * 0.01
    )

    thread.start()
    log.wait_for(lambda event: isinstance(event, Ended))
    thread.stop()

    events = next(ticks)
    reports = sum(isinstance(event, Advanced) for event in log.events)
    assert 1 <= reports <= events * 0.01 * 20 + 1


def is_weighed(generation: int) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, Reweighed) and event.generation == generation


def test_changed_weight_reranks_and_repacks_without_a_search(slow_thread: QueryThread, log: EventLog) -> None:
    slow_thread.submit(request_for(1, "keep the manual in mind"))
    log.wait_for(is_packed(1))

    settings = {"bm25_weight": 0.0, "vector_weight": 1.0}
    slow_thread.submit(request_for(2, "keep the manual in mind")._replace(question=1, settings=settings))
    weighed = log.wait_for(is_weighed(2))
    log.wait_for(is_packed(2))

    assert SlowEngine.searches == 1
    assert isinstance(weighed, Reweighed)
    with Recall.open(str(log_store(log))) as recall:
        asked = recall.engine.answer(recall.engine.plan("keep the manual in mind", Ask(settings=settings)))
        expected = recall.engine.hits(asked, 0, 10)
        plain = recall.engine.answer(recall.engine.plan("keep the manual in mind"))
    assert list(weighed.hits.values()) == expected
    assert weighed.answer.ranked is not None
    assert plain.ranked is not None
    order = weighed.answer.ranked.order
    assert [weighed.before[row] for row in range(10)] == [
        plain.ranked.order.index(order[row]) + 1 for row in range(10)
    ]


def log_store(log: EventLog) -> str:
    return next(event.info.path for event in log.events if isinstance(event, StoreOpened))


def test_another_weight_ranks_and_packs_without_the_store(store: Path, log: EventLog) -> None:
    opened: list[Recall] = []
    seen: list[str] = []

    def open_store() -> Recall:
        opened.append(Recall.open(str(store)))
        return opened[-1]

    def note(_cursor: Any, sql: str, _bindings: Any) -> bool:
        seen.append(sql)
        return True

    thread = QueryThread(open_store, log.post, time.monotonic)
    thread.start()
    thread.submit(request_for(1))
    log.wait_for(lambda event: isinstance(event, Charted))
    opened[0].store.db.exec_trace = note
    for generation, weight in enumerate((0.25, 0.5, 0.75), start=2):
        thread.submit(request_for(generation)._replace(question=1, settings={"vector_weight": weight}))
        log.wait_for(is_packed(generation))
    thread.stop()

    # A poll for outside writes may come between, and so may sizes of documents near the fiftieth row.
    asked = [sql for sql in seen if not sql.startswith("SELECT doc, count(*) FROM chunk")]
    assert [sql for sql in asked if "chunk" in sql or "doc" in sql] == []


def test_chart_follows_the_rows_once_per_scale(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1))
    log.wait_for(lambda event: isinstance(event, Charted))
    thread.submit(request_for(2)._replace(question=1, settings={"vector_weight": 0.5}))
    log.wait_for(is_packed(2))
    thread.submit(request_for(3)._replace(question=1, settings={"fusion": "rrf"}))
    log.wait_for(lambda event: isinstance(event, Charted) and event.chart.fusion == "rrf")

    kinds = [type(event) for event in log.events]
    assert kinds.index(Repacked) < kinds.index(Charted)
    assert kinds.count(Charted) == 2


def test_early_undo_still_gets_its_answer(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    thread.submit(request_for(3)._replace(question=1))

    assert isinstance(log.wait_for(is_weighed(3)), Reweighed)
    log.wait_for(is_packed(3))


def test_saved_weights_become_the_defaults_of_the_query(thread: QueryThread, log: EventLog) -> None:
    thread.submit(request_for(1))
    log.wait_for(is_packed(1))

    thread.submit(request_for(2)._replace(question=1, saved=Config(vector_weight=0.4, bm25_weight=0.6)))
    weighed = log.wait_for(is_weighed(2))

    assert isinstance(weighed, Reweighed)
    assert weighed.answer.plan.config.vector_weight == weighed.plain.vector_weight == 0.4
    assert weighed.before == {}


def test_no_query_leaves_this_machine_after_network_is_disabled(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with provider_server(768) as server:
        place = build_store_elsewhere(tmp_path, server)
        thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
        thread.start()
        thread.submit(request_for(1)._replace(saved=load(tmp_path / "recall.toml")))
        log.wait_for(is_packed(1))
        asked = server.texts()
        write_settings(tmp_path / "recall.toml", {"allow_network": False})

        thread.submit(request_for(2, "household tea")._replace(saved=load(tmp_path / "recall.toml")))
        failed = log.wait_for(lambda event: isinstance(event, Failed))
        thread.stop()

        assert isinstance(failed, Failed)
        assert isinstance(failed.error, EmbedError)
        assert (failed.question, failed.error.code) == (2, "network_not_allowed")
        assert server.texts() == asked


def test_query_goes_to_the_currently_configured_server(tmp_path: Path, log: EventLog) -> None:
    with provider_server(768) as before, provider_server(768) as after:
        place = build_store(tmp_path, "ollama", (f"embedding_url={before.url}",))
        thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
        thread.start()
        thread.submit(request_for(1)._replace(saved=load(tmp_path / "recall.toml")))
        log.wait_for(is_packed(1))
        known = load(tmp_path / "recall.toml")
        write_settings(tmp_path / "recall.toml", {"embedding_url": after.url})
        Recall.trust(str(tmp_path), accept=True)

        thread.submit(request_for(2, "household tea")._replace(saved=known))
        log.wait_for(is_packed(2))
        thread.stop()

        assert [text for texts in after.texts() for text in texts] == ["household tea"]


def test_unreadable_settings_are_reported_once_per_change(
    tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.01)
    place, toml = build_store(tmp_path), tmp_path / "recall.toml"
    whole = toml.read_text(encoding="utf-8")
    thread = QueryThread(lambda: Recall.open(str(place)), log.post, time.monotonic)
    thread.start()
    log.wait_for(lambda event: isinstance(event, StoreOpened))

    toml.write_text(f"bm25_weight = = 3\n{whole}", encoding="utf-8")
    log.wait_for(lambda event: isinstance(event, Unread))
    for generation in (1, 2):
        thread.submit(request_for(generation, "token " * generation))
        log.wait_for(is_packed(generation))
    toml.write_text(f"{whole}\n# mended\n", encoding="utf-8")
    log.wait_for(lambda event: isinstance(event, StoreOpened) and event.config and len(unread(log)) == 1)
    toml.write_text(f"nonsense = 1\n{whole}", encoding="utf-8")
    log.wait_for(lambda event: isinstance(event, Unread) and "nonsense" in event.error.message)
    thread.stop()

    assert ["recall.toml" in message for message in unread(log)] == [True, True]


def unread(log: EventLog) -> list[str]:
    return [event.error.message for event in log.events if isinstance(event, Unread)]
