"""One Recall serves one thread at a time: a concurrent call is refused, and none ends the process."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from recall_core import steps
from recall_core.api.compare import DiffRequest
from recall_core.api.engine import Engine
from recall_core.api.put import PutDocument
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.errors import RecallError, UsageError
from recall_core.evaluate.measures import EvalOptions
from recall_core.evaluate.tune import TuneOptions
from recall_core.store.one_thread import ThreadGuard
from recall_core.types import Root
from tests.builders import memory_store

WAIT = 120  # seconds, for events that come at once in a working program
NO_CONNECTION = {
    *("init", "open", "agent", "collections", "embedders", "personal", "check_rql", "format_rql"),
    *("verify", "recover", "trust", "within"),
}
"""Static and class methods."""
FROM_ANY_THREAD = {"interrupt", "end"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "q.tsv").write_text("a\tred apple\nb\tblue sky\n")
    (folder / "r.tsv").write_text("query-id\tcorpus-id\tscore\na\tdocs/1.txt\t1\nb\tdocs/2.txt\t1\n")
    (folder / "docs").mkdir()
    for number, text in enumerate(("a red apple", "a blue sky", "red rain"), start=1):
        (folder / "docs" / f"{number}.txt").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Recall.init(".")
        with Recall.open() as opened:
            finish(opened.add(["docs"], Root("docs")))
    return folder


@pytest.fixture
def recall(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recall]:
    """Yield a Recall on a copy of the store, which is the current folder."""
    monkeypatch.chdir(shutil.copytree(template, tmp_path / "home", copy_function=shutil.copy2))
    with Recall.open() as opened:
        yield opened


def finish(work: Generator[object, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def paths(recall: Recall, words: str = "red") -> list[str]:
    return [row["doc"]["path"] for row in recall.search(words, Ask(mode="lexical"))["results"]]


def outcome(function: Callable[[], object]) -> str:
    """Return the outcome of a call: "done", or the code of its error."""
    try:
        function()
    except RecallError as error:
        return error.code
    return "done"


def elsewhere(function: Callable[[], object]) -> str:
    """Return the outcome of a call in another thread."""
    outcomes: list[str] = []
    thread = threading.Thread(target=lambda: outcomes.append(outcome(function)))
    thread.start()
    thread.join(WAIT)
    (only,) = outcomes
    return only


class Held(io.StringIO):
    """A stream that blocks its writer during a call until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reached = threading.Event()
        self.may_go = threading.Event()

    def write(self, text: str, /) -> int:
        self.is_reached.set()
        assert self.may_go.wait(WAIT)
        return super().write(text)


class Calling(io.StringIO):
    """A stream that calls a function at every write."""

    def __init__(self, function: Callable[[], object]) -> None:
        super().__init__()
        self.function = function
        self.outcomes: set[str] = set()

    def write(self, text: str, /) -> int:
        self.outcomes.add(outcome(self.function))
        return super().write(text)


@contextmanager
def beside(run: Callable[[Held], object]) -> Iterator[None]:
    """Run a call in another thread during the block; the call then succeeds."""
    held, outcomes = Held(), list[str]()
    thread = threading.Thread(target=lambda: outcomes.append(outcome(lambda: run(held))))
    thread.start()
    try:
        assert held.is_reached.wait(WAIT)
        yield
    finally:
        held.may_go.set()
        thread.join(WAIT)
    assert outcomes == ["done"]


def measuring(recall: Recall, out: io.StringIO) -> Generator[object, None, object]:
    """Return a generator that writes into the stream in its last step."""

    def written(_mode: str, lines: Iterator[str]) -> str:
        out.writelines(lines)
        out.write("\n")
        return ""

    return recall.evaluate(EvalOptions(Path("q.tsv"), Path("r.tsv"), modes="bm25", metrics="mrr", write_run=written))


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")} - NO_CONNECTION - FROM_ANY_THREAD


