"""Receipts: a record of an answer in a sealed file, and a comparison with the answer of today.

A receipt may come from a stranger. It can only ask a question and be compared with the answer. It cannot name a file
to read or an address to send text to; see `expect_harmless`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from recall_core import paths
from recall_core.config import SETTINGS, Config, SettingValue
from recall_core.contract.explaining import ReplayChangeView
from recall_core.errors import UsageError, why_unread
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.text import ESTIMATES
from recall_core.types import Document

FORMAT = 1
MOST_BYTES = 64 * 2**20
_OWN_MODELS = ("", "hash", "local", "minilm")
"""Rerankers that read no file of the user and send nothing."""
_OWN_COUNTERS = (None, "", *ESTIMATES)
_PACKING = (
    *(
        "pack_counter",
        "budget_tokens",
        "diversity",
        "min_fragment",
        "pack",
        "header",
        "footer",
        "separator",
        "line_numbers",
    ),
    "sparse_share",
)
_OF_QUERIES = ("max_limit", "strict")
_ASIDE = ("version", "store")
"""Kinds of change that leave the answer the same."""


class _ReceiptStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a receipt; unknown fields are an error."""


class ReceiptPacking(_ReceiptStruct, frozen=True):
    """Options of a packed context; None means the default."""

    budget_tokens: int | None
    diversity: int | None
    counter: str | None
    format: Literal["plain", "markdown", "xml"]
    pins: tuple[str, ...]
    drops: tuple[str, ...]
    pack: Literal["rank", "optimal"] | None


class ReceiptQuestion(_ReceiptStruct, frozen=True):
    """The question as the user asked it.

    settings: settings of this question only.
    packing: None if the answer was rows.
    """

    text: str
    is_rql: bool
    mode: Literal["hybrid", "lexical", "semantic"]
    filter: str | None
    k: int | None
    exact: bool
    settings: dict[str, str | int | float | bool]
    packing: ReceiptPacking | None


class EffectivePlan(_ReceiptStruct, frozen=True):
    """The plan of the question."""

    mode: str
    table: str
    filters: str | None
    limit: int
    offset: int
    index: str


class ReceiptState(_ReceiptStruct, frozen=True):
    """The state of the store."""

    digest: str
    embedder: str
    counter: str


class Labels(_ReceiptStruct, frozen=True):
    """Labels of a document."""

    mtime: str
    title: str
    source: str | None
    tags: tuple[str, ...]
    meta: dict[str, Any]


class ReceiptRow(_ReceiptStruct, frozen=True):
    """A row of the answer, or a chunk of the context. chunk, offset, end: None for a document without chunks."""

    rank: int
    score: float | None
    path: str
    doc: str
    hash: str
    labels: Labels
    chunk: str | None
    offset: int | None
    end: int | None


class ReceiptContext(_ReceiptStruct, frozen=True):
    """The packed text by its hash."""

    sha256: str
    used_tokens: int
    counter: str


class Receipt(_ReceiptStruct, frozen=True):
    """An answer with everything that decided it. settings: every setting in force."""

    recall_receipt: int
    version: str
    question: ReceiptQuestion
    plan: EffectivePlan
    settings: dict[str, str | int | float | bool]
    store: ReceiptState
    rows: tuple[ReceiptRow, ...]
    total: int
    context: ReceiptContext | None


def in_force(config: Config, *, is_packed: bool, is_rql: bool) -> dict[str, SettingValue]:
    """Return the settings that can affect such an answer."""
    left_out = (() if is_packed else _PACKING) + (() if is_rql else _OF_QUERIES)
    return {key: getattr(config, key) for key, setting in SETTINGS.items() if setting.live and key not in left_out}


def labels_of(document: Document) -> Labels:
    """Return the labels of a document."""
    return Labels(document.mtime, document.title, document.source, document.tags, dict(document.meta))


def seal(receipt: Receipt) -> str:
    """Return the receipt as file text. Equal receipts give equal ASCII bytes; the last key seals the others."""
    body = msgspec.to_builtins(receipt)
    return _canonical({**body, "sha256": seal_of(body)})


def seal_of(body: Mapping[str, Any]) -> str:
    """Return the sha256 of everything else in a receipt."""
    return sha256(_canonical({key: value for key, value in body.items() if key != "sha256"}).encode()).hexdigest()


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n"


def read(source: Path) -> Receipt:
    """Return the receipt in a file. Raises UsageError `bad_receipt`."""
    try:
        paths.expect_file(source)
        with source.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _bad(str(source), f"cannot be read: {why_unread(error)}") from error
    return read_receipt(raw, name=str(source))


