"""What the query thread has before it: its answer, and what it knows of others' writing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from recall_tui.state.session import Packing
from recall_tui.work.rows import States

if TYPE_CHECKING:
    from recall_core.retrieve import Answer


class Desk(NamedTuple):
    """What the query thread has made true so far. An answer outlives newer questions that have none."""

    states: States
    """Of the files of this question; a new one looks at them anew."""
    generation: int = 0
    question: int = 0
    answer: Answer | None = None
    fixed: tuple[str, ...] = ()
    plain: Answer | None = None
    """The same question with the candidates that the saved settings find, where those that are moved find others."""
    ranks: Mapping[int, int] = {}
    """Under the saved settings, by position in the pool; empty while those hold."""
    window: tuple[int, int] = (0, 0)
    packing: Packing | None = None
    charted: tuple[str, ...] = ()
    """The settings whose chart was sent: all that a chart depends on besides the pool."""


class Written(NamedTuple):
    """What shows that others have written."""

    changes: int = -1
    generation: int = 0
    judged: str = ""
