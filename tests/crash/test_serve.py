"""Nothing is lost when `recall serve` dies, in the middle of an answer, a change or a sync."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random
from threading import Event
from time import monotonic, sleep

import httpx
import pytest

pytest.importorskip("mcp")

from recall_core.api.recall import Recall
from tests.crash.harness import command, errors
from tests.e2e.test_rest import Serving
from tests.mcp_client import PATIENCE
from tests.serving_writer import filled

CLIENTS = 4


def _expect_whole(base: Path, kept: dict[str, str]) -> None:
    """Check that the store is sound, that a command line answers, and that the store has these documents."""
    assert errors(base) == set()
    code, answer = command(base, "search", "common")
    assert (code, len(answer["results"]) > 0) == (0, True)
    with Recall.open(str(base)) as recall:
        assert {path: recall.get(path)["found"]["text"] for path in kept} == kept


def _kill_answering(folder: Path, kills: int, counted: Callable[..., None]) -> None:
    """Kill servers while clients search and put documents. A document with an answer must be there."""
    base, random = filled(folder / "store", 8), Random(49)
    kept: dict[str, str] = {}
    for kill in range(kills):
        begun = Event()

        def ask(client: int, kill: int = kill, begun: Event = begun) -> None:
            for number in count():
                path, text = f"{kill}-{client}-{number}.md", f"Kill {kill} meets client {client} for the {number}."
                with suppress(httpx.TransportError):
                    response = server.ask("PUT", f"v1/documents/{path}", {"content": text})
                    assert response.status_code == 200, response.text
                    kept[f"put://{path}"] = text
                    begun.set()
                    assert server.ask("POST", "v1/search", {"words": f"kill {number}"}).json()["ok"]
                    continue
                return

        with Serving(base, "--writable") as server, ThreadPoolExecutor(CLIENTS) as clients:
            asked = [clients.submit(ask, client) for client in range(CLIENTS)]
            assert begun.wait(PATIENCE)
            sleep(random.random() / 5)
            server.process.kill()
        for each in asked:
            each.result()
        _expect_whole(base, {path: text for path, text in kept.items() if path.startswith(f"put://{kill}-")})
    assert command(base, "sync")[0] == 0
    _expect_whole(base, kept)
    counted("serve", "killed while it answers", kills=kills, cut_requests=kills * CLIENTS, documents=len(kept))


def _kill_syncing(folder: Path, kills: int, counted: Callable[..., None]) -> None:
    """Kill servers during the sync that starts a watch. The first one may finish, which shows how long it takes."""
    base, random = filled(folder / "store", 8), Random(49)
    texts: dict[str, str] = {}
    usual = 0.0
    unfinished = 0
    for kill in range(kills + 1):
        for number in range(60):
            name = f"docs/{'kept' if number % 2 else f'kill{kill}-'}{number}.md"
            texts[name] = f"# Kept\n\nwombat {kill} {number}\n"
            (base / name).write_text(texts[name], encoding="utf-8")
        with Serving(base, "--watch") as server:
            assert server.ask("POST", "v1/search", {"words": "wombat"}).status_code == 200
            started = monotonic()
            if kill:
                sleep(random.random() * usual)
            else:
                assert server.process.stderr is not None
                while "added" not in server.process.stderr.readline():
                    pass
                usual = monotonic() - started
            server.process.kill()
        _expect_whole(base, {})
        with Recall.open(str(base)) as recall:
            unfinished += recall.list(f"docs/kill{kill}-")["total"] < 30
    assert command(base, "sync")[0] == 0
    _expect_whole(base, texts)
    counted("serve", "killed while it syncs", kills=kills, unfinished=unfinished, documents=len(texts))


def test_server_killed_while_it_answers_loses_nothing(tmp_path: Path, counted: Callable[..., None]) -> None:
    _kill_answering(tmp_path, 1, counted)


def test_watching_server_killed_during_sync_loses_nothing(tmp_path: Path, counted: Callable[..., None]) -> None:
    _kill_syncing(tmp_path, 1, counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("act", [_kill_answering, _kill_syncing], ids=["answering", "syncing"])
def test_hundred_kills_of_a_server_lose_nothing(
    tmp_path: Path, act: Callable[[Path, int, Callable[..., None]], None], counted: Callable[..., None]
) -> None:
    act(tmp_path, 100, counted)
