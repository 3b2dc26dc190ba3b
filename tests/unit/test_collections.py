"""Collections: named stores of one folder, each with an embedder, a language and word statistics of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.errors import ConfigError, RecallError, StoreError, UsageError
from recall_core.steps import RetrievePlan, Segment, chunk, index, retrieve


def idf(recall: Recall, word: str) -> float:
    """Return the idf of a word in a collection."""
    pool = recall.engine.answer(recall.engine.words_plan(word, Ask())).pool
    assert pool is not None
    (term,) = pool.terms
    return term.idf


def test_each_collection_keeps_its_documents_and_idf(tmp_path: Path) -> None:
    collections = Recall.collections(tmp_path / "all")
    assert collections.names() == []
    with collections.create("notes") as notes, collections.create("mail") as mail:
        index(chunk([Segment("a", "deploy the service"), Segment("b", "undo a deploy")]), notes)
        index(chunk([Segment("a", "deploy"), *(Segment(str(n), f"letter {n}") for n in range(9))]), mail)
        assert idf(notes, "deploy") < idf(mail, "deploy")
    assert collections.names() == ["mail", "notes"]
    with collections.open("notes") as notes:
        found = retrieve("deploy", RetrievePlan(mode="lexical"), notes)
        assert sorted(each.content for each in found) == ["deploy the service", "undo a deploy"]


def test_reopened_collection_has_its_embedder_and_language(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), settings={"chunk_tokens": 150, "semantic_weight": 0.7})
    collections = Recall.collections(tmp_path)
    before = {}
    for name, embedding, chosen in (("given", "given:3", None), ("german", None, "de")):
        with collections.create(name, embedding=embedding, language=chosen) as made:
            before[name] = made.config.vector_weight
    for name, embedder, language, weight in [("given", "given:3", "en", 0.5), ("german", "hash", "de", 0.7)]:
        with collections.open(name) as recall:
            info = recall.store.info()
            assert info.embedder.startswith(embedder), name
            assert recall.config.vector_weight == before[name]
            assert (info.language, recall.config.vector_weight, recall.config.chunk_tokens) == (language, weight, 150)
            assert recall.stats()["warnings"] == [], name
    assert collections.names() == ["german", "given", "recall"]


def test_reembedding_a_collection_leaves_the_others(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    settings = (tmp_path / "recall.toml").read_bytes()
    collections = Recall.collections(tmp_path)
    with collections.create("a") as first, collections.create("b") as second:
        index(chunk([Segment("a", "deploy the service")]), first)
        before = second.store.info().embedder
        list(first.reembed("hash", settings={"embedding_dim": 64}))
        assert first.store.info().dimension == 64
        assert second.store.info().embedder == before
    with collections.open("a") as first:
        assert first.search("deploy", mode="semantic")["results"]
        assert first.search("deploy")["warnings"] == []
    assert (tmp_path / "recall.toml").read_bytes() == settings


def test_names_that_are_unsafe_for_files_are_refused(tmp_path: Path) -> None:
    collections = Recall.collections(tmp_path)
    names = [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "../a",
        "/etc/a",
        "a\0",
        "a\n",
        "\x85",
        ".a",
        "a.",
        " a",
        "a ",
        "C:a",
        "x" * 201,
    ]
    for name in [*names, "é" * 101, "\ud800"]:
        for call in (collections.create, collections.open):
            with pytest.raises(UsageError) as refused:
                call(name)
            assert refused.value.code == "bad_collection", ascii(name)
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    collections = Recall.collections(tmp_path)
    collections.create("Straße").close()
    for name in ("straße", "STRASSE"):
        with pytest.raises(UsageError, match="case alone"):
            collections.create(name)
        with pytest.raises(StoreError, match="no collection"):
            collections.open(name)
    collections.create("e\u0301").close()
    collections.open("é").close()
    assert collections.names() == ["Straße", "é"]


def test_collection_exists_once(tmp_path: Path) -> None:
    collections = Recall.collections(tmp_path)
    collections.create("a").close()
    with pytest.raises(StoreError) as refused:
        collections.create("a")
    assert refused.value.code == "store_exists"
    (tmp_path / ".b.db").touch()
    (tmp_path / "c.db").mkdir()
    assert collections.names() == ["a"]


def test_embedders_of_a_found_file_wait_for_trust(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text(
        'embedding = "ollama"\nembedding_url = "http://elsewhere.example/"\nallow_network = true\n', encoding="utf-8"
    )
    collections = Recall.collections(tmp_path)
    for embedding in (None, "ollama"):
        with pytest.raises(ConfigError) as refused:
            collections.create("a", embedding=embedding)
        assert refused.value.code == "untrusted_config"
    collections.create("b", embedding="hash").close()
    with collections.open("b") as recall:
        assert recall.search("deploy", mode="semantic")["warnings"] == []
    assert collections.names() == ["b"]


def test_wrong_embedder_or_language_makes_nothing(tmp_path: Path) -> None:
    collections = Recall.collections(tmp_path / "new")
    for options in ({"embedding": "hsah"}, {"language": "xx"}):
        with pytest.raises(RecallError):
            collections.create("a", **options)
    assert collections.names() == []
