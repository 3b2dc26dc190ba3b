"""openai-agents: its function tools, with strict schemas."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from agents import FunctionTool
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext
from driver import Answer, Job, answer_of, main


class Connected:
    """A server as an agent of openai-agents sees it."""

    def __init__(self, server: MCPServer) -> None:
        self._server = server
        self._tools: dict[str, FunctionTool] = {}

    async def schemas(self) -> Mapping[str, Any]:
        for tool in await self._server.list_tools():
            made = MCPUtil.to_function_tool(tool, self._server, convert_schemas_to_strict=True)
            assert made.strict_json_schema, tool.name
            self._tools[tool.name] = made
        return {name: tool.params_json_schema for name, tool in self._tools.items()}

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        sent = json.dumps(arguments)
        context = ToolContext(context=None, tool_name=tool, tool_call_id="1", tool_arguments=sent)
        output: Any = await self._tools[tool].on_invoke_tool(context, sent)
        # The model gets only the text; the call below says whether it is an error.
        return Answer(output["text"], answer_of(await self._server.call_tool(tool, arguments)).is_error)


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Connected]:
    server: MCPServer
    if job.command:
        command, *args = job.command
        server = MCPServerStdio({"command": command, "args": args, "env": job.env, "cwd": job.cwd})
    else:
        server = MCPServerStreamableHttp({"url": job.url, "headers": job.headers})
    async with server:
        yield Connected(server)


main(connected)
