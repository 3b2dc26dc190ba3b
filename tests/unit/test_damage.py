"""Damage is found: by doctor in every row, and by an answer in the rows it shows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from shutil import copy2, copytree

import pytest

from recall_core import Ask, Recall, RecallError
from recall_core.errors import StoreCorrupt
from recall_core.store.sqlite.store import SqliteStore
from tests.damage import change_vectors

NAMES = ("a", "b")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store of two documents, the first with labels."""
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir(parents=True)
    for name in NAMES:
        (template / "docs" / f"{name}.md").write_text(f"# The {name} title\n\nA quokka smiles at {name}.\n")
    Recall.init(str(template), settings=("embedding_dim=64",))
    with Recall.open(str(template)) as recall:
        recall.index(str(template / "docs"))
    return template


@pytest.fixture
def fresh(template: Path, tmp_path: Path) -> Iterator[Callable[[], Recall]]:
    """Yield a function that opens another copy of that store at every call."""
    with ExitStack() as opened:
        numbers = count()

        def fresh() -> Recall:
            base = copytree(template, tmp_path / str(next(numbers)), copy_function=copy2)
            recall = opened.enter_context(Recall.open(str(base)))
            with recall.store.writer():
                pass  # a connection that has written maintains the sums of small tables, also for damaging writes
            return recall

        yield fresh


@pytest.fixture
def recall(fresh: Callable[[], Recall]) -> Recall:
    return fresh()


def label(recall: Recall) -> None:
    with recall.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("animals",), source="wild", meta={"year": 2024})


def damage(recall: Recall, *statements: str) -> None:
    """Change the file without the store, as a disk would."""
    store = recall.store
    assert isinstance(store, SqliteStore)
    store.db.pragma("query_only", False)
    change_vectors(store.db)
    store.db.execute("DROP TRIGGER IF EXISTS chunk_text_is_immutable")
    for statement in statements:
        store.db.execute(statement)
    store.db.pragma("query_only", True)


def errors(recall: Recall) -> set[str]:
    return {check["code"] for check in recall.doctor()["checks"] if check["severity"] == "error"}


FLIPPED = "UPDATE chunk SET text = replace(text, 'smiles', 'snarls') WHERE rowid = 1"
NO_TEXT = "UPDATE chunk SET text = CAST(x'410a80ff' AS TEXT) WHERE rowid = 1"
ASKED: tuple[Callable[[Recall], object], ...] = (
    lambda recall: recall.search("quokka"),
    lambda recall: recall.search("quokka", Ask(mode="semantic")),
    lambda recall: recall.query("SELECT * FROM chunk"),
    lambda recall: recall.context("quokka"),
    lambda recall: recall.get("docs/a.md"),
    lambda recall: recall.export(io.StringIO()),
)


def test_changed_text_is_never_shown(fresh: Callable[[], Recall]) -> None:
    for how in (FLIPPED, NO_TEXT):
        recall = fresh()
        damage(recall, how)

        for number, ask in enumerate(ASKED):
            error = error_of(ask, recall)
            assert isinstance(error, StoreCorrupt), (how, number)
            assert (error.code, error.exit_code) == ("store_corrupt", 6), (how, number)
        assert "texts" in errors(recall), how


def error_of(use: Callable[[Recall], object], recall: Recall) -> RecallError | None:
    try:
        use(recall)
    except RecallError as error:
        return error
    return None


TEXTS = (
    *(f"doc.{name}" for name in ("id", "path", "mtime", "hash", "title", "source", "meta", "digest")),
    *(f"chunk.{name}" for name in ("id", "heading", "title", "text", "search_text")),
    *(f"file.{name}" for name in ("path", "os_path", "hash", "settings")),
    "doc_tag.tag",
    "root.spec",
    "meta.value",
)
USED: tuple[Callable[[Recall], object], ...] = (
    *ASKED,
    lambda recall: recall.query("SELECT * FROM doc"),
    lambda recall: recall.why_not("quokka", "docs/a.md"),
    lambda recall: recall.roots(),
    lambda recall: recall.stats(),
    lambda recall: list(recall.sync()),
    lambda recall: recall.remove(["docs/a.md"]),
    lambda recall: recall.compact(),
)


