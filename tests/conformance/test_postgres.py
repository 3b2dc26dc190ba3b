"""Stores in Postgres keep the promises of the levels that they offer, and answer like files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings

from benchmarks.parity import answer, differences, questions
from recall_core import Ask, PutDocument, Recall, RecallError
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api import stores
from recall_core.api.engine import Engine
from recall_core.api.stores import store_kind, store_url
from recall_core.config import Config
from recall_core.conformance.__main__ import run
from recall_core.deadline import within
from recall_core.embed.hash import HashEmbedder
from recall_core.maintain import embedders
from recall_core.retrieve import pool
from recall_core.rql.ast import Expr
from recall_core.rql.match import match
from recall_core.rql.parser import parse_filter
from recall_core.store.port import Store
from recall_core.store.values import JudgementRow, ReembedTarget, StoreCheck
from recall_core.testing import SearchConformance, WriteConformance
from recall_core.testing.corpus import EMBEDDER, file_of, files, put, rows_of
from recall_core.types import LiteralQuery, Phrase, Root
from tests import postgres_server
from tests.parity_stores import filled
from tests.postgres_server import collection
from tests.property.test_whynot import FILTERS, made

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


def create(url: str) -> Store:
    """Make a collection for the documents of `recall_core.testing`."""
    kind, where = store_url(url)
    identity, dimension = EMBEDDER.identity, EMBEDDER.dimension
    recorded = {"counter": "whitespace", "chunker": "boundary-1:9:0:99"}
    return store_kind(kind).create(where, embedder=identity, dimension=dimension, **recorded)


def open_again(url: str) -> Store:
    kind, where = store_url(url)
    return store_kind(kind).open(where)


@pytest.fixture
def url(server: str) -> Iterator[str]:
    """Name a collection that is deleted afterwards."""
    named = collection(server, "own")
    yield named
    store_kind("postgresql").discard(store_url(named).where)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Make a collection of a few files."""
    own = create(url)
    put(own, *files())
    yield own
    own.close()


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(RecallError) as raised:
        call()
    assert "s3cret" not in f"{raised.value} {raised.value.hint}"
    return raised.value.code


class TestCollection(SearchConformance, WriteConformance):
    """The promises of a collection."""

    @pytest.fixture(autouse=True)
    def clear(self, server: str) -> Iterator[None]:
        self.server = server
        self.made: list[Store] = []
        yield
        for number, store in enumerate(self.made):
            store.close()
            store.close()
            store_kind("postgresql").discard(store_url(collection(self.server, f"made{number}")).where)

    def new(self, *, embedder: str, dimension: int, counter: str, chunker: str) -> Store:
        where = store_url(collection(self.server, f"made{len(self.made)}")).where
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        self.made.append(store_kind("postgresql").create(where, dimension=dimension, **recorded))
        return self.made[-1]

    def again(self, store: Store) -> Store:
        return store_kind("postgresql").open(store_url(store.path).where)


@pytest.mark.parametrize(("chunks", "count"), [(150, 60), pytest.param(20_000, 2_000, marks=pytest.mark.slow)])
def test_answers_equal_those_of_a_file(tmp_path: Path, url: str, chunks: int, count: int) -> None:
    asked = questions(filled(tmp_path, "hash", chunks), count, seed=chunks)
    with Recall.open(start=tmp_path) as recall:
        copy = stores.create(store_url(url), recall.config)
        put(copy, *recall.store.live_files())
        assert copy.info().digest == recall.store.info().digest
        assert list(copy.live_files()) == list(recall.store.live_files())
        with Recall(Engine(copy, config=recall.config, base=tmp_path)) as other:
            expected = [answer(recall, each).decode() for each in asked]
            for memory_mb in (recall.config.memory_mb, 0):  # 0: vectors are compared by Postgres
                copy.memory_mb = memory_mb
                assert list(differences(asked, expected, [answer(other, each).decode() for each in asked])) == []


