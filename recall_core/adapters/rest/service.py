"""The server of `recall serve`: who may ask, what a request asks, its answer, and what every response carries."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recall_core.adapters.mcp.http import Door, shows_token
from recall_core.adapters.render import json_line
from recall_core.adapters.rest.operations import (
    DOCUMENTS,
    OPERATIONS,
    SCHEMA,
    TEXTS,
    Operation,
    answer,
    openapi,
    read_body,
    read_name,
    read_parameters,
    status_of,
)
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool
from recall_core.errors import Interrupted, RecallError, UnknownTarget, UsageError
from recall_core.views import failure

if TYPE_CHECKING:
    from recall_core.types import StoreInfo

BODY_BYTES = 1 << 20
"""Most bytes of a request's body."""
BODY_SECONDS = 30.0
"""Time limit for a body to arrive."""
AGENTS = "/mcp"
_PAGE = Path(__file__).parent / "page"
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
"""The files of the page, which anyone may load: they have no data and no key."""
HEADERS = {
    b"cache-control": b"no-store",
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"
    ),
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}
"""Headers of every response."""

Result = TypeVar("Result")


class Service:
    """The ASGI application.

    agents: the MCP server, for requests that may ask. seconds: time limit of an answer.
    """

    def __init__(self, pool: ConnectionPool, agents: ASGIApp, at: Door, *, seconds: float, is_writable: bool) -> None:
        self._pool = pool
        self._agents = agents
        self._token = at.token
        self._hosts = frozenset(at.hosts)
        self._origins = frozenset(f"http://{host}" for host in at.hosts)
        self._seconds = seconds
        self._is_writable = is_writable
        self._metrics = Metrics()
        self._operations: dict[str, dict[str, Operation]] = defaultdict(dict)
        for operation in OPERATIONS:
            self._operations[operation.path][operation.method] = operation
        self._texts = {
            "/v1/schema": SCHEMA.read_bytes(),
            "/v1/openapi.json": json.dumps(openapi(), ensure_ascii=False, indent=1).encode(),
        }
        self._routes = frozenset((*_FILES, AGENTS, *self._operations, *(path for path, *_ in TEXTS)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] != "http":
            await self._agents(scope, receive, send)
            return
        started, status, request = perf_counter(), 0, Request(scope, receive)
        path: str = scope["path"]
        route = f"{DOCUMENTS}{{name}}" if path.startswith(DOCUMENTS) else path if path in self._routes else "unknown"

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = [pair for pair in message["headers"] if pair[0].lower() not in HEADERS]
                message = {**message, "headers": [*kept, *HEADERS.items()]}
            await send(message)

        response: ASGIApp
        try:
            response = await self._respond(request, route)
        except RecallError as error:
            response = refuse(error)
        except Exception as error:  # noqa: BLE001 - outermost frame of a request: report a bug without its trace
            text = f"Unexpected {type(error).__name__}."
            response = refuse(RecallError("internal_error", text, hint="report it"))
        await response(scope, receive, send_with_headers)
        self._metrics.add(route, status, perf_counter() - started)

    async def _respond(self, request: Request, route: str) -> ASGIApp:
        """Return the response. Raises RecallError."""
        self._expect_local(request)
        if route in _FILES:
            _expect_method(request, ("GET",))
            _read_query(request, None)
            name, media = _FILES[route]
            return Response((_PAGE / name).read_bytes(), media_type=media)
        self._expect_token(request)
        if int(request.headers.get("content-length", "0")) > BODY_BYTES:
            raise _too_large()
        if route == AGENTS:
            return self._agents
        if route not in self._routes:
            message = f"There is nothing at {request.scope['path']}."
            raise UnknownTarget("unknown_route", message, hint="GET /v1/openapi.json lists the operations")
        for path, _, media in TEXTS:
            if path == route:
                _expect_method(request, ("GET",))
                _read_query(request, None)
                content = self._texts.get(path)
                return Response(content or await self._count(request), media_type=media)
        _expect_method(request, self._operations[route])
        operation = self._operations[route][request.method]
        if operation.method in ("PUT", "DELETE") and not self._is_writable:
            raise UsageError("not_writable", "This server only reads.", hint="recall serve --writable")
        raw: bytes = request.scope["raw_path"].partition(b"?")[0]
        name = read_name(unquote_to_bytes(raw[len(DOCUMENTS) :])) if "{name}" in route else ""
        question: Any = _read_query(request, operation)
        body = await _body(request)
        if operation.takes is not None and operation.method != "GET":
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                message = "The body must be JSON."
                raise UsageError("bad_content_type", message, hint="Content-Type: application/json")
            question = read_body(body, operation.takes)
        content = await self._ask(
            request, lambda recall: json_line(answer(recall, operation, question, name)).encode()
        )
        return Response(content, media_type="application/json")

    def _expect_local(self, request: Request) -> None:
        """Refuse other names of this server, which a page elsewhere may have given it, and pages elsewhere."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if host not in self._hosts:
            message = "The Host header does not name this server."
            raise UsageError("foreign_host", message, hint=f"http://{min(self._hosts)}")
        if origin is not None and origin not in self._origins:
            raise UsageError("foreign_origin", "Pages of other servers may not ask.", hint="leave Origin out")

    def _expect_token(self, request: Request) -> None:
        if self._token is None:
            return
        if not shows_token(request.scope["headers"], self._token):
            hint = "send the server's token: Authorization: Bearer TOKEN"
            raise UsageError("unauthorized", "This server needs its token.", hint=hint)
        if self._token in request.scope["path"] + unquote(request.scope["query_string"].decode("latin-1")):
            message = "A token in a URL ends up in logs."
            raise UsageError("token_in_url", message, hint="start the server with another token")

    async def _ask(self, request: Request, work: Callable[[Recall], Result]) -> Result:
        """Run the work in the pool. It ends if the client leaves. Each connection of a client is a session."""
        pending = self._pool.ask(work, seconds=self._seconds, session=request.client, is_search=True)
        result = asyncio.wrap_future(pending.future)
        left = asyncio.ensure_future(request.receive())  # the body was read, so this is the end of the connection
        try:
            await asyncio.wait((result, left), return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise Interrupted("interrupted", "The client left.")
            return result.result()
        finally:
            left.cancel()
            if not result.done():
                pending.cancel()
                result.cancel()

    async def _count(self, request: Request) -> str:
        """Return the metrics, without figures of the store if it cannot be read."""
        await _body(request)
        try:
            info = await self._ask(request, lambda recall: recall.store.info())
        except RecallError:
            info = None
        return "".join(f"{line}\n" for line in self._metrics.lines(info))


def _expect_method(request: Request, methods: Any) -> None:
    if request.method not in methods:
        allowed = ", ".join(methods)
        message = f"{request.method} is not possible here."
        raise UsageError("method_not_allowed", message, hint=f"use {allowed}", details={"allow": allowed})


def _read_query(request: Request, operation: Operation | None) -> object:
    """Return the parameters of the URL, or None. Raises UsageError `bad_arguments`."""
    query = request.scope["query_string"]
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError as error:
        message = "The parameters are not percent-encoded UTF-8, or too many."
        raise UsageError("bad_arguments", message, hint="?limit=10") from error
    given = dict(pairs)
    if len(given) < len(pairs):
        raise UsageError("bad_arguments", "A parameter is given twice.", hint="give it once")
    if operation is not None and operation.method == "GET" and operation.takes is not None:
        return read_parameters(given, operation.takes)
    if given:
        raise UsageError("bad_arguments", f"There is no parameter {min(given)}.", hint="leave it out")
    return None


async def _body(request: Request) -> bytes:
    """Return the whole body. Raises RecallError `body_late`, `body_too_large`; Interrupted."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_BYTES:
                    raise _too_large()
    except TimeoutError:
        message = f"The body did not arrive within {BODY_SECONDS:g} s."
        raise RecallError("body_late", message, hint="send it again") from None
    except ClientDisconnect:
        raise Interrupted("interrupted", "The client left.") from None
    return bytes(body)


def _too_large() -> RecallError:
    return UsageError("body_too_large", f"A body has at most {BODY_BYTES:,} bytes.", hint="send less at a time")


def refuse(error: RecallError) -> Response:
    """Return the response for an error, as `--json` prints it."""
    status, headers = status_of(error), dict[str, str]()
    details = error.details if isinstance(error.details, dict) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    elif status == 405:
        headers["Allow"] = details["allow"]
    elif status in (408, 413):
        headers["Connection"] = "close"
    elif status == 429:
        headers["Retry-After"] = str(math.ceil(details["retry_after_seconds"]))
    return Response(json_line(failure(error)).encode(), status, headers, "application/json")


class Metrics:
    """Counts and durations of requests by route, for Prometheus. It never contains a query or a name."""

    def __init__(self) -> None:
        self._counts = Counter[tuple[str, int]]()
        self._seconds: dict[str, float] = defaultdict(float)

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._counts[route, status] += 1
        self._seconds[route] += seconds

    def lines(self, info: StoreInfo | None) -> Iterator[str]:
        """Yield the lines of the text format."""
        yield "# TYPE recall_requests_total counter"
        for (route, status), count in sorted(self._counts.items()):
            yield f'recall_requests_total{{route="{route}",status="{status}"}} {count}'
        yield "# TYPE recall_request_seconds summary"
        for route, seconds in sorted(self._seconds.items()):
            count = sum(each for (named, _), each in self._counts.items() if named == route)
            yield f'recall_request_seconds_sum{{route="{route}"}} {seconds:.6f}'
            yield f'recall_request_seconds_count{{route="{route}"}} {count}'
        for name in ("generation", "documents", "chunks") if info is not None else ():
            yield f"# TYPE recall_store_{name} gauge"
            yield f"recall_store_{name} {getattr(info, name)}"
