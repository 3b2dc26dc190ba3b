"""The speed benchmark: its text, its queries, its figures and its verdicts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import corpus, prose
from benchmarks.speed import budgets, readme, report
from benchmarks.speed.asked import KINDS, Asker, Question
from benchmarks.speed.cold import BARE
from benchmarks.speed.filling import INSERT
from benchmarks.speed.lab import has, opened
from benchmarks.speed.peers import BOTH, FTS5, NUMPY, expression, fused
from benchmarks.speed.rows import in_turns
from benchmarks.speed.warm import USUAL
from benchmarks.timing import Spread

WORDS = [f"{first}{second}" for first in ("alpha", "bravo", "delta", "gamma") for second in "bcdfghjklmnpqrstvwxz"]


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    """Return a folder with a file of 600 paragraphs, a manual page, a module and a licence."""
    lines = [" ".join(WORDS[(n * 7 + k * 3) % len(WORDS)] for k in range(12)) + f" number{n}" for n in range(8_000)]
    root = tmp_path / "man"
    (root / "man1").mkdir(parents=True)
    (root / "de").mkdir()
    for page in range(20):
        text = ".TH PAGE 1\n.SH NAME\n" + "\n.PP\n".join(lines[page * 400 : (page + 1) * 400]).replace(
            "alpha", r"\fBalpha\fR"
        )
        (root / "man1" / f"page{page}.1").write_text(text, encoding="utf-8")
    (root / "man1" / "same.1").write_bytes((root / "man1" / "page7.1").read_bytes())
    (root / "man1" / "licence.1").write_text("\n".join(f"{line} forbidden" for line in lines[:50]), encoding="utf-8")
    (root / "de" / "page.1").write_text("\n".join(f"{line} deutsch" for line in lines[:50]), encoding="utf-8")
    return root


def test_benchmark_text_is_reproducible_with_unique_chunk_sized_pieces(manual: Path) -> None:
    text = prose.prose(640, roots=[manual])

    assert text == prose.prose(640, roots=[manual])
    assert text.kind == "real text"
    assert len(set(text.pieces)) == text.original == 640
    assert all(prose.LEAST_WORDS <= len(piece.split()) <= prose.MOST_WORDS for piece in text.pieces)
    joined = " ".join(text.pieces)
    assert "alpha" in joined
    assert not any(left in joined for left in ("forbidden", "deutsch", r"\f", ".PP"))


def test_missing_text_is_spliced_and_reported(manual: Path) -> None:
    text = prose.prose(1_000, roots=[manual])

    assert 500 < text.original < 1_000 == len(text.pieces)
    assert text.kind == f"real text, {1_000 - text.original} of 1000 pieces spliced from the rest"
    assert all(prose.LEAST_WORDS <= len(piece.split()) <= prose.MOST_WORDS for piece in text.pieces)
    assert {word for piece in text.pieces[text.original :] for word in piece.split()} <= {
        word for piece in text.pieces[: text.original] for word in piece.split()
    }


def test_invented_text_replaces_absent_text_and_is_reported(tmp_path: Path) -> None:
    text = prose.prose(60, roots=[tmp_path])

    assert (len(text.pieces), text.original, text.is_invented) == (60, 0, True)
    assert "invented" in text.kind


def test_every_query_is_new_and_of_its_kind() -> None:
    asker = Asker(list(corpus.paragraphs(60)))

    drawn = {kind: [each for _ in range(3) for each in asker.draw(kind, 15)] for kind in KINDS}

    texts = [question.text for questions in drawn.values() for question in questions]
    assert len(set(texts)) == len(texts)
    assert {len(each.words) for each in drawn["1 words"]} == {1}
    assert {len(each.words) for each in drawn["8 words"]} == {8}
    assert all(each.phrase and each.text.startswith('"') for each in drawn["phrase"])
    assert all(each.all and each.ask.settings == ("match=all",) for each in drawn["all words"])
    assert all(len(each.words) > 10 for each in drawn["paragraph"])


def test_text_without_another_query_is_reported() -> None:
    with pytest.raises(LookupError, match="too few words for 2 more questions of 1 words"):
        Asker(["apple apple", "apple"]).draw("1 words", 2)


def test_peers_get_equivalent_queries() -> None:
    assert expression(Question("the retry budget", ("the", "retry", "budget"))) == '"retry" OR "budget"'
    assert expression(Question("retry budget", ("retry", "budget"), all=True)) == '"retry" AND "budget"'
    assert expression(Question('"retry budget"', ("retry", "budget"), phrase=True)) == '"retry budget"'
    assert expression(Question("of the", ("of", "the"))) == '"of" OR "the"'
    assert fused([1, 2, 3], [3, 1, 4]) == [1, 3, 2, 4]


def test_each_way_gets_every_query_and_first_round_is_ignored() -> None:
    met: dict[str, list[int]] = {"ours": [], "peer": []}
    rounds = [[1, 2], [3, 4], [5, 6]]

    found = list(in_turns(met["ours"].append, {"peer": met["peer"].append}, rounds, cost=lambda _, asked: asked[0]))
    timed = list(in_turns(met["ours"].append, {"peer": met["peer"].append}, rounds))

    assert found == [("peer", Spread(4, 3, 5), Spread(4, 3, 5), Spread(1, 1, 1))]
    assert [name for name, *_ in timed] == ["peer"]
    assert met == {"ours": [1, 2, 3, 4, 5, 6], "peer": [1, 2, 3, 4, 5, 6]}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a small run without processes, as stored in a file."""
    stores = tmp_path_factory.mktemp("stores")
    run = report.Run((40,), ("hash",), ("warm", "about", "whynot", "add", "file"), stores, rounds=1)
    found: dict[str, Any] = json.loads(json.dumps(report.measured(run, lambda _: None)))
    return found


