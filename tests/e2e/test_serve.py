"""The workbench in a browser: a real server, a real Chromium, and foreign clients."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.browser import Browser, opened
from tests.served import GONE, Served, running_processes
from tests.workbench_corpus import build_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def served(store: Path, tmp_path: Path) -> Iterator[Served]:
    served = Served(store, tmp_path)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def shared_server(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server for tests that neither end it nor read its home."""
    served = Served(store, tmp_path_factory.mktemp("shared"))
    yield served
    served.stop()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with opened(tmp_path / "profile") as browser:
        yield browser


@pytest.mark.chromium
def test_browser_user_searches_copies_and_leaves(shared_server: Served, browser: Browser) -> None:
    browser.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.goto(shared_server.address)
    browser.wait_for(lambda screen: "37 documents" in screen)
    loaded = browser.requests()
    assert [url for url in loaded if url.startswith("ws:")] != []
    assert {urlsplit(url).netloc for url in loaded} == {f"127.0.0.1:{shared_server.port}"}
    empty = browser.screenshot()

    browser.type("token budget")
    browser.wait_for(lambda screen: "docs/budget.md:1 " in screen and "1,395 of 2,000 tokens" in screen)
    assert browser.screenshot() != empty
    browser.key("F5")  # would reload the page without the workbench

    browser.key("Escape")
    browser.wait_for(lambda screen: " NAV " in screen)
    browser.key("j")
    screen = browser.wait_for(lambda screen: "Explain #2" in screen and "def pack(hits, budget):" in screen)
    assert re.search(r"▶ +2 0\.574 .*src/pack\.py:\d ", screen)
    browser.key("Y")
    copied = browser.until(lambda: browser.evaluate("navigator.clipboard.readText()"))
    assert copied.startswith("recall ")
    assert "'token budget'" in copied

    browser.key("q")
    browser.until(lambda: "The session has ended." in browser.text())
    shared_server.wait_for_workbenches(0)
    assert browser.requests() == loaded
    assert browser.complaints() == []
    with pytest.raises(AssertionError, match="Failed to fetch"):
        browser.evaluate("fetch('http://127.0.0.1:9/')")
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


@pytest.mark.slow
@pytest.mark.chromium
def test_page_contacts_only_its_own_server(served: Served, browser: Browser) -> None:
    browser.goto(served.address)
    browser.wait_for(lambda screen: "37 documents" in screen)

    requests = browser.requests()
    assert [url for url in requests if url.startswith("ws:")] != []
    assert {urlsplit(url).netloc for url in requests} == {f"127.0.0.1:{served.port}"}
    with pytest.raises(AssertionError, match="Failed to fetch"):
        browser.evaluate("fetch('http://127.0.0.1:9/')")
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


@pytest.mark.slow
@pytest.mark.chromium
def test_keys_reach_the_query_of_a_background_page(served: Served, browser: Browser) -> None:
    browser.ask("Emulation.setFocusEmulationEnabled", enabled=False)
    browser.goto(served.address)
    browser.wait_for(lambda screen: "37 documents" in screen)

    browser.type("household")

    browser.wait_for(lambda screen: "household" in screen and "notes/diary.txt" in screen)


@pytest.mark.slow
@pytest.mark.chromium
def test_browser_shortcut_keys_go_to_the_workbench(served: Served, browser: Browser, tmp_path: Path) -> None:
    browser.goto(served.address)
    browser.wait_for(lambda screen: "37 documents" in screen)
    loaded = browser.requests()

    browser.type("household")
    browser.wait_for(lambda screen: re.search(r"▶ +1 .*notes/diary\.txt", screen))
    browser.key("F5")  # a completed query enters the history
    browser.until(lambda: any("household" in path.read_text() for path in tmp_path.rglob("history.jsonl")))
    browser.key("Control+r")
    browser.wait_for(lambda screen: "1 of 1" in screen)
    browser.key("Escape")
    browser.wait_for(lambda screen: "1 of 1" not in screen)
    browser.key("Control+p")
    browser.wait_for(lambda screen: "Search for commands" in screen)
    browser.key("Escape")
    browser.wait_for(lambda screen: "Search for commands" not in screen)
    browser.key("F1")
    browser.wait_for(lambda screen: "Go to the next pane" in screen)
    browser.key("Escape")
    browser.wait_for(lambda screen: "Go to the next pane" not in screen)

    assert browser.requests() == loaded
    browser.key("Control+q")
    browser.until(lambda: "The session has ended." in browser.text())


NIGHTLY = [pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGINT, signal.SIGHUP)]


