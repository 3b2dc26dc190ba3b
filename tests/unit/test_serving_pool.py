"""Many callers of one store: answers, a bounded queue, deadlines, cancelling and a changing store."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from recall_core.api.recall import Recall
from recall_core.api.serving import Asked, ConnectionPool, StoreSettings
from recall_core.deadline import check
from recall_core.errors import Busy, Interrupted, RecallError, TimedOut, UsageError
from recall_core.types import Root

TEXTS = {
    "a.txt": "Retries wait a second.",
    "b.txt": "Deploys never stop the service.",
    "c.txt": "Retries are counted.",
}


def fill(folder: Path, texts: dict[str, str] = TEXTS) -> Path:
    folder.mkdir(exist_ok=True)
    Recall.init(str(folder), embedding="hash")
    for name, text in texts.items():
        (folder / name).write_text(text)
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder)], Root("")):
            pass
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return fill(tmp_path / "store")


@pytest.fixture
def pool(store: Path) -> Iterator[ConnectionPool]:
    pool = ConnectionPool(StoreSettings(str(store)), connections=2, queue=4)
    yield pool
    pool.close()


def search_paths(recall: Recall) -> list[str]:
    return [each["doc"]["path"] for each in recall.search("retries")["results"]]


def hold_calls(pool: ConnectionPool, count: int) -> tuple[Event, list[Asked[bool]]]:
    """Start `count` calls that run until the event is set."""
    go, begun = Event(), [Event() for _ in range(count)]

    def wait(each: Event) -> bool:
        each.set()
        while not go.wait(0.01):
            check()
        return True

    asked = [pool.ask(lambda _, each=each: wait(each)) for each in begun]
    for each in begun:
        each.wait()
    return go, asked


def test_every_caller_gets_the_answer_of_the_method(pool: ConnectionPool, store: Path) -> None:
    asked = [pool.ask(search_paths) for _ in range(4)]

    with Recall.open(str(store)) as recall:
        expected = search_paths(recall)
    assert [each.result() for each in asked] == [expected] * 4
    assert set(expected) >= {"a.txt", "c.txt"}


def test_connections_start_only_when_none_is_idle(pool: ConnectionPool) -> None:
    pool.ask(search_paths).result()
    assert len(pool._threads) == 1

    go, running = hold_calls(pool, 2)
    go.set()
    assert all(each.result() for each in running)
    assert len(pool._threads) == 2


def test_error_reaches_only_its_caller(pool: ConnectionPool) -> None:
    wrong, right = pool.ask(lambda recall: recall.query("SELECT nothing")), pool.ask(search_paths)

    with pytest.raises(RecallError) as caught:
        wrong.result()
    assert caught.value.code != "internal_error"
    assert right.result()


def test_full_queue_refuses_with_a_retry_time(pool: ConnectionPool) -> None:
    go, running = hold_calls(pool, 2)
    waiting = [pool.ask(search_paths) for _ in range(4)]

    with pytest.raises(Busy) as caught:
        pool.ask(search_paths)

    assert caught.value.code == "busy"
    assert isinstance(caught.value.details, dict)
    assert caught.value.details["retry_after_seconds"] > 0
    go.set()
    assert all(each.result() for each in (*running, *waiting))
    assert pool.ask(search_paths).result()


def test_no_session_fills_the_queue(store: Path) -> None:
    pool = ConnectionPool(StoreSettings(str(store)), connections=1, queue=40)
    go, running = hold_calls(pool, 1)
    waiting = [pool.ask(search_paths, session="one") for _ in range(10)]

    with pytest.raises(Busy) as caught:
        pool.ask(search_paths, session="one")
    others = [pool.ask(search_paths, session=name) for name in ("two", "three", None)]
    waiting[3].cancel()
    again = pool.ask(search_paths, session="one")

    assert caught.value.message == "10 queries of this session are already waiting."
    go.set()
    assert all(each.result() for each in (*running, *waiting[:3], *others, again))
    pool.close()


def test_running_call_is_cancelled_and_its_connection_continues(pool: ConnectionPool) -> None:
    _, running = hold_calls(pool, 2)

    for each in running:
        each.cancel()
        each.cancel()

    for each in running:
        with pytest.raises(Interrupted):
            each.result()
    assert pool.ask(search_paths).result()


def test_waiting_call_is_cancelled_without_running(pool: ConnectionPool) -> None:
    go, _ = hold_calls(pool, 2)
    asked: list[str] = []
    waiting = pool.ask(lambda _: asked.append("asked"))

    waiting.cancel()

    with pytest.raises(Interrupted):
        waiting.result()
    go.set()
    assert pool.ask(search_paths).result()
    assert not asked


def test_cancelled_calls_leave_room_in_a_full_queue(pool: ConnectionPool) -> None:
    go, _ = hold_calls(pool, 2)
    for each in [pool.ask(search_paths) for _ in range(4)]:
        each.cancel()

    again = pool.ask(search_paths)

    go.set()
    assert again.result()


def test_time_in_the_queue_counts(pool: ConnectionPool) -> None:
    go, _ = hold_calls(pool, 2)
    late = pool.ask(search_paths, seconds=0.01)
    while not late._deadline.is_over():
        pass
    go.set()

    with pytest.raises(TimedOut) as caught:
        late.result()
    assert "0.01 s" in str(caught.value)


def test_missing_store_is_looked_up_again(tmp_path: Path) -> None:
    pool = ConnectionPool(StoreSettings(str(tmp_path / "store")), connections=1)
    with pytest.raises(RecallError) as caught:
        pool.ask(search_paths).result()
    assert caught.value.code == "no_store"

    fill(tmp_path / "store")

    assert pool.ask(search_paths).result()
    pool.close()


@pytest.fixture
def single_pool(store: Path) -> Iterator[ConnectionPool]:
    """Yield a pool with a single connection; of several, one without an open store could answer."""
    pool = ConnectionPool(StoreSettings(str(store)), connections=1)
    yield pool
    pool.close()


def test_replaced_store_is_reopened(single_pool: ConnectionPool, store: Path, tmp_path: Path) -> None:
    assert "d.txt" not in single_pool.ask(search_paths).result()
    other = fill(tmp_path / "other", {"d.txt": "Retries of another store."})
    for each in ("recall.db-wal", "recall.db-shm"):
        (store / each).unlink(missing_ok=True)

    shutil.move(other / "recall.db", store / "recall.db")

    assert single_pool.ask(search_paths).result() == ["d.txt"]


def test_changed_settings_apply_to_the_next_call(single_pool: ConnectionPool, store: Path) -> None:
    assert len(single_pool.ask(search_paths).result()) > 1
    toml = store / "recall.toml"

    toml.write_text(re.sub("(?m)^min_score = .*$", "min_score = 1.0", toml.read_text()))

    assert single_pool.ask(search_paths).result() == []


def test_connections_share_one_embedder(pool: ConnectionPool) -> None:
    def embedder_of(recall: Recall, begun: Event, other: Event) -> int:
        begun.set()
        other.wait()
        return id(recall.engine.embedder)

    first, second = Event(), Event()
    one = pool.ask(lambda recall: embedder_of(recall, first, second))
    two = pool.ask(lambda recall: embedder_of(recall, second, first))

    assert one.result() == two.result()


def test_call_cannot_name_a_model_or_file_to_open(pool: ConnectionPool) -> None:
    for setting in ["rerank=onnx:/etc", "pack_counter=hf:/etc/passwd"]:
        with pytest.raises(UsageError) as caught:
            pool.ask(lambda recall, chosen=(setting,): recall.context("retries", settings=chosen)).result()
        assert caught.value.code == "bad_value", setting

        key, _, value = setting.partition("=")
        rql = f"SELECT * FROM chunk USING lexical('retries') OPTION {key} '{value}'"
        with pytest.raises(RecallError) as caught_in_rql:
            pool.ask(lambda recall, rql=rql: recall.query(rql)).result()
        assert caught_in_rql.value.code in ("bad_value", "unknown_option"), setting


def test_closed_pool_refuses_calls_and_ends_running_ones(pool: ConnectionPool) -> None:
    _, running = hold_calls(pool, 2)

    pool.close()

    for each in running:
        with pytest.raises(Interrupted):
            each.result()
    with pytest.raises(UsageError) as caught:
        pool.ask(search_paths)
    assert caught.value.code == "closed"
