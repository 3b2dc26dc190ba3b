"""recalld in this process: what it answers, what runs cold, and what it refuses."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shlex
import socket
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, NamedTuple

import pytest

from recall_core.adapters import client, recalld
from recall_core.adapters.daemon import unit
from recall_core.adapters.mcp.remote import Remote
from recall_core.adapters.mcp.server import RecallServer, ServerSettings
from recall_core.adapters.mcp.stdio import HANDSHAKE_VERSIONS, Peer
from recall_core.adapters.recalld import CALLERS, Daemon, Stores
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool, Following, StoreSettings
from recall_core.deadline import check
from recall_core.errors import Interrupted, RecallError
from tests.recalld import without_times

WORDS = ("search", "retry", "--json")
SEARCH = ("tools/call", {"name": "search", "arguments": {"query": "retry"}})


class Served(NamedTuple):
    """A running daemon and a folder with a store."""

    daemon: Daemon
    stores: Stores
    folder: Path
    environ: Mapping[str, str]


def start(daemon: Daemon) -> Thread:
    begun = Event()
    thread = Thread(target=daemon.run, args=(begun.set,), daemon=True)
    thread.start()
    assert begun.wait(20)
    return thread


def make_store(folder: Path, text: str = "Each retry waits longer.") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "a.md").write_text(text)
    Recall.init(str(folder), embedding="hash")
    with Recall.open(start=folder) as recall:
        recall.index(str(folder / "a.md"))
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    return {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def served(tmp_path: Path, environ: dict[str, str]) -> Iterator[Served]:
    stores = Stores(idle_seconds=600, most_bytes=1 << 40)
    daemon = Daemon(stores, environ)
    thread = start(daemon)
    yield Served(daemon, stores, make_store(tmp_path / "texts"), environ)
    daemon.end()
    thread.join(20)
    assert not thread.is_alive()


def request(served: Served, *argv: str, store: Path | None = None, **variables: str) -> tuple[int | None, bytes]:
    """Send a command line. Return its exit code and stdout, None for a cold run."""
    environ = {**served.environ, **variables}
    texts = [client.PROTOCOL, str(served.folder), "", "", str(len(environ))]
    texts += [f"{name}={value}" for name, value in environ.items()]
    with open(store or served.folder / "recall.db", "rb") as opened:
        return exchange(served, [*texts, *(argv or WORDS)], opened.fileno())


def exchange(served: Served, texts: list[str], store: int | None) -> tuple[int | None, bytes]:
    connection = client.connect(served.daemon.path)
    try:
        client.send(connection, texts, store)
        out = b""
        for kind, content in client.receive(connection):
            if kind == b"o":
                out += content
            elif kind != b"e":
                return (int(content) if kind == b"x" else None), out
        raise AssertionError
    finally:
        connection.close()


def change_settings(folder: Path, key: str, value: str) -> None:
    settings = folder / "recall.toml"
    lines = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in settings.read_text().split("\n")]
    assert f"{key} = {value}" in lines
    settings.write_text("\n".join(lines))


def scores(answer: bytes) -> list[float]:
    return [result["score"] for result in json.loads(answer)["results"]]


def test_command_line_is_answered_from_an_open_store(served: Served) -> None:
    first, second = request(served), request(served, "search", "retry", "-l")

    assert first[0] == 0
    assert b"Each retry waits longer." in first[1]
    assert second == (0, b"a.md\n")
    assert served.stores.paths() == [str(served.folder / "recall.db")]


def test_only_who_can_open_the_store_gets_an_answer(served: Served, tmp_path: Path) -> None:
    other = make_store(tmp_path / "other")
    texts = [client.PROTOCOL, str(served.folder), "", "", "0", *WORDS]

    assert request(served, store=other / "recall.db") == (None, b"")
    assert exchange(served, texts, None) == (None, b"")


@pytest.mark.parametrize(
    "argv",
    [
        ("search", "retry", "--nonsense"),
        ("search", "--help"),
        ("search", "retry", "--receipt", "r.json"),
        ("search", "retry", "--fresh"),
        ("search", "retry", "--set", "rerank=minilm"),
        ("context", "retry", "--counter", "hf:tokens.json"),
        ("query", "-"),
        ("query", "--rql", "@a.rql"),
        ("get", "nothing.md"),
        ("add", "a.md"),
        ("search", "retry", "--store", "missing.db"),
    ],
)
def test_anything_else_runs_cold(served: Served, argv: tuple[str, ...]) -> None:
    assert request(served, *argv) == (None, b"")


def test_other_versions_and_homes_run_cold(served: Served) -> None:
    texts = ["recalld 0", str(served.folder), "", "", "0", *WORDS]
    with open(served.folder / "recall.db", "rb") as opened:
        assert exchange(served, texts, opened.fileno()) == (None, b"")

    assert request(served, HOME="/elsewhere") == (None, b"")


def test_settings_that_need_a_person_run_cold(served: Served) -> None:
    change_settings(served.folder, "rerank", '"ollama"')

    assert request(served) == (None, b"")


def test_changed_settings_apply_to_the_next_answer(served: Served) -> None:
    before = request(served)
    change_settings(served.folder, "semantic_weight", "0.9")
    after = request(served)

    assert before[0] == after[0] == 0
    assert scores(before[1]) != scores(after[1])


def test_replaced_store_is_opened_again(served: Served, tmp_path: Path) -> None:
    assert b"longer" in request(served)[1]
    other = make_store(tmp_path / "other", "Never retry.")
    (other / "recall.db").replace(served.folder / "recall.db")

    assert b"Never retry." in request(served)[1]


@pytest.mark.parametrize(
    "sent", [b"", b"\x00\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x05abc", b"\x00\x00\x00\x01\x00"]
)
def test_odd_requests_are_closed_and_nothing_hangs(
    served: Served, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(recalld, "REQUEST_SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(served.daemon.path)
        connection.settimeout(20)
        connection.sendall(sent)
        assert connection.recv(100) in (b"", b"c\0\0\0\0")

    assert request(served)[0] == 0


def test_callers_over_the_limit_run_cold_at_once(served: Served) -> None:
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(CALLERS)]
    for each in waiting:
        each.connect(served.daemon.path)
    with closing(socket.socket(socket.AF_UNIX)) as late:
        late.connect(served.daemon.path)
        late.settimeout(20)
        assert late.recv(1) == b""
    for each in waiting:
        each.close()


def test_query_ends_when_its_caller_leaves(served: Served) -> None:
    def endless(recall: Recall) -> None:
        while True:
            check()

    pool = ConnectionPool(StoreSettings(str(served.folder)))
    ours, theirs = socket.socketpair()
    asked = pool.ask(endless, seconds=60)
    theirs.close()
    recalld.wait(asked, ours)
    ours.close()

    with pytest.raises(Interrupted):
        asked.result()
    pool.close()


def test_query_that_has_to_wait_runs_cold(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalld, "WAIT_SECONDS", 0.05)
    free = Event()
    pool = ConnectionPool(StoreSettings(str(served.folder)), connections=1)
    running = pool.ask(lambda recall: free.wait(20))
    waiting = pool.ask(lambda recall: None)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(recalld.GoesCold):
        recalld.wait(waiting, ours)
    free.set()

    assert running.result()
    pool.close()


def test_caller_hears_that_a_query_goes_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalld, "WAIT_SECONDS", 0.05)
    pool = ConnectionPool(StoreSettings(str(served.folder)))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asked = pool.ask(lambda recall: theirs.recv(5))
        recalld.wait(asked, ours)

    assert asked.result() == recalld.GOES_ON
    pool.close()


CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search", {"query": "retry"}),
    ("search", {"query": "retry", "fields": "all"}),
    ("context", {"query": "retry waits"}),
    ("get", {"targets": ["a.md"]}),
    ("whynot", {"query": "cache", "target": "a.md"}),
    ("explain", {"query": "retry", "target": "a.md"}),
    ("list", {}),
    ("status", {}),
    ("search", {"query": "retry", "filter": "no such"}),
    ("search", {"query": "retry", "unknown": 1}),
    ("search", {"query": "retry", "set": ["pack_counter=hf:/tmp/counter.json"]}),  # only a user may name a file
)


@pytest.fixture
def person(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process the environment of the daemon."""
    for name in (*client.IDENTITY, *(each for each in os.environ if each.startswith("RECALL_"))):
        monkeypatch.delenv(name, raising=False)
    for name, value in served.environ.items():
        monkeypatch.setenv(name, value)


