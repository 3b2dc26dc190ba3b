"""How a question is put to a store, how its hits are packed, and what whoever asks step by step may rely on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from recall_core.config import SEARCH_K, Config
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.store.port import Store
from recall_core.types import Packed


class Ask(NamedTuple):
    """How a question is asked. settings: `key=value`, as --set takes them. k: None leaves the default."""

    k: int | None = None
    mode: str = "hybrid"
    filter: str | None = None
    settings: tuple[str, ...] = ()
    explain: bool = False
    exact: bool = False
    snapshot: str | None = None
    fresh: bool = False
    strict_fresh: bool = False


class Pack(NamedTuple):
    """How hits are packed; None leaves the configured value. pins and drops: ids or prefixes of packed chunks."""

    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    format: str = "plain"
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    pack: str | None = None


def rows_of(ask: Ask) -> int:
    """How many rows a search shows that is asked so."""
    return SEARCH_K if ask.k is None else ask.k


class Asker(Protocol):
    """An open store, asked step by step as a search is answered: evaluations and explanations measure those steps."""

    @property
    def store(self) -> Store:
        """What is asked."""

    @property
    def base(self) -> Path:
        """The folder that the store's relative paths start from."""

    @property
    def config(self) -> Config:
        """The settings, before those that a question brings."""

    def words_plan(self, words: str, ask: Ask) -> Plan:
        """A search for these words, understood."""

    def rql_plan(self, text: str, ask: Ask) -> Plan:
        """A query in RQL, understood. Raises RqlError."""

    def answer(self, plan: Plan) -> Answer:
        """Search and rank."""

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """The same pool under other ranking settings."""

    def pack(self, answer: Answer, options: Pack) -> Packed:
        """The ranked list packed under a budget."""
