"""Found settings: unaccepted ones neither contact a server nor load a plug-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed.trust import EMBEDDER, RERANKER, Act, FoundSettings
from recall_core.errors import RecallError
from tests.examples import examples
from tests.provider_server import ProviderServer, provider_server

AT_HOME = ("hash", "local", "minilm")
SERVERS = ("openai", "gemini", "ollama", "llamacpp")
HERE = "http://127.0.0.1:9/v1"
NAMES = st.sampled_from((*AT_HOME, *SERVERS, "sentence-transformers", "auto", "nobody", "onnx:m", "hash:x"))


@pytest.fixture(scope="module")
def server() -> Iterator[ProviderServer]:
    with provider_server(16) as listening:
        yield listening


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, server: ProviderServer) -> Iterator[list[Recall]]:
    """Yield a store of hash vectors and one of a server's vectors."""
    opened = []
    for embedding in ("hash", "openai"):
        folder = tmp_path_factory.mktemp(embedding)
        (folder / "a.txt").write_text("the quokka smiles\n")
        settings = {"embedding_url": server.url, "embedding_model": "m", "embedding_dim": 16}
        Recall.init(str(folder), embedding=embedding, settings=settings)
        recall = Recall.open(str(folder))
        recall.index(str(folder / "a.txt"))
        opened.append(recall)
    yield opened
    for recall in opened:
        recall.close()


@st.composite
def found_settings(draw: st.DrawFn) -> Config:
    return Config(
        embedding=draw(NAMES.filter(lambda name: name != "hash:x")),
        embedding_dim=16,
        embedding_url=draw(st.sampled_from(("", HERE, "https://example.invalid/v1"))),
        embedding_model=draw(st.sampled_from(("", "m"))),
        embedding_fallback=draw(NAMES.filter(lambda name: name != "auto")),
        allow_network=draw(st.booleans()),
        rerank=draw(st.one_of(st.just(""), NAMES)),
    )


@examples(20)
@given(config=found_settings(), of_server=st.booleans(), mode=st.sampled_from(("hybrid", "lexical", "semantic")))
def test_no_mix_of_found_settings_contacts_a_server(
    stores: list[Recall], server: ProviderServer, config: Config, of_server: bool, mode: str
) -> None:
    config = config._replace(embedding_url=config.embedding_url.replace(HERE, server.url))
    opened = stores[of_server]
    found = FoundSettings(config, Path("/a/clone/recall.toml"))
    engine = Engine(opened.store, config=config, base=opened.engine.base, found=found)
    server.seen.clear()

    try:
        results = len(Recall(engine).search("quokka", mode=mode)["results"])
    except RecallError:
        results = None

    assert server.seen == []
    if mode == "lexical" and not config.rerank:
        assert results == 1


@given(config=found_settings())
def test_only_settings_that_contact_servers_need_acceptance(config: Config) -> None:
    found = FoundSettings(config, Path("/a/clone/recall.toml"))

    assert all(may_contact(config, name) for name in waiting(found.acts(EMBEDDER)))
    assert all(may_contact(config, name) for name in waiting(found.acts(RERANKER)))
    for role, name in ((EMBEDDER, config.embedding), (RERANKER, config.rerank)):
        assert (name in waiting(found.acts(role))) is may_contact(config, name)
    assert (found.refusal() is None) is (found.acts() == ())


def waiting(acts: tuple[Act, ...]) -> set[str]:
    return {act.what for act in acts}


def may_contact(config: Config, name: str) -> bool:
    """Return True if this kind may leave the program under these settings."""
    if name in SERVERS:
        is_here = config.embedding_url == HERE or (not config.embedding_url and name in ("ollama", "llamacpp"))
        return config.allow_network or is_here
    return name == "sentence-transformers"
