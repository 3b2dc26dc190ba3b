"""Promises of the process for third-party parsers."""

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

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.parse import worker as worker_module
from recall_core.ingest.parse.worker import Worker
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from tests.plug_ins import write_plug_in

FOREIGN = """
import ctypes, os, sys, time
from recall_core.errors import IngestError
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.shell import Hint

kept = []

class Foreign:
    def parse(self, raw, *, path, digest):
        what, _, rest = raw.decode().partition(" ")
        text = getattr(self, what)(rest)
        marks = (Mark(0, "page"), Mark(0, "heading", "One", 2))
        meta = {"a": [1, None, {"b": 2.5}]}
        yield ParsedDocument(None, text, "Title", digest, len(raw), meta, marks, tags=("t",), notes=("n",))

    def say(self, rest): return rest
    def length(self, rest): return str(len(rest))
    def pid(self, rest): return str(os.getpid())
    def session(self, rest): return str(os.getsid(0) == os.getpid() == os.getpgid(0))
    def repeat(self, rest): return "x" * int(rest)
    def half(self, rest): return chr(0xd800)
    def fail(self, rest): raise ValueError(rest)
    def deep(self, rest): return self.deep(rest)
    def leave(self, rest): os._exit(3)
    def quit(self, rest): sys.exit(4)
    def abort(self, rest): os.abort()
    def crash(self, rest): ctypes.string_at(0)

    def refuse(self, rest):
        raise IngestError("bad_foreign", "It is bad.", hint=Hint("add", "my notes"), details={"line": [3]})

    def show(self, rest):
        print("LOUD", flush=True)
        os.write(1, b"LOUD"), os.write(2, b"LOUD")
        os.system("echo LOUD; echo LOUD >&2")
        return str(len(sys.stdin.read()))

    def keep(self, rest):
        kept.append(bytearray(b"x") * (int(rest) << 20))
        return self.pid("")

    def grow(self, rest):
        for _ in range(1000):
            self.keep("1")
        return "enough"

    def scribble(self, rest):
        for fd in range(3, 256):
            try:
                os.write(fd, b"\\xff" * 64)
            except OSError:
                pass
        return "done"

    def sleep(self, fifo):
        self._open(fifo)
        time.sleep(600)

    def spin(self, fifo):
        import re
        self._open(fifo)
        re.match("(a+)+$", "a" * 60 + "b")

    def _open(self, fifo):
        if fifo:
            kept.append(open(fifo, "wb", buffering=0))
            kept[-1].write(b"!")
"""


