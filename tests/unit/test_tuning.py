"""`recall tune` in process: recommendations help, uncertain results are refused, pins hold."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.errors import RecallError
from recall_core.evaluate.measures import differing, parse_grid
from recall_core.evaluate.tune import TuneOptions, tune
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from tests.contracts import validator

TUNE = ("tune", "--queries", "q.tsv", "--qrels", "r.txt")
QUERIES = 14
IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def ask(*argv: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(*argv, "--json")
    response: dict[str, Any] = json.loads(out)
    return code, response


def word(rng: random.Random) -> str:
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(5))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(4)
    template: Path = tmp_path_factory.mktemp("made")
    docs = template / "docs"
    docs.mkdir()
    queries, relevant, decoys = [], [], []
    for number in range(QUERIES):
        rare, usual = word(rng), word(rng)
        (docs / f"good{number}.md").write_text(f"{rare} {rare}ke {rare}\n")
        (docs / f"decoy{number}.md").write_text(f"{usual} {' '.join(word(rng) for _ in range(40))}\n")
        queries.append(f"q{number}\t{rare}x {rare}q {rare}v {usual}\n")
        relevant.append(f"q{number} 0 good{number} 1\n")
        decoys.append(f"q{number} 0 {rng.choice(['good', 'decoy'])}{rng.randrange(QUERIES)} 1\n")
    (template / "q.tsv").write_text("".join(queries))
    (template / "nine.tsv").write_text("".join(queries[:9]))
    (template / "r.txt").write_text("".join(relevant))
    (template / "random.txt").write_text("".join(decoys))
    with contextlib.chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "docs")[0] == 0
    return template


@pytest.fixture(scope="module")
def tune_response(template: Path) -> dict[str, Any]:
    """Return the response of a plain tune of the unchanged store."""
    with contextlib.chdir(template):
        code, response = ask(*TUNE)
    assert code == 0
    return response


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store; its queries misspell the word of the relevant document, and a decoy has a common word."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def measure(*settings: str) -> float:
    flags = [part for setting in settings for part in ("--set", setting)]
    _, response = ask("eval", "--queries", "q.tsv", "--qrels", "r.txt", "--metrics", "ndcg@10", *flags)
    mean: float = response["evaluation"]["modes"][0]["measures"][0]["mean"]
    return mean


def test_recommended_settings_measure_as_predicted(home: Path, tune_response: dict[str, Any]) -> None:
    view = tune_response["tuning"]["judged"]
    chosen = view["recommended"]
    assert measure() == pytest.approx(view["current"], abs=1e-6)
    assert measure(*(f"{key}={value}" for key, value in chosen["settings"].items())) == pytest.approx(
        chosen["mean"], abs=1e-6
    )
    assert chosen["mean"] > view["current"] + 0.1


def test_apply_writes_the_weights_and_keeps_the_comments(home: Path) -> None:
    toml = home / "recall.toml"
    toml.write_text("# mine\nbm25_weight = 0.9  # for words\n")

    _, response = ask(*TUNE, "--apply")

    settings = response["tuning"]["judged"]["applied"]["settings"]
    text = toml.read_text()
    assert text.startswith("# mine\n")
    assert f"bm25_weight = {settings['bm25_weight']}  # for words" in text
    assert f"semantic_weight = {settings['vector_weight']}" in text
    assert measure() == pytest.approx(response["tuning"]["judged"]["recommended"]["mean"], abs=1e-6)


def test_uncertain_result_is_refused_and_not_applied(home: Path) -> None:
    for queries, qrels, code in [("q.tsv", "random.txt", "not_significant"), ("nine.tsv", "r.txt", "few_queries")]:
        before = (home / "recall.toml").read_text()

        exit_code, response = ask("tune", "--queries", queries, "--qrels", qrels, "--apply")

        view = response["tuning"]["judged"]
        assert exit_code == 7, queries
        assert (view["recommended"], view["refused"]["code"]) == (None, code), queries
        assert "applied" not in view, queries
        assert (home / "recall.toml").read_text() == before, queries


def test_stored_judgements_work_without_files(home: Path, tune_response: dict[str, Any]) -> None:
    assert run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")[0] == 0

    assert ask("tune")[1]["tuning"] == tune_response["tuning"]


def test_every_answer_fits_the_contract_and_the_curve_averages(home: Path) -> None:
    _, judged = ask(*TUNE, "--sweep", "--grid", "normalize=max,minmax", "--grid", "fusion=rrf,weighted")
    answers = [judged, ask("tune", "some words", "--sweep")[1], ask("tune", "words", "--pin", "docs/good1.md")[1]]

    for answer in answers:
        validator().validate(answer)
    view = judged["tuning"]["judged"]
    assert len(view["combinations"]) == 4
    assert len(view["curve"]["weights"]) == len(view["curve"]["means"]) + 1
    assert max(view["curve"]["means"]) == view["best"] == max(each["best"] for each in view["combinations"])


def test_grid_recommends_the_settings_it_measured(home: Path) -> None:
    _, response = ask(*TUNE, "--grid", "normalize=max,minmax", "--grid", "title_weight=1,3")

    chosen = response["tuning"]["judged"]["recommended"]
    assert measure(*(f"{key}={value}" for key, value in chosen["settings"].items())) == pytest.approx(
        chosen["mean"], abs=1e-6
    )


def test_every_combination_equals_a_separate_run(home: Path) -> None:
    grid = ("normalize=max,minmax", "fusion=weighted,rrf", "rrf_k=10,60", "title_weight=1,3", "match=any,all")
    _, response = ask(*TUNE, *(part for axis in grid for part in ("--grid", axis)))

    tried = response["tuning"]["judged"]["combinations"]
    assert len(tried) == 1 + 4 * 4
    for each in tried if IS_NIGHT else tried[::8]:
        _, alone = ask(
            *TUNE, *(part for pair in each["settings"].items() for part in ("--set", "=".join(map(str, pair))))
        )
        own = alone["tuning"]["judged"]["combinations"][0]
        shared = ("cells", "best", "best_weights")
        assert [each[key] for key in shared] == [own[key] for key in shared]


class Counting:
    """An asker that counts its searches."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.searches = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def answer(self, plan: Plan) -> Answer:
        self.searches += 1
        return self.engine.answer(plan)


