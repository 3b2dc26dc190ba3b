from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from recall_core.errors import RecallError, StoreCorrupt, StoreError, StoreLocked
from recall_core.rql.parser import parse_filter
from recall_core.store.sqlite import connect
from recall_core.store.sqlite.check import counts, fulltext
from recall_core.store.sqlite.schema import PAGE_SIZE, SCHEMA_VERSION, migrate
from recall_core.store.sqlite.store import SqliteStore, create_store, open_store
from recall_core.types import RawQuery
from recall_core.words.question import literal
from tests.builders import EMBEDDER, memory_store, new_file, put


def ghosts(store: SqliteStore) -> None:
    """Raise if the full-text index and the live chunks disagree."""
    with store.transaction():
        store.execute("INSERT INTO chunk_fts(chunk_fts, rank) VALUES('integrity-check', 1)")


def lexical(store: SqliteStore, words: str) -> dict[int, float]:
    query = literal(words, analyzer=store.analyzer, match="any")
    return store.lexical(query, where=None, k=None, title_weight=3.0)


def test_changed_file_replaces_its_chunks_and_leaves_no_ghost() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["apple pie ", "banana split"]), new_file("b.txt", ["cherry cake"]))
    put(store, new_file("a.txt", ["apple tart "]))
    assert [key.path for key in store.candidates(None)] == ["a.txt", "b.txt"]
    assert lexical(store, "banana") == {}
    ghosts(store)
    assert store.info().tombstones == 1


def test_repeated_changes_in_one_batch_leave_correct_counts() -> None:
    store = memory_store()
    with store.writer() as writer:
        writer.put(new_file("a.txt", ["alpha one", "beta two"]))
        writer.put(new_file("b.txt", ["gamma"]))
        writer.put(new_file("a.txt", ["delta"]))
        writer.put(new_file("a.txt", ["alpha one", "beta two"]))
        writer.tombstone(["b.txt"])
    assert fulltext(store).severity == counts(store).severity == "ok"
    assert store.info().vectors == store.info().chunks == 2


def test_restoring_old_bytes_revives_the_old_id() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["first version"]))
    first = store.fetch([store.candidates(None)[0].rowid])[0]
    put(store, new_file("a.txt", ["second version"]))
    put(store, new_file("a.txt", ["first version"]))
    again = store.fetch([store.candidates(None)[0].rowid])[0]
    assert (again.doc.id, again.chunk.id) == (first.doc.id, first.chunk.id)
    ghosts(store)


def test_vector_of_a_removed_text_stays_in_the_cache() -> None:
    store = memory_store()
    file = new_file("a.txt", ["some words here"])
    digest = file.documents[0].chunks[0].text_hash
    put(store, file)
    with store.writer() as writer:
        assert writer.tombstone(["a.txt"]) == 1
    assert store.info().vectors == 0
    assert store.cached_vectors([digest, b"\0" * 32]) == {digest: file.documents[0].chunks[0].vector}
    put(store, file)
    assert store.execute("SELECT count(*) FROM vec_cache") == [(0,)]


def test_digest_does_not_depend_on_the_order_of_changes() -> None:
    one, other = memory_store(), memory_store()
    files = [new_file(f"{n}.txt", [f"text number {n}"], tags=[f"t{n}"]) for n in range(4)]
    put(one, *files)
    put(other, new_file("2.txt", ["something else"]), *reversed(files[1:]))
    put(other, files[2], files[0])
    assert one.info().digest == other.info().digest
    assert one.info().generation != other.info().generation


def test_digest_covers_labels_and_times() -> None:
    for change in [{"tags": ["x"]}, {"source": "s"}, {"meta": {"k": 1}}, {"mtime_ns": 5_000_000}]:
        store = memory_store()
        put(store, new_file("a.txt", ["same text"]))
        before = store.info().digest
        put(store, new_file("a.txt", ["same text"], **change))  # type: ignore[arg-type]
        assert store.info().digest != before, change


def test_writer_without_changes_makes_no_generation() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["text"], tags=["t"]))
    before = store.info()
    with store.writer() as writer:
        assert not writer.relabel("a.txt", tags=("t",), source=None, meta=None)
    assert store.info() == before


