"""pydantic-ai: an agent whose model is a function that calls one tool. The server has the default 5 s to start."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from driver import Answer, Job, main
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer


class Connected:
    """A connected toolset of pydantic-ai."""

    def __init__(self, toolset: MCPToolset[None]) -> None:
        self._toolset = toolset

    async def schemas(self) -> Mapping[str, Any]:
        schemas = {}
        for tool in await self._toolset.list_tools():
            transformer = OpenAIJsonSchemaTransformer(tool.model_dump(by_alias=True)["inputSchema"], strict=True)
            schemas[tool.name] = transformer.walk()
            assert transformer.is_strict_compatible, tool.name
        return schemas

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        def call_once(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
            if len(messages) == 1:
                return ModelResponse([ToolCallPart(tool, json.dumps(arguments))])
            return ModelResponse([TextPart("done")])

        run = await Agent(FunctionModel(call_once), toolsets=[self._toolset]).run("call it")
        for message in run.all_messages():
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    text = part.content if isinstance(part.content, str) else json.dumps(part.content)
                    return Answer(text, part.outcome != "success")
        raise AssertionError(f"no answer of {tool}")


@asynccontextmanager
async def connected(job: Job) -> AsyncIterator[Connected]:
    toolset: MCPToolset[None] = (
        MCPToolset(StdioTransport(job.command[0], job.command[1:], env=job.env, cwd=job.cwd))
        if job.command
        else MCPToolset(job.url, headers=job.headers)
    )
    async with toolset:
        yield Connected(toolset)


main(connected)
