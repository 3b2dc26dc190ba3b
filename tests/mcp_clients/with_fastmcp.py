"""The client of fastmcp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from driver import Answer, Job, main
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


class Connected:
    """A connected client of fastmcp."""

    def __init__(self, client: Client[Any]) -> None:
        self._client = client

    async def schemas(self) -> Mapping[str, Any]:
        return {tool.name: tool.model_dump(by_alias=True)["inputSchema"] for tool in await self._client.list_tools()}

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = await self._client.call_tool(tool, arguments, raise_on_error=False)
        return Answer("\n".join(each.text for each in result.content), result.is_error)


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Connected]:
    transport = (
        StdioTransport(job.command[0], job.command[1:], env=job.env, cwd=job.cwd)
        if job.command
        else StreamableHttpTransport(job.url, headers=job.headers)
    )
    async with Client(transport) as client:
        yield Connected(client)


main(connected)
