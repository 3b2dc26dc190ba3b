"""`lexical_model = "ts_rank"`: collections in Postgres score words by ts_rank_cd, and other stores refuse it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recall_core import Ask, Pack, PutDocument, Recall
from recall_core.api.stores import store_kind, store_url
from recall_core.evaluate.measures import EvalOptions
from recall_core.evaluate.tune import TuneOptions
from recall_core.explain.ledger import lexical_contributions
from recall_core.retrieve import answer as answering
from recall_core.retrieve import pool
from recall_core.rql.parser import parse_filter
from tests import postgres_server
from tests.conformance.test_postgres import code_of
from tests.postgres_server import collection

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)

WORDS = "ant bee cat dog eel fox gnu hen ibex jay kite".split()
QUERIES = [
    ("ant", "any", "ant"),
    ("ant kite jay", "any", "ant | kite | jay"),
    ('"ant bee" cat', "any", "(ant <-> bee) | cat"),
    ("dog eel fox", "all", "dog & eel & fox"),
    ('"gnu hen" ant', "all", "(gnu <-> hen) & ant"),
    ("bee title:cat", "all", "bee & cat:A"),
    ("ki* ant", "all", "ki:* & ant"),
    ("ant-bee", "all", "ant <-> bee"),
    ("unheard", "any", "unheard"),
]
DIRECT = """
SELECT c.number, ts_rank_cd(%s::float4[], t.vector, to_tsquery('simple', %s), 32)::float8
FROM document d JOIN chunk c ON c.doc_id = d.id, LATERAL (
  SELECT setweight(to_tsvector('simple', d.title || ' gap'), 'A') ||
    setweight(to_tsvector('simple', c.text), 'D') AS vector) t
WHERE t.vector @@ to_tsquery('simple', %s)
"""
"""The same question to Postgres's own words. The last word of the title keeps phrases from crossing into the text."""


