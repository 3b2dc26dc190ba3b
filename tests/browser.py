"""A headless Chromium driven over its debugging pipe, and the terminal shown by its page."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
)  # fmt: skip

# Chromium reads its commands from descriptor 3 and answers on 4.
LAUNCHER = """\
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(name), fcntl.F_DUPFD, 10) for name in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""

# xterm.js hides its terminal, but assigns the object's `_core` during construction.
FIND_TERMINAL = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(core) {
    Object.defineProperty(this, "_core", {value: core, writable: true, configurable: true});
    if (typeof this.loadAddon === "function") window.theTerminal = this;
  },
});
"""
SCREEN = """
(() => {
  const buffer = window.theTerminal?.buffer.active;
  if (!buffer) return "";
  const rows = [...Array(window.theTerminal.rows).keys()];
  return rows.map(row => buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? "").join("\\n");
})()
"""

VIRTUAL_KEYS = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Insert": 45, "Delete": 46,
    **{f"F{number}": 111 + number for number in range(1, 13)},
}  # fmt: skip
MODIFIERS = {"Alt": 1, "Control": 2, "Shift": 8}

Message = dict[str, Any]
Found = TypeVar("Found")


class Browser:
    """One page. Keys have their DOM names, with modifiers first: `a`, `F5`, `Escape`, `Control+q`."""

    def __init__(self, profile: Path, *, width: int = 1280, height: int = 800) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        program = next(filter(None, map(shutil.which, PROGRAMS)))
        launcher = [sys.executable, "-c", LAUNCHER, str(commands), str(answers)]
        self._process = subprocess.Popen(
            [*launcher, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._unread = b""
        self._asked = 0
        self._page: Message = {}
        self.told: list[Message] = []
        """Every event of the page so far."""
        try:
            self._attach(width, height)
        except BaseException:
            self._process.kill()
            self._process.wait(60)
            raise

    def goto(self, address: str) -> None:
        """Load a page with all its resources."""
        loaded = sum(event["method"] == "Page.loadEventFired" for event in self.told)
        self.ask("Page.navigate", url=address)
        self.until(lambda: len(self._told("Page.loadEventFired")) > loaded)

    def reload(self) -> None:
        """Reload the page as soon as it is loaded."""

        def is_taken() -> bool:
            try:
                self.ask("Page.reload")
            except AssertionError as refusal:
                if "Not attached to an active page" not in str(refusal):
                    raise
                return False
            return True

        self.until(is_taken)

    def type(self, text: str) -> None:
        """Type a text key by key."""
        for character in text:
            self.key("Enter" if character == "\n" else character)

    def key(self, name: str) -> None:
        """Press and release a key."""
        *held, last = name.split("+") if len(name) > 1 else [name]
        modifiers = sum(MODIFIERS[modifier] for modifier in held)
        prints = len(last) == 1 and not modifiers & ~MODIFIERS["Shift"]
        press: Message = {"key": last, "modifiers": modifiers, "windowsVirtualKeyCode": _virtual(last)}
        if prints or last == "Enter":
            press["text"] = last if prints else "\r"
        self.ask("Input.dispatchKeyEvent", type="keyDown", **press)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **press)

    def screen(self) -> str:
        """Return the rows of the terminal on the page, or "" before it exists."""
        return str(self.evaluate(SCREEN))

    def text(self) -> str:
        """Return the visible text of the page outside its terminal."""
        return str(self.evaluate("document.body.innerText"))

    def wait_for(self, holds: Callable[[str], object], *, seconds: float = 120.0) -> str:
        """Return the first screen for which the condition holds."""
        try:
            return self.until(lambda: [screen] if holds(screen := self.screen()) else [], seconds=seconds)[0]
        except TimeoutError:
            pytest.fail(f"no match within {seconds} s; the screen is\n{self.screen()}")

    def until(self, find: Callable[[], Found], *, seconds: float = 120.0) -> Found:
        """Return what `find` finds, as soon as it finds it. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while not (found := find()):
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(0.05)
        return found

    def screenshot(self) -> bytes:
        """Return the page as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """Return the address of every request and socket so far."""
        sent = [event["request"]["url"] for event in self._told("Network.requestWillBeSent")]
        return sent + [event["url"] for event in self._told("Network.webSocketCreated")]

    def complaints(self) -> list[str]:
        """Return the errors of the page so far: blocked loads, missing resources and script exceptions."""
        entries = [event["entry"] for event in self._told("Log.entryAdded")]
        logged = [f"{entry['text']} {entry.get('url', '')}" for entry in entries if entry["level"] == "error"]
        return logged + [event["exceptionDetails"]["text"] for event in self._told("Runtime.exceptionThrown")]

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def ask(self, method: str, **parameters: object) -> Message:
        """Return the answer to one command of the DevTools protocol."""
        self._asked += 1
        request = {"id": self._asked, "method": method, "params": parameters, **self._page}
        os.write(self._commands, json.dumps(request).encode() + b"\0")
        while (message := self._read()).get("id") != self._asked:
            self.told.append(message)
        assert "error" not in message, f"{method}: {message['error']}"
        return cast(Message, message["result"])

    def close(self) -> None:
        """End Chromium."""
        self._page = {}
        self.ask("Browser.close")
        self._process.wait(60)
        os.close(self._commands)
        os.close(self._answers)

    def _attach(self, width: int, height: int) -> None:
        target = self.until(self._page_target)
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._page = {"sessionId": session}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)  # as in a window in front
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=FIND_TERMINAL)
        self.until(lambda: self._is_sized(width, height))

    def _page_target(self) -> str:
        """Return the id of the page, or "" before it exists; it appears shortly after Chromium starts."""
        infos = self.ask("Target.getTargets")["targetInfos"]
        return next((str(info["targetId"]) for info in infos if info["type"] == "page"), "")

    def _is_sized(self, width: int, height: int) -> bool:
        """Resize the page. Return False while nothing on it has a size, as on a machine under load."""
        try:
            self.ask(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
        except AssertionError:
            return False
        return True

    def _told(self, method: str) -> list[Message]:
        self.ask("Runtime.evaluate", expression="0")  # this answer also delivers the earlier messages
        return [event["params"] for event in self.told if event["method"] == method]

    def _read(self) -> Message:
        while b"\0" not in self._unread:
            got = os.read(self._answers, 1 << 16)
            assert got, "Chromium has exited"
            self._unread += got
        line, _, self._unread = self._unread.partition(b"\0")
        return cast(Message, json.loads(line))


@contextmanager
def opened(profile: Path, *, width: int = 1280, height: int = 800) -> Iterator[Browser]:
    """Yield a browser with a new profile and close it at the end."""
    browser = Browser(profile, width=width, height=height)
    try:
        yield browser
    finally:
        browser.close()


def _virtual(key: str) -> int:
    return VIRTUAL_KEYS.get(key) or (ord(key.upper()) if key.isascii() and key.isalnum() else 0)
