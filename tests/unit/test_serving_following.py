"""Following: a served store is kept up to date, and failures are reported and retried."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import apsw
import pytest

from recall_core.api import serving
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool, Follower, Following, StoreSettings
from recall_core.api.stores import trust
from recall_core.contract.responses import IngestResponse
from recall_core.ingest import watch
from recall_core.types import Progress, Root

SECONDS = 60.0
"""Seconds in which even a busy machine reports."""


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll often, rest briefly and retry soon."""
    monkeypatch.setattr(watch, "_LOOK_MS", 20)
    monkeypatch.setattr(serving, "REST_MS", 50)
    monkeypatch.setattr(serving, "_AGAIN_SECONDS", 0.02)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    base = tmp_path / "store"
    base.mkdir()
    Recall.init(str(base), embedding="hash", settings={"embedding_dim": 64})
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("quokka")
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs"), template=Root(""))
    return base


@contextmanager
def follow(store: Path, wanted: Following) -> Iterator[Queue[str]]:
    """Start a follower and yield the queue of its reports."""
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), wanted, said.put)
    follower.start()
    try:
        yield said
    finally:
        follower.close()
        assert not any(thread.is_alive() for thread in follower._threads)


def search_paths(recall: Recall, words: str) -> list[str]:
    return [each["doc"]["path"] for each in recall.search(words, mode="lexical")["results"]]


def test_changes_before_the_start_are_found_after_it(store: Path) -> None:
    (store / "docs" / "b.md").write_text("wombat")

    with follow(store, Following(on_boot=True)) as said:
        assert said.get(timeout=SECONDS) == "1 added"

    with Recall.open(str(store)) as recall:
        assert search_paths(recall, "wombat") == ["docs/b.md"]


def test_changed_file_is_found_once_it_is_quiet(store: Path) -> None:
    pool = ConnectionPool(StoreSettings(str(store)), connections=1)
    assert pool.ask(lambda recall: search_paths(recall, "quokka")).result() == ["docs/a.md"]
    with follow(store, Following(watch=True)) as said:
        (store / "docs" / "b.md").write_text("wombat")
        assert said.get(timeout=SECONDS) == "1 added"
        assert pool.ask(lambda recall: search_paths(recall, "wombat")).result() == ["docs/b.md"]

        (store / "docs" / "a.md").write_text("heron")
        assert said.get(timeout=SECONDS) == "1 updated"
        assert pool.ask(lambda recall: search_paths(recall, "quokka")).result() == []

        (store / "docs" / "b.md").unlink()
        assert said.get(timeout=SECONDS) == "1 removed"
    pool.close()


def test_interval_syncs_regularly(store: Path) -> None:
    with follow(store, Following(interval=0.02)) as said:
        for name in ("b", "c"):
            (store / "docs" / f"{name}.md").write_text(name * 5)
            assert said.get(timeout=SECONDS) == "1 added"


def test_sync_without_changes_is_not_reported(store: Path) -> None:
    with follow(store, Following(interval=0.01)) as said:
        (store / "docs" / "b.md").write_text("wombat")
        assert said.get(timeout=SECONDS) == "1 added"
    assert said.empty()


def test_default_following_syncs_nothing(store: Path) -> None:
    (store / "docs" / "b.md").write_text("wombat")
    with follow(store, Following()) as said:
        pass
    with Recall.open(str(store)) as recall:
        assert search_paths(recall, "wombat") == []
    assert said.empty()


def _hold_syncs(monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event]:
    """Make every sync wait after its first commit until the second event is set; it sets the first event then."""
    there, go = Event(), Event()
    steps = Recall.sync

    def sync(recall: Recall, *, reparse: bool = False) -> Generator[Progress, None, IngestResponse]:
        made = steps(recall, reparse=reparse)
        while True:
            try:
                progress = next(made)
            except StopIteration as end:
                response: IngestResponse = end.value
                return response
            if progress.stage == "commit":
                there.set()
                assert go.wait(SECONDS)
            yield progress

    monkeypatch.setattr(Recall, "sync", sync)
    return there, go


def _many(store: Path, count: int) -> None:
    for number in range(count):
        (store / "docs" / f"new{number:03}.md").write_text(f"wombat {number}")


