"""`recall serve` as a process, and its answers next to those of the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

pytest.importorskip("mcp")

from tests import warm
from tests.browser import opened
from tests.e2e import test_mcp_parity as parity
from tests.mcp_client import PATIENCE, Listening, environment, filled, over_http
from tests.unit.test_rest import Server

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
TEXTS = {f"notes/n{number}.md": f"# Note {number}\n\nEntry {number} of the diary.\n" for number in range(20)}
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
home = parity.home


class Serving(Listening):
    """`recall serve` on a port, and the token in its token file."""

    def __init__(self, store: Path, *flags: str, key: str = "") -> None:
        self.home = store.parent
        self.process = warm.Process(
            ["--store", str(store), "serve", "--port", "0", *flags], kind="http",
            env=environment(self.home) | {"RECALL_API_KEY": key}, cwd=self.home, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.port = urlsplit(self.address).port or 0
        self.token_file = self.home / ".local" / "state" / "recall" / f"serve-{self.port}.token"
        self.token = key or (self.token_file.read_text().strip() if self.token_file.exists() else None)

    def ask(self, method: str, path: str, body: object = None, token: str | None = "") -> httpx.Response:
        """Return the response. token: None for none, "" for the server's."""
        token = self.token if token == "" else token
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.request(method, f"{self.address}{path}", json=body, headers=headers, timeout=PATIENCE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("serve") / "store", TEXTS)


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Serving]:
    with Serving(store, "--writable") as server:
        yield server


def test_one_token_opens_every_door(server: Serving) -> None:
    assert server.ask("POST", "v1/search", {"words": "entry 7"}).json()["results"][0]["doc"]["path"] == "notes/n7.md"
    with over_http(f"{server.address}mcp", server.token) as client:
        assert "notes/n7.md:3" in client.text("search", query="entry 7", k=3)
    assert server.ask("GET", "", token=None).headers["content-type"].startswith("text/html")
    for path in ("v1/stats", "mcp", "v1/metrics"):
        assert server.ask("GET", path, token="wrong").status_code == 401


def test_documents_are_put_from_many_clients_at_once(server: Serving) -> None:
    def put(number: int) -> int:
        return server.ask("PUT", f"v1/documents/p{number}.md", {"content": f"Numbat {number}."}).status_code

    with ThreadPoolExecutor(8) as clients:
        assert set(clients.map(put, range(24))) == {200}
    assert server.ask("GET", "v1/documents?prefix=put://").json()["total"] == 24


def test_key_of_the_environment_is_the_token(store: Path) -> None:
    with Serving(store, key="a-key-of-my-own-choice") as server:
        assert server.ask("GET", "v1/healthz").json() == {"ok": True, "schema_version": "1"}
        assert server.ask("GET", "v1/healthz", token="another-key-of-mine-x").status_code == 401
        assert not server.token_file.exists()
        assert server.ask("PUT", "v1/documents/a", {"content": "x"}).status_code == 403
    for flags, key in (((), "short"), (("--no-token",), "a-key-of-my-own-choice")):
        with Serving(store, *flags, key=key) as refused:
            _, told = refused.process.communicate(timeout=PATIENCE)
        assert refused.process.returncode == 2
        assert key not in told


BODY = b'{"words": "diary"}'
ODD_REQUESTS = {
    b"Content-Length: 100\r\n\r\n" + BODY: (b"",),  # the rest never comes
    b"Content-Length: 2\r\n\r\n" + BODY + b"\r\n\r\n": (b"400", b"400"),  # its rest is no request
    b"Content-Length: 18\r\nContent-Length: 19\r\n\r\n" + BODY: (b"400",),
    b"Content-Length: -1\r\n\r\n" + BODY: (b"400",),
    b"Content-Length: +18\r\n\r\n" + BODY: (b"400",),
    b"Content-Length: 99999999999999999999\r\n\r\n": (b"413",),
    b"Connection: close\r\nContent-Length: 18\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": (b"400",),
    b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n": (b"400",),
    b"Transfer-Encoding: gzip\r\n\r\n" + BODY: (b"400",),
    b"X: " + b"x" * 100_000: (b"400",),
}


