"""Completion of a query: the states of the grammar, and candidates for editors and shells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from recall_core.errors import RqlError
from recall_core.rql.ast import Field, Value
from recall_core.rql.fields import CATALOGUE, FieldInfo, info_of
from recall_core.rql.highlight import CLAUSES, FUNCTIONS, KEYWORDS, TABLES
from recall_core.rql.lexer import Cursor, PieceKind, SourceWord, keyword, pieces, read_field
from recall_core.rql.options import OPTIONS
from recall_core.rql.print import print_field, print_value

Source = Literal["field", "score", "table", "function", "words", "option", "setting", "value", "symbol", "keyword"]

_EQUAL = dict.fromkeys(("=", "!=", "<>"), "value")
_ORDERED = dict.fromkeys(("<", "<=", ">", ">="), "bound")
_INFIX = {"IN": "open", "BETWEEN": "low", "LIKE": "bound", "ILIKE": "bound", "GLOB": "bound"}

# Each state and where its next word leads: a keyword, a symbol, "word" for any name, "any" for anything.
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
    "words": {"(": "argument"},
    "argument": {"any": "given"},
    "given": {")": "held"},
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
    "operand": ("field", "keyword", "words"),
    "operator": ("symbol", "keyword"),
    "list": ("value", "keyword"),
    "low": ("value",),
    "bound": ("value",),
    "value": ("value", "keyword"),
    "key": ("score", "field"),
    "option": ("option",),
    "setting": ("setting",),
}
_TRUTHS = ("value", "list")  # TRUE and FALSE have neither order nor pattern, and only metadata contains them


class Word(NamedTuple):
    """A token, or a whole dotted name."""

    kind: PieceKind
    text: str
    start: int
    end: int


class Expected(NamedTuple):
    """The possible continuations. field: the field of the current predicate, as written."""

    sources: tuple[Source, ...]
    keywords: tuple[str, ...]
    symbols: tuple[str, ...]
    field: str | None
    functions: tuple[str, ...]
    """The search functions used so far."""
    options: tuple[str, ...]
    """The options used so far; the last may still need its value."""
    documents_only: bool
    """True if a chunk's field is not allowed here."""


class _ClauseReader:
    """The state after each word. A word that does not fit is ignored, but a clause keyword starts a clause."""

    def __init__(self) -> None:
        self.state = "start"
        self.table = ""
        self.field: str | None = None
        self.depth = 0
        self.clauses: list[str] = []
        self.functions: list[str] = []
        self.options: list[str] = []

    def read(self, word: Word) -> None:
        """Read one word."""
        capitals = keyword(word.text) if word.kind == "name" else ""
        if capitals in CLAUSES and self._begins(capitals):
            return
        self._remember(word)
        following = _NEXT[self.state]
        if capitals in KEYWORDS or word.kind == "symbol":
            self._bracket(word.text)
            self.state = following.get(capitals or word.text, following.get("any", self.state))
        elif word.kind == "name":
            has_words = self.state == "operand" and word.text == "lexical"
            self.state = "words" if has_words else following.get("word", following.get("any", self.state))
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
        """Return what may come after the last word."""
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
    """Return what the grammar allows after these words. Words that do not fit are skipped."""
    reader = _ClauseReader()
    for word in words:
        reader.read(word)
    return reader.expected()


CandidateKind = Literal["keyword", "field", "table", "function", "operator", "option", "value"]
_FUNCTION_DOCS = {
    "semantic": "nearness of meaning, by vectors",
    "lexical": "words, by BM25",
    "lexical_fts": "words in the full-text index's own syntax",
}
_SIGNAL = {
    "lexical": ("lexical", "lexical_fts"),
    "lexical_fts": ("lexical", "lexical_fts"),
    "semantic": ("semantic",),
}
_OPERATORS = ("IN", "BETWEEN", "HAS", "IS", "NOT", "LIKE", "ILIKE", "GLOB")
_UNFIT = {"integer": ("LIKE", "ILIKE", "GLOB", "HAS"), "tags": ("<", "<=", ">", ">=", "BETWEEN")}
_NOT_TAGS = ("HAS",)


