"""Copies: a text in several chunks is shown once, at its best rank, with its other places."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest

from recall_core import Ask, Pack, Recall
from recall_core.adapters import searching
from recall_core.api.compare import DiffRequest
from recall_core.api.engine import Engine, result_of
from recall_core.config import Config
from recall_core.errors import RqlError, UsageError
from recall_core.evaluate.tune_question import PinTarget
from recall_core.pack.greedy import pack
from recall_core.rank.copies import Copies, texts_among
from recall_core.rank.fuse import rank
from recall_core.rank.sparse import Given, in_place, recall_short
from recall_core.rank.weighing import Ranking
from recall_core.retrieve import answer as answering
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.store.sqlite.store import SqliteStore
from recall_core.text import counter
from recall_core.types import Hit
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.contracts import validator
from tests.unit.test_pack import cut
from tests.unit.test_pack import hit as hit_of
from tests.unit.test_sparse import FULL, WORDY, long, pool, short

LICENCE = "Permission is hereby granted to use the software.\n"
OWN = "The software of {name} sorts words.\n"
NAMES = ("ant", "bee", "cow", "dog", "elk", "fox")
EACH = Ask(settings=("collapse=false",))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return six packages with one licence and a unique text each; two of them contain a note of three chunks."""
    folder = tmp_path_factory.mktemp("copies")
    for name in NAMES:
        (folder / name).mkdir()
        (folder / name / "LICENCE").write_text(LICENCE)
        (folder / name / "readme.md").write_text(OWN.format(name=name))
    for name in ("cow", "bee"):
        (folder / name / "note.txt").write_text("Permission to sort is granted.\n")
    Recall.init(str(folder), embedding="hash")
    with Recall.open(start=folder) as recall:
        recall.index(str(folder))
    return folder


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as opened:
        yield opened


def paths(response: Any) -> list[str]:
    return [each["doc"]["path"] for each in response["results"]]


def test_text_is_shown_once_with_its_other_places(recall: Recall) -> None:
    response = recall.search("permission granted")
    validator().validate(response)
    first = response["results"][0]

    assert [each["chunk"]["text"] for each in response["results"]].count(LICENCE) == 1
    licence = next(each for each in response["results"] if each["chunk"]["text"] == LICENCE)
    others = [f"{name}/LICENCE" for name in NAMES if f"{name}/LICENCE" != licence["doc"]["path"]]
    assert licence["copies"]["count"] == 5
    assert [place["path"] for place in licence["copies"]["places"]] == others
    assert (response["stats"]["total_hits"], response["stats"]["copies"]) == (14, 6)
    assert first["copies"]["count"] in (1, 5)
    assert "copies" not in response["results"][-1]
    assert "+5 identical" in "\n".join(searching.hit_lines(response))


def test_collapse_off_gives_each_copy_a_row(recall: Recall) -> None:
    response = recall.search("permission granted", EACH._replace(k=20))
    assert len(response["results"]) == 14
    assert "copies" not in response["stats"]
    assert not any("copies" in each for each in response["results"])


def test_at_most_ten_places_that_pass_the_filter_are_listed() -> None:
    store = memory_store()
    put(store, *[new_file(f"{n:02}.txt", [LICENCE], tags=("even",) if n % 2 == 0 else ()) for n in range(30)])
    with Recall(Engine(store, config=Config(embedding_dim=64), base=Path())) as recall:
        (all_of_them,) = recall.search("permission", Ask(mode="lexical"))["results"]
        (even,) = recall.search("permission", Ask(mode="lexical", filter="doc.tag = 'even'"))["results"]

    assert all_of_them["copies"]["count"] == 29
    assert [place["path"] for place in all_of_them["copies"]["places"]] == [f"{n:02}.txt" for n in range(1, 11)]
    assert even["copies"]["count"] == 14
    assert [place["path"] for place in even["copies"]["places"]] == [f"{n:02}.txt" for n in range(2, 22, 2)]


