"""The work of whynot: it reads the candidates of a query once, and again only when necessary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.engine import Engine
from recall_core.config import Config
from recall_core.contract.explaining import WhyNotView
from recall_core.explain.funnel import trace
from recall_core.explain.whynot.question import Question
from recall_core.explain.whynot.why import why_not
from recall_core.retrieve import pool as pool_module
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LexicalQuery
from tests.builders import EMBEDDER, memory_store, new_file, put

COUNT, HOLDERS = 60, 25
WORDS = "alpha beta"
CONFIG = Config(embedding_dim=64, pool=20, sparse_recall=False)


class CountingEngine(Engine):
    """An engine that records its plans."""

    plans: list[Plan]

    def answer(self, plan: Plan) -> Answer:
        self.plans.append(plan)
        return super().answer(plan)


@pytest.fixture(scope="module")
def store() -> SqliteStore:
    """Return texts of equal length with rarer `alpha` in each next one, and a unique word in each."""
    made = memory_store()
    about = [f"{'alpha ' * (HOLDERS - n)}beta own{n} {'pad ' * n}" for n in range(HOLDERS)]
    put(made, *(new_file(f"d{n:02}.txt", [text]) for n, text in enumerate(about)))
    put(made, *(new_file(f"e{n:02}.txt", [f"other{n} pad"]) for n in range(COUNT - HOLDERS)))
    return made


@pytest.fixture(params=[20_000, 0], ids=["whole", "bounded"])
def asker(store: SqliteStore, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CountingEngine:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", request.param)
    made = CountingEngine(store, config=CONFIG, base=Path(), embedder=EMBEDDER)
    made.plans = []
    return made


def why(asker: CountingEngine, target: str, *, fixes: bool = True, **asked: object) -> WhyNotView:
    with asker.store.reading():
        question = Question(words=WORDS, k=3)._replace(**asked)  # type: ignore[arg-type]
        return why_not(asker, question, target, fixes=fixes).view


def kinds(view: WhyNotView) -> list[str]:
    return [fix["kind"] for fix in view["fixes"]]


def test_account_without_fixes_takes_one_answer(asker: CountingEngine) -> None:
    assert not why(asker, "d12.txt", fixes=False)["present"]
    assert len(asker.plans) == 1


def test_ranking_fixes_are_confirmed_on_existing_candidates(asker: CountingEngine) -> None:
    view = why(asker, "d08.txt", settings=("fusion=rrf",))
    assert "k" in kinds(view)
    assert len([plan for plan in asker.plans if (plan.text, plan.exact, plan.config.pool) == (WORDS, False, 20)]) == 1


def test_only_promising_words_are_tried(asker: CountingEngine) -> None:
    view = why(asker, "d23.txt")
    asked = [plan.text for plan in asker.plans if plan.text != WORDS]
    assert asked == [fix["command"].split("'")[1] for fix in view["fixes"] if fix["kind"] == "term"]
    assert f"{WORDS} own23" in asked
    assert f"{WORDS} pad" not in asked


def test_useless_deeper_pool_is_not_tried(asker: CountingEngine) -> None:
    why(asker, "d12.txt")
    assert not any(plan.exact or plan.config.pool != 20 for plan in asker.plans)


def test_filtered_row_tries_only_filter_fixes(asker: CountingEngine) -> None:
    view = why(asker, "d02.txt", filter="doc.path != 'd02.txt'", settings=("match=all",))
    assert view["fixes"][0]["kind"] == "filter"
    assert [plan.filters for plan in asker.plans] == ["doc.path != 'd02.txt'", None]


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_funnel_takes_one_answer(asker: CountingEngine, mode: str) -> None:
    with asker.store.reading():
        stages = trace(asker, Question(WORDS, mode=mode)).view["stages"]
    assert {"live", "union", "kept", "top_k"} < {stage["stage"] for stage in stages}
    assert len(asker.plans) == 1


class Scanned(SqliteStore):
    """A store that counts queries over every row."""

    scans = 0

    def lexical(self, query: LexicalQuery, **asked: object) -> dict[int, float]:  # type: ignore[override]
        self.scans += asked["k"] is None
        return super().lexical(query, **asked)  # type: ignore[arg-type]

    def cosines(self, vector: bytes, **asked: object) -> dict[int, float]:  # type: ignore[override]
        self.scans += asked.get("rowids") is None
        return super().cosines(vector, **asked)  # type: ignore[arg-type]


@pytest.fixture
def scanned_store(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scanned]:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", 0)
    monkeypatch.setattr(store, "__class__", Scanned)
    yield store  # type: ignore[misc]
    monkeypatch.setattr(store, "__class__", SqliteStore)


def test_ranks_among_proposals_need_no_scan(scanned_store: Scanned) -> None:
    engine = CountingEngine(scanned_store, config=CONFIG._replace(pool=COUNT), base=Path(), embedder=EMBEDDER)
    engine.plans = []
    view = why(engine, "d12.txt", fixes=False)
    pool = next(stage for stage in view["stages"] if stage["stage"] == "pool")
    assert "13 by lexical" in pool["detail"]
    assert scanned_store.scans == 0


@pytest.mark.parametrize("most", [20_000, 0], ids=["whole", "bounded"])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_sparse_recall_word_is_reported_even_behind_leading_rows(
    monkeypatch: pytest.MonkeyPatch, weight: float, most: int
) -> None:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", most)
    made = memory_store()
    put(made, *(new_file(f"long{n}.txt", [f"alpha beta same{n}{each} " for each in "xyz"]) for n in range(5)))
    put(made, *(new_file(f"other{n}.txt", ["gamma nothing ", "gamma more"]) for n in range(9)))
    put(made, new_file("short.txt", ["gamma of the"]))
    recall = {"sparse_recall": True, "sparse_chunk_threshold": 1, "sparse_distance_ceiling": 0.8, "pool": 40}
    config = CONFIG._replace(bm25_weight=1 - weight, vector_weight=weight, **recall)
    engine = CountingEngine(made, config=config, base=Path(), embedder=EMBEDDER)
    engine.plans = []
    view = why(engine, "short.txt", k=2)
    assert not view["present"]
    assert 'also search for "gamma"' in [fix["change"] for fix in view["fixes"]]