class Completion(NamedTuple):
    """A completion: `text` replaces the source from start to end (code points, end exclusive)."""

    text: str
    kind: CandidateKind
    start: int
    end: int
    detail: str
    """A short description for people; "" if the text explains itself."""


class KnownValue(NamedTuple):
    """A value in a store, with the number of documents that have it."""

    value: Value
    documents: int


SUGGESTIONS = 20
"""Suggestions of one kind: more than a person reads."""


class Vocabulary(Protocol):
    """Suggestions from a store: a few entries per call, most frequent first, ties in code point order."""

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Return metadata keys with this prefix."""

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Return values of the field whose text has this prefix."""


class NoVocabulary:
    """The vocabulary without a store."""

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Return nothing."""
        return ()

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Return nothing."""
        return ()


class _CursorPlace(NamedTuple):
    """The cursor's position. prefix: the typed part of the word that a candidate replaces from start to end."""

    words: tuple[Word, ...]
    prefix: str
    start: int
    end: int
    quoted: bool = False


def complete(text: str, cursor: int, *, vocabulary: Vocabulary) -> list[Completion]:
    """Return the candidates at a cursor (code points), best first, for any text; none inside a comment.

    Keywords and fields come in the order of the language, values in the order of the vocabulary. The typed part of a
    word filters by prefix, ignoring case; a field also matches by its bare name.
    """
    storable = text.encode("utf-8", "replace").decode()  # no store contains a lone surrogate
    place = _place(storable, min(max(cursor, 0), len(text)))
    if place is None:
        return []
    expected = expected_after(place.words)
    if place.quoted:
        return list(_values(expected, place, vocabulary)) if "value" in expected.sources else []
    found: list[Completion] = []
    for source in expected.sources:
        found += _SOURCES[source](expected, place, vocabulary)
    return found


def _place(text: str, cursor: int) -> _CursorPlace | None:
    words: list[Word] = []
    for word in _words(text):
        if word.start >= cursor:
            break
        is_quoted = word.kind in ("string", "open")
        if word.kind == "comment" and cursor <= word.end:
            return None
        if is_quoted and (cursor < word.end or word.kind == "open"):
            return _in_string(text, word, cursor, tuple(words))
        if word.kind in ("name", "number") and cursor <= word.end:
            return _CursorPlace(tuple(words), text[word.start : cursor], word.start, word.end)
        if word.kind != "comment":
            words.append(word)
    return _CursorPlace(tuple(words), "", cursor, cursor)


def _in_string(text: str, word: Word, cursor: int, words: tuple[Word, ...]) -> _CursorPlace:
    """Return the place in a string. The rest is replaced too, unless it contains white space: its quote may be
    another's.
    """
    rest = text[cursor : word.end]
    end = cursor if word.kind == "open" or any(map(str.isspace, rest)) else word.end
    return _CursorPlace(words, text[word.start + 1 : cursor], word.start, end, quoted=True)


def _words(text: str) -> Iterator[Word]:
    """Yield the tokens, with each dotted name as one word."""
    held: Word | None = None
    for piece in pieces(text):
        if held is not None and held.end == piece.start and _continues(held, piece):
            held = Word("name", held.text + piece.text, held.start, piece.end)
            continue
        if held is not None:
            yield held
        held = Word(*piece)
    if held is not None:
        yield held


def _continues(held: Word, piece: SourceWord) -> bool:
    if held.kind != "name":
        return False
    if held.text.endswith("."):
        return piece.kind in ("name", "string")
    return piece.text == "."


