"""How a question is put to a store, how its hits are packed, and what whoever asks step by step may rely on."""

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
"""The settings that each format of a context has in place of those that are set."""


class Ask(NamedTuple):
    """How a question is asked. k: None leaves the default.

    settings: live ones with their values; strings are `key=value`, as --set takes them.
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
    """Give the answer's receipt with it, where the answer is a list or a context."""
    passages: bool = True
    """Choose the passage of each hit, where the answer is a list."""
    lines_around: int = 0
    """Lines of the document to give above and below each passage, where the answer is a list."""
    verbose: bool = False
    """Also say what was looked at and changed nothing."""
    documents_with_words: bool = False
    """Of a list by words, give the documents with a query word, each at its best row that has one: k of them, or all.
    A list by meaning alone stays as it is."""


class Pack(NamedTuple):
    """How hits are packed; None leaves the configured value. pins and drops: ids or prefixes of packed chunks.

    lean: say the text of chunks and blocks by its place in the context alone.
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
    """The fields of Ask, as keywords."""

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
    """The fields of Ask and Pack, as keywords. The setting `pack` is one of `settings`."""

    budget_tokens: int | None
    diversity: int | None
    counter: str | None
    format: str
    pins: tuple[str, ...]
    drops: tuple[str, ...]
    lean: bool


def merge_ask(ask: Ask | None, fields: AskFields) -> Ask:
    """Return how it is asked, given in one of the two ways. Raises UsageError `conflicting_flags`, `bad_value`."""
    ask = _merge_given(Ask, ask, dict(fields))
    return ask._replace(mode=mode_named(ask.mode))


def asked_and_packed(ask: Ask | None, pack: Pack | None, fields: QuestionFields) -> tuple[Ask, Pack]:
    """Return how it is asked and packed, each given in one of the two ways.

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
"""How a question is given to the library, by the class."""


def _merge_given(kind: type[Asked], whole: Asked | None, fields: Mapping[str, Any]) -> Asked:
    name = kind.__name__
    if not isinstance(whole, kind | None):
        message = f"{name.lower()} must be of class {name}, not {type(whole).__name__}."
        raise UsageError("bad_value", message, hint=_EXAMPLES[name])
    if whole is not None and fields:
        hint = f"{name}({', '.join(f'{key}=…' for key in fields)}), or its fields as keywords"
        message = f"{', '.join(fields)}: a field of the {name} that is given as well."
        raise UsageError("conflicting_flags", message, hint=hint)
    made = kind(**fields) if whole is None else whole
    return kind._make(map(expect_type, kind._fields, made, kind.__annotations__.values()))


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

    def vector(self, plan: Plan) -> Vector | None:
        """What the question means, as its embedder has it; None where it does not ask for meaning."""

    def weigh(self, answer: Answer, config: Config) -> Answer:
        """The same pool under other ranking settings."""

    def cited(self, answer: Answer, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits of an answer with their passages, as they are packed."""

    def pack(self, answer: Answer, options: Pack, *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget.

        cites: False leaves out the passages, which decide only where a chunk that does not fit is cut.
        """