def test_lying_lengths_and_odd_headers_are_refused(server: Serving) -> None:
    head = f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    for rest, statuses in ODD_REQUESTS.items():
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
            connection.sendall(head.encode() + b"Content-Type: application/json\r\n" + rest)
            told = b""
            with suppress(ConnectionResetError):
                while statuses != (b"",) and (piece := connection.recv(65536)):
                    told += piece
        assert re.findall(rb"HTTP/1.1 (\d+)", told) == [each for each in statuses if each], rest[:60]
        assert server.ask("GET", "v1/healthz").status_code == 200


def test_signal_ends_the_server_and_removes_its_token(store: Path) -> None:
    with Serving(store) as server:
        was_there = server.token_file.exists()
        code, told = server.ended(signal.SIGTERM)

    assert (code, was_there, server.token_file.exists()) == (130, True, False)
    assert told == f"token in {server.token_file}: send it as Authorization: Bearer TOKEN\nInterrupted.\n"


def posted(question: parity.Question) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of the same question over HTTP."""
    renamed = {"query": "words", "set": "settings", "budgetTokens": "budget_tokens"}
    body = {renamed.get(name, name): value for name, value in question.arguments.items()}
    if question.tool == "explain":
        body["chunk"] = body.pop("target")
    if question.tool == "get":
        (body["target"],) = body.pop("targets")
    return f"/v1/{'query' if question.argv[0] == 'query' else question.tool}", body


def lasting(answer: str) -> str:
    """Return the bytes of an answer that do not depend on the clock."""
    return re.sub(r'"took_ms":[0-9.e-]+,|,"timings":\{[^}]*\}', "", answer)


@pytest.mark.timeout(3_600)
def test_answers_are_the_bytes_of_the_command_line(home: parity.Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.folder)
    server = Server(home.folder)

    seeds, count = (range(49, 54), 500) if IS_NIGHTLY else ((49,), 60)  # a seed has words for some 600 questions
    for question in chain.from_iterable(parity.questions(home, count, seed=each) for each in seeds):
        path, body = posted(question)
        assert lasting(server.ask("POST", path, body).text) == lasting(parity.run_command(home, question.argv)), body
    server.pool.close()


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(
    not shutil.which("schemathesis"), reason="needs pip install '.[fuzz]', in an environment of its own"
)
def test_no_generated_request_is_a_server_error(tmp_path: Path) -> None:
    store, description = filled(tmp_path / "store", TEXTS), tmp_path / "openapi.json"
    with Serving(store, "--writable") as server:
        description.write_text(server.ask("GET", "v1/openapi.json").text)
        done = subprocess.run(
            ["schemathesis", "run", str(description), "--url", server.address, "--max-examples", "100",
             "--header", f"Authorization: Bearer {server.token}", "--checks", "all",
             "--exclude-checks", "positive_data_acceptance", "--no-color"],
            check=False, capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip

    assert done.returncode == 0, done.stdout[-4_000:]
    cases = re.search(r"(\d+) generated, \1 passed", done.stdout)
    assert cases is not None, done.stdout[-4_000:]
    assert int(cases[1]) >= 2_000


@pytest.mark.chromium
def test_page_shows_markup_of_documents_as_text(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", {"notes/a.md": f"# {MARKUP}\n\nA wombat says {MARKUP} loudly.\n"})
    with Serving(store, "--writable") as server, opened(tmp_path / "profile") as browser:
        server.ask("PUT", f"v1/documents/{MARKUP.replace('/', '')}", {"content": f"wombat {MARKUP}", "title": MARKUP})
        browser.goto(server.address)
        for name, text in (("token", server.token), ("words", "wombat")):
            browser.evaluate(f"document.getElementById('{name}').value = {json.dumps(text)}")
        browser.evaluate("document.querySelector('button').click()")
        browser.until(lambda: browser.evaluate("document.querySelectorAll('li').length") == 2)

        assert browser.evaluate("document.querySelectorAll('li img, li script').length") == 0
        assert browser.evaluate("document.querySelector('#hits').textContent").count("<script>alert(2)") >= 3
        assert browser.evaluate("document.querySelector('mark').textContent") == "wombat"
        assert {urlsplit(url).netloc for url in browser.requests()} == {f"127.0.0.1:{server.port}"}
        assert server.token not in "".join(browser.requests())
