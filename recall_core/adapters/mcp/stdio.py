"""The protocol on stdin and stdout: one JSON-RPC message per line, without the SDK, which takes seconds to import.

Reading never waits for a call, so that a cancel arrives while its call runs. Replies come in order of completion. The
process can always exit, even if a pipe blocks.
"""

from __future__ import annotations

import json
import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any

from recall_core.adapters import mcp
from recall_core.adapters.mcp.offers import SERVER
from recall_core.adapters.mcp.server import INVALID_PARAMS, PendingCall, ProtocolError, RecallServer, Result
from recall_core.errors import RecallError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recall_core.adapters.mcp.remote import Remote, RemoteCall
    from recall_core.api.serving import Asked, ConnectionPool

Message = dict[str, Any]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that a client opens with `initialize`, oldest first. An unknown version gets the last one."""
VERSION = "2026-07-28"
"""The version without a handshake: each request carries its envelope in `_meta`."""
MOST_BYTES = 16 << 20
"""Most bytes of a message."""
_READ_BYTES = 65_536
"""The capacity of a pipe in bytes."""
_UNREAD_BYTES = 4 << 20
"""While a client leaves more bytes of answers unread, its messages wait in their pipe."""
_FLOOD, _MORE_SECONDS = 16, 0.005
"""After so many messages at once, wait this long for more, such as cancels of calls among them."""
_LAST_SECONDS = 1.0
"""How long the last answers may take to leave, after the client has closed stdin."""

_INVALID_REQUEST, _METHOD_NOT_FOUND, _UNSUPPORTED_VERSION, _CLOSED = -32600, -32601, -32022, -32000
_PREFIX = "io.modelcontextprotocol/"
_VERSION_KEY, _CAPABILITIES_KEY, _CLIENT_KEY = (
    _PREFIX + name for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
_UNCACHED = {"ttlMs": 0, "cacheScope": "private"}
_CACHEABLE = frozenset(
    ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
)
"""Methods whose results say since `VERSION` how long a client may keep them."""
_CALL, _CANCEL = "tools/call", "notifications/cancelled"
_TEXT, _OBJECT = (str, "a string"), (dict, "an object")
_TAKES: Mapping[str, Mapping[str, tuple[type, str]]] = {
    "initialize": {"protocolVersion": _TEXT, "capabilities": _OBJECT, "clientInfo": _OBJECT},
    _CALL: {"name": _TEXT},
    "prompts/get": {"name": _TEXT},
    "resources/read": {"uri": _TEXT},
}
"""Required parameters of methods."""
_MAY_TAKE = {"cursor": _TEXT, "arguments": _OBJECT, "_meta": _OBJECT}
"""Parameters that are absent, null or of this type in every method."""


def serve(
    server: RecallServer, pool: Callable[[], ConnectionPool], *, remote: Callable[[], Remote] | None = None
) -> None:
    """Serve until stdin ends or stdout is closed.

    Other code in the process and its children read an empty stdin and print to stderr.

    pool: makes the pool of connections when it is first needed, or before the first message without remote.
    remote: makes recalld's side, which is asked until it leaves one call unanswered.
    """
    reading, writing = _take_descriptor(0, os.open(os.devnull, os.O_RDONLY)), _take_descriptor(1, os.dup(2))
    broken, breaks = os.pipe()
    writer = _LineWriter(writing, breaks)
    client = Peer(server, pool, writer.send, remote)
    if remote is None:
        client.pool()
    # The write end of a pipe becomes readable when its reader is gone.
    closing = [broken, *([writing] if stat.S_ISFIFO(os.fstat(writing).st_mode) else [])]
    try:
        for lines in _lines(reading, closing):
            client.receive(lines)
            writer.wait_for_room()
    finally:
        client.close()
    writer.finish()


def _take_descriptor(descriptor: int, instead: int) -> int:
    """Duplicate the descriptor, and point its number at another file."""
    taken = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return taken


def _lines(reading: int, closing: Sequence[int]) -> Iterator[list[bytes]]:
    """Yield the lines that have come, until the end, or until a descriptor of `closing` is readable.

    Of a line of more than MOST_BYTES, yield a start that is longer.
    """
    rest: list[bytes] = []
    size, chunk = 0, b"-"
    while chunk and select.select([reading, *closing], [], [])[0] == [reading]:
        lines: list[bytes] = []
        taken, may_have_more = 0, True
        while may_have_more:
            chunk = os.read(reading, _READ_BYTES)
            first, *others = chunk.split(b"\n")
            if size <= MOST_BYTES:
                rest.append(first)
                size += len(first)
            if others:
                lines += [b"".join(rest), *others[:-1]]
                rest, size = others[-1:], len(others[-1])
            taken += len(chunk)
            is_flood = bool(chunk) and len(lines) >= _FLOOD and taken < _UNREAD_BYTES
            may_have_more = is_flood and bool(select.select([reading], [], [], _MORE_SECONDS)[0])
        yield lines if chunk else [*lines, b"".join(rest)]


class _LineWriter:
    """Messages on their way out. A thread writes them, so that a client that reads nothing blocks no call."""

    def __init__(self, descriptor: int, breaks: int) -> None:
        self._descriptor = descriptor
        self._breaks = breaks
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._error: OSError | None = None
        self._changed = Condition()
        Thread(target=self._run, name="recall-writer", daemon=True).start()

    def send(self, message: Message) -> None:
        """Queue a message."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        with self._changed:
            self._waiting.append(text.encode(errors="replace") + b"\n")
            self._bytes += len(self._waiting[-1])
            self._changed.notify_all()

    def wait_for_room(self) -> None:
        """Wait while too much is unread."""
        with self._changed:
            self._changed.wait_for(lambda: self._bytes <= _UNREAD_BYTES or self._error)

    def finish(self) -> None:
        """Wait until everything is written, for a short time. Raises OSError unless the reader is gone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._bytes or self._error, _LAST_SECONDS)
        if self._error is not None and not isinstance(self._error, BrokenPipeError):
            raise self._error

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting)
                    left = b"".join(self._waiting)
                    self._waiting.clear()
                while left:
                    written = os.write(self._descriptor, left)
                    left = left[written:]
                    with self._changed:
                        self._bytes -= written
                        self._changed.notify_all()
        except OSError as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()
            os.close(self._breaks)


class _Call:
    """A request that the pool works on."""

    def __init__(self, request: int | str, method: str, params: Message, question: PendingCall) -> None:
        self.request = request
        self.method = method
        self.params = params
        self.question = question
        meta = params.get("_meta")
        token = meta.get("progressToken") if question.has_progress and isinstance(meta, dict) else None
        self.token = token if isinstance(token, int | str) and not isinstance(token, bool) else None
        self.asked: Asked[Result] | RemoteCall | None = None
        self.is_over = False

    def cancel(self) -> None:
        """Stop the work. The call must be over, so that nothing answers it."""
        asked, self.asked = self.asked, None
        if asked is not None:
            asked.cancel()


class Peer:
    """One client and its running calls.

    The first request decides between the versions with a handshake and `VERSION`, as in the SDK.

    send: takes each message for the client, from any thread.
    """

    def __init__(
        self,
        server: RecallServer,
        pool: Callable[[], ConnectionPool],
        send: Callable[[Message], None],
        remote: Callable[[], Remote] | None = None,
    ) -> None:
        self._server = server
        self._make_pool = pool
        self._made: ConnectionPool | None = None
        self._make_remote = remote
        self._remote: Remote | None = None
        self._making = Lock()
        self._send = send
        self._has_handshake: bool | None = None
        self._is_open = False
        self._is_warm = False
        self._calls: dict[str, _Call] = {}
        """By request id. A client may cancel 7 as "7"."""
        self._lock = Lock()

    def receive(self, lines: Iterable[bytes]) -> None:
        """Handle messages in order. A call that is already cancelled does not start."""
        cancelled: set[str] = set()
        messages: list[Message] = []
        for message in reversed([*filter(None, map(self._read, lines))]):
            if message["method"] == _CANCEL:
                cancelled.add(str((message.get("params") or {}).get("requestId")))
            elif message["method"] == _CALL and str(message.get("id")) in cancelled:
                cancelled.discard(str(message["id"]))
                continue
            messages.append(message)
        for message in reversed(messages):
            request, method, params = message.get("id"), message["method"], message.get("params") or {}
            if isinstance(request, int | str) and not isinstance(request, bool):
                self._answer(request, method, params)
            elif method == "notifications/initialized":
                self._is_open = True
            elif method == _CANCEL:
                self._cancel(params.get("requestId"))

    def _read(self, line: bytes) -> Message | None:
        """Return a request or a notification. Drop anything else, like the SDK, unless it is too long."""
        if len(line) > MOST_BYTES:
            self._refuse(None, ProtocolError(_INVALID_REQUEST, f"A message has at most {MOST_BYTES} bytes."))
            return None
        try:
            message = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError):
            return None
        is_message = (
            isinstance(message, dict)
            and message.get("jsonrpc") == "2.0"
            and isinstance(message.get("method"), str)
            and isinstance(message.get("params"), dict | None)
        )
        return message if is_message else None

    def close(self) -> None:
        """Cancel the running calls, tell the client so, and close the pool."""
        with self._lock:
            calls = [*self._calls.values()]
            self._calls.clear()
            for call in calls:
                call.is_over = True
        for call in calls:
            call.cancel()
            self._refuse(call.request, ProtocolError(_CLOSED, "The connection is closed."))
        with self._making:
            if self._made is not None:
                self._made.close()

    def _answer(self, request: int | str, method: str, params: Message) -> None:
        meta = params.get("_meta")
        is_enveloped = method != "initialize" and isinstance(meta, dict) and _VERSION_KEY in meta
        if self._has_handshake is None:
            self._has_handshake = not is_enveloped
        try:
            if self._has_handshake and is_enveloped:
                raise ProtocolError(_INVALID_REQUEST, "This connection began with a version without envelopes.")
            if not self._has_handshake:
                _check_envelope(method, params)
            found = self._result(method, params)
        except ProtocolError as error:
            self._refuse(request, error)
            return
        if isinstance(found, PendingCall):
            self._ask(_Call(request, method, params, found))
            return
        self._reply(request, method, found)
        if method == "tools/list" and not self._is_warm:  # the first call finds an open store
            self._is_warm = True
            Thread(target=self._warm, name="recall-warm", daemon=True).start()

    def _result(self, method: str, params: Message) -> Result | PendingCall:
        """Return the result of a request, or the question. Raises ProtocolError."""
        if self._has_handshake and method == "initialize":
            _check_params(method, params)
            self._is_open = True
            asked = params["protocolVersion"]
            version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            return {"protocolVersion": version, "serverInfo": SERVER, **self._server.description}
        if self._has_handshake and method == "ping":
            return {}
        if not self._has_handshake and method == "server/discover":
            return {"supportedVersions": [VERSION], **self._server.description}
        if method not in self._server.methods:
            raise ProtocolError(_METHOD_NOT_FOUND, f"There is no method {method}.", method)
        _check_params(method, params)
        if self._has_handshake and not self._is_open:
            raise ProtocolError(INVALID_PARAMS, "Send initialize first.")
        return self._server.methods[method](params)

    def _ask(self, call: _Call) -> None:
        """Put the question to recalld or the pool, and answer when it is done."""
        self._calls[str(call.request)] = call
        self._report(call, 0)
        remote = self._recalld()
        if remote is None:
            self._ask_pool(call)
            return
        call.asked = remote.ask(call.method, call.params)
        call.asked.future.add_done_callback(lambda future: self._hear(call, future))

    def _ask_pool(self, call: _Call) -> None:
        try:
            asked = self._server.ask(self.pool(), call.question, "")
        except RecallError as error:  # such as Busy
            self._finish(call, error)
            return
        call.asked = asked
        asked.future.add_done_callback(lambda future: self._finish(call, future))
        if call.is_over:  # cancelled while recalld had it
            call.cancel()

    def _hear(self, call: _Call, future: Future[Result | None]) -> None:
        """Take recalld's answer. If it gave none, answer this call and all later ones here."""
        if call.is_over or future.cancelled():
            return
        result = future.result()
        if result is None:
            self._make_remote = None
            self._ask_pool(call)
        else:
            self._finish(call, result)

    def _finish(self, call: _Call, outcome: Future[Result] | RecallError | Result) -> None:
        with self._lock:
            if call.is_over:
                return
            call.is_over = True
            call.asked = None  # it refers to this call, and the garbage collector runs rarely
            if self._calls.get(str(call.request)) is call:
                del self._calls[str(call.request)]
        try:
            if isinstance(outcome, RecallError):
                result = call.question.settle(outcome)
            elif not isinstance(outcome, dict) and (error := outcome.exception()) is not None:
                result = call.question.settle(error)
            else:
                result = outcome if isinstance(outcome, dict) else outcome.result()
                self._report(call, 1)
        except ProtocolError as refusal:
            self._refuse(call.request, refusal)
        else:
            self._reply(call.request, call.method, result)

    def _report(self, call: _Call, amount: int) -> None:
        if call.token is not None:
            params = {"progressToken": call.token, "progress": amount, "total": 1}
            self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def _cancel(self, request: object) -> None:
        """End a call without an answer. Ignore an unknown one."""
        with self._lock:
            call = self._calls.pop(str(request), None)
            if call is not None:
                call.is_over = True
        if call is not None:
            call.cancel()

    def pool(self) -> ConnectionPool:
        """Return the pool of connections, which the first call makes."""
        with self._making:
            if self._made is None:
                self._made = self._make_pool()
            return self._made

    def _recalld(self) -> Remote | None:
        """Return recalld's side, which the first call makes; None if calls are answered here."""
        with self._making:
            if self._made is not None or self._make_remote is None:
                return None
            if self._remote is None:
                self._remote = self._make_remote()
            return self._remote

    def _warm(self) -> None:
        """Open the store and import what calls need, in recalld if it answers."""
        remote = self._recalld()
        if remote is not None and remote.ask("resources/list", {}).future.result() is not None:
            return
        self._make_remote = None
        with suppress(RecallError):  # the pool is closed
            self.pool().ask(lambda recall: mcp.tools.BY_NAME)

    def _reply(self, request: int | str, method: str, result: Result) -> None:
        if not self._has_handshake:
            cached = _UNCACHED if method in _CACHEABLE else {}
            result = {"resultType": "complete", **cached, **result, "_meta": {_PREFIX + "serverInfo": SERVER}}
        self._send({"jsonrpc": "2.0", "id": request, "result": result})

    def _refuse(self, request: int | str | None, error: ProtocolError) -> None:
        data = {} if error.data is None else {"data": error.data}
        body = {"code": error.code, "message": error.message, **data}
        self._send({"jsonrpc": "2.0", "id": request, "error": body})


