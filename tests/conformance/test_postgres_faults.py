"""Both conformance suites fail on a collection in Postgres with one fault, in the check for it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from recall_core.api import stores
from recall_core.conformance.__main__ import run
from recall_core.store.port import Store
from recall_core.testing import SearchConformance, WriteConformance
from tests import postgres_server
from tests.faults import SHARED
from tests.postgres_server import collection

if not postgres_server.is_available():
    pytest.skip(postgres_server.MISSING, allow_module_level=True)

from recall_core.store.postgres import held, write
from recall_core.store.postgres.opened import address_of, connect
from recall_core.store.postgres.store import POSTGRES, PostgresStore


class Faulty(PostgresStore):
    """A collection with one fault: an overridden method, or a changed statement. See `tests.faults`.

    statement: a module, the name of its statement, and the part that is replaced by another.
    """

    promise: ClassVar[str]
    question = place = ""
    statement: ClassVar[tuple[Any, str, str, str] | None] = None

    @classmethod
    def create(cls, where: str, **recorded: Any) -> Store:
        POSTGRES.create(where, **recorded).close()
        address = address_of(where)
        return cls(connect(address), address)


class GhostFrequency(Faulty):
    promise = "test_removed_documents_count_for_no_term"
    question, place = "search-62", "rows[0].ledger[0].leaves[0].idf"
    statement = write, "_COUNT_DOWN", "df - gone", "df"


class GhostVector(Faulty):
    promise = "test_removed_documents_are_in_no_index"
    question, place = "search-07", "error"
    statement = (
        write,
        "_BURY",
        "DELETE FROM embedding WHERE doc_id = %s RETURNING windows",
        "SELECT windows FROM embedding WHERE doc_id = %s",
    )


class CopiesNotGrouped(Faulty):
    promise = "test_equal_texts_are_recognized_as_chunks_come_and_go"
    question, place = "search-07", "rows[0].copies"
    statement = held, "_COPIES", "count(*) > 1", "count(*) > 1000"


OWN = Faulty.__subclasses__()
FAULTS = [*OWN, *(type(fault.__name__, (fault, Faulty), {}) for fault in SHARED)]
ASKED = [
    pytest.param(fault, marks=() if fault in OWN else pytest.mark.slow)  # files have shared faults in every run
    for fault in FAULTS
    if fault.question
]

chosen = Faulty
"""The kind of store that the suite as data uses."""


def seed(fault: type[Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    if fault.statement is not None:
        module, name, right, wrong = fault.statement
        sql = getattr(module, name)
        assert right in sql
        monkeypatch.setattr(module, name, sql.replace(right, wrong))


@pytest.mark.parametrize("fault", FAULTS)
def test_store_suite_fails_in_the_check_for_the_fault(
    fault: type[Faulty], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Store] = []

    class Suite(SearchConformance, WriteConformance):
        def new(self, **recorded: Any) -> Store:
            url = collection(server, f"{fault.__name__}{len(made)}")
            made.append(fault.create(stores.store_url(url).where, **recorded))
            return made[-1]

    seed(fault, monkeypatch)
    with pytest.raises(AssertionError):
        getattr(Suite(), fault.promise)()
    for store in made:
        store.close()
        POSTGRES.discard(stores.store_url(store.path).where)


@pytest.mark.parametrize("fault", ASKED)
def test_suite_as_data_names_the_fault(fault: type[Faulty], server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = collection(server, f"data{fault.__name__}")
    monkeypatch.setitem(stores.STORE_KINDS, "postgresql", f"{__name__}:chosen")
    monkeypatch.setattr(f"{__name__}.chosen", fault)
    seed(fault, monkeypatch)

    assert (fault.question, fault.place) in {(each["id"], each["place"]) for each in run(url)}
    POSTGRES.discard(stores.store_url(url).where)
