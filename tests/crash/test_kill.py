"""A command that is killed at any moment loses no commit and can run again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import apsw
import pytest

from recall_core import Recall
from tests.builders import pieces_left
from tests.crash import child
from tests.crash.child import Child, Ended
from tests.crash.harness import (
    ADD,
    BACKUP,
    COMPACT,
    COPIES,
    IMPORT,
    PURGE,
    RECHUNK,
    REEMBED,
    SCENES,
    SECRETS,
    SESSIONS,
    SYNC,
    Scene,
    Stage,
    command,
    expect_whole,
    spelled,
    write,
)

SEED = 19
READ = (ADD, SYNC, COMPACT, IMPORT, REEMBED, RECHUNK, PURGE, BACKUP)
"""Commands that run with the store open elsewhere, every second time."""
KILLS = 72
"""For each command, in a nightly run."""
SESSION_KILLS = 100
"""Of syncs of sessions, for lost text and again for texts embedded twice, in a nightly run."""
COPY_KILLS = 60
"""For each command that copies a store, in a nightly run."""


@pytest.fixture(scope="module")
def killer() -> Iterator[Child]:
    with child.started() as process:
        yield process


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("large"), files=60)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_killed_command_loses_nothing(
    scene: Scene, killer: Child, small: Stage, counted: Callable[..., None]
) -> None:
    _kill(scene, killer, small, kills=1, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_command_killed_at_any_moment_loses_nothing(
    scene: Scene, killer: Child, large: Stage, counted: Callable[..., None]
) -> None:
    _kill(scene, killer, large, kills=KILLS, counted=counted)


def test_killed_sync_of_sessions_loses_nothing(killer: Child, small: Stage, counted: Callable[..., None]) -> None:
    _kill(SESSIONS, killer, small, kills=1, counted=counted)
    _kill_embedding(killer, small, kills=1, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_sync_of_sessions_killed_at_any_moment_loses_nothing(
    killer: Child, large: Stage, counted: Callable[..., None]
) -> None:
    _kill(SESSIONS, killer, large, kills=SESSION_KILLS, counted=counted)
    _kill_embedding(killer, large, kills=SESSION_KILLS, counted=counted)


def _kill_embedding(killer: Child, stage: Stage, *, kills: int, counted: Callable[..., None]) -> None:
    """Kill syncs of sessions. The next sync embeds exactly the texts without a stored vector, and purges the rest."""
    usual = _usual(SESSIONS, killer, stage)
    base = stage.trial(SESSIONS)
    assert command(base, *SESSIONS.argv)[0] == 0
    wanted = _embedded(base, "SELECT text_hash FROM chunk WHERE deleted = 0")
    stage.end(base)
    rng = random.Random(f"{SEED} embedding")
    done = 0
    while done < kills:
        base = stage.trial(SESSIONS)
        done += _run_and_kill(rng, killer, spelled(base, SESSIONS.argv), usual, is_late=done % 2 == 0).is_killed
        there = _embedded(base, _WITH_VECTOR)
        code, answer = command(base, *SESSIONS.argv)
        assert (code, answer["ingest"]["embedded"]) == (0, len(wanted - there))
        assert pieces_left(base, *SESSIONS.secrets, pieces=stage.vectors(SESSIONS)) == []
        stage.end(base)
    counted("kill", "embedding", kills=done)


_WITH_VECTOR = "SELECT text_hash FROM chunk JOIN vec ON vec.chunk = chunk.rowid UNION SELECT text_hash FROM vec_cache"


def _embedded(base: Path, sql: str) -> set[bytes]:
    db = apsw.Connection(str(base / "recall.db"))
    found = {text for (text,) in db.execute(sql)}
    db.close()
    return found


@pytest.mark.parametrize("scene", COPIES, ids=lambda scene: scene.name)
def test_killed_command_leaves_no_copy(
    scene: Scene, killer: Child, small: Stage, counted: Callable[..., None]
) -> None:
    _kill_copying(scene, killer, small, kills=2, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", COPIES, ids=lambda scene: scene.name)
def test_command_killed_at_any_moment_leaves_no_copy(
    scene: Scene, killer: Child, large: Stage, counted: Callable[..., None]
) -> None:
    assert _kill_copying(scene, killer, large, kills=COPY_KILLS, counted=counted) > 0


def _kill_copying(scene: Scene, killer: Child, stage: Stage, *, kills: int, counted: Callable[..., None]) -> int:
    """Kill `kills` runs and return how many left a partial copy.

    After the next write no copy is left, and after a purge no file contains a piece of the text.
    """
    usual = _usual(scene, killer, stage)
    rng = random.Random(f"{SEED} {scene.name}")
    done = left = 0
    while done < kills:
        base = stage.trial(scene)
        ended = killer.run(spelled(base, scene.argv), delay=rng.random() * usual.seconds)
        done += ended.is_killed
        left += any(base.rglob(".recall-*"))
        write(base, "next.md", "What is written next.\n")
        assert command(base, *(scene.argv if scene.is_damaged else ("add", "{base}/next.md")))[0] == 0
        assert [*base.rglob(".recall-*")] == []
        for name in ("old.db", "secret/diary.md", *scene.files):  # user files
            (base / name).unlink(missing_ok=True)
        code, answer = command(base, "rm", "--purge", "{base}/secret")
        assert code == 0
        for backup in answer["removed"]["backups"]:  # named, for the user to decide
            Path(backup).unlink()
        assert pieces_left(base, *SECRETS.values(), pieces=stage.vectors(PURGE), within="**/*") == []
        stage.end(base)
    counted("copies", scene.name, kills=done, copies_left=left)
    return left


def _kill(scene: Scene, killer: Child, stage: Stage, *, kills: int, counted: Callable[..., None]) -> None:
    """Kill `kills` runs of the command, the first and every second one after a reported commit."""
    usual = _usual(scene, killer, stage)
    rng = random.Random(f"{SEED} {scene.name}")
    done, after_a_commit = 0, 0
    while done < kills:
        base = stage.trial(scene)
        with _reader(base) if scene in READ and rng.random() < 0.5 else nullcontext():
            ended = _run_and_kill(rng, killer, spelled(base, scene.argv), usual, is_late=done % 2 == 0)
        expect_whole(scene, stage, base, committed=ended.generation)
        stage.end(base)
        done += ended.is_killed
        after_a_commit += ended.is_killed and bool(ended.told)
    counted("kill", scene.name, kills=done, after_a_commit=after_a_commit)
    assert 2 * after_a_commit >= done or not usual.told


@contextmanager
def _reader(base: Path) -> Iterator[None]:
    """Keep the store open in another connection during the block, and query it before and after."""
    with Recall.open(str(base)) as recall:
        recall.search("quokka")
        yield
        recall.search("quokka")


def _usual(scene: Scene, killer: Child, stage: Stage) -> Ended:
    """Return the end of an undisturbed run."""
    base = stage.trial(scene)
    ended = killer.run(spelled(base, scene.argv))
    assert (ended.is_killed, ended.code) == (False, 0)
    stage.end(base)
    return ended


def _run_and_kill(rng: random.Random, killer: Child, argv: list[str], usual: Ended, *, is_late: bool) -> Ended:
    """Run the command and kill it at some moment; late: after one of its commits. It may end before that."""
    commits = rng.randint(1, len(usual.told)) if is_late and usual.told else 0
    since = usual.told[commits - 1] if commits else 0.0
    return killer.run(argv, commits=commits, delay=rng.random() * (usual.seconds - since))
