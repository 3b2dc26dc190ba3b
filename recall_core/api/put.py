"""Documents of a program, with vectors of its own: put, delete, and find the nearest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict
from urllib.parse import quote, unquote

from recall_core import rql, views
from recall_core._lazy import hashlib, np
from recall_core.api.answers import check_files
from recall_core.argument_types import expect_type
from recall_core.contract import SCHEMA_VERSION
from recall_core.errors import StoreError, UsageError
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.reader import chunks_of, settings_of_pieces
from recall_core.ingest.vectors import Pace, check_cut, cut_by, embed_in_calls, missing_texts, with_vectors
from recall_core.ports import ParsedDocument
from recall_core.retrieve.asking import Ask
from recall_core.retrieve.plan import plan_words
from recall_core.shell import AGAIN
from recall_core.text import counter, embedded_hash, given_by, is_storable, nfc
from recall_core.types import Hit, NewChunk, NewDocument, NewFile, Part, Span, Vector

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.config import Config
    from recall_core.contract.responses import SearchResponse
    from recall_core.contract.views import StatsView
    from recall_core.rql.ast import Expr
    from recall_core.text import Counter

PREFIX = "put://"
"""Start of the path of a document without a file, put by a program. No path of a file has two slashes in a row."""

_NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class PutDocument(NamedTuple):
    """A document of a program.

    embedding: its vector, of any length above 0; None to have the store's embedder make vectors for its chunks.
    metadata: JSON by key, nested or not.
    """

    id: str
    content: str
    metadata: Mapping[str, Any] = _NO_METADATA
    embedding: Sequence[float] | None = None
    title: str = ""
    tags: tuple[str, ...] = ()


class PutCounts(TypedDict):
    """What `put` did. embedded: texts that the store's embedder made vectors for."""

    documents: int
    chunks: int
    added: int
    updated: int
    unchanged: int
    embedded: int


def path_of(doc_id: str) -> str:
    """Return the path of the document with this id. `id_of` returns the id again.

    Raises UsageError `bad_id` for an id that is empty, or has control characters or lone surrogates.
    """
    doc_id = expect_type("id", doc_id, "str")
    if not doc_id or not is_storable(doc_id) or any(unicodedata.category(each) == "Cc" for each in doc_id):
        message = f"{doc_id!r} cannot be an id: it is empty, or has control characters or invalid Unicode."
        raise UsageError("bad_id", message, hint='id="notes-1"')
    written = "[%#]" if nfc(doc_id) == doc_id else "[%#]|[^\x00-\x7f]+"  # paths are NFC
    return PREFIX + re.sub(written, lambda found: quote(found[0], safe=""), doc_id)


def id_of(path: str) -> str | None:
    """Return the id of the document at this path, or None if no program put it."""
    return unquote(path.removeprefix(PREFIX)) if path.startswith(PREFIX) else None


def put(engine: Engine, documents: Iterable[PutDocument]) -> PutCounts:
    """Store documents in one transaction; see `Recall.put`."""
    store, config = engine.store, engine.store_config()
    before, info = cut_by(store), store.info()
    counting = counter(before.counter)
    files: dict[str, NewFile] = {}
    for document in documents:
        file = _file_of(document, info.dimension, counting, config)
        if file.path in files:
            message = f"Two documents have the id {document.id!r}."
            raise UsageError("duplicate_id", message, hint="give each document an id of its own")
        files[file.path] = file
    known = {path: store.known(path) for path in files}
    changed = [
        file
        for path, file in files.items()
        if (old := known[path]) is None
        or (old.hash, old.settings) != (file.hash, file.settings)
        or store.document_at(path) != file.documents[0].id
    ]
    own = [file for file in changed if not file.documents[0].read_by]
    missing = missing_texts(own, store)
    calls = embed_in_calls(missing, engine.embedder, Pace()) if missing else ()
    made = {text_hash: one for part in calls for text_hash, one in part.items()}
    if changed:
        with store.writer() as writer:
            check_cut(store, before)
            if store.embedder() != info.embedder:
                message = f"{store.embedder()} replaced {info.embedder} in this store during this call."
                raise StoreError("embedder_changed", message, hint=AGAIN)
            for file in changed:
                writer.put(file if file.documents[0].read_by else with_vectors(file, made))
    added = sum(known[file.path] is None for file in changed)
    return {
        "documents": len(files),
        "chunks": sum(len(file.documents[0].chunks) for file in files.values()),
        "added": added,
        "updated": len(changed) - added,
        "unchanged": len(files) - len(changed),
        "embedded": sum(bool(one.vector) for one in made.values()),
    }


