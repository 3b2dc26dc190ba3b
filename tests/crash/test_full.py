"""A command without disk space reports it, loses nothing and can run again once there is space."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.crash.disk import Call, Do, disk, small_disk
from tests.crash.harness import (
    ADD,
    BACKUP,
    COMPACT,
    FIX,
    IMPORT,
    MIGRATE,
    PURGE,
    RECHUNK,
    RECOVER,
    REEMBED,
    SYNC,
    Scene,
    Stage,
    command,
    expect_whole,
    run,
)

SEED = 19
LIMITS = 40
"""For each command, in a nightly run."""
SCENES = (ADD, SYNC, COMPACT, IMPORT, PURGE)


class Room:
    """A disk with limited space for a folder. grown: largest growth in bytes."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.grown = 0
        self._now = 0
        self._sizes: dict[str, int] = {}

    def __call__(self, call: Call, do: Do) -> object:
        if not call.path or call.kind not in ("write", "truncate", "unlink"):
            return do()
        before = self._sizes.get(call.path, _size(call.path))
        after = {"write": max(before, call.at + call.size), "truncate": call.at, "unlink": 0}[call.kind]
        if self._now + after - before > self.limit and after > before:
            raise apsw.FullError("no room")
        done = do()
        self._sizes[call.path] = after
        self._now += after - before
        self.grown = max(self.grown, self._now)
        return done


def _size(path: str) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("full"), files=6)


@pytest.mark.parametrize("scene", [ADD, pytest.param(PURGE, marks=pytest.mark.slow)], ids=lambda scene: scene.name)
def test_command_without_disk_space_loses_nothing(scene: Scene, stage: Stage, counted: Callable[..., None]) -> None:
    _fill(scene, stage, limits=2, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_command_survives_running_out_of_space_anywhere(
    scene: Scene, stage: Stage, counted: Callable[..., None]
) -> None:
    _fill(scene, stage, limits=LIMITS, counted=counted)


def _fill(scene: Scene, stage: Stage, *, limits: int, counted: Callable[..., None]) -> None:
    base, room = stage.trial(scene), Room(float("inf"))
    with disk(room):
        assert run(scene, base) == 0
    rng = random.Random(f"{SEED} {scene.name}")
    for _ in range(limits):
        base = stage.trial(scene)
        with disk(Room(rng.randrange(room.grown))):
            code, answer = command(base, *scene.argv)
        assert (code, answer["error"]["code"]) == (1, "disk_full")
        expect_whole(scene, stage, base)
        stage.end(base)
    counted("no space", scene.name, limits=limits)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    "scene", [*SCENES, REEMBED, RECHUNK, MIGRATE, BACKUP, FIX, RECOVER], ids=lambda scene: scene.name
)
def test_command_survives_full_file_system(
    scene: Scene, stage: Stage, tmp_path: Path, counted: Callable[..., None]
) -> None:
    base = stage.trial(scene)
    held = sum(path.stat().st_size for path in base.rglob("*") if path.is_file())
    refused = 0
    for number, more in enumerate(range(0, 200 * 16_384, 16_384)):
        with small_disk(tmp_path / f"disk{number}", held + 131_072 + more) as small:
            shutil.copytree(base, small / "home")
            code, answer = command(small / "home", *scene.argv)
            if code == 0:
                break
            assert answer["error"]["code"] in ("disk_full", "no_room")
            back = stage.trial(scene)
            stage.end(back)
            shutil.copytree(small / "home", back)
        expect_whole(scene, stage, back)
        stage.end(back)
        refused += 1
    assert refused
    counted("tmpfs", scene.name, sizes=refused)
