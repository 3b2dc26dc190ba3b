from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Settings
from recall_core.errors import (
    ConfigError,
    RecallError,
    RqlError,
    SnapshotMismatch,
    StaleError,
    UnknownTarget,
    UsageError,
)
from recall_core.text import counter
from recall_core.types import Root

IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
TEXTS = {
    "retry.md": "# Retries\n\nA failed call is retried three times.\n\n## Backoff\n\nEach retry waits longer.\n",
    "cache.md": "# Cache\n\nAnswers are cached by key.\nThe cache holds a thousand entries.\n",
    "notes/todo.txt": "buy milk\nwrite the retry tests\n",
    "notes/日記.txt": "今日は全文検索を書いた。\n",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        path = template / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    Recall.init(str(template))
    with Recall.open(start=template) as opened:
        add(opened, template)
    return template


@pytest.fixture
def recall(template: Path, tmp_path: Path) -> Iterator[Recall]:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Recall.open(start=tmp_path) as opened:
        yield opened


def add(recall: Recall, *targets: Path, **options: Any) -> dict[str, Any]:
    work = recall.add([str(target) for target in targets], Root("", **options))
    while True:
        try:
            next(work)
        except StopIteration as done:
            return dict(done.value["ingest"])


def timeless(response: Any) -> str:
    """Return the response as JSON, without clock-dependent fields."""

    def untimed(table: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in table.items() if key not in ("took_ms", "timings")}

    return json.dumps(json.loads(json.dumps(response), object_hook=untimed))


def chunk_in(recall: Recall, path: str) -> str:
    chunk = recall.query(f"SELECT * FROM chunk FILTER doc.path = '{path}'")["results"][0]["chunk"]
    return str(chunk["id"])


def code_of(error: pytest.ExceptionInfo[RecallError]) -> str:
    return error.value.code


def test_words_with_a_lone_surrogate_are_refused(recall: Recall) -> None:
    for mode in ["hybrid", "lexical", "semantic"]:
        with pytest.raises(UsageError) as caught:
            recall.search("retry \ud800", Ask(mode=mode))
        assert (code_of(caught), caught.value.message) == (
            "bad_value",
            "The words 'retry \\ud800' are not valid UTF-8.",
        ), mode


def test_search_reports_its_provenance_and_its_sum(recall: Recall) -> None:
    response = recall.search("retry backoff", Ask(explain=True))
    best = response["results"][0]
    assert best["doc"]["path"] == "retry.md"
    assert best["chunk"]["text"] == TEXTS["retry.md"][best["chunk"]["offset"] : best["chunk"]["end"]]
    for result in response["results"]:
        assert result["score"] == sum(part["points"] for part in result["explain"]["parts"])


def test_same_query_gives_the_same_bytes(recall: Recall) -> None:
    ask = Ask(explain=True, k=3)
    assert timeless(recall.search("retry", ask)) == timeless(recall.search("retry", ask))


def test_explaining_changes_no_result(recall: Recall) -> None:
    plain, explained = recall.search("retry"), recall.search("retry", Ask(explain=True))
    for result in explained["results"]:
        del result["explain"]
    assert plain["results"] == explained["results"]


def test_query_without_words_finds_nothing_and_warns(recall: Recall) -> None:
    for words in ["", "   ", "!!!"]:
        response = recall.search(words)
        assert (response["results"], response["stats"]["total_hits"]) == ([], 0), words
        assert response["warnings"][0].startswith("W_EMPTY_QUERY: "), words


def test_unknown_word_is_named_and_does_not_dilute_scores(recall: Recall) -> None:
    plain = recall.search("backoff", Ask(mode="lexical"))
    typo = recall.search("backoff zzyzx", Ask(mode="lexical"))
    assert typo["warnings"] == ["W_UNKNOWN_TERM: zzyzx occurs nowhere in this store"]
    assert [result["score"] for result in typo["results"]] == [result["score"] for result in plain["results"]]


def test_broken_full_text_syntax_is_searched_literally_with_a_warning(recall: Recall) -> None:
    response = recall.query("SELECT chunk.text, score FROM chunk USING lexical_fts('retry AND (')")
    assert response["warnings"][0].startswith("W_FTS_SANITIZED: ")
    assert response["results"]


def test_select_returns_the_named_fields(recall: Recall) -> None:
    response = recall.query("SELECT chunk.text, doc.path, score FROM chunk USING lexical('cached') LIMIT 1")
    assert response["results"] == [
        {
            "score": response["results"][0]["score"],
            "doc": {"path": "cache.md"},
            "chunk": {"text": TEXTS["cache.md"]},
            "passage": response["results"][0]["passage"],
            "matched": "words",
        }
    ]


def test_structured_query_needs_no_signal_and_has_no_score(recall: Recall) -> None:
    response = recall.query("SELECT doc.path FROM doc FILTER doc.path GLOB 'notes/*' ORDER BY doc.path DESC")
    assert [result["doc"]["path"] for result in response["results"]] == ["notes/日記.txt", "notes/todo.txt"]
    assert response["stats"]["total_hits"] == 2


def test_total_hits_counts_all_rows_and_next_offset_continues(recall: Recall) -> None:
    response = recall.query("SELECT * FROM chunk USING semantic('retry') LIMIT 2")
    assert (response["stats"]["total_hits"], response["next_offset"]) == (4, 2)
    last = recall.query("SELECT * FROM chunk USING semantic('retry') LIMIT 2 OFFSET 2")
    assert "next_offset" not in last
    assert recall.query("SELECT * FROM chunk LIMIT 0")["results"] == []


MISSED = "SELECT doc.path, score FROM chunk USING lexical('cache'), semantic('buy milk write the tests') LIMIT 1"
RECALLED = f"{MISSED} OPTION sparse_recall ON"
FAR = ("vector_weight=0", "sparse_distance_ceiling=0.95")  # as far as vectors of this embedder are apart


@pytest.fixture
def crowded_store(recall: Recall, tmp_path: Path) -> Recall:
    """Return the store with a long document about caches in every chunk."""
    (tmp_path / "manual.md").write_text("\n\n".join("the cache of all caches " * 70 for _ in range(4)))
    add(recall, tmp_path / "manual.md")
    return recall


def test_recalled_hit_is_marked_and_has_no_next_page(crowded_store: Recall) -> None:
    recall = crowded_store
    response = recall.query(RECALLED, Ask(settings=FAR))
    hit = response["results"][0]
    assert (hit["doc"]["path"], hit["recall_injected"]) == ("notes/todo.txt", True)
    assert (hit["recall"]["reason"], response["sparse"]["reason"]) == ("sparse_doc_recall", "injected")
    best = recall.search("cache", Ask(k=1, mode="lexical"))["results"][0]
    assert hit["recall"]["displaced"] == best["chunk"]["id"]
    assert "next_offset" not in response
    assert response["query"]["plan"]["sparse"] is True


def test_query_without_the_option_is_unchanged(recall: Recall) -> None:
    response = recall.query(MISSED, Ask(settings=FAR, explain=True))
    assert ("sparse" in response, "next_offset" in response) == (False, True)
    assert response["results"][0]["doc"]["path"] == "cache.md"
    assert response["query"]["plan"]["sparse"] is False


def test_explanation_gives_the_reason_for_no_recall(recall: Recall) -> None:
    assert recall.search("retry", Ask(explain=True))["sparse"]["reason"] == "whole_list"
    assert recall.search("retry", Ask(explain=True, mode="lexical", k=1))["sparse"]["reason"] == "no_vector"
    assert recall.search("retry", Ask(explain=True, k=1))["sparse"]["reason"] in ("too_far", "already_present")
    assert "sparse" not in recall.search("retry")
    assert "sparse" not in recall.search("retry", Ask(explain=True, settings=("sparse_recall=false",)))
    assert recall.context("retry", Ask(explain=True), Pack())["sparse"]["reason"] == "whole_list"


def test_context_marks_recalled_chunks(crowded_store: Recall) -> None:
    response = crowded_store.context(None, Ask(settings=FAR), Pack(), rql=RECALLED)
    packed = [(chunk["path"], chunk.get("recall_injected")) for chunk in response["context"]["chunks"]]
    assert packed == [("notes/todo.txt", True)]
    assert response["sparse"]["injections"] == 1


def test_plan_reports_normalization(recall: Recall) -> None:
    def normalizers(fusion: str, normalize: str) -> list[dict[str, Any]]:
        ask = Ask(settings=(f"fusion={fusion}", f"normalize={normalize}"), explain=True)
        response = recall.search("retry", ask)
        return [dict(signal["normalizer"]) for signal in response["query"]["plan"]["signals"]]

    plan = recall.search("retry")["query"]["plan"]["signals"]
    for fusion in ["weighted", "rrf"]:
        by_rank = {"rrf_k": 60} if fusion == "rrf" else {}
        assert normalizers(fusion, "bound") == [
            {"method": "bound", "bound": plan[0]["bound"]} | by_rank,
            {"method": "bound", "bound": 1.0} | by_rank,
        ], fusion
        lexical, semantic = normalizers(fusion, "minmax")
        assert (lexical["pool_size"], semantic["pool_size"]) == (4, 4), fusion
        assert 0 < lexical["low"] < lexical["high"], fusion
        assert -1 <= semantic["low"] < semantic["high"] <= 1, fusion
        assert [each["low"] for each in normalizers(fusion, "max")] == [0.0, 0.0], fusion


def test_named_embedder_reranks_the_best_rows(recall: Recall) -> None:
    ask = Ask(settings=("rerank=hash", "rerank_rows=2", "rerank_weight=0.5"), explain=True)
    response = recall.search("retry backoff", ask)
    assert response["query"]["plan"]["rerank"] == {"model": "hash", "rows": 2, "weight": 0.5}
    assert ["rerank" in result["explain"] for result in response["results"]] == [True, True, False, False]
    for result in response["results"]:
        assert result["score"] == sum(part["points"] for part in result["explain"]["parts"])
    with pytest.raises(RecallError) as error:
        recall.query("SELECT * FROM chunk USING lexical('retry') OPTION rerank nobody")
    assert code_of(error) == "unknown_reranker"


def test_query_with_only_unknown_fields_gives_rows_without_fields(recall: Recall) -> None:
    response = recall.query("SELECT doc.size FROM doc")

    assert (response["results"][0], len(response["warnings"])) == ({}, 1)
    assert recall.explain_rql("SELECT doc.size FROM doc")["explained"]["select"] == []


def test_unknown_reranker_is_found_by_check() -> None:
    with pytest.raises(RqlError) as error:
        Recall.check_rql("SELECT * FROM chunk USING lexical('retry') OPTION rerank nobody")
    assert (error.value.code, error.value.column) == ("unknown_reranker", 51)


def test_setting_applies_to_one_query(recall: Recall) -> None:
    ask = Ask(settings=("fusion=rrf", "bm25_weight=1", "vector_weight=1"), explain=True)
    response = recall.search("retry", ask)
    assert response["query"]["plan"]["fusion"] == "rrf"
    assert "raw_score" in response["results"][0]["explain"]
    assert recall.search("retry")["query"]["plan"]["fusion"] == "weighted"
    with pytest.raises(UsageError) as error:
        recall.search("retry", Ask(settings=("chunk_tokens=9",)))
    assert code_of(error) == "setting_fixed"


QUERY = "SELECT * FROM chunk USING lexical('retry'), semantic('call') LIMIT 2"
ASKED: dict[str, Callable[[Recall, Ask], Any]] = {
    "search": lambda recall, ask: recall.search("retry", ask._replace(explain=True)),
    "query": lambda recall, ask: recall.query(QUERY, ask),
    "context": lambda recall, ask: recall.context("retry", ask, Pack(budget_tokens=60)),
    "explain": lambda recall, ask: recall.explain("retry", chunk_in(recall, "notes/todo.txt"), ask),
    "why_not": lambda recall, ask: recall.why_not("retry", "cache.md", ask._replace(k=1)),
    "trace": lambda recall, ask: recall.trace("retry", ask, Pack(budget_tokens=60)),
    "report": lambda recall, ask: recall.report("retry", ask),
}


def test_settings_as_values_and_texts_give_equal_answers(recall: Recall) -> None:
    texts = ("fusion=rrf", "vector_weight=0.25", "pool=20", "sparse_recall=false", r"separator=\n")
    values: Settings = {
        "fusion": "rrf",
        "vector_weight": 0.25,
        "pool": 20,
        "sparse_recall": False,
        "separator": "\n",
    }

    for name, ask in ASKED.items():
        answer = timeless(ask(recall, Ask(settings=values)))

        assert answer == timeless(ask(recall, Ask(settings=texts))), name
        assert answer != timeless(ask(recall, Ask())), name


def test_every_request_refuses_an_invalid_setting(recall: Recall) -> None:
    invalid: list[tuple[Any, str]] = [
        ({"pool": "x"}, "bad_value"),
        ({"nope": 1}, "unknown_key"),
        ({1: 2}, "unknown_key"),
    ]
    for name, ask in ASKED.items():
        for settings, code in invalid:
            with pytest.raises(ConfigError) as error:
                ask(recall, Ask(settings=settings))
            assert code_of(error) == code, (name, settings)


def test_fixed_setting_is_refused_with_its_command(recall: Recall) -> None:
    for setting, hint in [
        ("embedding=local", "recall reembed local"),
        ("embedding=onnx:my model", "recall reembed 'onnx:my model'"),
        ("embedding=", "recall reembed NAME"),
        ("embedding_dim=64", "recall reembed hash --set embedding_dim=64"),
        ("embedding_model=nomic", "recall reembed hash --set embedding_model=nomic"),
        ("counter=approx", "recall rechunk --counter approx"),
        ("chunk_tokens=9", "recall rechunk --chunk-tokens 9"),
        ("overlap_tokens=9", "recall rechunk --overlap-tokens 9"),
        ("max_chunk_chars=99", "recall rechunk --max-chunk-chars 99"),
        ("max_file_bytes=9", "set max_file_bytes in recall.toml"),
        ("allow_network=true", "set allow_network in recall.toml"),
    ]:
        with pytest.raises(UsageError) as error:
            recall.search("retry", Ask(settings=(setting,)))
        assert (error.value.code, error.value.hint) == ("setting_fixed", hint), setting


def test_changed_or_missing_file_is_marked(recall: Recall) -> None:
    (recall.engine.base / "cache.md").write_text("something else entirely\n")
    (recall.engine.base / "retry.md").unlink()
    response = recall.search("cached retry")
    states = {result["doc"]["path"]: result["doc"].get("state") for result in response["results"]}
    assert (states["cache.md"], states["retry.md"], states["notes/todo.txt"]) == ("modified", "missing", None)
    assert sum(warning.startswith("W_STALE: ") for warning in response["warnings"]) == 2
    with pytest.raises(StaleError) as error:
        recall.search("cached retry", Ask(strict_fresh=True))
    assert error.value.exit_code == 3


def test_stale_file_that_sync_cannot_fix_can_be_removed(recall: Recall) -> None:
    (recall.engine.base / "cache.md").write_bytes(b"\0 no text")
    with pytest.raises(StaleError) as error:
        recall.search("cached", Ask(strict_fresh=True))
    assert error.value.hint == "recall sync, or recall rm cache.md if that skips it"
    with pytest.raises(StaleError) as error:
        recall.search("cached", Ask(fresh=True, strict_fresh=True))
    assert error.value.hint == "recall rm cache.md"
    recall.remove(["cache.md"])
    assert recall.search("cached", Ask(fresh=True, strict_fresh=True))["ok"]


def test_touched_file_with_equal_bytes_is_not_stale(recall: Recall) -> None:
    os.utime(recall.engine.base / "cache.md")
    assert recall.search("cached")["warnings"] == []


def test_fresh_reads_changes_before_answering(recall: Recall) -> None:
    (recall.engine.base / "cache.md").write_text("zeppelins everywhere\n")
    response = recall.search("zeppelins", Ask(fresh=True))
    assert (response["results"][0]["doc"]["path"], response["warnings"]) == ("cache.md", [])


def test_snapshot_is_checked(recall: Recall) -> None:
    digest = recall.search("retry")["stats"]["digest"]
    assert recall.search("retry", Ask(snapshot=digest[:12]))["ok"]
    (recall.engine.base / "new.txt").write_text("new words\n")
    add(recall, recall.engine.base / "new.txt")
    with pytest.raises(SnapshotMismatch) as error:
        recall.search("retry", Ask(snapshot=digest))
    assert error.value.exit_code == 4


def test_store_overrides_a_disagreeing_recall_toml(recall: Recall) -> None:
    toml = recall.engine.base / "recall.toml"
    toml.write_text(toml.read_text().replace("chunk_tokens = 400", "chunk_tokens = 300"))
    with Recall.open(start=recall.engine.base) as other:
        assert other.search("retry")["warnings"][0].startswith("W_CONFIG: recall.toml sets chunker to ")


def test_other_embedder_in_recall_toml_is_reported_with_its_command(recall: Recall) -> None:
    toml = recall.engine.base / "recall.toml"
    toml.write_text(toml.read_text().replace('embedding = "hash"', 'embedding = "local"'))
    with Recall.open(start=recall.engine.base) as other:
        (warning,) = other.search("retry")["warnings"]
    assert warning.startswith("W_CONFIG: recall.toml sets embedder to local, ")
    assert warning.endswith("; the store's value applies until recall reembed local")


def test_adding_again_writes_nothing(recall: Recall) -> None:
    before = recall.stats()["store"]
    counts = add(recall, recall.engine.base)
    assert (counts["unchanged"], counts["embedded"]) == (4, 0)
    assert recall.stats()["store"] == before


def test_get_returns_documents_lines_and_chunks_verbatim(recall: Recall) -> None:
    assert recall.get("cache.md")["found"]["text"] == TEXTS["cache.md"]
    lines = recall.get("cache.md:3-4")["found"]
    assert (lines["text"], lines["line_start"], lines["line_end"]) == (
        "".join(TEXTS["cache.md"].splitlines(True)[2:4]),
        3,
        4,
    )
    assert recall.get("cache.md:1")["found"]["text"] == "# Cache\n"
    chunk = recall.search("cached")["results"][0]["chunk"]
    assert recall.get(chunk["id"][:12])["found"]["chunk"] == chunk
    with pytest.raises(UnknownTarget):
        recall.get("absent.md")
    with pytest.raises(UsageError) as error:
        recall.get("cache.md:9")
    assert code_of(error) == "bad_lines"


def test_removed_documents_disappear_from_every_answer(recall: Recall) -> None:
    assert recall.remove(["retry.md"])["removed"]["documents"] == 1
    assert all(result["doc"]["path"] != "retry.md" for result in recall.search("retry backoff")["results"])
    with pytest.raises(UnknownTarget):
        recall.remove(["cache.md", "absent.md"])
    assert recall.get("cache.md")["ok"]


def test_glob_removes_matching_documents_and_dry_run_lists_them(recall: Recall) -> None:
    for name in ("a/one.md", "a/b/two.md", "a/three.txt", "a/[x].md"):
        place = recall.engine.base / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"Text of {name}.\n")
    add(recall, recall.engine.base / "a")
    before = recall.store.info()

    would = recall.remove(["a/**/*.md", "a/b"], dry_run=True)["removed"]
    assert (would["documents"], would["dry_run"]) == (3, True)
    assert would["paths"] == ["a/[x].md", "a/b/two.md", "a/one.md"]
    assert recall.store.info() == before

    assert recall.remove(["a/[x].md"], dry_run=True)["removed"]["paths"] == ["a/[x].md"]
    done = recall.remove(["a/*.md"])["removed"]
    assert (done["documents"], done["dry_run"], done["paths"]) == (2, False, [])
    assert recall.get("a/b/two.md")["ok"]
    with pytest.raises(UnknownTarget):
        recall.remove(["a/*.md"], dry_run=True)