def test_only_raw_syntax_of_the_suite_is_missing(url: str) -> None:
    assert {each["id"] for each in run(url)} == {"query-23"}


def test_filters_agree_with_their_meaning(url: str) -> None:
    info = made(1).info()
    recorded = {"embedder": info.embedder, "counter": info.counter, "chunker": info.chunker}
    store = store_kind("postgresql").create(store_url(url).where, dimension=info.dimension, **recorded)
    put(store, *made(1).live_files())
    rows = rows_of(store)

    @settings(max_examples=400 if IS_NIGHTLY else 25)
    @given(where=FILTERS.map(parse_filter))
    def agree(where: Expr) -> None:
        passing = [row.rowid for row in rows if match(where, row, store.has_words)]
        assert [key.rowid for key in store.candidates(where)] == passing
        assert store.filter_counts(where, table="doc") == made(1).filter_counts(where, table="doc")

    agree()
    store.close()


def test_what_is_missing_or_refused_has_a_code(server: str, url: str) -> None:
    create(url).close()
    base = store_url(url).where
    for where, code in [
        (base.replace("=own", "=other"), "no_store"),
        (base.replace("recall@", "nobody:s3cret@"), "server_refused"),
        (base.replace("/postgres", "/absent"), "server_refused"),
        ("//recall:s3cret@localhost:1/postgres?connect_timeout=1", "server_unreachable"),
        (base.replace("/postgres", "/template1"), "pgvector_missing"),
        (base.replace("recall@", "recall:s3cret%zz@"), "bad_store_url"),
        ("elsewhere", "bad_store_url"),
        ("//me:s3cret@[host/db", "bad_store_url"),
        (f"//me:s3cret@host/db?collection={'x' * 57}", "bad_store_url"),
    ]:
        assert code_of(lambda where=where: store_kind("postgresql").open(where)) == code, where  # type: ignore[misc]
    assert code_of(lambda: create(url)) == "store_exists"
    reader = open_again(f"{url}&options=-cdefault_transaction_read_only%3Don")
    assert code_of(lambda: put(reader)) == "read_only"
    reader.close()


def test_path_opens_the_store_but_has_no_password(store: Store, url: str) -> None:
    with Recall.open(url.replace("recall@", "recall:s3cret@")) as recall:
        stats = recall.stats()
        assert "s3cret" not in json.dumps(stats)
        assert stats["store"].get("not_offered") == ["care"]
        open_again(recall.store.path).close()


def test_settings_are_saved_where_the_url_is_named(store: Store, tmp_path: Path) -> None:
    def save(url: str) -> None:
        with Recall.open(url, start=tmp_path) as recall:
            embedders.write_settings(recall.engine.toml, {"bm25_weight": 0.5})

    assert code_of(lambda: save(store.path)) == "settings_unwritable"
    toml = tmp_path / "recall.toml"
    for url, is_saved in (("postgresql://elsewhere/db", False), (store.path, True)):
        toml.write_text(f'store_path = "{url}"', encoding="utf-8")
        with suppress(RecallError):
            save(store.path)
        assert ("lexical_weight" in toml.read_text(encoding="utf-8")) is is_saved


def test_name_of_a_collection_is_only_a_name(server: str, store: Store) -> None:
    odd = collection(server, "x%22; DROP SCHEMA recall_own; --%25s'")
    other = create(odd)
    put(other, file_of("a.txt", ["o'x\\"]))
    assert (other.info().documents, store.info().documents) == (1, 6)
    other.close()
    store_kind("postgresql").discard(store_url(odd).where)
    assert code_of(lambda: open_again(odd)) == "no_store"


def test_second_writer_is_refused(store: Store, url: str) -> None:
    other = open_again(url)
    with store.writer(), within(0.2):
        assert code_of(lambda: put(other, file_of("b.txt", ["b"]))) in ("store_locked", "timed_out")
    put(other, file_of("b.txt", ["b"]))
    other.close()


def terminate(store: Any, other: Store) -> None:
    """End the server's process of a store."""
    cast(Any, other).execute("SELECT pg_terminate_backend(%s)", (store.db.info.backend_pid,))