def test_list_shortened_by_copies_in_a_bounded_pool_warns(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.retrieve.pool.EXACT_VECTORS", 0)
    response = recall.search("permission software", Ask(mode="lexical", settings=("pool=7",), k=6))
    (warning,) = [each for each in response["warnings"] if each.startswith("W_POOL_END")]
    shown, struck = len(response["results"]), response["stats"]["copies"]
    assert shown + struck == response["stats"]["total_hits"] == 7
    assert f"ends after the pool's {shown} candidates and their {struck} copies" in warning


def test_report_has_the_ranks_of_the_list(recall: Recall) -> None:
    ask = Ask(k=20)
    response = recall.report("permission granted", ask)
    assert response["results"] == recall.search("permission granted", ask._replace(explain=True))["results"]
    for line in response["report"]["lines"]:
        (rank,) = {step["rank"] for step in line["steps"] if step["low"] <= 0.5 <= step["high"]}
        assert rank == line["result"] + 1


def test_collapsed_sweep_matches_search_at_every_weight(recall: Recall) -> None:
    ask = Ask(k=4)
    swept = recall.sweep("permission to sort", ask, breaks=True, collapse=True)
    validator().validate(swept)
    view = swept["tuning"]["sweep"]
    weights = [0.0, *(point["weight"] for point in view["break_points"]), 1.0]
    middles = [(low + high) / 2 for low, high in pairwise(weights)]
    rows = [paths(recall.search("permission to sort", weighing(each, k=4))) for each in middles]

    assert (view["candidates"], view["texts"]) == (14, 8)
    assert not any(each.startswith("W_COPIES") for each in swept["warnings"])
    assert len(rows) > 2
    for before, point, after in zip(rows, view["break_points"], rows[1:], strict=False):
        ranks = [{path: rank for rank, path in enumerate(row, 1)} for row in (before, after)]
        moved = {path for path in (*before, *after) if ranks[0].get(path) != ranks[1].get(path)}
        shifts = {each["path"]: (each["before"], each["after"]) for each in point["changes"]}
        assert shifts == {path: (ranks[0].get(path), ranks[1].get(path)) for path in moved}, point["weight"]


def weighing(share: float, *, k: int) -> Ask:
    """Return a search with this semantic share."""
    return Ask(k=k, settings={"bm25_weight": 1 - share, "vector_weight": share, "sparse_recall": False})


def test_stability_is_computed_for_the_shown_rows(recall: Recall) -> None:
    differ = False
    for words in ("permission to sort", "permission granted", "permission hereby software", "sorts words"):
        ask = Ask(k=4)
        best = recall.search(words, ask)["results"][0]["chunk"]["id"]
        stable = recall.explain(words, best, ask)["explanation"]["stability"]
        texts, rows = (recall.sweep(words, ask, collapse=each)["tuning"]["sweep"] for each in (True, False))
        for name in ("order", "members"):
            assert stable[name] == texts[name], words
        differ |= texts["members"] != rows["members"]
    assert differ


def test_pin_on_a_copy_holds_where_its_text_is_shown(recall: Recall) -> None:
    best = recall.search("permission hereby software", Ask(k=1))["results"][0]
    for want in ("in", "out"):
        wishes = (PinTarget(want, best["copies"]["places"][0]["path"]),)
        ask = Ask(k=1)
        view = recall.sweep("permission hereby software", ask, collapse=True, wishes=wishes)["tuning"]["pinned"]
        assert view["wishes"][0]["holds"] == (want == "in")


def test_documents_have_no_copies_to_collapse(recall: Recall) -> None:
    text = "SELECT * FROM doc USING lexical('software'), semantic('software')"
    with pytest.raises(UsageError, match="these rows are documents"):
        recall.sweep(text, is_rql=True, collapse=True)


def test_pages_count_shown_rows(recall: Recall) -> None:
    text = "SELECT * FROM chunk USING lexical('software permission'), semantic('software') LIMIT {} OFFSET {} {}"
    whole = paths(recall.query(text.format(50, 0, "OPTION collapse ON")))
    pages = [paths(recall.query(text.format(3, start, "OPTION collapse ON"))) for start in range(0, 9, 3)]

    assert list(chain.from_iterable(pages)) == whole
    assert len(whole) == 8
    assert len(paths(recall.query(text.format(50, 0, "")))) == 14


def test_unranked_query_collapses_copies_on_request(recall: Recall) -> None:
    response = recall.query("SELECT * FROM chunk LIMIT 4 OFFSET 1 OPTION collapse ON")
    everything = recall.query("SELECT * FROM chunk LIMIT 50")

    assert paths(everything)[:3] == ["ant/LICENCE", "ant/readme.md", "bee/LICENCE"]
    assert paths(response) == ["ant/readme.md", "bee/note.txt", "bee/readme.md", "cow/readme.md"]
    assert (response["stats"]["total_hits"], response["stats"]["copies"]) == (14, 6)
    assert response["results"][1]["copies"]["count"] == 1
    assert response["next_offset"] == 5


def test_documents_are_never_copies_of_each_other() -> None:
    with pytest.raises(RqlError) as caught:
        plan_rql("SELECT * FROM doc OPTION collapse ON", config=Config(), exact=False)
    assert caught.value.code == "collapse_of_documents"
    with pytest.raises(UsageError, match="documents"):
        plan_rql("SELECT * FROM doc", config=Config(), exact=False, settings=("collapse=true",))


def test_context_contains_no_text_twice(recall: Recall) -> None:
    view = recall.context("permission granted", pack=Pack(400))["context"]
    each = recall.context("permission granted", EACH, pack=Pack(400))["context"]

    assert view["text"].count(LICENCE.strip()) == 1
    assert each["text"].count(LICENCE.strip()) == 6
    copies = {left["count"]: left for left in view["omitted"] if left["reason"] == "copy"}
    assert sorted(copies) == [1, 5]
    assert [chunk["copies"]["count"] for chunk in view["chunks"] if "copies" in chunk] == [1, 5]
    assert view["candidates"] == each["candidates"] == 14


BUDGETS = (5, 12, 20, 33, 60, 400) if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else (5, 20, 400)


def test_every_candidate_is_packed_or_omitted_for_one_reason(recall: Recall) -> None:
    for order in ["rank", "optimal"]:
        for budget_tokens in BUDGETS:
            chosen = recall.search("permission granted", EACH._replace(k=20))["results"]
            ids = [row["chunk"]["id"] for row in chosen if row["chunk"]["text"] == LICENCE]
            for options in (
                {},
                {"drops": (ids[0],)},
                {"drops": (ids[0], ids[2])},
                {"pins": (ids[3],)},
                {"pins": tuple(ids)},
            ):
                for ask in (Ask(), Ask(k=2), Ask(k=0)):
                    view = recall.context("permission granted", ask, pack=Pack(budget_tokens, pack=order, **options))[
                        "context"
                    ]
                    packed = [chunk["text"] for chunk in view["chunks"]]
                    whole = [
                        text for text, block in zip(packed, view["blocks"], strict=True) if not block["truncated"]
                    ]
                    left = [each for each in view["omitted"] if each["reason"] == "copy"]
                    assert sum(each["count"] for each in view["omitted"]) + len(packed) == view["candidates"], (
                        order,
                        budget_tokens,
                    )
                    assert len({*packed}) == len(packed), (order, budget_tokens)
                    assert len(left) <= len(whole), (order, budget_tokens)
                    assert view["used_tokens"] <= budget_tokens, (order, budget_tokens)


def test_copy_is_packed_where_the_first_is_not(recall: Recall) -> None:
    best = recall.search("permission hereby software", Ask(mode="lexical"))["results"][0]
    copies = [place["id"] for place in best["copies"]["places"]]

    view = recall.context(
        "permission hereby software", Ask(mode="lexical"), pack=Pack(400, drops=(best["chunk"]["id"],))
    )

    packed = [chunk["id"] for chunk in view["context"]["chunks"]]
    assert copies[0] in packed
    (left,) = [each for each in view["context"]["omitted"] if each["reason"] == "copy" and each["rank"] == 1]
    assert (left["count"], left["id"]) == (4, copies[1])


def test_document_cap_admits_a_copy_from_another_document() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["otter otter one ", LICENCE]), new_file("b.txt", [LICENCE]))
    with Recall(Engine(store, config=Config(embedding_dim=64), base=Path())) as recall:
        view = recall.context("otter permission", Ask(mode="lexical"), pack=Pack(400, diversity=1))["context"]
    packed = [block["path"] for block in view["blocks"]]
    assert sorted(packed) == ["a.txt", "b.txt"]