def test_removed_file_returns_only_when_added_by_name(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("Tea.\n")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        add(recall, tmp_path / "notes")

        recall.remove(["notes/*.md"])
        for _ in range(2):
            (tmp_path / "notes" / "tea.md").write_text("More tea.\n")
            list(recall.sync())
            assert recall.search("tea")["results"] == []
        assert recall.index(str(tmp_path / "notes"))["ingest"]["skipped"][0]["code"] == "left_out"
        assert recall.search("tea")["results"] == []

        recall.index(str(tmp_path / "notes" / "tea.md"))
        assert recall.get("notes/tea.md")["ok"]
        (tmp_path / "notes" / "tea.md").write_text("Even more tea.\n")
        list(recall.sync())
        assert recall.get("notes/tea.md")["found"]["text"] == "Even more tea.\n"

        recall.remove(["notes"])
        list(recall.sync())
        with pytest.raises(UnknownTarget):
            recall.get("notes/tea.md")


def test_removed_records_return_only_with_their_file_by_name(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "text": f"a {name} of tea"}) for name in ("cup", "pot")]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "list.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        add(recall, tmp_path / "data", parser="jsonl")
        for targets in (["data/list.jsonl"], ["data/list.jsonl#cup", "data/list.jsonl#pot"], ["data/*"]):
            recall.remove(targets)
            list(recall.sync())
            assert recall.search("tea")["results"] == []
            recall.index(str(tmp_path / "data" / "list.jsonl"), template=Root("", parser="jsonl"))
            assert len(recall.search("tea")["results"]) == 2

        recall.remove(["data/list.jsonl#cup"])
        (tmp_path / "data" / "list.jsonl").write_text("\n".join([*lines, lines[0].replace("cup", "mug")]))
        list(recall.sync())
        assert [hit["doc"]["path"][-3:] for hit in recall.search("tea")["results"]] == ["mug", "pot"]
        recall.index(str(tmp_path / "data" / "list.jsonl"), template=Root("", parser="jsonl"))
        assert len(recall.search("tea")["results"]) == 3


