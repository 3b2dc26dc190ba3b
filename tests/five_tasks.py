"""Five tasks of workbench users: the keys of each task, and the labels that lead to them.

A key counts as one step. A text typed into a field also counts as one, whatever its length, and the Enter after it as
another. Every task begins when the query in the field has just been answered.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.real_pages import MISSING

NARROW, USUAL, WIDE = (80, 24), (120, 40), (200, 60)
"""Terminal sizes in columns and rows."""
BUDGET = "800"
GRADES = "aasaasdasa"


class Step(NamedTuple):
    """A key, or a text for a field, and what is on screen before it is pressed. Keys have their Textual names."""

    key: str
    label: str
    is_text: bool = False


class Task(NamedTuple):
    """A task, its steps and the screen at the end."""

    name: str
    steps: tuple[Step, ...]
    shown: tuple[str, ...]


def tasks(size: tuple[int, int]) -> list[Task]:
    """Return the tasks for a terminal of this size; a narrow one shows one pane behind the results at a time."""
    is_narrow = size == NARROW
    out = Step("escape", "Esc out")
    whole = (out, Step("w", "w why this"), Step("z", "z zoom")) if is_narrow else ()
    context = (Step("5", "5 context"),) if is_narrow else ()
    judge = (Step("6", "6 judge"),) if is_narrow else ()
    number = {"a": 3, "s": 2, "d": 1, "f": 0}
    return [
        Task("why is this first", whole, ("First:", "lexical", "semantic", "✓ parts sum to score")),
        Task(
            "why is a page missing, and mend it",
            (
                out,
                Step("m", "m why missing"),
                Step(MISSING, "Which document is missing?", is_text=True),
                Step("enter", "Enter chooses"),
                Step("enter", "Enter apply"),
            ),
            ("✓ applied: show", "u undoes it"),
        ),
        Task(
            "tune and save",
            (
                out,
                Step("4", "4 weights" if is_narrow else "4 Weights"),
                Step("right", "Right more"),
                Step("S", "S save"),
                Step("y", "y yes"),
            ),
            ("lexical 0.85", "0.15 semantic", "saved settings"),
        ),
        Task(
            "what does the agent get for 800 tokens",
            (
                out,
                *context,
                Step("b", "b budget"),
                Step(BUDGET, "tokens, then Enter", is_text=True),
                Step("enter", "tokens, then Enter"),
            ),
            ("5 Context", "of 800 tokens", "left out"),
        ),
        Task(
            "grade ten and measure",
            (
                out,
                Step("g", "g grade"),
                *(Step(letter, f"{letter} {number[letter]}") for letter in GRADES),
                *judge,
            ),
            ("1 of 1 query judged (chunks)", "nDCG@10"),
        ),
    ]


KEYS_BEFORE = {NARROW: (3, 5, 5, 5, 12), USUAL: (0, 5, 5, 4, 11), WIDE: (0, 5, 5, 4, 11)}
"""The keys of each task in the first draft of the workbench (decision 42)."""
KEYS = {NARROW: (3, 5, 5, 5, 13), USUAL: (0, 5, 5, 4, 12), WIDE: (0, 5, 5, 4, 12)}
"""The keys of each task now."""


def is_painted(label: str, screen: str) -> bool:
    """Return True if a text is on the screen as whole words: `s 2` is not part of `items 25`."""
    return bool(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", screen))
