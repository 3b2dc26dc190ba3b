"""agents.toml: agents, each with a workspace, a store and settings, and the bindings that choose one for a message.

A person's file is in their configuration folder; a workspace may have another, which wins. Both spellings of keys are
read: `extra_paths`, and `extraPaths` inside `memorySearch` as other runtimes write it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from recall_core import paths
from recall_core._lazy import difflib, zlib
from recall_core.config import Settings, check, read_toml, to_toml
from recall_core.errors import ConfigError, UsageError
from recall_core.named import NamedTuple
from recall_core.shell import Hint

FILE = "agents.toml"
MAIN = "main"
"""The agent of those who have none."""
SOURCES = ("memory", "sessions")
MAX_RESULTS = 6
SYNCED: Settings = {
    "sync_on_boot": True,
    "sync_on_session": True,
    "sync_on_search_ms": 1_000,
    "sync_on_change": True,
    "sync_interval_s": 0,
}
"""When servers sync a memory, if neither agents.toml nor the person's settings say so."""
EXTRA = "extra"
"""The tag of documents from extra paths."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_RESERVED = re.compile(r"(?i)con|prn|aux|nul|(com|lpt)[0-9]")
"""Names of devices on Windows."""
_EVERY, _MINUTES = "sync.interval", "sync.interval_minutes"
_INTERVAL = re.compile(r"([0-9]{1,6})(s|m|h|d)?")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_VERBATIM = ("identity", "tools", "sandbox", "model")
_SETTINGS = {
    "embedding.provider": "embedding",
    "embedding.model": "embedding_model",
    "embedding.url": "embedding_url",
    "embedding.dim": "embedding_dim",
    "embedding.fallback": "embedding_fallback",
    "embedding.allow_network": "allow_network",
    "language": "language",
    "chunking.tokens": "chunk_tokens",
    "chunking.overlap": "overlap_tokens",
    "chunking.max_chars": "max_chunk_chars",
    "chunking.counter": "counter",
    "query.min_score": "min_score",
    "query.lexical_weight": "bm25_weight",
    "query.semantic_weight": "vector_weight",
    "vectors": "vectors",
    "retention_days": "retention_days",
    "session_min_bytes": "session_min_bytes",
    "session_min_messages": "session_min_messages",
    "sync.on_boot": "sync_on_boot",
    "sync.on_session": "sync_on_session",
    "sync.on_search_ms": "sync_on_search_ms",
    "sync.on_change": "sync_on_change",
    _EVERY: "sync_interval_s",
}
"""Keys whose values are settings of the agent's store."""
_EXAMPLES: dict[str, Any] = {
    "id": "work",
    "name": "Work",
    "default": True,
    "enabled": True,
    "share_store": True,
    "workspace": "~/work",
    "sources": ["memory", "sessions"],
    "extra_paths": ["~/docs/wiki"],
    "exclude": ["drafts/**"],
    "sessions": "sessions",
    "store": "work.db",
    "query.max_results": MAX_RESULTS,
    "query.candidate_multiplier": 4,
    "query.hybrid": True,
    "citations": "auto",
    "sync.on_search": True,
    _EVERY: "5m",
}
"""Every other key but those of `_VERBATIM`, with an example of its type."""
_OTHER_NAMES = {
    "memory_search.model": "embedding.model",
    "memory_search.provider": "embedding.provider",
    "memory_search.fallback": "embedding.fallback",
    "memory_search.store.path": "store",
    "memory_search.store.vector.enabled": "vectors",
    "embedding": "embedding.provider",
}
_SYNONYMS = {
    "query.hybrid.enabled": "query.hybrid",
    "query.hybrid.vector_weight": "query.semantic_weight",
    "query.hybrid.text_weight": "query.lexical_weight",
    "query.hybrid.candidate_multiplier": "query.candidate_multiplier",
    "sync.on_session_start": "sync.on_session",
    "sync.watch": "sync.on_change",
    _MINUTES: _EVERY,
    "sync.sessions.delta_bytes": "session_min_bytes",
    "sync.sessions.delta_messages": "session_min_messages",
    "remote.base_url": "embedding.url",
}
"""Other names of keys, without `memory_search`."""
_INSTEAD = {
    "memory": 'give each agent sync, sources and retention_days, such as sync = { interval = "5m", on_boot = true }',
    "local": 'embedding = { provider = "llamacpp" }, whose server loads the file',
    "remote.api_key": "export OPENAI_API_KEY=KEY",
    "remote.headers": 'embedding = { url = "http://127.0.0.1:4000/v1" }, a proxy that adds them',
    "remote.batch": "leave it out: each request embeds many texts",
    "batch": "leave it out: each request embeds many texts",
    "store.vector.extension_path": "leave it out: vectors need no extension",
    "sync.watch_debounce_ms": "leave it out: sync.on_change waits 1.5 s",
    "cache": Hint("config", "set", "query_cache", "256"),
}
"""OpenClaw's keys that an agent lacks, and what to type instead."""