def uses_of_recall(recall: Recall) -> dict[str, Callable[[], object]]:
    """Return every public method that reads or writes the store."""
    out, file = io.StringIO(), Path("export.jsonl")
    receipt = recall.search("red", mode="lexical", receipt=True)["receipt"]["text"]
    recall.export(out)
    file.write_text(out.getvalue())
    judged = {"queries": Path("q.tsv"), "qrels": Path("r.tsv")}
    return {
        "add": lambda: finish(recall.add(["docs"])),
        "backup": lambda: recall.backup("copy.db"),
        "calibrate_sparse": lambda: recall.calibrate_sparse(**judged),
        "changes": recall.changes,
        "check_fixtures": lambda: recall.check_fixtures(Path("fixtures.jsonl")),
        "close": recall.close,
        "compact": recall.compact,
        "copy": lambda: recall.copy("copied.db"),
        "complete_rql": lambda: recall.complete_rql("SELECT * FROM chunk WHERE doc.tags = ", 37),
        "context": lambda: recall.context("red", budget_tokens=50),
        "delete": lambda: recall.delete(["notes-1"]),
        "diff": lambda: finish(recall.diff(recall, DiffRequest(queries=Path("q.tsv")))),
        "doctor": recall.doctor,
        "evaluate": lambda: finish(recall.evaluate(EvalOptions(**judged))),
        "explain": lambda: recall.explain("red"),
        "explain_rql": lambda: recall.explain_rql("SELECT * FROM chunk"),
        "export": lambda: recall.export(io.StringIO()),
        "get": lambda: recall.get("docs/1.txt"),
        "import_": lambda: recall.import_(file),
        "index": lambda: recall.index("docs"),
        "judge_export": lambda: recall.judge_export(queries=io.StringIO(), qrels=None),
        "judge_import": lambda: recall.judge_import(**judged),
        "list": recall.list,
        "nearest": lambda: recall.nearest([1.0] * 64),
        "put": lambda: recall.put([PutDocument("notes-1", "red")]),
        "query": lambda: recall.query("SELECT * FROM chunk"),
        "rechunk": lambda: finish(recall.rechunk()),
        "reindex": lambda: finish(recall.reindex()),
        "reembed": lambda: finish(recall.reembed("local")),
        "remove": lambda: recall.remove(["docs/1.txt"]),
        "replay": lambda: recall.replay(receipt),
        "report": lambda: recall.report("red"),
        "roots": recall.roots,
        "search": lambda: recall.search("red"),
        "stats": recall.stats,
        "sweep": lambda: recall.sweep("red"),
        "sync": lambda: finish(recall.sync()),
        "trace": lambda: recall.trace("red"),
        "tune": lambda: finish(recall.tune(TuneOptions(**judged))),
        "warm": lambda: finish(recall.warm(all=True)),
        "why_not": lambda: recall.why_not("red", "docs/2.txt"),
    }


def uses_of_engine(engine: Engine) -> dict[str, Callable[[], object]]:
    """Return every finer step that reads or writes the store."""
    plan = engine.plan("red")
    answer = engine.answer(plan)
    hits = engine.hits(answer, 0, 2)
    return {
        "answer": lambda: engine.answer(plan),
        "changes": engine.changes,
        "close": engine.close,
        "embedder": lambda: engine.embedder,
        "hits": lambda: engine.hits(engine.answer(plan), 0, 2),
        "leaves": lambda: engine.leaves(answer, hits),
        "notes": engine.notes,
        "once": engine.once,
        "pack": lambda: engine.pack(answer),
        "passages": lambda: engine.passages(answer, hits),
        "store_config": engine.store_config,
        "vector": lambda: engine.vector(plan),
    }


WITHOUT_STORE = {
    Recall: {"config", "under"},
    Engine: {
        "beside",
        "cited",
        "config",
        "expect_own_counter",
        "has_vectors_to_keep",
        "keep_vectors",
        "names",
        "plan",
        "replan",
        "reranker",
        "rql_plan",
        "scoped",
        "take_over",
        "untrusted",
        "usable",
        "use_embedder",
        "vectors_of_reranker",
        "weigh",
        "words_plan",
    },
}
"""Methods that do not read the store, at least not here."""


