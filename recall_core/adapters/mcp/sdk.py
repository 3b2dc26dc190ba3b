"""The server as one of the official SDK, which carries it over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recall_core.adapters.mcp.offers import SERVER
from recall_core.adapters.mcp.server import ProtocolError, Question, RecallServer
from recall_core.api.serving import ConnectionPool

_Handler = Callable[[ServerRequestContext[Any], Any], Awaitable[Any]]


def protocol(server: RecallServer, pool: ConnectionPool) -> Server[Any]:
    """Return the SDK's server, which answers as `server` does."""

    def handler(method: str, kind: type[types.Result]) -> _Handler:
        async def handle(context: ServerRequestContext[Any], params: types.RequestParams | None) -> types.Result:
            given = {} if params is None else params.model_dump(by_alias=True, mode="json", exclude_none=True)
            try:
                found = server.methods[method](given)
                if isinstance(found, Question):
                    found = await _answer(server, pool, found, context)
            except ProtocolError as error:
                raise MCPError(error.code, error.message, error.data) from error
            return kind.model_validate(found)

        return handle

    return Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        instructions=server.description["instructions"],
        on_list_tools=handler("tools/list", types.ListToolsResult),
        on_call_tool=handler("tools/call", types.CallToolResult),
        on_list_resources=handler("resources/list", types.ListResourcesResult),
        on_list_resource_templates=handler("resources/templates/list", types.ListResourceTemplatesResult),
        on_read_resource=handler("resources/read", types.ReadResourceResult),
        on_list_prompts=handler("prompts/list", types.ListPromptsResult),
        on_get_prompt=handler("prompts/get", types.GetPromptResult),
    )


async def _answer(
    server: RecallServer, pool: ConnectionPool, question: Question, context: ServerRequestContext[Any]
) -> dict[str, Any]:
    """Run the question in the pool. Cancelling this call cancels it. Raises ProtocolError."""
    request = context.request
    session = "" if request is None else str(request.headers.get("mcp-session-id", ""))
    if question.has_progress:
        await context.session.report_progress(0, 1)
    try:
        pending = server.ask(pool, question, session)
        try:
            result = await asyncio.wrap_future(pending.future)
        except asyncio.CancelledError:
            pending.cancel()
            raise
    except Exception as error:  # noqa: BLE001 - outermost frame of a call: report a bug on one line
        return question.settle(error)
    if question.has_progress:
        await context.session.report_progress(1, 1)
    return result