Mode = Literal["hybrid", "lexical", "semantic"]
Citations = Literal["auto", "on", "off"]


class Agent(NamedTuple):
    """A profile. Folders are absolute."""

    id: str
    name: str
    is_enabled: bool
    workspace: Path
    store: Path
    file: Path | None = None
    """The agents.toml with its entry; None for the agent of those who have none."""
    sources: tuple[str, ...] = ("memory",)
    extra_paths: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    sessions: Path = Path()
    """The folder of transcripts, which is read if `sessions` is one of the sources."""
    settings: Settings = MappingProxyType({})
    """Settings of its store, by key of `Config`."""
    max_results: int = MAX_RESULTS
    mode: Mode = "hybrid"
    citations: Citations = "auto"
    """How `memory_search` cites: `on` also below each snippet, `off` not at all."""
    syncs_before_search: bool = True
    """True if commands that read sync first."""
    shares_store: bool = False
    runtime: Mapping[str, Any] = MappingProxyType({})
    """What the file says about identity, tools, sandbox and model, unchanged."""


class Binding(NamedTuple):
    """A rule that gives messages to an agent. None matches everything. number: its place in the file, from 1."""

    agent: str
    channel: str | None
    account: str | None
    peer_kind: str | None
    peer_id: str | None
    number: int
    file: Path | None = None


class Agents(NamedTuple):
    """Every agent, and the bindings in the order in which they are tried."""

    agents: tuple[Agent, ...]
    bindings: tuple[Binding, ...]
    default: str
    """The id of the agent that gets messages without a binding."""
    waiting: Path | None = None
    """A workspace's file that a person did not accept, and that was not read."""

    def find(self, name: str) -> Agent:
        """Return the agent with this id.

        Raises UsageError `unknown_agent`, or ConfigError `untrusted_config` if the file that waits may have it.
        """
        for agent in self.agents:
            if agent.id == name:
                return agent
        if self.waiting is not None:
            message = f"No agent of yours is named {name!r}, and {self.waiting} waits until you accept it."
            raise ConfigError("untrusted_config", message, hint=Hint("trust"))
        raise _unknown(name, [agent.id for agent in self.agents])

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning about the file that waits, if there is one."""
        return () if self.waiting is None else (f"W_TRUST: {self.waiting} is not used: {Hint('trust')}",)


class AgentsFile(NamedTuple):
    """The contents of an agents.toml, checked by itself. Keys of `defaults` and `agents` are as in `_EXAMPLES`."""

    path: Path
    defaults: Mapping[str, Any]
    agents: Mapping[str, Mapping[str, Any]]
    bindings: tuple[Binding, ...]
    is_enabled: bool


def nearest(start: Path, own: Path | None) -> Path | None:
    """Return the agents.toml of the workspace: the nearest from `start` upwards that is not the person's own."""
    found = (folder / FILE for folder in (start, *start.parents))
    return next((path for path in found if path != own and os.path.isfile(path)), None)  # noqa: PTH113 - no error


def read(path: Path) -> AgentsFile:
    """Read one file; a missing one is empty.

    Raises ConfigError `config_invalid`, `unknown_key`, `bad_value`, `bad_agent_id`, `two_defaults`,
    `binding_unreachable`.
    """
    return parse(read_toml(path), path)


