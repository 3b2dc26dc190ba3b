"""Load and save what the workbench remembers for a person: the theme, and pane sizes by size of screen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recall_core.files import write_private
from recall_core.paths import state_folder

FILE = "workbench.json"
LEAST, MOST = 15, 85
"""Percent of the screen that a pane can be given."""


class PaneSizes(NamedTuple):
    """Where the borders are, in percent of the body; None is where the style sheet puts them."""

    right: int | None = None
    """The width of the right column."""
    below: int | None = None
    """The height of what is below the results, in the left column."""


class Preferences(NamedTuple):
    """theme: "" for the default. layouts: by size class of the screen.

    told: what was said of the keymap.toml last, and need not be said again.
    """

    theme: str = ""
    layouts: Mapping[str, PaneSizes] = {}
    told: str = ""


def load(environ: Mapping[str, str]) -> Preferences:
    """Return what is remembered; what cannot be read or makes no sense is not."""
    path = place(environ)
    try:
        record = json.loads(path.read_bytes()) if path is not None and path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return Preferences()
    if not isinstance(record, dict):
        return Preferences()
    theme, layouts = record.get("theme"), record.get("layouts")
    return Preferences(
        theme if isinstance(theme, str) else "",
        {size: _layout(each) for size, each in layouts.items()} if isinstance(layouts, dict) else {},
        told if isinstance(told := record.get("told"), str) else "",
    )


def save(environ: Mapping[str, str], chosen: Preferences) -> None:
    """Keep what was chosen for the next time, next to what any workbench has kept. Raises OSError."""
    path = place(environ)
    if path is not None:
        known = load(environ)
        layouts = {size: layout._asdict() for size, layout in sorted({**known.layouts, **chosen.layouts}.items())}
        record: dict[str, object] = {"theme": chosen.theme or known.theme, "layouts": layouts}
        if said := chosen.told or known.told:
            record["told"] = said
        write_private(path, json.dumps(record, indent=1) + "\n")


def place(environ: Mapping[str, str]) -> Path | None:
    """Return the file in the state folder; None without a home."""
    folder = state_folder(environ)
    return folder / FILE if folder is not None else None


def size_class(width: int, height: int) -> str:
    """Return the kind of screen that a layout is remembered for, by its cells."""
    across = "narrow" if width < 100 else "normal" if width < 160 else "wide"
    return f"{across}-{'short' if height < 32 else 'tall'}"


def clamp(percent: float) -> int:
    """Return a share of the screen that leaves room for the other side."""
    return max(LEAST, min(MOST, round(percent)))


def _layout(record: object) -> PaneSizes:
    if not isinstance(record, dict):
        return PaneSizes()
    sizes = (record.get(field) for field in PaneSizes._fields)
    return PaneSizes(*(each if type(each) is int and LEAST <= each <= MOST else None for each in sizes))
