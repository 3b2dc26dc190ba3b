"""What a store must say where its documents are listed by path; part of the suite for stores."""

from __future__ import annotations

from recall_core.rql.patterns import glob_match
from recall_core.store.port import Store
from recall_core.testing.corpus import file_of, put, rows_of

PATHS = (
    "notes/a.md",
    "notes/b.txt",
    "notes-old.md",
    "n%_x",
    "Notes/a.md",
    "[a]*.md",
    "é.md",
    "e\u0301.md",
    "\U0010ffff",
)


class ListedConformance:
    """A part of `StoreConformance`."""

    def empty(self) -> Store:
        """A new store without a document."""
        raise NotImplementedError

    def filled(self) -> Store:
        """A new store of a few files."""
        raise NotImplementedError

    def test_a_list_tells_of_each_live_document_what_its_chunks_come_to(self) -> None:
        store = self.filled()
        with store.writer() as writer:
            writer.tombstone(["b/c.md"])
        total, page = store.list_documents("", glob=None, limit=None, offset=0)
        assert total == len(page)
        assert [row[0] for row in page] == [path for path, _ in store.document_files()]
        for path, doc_id, title, mtime, source, chunks, tokens in page:
            rows = [row for row in rows_of(store) if row.doc.path == path]
            assert (chunks, tokens) == (len(rows), sum(row.chunk.tokens for row in rows))
            doc = store.documents([store.rowid("doc", doc_id)]).popitem()[1]
            assert (doc.path, doc.title, doc.mtime, doc.source) == (path, title, mtime, source)

    def test_a_list_holds_the_paths_that_begin_so_and_match_in_code_point_order(self) -> None:
        store = self.empty()
        put(store, *(file_of(path, ["text"]) for path in PATHS))
        globs = (None, "*", "**/*.md", "notes/{a,b}.*", "\\[a\\]\\*.md", "[a]*.md", "%")
        for prefix in ("", "n", "n%", "n_", "notes", "notes/", "[", "e", "é", "\U0010ffff", "\U0010ffff\U0010ffff"):
            for glob in globs:
                expected = sorted(p for p in PATHS if p.startswith(prefix) and (glob is None or glob_match(glob, p)))
                total, page = store.list_documents(prefix, glob=glob, limit=None, offset=0)
                assert (total, [row[0] for row in page]) == (len(expected), expected), (prefix, glob)

    def test_pages_of_a_list_put_together_are_the_list(self) -> None:
        store = self.empty()
        put(store, *(file_of(path, ["text"]) for path in PATHS))
        total, whole = store.list_documents("n", glob="*", limit=None, offset=0)
        for limit in (None, 0, 1, 2, 3, 9):
            for offset in range(5):
                page = whole[offset:] if limit is None else whole[offset : offset + limit]
                assert store.list_documents("n", glob="*", limit=limit, offset=offset) == (total, page)