def test_other_threads_cannot_use_the_store_during_a_call(recall: Recall) -> None:
    for kind, uses in ((Recall, uses_of_recall(recall)), (Engine, uses_of_engine(recall.engine))):
        with beside(recall.export):
            outcomes = {name: outcome(use) for name, use in uses.items()}

        assert set(uses) == public(kind) - WITHOUT_STORE[kind]
        assert outcomes == dict.fromkeys(uses, "wrong_thread")


def test_methods_without_a_connection_are_static() -> None:
    assert all(
        isinstance(vars(kind).get(name), staticmethod | classmethod | None)
        for kind in Recall.__mro__
        for name in NO_CONNECTION
    )


def test_refused_setting_changes_nothing(recall: Recall) -> None:
    before = recall.config

    with beside(recall.export), pytest.raises(UsageError):
        recall.engine.config = before._replace(rrf_k=3)

    assert recall.config == before


@pytest.mark.parametrize("name", sorted(FROM_ANY_THREAD))
def test_interrupt_and_end_may_run_during_a_call(recall: Recall, name: str) -> None:
    held = Held()
    ended: list[str] = []
    thread = threading.Thread(target=lambda: ended.append(outcome(lambda: recall.export(held))))
    thread.start()
    assert held.is_reached.wait(WAIT)

    getattr(recall, name)()
    held.may_go.set()
    thread.join(WAIT)

    assert ended == [{"interrupt": "done", "end": "interrupted"}[name]]  # no statement ran; the next one does


def test_refusal_gives_advice_and_quotes_the_store(recall: Recall) -> None:
    with beside(recall.export), pytest.raises(UsageError) as caught:
        recall.search("red")

    path = recall.store.path
    assert caught.value.message == (
        f"The Recall object of {path} is in use by another thread; open one in each thread."
    )
    assert caught.value.hint == f"with Recall.open({path!r}) as recall:"


def test_concurrent_call_is_refused_and_running_call_succeeds(recall: Recall) -> None:
    whole = io.StringIO()
    recall.export(whole)
    beheld = Held()

    def exported(held: Held) -> None:
        recall.export(held)
        beheld.write(held.getvalue())

    beheld.may_go.set()
    with beside(exported):
        assert outcome(lambda: recall.search("red")) == "wrong_thread"

    assert beheld.getvalue() == whole.getvalue()
    assert paths(recall) == ["docs/3.txt", "docs/1.txt"]


def test_same_store_under_other_settings_shares_its_connection(recall: Recall) -> None:
    other = recall.under(["rrf_k=3"])

    with beside(recall.export):
        assert outcome(lambda: other.search("red")) == "wrong_thread"
    with beside(other.export):
        assert outcome(lambda: recall.search("red")) == "wrong_thread"


def test_another_recall_of_the_same_file_is_independent(recall: Recall) -> None:
    with Recall.open() as other, beside(recall.export):
        assert paths(other) == ["docs/3.txt", "docs/1.txt"]


def test_retrieval_step_functions_are_refused_too(recall: Recall) -> None:
    pieces = steps.chunk([steps.Segment("a", "alpha")])

    with beside(recall.export):
        assert outcome(lambda: steps.index(pieces, recall)) == "wrong_thread"
        assert outcome(lambda: steps.retrieve("red", steps.RetrievePlan(), recall)) == "wrong_thread"


def test_generator_step_is_a_call(recall: Recall) -> None:
    with beside(lambda held: finish(measuring(recall, held))):
        assert outcome(lambda: recall.search("red")) == "wrong_thread"


def test_generator_resumed_during_a_call_is_refused_and_ends(recall: Recall) -> None:
    work = measuring(recall, io.StringIO())
    next(work)
    assert recall.store.db.in_transaction  # type: ignore[attr-defined]

    with beside(recall.export):
        assert outcome(lambda: next(work)) == "wrong_thread"
    assert outcome(lambda: next(work, None)) == "done"
    paths(recall)

    assert not recall.store.db.in_transaction  # type: ignore[attr-defined]
    assert finish(measuring(recall, io.StringIO()))["evaluation"]["queries"] == 2


