"""Embedders by name: lookup, refusals with hints, the choice of auto, and the settings that init writes."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import FILE_NAME, Config, load
from recall_core.embed import registry
from recall_core.embed.hash import HASH, HashEmbedder
from recall_core.embed.local import IDENTITY as LOCAL_IDENTITY
from recall_core.embed.model_files import components, folder_of
from recall_core.embed.onnx import MINILM_IDENTITY, MINILM_MODEL, MINILM_TOKENIZER
from recall_core.embed.rescore import EmbedderReranker, new_reranker
from recall_core.errors import EmbedError, RecallError
from recall_core.files import part_of
from recall_core.ports import Embedder
from recall_core.shell import install_extra
from recall_core.testing import DeterministicEmbedderConformance
from tests.plug_ins import write_plug_in

PLUG_IN = """
from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder

class Echo(HashEmbedder):
    def __init__(self):
        super().__init__(16)
        self.identity = "echo-1:16"

class EchoKind:
    name = "echo"
    purpose = "a stranger's"
    vector_weight = 0.25
    def sends_text(self, config): return False
    def missing(self, config): return None
    def dimension(self, config): return 16
    def recognises(self, identity, config): return identity == "echo-1:16"
    def new(self, config, *, dimension=None): return Echo()

ECHO = EchoKind()

