"""Repair: whichever page is damaged, readable data is kept and losses are named."""

from __future__ import annotations

import gzip
import json
import shutil
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from recall_core import Recall
from recall_core.errors import StoreCorrupt, StoreError
from recall_core.store.sqlite import blocks, copying
from recall_core.store.sqlite.schema import vector_checksum
from recall_core.store.sqlite.store import SqliteStore
from tests import damage
from tests.examples import mostly_nightly
from tests.unit.test_backup import run

TREES = (
    *("meta", "root", "sqlite_autoindex_root_1", "file", "sqlite_autoindex_file_1", "doc", "sqlite_autoindex_doc_1"),
    *("doc_live_path", "doc_live_mtime", "doc_live_source", "doc_file", "doc_tag", "doc_tag_tag", "chunk"),
    *("sqlite_autoindex_chunk_1", "chunk_natural", "chunk_doc", "chunk_text_hash", "vec_cache"),
    *("chunk_live_hash", "chunk_copy"),
    *("chunk_fts_data", "chunk_fts_idx", "chunk_fts_docsize", "chunk_fts_config", "vec_windowed", "vec_next"),
    "doc_reading",
    *("judged_query", "judgement", "left_out", "vec_rerank", "sqlite_autoindex_vec_rerank_1"),
    *("vec_block", "vec_place", "sqlite_autoindex_vec_place_1", "vec_free"),
)
"""Every table and index of a store; each is a separate tree of pages."""

DATA = {"doc", "doc_reading", "file", "left_out", "judged_query", "judgement"}
"""Tables with unique data on one page here: labels and hashes of records, how files were read, removed files, and
judgements. The texts are unique too, but their pages are found without their root. All other tables follow from
these and from the settings."""

VECTORS = {"vec_block", "vec_place"}
"""Tables needed to check any vector, on one page each here."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base: Path = tmp_path_factory.mktemp("made")
    return damage.make_store(base / "store", words=500)


@pytest.fixture(scope="module")
def before(template: Path) -> tuple[list[str], list[Any]]:
    return damage.exported(template), damage.judged(template)


@pytest.fixture(scope="module")
def inverted_store(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return that store with valid vectors that its embedder would not make: each points the other way."""
    base = damage.copied(template, tmp_path_factory.mktemp("turned") / "store")
    turn_vectors(base)
    return base


def turn_vectors(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        store = recall.store
        assert isinstance(store, SqliteStore)
        rows = store.execute("SELECT chunk, embedding, windows FROM vec ORDER BY chunk")
        turned = [(chunk, array("f", (-part for part in array("f", vector))), n) for chunk, vector, n in rows]
        with store.transaction():
            blocks.clear(store.execute)
            store.execute("DELETE FROM vec_cache")
            put = [(chunk, bytes(vector), n, vector_checksum(bytes(vector), n)) for chunk, vector, n in turned]
            blocks.put(store.execute, store.execute_many, put)


@pytest.fixture(scope="module")
def known(inverted_store: Path) -> tuple[list[str], list[Any]]:
    return damage.exported(inverted_store), damage.judged(inverted_store)


def without_vectors(exported: list[str]) -> list[dict[str, Any]]:
    return [{name: each for name, each in json.loads(line).items() if name != "vector"} for line in exported]


@pytest.fixture
def base(template: Path, tmp_path: Path) -> Path:
    return damage.copied(template, tmp_path / "store")


class Mended(NamedTuple):
    """The result of a fix on a store with damaged root pages."""

    base: Path
    content: bytes
    """Bytes of the damaged file."""
    checks: dict[str, dict[str, Any]]
    exported: list[str]
    judged: list[Any]

    @classmethod
    def of(cls, base: Path, *spoiled: str) -> Mended:
        path = base / "recall.db"
        for tree in spoiled:
            damage.spoil(path, damage.trees(path)[tree])
        content = path.read_bytes()
        checks = fix(base)
        return cls(base, content, checks, damage.exported(base), damage.judged(base))


@pytest.fixture(scope="module")
def fix_trees(inverted_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Mended]:
    """Return a function that damages these trees of the turned store and repairs it; tests only read the result."""
    return cache(
        lambda *trees: Mended.of(damage.copied(inverted_store, tmp_path_factory.mktemp("fixed") / "store"), *trees)
    )


def leaves(path: Path, tree: str) -> list[int]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = [
        page for (page,) in db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (tree,))
    ]
    db.close()
    return found