def test_combinations_with_equal_candidates_share_one_search_per_query(home: Path) -> None:
    options = TuneOptions(
        Path("q.tsv"),
        Path("r.txt"),
        grid=("normalize=bound,max,minmax", "fusion=weighted,rrf", "rrf_k=10,60", "title_weight=1,3"),
    )
    with Recall.open() as recall:
        asker = Counting(recall.engine.once())
        list(tune(options, asker, Ask(), toml=recall.engine.toml))

    assert asker.searches == 2 * QUERIES


def test_page_shows_the_curve_the_plateau_and_the_verdict(home: Path) -> None:
    code, out, _ = run(*TUNE, "--sweep")

    lines = out.splitlines()
    names = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert code == 0
    assert lines[0].startswith("ndcg@10 ")
    assert "█" in lines[0]
    assert "=" in lines[1]
    assert lines[2].index("^") == 12 + int(0.1 * 64)
    assert names[-1] == "recommended"


def page(*argv: str) -> dict[str, str]:
    """Return the lines of a page by their labels."""
    lines = run(*argv)[1].splitlines()
    return {line[:12].strip(): line[12:] for line in lines if line[:12].strip()}


def test_page_shows_expected_gain_and_the_sure_small_change(home: Path) -> None:
    pinned = ("--set", "lexical_model=fts5", "--set", "title_weight=3")
    sure, unsure = page(*TUNE, *pinned), page("tune", "--queries", "q.tsv", "--qrels", "random.txt", *pinned)

    assert sure["expected"] == "+0.3440  on new queries, corrected for picking the best"
    assert sure["to confirm"] == "judged queries: no more for +0.3691, no more for +0.3440"
    assert sure["safer step"] == (
        "lexical_weight=0.6 semantic_weight=0.4  +0.1318  95 % +0.0527 to +0.2373  p 0.049  +0.0526 expected"
    )
    assert "detectable" not in sure
    assert unsure["detectable"] == "gains of 0.0159 or more, in 4 of 5 cases with 14 queries"
    assert unsure["to confirm"] == "judged queries: 17 more for +0.0107"
    assert "safer step" not in unsure