def test_touched_file_has_the_digest_of_its_new_time() -> None:
    touched, fresh = memory_store(), memory_store()
    put(touched, new_file("a.txt", ["text"], mtime_ns=1), new_file("b.txt", ["other"], mtime_ns=1))
    with touched.writer() as writer:
        writer.refresh("a.txt", size=4, mtime_ns=5_000_000_000)
    put(fresh, new_file("a.txt", ["text"], mtime_ns=5_000_000_000), new_file("b.txt", ["other"], mtime_ns=1))
    assert touched.info().digest == fresh.info().digest
    rows = [store.fetch([key.rowid for key in store.candidates(None)]) for store in (touched, fresh)]
    assert [row.doc.mtime for row in rows[0]] == [row.doc.mtime for row in rows[1]]


def test_removing_a_file_without_documents_is_a_change() -> None:
    store = memory_store()
    put(store, new_file("a.txt", [])._replace(documents=()))
    before = store.info().generation
    for _ in range(2):
        with store.writer() as writer:
            assert writer.tombstone(["a.txt", "absent.txt"]) == 0
    assert store.info().generation == before + 1


def test_removing_one_record_of_a_file_is_a_change() -> None:
    store = memory_store()
    one, other = (new_file(f"a.jsonl#{n}", [f"record {n}"]).documents[0] for n in (1, 2))
    put(store, new_file("a.jsonl", [])._replace(documents=(one, other)))
    before = store.info()
    with store.writer() as writer:
        assert writer.tombstone(["a.jsonl#1"]) == 1
    assert (store.info().generation, store.info().documents) == (before.generation + 1, 1)
    assert store.info().digest != before.digest


def test_store_size_counts_pages_or_file_and_log(tmp_path: Path) -> None:
    assert memory_store().size_bytes() >= PAGE_SIZE
    store = memory_store(str(tmp_path / "recall.db"))
    put(store, new_file("a.txt", ["text"]))
    assert store.size_bytes() == sum((tmp_path / name).stat().st_size for name in ("recall.db", "recall.db-wal"))
    store.close()


def test_failing_batch_leaves_nothing_behind() -> None:
    store = memory_store()
    sound, broken = new_file("a.txt", ["text"]), new_file("b.txt", ["text"])._replace(size=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        put(store, sound, broken)
    assert store.info().documents == 0
    ghosts(store)


def test_write_outside_a_transaction_is_refused() -> None:
    store = memory_store()
    with pytest.raises(StoreError):
        store.execute("DELETE FROM doc")


def test_write_through_an_opened_store_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "recall.db")
    memory_store(path).close()
    with closing(open_store(path)) as store, pytest.raises(StoreError):
        store.execute("DELETE FROM meta")


def test_chunk_text_cannot_be_changed_in_place() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["text"]))
    with pytest.raises(StoreError, match="immutable"), store.transaction():
        store.execute("UPDATE chunk SET text = 'other'")


def test_bm25_is_positive_and_within_the_bound() -> None:
    store = memory_store()
    put(store, *(new_file(f"{n}.txt", ["alpha beta gamma"]) for n in range(5)), new_file("z.txt", ["delta alpha"]))
    query = literal("delta zebra", analyzer=store.analyzer, match="any")
    stats = {term.text: term for term in store.term_stats(query)}
    assert stats["delta"].df == 1
    assert (stats["zebra"].df, stats["zebra"].idf) == (0, 0.0)
    scores = lexical(store, "delta zebra")
    assert len(scores) == 1
    assert 0 < next(iter(scores.values())) <= 2.2 * stats["delta"].idf


def test_term_stats_of_phrases_and_raw_syntax_count_rows() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["new york city"]), new_file("b.txt", ["york new"]), new_file("c.txt", ["newest"]))
    phrase = store.term_stats(literal('"new york"', analyzer=store.analyzer, match="any"))
    assert [(term.text, term.df) for term in phrase] == [('"new york"', 1)]
    raw = RawQuery("new* AND york")
    assert [term.df for term in store.term_stats(raw)] == [3, 2]


def test_cjk_is_found_inside_a_run() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["全文検索の仕組み"]), new_file("b.txt", ["天気予報"]))
    assert len(lexical(store, "検索")) == 1
    assert store.fetch(list(lexical(store, "検索")))[0].chunk.text == "全文検索の仕組み"
    ghosts(store)


