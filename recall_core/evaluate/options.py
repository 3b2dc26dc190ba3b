"""How an evaluation is asked for, understood before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from recall_core.config import Settings
from recall_core.errors import UsageError
from recall_core.evaluate.measures import DEFAULT
from recall_core.evaluate.units import Unit
from recall_core.shell import AGAIN, Hint, flag

DEPTH = 100  # TREC's own runs go to 1,000; few people read beyond 100
MODES = {"hybrid": "hybrid", "bm25": "lexical", "vector": "semantic"}
"""As the command line names them, and as a plan does. Each is read by either name."""


RunWriter = Callable[[str, Iterator[str]], str]
"""Writes the lines of a mode's run, and returns where."""


class EvalOptions(NamedTuple):
    """What eval is told. queries and qrels: without a file, those in the store."""

    queries: Path | None = None
    qrels: Path | None = None
    modes: str = "hybrid"
    metrics: str = DEFAULT
    depth: int = DEPTH
    baseline: Path | None = None
    gate: str | None = None
    per_query: bool = False
    settings: Settings | tuple[str, ...] = ()
    """As in Ask."""
    write_run: RunWriter | None = None
    unit: Unit | None = None
    """None: documents where a file gives the judgements, else chunks if the store's are all of chunks or spans."""

    @property
    def is_semantic(self) -> bool:
        """Some mode takes vectors."""
        return any(MODES[mode] != "lexical" for mode in parse_modes(self.modes))


def parse_modes(text: str) -> tuple[str, ...]:
    """The modes in a list with commas, each once. Raises UsageError `bad_value`."""
    names = {mode: name for name, mode in MODES.items()}
    parts = (part.strip().lower() for part in text.split(","))
    modes = tuple(dict.fromkeys(names.get(part, part) for part in parts))
    for mode in modes:
        if mode not in MODES:
            near = get_close_matches(mode, MODES, n=1)
            hint = f"did you mean {near[0]}?" if near else Hint(AGAIN, modes=",".join(MODES))
            raise UsageError("bad_value", f"{flag('modes')}: there is no mode {mode!r}.", hint=hint)
    return modes
