"""Command lines with recalld and without it print the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from tests.recalld import RECALL, environ_of, run, running, without_times

WORDS = (
    "retry",
    '"waits longer"',
    "how do I retry",
    "retr*",
    "cache -retry",
    "日記",
    "zzz",
    "title:cache",
    "a\u0301",
)
FORMS = (
    ("search", "WORDS"),
    ("search", "WORDS", "--json", "--explain"),
    ("search", "WORDS", "--filter", "doc.path ~ 'notes'", "--csv"),
    ("search", "WORDS", "-q"),
    ("query", "SELECT * FROM chunk USING lexical('WORDS')", "--json"),
    ("context", "WORDS", "--format", "xml"),
    ("context", "WORDS", "--json", "--explain"),
    ("explain", "WORDS", "--json"),
    ("whynot", "WORDS", "--target", "cache.md"),
    ("whynot", "WORDS", "--target", "sub/b.md", "--json"),
    ("get", "cache.md"),
    ("get", "WORDS"),
    ("ls", "--long"),
    ("ls", "su", "--json"),
    ("stats",),
)
TEXTS = {
    "retry.md": "# Retries\n\nA failed call is retried three times. Each retry waits longer.\n",
    "cache.md": "# Cache\n\nAnswers are cached by key. The cache holds a thousand entries.\n",
    "sub/b.md": "# Notes\n\nWrite the retry tests, then the cache.\n",
    "sub/日記.txt": "今日は全文検索を書いた。日記。\n",
}
IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
QUESTIONS = 500 if IS_NIGHT else 40
KILLS = 200 if IS_NIGHT else 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("t")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    Recall.init(str(folder), embedding="hash")
    with Recall.open(start=folder) as recall:
        recall.index(str(folder))
    return folder


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runtime = tmp_path_factory.mktemp("r")
    runtime.chmod(0o700)
    return runtime


@pytest.fixture(scope="module")
def daemon(runtime: Path) -> Iterator[subprocess.Popen[bytes]]:
    with running(runtime) as process:
        yield process


def state(runtime: Path, folder: Path) -> dict[str, object]:
    view: dict[str, object] = json.loads(
        run(["daemon", "status", "--json"], folder=folder, environ=environ_of(runtime)).stdout
    )["daemon"]
    return view


def test_answers_are_the_bytes_of_a_cold_run(folder: Path, runtime: Path, daemon: subprocess.Popen[bytes]) -> None:
    chosen = random.Random(49)
    for _ in range(QUESTIONS):
        words, form = chosen.choice(WORDS), chosen.choice(FORMS)
        start = chosen.choice((folder, folder / "sub"))
        store = chosen.choice(((), (), ("--store", str(folder)), ("--store", os.path.relpath(folder, start))))
        argv = [word.replace("WORDS", words) for word in form] + [*store]
        warm = run(argv, folder=start, environ=environ_of(runtime))
        cold = run(argv, folder=start, environ=environ_of(runtime, RECALL_DAEMON="false"))
        assert warm == cold, argv

    assert int(str(state(runtime, folder)["answers"])) > QUESTIONS // 2


def test_small_difference_would_be_seen(folder: Path, runtime: Path, daemon: subprocess.Popen[bytes]) -> None:
    argv = ["search", "retry", "--json"]
    warm = run(argv, folder=folder, environ=environ_of(runtime))
    cold = run([*argv, "--set", "vector_weight=0.31"], folder=folder, environ=environ_of(runtime))

    assert warm != cold


def test_client_imports_no_core(folder: Path, runtime: Path, daemon: subprocess.Popen[bytes]) -> None:
    program = (
        "import os, sys; from recall_core.adapters import client; code = client.ask(['ls'], os.environ);"
        "print(code, *sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environ_of(runtime),
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = done.stdout.splitlines()[-1].split()

    assert code == "0"
    assert not {"tomllib", "numpy", "json", "re", "socket", "apsw"} & {*modules}
    assert {name for name in modules if name.startswith("recall_core")} == {
        "recall_core",
        "recall_core._lazy",
        "recall_core._version",
        "recall_core.adapters",
        "recall_core.adapters.client",
    }


def test_killed_daemon_leaves_a_cold_run(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with running(tmp_path) as process:
        warm = run(["search", "retry"], folder=folder, environ=environ_of(tmp_path))
        process.kill()
        process.wait(timeout=60)
        cold = run(["search", "retry"], folder=folder, environ=environ_of(tmp_path))

    assert warm == cold
    assert state(tmp_path, folder)["running"] is False


def test_stopped_daemon_in_mid_question_leaves_a_cold_run(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with running(tmp_path) as process:
        expected = run(["search", "retry"], folder=folder, environ=environ_of(tmp_path))
        process.send_signal(signal.SIGSTOP)  # the socket still accepts
        asking = subprocess.Popen(
            [*RECALL, "search", "retry"], cwd=folder, env=environ_of(tmp_path), stdout=subprocess.PIPE
        )
        with pytest.raises(subprocess.TimeoutExpired):
            asking.wait(timeout=1.5)
        process.kill()
        out, _ = asking.communicate(timeout=60)

    assert out == expected.stdout


def test_kills_in_mid_answer_cost_only_a_cold_run(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    chosen = random.Random(50)
    argv = ["search", "retry", "--json"]
    expected = run(argv, folder=folder, environ=environ_of(tmp_path, RECALL_DAEMON="false"))
    for _ in range(KILLS):
        with running(tmp_path) as process:
            asking = [
                subprocess.Popen([*RECALL, *argv], cwd=folder, env=environ_of(tmp_path), stdout=subprocess.PIPE)
                for _ in range(2)
            ]
            time.sleep(chosen.uniform(0, 0.4))
            process.kill()
            answers = [each.communicate(timeout=60)[0] for each in asking]

        assert [without_times(each) for each in answers] == [expected.stdout] * 2


def test_two_daemons_started_at_once_become_one(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    environ = environ_of(tmp_path)
    starting = [
        subprocess.Popen([*RECALL, "daemon", "start"], env=environ, stdout=subprocess.DEVNULL) for _ in range(3)
    ]

    assert [each.wait(timeout=60) for each in starting] == [0, 0, 0]
    assert state(tmp_path, folder)["running"] is True
    assert run(["daemon", "stop"], folder=folder, environ=environ).code == 0
    assert len(list((tmp_path / "recall").glob("*.sock"))) == 0


def test_daemon_that_a_person_wants_starts_again_after_a_kill(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    environ = environ_of(tmp_path, RECALL_DAEMON="true")
    with running(tmp_path) as process:
        process.kill()
    assert len(list((tmp_path / "recall").glob("*.sock"))) == 1
    run(["search", "retry"], folder=folder, environ=environ)
    until = time.monotonic() + 15
    while not state(tmp_path, folder)["running"] and time.monotonic() < until:
        time.sleep(0.1)

    assert state(tmp_path, folder)["running"] is True
    run(["daemon", "stop"], folder=folder, environ=environ)


def test_start_status_and_stop(folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    environ = environ_of(tmp_path)
    started = run(["daemon", "start"], folder=folder, environ=environ)
    again = run(["daemon", "start", "--json"], folder=folder, environ=environ)
    found = run(["ls"], folder=folder, environ=environ)
    stopped = run(["daemon", "stop"], folder=folder, environ=environ)

    assert started.stdout.startswith(b"recalld is running")
    assert json.loads(again.stdout)["daemon"]["running"] is True
    assert found.code == 0
    assert stopped.stdout == b"recalld is not running\n"
    assert state(tmp_path, folder)["running"] is False
