"""How an evaluation puts questions to a store: the service's own steps, so that it measures what people get."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from recall_core.config import Config
from recall_core.retrieve import Answer, Plan
from recall_core.store.port import Store


class Searching(NamedTuple):
    """A store with what is needed to ask it. base: its folder. plan: words to a search for k rows."""

    store: Store
    base: Path
    config: Config
    k: int
    plan: Callable[[str], Plan]
    answer: Callable[[Plan], Answer]
    weigh: Callable[[Answer, Config], Answer]
    """The same pool under other ranking settings."""
