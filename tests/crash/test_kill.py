"""A command that is killed at any moment has lost nothing that was committed, and can be run again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from recall_core import Recall
from tests.crash import child
from tests.crash.child import Child, Ended
from tests.crash.harness import (
    ADD,
    BACKUP,
    COMPACT,
    IMPORT,
    PURGE,
    RECHUNK,
    REEMBED,
    SCENES,
    SYNC,
    Scene,
    Stage,
    expect_whole,
    spelled,
)

SEED = 19
READ = (ADD, SYNC, COMPACT, IMPORT, REEMBED, RECHUNK, PURGE, BACKUP)
"""Commands beside which somebody has the store open, every second time."""
KILLS = 72
"""For each command, in a nightly run."""


@pytest.fixture(scope="module")
def killer() -> Iterator[Child]:
    with child.started() as process:
        yield process


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("large"), files=60)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_killed_command_has_lost_nothing_and_can_be_run_again(
    scene: Scene, killer: Child, small: Stage, counted: Callable[..., None]
) -> None:
    _kill(scene, killer, small, kills=1, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_whenever_a_command_is_killed_it_has_lost_nothing_and_can_be_run_again(
    scene: Scene, killer: Child, large: Stage, counted: Callable[..., None]
) -> None:
    _kill(scene, killer, large, kills=KILLS, counted=counted)


def _kill(scene: Scene, killer: Child, stage: Stage, *, kills: int, counted: Callable[..., None]) -> None:
    """Kill so many runs of the command, the first and every second one after a commit that was reported."""
    usual = _usual(scene, killer, stage)
    rng = random.Random(f"{SEED} {scene.name}")
    done, behind_a_commit = 0, 0
    while done < kills:
        base = stage.trial(scene)
        with _reader(base) if scene in READ and rng.random() < 0.5 else nullcontext():
            ended = _killed(rng, killer, spelled(base, scene.argv), usual, is_late=done % 2 == 0)
        expect_whole(scene, stage, base, committed=ended.generation)
        stage.end(base)
        done += ended.is_killed
        behind_a_commit += ended.is_killed and bool(ended.told)
    counted("kill", scene.name, kills=done, behind_a_commit=behind_a_commit)
    assert 2 * behind_a_commit >= done or not usual.told


@contextmanager
def _reader(base: Path) -> Iterator[None]:
    """Somebody who has the store open for the length of the block, and asks before and after."""
    with Recall.open(str(base)) as recall:
        recall.search("quokka")
        yield
        recall.search("quokka")


def _usual(scene: Scene, killer: Child, stage: Stage) -> Ended:
    """How the command ends that nobody kills."""
    base = stage.trial(scene)
    ended = killer.run(spelled(base, scene.argv))
    assert (ended.is_killed, ended.code) == (False, 0)
    stage.end(base)
    return ended


def _killed(rng: random.Random, killer: Child, argv: list[str], usual: Ended, *, is_late: bool) -> Ended:
    """The command, killed at some moment; late, after one of its commits. It may end before that."""
    commits = rng.randint(1, len(usual.told)) if is_late and usual.told else 0
    since = usual.told[commits - 1] if commits else 0.0
    return killer.run(argv, commits=commits, delay=rng.random() * (usual.seconds - since))
