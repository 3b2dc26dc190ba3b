"""Both conformance suites fail on a store with one fault, in the check for it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from recall_core.api import stores
from recall_core.conformance.__main__ import run
from recall_core.store.port import Store
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.testing import StoreConformance
from tests.faults import SHARED

_TOMBSTONE = """
DROP TRIGGER chunk_tombstone;
CREATE TRIGGER chunk_tombstone AFTER UPDATE OF deleted ON chunk WHEN old.deleted = 0 AND new.deleted = 1 BEGIN
"""


class Faulty(SqliteStore):
    """A kind of store in memory with one fault: an overridden method, or a changed schema. See `tests.faults`."""

    schema = question = place = ""
    promise: ClassVar[str]

    @classmethod
    def create(cls, where: str, **recorded: Any) -> Store:
        made = create_store(":memory:", **recorded)
        made.db.pragma("query_only", False)
        made.db.execute(cls.schema)
        return cls(made.db, ":memory:", writable=True)


class GhostVector(Faulty):
    promise = "test_removed_documents_are_in_no_index"
    schema = f"""{_TOMBSTONE}
  INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
    VALUES('delete', old.rowid, old.title, coalesce(old.search_text, old.text));
END;"""


class GhostPosting(Faulty):
    promise = "test_removed_documents_are_in_no_index"
    question, place = "search-02", "rows[0].ledger[0].leaves[0].df"
    schema = f"{_TOMBSTONE} DELETE FROM vec_place WHERE chunk = old.rowid; END;"


class GhostFrequency(Faulty):
    promise = "test_removed_documents_count_for_no_term"
    question, place = "search-62", "rows[0].ledger[0].leaves[0].idf"
    schema = GhostPosting.schema


class OldMetadata(Faulty):
    promise = "test_file_is_replaced_as_a_whole"
    question, place = "query-05", "total"
    schema = """
CREATE TRIGGER keep_metadata AFTER INSERT ON doc
BEGIN
  UPDATE doc SET meta = coalesce((SELECT meta FROM doc WHERE path = new.path AND rowid < new.rowid), meta)
  WHERE rowid = new.rowid;
END;"""


OWN = Faulty.__subclasses__()
FAULTS = [*OWN, *(type(fault.__name__, (fault, Faulty), {}) for fault in SHARED)]

chosen = Faulty
"""The kind of store that the suite as data uses."""


@pytest.mark.parametrize("fault", FAULTS)
def test_store_suite_fails_in_the_check_for_the_fault(fault: type[Faulty]) -> None:
    class Suite(StoreConformance):
        def new(self, **recorded: Any) -> Store:
            return fault.create("", **recorded)

    with pytest.raises(AssertionError):
        getattr(Suite(), fault.promise)()


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.question])
def test_suite_as_data_names_the_fault(fault: type[Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORE_KINDS, "faulty", f"{__name__}:chosen")
    monkeypatch.setattr(f"{__name__}.chosen", fault)

    assert (fault.question, fault.place) in {(each["id"], each["place"]) for each in run("faulty:")}


def test_store_of_these_tests_without_a_fault_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORE_KINDS, "faulty", f"{__name__}:chosen")

    assert run("faulty:") == []
