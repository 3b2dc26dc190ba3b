"""langchain-mcp-adapters: tools as a LangChain agent sees them.

By default each call has its own session; over stdio the calls share one, because each session would start a server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from driver import Answer, Job, main
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


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
        call = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await self._tools[tool].ainvoke(call)
        return Answer("\n".join(each["text"] for each in message.content), message.status == "error")


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Connected]:
    if not job.command:
        client = MultiServerMCPClient(
            {"recall": {"transport": "streamable_http", "url": job.url, "headers": job.headers}}
        )
        yield Connected(await client.get_tools())
        return
    command, *args = job.command
    client = MultiServerMCPClient(
        {"recall": {"transport": "stdio", "command": command, "args": args, "env": job.env, "cwd": job.cwd}}
    )
    async with client.session("recall") as session:
        yield Connected(await load_mcp_tools(session))


main(connected)
