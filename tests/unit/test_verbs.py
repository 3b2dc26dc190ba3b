"""The steps of retrieval as functions: their promises, and their recorded answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.errors import ConfigError, UsageError
from recall_core.steps import (
    COLLECTION,
    SPEC_VERSION,
    Candidate,
    ChunkPolicy,
    CompressPolicy,
    FuseParams,
    PackagePolicy,
    Piece,
    RetrievePlan,
    Segment,
    chunk,
    compress,
    fuse,
    index,
    normalize,
    package,
    rerank,
    retrieve,
)
from recall_core.types import Progress, Root

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "verbs.json").read_text(encoding="utf-8"))
SMALL = ChunkPolicy(chunk_tokens=6, overlap_tokens=2)
TEXT = "One two three. Four five six seven. Eight nine ten eleven twelve."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Recall]:
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path / "recall.db")) as recall:
        yield recall


def candidate(doc_id: str, chunk_index: int = 0, score: float = 0.0, content: str = "") -> Candidate:
    return Candidate(doc_id, chunk_index, content, score, 0, (), {})


def keys(candidates: Sequence[Candidate]) -> list[tuple[str, int]]:
    return [(each.doc_id, each.chunk_index) for each in candidates]


def test_pieces_are_numbered_slices_of_their_text() -> None:
    pieces = chunk(TEXT, SMALL)
    assert [piece.chunk_index for piece in pieces] == list(range(len(pieces)))
    assert len(pieces) > 2
    assert all(TEXT[piece.offset :].startswith(piece.content) for piece in pieces)
    assert chunk(TEXT, SMALL) == pieces
    assert {piece.doc_id for piece in pieces} == {""}


def test_segments_of_one_document_join_without_crossing_pieces() -> None:
    segments = [Segment("a", "Page one. "), Segment("b", "Other."), Segment("a", "  \n"), Segment("a", "Page two.")]
    assert [(piece.doc_id, piece.chunk_index, piece.offset, piece.content) for piece in chunk(segments)] == [
        ("a", 0, 0, "Page one. "),
        ("b", 0, 0, "Other."),
        ("a", 1, 10, "Page two."),
    ]


def test_markdown_pieces_know_their_heading() -> None:
    text = "# Top\n\nwords\n\n# Next\n\nmore\n"
    policy = SMALL._replace(chunk_tokens=4, overlap_tokens=0, markdown=True)
    assert [piece.heading for piece in chunk(text, policy)] == ["Top", "Next"]


def test_contradictory_limits_are_refused() -> None:
    with pytest.raises(ConfigError, match="overlap_tokens"):
        chunk("a", ChunkPolicy(chunk_tokens=5, overlap_tokens=5))
    with pytest.raises(UsageError, match="token counter"):
        chunk("a", ChunkPolicy(counter="letters"))


def test_indexing_the_same_pieces_again_writes_nothing(store: Recall) -> None:
    pieces = chunk([Segment("a", TEXT, "Title", ("t",), {"n": 1})], SMALL)
    first = index(pieces, store)
    before = store.store.info()
    again = index([*reversed(pieces), pieces[0]], store)
    assert (first["added"], again["unchanged"], again["embedded"]) == (1, 1, 0)
    assert store.store.info() == before


def test_any_change_of_a_document_replaces_it(store: Recall) -> None:
    for changed in [
        Segment("a", TEXT + " More."),
        Segment("a", TEXT.replace("One", "Ten")),
        Segment("a", TEXT, title="New"),
        Segment("a", TEXT, tags=("new",)),
        Segment("a", TEXT, metadata={"new": 1}),
    ]:
        index(chunk([Segment("a", TEXT)], SMALL), store)
        counts = index(chunk([changed], SMALL), store)
        (kind, doc_id), *others = store.store.resolve("a")
        row = store.store.chunks_of(doc_id)[0]
        assert (counts["updated"], kind, others) == (1, "doc", []), changed
        assert (row.doc.title, row.doc.tags, row.doc.meta) == (changed.title, changed.tags, changed.metadata), changed
        assert store.store.text_of(doc_id) == changed.text, changed


def test_metadata_in_another_order_is_the_same(store: Recall) -> None:
    given = {"k": 1, "l": {"m": 2, "n": 3}}
    turned = {"l": {"n": 3, "m": 2}, "k": 1}
    index(chunk([Segment("a", TEXT, metadata=given)], SMALL), store)
    generation = store.store.info().generation
    index(chunk([Segment("a", TEXT, metadata=turned)], SMALL), store)
    assert store.store.info().generation == generation


def test_other_limits_rechunk_a_document(store: Recall) -> None:
    index(chunk([Segment("a", TEXT)], SMALL), store)
    assert index(chunk([Segment("a", TEXT)]), store)["updated"] == 1
    assert store.store.info().chunks == 1


def test_another_time_alone_is_stored_without_rechunking(store: Recall) -> None:
    pieces = chunk([Segment("a", TEXT)], SMALL)
    index(pieces, store)
    rows = [key.rowid for key in store.store.candidates(None)]

    counts = index(pieces, store, mtime_ns=10**9)

    assert (counts["updated"], counts["embedded"]) == (1, 0)
    assert store.store.info().snapshot == "1970-01-01T00:00:01.000000Z"
    assert [key.rowid for key in store.store.candidates(None)] == rows
    assert index(pieces, store, mtime_ns=10**9)["unchanged"] == 1


def test_document_has_the_labels_of_all_its_segments(store: Recall) -> None:
    segments = [
        Segment("a", "Page one. ", tags=("x",), metadata={"k": 1}),
        Segment("a", "Page two.", tags=("b",), metadata={"l": 2}),
    ]
    index(chunk(segments), store)
    found = retrieve("page", RetrievePlan(mode="lexical"), store)
    assert keys(found) == [("a", 0), ("a", 1)]
    assert {(each.tags, tuple(each.metadata.items())) for each in found} == {(("b", "x"), (("k", 1), ("l", 2)))}


def test_pieces_that_are_not_one_text_write_nothing(store: Recall) -> None:
    for pieces, reason in [
        ([Piece("", 0, "text", 0)], "no doc_id"),
        ([Piece("a", 1, "text", 0)], "no chunk_index 0"),
        ([Piece("a", 0, "text", 0), Piece("a", 0, "other", 0)], "two pieces have chunk_index 0"),
        ([Piece("a", 0, "text", 0), Piece("a", 1, "more", 5)], "gap"),
        ([Piece("a", 0, "text", 1)], "gap"),
        ([Piece("a", 0, "text", 0), Piece("a", 1, "ext", 1)], "gap"),
        ([Piece("a", 0, "text", 0), Piece("a", 1, "xy", 3)], "differs"),
        ([Piece("a", 0, "", 0)], "gap"),
    ]:
        with pytest.raises(UsageError, match=reason) as refused:
            index([Piece("good", 0, "text", 0), *pieces], store)
        assert refused.value.code == "bad_pieces", pieces
        assert store.store.info().documents == 0, pieces


def test_indexed_pieces_pass_every_check_and_are_never_stale(store: Recall) -> None:
    index(chunk([Segment("a", TEXT), Segment("ü/b", "色 红色的鱼\r\nmore words here", "T")], SMALL), store)
    checks = store.doctor()["checks"]
    assert [check for check in checks if check["severity"] == "error"] == []
    assert store.search("four", Ask())["warnings"] == []
    for _ in store.sync():
        pass
    assert store.store.info().documents == 2


def test_lines_of_pieces_count_from_the_first_character(store: Recall) -> None:
    index(chunk([Segment("a", "\nOne two three four. \nFive six seven eight.")], SMALL), store)
    rows = store.store.fetch([key.rowid for key in store.store.candidates(None)])
    assert [(row.chunk.text, row.chunk.line_start, row.chunk.line_end) for row in rows] == [
        ("\nOne two three four. \n", 1, 2),
        ("four. \nFive six seven eight.", 2, 3),
    ]


def test_file_of_the_same_name_replaces_the_pieces(store: Recall) -> None:
    index(chunk([Segment("a.txt", "from a program")]), store)
    (store.engine.base / "a.txt").write_text("from the disk", encoding="utf-8")
    for _ in store.add([str(store.engine.base / "a.txt")], Root("")):
        pass
    assert [each.content for each in retrieve("from", RetrievePlan(mode="lexical"), store)] == ["from the disk"]


def sync(store: Recall) -> Progress:
    """Return the last event of a sync."""
    return list(store.sync())[-1]


def test_pieces_below_an_added_folder_survive_sync_and_add(store: Recall) -> None:
    (store.engine.base / "docs").mkdir()
    (store.engine.base / "docs" / "a.txt").write_text("from the disk", encoding="utf-8")
    folder = [str(store.engine.base / "docs")], Root("")
    list(store.add(*folder))
    index(chunk([Segment("docs/b.txt", "from a program")]), store)
    before = store.store.info()

    assert (sync(store).removed, sync(store).skipped) == (0, ())
    list(store.add(*folder))

    assert store.store.info() == before


def test_missing_folder_with_only_program_pieces_does_not_block(store: Recall) -> None:
    (store.engine.base / "docs").mkdir()
    list(store.add([str(store.engine.base / "docs")], Root("")))
    index(chunk([Segment("docs/b.txt", "from a program")]), store)
    (store.engine.base / "docs").rmdir()

    assert sync(store).removed == 0
    assert store.store.info().documents == 1


def test_each_signal_proposes_at_most_k_after_the_filter(store: Recall) -> None:
    segments = [Segment(f"{n:02}", f"word number {n}", tags=("even",) * (n % 2 == 0)) for n in range(80)]
    index(chunk(segments), store)
    assert len(retrieve("word", RetrievePlan(mode="lexical"), store)) == 50
    assert len(retrieve("word number 7", RetrievePlan(k=3), store)) <= 6
    even = retrieve("word", RetrievePlan(mode="semantic", k=60, filter="doc.tag = 'even'"), store)
    assert [each.doc_id for each in sorted(even)] == [f"{n:02}" for n in range(0, 80, 2)]
    assert retrieve("word", RetrievePlan(k=0), store) == []


def test_large_store_proposes_as_many_as_requested(store: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    index(chunk([Segment(f"{n:02}", f"word number {n}") for n in range(30)]), store)
    monkeypatch.setattr("recall_core.retrieve.pool.EXACT_VECTORS", 3)
    assert len(retrieve("word", RetrievePlan(mode="lexical", k=20, settings=("pool=5",)), store)) == 20


def test_candidates_have_the_order_and_scores_of_a_search(store: Recall) -> None:
    index(chunk([Segment("a", TEXT), Segment("b", "four seven"), Segment("c", "nine")], SMALL), store)
    found = retrieve("four nine", RetrievePlan(), store)
    listed = store.engine.answer(store.engine.words_plan("four nine", Ask(settings=("sparse_recall=false",))))
    hits = store.engine.hits(listed, 0, listed.total)
    assert [(each.doc_id, each.offset, each.score) for each in found] == [
        (hit.doc.path, hit.chunk.offset if hit.chunk else None, hit.score) for hit in hits
    ]
    numbers = {(piece.doc_id, piece.offset): piece.chunk_index for piece in chunk([Segment("a", TEXT)], SMALL)}
    assert all(each.chunk_index == numbers.get((each.doc_id, each.offset), 0) for each in found)


def test_rrf_adds_reciprocal_ranks() -> None:
    a, b, c = (candidate(name) for name in "abc")
    found = fuse([[a, b], [b, c]])
    assert keys(found) == [("b", 0), ("a", 0), ("c", 0)]
    assert [each.score for each in found] == [1 / 62 + 1 / 61, 1 / 61, 1 / 62]
    weighted = fuse([[a], [b]], params=FuseParams(rrf_k=0, weights=(1.0, 3.0)))
    assert [(each.doc_id, each.score) for each in weighted] == [("b", 3.0), ("a", 1.0)]


def test_weighted_fusion_is_the_weighted_mean_of_scores() -> None:
    first = [candidate("a", score=0.8), candidate("b", score=0.4)]
    second = [candidate("b", score=1.0)]
    found = fuse([first, second], "weighted", FuseParams(weights=(3.0, 1.0)))
    assert [(each.doc_id, round(each.score, 12)) for each in found] == [("a", 0.6), ("b", 0.55)]


def test_fusion_keeps_twelve_and_breaks_ties_by_document_and_number() -> None:
    lists = [[candidate(f"{n:02}", 1)] for n in range(20)] + [[candidate("00", 0)]]
    found = fuse(lists)
    assert keys(found) == [("00", 0), *((f"{n:02}", 1) for n in range(11))]
    assert len(fuse(lists, params=FuseParams(k=99))) == 21


def test_duplicate_candidate_in_a_list_counts_once() -> None:
    a, b = candidate("a", content="first"), candidate("b")
    found = fuse([[a, a._replace(content="second"), b]])
    assert [(each.doc_id, each.content, each.score) for each in found] == [("a", "first", 1 / 61), ("b", "", 1 / 62)]


def test_fusion_refuses_unknown_methods_and_parameters() -> None:
    for method, params in [
        ("sum", FuseParams()),
        ("rrf", FuseParams(weights=(1.0,))),
        ("rrf", FuseParams(weights=(1.0, -1.0))),
        ("rrf", FuseParams(k=-1)),
        ("rrf", FuseParams(rrf_k=-1)),
    ]:
        with pytest.raises(UsageError, match=r"fuse|fusion"):
            fuse([[], []], method, params)


def test_reranker_replaces_scores_and_ties_sort_by_document() -> None:
    class Lengths:
        identity = "lengths-1"

        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return [len(text) / len(question) for text in texts]

    given = [candidate("b", content="xx"), candidate("a", content="xx"), candidate("c", content="xxxx")]
    found = rerank("four", given, Lengths())
    assert [(each.doc_id, each.score) for each in found] == [("c", 1.0), ("a", 0.5), ("b", 0.5)]
    assert found == rerank("four", given, Lengths().score)


def test_invalid_scores_are_refused() -> None:
    for scores in [[], [1.0, 2.0], [float("nan")], [float("inf")]]:
        with pytest.raises(UsageError) as refused:
            rerank("q", [candidate("a", content="text")], lambda question, texts, scores=scores: scores)
        assert refused.value.code == "bad_scores", scores
        policy = CompressPolicy(scorer=lambda question, texts, scores=scores: scores)
        with pytest.raises(UsageError) as refused:
            compress("q", [candidate("a", content="text")], policy)
        assert refused.value.code == "bad_scores", scores


def test_compression_compares_stems_and_ignores_stop_words() -> None:
    given = [candidate("a", content="The dog is running. The cat was there. It runs.")]
    found = compress("what are the runs", given, CompressPolicy(sentences=1))
    assert [each.text for each in found] == ["It runs.", "The dog is running."]


def test_compression_uses_the_given_scorer() -> None:
    given = [candidate("a", content="Short. A longer one. Mid size.")]
    policy = CompressPolicy(
        sentences=1, budget_tokens=5, scorer=lambda question, texts: [len(text) for text in texts]
    )
    assert [each.text for each in compress("", given, policy)] == ["A longer one.", "Mid size."]
    with pytest.raises(UsageError, match="must be at least 1"):
        compress("", given, CompressPolicy(sentences=0))


def test_citations_of_a_package_lead_back_to_its_text(store: Recall) -> None:
    raw = "\ufeffBackups run every night.\r\n\r\nTo undo a deploy,\r\nrun it with undo.\r\nTell the team.".encode()
    index(chunk([Segment("notes/ops.md", normalize(raw).text)], SMALL._replace(overlap_tokens=0)), store)

    made = package("undo a deploy", retrieve("undo a deploy", RetrievePlan(k=1), store), PackagePolicy(14))

    (only,) = made.evidence
    assert (only.citation, only.is_cut) == ("notes/ops.md:3-3", False)
    assert only.text.strip() in store.get(only.citation)["found"]["text"]


def round_scores(value: Any) -> Any:
    """Return scores to nine digits, because the last ones depend on the machine's logarithm."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, list | tuple):
        return [round_scores(each) for each in value]
    return dict(value) if hasattr(value, "items") else value


