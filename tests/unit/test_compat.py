"""docs/compat.md: each row about the memories of agents, shown by a short check."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall_core import api
from recall_core.adapters.mcp import offers
from recall_core.agents.profiles import SYNCED, Agent, parse, resolve
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed import registry
from recall_core.errors import ConfigError
from tests.agents import CREATED, SHARED, agents_of, answer, new_home, run, write

ROOT = Path(__file__).parents[2]
Check = Callable[[Path], None]
CHECKS: dict[str, Check] = {}
"""Checks by the first column of their row. They take the home folder of three agents."""


def row(first: str) -> Callable[[Check], Check]:
    """Return a decorator that makes a function the check of a row."""

    def decorate(check: Check) -> Check:
        assert first not in CHECKS
        CHECKS[first] = check
        return check

    return decorate


def rows() -> list[str]:
    """Return the first column of the table."""
    page = (ROOT / "docs/compat.md").read_text(encoding="utf-8")
    section = page.partition("## Memories of agents")[2].partition("\n## ")[0]
    return re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)[1:]


def test_every_row_has_a_check_and_every_check_a_row() -> None:
    assert rows() == list(CHECKS)


def test_every_row_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = new_home(tmp_path, monkeypatch)
    for check in CHECKS.values():
        write(home / ".config/recall/agents.toml", CREATED)
        monkeypatch.chdir(tmp_path / "elsewhere")
        check(home)


def one(lines: str) -> Agent:
    """Return an agent with these lines in its `memorySearch`."""
    return agents_of(f'[[agents.list]]\nid = "a"\n[agents.list.memorySearch]\n{lines}').find("a")


def refused(lines: str) -> str:
    """Return the hint about a key of `memorySearch` that is an error."""
    with pytest.raises(ConfigError) as caught:
        one(lines)
    assert caught.value.code == "unknown_key", lines
    return str(caught.value.hint)


def lab(home: Path, lines: str = "", **texts: str) -> None:
    """Add an agent `lab` with these lines and these files below memory/."""
    for name, text in texts.items():
        write(home / f"lab/memory/{name}.md", text)
    file = home / ".config/recall/agents.toml"
    write(file, f'{CREATED}\n[[agents.list]]\nid = "lab"\nworkspace = "~/lab"\n{lines}\n')


def asked(agent: str, *words: str) -> list[dict[str, Any]]:
    """Return the results of a search."""
    return list(answer("--agent", agent, "search", *words)["results"])


def called(agent: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer of a tool for an agent's client."""
    tools = pytest.importorskip("recall_core.adapters.mcp.tools")
    with Recall.agent(agent) as recall:
        api.agents.sync_before_search(recall.engine)
        return dict(tools.BY_NAME[tool].answer(recall, arguments, tools.Limits()).content)


@row("the agent decides when to search; the prompt tells it to")
def _(home: Path) -> None:
    instructions = offers.instructions(offers.TOOLS)
    assert "earlier work, decisions, dates, people, preferences or to-dos, call memory_search" in instructions
    assert offers.prompt(offers.TOOLS).startswith("Before you answer")


@row("`agents.defaults`, `agents.list`, `memorySearch` in YAML")
def _(home: Path) -> None:
    ours = 'extra_paths = ["/x"]\n[[agents]]\nid = "a"\nquery = { max_results = 8 }'
    theirs = '[agents.defaults.memorySearch]\nextraPaths = ["/x"]\n'
    theirs += '[[agents.list]]\nid = "a"\nmemorySearch = { query = { maxResults = 8 } }'
    assert agents_of(f"[defaults]\n{ours}") == agents_of(theirs)


@row("`main` without any agent")
def _(home: Path) -> None:
    assert (agents_of("").default, len(agents_of("").agents)) == ("main", 1)


