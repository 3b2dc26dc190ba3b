"""`recall diff` in process: sides, moves, causes, gates, and incomparable requests."""

from __future__ import annotations

import io
import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.compare import configure
from recall_core.config import Config
from recall_core.errors import ConfigError
from recall_core.retrieve import pool
from tests.contracts import validator

FILES = {
    "a.md": "# Retry\n\nRetry with backoff, then give up.\n",
    "b.md": "A retry budget for every client. The client counts.\n",
    "c.md": "Clients are told to slow down.\n",
    "d.md": "Budgets and retries: a retried call costs twice.\n",
    **{f"other/{n}.md": f"Nothing of that, number {n} of the rest.\n" for n in range(5)},
}


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def run_diff(*argv: str) -> dict[str, Any]:
    code, out, _ = run(*argv, "--json")
    response: dict[str, Any] = json.loads(out)
    validator().validate(response)
    assert code in (0, 7), response
    diff: dict[str, Any] = response["diff"]
    return diff


def refusal(*argv: str) -> str:
    code, out, _ = run(*argv, "--json")
    assert code in (1, 2)
    refused: str = json.loads(out)["error"]["code"]
    return refused


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    assert run("init", str(folder), "--embedding", "hash")[0] == 0
    assert run("--store", str(folder), "add", str(folder))[0] == 0


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    fill(template, FILES)
    (template / "q.tsv").write_text("q1\tretry budget\nq2\tclient\n")
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(copytree(template, tmp_path, dirs_exist_ok=True))


def test_configuration_equals_itself(home: Path) -> None:
    for settings in ["vector_weight=0.1", "bm25_weight=0.9,vector_weight=0.1"]:
        diff = run_diff("diff", "retry budget", "--b", settings)

        assert (diff["rbo"], diff["jaccard"], diff["queries_changed"], diff["firsts_changed"]) == (1.0, 1.0, 0, 0), (
            settings
        )
        assert diff["a"]["settings"] == diff["b"]["settings"] == {}, settings
        assert {move["kind"] for move in diff["moves"]} == {"same"}, settings
        assert all(move["causes"] == move["absent"] == [] and move["delta"] == 0 for move in diff["moves"]), settings


def test_every_score_change_is_the_sum_of_its_causes(home: Path) -> None:
    for settings in [
        "vector_weight=0.8,bm25_weight=0.2",
        "fusion=rrf",
        "normalize=minmax",
        "title_weight=9",
        "lexical_model=bm25f",
    ]:
        diff = run_diff("diff", "retry budget backoff", "--b", settings)

        split = [move for move in diff["moves"] if move["causes"]]
        assert split, settings
        for move in diff["moves"]:
            assert sum(cause["points"] for cause in move["causes"]) == pytest.approx(move["delta"], abs=1e-9), (
                settings
            )
            assert move["delta"] == move["b"]["score"] - move["a"]["score"], settings
            assert [each["signal"] for each in move["subtotals"]] == ["lexical", "semantic"], settings
            for side in ("a", "b"):
                total = sum(each[side] for each in move["subtotals"])
                assert total == pytest.approx(move[side]["score"], abs=1e-12), settings
            assert sum(each["delta"] for each in move["subtotals"]) == pytest.approx(move["delta"], abs=1e-12), (
                settings
            )


def test_causes_name_the_changed_settings(home: Path) -> None:
    def factors(settings: str) -> set[str]:
        return {
            cause["factor"]
            for move in run_diff("diff", "retry", "--b", settings)["moves"]
            for cause in move["causes"]
        }

    assert factors("vector_weight=0.5") == {"weights"}
    assert factors("normalize=max") == {"normalizer"}
    assert factors("fusion=rrf") == {"fusion"}
    assert factors("title_weight=9") == {"lexical"}


def test_rows_appear_in_search_order(home: Path) -> None:
    settings = ("vector_weight=1", "bm25_weight=0")
    diff = run_diff("diff", "retry client", "--b", ",".join(settings), "--k", "3")

    for side, flags in (("a", ()), ("b", settings)):
        _, out, _ = run("search", "retry client", "--k", "3", "--json", *(f"--set={each}" for each in flags))
        listed = [(hit["chunk"]["id"], hit["score"]) for hit in json.loads(out)["results"]]
        shown = {move[side]["rank"]: (move["chunk"]["id"], move[side]["score"]) for move in diff["moves"]}
        assert [shown[rank] for rank in (1, 2, 3)] == listed


def test_row_dropped_by_a_threshold_is_a_set_change(home: Path) -> None:
    for cause in ("min_score", "min_cosine"):
        diff = run_diff("diff", "retry", "--b", f"{cause}=0.3")

        gone = [move for move in diff["moves"] if move["kind"] == "gone"]
        assert gone, cause
        assert all(move["absent"] == [{"side": "b", "cause": cause}] for move in gone)
        assert all(move["b"]["rank"] is None and move["causes"] == [] for move in gone)
        assert diff["sets"] == [{"side": "b", "cause": cause, "rows": len(gone)}]


def test_row_without_all_words_is_no_match(home: Path) -> None:
    diff = run_diff("diff", "retry client", "--bm25", "--b", "match=all")

    assert {(each["side"], each["cause"]) for each in diff["sets"]} == {("b", "no_match")}


def test_row_outside_a_bounded_pool_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "EXACT_VECTORS", 0)

    diff = run_diff("diff", "retry client", "--b", "pool=1", "--no-sparse")

    assert {(each["side"], each["cause"]) for each in diff["sets"]} == {("b", "pool")}