def test_lost_connection_leaves_no_part_of_a_batch(store: Store, url: str) -> None:
    other = open_again(url)
    before = other.info()

    def lose() -> None:
        with store.writer() as writer:
            writer.put(file_of("new.txt", ["new"]))
            terminate(store, other)
            writer.put(file_of("newer.txt", ["newer"]))

    assert code_of(lose) == "server_lost"
    assert other.info() == before
    put(other, file_of("new.txt", ["new"]))
    assert other.document_at("new.txt") is not None
    other.close()


def test_batch_is_known_after_a_connection_lost_in_commit(store: Store, url: str) -> None:
    other = open_again(url)
    setting = "ALTER SYSTEM {} synchronous_standby_names"

    def lose_after_commit() -> None:
        """End the process that has committed and waits for a replica, which never comes."""
        killer: Any = open_again(url)
        while not killer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ):
            time.sleep(0.01)
        for sql in (setting.format("RESET"), "SELECT pg_reload_conf()"):
            killer.execute(sql)
        killer.close()

    for sql in (f"{setting.format('SET')} = 'absent'", "SELECT pg_reload_conf()"):
        cast(Any, other).execute(sql)
    thread = threading.Thread(target=lose_after_commit)
    thread.start()
    before = store.generation()
    put(store, file_of("new.txt", ["new"]))
    thread.join()
    assert (other.generation(), other.document_at("new.txt") is not None) == (before + 1, True)
    changes = store.changes()
    put(other, file_of("newer.txt", ["newer"]))
    assert store.changes() == changes + 1

    def lose_before_commit() -> None:
        with store.writer() as writer:
            writer.put(file_of("newest.txt", ["newest"]))
            writer.finish()
            terminate(store, other)

    assert code_of(lose_before_commit) == "server_lost"
    assert other.document_at("newest.txt") is None
    other.close()


def test_question_opens_a_lost_connection_again(store: Store, url: str) -> None:
    other, before = open_again(url), store.info()
    terminate(store, other)
    assert store.info() == before
    terminate(store, other)
    with store.reading():
        assert store.info() == before
        terminate(store, other)
        assert code_of(store.changes) == "server_lost"  # the rest of the block could see another state
    put(store, file_of("new.txt", ["new"]))
    assert other.document_at("new.txt") is not None
    other.close()


def test_reader_keeps_its_vectors_while_others_replace_them(store: Store, url: str) -> None:
    other, new = open_again(url), HashEmbedder(64)
    target = ReembedTarget(new.identity, new.dimension, "recall reembed")
    rowids = [key.rowid for key in store.candidates(None)]
    before = other.vectors(rowids)
    store.begin_reembed(target)
    texts = store.texts_to_reembed(after=b"", limit=99)
    made = zip(texts, ((vector, 1) for vector in new.embed(list(texts.values()))), strict=True)
    assert store.save_reembedded(target, dict(made))
    with other.reading():
        assert other.embedder() == EMBEDDER.identity
        assert store.finish_reembed(target)
        assert (other.embedder(), other.vectors(rowids)) == (EMBEDDER.identity, before)
    assert {len(each) for each in other.vectors(rowids).values()} == {4 * 64}
    other.close()


def test_block_reads_nothing_from_before_it(store: Store, url: str) -> None:
    other = open_again(url)
    before = other.info(), other.state(), other.analyzer
    put(store, file_of("new.txt", ["new"]))
    with other.reading():
        assert (other.info(), other.state()) == (store.info(), store.state()) != before[:2]
    other.close()


def test_text_with_a_nul_is_refused_and_not_stored(store: Store) -> None:
    before = store.info()
    assert code_of(lambda: put(store, file_of("nul.txt", ["a\0b"]))) == "text_unstorable"
    assert store.info() == before