def test_removed_record_returns_after_a_search_noted_its_file(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "text": f"a {name} of tea"}) for name in ("cup", "pot")))
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        add(recall, tmp_path)
        recall.remove(["list.jsonl#cup"])
        (file,) = recall.store.files()
        recall.store.settle(file, file.stamp._replace(ctime_ns=1))

        recall.index(str(path))

        assert [each for each, _ in recall.store.document_files()] == ["list.jsonl#cup", "list.jsonl#pot"]


def test_file_added_by_name_restores_only_its_own_records(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "text": f"a {name} of tea"}) for name in ("cup", "pot")]
    (tmp_path / "data").mkdir()
    for name, text in (("tea", "plain tea"), ("tea#green", "green tea"), ("list#1.jsonl", "\n".join(lines))):
        (tmp_path / "data" / name).write_text(text, encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path / "data"), template=Root("", globs=("tea*",)))
        recall.index(str(tmp_path / "data"), template=Root("", globs=("*.jsonl",), parser="jsonl"))
        recall.remove(["data/tea", "data/tea#green", "data/list#1.jsonl#cup"])

        recall.index(str(tmp_path / "data" / "tea"))
        recall.index(str(tmp_path / "data" / "list#1.jsonl"), template=Root("", parser="jsonl"))
        list(recall.sync())

        found = {hit["doc"]["path"] for hit in recall.search("tea")["results"]}
        assert found == {"data/tea", "data/list#1.jsonl#cup", "data/list#1.jsonl#pot"}