def test_pinned_copy_represents_its_text_at_its_rank(recall: Recall) -> None:
    best = recall.search("permission hereby software", Ask(mode="lexical"))["results"][0]
    pin = best["copies"]["places"][3]["id"]
    response = recall.context("permission hereby software", Ask(mode="lexical"), pack=Pack(400, pins=(pin,)))
    first = response["context"]["blocks"][0]
    assert (first["chunk_ids"], first["ranks"]) == ([pin], [1])
    assert response["context"]["text"].count(LICENCE.strip()) == 1
    assert response["warnings"] == []


def test_account_of_a_context_knows_the_packed_copy(recall: Recall) -> None:
    best = recall.search("permission hereby software", Ask(mode="lexical"))["results"][0]
    ask = Ask(mode="lexical", explain=True)
    for options in (Pack(400, drops=(best["chunk"]["id"],)), Pack(400, pins=(best["copies"]["places"][0]["id"],))):
        account = recall.context("permission hereby software", ask, pack=options)["context"]["account"]
        assert account["efficiency"] == pytest.approx(1.0)


def test_explanation_names_the_row_shown_for_a_copy(recall: Recall) -> None:
    rows = recall.search("permission granted")["results"]
    rank, best = next((n, each) for n, each in enumerate(rows, 1) if each["chunk"]["text"] == LICENCE)

    stood = recall.explain("permission granted", best["chunk"]["id"])["explanation"]["chunk"]
    copy = recall.explain("permission granted", best["copies"]["places"][2]["id"])
    validator().validate(copy)
    view = copy["explanation"]["chunk"]

    assert (stood["rank"], stood["of"]) == (rank, 8)
    assert (view["rank"], view["absent"]) == (None, "copy")
    assert view["copy_of"] == {"rank": rank, "id": best["chunk"]["id"], "path": best["doc"]["path"]}
    assert view["residual"] == pytest.approx(0)