@pytest.fixture(scope="module", autouse=True)
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a third-party parser known only to this process, and make an empty folder the current one."""
    place = tmp_path_factory.mktemp("site")
    write_plug_in(place, "foreign", "[recall.parser]\nforeign = foreign:Foreign\n", source=FOREIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        patch.delenv("PYTHONPATH", raising=False)
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield place


@pytest.fixture(scope="module")
def worker(site: Path) -> Iterator[Worker]:
    """Yield one worker for all tests; no test spoils it for the next."""
    with Worker() as worker:
        yield worker


@pytest.fixture
def alive_pipe(tmp_path: Path) -> Path:
    """Return a named pipe that reaches its end when every process that opened it has ended."""
    os.mkfifo(tmp_path / "alive")
    return tmp_path / "alive"


def parse(worker: Worker, what: str, *, name: str = "foreign") -> list[ParsedDocument]:
    raw = what.encode()
    return worker.parse(name, raw, path="docs/a.bin", digest=sha256(raw).hexdigest())


def text(worker: Worker, what: str) -> str:
    (document,) = parse(worker, what)
    return document.text


def error(worker: Worker, what: str) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(worker, what)
    return caught.value


def test_documents_are_returned_unchanged(worker: Worker) -> None:
    raw = "say wörds \0 😀"
    marks = (Mark(0, "page"), Mark(0, "heading", "One", 2))
    digest = sha256(raw.encode()).hexdigest()

    (document,) = parse(worker, raw)

    assert document == ParsedDocument(
        None,
        "wörds \0 😀",
        "Title",
        digest,
        len(raw.encode()),
        {"a": [1, None, {"b": 2.5}]},
        marks,
        tags=("t",),
        notes=("n",),
    )
    assert isinstance(document, ParsedDocument)
    assert isinstance(document.marks[1], Mark)


def test_built_in_parser_gives_the_same_result_in_a_worker(worker: Worker) -> None:
    raw = b"# One\n\nwords\n"

    (document,) = worker.parse("text", raw, path="a.md", digest="d")

    assert (document.text, document.title, [mark.name for mark in document.marks]) == (raw.decode(), "One", ["One"])


def test_one_process_reads_many_files(worker: Worker) -> None:
    pids = {text(worker, "pid") for _ in range(20)}

    assert len(pids) == 1
    assert pids != {str(os.getpid())}


def test_large_file_and_large_text_pass(worker: Worker) -> None:
    assert text(worker, "length " + "x" * 5_000_000) == "5000000"
    assert len(text(worker, "repeat 5000000")) == 5_000_000


def test_closed_worker_leaves_no_process_and_can_be_reused(worker: Worker) -> None:
    first = int(text(worker, "pid"))

    worker.close()

    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert int(text(worker, "pid")) != first


def test_worker_starts_with_first_file_and_outlives_its_thread() -> None:
    pids: list[str] = []
    with Worker() as worker:
        assert worker._process is None
        thread = threading.Thread(target=lambda: pids.append(text(worker, "pid")))
        thread.start()
        thread.join()

        assert [text(worker, "pid")] == pids


def test_worker_has_its_own_session_for_ctrl_c(worker: Worker) -> None:
    assert text(worker, "session") == "True"


def test_worker_output_is_hidden_and_its_input_is_empty(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert text(worker, "show") == "0"
    assert text(worker, "say more") == "more"
    assert capfd.readouterr() == ("", "")


def test_parser_error_is_returned_unchanged(worker: Worker) -> None:
    found = error(worker, "refuse")

    assert (found.code, found.message, found.details) == ("bad_foreign", "It is bad.", {"line": [3]})
    assert str(found.hint) == "recall add 'my notes'"
    assert text(worker, "say on") == "on"


def test_missing_parser_is_reported_as_usual(worker: Worker) -> None:
    with pytest.raises(UsageError) as caught:
        parse(worker, "say x", name="forein")

    assert (caught.value.code, caught.value.hint) == ("unknown_parser", "did you mean foreign?")


def test_other_errors_are_reported_and_the_process_continues(worker: Worker) -> None:
    pid = text(worker, "pid")
    for what, reason in (
        ("fail so\nwrong", "ValueError: so wrong"),
        ("fail", "ValueError"),
        ("deep", "RecursionError: "),
        ("half", "UnicodeEncodeError: "),
        ("nothing", "AttributeError: "),
    ):
        failure = error(worker, what)

        assert failure.code == "parser_crashed", what
        assert failure.message.startswith(f"docs/a.bin cannot be read: the parser foreign failed ({reason}"), what
        assert failure.details == {"path": "docs/a.bin", "kind": "foreign"}, what
        assert text(worker, "pid") == pid, what


def test_file_that_ends_the_process_is_reported(worker: Worker) -> None:
    for what, reason in (
        ("leave", "its process ended with exit code 3"),
        ("quit", "its process ended with exit code 4"),
        ("abort", "its process crashed (SIGABRT)"),
        ("crash", "its process crashed (SIGSEGV)"),
    ):
        failure = error(worker, what)

        assert (failure.code, failure.message) == ("parser_crashed", f"docs/a.bin cannot be read: {reason}."), what
    assert text(worker, "say on") == "on"


def test_error_includes_known_facts_about_the_file(worker: Worker) -> None:
    with pytest.raises(IngestError) as caught:
        worker.parse("foreign", b"%PDF-1.7", path="a.pdf", digest="")

    assert caught.value.details == {"path": "a.pdf", "kind": "PDF"}


def test_slow_file_is_abandoned() -> None:
    with Worker(seconds=0.5) as worker:
        found = error(worker, "sleep")
        worker.seconds = 60
        again = text(worker, "say on")

    assert (found.code, found.message) == ("parser_timeout", "docs/a.bin took more than 0.5 s to read.")
    assert found.details == {"path": "docs/a.bin", "kind": "foreign"}
    assert again == "on"


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time is read only on Linux")
def test_cpu_time_of_other_processes_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_PATIENCE", 1_000)
    with Worker(seconds=0.5) as worker:
        found = error(worker, "spin")

    assert found.code == "parser_timeout"


def test_wall_clock_counts_without_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_PATIENCE", 1_000)
    monkeypatch.setattr(worker_module._WorkerProcess, "busy_seconds", lambda _: None)
    with Worker(seconds=0.5) as worker:
        found = error(worker, "sleep")

    assert found.code == "parser_timeout"


def test_file_that_needs_too_much_memory_is_abandoned() -> None:
    with Worker(memory_bytes=100 << 20) as worker:
        found = error(worker, "grow")
        again = text(worker, "say on")

    assert found.code == "parser_crashed"
    assert found.message == "docs/a.bin took more than 100 MiB of memory to read."
    assert again == "on"


def test_memory_kept_by_one_file_does_not_count_for_another() -> None:
    with Worker(memory_bytes=230 << 20) as worker:
        first = text(worker, "keep 120")

        assert text(worker, "keep 120") != first


def test_overlong_text_is_refused_and_the_process_continues() -> None:
    with Worker(reply_bytes=1 << 20) as worker:
        pid = text(worker, "pid")
        found = error(worker, "repeat 2000000")

        assert (found.code, text(worker, "pid")) == ("parser_crashed", pid)
        assert found.message.endswith("the parser foreign failed (its text is larger than 1 MiB).")


def test_parser_that_writes_between_answers_is_detected(worker: Worker) -> None:
    assert error(worker, "scribble").code == "parser_crashed"
    assert text(worker, "say on") == "on"


def test_process_that_died_between_files_does_not_blame_the_second(worker: Worker) -> None:
    pid = int(text(worker, "pid"))
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert text(worker, "say on") == "on"


def test_ctrl_c_ends_the_process_and_propagates(worker: Worker, alive_pipe: Path) -> None:
    seen: list[bytes] = []

    def interrupt() -> None:
        with alive_pipe.open("rb", buffering=0) as pipe:
            seen.append(pipe.read(1))
            os.kill(os.getpid(), signal.SIGINT)
            seen.append(pipe.read())

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        parse(worker, f"sleep {alive_pipe}")
    thread.join()

    assert seen == [b"!", b""]
    assert text(worker, "say on") == "on"


PARENT = """
import sys, threading
from recall_core.ingest.parse.worker import Worker
work = lambda: Worker(seconds=600).parse("foreign", sys.argv[1].encode(), path="a", digest="")
if sys.argv[2] == "main":
    work()
else:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def output_of_orphan(alive: Path, what: str, thread: str, *, script: str = PARENT) -> bytes:
    """Return the output of a process whose parent is killed, up to its own end."""
    words = [sys.executable, "-c", script, f"{what} {alive}", thread]
    parent = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    with alive.open("rb", buffering=0) as pipe:
        assert pipe.read(1) == b"!"
        parent.kill()
        parent.wait()
        return pipe.read()


@pytest.mark.parametrize(
    ("what", "thread"),
    [
        ("sleep", "main"),
        ("sleep", "other"),
        pytest.param("spin", "main", marks=pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")),
    ],
)
def test_worker_ends_with_its_killed_parent(alive_pipe: Path, what: str, thread: str) -> None:
    assert output_of_orphan(alive_pipe, what, thread) == b""


@pytest.mark.slow
def test_worker_ends_even_if_no_thread_can_run(alive_pipe: Path) -> None:
    assert output_of_orphan(alive_pipe, "spin", "other", script=PARENT.replace("600", "3")) == b""
