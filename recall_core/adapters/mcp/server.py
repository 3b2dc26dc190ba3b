"""The server: requests of the protocol into questions to the pool, their answers back; nothing is decided here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recall_core._version import __version__
from recall_core.adapters.mcp.arguments import schema
from recall_core.adapters.mcp.told import UNAVAILABLE, disabled, failure, folders, instructions, prompt, unavailable
from recall_core.adapters.mcp.tools import BY_NAME, MEMORY_TOOLS, TOOLS, Limits, Told, Tool, resource
from recall_core.adapters.mcp.views import as_json
from recall_core.adapters.render import counted
from recall_core.api.recall import Recall
from recall_core.api.serving.names import CallerNames, spelled
from recall_core.api.serving.pool import SECONDS, ConnectionPool
from recall_core.errors import RecallError

Result = TypeVar("Result")

NAME = "recall"
SCHEME = "recall://"
PROMPT_NAME = "search-first"
_DEFECT = "internal_error"


class ServerSettings(NamedTuple):
    """How a server answers. structured: send the object of each answer, too. seconds: the most that one takes.

    tools: the names of those that are offered.
    """

    limits: Limits = Limits()
    structured: bool = False
    seconds: float = SECONDS
    tools: frozenset[str] = frozenset(BY_NAME)


class RecallServer:
    """Handlers of one server over one pool."""

    def __init__(self, pool: ConnectionPool, settings: ServerSettings) -> None:
        self._pool = pool
        self._settings = settings
        self._tools = {tool.name: tool for tool in TOOLS if tool.name in settings.tools}

    async def protocol(self) -> Server[Any]:
        """The server of the SDK, with instructions from the store as it is now."""
        return Server(
            NAME,
            version=__version__,
            title="Recall",
            instructions=await self._instructions(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _instructions(self) -> str:
        try:
            return await self._ask(lambda recall: instructions(recall, self._names(recall), self._tools))
        except RecallError as error:
            return unavailable(error)

    def _names(self, recall: Recall) -> CallerNames:
        return CallerNames(recall, self._settings.limits.base)

    async def _ask(
        self, work: Callable[[Recall], Result], context: ServerRequestContext[Any] | None = None
    ) -> Result:
        """Have it done by the pool; who is cancelled cancels it."""
        session = None if context is None else _session_of(context)
        asked = self._pool.ask(work, seconds=self._settings.seconds, session=session)
        try:
            return await asyncio.wrap_future(asked.future)
        except asyncio.CancelledError:
            asked.cancel()
            raise

    async def _list_tools(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each, self._settings.structured) for each in self._tools.values()])

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}. There are {known}.")
        await context.session.report_progress(0, 1)
        limits = self._settings.limits
        try:
            answer = await self._ask(lambda recall: tool.answer(recall, params.arguments or {}, limits), context)
        except RecallError as error:
            return self._failed(tool.name, error)
        except Exception as error:  # noqa: BLE001 - the outermost frame of a call: a defect is one line, not a page
            text = f"Unexpected {type(error).__name__}: {error}"
            return self._failed(tool.name, RecallError(_DEFECT, text, hint="report it"))
        await context.session.report_progress(1, 1)
        return self._answered(answer)

    def _answered(self, answer: Told) -> types.CallToolResult:
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
        if self._settings.structured:
            return types.CallToolResult(content=content, structured_content=answer.content)
        return types.CallToolResult(content=content)

    def _failed(self, tool: str, error: RecallError) -> types.CallToolResult:
        is_disabled = tool in MEMORY_TOOLS and error.code in UNAVAILABLE
        body = disabled(error) if is_disabled else failure(error)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=as_json(body))]
        if self._settings.structured:
            return types.CallToolResult(content=content, structured_content=body, is_error=not is_disabled)
        return types.CallToolResult(content=content, is_error=not is_disabled)

    async def _list_resources(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown cursor: {params.cursor!r}.")

        def listed(recall: Recall) -> types.ListResourcesResult:
            with recall.store.reading():
                known = folders(recall, self._names(recall))
            return types.ListResourcesResult(
                resources=[
                    types.Resource(
                        name=spelled(name),
                        uri=SCHEME + quote(name),
                        description=counted(documents, "document"),
                        mime_type="text/markdown",
                    )
                    for name, documents in known.items()
                ]
            )

        return await self._asked(listed, context)

    async def _list_templates(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="document",
            title="Document",
            uri_template=SCHEME + "{+path}",
            description="A document, or lines of it, by its path: recall://notes/a.md, recall://notes/a.md:10-20",
            mime_type="text/markdown",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if not uri.startswith(SCHEME):
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
        path = unquote(uri.removeprefix(SCHEME))

        limits = self._settings.limits
        text = await self._asked(lambda recall: resource(recall, path, limits, SCHEME), context, uri=uri)
        contents = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        if "search" not in self._tools:
            return types.ListPromptsResult(prompts=[])
        offered = types.Prompt(name=PROMPT_NAME, title="Search first", description="When and how to search.")
        return types.ListPromptsResult(prompts=[offered])

    async def _get_prompt(
        self, _: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT_NAME or "search" not in self._tools:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}. There is {PROMPT_NAME}.")
        content = types.TextContent(type="text", text=prompt(self._tools))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def _asked(
        self, work: Callable[[Recall], Result], context: ServerRequestContext[Any], *, uri: str = ""
    ) -> Result:
        """The same as `_ask` where errors are the protocol's."""
        try:
            return await self._ask(work, context)
        except RecallError as error:
            found = {**failure(error), **({"uri": uri} if uri else {})}
            code = types.INVALID_PARAMS if uri else types.INTERNAL_ERROR
            raise MCPError(code, error.message, json.loads(as_json(found))) from error


def _session_of(context: ServerRequestContext[Any]) -> str:
    """Return the id of a session over HTTP; the same for requests without one, which share a part of the queue."""
    request = context.request
    return "" if request is None else str(request.headers.get("mcp-session-id", ""))


def _tool(tool: Tool, has_output: bool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.takes),
        output_schema={"type": "object"} if has_output else None,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