def read_receipt(raw: bytes, *, name: str = "The text") -> Receipt:
    """Parse a receipt and check that no byte was changed. Raises UsageError `bad_receipt`."""
    if len(raw) > MOST_BYTES:
        raise _bad(name, f"is larger than any receipt ({MOST_BYTES:,} bytes)")
    try:
        body = json.loads(raw.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise _bad(name, "is not a receipt") from error
    if not isinstance(body, dict) or "recall_receipt" not in body:
        raise _bad(name, "is not a receipt")
    number = body["recall_receipt"]
    if isinstance(number, int) and number > FORMAT:
        raise _bad(name, f"was made by a newer Recall (format {number}, this one reads {FORMAT})")
    try:
        json.dumps(body, ensure_ascii=False).encode()  # fails for a lone surrogate
        is_as_made = _canonical(body).encode() == raw and body.get("sha256") == seal_of(body)
        receipt = msgspec.convert({key: body[key] for key in body if key != "sha256"}, Receipt)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise _bad(name, "is damaged or not a receipt") from error
    if not is_as_made or number != FORMAT:
        raise _bad(name, "was changed after it was made")
    return receipt


def _bad(name: str, why: str) -> UsageError:
    return UsageError("bad_receipt", f"{name} {why}.", hint=Hint("search", "WORDS", receipt="FILE"))


def expect_harmless(question: ReceiptQuestion, config: Config, *, set_rerank: str, counters: Sequence[str]) -> None:
    """Raise UsageError `untrusted_receipt` if the receipt would make Recall read a file, load code or send text.

    config: settings for asking again.
    set_rerank, counters: values from the user's own settings.
    """
    if config.rerank not in (*_OWN_MODELS, set_rerank):
        raise _untrusted_error(f"rerank = {config.rerank!r}", 'rerank = "…" in recall.toml')
    packing = question.packing
    for counting in () if packing is None else (packing.counter, config.pack_counter):
        if counting not in (*_OWN_COUNTERS, *counters):
            raise _untrusted_error(f"the counter {counting!r}", Hint("context", "WORDS", counter="NAME"))


def _untrusted_error(what: str, hint: str) -> UsageError:
    message = f"The receipt asks for {what}, which only you can choose."
    return UsageError("untrusted_receipt", message, hint=hint)


def is_identical(changes: Iterable[ReplayChangeView]) -> bool:
    """Return True if the answer is the same and only the version of Recall or other documents differ."""
    return all(change["kind"] in _ASIDE for change in changes)


def changes(before: Receipt, after: Receipt, store: Store) -> Iterator[ReplayChangeView]:
    """Yield each difference: embedder and counter, settings, documents of the answer, rows, context.

    store: the store of the answer `after`, read at one state.
    """
    yield from _values("version", {"": before.version}, {"": after.version})
    yield from _values("store", {"": before.store.digest}, {"": after.store.digest})
    yield from _values("embedder", {"": before.store.embedder}, {"": after.store.embedder})
    yield from _values("counter", {"": before.store.counter}, {"": after.store.counter})
    missing = {key: Config._field_defaults[key] for key in after.settings if key not in before.settings}
    if "collapse" in missing:  # an older version shows every copy; the answer is the same if there are no copies
        missing["collapse"] = before.rows == after.rows and after.settings["collapse"]
    yield from _values("setting", {**before.settings, **missing}, after.settings)
    yield from _values("plan", msgspec.structs.asdict(before.plan), msgspec.structs.asdict(after.plan))
    yield from _documents(before, store)
    yield from _rows(before.rows, after.rows)
    yield from _values("total", {"": before.total}, {"": after.total})
    packed = [{} if each.context is None else msgspec.structs.asdict(each.context) for each in (before, after)]
    yield from _values("context", *packed)


def _values(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ReplayChangeView]:
    for key in dict.fromkeys((*before, *after)):
        was, is_now = before.get(key), after.get(key)
        if was != is_now or type(was) is not type(is_now):
            named: ReplayChangeView = {"kind": kind, "key": key} if key else {"kind": kind}
            yield {**named, "before": was, "after": is_now}


def _documents(before: Receipt, store: Store) -> Iterator[ReplayChangeView]:
    """Yield the documents of the answer that were deleted, edited or relabelled."""
    for row in {row.path: row for row in before.rows}.values():
        current = store.document_at(row.path)
        if current is None:
            yield {"kind": "document", "what": "deleted", "path": row.path}
        elif current != row.doc:
            yield {"kind": "document", "what": "edited", "path": row.path}
        else:
            now = labels_of(store.documents([store.rowid("doc", current)]).popitem()[1])
            fields = [name for name in Labels.__struct_fields__ if getattr(row.labels, name) != getattr(now, name)]
            if fields:
                yield {"kind": "document", "what": "relabelled", "path": row.path, "fields": fields}


def _rows(before: Sequence[ReceiptRow], after: Sequence[ReceiptRow]) -> Iterator[ReplayChangeView]:
    now = {_key(row): row for row in after}
    known = {_key(row): row for row in before}
    for key, row in known.items():
        other = now.get(key)
        if other is None:
            yield {**_row("gone", row), "before": row.rank, "after": None}
            continue
        if other.rank != row.rank:
            yield {**_row("moved", row), "before": row.rank, "after": other.rank}
        if other.score != row.score:
            yield {**_row("score", row), "before": row.score, "after": other.score}
        if (other.offset, other.end) != (row.offset, row.end):
            yield {**_row("cut", row), "before": row.end, "after": other.end}
    for key, row in now.items():
        if key not in known:
            yield {**_row("new", row), "before": None, "after": row.rank}


def _key(row: ReceiptRow) -> tuple[str, str | None]:
    return row.doc, row.chunk


def _row(what: Literal["gone", "moved", "score", "cut", "new"], row: ReceiptRow) -> ReplayChangeView:
    named: ReplayChangeView = {"kind": "row", "what": what, "path": row.path}
    return named if row.chunk is None else {**named, "id": row.chunk}