def test_long_words_are_found_as_in_a_file(store: Store, tmp_path: Path) -> None:
    long, other = ("".join(Random(seed).choices("bcdfghjklmnpqrtv", k=3_000)) for seed in (1, 2))
    twin = f"{long[:1_500]}x{long[1_501:]}"
    names = {"long": f"fish {long} oak {long}", "twin": f"oak {twin}", "other": f"elm {other}", "half": long[:1_000]}
    added = [file_of(f"{name}.txt", [text], title=f"{name} {long[:600]}") for name, text in names.items()]
    recorded = {"embedder": EMBEDDER.identity, "counter": "whitespace", "chunker": "boundary-1:9:0:99"}
    file = store_kind("sqlite").create(str(tmp_path / "file.db"), dimension=EMBEDDER.dimension, **recorded)
    put(file, *files())
    for own in (file, store):
        put(own, *added)
        put(own, file_of("half.txt", ["short"]))  # so that terms are taken away
        own.compact()
        assert own.check("fulltext").severity == "ok"
    assert cast(Any, store).execute("SELECT 1 FROM posting WHERE starts_with(term, %s)", (long[:99],))
    assert not cast(Any, store).execute("SELECT 1 FROM posting WHERE right(term, 9) = %s", (long[991:1_000],))
    engines = [Engine(each, config=Config(), base=tmp_path) for each in (file, store)]
    ask = Ask(mode="lexical")
    asked = [long, twin, f'"{long} oak"', f"elm {other}", long[:600], long[-40:], f"{long} {twin} fish"]
    for words in asked:
        expected, found = (Recall(engine).search(words, ask) for engine in engines)
        assert found["results"] == expected["results"], f"{len(words)} characters, {words[:9]}"
        assert found["stats"]["total_hits"] == expected["stats"]["total_hits"]
        assert found["results"]
    words = LiteralQuery("", tuple(Phrase("", terms, terms) for terms in ((long,), (long, "oak"))))
    assert store.term_stats(words, is_searched=False) == file.term_stats(words)
    filtered = [Recall(engine).query(f"SELECT * FROM chunk FILTER lexical('{long} oak')") for engine in engines]
    assert filtered[0]["results"] == filtered[1]["results"]
    file.close()


def test_what_belongs_to_care_is_not_offered(store: Store) -> None:
    assert store_kind("postgresql").levels == {"search", "write"}
    for name in ("rebuild_indexes", "back_up", "near_pairs", "syntax_error"):
        assert code_of(lambda name=name: getattr(store, name)) == "not_offered"  # type: ignore[misc]
    assert not hasattr(store, "anything_else")
    with Recall.open(store.path) as recall:
        assert code_of(lambda: recall.backup("copy.db")) == "not_offered"
        assert code_of(lambda: list(recall.reindex("de"))) == "not_offered"
        for unread in (recall.verify, lambda url: recall.recover(url, "new.db")):
            assert code_of(lambda unread=unread: unread("postgresql://me:s3cret@host/db")) == "not_offered"  # type: ignore[misc]
        severities = {each["code"]: each["severity"] for each in recall.doctor()["checks"]}
    assert (severities["digest"], severities["vectors"], severities["integrity"]) == ("ok", "ok", "ok")


def test_checks_find_damage_in_each_table(store: Store) -> None:
    codes: list[StoreCheck] = ["counts", "fulltext", "fulltext_rows", "vector_values", "texts", "ids", "digest"]
    assert {code: store.check(code).severity for code in codes} == dict.fromkeys(codes, "ok")
    for code, damage in [
        ("counts", "UPDATE store SET tokens = tokens + 1"),
        ("fulltext", "UPDATE term SET df = df + 1 WHERE term = 'fish'"),
        ("fulltext", "DELETE FROM posting WHERE term = 'fish'"),
        ("fulltext_rows", "UPDATE chunk SET body_words = ' x ' WHERE number = 1"),
        ("fulltext_rows", "UPDATE posting SET in_body = array_fill(2, ARRAY[cardinality(numbers)])"),
        ("vector_values", "UPDATE embedding SET embedding = embedding * embedding"),
        ("texts", "UPDATE chunk SET text = 'x' WHERE number = 1"),
        ("ids", "UPDATE chunk SET id = 'x' WHERE number = 1"),
        ("digest", "UPDATE document SET title = 'x' WHERE number = 1"),
        ("digest", "UPDATE store SET digest_sum = '0'"),
    ]:
        with suppress(LookupError), store.writer():
            store.execute(damage)  # type: ignore[attr-defined]  # of the collection
            assert store.check(code).severity == "error", damage  # type: ignore[arg-type]
            raise LookupError


