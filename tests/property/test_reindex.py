"""A reindexed store has the words of one that was made with them, for any content."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall_core.maintain.rechunk import index_words
from recall_core.store.sqlite.check import fulltext, texts, words
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery
from recall_core.words.question import literal
from recall_core.words.versions import words_of
from tests.examples import examples
from tests.ingest_folder import IngestFolder
from tests.property.test_rechunk import STORABLE

LANGUAGES = st.sampled_from(("en", "de", "none"))
NAMES = st.sampled_from(("a.txt", "Łódź.md", "d.py", "色.txt"))
CODE = STORABLE.map(lambda text: f"class 東京Łódź:\n    def weiß(self): ...\n# C++ .net {text}\n")
_TABLES = (
    "SELECT id, title, search_text FROM chunk WHERE deleted = 0 ORDER BY id",
    "SELECT term, doc, cnt FROM chunk_vocab ORDER BY term",
)


def _state(store: SqliteStore, question: LiteralQuery) -> object:
    """Return what the store has indexed and how it scores the question."""
    scores = store.lexical(question, where=None, k=None, title_weight=2.0)
    return (
        [store.execute(sql) for sql in _TABLES],
        store.term_stats(question),
        sorted((row.chunk.id, scores[row.rowid]) for row in store.fetch(list(scores))),
        [check(store).severity for check in (fulltext, texts, words)],
        store.info()._replace(generation=0),
    )


@given(st.dictionaries(NAMES, STORABLE | CODE, min_size=1), LANGUAGES, st.booleans(), st.integers(0, 9))
@examples(20)
def test_reindexed_store_equals_a_fresh_store(
    files: Mapping[str, str], language: str, is_old: bool, stop: int
) -> None:
    with tempfile.TemporaryDirectory() as base:
        folder = IngestFolder(Path(base))
        for name, text in files.items():
            folder.write(f"docs/{name}", text)
        before, folder.config = folder.config, folder.config._replace(language=language)
        folder.ingest("docs")
        folder.config = before
        fresh, folder.store = folder.store, folder.empty_store()
        if is_old:
            with folder.store.transaction():
                folder.store.execute("DELETE FROM meta WHERE key = 'words'")
        folder.ingest("docs")

        work = index_words(folder.store, words_of(language))
        for _ in range(stop):
            next(work, None)
        work.close()
        list(index_words(folder.store, words_of(language)))

        question = literal("".join(files.values()), analyzer=fresh.analyzer, match="any")
        assert _state(folder.store, question) == _state(fresh, question)