def test_purge_leaves_no_byte_of_the_text(recall: Recall) -> None:
    secret = recall.engine.base / "secret.txt"
    secret.write_text("the launch code is xylophone seventeen\n" * 50)
    add(recall, secret)
    recall.remove([str(secret)], purge=True)
    recall.close()
    for path in recall.engine.base.glob("recall.db*"):
        assert b"xylophone" not in path.read_bytes(), path
    assert [path.name for path in recall.engine.base.glob("recall.db*")] == ["recall.db"]


def test_purge_reports_a_reader_that_keeps_the_log(recall: Recall) -> None:
    recall.store.db.set_busy_timeout(50)
    with Recall.open(start=recall.engine.base) as reader, reader.store.reading():
        reader.store.info()
        with pytest.raises(RecallError) as error:
            recall.remove(["retry.md"], purge=True)
    assert code_of(error) == "purge_incomplete"


def test_context_fits_every_budget_and_only_grows(recall: Recall) -> None:
    count = counter("approx-2").count
    packed_before: set[tuple[str, int]] = set()
    for budget in range(1, 601, 1 if IS_NIGHT else 9):
        context = recall.context("retry cache notes", Ask(), Pack(budget_tokens=budget))["context"]
        assert count(context["text"]) == context["used_tokens"] <= budget
        points = {(b["path"], at) for b in context["blocks"] for at in range(b["offset"], b["end"])}
        assert packed_before <= points
        packed_before = points
        packed = len(context["chunks"]) + sum(left["count"] for left in context["omitted"])
        assert packed == context["candidates"]
        for block in context["blocks"]:
            assert block["text"] == TEXTS[block["path"]][block["offset"] : block["end"]]


