"""Measure the servers: a call, the first answer, memory. `python -m benchmarks.serving --home DIR`.

The server is `recall mcp` on stdin and stdout, or `recall serve`. Times are the processor time of its process alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from benchmarks import corpus, prose
from benchmarks.speed.asked import Asker
from benchmarks.speed.lab import has
from benchmarks.timing import Spread, child, on_one_thread, spread
from recall_core.api.recall import Ask, Recall
from recall_core.types import Root

PROTOCOL = "2025-06-18"
CALLS = 100
"""Warm calls in each round."""
FLAT_CALLS = 20_000
"""Calls in the test of memory growth. Memory may not grow after the first tenth."""
HTTP_MS = 6.0
CONNECTIONS = 8
_KIND = "5 words"


class Figure(NamedTuple):
    """One measured row. ratio: ours divided by the peer's, within each round."""

    name: str
    embedding: str
    peer: str
    ours: Spread
    against: Spread
    unit: str
    ratio: Spread
    budget: float

    @property
    def is_met(self) -> bool:
        """True if the median is within the budget."""
        return self.ratio.median <= self.budget


class Client:
    """A server on stdin and stdout, and its client. Use it in a `with` block, which kills the server."""

    def __init__(self, store: Path, *flags: str, environment: dict[str, str] | None = None) -> None:
        self.process = _started(store, "mcp", *flags, environment=environment or {})
        self._number = 0
        self.answers: dict[int, dict[str, Any]] = {}
        """Answers that arrived but were not requested yet, by number."""
        client = {"name": "benchmark", "version": "0"}
        begun = self.send("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
        self.receive(begun)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its number. Raises OSError if the server does not read it."""
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def cancel(self, number: int) -> None:
        """Cancel the request with that number."""
        params = {"requestId": number}
        self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def receive(self, number: int) -> dict[str, Any]:
        """Return the answer with that number and keep earlier ones. Raises EOFError if the server ended."""
        assert self.process.stdout is not None
        while number not in self.answers:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server ended with exit status {self.process.wait()}")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def ask(self, tool: str, **arguments: Any) -> int:
        """Call a tool without waiting for the answer. Return the number of the call."""
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text of its answer, which may be an error."""
        return text_of(self.receive(self.ask(tool, **arguments)))

    def cpu_ms(self) -> float:
        """Return the processor time of the server so far, including ended threads."""
        return _cpu_ms(self.process)

    def pss_mb(self) -> float:
        """Return the memory of the server (PSS): shared pages count in part."""
        status = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="ascii")
        return next(int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("Pss:"))

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):  # unread input
                    stream.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def _started(store: Path, *argv: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [sys.executable, "-m", "recall_core", "--store", str(store), *argv],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
        env={**variables, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
    )  # fmt: skip


def _cpu_ms(process: subprocess.Popen[str]) -> float:
    return time.clock_gettime(((~process.pid) << 3) | 2) * 1000  # the clock of another process


def text_of(message: dict[str, Any]) -> str:
    """Return the text of the answer to a call. Raises AssertionError for a protocol error."""
    assert "result" in message, message
    return "".join(each["text"] for each in message["result"]["content"])


class Lab:
    """A store of invented text with one embedder, and questions that are never drawn twice."""

    def __init__(self, home: Path, embedding: str, chunks: int) -> None:
        self.embedding = embedding
        self.folder = home / f"{embedding}-{chunks}"
        pieces = list(corpus.paragraphs(chunks))
        if not (self.folder / "recall.db").exists():
            self._fill(pieces)
        self._asker = Asker(pieces, seed=3)

    def questions(self, count: int) -> list[str]:
        """Return `count` new questions."""
        return [question.text for question in self._asker.draw(_KIND, count)]

    def _fill(self, pieces: Sequence[str]) -> None:
        prose.write(self.folder / "docs", pieces)
        Recall.init(str(self.folder), embedding=self.embedding, settings=corpus.SETTINGS)
        with Recall.open(str(self.folder)) as recall:
            for _ in recall.add([str(self.folder / "docs")], Root("")):
                pass


def warm_call(lab: Lab, rounds: int) -> Figure:
    """Compare a search over stdio with the method `search`, after enough answers to warm up both."""
    ours, method = [], []
    with Client(lab.folder, "--connections", "1") as client, Recall.open(str(lab.folder)) as recall:
        for question in lab.questions(30):
            client.call("search", query=question)
            recall.search(question, Ask(k=10))
        for _ in range(rounds):
            before = client.cpu_ms()
            for question in lab.questions(CALLS):
                client.call("search", query=question, k=10)
            ours.append((client.cpu_ms() - before) / CALLS)
            started = time.process_time()
            for question in lab.questions(CALLS):
                recall.search(question, Ask(k=10))
            method.append((time.process_time() - started) * 1000 / CALLS)
    return _figure("warm search", lab, "Recall.search", (ours, method), "ms", 2.5)


@contextmanager
def _over_http(store: Path, *, cache: int) -> Iterator[Callable[[Sequence[str]], float]]:
    """Yield a function that asks `/v1/search` these questions and returns the average cost in the server.

    cache: answers that the server remembers.
    """
    flags = ("--port", "0", "--no-token", "--connections", "1")
    process = _started(store, "serve", *flags, environment={"RECALL_QUERY_CACHE": str(cache)})
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().strip()).netloc

    def cost(questions: Sequence[str]) -> float:
        with closing(http.client.HTTPConnection(address)) as connection:
            before = _cpu_ms(process)
            for question in questions:
                body = json.dumps({"words": question, "k": 10})
                connection.request("POST", "/v1/search", body, {"Content-Type": "application/json"})
                answer = connection.getresponse().read()
                assert answer.startswith(b'{"ok":true'), answer
            return (_cpu_ms(process) - before) / len(questions)

    with process:
        try:
            yield cost
        finally:
            process.kill()


