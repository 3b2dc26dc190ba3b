"""A third-party package on disk, with entry points that Recall finds."""

from __future__ import annotations

import importlib.metadata
import sys
from functools import cache
from pathlib import Path

import pytest

from recall_core import _lazy

_ENTRY_POINTS = importlib.metadata.entry_points


def scan_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan the installed packages once for each sys.path, since a scan takes 60 ms."""

    def entry_points(*, group: str) -> importlib.metadata.EntryPoints:
        return _scan(tuple(sys.path)).select(group=group)

    monkeypatch.setattr(_lazy.metadata, "entry_points", entry_points)


def scan_only(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Recall find only the packages in this folder, which is put on sys.path."""
    monkeypatch.syspath_prepend(site)
    monkeypatch.syspath_prepend(site / "alone")  # what Recall found for another sys.path does not apply here
    monkeypatch.setattr(_lazy.metadata, "entry_points", lambda *, group: _in_folder(site, group))


def _in_folder(site: Path, group: str) -> list[importlib.metadata.EntryPoint]:
    points = _scan(tuple(sys.path)).select(group=group)
    return [point for point in points if point.dist and Path(str(point.dist.locate_file(""))) == site]


@cache
def _scan(_path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    return _ENTRY_POINTS()


def write_plug_in(site: Path, name: str, entry_points: str, *, source: str | None = None) -> None:
    """Write an installed package of that name. source: code of its one module, which has the same name."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    if source is not None:
        (site / f"{name}.py").write_text(source, encoding="utf-8")
