"""The same questions without Recall: bare SQLite and NumPy, and other search engines if they are installed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from benchmarks.speed.asked import Question
from recall_core.store.sqlite.schema import PAGE_SIZE
from recall_core.text import STOP_WORDS
from recall_core.words.analyzer import PORTER

if TYPE_CHECKING:
    from benchmarks.speed.lab import Lab

Peer = Callable[[Question], Sequence[int]]
"""Returns the numbers of the ten best pieces for a question, counted from 0."""

K = 10
FTS5, NUMPY, BOTH, VEC0 = "FTS5 bm25()", "NumPy matmul", "FTS5 + NumPy", "sqlite-vec"
TANTIVY, BM25S, LANCE, LANCE_VECTOR = "tantivy", "bm25s", "LanceDB", "LanceDB IVF"
WORDS = (FTS5, TANTIVY, BM25S)
VECTORS = (NUMPY, VEC0, LANCE_VECTOR)
HYBRIDS = (BOTH, LANCE)
_MODULES = {TANTIVY: "tantivy", BM25S: "bm25s", LANCE: "lancedb", LANCE_VECTOR: "lancedb"}

_RRF_K = 60
_WHOLE = "whole"
"""A file in a folder that marks the folder as complete."""
_BATCH = 500
_BEST = "SELECT rowid, bm25(ft, 3.0, 1.0) AS score FROM ft WHERE ft MATCH ? ORDER BY score LIMIT ?"
_NEAREST = "SELECT rowid FROM vec WHERE embedding MATCH ? AND k = ?"


def absent(names: Sequence[str] = (*WORDS, *VECTORS, *HYBRIDS)) -> list[str]:
    """Return the peers that are not installed."""
    return [name for name in names if name in _MODULES and find_spec(_MODULES[name]) is None]


class Peers:
    """The peers of one lab, each made at first use. Vectors of questions are made before the timed part."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._kept: dict[str, Peer] = {}
        self._vectors: dict[str, Any] = {}
        self._makers: Mapping[str, Callable[[], Peer]] = {
            FTS5: self._fts5,
            NUMPY: self._numpy,
            BOTH: self._both,
            VEC0: self._vec0,
            TANTIVY: lambda: tantivy(lab.pieces),
            BM25S: lambda: bm25s(lab.pieces),
            LANCE: lambda: self._lance()[0],
            LANCE_VECTOR: lambda: self._lance()[1],
        }
        self._lance = cache(lambda: lance(lab.home / "lance", lab.pieces, lab.matrix, self.vector))

    def named(self, name: str) -> Peer:
        """Return the peer of that name."""
        if name not in self._kept:
            self._kept[name] = self._makers[name]()
        return self._kept[name]

    def vector(self, question: Question) -> Any:
        """Return the vector of the question, made once."""
        if question.text not in self._vectors:
            self._vectors[question.text] = self._lab.vector(question)
        return self._vectors[question.text]

    def _fts5(self) -> Peer:
        path = self._lab.home / "bare.db"
        if not path.exists():
            insert(path, [("", piece) for piece in self._lab.pieces], batch=_BATCH)
        db = apsw.Connection(str(path))
        return lambda question: [row - 1 for row, _ in db.execute(_BEST, (expression(question), K))]

    def _numpy(self) -> Peer:
        matrix = self._lab.matrix
        return lambda question: nearest(matrix, self.vector(question))

    def _both(self) -> Peer:
        words, vectors = self.named(FTS5), self.named(NUMPY)
        return lambda question: fused(words(question), vectors(question))

    def _vec0(self) -> Peer:
        path = self._lab.home / "vec0.db"
        is_new = not path.exists()
        db = with_vec0(path)
        if is_new:
            with db:
                db.execute(f"CREATE VIRTUAL TABLE vec USING vec0(embedding float[{self._lab.matrix.shape[1]}])")
                rows = ((n, row.tobytes()) for n, row in enumerate(self._lab.matrix))
                db.executemany("INSERT INTO vec(rowid, embedding) VALUES(?, ?)", rows)
        return lambda question: [row for (row,) in db.execute(_NEAREST, (self.vector(question).tobytes(), K))]


def insert(path: Path, rows: Sequence[tuple[str, str]], *, batch: int) -> None:
    """Insert titles and bodies into a new full-text table that stores them. Commit every `batch` rows."""
    remove(path)
    db = apsw.Connection(str(path))
    db.pragma("page_size", PAGE_SIZE)
    db.pragma("journal_mode", "wal")
    db.execute(f"CREATE VIRTUAL TABLE ft USING fts5(title, body, tokenize='{PORTER}')")
    for first in range(0, len(rows), batch):
        with db:
            db.executemany("INSERT INTO ft(title, body) VALUES(?, ?)", rows[first : first + batch])
    db.close()