@row("`identity`, `tools`, `sandbox`, `model`")
def _(home: Path) -> None:
    (work,) = answer("agents", "show", "work")["agents"]
    assert work["runtime"] == {"model": "anthropic/claude-opus-4", "tools": {"deny": ["exec"]}}


@row("many sessions share the store and workspace of an agent")
def _(home: Path) -> None:
    routes = [answer("route", "--channel", "web", "--peer", f"session:{name}")["route"] for name in ("a", "b")]
    assert [each["session"] for each in routes] == ["agent:main:web:session:a", "agent:main:web:session:b"]
    assert routes[0]["store"] == routes[1]["store"]


@row("session keys, bindings, peer before account before channel")
def _(home: Path) -> None:
    given = ("--channel", "telegram", "--account", "x", "--peer", "group:support-channel")
    route = answer("route", *given)["route"]
    assert (route["session"], route["rule"]) == ("agent:support:telegram:group:support-channel", "peer")
    with pytest.raises(ConfigError) as never:
        agents_of('[[bindings]]\nagentId = "main"\n[[bindings]]\nagentId = "main"')
    assert never.value.code == "binding_unreachable"


@row("`memory/{agentId}.sqlite`")
def _(home: Path) -> None:
    assert agents_of(CREATED).find("work").store == Path("/data/memory/work.db")
    files = [parse({"agents": [{"id": "dev"}]}, Path(folder, "agents.toml")) for folder in ("/own", "/project")]
    assert re.fullmatch(r"dev-[0-9a-f]{8}\.db", resolve(files, data=Path("/data")).find("dev").store.name)


@row("no cross-agent queries")
def _(home: Path) -> None:  # tests/unit/test_agents.py tries every command and tool
    assert asked("work", "heron", "--bm25") == []
    assert len(asked("main", "heron", "--bm25")) == 2


@row("no permissions inside a memory")
def _(home: Path) -> None:
    files = {"MEMORY.md", "memory/2024/02.md", "work/plan.md"}
    assert {each["doc"]["path"] for each in asked("work", "kestrel")} == files
    assert "known keys" in refused("acl = []")


@row("`WHERE source IN (…)` in every query")
def _(home: Path) -> None:
    for command in (("search",), ("explain",), ("trace",), ("whynot", "--target", "work/plan.md")):
        assert "doc.source IN ('memory')" in str(answer("--agent", "work", *command, "kestrel")), command


@row("`MEMORY.md`, `memory/*.md`")
def _(home: Path) -> None:
    known = answer("--agent", "work", "ls")["documents"]
    assert {"MEMORY.md", "memory/2024/02.md"} < {each["path"] for each in known}


@row("`extraPaths`")
def _(home: Path) -> None:
    (hit,) = asked("work", "kestrel", "--filter", "doc.tag = 'extra'")
    assert (hit["doc"]["path"], hit["doc"]["source"]) == ("work/plan.md", "memory")


@row("shared `extraPaths` of the defaults are added; `[]` means none")
def _(home: Path) -> None:
    names = {each.id: [path.name for path in each.extra_paths] for each in agents_of(SHARED).agents}
    assert names["support-agent"] == ["shared", "support-kb"]
    assert names["public-agent"] == []


@row("built-in, person's, workspace's, agent's settings")
def _(home: Path) -> None:
    own = {"defaults": {"query": {"maxResults": 7, "minScore": 0.1}}}
    found = {
        "defaults": {"query": {"maxResults": 8}},
        "agents": [{"id": "a"}, {"id": "b", "query": {"maxResults": 9}}],
    }
    files = [parse(own, Path("/own/agents.toml")), parse(found, Path("/project/agents.toml"))]
    a, b = resolve(files, data=Path("/data")).agents
    assert (a.max_results, b.max_results, b.settings["min_score"]) == (8, 9, 0.1)
    write(home / "cloned/agents.toml", '[[agents]]\nid = "work"\nworkspace = "/"')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home / "cloned")
        shown = answer("agents", "show", "work")
    assert (shown["agents"][0]["workspace"], shown["warnings"][0][:8]) == (f"{home}/work-projects", "W_TRUST:")


