"""Closed or full streams, and Ctrl-C at the start: one line, the right exit status, no traceback."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm
from tests.e2e.test_cli import environment, run

FULL = Path("/dev/full")
NO_SPACE = "error: stdout: no space left on device.\n"
NOT_OPEN = "error: stdout: bad file descriptor.\n"

EARLY = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == place:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), number)

module, place, number = sys.argv[1], sys.argv[2], getattr(signal, sys.argv[3])
sys.argv[1:] = ["--help"]
sys.meta_path.insert(0, Interrupting())
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""

full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


REDIRECTED = re.compile(r"([12]?)([<>])(&-|/dev/full)")


def in_shell(line: str, cwd: Path, module: str = "recall_core") -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr of a line in which $R is the program."""
    done = subprocess.run(
        ["sh", "-c", line], cwd=cwd, env=environment(R=f"{sys.executable} -m {module}"),
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return result_of_process(done)


def run_typed(line: str, cwd: Path, module: str = "recall_core") -> tuple[int, str, str]:
    """Return the same for one command with redirections, in a process that starts at once."""
    streams: dict[int, int | None] = {0: warm.DEVNULL, 1: warm.PIPE, 2: warm.PIPE}
    for number, arrow, target in REDIRECTED.findall(line):
        streams[int(number or arrow == ">")] = warm.CLOSED if target == "&-" else os.open(target, os.O_WRONLY)
    argv = shlex.split(REDIRECTED.sub("", line).removeprefix("$R"))
    stdin, stdout, stderr = streams.values()
    done = warm.run(argv, cwd=cwd, env=environment(), module=module, stdin=stdin, stdout=stdout, stderr=stderr)
    for each in streams.values():
        if each is not None and each >= 0:
            os.close(each)
    return result_of_process(done)


def result_of_process(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    out, err = done.stdout or "", done.stderr or ""
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    return done.returncode, out, err


def last(told: str) -> str:
    """Return the text below the figures."""
    return told.splitlines(keepends=True)[-1]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n", encoding="utf-8")
    assert run("init", "--embedding", "hash", cwd=folder).returncode == 0
    assert run("add", "a.md", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


@full
def test_answer_on_full_disk_is_one_line_and_exit_1(home: Path) -> None:
    for command in ("search retry --json", "search retry", "stats", "--help", "schema", "export"):
        code, _, err = run_typed(f"$R {command} >/dev/full", home)

        assert (code, last(err), err.count("error")) == (1, NO_SPACE, 1), command


@full
def test_error_goes_to_stderr_with_its_status_if_stdout_fails(home: Path) -> None:
    code, _, err = in_shell("$R serch x --json >/dev/full", home)

    assert (code, err) == (2, "error: There is no command 'serch'.\nhint: did you mean recall search?\n")


@full
def test_two_full_streams_print_nothing_but_keep_exit_status(home: Path) -> None:
    assert run_typed("$R search retry >/dev/full 2>/dev/full", home) == (1, "", "")
    assert run_typed("$R serch retry >/dev/full 2>/dev/full", home) == (2, "", "")


def test_closed_stdout_is_one_line_and_exit_1(home: Path) -> None:
    for command in ("search retry", "stats --json", "--version", "export", "completion bash"):
        code, _, err = run_typed(f"$R {command} >&-", home)

        assert (code, last(err), err.count("error")) == (1, NOT_OPEN, 1), command


def test_command_with_closed_stdout_works_and_reports_lost_output(home: Path) -> None:
    (home / "b.md").write_text("# Deploy\n", encoding="utf-8")

    assert in_shell("$R add b.md --json >&-", home)[::2] == (1, NOT_OPEN)
    assert run_typed("$R export --out out.jsonl --json >&-", home)[::2] == (1, NOT_OPEN)

    assert json.loads(run("stats", "--json", cwd=home).stdout)["store"]["documents"] == 2
    assert len((home / "out.jsonl").read_text(encoding="utf-8").splitlines()) > 2


def test_unused_closed_stdout_loses_nothing(home: Path) -> None:
    code, _, err = run_typed("$R serch x >&-", home)

    assert (code, err) == (2, "error: There is no command 'serch'.\nhint: did you mean recall search?\n")


@pytest.mark.parametrize("nowhere", ["2>&-", pytest.param("2>/dev/full", marks=full)])
def test_lost_progress_output_changes_neither_answer_nor_status(home: Path, nowhere: str) -> None:
    (home / "b.md").write_text("# Deploy\n", encoding="utf-8")

    assert run_typed(f"$R search retry {nowhere}", home) == (0, run("search", "retry", cwd=home).stdout, "")
    assert run_typed(f"$R context retry --budget-tokens 50 {nowhere}", home)[0] == 0
    assert run_typed(f"$R add b.md {nowhere}", home)[0] == 0
    assert run_typed(f"$R nosuch {nowhere}", home) == (2, "", "")
    assert run_typed(f"$R nosuch --json {nowhere}", home)[0] == 2


def test_closed_stdin_is_an_error_only_for_its_reader(home: Path) -> None:
    assert run_typed("$R search retry <&-", home)[0] == 0

    code, out, err = in_shell("$R query --rql - <&-", home)

    assert (code, out, err) == (1, "", "error: Bad file descriptor.\n")


@pytest.mark.parametrize(("nowhere", "told"), [(">&-", NOT_OPEN), pytest.param(">/dev/full", NO_SPACE, marks=full)])
def test_cmd_lines_stop_at_the_first_lost_answer(home: Path, nowhere: str, told: str) -> None:
    line = f"$R --cmd 'search retry --json' --cmd 'rm a.md' {nowhere}"

    assert run_typed(line, home, "recall_tui") == (1, "", told)

    assert json.loads(run("stats", "--json", cwd=home).stdout)["store"]["documents"] == 1
    assert run_typed(f"$R --keys {nowhere}", home, "recall_tui") == (1, "", told)


def test_workbench_without_streams_exits_2(home: Path) -> None:
    for nowhere in ("2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        assert run_typed(f"$R {nowhere}", home, "recall_tui")[0] == 2, nowhere


def test_store_file_never_replaces_a_closed_stream(home: Path) -> None:
    assert in_shell("$R export --out out.jsonl <&- >&- 2>&-", home)[0] == 1

    assert run("export", cwd=home).stdout == (home / "out.jsonl").read_text(encoding="utf-8")
    assert run("doctor", cwd=home).returncode == 0


IMPORTED = (
    ("recall_core", "recall_core.adapters.cli"),
    ("recall_core", "argparse"),
    ("recall_core", "recall_core.adapters.commands"),
    ("recall_tui", "recall_core.adapters.cli"),
    ("recall_tui", "argparse"),
)


@pytest.mark.parametrize("number", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_ctrl_c_during_imports_is_quiet(tmp_path: Path, number: str) -> None:
    for module, place in IMPORTED:
        expect_quiet_end(tmp_path, module, place, number)


def test_sigterm_during_first_import_is_quiet(tmp_path: Path) -> None:
    expect_quiet_end(tmp_path, *IMPORTED[0], "SIGTERM")


def expect_quiet_end(folder: Path, module: str, place: str, number: str) -> None:
    """Send the signal while the program imports the module `place`."""
    done = subprocess.run(
        [sys.executable, "-c", EARLY, module, place, number],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n"), (module, place)
