"""The common part of every client driver: read a job, list the tools, call them and print the results.

A driver runs with the Python of its client, where Recall's tests cannot be imported.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Any, NamedTuple, Protocol


class Job(NamedTuple):
    """The job of a driver. command: starts a server on pipes; if empty, the server listens at url."""

    calls: list[tuple[str, dict[str, Any]]]
    command: list[str]
    env: dict[str, str]
    cwd: str
    url: str
    headers: dict[str, str]


class Answer(NamedTuple):
    """The result of a call as the client returns it."""

    text: str
    is_error: bool


class Driven(Protocol):
    """A connected client."""

    async def schemas(self) -> Mapping[str, Any]:
        """Return the parameters of every tool as this client passes them to a model."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool as an agent does."""


def main(connect: Callable[[Job], AbstractAsyncContextManager[Driven]]) -> None:
    """Run the job from stdin, and print the results as JSON."""
    print(json.dumps(asyncio.run(_done(connect, Job(**json.load(sys.stdin))))))


async def _done(connect: Callable[[Job], AbstractAsyncContextManager[Driven]], job: Job) -> dict[str, Any]:
    started = perf_counter()
    async with connect(job) as client:
        schemas = await client.schemas()
        seconds = perf_counter() - started
        answers = [await client.call(tool, arguments) for tool, arguments in job.calls]
    return {"start_seconds": seconds, "schemas": schemas, "answers": answers}


def answer_of(result: Any) -> Answer:
    """Return the answer in a result of the SDK, in either version."""
    data = result.model_dump(by_alias=True)
    return Answer("\n".join(each["text"] for each in data["content"]), data["isError"])
