"""Responses of agents, route and status."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AgentView(TypedDict):
    """The profile of an agent, with every default filled in."""

    id: str
    name: str
    default: bool
    """True if it gets messages without a binding."""
    enabled: bool
    """False if its memory is switched off."""
    workspace: str
    """The folder of MEMORY.md and memory/. Paths are relative to it."""
    store: str
    sources: list[str]
    extra_paths: list[str]
    missing: list[str]
    """Folders and files of these that do not exist. The first use makes a workspace in the data folder."""
    max_results: int
    mode: Literal["hybrid", "lexical", "semantic"]
    citations: Literal["auto", "on", "off"]
    """How `memory_search` cites."""
    settings: dict[str, str | int | float | bool]
    """Settings of its store, as in recall.toml."""
    runtime: dict[str, Any]
    """Identity, tools, sandbox and model, as in agents.toml."""


class RouteView(TypedDict):
    """The agent of a message."""

    agent: str
    store: str
    session: str
    """The key of the session."""
    rule: Literal["peer", "account", "channel", "any", "default"]
    """The most specific field of the binding. `any`: the binding has none. `default`: no binding matches."""
    enabled: bool
    """False if the memory of the agent is switched off."""
    binding: NotRequired[int]
    """The place of the binding in its file, from 1."""
    file: NotRequired[str]


class SourceView(TypedDict):
    """What a store has of a source; "" for documents without one."""

    source: str
    files: int
    chunks: int


class MemoryView(TypedDict):
    """The state of a store."""

    agent: NotRequired[str]
    """The agent whose memory it is."""
    store: str
    base: str
    """The folder that paths are relative to."""
    backend: str
    provider: str
    """The embedder in use."""
    model: str
    """The identity of the embedder that made the vectors."""
    sources: list[SourceView]
    dirty: bool
    """True if a sync would change something."""
    vectors: str
    """`ok`, or why a search by meaning fails."""
    full_text: str
    """`ok`, or why a search by words fails."""
    cache: int
    """Answers that a server remembers."""
    fallback: list[str]
    """Why another embedder is used than the first choice."""
    last_sync: NotRequired[str]
    """Left out if it is unknown."""
    next_sync: str
    """A time, `on search`, `on change` or `never`."""
