"""Why not: each verdict in a small case, with its evidence and its hint."""

from __future__ import annotations

import io
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.adapters.whynot import all_lines
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.contract.explaining import StageView, WhyNotView
from recall_core.errors import UnknownTarget, UsageError
from recall_core.explain.whynot.stages import STAGES
from recall_core.retrieve import pool as pool_module
from recall_core.types import Root
from tests.builders import new_chunk, new_file

TEXTS = {
    "retry.md": "A failed call is retried three times, then the breaker opens.\n",
    "cache.md": "Answers are cached by key, and a call that failed is not.\n",
    "limits.md": "The limit of a call is ten seconds; a longer call fails.\n",
    "colours.md": "Blue, green and violet paint dries within an hour.\n",
    "stop.md": "the of and\n",
    "void.md": "",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        (template / name).write_text(text)
    Recall.init(str(template))
    with Recall.open(start=template) as opened:
        add(opened, template)
    return template


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with texts and a store of them."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def recall(folder: Path) -> Iterator[Recall]:
    with Recall.open(start=folder) as opened:
        yield opened


def add(recall: Recall, *targets: Path, **options: Any) -> None:
    for _ in recall.add([str(target) for target in targets], Root("", **options)):
        pass


def why(recall: Recall, words: str | None, target: str, ask: Ask = Ask(), **options: Any) -> WhyNotView:
    return recall.why_not(words, target, ask, **options)["whynot"]


def stage(view: WhyNotView, name: str) -> StageView:
    return next(each for each in view["stages"] if each["stage"] == name)


def paths_of(recall: Recall, command: str) -> set[str]:
    """Return the paths that a typed command lists or packs."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert cli.main([*shlex.split(command)[1:], "--json"], streams=streams) == 0, streams.stderr.getvalue()  # type: ignore[attr-defined]
    return {path for path in TEXTS if f'"path":"{path}"' in streams.stdout.getvalue()}  # type: ignore[attr-defined]


def test_every_stage_is_reported_in_order_for_any_verdict(recall: Recall) -> None:
    for target in ("retry.md", "colours.md"):
        stages = why(recall, "retried call", target, Ask(k=1))["stages"]
        assert [each["stage"] for each in stages] == [each for each in STAGES if each != "copy"]
        for each in stages:
            assert (each["status"] == "fail") == (each.get("code") in STAGES[each["stage"]])


def test_row_in_the_answer_is_present_and_needs_no_fix(recall: Recall) -> None:
    view = why(recall, "retried", "retry.md")
    assert (view["present"], view["verdict"], "fixes" in view) == (True, "present", False)
    assert view["target"]["chosen"]["rank"] == 1


def test_path_line_and_text_name_the_same_chunk(recall: Recall) -> None:
    for target in ["retry.md", "retry.md:1", "retry.md:1-1", "three times, then", '"three times"']:
        named = why(recall, "paint", target)["target"]
        chunk_id = named["chosen"]["chunk_id"]
        assert named["chosen"]["path"] == "retry.md", target
        assert why(recall, "paint", chunk_id[:8])["target"]["chosen"]["path"] == "retry.md", target


def test_missing_target_is_an_unknown_target(recall: Recall) -> None:
    for target in ["nowhere.md", "no such text in there", "   "]:
        with pytest.raises(UnknownTarget, match="contains nothing named") as caught:
            recall.why_not("retry", target)
        assert caught.value.hint == {
            "no such text in there": "recall search 'no such text in there'",
            "   ": "recall stats",
        }.get(target, f"recall search {target}"), target


def test_lines_past_the_end_are_refused_with_the_range(recall: Recall) -> None:
    for lines in ["99", "0", "2-1"]:
        with pytest.raises(UsageError, match=r"retry\.md has lines 1 to ") as caught:
            recall.why_not("retry", f"retry.md:{lines}")
        assert (caught.value.code, recall.get(str(caught.value.hint))["ok"]) == ("bad_lines", True), lines


def test_missing_quoted_text_is_called_a_text(recall: Recall) -> None:
    with pytest.raises(UnknownTarget, match='contains nothing with the text "blue moon"') as caught:
        recall.why_not("retry", '"blue moon"')
    assert caught.value.hint == "recall search 'blue moon'"


def test_best_ranked_of_several_chunks_represents_the_target(recall: Recall) -> None:
    named = why(recall, "retried call", "call")["target"]
    assert (named["kind"], named["chunks"], named["chosen"]["path"]) == ("text", 3, "retry.md")
    assert [other["rank"] for other in named["others"]] == sorted(other["rank"] or 0 for other in named["others"])


def make_outside(folder: Path) -> None:
    (folder.parent / "elsewhere.txt").write_text("text")


def make_hidden(folder: Path) -> None:
    (folder / ".secret").mkdir()
    (folder / ".secret" / "a.md").write_text("text")


def make_built_in(folder: Path) -> None:
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "a.md").write_text("text")


def make_gitignored(folder: Path) -> None:
    (folder / ".gitignore").write_text("# made\n\nbuild/\n")
    (folder / "build").mkdir()
    (folder / "build" / "a.md").write_text("text")


def make_excluded(folder: Path) -> None:
    (folder / ".git" / "info").mkdir(parents=True)
    (folder / ".git" / "info" / "exclude").write_text("build/\n")
    (folder / "build").mkdir()
    (folder / "build" / "a.md").write_text("text")


ABSENT: list[tuple[Callable[[Path], object], str, dict[str, Any], str]] = [
    (make_outside, "../elsewhere.txt", {}, "no_root"),
    (make_hidden, ".secret/a.md", {}, ".secret is hidden (--hidden)"),
    (make_built_in, "node_modules/a.md", {"hidden": True}, "node_modules is never read"),
    (make_gitignored, "build/a.md", {}, "line 3 says build/ (--no-gitignore)"),
    (make_excluded, "build/a.md", {}, ".git/info/exclude line 1 says build/ (--no-gitignore)"),
    (
        lambda folder: (folder / "x.log").write_text("text"),
        "x.log",
        {"ignores": ("*.log",)},
        "--ignore *.log matches",
    ),
    (
        lambda folder: (folder / "x.log").write_text("text"),
        "x.log",
        {"globs": ("*.md",)},
        "no --glob matches: *.md",
    ),
    (lambda folder: (folder / "x.bin").write_bytes(b"a\0b"), "x.bin", {}, "binary_file"),
    (lambda folder: (folder / "x.txt").write_bytes(b"a\xff"), "x.txt", {}, "not_utf8"),
    (lambda folder: (folder / "big.txt").write_text("x" * 2_000), "big.txt", {}, "file_too_large"),
    (lambda folder: None, "recall.toml", {}, "the store's own"),
]


def test_file_outside_the_store_is_explained_by_its_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (make, target, options, rule) in enumerate(ABSENT):
        folder = tmp_path / str(number) / "home"
        folder.mkdir(parents=True)
        (folder / "retry.md").write_text(TEXTS["retry.md"])
        monkeypatch.chdir(folder)
        make(folder)
        Recall.init(str(folder), settings=["max_file_bytes=1000"])
        with Recall.open(start=folder) as recall:
            add(recall, folder, **options)
            view = why(recall, "text", target)
        rules = stage(view, "ingested")["evidence"]["rules"]
        assert view["verdict"] == "not_ingested", rule
        assert len(rules) == 1, rule
        assert rules[0].endswith(rule) or rule in rules[0], rule
        assert ("hint" in stage(view, "ingested")) == (rule != "binary_file"), rule  # no command can add this file


def test_newer_file_needs_a_sync(recall: Recall, folder: Path) -> None:
    (folder / "new.md").write_text("new")
    found = stage(why(recall, "new", "new.md"), "ingested")
    assert (found["evidence"]["rules"], found["hint"]) == (["not_synced"], "recall sync")


def test_changed_file_is_stale(recall: Recall, folder: Path) -> None:
    for state in ["modified", "missing"]:
        if state == "missing":
            (folder / "colours.md").unlink()
        else:
            (folder / "colours.md").write_text("Red paint.\n")
        view = why(recall, "retried call", "colours.md", Ask(k=1))
        assert (view["verdict"], stage(view, "fresh")["evidence"]["state"]) == ("stale", state), state


def test_rm_is_the_hint_for_an_unreadable_changed_file(recall: Recall, folder: Path) -> None:
    for excluded in [True, False]:
        (folder / "colours.md").write_bytes(b"Red paint.\n" if excluded else b"\0")
        (folder / ".gitignore").write_text("*\n!*/\n" if excluded else "")

        found = stage(why(recall, "retried call", "colours.md", Ask(k=1)), "fresh")

        assert found["hint"] == "recall rm colours.md", excluded
        assert ("line 1 says *" if excluded else "binary") in found["detail"], excluded


def test_removed_document_is_tombstoned(recall: Recall) -> None:
    chunk_id = why(recall, "paint", "colours.md")["target"]["chosen"]["chunk_id"]
    recall.remove(["colours.md"])
    for target in ("colours.md", chunk_id[:10], "colours.md:1"):
        assert why(recall, "paint", target)["verdict"] == "tombstoned"


def test_text_of_stop_words_has_no_vector(recall: Recall) -> None:
    view = why(recall, "paint", "stop.md", Ask(k=1, mode="semantic"))
    assert view["verdict"] == "no_vector"
    assert stage(view, "vector")["status"] == "fail"


def test_empty_document_is_not_indexed(recall: Recall) -> None:
    assert why(recall, "paint", "void.md")["verdict"] == "not_indexed"


def test_chunk_missing_from_the_index_is_not_indexed(recall: Recall) -> None:
    chosen = why(recall, "paint", "colours.md")["target"]["chosen"]
    rowid = recall.store.rowid("chunk", chosen["chunk_id"])
    with recall.store.transaction():
        recall.store.execute(
            "INSERT INTO chunk_fts(chunk_fts, rowid, title, body) "
            "SELECT 'delete', rowid, title, text FROM chunk WHERE rowid = ?",
            (rowid,),
        )
    view = why(recall, "paint dries", "colours.md", Ask(k=1, mode="lexical"))
    assert (view["verdict"], stage(view, "indexed")["hint"]) == ("not_indexed", "recall doctor --fix")


def test_filter_names_failing_predicates_with_the_values_of_the_row(recall: Recall) -> None:
    where = "doc.path GLOB 'r*' AND chunk.tokens > 3 AND NOT doc.source IS NULL"
    view = why(recall, "paint", "colours.md", Ask(filter=where))
    evidence = stage(view, "filter")["evidence"]
    assert view["verdict"] == "filter"
    assert [(each["predicate"], each["value"]) for each in evidence["failing"]] == [
        ("doc.path GLOB 'r*'", "colours.md"),
        ("doc.source IS NOT NULL", None),
    ]
    assert evidence["drop"] == [["doc.path GLOB 'r*'", "doc.source IS NOT NULL"]]
    assert view["fixes"][0]["command"] == "recall search paint --filter 'chunk.tokens > 3'"
    assert "colours.md" in paths_of(recall, view["fixes"][0]["command"])
    assert stage(view, "lexical")["evidence"]["rank"] == 1


def test_query_is_shown_as_a_query(recall: Recall) -> None:
    rql = "SELECT doc.path FROM chunk USING lexical('call') FILTER doc.path != 'limits.md' LIMIT 5"
    view = why(recall, None, "limits.md", rql=rql)
    expected = """recall query "SELECT doc.path FROM chunk USING lexical('call') LIMIT 5\""""
    assert (view["verdict"], view["fixes"][0]["command"]) == ("filter", expected)


def test_missing_words_are_named(recall: Recall) -> None:
    ask = Ask(mode="lexical", settings=("match=all",))
    view = why(recall, "retried call caching", "retry.md", ask)
    found = stage(view, "lexical")
    assert (view["verdict"], found["evidence"]["missing"]) == ("lexical", ["caching"])
    terms = {term["text"]: term for term in found["evidence"]["terms"]}
    assert (terms["caching"]["stem"], terms["call"]["body"]) == ("cach", 1)
    assert "match" in {fix["kind"] for fix in view["fixes"]}


def test_text_without_the_words_is_found_by_other_means(recall: Recall) -> None:
    view = why(recall, "retried", "colours.md", Ask(mode="lexical"))
    assert view["verdict"] == "lexical"
    assert {"mode", "term"} <= {fix["kind"] for fix in view["fixes"]}
    for fix in view["fixes"]:
        assert "colours.md" in paths_of(recall, fix["command"])


def test_dissimilar_text_fails_the_semantic_stage(recall: Recall, folder: Path) -> None:
    (folder / "stop2.md").write_text("of the and")
    add(recall, folder / "stop2.md")
    view = why(recall, "retried call", "stop2.md", Ask(k=2))
    assert stage(view, "semantic")["code"] == "semantic"


def test_bounded_pool_that_misses_it_reports_a_sufficient_depth(
    recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", 0)
    view = why(recall, "call limit", "retry.md", Ask(mode="lexical", settings=("pool=1",)))
    found = stage(view, "pool")
    assert (view["verdict"], found["evidence"]["depth"]) == ("pool_miss", 1)
    pools = [fix for fix in view["fixes"] if fix["kind"] == "pool"]
    assert pools[0]["settings"] == [f"pool={found['evidence']['rank']}"]
    assert "exact" in {fix["kind"] for fix in view["fixes"]}


def test_rank_is_reported_with_its_gap_and_the_smallest_k(recall: Recall) -> None:
    view = why(recall, "call retried", "cache.md", Ask(k=1))
    evidence = stage(view, "fusion")["evidence"]
    k = next(fix for fix in view["fixes"] if fix["kind"] == "k")
    assert view["verdict"] == "rank"
    assert evidence["gap"] == evidence["last_score"] - evidence["score"] > 0
    assert (k["command"], k["size"]) == (f"recall search 'call retried' --k {evidence['rank']}", evidence["rank"] - 1)
    assert k["next_smaller"] == f"showing {evidence['rank'] - 1} results"


def test_equal_score_loses_by_path(recall: Recall, folder: Path) -> None:
    (folder / "zz.md").write_text(TEXTS["colours.md"])
    add(recall, folder / "zz.md")
    view = why(recall, "paint", "zz.md", Ask(k=1, settings=("collapse=false",)))
    evidence = stage(view, "tie_break")["evidence"]
    assert (view["verdict"], evidence["key"], evidence["against"]["path"]) == ("tie_break", "path", "colours.md")


def test_score_below_min_score_reports_a_sufficient_threshold(recall: Recall) -> None:
    view = why(recall, "call retried", "cache.md", Ask(settings=("min_score=0.9",)))
    fix = view["fixes"][0]
    assert (view["verdict"], fix["kind"]) == ("threshold", "min_score")
    assert "cache.md" in paths_of(recall, fix["command"])


def test_row_given_to_a_short_document_names_that_document(recall: Recall, folder: Path) -> None:
    (folder / "long.md").write_text("\n\n".join(f"call number {n} " + "word " * 380 for n in range(5)))
    add(recall, folder / "long.md")
    ask = Ask(k=2, settings=("sparse_distance_ceiling=2", "vector_weight=0", "sparse_chunk_threshold=2"))
    shown = recall.search("call number", ask)["results"]
    taken = [result for result in shown if "recall" in result]
    displaced = taken[0]["recall"]["displaced"]
    view = why(recall, "call number", displaced, ask)
    evidence = stage(view, "sparse")["evidence"]
    assert (view["verdict"], evidence["against"]["path"]) == ("displaced", taken[0]["doc"]["path"])
    assert {"sparse_recall", "k"} <= {fix["kind"] for fix in view["fixes"]}


def test_reranker_that_lowered_the_row_is_named(recall: Recall) -> None:
    ask = Ask(mode="lexical", settings=("rerank=hash", "rerank_weight=1", "sparse_recall=false"))
    plain = [hit["doc"]["path"] for hit in recall.search("call fails", Ask(mode="lexical"))["results"]]
    reranked = [hit["doc"]["path"] for hit in recall.search("call fails", ask)["results"]]
    fallen = [path for path in plain if reranked.index(path) > plain.index(path)]
    if not fallen:
        pytest.skip("this reranker agrees with the words")
    view = why(recall, "call fails", fallen[0], ask._replace(k=plain.index(fallen[0]) + 1))
    assert view["verdict"] == "rerank"
    assert "rerank" in {fix["kind"] for fix in view["fixes"]}


def test_offset_and_limit_are_distinguished(recall: Recall) -> None:
    rql = "SELECT doc.path FROM chunk ORDER BY doc.path LIMIT 2 OFFSET 1"
    before, behind = why(recall, None, "cache.md", rql=rql), why(recall, None, "stop.md", rql=rql)
    assert (before["verdict"], behind["verdict"]) == ("offset", "limit")
    assert why(recall, None, "colours.md", rql=rql)["present"]


@pytest.fixture
def book(recall: Recall, folder: Path) -> Recall:
    (folder / "book.md").write_text("\n\n".join(f"# Part {n}\n\ncall " + f"word{n} " * 300 for n in range(4)))
    add(recall, folder / "book.md")
    return recall


def packed_ids(recall: Recall, pack: Pack) -> list[str]:
    context = recall.context("call word1 word2", Ask(), pack)["context"]
    return [chunk["id"] for chunk in context["chunks"]]


def test_cap_on_the_document_names_the_siblings(book: Recall) -> None:
    pack = Pack(budget_tokens=20_000, diversity=1)
    first = [
        hit["chunk"]["id"] for hit in book.search("call word1 word2")["results"] if hit["doc"]["path"] == "book.md"
    ]
    missing = next(chunk_id for chunk_id in first if chunk_id not in packed_ids(book, pack))
    view = why(book, "call word1 word2", missing, pack=pack)
    assert view["verdict"] == "diversity"
    assert stage(view, "diversity")["evidence"]["siblings"] == [i for i in packed_ids(book, pack) if i in first]
    cap = next(fix for fix in view["fixes"] if fix["kind"] == "diversity")
    assert cap["next_smaller"] == "1 chunk"


def test_too_small_budget_reports_the_smallest_sufficient_one(book: Recall) -> None:
    pack = Pack(budget_tokens=60)
    hits = book.search("call word1 word2")["results"]
    missing = next(hit["chunk"]["id"] for hit in hits if hit["doc"]["path"] == "colours.md")
    view = why(book, "call word1 word2", missing, pack=pack)
    fix = next(fix for fix in view["fixes"] if fix["kind"] == "budget")
    needed = 60 + int(fix["size"])
    assert view["verdict"] == "budget"
    assert missing in packed_ids(book, Pack(budget_tokens=needed))
    context = book.context("call word1 word2", Ask(), Pack(budget_tokens=needed - 1))["context"]
    whole = [i for block in context["blocks"] if not block["truncated"] for i in block["chunk_ids"]]
    assert missing not in whole


def test_cut_chunk_is_truncated_and_its_kept_text_is_present(book: Recall) -> None:
    pack = Pack(budget_tokens=60)
    context = book.context("word1", Ask(), pack)["context"]
    block = next(block for block in context["blocks"] if block["truncated"])
    cut = why(book, "word1", block["chunk_ids"][0], pack=pack)
    assert cut["verdict"] == "truncated"
    assert stage(cut, "truncated")["evidence"]["kept_chars"] == len(block["text"])
    kept = why(book, "word1", f'"{block["text"][:12]}"', pack=pack)
    assert kept["present"]


def test_chunk_inside_a_packed_block_is_a_duplicate(recall: Recall, folder: Path) -> None:
    outer, inner = "call alpha beta gamma delta", "alpha beta"
    file = new_file("nested.txt", [outer])
    document = file.documents[0]
    chunks = [recall_chunk(recall, new_chunk(outer)), recall_chunk(recall, new_chunk(inner, offset=5))]
    with recall.store.writer() as writer:
        writer.put(file._replace(os_path="", documents=(document._replace(chunks=tuple(chunks)),)))
    ids = [recall.store.resolve("nested.txt")[0][1]]
    rows = recall.store.chunks_of(ids[0])
    view = why(recall, "call gamma", rows[1].chunk.id, pack=Pack(budget_tokens=500))
    assert (view["verdict"], stage(view, "duplicate")["evidence"]["block"]) == ("duplicate", 1)


def recall_chunk(recall: Recall, chunk: Any) -> Any:
    return chunk._replace(vector=recall.engine.embedder.embed([chunk.text])[0])


def test_chunk_beaten_at_every_weight_is_proven_to_miss(recall: Recall, folder: Path) -> None:
    for n in range(205):
        (folder / f"better{n:03}.md").write_text("call retry breaker\n")
    add(recall, folder)

    view = why(recall, "call retry breaker", "cache.md", Ask(settings=("collapse=false",)))

    proof = view["proof"]
    assert (proof["kind"], proof["k"]) == ("never", 200)
    assert proof["always_ahead"] >= 200
    assert proof["best_rank"] > 200
    assert {rival["path"][:6] for rival in proof["ahead"]} == {"better"}
    assert not {"k", "weight", "weight+k"} & {fix["kind"] for fix in view["fixes"]}
    dropping = why(recall, "call retry breaker", "cache.md", Ask(settings=("collapse=false", "min_cosine=0.01")))
    assert "proof" not in dropping  # dropping some of those ahead may help


def test_copies_do_not_end_a_proof(recall: Recall, folder: Path) -> None:
    for n in range(205):
        (folder / f"better{n:03}.md").write_text(f"call retry breaker call retry breaker {n:03}\n")
    for copy in ("cache2.md", "better205.md"):
        original = "cache.md" if copy.startswith("cache") else "better000.md"
        (folder / copy).write_bytes((folder / original).read_bytes())
    add(recall, folder)

    for target in ("cache.md", "cache2.md"):
        view = why(recall, "call retry breaker", target)
        fused = why(recall, "call retry breaker", target, Ask(settings=("fusion=rrf",)))

        assert view["proof"]["always_ahead"] == 207, target  # distinct texts of 208 chunks
        assert view["proof"]["best_rank"] == 208, target
        assert "proof" not in fused, target
        assert "weighted fusion" in fused["no_proof"], target
        assert f"proof none: {fused['no_proof']}" in all_lines({"whynot": fused}), target


def test_stages_are_the_same_without_fixes(recall: Recall) -> None:
    ask = Ask(k=1)
    whole, short = (why(recall, "retried", "cache.md", ask, fixes=wanted) for wanted in (True, False))
    assert short == {key: value for key, value in whole.items() if key not in ("fixes", "words", "proof")}


def test_looking_for_the_reason_changes_no_answer(recall: Recall) -> None:
    before = recall.search("retried call")["results"]
    why(recall, "retried call", "colours.md", Ask(k=1))
    assert recall.search("retried call")["results"] == before
