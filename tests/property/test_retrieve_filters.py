"""The filters of `retrieve` choose the same documents as a loop, before the best are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.api.recall import Recall
from recall_core.errors import UsageError
from recall_core.steps import RetrievePlan, Segment, chunk, index, retrieve
from recall_core.types import MetaValue

TAGS = ("a", "A", "é", "e\u0301", "a b", "it's")
VALUES = ("1", 1, 1.0, True, False, 0, None, "", "a", "A", 2**70, 0.5)
KEYS = ("k", "a.b", "it's", "absent")


def documents() -> list[Segment]:
    """Return documents whose place in any ranking says nothing about their tags."""
    chance = Random(5)
    return [
        Segment(
            f"{number:03}",
            "deploy " * chance.randint(1, 9) + "the service",
            tags=tuple(sorted(chance.sample(TAGS, chance.randint(0, 3)))),
            metadata={key: chance.choice((*VALUES, [1], {"k": 1})) for key in KEYS[:3] if chance.random() < 0.8},
        )
        for number in range(120)
    ]


DOCUMENTS = documents()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    with Recall.open(str(tmp_path_factory.mktemp("filters") / "recall.db"), create=True) as recall:
        index(chunk(DOCUMENTS), recall)
        yield recall


def is_equal(stored: Any, wanted: MetaValue) -> bool:
    if stored is None or isinstance(stored, list | dict):
        return wanted is None
    same_kind = isinstance(stored, bool) == isinstance(wanted, bool) and isinstance(stored, str) == isinstance(
        wanted, str
    )
    return same_kind and bool(stored == wanted)


def passes(
    document: Segment, tags_any: Sequence[str] | None, tags_all: Sequence[str], metadata: Mapping[str, MetaValue]
) -> bool:
    return (
        (tags_any is None or bool({*tags_any} & {*document.tags}))
        and {*tags_all} <= {*document.tags}
        and all(is_equal(document.metadata.get(key), value) for key, value in metadata.items())
    )


tags = st.lists(st.sampled_from((*TAGS, "none")), max_size=3)


@given(st.none() | tags, tags, st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2))
@example([], [], {})
@example(["a"], ["a", "a"], {})
@example(None, [], {"k": True, "absent": None})
def test_filters_agree_with_a_loop(
    store: Recall, tags_any: list[str] | None, tags_all: list[str], metadata: dict[str, MetaValue]
) -> None:
    wanted = {each.doc_id for each in DOCUMENTS if passes(each, tags_any, tags_all, metadata)}
    plan = RetrievePlan(k=200)
    found = retrieve("deploy", plan, store, tags_any=tags_any, tags_all=tags_all, metadata=metadata)
    assert {each.doc_id for each in found} == wanted


def test_filters_apply_before_the_best_are_chosen(store: Recall) -> None:
    for mode in ("lexical", "semantic"):
        ranked = retrieve("deploy", RetrievePlan(mode=mode, k=200), store)
        wanted = [each.doc_id for each in ranked if "é" in each.tags and is_equal(each.metadata.get("k"), "1")]
        found = retrieve("deploy", RetrievePlan(mode=mode, k=2), store, tags_all=["é"], metadata={"k": "1"})
        assert [each.doc_id for each in found] == wanted[:2], mode
        assert len(wanted) > 2


def test_filters_join_those_of_plan_and_words(store: Recall) -> None:
    plan = RetrievePlan(k=200, filter="doc.path < '010' OR doc.path > '100'")
    found = retrieve("deploy -absent", plan, store, tags_any=["a"], metadata={"k": 1})
    wanted = {each.doc_id for each in DOCUMENTS if passes(each, ["a"], [], {"k": 1})}
    assert {each.doc_id for each in found} == {path for path in wanted if path < "010" or path > "100"} != set()


def test_tags_and_values_without_meaning_are_refused(store: Recall) -> None:
    for options, code in [
        ({"tags_any": "team"}, "bad_value"),
        ({"tags_all": [1]}, "bad_value"),
        ({"tags_all": ["\ud800"]}, "bad_filter"),
        ({"metadata": {"": 1}}, "bad_filter"),
        ({"metadata": {"k": [1]}}, "bad_filter"),
        ({"metadata": {"k": float("nan")}}, "bad_filter"),
    ]:
        with pytest.raises(UsageError) as refused:
            retrieve("deploy", RetrievePlan(), store, **options)  # type: ignore[arg-type]
        assert refused.value.code == code, options
