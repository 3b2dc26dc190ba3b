"""What the grammar allows after the words written so far, right or wrong: a table of states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from recall_core.rql.highlight import CLAUSES, KEYWORDS
from recall_core.rql.lexer import PieceKind, keyword

Source = Literal["field", "score", "table", "function", "option", "setting", "value", "symbol", "keyword"]

_EQUAL = dict.fromkeys(("=", "!=", "<>"), "value")
_ORDERED = dict.fromkeys(("<", "<=", ">", ">="), "bound")
_INFIX = {"IN": "open", "BETWEEN": "low", "LIKE": "bound", "ILIKE": "bound", "GLOB": "bound"}

# Each state and where its next word leads: a keyword, a symbol, or "word" for any name and "any" for anything.
_NEXT: dict[str, dict[str, str]] = {
    "start": {"SELECT": "select"},
    "select": {"*": "selected", "word": "selected"},
    "selected": {"FROM": "from", ",": "select"},
    "from": {"word": "clauses"},
    "clauses": {";": "end"},
    "using": {"word": "function"},
    "function": {"(": "text"},
    "text": {"any": "texted"},
    "texted": {")": "used"},
    "used": {",": "using", ";": "end"},
    "operand": {"NOT": "operand", "(": "operand", "word": "operator"},
    "operator": {**_EQUAL, **_ORDERED, **_INFIX, "HAS": "has", "IS": "is", "NOT": "negated"},
    "negated": _INFIX,
    "is": {"NULL": "held", "NOT": "isnot"},
    "isnot": {"NULL": "held"},
    "has": {"ANY": "open", "ALL": "open"},
    "open": {"(": "list"},
    "list": {"any": "listed"},
    "listed": {",": "list", ")": "held"},
    "low": {"any": "between"},
    "between": {"AND": "bound"},
    "bound": {"any": "held"},
    "value": {"any": "held"},
    "held": {"AND": "operand", "OR": "operand", ")": "held", ";": "end"},
    "order": {"BY": "key"},
    "key": {"word": "keyed"},
    "keyed": {"ASC": "directed", "DESC": "directed", ",": "key", ";": "end"},
    "directed": {",": "key", ";": "end"},
    "limit": {"any": "limited"},
    "limited": {"OFFSET": "offset", ";": "end"},
    "offset": {"any": "clauses"},
    "option": {"word": "setting"},
    "setting": {"any": "set"},
    "set": {",": "option", ";": "end"},
    "end": {},
}
_BEGINS = {"USING": "using", "FILTER": "operand", "ORDER": "order", "LIMIT": "limit", "OPTION": "option"}
_MAY_END = ("clauses", "used", "held", "keyed", "directed", "limited", "set")
_OFFERS: dict[str, tuple[Source, ...]] = {
    "select": ("symbol", "score", "field"),
    "from": ("table",),
    "using": ("function",),
    "operand": ("field", "keyword"),
    "operator": ("symbol", "keyword"),
    "list": ("value", "keyword"),
    "low": ("value",),
    "bound": ("value",),
    "value": ("value", "keyword"),
    "key": ("score", "field"),
    "option": ("option",),
    "setting": ("setting",),
}
_TRUTHS = ("value", "list")  # TRUE and FALSE have neither order nor pattern, and only metadata holds them


class Word(NamedTuple):
    """A piece, or a dotted name as a whole."""

    kind: PieceKind
    text: str
    start: int
    end: int


class Expected(NamedTuple):
    """What may come next. field: the field asked about, as written."""

    sources: tuple[Source, ...]
    keywords: tuple[str, ...]
    symbols: tuple[str, ...]
    field: str | None
    functions: tuple[str, ...]
    """The search functions that stand already."""
    options: tuple[str, ...]
    """The options that stand already; the last is the one whose value comes, where one does."""
    documents_only: bool
    """A chunk's field makes no sense here."""


class _ClauseReader:
    """The state after each word. A word that does not fit leaves the state as it is, a clause always begins."""

    def __init__(self) -> None:
        self.state = "start"
        self.table = ""
        self.field: str | None = None
        self.depth = 0
        self.clauses: list[str] = []
        self.functions: list[str] = []
        self.options: list[str] = []

    def read(self, word: Word) -> None:
        """Go on by one word."""
        capitals = keyword(word.text) if word.kind == "name" else ""
        if capitals in CLAUSES and self._begins(capitals):
            return
        self._remember(word)
        following = _NEXT[self.state]
        if capitals in KEYWORDS or word.kind == "symbol":
            self._bracket(word.text)
            self.state = following.get(capitals or word.text, following.get("any", self.state))
        elif word.kind == "name":
            self.state = following.get("word", following.get("any", self.state))
        else:
            self.state = following.get("any", self.state)

    def _begins(self, clause: str) -> bool:
        if clause in _BEGINS:
            self.clauses.append(clause)
            self.state, self.depth = _BEGINS[clause], 0
        elif clause == "SELECT" and self.state == "start":
            self.state = "select"
        elif clause == "FROM" and self.state in ("select", "selected"):
            self.state = "from"
        else:
            return False
        return True

    def _remember(self, word: Word) -> None:
        if self.state == "from":
            self.table = word.text
        elif self.state == "operand" and word.kind == "name":
            self.field = word.text
        elif self.state == "using" and word.kind == "name":
            self.functions.append(word.text)
        elif self.state == "option" and word.kind == "name":
            self.options.append(word.text)

    def _bracket(self, symbol: str) -> None:
        if symbol == "(" and self.state == "operand":
            self.depth += 1
        elif symbol == ")" and self.state == "held":
            self.depth -= 1

    def expected(self) -> Expected:
        """What may come after the last word."""
        words = [word for word in _NEXT[self.state] if word in KEYWORDS]
        if self.state in _TRUTHS and (self.field or "").startswith("doc.meta."):
            words += ["TRUE", "FALSE"]
        if self.state in _MAY_END and self.depth <= 0:
            words += [clause for clause in _BEGINS if clause not in self.clauses]
        setting = self.options if self.state == "setting" else [*self.options, ""]
        return Expected(
            sources=_OFFERS.get(self.state, ("keyword",)),
            keywords=tuple("ORDER BY" if word == "ORDER" else word for word in words),
            symbols=tuple(word for word in _NEXT[self.state] if not word[0].isalpha()),
            field=self.field if self.state not in ("operand", "held") else None,
            functions=tuple(self.functions),
            options=tuple(setting),
            documents_only=self.table == "doc" and self.state == "key",
        )


def expected_after(words: Iterable[Word]) -> Expected:
    """What the grammar allows after these words; what does not fit is passed over."""
    reader = _ClauseReader()
    for word in words:
        reader.read(word)
    return reader.expected()
