"""The account of a context on the command line, and packing for value with pins, drops and RQL."""

from __future__ import annotations

import io
import json
from contextlib import chdir
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from tests.contracts import validator

LONG = "A retry budget is kept by every client of this system. " * 8
FILES = {
    "long.md": LONG + "\n",
    "short.md": "Retry with a budget.\n",
    "other.md": "A client counts its retries.\n",
    "twin.md": "A client counts its retries.\n",
    **{f"filler{n}.md": f"Filler number {n} says nothing at all.\n" for n in range(6)},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    for name, text in FILES.items():
        (template / name).write_text(text)
    with chdir(template):
        assert run("init", "--embedding", "hash", "--set", "pack_counter=whitespace")[0] == 0
        assert run("add", ".")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def context(*argv: str) -> dict[str, Any]:
    code, out, _ = run("context", *argv, "--json")
    assert code == 0, out
    response: dict[str, Any] = json.loads(out)
    validator().validate(response)
    view: dict[str, Any] = response["context"]
    return view


def paths(view: dict[str, Any]) -> list[str]:
    return [chunk["path"] for chunk in view["chunks"]]


def test_optimal_packing_prefers_value_per_token(home: Path) -> None:
    rank = context("retry budget client", "--budget-tokens", "30", "--explain")
    optimal = context("retry budget client", "--budget-tokens", "30", "--explain", "--pack", "optimal")

    assert rank["account"]["value"] < optimal["account"]["value"] <= optimal["account"]["bound"]
    assert {each["path"] for each in rank["account"]["alternative"]["adds"]} == {*paths(optimal)} - {*paths(rank)}
    assert not any(block["truncated"] for block in optimal["blocks"])


def test_alternative_counts_its_own_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(12):
        rest = "x " * (40 + 7 * number)
        sections = (
            f'<h2 id="section-{number}-{n}">{n}</h2><p>The wombat digs burrow {n}. {rest}</p>' for n in range(6)
        )
        (tmp_path / f"{number}.html").write_text("".join(sections))
    assert run("init", "--embedding", "hash")[0] == 0
    assert run("add", ".")[0] == 0
    compared = 0
    for budget in ("250", "400", "700"):
        rank = context("wombat burrows", "--budget-tokens", budget, "--explain")
        optimal = context("wombat burrows", "--budget-tokens", budget, "--explain", "--pack", "optimal")
        assert optimal["blocks"][0]["place"].startswith("id section-"), budget
        if (other := rank["account"].get("alternative")) is not None:
            assert other["used_tokens"] == optimal["used_tokens"], budget
            assert other["value"] == optimal["account"]["value"], budget
            compared += 1
    assert compared


def test_flag_and_setting_are_equivalent(home: Path) -> None:
    words = ("retry client", "--budget-tokens", "25")
    assert context(*words, "--pack", "optimal") == context(*words, "--set", "pack=optimal")
    assert context(*words, "--pack", "rank", "--set", "pack=optimal") == context(*words)


def test_optimal_packing_accepts_queries_pins_and_drops(home: Path) -> None:
    query = "SELECT * FROM chunk USING lexical('retry')"
    found = json.loads(run("search", "filler number 3", "--json", "--k", "1")[1])["results"][0]["chunk"]["id"]
    best = context("--rql", query, "--pack", "optimal", "--budget-tokens", "20")["chunks"][0]["id"]

    pinned = context("retry", "--pack", "optimal", "--budget-tokens", "20", "--pin", found, "--drop", best)

    assert found in [chunk["id"] for chunk in pinned["chunks"]]
    assert best not in [chunk["id"] for chunk in pinned["chunks"]]
    assert ("dropped", best) in [(left["reason"], left["id"]) for left in pinned["omitted"]]


def test_near_duplicates_are_reported_and_kept(home: Path) -> None:
    view = context("client counts retries", "--budget-tokens", "400", "--explain", "--all-copies")

    (twins,) = view["account"]["duplicates"]
    assert twins["wasted_tokens"] == 5
    assert {"other.md", "twin.md"} <= {*paths(view)}


def test_words_missing_from_every_packed_chunk_are_named(home: Path) -> None:
    _, out, err = run("context", "retry filler", "--budget-tokens", "6", "--explain")

    assert out == run("context", "retry filler", "--budget-tokens", "6")[1]
    assert "not in the context: " in err
    coverage = context("retry filler", "--budget-tokens", "6", "--explain")["account"]["coverage"]
    assert 0 < coverage["share"] < 1
    assert [term["packed"] for term in coverage["terms"]].count(True) == 1


def test_word_of_no_document_does_not_lower_coverage(home: Path) -> None:
    known, both = (context(words, "--explain")["account"]["coverage"] for words in ("retry", "retry unheard"))

    assert both == known
    assert [term["text"] for term in both["terms"]] == ["retry"]


def test_query_without_known_words_has_no_coverage(home: Path) -> None:
    assert "coverage" not in context("unheard", "--explain")["account"]
    assert "coverage" not in context("--rql", "SELECT * FROM chunk", "--explain")["account"]
    matching_nothing = "SELECT * FROM chunk USING lexical_fts('retry NOT retry'), semantic('retry')"
    assert "coverage" not in context("--rql", matching_nothing, "--explain")["account"]


def test_cut_chunk_reports_its_missing_tokens(home: Path) -> None:
    account = context("budget system", "--budget-tokens", "40", "--explain")["account"]
    assert account["truncated_tokens"] > 0


def test_pin_below_rank_two_hundred_is_packed_optimally(home: Path) -> None:
    many = home / "many"
    many.mkdir()
    for number in range(230):
        (many / f"{number:03}.md").write_text(f"Retry {number}.\n" * (1 + number))
    assert run("add", "many")[0] == 0
    last = json.loads(run("search", "retry", "--bm25", "--json", "--k", "300")[1])["results"][-1]["chunk"]["id"]

    view = context("retry", "--bm25", "--pack", "optimal", "--pin", last, "--explain", "--budget-tokens", "3000")

    assert last in [chunk["id"] for chunk in view["chunks"]]
    assert len(view["chunks"]) + sum(left["count"] for left in view["omitted"]) == view["candidates"]
    assert view["account"]["candidates"] > 200
