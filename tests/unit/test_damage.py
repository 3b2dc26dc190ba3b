"""Damage is found: by doctor in every row, and by an answer in those that it shows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core import Ask, Recall, RecallError
from recall_core.errors import StoreCorrupt
from recall_core.store.sqlite.store import SqliteStore
from tests.damage import change_vectors

NAMES = ("a", "b")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in NAMES:
        (tmp_path / "docs" / f"{name}.md").write_text(f"# The {name} title\n\nA quokka smiles at {name}.\n")
    Recall.init(str(tmp_path))
    return tmp_path


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"))
        yield opened


def damage(recall: Recall, *statements: str) -> None:
    """Change the file behind the store's back, as a disk would."""
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


@pytest.mark.parametrize("how", [FLIPPED, NO_TEXT])
@pytest.mark.parametrize("ask", ASKED)
def test_a_text_that_is_not_what_was_stored_is_never_shown(
    recall: Recall, ask: Callable[[Recall], object], how: str
) -> None:
    damage(recall, how)

    with pytest.raises(StoreCorrupt) as caught:
        ask(recall)

    assert (caught.value.code, caught.value.exit_code) == ("store_corrupt", 6)
    assert "texts" in errors(recall)


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


@pytest.mark.parametrize(
    "value", ["CAST({} AS BLOB)", "CAST(x'41' || {} || x'80ff' AS TEXT)"], ids=["blob", "no UTF-8"]
)
@pytest.mark.parametrize("column", TEXTS)
def test_a_text_that_is_none_any_more_is_damage_and_never_another_error(
    recall: Recall, column: str, value: str
) -> None:
    with recall.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("animals",), source="wild", meta={"year": 2024})
    table, _, name = column.partition(".")
    damage(recall, f"UPDATE {table} SET {name} = {value.format(name)}")

    told = set()
    for use in USED:
        try:
            use(recall)
        except RecallError as error:
            told.add(error.code)

    assert told <= {"store_corrupt", "unknown_target"}
    assert recall.doctor()["checks"]


@pytest.mark.parametrize("key", ["embedder", "digest_sum", "documents"])
def test_what_a_store_must_know_of_itself_is_missed_as_damage(recall: Recall, key: str) -> None:
    damage(recall, f"DELETE FROM meta WHERE key = '{key}'")

    with pytest.raises(StoreCorrupt):
        recall.stats()


@pytest.mark.parametrize("spec", ["{", "7", "{}"])
def test_a_root_that_cannot_be_read_any_more_is_damage(recall: Recall, spec: str) -> None:
    damage(recall, f"UPDATE root SET spec = '{spec}'")

    for use in (Recall.sync, Recall.roots, lambda recall: recall.export(io.StringIO())):
        with pytest.raises(StoreCorrupt):
            list(use(recall))  # type: ignore[arg-type]


def test_a_digest_that_is_no_number_is_damage_to_who_writes(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET digest = 'none'")

    with pytest.raises(StoreCorrupt):
        recall.remove(["docs/a.md"])
    with pytest.raises(StoreCorrupt), recall.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("new",), source=None, meta=None)


@pytest.mark.parametrize("meta", ["7", "[]", '"text"', "null"])
def test_metadata_that_is_no_object_is_damage(recall: Recall, meta: str) -> None:
    damage(recall, f"UPDATE doc SET meta = '{meta}'")

    for ask in ASKED:
        with pytest.raises(StoreCorrupt):
            ask(recall)
    assert "texts" in errors(recall)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
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
    ],
)
def test_doctor_finds_what_changed_behind_the_stores_back(recall: Recall, statement: str, code: str) -> None:
    with recall.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("animals",), source=None, meta={"year": 2024})
    assert errors(recall) == set()

    damage(recall, statement)

    assert code in errors(recall)


def test_of_a_changed_label_doctor_names_the_document_and_what_helps(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET source = 'forged' WHERE path = 'docs/b.md'")

    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "digest")

    assert "the first in docs/b.md" in check["evidence"]
    assert check["fix"] == "recall rm PATH, then recall add PATH"


def test_a_repair_never_makes_a_changed_letter_official(recall: Recall) -> None:
    with recall.store.writer() as writer:
        writer.relabel("docs/b.md", tags=None, source=None, meta={"year": 2024})
    damage(recall, FLIPPED, "UPDATE doc SET meta = '{\"year\":1999}' WHERE rowid = 2")

    (rebuilt,) = (check for check in recall.doctor(fix=True)["checks"] if check["code"] == "rebuilt")

    assert rebuilt["lost"] == [{"kind": "document", "path": "docs/a.md"}, {"kind": "labels", "path": "docs/b.md"}]
    assert [hit["doc"]["path"] for hit in recall.search("quokka")["results"]] == ["docs/b.md"]
    assert errors(recall) == {"digest"}


WRONG_COUNT = "UPDATE meta SET value = '99' WHERE key = 'documents'"


def test_a_repair_in_place_makes_no_changed_label_official(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET source = 'forged' WHERE rowid = 2", WRONG_COUNT)
    assert errors(recall) == {"counts", "digest"}

    recall.doctor(fix=True)

    assert errors(recall) == {"digest"}
    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "digest")
    assert "the first in docs/b.md" in check["evidence"]


def test_digests_that_were_spoiled_are_made_anew_of_documents_that_are_right(recall: Recall) -> None:
    before = recall.stats()["store"]["digest"]
    damage(recall, "UPDATE doc SET digest = (SELECT digest FROM doc WHERE rowid = 2) WHERE rowid = 1")

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.stats()["store"]["digest"] == before


def test_beside_a_title_that_is_no_text_what_else_is_wrong_is_mended(recall: Recall) -> None:
    damage(recall, "UPDATE doc SET title = CAST(x'80ff' AS TEXT) WHERE rowid = 1", WRONG_COUNT)

    recall.doctor(fix=True)

    assert "counts" not in errors(recall)
    assert recall.get("docs/b.md")["ok"]


def test_a_title_that_its_chunks_still_have_is_put_right(recall: Recall) -> None:
    before = recall.get("docs/b.md")["found"]["doc"]
    damage(recall, FLIPPED, "UPDATE doc SET title = 'Another title' WHERE rowid = 2")

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.get("docs/b.md")["found"]["doc"] == before


def test_a_repair_makes_damaged_vectors_anew_and_drops_those_that_were_kept(recall: Recall) -> None:
    before = recall.search("quokka", Ask(mode="semantic"))["results"]
    damage(
        recall,
        "UPDATE vec SET embedding = (SELECT embedding FROM vec WHERE chunk = 2) WHERE chunk = 1",
        "INSERT INTO vec_cache SELECT x'00', embedding, windows, checksum + 1 FROM vec LIMIT 1",
    )

    recall.doctor(fix=True)

    assert errors(recall) == set()
    assert recall.search("quokka", Ask(mode="semantic"))["results"] == before


def test_texts_that_were_never_verified_are_told(recall: Recall) -> None:
    damage(recall, "UPDATE chunk SET hash = NULL WHERE rowid = 1")

    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "texts")

    assert (check["severity"], check["evidence"]) == ("warning", "1 of 2 texts were never verified")
    assert len(recall.search("quokka")["results"]) == 2