def test_vectors_larger_than_a_page_are_stored(url: str, tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="hash", settings={"store_path": url, "embedding_dim": 1_024})
    with Recall.open(start=tmp_path) as recall:
        recall.put([PutDocument("a.txt", "fish swim"), PutDocument("b.txt", "given", embedding=[1.0] * 1_024)])
        recall.remove(["put://b.txt"])
        for _ in recall.reembed("hash", settings=("embedding_dim=4096",)):
            pass
        recall.put([PutDocument("b.txt", "given", embedding=[1.0] * 4_096)])
        assert recall.stats()["store"]["vectors"] == 2


def test_compact_forgets_and_merges_postings(url: str, tmp_path: Path) -> None:
    dead = "SELECT term, number FROM posting, unnest(numbers) number WHERE number NOT IN (SELECT number FROM chunk)"
    Recall.init(str(tmp_path), embedding="hash", settings={"store_path": url})
    with Recall.open(start=tmp_path) as recall:
        recall.put([PutDocument("c.txt", "fish jump")])
        for text in ("fish fly", "fish dive", "fish fly"):  # the second put of a text replaces its removed document
            recall.put([PutDocument("a.txt", "fish swim fish"), PutDocument("b.txt", text)])
        recall.remove(["put://b.txt"])
        store = cast(Any, recall.store)
        assert {term for (term,) in store.execute("SELECT term FROM posting")} >= {"fish", "fly", "dive"}
        freed = recall.compact()["compacted"]
        assert freed.get("reason", "the server").startswith("the server"), freed
        assert {term for (term,) in store.execute("SELECT term FROM posting")} & {"fish", "fly", "dive"} == {"fish"}
        assert store.execute(dead) == []
        assert store.execute("SELECT count(*) FROM posting GROUP BY term HAVING count(*) > 1") == []
        assert {store.check(code).severity for code in ("fulltext", "fulltext_rows")} == {"ok"}


def test_index_of_vectors_is_made_and_used_on_request(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pool, embedders):
        monkeypatch.setattr(module, "EXACT_VECTORS", 0)
    chosen = {"store_path": f"{url}&options=-cenable_sort%3Doff", "pool": 4, "embedding_dim": 64}
    Recall.init(str(tmp_path), embedding="hash", settings={**chosen, "vector_index": "hnsw"})
    random, words = Random(5), "ant bee cat dog eel fox gnu hen ibex jay kite".split()
    documents = [PutDocument(f"{n}.txt", " ".join(random.choices(words, k=9))) for n in range(60)]
    asks = [
        Ask(mode="semantic", filter=text) for text in (None, "doc.path GLOB 'put://1*'", "doc.path = 'put://7.txt'")
    ]

    def asked(recall: Recall, *, exact: bool = False) -> tuple[list[Any], list[Any]]:
        answers = [recall.search("ant bee", ask._replace(exact=exact)) for ask in asks]
        stats = [each["stats"] for each in answers]
        used = [(each["exact"], each["index"], each.get("examined")) for each in stats]
        return used, [each["results"] for each in answers]

    with Recall.open(start=tmp_path) as recall:
        recall.put(documents)
        assert "recall compact" in recall.search("ant bee")["warnings"][0]
        before = asked(recall, exact=True)
        assert recall.compact()["compacted"]["signatures"] == 60
        assert asked(recall, exact=True) == before
        recall.put([PutDocument("late.txt", "owl")])
        checks = {each["code"]: each["evidence"] for each in recall.doctor()["checks"]}
        assert checks["vector_index"].startswith("61 vectors in the index; recall@10 1.000 ")
        assert recall.stats()["store"].get("vector_index", {}).get("recall_at_10") == 1
        used, results = asked(recall)
        assert used == [(False, "hnsw", 61), (False, "hnsw", 11), (False, "hnsw", 1)]
        assert uses_of(recall.store) > len(asks)
        with monkeypatch.context() as patched:  # the filters pass few of the nearest rows, so the scan goes on
            patched.setattr(pool, "SHORTLIST", 4)
            assert [examined for *_, examined in asked(recall)[0]] == [4, 4, 1]
    toml = tmp_path / "recall.toml"
    toml.write_text(toml.read_text().replace('vector_index = "hnsw"', ""))
    with Recall.open(start=tmp_path) as recall:
        assert asked(recall) == ([(False, "exact", None)] * 3, results)
        assert "signatures" not in recall.compact()["compacted"]
        assert cast(Any, recall.store).signing() is None
    toml.write_text(toml.read_text() + 'vector_index = "hnsw"\n')
    with Recall.open(start=tmp_path) as recall:
        for _ in recall.reembed("hash", ("embedding_dim=32",)):
            pass
        recall.compact()
        used, results = asked(recall)
        assert used == [(False, "hnsw", 61), (False, "hnsw", 11), (False, "hnsw", 1)]


