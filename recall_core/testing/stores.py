"""Conformance tests for stores. The author of a store subclasses them, or the class of each level that it offers:

    class TestMine(StoreConformance):
        def new(self, **recorded):
            return MINE.create(where, **recorded)

pytest collects the subclass. It needs no other pytest feature. Every test makes its own store of a few short texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import get_args

from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.rank.bm25 import scores
from recall_core.rql.ast import Expr, Field
from recall_core.rql.filters import parse_filter
from recall_core.rql.match import match, match_document
from recall_core.rql.patterns import glob_match
from recall_core.store.port import Store
from recall_core.store.signatures import signature
from recall_core.store.values import (
    FolderEntry,
    FolderListing,
    JudgementRow,
    ReembedTarget,
    RerankVector,
    Signing,
    StoreCheck,
)
from recall_core.testing.corpus import (
    BETWEEN,
    CHUNK_FILTERS,
    EMBEDDER,
    FILTERS,
    FISH,
    MTIME_NS,
    NEARLY_HALF,
    QUESTIONS,
    ROOT,
    best,
    bounded_by_rule,
    digest_by_rule,
    dot,
    file_of,
    files,
    find_misjudged,
    is_close,
    lexical_of,
    page,
    put,
    query_of,
    rowids_of,
    rows_of,
    title_of,
    vector_of,
    weight_of,
)
from recall_core.text import utc
from recall_core.types import Chunk, LiteralQuery, Phrase, RawQuery, Root, Vector

SHARED = "otter river"


class MakesStores:
    """Makes the stores of the tests. `new` returns a fresh store; the subclass deletes it afterwards."""

    def new(self, *, embedder: str, dimension: int, counter: str, chunker: str) -> Store:
        """Return a new, empty store with these properties."""
        raise NotImplementedError

    def again(self, store: Store) -> Store | None:
        """Return the same store, opened a second time; None if that is impossible."""
        return None

    def empty(self) -> Store:
        """Return a new store without documents."""
        identity, dimension = EMBEDDER.identity, EMBEDDER.dimension
        return self.new(embedder=identity, dimension=dimension, counter="whitespace", chunker="boundary-1:9:0:99")

    def filled(self) -> Store:
        """Return a new store of a few files: tagged, with metadata, with records, in another script, and an empty
        one.
        """
        store = self.empty()
        put(store, *files())
        return store


class CopiesConformance(MakesStores):
    """The part of `StoreConformance` on copies."""

    def test_equal_texts_are_recognized_as_chunks_come_and_go(self) -> None:
        store = self.empty()
        assert not store.has_copies()
        put(store, file_of("a.txt", [SHARED]), file_of("b.txt", [SHARED + " "]))
        _agrees(store, [])
        put(store, file_of("c.txt", [SHARED]), file_of("d.txt", [SHARED]), file_of("e.txt", [SHARED + " "]))
        _agrees(store, [["a.txt", "c.txt", "d.txt"], ["b.txt", "e.txt"]])
        put(store, file_of("a.txt", [SHARED.upper()]))
        _agrees(store, [["b.txt", "e.txt"], ["c.txt", "d.txt"]])
        with store.writer() as writer:
            writer.tombstone(["e.txt", "d.txt"])
        _agrees(store, [])


def _agrees(store: Store, groups: Sequence[Sequence[str]]) -> None:
    keys = list(store.candidates(None))
    paths = {key.rowid: key.path for key in keys}
    numbers = store.same_texts([key.rowid for key in keys])
    found: dict[int, list[str]] = {}
    for place, number in numbers.items():
        found.setdefault(number, []).append(keys[place].path)
    assert sorted(map(sorted, found.values())) == groups
    twins = store.twins([key.rowid for key in keys])
    assert sorted({tuple(sorted(paths[each] for each in alike)) for alike in twins.values()}) == [*map(tuple, groups)]
    assert {paths[own] for own in twins} == {path for group in groups for path in group}
    assert all(list(alike) == sorted(alike) for alike in twins.values())
    assert store.has_copies() == bool(groups)


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


class ListedConformance(MakesStores):
    """The part of `StoreConformance` on lists of documents."""

    def test_list_sums_the_chunks_of_each_live_document(self) -> None:
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

    def test_list_filters_paths_by_prefix_and_pattern_in_order(self) -> None:
        store = self.empty()
        put(store, *(file_of(path, ["text"]) for path in PATHS))
        globs = (None, "*", "**/*.md", "notes/{a,b}.*", "\\[a\\]\\*.md", "[a]*.md", "%")
        for prefix in ("", "n", "n%", "n_", "notes", "notes/", "[", "e", "é", "\U0010ffff", "\U0010ffff\U0010ffff"):
            for glob in globs:
                expected = sorted(p for p in PATHS if p.startswith(prefix) and (glob is None or glob_match(glob, p)))
                total, page = store.list_documents(prefix, glob=glob, limit=None, offset=0)
                assert (total, [row[0] for row in page]) == (len(expected), expected), (prefix, glob)

    def test_pages_of_a_list_add_up_to_it(self) -> None:
        store = self.empty()
        put(store, *(file_of(path, ["text"]) for path in PATHS))
        total, whole = store.list_documents("n", glob="*", limit=None, offset=0)
        for limit in (None, 0, 1, 2, 3, 9):
            for offset in range(5):
                page = whole[offset:] if limit is None else whole[offset : offset + limit]
                assert store.list_documents("n", glob="*", limit=limit, offset=offset) == (total, page)


class SignatureConformance(MakesStores):
    """The part for stores with the capability `signatures`."""

    def test_signatures_propose_the_nearest_rows(self) -> None:
        store = self.filled()
        if "signatures" not in store.capabilities:
            return
        signing, asked = Signing(64, 3), vector_of("one blue fish")
        assert store.shortlist(asked, signing, where=None, k=2) is None
        assert (store.sign(signing), store.signing(), store.sign(signing)) == (True, signing, False)
        put(store, file_of("late.txt", ["three fish"]))
        for text in FILTERS:
            where = parse_filter(text)
            near = by_signature(store, asked, signing, where)
            found = [store.shortlist(asked, signing, where=where, k=k) for k in (0, 2, 99)]
            assert found == [[], near[:2], near], text
        assert (store.is_signed(signing), store.is_signed(Signing(64, 4))) == (True, False)
        assert (store.wrong_signatures(), store.sign(None), store.signing()) == (0, True, None)


def by_signature(store: Store, vector: Vector, signing: Signing, where: Expr | None) -> list[int]:
    """Return every row of a filter that has a vector, fewest differing signature bits first."""
    rowids = [key.rowid for key in store.candidates(where)]
    held = store.vectors(rowids)
    own = int.from_bytes(signature(vector, signing), "big")
    far = {each: (own ^ int.from_bytes(signature(held[each], signing), "big")).bit_count() for each in held}
    return sorted((rowid for rowid in rowids if rowid in far), key=far.__getitem__)


class VocabularyConformance(MakesStores):
    """The part of `StoreConformance` on words and terms."""

    def test_words_are_folded_and_stemmed_like_the_index(self) -> None:
        store = self.filled()
        assert lexical_of(store, "swimming").keys() == lexical_of(store, "swims").keys()

    def test_terms_are_found_by_first_letter_and_length(self) -> None:
        store = self.filled()
        held = {term.term for row in rows_of(store) for term in store.analyzer.terms(row.chunk.text)}
        letters = "".join({term[0] for term in held})
        every = store.terms_beginning(letters, 1, 99, also=(), most=9999)
        assert held <= every.keys()
        for term, df in every.items():
            (stat,) = store.term_stats(LiteralQuery("", (Phrase(term, (term,), (term,)),)))
            assert stat.df == df, term
        some = letters[:2]
        for shortest, longest in ((1, 99), (4, 4), (3, 5), (5, 4)):
            found = {term: df for term, df in every.items() if term[0] in some and shortest <= len(term) <= longest}
            assert store.terms_beginning(some, shortest, longest, also=(), most=9999) == found
            first = dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:2])
            assert store.terms_beginning(some, shortest, longest, also=(), most=2) == first
        named = dict([*every.items()][-2:])
        assert store.terms_beginning("", 1, 99, also=[*named, "absent"], most=9999) == named
        before = store.terms_beginning("bo", 4, 4, also=(), most=9999)
        put(store, file_of("late.txt", ["blue blue orcaorca"]), file_of("later.txt", ["orca"]))
        after = store.terms_beginning("bo", 4, 4, also=(), most=9999)
        assert store.terms_beginning(("bl", "orcao"), 1, 99, also=(), most=9999) == {
            "blue": after["blue"],
            "orcaorca": 1,
        }
        assert [text.endswith("blue blue orcaorca") for text in store.texts_with("orcaorca", most=2)] == [True]
        assert len(store.texts_with("blue", most=2)) == 2
        assert (after["blue"], after["orca"]) == (before["blue"] + 1, before.get("orca", 0) + 1)


class SearchConformance(CopiesConformance, ListedConformance, VocabularyConformance):
    """Requirements of the level `search`."""

    def test_stored_text_comes_back_verbatim(self) -> None:
        store = self.filled()
        for file in files():
            for document in file.documents:
                doc_id = document.id
                rows = store.chunks_of(doc_id)
                assert store.fetch([row.rowid for row in rows]) == rows
                assert store.document_at(document.path) == doc_id
                assert [row.chunk.text for row in rows] == [chunk.text for chunk in document.chunks]
                assert store.text_of(doc_id) == "".join(chunk.text for chunk in document.chunks)
                (kept,) = store.documents([store.rowid("doc", doc_id)]).values()
                assert (kept.path, kept.title, kept.source) == (document.path, document.title, document.source)
                assert (kept.meta, store.marks_of(doc_id)) == (document.meta, document.marks)
                assert (kept.tags, kept.mtime) == (tuple(sorted(document.tags)), utc(file.mtime_ns))
        assert [file.path for file in store.files()] == sorted(file.path for file in files())
        assert list(store.live_files()) == sorted(files(), key=lambda file: file.path)

    def test_store_of_equal_files_answers_equally(self) -> None:
        store, other = self.filled(), self.empty()
        put(other, *store.live_files())
        assert other.info().digest == store.info().digest
        assert list(other.live_files()) == list(store.live_files())

    def test_rows_are_in_natural_order(self) -> None:
        store = self.filled()
        keys = store.candidates(None)
        assert list(keys) == sorted(keys, key=lambda key: (key.path, key.offset))
        assert store.candidates(None, rowids=[keys[3].rowid, keys[1].rowid, -1]) == (keys[1], keys[3])
        assert [row.rowid for row in store.fetch([keys[2].rowid, keys[0].rowid])] == [keys[2].rowid, keys[0].rowid]

    def test_filter_passes_the_rows_it_means(self) -> None:
        store = self.filled()
        rows = rows_of(store)
        titles = {row.chunk.id: row.doc.title for row in rows}

        def has_words(text: str, chunk: Chunk) -> bool:
            return any(store.analyzer.spans(each, [text]) for each in (chunk.text, titles[chunk.id]))

        for row in rows:
            assert store.has_words("Blue fishes", row.chunk) == has_words("Blue fishes", row.chunk)
        for text in (*FILTERS, *CHUNK_FILTERS):
            where = parse_filter(text)
            passing = [row.rowid for row in rows if match(where, row, has_words)]
            assert rowids_of(store, where) == passing, text
            assert store.filter_counts(where, table="chunk").passing_all == len(passing), text
            documents = store.documents([rowid for rowid, _ in page(store, None, "doc")])
            kept = [
                rowid
                for rowid, document in documents.items()
                if match_document(
                    where, document, [row.chunk for row in rows if row.doc.id == document.id], has_words
                )
            ]
            assert sorted(rowid for rowid, _ in page(store, where, "doc")) == sorted(kept), text

    def test_title_equal_to_the_text_counts_once(self) -> None:
        store, other = self.filled(), self.empty()
        put(store, title_of("t.jsonl#1", "quokka 色 quokka swims"))
        rows = [row for row in rows_of(store) if row.chunk.is_title]
        assert rows == store.chunks_of(store.document_at("t.jsonl#1") or "")
        assert "".join(row.chunk.text for row in rows) == rows[0].doc.title == "quokka 色 quokka swims"
        assert store.occurrences(query_of(store, "quokka"), None).counts == ({row.rowid: (0, 1) for row in rows},)
        put(other, *store.live_files())
        assert (list(other.live_files()), other.info().digest) == (list(store.live_files()), digest_by_rule(store))

    def test_pages_add_up_to_the_whole_list(self) -> None:
        store = self.filled()
        for table in ("chunk", "doc"):
            whole = page(store, None, table)
            parts = [page(store, None, table, limit=2, offset=start) for start in range(0, len(whole) + 1, 2)]
            assert [row for part in parts for row in part] == whole
            assert store.scan(None, table=table, order=(), limit=0, offset=0) == (len(whole), [])
        assert [chunk for _, chunk in page(store, None, "chunk")] == [key.rowid for key in store.candidates(None)]

    def test_lexical_values_equal_the_formula_of_the_core(self) -> None:
        store = self.filled()
        everything = [key.rowid for key in store.candidates(None)]
        for text in QUESTIONS:
            for how in ("any", "all"):
                query = query_of(store, text, how)
                counts = store.occurrences(query, None)
                joined = any if how == "any" else all
                holding = {rowid for rowid in everything if joined(rowid in held for held in counts.counts)}
                found = store.lexical(query, where=None, k=None, title_weight=2.0)
                assert found.keys() == holding, text
                expected = scores(counts, list(found), Config(title_weight=2.0))
                assert all(map(is_close, found.values(), expected)), text
                some = store.lexical_scores(query, everything[1:], title_weight=2.0)
                assert some == {rowid: raw for rowid, raw in found.items() if rowid != everything[0]}, text

    def test_statistics_count_rows_with_a_phrase(self) -> None:
        store = self.filled()
        for text in QUESTIONS:
            query = query_of(store, text)
            counts, terms = store.occurrences(query, None), store.term_stats(query)
            assert [term.df for term in terms] == [len(held) for held in counts.counts]
            assert list(terms) == [weight_of(store, *each) for each in zip(query.phrases, terms, strict=True)]
            rowids = list(store.lexical(query, where=None, k=None, title_weight=1.0))
            assert store.phrases(query, terms, rowids).counts == counts.counts

    def test_bounded_list_contains_best_rows_and_phrase_rows(self) -> None:
        store = self.filled()
        for text in ('blue "fish swim"', 'fish blue "fish two"', '"two fish" "red fish" blue', '"unheard of" blue'):
            query = query_of(store, text)
            for k in (2, 9):
                bounded = store.lexical(query, where=None, k=k, title_weight=1.0)
                assert list(bounded.items()) == bounded_by_rule(store, query, k), text

    def test_filter_applies_before_the_limit(self) -> None:
        store = self.filled()
        query, vector = query_of(store, "fish blue"), vector_of("fish")
        for text in FILTERS:
            where = parse_filter(text)
            passing = set(rowids_of(store, where))
            found = store.lexical(query, where=None, k=None, title_weight=1.0)
            wanted = best(store, {rowid: raw for rowid, raw in found.items() if rowid in passing}, 2)
            assert list(store.lexical(query, where=where, k=2, title_weight=1.0).items()) == wanted, text
            near = {rowid: each for rowid, each in store.cosines(vector, where=None).items() if rowid in passing}
            assert store.cosines(vector, where=where) == near, text
            answer, order = store.nearest(vector, where=where, k=2), best(store, near, len(near))
            assert answer.cosines.keys() <= passing
            assert not answer.is_exact or list(answer.cosines.items()) == order[:2], text
            assert [store.ahead(vector, each, where=where) for each, _ in order] == list(range(len(order))), text

    def test_cosines_are_exact_to_the_sixth_decimal(self) -> None:
        store = self.filled()
        put(store, file_of("late.txt", [BETWEEN]))
        rowids = [key.rowid for key in store.candidates(None)]
        for text in ("one blue fish", *NEARLY_HALF):
            asked = vector_of(text)
            exact = {rowid: round(dot(asked, vector), 6) for rowid, vector in store.vectors(rowids).items()}
            assert (store.cosines(asked, where=None), find_misjudged(store, asked, exact)) == (exact, []), text
            some = store.cosines(asked, where=None, rowids=rowids[:2])
            assert some == {rowid: exact[rowid] for rowid in rowids[:2]}, text

    def test_vectors_are_found_by_chunk_and_by_text(self) -> None:
        store = self.filled()
        chunks = [chunk for file in files() for document in file.documents for chunk in document.chunks]
        known = store.cached_vectors([chunk.text_hash for chunk in chunks] + [b"\0" * 32])
        assert known == {chunk.text_hash: chunk.vector for chunk in chunks}
        with store.writer() as writer:
            writer.keep_vectors({b"\1" * 32: (vector_of("later"), 1)})
        assert store.cached_vectors([b"\1" * 32]) == {b"\1" * 32: vector_of("later")}

    def test_raw_syntax_works_or_is_not_offered(self) -> None:
        store = self.filled()
        if "lexical_fts" in store.capabilities:
            assert [store.syntax_error(RawQuery(text)) is None for text in ("fish", '"')] == [True, False]
            raw = store.lexical(RawQuery("fish"), where=None, k=None, title_weight=1.0)
            assert raw == lexical_of(store, "fish")

    def test_path_id_and_unique_prefix_name_one_thing(self) -> None:
        store = self.filled()
        for row in rows_of(store):
            assert store.resolve(row.chunk.id) == store.resolve(row.chunk.id[:12]) == [("chunk", row.chunk.id)]
            assert store.rowid("chunk", row.chunk.id) == row.rowid
            assert store.resolve(row.doc.path) == store.resolve(row.doc.id[:12]) == [("doc", row.doc.id)]
        assert store.resolve("unheard.txt") == store.resolve("\ud800") == store.resolve("") == []

    def test_chunks_are_found_by_place_and_text(self) -> None:
        store = self.filled()
        first, second = rows_of(store)[:2]
        doc_id = first.doc.id
        assert store.chunks_of_lines(doc_id, 2, 9) == [second.rowid]
        assert store.chunks_near(doc_id, first.chunk.end - 1, first.chunk.end) == [first.rowid]
        assert store.chunks_with("blue") == [row.rowid for row in rows_of(store) if "blue" in row.chunk.text]
        assert len(store.chunks_of_file("d.jsonl")) == 2
        assert store.chunks_of_file("d.jsonl", place="line 9") == []
        short = ("b/c.md", "d.jsonl#1", "d.jsonl#2")
        assert set(store.short_documents(1)) == {row.rowid for row in rows_of(store) if row.doc.path in short}
        doc_rowid = store.rowid("doc", doc_id)
        assert store.chunk_counts([doc_rowid, doc_rowid + 1_000]) == {doc_rowid: 2}

    def test_paths_are_found_below_a_folder_and_by_words(self) -> None:
        store = self.filled()
        assert store.paths_below("b") == ["b/c.md"]
        assert store.paths_below("d.jsonl") == ["d.jsonl#1", "d.jsonl#2"]
        assert store.paths_below(".") == [path for path, _ in store.document_files()]
        assert store.paths_with(["TXT", "e"], 9) == ["e.txt", "empty.txt"]
        assert store.paths_with(["txt"], 1) == ["a.txt"]
        assert store.folder("b/", 9) == FolderListing((FolderEntry("c.md", "file", 1, 1),), 1)
        whole, info = store.folder("", 9), store.info()
        assert [each.kind for each in whole.entries] == ["folder", "file", "records", "file", "file"]
        assert store.folder("", 2) == FolderListing(whole.entries[:2], whole.total)
        assert sum(each.chunks for each in whole.entries) == info.chunks
        assert list(map(tuple, store.vocabulary(1).values(Field("doc", "tag"), ""))) == [("x", 2)]

    def test_reads_in_one_snapshot_agree(self) -> None:
        store = self.filled()
        other = self.again(store)
        if other is None:
            return
        seen = store.changes()
        with store.reading():
            before = store.info()
            put(other, file_of("new.txt", ["new fish\n"]))
            assert (store.info(), store.document_at("new.txt")) == (before, None)
        assert store.document_at("new.txt") is not None
        assert store.changes() != seen
        store.info()
        store.generation()
        put(other, file_of("newer.txt", ["newer fish\n"]))
        with store.reading():
            assert (store.info(), store.generation()) == (other.info(), other.generation())
        other.close()


class WriteConformance(MakesStores):
    """Requirements of the level `write`."""

    def test_only_an_empty_store_takes_another_language(self) -> None:
        store = self.empty()
        with store.writer() as writer:
            assert writer.use_language("de")
        put(store, file_of("a.txt", ["Die Häuser"]))
        with store.writer() as writer:
            assert not writer.use_language("none")
        assert store.analyzer.language == store.info().language == "de"
        assert len(lexical_of(store, "Haus")) == 1
        with store.writer() as writer:
            writer.tombstone(["a.txt"])
            assert writer.use_language("none")
        put(store, file_of("a.txt", ["Die Häuser"]))
        assert (store.info().language, len(lexical_of(store, "Haus"))) == ("none", 0)

    def test_new_store_is_empty(self) -> None:
        store = self.empty()
        info = store.info()
        assert (info.documents, info.chunks, info.vectors, info.tombstones, info.generation) == (0, 0, 0, 0, 0)
        assert (info.embedder, info.counter, info.snapshot) == (EMBEDDER.identity, "whitespace", "")
        assert (store.candidates(None), list(store.files()), store.roots(), store.judgements()) == ((), [], (), [])

    def test_file_is_replaced_as_a_whole(self) -> None:
        store = self.filled()
        before, gone = store.info(), store.document_at("a.txt") or ""
        put(store, file_of("a.txt", ["green fish\n"]))
        assert (store.info().documents, store.info().tombstones) == (before.documents, before.tombstones + 1)
        assert store.generation() == before.generation + 1
        (row,) = store.chunks_of(store.document_at("a.txt") or "")
        assert (row.chunk.text, row.doc.tags, row.doc.meta) == ("green fish\n", (), {})
        put(store, file_of("a.txt", ["green fish\n"], tags=("w",), meta={"n": 2}))
        (row,) = store.chunks_of(store.document_at("a.txt") or "")
        assert (row.chunk.text, row.doc.tags, row.doc.meta) == ("green fish\n", ("w",), {"n": 2})
        assert (store.resolve(gone), store.removed_path(gone)) == ([], "a.txt")

    def test_repeated_write_changes_no_answer(self) -> None:
        store = self.filled()
        before = store.info()
        put(store, *files())
        assert store.info()._replace(generation=0) == before._replace(generation=0)

    def test_batch_is_all_or_nothing(self) -> None:
        store = self.filled()
        before = store.info()
        with suppress(LookupError), store.writer() as writer:
            writer.put(file_of("new.txt", ["new\n"]))
            writer.tombstone(["a.txt"])
            raise LookupError
        assert store.info() == before
        assert (store.document_at("new.txt"), store.document_at("a.txt") is None) == (None, False)

    def test_removed_documents_are_in_no_index(self) -> None:
        store = self.filled()
        rowids = rowids_of(store, parse_filter("doc.path = 'a.txt'"))
        with store.writer() as writer:
            assert writer.tombstone(["a.txt", "d.jsonl#1", "unheard.txt"]) == 2
        assert not set(rowids) & {key.rowid for key in store.candidates(None)}
        assert store.vectors(rowids) == {}
        assert not set(rowids) & store.cosines(vector_of("fish"), where=None).keys()
        assert not set(rowids) & lexical_of(store, "fish").keys()
        assert (store.known("a.txt"), store.removed_path("a.txt")) == (None, "a.txt")
        assert [path for path, _ in store.document_files()] == ["b/c.md", "d.jsonl#2", "e.txt", "empty.txt"]

    def test_removed_documents_count_for_no_term(self) -> None:
        store, other = self.filled(), self.empty()
        letters = "".join({term.term[0] for row in rows_of(store) for term in store.analyzer.terms(row.chunk.text)})
        put(store, file_of("a.txt", ["red fish two\n"]))
        with store.writer() as writer:
            writer.tombstone(["b/c.md", "d.jsonl#1"])
        put(other, *store.live_files())
        counted, expected = (each.terms_beginning(letters, 1, 99, also=(), most=9999) for each in (store, other))
        assert counted == expected
        for text in QUESTIONS:
            for is_searched in (True, False):
                terms = store.term_stats(query_of(store, text), is_searched=is_searched)
                assert terms == other.term_stats(query_of(other, text), is_searched=is_searched), text

    def test_labels_change_without_the_text(self) -> None:
        store = self.filled()
        before = store.info()
        with store.writer() as writer:
            assert writer.relabel("a.txt", tags=("new",), source="other", meta={"m": 2})
            assert not writer.relabel("e.txt", tags=(), source=None, meta=None)
        (row, *_) = store.chunks_of(store.document_at("a.txt") or "")
        assert (row.doc.tags, row.doc.source, row.doc.meta) == (("new",), "other", {"m": 2, "n": 1})
        assert (store.info().chunks, store.info().vectors) == (before.chunks, before.vectors)
        assert store.info().digest != before.digest

    def test_root_is_stored_once_until_forgotten(self) -> None:
        store = self.filled()
        with store.writer() as writer:
            writer.put_root(Root("other"))
            writer.put_root(ROOT)
        assert store.roots() == (ROOT, Root("other"))
        assert [(each.root, each.documents) for each in store.root_sources()] == [(ROOT, 1), (Root("other"), 0)]
        with store.writer() as writer:
            writer.forget_roots(["docs"])
        assert (store.roots(), store.info().documents) == ((Root("other"),), 6)

    def test_renewed_root_moves_last_and_keeps_its_files(self) -> None:
        store = self.filled()
        with store.writer() as writer:
            writer.put_root(Root("other"))
        before = store.info()
        with store.writer() as writer:
            writer.renew_root(ROOT)
        assert [(each.root, each.documents) for each in store.root_sources()] == [(Root("other"), 0), (ROOT, 1)]
        assert store.info()._replace(generation=0) == before._replace(generation=0)
        renewed = store.info()
        with store.writer() as writer:
            writer.renew_root(ROOT)
        assert store.info() == renewed

    def test_digest_depends_on_content_only(self) -> None:
        store = self.empty()
        assert store.info().digest == digest_by_rule(store)
        put(store, *files())
        assert store.info().digest == digest_by_rule(store)
        with store.writer() as writer:
            writer.tombstone(["b/c.md"])
            writer.relabel("a.txt", tags=("q",), source="t", meta=None)
            writer.refresh("e.txt", size=1, mtime_ns=MTIME_NS + 5_000)
        assert store.info().digest == digest_by_rule(store)
        assert [file.mtime_ns for file in store.files() if file.path == "e.txt"] == [MTIME_NS + 5_000]

    def test_judgements_outlast_chunks_and_do_not_change_the_digest(self) -> None:
        store = self.filled()
        before = store.info()
        rows = [JudgementRow("q1", "a.txt", 0, -1, 2), JudgementRow("q1", "unheard.txt", 0, 5, 0)]
        with store.judging() as writer:
            writer.put_query("q1", "fish?")
            writer.put_query("q1", "other words")
            for row in (rows[1], rows[0]._replace(grade=1), rows[0]):
                writer.put(row)
            assert store.judged_queries() == {"q1": "fish?"}
        assert (store.judgements(), store.judgement_count(), store.info()) == (rows, 2, before)
        assert store.stray_judgements() == store.stray_judgements({"q1"}) == rows[1:]
        assert store.stray_judgements({"q2"}) == []
        with store.judging() as writer:
            writer.drop_query("q1")
            writer.remove(*rows[0][:4])
        assert (store.judgements(), store.judged_queries()) == (rows[1:], {"q1": "fish?"})

    def test_compacting_and_purging_change_no_answer(self) -> None:
        store = self.filled()
        with store.writer() as writer:
            writer.tombstone(["e.txt"])
        before = (
            store.info()._replace(tombstones=0),
            lexical_of(store, "fish"),
            rows_of(store),
            store.term_stats(FISH),
        )
        assert store.compact() == 1
        assert (store.info(), lexical_of(store, "fish"), rows_of(store), store.term_stats(FISH)) == before
        assert store.removed_path("e.txt") is None
        assert store.purge()

    def test_chunker_can_change(self) -> None:
        store = self.empty()
        with store.writer() as writer:
            writer.cut_by(chunker="boundary-1:5:0:99", counter="approx")
        assert (store.info().chunker, store.info().counter) == ("boundary-1:5:0:99", "approx")

    def test_new_vectors_replace_the_old_at_once(self) -> None:
        store = self.filled()
        other = HashEmbedder(64)
        target = ReembedTarget(other.identity, other.dimension, "recall reembed")
        store.begin_reembed(target)
        waiting = store.texts_to_reembed(after=b"", limit=99)
        made = dict(zip(waiting, ((vector, 1) for vector in other.embed(list(waiting.values()))), strict=True))
        assert store.save_reembedded(target, dict(list(made.items())[:1]))
        assert not store.finish_reembed(target)
        assert (store.reembed_target(), store.reembedded(), store.texts()) == (target, 1, len(waiting))
        assert store.embedder() == EMBEDDER.identity
        assert store.save_reembedded(target, made)
        assert not store.save_reembedded(target._replace(embedder="another"), made)
        assert store.finish_reembed(target)
        assert (store.embedder(), store.info().dimension, store.reembed_target()) == (other.identity, 64, None)
        held = store.vectors([key.rowid for key in store.candidates(None)])
        assert set(held.values()) == {vector for vector, _ in made.values()}


class CareConformance(SignatureConformance):
    """Requirements of the level `care`."""

    def test_reranker_vectors_are_kept_for_live_texts(self) -> None:
        store = self.filled()
        before = store.info()
        own, vector = next(iter(store.texts_to_rerank("some", after=b"", limit=1))), EMBEDDER.embed(["red"])[0]
        keys = (own, False), (b"gone", False), (own, True)
        made = [RerankVector(*key, vector, before.generation) for key in keys]
        assert store.keep_reranked("some", made, most_bytes=10**6)
        found = [store.reranked("some", [own, b"gone"], is_query=each) for each in (False, True)]
        assert (found, store.texts_reranked("some"), store.info()) == ([{own: vector}] * 2, 1, before)
        assert (store.keep_reranked("some", [], most_bytes=0, may_wait=True), store.reranked_bytes()) == (True, 0)

    def test_title_equal_to_the_text_passes_the_checks_of_texts(self) -> None:
        store = self.filled()
        put(store, title_of("t.jsonl#1", "quokka 色 quokka swims"))
        assert store.check("fulltext").severity == store.check("texts").severity == "ok"

    def test_sound_store_passes_every_check(self) -> None:
        store = self.filled()
        found = {code: store.check(code) for code in get_args(StoreCheck)}
        assert [(code, each.evidence) for code, each in found.items() if each.severity == "error"] == []
        assert list(store.without_vector()) == []
        before = store.info()
        assert store.rebuild_indexes()
        assert store.info()._replace(generation=before.generation) == before

    def test_near_pairs_and_neighbours_are_exact(self) -> None:
        store = self.filled()
        put(store, file_of("twin.txt", ["red fish, blue fish\n"]))
        rowids = [key.rowid for key in store.candidates(None)]
        assert list(store.in_order()) == rowids
        twins = store.chunks_with("red fish, blue fish")
        assert (1, ((twins[0], twins[1], 1.0),)) == store.near_pairs(least=0.999, shown=3)
        assert store.bests(store.vectors(twins)) == dict.fromkeys(twins, (1.0, 1.0))

    def test_new_words_replace_the_old_at_once(self) -> None:
        store = self.filled()
        before, name = (store.info(), lexical_of(store, "fish"), store.term_stats(FISH)), store.analyzer.name
        assert (store.reindex_target(), store.begin_reindex(name), store.reindex_target()) == (None, 0, name)
        assert not store.finish_reindex(name)
        after, count = 0, 0
        while done := store.reindex_some(name, after=after):
            after, count = done[0], count + done[1]
        assert (count, store.begin_reindex(name)) == (before[0].chunks, count)
        assert not store.finish_reindex("another")
        put(store, file_of("late.txt", ["late fish"]))
        assert not store.finish_reindex(name)
        with store.writer() as writer:
            writer.tombstone(["late.txt"])
        assert store.finish_reindex(name)
        assert (lexical_of(store, "fish"), store.term_stats(FISH)) == before[1:]
        assert (store.reindex_target(), store.info().digest) == (None, before[0].digest)
        store.begin_reindex(name)
        store.drop_reindex()
        assert (store.reindex_target(), store.reindex_some(name, after=0)) == (None, None)


class StoreConformance(SearchConformance, WriteConformance, CareConformance):
    """Requirements of a store of every level."""