BLOB, NO_UTF_8 = "CAST({} AS BLOB)", "CAST(x'41' || {} || x'80ff' AS TEXT)"
DECODED = ("doc.path", "chunk.text", "doc_tag.tag", "meta.value")
"""Some columns, which are checked with bytes that are not UTF-8 in CI too."""


def check_unreadable(recall: Recall, column: str, value: str) -> None:
    """Check that every use of a store with such a value succeeds or reports damage."""
    label(recall)
    table, _, name = column.partition(".")
    damage(recall, f"UPDATE {table} SET {name} = {value.format(name)}")

    codes = {error.code for error in (error_of(use, recall) for use in USED) if error}

    assert codes <= {"store_corrupt", "unknown_target"}, (column, value)
    assert recall.doctor()["checks"], (column, value)


def test_value_other_than_text_is_damage(fresh: Callable[[], Recall]) -> None:
    for column in TEXTS:
        check_unreadable(fresh(), column, BLOB)
    for column in DECODED:
        check_unreadable(fresh(), column, NO_UTF_8)


@pytest.mark.slow
def test_invalid_utf8_bytes_are_reported_as_damage(fresh: Callable[[], Recall]) -> None:
    for column in TEXTS:
        check_unreadable(fresh(), column, NO_UTF_8)


def test_missing_row_of_meta_is_damage(fresh: Callable[[], Recall]) -> None:
    for key in ("embedder", "digest_sum", "documents"):
        recall = fresh()
        damage(recall, f"DELETE FROM meta WHERE key = '{key}'")

        assert isinstance(error_of(Recall.stats, recall), StoreCorrupt), key


def test_unreadable_root_is_damage(fresh: Callable[[], Recall]) -> None:
    for spec in ("{", "7", "{}"):
        recall = fresh()
        damage(recall, f"UPDATE root SET spec = '{spec}'")

        for use in (lambda recall: [*recall.sync()], Recall.roots, lambda recall: recall.export(io.StringIO())):
            assert isinstance(error_of(use, recall), StoreCorrupt), spec


def test_non_numeric_digest_is_damage_to_writers(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET digest = 'none'")

    with pytest.raises(StoreCorrupt):
        recall.remove(["docs/a.md"])
    with pytest.raises(StoreCorrupt), recall.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("new",), source=None, meta=None)


def test_metadata_other_than_an_object_is_damage(fresh: Callable[[], Recall]) -> None:
    for meta in ("7", "[]", '"text"', "null"):
        recall = fresh()
        damage(recall, f"UPDATE doc SET meta = '{meta}'")

        for number, ask in enumerate(ASKED):
            assert isinstance(error_of(ask, recall), StoreCorrupt), (meta, number)
        assert "texts" in errors(recall), meta


def test_doctor_finds_every_outside_change(fresh: Callable[[], Recall]) -> None:
    for statement, code in (
        ("UPDATE doc SET title = 'Another title' WHERE rowid = 1", "digest"),
        ("UPDATE chunk SET title = 'Another title' WHERE rowid = 1", "texts"),
        ("UPDATE chunk SET title = '' WHERE rowid = 1", "texts"),
        ("UPDATE doc SET meta = '{not JSON' WHERE rowid = 1", "texts"),
        ("UPDATE doc SET meta = '{\"year\": 1999}' WHERE rowid = 1", "digest"),
        ("UPDATE doc_tag SET tag = 'other'", "digest"),
        ("UPDATE doc SET digest = (SELECT digest FROM doc WHERE rowid = 2) WHERE rowid = 1", "digest"),
        ("UPDATE meta SET value = '0' WHERE key = 'digest_sum'", "digest"),
        ("UPDATE doc SET title = CAST(x'80ff' AS TEXT) WHERE rowid = 1", "texts"),
        ("UPDATE chunk SET heading = 'Animbls' WHERE rowid = 1", "slices"),
        ("UPDATE chunk SET heading = CAST(x'80ff' AS TEXT) WHERE rowid = 1", "slices"),
        ("UPDATE chunk SET line_start = 9 WHERE rowid = 1", "slices"),
        ("UPDATE chunk SET line_end = 9 WHERE rowid = 1", "slices"),
        ("UPDATE vec SET embedding = (SELECT embedding FROM vec WHERE chunk = 2) WHERE chunk = 1", "vector_values"),
        ("INSERT INTO vec_cache SELECT x'00', embedding, windows, checksum + 1 FROM vec LIMIT 1", "vector_values"),
        ("INSERT INTO vec_next SELECT x'00', embedding, windows, checksum + 1 FROM vec LIMIT 1", "vector_values"),
    ):
        recall = fresh()
        label(recall)
        damage(recall, statement)

        assert code in errors(recall), statement
    recall = fresh()
    label(recall)
    assert errors(recall) == set()


