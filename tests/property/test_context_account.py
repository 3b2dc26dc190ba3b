"""Contexts through the service: with any packing nothing is lost, the budget holds and the account adds up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from tests.builders import EMBEDDER, TEMPORARY, memory_store, new_file, put
from tests.examples import examples

TEXTS = {
    "a.md": ["retry with backoff and then give up ", "a budget of retries for every client ", "the client waits "],
    "b.md": ["retry with backoff and then give up, they say "],
    "c.md": ["nothing of the kind stands in this text ", "but here a client may retry, and retry, and retry again "],
    **{f"z{n}.md": [f"filler number {n} of many others "] for n in range(6)},
}
QUERIES = ("retry backoff", "client budget", "nothing", "unheard")


@pytest.fixture(scope="module")
def recall() -> Iterator[Recall]:
    store = memory_store()
    put(store, *(new_file(path, texts) for path, texts in TEXTS.items()))
    with Recall(Engine(store, config=Config(), base=TEMPORARY)) as opened:
        opened.engine._embedder = EMBEDDER
        yield opened


def timeless(response: Any) -> str:
    return json.dumps({key: value for key, value in response.items() if key != "stats"})


def ids(recall: Recall) -> list[str]:
    return [row.chunk.id for path in TEXTS for row in recall.store.chunks_of(recall.store.resolve(path)[0][1])]


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    return Pack(
        budget_tokens=draw(st.integers(1, 60)),
        diversity=draw(st.integers(0, 2)),
        counter=draw(st.sampled_from([None, "approx"])),
        format=draw(st.sampled_from(["plain", "markdown"])),
        pack=draw(st.sampled_from(["rank", "optimal"])),
    )


@examples(30)
@given(st.sampled_from(QUERIES), packs(), st.data())
def test_packed_and_omitted_are_all_candidates_below_the_bound(
    recall: Recall, words: str, pack: Pack, data: st.DataObject
) -> None:
    known = st.lists(st.sampled_from(ids(recall)), max_size=2).map(tuple)
    pack = pack._replace(pins=data.draw(known), drops=data.draw(known))
    k = data.draw(st.sampled_from([None, 3]))

    explained = recall.context(words, Ask(explain=True, k=k), pack)

    view = explained["context"]
    account = view.pop("account")
    assert len(view["chunks"]) + sum(left["count"] for left in view["omitted"]) == view["candidates"]
    assert view["used_tokens"] <= view["budget_tokens"]
    assert account["value"] <= account["bound"] + 1e-9
    assert sum(account["tokens"].values()) == view["used_tokens"]
    assert account["pack"] == pack.pack
    assert view["text"] == recall.context(words, Ask(k=k), pack)["context"]["text"]
    again = recall.context(words, Ask(explain=True, k=k), pack)
    assert again["context"].pop("account") == account
    assert timeless(explained) == timeless(again)


@given(st.sampled_from(QUERIES), packs())
def test_alternative_matches_optimal_packing(recall: Recall, words: str, pack: Pack) -> None:
    plain = recall.context(words, Ask(explain=True), pack._replace(pack="rank"))["context"]
    optimal = recall.context(words, Ask(explain=True), pack._replace(pack="optimal"))["context"]

    other = plain["account"].get("alternative")
    if other is None:
        assert optimal["account"]["value"] <= plain["account"]["value"]
        return
    before, after = ({chunk["id"] for chunk in view["chunks"]} for view in (plain, optimal))
    assert other["value"] == pytest.approx(optimal["account"]["value"])
    assert other["used_tokens"] == optimal["used_tokens"]
    assert {each["id"] for each in other["adds"]} == after - before
    assert {each["id"] for each in other["drops"]} == before - after