def test_filters_apply_before_the_limit() -> None:
    store = memory_store()
    put(
        store, *(new_file(f"{n:03}.txt", ["needle " * (100 - n)], tags=["few"] if n > 95 else []) for n in range(100))
    )
    where = parse_filter("doc.tag = 'few'")
    query = literal("needle", analyzer=store.analyzer, match="any")
    assert len(store.lexical(query, where=where, k=3, title_weight=3.0)) == 3
    vector = EMBEDDER.embed(["needle"])[0]
    assert len(store.nearest(vector, where=where, k=3).cosines) == 3
    assert len(store.cosines(vector, where=where)) == 4


def test_nearest_breaks_ties_in_natural_order() -> None:
    store = memory_store()
    put(store, *(new_file(f"{name}.txt", ["identical words"]) for name in "dbcae"))
    found = store.nearest(EMBEDDER.embed(["identical words"])[0], where=None, k=3).cosines
    assert [row.doc.path for row in store.fetch(list(found))] == ["a.txt", "b.txt", "c.txt"]


def test_text_of_overlapping_chunks_is_the_document() -> None:
    store = memory_store()
    file = new_file("a.txt", ["0123456789"])
    document = file.documents[0]
    from tests.builders import new_chunk  # noqa: PLC0415

    chunks = (new_chunk("0123456", offset=0), new_chunk("456789", offset=4))
    put(store, file._replace(documents=(document._replace(chunks=chunks),)))
    assert store.text_of(store.resolve("a.txt")[0][1]) == "0123456789"


def test_resolve_prefers_live_paths_to_unique_prefixes() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["one"]))
    doc = store.resolve("a.txt")[0]
    assert store.resolve(doc[1][:6]) == [doc]
    assert store.resolve(doc[1][:5]) == []
    assert store.resolve("abcdefabcdef") == []


def test_idle_store_is_a_single_file(tmp_path: Path) -> None:
    store = memory_store(str(tmp_path / "r.db"))
    put(store, new_file("a.txt", ["one"]))
    reader = open_store(str(tmp_path / "r.db"))
    assert reader.info().documents == 1
    store.close()
    reader.close()
    assert [path.name for path in tmp_path.iterdir()] == ["r.db"]


def test_reader_sees_one_state_while_another_writes(tmp_path: Path) -> None:
    writer = memory_store(str(tmp_path / "r.db"))
    put(writer, new_file("a.txt", ["one"]))
    reader = open_store(str(tmp_path / "r.db"))
    with reader.reading():
        assert reader.info().documents == 1
        put(writer, new_file("b.txt", ["two"]))
        assert reader.info().documents == 1
    assert reader.info().documents == 2


def test_reading_block_loads_the_store_info_once() -> None:
    store = memory_store()
    statements: list[str] = []
    store.db.exec_trace = lambda _cursor, sql, _bindings: bool(statements.append(sql) or True)
    with store.reading():
        assert len({store.info() for _ in range(3)}) == 1
    assert len([sql for sql in statements if "FROM meta" in sql]) == 1

    store.info()
    assert len([sql for sql in statements if "FROM meta" in sql]) == 2


def test_reader_in_the_same_transaction_sees_its_writes() -> None:
    store = memory_store()
    with store.transaction(), store.reading():
        before = store.info().generation
        store.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        assert store.info().generation == before + 1


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
def test_opening_waits_for_another_program_to_release_the_file(tmp_path: Path, journal_mode: str) -> None:
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    with closing(apsw.Connection(path)) as other:
        other.pragma("journal_mode", journal_mode)
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN EXCLUSIVE; UPDATE meta SET value = value")
        released = threading.Timer(0.2, other.close, (True,))
        released.start()

        open_store(path).close()

        released.join()


def test_opening_times_out_and_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 50)
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    with closing(apsw.Connection(path)) as other:
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN EXCLUSIVE; UPDATE meta SET value = value")
        before = len(apsw.connections())

        begun = time.monotonic()
        with pytest.raises(StoreLocked):
            open_store(path)

        assert 0.05 <= time.monotonic() - begun < 2
        assert len(apsw.connections()) == before


