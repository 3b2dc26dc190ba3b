"""During any writes, each answer of concurrent readers belongs to a committed state."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from time import monotonic

import pytest

from recall_core import Recall, RecallError
from recall_core.store.sqlite.connect import file_at
from recall_core.store.sqlite.memory.snapshot import Shared, _Files
from recall_core.store.sqlite.store import SqliteStore
from tests.crash import reader
from tests.crash.harness import SETTINGS, command, notes
from tests.crash.reader import QUESTIONS, REFUSED, Answer, Reader, answered

FILES = 4
"""Few enough for one commit of a sync."""
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
VERSIONS = 4 if IS_NIGHTLY else 3
STEPS = (
    ("sync",),
    ("compact",),
    ("rm", "{base}/notes/note003.md"),
    ("sync",),
    ("add", "{base}/notes/note003.md", "--tag", "note"),
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the answer to each query, by the digest of every state that is ever committed."""
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


def test_readers_see_committed_states_during_writes(
    tmp_path: Path, expected: dict[str, list[str]], counted: Callable[..., None]
) -> None:
    def is_over(reading: list[Reader]) -> bool:
        answers = [each.so_far() for each in reading]
        return sum(map(len, answers)) >= (120 if IS_NIGHTLY else 30) and all(
            any(one.is_remembered for one in each) for each in answers
        )

    _read_beside_a_writer(tmp_path, expected, readers=2, is_over=is_over, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_eight_readers_see_committed_states_for_five_minutes(
    tmp_path: Path, expected: dict[str, list[str]], counted: Callable[..., None]
) -> None:
    end = monotonic() + 300

    _read_beside_a_writer(tmp_path, expected, readers=8, is_over=lambda _: monotonic() > end, counted=counted)


@pytest.mark.slow  # in CI one process checks the same
def test_reader_with_stale_memory_is_caught(tmp_path: Path, expected: dict[str, list[str]]) -> None:
    base = _store(tmp_path)
    with reader.started(base, tmp_path / "answers", seed=0, is_careless=True) as careless:
        _write(base, lambda: bool(_false(careless.so_far(), expected)))

        assert all(each.is_remembered for each in _false(careless.answers(), expected))


def test_planted_snapshot_of_another_generation_answers_nothing(
    tmp_path: Path, expected: dict[str, list[str]]
) -> None:
    base = _store(tmp_path)
    with Recall.open(str(base)) as recall:
        store = recall.engine.store
        assert isinstance(store, SqliteStore)
        assert store.fill_memory()
        (shared,) = (each for file, each in _Files.shared.items() if file == file_at(store.path))
        planted = shared._kept
        notes(base, FILES, version=1)
        assert command(base, "sync")[0] == 0

        for question in range(len(QUESTIONS)):
            assert store.fill_memory()  # so that no thread reads its replacement
            shared._kept = planted
            digest, answer = answered(recall, question)
            assert expected[digest][question] == answer


def test_answers_from_stale_memory_are_recognised_as_wrong(
    tmp_path: Path, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = _store(tmp_path)
    with Recall.open(str(base)) as recall:
        for _ in range(3 if IS_NIGHTLY else 1):
            notes(base, FILES, version=1)
            assert command(base, "sync")[0] == 0
            assert recall.engine.store.fill_memory()
            assert _wrong(recall, expected) == []

            monkeypatch.setattr(Shared, "find", lambda shared, _: shared._kept)
            notes(base, FILES, version=2)
            assert command(base, "sync")[0] == 0
            assert _wrong(recall, expected) != []
            monkeypatch.undo()


def _wrong(recall: Recall, expected: dict[str, list[str]]) -> list[int]:
    """Return the queries that are refused or answered differently from the named state."""
    wrong = []
    for question in range(len(QUESTIONS)):
        try:
            digest, answer = answered(recall, question)
        except RecallError:
            wrong.append(question)
        else:
            wrong += [question] if expected[digest][question] != answer else []
    return wrong


def _false(answers: list[Answer], expected: dict[str, list[str]]) -> list[Answer]:
    """Return the answers that are refusals or differ from their named state."""
    return [each for each in answers if each.digest == REFUSED or expected[each.digest][each.question] != each.answer]


def _read_beside_a_writer(
    folder: Path,
    expected: dict[str, list[str]],
    *,
    readers: int,
    is_over: Callable[[list[Reader]], bool],
    counted: Callable[..., None],
) -> None:
    """Write until `is_over` returns True and all readers have begun; then check every answer."""
    base = _store(folder)
    with ExitStack() as stack:
        reading = [stack.enter_context(reader.started(base, folder / f"answers{n}", seed=n)) for n in range(readers)]
        steps = _write(base, lambda: all(each.asked() for each in reading) and is_over(reading))
        answers = [each for one in reading for each in one.answers()]
    assert _false(answers, expected) == []
    states = len({each.digest for each in answers})
    remembered = sum(each.is_remembered for each in answers)
    assert states > 1
    assert 0 < remembered < len(answers)
    counts = {"answers": len(answers), "from_memory": remembered, "states": states, "writes": steps}
    counted("readers", f"{readers} with a writer", **counts)


def _write(base: Path, is_over: Callable[[], bool]) -> int:
    """Change the store repeatedly; return the number of changes."""
    for step in count(1):
        notes(base, FILES, version=(step // len(STEPS)) % VERSIONS)
        code, answer = command(base, *STEPS[step % len(STEPS)])
        assert code == 0, answer
        if is_over():
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