def test_searches_during_a_sync_see_committed_rows(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, go = _hold_syncs(monkeypatch)
    _many(store, 200)
    pool = ConnectionPool(StoreSettings(str(store)), connections=2)
    with follow(store, Following(on_boot=True)) as said:
        assert there.wait(SECONDS)
        with Recall.open(str(store)) as recall:
            midst = recall.store.info()
        answers = [pool.ask(lambda recall: recall.search("wombat", mode="lexical")["stats"]) for _ in range(4)]
        assert {each.result()["digest"] for each in answers} == {midst.digest}
        go.set()
        assert said.get(timeout=SECONDS) == "200 added"
        assert pool.ask(lambda recall: recall.store.info().documents).result() == 201 > midst.documents
    pool.close()


def test_searches_work_while_a_sync_waits_for_a_writer(store: Path) -> None:
    (store / "docs" / "b.md").write_text("wombat")
    pool = ConnectionPool(StoreSettings(str(store)), connections=1)
    before = pool.ask(lambda recall: recall.store.info().digest).result()
    other = apsw.Connection(str(store / "recall.db"))
    other.execute("BEGIN IMMEDIATE")
    with follow(store, Following(interval=0.01)) as said:
        answers = [pool.ask(lambda recall: recall.search("quokka wombat")["stats"]).result() for _ in range(5)]
        assert {each["digest"] for each in answers} == {before}
        other.execute("ROLLBACK")
        other.close()
        assert said.get(timeout=SECONDS) == "1 added"
    pool.close()


def test_failed_sync_is_reported_and_retried(store: Path) -> None:
    whole = (store / "recall.toml").read_text()
    (store / "recall.toml").write_text("[")
    (store / "docs" / "b.md").write_text("wombat")

    with follow(store, Following(interval=0.01)) as said:
        told = said.get(timeout=SECONDS)
        assert told.startswith("sync failed: ")
        (store / "recall.toml").write_text(whole)
        while told.startswith("sync failed: "):
            told = said.get(timeout=SECONDS)

    assert told == "1 added"


def test_watch_restarts_after_its_folder_was_gone(store: Path) -> None:
    docs, away = store / "docs", store.parent / "away"
    docs.rename(away)
    with follow(store, Following(watch=True)) as said:
        assert said.get(timeout=SECONDS).startswith("sync failed: ")
        away.rename(docs)
        (docs / "b.md").write_text("wombat")
        told = said.get(timeout=SECONDS)
        while "added" not in told:
            told = said.get(timeout=SECONDS)
    assert "1 added" in told


def test_closing_during_a_sync_keeps_committed_rows(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, go = _hold_syncs(monkeypatch)
    _many(store, 200)
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), Following(on_boot=True), said.put)
    follower.start()
    assert there.wait(SECONDS)
    with Recall.open(str(store)) as recall:
        midst = recall.store.info()

    closing = Thread(target=follower.close)
    closing.start()
    assert follower._stop.wait(SECONDS)
    while not all(recall.store._is_ended for recall in follower._open):  # type: ignore[attr-defined]
        pass
    go.set()
    closing.join(SECONDS)

    assert not closing.is_alive()
    assert said.empty()
    with Recall.open(str(store)) as recall:
        assert [each["code"] for each in recall.doctor()["checks"] if each["severity"] == "error"] == []
        assert (recall.store.info().digest, midst.documents < 201) == (midst.digest, True)
        recall.index(str(store / "docs"))
        assert recall.store.info().documents == 201


def test_sync_started_during_closing_writes_nothing(store: Path) -> None:
    (store / "docs" / "b.md").write_text("wombat")
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), Following(on_boot=True), said.put)
    follower.close()

    follower.start()

    for thread in follower._threads:
        thread.join(SECONDS)
    with Recall.open(str(store)) as recall:
        assert search_paths(recall, "wombat") == []
    assert said.empty()


def test_search_waits_for_changed_files(store: Path) -> None:
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), Following(on_search_ms=60_000), said.put)
    pool = ConnectionPool(StoreSettings(str(store)), connections=1)
    for name, word in (("b", "wombat"), ("a", "heron")):
        (store / "docs" / f"{name}.md").write_text(word)
        follower.prepare(follower, is_search=False)
        follower.prepare(follower, is_search=True)
        assert pool.ask(lambda recall, word=word: search_paths(recall, word)).result() == [f"docs/{name}.md"]
    follower.prepare(follower, is_search=True)
    follower.close()
    pool.close()
    assert [said.get_nowait(), said.get_nowait(), said.empty()] == ["1 added", "1 updated", True]


