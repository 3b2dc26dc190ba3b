"""A package of a stranger on disk, with entry points that Recall finds."""

from __future__ import annotations

from pathlib import Path


def write_plug_in(site: Path, name: str, entry_points: str, *, source: str | None = None) -> None:
    """Write what an installed package of that name looks like. source: of its one module, of that name too."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    if source is not None:
        (site / f"{name}.py").write_text(source, encoding="utf-8")