def stages(view: Any) -> dict[str, str]:
    return {each["stage"]: each["status"] for each in view["stages"]}


def test_whynot_calls_a_missing_copy_a_copy(recall: Recall) -> None:
    best = recall.search("permission hereby software")["results"][0]
    missed = best["copies"]["places"][1]

    response = recall.why_not("permission hereby software", missed["path"])
    validator().validate(response)
    view = response["whynot"]

    assert (view["present"], view["verdict"]) == (False, "copy")
    (stage,) = [each for each in view["stages"] if each["stage"] == "copy"]
    assert stage["evidence"]["rank"] == 1
    assert stage["evidence"]["against"]["path"] == best["doc"]["path"]
    assert [status for name, status in stages(view).items() if name != "copy"].count("fail") == 0
    assert "collapse=false" in view["fixes"][0]["settings"]
    assert view["fixes"][0]["confirmed"]


def test_whynot_of_a_document_reports_its_best_ranked_copy(tmp_path: Path) -> None:
    texts = [
        " ".join(f"{name}{n} stones lie here." for n in range(20)) + f" {name}"
        for name in ("granite", "marble", "slate")
    ]
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("\n\n".join(texts))
    Recall.init(str(tmp_path), settings=("chunk_tokens=100", "overlap_tokens=0"))
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(tmp_path))
        rows = recall.search("slate", Ask(k=1))["results"]
        view = recall.why_not("slate", "b.txt", Ask(k=1))["whynot"]

    (place,) = rows[0]["copies"]["places"]
    assert (view["target"]["chosen"]["chunk_id"], view["verdict"]) == (place["id"], "copy")


