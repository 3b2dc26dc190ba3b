"""Doctor: every kind of damage is found under its own code, and computable data is repaired once."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from importlib import metadata
from itertools import count
from pathlib import Path
from shutil import copyfile

import apsw
import pytest

import recall_core
import tests.embedders
from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import Interrupted, StoreError
from recall_core.maintain.doctor import check_one, codes, doctor
from recall_core.shell import INSTALL, Hint
from recall_core.store.sqlite.store import SqliteStore, create_store, open_store
from recall_core.store.values import ReembedTarget
from recall_core.types import NewChunk, NewDocument, NewFile, Span
from tests.damage import change_vectors

EMBEDDER = HashEmbedder(64)
HERE = Path()
TEXTS = {
    "a.md": ["alpha beta gamma ", "delta epsilon\n", "zeta"],
    "b.md": ["東京 is a city", " and kyoto too"],
    "c.md": ["the of and"],
    "d.md": [],
}


def chunk(text: str, offset: int, line: int) -> NewChunk:
    return NewChunk(
        Span(offset, offset + len(text), len(text.split())),
        line,
        line + text.count("\n", 0, -1),
        text,
        sha256(text.encode()).digest(),
        EMBEDDER.embed([text])[0],
    )


def file(path: str, texts: list[str]) -> NewFile:
    starts = [sum(map(len, texts[:place])) for place in range(len(texts))]
    lines = [1 + "".join(texts[:place]).count("\n") for place in range(len(texts))]
    chunks = tuple(map(chunk, texts, starts, lines))
    content = NewDocument(path, sha256("".join(texts).encode()).hexdigest(), path, 9, (), None, {}, chunks)
    return NewFile(path, "", 9, 1, "h" * 64, "s", None, (content,))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    template = str(tmp_path_factory.mktemp("made") / "recall.db")
    store = create_store(template, embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="c")
    with store.writer() as writer:
        for name, texts in TEXTS.items():
            writer.put(file(name, texts))
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return template


@pytest.fixture
def path(template: str, tmp_path: Path) -> str:
    """Return the file of a separate store."""
    return copy(template, tmp_path / "recall.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    with closing(writing(path)) as store:
        yield store


@pytest.fixture
def fresh(template: str, tmp_path: Path) -> Iterator[Callable[[], SqliteStore]]:
    """Yield a function that opens another copy of that store at every call."""
    with ExitStack() as opened:
        numbers = count()
        yield lambda: opened.enter_context(closing(writing(copy(template, tmp_path / f"{next(numbers)}.db"))))


def writing(path: str) -> SqliteStore:
    """Return a store whose connection has written: it maintains the sums of small tables during damage too."""
    store = open_store(path)
    with store.writer():
        pass
    return store


def copy(made: str, path: Path) -> str:
    return str(copyfile(made, path))


def damage(store: SqliteStore, sql: str) -> None:
    """Change the file without the store."""
    store.db.pragma("query_only", False)
    store.db.pragma("foreign_keys", False)
    change_vectors(store.db)
    store.db.execute(sql)
    store.db.pragma("foreign_keys", True)
    store.db.pragma("query_only", True)


def wrong(store: SqliteStore, *, fix: bool = False) -> dict[str, str]:
    return {each["code"]: each["severity"] for each in doctor(store, HERE, fix=fix) if each["severity"] != "ok"}


GHOST = "INSERT INTO chunk_fts(rowid, title, body) VALUES(999, 't', 'ghost')"
UNINDEX = """
INSERT INTO chunk_fts(chunk_fts, rowid, title, body) SELECT 'delete', rowid, title, text FROM chunk WHERE rowid = 1
"""
REPAIRABLE = {
    "a ghost in the index": (GHOST, {"fulltext", "fulltext_rows"}),
    "a chunk that is not indexed": (UNINDEX, {"fulltext", "fulltext_rows"}),
    "other words in the index": (
        f"{UNINDEX}; INSERT INTO chunk_fts(rowid, title, body) VALUES(1, 'a.md', 'quite other words')",
        {"fulltext"},
    ),
    "a vector without a chunk": (
        "INSERT INTO vec SELECT 999, embedding, windows, checksum FROM vec LIMIT 1",
        {"foreign_keys", "orphan_vectors", "counts"},
    ),
    "a vector that is missing": ("DELETE FROM vec WHERE chunk = 2", {"vectors", "counts"}),
    "a vector of another size": ("UPDATE vec SET embedding = zeroblob(8) WHERE chunk = 1", {"vector_values"}),
    "a vector without length": ("UPDATE vec SET embedding = zeroblob(256) WHERE chunk = 1", {"vector_values"}),
    "a vector with a component that is no number": (
        f"UPDATE vec SET embedding = x'{'0000c07f' * 64}' WHERE chunk = 1",
        {"vector_values"},
    ),
    "another digest": ("UPDATE meta SET value = '00' WHERE key = 'digest_sum'", {"digest"}),
    "another count": ("UPDATE meta SET value = '7' WHERE key = 'chunks'", {"counts"}),
}
BEYOND_REPAIR = {
    "an id of something else": ("UPDATE doc SET hash = 'x' WHERE path = 'd.md'", {"ids"}),
    "a chunk id of something else": ("UPDATE chunk SET id = 'x' WHERE rowid = 1", {"ids"}),
    "a slice that is too long": ("UPDATE chunk SET line_end = 1, end_offset = 18 WHERE rowid = 1", {"slices"}),
    "a wrong token count": ("UPDATE chunk SET tokens = 9 WHERE rowid = 1", {"tokens"}),
    "a document gone with live chunks": ("UPDATE doc SET deleted = 1 WHERE path = 'c.md'", {"documents"}),
    "a document without its file": ("UPDATE doc SET file = NULL WHERE path = 'c.md'", {"documents"}),
    "a schema of the future": ("PRAGMA user_version = 99", {"schema"}),
}


def test_sound_store_passes_every_check_in_a_fixed_order(store: SqliteStore) -> None:
    checks = doctor(store, HERE)

    assert {each["severity"] for each in checks} == {"ok"}
    assert not any("fix" in each for each in checks)
    assert [each["code"] for each in checks] == [
        "integrity",
        "foreign_keys",
        "schema",
        "fulltext",
        "fulltext_rows",
        "orphan_vectors",
        "vector_values",
        "vectors",
        "texts",
        "documents",
        "ids",
        "slices",
        "words",
        "tokens",
        "digest",
        "counts",
        "purge_pending",
        "space",
        "duplicates",
        "reembed",
        "embedder",
        "left_parts",
        "parser_missing",
        "files",
        "readings",
        "self_retrieval",
        "sparse_ceiling",
        "environment",
    ]


def test_texts_without_a_feature_are_not_missing_vectors(store: SqliteStore) -> None:
    evidence = {each["code"]: each["evidence"] for each in doctor(store, HERE)}

    assert evidence["vectors"] == "5 vectors, 1 texts without a feature"


def test_hash_embedder_is_described_honestly(store: SqliteStore) -> None:
    assert "not meaning" in check_one(store, "embedder", lambda: EMBEDDER, base=HERE)["evidence"]


def test_each_damage_is_found_under_its_code_with_a_command(fresh: Callable[[], SqliteStore]) -> None:
    for name, (sql, own) in {**REPAIRABLE, **BEYOND_REPAIR}.items():
        store = fresh()
        damage(store, sql)

        checks = doctor(store, HERE)

        found = {each["code"] for each in checks if each["severity"] == "error"}
        assert own <= found <= own | {"digest", "counts"}, name
        assert all(each["fix"] for each in checks if each["severity"] == "error"), name


def test_fix_repairs_computable_data(fresh: Callable[[], SqliteStore]) -> None:
    for name, (sql, _) in REPAIRABLE.items():
        store = fresh()
        before = store.info()
        damage(store, sql)

        checks = doctor(store, HERE, fix=True)

        assert [each["severity"] for each in checks] == ["ok"] * len(checks), name
        assert wrong(store) == {}, name
        assert store.info().generation > before.generation, name
        assert store.info() == before._replace(generation=store.info().generation), name


def test_fix_first_copies_the_damaged_store(store: SqliteStore, path: str) -> None:
    damage(store, GHOST)

    checks = doctor(store, HERE, fix=True)

    copy = f"{path}.bak-1"
    assert checks[-1]["code"] == "backup"
    assert copy in checks[-1]["evidence"]
    kept = open_store(copy)
    assert set(wrong(kept)) == {"fulltext", "fulltext_rows"}
    kept.close()


def test_repaired_digest_follows_later_removals(store: SqliteStore) -> None:
    damage(store, "UPDATE doc SET digest = '00'")
    doctor(store, HERE, fix=True)

    with store.writer() as writer:
        writer.tombstone(["b.md"])

    assert wrong(store) == {}


def test_second_fix_changes_nothing(store: SqliteStore, path: str) -> None:
    damage(store, GHOST)
    doctor(store, HERE, fix=True)
    generation = store.info().generation

    checks = doctor(store, HERE, fix=True)

    assert "backup" not in {each["code"] for each in checks}
    assert store.info().generation == generation
    assert len(list(Path(path).parent.glob("*.bak-*"))) == 1


def test_fix_leaves_unrepairable_damage_unchanged(store: SqliteStore, path: str) -> None:
    damage(store, "UPDATE doc SET file = NULL WHERE path = 'c.md'")

    assert wrong(store, fix=True) == {"documents": "error"}
    assert list(Path(path).parent.glob("*.bak-*")) == []


def test_each_text_without_a_vector_is_named_once(store: SqliteStore) -> None:
    damage(store, "DELETE FROM vec")

    named = [rowid for rows in store.without_vector() for rowid, _ in rows]

    assert named == sorted(key.rowid for key in store.candidates(None))
    assert len(named) == len({*named}) == 6


def test_in_memory_store_is_repaired_without_a_copy() -> None:
    for how in (GHOST, "UPDATE meta SET value = '00' WHERE key = 'digest_sum'"):
        store = create_store(":memory:", embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="c")
        with store.writer() as writer:
            writer.put(file("a.md", TEXTS["a.md"]))
        damage(store, how)

        checks = doctor(store, HERE, fix=True)

        assert {each["severity"] for each in checks} == {"ok"}, how
        assert ("backup" in {each["code"] for each in checks}, store.info().chunks) == (False, 3), how


def test_damaged_pages_are_an_error_until_rebuild(store: SqliteStore, path: str) -> None:
    store.db.pragma("query_only", False)
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    root = store.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunk'")[0][0]
    with open(path, "r+b") as raw:
        raw.seek((root - 1) * 8192)
        raw.write(b"\xee" * 8192)
    broken = apsw.Connection(path)
    broken.close()
    reopened = open_store(path)

    found = wrong(reopened)
    mended = wrong(reopened, fix=True)

    reopened.close()
    assert found["integrity"] == "error"
    assert mended == {"rebuilt": "warning"}
    assert [each.name for each in Path(path).parent.glob("*.bak-*")] == ["recall.db.bak-1"]


def test_wasted_space_is_a_warning_that_names_compact(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.tombstone(["a.md", "b.md"])

    space = next(each for each in doctor(store, HERE) if each["code"] == "space")

    assert (space["severity"], space["fix"]) == ("warning", "recall compact")
    assert space["evidence"].startswith("2 of 4 documents are tombstones")


def test_tombstones_are_not_damage(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.tombstone(["a.md"])
        writer.put(file("b.md", ["changed"]))

    assert "error" not in wrong(store).values()


def test_missing_counter_or_embedder_is_only_a_warning(store: SqliteStore) -> None:
    damage(store, "UPDATE meta SET value = 'hf:/absent.json' WHERE key = 'counter'")
    damage(store, "UPDATE meta SET value = 'oracle-9' WHERE key = 'embedder'")

    found = {each["code"]: each for each in doctor(store, HERE) if each["severity"] != "ok"}

    assert {code: each["severity"] for code, each in found.items()} == {"vectors": "warning", "tokens": "warning"}
    assert found["tokens"]["fix"] == "restore the file, or recall rechunk --counter approx-2"


def test_fix_without_embedder_repairs_everything_else(store: SqliteStore) -> None:
    damage(store, GHOST)
    damage(store, "UPDATE meta SET value = 'oracle-9' WHERE key = 'embedder'")

    checks = doctor(store, HERE, fix=True)

    (warning,) = (each for each in checks if each["severity"] != "ok")
    assert (warning["code"], warning["severity"]) == ("vectors", "warning")
    assert "oracle-9" in warning["evidence"]


def test_read_only_store_is_checked_as_far_as_possible(path: str, store: SqliteStore) -> None:
    reader = SqliteStore(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY), path, writable=False)

    damage(store, GHOST)

    found = wrong(reader)
    with pytest.raises(StoreError, match="cannot be written"):
        doctor(reader, HERE, fix=True)

    reader.close()
    assert found == {"fulltext_rows": "error"}
    assert list(Path(path).parent.glob("*.bak-*")) == []


def test_no_embedder_is_created_if_every_chunk_has_a_vector(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.tombstone(["c.md"])
    damage(store, "UPDATE meta SET value = 'oracle-9' WHERE key = 'embedder'")
    assert wrong(store) == {}

    damage(store, GHOST)

    assert wrong(store, fix=True) == {}


def test_missing_and_broken_vectors_use_the_embedder_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests.embedders.install(tmp_path / "site", monkeypatch)
    store = create_store(":memory:", embedder="windowed-1:64", dimension=64, counter="whitespace", chunker="c")
    texts = [f"words of file {n} " * n for n in range(1, 6)]
    with store.writer() as writer:
        for n, text in enumerate(texts):
            writer.put(file(f"{n}.md", [text]))
    damage(store, "DELETE FROM vec WHERE chunk = 5; UPDATE vec SET embedding = zeroblob(8) WHERE chunk = 1")

    checks = doctor(store, HERE, config=Config(embedding="windowed"), fix=True)

    assert {each["severity"] for each in checks} == {"ok"}
    expected = [(1, EMBEDDER.embed([texts[0]])[0], 1), (5, EMBEDDER.embed([texts[4]])[0], 3)]
    rows = store.execute("SELECT chunk, embedding, windows FROM vec WHERE chunk IN (1, 5) ORDER BY chunk")
    assert [(chunk, bytes(vector), windows) for chunk, vector, windows in rows] == expected


def test_existing_vector_is_never_replaced(store: SqliteStore) -> None:
    before = store.execute("SELECT * FROM vec ORDER BY chunk")

    store.put_vectors(embedder=EMBEDDER.identity, made={1: (EMBEDDER.embed(["other words"])[0], 2)})

    assert store.execute("SELECT * FROM vec ORDER BY chunk") == before


def test_unfinished_reembed_is_a_warning_with_its_command(store: SqliteStore) -> None:
    store.begin_reembed(ReembedTarget("other-1:64", 64, "recall reembed other --set embedding_model=x"))

    check = next(each for each in doctor(store, HERE) if each["severity"] != "ok")

    assert (check["code"], check["severity"]) == ("reembed", "warning")
    assert check["evidence"] == "a reembed to other-1:64 is unfinished: 0 of 6 texts"
    assert check["fix"] == "recall reembed other --set embedding_model=x"


def test_equal_documents_are_counted_but_not_a_fault(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.put(file("z/copy.md", TEXTS["a.md"]))
        writer.put(file("copy.md", TEXTS["a.md"]))
        writer.put(file("gone.md", TEXTS["b.md"]))
        writer.tombstone(["gone.md"])

    check = check_one(store, "duplicates", lambda: EMBEDDER, base=HERE)

    evidence = "2 documents repeat the content of another; first: copy.md repeats a.md"
    assert check == {"code": "duplicates", "severity": "ok", "evidence": evidence}


def test_empty_documents_repeat_nothing(store: SqliteStore) -> None:
    with store.writer() as writer:
        for path in ("one.py", "two.py"):
            made = file(path, [])
            writer.put(made._replace(documents=(made.documents[0]._replace(size=0),)))

    check = check_one(store, "duplicates", lambda: EMBEDDER, base=HERE)

    assert check["evidence"] == "0 documents repeat the content of another"


def test_environment_check_lists_versions(store: SqliteStore) -> None:
    check = check_one(store, "environment", lambda: EMBEDDER, base=HERE)

    assert check["severity"] == "ok"
    for version in (platform.python_version(), apsw.sqlite_lib_version(), apsw.apsw_version(), platform.machine()):
        assert version in check["evidence"]
    assert f"sqlite-vec {metadata.version('sqlite-vec')}" in check["evidence"]


@pytest.mark.parametrize("is_there", [True, False])
def test_unloadable_vector_library_is_a_warning(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    if is_there:
        package = tmp_path / "sqlite_vec"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "vec0.so").write_bytes(b"made for another machine")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "sqlite_vec", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "sqlite_vec", None)

    check = check_one(store, "environment", lambda: EMBEDDER, base=HERE)

    assert (check["severity"], check["fix"]) == (
        "warning",
        Hint(INSTALL, "sqlite-vec", force_reinstall=True),
    )
    assert "sqlite-vec cannot be loaded" in check["evidence"]


def test_near_duplicates_are_searched_only_on_request(store: SqliteStore) -> None:
    with store.writer() as writer:
        writer.put(file("same.md", [*TEXTS["a.md"], " and one more"]))

    found = {each["code"]: each for each in doctor(store, HERE, dups=True)}

    assert "near_duplicates" not in {each["code"] for each in doctor(store, HERE)}
    assert [*found][-2:] == ["near_duplicates", "environment"]
    assert found["near_duplicates"] == {
        "code": "near_duplicates",
        "severity": "ok",
        "evidence": (
            "3 pairs of chunks in different documents have a cosine of at least 0.95; first: "
            "a.md:1-1 and same.md:1-1 (1.000), a.md:1-1 and same.md:1-1 (1.000), a.md:2-2 and same.md:2-2 (1.000)"
        ),
    }


def test_interrupt_ends_the_checks_without_a_finding(store: SqliteStore) -> None:
    store.end()

    with pytest.raises(Interrupted):
        doctor(store, HERE, dups=True)


def test_checks_beyond_the_store_are_documented() -> None:
    for code in [*codes()[-4:], "duplicates", "near_duplicates"]:
        page = Path(recall_core.__file__).parents[1] / "docs" / "cli.md"

        assert f"| `{code}` | " in page.read_text(encoding="utf-8"), code
