"""Stored sums of small tables equal their rows, whichever version writes them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_core import Recall
from recall_core.store.sqlite import sums
from recall_core.types import Root
from tests import damage

IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return damage.make_store(tmp_path_factory.mktemp("sums") / "store", documents=4, words=100)


def stored_values(recall: Recall) -> dict[str, str]:
    return dict(recall.store.execute("SELECT key, value FROM meta"))


def computed_sums(recall: Recall) -> dict[str, str]:
    return {sums.key_of(table): sums.take_sum(recall.store.execute, table) for table in sums.COLUMNS}


def _judge_otherwise(recall: Recall) -> None:
    with recall.store.judging() as writer:
        first, second = recall.store.judgements()
        writer.put(first._replace(grade=0))
        writer.remove(*second[:4])
        writer.drop_query(second.query)


def _add_again(recall: Recall) -> None:
    list(recall.add([str(recall.engine.base / "docs" / "page-01.md")], Root("")))


def _add_last(recall: Recall) -> None:
    list(recall.add([str(recall.engine.base / "docs")], Root("", tags=("another",))))
    list(recall.add([str(recall.engine.base / "notes")], Root("", source="diary")))


def _fail_to_forget(recall: Recall) -> None:
    def fail() -> None:
        with recall.store.writer() as writer:
            writer.forget_roots(["docs"])
            raise KeyError

    with pytest.raises(KeyError):
        fail()


def _forget(recall: Recall) -> None:
    with recall.store.writer() as writer:
        writer.forget_roots(["docs"])
    assert recall.store.execute("SELECT * FROM left_out") == []


ACTS: dict[str, Callable[[Recall], object]] = {
    "nothing": lambda recall: None,
    "judge": _judge_otherwise,
    "again": _add_again,
    "last": _add_last,
    "failed": _fail_to_forget,
    "forget": _forget,
    "remove": lambda recall: recall.remove([str(recall.engine.base / "docs")]),
    "purge": lambda recall: recall.remove(["docs/page-02.md"], purge=True),
    "compact": lambda recall: recall.compact(),
    "rebuild": lambda recall: recall.store.rebuild(copy=None, made_with=lambda: None),
}


def test_stored_sums_equal_their_rows(template: Path, tmp_path: Path) -> None:
    for number, (name, act) in enumerate(ACTS.items()):
        base = damage.copied(template, tmp_path / str(number))
        with Recall.open(str(base)) as recall:
            act(recall)

            assert computed_sums(recall).items() <= stored_values(recall).items(), name


def test_store_without_sums_gains_them_with_the_next_writer(template: Path, tmp_path: Path) -> None:
    base = damage.copied(template, tmp_path / "store")
    with Recall.open(str(base)) as recall:
        with recall.store.transaction():
            recall.store.execute("DELETE FROM meta WHERE key GLOB 'sum_*'")
        assert {check["severity"] for check in recall.doctor()["checks"]} <= {"ok", "warning"}
        assert not computed_sums(recall).keys() & stored_values(recall).keys()

        _judge_otherwise(recall)

        assert computed_sums(recall).items() <= stored_values(recall).items()


def test_doctor_names_and_repairs_a_changed_small_table(template: Path, tmp_path: Path) -> None:
    for number, change in enumerate(
        [
            "UPDATE judgement SET grade = 3 WHERE query = 'q2'",
            "UPDATE judged_query SET text = 'wombas' WHERE id = 'q2'",
            "UPDATE root SET active = 0",
            "UPDATE left_out SET path = 'docs/page-03.md'",
            "UPDATE meta SET value = value + 1 WHERE key = 'generation'",
        ]
    ):
        base = damage.copied(template, tmp_path / str(number))
        with Recall.open(str(base)) as recall:
            with recall.store.unlock():
                recall.store.db.execute(change)  # through a connection that does not maintain sums yet

            checks = {check["code"]: check for check in recall.doctor()["checks"]}
            evidence = checks["counts"]["evidence"]
            if IS_NIGHT or number in (0, 4):
                after = recall.doctor(fix=True)["checks"]
                assert {check["severity"] for check in after} <= {"ok", "warning"}, change

        assert (checks["counts"]["severity"], evidence) == ("error", f"wrong: rows of {change.split()[1]}"), change