def _file_of(document: PutDocument, dimension: int, counting: Counter, config: Config) -> NewFile:
    """Return the document as a file without a place on disk. With its own vector it is one chunk."""
    path, named = path_of(document.id), f" of {document.id!r}"
    content = expect_type(f"content{named}", document.content, "str")
    title = expect_type(f"title{named}", document.title, "str")
    tags = tuple(sorted(set(expect_type(f"tags{named}", document.tags, "tuple[str, ...]"))))
    metadata = dict(document.metadata)
    reason = why_unfit(metadata)
    if reason or not all(map(is_storable, (content, title, *tags))):
        message = f"The document {document.id!r} cannot be stored: {reason or 'a text is not valid Unicode'}."
        raise UsageError("bad_document", message, hint="give texts, and metadata that JSON can represent")
    raw = content.encode()
    digest = hashlib.sha256(raw).hexdigest()
    read_by = ""
    if document.embedding is None:
        parsed = ParsedDocument(None, content, title, digest, len(raw), metadata)
        chunks = chunks_of(parsed, path=path, counter=counting, config=config)
    else:
        vector = vector_of(document.embedding, dimension, doc_id=document.id)
        read_by = given_by(vector)
        span = Span(0, len(content), counting.count(content))
        key = embedded_hash(path, title, content, read_by)
        chunks = (NewChunk(span, 1, 1 + content.count("\n", 0, len(content) - 1), content, key, vector),)
    new = NewDocument(path, digest, title, len(raw), tags, None, metadata, chunks, read_by)
    settings = settings_of_pieces([each.span for each in chunks], title=title, tags=tags, meta=metadata)
    return NewFile(path, "", len(raw), 0, digest, settings, None, (new,))


def vector_of(values: Sequence[float], dimension: int, *, doc_id: str | None = None) -> Vector:
    """Return the numbers as a unit vector. The same numbers give the same bytes on every machine.

    Raises UsageError `dimension_mismatch` (details: expected, got), and `bad_vector` for NaN, infinity or length 0.
    """
    of = {} if doc_id is None else {"id": doc_id}
    named = "The vector" if doc_id is None else f"The vector of {doc_id!r}"
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        message = f"{named} is not a list of numbers: {error}."
        raise UsageError("bad_vector", message, hint="give a list of floats", details=of) from error
    if numbers.shape != (dimension,):
        got = len(numbers) if numbers.ndim == 1 else list(numbers.shape)
        message = f"{named} has {got} components, the store's have {dimension}."
        details = {**of, "expected": dimension, "got": got}
        raise UsageError("dimension_mismatch", message, hint=f"give {dimension} numbers", details=details)
    largest = float(np.abs(numbers).max())
    if not 0 < largest < np.inf:  # NaN is the largest of all
        reason = "has length 0" if largest == 0 else "has a component that is NaN or infinite"
        raise UsageError("bad_vector", f"{named} {reason}.", hint="leave it out", details=of)
    numbers = numbers / largest
    length = sqrt(fsum((numbers * numbers).tolist()))
    return (numbers / length).astype("<f4").tobytes()


def nearest(engine: Engine, vector: Sequence[float], k: int, where: str | Expr | None) -> SearchResponse:
    """Return the chunks nearest to a vector; see `Recall.nearest`."""
    started, store = perf_counter(), engine.store
    text = where if isinstance(where, str) else None
    plan = plan_words("", config=engine.config, mode="semantic", filter_text=text, k=k, exact=True)
    if where is not None and not isinstance(where, str):
        plan = plan._replace(where=where, filters=rql.print.print_filter(where))
    plan = engine.scoped(plan)
    info = store.info()
    unit = vector_of(vector, info.dimension)
    near = store.nearest(unit, where=plan.where, k=k).cosines if k else {}
    rows = store.fetch(list(near))
    states, stale = check_files((row.doc for row in rows), Ask(), store=store, base=engine.base)
    total = info.chunks if plan.where is None else len(store.candidates(plan.where))
    hits = [
        Hit(rank, cosine, row.doc, row.chunk, (Part("semantic", cosine, cosine, 1.0, rank, cosine),))
        for rank, (row, cosine) in enumerate(zip(rows, near.values(), strict=True), start=1)
    ]
    took_ms = round((perf_counter() - started) * 1000, 3)
    stats: StatsView = {
        "took_ms": took_ms,
        "total_hits": total,
        "snapshot": info.snapshot,
        "exact": True,
        "index": "exact",
        "digest": info.digest,
        "timings": {"retrieve": took_ms},
    }
    return {
        "ok": True,
        "schema_version": SCHEMA_VERSION,
        "query": views.query_echo(plan, None, limit=k),
        "results": [views.result_view(hit._replace(matched="meaning"), plan, states, explain=False) for hit in hits],
        "stats": stats,
        "warnings": [*engine.notes(), *plan.warnings, *stale],
    }
