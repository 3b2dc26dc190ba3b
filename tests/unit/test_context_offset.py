"""A packed page of a ranked list: LIMIT and OFFSET choose the candidates, and the ranks stay those of the list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.errors import UsageError
from tests.builders import memory_store, new_file, put

PLENTY = 100_000
ROWS = 450
LISTS = {
    "by words": "SELECT * FROM chunk USING lexical('alpha beta'), semantic('alpha beta')",
    "ordered by a field": "SELECT * FROM chunk USING lexical('alpha') ORDER BY doc.path DESC",
    "without a signal": "SELECT * FROM chunk FILTER doc.path GLOB 'd1*' ORDER BY doc.path",
    "of documents": "SELECT * FROM doc USING lexical('beta')",
    "of documents without a signal": "SELECT * FROM doc ORDER BY doc.path DESC",
}


@pytest.fixture(scope="module")
def recall() -> Iterator[Recall]:
    """Yield a store of one-chunk documents, so that no two rows form one block."""
    store = memory_store()
    put(store, *(new_file(f"d{n:03}.txt", [_text(n)]) for n in range(ROWS)))
    with Recall(Engine(store, config=Config(embedding_dim=64, sparse_recall=False), base=Path("/nowhere"))) as opened:
        yield opened


def _text(n: int) -> str:
    return " ".join(["alpha"] * (1 + n % 4) + ["beta"] * (1 + n % 3) + [f"n{n}"])


def pack_page(recall: Recall, rql: str, **options: Any) -> dict[str, Any]:
    ask = Ask(**{name: options.pop(name) for name in ("k", "explain", "settings") if name in options})
    pack = Pack(**{"budget_tokens": PLENTY, "counter": "whitespace", **options})
    return dict(recall.context(None, ask, pack, rql=rql))


def ranks(context: dict[str, Any]) -> list[int]:
    return [rank for block in context["blocks"] for rank in block["ranks"]]


def omissions(context: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [(each["reason"], each["rank"], each["count"]) for each in context["omitted"]]


def test_packed_page_has_its_rows_of_the_full_list(recall: Recall) -> None:
    wholes = {
        rql: [row["doc"]["path"] for row in recall.query(f"{rql} LIMIT {ROWS}")["results"]] for rql in LISTS.values()
    }
    for rql in LISTS.values():
        for limit, offset in [(3, 0), (3, 2), (1, 5), (70, 1), (5, 98), (100, 64)]:
            whole = wholes[rql]
            total = len(whole)
            size = min(limit, total - offset)

            response = pack_page(recall, f"{rql} LIMIT {limit} OFFSET {offset}")

            context = response["context"]
            assert [chunk["path"] for chunk in context["chunks"]] == whole[offset : offset + limit], (rql, limit)
            assert ranks(context) == list(range(offset + 1, offset + size + 1)), (rql, limit)
            assert (context["candidates"], context["omitted"], response["stats"]["total_hits"]) == (
                size,
                [],
                total,
            ), (rql, limit)
            assert (response["query"]["limit"], response["query"]["offset"]) == (size, offset), (rql, limit)


def test_blocks_of_a_page_are_numbered_from_one(recall: Recall) -> None:
    context = pack_page(recall, f"{LISTS['by words']} LIMIT 3 OFFSET 4")["context"]

    assert [block["n"] for block in context["blocks"]] == [1, 2, 3]
    assert context["text"].startswith(f"[1] {context['blocks'][0]['path']}:1-1\n")
    assert "\n\n[3] " in context["text"]


def test_pages_of_a_list_pack_every_row_once(recall: Recall) -> None:
    whole = pack_page(recall, f"{LISTS['by words']} LIMIT {ROWS}")["context"]["chunks"]
    pages = [pack_page(recall, f"{LISTS['by words']} LIMIT 70 OFFSET {at}")["context"] for at in range(0, ROWS, 70)]

    assert len(whole) == ROWS
    assert [chunk for page in pages for chunk in page["chunks"]] == whole


def test_page_past_the_end_is_an_empty_context(recall: Recall) -> None:
    for rql in LISTS.values():
        for pack in ["rank", "optimal"]:
            response = pack_page(recall, f"{rql} LIMIT 5 OFFSET {ROWS}", pack=pack)

            context = response["context"]
            assert (context["text"], context["used_tokens"], context["candidates"]) == ("", 0, 0), (rql, pack)
            assert (context["blocks"], context["omitted"], response["warnings"]) == ([], [], []), (rql, pack)


def test_budget_omits_only_the_rest_of_the_page(recall: Recall) -> None:
    page = f"{LISTS['by words']} LIMIT 10 OFFSET 6"
    three = pack_page(recall, f"{LISTS['by words']} LIMIT 3 OFFSET 6")["context"]["used_tokens"]

    context = pack_page(recall, page, budget_tokens=three)["context"]

    assert ranks(context) == [7, 8, 9]
    assert (context["candidates"], omissions(context)) == (10, [("budget", 10, 7)])


def test_cut_row_keeps_its_rank_and_the_tail_follows(recall: Recall) -> None:
    settings = ("min_fragment=1",)
    page = f"{LISTS['by words']} LIMIT 10 OFFSET 6"
    one = pack_page(recall, f"{LISTS['by words']} LIMIT 1 OFFSET 6")["context"]["used_tokens"]

    context = pack_page(recall, page, budget_tokens=one + 4, settings=settings)["context"]

    assert [block["truncated"] for block in context["blocks"]] == [False, True]
    assert (ranks(context), omissions(context)) == ([7, 8], [("budget", 9, 8)])


def test_row_count_does_not_move_the_offset(recall: Recall) -> None:
    assert ranks(pack_page(recall, f"{LISTS['by words']} LIMIT 10 OFFSET 6", k=2)["context"]) == [7, 8]


def test_rows_below_min_score_are_not_candidates_of_a_page(recall: Recall) -> None:
    rql = LISTS["by words"]
    scores = [row["score"] for row in recall.query(f"{rql} LIMIT {ROWS}")["results"]]
    kept = sum(score >= scores[9] for score in scores)

    context = pack_page(recall, f"{rql} LIMIT {ROWS} OFFSET 6 OPTION min_score {scores[9]}")["context"]

    assert 10 <= kept < ROWS
    assert ranks(context) == list(range(7, kept + 1))
    assert (context["candidates"], context["omitted"]) == (kept - 6, [])


def test_pin_on_another_page_is_not_a_candidate(recall: Recall) -> None:
    rows = recall.query(f"{LISTS['by words']} LIMIT 9")["results"]
    before, inside, dropped = rows[5]["chunk"]["id"], rows[8]["chunk"]["id"], rows[7]["chunk"]["id"]

    response = pack_page(recall, f"{LISTS['by words']} LIMIT 3 OFFSET 6", pins=(before, inside), drops=(dropped,))

    pins = [warning for warning in response["warnings"] if warning.startswith("W_PIN")]
    assert pins == [f"W_PIN: {before} is not a candidate"]
    assert (ranks(response["context"]), omissions(response["context"])) == ([9, 7], [("dropped", 8, 1)])


def test_optimal_packing_chooses_among_the_rows_of_the_page(recall: Recall) -> None:
    page = f"{LISTS['by words']} LIMIT 8 OFFSET 6"
    four = pack_page(recall, f"{LISTS['by words']} LIMIT 4 OFFSET 6")["context"]["used_tokens"]

    context = pack_page(recall, page, pack="optimal", budget_tokens=four)["context"]

    shown, omitted = ranks(context), [rank for _, rank, _ in omissions(context)]
    assert len(shown) >= 4
    assert sorted([*shown, *omitted]) == list(range(7, 15))


def test_unexamined_tail_begins_after_the_best_rows_of_the_page(recall: Recall) -> None:
    page = f"{LISTS['by words']} LIMIT 230 OFFSET 210"

    context = pack_page(recall, page, pack="optimal", budget_tokens=30)["context"]

    assert omissions(context)[-1] == ("budget", 411, 30)
    assert sum(count for _, _, count in omissions(context)) + len(context["chunks"]) == context["candidates"] == 230


def test_account_covers_only_the_rows_of_the_page(recall: Recall) -> None:
    page = f"{LISTS['by words']} LIMIT 260 OFFSET 20"
    some = pack_page(recall, f"{LISTS['by words']} LIMIT 210 OFFSET 20")["context"]["used_tokens"]
    worth = sum(row["score"] for row in recall.query(f"{LISTS['by words']} LIMIT 210 OFFSET 20")["results"])

    account = pack_page(recall, page, budget_tokens=some, explain=True)["context"]["account"]

    assert account["candidates"] == 210
    assert account["value"] == pytest.approx(worth, abs=1e-6)


def test_trace_of_a_packed_page_counts_its_rows(recall: Recall) -> None:
    for offset, rows in [(0, 5), (6, 5), (ROWS - 2, 2), (ROWS, 0)]:
        rql = f"{LISTS['by words']} LIMIT 5 OFFSET {offset}"

        stages = recall.trace(None, Ask(), Pack(budget_tokens=PLENTY), rql=rql)["trace"]["stages"]

        assert [(stage["stage"], stage["rows_out"]) for stage in stages[-2:]] == [
            ("top_k", rows),
            ("packed", rows),
        ], offset


def test_row_of_another_page_is_not_merged_into_the_block() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["alpha alpha alpha ", "alpha beta gamma delta"]), new_file("b.txt", ["zeta"]))
    with Recall(Engine(store, config=Config(embedding_dim=64), base=Path("/nowhere"))) as opened:
        rql = "SELECT * FROM chunk USING lexical('alpha')"
        whole = pack_page(opened, f"{rql} LIMIT 2")["context"]
        second = pack_page(opened, f"{rql} LIMIT 1 OFFSET 1")["context"]

    assert [(block["ranks"], block["text"]) for block in whole["blocks"]] == [
        ([1, 2], "alpha alpha alpha alpha beta gamma delta")
    ]
    assert [(block["ranks"], block["text"]) for block in second["blocks"]] == [([2], "alpha beta gamma delta")]


def test_page_of_documents_packs_the_best_chunk_of_each() -> None:
    for using, shown in [("USING lexical('beta')", "beta beta"), ("", "one ")]:
        store = memory_store()
        put(store, *(new_file(f"{name}.txt", ["one ", "beta beta", " more beta"]) for name in "abc"))
        with Recall(Engine(store, config=Config(embedding_dim=64), base=Path("/nowhere"))) as opened:
            context = pack_page(opened, f"SELECT * FROM doc {using} LIMIT 5 OFFSET 1")["context"]

        assert [(block["path"], block["ranks"], block["text"]) for block in context["blocks"]] == [
            ("b.txt", [2], shown),
            ("c.txt", [3], shown),
        ], using


def test_sparse_recall_has_no_second_page_to_pack(recall: Recall) -> None:
    with pytest.raises(UsageError) as error:
        pack_page(recall, f"{LISTS['by words']} LIMIT 5 OFFSET 5 OPTION sparse_recall ON")
    assert error.value.code == "sparse_with_offset"
