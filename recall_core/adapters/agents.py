"""The commands agents, route and status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import api, paths
from recall_core.adapters.flags import Command, Flag, Operand, in_lines, on_store
from recall_core.adapters.render import clean, count_of
from recall_core.errors import UsageError
from recall_core.shell import Hint

if TYPE_CHECKING:
    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.contract.responses import AgentsResponse, RouteResponse, StatusResponse

_FLAGS = (
    Flag("--name", "add: the name that people see", "NAME"),
    Flag("--workspace", "add: folder of MEMORY.md and memory/", "DIR"),
    Flag("--extra-path", "add: file or folder to index besides", "PATH", many=True),
    Flag("--embedding", "add: embedder of its store", "NAME"),
    Flag("--sessions", "add: also index transcripts"),
    Flag("--default", "add: give it the messages without a binding"),
)


def agents(request: Request, streams: Streams, opener: Opener) -> AgentsResponse:
    """List the agents, show one, or change the person's file."""
    action, *words = request.words or ("list",)
    if (action == "list") == bool(words):
        code = "unexpected_argument" if words else "missing_argument"
        takes = "takes no ID" if words else "needs an ID"
        example = Hint("agents", "list") if words else Hint("agents", action, "work")
        raise UsageError(code, f"recall agents {action} {takes}.", hint=example)
    given = {
        "name": request.flags.name,
        "default": request.flags.default or None,
        "workspace": request.flags.workspace and _from_here(request.flags.workspace),
        "extra_paths": request.flags.extra_path and [*map(_from_here, request.flags.extra_path)],
        "embedding": request.flags.embedding,
        "sources": ["memory", "sessions"] if request.flags.sessions else None,
    }
    entry = {key: value for key, value in given.items() if value is not None}
    if entry and action != "add":
        message = f"recall agents {action} takes no flag for a new agent."
        raise UsageError("conflicting_flags", message, hint=Hint("agents", "add", "ID"))
    if action in ("add", "rm"):
        return api.agents.change(words[0], entry if action == "add" else None)
    return api.agents.list_agents(*words)


def _from_here(typed: str) -> str:
    """Return a typed path for agents.toml, where a relative one would start elsewhere."""
    return typed if typed.startswith("~") else str(paths.spelt(paths.absolute(Path(typed))))


def _lines(request: Request) -> Command[Any]:
    """Return the command that prints one line for each agent, or every field of one."""

    def lines(response: AgentsResponse) -> Iterator[str]:
        for view in response["agents"]:
            if request.words[:1] in (("show",), ("add",)):
                yield from (f"{key:<12}{clean(_text(value))}" for key, value in view.items())
                continue
            marks = [*["default"] * view["default"], *["off"] * (not view["enabled"]), *view["sources"]]
            missing = f"  missing: {clean(', '.join(view['missing']))}" if view["missing"] else ""
            yield f"{view['id']:<11} {clean(view['workspace'])}  {', '.join(marks)}{missing}"

    return COMMANDS[0]._replace(prints=in_lines(lines))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key} {each if isinstance(each, str) else json.dumps(each)}" for key, each in value.items()]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) or "-" if isinstance(value, list) else str(value)


def route(request: Request, streams: Streams, opener: Opener) -> RouteResponse:
    """Return which agent gets a message."""
    if request.flags.channel is None:
        raise UsageError("missing_argument", "recall route needs --channel.", hint=Hint("route", channel="slack"))
    return api.agents.route(request.flags.channel, account=request.flags.account, peer=request.flags.peer)


def route_lines(response: RouteResponse) -> Iterator[str]:
    """Yield the agent, its store, the session and the rule that decided."""
    view = response["route"]
    off = "" if view["enabled"] else "  (memory off)"
    yield f"{'agent':<9}{view['agent']}{off}"
    yield f"{'store':<9}{clean(view['store'])}"
    yield f"{'session':<9}{clean(view['session'])}"
    where = f", binding {view['binding']} of {clean(view['file'])}" if "binding" in view else ""
    yield f"{'rule':<9}{view['rule']}{where}"


def status_lines(response: StatusResponse) -> Iterator[str]:
    """Yield the state of the store, one field on each line, the agent first."""
    for key, value in sorted(response["memory"].items(), key=lambda field: field[0] != "agent"):
        if key == "sources":
            for each in response["memory"]["sources"]:
                amount = f"{count_of(each['files'], 'file')}, {count_of(each['chunks'], 'chunk')}"
                yield f"{'source':<12}{clean(each['source']) or '-'}: {amount}"
        else:
            yield f"{key.replace('_', ' '):<12}{clean(_text(value))}"


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "agents",
        "List, show, add and remove agents, which each have a memory of their own.",
        run=agents,
        prints=None,
        operand=Operand(
            "ACTION",
            "list (the default), show ID, add ID, or rm ID",
            least=0,
            most=2,
            actions=("list", "show", "add", "rm"),
        ),
        flags=_FLAGS,
        examples=(
            "recall agents",
            "recall agents add work --workspace ~/work --extra-path ~/docs/wiki",
            "recall agents show work --json",
        ),
        note="add and rm change agents.toml in your configuration folder. rm keeps the store.",
        variant=_lines,
    ),
    Command(
        "route",
        "Show which agent gets a message, its store, and the key of the session.",
        run=route,
        prints=in_lines(route_lines),
        flags=(
            Flag("--channel", "where the message comes from, such as slack", "NAME"),
            Flag("--account", "account of the channel", "NAME"),
            Flag("--peer", "who it is from, such as dm:alice", "KIND:ID"),
        ),
        examples=("recall route --channel slack --account acme --peer dm:bob",),
    ),
    Command(
        "status",
        "Show the state of a memory: sources, embedder, probes, and when it was synced.",
        run=on_store(lambda recall, request, streams: api.agents.status(recall.engine)),
        prints=in_lines(status_lines),
        examples=("recall --agent work status", "recall status --json"),
    ),
)