def test_second_writer_is_told_who_holds_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    hold = (
        "import apsw, sys, time; db = apsw.Connection(sys.argv[1]); db.execute('BEGIN IMMEDIATE');"
        "db.execute(\"UPDATE meta SET value = value\"); print('held', flush=True); time.sleep(60)"
    )
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 50)
    with subprocess.Popen([sys.executable, "-c", hold, path], stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(StoreLocked) as caught:
                put(open_store(path), new_file("a.txt", ["one"]))
        finally:
            holder.kill()
    assert caught.value.code == "store_locked"
    assert caught.value.details == {"pid": holder.pid}
    assert str(holder.pid) in str(caught.value.hint)


def test_file_other_than_a_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_bytes(b"this is not a database at all" * 100)
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t(x)")
    for name in ("text.db", "other.db"):
        with pytest.raises(StoreCorrupt) as caught:
            open_store(str(tmp_path / name))
        assert caught.value.code == "not_a_store"
        assert caught.value.hint == f"mv {tmp_path / name} {tmp_path / name}.old && recall init {tmp_path}"
    with pytest.raises(StoreError) as caught2:
        open_store(str(tmp_path / "absent.db"))
    assert caught2.value.code == "no_store"


def new_store(path: Path) -> SqliteStore:
    return create_store(str(path), embedder="none", dimension=8, counter="whitespace", chunker="none")


IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
FULL = """
import os, resource, signal, sys
from recall_core.errors import StoreError
from recall_core.store.sqlite.store import create_store
made = 0
for kilobytes in range(0, 400, int(sys.argv[1])):
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, resource.RLIM_INFINITY))
    try:
        create_store("r.db", embedder="none", dimension=8, counter="whitespace", chunker="none").close()
    except StoreError:
        assert os.listdir() == [], (kilobytes, os.listdir())
    else:
        made += 1
        os.remove("r.db")
assert 0 < made < 100, made
"""


def test_failed_creation_leaves_no_file(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", FULL, "4" if IS_NIGHT else "16"]
    done = subprocess.run(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_second_creator_removes_nothing(tmp_path: Path) -> None:
    first = new_store(tmp_path / "r.db")
    with pytest.raises(StoreError, match="already exists"):
        new_store(tmp_path / "r.db")

    put(first, new_file("a.txt", ["one"]))
    first.close()
    assert open_store(str(tmp_path / "r.db")).info().documents == 1


def test_existing_file_is_kept_and_the_hint_moves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my text.db").write_bytes(b"this is not a database at all" * 100)
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t(x)")
    for name in ("my text.db", "other.db"):
        with pytest.raises(StoreError, match="is not a Recall store") as caught:
            new_store(tmp_path / name)
        assert caught.value.code == "store_exists"
        assert caught.value.hint is not None
        subprocess.run(caught.value.hint.partition(" && ")[0], shell=True, check=True)
        assert caught.value.hint.endswith("&& recall init")
        new_store(tmp_path / name).close()
        with pytest.raises(StoreError, match=r"already exists\.$") as again:
            new_store(tmp_path / name)
        assert str(again.value.hint).endswith(" stats")


def test_foreign_log_is_removed_before_opening_the_replaced_file(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    for name, words in (("r.db", ["one"]), ("new.db", ["two"] * 500)):
        store = memory_store(str(tmp_path / name))
        put(store, *(new_file(f"{i}.txt", [f"{word} {i}"]) for i, word in enumerate(words)))
        store.close()
    old, idle = open_store(path), open_store(path)
    idle.info()
    put(old, new_file("late.txt", ["late"]))
    assert Path(f"{path}-wal").stat().st_size > 0

    (tmp_path / "r.db").rename(tmp_path / "old.db")
    (tmp_path / "new.db").replace(path)
    assert old.is_replaced()
    old.leave()
    assert not Path(f"{path}-wal").exists()
    assert not Path(f"{path}-shm").exists()

    with_new = open_store(path)
    assert with_new.info().documents == 500
    assert with_new.execute("PRAGMA integrity_check") == [("ok",)]
    assert idle.is_replaced()
    for each in (old, idle, with_new):
        each.close()
    assert open_store(str(tmp_path / "old.db")).info().documents == 2


def test_unfoldable_foreign_log_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.store.sqlite.opened.BUSY_TIMEOUT_MS", 10)
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    old, reader = open_store(path), open_store(path)
    with reader.reading():
        reader.info()
        put(old, new_file("late.txt", ["late"]))
        (tmp_path / "r.db").rename(tmp_path / "old.db")
        memory_store(str(tmp_path / "new.db")).close()
        (tmp_path / "new.db").replace(path)
        with pytest.raises(StoreError) as caught:
            old.leave()
    assert caught.value.code == "store_needs_recovery"
    assert caught.value.hint == f"rm {path}-wal {path}-shm"
    old.leave()
    assert open_store(path).info().documents == 0


def test_abandoned_store_is_never_mistaken_for_a_restored_one(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    old = open_store(path)
    old.info()
    (tmp_path / "away").mkdir()
    for place in tmp_path.glob("r.db*"):
        place.rename(tmp_path / "away" / place.name)
    old.leave()
    for place in (tmp_path / "away").iterdir():
        place.rename(tmp_path / place.name)

    assert old.is_replaced()
    with closing(open_store(path)) as again:
        assert not again.is_replaced()
    old.close()


def test_opening_an_empty_file_leaves_the_journal_of_its_creator(tmp_path: Path) -> None:
    path, journal = tmp_path / "recall.db", tmp_path / "recall.db-journal"
    path.touch()
    journal.write_bytes(b"of another process")

    with pytest.raises(StoreError, match="is not a store yet"):
        open_store(str(path))
    assert journal.exists()


def test_empty_log_is_folded_despite_a_pending_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    with closing(open_store(path)) as idle, closing(open_store(path)) as writer, writer.transaction():
        assert idle.fold(wait_ms=0)


def test_closing_a_connection_folds_its_writes_into_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    memory_store(path).close()
    reader, writer = open_store(path), open_store(path)
    put(writer, new_file("a.txt", ["one"]))
    assert Path(f"{path}-wal").stat().st_size > 0
    writer.close()
    writer.close()
    assert Path(f"{path}-wal").stat().st_size == 0
    assert reader.info().documents == 1


def test_newer_schema_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    memory_store(str(path)).close()
    with apsw.Connection(str(path)) as db:
        db.pragma("user_version", SCHEMA_VERSION + 1)
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        open_store(str(path))
    assert caught.value.code == "schema_newer"
    assert path.read_bytes() == before


def test_damaged_page_is_reported_as_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    store = memory_store(str(path))
    put(store, *(new_file(f"{n}.txt", [f"word{n} " * 50]) for n in range(200)))
    store.close()
    raw = bytearray(path.read_bytes())
    for start in range(8192, len(raw), 8192):
        raw[start : start + 64] = b"\xff" * 64
    path.write_bytes(raw)
    with pytest.raises(StoreCorrupt) as caught:
        open_store(str(path)).info()
    assert (caught.value.code, caught.value.exit_code) == ("store_corrupt", 6)


def test_unfinished_migration_changes_nothing(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "r.db"))

    def good(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE good(x)")

    def bad(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE good(x)")

    with pytest.raises(apsw.SQLError):
        migrate(db, version=0, steps=(good, bad))
    assert db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    assert db.pragma("user_version") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a read-only file system")
def test_store_on_read_only_media_opens(tmp_path: Path) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs permission to mount")
    store = memory_store(str(tmp_path / "r.db"))
    put(store, new_file("a.txt", ["one"]))
    store.close()
    script = (
        f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path} && "
        f'{sys.executable} -c "from recall_core.store.sqlite.store import open_store; '
        f"s = open_store('{tmp_path}/r.db'); print(s.info().documents, s.writable)\""
    )
    result = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert result.stdout == "1 False\n", result.stderr


def test_interrupt_aborts_a_running_statement() -> None:
    import threading  # noqa: PLC0415

    store = memory_store()
    threading.Timer(0.1, store.interrupt).start()
    started = time.monotonic()
    with pytest.raises(RecallError) as caught:
        store.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    assert caught.value.code == "interrupted"
    assert time.monotonic() - started < 30