def test_context_accepts_rql_with_its_limit(recall: Recall) -> None:
    rql = "SELECT * FROM chunk USING lexical('retry') LIMIT 1"
    context = recall.context(None, Ask(), Pack(), rql=rql)["context"]
    assert (context["candidates"], len(context["blocks"])) == (1, 1)
    whole = recall.context(None, Ask(), Pack(), rql="SELECT * FROM doc")["context"]
    assert {block["path"] for block in whole["blocks"]} == set(TEXTS)


def test_rows_below_min_score_are_accounted_for(recall: Recall) -> None:
    ask = Ask(settings=("min_score=0.2",), mode="lexical")
    context = recall.context("retry backoff", ask, Pack())["context"]
    reasons = {left["reason"]: left["count"] for left in context["omitted"]}
    assert reasons["below_min_score"] + len(context["chunks"]) == context["candidates"]


def test_documents_below_min_score_count_nowhere(tmp_path: Path) -> None:
    texts = {"a": "red red red\n\nred red sea", "b": "red red tea\n\na plain jug", "c": "red tea cup"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "rest.txt").write_text("\n\n".join(f"the word {n}" for n in range(20)), encoding="utf-8")
    Recall.init(str(tmp_path), settings=("chunk_tokens=3", "overlap_tokens=0"))
    rql = "SELECT doc.path, score FROM doc USING lexical('red')"
    with Recall.open(str(tmp_path)) as recall:
        add(recall, tmp_path)
        whole = recall.query(rql)["results"]
        least = f"{rql} OPTION min_score {whole[1]['score']}"
        page = recall.query(f"{least} LIMIT 2")
        context = recall.context(None, Ask(), Pack(), rql=least)["context"]
        (left,) = context["omitted"]
        kept = {each["stage"]: each["rows_out"] for each in recall.trace(None, rql=least)["trace"]["stages"]}
    assert len(whole) == 3
    assert [row["doc"]["path"] for row in page["results"]] == [row["doc"]["path"] for row in whole[:2]]
    assert (page["stats"]["total_hits"], "next_offset" in page) == (2, False)
    assert (context["candidates"], len(context["chunks"])) == (3, 2)
    assert (left["reason"], left["rank"], left["count"]) == ("below_min_score", 3, 1)
    assert (kept["documents"], kept["kept"]) == (3, 2)


