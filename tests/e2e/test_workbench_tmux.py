"""The workbench in a real terminal: typing, reading and leaving."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_tui.screens.dialog import READING_SECONDS
from tests.terminal import Terminal
from tests.workbench_corpus import build_store

pytestmark = pytest.mark.tmux


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("tmux") / "socket")
    yield terminal
    terminal.stop()


def test_user_searches_inspects_changes_the_budget_and_leaves(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    terminal.start(f"{workbench}; echo \"exit=$?\"; stty -a | tr ';' '\\n'; exec sleep 60", cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)

    terminal.type("token budget")
    terminal.wait_for(lambda screen: "docs/budget.md:1 " in screen and "1,395 of 2,000 tokens" in screen)
    assert terminal.is_alternate()

    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    terminal.press("j")
    terminal.wait_for(lambda screen: "3 Explain #2" in screen and "def pack(hits, budget):" in screen)
    screen = terminal.wait_for(lambda screen: re.search(r"total .*0\.574", screen))
    assert re.search(r"▶ +2 0\.574 .*src/pack\.py:\d ", screen)

    terminal.press("b")
    terminal.wait_for(lambda screen: "tokens, then Enter" in screen)
    terminal.type("1000")
    terminal.press("Enter")
    screen = terminal.wait_for(lambda screen: "of 1,000 tokens" in screen and "left out" not in screen)
    used = re.search(r"([\d,]+) of 1,000 tokens", screen)
    assert used is not None
    assert int(used[1].replace(",", "")) <= 1_000

    terminal.press("q")
    screen = terminal.wait_for(lambda screen: "exit=" in screen and "icanon" in screen)
    assert "exit=0" in screen
    assert not terminal.is_alternate()
    assert re.search(r"(?<!-)\bicanon\b", screen)
    assert re.search(r"(?<!-)\becho\b", screen)


@pytest.mark.slow
def test_typing_and_quitting_during_ingest_lose_nothing(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    many = tmp_path / "many"
    many.mkdir()
    for number in range(300):
        (many / f"{number}.txt").write_text(f"Note {number} keeps the budget.\n" * 2_000, encoding="utf-8")
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    doctor = shlex.join([sys.executable, "-m", "recall_core", "--store", str(store), "doctor"]) + " > doctor.txt"
    terminal.start(f'{workbench}; echo "exit=$?"; {doctor}; echo "doctor=$?"; exec sleep 60', cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    terminal.type("Amany\r")
    terminal.wait_for(lambda screen: "adding many" in screen and "%" in screen)

    terminal.type("1household")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    terminal.press("C-q")

    screen = terminal.wait_for(lambda screen: "doctor=" in screen)
    assert "exit=0" in screen
    assert "doctor=0" in screen


@pytest.mark.slow
@pytest.mark.parametrize("is_broken_off", [False, True])
def test_grade_lost_on_leaving_is_reported_in_the_terminal(
    terminal: Terminal, tmp_path: Path, is_broken_off: bool
) -> None:
    store = build_store(tmp_path)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    terminal.start(f"trap : INT; {workbench}; echo \"exit=$?\"; stty -a | tr ';' '\\n'; exec sleep 60", cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("token budget")
    terminal.wait_for(lambda screen: "docs/budget.md:1 " in screen)
    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen and "No grades yet" in screen)
    with Recall.open(str(store)) as other, other.store.transaction():
        terminal.type("2gaaaq" if is_broken_off else "2gaq")
        if is_broken_off:
            terminal.wait_for(lambda screen: "Still writing: Grade" in screen)
            terminal.press("C-c")
        screen = terminal.wait_for(lambda screen: "exit=" in screen and "icanon" in screen)
    assert not terminal.is_alternate()
    assert re.search(r"(?<!-)\bicanon\b", screen)
    if is_broken_off:
        assert "exit=130" in screen
        assert re.search(r"error: Grade.*: not done\.", screen)
    else:
        assert "exit=1\n" in screen
        assert "error: Grade: " in screen
        assert "is being written by" in screen


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_signal_restores_the_terminal_and_keeps_the_query(
    terminal: Terminal, tmp_path: Path, number: signal.Signals
) -> None:
    store, pid = build_store(tmp_path), tmp_path / "pid"
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    started = f"sh -c 'echo $$ > pid; exec {workbench}'"
    terminal.start(f'{started}; echo "exit=$?"; read line; {workbench}; exec sleep 60', cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household tea")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)

    os.kill(int(pid.read_text()), number)
    screen = terminal.wait_for(lambda screen: "exit=" in screen)
    assert "exit=130" in screen
    assert not terminal.is_alternate()

    terminal.type("\r")
    terminal.wait_for(lambda screen: "Restore the query" in screen and "household tea" in screen)
    time.sleep(READING_SECONDS)
    terminal.type("y")
    terminal.wait_for(household_first)


@pytest.mark.parametrize("number", [signal.SIGTSTP, pytest.param(signal.SIGSTOP, marks=pytest.mark.slow)])
def test_resumed_workbench_is_painted_completely(terminal: Terminal, tmp_path: Path, number: signal.Signals) -> None:
    store, pid = build_store(tmp_path), tmp_path / "pid"
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    (tmp_path / "start").write_text(f"echo $$ > pid; exec {workbench}", encoding="utf-8")
    terminal.start("bash --norc --noprofile -i", cwd=tmp_path)
    terminal.type("sh start\r")
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household")
    terminal.wait_for(household_first)

    stop_and_go_on(terminal, int(pid.read_text()), number, "once")
    terminal.type(" tea")
    terminal.wait_for(lambda screen: household_first(screen) and "household tea " in screen)
    stop_and_go_on(terminal, int(pid.read_text()), number, "twice")

    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    terminal.type("q")
    terminal.wait_for(lambda _: not terminal.is_alternate())
    terminal.type("echo exit=$?\r")
    terminal.wait_for(lambda screen: "exit=0" in screen)
    assert terminal.is_sane()


def test_ctrl_z_suspends_in_nav_and_undoes_in_edit(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    (tmp_path / "start").write_text(f"exec {workbench}", encoding="utf-8")
    terminal.start("bash --norc --noprofile -i", cwd=tmp_path)
    terminal.type("sh start\r")
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household")
    terminal.wait_for(household_first)
    terminal.press("C-z")
    terminal.wait_for(lambda screen: "household" not in screen.split("Results")[0])
    terminal.press("C-y")
    terminal.wait_for(household_first)
    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)

    terminal.press("C-z")
    terminal.wait_for(lambda screen: "Stopped" in screen)
    terminal.type("fg\r")
    terminal.wait_for(lambda screen: household_first(screen) and "Stopped" not in screen)
    terminal.wait_for(lambda _: terminal.is_read_by_key())

    terminal.press("q")
    terminal.wait_for(lambda _: not terminal.is_alternate())


def stop_and_go_on(terminal: Terminal, pid: int, number: signal.Signals, time: str) -> None:
    os.kill(pid, number)
    terminal.wait_for(lambda screen: "Stopped" in screen)
    if number == signal.SIGTSTP:  # the other signal leaves a process no time to clean up
        terminal.type(f"echo {time} $(stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo)\r")
        terminal.wait_for(lambda screen: f"{time} icanon echo" in screen)
        assert terminal.is_sane()
    terminal.type("fg\r")
    terminal.wait_for(lambda screen: "37 documents" in screen and household_first(screen) and "Stopped" not in screen)
    terminal.wait_for(lambda _: terminal.is_read_by_key())  # earlier output may still have been on its way
    assert terminal.is_alternate()


@pytest.mark.slow
def test_escape_and_digit_in_one_read_select_a_pane(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    terminal.start(shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)]), cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household tea")
    terminal.wait_for(household_first)

    terminal.press("-H", "1b", "34")
    terminal.wait_for(lambda screen: " NAV " in screen and "━ 4 Weights" in screen)
    assert "household tea " in terminal.screen()

    terminal.press("-H", "1b", "31")
    terminal.wait_for(lambda screen: " EDIT " in screen)


def test_keys_in_one_write_act_in_order(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    terminal.start(shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)]), cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household tea")
    terminal.wait_for(household_first)

    terminal.type("\x01\x0bcosine\x01the ")
    terminal.wait_for(lambda screen: "┃the cosine  " in screen and re.search(r"▶ +1 .*docs/scoring\.md", screen))

    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    terminal.type(":sea\thousehold --k 1\x01\x0bstats\t\r")
    terminal.wait_for(lambda screen: "$ recall stats" in screen and "exit 0" in screen)


def test_failing_editor_and_pager_restore_the_terminal(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    terminal.start(f'{workbench}; echo "exit=$?"; exec sleep 60', cwd=tmp_path, EDITOR="false", PAGER="false")
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household")
    terminal.wait_for(household_first)

    terminal.press("F4")
    terminal.wait_for(lambda screen: "false ended with code 1; the query is unchanged." in " ".join(screen.split()))
    assert terminal.is_alternate()
    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    (store.parent / "notes" / "diary.txt").unlink()  # the pager shows the stored text
    terminal.type("3e")
    terminal.wait_for(lambda screen: "(export PAGER=less)" in screen)
    assert terminal.is_alternate()


def household_first(screen: str) -> bool:
    return "household" in screen and re.search(r"▶ +1 .*notes/diary\.txt", screen) is not None


def test_edited_query_is_in_the_history_of_the_next_session(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "this is the editor"; read line\necho "house$line" > "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    terminal.start(f'{workbench}; {workbench}; echo "exit=$?"; exec sleep 60', cwd=tmp_path, EDITOR=str(editor))
    terminal.wait_for(lambda screen: "37 documents" in screen)

    terminal.type("cosine")
    terminal.wait_for(lambda screen: re.search(r"▶ +1 .*docs/scoring\.md", screen))
    terminal.press("F4")
    terminal.wait_for(lambda screen: "this is the editor" in screen)
    assert not terminal.is_alternate()
    terminal.type("hold\r")
    terminal.wait_for(household_first)
    terminal.press("C-q")

    terminal.wait_for(lambda screen: "37 documents" in screen and "Type words to search" in screen)
    terminal.press("C-r")
    terminal.wait_for(lambda screen: "1 of 1" in screen and "household" in screen)
    terminal.press("Enter")
    terminal.wait_for(household_first)
    terminal.press("C-q")

    assert "exit=0" in terminal.wait_for(lambda screen: "exit=" in screen)


def test_own_color_setting_reaches_the_workbench(terminal: Terminal, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    workbench = shlex.join([sys.executable, "-m", "recall_tui", "--store", str(store)])
    terminal.start(f"{workbench}; exec sleep 60", cwd=tmp_path, RECALL_COLOR="never")
    terminal.wait_for(lambda screen: "37 documents" in screen)

    assert re.search(r"\x1b\[[\d;]*[34]8[;:]", terminal.coloured()) is None