def uses_of(store: Any) -> int:
    """Return how many scans used the HNSW index."""
    store.execute("SELECT pg_stat_force_next_flush()")
    sql = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname = 'embedding_hnsw'"
    return int(store.execute(sql)[0][0])


def test_short_keys_stay_in_the_row_of_a_long_chunk(store: Store) -> None:
    put(store, file_of("long.txt", [" ".join(f"word{number}" for number in range(2_000))]))
    for column, moved in [("text", 1), ("doc_id", 0), ("id", 0), ("hash", 0), ("text_hash", 0)]:
        sql = f"SELECT count(*) FROM chunk WHERE pg_column_toast_chunk_id({column}) IS NOT NULL"
        assert store.execute(sql) == [(moved,)], column  # type: ignore[attr-defined]  # of the collection


def test_purged_text_is_in_no_table(store: Store) -> None:
    with store.writer() as writer:
        writer.tombstone(["a.txt"])
        writer.begin_purge(["a.txt"])
    assert store.pending_purge() == ("a.txt",)
    assert store.purge()
    assert store.pending_purge() is None
    rows = store.execute("SELECT c::text || d::text FROM chunk c JOIN document d ON d.id = c.doc_id")  # type: ignore[attr-defined]
    assert not any("red fish" in row for (row,) in rows)