def with_vec0(path: Path) -> apsw.Connection:
    """Open a database with vec0 tables."""
    import sqlite_vec  # noqa: PLC0415 - optional, used only here

    db = apsw.Connection(str(path))
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    return db


def expression(question: Question) -> str:
    """Return a question as an FTS5 expression."""
    if question.phrase:
        return f'"{" ".join(question.words)}"'
    words = [word for word in question.words if word not in STOP_WORDS] or question.words
    return (" AND " if question.all else " OR ").join(f'"{word}"' for word in words)


def nearest(matrix: Any, vector: Any, k: int = K) -> list[int]:
    """Return the k nearest rows, best first."""
    distances = -(matrix @ vector)
    chosen = np.argpartition(distances, min(k, len(distances) - 1))[:k]
    found: list[int] = chosen[np.argsort(distances[chosen])].tolist()
    return found


def fused(*rankings: Sequence[int]) -> list[int]:
    """Return the rankings fused by reciprocal rank."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking):
            scores[row] = scores.get(row, 0.0) + 1 / (_RRF_K + 1 + rank)
    return sorted(scores, key=lambda row: -scores[row])[:K]


def tantivy(pieces: Sequence[str]) -> Peer:
    """Return tantivy with en_stem, in memory."""
    import tantivy as engine  # noqa: PLC0415 - optional, used only here

    builder = engine.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="en_stem")
    builder.add_unsigned_field("number", stored=True)
    index = engine.Index(builder.build())
    writer = index.writer(50_000_000, 1)
    for number, piece in enumerate(pieces):
        writer.add_document(engine.Document(body=[piece], number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: Question) -> list[int]:
        words = [word.lower() for word in question.words]
        joined = f'"{" ".join(words)}"' if question.phrase else (" AND " if question.all else " ").join(words)
        hits = searcher.search(index.parse_query(joined, ["body"]), K).hits
        return [searcher.doc(address)["number"][0] for _, address in hits]

    return search


def bm25s(pieces: Sequence[str]) -> Peer:
    """Return bm25s with Snowball stems and its English stop words. Any word may match."""
    import bm25s as engine  # noqa: PLC0415 - optional, used only here
    import Stemmer  # noqa: PLC0415

    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: Sequence[str]) -> Any:
        return engine.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False)

    model = engine.BM25()
    model.index(tokens(pieces), show_progress=False)

    def search(question: Question) -> list[int]:
        asked = [stemmer.stemWords([word.lower() for word in question.words])]
        ids, _ = model.retrieve(asked, k=min(K, len(pieces)), show_progress=False)
        found: list[int] = ids[0].tolist()
        return found

    return search


def lance(folder: Path, pieces: Sequence[str], matrix: Any, vector: Callable[[Question], Any]) -> tuple[Peer, Peer]:
    """Return LanceDB's hybrid search and its vector search, with its full-text index and its default vector index."""
    import lancedb  # noqa: PLC0415 - optional, used only here
    import pyarrow as pa  # noqa: PLC0415
    from lancedb.index import FTS, IvfPq  # noqa: PLC0415

    is_new = not (folder / _WHOLE).exists()
    if is_new:
        shutil.rmtree(folder, ignore_errors=True)
    db = lancedb.connect(str(folder))
    if is_new:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
        numbers = pa.array(range(len(pieces)))
        made = db.create_table("pieces", pa.table({"number": numbers, "body": list(pieces), "vector": vectors}))
        made.create_index("body", config=FTS())
        if len(pieces) >= 5_000:
            made.create_index("vector", config=IvfPq(distance_type="cosine"))
        (folder / _WHOLE).touch()
    table = db.open_table("pieces")

    def hybrid(question: Question) -> list[int]:
        words = re.sub(r"\W+", " ", question.text)
        found = table.search(query_type="hybrid", vector_column_name="vector").vector(vector(question)).text(words)
        return [row["number"] for row in found.limit(K).to_list()]

    def semantic(question: Question) -> list[int]:
        found = table.search(vector(question), vector_column_name="vector").metric("cosine").limit(K)
        return [row["number"] for row in found.select(["number", "_distance"]).to_list()]

    return hybrid, semantic


def remove(database: Path) -> None:
    """Remove a database file and SQLite's files next to it, if they exist."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def rankings(peer: Peer, questions: Sequence[Question]) -> Iterator[set[int]]:
    """Yield the results of a peer for each question."""
    return (set(peer(question)) for question in questions)