def test_surer_step_measures_as_predicted(home: Path, tune_response: dict[str, Any]) -> None:
    step = tune_response["tuning"]["judged"]["surer_step"]

    found = measure(*(f"{key}={value}" for key, value in step["settings"].items()))
    assert found == pytest.approx(step["mean"], abs=1e-6)
    assert found - measure() == pytest.approx(step["gain"], abs=1e-6)


def test_few_queries_have_no_surer_step(home: Path) -> None:
    _, response = ask("tune", "--queries", "nine.tsv", "--qrels", "r.txt")

    assert response["tuning"]["judged"]["surer_step"] is None


def test_expected_gain_decides_the_recommendation(home: Path) -> None:
    for qrels in ("r.txt", "random.txt"):
        view = ask("tune", "--queries", "q.tsv", "--qrels", qrels)[1]["tuning"]["judged"]
        assert view["expected_gain"] <= view["gain"]
        assert view["recommended"] is None or view["expected_gain"] > 0


def test_pins_hold_in_a_search_with_the_proposed_weights(home: Path) -> None:
    text = (home / "q.tsv").read_text().split("\n")[0].split("\t")[1]

    code, response = ask("tune", text, "--pin", "docs/good0.md", "--pin-not", "docs/decoy0.md", "--k", "1")

    view = response["tuning"]["pinned"]
    flags = [part for key, value in view["proposed"]["settings"].items() for part in ("--set", f"{key}={value}")]
    _, found = ask("search", text, "--k", "1", *flags)
    assert code == 0
    assert [wish["holds"] for wish in view["wishes"]] == [False, False]
    assert view["proposed"]["confirmed"]
    assert [hit["doc"]["path"] for hit in found["results"]] == ["docs/good0.md"]


def test_contradictory_pins_are_named(home: Path) -> None:
    text = (home / "q.tsv").read_text().split("\n")[0].split("\t")[1]

    pins = ("--pin-not", "docs/good5.md", "--pin", "docs/good0.md", "--pin", "docs/decoy0.md:1")
    code, response = ask("tune", text, *pins, "--k", "1")

    view = response["tuning"]["pinned"]
    assert code == 7
    assert (view["weights"], view["proposed"]) == ([], None)
    assert [view["wishes"][place]["target"] for place in view["conflict"]] == ["docs/good0.md", "docs/decoy0.md:1"]


def test_pin_without_a_target_is_an_unknown_target(home: Path) -> None:
    assert ask("tune", "words", "--pin", "docs/nowhere.md")[0] == 8


def place(rows: list[str], row: str) -> int | None:
    return rows.index(row) + 1 if row in rows else None


def test_break_points_are_where_search_changes_its_rows(home: Path) -> None:
    text = (home / "q.tsv").read_text().split("\n")[0].split("\t")[1]

    def rows(weight: float) -> list[str]:
        flags = ("--set", f"bm25_weight={1 - weight}", "--set", f"vector_weight={weight}")
        return [hit["chunk"]["id"] for hit in ask("search", text, "--k", "4", "--no-sparse", *flags)[1]["results"]]

    points = ask("tune", text, "--k", "4", "--sweep")[1]["tuning"]["sweep"]["break_points"]
    inner = [point for point in points if 0 < point["weight"] < 1]
    assert inner
    for point in inner:
        before, after = rows(point["weight"] - 1e-5), rows(point["weight"] + 1e-5)
        shifts = {(each, place(before, each), place(after, each)) for each in {*before, *after}}
        assert {(each["id"], each["before"], each["after"]) for each in point["changes"]} == {
            shift for shift in shifts if shift[1] != shift[2]
        }