def fix(base: Path) -> dict[str, dict[str, Any]]:
    """Return the checks after a fix, by code."""
    with Recall.open(str(base)) as recall:
        return {check["code"]: dict(check) for check in recall.doctor(fix=True)["checks"]}


def errors(checks: dict[str, dict[str, Any]]) -> set[str]:
    return {code for code, check in checks.items() if check["severity"] == "error"}


def lines(exported: list[str], kind: str) -> list[dict[str, Any]]:
    return [line for each in exported if (line := json.loads(each))["type"] == kind]


def test_trees_belong_to_a_store(template: Path) -> None:
    assert set(damage.trees(template / "recall.db")) == set(TREES)


@pytest.mark.parametrize("tree", mostly_nightly(TREES, *DATA, "meta", "chunk", "vec_place"))
def test_damaged_root_page_is_repaired_and_readable_rows_are_kept(
    fix_trees: Callable[..., Mended], known: tuple[list[str], list[Any]], tree: str
) -> None:
    """No vector with a valid check is recomputed: it would point the other way."""
    store = fix_trees(tree)

    assert errors(store.checks) == set()
    if tree in VECTORS:
        assert (without_vectors(store.exported), store.judged) == (without_vectors(known[0]), known[1])
        assert store.exported != known[0]
    elif tree not in DATA:
        assert (store.exported, store.judged) == known
    if tree != "doc" and tree not in VECTORS:
        for kind in ("chunk",) if tree == "doc_reading" else ("document", "chunk"):
            assert lines(store.exported, kind) == lines(known[0], kind)
    assert ("lost" in store.checks.get("rebuilt", {})) == (tree in DATA - {"file", "doc_reading"} | {"root"})


def test_fix_suggests_sync_if_times_or_marks_are_lost(
    template: Path, fix_trees: Callable[..., Mended], tmp_path: Path
) -> None:
    for tree in ("file", "doc_reading"):
        check = fix_trees(tree).checks["rebuilt"]
        assert (check["severity"], check["fix"]) == ("warning", "recall sync"), tree
        assert "must be read again" in check["evidence"], tree
        assert "nothing is lost" not in check["evidence"], tree
    whole = damage.copied(template, tmp_path / "store")
    damage.spoil(whole / "recall.db", damage.trees(whole / "recall.db")["meta"])
    check = fix(whole)["rebuilt"]
    assert (check["severity"], check["evidence"]) == ("ok", "rebuilt from the readable data; nothing was lost")


SEVERAL = TREES[4::4]
"""A quarter of the trees, one of each kind; those in DATA are excluded below."""


def test_several_damaged_root_pages_are_repaired_together(
    fix_trees: Callable[..., Mended], known: tuple[list[str], list[Any]]
) -> None:
    store = fix_trees(*(tree for tree in SEVERAL if tree not in DATA | VECTORS))

    assert errors(store.checks) == set()
    assert (store.exported, store.judged) == known
    assert "lost" not in store.checks["rebuilt"]


def test_fix_leaves_only_a_backup_of_the_damaged_file(fix_trees: Callable[..., Mended]) -> None:
    for tree in ("meta", "chunk"):  # the pages of a copy are searched for chunks
        store = fix_trees(tree)

        (backup,) = store.base.glob("recall.db.bak-*")
        assert str(backup) in store.checks["backup"]["evidence"], tree
        assert backup.read_bytes() == store.content, tree
        left = sorted(path.name for path in store.base.iterdir() if path.is_file())
        assert left == ["recall.db", backup.name, "recall.toml"], tree


def test_lost_marks_return_with_the_next_sync(
    fix_trees: Callable[..., Mended], tmp_path: Path, before: tuple[list[str], list[Any]]
) -> None:
    base = damage.copied(fix_trees("doc_reading").base, tmp_path / "store")

    with Recall.open(str(base)) as recall:
        for _ in recall.sync():
            pass

    assert lines(damage.exported(base), "document") == lines(before[0], "document")