def test_copies_beyond_the_last_row_are_out_by_rank(recall: Recall) -> None:
    rows = recall.search("sorts words software")["results"]
    rank, last = next((n, each) for n, each in enumerate(rows, 1) if each["chunk"]["text"] == LICENCE)
    copy = last["copies"]["places"][0]["path"]
    view = recall.why_not("sorts words software", copy, Ask(k=rank - 1))["whynot"]
    assert view["verdict"] == "rank"
    assert stages(view)["copy"] == "fail"


def test_only_packed_texts_make_copies_in_a_context(recall: Recall) -> None:
    best = recall.search("permission hereby software")["results"][0]
    missed = best["copies"]["places"][0]["path"]
    packed = recall.why_not("permission hereby software", missed, pack=Pack(400))["whynot"]
    tight = recall.why_not("permission hereby software", missed, pack=Pack(3))["whynot"]
    assert (packed["verdict"], stages(packed)["budget"]) == ("copy", "not_applicable")
    assert (tight["verdict"], stages(tight)["copy"]) == ("budget", "pass")


def test_trace_counts_the_hidden_copies(recall: Recall) -> None:
    view = recall.trace("permission granted")["trace"]
    rows = {each["stage"]: (each["rows_in"], each["rows_out"]) for each in view["stages"]}
    assert (rows["kept"], rows["copies"], rows["top_k"]) == ((14, 14), (14, 8), (8, 8))
    listed = recall.trace(None, rql="SELECT * FROM chunk LIMIT 50 OPTION collapse ON")["trace"]
    assert {each["stage"]: each["rows_out"] for each in listed["stages"]}["copies"] == 8


def test_comparison_marks_a_copy(recall: Recall) -> None:
    asked = DiffRequest("permission granted")
    view = result_of(recall.under(("collapse=false",)).diff(recall, asked, Ask(k=20)))["diff"]
    assert {(each["side"], each["cause"]): each["rows"] for each in view["sets"]} == {("b", "copy"): 6}
    gone = [move for move in view["moves"] if move["kind"] == "gone"]
    assert len(gone) == 6
    assert all(move["delta"] == 0 for move in gone)


def test_page_and_context_with_copies_replay(recall: Recall) -> None:
    for response in (recall.search("permission", Ask(receipt=True)), recall.context("permission", Ask(receipt=True))):
        text = response["receipt"]["text"]
        assert json.loads(text)["total"] == 14
        assert recall.replay(text)["replay"]["identical"]


def test_sweep_warns_that_every_copy_has_a_row(recall: Recall) -> None:
    response = recall.sweep("permission granted")
    assert response["tuning"]["sweep"]["candidates"] == 14
    assert any(each.startswith("W_COPIES") for each in response["warnings"])
    assert not any(each.startswith("W_COPIES") for each in recall.search("permission")["warnings"])


def test_place_with_a_changed_file_is_marked(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(LICENCE)
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path))
        (tmp_path / "b.txt").write_text("another text\n")
        response = recall.search("permission")
    (place,) = response["results"][0]["copies"]["places"]
    assert place["path"] == "b.txt"
    assert any(each.startswith("W_STALE: b.txt") for each in response["warnings"])


def stored_hashes(store: SqliteStore) -> list[tuple[int, bytes]]:
    return [(row, bytes(text)) for row, text in store.execute("SELECT chunk, hash FROM chunk_copy ORDER BY chunk")]


