"""What an answer names the state of a store by: one hash over all that answers depend on.

It is made of a sum, modulo 2^256, of one hash a live document, so it does not depend on the order of changes, and a
change costs only its own documents (Bellare and Micciancio 1997, AdHash). A store may keep the sum as it goes; it
must come to what these functions make of its documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from recall_core.named import NamedTuple
from recall_core.text import sha256

_MODULUS = 1 << 256


class DocumentState(NamedTuple):
    """A live document, as far as answers depend on it beside its text, which its id names."""

    id: str
    source: str | None
    mtime: str
    meta: str
    """As `canonical` spells it."""
    title: str
    spans: Sequence[tuple[int, int, int]]
    """Offset, end and tokens of each chunk, by offset."""
    tags: Sequence[str]
    """Sorted."""


def canonical(value: object) -> str:
    """Return the one spelling of a value as JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def document_digest(document: DocumentState) -> str:
    """Return the hash of one live document, in hexadecimal."""
    *fields, spans, tags = document
    return sha256(canonical([fields, spans, [[tag] for tag in tags]]).encode()).hexdigest()


def digest_sum(come: Iterable[str], *, gone: Iterable[str] = (), before: str = "0") -> str:
    """Return the sum of documents' hashes: of those that come, added to one before, less those that have gone."""
    total = int(before, 16) + sum(int(each, 16) for each in come) - sum(int(each, 16) for each in gone)
    return f"{total % _MODULUS:064x}"


def store_digest(embedder: str, total: str) -> str:
    """Return what `info` tells and answers carry: who made the vectors, and the sum over all live documents."""
    return sha256(f"{embedder}:{total}".encode()).hexdigest()
