"""Whether FTS5's bm25(), as it was compiled for this machine, rounds where `memory.words` does."""

from __future__ import annotations

from functools import cache
from random import Random

import apsw

from recall_core.store.sqlite.lexical import Stems
from recall_core.store.sqlite.memory.postings import Postings
from recall_core.store.sqlite.memory.rows import SIZES, LiveRows
from recall_core.store.sqlite.memory.words import WordSearch
from recall_core.store.sqlite.schema import TOKENIZER
from recall_core.types import LiteralQuery, Phrase

_ROWS = 200
_WORDS = ("ant", "bee", "cat", "dog", "elk", "fox")
_WEIGHTS = (3.0, 1.7)

_TABLES = f"""
CREATE VIRTUAL TABLE chunk_fts USING fts5(title, body, tokenize='{TOKENIZER}');
CREATE VIRTUAL TABLE chunk_instance USING fts5vocab(chunk_fts, instance);
"""
_KEYS = "SELECT id, id, '', id, 0 FROM chunk_fts_docsize ORDER BY id"
_SCORES = "SELECT rowid, -bm25(chunk_fts, ?, 1.0) FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY rowid"


@cache
def is_that_of_fts5() -> bool:
    """Scores some invented rows in both ways. A compiler may join a product and a sum and round them once."""
    db = apsw.Connection(":memory:")
    db.execute(_TABLES)
    random = Random(0)  # noqa: S311 - rows to score
    for _ in range(_ROWS):
        title, body = (" ".join(random.choices(_WORDS, k=random.randint(1, most))) for most in (5, 60))
        db.execute("INSERT INTO chunk_fts(title, body) VALUES(?, ?)", (title, body))

    def execute(sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        return db.execute(sql, parameters).fetchall()

    rows = LiveRows()
    for _ in rows.read(db.execute(_KEYS), db.execute(SIZES)):
        pass
    postings = Postings(rows, 1 << 20)
    query = LiteralQuery("", tuple(Phrase(word, (word,)) for word in _WORDS))
    stems: list[Stems] = [(word,) for word in _WORDS]
    held = {one: postings.of(one, one, db, execute) for one in stems}
    words = WordSearch(rows, query, stems, held, {})
    for weight in _WEIGHTS:
        found = words.all(None, weight)
        ours = list(zip(rows.keys.rowids[found.places].tolist(), found.raws.tolist(), strict=True))
        if ours != execute(_SCORES, (weight, " OR ".join(_WORDS))):
            return False
    return True