@pytest.mark.slow
def test_report_is_json_with_every_figure_as_a_spread(figures: dict[str, Any]) -> None:
    assert set(figures) == {"machine", "stores", "rows", "files", "memory", "growth", "budgets"}
    assert {row["chunks"] for row in figures["rows"]} == {40}
    for row in figures["rows"]:
        assert set(row["ours_ms"]) == set(row["peer_ms"]) == set(row["ratio"]) == {"median", "least", "most"}
    assert [row["chunks"] for row in figures["files"]] == [40]
    assert len(list(report.table(figures))) > len(figures["rows"])


@pytest.mark.slow
def test_every_budget_belongs_to_a_measured_row(figures: dict[str, Any]) -> None:
    measured = {row["name"] for row in figures["rows"]}
    needs_more = {"hybrid, filter of 1 %", "hybrid, filter of .1 %"}

    named = {budget.name for budget in budgets.BUDGETS if not budget.name.startswith("cold ")}
    assert named - measured == needs_more
    assert {(row["name"], row["peer"]) for row in figures["rows"]} >= {
        (f"lexical, {USUAL}", FTS5),
        (f"vector, {USUAL}", NUMPY),
        (f"hybrid, {USUAL}", BOTH),
        ("add", INSERT),
    }


@pytest.mark.slow
def test_process_rows_include_a_bare_and_a_warm_process(tmp_path: Path) -> None:
    found = report.measured(report.Run((40,), ("hash",), ("cold", "memory"), tmp_path, rounds=1), lambda _: None)

    assert {row["name"] for row in found["rows"] if row["peer"] == BARE} >= {
        budget.name for budget in budgets.BUDGETS if budget.name.startswith("cold ")
    }
    assert found["memory"][0]["resident_mb"] > found["memory"][0]["vectors_mb"] > 0


@pytest.mark.slow
@pytest.mark.skipif(not has("local"), reason="needs the local embedder")
def test_adding_is_measured_with_every_embedder(tmp_path: Path) -> None:
    found = report.measured(report.Run((40,), ("local",), ("add",), tmp_path, rounds=1), lambda _: None)

    assert [row["name"] for row in found["rows"]] == ["add, no vectors", "add"]


@pytest.mark.slow
def test_store_is_created_once_and_kept(tmp_path: Path) -> None:
    with opened(tmp_path, "hash", 40, rounds=1) as lab:
        first = lab.made
        written = (lab.home / "recall.db").stat().st_mtime_ns
    with opened(tmp_path, "hash", 40, rounds=1) as lab:
        assert (lab.made, (lab.home / "recall.db").stat().st_mtime_ns) == (first, written)
        assert (len(lab.pieces), lab.matrix.shape) == (first.held, (first.held, 512))


def row(name: str, ratio: float, **fields: Any) -> dict[str, Any]:
    spread = {"median": ratio, "least": ratio, "most": ratio}
    usual = {"embedding": "hash", "chunks": budgets.LARGE, "peer": BOTH, "recall": None}
    return {**usual, "name": name, "ours_ms": spread, "peer_ms": spread, "ratio": spread, **fields}


def verdicts(rows: list[dict[str, Any]], **others: Any) -> list[tuple[str, str, str]]:
    told: Mapping[str, Any] = {"rows": rows, "files": [], "memory": [], "growth": [], **others}
    return [(each.name, each.embedding, each.said) for each in budgets.verdicts(told)]