def _check_params(method: str, params: Message) -> None:
    """Raise ProtocolError for a parameter of another type, or a missing one."""
    required = _TAKES.get(method, {})
    for name, (kind, wanted) in {**_MAY_TAKE, **required}.items():
        value = params.get(name)
        if not isinstance(value, kind) and (value is not None or name in required):
            raise ProtocolError(INVALID_PARAMS, f"{name} must be {wanted}.")


def _check_envelope(method: str, params: Message) -> None:
    """Raise ProtocolError unless the request carries an envelope of `VERSION`."""
    if method == "initialize":
        data = {"supported": [VERSION], "requested": params.get("protocolVersion")}
        raise ProtocolError(_UNSUPPORTED_VERSION, f"This connection began with {VERSION}.", data)
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    if not (isinstance(meta.get(_VERSION_KEY), str) and _CAPABILITIES_KEY in meta):
        message = f"_meta must have {_VERSION_KEY} and {_CAPABILITIES_KEY}."
        raise ProtocolError(INVALID_PARAMS, message)
    if meta[_VERSION_KEY] != VERSION:
        data = {"supported": [VERSION], "requested": meta[_VERSION_KEY]}
        raise ProtocolError(_UNSUPPORTED_VERSION, f"The version must be {VERSION}.", data)
    if not (isinstance(meta[_CAPABILITIES_KEY], dict) and isinstance(meta.get(_CLIENT_KEY), dict | None)):
        raise ProtocolError(INVALID_PARAMS, f"{_CAPABILITIES_KEY} and {_CLIENT_KEY} must be objects.")