def parse(contents: Mapping[str, Any], path: Path) -> AgentsFile:
    """Return the contents of a file at this path; see `read`."""
    whole = {_snake(key): value for key, value in contents.items()}
    listed = whole.get("agents", [])
    if isinstance(listed, Mapping):
        _expect_keys(listed, ("defaults", "list"), f"{path}: agents")
        whole |= {"agents": listed.get("list", []), "defaults": listed.get("defaults", whole.get("defaults", {}))}
    _expect_keys(whole, ("defaults", "agents", "bindings", "enabled"), str(path))
    defaults = _entry(whole.get("defaults", {}), f"{path}: defaults", _keys()[1:])
    agents: dict[str, Mapping[str, Any]] = {}
    for number, table in enumerate(_tables(whole.get("agents", []), "agents", path), 1):
        entry = _entry(table, f"{path}: agent {number}", _keys())
        _expect_id(entry.get("id", ""), agents, path)
        agents[entry["id"]] = entry
    chosen = [name for name, entry in agents.items() if entry.get("default")]
    if len(chosen) > 1:
        message = f"{path}: {chosen[0]} and {chosen[1]} are both the default agent."
        raise ConfigError("two_defaults", message, hint=f"leave out default = true of {chosen[1]}")
    return AgentsFile(path, defaults, agents, _bindings(whole, path), whole.get("enabled", True) is not False)


def resolve(files: Sequence[AgentsFile], *, data: Path) -> Agents:
    """Return the agents of these files, later files winning. data: the person's data folder.

    A list replaces the list of the defaults, except extra_paths: theirs are added, unless the agent's own list is
    empty.
    Raises UsageError `unknown_agent` for a binding; ConfigError `store_shared`, `bad_agent_id`, and those of `check`.
    """
    is_enabled = all(file.is_enabled for file in files)
    ids = dict.fromkeys(name for file in files for name in file.agents) or {MAIN: None}
    for file in files:
        for binding in file.bindings:
            if binding.agent not in ids:
                raise _unknown(binding.agent, list(ids), f"{file.path}: binding {binding.number}: ")
    agents = []
    taken: list[str] = []
    for name in ids:
        _expect_id(name, taken, files[-1].path if files else Path(FILE))
        taken.append(name)
        agents.append(_agent(name, files, data, is_enabled=is_enabled))
    _expect_own_stores(agents)
    marked = [name for file in reversed(files) for name, entry in file.agents.items() if entry.get("default")]
    default = next(iter([*marked, *([MAIN] if MAIN in ids else []), *ids]))
    return Agents(tuple(agents), tuple(each for file in reversed(files) for each in file.bindings), default)