@pytest.mark.parametrize("number", [signal.SIGTERM, *NIGHTLY])
async def test_signal_ends_server_and_workbenches_with_exit_0(served: Served, number: signal.Signals) -> None:
    address = f"{served.address}ws"
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(address) as one,
        session.ws_connect(address) as two,
    ):
        assert (await one.receive()).type is aiohttp.WSMsgType.BINARY
        assert (await two.receive()).type is aiohttp.WSMsgType.BINARY
        async with read(one, two):
            first, second = await asyncio.to_thread(served.wait_for_workbenches, 2)

        code, out, err = await asyncio.to_thread(served.stop, number)
        assert [await close_code(one), await close_code(two)] == [aiohttp.WSCloseCode.GOING_AWAY] * 2

    assert (code, out) == (0, "")
    assert err == "Anyone on this machine who knows this address can use the workbench. Ctrl-C stops it.\n"
    assert not {first, second} & running_processes().keys()


async def test_no_workbench_outlives_a_killed_server(served: Served, tmp_path: Path) -> None:
    """One workbench is idle and another is starting."""
    address = f"{served.address}ws"
    async with aiohttp.ClientSession() as session, session.ws_connect(address) as one:
        await wait_until_drawn(one)
        async with session.ws_connect(address) as two, read(one, two):
            left = set(await asyncio.to_thread(served.wait_for_workbenches, 2))
            await asyncio.to_thread(served.kill)

        deadline = asyncio.get_running_loop().time() + GONE
        while left & running_processes().keys():
            assert asyncio.get_running_loop().time() < deadline, "a workbench still runs without a browser"
            await asyncio.sleep(0.1)
    assert list(tmp_path.rglob("crash-*")) == []


async def test_tab_and_workbench_end_together(shared_server: Served) -> None:
    await asyncio.to_thread(shared_server.wait_for_workbenches, 0)
    origin = f"http://127.0.0.1:{shared_server.port}"
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{shared_server.address}ws", origin=origin) as kept,
    ):
        assert (await kept.receive()).type is aiohttp.WSMsgType.BINARY
        async with read(kept):
            (first,) = await asyncio.to_thread(shared_server.wait_for_workbenches, 1)
            async with session.ws_connect(f"{shared_server.address}ws") as closed, read(closed):
                await asyncio.to_thread(shared_server.wait_for_workbenches, 2)

            assert await asyncio.to_thread(shared_server.wait_for_workbenches, 1) == [first]

        os.kill(first, signal.SIGKILL)
        assert await close_code(kept) == aiohttp.WSCloseCode.OK


async def test_foreign_page_cannot_drive_the_workbench(shared_server: Served) -> None:
    foreign = f"http://evil.example:{shared_server.port}"
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await session.ws_connect(f"{shared_server.address}ws", origin=foreign)
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await session.ws_connect(
                f"{shared_server.address}ws", headers={"Host": f"evil.example:{shared_server.port}"}
            )


def test_rebound_host_name_shows_nothing(shared_server: Served) -> None:
    path = urlsplit(shared_server.address).path

    assert shared_server.status(path) == 200
    assert shared_server.status(path, Host=f"evil.example:{shared_server.port}") == 403
    assert shared_server.status(f"{path}static/js/textual.js", Host=f"localhost:{shared_server.port}") == 403
    assert shared_server.status(path, Origin="null") == 403


def test_page_needs_its_secret_address(shared_server: Served) -> None:
    key = urlsplit(shared_server.address).path.strip("/")

    assert len(key) >= 22
    assert [shared_server.status(path) for path in ("/", "/ws", f"/{key[:-1]}/", f"/{key.swapcase()}/")] == [404] * 4


def test_server_listens_on_one_loopback_address_only(shared_server: Served) -> None:
    with pytest.raises(OSError, match=r"refused|unreachable|assign"):
        socket.create_connection(("127.0.0.2", shared_server.port), timeout=GONE).close()


def test_port_in_use_is_reported_with_a_way_out(shared_server: Served, store: Path, tmp_path: Path) -> None:
    second = Served(store, tmp_path, "--port", str(shared_server.port))

    code, out, err = second.stop()

    assert (second.address, code, out) == ("", 1, "")
    assert err.startswith(f"error: Port {shared_server.port} cannot be opened: ")
    assert err.endswith("hint: recall-tui --serve --port 0\n")


async def wait_until_drawn(page: aiohttp.ClientWebSocketResponse) -> None:
    """Wait until the workbench behind this socket has opened its store and stopped drawing."""
    screen = b""
    while b"37 documents" not in screen:
        screen += (await page.receive(timeout=GONE)).data
    with contextlib.suppress(TimeoutError):
        while True:
            await page.receive(timeout=1.0)


@contextlib.asynccontextmanager
async def read(*pages: aiohttp.ClientWebSocketResponse) -> AsyncIterator[None]:
    """Read the sockets during the block, as a browser does; a client that does not answer pings is disconnected."""

    async def read_on(page: aiohttp.ClientWebSocketResponse) -> None:
        while not page.closed:
            await page.receive()

    readers = [asyncio.create_task(read_on(page)) for page in pages]
    try:
        yield
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


async def close_code(page: aiohttp.ClientWebSocketResponse) -> object:
    """Return the close code of this socket; earlier messages are dropped."""
    while (message := await page.receive(timeout=GONE)).type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT):
        pass
    return message.data