def test_doctor_names_the_document_with_a_changed_label(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET source = 'forged' WHERE path = 'docs/b.md'")

    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "digest")

    assert "first: docs/b.md" in check["evidence"]
    assert check["fix"] == "recall rm PATH, then recall add PATH"


def test_repair_never_accepts_a_changed_letter(recall: Recall) -> None:
    with recall.store.writer() as writer:
        writer.relabel("docs/b.md", tags=None, source=None, meta={"year": 2024})
    damage(recall, FLIPPED, "UPDATE doc SET meta = '{\"year\":1999}' WHERE rowid = 2")

    (rebuilt,) = (check for check in recall.doctor(fix=True)["checks"] if check["code"] == "rebuilt")

    assert rebuilt["lost"] == [{"kind": "document", "path": "docs/a.md"}, {"kind": "labels", "path": "docs/b.md"}]
    assert [hit["doc"]["path"] for hit in recall.search("quokka")["results"]] == ["docs/b.md"]
    assert errors(recall) == {"digest"}


WRONG_COUNT = "UPDATE meta SET value = '99' WHERE key = 'documents'"


def test_repair_never_accepts_a_changed_label(recall: Recall) -> None:
    label(recall)
    damage(recall, "UPDATE doc SET source = 'forged' WHERE rowid = 1", WRONG_COUNT)
    assert errors(recall) == {"counts", "digest"}

    recall.doctor(fix=True)

    assert errors(recall) == {"digest"}
    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "digest")
    assert "first: docs/a.md" in check["evidence"]


def test_damaged_digests_are_recomputed_from_sound_documents(recall: Recall) -> None:
    before = recall.stats()["store"]["digest"]
    damage(recall, "UPDATE doc SET digest = (SELECT digest FROM doc WHERE rowid = 2) WHERE rowid = 1")

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.stats()["store"]["digest"] == before


def test_fix_repairs_other_damage_next_to_an_unreadable_title(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET title = CAST(x'80ff' AS TEXT) WHERE rowid = 1", WRONG_COUNT)

    recall.doctor(fix=True)

    assert "counts" not in errors(recall)
    assert recall.get("docs/b.md")["ok"]


def test_title_is_restored_from_its_chunks(recall: Recall) -> None:
    before = recall.get("docs/b.md")["found"]["doc"]
    damage(recall, FLIPPED, "UPDATE doc SET title = 'Another title' WHERE rowid = 2")

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.get("docs/b.md")["found"]["doc"] == before


def test_repair_recomputes_damaged_vectors_and_clears_the_cache(recall: Recall) -> None:
    before = recall.search("quokka", Ask(mode="semantic"))["results"]
    damage(
        recall,
        "UPDATE vec SET embedding = (SELECT embedding FROM vec WHERE chunk = 2) WHERE chunk = 1",
        "INSERT INTO vec_cache SELECT x'00', embedding, windows, checksum + 1 FROM vec LIMIT 1",
    )

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.search("quokka", Ask(mode="semantic"))["results"] == before


def test_unverified_texts_are_reported(recall: Recall) -> None:
    damage(recall, "UPDATE chunk SET hash = NULL WHERE rowid = 1")

    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "texts")

    evidence = "1 of 2 texts were stored by an earlier version, without a hash"
    assert (check["severity"], check["evidence"]) == ("ok", evidence)
    assert len(recall.search("quokka")["results"]) == 2