def test_store_tracks_repeated_texts_as_files_come_and_go() -> None:
    store = memory_store()
    for files in (
        [new_file("a.txt", ["one", "two"])],
        [new_file("b.txt", ["two"]), new_file("c.txt", ["two", "three"])],
        [new_file("a.txt", ["four"])],
        [new_file("d.txt", ["three", "four"])],
    ):
        put(store, *files)
        assert_kept(store)
    for path in ("b.txt", "c.txt", "d.txt"):
        with store.writer() as writer:
            writer.tombstone([path])
        assert_kept(store)
    assert stored_hashes(store) == []
    store.compact()
    assert_kept(store)


def assert_kept(store: SqliteStore) -> None:
    rows = store.execute("SELECT rowid, hash, text FROM chunk WHERE deleted = 0 ORDER BY rowid")
    texts = [text for _, _, text in rows]
    assert stored_hashes(store) == [(row, bytes(own)) for row, own, text in rows if texts.count(text) > 1]
    assert store.has_copies() == bool(stored_hashes(store))
    numbers = store.same_texts([row for row, _, _ in rows])
    assert {place for place, text in enumerate(texts) if texts.count(text) > 1} == {*numbers}
    for place, number in numbers.items():
        assert [at for at, other in numbers.items() if other == number] == [
            at for at, text in enumerate(texts) if text == texts[place]
        ]
    twins = store.twins([row for row, _, _ in rows])
    assert {own: [*alike] for own, alike in twins.items()} == {
        row: [other for other, _, same in rows if same == text] for row, _, text in rows if texts.count(text) > 1
    }


def test_doctor_finds_and_restores_a_missing_copy_record() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["two words"]), new_file("b.txt", ["two words"]))
    with store.unlock():
        store.execute("DELETE FROM chunk_copy WHERE chunk = 1")
    assert store.check("counts").evidence == "wrong: copies"
    store.rebuild(copy=None, made_with=lambda: None)
    assert store.check("counts").severity == "ok"
    assert_kept(store)


QUESTION = "sleepy otter"
NEAR = Config(
    embedding_dim=64,
    bm25_weight=1.0,
    vector_weight=0.0,
    sparse_distance_ceiling=0.6,
    sparse_max_injections=2,
    min_score=0.62,
)


def near_store(*shorts: str) -> SqliteStore:
    """Return a store of fifteen long documents with otter in every chunk, and short ones about sleepy things."""
    store = memory_store()
    for n in range(15):
        put(store, new_file(f"long{n:02}.txt", [f"{n} otter " * 9, f"otter {n} river ", f"otter {n} fish "]))
    put(store, *[new_file(f"short{n}.txt", [text]) for n, text in enumerate(shorts)])
    return store


def list_rows(store: SqliteStore, k: int | None) -> answering.Answer:
    plan = plan_words("otter", config=NEAR, mode="hybrid", filter_text=None, k=k, exact=False)
    return answering.answer(plan._replace(semantic=QUESTION), store, EMBEDDER)


def test_one_of_several_equal_short_documents_is_recalled() -> None:
    for k in [5, None]:
        store = near_store("sleepyotter sleepy otters ", "sleepyotter sleepy otters ", "sleepy otters sleep ")
        found = list_rows(store, k) if k else answering.packable(list_rows(store, k), store)
        assert found.ranked is not None, k
        shown = answering.hits(found, store, start=0, stop=found.total)
        brought_in = [hit.doc.path for hit in shown if hit.injection is not None]
        assert brought_in == ["short2.txt", "short0.txt"], k
        assert found.recall is not None, k
        assert found.recall.report.blocked == 0, k
        assert [hit.chunk.text for hit in shown if hit.chunk].count("sleepyotter sleepy otters ") == 1, k


