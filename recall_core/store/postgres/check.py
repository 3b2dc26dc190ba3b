"""The checks of a collection; each looks at all rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recall_core.errors import UsageError
from recall_core.store.digest import DocumentState, digest_sum, document_digest
from recall_core.store.values import READ_AGAIN, Finding, StoreCheck, find_flaws
from recall_core.words.analyzer import tokenize

if TYPE_CHECKING:
    from recall_core.store.postgres.catalog import PostgresCatalog

_COUNTED = """
SELECT (documents, chunks, vectors, tombstones, tokens, windowed, without_text) = (
  (SELECT count(*) FROM document WHERE is_live),
  (SELECT count(*) FROM chunk WHERE is_live),
  (SELECT count(*) FROM embedding),
  (SELECT count(*) FROM document WHERE NOT is_live),
  (SELECT coalesce(sum(tokens), 0) FROM chunk WHERE is_live),
  (SELECT count(*) FROM embedding WHERE windows > 1),
  (SELECT count(*) FROM document d WHERE is_live AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.doc_id = d.id))
) FROM store
"""
_WRONG_TERMS = """
SELECT count(*) FROM term FULL JOIN (
  SELECT unnest(terms) AS term, count(*) AS df FROM chunk WHERE is_live GROUP BY 1) counted USING(term)
WHERE term.df IS DISTINCT FROM counted.df
"""
_WRONG_TEXTS = """
SELECT DISTINCT d.path FROM chunk c JOIN document d ON d.id = c.doc_id
WHERE c.hash <> sha256(convert_to(c.text, 'UTF8')) ORDER BY 1
"""
_WRONG_IDS = """
SELECT DISTINCT d.path FROM chunk c JOIN document d ON d.id = c.doc_id
WHERE c.id <> encode(sha256(convert_to(c.doc_id || ':' || c.start, 'UTF8')), 'hex') ORDER BY 1
"""
_DOCUMENTS = """
SELECT d.digest, d.path, d.id, d.source, d.mtime, d.meta, d.title,
  (SELECT array_agg(ARRAY[start, stop, tokens] ORDER BY start) FROM chunk c WHERE c.doc_id = d.id), d.tags
FROM document d WHERE d.is_live ORDER BY d.path
"""
_TEXTS = "SELECT c.number, c.text, c.body_words FROM chunk c WHERE c.is_live AND c.number > %s ORDER BY 1 LIMIT 1024"
_VECTORS = "SELECT v.number, v.embedding FROM embedding v WHERE v.number > %s ORDER BY 1 LIMIT 1024"


def check(store: PostgresCatalog, code: StoreCheck) -> Finding:
    """Run one check. Raises UsageError `not_offered` for those that a server makes itself."""
    paths: list[str] = []
    if code == "counts":
        is_sound = bool(store.execute(_COUNTED)[0][0])
        return Finding("ok" if is_sound else "error", "counts agree" if is_sound else "a count is wrong")
    if code == "fulltext":
        wrong = int(store.execute(_WRONG_TERMS)[0][0])
        return Finding("error" if wrong else "ok", f"{wrong} terms with a wrong number of chunks")
    if code == "fulltext_rows":
        wrong = _count_wrong_words(store)
        return Finding("error" if wrong else "ok", f"{wrong} chunks with other words than their text", READ_AGAIN)
    if code == "vector_values":
        wrong = _count_wrong_vectors(store)
        return Finding("error" if wrong else "ok", f"{wrong} invalid vectors")
    if code == "texts":
        paths = [path for (path,) in store.execute(_WRONG_TEXTS)]
    elif code == "ids":
        paths = [path for (path,) in store.execute(_WRONG_IDS)]
    elif code in ("documents", "digest"):
        total, paths = _sum_documents(store)
        if code == "digest" and not paths:
            is_sound = store.execute("SELECT 1 FROM store WHERE digest_sum = %s", (total,)) != []
            return Finding("ok" if is_sound else "error", "the digest agrees" if is_sound else "the digest is wrong")
    else:
        message = f"Stores in Postgres do not offer the check {code!r}."
        raise UsageError("not_offered", message, hint="the server's own tools")
    many = f"{len(paths)} documents differ from what was stored"
    return Finding("error" if paths else "ok", many, READ_AGAIN, tuple(paths))


def _count_wrong_words(store: PostgresCatalog) -> int:
    analyzer, last, wrong = store.analyzer, 0, 0
    while rows := store.execute(_TEXTS, (last,)):
        last = rows[-1][0]
        for _, text, words in rows:
            wrong += words != f" {' '.join(tokenize(analyzer.tokenizer, analyzer.form(text)))} "
    return wrong


def _count_wrong_vectors(store: PostgresCatalog) -> int:
    dimension, last, wrong = store.info().dimension, 0, 0
    while rows := store.execute(_VECTORS, (last,)):
        last = rows[-1][0]
        wrong += len(find_flaws([vector for _, vector in rows], dimension=dimension))
    return wrong


def _sum_documents(store: PostgresCatalog) -> tuple[str, list[str]]:
    """Return the sum of the hashes of all live documents, and the paths of those that differ from their hash."""
    total, paths = "0", Counter[str]()
    for kept, path, *fields, spans, tags in store.execute(_DOCUMENTS):
        own = document_digest(DocumentState._make([*fields, spans or [], tags]))
        total = digest_sum((own,), before=total)
        paths[path] += own != kept
    return total, sorted(+paths)
