"""A server gives an answer again only while the store and its files have not changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.query_cache import QueryCache, _CachedAnswer
from recall_core.api.recall import Recall
from recall_core.personal import Personal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(f"# {name}\n\nEach retry of {name} waits longer.\n")
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))
    return tmp_path


@pytest.fixture
def recall(folder: Path) -> Iterator[Recall]:
    with Recall.open(start=folder) as recall:
        recall.engine.cache = QueryCache()
        yield recall


def is_cached(response: Any) -> bool:
    return "cached" in response["stats"]


def timeless(response: Any) -> dict[str, Any]:
    stats = {name: value for name, value in response["stats"].items() if name not in ("took_ms", "timings", "cached")}
    return {**response, "stats": stats}


def test_second_answer_is_cached_and_equal(recall: Recall) -> None:
    for ask in (
        lambda: recall.search("retry", explain=True, receipt=True),
        lambda: recall.query("SELECT doc.path FROM chunk USING lexical('retry')"),
        lambda: recall.context("retry", explain=True, budget_tokens=100),
    ):
        first, second = ask(), ask()
        assert (is_cached(first), is_cached(second)) == (False, True)
        assert timeless(first) == timeless(second)
        assert second["stats"]["cached"] is True


def test_every_option_has_its_own_answer(recall: Recall) -> None:
    answers = [
        recall.search("retry"),
        recall.search("retries"),
        recall.search("retry", k=1),
        recall.search("retry", settings=("semantic_weight=0.2",)),
        recall.search("retry", filter="doc.path = 'a.md'"),
        recall.context("retry"),
        recall.context("retry", budget_tokens=9),
        recall.context("retry", format="xml"),
    ]

    assert not any(map(is_cached, answers))


def test_changed_file_is_noticed_in_a_cached_answer(recall: Recall, folder: Path) -> None:
    before = recall.search("retry")
    (folder / "a.md").write_text("Something else.")
    changed = recall.search("retry")
    again = recall.search("retry")
    (folder / "b.md").unlink()
    gone = recall.search("retry")

    assert [is_cached(each) for each in (before, changed, again, gone)] == [False, False, True, False]
    states = {result["doc"]["path"]: result["doc"].get("state") for result in gone["results"]}
    assert states == {"a.md": "modified", "b.md": "missing", "c.md": None}
    assert timeless(changed) == timeless(again)


def test_write_by_another_process_is_noticed(recall: Recall, folder: Path) -> None:
    recall.search("retry")
    (folder / "d.md").write_text("Never retry.")
    with Recall.open(start=folder) as other:
        other.index(str(folder / "d.md"))
    answer = recall.search("retry")

    assert not is_cached(answer)
    assert "d.md" in {result["doc"]["path"] for result in answer["results"]}


def test_stores_in_one_folder_never_share_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Each retry waits longer.")
    cache, answers = QueryCache(), []
    for name, language in (("one.db", "en"), ("other.db", "none")):
        Recall.init(str(tmp_path), embedding="hash", language=language, name=name)
        with Recall.open(str(tmp_path / name)) as recall:
            recall.index(str(tmp_path / "a.md"))
            recall.engine.cache = cache
            answers.append(recall.search("retries", mode="lexical"))

    assert not any(map(is_cached, answers))


def test_caller_cannot_change_a_cached_answer(recall: Recall) -> None:
    first: Any = recall.search("retry")
    first["results"].clear()
    second: Any = recall.search("retry")
    second["results"].clear()

    assert recall.search("retry")["results"]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40), st.integers(0, 4))
def test_cache_keeps_the_newest_answers(recall_keys: list[str], most: int) -> None:
    cache = QueryCache(Personal(query_cache=most))
    for key in recall_keys:
        if cache._get(key) is None:
            cache._put(key, _kept(10))
    newest = list(dict.fromkeys(reversed(recall_keys)))[:most]

    assert list(cache._kept) == newest[::-1]
    assert cache._bytes == 11 * len(newest)


def test_cache_is_limited_in_bytes() -> None:
    cache = QueryCache(Personal(query_cache_mb=1))
    for key in "abc":
        cache._put(key, _kept(400_000))
    cache._put("large", _kept(2_000_000))

    assert list(cache._kept) == ["b", "c"]


def _kept(size: int) -> Any:
    return _CachedAnswer(bytes(size), {})