def test_filter_failing_in_one_store_is_reported(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    other.mkdir()
    fill(other, FILES)
    assert run("add", "a.md", "--tag", "x")[0] == run("add", "b.md", "--tag", "x")[0] == 0
    assert run("--store", str(other), "add", str(other / "a.md"), "--tag", "x")[0] == 0

    diff = run_diff("diff", "retry", "--b-store", str(other), "--filter", "doc.tag = 'x'")

    absent = {move["doc"]["path"]: move["absent"] for move in diff["moves"]}
    assert absent == {"a.md": [], "b.md": [{"side": "b", "cause": "filter"}]}


def test_row_replaced_by_sparse_recall_is_reported(home: Path) -> None:
    (home / "long.md").write_text("\n\n".join("retry client " * 150 for _ in range(4)))
    assert run("add", "long.md")[0] == 0

    diff = run_diff(
        "diff", "retry client", "--k", "2", "--a", "sparse_recall=false", "--b", "sparse_distance_ceiling=2"
    )

    assert [move["kind"] for move in diff["moves"] if "injected" in move["b"]] == ["new"]
    assert [move["kind"] for move in diff["moves"] if "displaced" in move["b"]] == ["gone"]


def test_two_stores_are_compared_by_path_and_text(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    other.mkdir()
    fill(other, {**FILES, "b.md": "A retry budget, rewritten.\n", "e.md": "A retry nobody else has.\n"})
    (other / "d.md").unlink()
    assert run("--store", str(other), "sync")[0] == 0

    diff = run_diff("diff", "retry", "--b-store", str(other))

    by_path = {move["doc"]["path"]: move for move in diff["moves"]}
    assert diff["a"]["store"] != diff["b"]["store"]
    assert by_path["a.md"]["absent"] == []
    assert by_path["b.md"]["chunk"]["text"] == "A retry budget, rewritten.\n"
    assert by_path["d.md"]["absent"] == [{"side": "b", "cause": "store"}]
    assert by_path["e.md"]["absent"] == [{"side": "a", "cause": "store"}]
    for move in diff["moves"]:
        if move["delta"] is not None:
            assert sum(cause["points"] for cause in move["causes"]) == pytest.approx(move["delta"], abs=1e-9)


def test_document_queries_and_unscored_rows_can_be_compared(home: Path) -> None:
    query = "SELECT * FROM doc USING lexical('retry') LIMIT 3"
    diff = run_diff("diff", "--rql", query, "--b", "title_weight=9")
    assert diff["moves"]
    assert "chunk" not in diff["moves"][0]

    plain = run_diff("diff", "--rql", "SELECT * FROM chunk FILTER doc.path != 'a.md'", "--b", "vector_weight=1")
    assert {(move["kind"], move["delta"]) for move in plain["moves"]} == {("same", None)}


def test_query_set_has_means_and_lists_changed_queries_first(home: Path) -> None:
    diff = run_diff("diff", "--queries", "q.tsv", "--b", "vector_weight=1,bm25_weight=0", "--k", "2")

    each = [
        run_diff("diff", words, "--b", "vector_weight=1,bm25_weight=0", "--k", "2")
        for words in ("retry budget", "client")
    ]
    assert diff["queries"] == 2
    assert diff["rbo"] == pytest.approx(sum(one["rbo"] for one in each) / 2)
    assert diff["rbo_min"] == min(one["rbo"] for one in each)
    assert diff["queries_changed"] == len(diff["changed"]) == sum(one["queries_changed"] for one in each)
    assert [one["rbo"] for one in diff["changed"]] == sorted(one["rbo"] for one in diff["changed"])
    assert "moves" not in diff


def test_failed_gate_exits_7(home: Path) -> None:
    assert run("diff", "retry", "--b", "vector_weight=0.1", "--gate", "rbo>=1,firsts_changed=0")[0] == 0
    code, out, _ = run("diff", "retry", "--b", "min_score=0.9", "--gate", "rbo>=.9, rbo_min>=.9")
    assert code == 7
    assert out.splitlines()[-1].startswith("gate     rbo_min>=.9")
    assert out.splitlines()[-1].endswith("FAILS")


def test_both_lists_appear_side_by_side(home: Path) -> None:
    _, out, _ = run("diff", "retry client", "--b", "vector_weight=1,bm25_weight=0", "--k", "3")

    rows = [line for line in out.splitlines() if " | " in line]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert len({row.index(" | ") for row in rows}) == 1


def test_files_set_everything_and_later_files_win(home: Path) -> None:
    (home / "other.toml").write_text('fusion = "rrf"\nchunk_tokens = 7\noverlap_tokens = 1\n')

    config = configure(Config(pool=5), ["other.toml", "rrf_k=3,min_score=0.1"])

    assert (config.fusion, config.rrf_k, config.min_score) == ("rrf", 3, 0.1)
    assert (config.pool, config.chunk_tokens) == (Config().pool, Config().chunk_tokens)


def test_incomparable_requests_are_refused(home: Path) -> None:
    assert refusal("diff", "retry") == "missing_argument"
    assert refusal("diff", "--b", "fusion=rrf") == "missing_argument"
    assert refusal("diff", "retry", "--queries", "q.tsv", "--b", "fusion=rrf") == "unexpected_argument"
    assert refusal("diff", "retry", "--b", "nowhere.toml") == "config_invalid"
    assert refusal("diff", "retry", "--b", "chunk_tokens=9") == "setting_fixed"
    assert refusal("diff", "retry", "--b", "fusion=rrf", "--gate", "ndcg@10>=.3") == "bad_gate"
    with pytest.raises(ConfigError):
        configure(Config(), ["nowhere.toml"])