def test_commands_work_on_a_collection(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("A quokka swims.\n", encoding="utf-8")
    Path("b.txt").write_text("Red fish.\n", encoding="utf-8")
    for line in [
        ["init", "--store", url, "--embedding", "hash"],
        ["add", "."],
        ["search", "quokka"],
        ["query", "SELECT doc.path FROM chunk USING lexical('quokka')"],
        ["context", "quokka"],
        ["explain", "quokka", "a.txt"],
        ["whynot", "quokka", "--target", "b.txt"],
        ["trace", "quokka"],
        ["get", "a.txt"],
        ["ls"],
        ["stats"],
        ["doctor"],
        ["sync"],
        ["reembed", "hash", "--set", "embedding_dim=64"],
        ["search", "quokka"],
        ["doctor"],
        ["rm", "--purge", "b.txt"],
        ["export"],
        ["status"],
    ]:
        streams = Streams(StringIO(), out := StringIO(), StringIO())
        status = cli.main(line, streams=streams)
        assert status == 0, (line, streams.stderr.getvalue())  # type: ignore[attr-defined]
    assert re.search("backend +postgresql", out.getvalue())
    Path("recall.toml").write_text('store_path = "postgresql://a:s3cret@/b?host=c&password=s3cret"', encoding="utf-8")
    waiting = Recall.trust()["trust"]["acts"]
    assert ("s3cret" in f"{waiting}", "postgresql://b" not in f"{waiting}") == (False, True), waiting
    secret = {"store_path": "postgresql://a:s3cret@b/c"}
    assert code_of(lambda: Recall.init("other", settings=secret)) == "password_in_settings"


def exported(recall: Recall) -> str:
    out = StringIO()
    recall.export(out)
    return out.getvalue()


def test_copy_there_and_back_is_equal(tmp_path: Path, url: str) -> None:
    Recall.init(str(tmp_path), embedding="hash", settings={"embedding_dim": EMBEDDER.dimension, "language": "de"})
    with Recall.open(start=tmp_path) as recall:
        put(recall.store, *files())
        recall.put([PutDocument("given", "Ein Text.", embedding=[1.0] * EMBEDDER.dimension)])
        with recall.store.writer() as writer:
            writer.put_root(Root("elsewhere", tags=("t",)), is_active=False)
            writer.put_root(Root("here"))
            writer.leave_out(Root("here"), ["here/removed.txt"])
            writer.judgements.put_query("q", "fish")
            writer.judgements.put(JudgementRow("q", "a.txt", 0, 3, 2))
        before = exported(recall)
        copied = recall.copy(url)["transfer"]
        with Recall.open(url) as there:
            assert copied["sha256"] == json.loads(before.splitlines()[-1])["sha256"]
            assert exported(there) == before
            assert code_of(lambda: recall.copy(url)) == "store_exists"
            there.copy(str(tmp_path / "back.db"))
        with Recall.open(str(tmp_path / "back.db")) as back:
            assert exported(back) == before
            assert back.store.known_roots() == recall.store.known_roots()
            assert back.store.judged_queries() == {"q": "fish"}
            assert back.store.judgements() == recall.store.judgements()
            assert len(back.store.given_vectors()) == 1


COPY = """
import sys
from recall_core import Recall
from recall_core.maintain import transfer
transfer._BATCH_CHUNKS = 20
Recall.open(sys.argv[1]).copy(sys.argv[2])
"""


@pytest.mark.parametrize("is_file", [pytest.param(False, marks=pytest.mark.slow), True])
def test_killed_copy_is_invisible_and_continues(tmp_path: Path, url: str, is_file: bool) -> None:
    filled(tmp_path, "hash", 300)
    target = str(tmp_path / "copy.db") if is_file else url
    kind, where = store_url(target)
    part = store_kind(kind).unfinished(where)
    with Recall.open(start=tmp_path) as recall:
        for is_changed in (False, True):
            kill_copy(str(tmp_path), target, part)
            assert code_of(lambda: Recall.open(target)) == "no_store"
            with closing(store_kind(kind).open(part)) as begun:
                before = begun.generation()
                assert 0 < begun.info().documents < recall.store.info().documents
            if is_changed:
                with recall.store.writer() as writer:
                    writer.tombstone([next(recall.store.live_files()).path])
            recall.copy(target)
            with Recall.open(target) as copied:
                assert exported(copied) == exported(recall)
                assert (copied.store.generation() > before) != is_changed
            assert code_of(lambda: store_kind(kind).open(part)) == "no_store"
            assert code_of(lambda: recall.copy(target)) == "store_exists"
            store_kind(kind).discard(where)


def kill_copy(source: str, target: str, part: str) -> None:
    """Kill a copy after some of its transactions."""
    kind = store_kind(store_url(target).kind)
    command = [sys.executable, "-c", COPY, source, target]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            with suppress(RecallError), closing(kind.open(part)) as begun:
                while process.poll() is None and begun.generation() < 4:
                    time.sleep(0.002)
                process.kill()
    assert process.returncode < 0, "the copy ended before it could be killed"


def busy(store: Any) -> bool:
    """Return True while another process writes the collection."""
    return bool(store.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' LIMIT 1"))
