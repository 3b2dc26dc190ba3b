"""The same work without Recall: bare FTS5 and bare NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.retrieve.query import literal
from recall_core.store.sqlite.lexical import expression
from recall_core.store.sqlite.schema import PAGE_SIZE, TOKENIZER
from recall_core.types import Pool

_BEST = (
    "SELECT rowid, bm25(chunk_fts, 3.0, 1.0) AS score FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY score LIMIT ?"
)

Search = Callable[[str], object]


def insert(path: Path, rows: Sequence[tuple[str, str]], *, batch: int) -> None:
    """Titles and bodies into a new full-text table, a transaction for every `batch` rows."""
    remove(path)
    db = apsw.Connection(str(path))
    db.pragma("page_size", PAGE_SIZE)
    db.pragma("journal_mode", "wal")
    db.execute(f"CREATE VIRTUAL TABLE ft USING fts5(title, body, tokenize='{TOKENIZER}')")
    for first in range(0, len(rows), batch):
        with db:
            db.executemany("INSERT INTO ft(title, body) VALUES(?, ?)", rows[first : first + batch])
    db.close()


def lexical(recall: Recall, questions: Sequence[str], *, k: int) -> Search:
    """The k best rowids by FTS5's own bm25() over the store's own table."""
    asked = {text: expression(literal(text, tokens=recall.store.tokens, match="any")) for text in questions}
    return lambda text: recall.store.execute(_BEST, (asked[text], k))


def nearest(recall: Recall, questions: Sequence[str], *, k: int) -> Search:
    """The k nearest rows of a float32 matrix that is in memory already, in no order."""
    blobs = recall.store.execute("SELECT embedding FROM vec ORDER BY chunk")
    matrix = np.frombuffer(b"".join(blob for (blob,) in blobs), "<f4").reshape(len(blobs), -1)
    asked = {text: np.frombuffer(recall.engine.embedder.embed([text])[0], "<f4") for text in questions}

    def search(text: str) -> Any:
        distances = -(matrix @ asked[text])
        return np.argpartition(distances, k)[:k]

    return search


def order(pool: Pool, config: Config) -> Callable[[], object]:
    """The pool's two columns weighed, added and sorted."""
    lexical = np.array([raw or 0.0 for raw in pool.lexical]) / pool.bound
    semantic = np.array([max(0.0, raw or 0.0) for raw in pool.semantic])
    return lambda: np.argsort(-(config.bm25_weight * lexical + config.vector_weight * semantic), kind="stable")


def remove(database: Path) -> None:
    """A database file and what SQLite keeps beside it, if they are there."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
