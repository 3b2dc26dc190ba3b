"""The catalogue of fields: what each is called, what it holds and what may be asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from recall_core.named import NamedTuple
from recall_core.rql.ast import And, Expr, Field, Not, Or, Query, Score
from recall_core.shell import flag
from recall_core.types import Chunk, Document, Table

FieldType = Literal["text", "integer", "time", "tags", "meta"]
FieldValue = str | int | float | bool | tuple[str, ...] | None


class FieldInfo(NamedTuple):
    """One field of the language. doc: what it holds, for help and completion."""

    table: Table
    name: str
    type: FieldType
    doc: str

    @property
    def qualified(self) -> str:
        """The name as a filter spells it."""
        return f"{self.table}.{self.name}"


CATALOGUE: tuple[FieldInfo, ...] = (
    FieldInfo("doc", "id", "text", "sha256 of path and content hash: one version of a document"),
    FieldInfo("doc", "path", "text", "path below the store's folder, or absolute; / between segments"),
    FieldInfo("doc", "mtime", "time", "when the file last changed, UTC"),
    FieldInfo("doc", "hash", "text", "sha256 of the file's bytes"),
    FieldInfo("doc", "tag", "tags", "has this tag; shown and ordered by the first tag"),
    FieldInfo("doc", "tags", "tags", "every tag, in code point order"),
    FieldInfo("doc", "source", "text", f"the label given with {flag('source')}, if any"),
    FieldInfo("doc", "title", "text", "a record's own title, a Markdown file's first heading, else the file's name"),
    FieldInfo("doc", "meta", "meta", "a metadata value: doc.meta.key, or doc.meta.'any key'"),
    FieldInfo("chunk", "id", "text", "sha256 of the document's id and the chunk's offset"),
    FieldInfo("chunk", "doc_id", "text", "the id of the chunk's document"),
    FieldInfo("chunk", "offset", "integer", "where the chunk begins in its document, in code points"),
    FieldInfo("chunk", "tokens", "integer", "tokens, as the store's counter counts"),
    FieldInfo("chunk", "text", "text", "the chunk, verbatim"),
)

_BY_NAME = {info.qualified: info for info in CATALOGUE}


def lookup(table: str, name: str) -> FieldInfo | None:
    """The field of that table and name, or None."""
    return _BY_NAME.get(f"{table}.{name}")


def info_of(field: Field) -> FieldInfo:
    """The catalogue entry of a parsed field."""
    return _BY_NAME[f"{field.table}.{field.name}"]


def qualified_names() -> tuple[str, ...]:
    """Every field as a filter spells it, in catalogue order."""
    return tuple(_BY_NAME)


def select_names(query: Query) -> tuple[str, ...]:
    """The names a query yields, in order and each once: "doc.path", "doc.meta.key", "score".

    `*` yields the document's fields, before them the chunk's for FROM chunk, and the score if there is one.
    """
    if query.select is not None:
        return tuple(dict.fromkeys(map(_selected_name, query.select)))
    tables: tuple[Table, ...] = ("chunk", "doc") if query.table == "chunk" else ("doc",)
    names = tuple(info.qualified for table in tables for info in CATALOGUE if info.table == table)
    return (*names, "score") if query.using else names


def fields_in(expr: Expr) -> Iterator[Field]:
    """Every field that an expression asks about, in reading order, repeats kept."""
    if isinstance(expr, Not):
        yield from fields_in(expr.operand)
    elif isinstance(expr, And | Or):
        for term in expr.terms:
            yield from fields_in(term)
    else:
        yield expr.field


def mentions_chunk(expr: Expr) -> bool:
    """True when the expression asks about a chunk, so that a document alone cannot answer it."""
    return any(field.table == "chunk" for field in fields_in(expr))


def value_of(field: Field, document: Document, chunk: Chunk | None) -> FieldValue:
    """The field's value in one row, or None where it has none.

    Tags come as a tuple in code point order. A metadata value that is a list or an object counts as missing; a
    whole number beyond 64 bits becomes a float, as it does in the database.
    """
    if field.table == "chunk":
        return None if chunk is None else _chunk_value(field.name, chunk)
    if field.name in ("tag", "tags"):
        return tuple(sorted(document.tags))
    if field.name == "meta":
        return _scalar(document.meta.get(field.key or ""))
    value: str | None = getattr(document, field.name)
    return value


def _chunk_value(name: str, chunk: Chunk) -> str | int:
    value: str | int = getattr(chunk, name)
    return value


def _scalar(value: object) -> FieldValue:
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return float(value)
    return value if isinstance(value, str | int | float) else None


def _selected_name(chosen: Field | Score) -> str:
    if isinstance(chosen, Score):
        return "score"
    return f"{chosen.table}.{chosen.name}" + (f".{chosen.key}" if chosen.key is not None else "")