def test_pins_come_first_and_drops_stay_out(recall: Recall) -> None:
    chunks = {result["doc"]["path"]: result["chunk"]["id"] for result in recall.search("retry", Ask(k=4))["results"]}
    pack = Pack(pins=(chunks["cache.md"],), drops=(chunks["retry.md"][:10],))
    context = recall.context("retry", Ask(), pack)["context"]
    assert context["blocks"][0]["path"] == "cache.md"
    assert [left["path"] for left in context["omitted"] if left["reason"] == "dropped"] == ["retry.md"]
    with pytest.raises(UsageError):
        recall.context("retry", Ask(), Pack(pins=("feedfacefeed",)))


def test_init_keeps_existing_settings(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text("chunk_tokens = 100\noverlap_tokens = 10\n")
    assert Recall.init(str(tmp_path))["store"]["chunker"].endswith(":100:10:6000")
    assert (tmp_path / "recall.toml").read_text() == "chunk_tokens = 100\noverlap_tokens = 10\n"
    with pytest.raises(RecallError) as error:
        Recall.init(str(tmp_path))
    assert code_of(error) == "store_exists"


@pytest.mark.parametrize("mode", ["rank", "optimal"])
def test_empty_document_is_omitted_from_a_context_with_a_reason(tmp_path: Path, mode: str) -> None:
    (tmp_path / "a.txt").write_text("some words", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "a.txt"), str(tmp_path / "empty.txt")], Root(folder="")))

        context = recall.context(None, Ask(settings=(f"pack={mode}",)), Pack(), rql="SELECT * FROM doc")["context"]

    left = [(each["path"], each["reason"]) for each in context["omitted"]]
    assert ([block["path"] for block in context["blocks"]], left) == (["a.txt"], [("empty.txt", "empty")])
    assert context["candidates"] == 2


def test_reranker_is_reused_until_the_embedder_changes(recall: Recall) -> None:
    asked = recall.config._replace(rerank="hash")
    kept = recall.engine.reranker(asked)
    recall.engine.config = recall.config._replace(pool=7)
    assert recall.engine.reranker(asked) is kept

    recall.engine.config = recall.config._replace(allow_network=True)

    assert recall.engine.reranker(asked) is not kept