@row("`agents.{agentId}.memorySearch`")
def _(home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        agents_of('[agents.work.memorySearch]\nprovider = "hash"')
    assert (caught.value.code, caught.value.hint) == ("unknown_key", "known keys: defaults, list")
    assert one('provider = "hash"').settings == {"embedding": "hash"}


@row("`memorySearch.enabled`")
def _(home: Path) -> None:
    assert one("enabled = true").is_enabled
    assert not agents_of("[agents.defaults]\nmemorySearch = { enabled = false }").find("main").is_enabled
    lab(home, "enabled = false")
    assert answer("--agent", "lab", "search", "x")["error"]["code"] == "memory_off"


@row("`provider: auto`: local, OpenAI, Gemini, fallback")
def _(home: Path) -> None:
    assert one('provider = "auto"').settings == {"embedding": "auto"}
    assert registry.FOUND_BY_AUTO == ("local", "openai", "gemini")
    write(home / ".config/recall/agents.toml", '[[agents]]\nid = "fresh"')
    assert answer("--agent", "fresh", "status")["memory"]["provider"] in ("local", "hash")


@row("`fallback`; `none` disables search")
def _(home: Path) -> None:
    assert one('provider = "auto"\nfallback = "none"').settings["embedding_fallback"] == "none"
    lab(home, 'memorySearch = { provider = "openai", fallback = "local" }')
    assert answer("--agent", "lab", "status")["error"]["code"] == "network_not_allowed"
    lab(home, 'memorySearch = { provider = "none", store.path = "words.db" }', words="A lark sings.")
    assert [each["matched"] for each in asked("lab", "lark")] == ["words"]


@row("`text-embedding-3-small`, `gemini-embedding-001`, GGUF")
def _(home: Path) -> None:
    sizes = {"openai": ("text-embedding-3-small", 1536), "gemini": ("gemini-embedding-001", 3072)}
    for name, (model, size) in sizes.items():
        settings = one(f'provider = "{name}"\nmodel = "{model}"').settings
        config = Config(embedding=name, embedding_model=str(settings["embedding_model"]))
        assert registry.kind(name).dimension(config) == size
    assert {"llamacpp", "ollama", "local", "onnx"} < registry.KINDS.keys()


@row("`local.modelPath`, a model downloaded at first use")
def _(home: Path) -> None:
    assert 'provider = "llamacpp"' in refused('local = { modelPath = "m.gguf" }')


@row("`remote.baseUrl`, `remote.apiKey`, `remote.headers`")
def _(home: Path) -> None:
    assert one('remote.baseUrl = "http://127.0.0.1:1/v1"').settings["embedding_url"] == "http://127.0.0.1:1/v1"
    assert refused('remote.apiKey = "x"') == "export OPENAI_API_KEY=KEY"
    assert "url = " in refused('remote.headers = { X-Key = "x" }')


@row("`WHERE model = ?`: vectors of several models in a table")
def _(home: Path) -> None:
    lab(home, 'store = "models.db"', words="A lark sings.")
    assert len(asked("lab", "lark")) == 1
    assert run("--agent", "lab", "reembed", "hash", "--set", "embedding_dim=64")[0] == 0
    view = answer("--agent", "lab", "status")["memory"]
    assert (view["model"], view["vectors"]) == ("hash-1:64", "ok")


@row("sqlite-vec, `extensionPath`")
def _(home: Path) -> None:
    assert "no extension" in refused('store.vector.extensionPath = "/lib/vec0.so"')


@row("`store.path`, `store.vector.enabled`")
def _(home: Path) -> None:
    assert one('store.path = "/s.db"').store == Path("/s.db")
    lab(home, 'memorySearch = { store = { path = "plain.db", vector = { enabled = false } } }', words="A lark sings.")
    assert len(asked("lab", "lark")) == 1
    assert answer("--agent", "lab", "search", "lark", "--vector")["error"]["code"] == "no_vectors"


@row("`score = 1 - distance`")
def _(home: Path) -> None:
    with Recall.agent("work") as recall:
        (hit,) = recall.search("kestrel", mode="semantic", k=1)["results"]
        vector = recall.engine.embedder.embed(["kestrel"], is_query=True)[0]
        (nearest,) = recall.nearest(memoryview(vector).cast("f").tolist(), k=1)["results"]
        assert hit["score"] == nearest["score"]


@row("tokens `[A-Za-z0-9_]+`")
def _(home: Path) -> None:
    lab(home, words="Die Größe zählt, und naïve cafés.")
    for word in ("größe", "GRÖSSE", "cafe"):
        assert [each["matched"] for each in asked("lab", word, "--bm25")] == ["words"], word
    assert asked("lab", "gr", "--bm25") == []


@row('`"fix" AND "bug"`')
def _(home: Path) -> None:
    words = ("kestrel", "jwt", "--bm25")
    assert len(asked("work", *words)) == 3
    assert [each["doc"]["path"] for each in asked("work", *words, "--set", "match=all")] == ["memory/2024/02.md"]


@row("`1 / (1 + max(0, rank))`")
def _(home: Path) -> None:
    scores = [each["score"] for each in asked("work", "kestrel", "jwt", "--bm25")]
    assert 1 > scores[0] > scores[1] > 0


@row("vector and BM25 queries in parallel, merged by chunk")
def _(home: Path) -> None:
    hits = asked("work", "kestrel garden", "--explain")
    assert len({each["chunk"]["id"] for each in hits}) == len(hits)
    assert [part["signal"] for part in hits[0]["explain"]["parts"]] == ["lexical", "semantic"]


@row("0.7 and 0.3")
def _(home: Path) -> None:
    settings = one("query.hybrid = { vectorWeight = 0.7, textWeight = 0.3 }").settings
    assert settings == {"vector_weight": 0.7, "bm25_weight": 0.3}
    weights = answer("--agent", "work", "search", "kestrel")["query"]["plan"]["weights"]
    assert weights == {"lexical": 0.9, "semantic": 0.1}  # `hash`


@row("`minScore` 0.35")
def _(home: Path) -> None:
    assert one("query.minScore = 0.35").settings == {"min_score": 0.35}
    assert Config().min_score == 0
    assert called("work", "memory_search", query="kestrel", minScore=0.99)["results"] == []


@row("`maxResults` 6, `candidateMultiplier` 4")
def _(home: Path) -> None:
    assert one("query.hybrid.candidateMultiplier = 4").settings == {"pool": 24}
    lab(home, **{f"lark{number}": f"A lark sings {number}." for number in range(8)})
    assert len(asked("lab", "lark")) == one("").max_results == 6


@row("`hybrid.enabled: false`")
def _(home: Path) -> None:
    assert one("query.hybrid.enabled = false").mode == "semantic"


@row("chunks of 400 tokens, overlap 80")
def _(home: Path) -> None:
    assert answer("--agent", "work", "stats")["store"]["chunker"].startswith("boundary-1:400:80:")
    assert one("chunking = { tokens = 300, overlap = 60 }").settings == {"chunk_tokens": 300, "overlap_tokens": 60}


@row("chunks keep headings, paragraphs and code blocks")
def _(home: Path) -> None:
    code = "```python\n" + "".join(f"pipit{number} = {number}\n" for number in range(8)) + "```\n"
    prose = "Words about larks. " * 6
    lab(home, 'store = "code.db"\nchunking = { tokens = 30, overlap = 0 }', code=f"# A\n\n{prose}\n\n{code}\n{prose}")
    (hit,) = asked("lab", "pipit3", "--bm25")
    assert code in hit["chunk"]["text"]


@row("sync on search, on change after 1.5 s, by interval, on boot")
def _(home: Path) -> None:  # tests/unit/test_serving_following.py runs them
    lab(home, 'memorySearch.sync.interval = "5m"')
    sync = api.agents.syncing(api.agents.load().find("lab"), SYNCED, {})
    assert sync.items() >= {**SYNCED, "sync_interval_s": 300}.items()
    assert min(SYNCED["sync_on_boot"], SYNCED["sync_on_change"], SYNCED["sync_on_search_ms"])


@row("`sync.intervalMinutes`, `onSessionStart`, `onSearch`, `watch`, `sessions`")
def _(home: Path) -> None:
    agent = one("sync = { intervalMinutes = 5, onSessionStart = false, onSearch = false, watch = false }")
    wanted = {"sync_interval_s": 300, "sync_on_session": False, "sync_on_search_ms": 0, "sync_on_change": False}
    assert (agent.settings, agent.syncs_before_search) == (wanted, False)
    grown = {"session_min_bytes": 100_000, "session_min_messages": 50}
    assert one("sync.sessions = { deltaBytes = 100_000, deltaMessages = 50 }").settings == grown
    assert "1.5 s" in refused("sync.watchDebounceMs = 1500")


@row("warm-up at session start")
def _(home: Path) -> None:
    assert SYNCED["sync_on_session"]


@row("`memory_search`, `memory_get`, their results")
def _(home: Path) -> None:
    found = called("work", "memory_search", query="kestrel", maxResults=1, minScore=0, text=True)
    assert {"results", "provider", "model", "citations"} < found.keys()
    (result,) = found["results"]
    assert {"path", "startLine", "endLine", "text", "score", "snippet", "citation"} < result.keys()
    read = called("work", "memory_get", path=result["path"], **{"from": 1, "lines": 1})
    assert read["text"] == (home / "work-projects" / result["path"]).read_text(encoding="utf-8")


@row('`citations: "auto"`')
def _(home: Path) -> None:
    for setting, has_citation in (("auto", True), ("off", False)):
        lab(home, f'citations = "{setting}"', words="A lark sings.")
        found = called("lab", "memory_search", query="lark", maxResults=1)
        assert (found["citations"], "citation" in found["results"][0]) == (setting, has_citation)


@row("embedding cache by content")
def _(home: Path) -> None:
    lab(home, twin="A lark sings.")
    run("--agent", "lab", "sync")
    write(home / "lab/memory/other.md", "A lark sings.")
    done = answer("--agent", "lab", "sync")["ingest"]
    assert (done["added"], done["embedded"]) == (1, 0), done


@row("batch API")
def _(home: Path) -> None:
    assert "many texts" in refused("batch = { enabled = true, concurrency = 2 }")
    assert "many texts" in refused("remote.batch.concurrency = 2")


@row("`cache` of queries")
def _(home: Path) -> None:
    assert refused("cache = { enabled = true, maxEntries = 9 }") == "recall config set query_cache 256"
    assert answer("config", "set", "query_cache", "256")["ok"]


@row("`memory status`, probes")
def _(home: Path) -> None:
    view = answer("--agent", "work", "status")["memory"]
    assert (view["backend"], view["provider"], view["model"]) == ("sqlite", "hash", "hash-1:512")
    assert view["sources"] == [{"source": "memory", "files": 3, "chunks": 3}]
    assert (view["vectors"], view["full_text"], view["fallback"]) == ("ok", "ok", [])


@row("`retentionDays` of sessions")
def _(home: Path) -> None:  # tests/unit/test_agents.py lets a session go
    assert one("retentionDays = 30").settings == {"retention_days": 30}


@row("`memory.backend: qmd`")
def _(home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        agents_of('[memory]\nbackend = "qmd"\n[memory.qmd]\nupdate = { interval = "5m", onBoot = true }')
    assert caught.value.code == "unknown_key"
    assert "retention_days" in str(caught.value.hint)
