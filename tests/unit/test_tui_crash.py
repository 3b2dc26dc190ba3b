"""A defect: what its report contains and omits, and what the user sees."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from recall_core.errors import StoreError
from recall_core.paths import config_folder, state_folder
from recall_tui.home.crash import (
    EXIT_CODE,
    MOST_REPORTS,
    Defect,
    drop_query,
    keep_query,
    kept_queries,
    leave_report,
    report,
    shorten,
)
from tests.examples import mostly_nightly
from tests.workbench_corpus import build_store

ROOT = Path(__file__).parents[2]
SECRET = "the merger with Initech"

RUNNER = """
import sys
from recall_core.adapters.streams import standard
from recall_tui import app
from recall_tui.handlers import shell
from recall_tui.state.events import Crashed
from recall_tui.host import Happened

def broken(self, *_):
    secret = "the merger with Initech"
    raise KeyError(secret)

async def breaks_later(self):
    broken(self)

def reports(self):
    self.post_message(Happened(Crashed(KeyError("the merger with Initech"))))

if sys.argv[1] == "handler":
    shell.zoom = broken
elif sys.argv[1] == "widget":
    def breaks(self):
        type(self.bench.editor).render_line = broken
        self.bench.editor.refresh()
    shell.zoom = breaks
elif sys.argv[1] == "task":
    shell.zoom = lambda self: self.run_worker(breaks_later(self)) and None
else:
    shell.zoom = reports