def test_document_texts_survive_the_loss_of_their_table(
    fix_trees: Callable[..., Mended], before: tuple[list[str], list[Any]]
) -> None:
    store = fix_trees("doc")
    lost = store.checks["rebuilt"]["lost"]

    gone = {each["path"] for each in lost if each["kind"] == "document"}
    assert gone == {line["path"] for line in lines(before[0], "document") if "#" in line["path"]}
    kept = [line["id"] for line in lines(before[0], "document") if line["path"] not in gone]
    after = store.exported
    assert [line["id"] for line in lines(after, "document")] == kept
    assert {line["text"] for line in lines(after, "chunk")} <= {line["text"] for line in lines(before[0], "chunk")}


def test_lost_documents_return_with_the_next_sync(base: Path, before: tuple[list[str], list[Any]]) -> None:
    path = base / "recall.db"
    for page in leaves(path, "chunk"):
        damage.spoil(path, page)

    lost = fix(base)["rebuilt"]["lost"]

    assert {each["path"] for each in lost} == {
        line["path"] for line in lines(before[0], "document") if line["path"] != "docs/empty.txt"
    }
    with Recall.open(str(base)) as recall:
        for _ in recall.sync():
            pass
    assert damage.exported(base) == before[0]


def spoiled_text(base: Path, letter: bytes = b"wombat") -> str:
    """Change a letter of one text in the file and return the path of its document."""
    with Recall.open(str(base)) as recall:
        rows = recall.store.fetch(recall.store.in_order())
        row = next(row for row in rows[5:] if row.chunk.offset > 0 and "wombat" in row.chunk.text)
        neighbours = [each for each in rows if each.doc.id == row.doc.id]
        assert neighbours[-1].chunk.id != row.chunk.id
        text = row.chunk.text.encode()
    raw = (base / "recall.db").read_bytes()
    place = raw.index(text[:200]) + text.index(letter)
    (base / "recall.db").write_bytes(raw[:place] + b"W" + raw[place + 1 :])
    return row.doc.path


@pytest.fixture(scope="module")
def store_with_hole(
    template: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, dict[str, dict[str, Any]]]:
    """Return a repaired store that lacks a text, the text's path, and the checks of the fix. Tests only read it."""
    base = damage.copied(template, tmp_path_factory.mktemp("holed") / "store")
    path = spoiled_text(base)
    return base, path, fix(base)


def test_changed_letter_is_omitted_and_named_with_its_place(
    store_with_hole: tuple[Path, str, dict[str, dict[str, Any]]],
) -> None:
    base, path, checks = store_with_hole

    (lost,) = checks["rebuilt"]["lost"]
    assert (lost["kind"], lost["path"]) == ("text", path)
    assert lost["place"].startswith("lines ")
    assert errors(checks) == {"slices", "digest"}
    with Recall.open(str(base)) as recall:
        assert recall.search("Wombat wombat", k=500)["results"]
        with pytest.raises(StoreCorrupt, match="a part or a label of"):
            recall.get(path)


def test_next_sync_fills_the_hole(
    store_with_hole: tuple[Path, str, dict[str, dict[str, Any]]], tmp_path: Path, before: tuple[list[str], list[Any]]
) -> None:
    base = damage.copied(store_with_hole[0], tmp_path / "store")

    with Recall.open(str(base)) as recall:
        for _ in recall.sync():
            pass

    assert damage.exported(base) == before[0]
    assert errors(fix(base)) == set()


def test_second_fix_changes_nothing(
    store_with_hole: tuple[Path, str, dict[str, dict[str, Any]]], tmp_path: Path
) -> None:
    base = damage.copied(store_with_hole[0], tmp_path / "store")
    backups = sorted(path.name for path in base.glob("*.bak-*"))
    content = (base / "recall.db").read_bytes()

    checks = fix(base)

    assert not {"backup", "rebuilt"} & checks.keys()
    assert (base / "recall.db").read_bytes() == content
    assert sorted(path.name for path in base.glob("*.bak-*")) == backups


