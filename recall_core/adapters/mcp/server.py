"""The requests of the protocol, whatever carries them: answers as plain objects, or the work that finds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias
from urllib.parse import quote, unquote

from recall_core import api
from recall_core.adapters import mcp
from recall_core.adapters.mcp.offers import (
    CAPABILITIES,
    MEMORY_TOOLS,
    OPENAI,
    OPENAI_TOOLS,
    PROMPT,
    PROMPT_NAME,
    SCHEME,
    TEMPLATE,
    TOOLS,
    Limits,
    instructions,
    prompt,
)
from recall_core.adapters.render import as_json, count_of
from recall_core.errors import RecallError
from recall_core.named import NamedTuple
from recall_core.shell import AGAIN, INSTALL, REST, Hint

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.api.serving import Asked, ConnectionPool

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603

UNAVAILABLE = frozenset(
    (
        "no_store",
        "no_settings",
        "store_locked",
        "store_corrupt",
        "store_unreadable",
        "store_needs_recovery",
        "store_replaced",
        "not_a_store",
        "schema_newer",
        "schema_older",
        "untrusted_config",
        "embedder_unavailable",
        "memory_off",
    )
)
"""Error codes of a store that stays unusable until a person acts."""

_SEARCHES = frozenset(("search", "context", "whynot", "explain", "memory_search"))
"""Tools whose answer depends on every file."""

_ASKING = {"search": "search", "query": "search", "context": "context", "get": "get", "whynot": "whynot"}
_HINTS = {
    "timed_out": "use a smaller k or a filter, or ask the user to start the server with a larger --call-timeout",
    "untrusted_config": "ask the user to run recall trust in the folder of this recall.toml",
}
"""Hints that replace those for the command line, by error code."""
_OPTIONS = {"budget_tokens": "budgetTokens"}


def failure(error: RecallError) -> dict[str, Any]:
    """Return an error for a client: code, message, hint and details. The hint names tools instead of commands."""
    message = error.message.replace("--set", "set")
    fields = {"code": error.code, "message": message, "hint": hint_of(error), "details": error.details}
    return {key: value for key, value in fields.items() if value is not None}


def hint_of(error: RecallError) -> str | None:
    """Return the hint as a tool call, or as a request to the user if only a person can act."""
    hint = _HINTS.get(error.code, error.hint)
    if not isinstance(hint, Hint):
        return hint
    options = {_OPTIONS.get(name, name): value for name, value in hint.options if name not in ("store", "json")}
    if hint.action == AGAIN:
        return f"call it again with {json.dumps(options)}" if options else "call it again"
    if hint.action in _ASKING:
        words = " ".join(word for word in hint.words if word != REST)
        argument = "targets" if hint.action == "get" else "query"
        named: dict[str, Any] = {argument: [words] if hint.action == "get" else words} if words else {}
        return f"call {_ASKING[hint.action]} with {json.dumps({**named, **options}, ensure_ascii=False)}"
    if hint.action == "stats":
        return "call status"
    if hint.action == "ls":
        return "call list"
    return f"ask the user to {'install what is missing: ' if hint.action == INSTALL else 'run: '}{hint}"


def disable_memory(error: RecallError) -> dict[str, Any]:
    """Return the answer of `memory_search` and `memory_get` for an unusable store, as OpenClaw does."""
    fields = {"disabled": True, "unavailable": True, "error": error.message, "code": error.code}
    action = hint_of(error)
    return {"results": [], **fields, **({"action": action} if action else {})}


Result: TypeAlias = dict[str, Any]
"""The result of a request, as it is sent."""

_DEFECT = "internal_error"


class ProtocolError(Exception):
    """A request that gets an error instead of a result, with a code of JSON-RPC."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class PendingCall(NamedTuple):
    """A request that needs the store.

    work: returns the result, on a connection of the pool.
    fail: returns the result for an error of the work, or raises ProtocolError.
    has_progress: True if a client may ask for its progress.
    is_search: True if the result depends on every file.
    """

    work: Callable[[Recall], Result]
    fail: Callable[[RecallError], Result]
    has_progress: bool = False
    is_search: bool = False

    def settle(self, error: BaseException | None) -> Result:
        """Return the result for any error of the work. Raises ProtocolError."""
        if not isinstance(error, RecallError):
            error = RecallError(_DEFECT, f"Unexpected {type(error).__name__}: {error}", hint="report it")
        return self.fail(error)