def test_moving_row_is_cited_as_in_search(home: Path) -> None:
    text = (home / "q.tsv").read_text().split("\n")[0].split("\t")[1]
    for page in (home / "docs").glob("*.md"):
        (home / "docs" / f"{page.stem}.html").write_text(f"<h1>Page</h1>\n\n<p>{page.read_text()}x</p>\n")
        page.unlink()
    run("sync")
    places = {
        hit["chunk"]["id"]: hit["chunk"].get("place")
        for hit in ask("search", text, "--k", "20", "--no-sparse", "--all-copies")[1]["results"]
    }

    points = ask("tune", text, "--k", "4", "--sweep")[1]["tuning"]["sweep"]["break_points"]
    _, out, _ = run("tune", text, "--k", "4", "--sweep")

    shifts = [each for point in points for each in point["changes"]]
    assert shifts
    assert {each["id"]: each["place"] for each in shifts}.items() <= places.items()
    assert all(f"{each['path']}#{each['place'].replace(' ', '=')}" in out for each in shifts)
    assert ".html:" not in out


def test_rows_ranked_by_one_signal_have_no_weight(home: Path) -> None:
    code, response = ask("tune", "--rql", "SELECT doc.path FROM doc USING lexical('words')", "--sweep")

    assert (code, response["error"]["code"]) == (2, "one_signal")


def test_documents_of_a_query_are_swept_as_documents(home: Path) -> None:
    rql = "SELECT doc.path FROM doc USING lexical('baba'), semantic('baba') LIMIT 3"

    view = ask("tune", "--rql", rql)[1]["tuning"]["sweep"]

    assert (view["k"], view["candidates"]) == (3, 2 * QUERIES)
    assert "break_points" not in view


def test_conflicting_flags_are_refused(home: Path) -> None:
    for argv in [
        (*TUNE, "--pin", "x"),
        ("tune", "words", "--apply"),
        ("tune", "words", "--sweep", "--pin", "x"),
        (*TUNE, "--apply", "--set", "normalize=max"),
        (*TUNE, "--metric", "ndcg"),
        (*TUNE, "--metric", "p@101"),
        (*TUNE, "--grid", "budget_tokens=3"),
        (*TUNE, "--grid", "normalize="),
        (*TUNE, "--grid", "normalize=loud"),
    ]:
        code, response = ask(*argv)

        assert code == 2, argv
        assert response["error"]["code"] in {"conflicting_flags", "bad_value"}, argv


def test_equal_rankings_are_tried_once_starting_with_current_settings() -> None:
    config = Config()

    tried = parse_grid(["fusion=weighted,rrf", "rrf_k=10,60", "bm25_k1=.9,1.2", "normalize=bound,max"], config)

    assert tried[0] == config
    assert [differing(each, config) for each in tried[1:]] == [
        {"normalize": "max"},
        {"fusion": "rrf", "rrf_k": 10},
        {"fusion": "rrf"},
    ]


def test_excessively_large_grid_is_refused() -> None:
    with pytest.raises(RecallError, match="the limit is 200"):
        parse_grid([f"rrf_k={','.join(map(str, range(201)))}"], Config())


def test_single_query_reports_settings_outside_its_sweep(home: Path) -> None:
    for how in [["--sweep"], ["--pin", "docs/good1.md"], ["--k", "3"]]:
        _, plain = ask("tune", "some words", *how)
        settings = ("--set=rerank=hash", "--set=min_score=0.1", "--set=min_cosine=0.2")
        _, response = ask("tune", "some words", *how, *settings)

        assert not any("W_NOT_SWEPT" in warning for warning in plain["warnings"]), how
        assert [warning for warning in response["warnings"] if "W_NOT_SWEPT" in warning] == [
            "W_NOT_SWEPT: rerank=hash is ignored in the sweep of weights",
            "W_NOT_SWEPT: min_score=0.1 is ignored in the sweep of weights",
            "W_NOT_SWEPT: min_cosine=0.2 is ignored in the sweep of weights",
        ], how


def test_judged_queries_report_settings_outside_their_sweep(home: Path) -> None:
    _, response = ask(*TUNE, "--set", "min_score=0.1")

    assert "W_NOT_SWEPT: min_score=0.1 is ignored in the sweep of weights" in response["warnings"]


def test_query_with_its_own_min_score_warns_too(home: Path) -> None:
    rql = "SELECT doc.path FROM chunk USING lexical('some words'), semantic('some words') OPTION min_score 0.1"

    _, response = ask("tune", "--rql", rql)

    assert any("W_NOT_SWEPT: min_score" in warning for warning in response["warnings"])
