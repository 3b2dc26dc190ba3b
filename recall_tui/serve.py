"""The workbench in a browser: a page on a loopback address, with a workbench process behind each tab."""

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
GRACE_SECONDS = 5.0  # for a process to commit its work and quit
PAGES = Path(__file__).parent / "page"
QUESTION = "question"  # as in recall_tui.driver
MOST_PAGES = 100  # whose questions are kept
DRIVER = "recall_tui.driver:TabDriver"
"""Named, not imported, so that the server does not load Textual."""


def serve(store: str | None, *, port: int, streams: Streams) -> int:
    """Serve the workbench on a store until Ctrl-C or SIGTERM. The address is the only line on stdout.

    port: 0 takes a free one. Raises RecallError `port_unavailable`.
    """
    with _listening(port) as door, contextlib.redirect_stdout(streams.stderr):  # textual-serve prints to stdout
        asyncio.run(_serve(Site(store, port=door.getsockname()[1]), door, streams))
    return 0


class Site(Server):
    """The page and its sockets, below a secret path that only the printed address contains."""

    def __init__(self, store: str | None, *, port: int) -> None:
        named = () if store is None else (f"--store={store}",)
        self.words = (sys.executable, "-P", "-m", "recall_tui", *named)
        """The command line behind each tab. -P: nothing is imported from the current folder."""
        super().__init__(shlex.join(self.words), HOST, port, title="Recall", templates_path=PAGES)
        self.key = secrets.token_urlsafe(16)
        """Secret from other accounts of this machine, which can reach its loopback addresses too."""
        self._sockets: set[web.WebSocketResponse] = set()
        self._pages: dict[str, Page] = {}
        """Pages by the name that they keep when reloaded."""

    @property
    def address(self) -> str:
        """The address for the browser."""
        return f"{self.public_url}/{self.key}/"

    async def guard(self) -> web.Application:
        """Return the whole application, closed to requests from other sites."""
        guarded = web.Application(middlewares=[self._refuse_strangers])
        guarded.on_response_prepare.append(self._seal)
        site = await self._make_app()
        site.router.add_static("/page", PAGES)
        site.router.add_get("/ws/{page}", self.handle_websocket)
        guarded.add_subapp(f"/{self.key}", site)
        return guarded

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the caller prints the address."""

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every page, which ends the process behind it."""
        await asyncio.gather(*(each.close(code=WSCloseCode.GOING_AWAY) for each in tuple(self._sockets)))

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one tab from its first to its last byte. A reloaded page gets its question back."""
        websocket = web.WebSocketResponse(heartbeat=15)
        await websocket.prepare(request)
        self._sockets.add(websocket)
        size = to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24)
        page = self._page(request.match_info.get("page", ""))
        tab = Tab(self.words, websocket, self.download_manager)
        try:
            async with page.is_open:  # the process before has quit and reported its question
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
        """Return the page with this name, or a new one."""
        page = self._pages.pop(name, None) or Page()
        if name:
            self._pages[name] = page
        for oldest in list(self._pages)[:-MOST_PAGES]:
            del self._pages[oldest]
        return page

    @web.middleware
    async def _refuse_strangers(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse a foreign Host (DNS rebinding) and a foreign Origin (another site's page)."""
        if request.host != f"{HOST}:{self.port}" or request.headers.get("Origin", self.public_url) != self.public_url:
            raise web.HTTPForbidden(text="Open the address that recall-tui --serve printed.\n")
        return await handler(request)

    async def _seal(self, request: web.Request, response: web.StreamResponse) -> None:
        """Restrict the page to this address in the browser too, and keep the address out of the Referer header."""
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
    """A page of a browser. It stays the same page when reloaded."""

    def __init__(self) -> None:
        self.is_open = asyncio.Lock()
        """Locked while a process runs behind the page."""
        self.question = ""
        """The question of the last process, as a line of the history."""


class Tab(AppService):
    """A process of the workbench, and the page that shows it."""

    def __init__(self, words: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        async def close() -> None:
            await websocket.close()

        self._words = words
        self.question = ""
        """The last question of the process, as a line of the history."""
        super().__init__(
            shlex.join(words),
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=close,
            download_manager=downloads,
        )

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        """Return the environment of a tab. Its driver makes the process notice when the server is gone."""
        return {**super()._build_environment(width, height), "TEXTUAL_DRIVER": DRIVER}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the process without a shell and in its own session, so that Ctrl-C reaches only the server."""
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
        """Send the process's output to the page. After the page is gone, output is read and dropped."""
        with contextlib.suppress(ConnectionResetError):
            await super().on_data(payload)

    async def on_meta(self, data: bytes) -> None:
        """Keep the last question of the process. Other packets go to the page."""
        packet = json.loads(data)
        if packet["type"] == QUESTION:
            self.question = str(packet[QUESTION])
        else:
            await super().on_meta(data)

    async def run(self) -> None:
        """Pass on the process's output, and tell the page when the process has ended."""
        with contextlib.suppress(asyncio.CancelledError):  # from its reader of stderr, if that had not started
            await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """Make the process quit, and wait for its end."""
        process = self._process
        assert process is not None  # noqa: S101 - it was started before
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
        reason = os.strerror(error.errno) if error.errno else error  # error.strerror is longer here
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
        streams.say("Anyone on this machine who knows this address can use the workbench. Ctrl-C stops it.")
        await stopped.wait()
    finally:
        await runner.cleanup()
