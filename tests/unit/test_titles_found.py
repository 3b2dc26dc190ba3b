"""A collection of records, most of them only a title: each is found by its title in every command."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from recall_core import Recall
from recall_core.evaluate.measures import EvalOptions
from recall_core.types import Root

BLANKS = ("", " ", "\n", "\t \n", "\u3000")
TITLE_ONLY, FULL, BARE = 3_000, 200, 1_600
"""Records with a title and a blank text, with both, and with only a blank text: half as many as the others."""


WHOLE = (pytest.mark.slow, pytest.mark.timeout(3_600))


class Collection(NamedTuple):
    """A folder with a store that has read a file of records.

    titles: path to title, of records that have one.
    alone: the paths of records with only a title.
    """

    base: Path
    titles: dict[str, str]
    alone: frozenset[str]
    without_text: int


def word(chance: Random) -> str:
    return "".join(chance.choice("bdfglmnprstvz") + chance.choice("aeiou") for _ in range(chance.randrange(2, 5)))


def records(share: int) -> list[dict[str, str]]:
    """Return the collection, or one record in `share` of each kind, in a fixed order."""
    chance = Random(share)
    vocabulary = sorted({word(chance) for _ in range(900)} | set("東京水魚山"))

    def words(least: int, most: int) -> str:
        return " ".join(chance.choice(vocabulary) for _ in range(chance.randrange(least, most)))

    made = [{"title": words(6, 12).capitalize(), "text": chance.choice(BLANKS)} for _ in range(TITLE_ONLY // share)]
    made += [{"title": words(6, 12).capitalize(), "text": words(30, 120)} for _ in range(FULL // share)]
    made += [{"title": chance.choice(BLANKS), "text": chance.choice(BLANKS)} for _ in range(BARE // share)]
    chance.shuffle(made)
    return [{"_id": f"r{number}", **record} for number, record in enumerate(made)]


@pytest.fixture(scope="module", params=[200, pytest.param(1, marks=WHOLE)])
def collection(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Collection:
    base: Path = tmp_path_factory.mktemp("titles")
    made = records(request.param)
    (base / "c.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made), encoding="utf-8")
    Recall.init(str(base))
    with Recall.open(str(base)) as recall:
        done = recall.index(str(base / "c.jsonl"), template=Root("", parser="jsonl"))["ingest"]
    titles = {f"c.jsonl#{each['_id']}": each["title"] for each in made if each["title"].strip()}
    assert (done["documents"], done["chunks"], done["without_text"]) == (
        len(made), len(titles), len(made) - len(titles),
    )  # fmt: skip
    alone = frozenset(f"c.jsonl#{each['_id']}" for each in made if not each["text"].strip()) & titles.keys()
    return Collection(base, titles, alone, len(made) - len(titles))


@pytest.fixture
def recall(collection: Collection) -> Iterator[Recall]:
    with Recall.open(str(collection.base)) as opened:
        yield opened


def lost(collection: Collection, is_found: Callable[[str, str], bool]) -> list[str]:
    """Return paths of records that their title does not find."""
    return [path for path, title in collection.titles.items() if not is_found(path, title)]


def test_search_for_a_title_ranks_its_record_first(collection: Collection, recall: Recall) -> None:
    def is_first(mode: Any, path: str, title: str) -> bool:
        if mode == "semantic" and path not in collection.alone:
            return True  # below a title, a long text turns the vector elsewhere
        return recall.search(title, mode=mode, k=1)["results"][0]["doc"]["path"] == path

    for mode in ["hybrid", "lexical", "semantic"]:
        assert lost(collection, partial(is_first, mode)) == [], mode


def test_context_for_a_title_contains_it(collection: Collection, recall: Recall) -> None:
    def is_packed(path: str, title: str) -> bool:
        (block, *_) = recall.context(title, budget_tokens=400)["context"]["blocks"]
        return block["path"] == path and (block["text"] == title or len(block["text"]) > len(title))

    assert lost(collection, is_packed) == []


def test_get_returns_a_record_with_its_title_as_text(collection: Collection, recall: Recall) -> None:
    found = {path: recall.get(path)["found"] for path in collection.titles}

    assert {path: each["doc"]["title"] for path, each in found.items()} == collection.titles
    assert {path for path, each in found.items() if each["text"] == each["doc"]["title"]} == collection.alone


def test_evaluation_finds_every_record(collection: Collection, recall: Recall) -> None:
    queries, qrels = collection.base / "q.jsonl", collection.base / "qrels.tsv"
    queries.write_text("".join(json.dumps({"_id": p, "text": t}) + "\n" for p, t in collection.titles.items()))
    qrels.write_text("query-id\tcorpus-id\tscore\n" + "".join(f"{path}\t{path}\t1\n" for path in collection.titles))
    options = EvalOptions(queries=queries, qrels=qrels, modes="hybrid,bm25", metrics="mrr,recall@10")
    work = recall.evaluate(options)

    while True:
        try:
            next(work)
        except StopIteration as stop:
            view = stop.value["evaluation"]
            break

    assert (view["queries"], view["unknown"]) == (len(collection.titles), 0)
    means = [figure["mean"] for mode in view["modes"] for figure in mode["measures"]]
    assert means == [1.0] * 4


def test_whynot_reports_each_record_as_present(collection: Collection, recall: Recall) -> None:
    def is_present(path: str, title: str) -> bool:
        return bool(recall.why_not(title, path, fixes=False)["whynot"]["present"])

    assert lost(collection, is_present) == []


def test_imported_copy_exports_the_same_bytes_and_finds_the_same(
    collection: Collection, recall: Recall, tmp_path: Path
) -> None:
    with (tmp_path / "export.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        recall.export(file)
    Recall.init(str(tmp_path))

    with Recall.open(str(tmp_path)) as copy:
        copy.import_(tmp_path / "export.jsonl")
        out = io.StringIO()
        copy.export(out)

        assert out.getvalue() == (tmp_path / "export.jsonl").read_text(encoding="utf-8")
        for title in collection.titles.values():
            here, there = (
                [(hit["chunk"]["id"], hit["score"]) for hit in each.search(title, k=5)["results"]]
                for each in (recall, copy)
            )
            assert here == there


def test_doctor_passes_and_stats_count_records_without_text(collection: Collection, recall: Recall) -> None:
    checks = {check["code"]: check["severity"] for check in recall.doctor()["checks"]}

    assert {code for code, severity in checks.items() if severity != "ok"} <= {"sparse_ceiling"}
    assert recall.stats()["stats"]["without_text"] == collection.without_text