class Agent:
    """A client of an MCP server on this store."""

    def __init__(self, served: Served, pool: Callable[[], ConnectionPool], *, is_remote: bool) -> None:
        self._sent: SimpleQueue[dict[str, Any]] = SimpleQueue()
        remote = Remote(ServerSettings(), str(served.folder))
        self.peer = Peer(RecallServer(), pool, self._sent.put, (lambda: remote) if is_remote else None)
        self.ask("initialize", protocolVersion=HANDSHAKE_VERSIONS[-1], capabilities={}, clientInfo={})

    def ask(self, method: str, **params: object) -> str:
        self.peer.receive([json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()])
        return re.sub(r'\\"took_ms\\":[0-9.e-]+|\\"timings\\":{[^}]*}', "", json.dumps(self._sent.get(timeout=60)))

    def call(self, tool: str, arguments: dict[str, object]) -> str:
        return self.ask("tools/call", name=tool, arguments=arguments)


def test_mcp_server_answers_the_same_through_recalld(served: Served, person: None) -> None:
    own = Agent(served, lambda: ConnectionPool(StoreSettings(str(served.folder))), is_remote=False)
    remote = Agent(served, pytest.fail, is_remote=True)
    for tool, arguments in CALLS:
        assert remote.call(tool, arguments) == own.call(tool, arguments)
    assert remote.ask("resources/list") == own.ask("resources/list")
    assert served.stores.answered == len(CALLS) + 1

    own.peer.close()
    remote.peer.close()


