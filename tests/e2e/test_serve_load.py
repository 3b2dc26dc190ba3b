"""`recall serve` and `recall mcp` with many clients, many calls and many connections."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from typing import Any

import pytest

pytest.importorskip("mcp")

from recall_core.adapters.client import fetch
from recall_core.adapters.mcp.http import HEADER_SECONDS
from tests.e2e.test_rest import Serving
from tests.e2e.test_serving_load import writing
from tests.mcp_client import PATIENCE, over_http, text_of
from tests.recalld import environ_of, running
from tests.serving_writer import WORDS, History, filled
from tests.warm_mcp import Client

Ask = Callable[[str], str]
"""Returns the JSON answer to a search for these words."""


@contextmanager
def rest(server: Serving) -> Iterator[Ask]:
    """Yield a client of /v1 on one connection."""
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:

        def ask(words: str) -> str:
            connection.request("POST", "/v1/search", json.dumps({"words": words}), headers)
            return connection.getresponse().read().decode()

        yield ask


@contextmanager
def mcp(server: Serving) -> Iterator[Ask]:
    """Yield the official client of /mcp in one session."""
    with over_http(f"{server.address}mcp", server.token) as client:
        yield lambda words: text_of(client.call("search", query=words, fields="all"))


def _lasting(answer: str) -> str:
    """Return an answer without what depends on the clock, the cache or files that are not indexed yet."""
    return re.sub(
        r'"took_ms":[0-9.e-]+,|,"(timings":\{[^}]*\}|cached":true|state":"\w+"|warnings":\[[^]]*\])', "", answer
    )


def _ask_during_writes(
    folder: Path, door: Any, *, clients: int, each: int, commits: int, counted: Callable[..., None]
) -> None:
    base = filled(folder / "store", 20)
    refusals, by_state = Counter[str](), defaultdict[tuple[str, str], set[str]](set)
    with Serving(base) as server, writing(base, commits) as goes_on, ThreadPoolExecutor(clients) as threads:

        def ask(client: int) -> list[dict[str, Any]]:
            random, answers, digests = Random(client), list[dict[str, Any]](), set[str]()
            with door(server) as search:
                while len(answers) < each or (goes_on() and len(digests) < 3):
                    words = random.choice(("restless", "common", f"common {random.choice(WORDS)}"))
                    text = search(words)
                    answers.append(json.loads(text))
                    if "stats" in answers[-1]:
                        digests.add(answers[-1]["stats"]["digest"])
                        by_state[words, answers[-1]["stats"]["digest"]].add(_lasting(text))
                    else:
                        refusals[answers[-1].get("error", answers[-1])["code"]] += 1
            return answers

        answers = [answer for found in threads.map(ask, range(clients)) for answer in found]
    history = History()
    history.read(base / "journal")
    states = len({digest for _, digest in by_state})
    counts = {"answers": len(answers), "busy": refusals["busy"], "states": states, "files": 2 * commits}
    counted("serving", f"{clients} clients of {door.__name__} with a writer", **counts)
    assert set(refusals) <= {"busy"}
    assert [each for answer in answers for each in history.complaints(answer, is_of_all=False)] == []
    assert [asked for asked, texts in by_state.items() if len(texts) > 1] == []
    assert states > 1


def test_four_clients_read_one_generation_each_during_writes(tmp_path: Path, counted: Callable[..., None]) -> None:
    _ask_during_writes(tmp_path, rest, clients=4, each=5, commits=10, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("door", [rest, mcp])
def test_sixteen_clients_read_one_generation_each_during_writes(
    tmp_path: Path, door: Any, counted: Callable[..., None]
) -> None:
    _ask_during_writes(tmp_path, door, clients=16, each=300, commits=1_000, counted=counted)


def _resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmRSS:"))


def _call(client: Client, words: str) -> str:
    return client.call("search", query=words)


def _fetch(store: Path, environ: dict[str, str], words: str) -> str:
    code, pieces = fetch(["search", "--store", str(store), "--json", words], environ) or (1, [])
    assert code in (0, 7)
    return b"".join(content for _, content in pieces).decode()


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("door", [rest, mcp, "stdio", "recalld"])
def test_memory_stays_flat_over_twenty_thousand_calls(
    tmp_path: Path, door: Any, counted: Callable[..., None]
) -> None:
    base = filled(tmp_path / "store", 200)
    random = Random(49)
    asked = [" ".join(random.sample(WORDS, 3)) for _ in range(500)]
    with ExitStack() as stack:
        if door == "stdio":
            client = stack.enter_context(Client(base))
            process = client.process.pid
            ask: Ask = partial(_call, client)
        elif door == "recalld":
            runtime = tmp_path / "run"
            runtime.mkdir(mode=0o700)
            process = stack.enter_context(running(runtime)).pid
            ask = partial(_fetch, base, environ_of(runtime))
        else:
            server = stack.enter_context(Serving(base))
            process = server.process.pid
            ask = stack.enter_context(door(server))
        for words in asked * 8:
            ask(words)
        early = _resident_mb(process)
        for words in asked * 32:
            ask(words)
        late = _resident_mb(process)

    name = door if isinstance(door, str) else door.__name__
    counted(
        "serving", f"memory of {name}, kB after 4,000 and 20,000 calls", early=int(early * 1e3), late=int(late * 1e3)
    )
    assert late == pytest.approx(early, rel=0.05)


def _open_halves(store: Path, count: int, counted: Callable[..., None]) -> None:
    """Open connections that never end their headers, and ask on whole ones in between.

    The server has half of its time limit for headers to close those beyond its bound.
    """
    soft, hard = getrlimit(RLIMIT_NOFILE)
    if hard < count + 1_000:
        pytest.skip(f"needs {count + 1_000} open files")
    setrlimit(RLIMIT_NOFILE, (max(soft, count + 1_000), hard))
    with Serving(store) as server, ExitStack() as stack:
        status = {server.ask("POST", "v1/search", {"words": "common"}).status_code}
        before = _resident_mb(server.process.pid)
        for number in range(count):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            half.send(b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            if number % 100 == 99:
                status.add(server.ask("POST", "v1/search", {"words": f"common {number}"}).status_code)
        after = _resident_mb(server.process.pid)
        files = Path(f"/proc/{server.process.pid}/fd")
        until = time.monotonic() + HEADER_SECONDS / 2
        while (opened := len(list(files.iterdir()))) >= 200 and time.monotonic() < until:
            time.sleep(0.05)
    counted(
        "serving",
        f"{count} half-open connections",
        kB_before=int(before * 1e3),
        kB_after=int(after * 1e3),
        opened=opened,
    )
    assert status == {200}
    assert opened < 200
    assert after < before + 30


def test_request_among_half_open_connections_is_answered(tmp_path: Path, counted: Callable[..., None]) -> None:
    _open_halves(filled(tmp_path / "store", 5), 300, counted)


@pytest.mark.slow
def test_request_among_ten_thousand_half_open_connections_is_answered(
    tmp_path: Path, counted: Callable[..., None]
) -> None:
    _open_halves(filled(tmp_path / "store", 5), 10_000, counted)