class Lengths:
    identity = "lengths-1"
    def __init__(self, config): self.name = config.rerank
    def score(self, question, texts): return [min(1.0, len(text) / 10) for text in texts]
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution with an embedder, a broken embedder and a reranker."""
    site = tmp_path / "site"
    entry_points = (
        "[recall.embedder]\necho = stranger_of_recall:ECHO\nbroken = stranger_of_recall_missing:X\n"
        "hash = stranger_of_recall:ECHO\n[recall.reranker]\nlengths = stranger_of_recall:Lengths\n"
    )
    write_plug_in(site, "stranger_of_recall", entry_points, source=PLUG_IN)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()


class TestHashConforms(DeterministicEmbedderConformance):
    kind = HASH


def failing(code: str, call: object) -> EmbedError:
    with pytest.raises(EmbedError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.code == code
    return caught.value


def test_every_built_in_name_has_its_kind() -> None:
    assert [registry.kind(name).name for name in registry.KINDS] == list(registry.KINDS)


def test_unknown_name_suggests_the_nearest() -> None:
    error = failing("unknown_embedder", lambda: registry.new_embedder(Config(embedding="locla")))

    assert (error.message, error.hint) == ("Unknown embedder 'locla'.", "did you mean local?")


def test_name_without_a_near_match_lists_all() -> None:
    error = failing("unknown_embedder", lambda: registry.kind("zzzzzz"))

    assert error.hint is not None
    assert error.hint.startswith("one of: hash, local, minilm, onnx, ")


def test_unexpected_argument_of_a_kind_is_refused() -> None:
    error = failing("unknown_embedder", lambda: registry.kind("local:big"))

    assert error.message == "The embedder local takes no argument after a colon."
    assert error.hint == 'embedding = "local"'


@pytest.mark.usefixtures("plug_in")
def test_plug_in_is_found_by_name_but_never_shadows() -> None:
    embedder = registry.new_embedder(Config(embedding="echo"))

    assert embedder.identity == "echo-1:16"
    assert registry.embedder_of("echo-1:16", Config(embedding="echo")).identity == "echo-1:16"
    assert registry.vector_weight(Config(embedding="echo")) == 0.25
    assert isinstance(registry.new_embedder(Config(embedding="hash")), HashEmbedder)


@pytest.mark.usefixtures("plug_in")
def test_broken_plug_in_is_listed_with_its_reason() -> None:
    listed = {kind.name: kind.missing(Config()) for kind in registry.kinds()}

    assert list(listed)[: len(registry.KINDS)] == list(registry.KINDS)
    assert listed["echo"] is None
    assert listed["broken"] is not None
    assert "No module named 'stranger_of_recall_missing'" in listed["broken"]
    failing("embedder_unavailable", lambda: registry.new_embedder(Config(embedding="broken")))
    assert not registry.agrees(Config(embedding="broken"), "broken-1:16")


def test_offline_embedder_is_known_by_its_identity() -> None:
    for identity in ["hash-1:64", LOCAL_IDENTITY, MINILM_IDENTITY]:
        assert registry.embedder_of(identity, Config(embedding="openai")).identity == identity, identity


def test_vectors_of_an_unknown_embedder_leave_lexical_search() -> None:
    for identity in ["hash-2:64", "local-other-1:256", "unheard-of", "onnx-0123456789abcdef:384"]:
        error = failing("embedder_unavailable", lambda identity=identity: registry.embedder_of(identity))

        assert error.message == f"This installation cannot make vectors of {identity}: recall.toml names hash.", (
            identity
        )
        assert error.hint == "recall search --bm25 …", identity


def test_another_model_in_the_folder_is_noticed(tmp_path: Path) -> None:
    for file, name in ((MINILM_MODEL, "model.onnx"), (MINILM_TOKENIZER, "tokenizer.json")):
        package = folder_of(file.package)
        assert package is not None
        (tmp_path / name).symlink_to(package / file.path)
    config = Config(embedding=f"onnx:{tmp_path}")
    actual = registry.new_embedder(config).identity

    assert registry.agrees(config, "onnx-0123456789abcdef:384")
    error = failing("embedder_unavailable", lambda: registry.embedder_of("onnx-0123456789abcdef:384", config))
    assert f"onnx:{tmp_path} makes vectors of {actual}" in error.message


def test_settings_agree_with_their_identity() -> None:
    assert registry.agrees(Config(embedding_dim=64), "hash-1:64")
    assert not registry.agrees(Config(embedding_dim=64), "hash-1:512")
    assert registry.agrees(Config(embedding="local"), LOCAL_IDENTITY)
    assert registry.agrees(Config(embedding="auto"), LOCAL_IDENTITY)
    assert not registry.agrees(Config(embedding="auto"), MINILM_IDENTITY)
    assert not registry.agrees(Config(embedding="nothing of this name"), LOCAL_IDENTITY)


def test_sending_text_needs_allow_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    error = failing("network_not_allowed", lambda: registry.new_embedder(Config(embedding="openai")))

    assert error.hint == "allow_network = true in recall.toml"
    registry.check_network(registry.kind("openai"), Config(embedding="openai", allow_network=True))
    loopback = Config(embedding="openai", embedding_url="http://127.0.0.1:9/v1")
    registry.check_network(registry.kind("openai"), loopback)


def test_auto_prefers_local_and_reports_it() -> None:
    config, reasons = registry.resolve_auto(Config(embedding="auto"))

    assert (config.embedding, reasons) == ("local", ('Using embedder "local" (saved in recall.toml)',))


def test_auto_explains_why_the_others_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "poorer_recall.py").write_text(
        "from recall_core.embed.local import WEIGHTS, LocalKind\n"
        "LOCAL = LocalKind(weights=WEIGHTS._replace(package='no_such_package'))\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(registry.KINDS, "local", "poorer_recall:LOCAL")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    config, reasons = registry.resolve_auto(Config(embedding="auto"))

    assert config.embedding == "hash"
    assert [reason.partition(" ")[0] for reason in reasons[:3]] == ["local", "openai", "gemini"]
    assert reasons[0].endswith(f"the package no_such_package is not installed: {install_extra('local')}")
    assert "allow_network is false" in reasons[1]
    assert reasons[3] == 'Using embedder "hash" (saved in recall.toml)'


def test_explicit_name_is_kept_without_a_message() -> None:
    assert registry.resolve_auto(Config(embedding="minilm")) == (Config(embedding="minilm"), ())


def test_auto_cannot_fall_back_to_itself() -> None:
    with pytest.raises(RecallError, match="embedding_fallback cannot be auto"):
        registry.resolve_auto(Config(embedding="auto", embedding_fallback="auto"))


def test_relative_model_folder_starts_from_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('embedding = "onnx:models/e5"\nrerank = "onnx:/abs"\n', encoding="utf-8")

    config = load(tmp_path / FILE_NAME)

    assert (config.embedding, config.rerank) == (f"onnx:{tmp_path}/models/e5", "onnx:/abs")


def test_typed_relative_model_folder_starts_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    config, _ = registry.resolve_auto(Config(embedding="onnx:models/e5"))

    assert config.embedding == f"onnx:{tmp_path}/models/e5"


def test_init_writes_the_weights_that_suit_the_embedder(tmp_path: Path) -> None:
    for embedding, weights in (("hash", (0.9, 0.1)), ("local", (0.7, 0.3)), ("minilm", (0.5, 0.5))):
        Recall.init(str(tmp_path / embedding), embedding=embedding)

        config = load(tmp_path / embedding / FILE_NAME)
        assert (config.embedding, config.bm25_weight, config.vector_weight) == (embedding, *weights)


def test_init_keeps_explicit_weights(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="local", settings=["vector_weight=0.2"])

    assert load(tmp_path / FILE_NAME).vector_weight == 0.2


def test_init_saves_and_explains_the_choice_of_auto(tmp_path: Path) -> None:
    response = Recall.init(str(tmp_path), embedding="auto")

    assert response["warnings"] == ['W_AUTO: Using embedder "local" (saved in recall.toml)']
    assert load(tmp_path / FILE_NAME).embedding == "local"
    with Recall.open(start=tmp_path) as recall:
        assert recall.stats()["warnings"] == []


def test_init_saves_auto_in_an_existing_settings_file(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('# mine\nembedding = "auto"\n', encoding="utf-8")

    response = Recall.init(str(tmp_path), embedding="minilm")

    text = (tmp_path / FILE_NAME).read_text(encoding="utf-8")
    assert text == '# mine\nembedding = "local"\nlexical_weight = 0.7\nsemantic_weight = 0.3\n'
    assert [warning.partition(":")[0] for warning in response["warnings"]] == ["W_AUTO", "W_CONFIG", "W_CONFIG"]


def test_init_adds_suitable_weights_to_existing_settings_and_reports_it(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('# mine\nembedding = "local"\n', encoding="utf-8")

    response = Recall.init(str(tmp_path))

    text = (tmp_path / FILE_NAME).read_text(encoding="utf-8")
    assert text == '# mine\nembedding = "local"\nlexical_weight = 0.7\nsemantic_weight = 0.3\n'
    suited = "lexical_weight = 0.7 and semantic_weight = 0.3, which suit local"
    assert response["warnings"] == [f"W_CONFIG: recall.toml sets no weight; using {suited}"]


def test_init_leaves_settings_that_need_no_weight(tmp_path: Path) -> None:
    for number, written in enumerate(
        (
            'embedding = "local"\nbm25_weight = 0.9\n',
            'embedding = "local"\nvector_weight = 0.1\n',
            'embedding = "hash"\n',
            "chunk_tokens = 300\n",
        )
    ):
        base = tmp_path / str(number)
        base.mkdir()
        (base / FILE_NAME).write_text(written, encoding="utf-8")

        response = Recall.init(str(base))

        assert (base / FILE_NAME).read_text(encoding="utf-8") == written
        assert response["warnings"] == [], written


def test_init_succeeds_with_read_only_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE_NAME).write_text('embedding = "local"\n', encoding="utf-8")
    monkeypatch.setattr("recall_core.files.os.urandom", lambda size: b"\0" * size)
    part_of(tmp_path / FILE_NAME).mkdir()

    response = Recall.init(str(tmp_path))

    assert "add by hand: lexical_weight = 0.7, semantic_weight = 0.3" in response["warnings"][1]
    assert (tmp_path / "recall.db").is_file()


def test_only_hash_needs_a_power_of_two_dimension(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="local", settings=["embedding_dim=384"])

    with pytest.raises(RecallError, match="power of two"):
        Recall.init(str(tmp_path / "hash"), settings=["embedding_dim=384"])


def test_stats_explain_hash_and_suggest_a_better_embedder(tmp_path: Path) -> None:
    note = Recall.init(str(tmp_path))["store"]["note"]

    assert note.startswith(registry.HASH_NOTE)
    assert note.endswith("for meaning, recall reembed local, or recall init --embedding local")


class Counted(HashEmbedder):
    """A real embedder that records its texts."""

    def __init__(self) -> None:
        super().__init__(64)
        self.asked: list[str] = []

    def embed(self, texts: list[str], *, is_query: bool = False) -> list[bytes]:  # type: ignore[override]
        self.asked += [] if is_query else texts
        return super().embed(texts, is_query=is_query)


def test_reranker_scores_by_cosine_and_never_below_zero() -> None:
    embedder: Embedder = HashEmbedder(64)
    texts = ["restart the server", "apple cake", "the of", "restart the server"]

    scores = EmbedderReranker(embedder).score("server restart", texts)

    question, text = map(components, embedder.embed(["server restart", texts[0]]))
    assert scores[0] == round(sum(x * y for x, y in zip(question, text, strict=True)), 6)
    assert scores[3] == scores[0] > scores[1]
    assert scores[2] == 0
    assert all(0 <= score <= 1 for score in scores)


def test_reranker_embeds_a_text_once() -> None:
    embedder = Counted()
    reranker = EmbedderReranker(embedder)

    first = reranker.score("alpha", ["alpha beta", "gamma", "gamma"])
    second = reranker.score("alpha", ["gamma", "alpha beta", "delta"])

    assert embedder.asked == ["alpha beta", "gamma", "delta"]
    assert (second[0], second[1]) == (first[1], first[0])


def test_query_without_a_vector_scores_zero() -> None:
    assert EmbedderReranker(HashEmbedder(64)).score("the of", ["alpha"]) == [0.0]


def test_embedder_is_a_reranker_by_name() -> None:
    assert new_reranker("local", Config()).identity == LOCAL_IDENTITY


@pytest.mark.usefixtures("plug_in")
def test_plug_in_may_be_a_reranker() -> None:
    assert new_reranker("lengths", Config()).score("x", ["12345"]) == [0.5]
    assert new_reranker("echo", Config()).identity == "echo-1:16"


def test_unknown_reranker_suggests_the_nearest() -> None:
    error = failing("unknown_reranker", lambda: new_reranker("minlm", Config()))

    assert (error.message, error.hint) == ("Unknown reranker 'minlm'.", "did you mean minilm?")
