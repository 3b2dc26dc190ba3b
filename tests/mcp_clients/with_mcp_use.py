"""mcp-use: tools as its agent sees them, with arguments converted by Pydantic models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from driver import Answer, Job, main
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter


class Connected:
    """The tools of a server."""

    def __init__(self, tools: list[BaseTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    async def schemas(self) -> Mapping[str, Any]:
        return {
            name: convert_to_openai_tool(tool, strict=True)["function"]["parameters"]
            for name, tool in self._tools.items()
        }

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        output = await self._tools[tool].ainvoke(arguments)
        return Answer(output, False) if isinstance(output, str) else Answer(str(output["details"]), True)


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Connected]:
    server: dict[str, Any] = {"url": job.url, "headers": job.headers}
    if job.command:
        command, *args = job.command
        server = {"command": command, "args": args, "env": job.env, "cwd": job.cwd}
    client = MCPClient.from_dict({"mcpServers": {"recall": server}})
    try:
        session = await client.create_session("recall")
        assert session is not None
        yield Connected(await LangChainAdapter().create_tools(client))
    finally:
        await client.close_all_sessions()


main(connected)
