"""Options of a query and of packing, and the protocol for answering a query step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar

from recall_core.argument_types import expect_type
from recall_core.config import SEARCH_K, SETTINGS, Config, Settings
from recall_core.errors import UsageError, expect_choice
from recall_core.named import NamedTuple
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import MODES, Plan, mode_named
from recall_core.store.port import Store
from recall_core.types import Hit, Packed, Vector

CONTEXT_FORMATS: dict[str, Settings] = {
    "plain": {},
    "markdown": {"header": "### [{n}] {path}:{lines}"},
    "xml": {"header": '<document index="{n}" path="{path}" lines="{lines}">', "footer": "</document>"},
}
"""Settings of each context format, which replace the configured ones."""


class Ask(NamedTuple):
    """Options of a query.

    k: None for the default.
    settings: live settings with their values; strings are `key=value`, as for --set.
    """

    k: int | None = None
    mode: str = "hybrid"
    filter: str | None = None
    settings: Settings | tuple[str, ...] = ()
    explain: bool = False
    exact: bool = False
    snapshot: str | None = None
    fresh: bool = False
    strict_fresh: bool = False
    receipt: bool = False
    """Add a receipt to an answer that is a list or a context."""
    passages: bool = True
    """Choose the passage of each hit of a list."""
    lines_around: int = 0
    """Lines of the document to show above and below each passage of a list."""
    verbose: bool = False
    """Also report checks that changed nothing."""
    documents_with_words: bool = False
    """List the documents with a query word, each with its best such row: k of them, or all. A semantic list stays as
    it is."""


class Pack(NamedTuple):
    """Options of packing; None for the configured value.

    pins, drops: ids or prefixes of packed chunks.
    lean: give the text of chunks and blocks only by its place in the context.
    """

    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    format: str = "plain"
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    pack: str | None = None
    lean: bool = False


Asked = TypeVar("Asked", Ask, Pack)


class AskFields(TypedDict, total=False):
    """Fields of Ask as keywords."""

    k: int | None
    mode: str
    filter: str | None
    settings: Settings | tuple[str, ...]
    explain: bool
    exact: bool
    snapshot: str | None
    fresh: bool
    strict_fresh: bool
    receipt: bool
    passages: bool
    lines_around: int
    verbose: bool
    documents_with_words: bool


class QuestionFields(AskFields, total=False):
    """Fields of Ask and Pack as keywords. The setting `pack` belongs into `settings`."""

    budget_tokens: int | None
    diversity: int | None
    counter: str | None
    format: str
    pins: tuple[str, ...]
    drops: tuple[str, ...]
    lean: bool


def merge_ask(ask: Ask | None, fields: AskFields) -> Ask:
    """Return a query's options, given as Ask or as keywords. Raises UsageError `conflicting_flags`, `bad_value`."""
    ask = _merge_given(Ask, ask, dict(fields))
    return ask._replace(mode=mode_named(ask.mode))


def asked_and_packed(ask: Ask | None, pack: Pack | None, fields: QuestionFields) -> tuple[Ask, Pack]:
    """Return the options of a query and of packing, each given as an object or as keywords.

    Raises UsageError `conflicting_flags`, `bad_value`.
    """
    given: Any = dict(fields)
    pack = _merge_given(Pack, pack, {key: given.pop(key) for key in Pack._fields if key in given})
    expect_choice("format", pack.format, CONTEXT_FORMATS)
    if pack.pack is not None:
        expect_choice("pack", pack.pack, SETTINGS["pack"].choices)
    return merge_ask(ask, given), pack


_EXAMPLES = {
    "Ask": f"ask=Ask(k=10, mode='hybrid'), or k=10, mode='hybrid' alone; mode is one of: {', '.join(MODES)}",
    "Pack": f"pack=Pack(budget_tokens=2000, pack='rank'); pack is one of: {', '.join(SETTINGS['pack'].choices)}",
}
"""Examples of the arguments, by class."""


def _merge_given(kind: type[Asked], whole: Asked | None, fields: Mapping[str, Any]) -> Asked:
    name = kind.__name__
    if not isinstance(whole, kind | None):
        message = f"{name.lower()} must be of class {name}, not {type(whole).__name__}."
        raise UsageError("bad_value", message, hint=_EXAMPLES[name])
    if whole is not None and fields:
        hint = f"{name}({', '.join(f'{key}=…' for key in fields)}), or its fields as keywords"
        message = f"{name} is given, so {', '.join(fields)} cannot be given as a keyword too."
        raise UsageError("conflicting_flags", message, hint=hint)
    made = kind(**fields) if whole is None else whole
    return kind._make(map(expect_type, kind._fields, made, kind.__annotations__.values()))


def rows_of(ask: Ask) -> int:
    """Return the number of rows that such a search shows."""
    return SEARCH_K if ask.k is None else ask.k


class Asker(Protocol):
    """An open store that answers a query step by step. Evaluations and explanations measure these steps."""

    @property
    def store(self) -> Store:
        """The store that is searched."""

    @property
    def base(self) -> Path:
        """The folder that the store's relative paths start from."""

    @property
    def config(self) -> Config:
        """The settings, without those of a query."""

    def words_plan(self, words: str, ask: Ask, *, is_typed: bool = True) -> Plan:
        """Return the plan of a search for these words."""

    def rql_plan(self, text: str, ask: Ask) -> Plan:
        """Return the plan of an RQL query. Raises RqlError."""

    def scoped(self, plan: Plan) -> Plan:
        """Return the plan with the filter that every query of this store has."""

    def answer(self, plan: Plan) -> Answer:
        """Search and rank."""

    def vector(self, plan: Plan) -> Vector | None:
        """Return the embedding of the query, or None if the plan has no semantic signal."""

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """Rank the same pool with other settings."""

    def cited(self, answer: Answer, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits of an answer with their passages, as they are packed."""

    def pack(self, answer: Answer, options: Pack, *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget.

        cites: False leaves out the passages, which only decide where a chunk that does not fit is cut.
        """