def test_open_connections_see_the_repaired_store(base: Path, before: tuple[list[str], list[Any]]) -> None:
    with Recall.open(str(base)) as other:
        answered = other.search("quokka", k=3)["results"]
        damage.spoil(base / "recall.db", damage.trees(base / "recall.db")["chunk_doc"])

        assert errors(fix(base)) == set()

        assert other.search("quokka", k=3)["results"] == answered
        (base / "docs" / "new.md").write_text("A brand new aardvark.\n")
        other.index(str(base / "docs"))
    with Recall.open(str(base)) as recall:
        assert recall.search("aardvark")["results"]


def test_writes_during_a_rebuild_are_not_lost(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is released for a moment between reading the old store and writing the new one."""
    path = base / "recall.db"
    damage.spoil(path, damage.trees(path)["doc_live_source"])
    changes = SqliteStore.changes
    written: list[int] = []

    def changed(store: SqliteStore) -> int:
        seen = changes(store)
        if not written:
            written.append(1)
            db = apsw.Connection(str(path))
            db.execute("INSERT INTO judged_query(id, text) VALUES('q3', 'koala')")
            db.close()
        return seen

    monkeypatch.setattr(SqliteStore, "changes", changed)

    assert errors(fix(base)) == set()
    assert ("q3", "koala") in damage.judged(base)


@pytest.mark.parametrize("tree", ["doc_live_mtime", "chunk_fts_docsize"])
def test_damaged_index_is_rebuilt_in_place(base: Path, before: tuple[list[str], list[Any]], tree: str) -> None:
    db = apsw.Connection(str(base / "recall.db"))
    statement = {
        "doc_live_mtime": "UPDATE doc SET mtime = '2001-01-01T00:00:00.000000Z' WHERE rowid = 2",
        "chunk_fts_docsize": "DELETE FROM chunk_fts_docsize WHERE id = (SELECT max(id) FROM chunk_fts_docsize)",
    }[tree]
    root = damage.trees(base / "recall.db")[tree]
    kept = b"".join(list(damage.pages_of(base / "recall.db"))[root - 1 : root])
    db.execute("BEGIN")
    db.execute(statement)
    db.execute("ROLLBACK" if tree == "doc_live_mtime" else "COMMIT")
    db.close()
    if tree == "doc_live_mtime":  # an index entry under another time
        damage.spoil(base / "recall.db", root, kept.replace(b"Z", b"Y", 1))

    checks = fix(base)

    assert errors(checks) == set()
    assert "rebuilt" not in checks
    assert "backup" in checks
    assert (damage.exported(base), damage.judged(base)) == before


def test_table_that_silently_lost_rows_is_not_considered_complete(base: Path) -> None:
    """Rebuilding its indexes would make the loss permanent."""
    db = apsw.Connection(str(base / "recall.db"))
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'doc_live_path'").fetchone() or ("",)
    db.pragma("foreign_keys", False)
    db.pragma("writable_schema", True)
    db.execute(
        "UPDATE sqlite_schema SET type = 'table', name = 'kept', tbl_name = 'kept', sql = "
        "'CREATE TABLE kept(path, r, PRIMARY KEY(path, r)) WITHOUT ROWID' WHERE name = 'doc_live_path'"
    )
    db.close()
    db = apsw.Connection(str(base / "recall.db"))
    (path,) = db.execute("SELECT path FROM doc WHERE rowid = 4").fetchone() or ("",)
    db.execute("DELETE FROM chunk WHERE doc = 4; DELETE FROM doc WHERE rowid = 4")
    db.pragma("writable_schema", True)
    as_it_was = "UPDATE sqlite_schema SET type = 'index', name = 'doc_live_path', tbl_name = 'doc', sql = ?"
    db.execute(f"{as_it_was} WHERE name = 'kept'", (sql,))
    db.close()

    checks = fix(base)

    assert {"kind": "document", "path": path} in checks["rebuilt"]["lost"]


def test_row_found_only_in_an_index_is_recovered(base: Path) -> None:
    (base / "empty").mkdir()
    with Recall.open(str(base)) as recall:
        for _ in recall.add([str(base / "empty")]):
            pass
    db = apsw.Connection(str(base / "recall.db"))
    definition = db.execute("SELECT name FROM sqlite_schema WHERE name = 'sqlite_autoindex_root_1'").fetchone()
    (rowid,) = db.execute("SELECT max(rowid) FROM root").fetchone() or (0,)
    as_table = "CREATE TABLE kept(spec, r, PRIMARY KEY(spec, r)) WITHOUT ROWID"
    bare = "CREATE TABLE root(rowid INTEGER PRIMARY KEY, spec TEXT NOT NULL, active INTEGER NOT NULL DEFAULT 1)"
    db.pragma("writable_schema", True)
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'root'").fetchone() or ("",)
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'root'", (bare,))
    db.execute(
        "UPDATE sqlite_schema SET type = 'table', name = 'kept', tbl_name = 'kept', sql = ? WHERE name = ?",
        (as_table, "sqlite_autoindex_root_1"),
    )
    db.close()
    db = apsw.Connection(str(base / "recall.db"))
    db.execute("DELETE FROM root WHERE rowid = ?", (rowid,))
    db.pragma("writable_schema", True)
    db.execute(
        "UPDATE sqlite_schema SET type = 'index', name = ?, tbl_name = 'root', sql = NULL WHERE name = 'kept'",
        definition,
    )
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'root'", (sql,))
    db.close()

    fix(base)

    with Recall.open(str(base)) as recall:
        assert [(root["folder"], root["active"]) for root in recall.roots()["roots"]][-1] == ("empty", False)


@pytest.mark.parametrize("place", [3, *(pytest.param(place, marks=pytest.mark.slow) for place in (0, -1))])
def test_damaged_text_page_affects_no_other_page(base: Path, before: tuple[list[str], list[Any]], place: int) -> None:
    """No index records the rows after it."""
    path = base / "recall.db"
    pages = leaves(path, "chunk")
    for page in (pages[place], *(damage.trees(path)[name] for name in ("chunk_natural", "chunk_doc"))):
        damage.spoil(path, page)

    fix(base)

    after = {line["id"] for line in lines(damage.exported(base), "chunk")}
    known = {line["id"] for line in lines(before[0], "chunk")}
    assert after <= known
    assert len(pages) >= 6
    assert len(known - after) <= 12


def test_long_texts_are_found_without_their_table_root(tmp_path: Path) -> None:
    """Their rows continue on overflow pages."""
    (tmp_path / "docs").mkdir()
    for n in range(6):
        (tmp_path / "docs" / f"{n}.txt").write_text(f"wörter{n}" + "ä" * 30_000 + f" {n}\n" * 3_000)
    Recall.init(str(tmp_path), settings={"max_chunk_chars": 60_000, "chunk_tokens": 4_000})
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(tmp_path / "docs"))
    known = damage.exported(tmp_path)
    path = tmp_path / "recall.db"
    assert damage.trees(path)["chunk"] in leaves(path, "chunk") or len(leaves(path, "chunk")) > 1
    damage.spoil(path, damage.trees(path)["chunk"])

    checks = fix(tmp_path)

    assert (errors(checks), "lost" in checks["rebuilt"]) == (set(), False)
    assert damage.exported(tmp_path) == known


def test_vectors_survive_the_loss_of_their_table_root(tmp_path: Path) -> None:
    """Each is taken from an unreachable page if its check is valid."""
    whole = tmp_path / "whole"
    (whole / "docs").mkdir(parents=True)
    records = (json.dumps({"id": f"r{n}", "text": f"quokka {n}"}) for n in range(800))
    (whole / "docs" / "all.jsonl").write_text("\n".join(records))
    Recall.init(str(whole), settings={"embedding_dim": 64})
    with Recall.open(str(whole)) as recall:
        recall.index(str(whole / "docs"))
    turn_vectors(whole)
    known = damage.exported(whole)
    for tree in VECTORS:
        base = damage.copied(whole, tmp_path / tree)
        assert len(leaves(base / "recall.db", tree)) > 1, tree
        damage.spoil(base / "recall.db", damage.trees(base / "recall.db")[tree])

        assert errors(fix(base)) == set(), tree

        assert damage.exported(base) == known, tree


def test_fix_without_disk_space_changes_nothing(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = base / "recall.db"
    damage.spoil(path, damage.trees(path)["doc"])
    content, needed, usage = path.read_bytes(), 3 * path.stat().st_size, shutil.disk_usage(base)
    for free in (0, needed - 1):
        monkeypatch.setattr(copying.shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        for mend in (lambda: fix(base), lambda: Recall.recover(path, tmp_path / "new.db")):
            with pytest.raises(StoreError, match=f"needs {needed} free bytes .*only {free} are free") as refused:
                mend()

            assert (refused.value.code, refused.value.exit_code) == ("no_room", 1)
            assert refused.value.details == {"needed_bytes": needed, "free_bytes": free}
    assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (content, ["store"])
    assert not [*base.glob("*.bak-*")]
    monkeypatch.setattr(copying.shutil, "disk_usage", lambda _: usage._replace(free=needed))
    assert errors(fix(base)) == set()


def test_repair_finishes_a_purge_of_a_damaged_file(base: Path) -> None:
    path = base / "recall.db"
    with Recall.open(str(base)) as recall, recall.store.writer() as writer:
        writer.begin_purge(["docs/page-02.md"])
        writer.tombstone(["docs/page-02.md"])
    text = (base / "docs" / "page-02.md").read_bytes()[40:80]
    damage.spoil(path, damage.trees(path)["chunk_doc"])

    checks = fix(base)

    assert errors(checks) == set()
    assert text not in path.read_bytes()
    db = apsw.Connection(str(path))
    assert db.execute("SELECT count(*) FROM vec_cache").fetchall() == [(0,)]
    db.close()


# Recovery into another file.


@pytest.fixture
def damaged_store(base: Path) -> Path:
    path = base / "recall.db"
    damage.spoil(path, damage.trees(path)["doc_live_path"])
    damage.spoil(path, damage.trees(path)["vec_place"])
    return path


def test_recover_reads_what_it_can_and_keeps_old_store(
    damaged_store: Path, tmp_path: Path, before: tuple[list[str], list[Any]]
) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        files = [path for path in damaged_store.parent.iterdir() if path.is_file()]
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    was = state()

    response = Recall.recover(damaged_store, tmp_path / "new.db")

    assert state() == was
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.db", "store"]
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600
    view = response["recovered"]
    assert (damage.exported(tmp_path / "new.db"), damage.judged(tmp_path / "new.db")) == before
    assert (view["lost"], view["without_vector"]) == ([], 0)
    assert view["documents"] == len(lines(before[0], "document"))
    assert {check["severity"] for check in response["checks"]} == {"ok"}


def test_recover_overwrites_nothing(damaged_store: Path, tmp_path: Path) -> None:
    (tmp_path / "new.db").write_text("mine")

    with pytest.raises(StoreError) as error:
        Recall.recover(damaged_store, tmp_path / "new.db")

    assert error.value.code == "store_exists"
    assert (tmp_path / "new.db").read_text() == "mine"


def test_recover_takes_lost_creation_settings_from_recall_toml(
    base: Path, tmp_path: Path, before: tuple[list[str], list[Any]]
) -> None:
    path = base / "recall.db"
    damage.spoil(path, damage.trees(path)["meta"])

    Recall.recover(path, tmp_path / "new.db")

    assert damage.exported(tmp_path / "new.db") == before[0]
    toml = base / "recall.toml"
    for told in (toml.read_text().replace("embedding_dim = 512", "embedding_dim = 64"), None):
        toml.write_text(told) if told else toml.unlink()
        with pytest.raises(StoreCorrupt, match="name its embedder"):
            Recall.recover(path, tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_damaged_vector_does_not_block_a_repair(base: Path, before: tuple[list[str], list[Any]]) -> None:
    path = base / "recall.db"
    db = apsw.Connection(str(path))
    damage.change_vectors(db)
    db.execute("UPDATE vec SET embedding = x'00' WHERE chunk = (SELECT min(chunk) FROM vec)")
    db.close()
    damage.spoil(path, damage.trees(path)["chunk_doc"])

    assert errors(fix(base)) == set()

    assert damage.exported(base) == before[0]


def test_untrusted_settings_do_not_replace_lost_creation_settings(base: Path, tmp_path: Path) -> None:
    path = base / "recall.db"
    damage.spoil(path, damage.trees(path)["meta"])
    toml = base / "recall.toml"
    named = toml.read_text().replace('embedding = "hash"', 'embedding = "openai"')
    toml.write_text(named.replace("allow_network = false", "allow_network = true"))

    with pytest.raises(StoreCorrupt, match="name its embedder"):
        Recall.recover(path, tmp_path / "other.db")
    with pytest.raises(StoreCorrupt, match="name its embedder"), Recall.open(str(base)) as recall:
        recall.doctor(fix=True)
    assert not (tmp_path / "other.db").exists()


def test_unreadable_store_creates_no_new_store(base: Path, tmp_path: Path) -> None:
    path = base / "recall.db"
    path.write_bytes(b"\x00" * path.stat().st_size)

    with pytest.raises(StoreCorrupt):
        Recall.recover(path, tmp_path / "new.db")
    with pytest.raises(StoreError) as error:
        Recall.recover(base / "nowhere.db", tmp_path / "new.db")

    assert error.value.code == "no_store"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["store"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"SQLite format 3", b"SQLite format 7"),
        (b"CREATE TABLE doc(", b"CREATE TABLF doc("),
        (b"tabledocdoc", b"tabledobdoc"),
        (b"CREATE INDEX chunk_doc", b"CREATE INDEX chunk\x80doc"),
    ],
)
def test_store_that_no_command_opens_is_recovered(
    base: Path, tmp_path: Path, before: tuple[list[str], list[Any]], was: bytes, becomes: bytes
) -> None:
    path = base / "recall.db"
    assert was in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(was, becomes))

    with pytest.raises(StoreCorrupt) as error:
        Recall.open(str(base))
    Recall.recover(path, tmp_path / "new.db")

    assert (error.value.exit_code, error.value.hint) == (6, f"recall recover {path} NEW")
    assert (damage.exported(tmp_path / "new.db"), damage.judged(tmp_path / "new.db")) == before


def test_damaged_store_of_an_earlier_version_is_recovered(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    golden = Path(__file__).parents[1] / "golden"
    path.write_bytes(gzip.decompress((golden / "schema-2.db.gz").read_bytes()))
    Recall.recover(path, tmp_path / "whole.db")
    damage.spoil(path, damage.trees(path)["chunk_natural"])

    view = Recall.recover(path, tmp_path / "new.db")["recovered"]

    assert view["lost"] == []
    assert view["documents"] > 0
    assert damage.exported(tmp_path / "new.db") == damage.exported(tmp_path / "whole.db")


def test_undamaged_store_is_recovered_unchanged_with_its_log(
    base: Path, tmp_path: Path, before: tuple[list[str], list[Any]]
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    (base / "docs" / "late.md").write_text("A late lemur.\n")
    with Recall.open(str(base)) as recall:
        reader = apsw.Connection(str(base / "recall.db"))
        reader.execute("BEGIN; SELECT count(*) FROM doc").fetchall()
        recall.index(str(base / "docs" / "late.md"))
        for name in ("recall.db", "recall.db-wal"):
            shutil.copy(base / name, killed / name)
        reader.close()

    Recall.recover(killed / "recall.db", tmp_path / "new.db")

    documents = {line["path"] for line in lines(damage.exported(tmp_path / "new.db"), "document")}
    assert documents == {line["path"] for line in lines(before[0], "document")} | {"docs/late.md"}


def test_commands_name_lost_texts(base: Path, tmp_path: Path) -> None:
    path = spoiled_text(base)

    code, out, _ = run("recover", str(base / "recall.db"), str(tmp_path / "new.db"))
    fixed, told, _ = run("--store", str(base), "doctor", "--fix")

    assert (code, fixed) == (6, 6)
    assert f"  lost text  {path}  lines " in out
    assert f"  lost text  {path}  lines " in told
    assert "slices" in out


@pytest.fixture(autouse=True)
def _no_file_is_left_in_the_folder(tmp_path: Path) -> Iterator[None]:
    yield
    assert list(tmp_path.rglob(".recall-*")) == []
