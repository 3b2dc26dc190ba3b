"""The workbench in a browser: a page on a loopback address, and a process of the workbench behind each tab of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shlex
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path

from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Handler
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from textual_serve.server import Server, to_int

from recall_core.adapters.streams import Streams
from recall_core.errors import RecallError

HOST = "127.0.0.1"
GRACE_SECONDS = 5.0  # for a process to commit what it is adding, and to leave
PAGES = Path(__file__).parent / "page"
QUESTION = "question"  # as in recall_tui.driver
MOST_PAGES = 100  # whose questions are known
DRIVER = "recall_tui.driver:TabDriver"
"""Named, not imported: it is the process behind a tab that draws, and this one stays without Textual."""


def serve(store: str | None, *, port: int, streams: Streams) -> int:
    """Serve the workbench on a store until Ctrl-C or SIGTERM; the address is the one line on stdout.

    port: 0 takes a free one.  Raises RecallError `port_unavailable`.
    """
    with _listening(port) as door, contextlib.redirect_stdout(streams.stderr):  # where textual-serve prints
        asyncio.run(_serve(Site(store, port=door.getsockname()[1]), door, streams))
    return 0


class Site(Server):
    """The page and its sockets, below a path that only the printed address names."""

    def __init__(self, store: str | None, *, port: int) -> None:
        named = () if store is None else (f"--store={store}",)
        self.words = (sys.executable, "-P", "-m", "recall_tui", *named)
        """The command line behind each tab. -P: what lies in the current folder is not imported."""
        super().__init__(shlex.join(self.words), HOST, port, title="Recall", templates_path=PAGES)
        self.key = secrets.token_urlsafe(16)
        """What other accounts of this machine, which reach its loopback too, do not know."""
        self._sockets: set[web.WebSocketResponse] = set()
        self._pages: dict[str, Page] = {}
        """By the name that a page keeps when it is reloaded."""

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"{self.public_url}/{self.key}/"

    async def guard(self) -> web.Application:
        """Return the whole application, closed to every page but its own."""
        guarded = web.Application(middlewares=[self._refuse_strangers])
        guarded.on_response_prepare.append(self._seal)
        site = await self._make_app()
        site.router.add_static("/page", PAGES)
        site.router.add_get("/ws/{page}", self.handle_websocket)
        guarded.add_subapp(f"/{self.key}", site)
        return guarded

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: what opened the port prints the address."""

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every page, which ends the process behind it."""
        await asyncio.gather(*(each.close(code=WSCloseCode.GOING_AWAY) for each in tuple(self._sockets)))

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one tab from its first to its last byte; a page that was loaded again gets its question back."""
        websocket = web.WebSocketResponse(heartbeat=15)
        await websocket.prepare(request)
        self._sockets.add(websocket)
        size = to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24)
        page = self._page(request.match_info.get("page", ""))
        tab = Tab(self.words, websocket, self.download_manager)
        try:
            async with page.is_open:  # what was behind it has left by then, and said with which question
                await tab.start(*size)
                try:
                    if page.question:
                        await tab.send_meta({"type": QUESTION, QUESTION: page.question})
                    await self._process_messages(websocket, tab)
                finally:
                    await tab.stop()
                    page.question = tab.question or page.question
        finally:
            self._sockets.discard(websocket)
        return websocket

    def _page(self, name: str) -> Page:
        """Return the page of this name; without one it is like no other."""
        page = self._pages.pop(name, None) or Page()
        if name:
            self._pages[name] = page
        for oldest in list(self._pages)[:-MOST_PAGES]:
            del self._pages[oldest]
        return page

    @web.middleware
    async def _refuse_strangers(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse a foreign Host, a name that was made to point here, and a foreign Origin, another site's page."""
        if request.host != f"{HOST}:{self.port}" or request.headers.get("Origin", self.public_url) != self.public_url:
            raise web.HTTPForbidden(text="Open the address that recall-tui --serve printed.\n")
        return await handler(request)

    async def _seal(self, request: web.Request, response: web.StreamResponse) -> None:
        """The browser, too, holds the page to this address, and does not pass the address on."""
        response.headers.update(
            {
                "Content-Security-Policy": (
                    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
                    f"img-src 'self' data:; connect-src ws://{HOST}:{self.port}; "
                    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                ),
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            }
        )


class Page:
    """A page of a browser, which stays the same one when it is reloaded."""

    def __init__(self) -> None:
        self.is_open = asyncio.Lock()
        """Held while a process is behind it."""
        self.question = ""
        """What the last process has left with, as a line of the history."""


class Tab(AppService):
    """One process of the workbench, and the page that shows it."""

    def __init__(self, words: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        async def close() -> None:
            await websocket.close()

        self._words = words
        self.question = ""
        """What the process has left with, as a line of the history."""
        super().__init__(
            shlex.join(words),
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=close,
            download_manager=downloads,
        )

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        """Return the environment of any tab; with this driver the process notices when this one is gone."""
        return {**super()._build_environment(width, height), "TEXTUAL_DRIVER": DRIVER}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start it without a shell, and in a session of its own: Ctrl-C is the server's, which then has it leave."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        return process

    async def on_data(self, payload: bytes) -> None:
        """Show what the process draws; what it says once the page is gone is still read."""
        with contextlib.suppress(ConnectionResetError):
            await super().on_data(payload)

    async def on_meta(self, data: bytes) -> None:
        """Keep the question that the process leaves with; all else is for the page."""
        said = json.loads(data)
        if said["type"] == QUESTION:
            self.question = str(said[QUESTION])
        else:
            await super().on_meta(data)

    async def run(self) -> None:
        """Pass on what the process draws; when it has ended, however it did, tell the page."""
        with contextlib.suppress(asyncio.CancelledError):  # of its reader of errors, where that had not begun
            await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """Have the process leave, and see it gone."""
        process = self._process
        assert process is not None  # noqa: S101 - started before it is stopped
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await super().stop()
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error  # what strerror says here is Python's, and longer
        text = f"Port {port} cannot be opened: {reason}."
        raise RecallError("port_unavailable", text, hint="recall-tui --serve --port 0") from error


async def _serve(site: Site, door: socket.socket, streams: Streams) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    runner = web.AppRunner(await site.guard(), access_log=None, shutdown_timeout=2 * GRACE_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, door).start()
        streams.stdout.write(f"{site.address}\n")
        streams.stdout.flush()
        streams.say("The workbench is at this address until Ctrl-C, for whoever on this machine knows it.")
        await stopped.wait()
    finally:
        await runner.cleanup()