def test_generator_closed_during_a_call_ends_with_the_next(recall: Recall) -> None:
    work = measuring(recall, io.StringIO())
    next(work)

    with beside(recall.export):
        work.close()
        assert recall.store.db.in_transaction  # type: ignore[attr-defined]
    paths(recall)

    assert not recall.store.db.in_transaction  # type: ignore[attr-defined]


def test_generator_closed_between_calls_ends_at_once(recall: Recall) -> None:
    work = measuring(recall, io.StringIO())
    next(work)

    work.close()

    assert not recall.store.db.in_transaction  # type: ignore[attr-defined]


def test_comparison_is_a_call_to_both_stores(recall: Recall) -> None:
    os.mkfifo("pipe")
    with Recall.open() as other:
        work = recall.diff(other, DiffRequest(queries=Path("pipe")))
        thread = threading.Thread(target=finish, args=(work,))
        thread.start()
        with open("pipe", "w", encoding="utf-8") as pipe:  # once the step opens it
            refused = [outcome(lambda each=each: each.search("red")) for each in (recall, other)]  # type: ignore[misc]
            pipe.write("a\tred\n")
        thread.join(WAIT)

    assert refused == ["wrong_thread", "wrong_thread"]


def test_generator_between_steps_blocks_no_thread(recall: Recall) -> None:
    work = measuring(recall, io.StringIO())
    next(work)

    assert elsewhere(lambda: recall.search("red")) == "done"
    assert finish(work)["evaluation"]["queries"] == 2


def test_waiting_for_changes_blocks_no_thread(recall: Recall) -> None:
    stop, has_begun = threading.Event(), threading.Event()

    def watch() -> None:
        for _ in recall.changes(stop):
            has_begun.set()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert has_begun.wait(WAIT)
        assert paths(recall) == ["docs/3.txt", "docs/1.txt"]
    finally:
        stop.set()
        thread.join(WAIT)


def test_recall_and_generator_can_move_between_threads(recall: Recall) -> None:
    work = measuring(recall, io.StringIO())

    assert [elsewhere(lambda: next(work)) for _ in range(2)] == ["done"] * 2
    assert elsewhere(lambda: finish(work)) == "done"
    assert elsewhere(lambda: paths(recall)) == "done"
    assert elsewhere(recall.close) == "done"


def test_call_within_a_call_succeeds(recall: Recall) -> None:
    out = Calling(lambda: (recall.search("red"), recall.report("red", Ask(), Pack(budget_tokens=50)), recall.config))

    recall.export(out)

    assert out.outcomes == {"done"}


def test_nested_call_to_another_guard_is_refused(recall: Recall) -> None:
    with Recall.open() as other, beside(other.export):
        out = Calling(lambda: other.search("red"))
        recall.export(out)

    assert out.outcomes == {"wrong_thread"}


def test_failed_call_releases_the_guard(recall: Recall) -> None:
    assert outcome(lambda: recall.get("nothing.txt")) == "unknown_target"

    assert elsewhere(lambda: recall.search("red")) == "done"


def test_closing_is_refused_during_any_call(recall: Recall) -> None:
    out = Calling(recall.close)

    with beside(recall.export):
        assert outcome(recall.close) == "wrong_thread"
    recall.export(out)

    assert out.outcomes == {"wrong_thread"}
    assert paths(recall) == ["docs/3.txt", "docs/1.txt"]


def test_block_exit_during_a_call_keeps_the_store_open(recall: Recall) -> None:
    with pytest.raises(UsageError) as caught, beside(recall.export), recall:
        pass

    assert caught.value.code == "wrong_thread"
    assert paths(recall) == ["docs/3.txt", "docs/1.txt"]


