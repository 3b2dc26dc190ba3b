"""A model server on this machine: it speaks the wire formats of OpenAI and Gemini and fails on demand."""

from __future__ import annotations

import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import shake_128
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """The server's reply to one request in place of vectors.

    hangs_up: close the connection silently.
    is_gated: wait for the gate, as vectors do.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    delay_seconds: float = 0.0
    hangs_up: bool = False
    is_gated: bool = True


class Seen(NamedTuple):
    """One request as received."""

    path: str
    headers: dict[str, str]
    body: Any


class ProviderServer:
    """A fake provider.

    replies: replies that are sent first, one per request.
    reply_to: returns a reply in place of vectors for these texts, or None.
    edit: changes an answer before it is sent.
    delay_seconds: pause before each answer.
    gate: answers wait while it is not set.
    asked: set at the first request.
    date: the Date header in place of the real time.
    """

    def __init__(self, dimension: int = 8) -> None:
        self.dimension = dimension
        self.replies: deque[Reply] = deque()
        self.reply_to: Callable[[list[str]], Reply | None] = lambda texts: None
        self.edit: Callable[[Any], Any] = lambda answer: answer
        self.delay_seconds = 0.0
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()
        self.date: str | None = None
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def texts(self) -> list[list[str]]:
        """Return the texts of every request."""
        return [_texts(seen.body) for seen in self.seen]

    def vector(self, text: str) -> list[float]:
        """Return the vector of a text; it is not of unit length."""
        raw = shake_128(text.encode()).digest(4 * self.dimension)
        return [value / 2**28 for value in struct.unpack(f"<{self.dimension}i", raw)]

    def answer(self, body: Any) -> Any:
        vectors = [self.vector(text) for text in _texts(body)]
        if "requests" in body:
            return {"embeddings": [{"values": vector} for vector in vectors]}
        entries = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        # The order on the wire is not the order of the texts: only `index` is.
        return {"data": entries[::-1], "usage": {"total_tokens": sum(map(len, _texts(body)))}}

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1

    def take(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            self.asked.set()
            if self.replies:
                return self.replies.popleft()
        if reply := self.reply_to(_texts(seen.body)):
            return reply
        body = json.dumps(self.edit(self.answer(seen.body))).encode()
        return Reply(body=body, delay_seconds=self.delay_seconds)


@contextmanager
def provider_server(dimension: int = 8) -> Iterator[ProviderServer]:
    """Yield a running server, and stop it and its threads at the end of the block."""
    server = ProviderServer(dimension)
    thread = threading.Thread(target=server._http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server._http.shutdown()
        thread.join()
        server._http.server_close()


def _texts(body: Any) -> list[str]:
    if "requests" in body:
        return [request["content"]["parts"][0]["text"] for request in body["requests"]]
    return body["input"]


def _handler(server: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            with server.working():
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = server.take(Seen(self.path, headers, body))
                time.sleep(reply.delay_seconds)
                if reply.is_gated:
                    server.gate.wait()
            if reply.hangs_up:
                self.close_connection = True
                return
            try:
                self._send(reply)
            except ConnectionError:  # the client gave up waiting
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in (*reply.headers, ("Content-Length", str(len(reply.body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def date_time_string(self, timestamp: float | None = None) -> str:
            return server.date or super().date_time_string(timestamp)

        def log_message(self, *args: object) -> None:
            """Log nothing."""

    return Handler
