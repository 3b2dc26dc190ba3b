"""Errors as a user meets them: code, hint and exit status, and no half-written data."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from recall_core import installing
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.store.sqlite.schema import SCHEMA_VERSION
from tests import warm
from tests.builders import without_privileges

COMMAND = [sys.executable, "-m", "recall_core"]
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


def environment() -> dict[str, str]:
    """Return this process's environment without Recall's own variables."""
    return {key: value for key, value in os.environ.items() if not key.startswith("RECALL_")}


class Shell:
    """`recall` in its own folder with a store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *words: str) -> warm.Process:
        """Start a process that starts at once."""
        return warm.Process(words, cwd=self.folder, env=environment(), kind="ingest")

    def start_anew(self, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a new interpreter, with other words before it."""
        return subprocess.Popen(
            [*prefix, *COMMAND, *words],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=200)
        assert "Traceback" not in err
        return process.returncode, out, err

    def ask(self, *words: str) -> tuple[int, dict[str, Any]]:
        """Run a command in this process, for steps before and after a test; return its exit status and answer."""
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        with contextlib.chdir(self.folder):
            code = cli.main(["--json", *words], streams=streams)
        return code, json.loads(streams.stdout.getvalue())  # type: ignore[attr-defined]

    def fails(self, *words: str, code: str, exit_code: int) -> dict[str, Any]:
        """Return the error of a command that must fail; JSON and text must agree."""
        status, response = self.ask(*words)
        assert (status, response["ok"], response["error"]["code"]) == (exit_code, False, code)
        status, out, err = self.run(*words)
        assert (status, out) == (exit_code, "")
        assert response["error"]["message"] in err
        return dict(response["error"])

    def documents(self) -> int:
        return int(self.ask("stats")[1]["store"]["documents"])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert Shell(folder).run("init", "--embedding", "hash")[0] == 0
    return folder


@pytest.fixture
def shell(template: Path, tmp_path: Path) -> Shell:
    return Shell(Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True)))


def test_missing_path_fails_and_writes_nothing(shell: Shell) -> None:
    (shell.folder / "good.txt").write_text("good words")
    error = shell.fails("add", "good.txt", "absent.txt", code="missing_path", exit_code=1)
    assert error["hint"]
    assert shell.documents() == 0


@pytest.mark.parametrize(
    ("raw", "code"),
    [(b"text\0more", "binary_file"), (b"caf\xe9 au lait", "not_utf8"), (b"\xff\xfe\0\xd8", "encoding_mismatch")],
)
def test_named_non_text_file_fails_but_walks_skip_it(shell: Shell, raw: bytes, code: str) -> None:
    folder = shell.folder / "docs"
    folder.mkdir()
    (folder / "good.txt").write_text("good words")
    (folder / "bad.txt").write_bytes(raw)
    shell.fails("add", "docs/good.txt", "docs/bad.txt", code=code, exit_code=1)
    assert shell.documents() == 0
    status, response = shell.ask("add", "docs")
    assert status == 0
    assert [(skip["path"], skip["code"]) for skip in response["ingest"]["skipped"]] == [("docs/bad.txt", code)]
    assert shell.documents() == 1
    assert shell.ask("add", "docs", "--strict")[0] == 1


def test_file_of_200_mb_is_refused_by_name_and_skipped(shell: Shell) -> None:
    big = shell.folder / "docs" / "big.txt"
    big.parent.mkdir()
    with big.open("wb") as file:
        file.write(b"a" * 1_000_000)
        file.truncate(200_000_000)
    error = shell.fails("add", "docs/big.txt", code="file_too_large", exit_code=1)
    assert "max_file_bytes" in error["hint"]
    status, response = shell.ask("add", "docs")
    assert (status, response["ingest"]["skipped"][0]["code"]) == (0, "file_too_large")


def test_file_without_spaces_is_split_at_characters(shell: Shell) -> None:
    (shell.folder / "long.txt").write_text("abc" * 10_000)
    status, response = shell.ask("add", "long.txt")
    assert (status, response["ingest"]["chunks"] >= 5) == (0, True)
    assert shell.run("get", "long.txt")[1].rstrip("\n") == "abc" * 10_000


def test_unreadable_folder_fails_by_name_and_is_skipped_in_walks(tmp_path: Path) -> None:
    from recall_core.config import Config  # noqa: PLC0415
    from recall_core.errors import IngestError  # noqa: PLC0415
    from recall_core.ingest.discover import walk  # noqa: PLC0415
    from recall_core.ingest.targets import named_roots  # noqa: PLC0415
    from recall_core.types import Root, Skip  # noqa: PLC0415

    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open" / "a.txt").write_text("words")
    (tmp_path / "open" / "shut").mkdir(mode=0o000)
    with without_privileges(tmp_path):
        steps = list(walk(Root("open"), tmp_path, Config()))
        with pytest.raises(IngestError) as caught:
            named_roots([str(tmp_path / "open" / "shut")], template=Root(""), config=Config(), base=tmp_path)
    assert [(step.path, step.code) for step in steps if isinstance(step, Skip)] == [("open/shut", "unreadable")]
    assert caught.value.code == "unreadable"


def test_path_below_a_link_loop_is_an_unknown_target(shell: Shell) -> None:
    (shell.folder / "loop").symlink_to("loop")
    for target in ("loop", "loop/x", "./loop/.."):
        shell.fails("get", target, code="unknown_target", exit_code=8)


def test_line_numbers_beyond_any_document_are_refused(shell: Shell) -> None:
    (shell.folder / "good.txt").write_text("good words")
    assert shell.run("add", "good.txt")[0] == 0
    shell.fails("get", "good.txt:2", code="bad_lines", exit_code=2)
    shell.fails("get", f"good.txt:{'9' * 5_000}", code="unknown_target", exit_code=8)


def test_links_that_loop_or_leave_are_skipped_unless_followed(shell: Shell) -> None:
    docs, outside = shell.folder / "docs", shell.folder / "outside"
    docs.mkdir()
    outside.mkdir()
    (docs / "a.txt").write_text("inside")
    (outside / "b.txt").write_text("outside")
    (docs / "loop").symlink_to(docs)
    (docs / "out").symlink_to(outside)
    (docs / "out.txt").symlink_to(outside / "b.txt")
    status, response = shell.ask("add", "docs")
    assert status == 0
    assert {skip["path"] for skip in response["ingest"]["skipped"]} == {"docs/loop", "docs/out", "docs/out.txt"}
    assert shell.documents() == 1
    status, response = shell.ask("add", "docs", "--follow")
    assert status == 0
    assert [skip["path"] for skip in response["ingest"]["skipped"]] == ["docs/loop"]


def test_unknown_flag_suggests_the_nearest_flag(shell: Shell) -> None:
    error = shell.fails("search", "words", "--filtre", "x", code="unknown_flag", exit_code=2)
    assert "--filter" in error["hint"]


def test_unknown_setting_suggests_the_nearest_setting(shell: Shell) -> None:
    with (shell.folder / "recall.toml").open("a") as file:
        file.write("\nchunk_token = 200\n")
    error = shell.fails("stats", code="unknown_key", exit_code=2)
    assert "chunk_tokens" in error["hint"]


def test_damaged_store_exits_6(shell: Shell) -> None:
    for n in range(10):
        (shell.folder / f"{n}.txt").write_text(f"word{n} " * 1000)
    assert shell.run("add", ".", "--glob", "*.txt")[0] == 0
    path = shell.folder / "recall.db"
    raw = bytearray(path.read_bytes())
    for start in range(8192, len(raw), 8192):
        raw[start : start + 512] = b"\xff" * 512
    path.write_bytes(raw)
    shell.fails("search", "word3", code="store_corrupt", exit_code=6)
    path.write_bytes(b"nothing like a database" * 1000)
    shell.fails("search", "word3", code="not_a_store", exit_code=6)


def test_newer_schema_is_refused(shell: Shell) -> None:
    db = apsw.Connection(str(shell.folder / "recall.db"))
    db.pragma("user_version", SCHEMA_VERSION + 1)
    db.close()
    error = shell.fails("stats", code="schema_newer", exit_code=1)
    assert error["hint"] == installing.upgrade() != ""


def test_missing_store_suggests_recall_init(tmp_path: Path) -> None:
    error = Shell(tmp_path).fails("search", "x", code="no_store", exit_code=1)
    assert error["hint"] == "recall init"


def test_model_in_unknown_home_folder_is_unavailable(tmp_path: Path) -> None:
    error = Shell(tmp_path).fails(
        "init", "--embedding", "onnx:~nobody-of-this-name/model", code="embedder_unavailable", exit_code=1
    )

    assert "~nobody-of-this-name/model" in error["message"]
    assert not list(tmp_path.iterdir())


def test_store_without_settings_suggests_a_working_store_flag(shell: Shell) -> None:
    (shell.folder / "recall.toml").unlink()

    error = shell.fails("search", "word3", code="no_settings", exit_code=1)

    assert shlex.split(error["hint"])[:3] == ["recall", "--store", str(shell.folder / "recall.db")]
    assert shell.run(*shlex.split(error["hint"])[1:])[0] == 0


def needs_mounts() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs permission to mount")
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs permission to mount")


def inside_mount(mount: str, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run shell commands with a file system mounted on the folder, visible to them only."""
    script = f"{mount} && cd {folder} && {command.replace('recall', ' '.join(COMMAND))}"
    return subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.slow  # tests/crash/test_full.py fills a disk in CI
def test_full_disk_is_reported_and_store_stays_sound(tmp_path: Path) -> None:
    needs_mounts()
    texts = tmp_path / "texts"
    texts.mkdir()
    disk = tmp_path / "disk"
    disk.mkdir()
    for n in range(30):
        (texts / f"{n}.txt").write_text(" ".join(f"word{n}x{i}" for i in range(4_000)))
    done = inside_mount(
        f"mount -t tmpfs -o size=1500k tmpfs {disk}",
        f"recall init . && recall --json add {texts}; echo; echo exit $?; recall --json add {texts}; echo exit $?;"
        "rm -f *.tmp; recall --json doctor; echo exit $?",
        disk,
    )
    lines = done.stdout.splitlines()
    assert "Traceback" not in done.stderr
    errors = [json.loads(line)["error"] for line in lines if line.startswith('{"ok":false')]
    assert {error["code"] for error in errors} == {"disk_full"}, done.stdout
    assert all("df" in error["hint"] for error in errors)
    checks = [json.loads(line)["checks"] for line in lines if '"checks"' in line]
    assert checks
    assert not [check for check in checks[0] if check["severity"] == "error"]


def test_init_on_full_disk_leaves_no_trace_and_succeeds_later(tmp_path: Path) -> None:
    needs_mounts()
    sizes = "8 16 40 80 120 160 200 4000" if IS_NIGHTLY else "8 80 200 4000"
    done = inside_mount(
        f"mount -t tmpfs -o size=4k tmpfs {tmp_path}",
        f"for kb in {sizes}; do mount -o remount,size=${{kb}}k . && "
        "recall --json init . && echo || { echo; ls -A; }; done",
        tmp_path,
    )
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert {json.loads(line)["error"]["code"] for line in lines[:1]} == {"disk_full"}, done.stdout
    assert [line for line in lines if line and not line.startswith("{")] == [], done.stdout
    assert '"ok":true' in done.stdout


def test_watch_limit_of_the_system_is_an_error(shell: Shell) -> None:
    limit = 'echo 5 > /proc/sys/user/max_inotify_watches && exec "$@"'
    few = ["timeout", "50", "unshare", "-Urm", "sh", "-c", limit, "sh"]
    if sys.platform != "linux" or subprocess.run([*few, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs permission to limit itself")
    for number in range(20):
        (shell.folder / "docs" / str(number)).mkdir(parents=True)
    (shell.folder / "docs" / "a.txt").write_text("words")
    assert shell.run("add", "docs")[0] == 0

    process = shell.start_anew("sync", "--watch", prefix=tuple(few))
    _, err = process.communicate(timeout=200)

    assert process.returncode == 1
    assert "cannot be watched: OS file watch limit reached.\nhint: sysctl fs.inotify\n" in err


def test_read_only_folder_is_readable_and_refuses_writes(shell: Shell) -> None:
    needs_mounts()
    (shell.folder / "a.txt").write_text("some words")
    assert shell.run("add", "a.txt")[0] == 0
    done = inside_mount(
        f"mount --bind {shell.folder} {shell.folder} && mount -o remount,ro,bind {shell.folder}",
        "recall --json search words; recall --json add a.txt --tag t; echo exit $?;"
        "recall --json init new; echo exit $?",
        shell.folder,
    )
    found, refused, first, second, third = done.stdout.splitlines()
    assert json.loads(found)["stats"]["total_hits"] == 1
    assert (json.loads(refused)["error"]["code"], first) == ("read_only", "exit 1")
    assert (json.loads(second)["error"]["code"], third) == ("folder_unusable", "exit 1")


def test_second_writer_is_told_the_store_is_locked(shell: Shell) -> None:
    (shell.folder / "a.txt").write_text("some words")
    db = apsw.Connection(str(shell.folder / "recall.db"))
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE meta SET value = value")
    try:
        status, response = shell.ask("add", "a.txt")
    finally:
        db.execute("ROLLBACK")
        db.close()
    assert (status, response["error"]["code"]) == (5, "store_locked")
    assert response["error"]["details"] == {"pid": os.getpid()}
    assert shell.run("add", "a.txt")[0] == 0


def test_two_concurrent_adds_both_succeed(shell: Shell) -> None:
    for name in ("one", "two"):
        (shell.folder / name).mkdir()
        for n in range(40):
            (shell.folder / name / f"{n}.txt").write_text(f"{name} {n} " * 200)
    running = [shell.start("add", name) for name in ("one", "two")]
    assert [process.wait(200) for process in running] == [0, 0]
    for process in running:
        process.communicate()
    assert shell.documents() == 80


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_interrupted_add_keeps_committed_files_and_resumes(shell: Shell, how: signal.Signals) -> None:
    docs = shell.folder / "docs"
    docs.mkdir()
    count = 500 if IS_NIGHTLY else 250
    for n in range(count):
        (docs / f"{n:04}.txt").write_text(" ".join(f"word{(n * i) % 9973}" for i in range(600)))
    running = shell.start("add", "docs")
    deadline = time.monotonic() + 200
    while running.poll() is None and time.monotonic() < deadline and count_documents(shell.folder / "recall.db") == 0:
        time.sleep(0.02)
    running.send_signal(how)
    _, err = running.communicate(timeout=200)
    assert "Traceback" not in err
    kept = shell.documents()
    assert 0 < kept < count, "the run must end in the middle"
    if how is signal.SIGINT:
        assert running.returncode == 130
        assert "again" in err
    assert shell.run("doctor")[0] == 0
    status, response = shell.ask("add", "docs")
    assert status == 0
    assert response["ingest"]["unchanged"] == kept
    assert shell.documents() == count
    assert shell.run("doctor")[0] == 0


def count_documents(path: Path) -> int:
    """Return the number of documents in the store; the first commit of a slow start may have none."""
    db = apsw.Connection(str(path))
    db.set_busy_timeout(10_000)
    try:
        return int(db.execute("SELECT value FROM meta WHERE key = 'documents'").fetchall()[0][0])
    finally:
        db.close()
