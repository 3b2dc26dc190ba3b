"""Whose folder and environment a call uses: those of the process, unless it works for another process.

They apply to everything that a thread does inside an `acting_for` block, as a deadline does.
"""

from __future__ import annotations

import os
from _thread import _local  # threading, which hands it on, costs a cold search a file
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


class _Caller(_local):
    folder: Path | None = None
    environ: Mapping[str, str] | None = None


_in_force = _Caller()


def folder() -> Path | None:
    """Return the caller's current folder, or None if it was deleted."""
    if _in_force.folder is not None:
        return _in_force.folder
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def environ() -> Mapping[str, str]:
    """Return the caller's environment."""
    return os.environ if _in_force.environ is None else _in_force.environ


@contextmanager
def acting_for(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Use this folder and environment in the block, in place of the process's own."""
    before = _in_force.folder, _in_force.environ
    _in_force.folder, _in_force.environ = folder, environ
    try:
        yield
    finally:
        _in_force.folder, _in_force.environ = before
