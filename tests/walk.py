"""The steps of docs/tutorial.md, as data: what is pressed or typed, and what the screen then says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"

_ROW = re.compile(r"^\| (?P<do>(?:press|type) .*?) \| (?P<see>.*?) \|$")
_CODE = re.compile(r"`([^`]+)`")


class Step(NamedTuple):
    """A row of a table. done: keys by name, or one text to type. seen: texts that the screen then holds."""

    verb: Literal["press", "type"]
    done: tuple[str, ...]
    seen: tuple[str, ...]


def steps(page: str) -> list[Step]:
    """The steps of a page, in order."""
    found = []
    for line in page.splitlines():
        if row := _ROW.match(line):
            verb: Literal["press", "type"] = "press" if row["do"].startswith("press") else "type"
            found.append(Step(verb, tuple(_CODE.findall(row["do"])), tuple(_CODE.findall(row["see"]))))
    return found
