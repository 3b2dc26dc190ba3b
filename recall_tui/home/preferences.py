"""Load and save the user's preferences: the theme, and pane sizes by size of screen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recall_core.files import write_private
from recall_core.paths import state_folder

FILE = "workbench.json"
LEAST, MOST = 15, 85
"""Least and most percent of the screen for a pane."""


class PaneSizes(NamedTuple):
    """Places of the borders, in percent of the body. None uses the style sheet."""

    right: int | None = None
    """The width of the right column."""
    below: int | None = None
    """The height of the panes below the results, in the left column."""


class Preferences(NamedTuple):
    """The saved preferences.

    theme: "" for the default.
    layouts: by size class of the screen.
    reported: the faults of keymap.toml reported last, which are not reported again.
    """

    theme: str = ""
    layouts: Mapping[str, PaneSizes] = {}
    reported: str = ""


def load(environ: Mapping[str, str]) -> Preferences:
    """Return the saved preferences, without invalid parts."""
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
        faults if isinstance(faults := record.get("reported"), str) else "",
    )


def save(environ: Mapping[str, str], chosen: Preferences) -> None:
    """Save preferences, merged with those already saved. Raises OSError."""
    path = place(environ)
    if path is not None:
        known = load(environ)
        layouts = {size: layout._asdict() for size, layout in sorted({**known.layouts, **chosen.layouts}.items())}
        record: dict[str, object] = {"theme": chosen.theme or known.theme, "layouts": layouts}
        if faults := chosen.reported or known.reported:
            record["reported"] = faults
        write_private(path, json.dumps(record, indent=1) + "\n")


def place(environ: Mapping[str, str]) -> Path | None:
    """Return the file in the state folder, or None without a home folder."""
    folder = state_folder(environ)
    return folder / FILE if folder is not None else None


def size_class(width: int, height: int) -> str:
    """Return the class of screen sizes that share a layout."""
    across = "narrow" if width < 100 else "normal" if width < 160 else "wide"
    return f"{across}-{'short' if height < 32 else 'tall'}"


def clamp(percent: float) -> int:
    """Limit a share of the screen, so that the other side has room too."""
    return max(LEAST, min(MOST, round(percent)))


def _layout(record: object) -> PaneSizes:
    if not isinstance(record, dict):
        return PaneSizes()
    sizes = (record.get(field) for field in PaneSizes._fields)
    return PaneSizes(*(each if type(each) is int and LEAST <= each <= MOST else None for each in sizes))
