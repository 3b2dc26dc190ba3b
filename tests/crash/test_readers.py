"""Whatever a writer does, each answer of those who read meanwhile is that of a state that was committed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from time import monotonic

import pytest

from recall_core import Recall, RecallError
from recall_core.store.sqlite.memory.shared import Shared
from tests.crash import reader
from tests.crash.harness import SETTINGS, command, notes
from tests.crash.reader import QUESTIONS, answered

FILES = 4
"""So few that a sync commits all of them at once."""
VERSIONS = 4
STEPS = (
    ("sync",),
    ("compact",),
    ("rm", "{base}/notes/note003.md"),
    ("sync",),
    ("add", "{base}/notes/note003.md", "--tag", "note"),
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """By the digest of every state that is ever committed, the answer to each question."""
    base, found = _store(tmp_path_factory.mktemp("expected")), {}
    for version in range(VERSIONS):
        notes(base, FILES, version=version)
        for step in STEPS:
            assert command(base, *step)[0] == 0
            with Recall.open(str(base)) as recall:
                told = [answered(recall, question) for question in range(len(QUESTIONS))]
            ((digest,), answers) = {digest for digest, _ in told}, [answer for _, answer in told]
            assert found.setdefault(digest, answers) == answers
    return found


def test_each_answer_beside_a_writer_is_that_of_a_committed_state(
    tmp_path: Path, expected: dict[str, list[str]], counted: Callable[..., None]
) -> None:
    _read_beside_a_writer(tmp_path, expected, readers=2, is_over=lambda asked, _: asked >= 120, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_answer_of_eight_readers_in_five_minutes_is_that_of_a_committed_state(
    tmp_path: Path, expected: dict[str, list[str]], counted: Callable[..., None]
) -> None:
    _read_beside_a_writer(tmp_path, expected, readers=8, is_over=lambda _, seconds: seconds > 300, counted=counted)


def test_answers_from_the_memory_of_another_generation_do_not_pass_for_those_of_a_committed_state(
    tmp_path: Path, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = _store(tmp_path)
    with Recall.open(str(base)) as recall:
        for _ in range(3):
            notes(base, FILES, version=1)
            assert command(base, "sync")[0] == 0
            assert recall.engine.store.fill_memory()
            assert _wrong(recall, expected) == []

            monkeypatch.setattr(Shared, "kept", lambda shared, _: shared._kept)
            notes(base, FILES, version=2)
            assert command(base, "sync")[0] == 0
            assert _wrong(recall, expected) != []
            monkeypatch.undo()


def _wrong(recall: Recall, expected: dict[str, list[str]]) -> list[int]:
    """The questions that are refused, or answered otherwise than the state that is named was."""
    wrong = []
    for question in range(len(QUESTIONS)):
        try:
            digest, answer = answered(recall, question)
        except RecallError:
            wrong.append(question)
        else:
            wrong += [question] if expected[digest][question] != answer else []
    return wrong


def _read_beside_a_writer(
    folder: Path,
    expected: dict[str, list[str]],
    *,
    readers: int,
    is_over: Callable[[int, float], bool],
    counted: Callable[..., None],
) -> None:
    """Write until it is over, as so many questions were asked in so many seconds; then look at every answer."""
    base = _store(folder)
    with ExitStack() as stack:
        reading = [stack.enter_context(reader.started(base, folder / f"answers{n}", seed=n)) for n in range(readers)]
        steps = _write(base, lambda: all(each.asked() for each in reading), is_over, reading)
        answers = [each for one in reading for each in one.answers()]
    wrong = [(digest, question) for digest, question, answer in answers if expected[digest][question] != answer]
    assert wrong == []
    states = len({digest for digest, _, _ in answers})
    assert states > 1
    counted("readers", f"{readers} beside a writer", answers=len(answers), states=states, writes=steps)


def _write(
    base: Path,
    has_begun: Callable[[], bool],
    is_over: Callable[[int, float], bool],
    reading: list[reader.Reader],
) -> int:
    """Change the store again and again; returns how often."""
    began = monotonic()
    for step in count(1):
        notes(base, FILES, version=(step // len(STEPS)) % VERSIONS)
        code, answer = command(base, *STEPS[step % len(STEPS)])
        assert code == 0, answer
        if has_begun() and is_over(sum(each.asked() for each in reading), monotonic() - began):
            return step
    raise AssertionError


def _store(home: Path) -> Path:
    base = home / "home"
    Recall.init(str(base), settings=SETTINGS)
    notes(base / "kept", 30)
    notes(base, FILES)
    for folder in ("kept", "notes"):
        assert command(base, "add", f"{base}/{folder}", "--tag", "note")[0] == 0
    return base
