"""`recall daemon`: start, stop and describe recalld, which answers command lines from open stores."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from recall_core import adapters, caller, paths, personal
from recall_core._lazy import subprocess
from recall_core.adapters.client import IDENTITY, PROTOCOL, complete, connect, is_private, receive, send, socket_path
from recall_core.adapters.flags import Command, Operand, in_lines
from recall_core.api.query_cache import QueryCache
from recall_core.contract import OK
from recall_core.contract.views import DaemonView
from recall_core.errors import RecallError

if TYPE_CHECKING:
    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.contract.responses import DaemonResponse

_START_SECONDS = 20.0
_PAUSE_SECONDS = 0.05
_SYSTEMD = """[Unit]
Description=Recall: answer searches from open stores

[Service]
ExecStart={command}
Restart=on-failure

[Install]
WantedBy=default.target
"""
_LAUNCHD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>recall.recalld</string>
  <key>ProgramArguments</key>
  <array>{command}</array>
  <key>RunAtLoad</key><true/>
</dict>
</plist>
"""


def run(request: Request, streams: Streams, opener: Opener) -> DaemonResponse | None:
    """Start, stop or describe recalld, run it here, or print a file that starts it at login."""
    action = request.words[0]
    if os.name != "posix":
        raise RecallError("not_offered", "recalld needs a Unix system.", hint="recall search works without it")
    if action == "unit":
        streams.stdout.write(unit(sys.platform))
        return None
    if action == "run":
        _run(streams)
        return None
    if action == "start":
        _start()
    view = _ask("stop" if action == "stop" else "status")
    if action == "stop" and view["running"]:
        _wait_until(is_running=False)
        view["running"] = False
    return {**OK, "daemon": view, "warnings": []}


def unit(platform: str) -> str:
    """Return a launchd file on macOS, else a systemd unit."""
    command = [sys.executable, "-m", "recall_core", "daemon", "run"]
    if platform == "darwin":
        escaped = (word.replace("&", "&amp;").replace("<", "&lt;") for word in command)
        return _LAUNCHD.format(command="".join(f"<string>{word}</string>" for word in escaped))
    quoted = (json.dumps(word, ensure_ascii=False).replace("%", "%%") for word in command)
    return _SYSTEMD.format(command=" ".join(quoted))


def _run(streams: Streams) -> None:
    environ = _environment()
    os.environ.clear()
    os.environ.update(environ)  # nothing of the shell that started it decides an answer
    os.chdir("/")
    own = personal.load(environ)
    stores = adapters.recalld.Stores(
        idle_seconds=own.daemon_idle_minutes * 60.0,
        most_bytes=own.daemon_memory_mb << 20,
        cache=QueryCache(own),
    )
    server = adapters.recalld.Daemon(stores, environ)
    server.run(lambda: streams.say(f"recalld {os.getpid()}: {server.path}"))


def _environment() -> dict[str, str]:
    """Return the variables that recalld needs."""
    kept = (*IDENTITY, "XDG_RUNTIME_DIR", "TMPDIR", "USER", "LOGNAME")
    environ = caller.environ()
    return {"PATH": os.defpath, **{name: environ[name] for name in kept if name in environ}}


def start_unless_running() -> None:
    """Start recalld for the next command. A killed one left its socket, so the socket alone proves nothing."""
    if os.name == "posix" and not _ask("status")["running"]:
        _spawn()


def _start() -> None:
    """Start recalld in the background. Does nothing if it runs."""
    if _ask("status")["running"]:
        return

    process, log = _spawn()
    if not _wait_until(is_running=True, alive=lambda: process.poll() is None):
        said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log is not None else []
        message = f"recalld did not start: {said[0] if said else 'it said nothing'}"
        raise RecallError("daemon_failed", message, hint="recall daemon run")


def _spawn() -> tuple[subprocess.Popen[bytes], Path | None]:
    """Start recalld in a session of its own. Return the process and its log."""
    folder = paths.state_folder(caller.environ())
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = None if folder is None else folder / "recalld.log"
    with open(os.devnull if log is None else log, "wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "recall_core", "daemon", "run"],
            cwd="/",
            env=_environment() | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    return process, log


def _wait_until(*, is_running: bool, alive: Callable[[], bool] = lambda: True) -> bool:
    until = monotonic() + _START_SECONDS
    while monotonic() < until:
        if _ask("status")["running"] is is_running:
            return True
        if not alive():
            return _ask("status")["running"] is is_running
        sleep(_PAUSE_SECONDS)
    return False


def _ask(word: str) -> DaemonView:
    """Return the state of recalld after a control request."""
    path = socket_path(caller.environ())
    view = DaemonView(running=False, socket=path or "", stores=[])
    if path is None or not is_private(os.path.dirname(path)):  # noqa: PTH120
        return view
    with suppress(OSError, ValueError):
        connection = connect(path)
        try:
            send(connection, (PROTOCOL, word))
            _, pieces = complete(receive(connection)) or (1, [])
        finally:
            connection.close()
        content = b"".join(piece for _, piece in pieces)
        fields = [text.partition("=")[::2] for text in content.decode(errors="surrogateescape").split("\0")]
        pid, seconds, answers, size = (int(value) for name, value in fields if name != "store")
        stores = [value for name, value in fields if name == "store"]
        view = DaemonView(
            running=True, socket=path, pid=pid, seconds=seconds, answers=answers, bytes=size, stores=stores
        )
    return view


def state_lines(response: DaemonResponse) -> Iterator[str]:
    """Yield the state of recalld."""
    view = response["daemon"]
    if not view["running"]:
        yield "recalld is not running"
        return
    yield f"recalld is running: process {view['pid']}, {view['bytes'] / 1e6:.0f} MB, {view['answers']} answers"
    yield f"socket  {view['socket']}"
    yield from (f"store   {path}" for path in view["stores"])


COMMANDS = (
    Command(
        "daemon",
        "Keep stores open in the background, so that searches answer at once.",
        run=run,
        prints=in_lines(state_lines),
        operand=Operand(
            "ACTION",
            "start, stop, status, run (in this terminal), or unit (print a file that starts it at login)",
            choices=("start", "stop", "status", "run", "unit"),
        ),
        note=(
            "While it runs, search, query, context, get, explain, whynot, ls and stats use it, with the same "
            "answers. Set RECALL_DAEMON=false to run one command without it."
        ),
        examples=(
            "recall daemon start",
            "recall daemon status",
            "recall daemon unit > ~/.config/systemd/user/recalld.service",
        ),
    ),
)
