"""Promises of reading ahead: several processes parse, with the result of a single one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from recall_core.errors import IngestError
from recall_core.ingest import pipeline
from recall_core.ingest.parse.worker import (
    AHEAD_BYTES,
    AHEAD_REPLY_BYTES,
    MOST_WAITING,
    MOST_WORKERS,
    WorkerPool,
    cores,
)
from recall_core.types import Progress, Root
from tests.examples import mostly_nightly
from tests.ingest_folder import IngestFolder
from tests.plug_ins import write_plug_in

FOREIGN = Root("", parser="ahead")
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"

PARSER = """
import os, time
from pathlib import Path
from recall_core.errors import IngestError
from recall_core.ports import ParsedDocument

kept = []

class Ahead:
    is_foreign = True

    def parse(self, raw, *, path, digest):
        what, _, rest = raw.decode().partition(" ")
        text = getattr(self, what)(*rest.split())
        yield ParsedDocument(None, text, path, digest, len(raw), {}, notes=(f"n {path}",))

    def say(self, *words): return " ".join(words)
    def pid(self, *words): return str(os.getpid())
    def repeat(self, count): return "x" * int(count)
    def leave(self, *words): os._exit(3)
    def refuse(self, *words): raise IngestError("bad_foreign", "It is bad.")

    def count(self, place):
        with open(place, "a") as file:
            file.write("!")
        return "counted"

    def meet(self, fifo, mode):
        open(fifo, mode).close()
        return "met"

    def rewrite(self, fifo, place):
        open(fifo, "rb").close()
        Path(place).write_text("say new")
        return "rewritten"

    def hang(self, fifo):
        self._open(fifo)
        time.sleep(600)

    def spin(self, fifo):
        import re
        self._open(fifo)
        re.match("(a+)+$", "a" * 60 + "b")

    def _open(self, fifo):
        kept.append(open(fifo, "wb", buffering=0))
        kept[-1].write(b"!")
