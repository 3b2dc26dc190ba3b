"""Agents as stores: find and accept agents.toml, open an agent's memory, and report its state."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import caller, embed, files, paths, personal
from recall_core._lazy import tomlkit
from recall_core.agents import routing
from recall_core.agents.profiles import (
    EXTRA,
    FILE,
    MAIN,
    SOURCES,
    SYNCED,
    Agent,
    Agents,
    AgentsFile,
    nearest,
    parse,
    read,
    resolve,
)
from recall_core.api import stores, write
from recall_core.api.engine import Engine, Scope, result_of
from recall_core.config import EMBEDDING, FILE_NAME, SYNCING, Config, assignments, replace
from recall_core.contract import OK
from recall_core.contract.agents import AgentView, MemoryView, RouteView, SourceView
from recall_core.contract.views import TrustView
from recall_core.embed import trust as consent
from recall_core.embed.trust import EMBEDDER, SYNC, FoundSettings
from recall_core.errors import NO_STORE, ConfigError, EmbedError, RecallError, StoreError, UsageError, why_unread
from recall_core.ingest.discover import Found, single, walk
from recall_core.paths import os_path_of
from recall_core.retrieve.asking import Ask
from recall_core.rql.filters import parse_filter
from recall_core.shell import Hint, in_store
from recall_core.text import one_line, utc
from recall_core.types import Root

if TYPE_CHECKING:
    from recall_core.contract.responses import AgentsResponse, RouteResponse, StatusResponse, TrustResponse


def load(start: Path | None = None) -> Agents:
    """Return the agents of the person's file and of the nearest workspace's file from `start` upwards.

    A workspace's file that a person did not accept is not read. Raises what `profiles` raises; RecallError `no_home`.
    """
    found, read_files = _found_file(start), [_read_own()]
    waiting = None if found is None or consent.is_accepted(found) else found
    if found is not None and waiting is None:
        read_files.append(read(found))
    return resolve(read_files, data=paths.data_folder(caller.environ()))._replace(waiting=waiting)


_NONE = AgentsFile(Path(FILE), {}, {}, (), True)
"""The file of a person who has none."""


def _own_file() -> Path | None:
    folder = paths.config_folder(caller.environ())
    return None if folder is None else folder / FILE


def _read_own() -> AgentsFile:
    path = _own_file()
    is_there = path is not None and os.path.isfile(path)  # noqa: PTH113 - False, not an error, without permission
    return read(path) if path is not None and is_there else _NONE


def _found_file(start: Path | None) -> Path | None:
    return nearest(paths.absolute(start or Path()), _own_file())


def trust(store: str | None = None, *, accept: bool = False, forget: bool = False) -> TrustResponse:
    """Return what the store's recall.toml and the workspace's agents.toml would do. accept, forget: decide.

    Raises what `stores.trust` raises, but not for a missing store if there is an agents.toml; ConfigError.
    """
    found = _found_file(None) if store is None else None
    try:
        answer = stores.trust(store, start=None, accept=accept, forget=forget)
    except StoreError as error:
        if error.code not in NO_STORE or found is None:
            raise
        none = TrustView(toml=str(found), acts=[], accepted=True, kept=True)
        answer = {**OK, "trust": none, "warnings": []}
    if found is None:
        return answer
    content, folder = sha256(found.read_bytes()).hexdigest(), os.path.realpath(found)
    acts = list(dict.fromkeys(map(one_line, _acts(found))))
    if accept:
        consent.keep(folder, content, toml=found)
    if forget:
        consent.forget(folder)
    view = answer["trust"]
    digests = [view["sha256"], content] if "sha256" in view else [content]
    is_accepted, is_kept = consent.is_accepted(found), consent.of_folder(folder) == content
    answer["trust"] = TrustView(
        toml=f"{view['toml']} and {found}" if view["acts"] else str(found),
        acts=[*view["acts"], *acts],
        sha256=",".join(digests),
        accepted=view["accepted"] and is_accepted,
        kept=is_kept and (view["kept"] or not view["acts"]),
    )
    return answer


def _acts(found: Path) -> Iterator[str]:
    """Yield what a workspace's file would do, in words that follow "would"."""
    contents = read(found)
    if not contents.is_enabled:
        yield "switch memory off"
    agents = resolve([_read_own(), contents], data=paths.data_folder(caller.environ()))
    for agent in (each for each in agents.agents if contents.defaults or each.id in contents.agents):
        read_too = [*agent.extra_paths, *([agent.sessions] if "sessions" in agent.sources else [])]
        folders = ", ".join(map(str, [agent.workspace, *read_too]))
        yield f"give the agent {agent.id} the files of {folders}, in the store {agent.store}"
        config = replace(Config(), {**SYNCED, **agent.settings}, where=str(found))
        yield from map(consent.describe, FoundSettings(config, found).acts(EMBEDDER, SYNC))
        others = {key: value for key, value in agent.settings.items() if key not in (*EMBEDDING, *SYNCING)}
        if others:
            yield f"set {', '.join(assignments(others))} for the agent {agent.id}"
        if agent.runtime:
            yield f"give the runtime {json.dumps(agent.runtime)} for the agent {agent.id}"
        if contents.agents.get(agent.id, {}).get("default"):
            yield f"give the agent {agent.id} every message without a binding"
    for binding in contents.bindings:
        fields = zip(("channel", "account", "peer kind", "peer id"), binding[1:5], strict=True)
        match = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
        yield f"give the agent {binding.agent} messages of {match or 'any kind'}"