def test_recalled_copy_replaces_the_row_with_its_text() -> None:
    for min_score in [0.0, 0.25]:
        config = WORDY._replace(min_score=min_score, sparse_max_injections=2)
        given = pool([*FULL, short(0.3, 0.85), long(0.28), short(0.2, 0.9)])  # the last has the text of the fourth
        ranking = rank(given, config)
        copies = Copies(ranking, texts_among({3: 7, 5: 7}), least=min_score)
        plain, counts = copies.standing(), {doc: 5 if doc in (0, 1, 2, 4) else 1 for doc in range(6)}

        found = recall_short(given, plain, config, limit=3, chunk_counts=counts, copies=copies)
        placed = in_place(plain, found, copies)

        assert list(plain.order) == ([0, 1, 2, 3, 4] if min_score == 0 else [0, 1, 2, 3, 4, 5]), min_score
        assert found.given == {5: Given(0.1, 2)}, min_score
        assert (list(found.ranking.order), found.ranking.kept) == ([0, 1, 5, 2, 4], 5), min_score
        assert (list(placed.ranking.order), placed.ranking.kept) == ([0, 1, 2, 5, 4], 5), min_score
        assert copies.led_by(found.given).is_struck(3), min_score


def test_recalled_leader_no_longer_counts_as_below_min_score() -> None:
    ranking = Ranking([0, 1, 3, 2], [0.9, 0.8, 0.2, 0.3], (), kept=2)
    copies = Copies(ranking, texts_among({1: 7, 3: 7}), least=0.5)
    assert list(copies.standing().order) == [0, 1, 3, 2]
    led = copies.led_by([3])
    assert (list(led.standing().order), led.struck, led.is_struck(1)) == ([0, 3, 2], 1, True)


class Alike:
    """A ranking that knows which other documents share the texts of these ranks."""

    def __init__(self, **others: Hit) -> None:
        self._others = {hit.rank: hit for hit in others.values()}

    def count(self, hit: Hit) -> int:
        return hit.rank in self._others

    def others(self, hit: Hit) -> Iterator[Hit]:
        yield self._others[hit.rank]


def test_text_inside_a_block_is_not_packed_again() -> None:
    text = "one two three four five six"
    hits = [cut(1, "a", text, 0, 13), cut(2, "a", text, 8, 23), cut(3, "a", text, 4, 18)]
    elsewhere = hit_of(3, "b", text[4:18])
    view = pack(
        hits,
        total=4,
        budget_tokens=100,
        counter=counter("whitespace"),
        config=Config(),
        alike=Alike(elsewhere=elsewhere),
    )
    assert [block.path for block in (each.doc for each in view.blocks)] == ["a"]
    assert [(left.reason, left.rank, left.chunks, left.path) for left in view.omitted] == [
        ("duplicate", 3, 1, "a"),
        ("copy", 3, 1, "b"),
    ]


def test_uncollapsed_query_reports_no_copies(recall: Recall) -> None:
    for text in ("SELECT * FROM chunk LIMIT 20", "SELECT * FROM chunk USING lexical('permission') LIMIT 20"):
        response = recall.query(text)
        assert "copies" not in response["stats"]
        assert not any("copies" in row for row in response["results"])


def test_store_of_an_earlier_schema_finds_copies_by_hash() -> None:
    store = memory_store()
    put(store, *[new_file(f"{n}.txt", [f"text {n % 3}", f"own {n}"]) for n in range(5)])
    rows = [row for (row,) in store.execute("SELECT rowid FROM chunk ORDER BY rowid")]
    kept = store.same_texts(rows), store.twins(rows), store.has_copies()
    with store.unlock():
        store.execute("DROP TABLE chunk_copy")
        store.execute("DROP INDEX chunk_live_hash")
    numbers = store.same_texts(rows)
    several = {place for place, text in numbers.items() if [*numbers.values()].count(text) > 1}
    assert several == {*kept[0]}
    assert {numbers[place] for place in several} == {numbers[place] for place in (0, 2)}
    assert (store.twins(rows), store.has_copies()) == kept[1:]
