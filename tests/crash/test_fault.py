"""A command with any failing disk call reports it, loses nothing and can run again."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.crash.disk import Call, Do, disk
from tests.crash.harness import (
    ADD,
    BACKUP,
    COMPACT,
    FIX,
    IMPORT,
    INIT,
    MIGRATE,
    PURGE,
    RECOVER,
    SCENES,
    Scene,
    Stage,
    command,
    expect_whole,
    run,
)

SEED = 19
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
FROM = 25
"""For each command and way to fail, in a nightly run: the number of calls after which the disk fails for good."""

COPIED = (BACKUP, FIX, RECOVER)
"""They copy pages, and apsw cannot end a copy while a disk in Python fails; test_full covers them."""

NEVER = ("store_corrupt", "not_a_store", "store_failed")
"""Errors that never report a failing disk."""

_FAILED = {
    "open": apsw.SQLITE_CANTOPEN,
    "create": apsw.SQLITE_CANTOPEN,
    "access": apsw.SQLITE_IOERR_ACCESS,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "unlink": apsw.SQLITE_IOERR_DELETE,
    **dict.fromkeys(("flush", "rename", "link", "remove"), errno.EIO),
}
_FULL = {
    **dict.fromkeys(("write", "truncate"), apsw.SQLITE_FULL),
    "sync": apsw.SQLITE_IOERR_FSYNC,
    **dict.fromkeys(("flush", "rename", "link"), errno.ENOSPC),
}
FAULTS = {
    "failed": _FAILED,
    "full": _FULL,
    "short": {"read": apsw.SQLITE_IOERR_READ, "write": apsw.SQLITE_FULL},
}
"""Ways to fail: nothing done, no space, or half done. By operation, the error of SQLite or Python."""


class Fault:
    """A disk on which the call with this number fails. is_for_good: all later calls fail too."""

    def __init__(self, how: str, number: int | None, *, is_for_good: bool = False) -> None:
        self.how = how
        self.number = number
        self.is_for_good = is_for_good
        self.seen = 0

    def __call__(self, call: Call, do: Do) -> object:
        code = FAULTS[self.how].get(call.kind)
        if code is None:
            return do()
        self.seen += 1
        if (
            self.number is None
            or self.seen - 1 < self.number
            or (self.seen - 1 > self.number and not self.is_for_good)
        ):
            return do()
        if self.how == "short" and call.kind == "write":
            do.func(call.content[: call.size // 2], call.at)  # type: ignore[attr-defined]
        if call.kind in ("flush", "rename", "link", "remove"):
            raise OSError(code, os.strerror(code), call.path)
        raise apsw.exception_for(code)


SOME = (ADD, COMPACT, IMPORT, PURGE, MIGRATE, BACKUP)
IN_CI = {(scene, how) for scene, how in zip(SOME, [*FAULTS] * 2, strict=True)} | {(ADD, how) for how in FAULTS}
"""Each way to fail once, and each command once."""


@pytest.mark.parametrize(
    ("scene", "how"),
    [
        pytest.param(scene, how, marks=[] if (scene, how) in IN_CI else [pytest.mark.slow], id=f"{scene.name}-{how}")
        for scene in SOME
        for how in FAULTS
    ],
)
def test_command_survives_a_few_disk_failures(
    scene: Scene, how: str, small: Stage, counted: Callable[..., None]
) -> None:
    some = _some(scene, how, small, 2 if IS_NIGHTLY else 1)
    counted("fault", f"{scene.name}, {how}", calls=_fail(scene, how, small, some))
    if scene not in COPIED:
        counted("fault", f"{scene.name}, {how} for good", calls=_fail(scene, how, small, some[:1], is_for_good=True))


def test_failed_read_is_not_reported_as_missing_fts5(small: Stage) -> None:
    assert _fail(INIT, "failed", small, range(6)) == 6


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_command_survives_failure_of_any_disk_call(
    scene: Scene, how: str, small: Stage, counted: Callable[..., None]
) -> None:
    counted("fault", f"{scene.name}, {how}", calls=_fail(scene, how, small, count()))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("scene", [each for each in SCENES if each not in COPIED], ids=lambda scene: scene.name)
def test_command_survives_disk_failing_from_any_call_on(
    scene: Scene, how: str, small: Stage, counted: Callable[..., None]
) -> None:
    some = _some(scene, how, small, FROM)
    counted("fault", f"{scene.name}, {how} for good", calls=_fail(scene, how, small, some, is_for_good=True))


def _some(scene: Scene, how: str, stage: Stage, most: int) -> list[int]:
    """Return the numbers of some random calls that can fail in this way."""
    base = stage.trial(scene)
    whole = Fault(how, None)
    with disk(whole):
        assert run(scene, base) == 0
    return random.Random(f"{SEED} {scene.name} {how}").sample(range(whole.seen), min(most, whole.seen))


def _fail(scene: Scene, how: str, stage: Stage, numbers: Iterable[int], *, is_for_good: bool = False) -> int:
    """Fail each of these calls in a separate run, up to the first unreached call; return the number of failures."""
    failed = 0
    for number in numbers:
        base = stage.trial(scene)
        fault = Fault(how, number, is_for_good=is_for_good)
        with disk(fault):
            _, answer = command(base, *scene.argv)
        assert answer.get("error", {}).get("code") not in NEVER, answer
        if fault.seen <= number:
            break
        if "recovered" in answer:
            _expect_recovered(base, answer["recovered"])
        expect_whole(scene, stage, base)
        stage.end(base)
        failed += 1
    assert failed
    return failed


def _expect_recovered(base: Path, recovered: dict[str, Any]) -> None:
    """Check that everything is there in any order, or that losses are reported. Then start again."""
    held = command(base, "stats")[1]["store"]["digest"]
    assert recovered["lost"] or recovered["digest"] == held
    (base / "new.db").unlink()