def open_engine(name: str, start: Path | None = None) -> Engine:
    """Open the memory of an agent, which is made if it is missing. Its roots become those of agents.toml.

    Raises UsageError `unknown_agent`, `memory_off`; StoreError, such as `folder_unusable`; EmbedError; ConfigError.
    """
    agents = load(start)
    agent = agents.find(name)
    if not agent.is_enabled:
        message = f"The memory of the agent {name} is switched off."
        raise UsageError("memory_off", message, hint=f"enabled = true in {agent.file or FILE}")
    own = personal.load(caller.environ()).of_new_store(with_embedder="embedding" not in agent.settings)
    is_best = embed.registry.kind("local").missing(Config()) is None
    given = {"embedding": "local" if is_best else "hash", **own, **agent.settings}
    config, reasons = stores.initial_config(None, given)
    url = stores.StoreUrl("sqlite", str(agent.store))
    opener = stores.store_kind("sqlite").open
    try:
        store = opener(url.where)
    except StoreError as missing:
        if missing.code not in NO_STORE:
            raise
        _make(agent, url, config)
        store = opener(url.where)
    found = FoundSettings(config, agent.file or agent.store, is_vouched=True)
    info = store.info()
    recall = in_store("recall", None, agent=name)
    unlike = (
        each.replace(FILE_NAME, FILE).replace(" until recall ", f" until {recall} ")
        for each in stores.disagreements(config, config, info)
    )
    warnings = (*agents.warnings, *unlike)
    config = stores.fit(found, info, chosen=config.embedding)
    toml = agent.store.parent / ":" / FILE_NAME  # never written, because agents.toml has the settings
    engine = Engine(store, config=config, base=agent.workspace, toml=toml, found=found._replace(config=config))
    names = ", ".join(f"'{source}'" for source in agent.sources)
    where = parse_filter(f"doc.source IN ({names})")
    engine.scope = Scope(agent, where, reasons, agent.store.with_suffix(".synced"), warnings)
    try:
        _arrange(engine, _roots(agent))
    except RecallError:
        engine.close()
        raise
    return engine


def _make(agent: Agent, url: stores.StoreUrl, config: Config) -> None:
    """Make the store of an agent, and a workspace in the person's data folder."""
    file = agent.file or FILE
    try:
        agent.store.parent.mkdir(0o700, parents=True, exist_ok=True)
        if _is_own_workspace(agent):
            agent.workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{error.filename} cannot be created: {why_unread(error)}."
        raise StoreError("folder_unusable", message, hint=f'store = "FILE" in {file}') from error
    try:
        stores.create(url, config).close()
    except EmbedError as error:
        if error.code == "network_not_allowed":
            error.hint = f"embedding.allow_network = true in {file}"
        raise
    except StoreError as error:
        if error.code != "store_exists":  # another caller made it meanwhile
            raise


def _is_own_workspace(agent: Agent) -> bool:
    """Return True if the workspace is in the person's data folder, where the first use makes it."""
    return agent.workspace.is_relative_to(paths.data_folder(caller.environ()))


