"""The official client, in version 1 or 2 of the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from driver import Answer, Job, answer_of, main
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

try:
    from httpx2 import AsyncClient
except ImportError:  # version 1
    from httpx import AsyncClient


class Session:
    """A session of the SDK."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def schemas(self) -> Mapping[str, Any]:
        listed = (await self._session.list_tools()).model_dump(by_alias=True)
        return {tool["name"]: tool["inputSchema"] for tool in listed["tools"]}

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return answer_of(await self._session.call_tool(tool, arguments))


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Session]:
    async with (
        AsyncClient(headers=job.headers, timeout=60, trust_env=False) as http,
        _streams(job, http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        yield Session(session)


def _streams(job: Job, http: AsyncClient) -> AbstractAsyncContextManager[Any]:
    if not job.command:
        return streamable_http_client(job.url, http_client=http)
    server = StdioServerParameters(command=job.command[0], args=job.command[1:], env=job.env, cwd=job.cwd)
    return stdio_client(server)


main(connected)