def test_budget_is_met_aimed_at_or_missed_by_a_factor() -> None:
    rows = [
        row("lexical, 5 words", ratio, peer=FTS5, embedding=name)
        for name, ratio in (("a", 0.1), ("b", 0.3), ("c", 0.6))
    ]

    assert [each for *_, each in verdicts(rows)] == ["aim met", "met", "missed by 2.00 x"]
    assert verdicts([row("lexical, 5 words", 9.0, peer=FTS5, chunks=50)]) == []


def test_embedder_budget_overrides_the_general_one() -> None:
    rows = [row("hybrid, 5 words", 0.9), row("hybrid, 5 words", 0.9, embedding="local")]

    assert verdicts(rows) == [
        ("hybrid, 5 words", "local", "met"),
        ("hybrid, 5 words", "hash", "missed by 1.50 x"),
    ]


def test_files_memory_and_growth_have_budgets_too() -> None:
    memory = {"embedding": "hash", "chunks": 5, "vectors_mb": 100.0, "resident_mb": 269.0, "allowed_mb": None}
    grown = {"embedding": "hash", "chunks": [5, 20], "name": "vector, 5 words", "factor": 4.7, "most": 4.6}
    weight = {"embedding": "hash", "chunks": 5, "ratio": 1.0}

    told = verdicts([], files=[weight], memory=[memory, {**memory, "allowed_mb": 64}], growth=[grown])

    assert told == [
        ("file", "hash", "met"),
        ("memory, warm", "hash", "met"),
        ("memory, warm, memory_mb = 64", "hash", "missed by 1.87 x"),
        ("vector, 5 words", "hash", "missed by 1.02 x"),
    ]


def test_growth_is_reported_for_a_factor_of_four() -> None:
    rows = [row("any", 1.0, chunks=n, ours_ms={"median": float(n)}) for n in (10, 20, 160)]

    assert [(each.chunks, each.factor) for each in report.growth(rows)] == [((10, 20), 4.0), ((20, 160), 4.0)]


def test_readme_table_matches_the_kept_figures() -> None:
    page, figures = readme.PAGE.read_text(encoding="utf-8"), json.loads(readme.KEPT.read_text(encoding="utf-8"))

    front = readme.README.read_text(encoding="utf-8")
    assert readme.page(page, figures) == page
    assert readme.brief(front, figures) == front
    assert all(shown.label in front for shown in readme.BRIEF)
    assert {name for shown in readme.SHOWN for name in [shown.name]} <= {each["name"] for each in figures["rows"]}


def test_table_shows_both_embedders_and_every_missed_budget() -> None:
    rows = [row("hybrid, 5 words", 0.5), row("hybrid, 5 words", 12.0, embedding="local", ours_ms={"median": 1_500.0})]
    machine = {"cores": 2, "python": "3.11", "absent": ["bm25s"]}
    store = {"chunks": budgets.LARGE, "kind": "real text"}
    figures = {"machine": machine, "stores": [store], "rows": rows, "files": [], "memory": [], "growth": []}
    told = {**figures, "budgets": [each._asdict() for each in budgets.verdicts(figures)]}

    lines = list(readme.block(told))

    assert "| hybrid search | FTS5 and NumPy | 0.5 ms | 0.50 × | 1.5 s | 12 × |" in lines
    assert any(each.startswith("Of 2 budgets 1 are met;") for each in lines)
    assert list(readme.budget_table([budgets.Verdict(**each) for each in told["budgets"]]))[2:] == [
        "| hybrid, 5 words | `local` | 100,000 | 12 × FTS5 and NumPy | 1 | missed |",
        "| hybrid, 5 words | `hash` | 100,000 | 0.5 × FTS5 and NumPy | 0.6 | met |",
    ]
    assert "Not installed, so not measured: bm25s." in lines


def test_figures_of_several_runs_merge_and_first_run_wins() -> None:
    def run(*rows: dict[str, Any]) -> dict[str, Any]:
        return {
            "machine": {},
            "stores": [],
            "rows": list(rows),
            "files": [],
            "memory": [],
            "growth": [],
            "budgets": [],
        }

    told = readme.together(
        [run(row("lexical, 5 words", 0.2)), run(row("lexical, 5 words", 9.0), row("explain", 1.0))]
    )

    assert [(each["name"], each["ratio"]["median"]) for each in told["rows"]] == [
        ("lexical, 5 words", 0.2),
        ("explain", 1.0),
    ]