sys.exit(app.run(None, streams=standard()))
"""


def fault() -> BaseException:
    question = SECRET
    try:
        try:
            raise KeyError(question)
        except KeyError as error:
            raise StoreError("store_unreadable", f"cannot read {question}") from error
    except StoreError as error:
        return error


def test_the_report_names_the_code_and_quotes_no_text() -> None:
    text = report(fault(), ("focus_pane('results')", "zoom"), {"HOME": str(Path(__file__).parents[2])})

    assert SECRET not in text
    assert "last actions: focus_pane('results'), zoom" in text
    assert text.index("KeyError (its message") < text.index("StoreError store_unreadable (its message")
    assert "test_tui_crash.py:" in text
    assert "in fault" in text
    assert str(Path(__file__).parents[2]) not in text


def test_a_path_hides_the_folders_of_the_user() -> None:
    for path, shown in [
        ("/home/ann/venv/lib/python3.11/site-packages/textual/app.py", "textual/app.py"),
        ("/home/ann/src/recall/recall_tui/app.py", "recall_tui/app.py"),
        ("/home/ann/plugins/mine.py", "~/plugins/mine.py"),
        ("/usr/lib/python3.11/asyncio/events.py", "/usr/lib/python3.11/asyncio/events.py"),
    ]:
        assert shorten(path, "/home/ann") == shown, path


def test_an_endless_chain_of_errors_ends() -> None:
    one, other = KeyError(), ValueError()
    one.__context__, other.__context__ = other, one

    assert report(one, (), {}).count("which led to") == 1


def test_a_query_is_kept_privately_and_offered_once(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}

    said = leave_report(Defect(fault(), (), "token budget"), environ)

    assert said.startswith(f"recall-tui stopped by a defect; report: {tmp_path}/recall/crash-")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "recall").iterdir()] == [0o600, 0o600]
    (kept,) = kept_queries(environ)
    assert kept.query == "token budget"
    drop_query(kept)
    drop_query(kept)
    assert kept_queries(environ) == []


def test_two_workbenches_stopped_together_keep_both_queries(tmp_path: Path) -> None:
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    keeps = "import os, sys; from recall_tui.home.crash import keep_query; keep_query(sys.argv[1], os.environ)"

    both = [
        subprocess.Popen([sys.executable, "-c", keeps, query], env=environ) for query in ("token budget", "retry")
    ]

    assert [each.wait(60) for each in both] == [0, 0]
    assert {kept.query for kept in kept_queries(environ)} == {"token budget", "retry"}


def test_a_query_already_kept_is_kept_once(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    (tmp_path / "recall").mkdir()
    (tmp_path / "recall" / "interrupted-20010101-000000-1.rql").write_text("token budget", encoding="utf-8")

    assert keep_query("token budget", environ)
    assert keep_query("retry", environ)

    assert [kept.query for kept in kept_queries(environ)] == ["retry", "token budget"]


def test_old_reports_are_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "recall"
    folder.mkdir()
    for number in range(MOST_REPORTS + 5):
        (folder / f"crash-2001{number:02}01-000000-1.txt").touch()

    leave_report(Defect(fault(), (), ""), {"XDG_STATE_HOME": str(tmp_path)})

    assert len(list(folder.glob("crash-*.txt"))) == MOST_REPORTS


def test_without_a_folder_the_report_is_printed(tmp_path: Path) -> None:
    (tmp_path / "recall").write_text("in the way", encoding="utf-8")

    for environ in ({}, {"XDG_STATE_HOME": str(tmp_path)}):
        said = leave_report(Defect(fault(), (), "token budget"), environ)

        assert said.startswith("recall-tui stopped by a defect; ")
        assert "in fault" in said
        assert SECRET not in said


def test_a_pipe_in_place_of_the_query_blocks_nothing(tmp_path: Path) -> None:
    (tmp_path / "recall").mkdir()
    os.mkfifo(tmp_path / "recall" / "interrupted-20010101-000000-1.rql")

    assert kept_queries({"XDG_STATE_HOME": str(tmp_path)}) == []


def test_folders_follow_the_platform() -> None:
    home = {"HOME": "/home/ann"}

    assert state_folder(home, "linux") == Path("/home/ann/.local/state/recall")
    assert config_folder(home, "linux") == Path("/home/ann/.config/recall")
    assert config_folder(home, "darwin") == Path("/home/ann/Library/Application Support/recall")
    assert config_folder({**home, "XDG_CONFIG_HOME": "/etc/ann"}, "darwin") == Path("/etc/ann/recall")
    assert config_folder({"XDG_CONFIG_HOME": "relative"}, "linux") is None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("crash"))


@pytest.mark.parametrize("where", mostly_nightly(["handler", "widget", "worker", "task"], "task"))
def test_a_defect_keeps_the_query_and_names_its_report(store: Path, tmp_path: Path, where: str) -> None:
    shutil.copy(store, tmp_path)
    shutil.copy(store.with_name("recall.toml"), tmp_path)
    drawn, code = in_a_terminal(tmp_path, where)

    (path,) = (tmp_path / "state" / "recall").glob("crash-*.txt")
    written = path.read_text(encoding="utf-8")
    before, left, said = drawn.rpartition("\x1b[?1049l")  # back to the screen from before
    assert (code, left != "", before.count("\x1b[?1049h")) == (EXIT_CODE, True, 1)
    assert f"recall-tui stopped by a defect; report: {path}\r\nhint: " in said
    assert "Traceback" not in drawn
    assert SECRET not in written + said
    assert "last actions: step_out, zoom" in written
    assert "KeyError (its message is left out)" in written
    (kept,) = kept_queries({"XDG_STATE_HOME": str(tmp_path / "state")})
    assert kept.query == "budget"


def in_a_terminal(folder: Path, where: str) -> tuple[str, int]:
    """Return everything drawn and printed, and the exit code of a workbench with a defect behind `z`."""
    runner = folder / "runner.py"
    runner.write_text(RUNNER, encoding="utf-8")
    environ = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    command = [sys.executable, str(runner), where]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=folder)
    os.close(theirs)
    os.set_blocking(ours, False)
    drawn = b""
    keys = [(b"37 documents", b"budget"), (b"docs/budget.md", b"\x1b"), (b"NAV", b"z")]
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        drawn += _read(ours)
        if keys and keys[0][0] in drawn:
            os.write(ours, keys.pop(0)[1])
        time.sleep(0.02)
    process.kill()
    drawn += _read(ours)
    os.close(ours)
    return drawn.decode("utf-8", "replace"), process.wait()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1_000_000)
    except OSError:
        return b""