def http_calls(lab: Lab, rounds: int) -> Iterator[Figure]:
    """Compare a search over HTTP with the method `search` and 6 ms, and a remembered answer with a new one."""
    method, new, known = [], [], []
    with (
        _over_http(lab.folder, cache=0) as ask,
        _over_http(lab.folder, cache=CALLS) as ask_again,
        Recall.open(str(lab.folder)) as recall,
    ):
        for _ in range(rounds + 1):
            asked = lab.questions(CALLS)
            started = time.process_time()
            for question in asked:
                recall.search(question, Ask(k=10))
            method.append((time.process_time() - started) * 1000 / CALLS)
            new.append(ask(asked))
            ask_again(asked)
            known.append(ask_again(asked))
    # The first round warms all three up.
    most = [each + HTTP_MS for each in method[1:]]
    yield _figure("search over HTTP", lab, f"Recall.search + {HTTP_MS:g} ms", (new[1:], most), "ms", 1.0)
    yield _figure("remembered search over HTTP", lab, "new search over HTTP", (known[1:], new[1:]), "ms", 0.2)


def first_answer(lab: Lab, rounds: int) -> Figure:
    """Compare a new server until its first answer, without the cost of `import mcp`, with a cold `recall search`."""
    ours, cold = [], []
    for _ in range(rounds + 1):
        (question,) = lab.questions(1)
        without = _imported()
        with Client(lab.folder) as client:
            client.call("search", query=question)
            ours.append(client.cpu_ms() - without)
        cold.append(child(["-m", "recall_core", "--store", ".", "search", question], cwd=lab.folder)())
    # The first round fills the caches of later rounds.
    return _figure("first answer without import mcp", lab, "cold recall search", (ours[1:], cold[1:]), "ms", 1.5)


def _imported() -> float:
    """Return the processor time of an interpreter that imports the SDK, in milliseconds."""
    line = "import mcp, time; print(time.process_time() * 1000)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", line], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def connections(lab: Lab, rounds: int) -> Figure:
    """Compare memory with eight connections in use with one."""
    many, one = [], []
    for _ in range(rounds):
        for count, found in ((CONNECTIONS, many), (1, one)):
            with Client(lab.folder, "--connections", str(count)) as client:
                for _ in range(10):
                    asked = [client.ask("search", query=each) for each in lab.questions(2 * CONNECTIONS)]
                    for number in asked:
                        client.receive(number)
                found.append(client.pss_mb())
    return _figure(f"memory, {CONNECTIONS} connections", lab, "1 connection", (many, one), "MB", 1.5)


def flat(lab: Lab, calls: int) -> Figure:
    """Compare memory after `calls` calls with memory after a tenth of them."""
    asked = lab.questions(500)
    tools = [("search", {}), ("context", {"budgetTokens": 600}), ("search", {"mode": "lexical"}), ("status", None)]
    with Client(lab.folder) as client:
        early = 0.0
        for number in range(calls):
            tool, more = tools[number % len(tools)]
            client.call(tool, **({} if more is None else {"query": asked[number % len(asked)], **more}))
            if number + 1 == calls // 10:
                early = client.pss_mb()
        late = client.pss_mb()
    return _figure(f"memory after {calls} calls", lab, f"after {calls // 10}", ([late], [early]), "MB", 1.05)


def _figure(  # noqa: PLR0917 - the order of the cells
    name: str, lab: Lab, peer: str, measured: tuple[Sequence[float], Sequence[float]], unit: str, budget: float
) -> Figure:
    ours, against = measured
    ratio = spread([one / other for one, other in zip(ours, against, strict=True)])
    return Figure(name, lab.embedding, peer, spread(ours), spread(against), unit, ratio, budget)


def figures(home: Path, *, embeddings: Sequence[str], chunks: int, rounds: int, calls: int) -> Iterator[Figure]:
    """Yield every row."""
    for embedding in embeddings:
        lab = Lab(home, embedding, chunks)
        yield warm_call(lab, rounds)
        yield from http_calls(lab, rounds)
        yield first_answer(lab, rounds)
        yield connections(lab, max(1, rounds // 2))
        if calls:
            yield flat(lab, calls)


def table(rows: Sequence[Figure]) -> Iterator[str]:
    """Yield the rows as Markdown, each with its budget and the result."""
    yield "| row | | ours | peer | ratio | at most | |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        ratio = f"{row.ratio.median:.2f} ({row.ratio.least:.2f} to {row.ratio.most:.2f})"
        peer = f"{row.against.median:.1f} {row.unit} {row.peer}"
        verdict = "met" if row.is_met else "missed"
        ours = f"{row.name} | `{row.embedding}` | {row.ours.median:.1f} {row.unit}"
        yield f"| {ours} | {peer} | {ratio} | {row.budget:g} | {verdict} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".bench/serving"), help="folder that keeps the stores")
    parser.add_argument("--embeddings", default="hash,local")
    parser.add_argument("--chunks", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--calls", type=int, default=FLAT_CALLS, help="calls in the test of memory growth, 0 to skip it"
    )
    options = parser.parse_args(argv)
    wanted = [each for each in options.embeddings.split(",") if has(each)]
    found = figures(
        options.home, embeddings=wanted, chunks=options.chunks, rounds=options.rounds, calls=options.calls
    )
    print("\n".join(table(list(found))))
    return 0


if __name__ == "__main__":
    on_one_thread("benchmarks.serving")
    sys.exit(main())