"""


@pytest.fixture(scope="module", autouse=True)
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("site")
    write_plug_in(place, "ahead", "[recall.parser]\nahead = ahead:Ahead\n", source=PARSER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        yield place


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    set_cores(monkeypatch, 2)


def set_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(count)), raising=False)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(2)
    yield pool
    pool.close()


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    return IngestFolder(tmp_path)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """Return a named pipe: opening one end waits for the other, and the end of its process is its end of file."""
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def begin(pool: WorkerPool, key: str, what: str) -> None:
    pool.begin("ahead", what.encode(), key=key, path=key, digest=sha256(what.encode()).hexdigest())


def parse(pool: WorkerPool, key: str, what: str) -> str | None:
    documents = pool.wait_for("ahead", key=key, digest=sha256(what.encode()).hexdigest())
    return None if documents is None else documents[0].text


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "recall-parse"]


# The processes.


class TestPool:
    """Tests that share two workers."""

    @pytest.fixture(scope="class")
    def shared(self) -> Iterator[WorkerPool]:
        pool = WorkerPool(2)
        yield pool
        pool.close()

    @pytest.fixture
    def pool(self, shared: WorkerPool) -> Iterator[WorkerPool]:
        """Yield a pool without begun work."""
        yield shared
        for key in [*shared._begun]:
            shared.forget(key)

    def test_each_file_gets_its_result_in_any_order(self, pool: WorkerPool) -> None:
        for n in range(MOST_WAITING):
            begin(pool, str(n), f"say {n}")

        assert [parse(pool, str(n), f"say {n}") for n in reversed(range(MOST_WAITING))] == [
            str(n) for n in reversed(range(MOST_WAITING))
        ]

    def test_two_files_are_parsed_at_the_same_time(self, pool: WorkerPool, fifo: Path) -> None:
        one, other = f"meet {fifo} rb", f"meet {fifo} wb"
        begin(pool, "one", one)
        begin(pool, "other", other)

        assert (parse(pool, "one", one), parse(pool, "other", other)) == ("met", "met")

    def test_processes_never_outnumber_workers(self, pool: WorkerPool) -> None:
        for n in range(MOST_WAITING):
            begin(pool, str(n), "pid")

        assert 1 <= len({parse(pool, str(n), "pid") for n in range(MOST_WAITING)}) <= 2
        assert len(readers()) == 2

    def test_limited_number_of_files_wait_for_their_turn(self, pool: WorkerPool) -> None:
        for n in range(MOST_WAITING):
            assert pool.has_room(10)
            begin(pool, str(n), "say x")

        assert not pool.has_room(10)
        begin(pool, "more", "say x")
        assert parse(pool, "more", "say x") is None
        pool.forget("3")
        assert pool.has_room(10)

    def test_limited_number_of_bytes_wait_until_parsed(self, pool: WorkerPool, fifo: Path) -> None:
        large = f"meet {fifo} rb".ljust(AHEAD_BYTES - 100)
        begin(pool, "large", large)

        assert pool.has_room(100)
        assert not pool.has_room(101)
        fifo.open("wb").close()
        assert parse(pool, "large", large) == "met"
        assert pool.has_room(AHEAD_BYTES)
        assert not pool.has_room(AHEAD_BYTES + 1)

    def test_overlong_text_is_left_to_its_turn(self, pool: WorkerPool) -> None:
        begin(pool, "long", what := f"repeat {AHEAD_REPLY_BYTES}")

        assert parse(pool, "long", what) is None

    def test_other_bytes_or_parser_do_not_match_begun_work(self, pool: WorkerPool) -> None:
        begin(pool, "a", "say a")

        assert parse(pool, "a", "say b") is None
        assert pool.wait_for("text", key="a", digest=sha256(b"say a").hexdigest()) is None

    def test_crash_is_left_to_its_turn_and_harms_no_others(self, pool: WorkerPool) -> None:
        for n in range(2):
            begin(pool, f"bad{n}", "leave")
            begin(pool, f"good{n}", "say on")

        assert [parse(pool, f"bad{n}", "leave") for n in range(2)] == [None] * 2
        assert [parse(pool, f"good{n}", "say on") for n in range(2)] == ["on"] * 2

    def test_parser_error_is_raised_at_its_turn(self, pool: WorkerPool) -> None:
        begin(pool, "bad", "refuse")
        begin(pool, "good", "say on")

        assert parse(pool, "good", "say on") == "on"
        with pytest.raises(IngestError, match="It is bad"):
            parse(pool, "bad", "refuse")


def test_single_file_has_a_single_worker(pool: WorkerPool) -> None:
    begin(pool, "a", "say a")

    assert len(readers()) == 1


def test_slow_file_is_named_and_not_parsed_twice(fifo: Path) -> None:
    pool = WorkerPool(1, seconds=0.5)
    begin(pool, "slow", what := f"meet {fifo} rb")

    with pytest.raises(IngestError) as caught:
        parse(pool, "slow", what)
    pool.close()

    assert (caught.value.code, caught.value.message) == ("parser_timeout", "slow took more than 0.5 s to read.")


def test_closing_ends_processes_mid_file(pool: WorkerPool, fifo: Path) -> None:
    for n in range(4):
        begin(pool, str(n), f"hang {fifo}")
    with fifo.open("rb", buffering=0) as pipe:
        assert pipe.read(1) == b"!"

        pool.close()

        assert pipe.read().strip(b"!") == b""
    assert readers() == []


PARENT = """
import sys
from threading import Event
from recall_core.ingest.parse.worker import WorkerPool
WorkerPool(1).begin("ahead", sys.argv[1].encode(), key="a", path="a", digest="")
Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
@pytest.mark.parametrize("what", mostly_nightly(["hang", "spin"], "spin"))
def test_process_ends_with_its_killed_parent(fifo: Path, what: str) -> None:
    words = [sys.executable, "-c", PARENT, f"{what} {fifo}"]
    parent = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    with fifo.open("rb", buffering=0) as pipe:
        assert pipe.read(1) == b"!"
        parent.kill()
        parent.wait()

        assert pipe.read() == b""


def test_each_core_has_a_worker_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for usable, used in ((1, 1), (3, 3), (64, MOST_WORKERS)):
        set_cores(monkeypatch, usable)

        assert cores() == used, usable


# A run.


def events(folder: IngestFolder) -> Iterator[Progress]:
    return pipeline.ingest(
        [str(folder.base / "docs")],
        template=FOREIGN,
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )


def test_several_cores_give_the_same_result_as_one(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds, counts = (4, (1, 2, 4)) if NIGHTLY else (1, (1, 3))
    for n in range(5 * rounds):
        folder.write(
            f"docs/{n:02}.x", ("say some words", "refuse", "leave", "say more words", "say")[n % 5] + f" {n}"
        )
    monkeypatch.setattr(pipeline, "monotonic", lambda: 0.0)  # otherwise a slow machine would commit more often
    outcomes = []
    for count in counts:
        set_cores(monkeypatch, count)
        folder.store = folder.empty_store()
        done = folder.ingest("docs", template=FOREIGN)
        outcomes.append((done, folder.state(), [(path, each.id) for path, each in folder.documents().items()]))

    assert outcomes == [outcomes[0]] * len(counts)
    assert [skip.code for skip in outcomes[0][0].skipped] == ["bad_foreign", "parser_crashed"] * rounds
    assert len(outcomes[0][0].notes) == 3 * rounds
    crash = outcomes[-1][0].skipped[1]
    assert crash.path == "docs/02.x"
    assert crash.reason == "cannot be read: its process ended with exit code 3."


def test_two_processes_parse_a_folder_and_progress_only_grows(
    folder: IngestFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0)
    count = MOST_WAITING + 2
    for n in range(count):
        folder.write(f"docs/{n:02}.x", f"pid {n}")

    seen = [(each.files_done, each.path) for each in events(folder) if each.stage == "read"]

    assert seen == [(n + 1, f"docs/{n:02}.x") for n in range(count)]
    assert len({folder.store.text_of(each.id) for each in folder.documents().values()}) <= 2


def test_file_changed_after_it_was_begun_is_read_again(folder: IngestFolder, fifo: Path) -> None:
    later = folder.write("docs/b.x", f"meet {fifo} wb")
    folder.write("docs/a.x", f"rewrite {fifo} {later}")

    done = folder.ingest("docs", template=FOREIGN)

    document = folder.documents()["docs/b.x"]
    assert done.skipped == ()
    assert (folder.store.text_of(document.id), document.size) == ("new", len("say new"))


def test_unchanged_file_is_not_parsed_ahead(folder: IngestFolder) -> None:
    count = folder.base / "count"
    places = [folder.write(f"docs/{n}.x", f"count {count}") for n in range(4)]
    folder.ingest("docs", template=FOREIGN)
    assert count.read_text() == "!!!!"

    os.utime(places[1], ns=(1, 1))
    os.utime(places[2], ns=(1, 1))
    folder.write("docs/new.x", "say new")
    assert folder.sync().added == 1

    assert count.read_text() == "!!!!"


def test_one_core_parses_files_one_after_another(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    set_cores(monkeypatch, 1)
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0)
    for n in range(4):
        folder.write(f"docs/{n}.x", "pid")

    threads = [len(readers()) for _ in events(folder)]

    assert set(threads) == {0}
    assert len({folder.store.text_of(each.id) for each in folder.documents().values()}) == 1


def test_single_file_starts_no_thread(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0)
    folder.write("docs/a.x", "say a")

    assert {len(readers()) for _ in events(folder)} == {0}


def test_text_starts_neither_process_nor_thread(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.md").write_text(f"# {n}\n")
    script = """
import subprocess, sys, threading
from pathlib import Path
from recall_core import Recall
Recall.init(sys.argv[1], embedding="hash")
subprocess.Popen = threading.Thread.start = None
with Recall.open(start=Path(sys.argv[1])) as recall:
    print(recall.index(sys.argv[1])["ingest"]["added"])
"""
    words = [sys.executable, "-c", script, str(tmp_path)]

    answer = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)

    assert answer.stdout == "3\n"


def test_closed_run_leaves_no_process(folder: IngestFolder, fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0)
    folder.write("docs/a.x", "say a")
    folder.write("docs/b.x", f"hang {fifo}")
    run = events(folder)
    assert next(each for each in run if each.stage == "read").path == "docs/a.x"
    with fifo.open("rb", buffering=0) as pipe:
        assert pipe.read(1) == b"!"

        run.close()  # type: ignore[attr-defined]

        assert pipe.read() == b""
    assert readers() == []


def test_ctrl_c_ends_the_run_and_its_processes(folder: IngestFolder, fifo: Path) -> None:
    folder.write("docs/a.x", "say a")
    folder.write("docs/b.x", f"hang {fifo}")
    seen: list[bytes] = []

    def interrupt() -> None:
        with fifo.open("rb", buffering=0) as pipe:
            seen.append(pipe.read(1))
            os.kill(os.getpid(), signal.SIGINT)
            seen.append(pipe.read())

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(events(folder))
    thread.join()

    assert seen == [b"!", b""]
    assert readers() == []
