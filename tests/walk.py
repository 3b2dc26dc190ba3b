"""The steps of docs/tutorial.md as data: the keys or text, and the expected screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"

_ROW = re.compile(r"^\| (?P<do>(?:press|type) .*?) \| (?P<see>.*?) \|$")
_CODE = re.compile(r"`([^`]+)`")


class Step(NamedTuple):
    """A row of a table. done: keys by name, or one text to type. seen: expected texts on the screen."""

    verb: Literal["press", "type"]
    done: tuple[str, ...]
    seen: tuple[str, ...]


def steps(page: str) -> list[Step]:
    """Return the steps of a page, in order."""
    found = []
    for line in page.splitlines():
        if row := _ROW.match(line):
            verb: Literal["press", "type"] = "press" if row["do"].startswith("press") else "type"
            found.append(Step(verb, tuple(_CODE.findall(row["do"])), tuple(_CODE.findall(row["see"]))))
    return found