def _roots(agent: Agent) -> list[Root]:
    """Return the roots of an agent's memory. A file of two roots has the labels of the last one."""
    roots = []
    if "sessions" in agent.sources:
        roots.append(Root(os_path_of(agent.sessions, agent.workspace, is_added=True), source="sessions"))
    if "memory" in agent.sources:
        for each in agent.extra_paths:
            ignores = () if each.is_file() else agent.exclude
            folder = os_path_of(each, agent.workspace, is_added=True)
            roots.append(Root(folder, ignores=ignores, tags=(EXTRA,), source="memory"))
        roots.append(Root("MEMORY.md", source="memory"))
        roots.append(Root("memory", ("**/*.md",), agent.exclude, source="memory", gitignore=False))
    return roots


def _arrange(engine: Engine, wanted: Sequence[Root]) -> None:
    """Make these the roots of the sources that agents have. Documents of other such roots are removed."""
    known = [each.root for each in engine.store.known_roots()]
    if missing := [root for root in wanted if root not in known]:
        with engine.store.writer() as writer:
            for root in missing:
                writer.put_root(root)
        known = [each.root for each in engine.store.known_roots()]
    going = [number for number, root in enumerate(known, 1) if root.source in SOURCES and root not in wanted]
    if going:
        write.roots(engine, forget=going, rm=True)


