"""A power cut at any moment loses no commit, and the command can run again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from recall_core import files
from tests.crash.disk import Call, Log, after_cut, contents
from tests.crash.harness import SCENES, Scene, Stage, commits_told, expect_whole, run

SEED = 19
CUTS = 72
"""For each command, in a nightly run."""


class Recorded(NamedTuple):
    """The folder before the command, by path, and every disk operation of the command."""

    start: dict[str, bytes]
    calls: list[Call]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("large"), files=60)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_power_cut_loses_nothing(scene: Scene, small: Stage, counted: Callable[..., None]) -> None:
    _check_cuts(scene, small, cuts=1, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_power_cut_at_any_moment_loses_nothing(scene: Scene, large: Stage, counted: Callable[..., None]) -> None:
    _check_cuts(scene, large, cuts=CUTS, counted=counted)


@pytest.mark.parametrize("write", [files.write, files.write_new], ids=lambda write: write.__name__)
def test_written_file_is_old_or_new_after_power_cut(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    place, new, old = tmp_path / "file", b"new" * 1_000, b"old" * 500
    if write is files.write:
        place.write_bytes(old)
    start, log = contents(tmp_path), Log(tmp_path)
    with log.recorded():
        write(place, new)

    found = [
        after_cut(start, log.calls[:end], random.Random(f"{SEED} {end} {number}")).get(str(place))
        for end in range(len(log.calls) + 1)
        for number in range(50)
    ]

    assert set(found) == {start.get(str(place)), new}
    assert set(found[-50:]) == {new}


def _check_cuts(scene: Scene, stage: Stage, *, cuts: int, counted: Callable[..., None]) -> None:
    start, calls = _record(scene, stage)
    turns = [number for number, call in enumerate(calls, 1) if call.kind != "write"]
    after_a_commit = 0
    for number in range(cuts):
        rng = random.Random(f"{SEED} {scene.name} {number}")
        done = calls[: rng.choice((rng.randint(1, len(calls)), rng.choice(turns)))]
        told = [call.at for call in done if call.kind == "told"]
        base = stage.trial(scene)
        _write_exactly(base, after_cut(start, done, rng), rng)
        expect_whole(scene, stage, base, committed=max(told, default=0))
        stage.end(base)
        after_a_commit += bool(told)
    counted("power", scene.name, cuts=cuts, after_a_commit=after_a_commit, calls=len(calls))


def _record(scene: Scene, stage: Stage) -> Recorded:
    """Run the scene's command once and record it."""
    base = stage.trial(scene)
    start, log = contents(base), Log(base)
    with log.recorded(), commits_told(log.told):
        assert run(scene, base) == 0
    stage.end(base)
    return Recorded(start, log.calls)


def _write_exactly(base: Path, files: dict[str, bytes], rng: random.Random) -> None:
    """Put exactly these files into the folder; the index of a log, which is never synced, gets random content."""
    for path in contents(base):
        Path(path).unlink()
    for path, content in files.items():
        (base / Path(path).name).write_bytes(content)
    if (base / "recall.db-wal").exists():
        (base / "recall.db-shm").write_bytes(rng.randbytes(rng.choice((0, 4_096, 32_768))))