def _keywords(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    unfit = _unfit_operators(expected.field)
    for word in expected.keywords:
        kind: CandidateKind = "operator" if word in _OPERATORS else "keyword"
        if _begins(word, place.prefix) and word not in unfit:
            yield Completion(word, kind, place.start, place.end, "")


def _symbols(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    unfit = _unfit_operators(expected.field)
    for symbol in expected.symbols:
        if not place.prefix and symbol not in unfit:
            yield Completion(symbol, "operator", place.start, place.end, "")


def _unfit_operators(raw: str | None) -> tuple[str, ...]:
    field = _field(raw)
    if field is None:
        return ()
    kind = info_of(field).type
    return _UNFIT.get(kind, ()) + (() if kind == "tags" else _NOT_TAGS)


def _fields(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    if place.prefix.startswith("doc.meta."):
        yield from _meta_fields(place, vocabulary)
        return
    for info in CATALOGUE:
        if (_begins(info.qualified, place.prefix) or _begins(info.name, place.prefix)) and _fits(info, expected):
            text = info.qualified + ("." if info.type == "meta" else "")
            yield Completion(text, "field", place.start, place.end, info.doc)


def _fits(info: FieldInfo, expected: Expected) -> bool:
    return not (expected.documents_only and info.table == "chunk")


def _meta_fields(place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    typed = place.prefix.removeprefix("doc.meta.").strip("'\"")
    for known in vocabulary.keys(typed):
        text = print_field(Field("doc", "meta", str(known.value)))
        yield Completion(text, "field", place.start, place.end, _count_documents(known.documents))


def _score(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    if _begins("score", place.prefix):
        yield Completion("score", "field", place.start, place.end, "relevance of the row for USING")


def _tables(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    for table in TABLES:
        if _begins(table, place.prefix):
            yield Completion(table, "table", place.start, place.end, f"one row for each {_ROWS[table]}")


_ROWS = {"chunk": "chunk", "doc": "document"}


def _functions(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    taken = {other for name in expected.functions for other in _SIGNAL.get(name, ())}
    for name in FUNCTIONS:
        if _begins(name, place.prefix) and name not in taken:
            yield Completion(f"{name}(", "function", place.start, place.end, _FUNCTION_DOCS[name])


def _phrase(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    if place.prefix and _begins("lexical", place.prefix):
        yield Completion("lexical(", "function", place.start, place.end, "these words, next to each other")


def _options(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    for name, option in OPTIONS.items():
        if _begins(name, place.prefix) and name not in expected.options[:-1]:
            yield Completion(name, "option", place.start, place.end, option.doc)


def _settings(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    option = OPTIONS.get(expected.options[-1]) if expected.options else None
    if option is None:
        return
    switches = ("OFF",) if option.names_anything else ("ON", "OFF") if option.least is None else ()
    for choice in option.choices or switches:
        if _begins(choice, place.prefix):
            yield Completion(choice, "value", place.start, place.end, option.doc)


def _values(expected: Expected, place: _CursorPlace, vocabulary: Vocabulary) -> Iterator[Completion]:
    field = _field(expected.field)
    if field is None:
        return
    for known in vocabulary.values(field, place.prefix):
        if isinstance(known.value, str) or not place.quoted:
            text = print_value(known.value)
            yield Completion(text, "value", place.start, place.end, _count_documents(known.documents))


_SOURCES = {
    "keyword": _keywords,
    "symbol": _symbols,
    "field": _fields,
    "score": _score,
    "table": _tables,
    "function": _functions,
    "words": _phrase,
    "option": _options,
    "setting": _settings,
    "value": _values,
}


def _field(raw: str | None) -> Field | None:
    if raw is None:
        return None
    try:
        return read_field(Cursor(raw))[0]
    except RqlError:
        return None


def _begins(word: str, prefix: str) -> bool:
    return word.lower().startswith(prefix.lower())


def _count_documents(documents: int) -> str:
    return "1 document" if documents == 1 else f"{documents} documents"
