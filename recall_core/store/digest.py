"""The digest that answers name the state of a store by: one hash over everything that answers depend on.

The digest is based on a sum, modulo 2^256, of one hash for each live document (Bellare and Micciancio 1997, AdHash).
So the order of changes does not matter, and a change costs only its own documents. A store may keep the sum up to
date; it must equal what these functions compute from its documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from recall_core.named import NamedTuple
from recall_core.text import sha256

_MODULUS = 1 << 256


class DocumentState(NamedTuple):
    """A live document: what answers depend on besides its text. Its id names the text."""

    id: str
    source: str | None
    mtime: str
    meta: str
    """As spelled by `canonical`."""
    title: str
    spans: Sequence[tuple[int, int, int]]
    """Offset, end and tokens of each chunk, by offset."""
    tags: Sequence[str]
    """Sorted."""


def canonical(value: object) -> str:
    """Return the canonical JSON spelling of a value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def document_digest(document: DocumentState) -> str:
    """Return the hash of one live document, in hexadecimal."""
    *fields, spans, tags = document
    return sha256(canonical([fields, spans, [[tag] for tag in tags]]).encode()).hexdigest()


def digest_sum(come: Iterable[str], *, gone: Iterable[str] = (), before: str = "0") -> str:
    """Return the sum `before`, plus the hashes of documents that come, minus those of documents that are gone."""
    total = int(before, 16) + sum(int(each, 16) for each in come) - sum(int(each, 16) for each in gone)
    return f"{total % _MODULUS:064x}"


def store_digest(embedder: str, total: str) -> str:
    """Return the digest in `info` and answers: the embedder's identity and the sum over all live documents."""
    return sha256(f"{embedder}:{total}".encode()).hexdigest()
