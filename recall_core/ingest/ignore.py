"""`.gitignore` files: the rules of a folder, of the folders above it in its repository, and what they exclude."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

_NAME = ".gitignore"


class Rules(NamedTuple):
    """The patterns of one `.gitignore`. folder: where it lies, as a prefix that ends in `/`."""

    folder: str
    spec: GitIgnoreSpec


def above(folder: Path) -> tuple[Rules, ...]:
    """The rules of the enclosing repository's folders above this one, outermost first.

    None of them count when they exclude the folder itself: who names an ignored folder wants what is in it.
    """
    parents = [folder, *folder.parents]
    depth = next((i for i, parent in enumerate(parents) if os.path.exists(parent / ".git")), 0)  # noqa: PTH110 - Path.exists raises where one may not look
    rules = tuple(found for parent in reversed(parents[1 : depth + 1]) for found in of_folder(parent))
    excluded = any(is_ignored(rules, str(parent), is_folder=True) for parent in parents[:depth])
    return () if excluded else rules


def of_folder(folder: Path) -> tuple[Rules, ...]:
    """The rules of a folder's own `.gitignore`; none where it is missing or cannot be read."""
    try:
        lines = (folder / _NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return (Rules(str(folder).rstrip("/") + "/", GitIgnoreSpec.from_lines(filter(_is_pattern, lines))),)


def is_ignored(rules: tuple[Rules, ...], place: str, *, is_folder: bool) -> bool:
    """True when the innermost `.gitignore` that has an opinion on this place says so."""
    for folder, spec in reversed(rules):
        if place.startswith(folder):
            verdict = spec.check_file(place[len(folder) :] + "/" * is_folder).include
            if verdict is not None:
                return verdict
    return False


def line_of(lines: Sequence[str], relative: str, *, is_folder: bool) -> int | None:
    """The number, from 1, of the line of a `.gitignore` that decides on a place below its folder."""
    for number in range(len(lines), 0, -1):
        line = lines[number - 1]
        if _is_pattern(line):
            spec = GitIgnoreSpec.from_lines([line])
            if spec.check_file(relative + "/" * is_folder).include is not None:
                return number
    return None


def _is_pattern(line: str) -> bool:
    """False for a line that means nothing, which git passes over in silence."""
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