def test_search_does_not_wait_longer_than_allowed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = Event()
    sync = Recall.sync

    def slow(recall: Recall) -> Generator[Progress, None, IngestResponse]:
        assert may_go_on.wait(SECONDS)
        return sync(recall)

    monkeypatch.setattr(Recall, "sync", slow)
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), Following(on_search_ms=1), said.put)
    (store / "docs" / "b.md").write_text("wombat")
    follower.prepare(follower, is_search=True)
    assert said.empty()
    may_go_on.set()
    assert said.get(timeout=SECONDS) == "1 added"
    follower.close()


def test_each_new_session_syncs_once(store: Path) -> None:
    said: Queue[str] = Queue()
    follower = Follower(StoreSettings(str(store)), Following(on_session=True), said.put)
    first, second = Event(), Event()
    for number, session in enumerate((first, second)):
        (store / "docs" / f"{number}.md").write_text(f"wombat {number}")
        follower.prepare(session, is_search=False)
        assert said.get(timeout=SECONDS) == "1 added"
    (store / "docs" / "3.md").write_text("wombat")
    follower.prepare(first, is_search=True)
    follower.close()
    assert said.empty()


def test_found_settings_start_no_sync_without_trust(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    said: list[str] = []
    settings = StoreSettings(str(store))

    def wanted() -> Following:
        return serving.following_for(settings, watch=False, on_boot=False, interval=0.0, say=said.append)

    toml = store / "recall.toml"
    text = toml.read_text(encoding="utf-8").replace("sync_on_change = false", "sync_on_change = true")
    toml.write_text(text.replace("sync_on_search_ms = 0", "sync_on_search_ms = 50"), encoding="utf-8")
    assert wanted() == Following()
    assert "sync_on_search_ms = 50, sync_on_change = true" in said[0]
    assert trust(str(store), accept=True)["trust"]["accepted"]
    assert wanted() == Following(watch=True, on_search_ms=50)
    monkeypatch.setenv("RECALL_SYNC_ON_CHANGE", "false")
    monkeypatch.setenv("RECALL_SYNC_INTERVAL_S", "60")
    assert wanted() == Following(interval=60, on_search_ms=50)
    assert len(said) == 1


def test_agents_file_decides_when_its_memory_is_synced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CONFIG", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    toml = tmp_path / "CONFIG" / "recall" / "agents.toml"
    toml.parent.mkdir(parents=True)

    def wanted(keys: str, *, watch: bool = False) -> Following:
        toml.write_text(f'[[agents]]\nid = "a"\n{keys}\n', encoding="utf-8")
        settings = StoreSettings(agent="a", start=tmp_path)
        return serving.following_for(settings, watch=watch, on_boot=False, interval=0.0, say=pytest.fail)

    usual = Following(watch=True, on_boot=True, on_session=True, on_search_ms=1_000)
    assert wanted("") == usual
    assert wanted("sync = {on_search = false}") == usual._replace(on_search_ms=0)
    off = "on_boot = false, on_session = false, on_search_ms = 0"
    assert wanted(f"sync = {{{off}, on_change = false, interval = '2m'}}") == Following(interval=120)
    assert wanted(f"memorySearch = {{sync = {{{off}, watch = false}}}}") == Following()
    assert wanted(f"sync = {{{off}, watch = false}}", watch=True) == Following(watch=True)
    assert wanted("enabled = false", watch=True) == Following()
    monkeypatch.setenv("RECALL_SYNC_ON_CHANGE", "false")
    monkeypatch.setenv("RECALL_SYNC_ON_BOOT", "false")
    assert wanted("sync = {on_boot = true}") == usual._replace(watch=False)


def test_server_syncs_a_memory_before_a_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CONFIG", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    toml = tmp_path / "CONFIG" / "recall" / "agents.toml"
    toml.parent.mkdir(parents=True)
    sync = "sync = {on_boot = false, on_session = false, on_search_ms = 60_000, on_change = false}"
    toml.write_text(f'[[agents]]\nid = "a"\nworkspace = "{tmp_path}"\nembedding = "hash"\n{sync}\n')
    settings = StoreSettings(agent="a", start=tmp_path)
    pool = ConnectionPool(settings)
    wanted = serving.following_for(settings, watch=False, on_boot=False, interval=0.0, say=pytest.fail)
    pool.follower = Follower(settings, wanted, lambda line: None)
    for word in ("wombat", "heron"):
        (tmp_path / "MEMORY.md").write_text(word, encoding="utf-8")
        found = pool.ask(lambda recall, word=word: search_paths(recall, word), is_search=True).result()
        assert found == ["MEMORY.md"]
    pool.follower.close()
    pool.close()