class ServerSettings(NamedTuple):
    """Settings of a server.

    structured: also send each answer as structured content.
    seconds: time limit of a call (None: that of the pool).
    tools: names of the tools to offer.
    is_openai: offer the two tools of ChatGPT's connectors instead.
    """

    limits: Limits = Limits()
    structured: bool = False
    seconds: float | None = None
    tools: frozenset[str] = frozenset(TOOLS)
    is_openai: bool = False


class RecallServer:
    """The answers of a server. `methods` has a function for each request that every version of the protocol knows."""

    def __init__(self, settings: ServerSettings = ServerSettings()) -> None:  # noqa: B008 - a tuple
        self._settings = settings
        own = {name: tool for name, tool in TOOLS.items() if name in settings.tools}
        self._tools = OPENAI_TOOLS if settings.is_openai else own
        self._prefix = OPENAI if settings.is_openai else ""
        self.methods: Mapping[str, Callable[[Mapping[str, Any]], Result | PendingCall]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": lambda _: {"resourceTemplates": [TEMPLATE]},
            "resources/read": self._read_resource,
            "prompts/list": lambda _: {"prompts": [PROMPT] if "search" in self._tools else []},
            "prompts/get": self._get_prompt,
        }
        self.description: Result = {
            "capabilities": CAPABILITIES,
            "instructions": instructions(() if settings.is_openai else self._tools),
        }
        """What a client learns when it connects, besides versions and name."""

    def ask(self, pool: ConnectionPool, question: PendingCall, session: str) -> Asked[Result]:
        """Queue the question. session: requests of one session share one part of the queue. Raises RecallError."""
        seconds = self._settings.seconds or api.serving.SECONDS
        return pool.ask(question.work, seconds=seconds, session=session, is_search=question.is_search)

    def _list_tools(self, _: Mapping[str, Any]) -> Result:
        output = {"outputSchema": {"type": "object"}} if self._settings.structured else {}
        return {"tools": [tool | output for tool in self._tools.values()]}

    def _call_tool(self, params: Mapping[str, Any]) -> PendingCall:
        name, given, limits = params["name"], params.get("arguments") or {}, self._settings.limits
        if name not in self._tools:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}. There are {', '.join(self._tools)}.")

        def work(recall: Recall) -> Result:
            answer = mcp.tools.BY_NAME[self._prefix + name].answer(recall, given, limits)
            return self._content(answer.text, answer.content)

        def fail(error: RecallError) -> Result:
            is_disabled = name in MEMORY_TOOLS and error.code in UNAVAILABLE
            body = disable_memory(error) if is_disabled else failure(error)
            return self._content(as_json(body), body, is_error=not is_disabled)

        return PendingCall(work, fail, has_progress=True, is_search=name in _SEARCHES)

    def _content(self, text: str, content: Mapping[str, Any], *, is_error: bool = False) -> Result:
        structured = {"structuredContent": dict(content)} if self._settings.structured else {}
        return {"content": [{"type": "text", "text": text}], **structured, "isError": is_error}

    def _list_resources(self, params: Mapping[str, Any]) -> PendingCall:
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown cursor: {params['cursor']!r}.")

        def work(recall: Recall) -> Result:
            names = api.serving.CallerNames(recall, self._settings.limits.base)
            with recall.store.reading():
                known = mcp.tools.folders(recall, names)
            return {
                "resources": [
                    {
                        "name": api.serving.spell(name),
                        "uri": SCHEME + quote(name),
                        "description": count_of(documents, "document"),
                        "mimeType": "text/markdown",
                    }
                    for name, documents in known.items()
                ]
            }

        return PendingCall(work, lambda error: _refuse(INTERNAL_ERROR, error))

    def _read_resource(self, params: Mapping[str, Any]) -> PendingCall:
        uri, limits = str(params["uri"]), self._settings.limits
        if not uri.startswith(SCHEME):
            raise ProtocolError(INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
        path = unquote(uri.removeprefix(SCHEME))

        def work(recall: Recall) -> Result:
            text = mcp.tools.resource(recall, path, limits, SCHEME)
            return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}

        return PendingCall(work, lambda error: _refuse(INVALID_PARAMS, error, uri=uri))

    def _get_prompt(self, params: Mapping[str, Any]) -> Result:
        if params["name"] != PROMPT_NAME or "search" not in self._tools:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {params['name']}. There is {PROMPT_NAME}.")
        content = {"type": "text", "text": prompt(self._tools)}
        return {"messages": [{"role": "user", "content": content}]}


def _refuse(code: int, error: RecallError, **more: str) -> NoReturn:
    """Raise the error as one of the protocol."""
    raise ProtocolError(code, error.message, {**failure(error), **more}) from error
