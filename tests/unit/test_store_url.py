"""Stores by URL: a path, a kind before a colon, and an in-memory store."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from recall_core import _lazy
from recall_core.api import stores
from recall_core.api.recall import Ask, Recall
from recall_core.api.stores import StoreUrl, store_kind, store_url
from recall_core.errors import UsageError
from recall_core.store.sqlite.store import SQLITE
from recall_core.types import Root

PLUG_IN = EntryPoint("elsewhere", "recall_core.store.sqlite.store:SQLITE", stores.STORE_GROUP)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Recall.init(str(tmp_path), embedding="hash", settings=["embedding_dim=64"])
    (tmp_path / "a.txt").write_text("zero-downtime deploy", encoding="utf-8")
    return tmp_path


def add(recall: Recall, path: Path) -> int:
    for _ in recall.add([str(path)], Root("")):
        pass
    return recall.store.info().documents


def test_url_is_a_kind_and_a_place() -> None:
    for text, url in [
        ("recall.db", ("sqlite", "recall.db")),
        ("/a/b c.db", ("sqlite", "/a/b c.db")),
        ("sqlite:/a/b.db", ("sqlite", "/a/b.db")),
        ("sqlite::memory:", ("sqlite", ":memory:")),
        (":memory:", ("sqlite", ":memory:")),
        ("postgresql://host/name", ("postgresql", "//host/name")),
        ("./post:it.db", ("sqlite", "./post:it.db")),
        ("~/post:it.db", ("sqlite", "~/post:it.db")),
        ("", ("sqlite", "")),
    ]:
        assert store_url(text) == url, text


def test_existing_file_is_a_path_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("post:it.db").touch()
    assert store_url("post:it.db") == StoreUrl("sqlite", "post:it.db")


def test_path_after_the_kind_opens_the_same_store(home: Path) -> None:
    with Recall.open(f"sqlite:{home / 'recall.db'}") as recall:
        assert add(recall, home / "a.txt") == 1
    with Recall.open(f"sqlite:{home}") as recall:
        assert recall.store.info().documents == 1


def test_unknown_kind_is_refused_with_the_known_kinds() -> None:
    with pytest.raises(UsageError, match="mysql") as refused:
        Recall.open("mysql://host/name")
    assert refused.value.code == "unknown_store_kind"
    assert "sqlite" in str(refused.value.hint)


def test_built_in_kind_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORE_KINDS, "postgresql", "absent_driver:KIND")
    with pytest.raises(UsageError, match="absent_driver") as refused:
        Recall.open("postgresql://host/name")
    assert refused.value.code == "store_kind_unavailable"
    assert "psycopg" in str(refused.value.hint)


def test_plug_in_is_found_but_never_replaces_built_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def entry_points(*, group: str) -> EntryPoints:
        asked.append(group)
        return EntryPoints([PLUG_IN])

    monkeypatch.setattr(_lazy.metadata, "entry_points", entry_points)
    assert store_kind("sqlite") is SQLITE
    assert asked == []
    assert store_kind("elsewhere") is SQLITE
    assert asked == [stores.STORE_GROUP]


def test_in_memory_store_works_and_leaves_no_file(home: Path) -> None:
    for url in [":memory:", "sqlite::memory:"]:
        before = {path: path.stat().st_mtime_ns for path in home.iterdir()}
        with Recall.open(url, start=home) as recall:
            assert recall.store.info().dimension == 64, url
            assert add(recall, home / "a.txt") == 1, url
            (hit,) = recall.search("deploy", Ask())["results"]
            assert hit["doc"]["path"] == "a.txt", url
            assert recall.doctor()["checks"][0]["severity"] == "ok", url
            recall.remove([str(home / "a.txt")])
            assert recall.compact()["compacted"]["tombstones"] == 1, url
            for _ in recall.reembed("hash", ["embedding_dim=128"]):
                pass
            assert recall.store.info().dimension == 128, url
            assert recall.search("deploy", Ask())["results"] == [], url
        with Recall.open(url, start=home) as recall:
            assert recall.store.info().documents == 0, url
        assert {path: path.stat().st_mtime_ns for path in home.iterdir()} == before, url


def test_in_memory_store_without_settings_has_the_defaults(tmp_path: Path) -> None:
    with Recall.open(":memory:", start=tmp_path) as recall:
        assert recall.stats()["store"]["documents"] == 0
    assert list(tmp_path.iterdir()) == []