def test_mcp_server_answers_itself_after_recalld_has_left(served: Served, person: None) -> None:
    agent = Agent(served, lambda: ConnectionPool(StoreSettings(str(served.folder))), is_remote=True)
    before = agent.call("search", {"query": "retry"})
    served.daemon.end()
    while Path(served.daemon.path).exists():
        sleep(0.01)

    assert agent.call("search", {"query": "retry"}) == before
    assert served.stores.answered == 1
    agent.peer.close()


def test_mcp_server_with_syncs_before_searches_answers_itself(
    served: Served, person: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Following(on_search_ms=100)
    monkeypatch.setattr(recalld, "following_for", lambda *_, **__: wanted)

    assert Remote(ServerSettings(), str(served.folder)).ask(*SEARCH).future.result(20) is None
    assert request(served)[0] == 0


def test_cancelled_remote_call_closes_its_connection(served: Served, person: None) -> None:
    served.daemon.end()
    while Path(served.daemon.path).exists():
        sleep(0.01)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(served.daemon.path)
        silent.listen()
        call = Remote(ServerSettings(), str(served.folder)).ask(*SEARCH)
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(1 << 16)
            call.cancel()

            assert connection.recv(1) == b""
            assert call.future.result(20) is None


def test_unexpected_error_is_logged_and_runs_cold(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(served.stores, "answer", lambda *_: 1 / 0)

    with pytest.raises(ValueError):  # noqa: PT011 - the connection ends without an answer
        request(served)
    until = monotonic() + 20
    while "ZeroDivisionError" not in (log := capfd.readouterr().err) and monotonic() < until:
        sleep(0.01)

    assert "ZeroDivisionError" in log


@pytest.mark.slow
def test_callers_read_one_generation_each_during_writes(served: Served) -> None:
    texts = served.folder / "more"
    texts.mkdir()
    by_state: dict[tuple[str, str], set[bytes]] = defaultdict(set)
    written, codes = Event(), Counter[int | None]()

    def write() -> None:
        with Recall.open(start=served.folder) as recall:
            for number in range(2_000):
                (texts / f"{number}.md").write_text(f"Text {number}: each retry waits longer.")
                if number % 100 == 99:
                    recall.index(str(texts))
        written.set()

    def ask(words: str) -> None:
        for _ in range(300):
            code, answer = request(served, "search", words, "--json")
            codes[code] += 1
            if code is not None:
                timeless = without_times(answer)
                by_state[words, json.loads(answer)["stats"]["digest"]].add(timeless)

    threads = [Thread(target=write), *(Thread(target=ask, args=(f"retry {n % 4}",)) for n in range(16))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)

    assert written.is_set()
    assert set(codes) <= {0, None}
    assert codes[0] > 16 * 300 * 0.9
    assert len(by_state) > 4
    assert {words: len(answers) for (words, _), answers in by_state.items() if len(answers) > 1} == {}


def test_store_that_asks_for_it_is_kept_in_sync(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    change_settings(served.folder, "sync_interval_s", "1")
    assert request(served, "search", "never", "-q")[0] == 7  # opens the store; it is not accepted
    (served.folder / "a.md").write_text("Never retry.")
    served.stores.close()
    Recall.trust(start=served.folder, accept=True)
    request(served)
    until = monotonic() + 60
    while request(served, "search", "never", "-q")[0] != 0 and monotonic() < until:
        sleep(0.1)

    assert b"Never retry." in request(served)[1]


def test_idle_stores_are_closed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    request(served)
    monkeypatch.setattr(served.stores, "_idle_seconds", -1.0)
    served.stores.tidy()

    assert served.stores.paths() == []
    assert request(served)[0] == 0


def test_stores_are_closed_when_memory_is_short(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    request(served)
    monkeypatch.setattr(served.stores, "_most_bytes", 0)
    monkeypatch.setattr(recalld, "resident_bytes", lambda: 1)
    served.stores.tidy()

    assert served.stores.paths() == []


def test_second_daemon_is_refused(served: Served) -> None:
    with pytest.raises(RecallError) as caught:
        Daemon(served.stores, served.environ).run(lambda: None)

    assert caught.value.code == "daemon_running"
    assert request(served)[0] == 0


def test_socket_of_a_killed_daemon_is_replaced(environ: dict[str, str]) -> None:
    daemon = Daemon(Stores(idle_seconds=600, most_bytes=1 << 40), environ)
    Path(daemon.path).parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(daemon.path)
    thread = start(daemon)
    daemon.end()
    thread.join(20)

    assert not thread.is_alive()
    assert not Path(daemon.path).exists()


def link(folder: Path) -> None:
    folder.parent.joinpath("elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def opened(folder: Path) -> None:
    folder.mkdir(mode=0o755)


@pytest.mark.parametrize("make", [link, opened])
def test_runtime_folder_must_be_private(environ: dict[str, str], make: Callable[[Path], None]) -> None:
    daemon = Daemon(Stores(idle_seconds=600, most_bytes=1 << 40), environ)
    make(Path(daemon.path).parent)
    with pytest.raises(RecallError) as caught:
        daemon.run(lambda: None)

    assert caught.value.code == "no_runtime_folder"
    assert client.ask(WORDS, environ) is None


def test_long_runtime_folders_are_refused() -> None:
    environ = {"XDG_RUNTIME_DIR": "/" + "x" * 100}

    assert client.socket_path(environ) is None
    with pytest.raises(RecallError) as caught:
        Daemon(Stores(idle_seconds=600, most_bytes=1 << 40), environ)
    assert caught.value.code == "no_runtime_folder"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user")
def test_other_users_get_nothing(served: Served) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65_534)
        try:
            client.connect(served.daemon.path).close()
            os.write(writing, b"connected")
        except OSError as error:
            os.write(writing, type(error).__name__.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading, "rb") as said:
        assert said.read() == b"PermissionError"


def test_unit_files_quote_the_path_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    python = '/opt/my <"100%"> & other/python'
    monkeypatch.setattr("sys.executable", python)
    command = [python, "-m", "recall_core", "daemon", "run"]
    service = next(line for line in unit("linux").splitlines() if line.startswith("ExecStart="))

    assert shlex.split(service.partition("=")[2].replace("%%", "%")) == command
    assert plistlib.loads(unit("darwin").encode())["ProgramArguments"] == command
