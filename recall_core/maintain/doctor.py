"""Doctor: is the store what it says it is, and what puts it right."""

from __future__ import annotations

from collections.abc import Callable

from recall_core.config import Config
from recall_core.contract import CheckView
from recall_core.embed.registry import HASH_NOTE, embedder_of
from recall_core.errors import EmbedError, StoreError, StoreLocked, UsageError
from recall_core.store.sqlite import check
from recall_core.store.sqlite.check import Finding
from recall_core.store.sqlite.repair import back_up, repair
from recall_core.store.sqlite.store import SqliteStore
from recall_core.text import counter

_REPAIR = "recall doctor --fix"
_RESTORE = "restore a backup, or recall init a new store and recall import an export"
_READ_AGAIN = "recall rm PATH, then recall add PATH"
_COMPACT = "recall compact"
_EMBED_BATCH = 256


def doctor(store: SqliteStore, *, config: Config = Config(), fix: bool = False) -> list[CheckView]:
    """Every check in a fixed order; an error among them is exit 6. Only StoreLocked ends it early.

    fix: where an error is of the kind that can be computed again, copy the store to `….bak-<generation>`, repair,
    and check anew; the copy is named by a check of its own. Where there is none, nothing is written, so that a
    second run changes nothing. A file whose pages are damaged is left alone.
    """
    found = [_ask(store, *question) for question in _QUESTIONS]
    errors = [each for each in found if each["severity"] == "error"]
    repairable = any(each.get("fix") == _REPAIR for each in errors)
    if not fix or not repairable or any(each["code"] == "integrity" for each in errors):
        return found
    embedder = embedder_of(store.info().embedder, config)
    backup = back_up(store)
    repair(store, embed=embedder.embed)
    copied = CheckView(code="backup", severity="ok", evidence=f"the store as it was: {backup}")
    return [*(_ask(store, *question) for question in _QUESTIONS), *([copied] if backup else [])]


def _ask(store: SqliteStore, code: str, question: Callable[[SqliteStore], Finding], remedy: str) -> CheckView:
    """A question that the file is too damaged to answer is answered by that."""
    try:
        finding = question(store)
    except StoreLocked:
        raise
    except StoreError as error:
        finding = Finding("error", error.message)
    view = CheckView(code=code, severity=finding.severity, evidence=finding.evidence)
    if finding.severity != "ok":
        view["fix"] = remedy
    return view


def _tokens(store: SqliteStore) -> Finding:
    try:
        return check.tokens(store, counter(store.info().counter))
    except UsageError as error:
        return Finding("warning", f"not counted: {error.message}")


def _vectors(store: SqliteStore) -> Finding:
    """Chunks without a vector, of which the embedder says whether their text has a feature."""
    without = store.execute(check.WITHOUT_VECTOR)
    try:
        embedder = embedder_of(store.info().embedder)
    except EmbedError as error:
        return Finding("warning", f"{len(without)} chunks have no vector; {error.message}")
    missing = 0
    for start in range(0, len(without), _EMBED_BATCH):
        vectors = embedder.embed([text for _, text in without[start : start + _EMBED_BATCH]])
        missing += sum(1 for vector in vectors if vector)
    if missing:
        return Finding("error", f"{missing} chunks have no vector and should")
    return Finding("ok", f"{store.info().vectors} vectors, {len(without)} texts without a feature")


def _embedder(store: SqliteStore) -> Finding:
    identity = store.info().embedder
    return Finding("ok", f"{identity}: {HASH_NOTE}" if identity.startswith("hash-") else identity)


Question = tuple[str, Callable[[SqliteStore], Finding], str]

_QUESTIONS: tuple[Question, ...] = (
    ("integrity", check.integrity, _RESTORE),
    ("foreign_keys", check.foreign_keys, _RESTORE),
    ("schema", check.schema, "pip install --upgrade recall-tui"),
    ("fulltext", check.fulltext, _REPAIR),
    ("fulltext_rows", check.fulltext_rows, _REPAIR),
    ("orphan_vectors", check.orphan_vectors, _REPAIR),
    ("vector_values", check.vector_values, _REPAIR),
    ("vectors", _vectors, _REPAIR),
    ("documents", check.liveness, _READ_AGAIN),
    ("ids", check.ids, _READ_AGAIN),
    ("slices", check.slices, _READ_AGAIN),
    ("tokens", _tokens, _READ_AGAIN),
    ("digest", check.digest, _REPAIR),
    ("counts", check.counts, _REPAIR),
    ("space", check.space, _COMPACT),
    ("embedder", _embedder, ""),
)
"""Code, question, and the command that helps where the answer is not ok."""
