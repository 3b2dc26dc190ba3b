"""The catalogue of fields: names, types and descriptions."""

from __future__ import annotations

from math import isfinite
from sys import float_info
from typing import Literal, cast

from recall_core.errors import UsageError
from recall_core.named import NamedTuple
from recall_core.rql.ast import And, Compare, Expr, Field, IsNull, Not, Or, Query, Score, Value, Words
from recall_core.shell import flag
from recall_core.text import is_storable
from recall_core.types import Chunk, Document, MetaValue, Table

FieldType = Literal["text", "integer", "time", "tags", "meta"]
FieldValue = str | int | float | bool | tuple[str, ...] | None


class FieldInfo(NamedTuple):
    """One field of the language. doc: its description, for help and completion."""

    table: Table
    name: str
    type: FieldType
    doc: str

    @property
    def qualified(self) -> str:
        """The name as used in a filter."""
        return f"{self.table}.{self.name}"


CATALOGUE: tuple[FieldInfo, ...] = (
    FieldInfo("doc", "id", "text", "sha256 of path and content hash: one version of a document"),
    FieldInfo("doc", "path", "text", "path below the store's folder, or absolute; / between segments"),
    FieldInfo("doc", "mtime", "time", "time of the file's last change, UTC"),
    FieldInfo("doc", "hash", "text", "sha256 of the file's bytes"),
    FieldInfo("doc", "tag", "tags", "one tag of the document; shown and sorted by the first"),
    FieldInfo("doc", "tags", "tags", "every tag, in code point order"),
    FieldInfo("doc", "source", "text", f"label set with {flag('source')}, if any"),
    FieldInfo("doc", "title", "text", "title of a record, first heading of a Markdown file, else the file name"),
    FieldInfo("doc", "meta", "meta", "a metadata value: doc.meta.key, or doc.meta.'any key'"),
    FieldInfo("chunk", "id", "text", "sha256 of the document's id and the chunk's offset"),
    FieldInfo("chunk", "doc_id", "text", "id of the chunk's document"),
    FieldInfo("chunk", "offset", "integer", "start of the chunk in its document, in code points"),
    FieldInfo("chunk", "tokens", "integer", "number of tokens, by the store's counter"),
    FieldInfo("chunk", "text", "text", "text of the chunk, verbatim"),
)

_BY_NAME = {info.qualified: info for info in CATALOGUE}


def lookup(table: str, name: str) -> FieldInfo | None:
    """Return the field of that table and name, or None."""
    return _BY_NAME.get(f"{table}.{name}")


def info_of(field: Field) -> FieldInfo:
    """Return the catalogue entry of a parsed field."""
    return _BY_NAME[f"{field.table}.{field.name}"]


def qualified_names() -> tuple[str, ...]:
    """Return every field as used in a filter, in catalogue order."""
    return tuple(_BY_NAME)


def select_names(query: Query) -> tuple[str, ...]:
    """Return the names that a query selects, in order, each once: "doc.path", "doc.meta.key", "score".

    `*` selects the chunk's fields with FROM chunk, then the document's fields, then the score if there is one.
    """
    if query.select is not None:
        return tuple(dict.fromkeys(map(_selected_name, query.select)))
    tables: tuple[Table, ...] = ("chunk", "doc") if query.table == "chunk" else ("doc",)
    names = tuple(info.qualified for table in tables for info in CATALOGUE if info.table == table)
    return (*names, "score") if query.using else names


def mentions_chunk(expr: Expr) -> bool:
    """Return True if the expression refers to a chunk, so a document alone cannot answer it."""
    if isinstance(expr, Not):
        return mentions_chunk(expr.operand)
    if isinstance(expr, And | Or):
        return any(map(mentions_chunk, expr.terms))
    return isinstance(expr, Words) or expr.field.table == "chunk"


def value_of(field: Field, document: Document, chunk: Chunk | None) -> FieldValue:
    """Return the field's value in one row, or None if it has none.

    Tags are a tuple in code point order. A metadata value that is a list or an object counts as missing. An integer
    beyond 64 bits becomes a float, as in the database.
    """
    if field.table == "chunk":
        return None if chunk is None else _chunk_value(field.name, chunk)
    if field.name in ("tag", "tags"):
        return tuple(sorted(document.tags))
    if field.name == "meta":
        return scalar(document.meta.get(field.key or ""))
    value: str | None = getattr(document, field.name)
    return value


def _chunk_value(name: str, chunk: Chunk) -> str | int:
    value: str | int = getattr(chunk, name)
    return value


def scalar(value: object) -> FieldValue:
    """Return a metadata value as filters see it: None for a list or an object, a float for more than 64 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return float(value)
    return value if isinstance(value, str | int | float) else None


def meta_equals(key: str, value: MetaValue) -> Expr:
    """Return the filter for documents whose key has this value, or no value if it is None.

    Raises UsageError `bad_filter`, see `check_meta`.
    """
    check_meta(key, value)
    field, literal = Field("doc", "meta", key), cast("Value | None", scalar(value))
    return IsNull(field) if literal is None else Compare(field, "=", literal)


def check_meta(key: object, *values: object) -> None:
    """Raise UsageError `bad_filter` for a key or values that metadata cannot have.

    A key is text, not empty. A value is text, a finite number, true, false or None. Text has no NUL and no lone
    surrogate.
    """
    reason = "" if isinstance(key, str) and key else f"{key!r} cannot be a key"
    for text in (each for each in (key, *values) if isinstance(each, str)):
        if "\0" in text or not is_storable(text):
            reason = f"{text!r} cannot be a key or text of metadata"
    for value in values:
        if not isinstance(value, MetaValue) or (isinstance(value, float) and not isfinite(value)):
            reason = f"Metadata cannot be compared with {value!r}"
        elif isinstance(value, int) and abs(value) > float_info.max:
            reason = "A number is too large"
    if reason:
        hint = 'a key such as "lang", and "de", 1, 0.5, True or None'
        raise UsageError("bad_filter", f"{reason}.", hint=hint)


def _selected_name(chosen: Field | Score) -> str:
    if isinstance(chosen, Score):
        return "score"
    return f"{chosen.table}.{chosen.name}" + (f".{chosen.key}" if chosen.key is not None else "")