def _agent(name: str, files: Sequence[AgentsFile], data: Path, *, is_enabled: bool) -> Agent:
    entries = [file.defaults for file in files] + [file.agents.get(name, {}) for file in files]
    homes = [*files, *files]
    merged: dict[str, Any] = {}
    places: dict[str, Path] = {}
    for entry, file in zip(entries, homes, strict=True):
        is_enabled = is_enabled and entry.get("enabled", True)
        if extra := entry.get("extra_paths"):
            entry = {**entry, "extra_paths": [*merged.get("extra_paths", []), *extra]}  # noqa: PLW2901 - widened
        merged |= entry
        places |= dict.fromkeys(entry, file.path)
    own, *found = files
    touching = [file.path.parent for file in found if file.defaults or name in file.agents]
    last = next((file.path for file in reversed(files) if name in file.agents), None)
    where = f"{last or FILE}: agent {name}"
    # Agents of two workspaces may have the same id, but never the same store.
    label = f"{name}-{zlib.crc32(os.fsencode(touching[-1])):08x}" if touching else name
    is_found = touching and (last != own.path or name not in own.agents)
    home = touching[-1] if is_found else data / "workspace" / name

    def below(key: str, start: Path | None, otherwise: Path) -> Path:
        if key not in merged:
            return otherwise
        return _place(merged[key], places[key].parent if start is None else start)

    if "://" in merged.get("store", ""):
        raise ConfigError("not_offered", f"{where}: a memory is a file, not a URL.", hint=_line("store"))
    workspace = below("workspace", None, home)
    settings = {
        key: check(key, merged[flat], where=where, name=flat) for flat, key in _SETTINGS.items() if flat in merged
    }
    rows = merged.get("query.max_results", MAX_RESULTS)
    syncs_before_search = merged.get("sync.on_search", True)
    if not syncs_before_search:
        settings.setdefault("sync_on_search_ms", 0)
    if "query.candidate_multiplier" in merged:
        settings["pool"] = check(
            "pool", rows * merged["query.candidate_multiplier"], where=where, name="query.candidate_multiplier"
        )
    for source in merged.get("sources", SOURCES) or [""]:
        if source not in SOURCES:
            raise ConfigError("bad_value", f"{where}: there is no source {source!r}.", hint=_line("sources"))
    citations = merged.get("citations", "auto")
    if citations not in get_args(Citations):
        raise ConfigError("bad_value", f"{where}: citations cannot be {citations!r}.", hint=_line("citations"))
    is_hybrid, has_vectors = merged.get("query.hybrid", True), settings.get("vectors", True)
    return Agent(
        id=name,
        name=merged.get("name", name),
        is_enabled=is_enabled,
        workspace=workspace,
        store=below(
            "store", data / "memory" if places.get("store") == own.path else None, data / "memory" / f"{label}.db"
        ),
        file=last,
        sources=tuple(dict.fromkeys(merged.get("sources", ("memory",)))),
        extra_paths=tuple(dict.fromkeys(_place(each, workspace) for each in merged.get("extra_paths", ()))),
        exclude=tuple(merged.get("exclude", ())),
        sessions=below("sessions", workspace, workspace / "sessions"),
        settings=settings,
        max_results=rows,
        mode="lexical" if not has_vectors else "hybrid" if is_hybrid else "semantic",
        citations=citations,
        syncs_before_search=syncs_before_search,
        shares_store=merged.get("share_store", False),
        runtime={key: merged[key] for key in _VERBATIM if key in merged},
    )


def _place(typed: str, start: Path) -> Path:
    return paths.spelt(start / paths.expand(typed))


def _expect_own_stores(agents: Iterable[Agent]) -> None:
    """Raise ConfigError `store_shared` if two agents have one store and not both allow it."""
    seen: dict[str, Agent] = {}
    for agent in agents:
        key = os.path.realpath(agent.store).casefold()
        other = seen.setdefault(key, agent)
        if other is not agent and not (other.shares_store and agent.shares_store):
            message = f"The agents {other.id} and {agent.id} have the same store, {agent.store}."
            raise ConfigError("store_shared", message, hint="give each its own store, or share_store = true")


def _expect_id(name: Any, others: Iterable[str], path: Path) -> None:
    """Raise ConfigError `bad_agent_id` if the name is not safe as the name of a file, or not unique."""
    reason = ""
    if not isinstance(name, str) or not _ID.fullmatch(name):
        reason = "it needs 1 to 64 letters, digits, - and _"
    elif _RESERVED.fullmatch(name):
        reason = "it is reserved"
    elif twin := next((each for each in others if each.casefold() == name.casefold()), None):
        reason = "it is given twice" if twin == name else f"it differs from {twin!r} in case alone"
    if reason:
        raise ConfigError("bad_agent_id", f"{path}: {name!r} cannot be an agent: {reason}.", hint=_line("id"))


def _bindings(whole: Mapping[str, Any], path: Path) -> tuple[Binding, ...]:
    """Return the bindings of a file. Raises ConfigError `binding_unreachable` if one can never match."""
    made: list[Binding] = []
    for number, table in enumerate(_tables(whole.get("bindings", []), "bindings", path), 1):
        where = f"{path}: binding {number}"
        given = {_AS_BINDING.get(key, key): value for key, value in _flatten(table)}
        _expect_keys(given, _AS_BINDING.values(), where)
        for key, value in given.items():
            if not isinstance(value, str) or not value or (key in (_CHANNEL, _KIND) and ":" in value):
                raise ConfigError("bad_value", f"{where}: {key} cannot be {value!r}.", hint=f'{key} = "slack"')
        if "agent" not in given:
            raise ConfigError("bad_value", f"{where} names no agent.", hint='agent = "work"')
        binding = Binding(*(given.get(key) for key in _AS_BINDING.values()), number, path)  # type: ignore[arg-type, call-arg]
        for wider in made:
            is_wider = all(own in (None, other) for own, other in zip(wider[1:5], binding[1:5], strict=True))
            if is_wider and rank(wider) == rank(binding):
                message = f"{where} (agent {binding.agent}) never matches: binding {wider.number} comes first."
                raise ConfigError("binding_unreachable", message, hint=f"put it above binding {wider.number}")
        made.append(binding)
    return tuple(made)