def record(store: Recall, given: dict[str, Any]) -> dict[str, Any]:
    """Return every step over the golden corpus, as spelled in the golden file."""
    policy = ChunkPolicy(**given["policy"])
    pieces = chunk([Segment(*fields[:3], tuple(fields[3]), fields[4]) for fields in given["segments"]], policy)
    counts = [index(pieces, store), index(pieces, store)]
    found: dict[str, Any] = {"pieces": pieces, "index": counts, "digest": store.store.info().digest, "queries": {}}
    for query in given["queries"]:
        lists = [retrieve(query, RetrievePlan(mode=mode), store) for mode in ("lexical", "semantic")]
        fused = fuse(lists)
        found["queries"][query] = {
            "lexical": [(*key, each.score) for key, each in zip(keys(lists[0]), lists[0], strict=True)],
            "semantic": [(*key, each.score) for key, each in zip(keys(lists[1]), lists[1], strict=True)],
            "hybrid": [
                (each.doc_id, each.chunk_index, each.score) for each in retrieve(query, RetrievePlan(), store)
            ],
            "rrf": [(each.doc_id, each.chunk_index, each.score) for each in fused],
            "reranked": keys(rerank(query, fused, lambda _, texts: [-len(text) for text in texts])),
            "compressed": compress(query, fused, CompressPolicy(**given["compress"])),
        }
    queries = {
        query: {step: round_scores(out) for step, out in steps.items()} for query, steps in found["queries"].items()
    }
    return {"pieces": round_scores(pieces), "index": counts, "digest": found["digest"], "queries": queries}


def test_recorded_answers_are_reproduced(store: Recall) -> None:
    """To record again after a deliberate change: run `recorded` over "given", with another spec_version."""
    assert record(store, GOLDEN["given"]) == GOLDEN["expected"]


def test_recorded_answers_name_the_version_and_the_collection() -> None:
    assert GOLDEN["spec_version"] == SPEC_VERSION
    assert re.fullmatch(r"\d+\.\d+\.\d+", SPEC_VERSION)
    assert GOLDEN["collection"] == COLLECTION