@pytest.fixture(scope="module")
def recall(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Open a collection of invented texts whose setting is ts_rank."""
    folder, url = tmp_path_factory.mktemp("ts_rank"), collection(server, "ts_rank")
    chosen = {"store_path": url, "embedding_dim": 64, "lexical_model": "ts_rank"}
    Recall.init(str(folder), embedding="hash", settings=chosen)
    random = Random(7)
    texts = [(" ".join(random.choices(WORDS, k=k)) for k in (3, 30)) for _ in range(60)]
    with Recall.open(start=folder) as opened:
        opened.put([PutDocument(f"{n:02}", text, title=title) for n, (title, text) in enumerate(texts)])
        yield opened
    store_kind("postgresql").discard(store_url(url).where)


def scores(recall: Recall, words: str, *settings: str) -> dict[str, float]:
    """Return chunk id to raw lexical value, in the order of the answer."""
    ask = Ask(mode="lexical", k=99, explain=True, settings=settings)
    results = recall.search(words, ask)["results"]
    return {each["chunk"]["id"]: each["explain"]["parts"][0]["raw"] for each in results}


def differences(recall: Recall) -> Iterator[str]:
    """Yield the queries whose rows, scores or order differ from those of Postgres's own words."""
    store: Any = recall.store
    natural = {key.rowid: at for at, key in enumerate(store.candidates(None))}
    ids = dict(store.execute("SELECT number, id FROM chunk"))
    for weight, weights in (("3", "{.33333333,.33333333,.33333333,1}"), ("0.25", "{1,1,1,.25}")):
        for words, match, tsquery in QUERIES:
            direct = {row: round(value, 6) for row, value in store.execute(DIRECT, (weights, tsquery, tsquery))}
            expected = sorted(direct, key=lambda row: (-direct[row], natural[row]))
            found = scores(recall, words, f"match={match}", f"title_weight={weight}")
            if list(found.items()) != [(ids[row], direct[row]) for row in expected]:
                yield words


def test_order_and_scores_equal_a_direct_query(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(differences(recall)) == []
    module: Any = sys.modules[type(recall.store).__module__]
    sql = module._TEXT_RANKS
    for right, wrong in [(", 32)", ", 0)"), ("place + 1", "place"), ("'A' END", "'B' END")]:
        assert right in sql
        monkeypatch.setattr(module, "_TEXT_RANKS", sql.replace(right, wrong))
        assert next(differences(recall), None), f"{wrong} instead of {right} is not noticed"


def test_bounded_pool_has_the_best_rows_of_the_filter(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "doc.path GLOB 'put://[1-3]*'"
    everything = recall.search("ant bee", Ask(mode="lexical", k=99, filter=where))["results"]
    passing = {key.rowid for key in recall.store.candidates(parse_filter(where))}
    assert {recall.store.rowid("chunk", each["chunk"]["id"]) for each in everything} <= passing
    monkeypatch.setattr(pool, "EXACT_VECTORS", 0)
    for query in ("ant bee", '"ant bee" cat'):
        whole = scores(recall, query)
        assert list(scores(recall, query, "pool=5").items()) == list(whole.items())[:5]
        bounded = Ask(mode="lexical", settings=("pool=5",))
        assert [each["rows_out"] for each in recall.trace(query, bounded)["trace"]["stages"]][2:4] == [5, 5]
        view = recall.why_not(query, eighth := list(whole)[7], bounded)["whynot"]
        assert stage_of(view, "lexical")["evidence"]["raw"] == whole[eighth]
        assert stage_of(view, "pool")["evidence"]["rank"] == 8
    both = Ask(k=99, filter=where, explain=True, settings=("pool=3",))
    for each in recall.search("ant bee", both)["results"]:
        (raw,) = (part["raw"] for part in each["explain"]["parts"] if part["signal"] == "lexical")
        assert raw == scores(recall, "ant bee").get(each["chunk"]["id"])


def test_points_add_up_and_name_the_model(recall: Recall) -> None:
    for settings in ((), ("normalize=minmax",), ("normalize=max", "match=all"), ("fusion=rrf",)):
        found = recall.search("ant bee kite", Ask(k=99, explain=True, settings=settings))
        assert found["query"]["plan"]["lexical_model"] == {"model": "ts_rank", "title_weight": 3.0}
        (signal, _) = found["query"]["plan"]["signals"]
        assert (signal["bound"], {*signal["terms"][0]}) == (1, {"text", "df"})
        for each in found["results"]:
            parts = each["explain"]["parts"]
            assert sum(part["points"] for part in parts) == pytest.approx(each["score"], abs=1e-9)
            for part in parts:
                if part["signal"] == "lexical" and part["raw"] is not None:
                    leaves = part["leaves"]
                    assert 0 < part["raw"] < 1
                    assert sum(leaf["points"] for leaf in leaves) == pytest.approx(part["points"], abs=1e-9)
                    if "fusion=rrf" not in settings:
                        named = [(leaf["text"], leaf["contribution"]) for leaf in leaves if leaf["kind"] == "model"]
                        assert named == [("ts_rank", part["raw"])]
                    assert "term" not in {leaf["kind"] for leaf in leaves}
    assert recall.stats()["store"]["lexical_model"] == "ts_rank"


ANSWER = """
import json, sys
from pathlib import Path
from recall_core import Ask, Recall
with Recall.open(start=Path(sys.argv[1])) as recall:
    print(json.dumps(recall.search("ant bee", Ask(k=99, explain=True))["results"]))
"""


def test_second_answer_and_second_process_give_the_same_bytes(recall: Recall) -> None:
    first, again = (json.dumps(recall.search("ant bee", Ask(k=99, explain=True))["results"]) for _ in range(2))
    assert again == first
    command = [sys.executable, "-c", ANSWER, str(recall.engine.base)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == first


def test_no_command_shows_bm25(recall: Recall) -> None:
    """The answers of the default come first, so their postings are in memory."""
    ask = Ask(k=2)
    default = ask._replace(settings=("lexical_model=fts5",))
    assert recall.search("ant bee", default)["results"] != recall.search("ant bee", ask)["results"]
    ids = list(scores(recall, "ant kite"))
    target = ids[-1]
    view = recall.why_not("ant kite", target, ask)["whynot"]
    assert view["words"] == {"tried": 3, "most": 3, "of": view["words"]["of"], "few_for": "model"}
    stage = stage_of(view, "lexical")
    assert stage["evidence"]["raw"] == scores(recall, "ant kite")[target]
    assert {*stage["evidence"]["terms"][0]} <= {"text", "df", "stem", "title", "body"}
    assert recall.trace("ant kite", ask)["trace"]["stages"][2]["rows_out"] == len(ids)
    lexical = "SELECT doc.path FROM chunk USING lexical('ant kite') LIMIT 99"
    assert [each["doc"]["path"] for each in recall.query(lexical)["results"]] == [
        each["doc"]["path"] for each in recall.search("ant kite", Ask(mode="lexical", k=99))["results"]
    ]
    assert recall.context("ant kite", Ask(), Pack(200))["context"]["chunks"]
    raw = "SELECT doc.path FROM chunk USING lexical_fts('ant')"
    assert code_of(lambda: recall.query(raw)) == "lexical_fts_unsupported"


def test_no_bound_of_bm25_hides_a_fix(recall: Recall) -> None:
    """Half of the chunks and more contain `cat`, so BM25 would promise almost no points for it."""
    best, first = (next(iter(scores(recall, words))) for words in ("ant cat", "ant"))
    assert best != first
    view = recall.why_not("ant catt", best, Ask(k=1, mode="lexical"))["whynot"]
    assert "spelling" in {each["kind"] for each in view["fixes"]}
    plan = recall.engine.words_plan("ant", Ask(mode="lexical"))
    answer = answering.answer(plan, recall.store, None)
    assert lexical_contributions(answer, [1, 2, 3], recall.store) == {}


def stage_of(view: Any, name: str) -> Any:
    return next(each for each in view["stages"] if each["stage"] == name)


def test_eval_and_tune_measure_ts_rank(recall: Recall, tmp_path: Path) -> None:
    queries, qrels = tmp_path / "queries.tsv", tmp_path / "qrels.tsv"
    queries.write_text("".join(f"{word}\t{word} kite\n" for word in WORDS[:6]))
    qrels.write_text("".join(f"{word}\tput://{at:02}\t1\n" for at, word in enumerate(WORDS[:6])))
    measured = []
    for model in ("fts5", "ts_rank"):
        options = EvalOptions(queries, qrels, modes="bm25", settings=(f"lexical_model={model}",), depth=60)
        measured.append(finish(recall.evaluate(options))["evaluation"]["modes"])
    assert measured[0] != measured[1]
    tuned = finish(recall.tune(TuneOptions(queries, qrels, grid=("lexical_model=fts5,ts_rank",))))
    assert '"lexical_model": "fts5"' in json.dumps(tuned)


def finish(work: Generator[object, None, Any]) -> Any:
    """Return the answer behind the steps."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_file_refuses_ts_rank_at_every_door(tmp_path: Path) -> None:
    chosen = {"lexical_model": "ts_rank"}
    assert code_of(lambda: Recall.init(str(tmp_path), embedding="hash", settings=chosen)) == "not_offered"
    assert not (tmp_path / "recall.toml").exists()
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(start=tmp_path) as recall:
        recall.put([PutDocument("a", "ant bee")])
        asks = Ask(settings=("lexical_model=ts_rank",))
        for call in (
            lambda: recall.search("ant", asks),
            lambda: recall.context("ant", asks),
            lambda: recall.explain("ant", "put://a", asks),
            lambda: recall.why_not("ant", "put://a", asks),
            lambda: recall.trace("ant", asks),
        ):
            assert code_of(call) == "not_offered"
    toml = tmp_path / "recall.toml"
    toml.write_text(toml.read_text().replace('lexical_model = "fts5"', 'lexical_model = "ts_rank"'))
    with Recall.open(start=tmp_path) as recall:
        assert code_of(lambda: recall.search("ant")) == "not_offered"
        assert recall.search("ant", Ask(settings=("lexical_model=fts5",)))["results"]