_CHANNEL, _KIND = "match.channel", "match.peer.kind"
_AS_BINDING = {
    "agent_id": "agent",
    _CHANNEL: _CHANNEL,
    "match.account_id": "match.account",
    _KIND: _KIND,
    "match.peer.id": "match.peer.id",
}
"""Other names of the keys of a binding, in the order of the fields of Binding."""


def rank(binding: Binding) -> int:
    """Return how specific a binding is: 3 for a peer, 2 for an account, 1 for a channel, 0 for everything."""
    if binding.peer_kind is not None or binding.peer_id is not None:
        return 3
    return 2 if binding.account is not None else int(binding.channel is not None)


def _entry(table: Any, where: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the values of an agent's table by flat key, such as `query.max_results`, with checked types."""
    if not isinstance(table, Mapping):
        raise ConfigError("bad_value", f"{where} is not a table.", hint="[defaults]")
    named = ((_OTHER_NAMES.get(key, key.removeprefix("memory_search.")), value) for key, value in _flatten(table))
    given: dict[str, Any] = {}
    for name, value in named:
        key = _SYNONYMS.get(name, name)
        value = f"{value}m" if name == _MINUTES else value  # noqa: PLW2901 - with its unit
        given[key] = given.get(key) is not False and value if key == "enabled" else value  # off at any level is off
    _expect_keys(given, known, where)
    for key, value in given.items():
        example = _EXAMPLES.get(key)
        if key == _EVERY and (seconds := _INTERVAL.fullmatch(str(value))):
            given[key] = int(seconds[1]) * _UNITS[seconds[2] or "s"]
            continue
        texts = value if isinstance(value, list) else [value or "-"] if isinstance(value, str) else []
        is_fit = all(isinstance(each, str) and each and "\0" not in each for each in texts)
        is_fit = is_fit and (type(value) is not int or value > 0) and key != _EVERY
        if example is not None and not (is_fit and type(value) is type(example)):
            raise ConfigError("bad_value", f"{where}: {key} cannot be {value!r}.", hint=_line(key))
    return given


def _flatten(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value with its path of keys in snake case. Tables for the runtime stay whole."""
    for name, value in table.items():
        key = before + _snake(name)
        if isinstance(value, Mapping) and key not in _VERBATIM:
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _keys() -> tuple[str, ...]:
    return (*_EXAMPLES, *_SETTINGS, *_VERBATIM)


def _line(key: str) -> str:
    return f"{key} = {to_toml(_EXAMPLES[key]) if not isinstance(_EXAMPLES[key], list) else _EXAMPLES[key]}"


def _tables(given: Any, name: str, path: Path) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise ConfigError("bad_value", f"{path}: {name} is not a list of tables.", hint=f"[[{name}]]")
    return given


def _expect_keys(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise ConfigError `unknown_key`, with what to type instead or the nearest key."""
    names = list(known)
    for key in given:
        if key not in names:
            instead = (hint for start, hint in _INSTEAD.items() if f"{key}.".startswith(f"{start}."))
            near = difflib.get_close_matches(key, names, n=1)
            other = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(names)}"
            raise ConfigError("unknown_key", f"{where} has no key {key!r}.", hint=next(instead, other))


def _unknown(name: str, known: Sequence[str], where: str = "") -> UsageError:
    near = difflib.get_close_matches(name.lower(), known, n=1)
    otherwise = "remove the binding, or give it another agent" if where else Hint("agents", "list")
    hint = f"did you mean {near[0]}?" if near else otherwise
    return UsageError(
        "unknown_agent",
        f"{where}{'no' if where else 'No'} agent is named {name!r}.",
        hint=hint,
        details={"known": [*known]},
    )