def test_exception_in_a_block_survives_a_refused_close(recall: Recall) -> None:
    with pytest.raises(KeyboardInterrupt) as caught, beside(recall.export), recall:
        raise KeyboardInterrupt

    assert [note for note in caught.value.__notes__ if "in use by another thread" in note]


def test_second_close_and_late_interrupt_do_nothing(recall: Recall) -> None:
    recall.close()

    assert [outcome(each) for each in (recall.close, recall.interrupt, recall.end)] == ["done"] * 3


def test_interrupt_may_come_at_any_moment_of_closing() -> None:
    for number in range(300 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 30):
        recall = Recall(Engine(memory_store(), config=Config(), base=Path()))
        start, outcomes = threading.Barrier(3), list[str]()

        def run(step: Callable[[], None], start: threading.Barrier = start, said: list[str] = outcomes) -> None:
            start.wait(WAIT)
            said.append(outcome(step))

        steps = (recall.interrupt, recall.end) if number % 2 else (recall.interrupt, recall.interrupt)
        threads = [threading.Thread(target=run, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        run(recall.close)
        for thread in threads:
            thread.join(WAIT)
        assert outcomes == ["done"] * 3


def test_signal_may_interrupt_its_own_call(recall: Recall) -> None:
    before = signal.signal(signal.SIGUSR1, lambda _number, _frame: recall.interrupt())
    try:
        out = Calling(lambda: signal.raise_signal(signal.SIGUSR1))
        assert outcome(lambda: recall.export(out)) == "done"  # between two statements there is nothing to abort
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert out.outcomes == {"done"}
    assert elsewhere(lambda: recall.search("red")) == "done"


class Broken(BaseException):
    """The exception raised by a signal."""


def test_signal_ends_an_endless_statement(recall: Recall) -> None:
    def handler(_number: int, _frame: FrameType | None) -> NoReturn:
        raise Broken

    begun, ended, main = threading.Event(), threading.Event(), threading.get_ident()
    recall.store.db.create_scalar_function("begin", lambda: begun.set() or 1)  # type: ignore[attr-defined]

    def break_off() -> None:
        begun.wait(WAIT)
        signal.pthread_kill(main, signal.SIGUSR1)
        if not ended.wait(WAIT):
            recall.interrupt()

    endless = "WITH RECURSIVE n(i) AS (SELECT begin() UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    before = signal.signal(signal.SIGUSR1, handler)
    breaking = threading.Thread(target=break_off)
    breaking.start()
    try:
        with pytest.raises(Broken):
            recall.store.execute(endless)  # type: ignore[attr-defined]
    finally:
        ended.set()
        breaking.join()
        signal.signal(signal.SIGUSR1, before)

    assert recall.search("red")["results"]


def call_guard(guard: ThreadGuard) -> None:
    with guard.turn():
        threading.get_ident()


def test_exception_from_a_signal_always_releases_the_guard() -> None:
    guard, may_break, rounds = ThreadGuard("s.db"), threading.Semaphore(0), 60
    main = threading.get_ident()

    def handler(_number: int, _frame: FrameType | None) -> NoReturn:
        raise Broken

    def break_off() -> None:
        for _ in range(rounds):
            may_break.acquire()
            signal.pthread_kill(main, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handler)
    breaking = threading.Thread(target=break_off)
    breaking.start()
    broken = 0
    try:
        while broken < rounds:
            try:
                may_break.release()
                while True:
                    call_guard(guard)
            except Broken:
                broken += 1
    finally:
        breaking.join(WAIT)
        signal.signal(signal.SIGUSR1, before)

    assert elsewhere(lambda: call_guard(guard)) == "done"


def stepping(said: list[str]) -> Generator[int, None, None]:
    try:
        while True:
            yield 1
    finally:
        said.append("ended")


def test_abandoned_generator_ends_with_the_next_call() -> None:
    guard, said = ThreadGuard("s.db"), list[str]()
    steps = guard.steps(stepping(said))
    next(steps)

    def forget() -> None:
        nonlocal steps
        del steps
        gc.collect()
        said.append("forgotten")

    with guard.turn():
        elsewhere(forget)
    with guard.turn():
        said.append("called")

    assert said == ["forgotten", "ended", "called"]


def test_abandoned_measurement_ends_its_transaction_before_the_next_query(recall: Recall) -> None:
    work = [measuring(recall, io.StringIO())]
    next(work[0])

    with beside(recall.export):
        work.clear()
        gc.collect()
        assert recall.store.db.in_transaction
    Path("docs/4.txt").write_text("red as well")
    finish(recall.sync())

    assert sorted(paths(recall)) == ["docs/1.txt", "docs/3.txt", "docs/4.txt"]


FORKED = """
import io, os, sys
from recall_core.errors import RecallError
from recall_core.api.recall import Recall

def outcome(function):
    try:
        function()
    except RecallError as error:
        return error.code
    return "done"

class Forking(io.StringIO):
    child = None
    def write(self, text):
        if self.child is None:
            self.child = os.fork()
            if self.child == 0:
                tell("in_a_call", outcome(lambda: recall.search("red")))
                os._exit(0)
            assert os.waitpid(self.child, 0)[1] == 0
        return super().write(text)

def tell(*words):
    print(*words, flush=True)

recall = Recall.open()
work = recall.sync()
next(work)
calls = {
    "search": lambda: recall.search("red"),
    "step": lambda: next(work),
    "interrupt": recall.interrupt,
    "end": recall.end,
    "close": recall.close,
}
child = os.fork()
if child == 0:
    for name, call in calls.items():
        tell(name, outcome(call))
    with Recall.open() as own:
        tell("own", outcome(lambda: own.search("red")))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
tell("parent", outcome(lambda: recall.search("red")))
tell("export", outcome(lambda: recall.export(Forking())))
tell("rest", outcome(lambda: list(work)))
tell("closed", outcome(recall.close))
"""


def test_forked_child_is_refused_and_its_parent_continues(recall: Recall) -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)

    said = dict(line.split() for line in done.stdout.splitlines())
    assert said == {
        **dict.fromkeys(("search", "step", "interrupt", "end", "close", "in_a_call"), "wrong_thread"),
        **dict.fromkeys(("own", "parent", "export", "rest", "closed"), "done"),
    }


STRESS = """
import json, sys, threading
from collections import Counter
from recall_core.errors import RecallError
from recall_core.api.recall import Ask, Recall

searches = int(sys.argv[1])
QUESTIONS = ("red", "blue sky", "rain apple")
said = Counter()

def found(recall, words):
    response = recall.search(words, Ask(explain=True))
    return json.dumps(response["results"])

def search(recall):
    for number in range(searches):
        words = QUESTIONS[number % len(QUESTIONS)]
        try:
            said["right" if found(recall, words) == right[words] else "wrong"] += 1
        except RecallError as error:
            said[error.code] += 1

def own():
    with Recall.open() as recall:
        search(recall)

with Recall.open() as recall:
    right = {words: found(recall, words) for words in QUESTIONS}
    for way in ("shared", "own", "handed"):
        said = Counter()
        threads = [
            threading.Thread(target=own) if way == "own" else threading.Thread(target=search, args=(recall,))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
            if way == "handed":
                thread.join()
        for thread in threads:
            thread.join()
        print(json.dumps(said))
"""
"""Four threads that search with one shared Recall, with one each, and with one that is passed on."""


@pytest.mark.parametrize("searches", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_four_threads_get_the_right_answer_or_a_refusal(recall: Recall, searches: int) -> None:
    command = [sys.executable, "-c", STRESS, str(searches)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    shared, own, handed = map(json.loads, done.stdout.splitlines())
    assert set(shared) <= {"right", "wrong_thread"}
    assert (shared["right"] > 0, sum(shared.values())) == (True, 4 * searches)
    assert (own, handed) == ({"right": 4 * searches}, {"right": 4 * searches})