def syncing(agent: Agent | None, otherwise: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings, by key, that say when a server syncs: the agent's, else the person's, else the others."""
    person = personal.resolve(environ)
    own = {key: person[key].value for key in SYNCING if person[key].origin != personal.BUILT_IN}
    return {**otherwise, **own, **({} if agent is None else agent.settings)}


def sync_before_search(engine: Engine) -> str | None:
    """Sync an agent's memory if its settings say so. Return why that failed, or None: a search goes on without."""
    if engine.scope is None or not engine.scope.agent.syncs_before_search:
        return None
    try:
        result_of(write.sync(engine))
    except RecallError as error:
        return f"W_SYNC: {error.message}"
    return None


def route(channel: str, *, account: str | None = None, peer: str | None = None) -> RouteResponse:
    """Return the agent, store and session of a message. peer: `kind:id`. Raises UsageError `bad_value`."""
    agents = load()
    made = routing.route(agents, routing.message_of(channel, account, peer))
    agent = agents.find(made.agent)
    view = RouteView(
        agent=agent.id, store=str(agent.store), session=made.session, rule=made.rule, enabled=agent.is_enabled
    )
    if made.binding is not None:
        view |= {"binding": made.binding.number, "file": str(made.binding.file)}
    return {**OK, "route": view, "warnings": list(agents.warnings)}


def list_agents(name: str | None = None) -> AgentsResponse:
    """Return every agent, or only the one with this id. Opens no store. Raises UsageError `unknown_agent`."""
    agents = load()
    chosen = agents.agents if name is None else (agents.find(name),)
    views = [agent_view(each, is_default=each.id == agents.default) for each in chosen]
    return {**OK, "agents": views, "warnings": list(agents.warnings)}


def agent_view(agent: Agent, *, is_default: bool) -> AgentView:
    """Return the profile of an agent."""
    is_new = _is_own_workspace(agent) and not os.path.exists(agent.store)  # noqa: PTH110 - False without permission
    named = (*([] if is_new else [agent.workspace]), *agent.extra_paths)
    return AgentView(
        id=agent.id,
        name=agent.name,
        default=is_default,
        enabled=agent.is_enabled,
        workspace=str(agent.workspace),
        store=str(agent.store),
        sources=list(agent.sources),
        extra_paths=list(map(str, agent.extra_paths)),
        missing=[str(each) for each in named if not os.path.exists(each)],  # noqa: PTH110
        max_results=agent.max_results,
        mode=agent.mode,
        citations=agent.citations,
        settings=dict(agent.settings),
        runtime=dict(agent.runtime),
    )


def change(name: str, entry: Mapping[str, Any] | None) -> AgentsResponse:
    """Add an agent to the person's file, or remove it if the entry is None. Its store and other lines stay.

    Nothing is written if the file would be wrong. Raises the errors of `load`, and ConfigError `settings_unwritable`.
    """
    path = _own_file()
    if path is None:
        raise ConfigError("settings_unwritable", "There is no home folder.", hint="export XDG_CONFIG_HOME=DIR")
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig") if path.is_file() else "")
    whole: Any = document.get("agents")
    whole = document.setdefault("agents", tomlkit.aot()) if whole is None else whole
    entries: Any = whole.setdefault("list", tomlkit.aot()) if isinstance(whole, dict) else whole
    at = next((place for place, each in enumerate(entries) if each.get("id") == name), None)
    if entry is not None and at is not None:
        message = f"{path} already has an agent {name!r}."
        raise ConfigError("bad_agent_id", message, hint=Hint("agents", "show", name))
    if entry is not None:
        table = tomlkit.table()
        table.update({"id": name, **entry})
        table.add(tomlkit.nl())
        entries.append(table)
    elif at is None:
        load().find(name)
        raise UsageError("unknown_agent", f"{path} has no agent {name!r}.", hint=Hint("agents", "list"))
    else:
        del entries[at]
    resolve([parse(document.unwrap(), path)], data=paths.data_folder(caller.environ()))
    files.write_private(path, tomlkit.dumps(document))
    return list_agents(name) if entry is not None else list_agents()


_OF_EMBEDDER = ("W_AUTO: ", f"W_CONFIG: {FILE} sets embedder ")
"""How warnings begin that say why another embedder is used."""


def status(engine: Engine) -> StatusResponse:
    """Return the state of a store or of an agent's memory. Probes it with one question per signal; writes nothing."""
    scope, store = engine.scope, engine.store
    info = store.info()
    view = MemoryView(
        store=store.path,
        base=str(engine.base),
        backend=stores.store_url(store.path).kind,
        provider=engine.config.embedding.partition(":")[0],
        model=info.embedder,
        sources=_sources(engine),
        dirty=_is_dirty(engine),
        vectors=_probe(engine, "semantic"),
        full_text=_probe(engine, "lexical"),
        cache=personal.load(caller.environ()).query_cache,
        fallback=[],
        next_sync="never",
    )
    if (synced := _last_sync(engine)) is not None:
        view["last_sync"] = utc(synced)
    if scope is not None:
        agent = scope.agent
        view["agent"] = agent.id
        tried = scope.reasons if len(scope.reasons) > 1 else ()  # the only sentence names the first choice
        why = (each.partition(": ")[2] for each in (*tried, *scope.warnings) if each.startswith(_OF_EMBEDDER))
        view["fallback"] = [each.replace(f" (saved in {FILE_NAME})", "") for each in why]
        sync = syncing(agent, SYNCED, caller.environ())
        on_search = agent.syncs_before_search or sync["sync_on_search_ms"]
        view["next_sync"] = "on search" if on_search else "on change" if sync["sync_on_change"] else "never"
        if (seconds := sync["sync_interval_s"]) and synced is not None:
            view["next_sync"] = utc(synced + seconds * 1_000_000_000)
    return {**OK, "memory": view, "warnings": list(engine.notes())}


def _last_sync(engine: Engine) -> int | None:
    """Return the time of the last sync in ns; None if it is unknown."""
    with suppress(OSError):
        return None if engine.scope is None else engine.scope.stamp.stat().st_mtime_ns
    return None


def _sources(engine: Engine) -> list[SourceView]:
    owners = dict(engine.store.document_files())
    chunks: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for path, _, _, _, source, count, _ in engine.store.list_documents("", glob=None, limit=None, offset=0)[1]:
        chunks[source or ""] += count
        places.setdefault(source or "", set()).add(owners.get(path) or path)
    return [SourceView(source=each, files=len(places[each]), chunks=chunks[each]) for each in sorted(places)]


def _is_dirty(engine: Engine) -> bool:
    """Return True if a file is new, changed or gone. A file that the last sync could not read does not count."""
    known = {file.path: file for file in engine.store.files() if file.os_path}
    synced = _last_sync(engine) or 0
    steps = (
        walk(root, engine.base, engine.config) if place.is_dir() else [single(root, engine.base)]
        for root in engine.store.roots()
        if (place := engine.base / root.folder).exists()
    )
    seen = set()
    for step in chain.from_iterable(steps):
        if isinstance(step, Found):
            seen.add(step.path)
            file = known.get(step.path)
            if file is None and (engine.base / step.os_path).stat().st_ctime_ns >= synced:
                return True
            if file is not None and (file.size, file.mtime_ns) != (step.size, step.mtime_ns):
                return True
    return not seen >= known.keys()


def _probe(engine: Engine, mode: str) -> str:
    """Return `ok`, or why a search with this signal fails."""
    try:
        engine.answer(engine.words_plan(MAIN, Ask(k=1, mode=mode)))
    except RecallError as error:
        return error.message
    return "ok"
