"""Sparse-document recall at work: what it adds, what it costs, and a check that nothing else adds it.

There are twenty topics. Two long documents per topic share its words and repeat them in title and text, so that their
chunks fill every list of ten. One short note per topic spells the same words as compounds, like names of settings:
near in vectors, invisible to words. Ceilings are calibrated on the first half of the queries and applied to all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import log2
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.types import Root
from tests.examples import mostly_nightly

TOPICS = (
    "kestrel gateway throttle quota", "harbor ledger rounding margin", "cedar pipeline batch window",
    "falcon session token lifetime", "granite archive retention period", "willow mailer retry ceiling",
    "copper invoice payment deadline", "meadow search index refresh", "orchid image upload limit",
    "timber backup rotation schedule", "canyon router packet timeout", "velvet printer queue depth",
    "summit payroll cutoff hour", "lagoon sensor polling rate", "amber cluster replica count",
    "breeze elevator load maximum", "cobalt freezer alarm threshold", "dahlia parking permit number",
    "ember furnace ignition delay", "fjord ferry boarding gate",
)  # fmt: skip
VERBS = ("records", "checks", "explains", "compares", "reviews", "measures", "reports", "adjusts", "watches", "tests")
OBJECTS = ("plans", "cases", "owners", "steps", "figures", "changes", "signals", "orders", "notes", "limits")
K = 10
RESAMPLES = 2_000


class Home(NamedTuple):
    """A store with its fixtures, its calibrated ceiling and the calibration report."""

    recall: Recall
    sparse: Path
    dense: Path
    settings: tuple[str, ...]
    calibration: Any


def note(topic: int) -> str:
    first, second, third, fourth = TOPICS[topic].split()
    return f"{first}{second} {third}{fourth} = {7000 + 37 * topic}\n"


def manual(topic: int, volume: int) -> str:
    """Return eight paragraphs about the topic, each a chunk; the last one of volume 0 contains a unique fact."""
    words = TOPICS[topic].split()
    lines = [f"# {TOPICS[topic].title()} volume {volume}"]
    for n in range(8):
        turns = [
            f"{words[i % 4]} {words[(i + 1) % 4]} {VERBS[(n + i + topic) % 10]} {OBJECTS[(n * 3 + i + volume) % 10]}."
            for i in range(8)
        ]
        fact = f" Engineer{topic} signs the {words[0]} form {5000 + topic}." if n == 7 and volume == 0 else ""
        lines.append(" ".join(turns) + fact)
    return "\n\n".join(lines) + "\n"


def write(folder: Path) -> tuple[Path, Path]:
    """Write the corpus and its fixtures for notes and for manuals."""
    docs = folder / "docs"
    docs.mkdir()
    sparse, dense = [], []
    for topic, words in enumerate(TOPICS):
        (docs / f"note-{topic:02}.txt").write_text(note(topic))
        for volume in range(2):
            (docs / f"manual-{topic:02}-{volume}.md").write_text(manual(topic, volume))
        asked = {"id": f"s{topic}", "query": f"{words} value", "gold": f"docs/note-{topic:02}.txt"}
        sparse.append({**asked, "must_contain": [str(7000 + 37 * topic)]})
        asked = {
            "id": f"d{topic}",
            "query": f"which {words.split()[0]} form does Engineer{topic} sign",
            "gold": f"docs/manual-{topic:02}-0.md",
        }
        dense.append({**asked, "must_contain": [f"form {5000 + topic}"]})
    for name, lines in (("sparse", sparse), ("dense", dense)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return folder / "sparse.jsonl", folder / "dense.jsonl"


@pytest.fixture(scope="module", params=mostly_nightly(["hash", "local"], "hash"))
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    name: str = request.param
    if name not in {each["name"] for each in Recall.embedders()["embedders"] if each["available"]}:
        pytest.skip(f"needs the {name} embedder")
    folder = tmp_path_factory.mktemp(name)
    sparse, dense = write(folder)
    Recall.init(str(folder), embedding=name, settings=("chunk_tokens=60", "overlap_tokens=0"))
    with Recall.open(start=folder) as recall:
        list(recall.add([str(folder / "docs")], Root("")))
        half = [*fixtures(sparse)[: len(TOPICS) // 2], *fixtures(dense)[: len(TOPICS) // 2]]
        judged = {each["query"]: [each["gold"]] for each in half}
        calibration = calibrate(recall, judged, k=K)
        settings = (f"sparse_distance_ceiling={calibration['proposed']['ceiling']}",)
        yield Home(recall, sparse, dense, settings, calibration)


def calibrate(recall: Recall, judged: dict[str, list[str]], *, k: int = 3) -> Any:
    queries, qrels = recall.engine.base / "queries.jsonl", recall.engine.base / "qrels.tsv"
    queries.write_text("".join(json.dumps({"_id": f"q{n}", "text": text}) + "\n" for n, text in enumerate(judged)))
    rows = [f"q{n}\t{path}\t1\n" for n, paths in enumerate(judged.values()) for path in paths]
    qrels.write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return recall.calibrate_sparse(Ask(k=k), queries=queries, qrels=qrels)["calibration"]


def fixtures(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_fixtures(home: Home, path: Path, *settings: str) -> Any:
    return home.recall.check_fixtures(path, Ask(k=K, settings=(*home.settings, *settings)))["fixtures"]


def ndcg(home: Home, fixture: Any, *settings: str) -> float:
    """Return nDCG@10. The chunk with the fact is worth 3, each of the other seven of its document 1."""
    ask = Ask(k=K, settings=(*home.settings, *settings))
    gains = [
        0 if row["doc"]["path"] != fixture["gold"] else 3 if fixture["must_contain"][0] in row["chunk"]["text"] else 1
        for row in home.recall.search(fixture["query"], ask)["results"]
    ]
    ideal = [3] + [1] * 7
    return sum(g / log2(n + 2) for n, g in enumerate(gains)) / sum(g / log2(n + 2) for n, g in enumerate(ideal))


def interval(differences: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by bootstrap over queries."""
    random = Random(20_240_501)
    means = sorted(sum(random.choices(differences, k=len(differences))) / len(differences) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def test_corpus_has_short_and_long_documents(home: Home) -> None:
    sizes = [len(home.recall.store.chunks_of(full)) for full in _documents(home)]
    assert sorted(sizes)[:20] == [1] * 20
    assert len(sizes) == 60
    assert sorted(sizes)[20] >= 8


def test_forcing_in_a_document_packs_its_fact(home: Home) -> None:
    for path in (home.sparse, home.dense):
        assert check_fixtures(home, path)["forced"]["rate"] == 1.0


def test_only_sparse_recall_finds_facts_in_short_documents(home: Home) -> None:
    on, off = check_fixtures(home, home.sparse), check_fixtures(home, home.sparse, "sparse_recall=off")
    assert on["sparse_on"]["rate"] >= 0.9
    assert off["sparse_on"]["rate"] <= 0.5
    assert on["sparse_recall"]["recovery_rate"]["rate"] >= 0.8
    assert on["verdicts"]["recovered_by_sparse_recall"] >= 10
    assert off["verdicts"]["retrieval_miss"] >= 10


def test_sparse_share_keeps_recalled_facts_in_tight_context(home: Home) -> None:
    share, old = (check_fixtures(home, home.sparse, "budget_tokens=300", f"sparse_share={n}") for n in (0.15, 0))
    assert share["sparse_on"]["rate"] >= 0.9
    assert old["sparse_on"]["rate"] <= 0.1
    dense = check_fixtures(home, home.dense, "budget_tokens=300", "sparse_share=0.15")
    assert (dense["dense_regressions"], dense["dense_on"]["rate"]) == (0, 1.0)


def test_list_of_short_documents_stays_unchanged(home: Home) -> None:
    listed = home.recall.search('"kestrelgateway" "cedarpipeline"', Ask(k=1, settings=home.settings, explain=True))
    assert listed["results"][0]["doc"]["path"].startswith("docs/note")
    assert listed["sparse"]["reason"] in ("not_mostly_long", "already_present", "too_far")


def test_long_documents_are_still_found(home: Home) -> None:
    view = check_fixtures(home, home.dense)
    assert (view["dense_regressions"], view["dense_on"]["rate"]) == (0, 1.0)
    changes = [ndcg(home, each) - ndcg(home, each, "sparse_recall=off") for each in fixtures(home.dense)]
    low, high = interval(changes)
    print(f"dense nDCG@10 change {sum(changes) / len(changes):+.4f}, 95% [{low:+.4f}, {high:+.4f}]")
    assert low <= 0.0 <= high
    assert low > -0.02


def test_injections_are_judged_and_counted(home: Home) -> None:
    views = [check_fixtures(home, path)["sparse_recall"] for path in (home.sparse, home.dense)]
    made = sum(view["sparse_recall_injections"] for view in views)
    relevant = sum(view["sparse_recall_hit_rate"]["passed"] for view in views)
    print(f"{home.settings[0]}: {made} injections, precision {relevant / made:.3f}")
    assert relevant / made > 0.5
    assert sum(view["displaced_relevant"] for view in views) <= made / 10


def test_default_ceiling_recalls_less_than_calibrated_ceiling(home: Home) -> None:
    view = home.recall.check_fixtures(home.sparse, Ask(k=K))["fixtures"]
    assert view["sparse_on"]["rate"] < check_fixtures(home, home.sparse)["sparse_on"]["rate"]
    assert view["sparse_recall"]["blocked"]["beyond_ceiling"] > 0


def _documents(home: Home) -> list[str]:
    return [
        home.recall.get(str(path.relative_to(home.recall.engine.base)))["found"]["doc"]["id"]
        for path in sorted((home.recall.engine.base / "docs").iterdir())
    ]
