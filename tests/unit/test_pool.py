"""The pool when BM25F scores the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

import pytest

from recall_core.config import Config
from recall_core.errors import RecallError, UsageError
from recall_core.rank.bm25 import contributions
from recall_core.retrieve import answer as answering
from recall_core.retrieve import pool
from recall_core.retrieve.plan import Plan, plan_rql, plan_words
from recall_core.rql.ast import Expr
from recall_core.store.sqlite.store import SqliteStore
from recall_core.store.values import Nearest
from recall_core.types import Pool, Vector
from recall_core.views import plan_echo
from recall_core.words.question import literal
from tests.builders import EMBEDDER, memory_store, new_file, put

BM25F = Config(embedding_dim=64, lexical_model="bm25f", bm25_k1=0.9, bm25_b=0.4, title_weight=2.0)


@pytest.fixture
def store() -> SqliteStore:
    made = memory_store()
    put(
        made,
        new_file("a.txt", ["ship the ship"], title="ship log"),
        new_file("b.txt", ["a ship that is long and tells of many other things than one of these"]),
        new_file("c.txt", ["harbour"], title="port"),
        *(new_file(f"x{n}.txt", [f"filler {n}"]) for n in range(9)),
    )
    return made


def words(text: str, config: Config, *, mode: str = "hybrid", where: str | None = None) -> Plan:
    return plan_words(text, config=config, mode=mode, filter_text=where, k=None, exact=False)


def lexical(found: Pool) -> dict[str, float]:
    return {key.path: raw for key, raw in zip(found.keys, found.lexical, strict=True) if raw is not None}


def test_bm25f_replaces_the_lexical_value_of_every_matching_row(store: SqliteStore) -> None:
    found = pool.gather(words("ship harbour", BM25F), store, EMBEDDER)
    query = pool.ask(words("ship harbour", BM25F), store, EMBEDDER).lexical
    assert query is not None
    seen = store.occurrences(query, None)
    expected = {key.path: reduce(add, contributions(seen, key.rowid, BM25F)) for key in store.candidates(None)}
    assert lexical(found) == {path: value for path, value in expected.items() if value}
    assert set(lexical(found)) == {"a.txt", "b.txt", "c.txt"}
    assert found.lexical_model == "bm25f"


@pytest.mark.parametrize("model", ["fts5", "bm25f"])
def test_quoted_title_ranks_its_only_answer_first(model: str) -> None:
    title = "on the flow about slender wings at small angles"
    made = memory_store()
    put(
        made,
        new_file("z.txt", [f"{title} was read once, in a text of many other things " + "and others " * 5]),
        *(new_file(f"a{n}.txt", ["experimental results of wings " * 3]) for n in range(20)),
        *(new_file(f"b{n}.txt", [f"filler {n}"]) for n in range(200)),
    )
    plan = words(
        f'what experimental results does "{title}" give', BM25F._replace(lexical_model=model), mode="lexical"
    )
    found = answering.answer(plan, made, None)
    assert answering.page(found, made)[0].doc.path == "z.txt"
    assert found.pool is not None
    assert all(raw <= found.pool.bound for raw in found.pool.lexical if raw is not None)


def test_rare_phrase_displaces_no_row_of_a_bounded_list() -> None:
    made = memory_store()
    put(
        made,
        new_file("a.txt", ["common words"]),
        new_file("z.txt", ["a telling text that is somewhat longer than those others"]),
        *(new_file(f"x{n}.txt", ["words of many and common too"]) for n in range(9)),
    )
    query = literal('telling "common words"', analyzer=made.analyzer, match="any")
    bounded = made.lexical(query, where=None, k=1, title_weight=1.0)
    assert [row.doc.path for row in made.fetch(list(bounded))] == ["z.txt", "a.txt"]


def test_absent_phrase_is_dropped_completely(store: SqliteStore) -> None:
    plain = pool.gather(words("ship", Config(embedding_dim=64)), store, EMBEDDER)
    found = pool.gather(words('ship "harbour ship"', Config(embedding_dim=64)), store, EMBEDDER)
    assert (found.bound, lexical(found)) == (plain.bound, lexical(plain))
    assert found.warnings == ('W_UNKNOWN_TERM: "harbour ship" occurs nowhere in this store',)


def test_no_bm25f_value_exceeds_the_bound(store: SqliteStore) -> None:
    found = pool.gather(words("ship harbour unknown", BM25F), store, EMBEDDER)
    assert found.bound == pytest.approx((0.9 + 1) * sum(term.idf for term in found.terms))
    assert max(lexical(found).values()) < found.bound


def test_bm25f_obeys_filter_and_match(store: SqliteStore) -> None:
    filtered = words("ship harbour", BM25F, mode="lexical", where="doc.path = 'b.txt'")
    whole = lexical(pool.gather(words("ship harbour", BM25F), store, EMBEDDER))
    assert lexical(pool.gather(filtered, store, EMBEDDER)) == {"b.txt": whole["b.txt"]}
    both = words("ship log", BM25F._replace(match="all"), mode="lexical")
    assert set(lexical(pool.gather(both, store, EMBEDDER))) == {"a.txt"}


def test_bounded_pool_is_scored_by_bm25f_too(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lexical(pool.gather(words("ship harbour", BM25F), store, EMBEDDER))
    monkeypatch.setattr(pool, "EXACT_VECTORS", 3)
    found = pool.gather(words("ship harbour", BM25F._replace(pool=2)), store, EMBEDDER)
    assert not found.exact
    assert lexical(found).items() <= whole.items()
    assert len(lexical(found)) >= 2


def test_raw_fts5_syntax_keeps_and_reports_its_own_score(store: SqliteStore) -> None:
    rql = "SELECT * FROM chunk USING lexical_fts('ship NOT log')"
    found = pool.gather(plan_rql(rql, config=BM25F, exact=False), store, None)
    plain = pool.gather(plan_rql(rql, config=BM25F._replace(lexical_model="fts5"), exact=False), store, None)
    assert lexical(found) == lexical(plain)
    assert (found.bound, found.lexical_model) == (plain.bound, "fts5")
    assert [warning for warning in found.warnings if warning.startswith("W_LEXICAL_MODEL: ")]
    assert not plain.warnings


def test_invalid_raw_syntax_is_literal_and_scored_by_bm25f(store: SqliteStore) -> None:
    plan = plan_rql("SELECT * FROM chunk USING lexical_fts('ship?')", config=BM25F, exact=False)
    found = pool.gather(plan, store, None)
    assert found.lexical_model == "bm25f"
    assert [warning.split(":")[0] for warning in found.warnings] == ["W_FTS_SANITIZED"]


def test_plan_names_the_lexical_model(store: SqliteStore) -> None:
    plan = words("ship", BM25F)
    echo = plan_echo(plan, pool.gather(plan, store, EMBEDDER))
    assert echo["lexical_model"] == {"model": "bm25f", "k1": 0.9, "b": 0.4, "title_weight": 2.0}
    by_default = words("ship", Config(embedding_dim=64))
    assert "lexical_model" not in plan_echo(by_default, pool.gather(by_default, store, EMBEDDER))


def test_semantic_queries_have_no_lexical_model(store: SqliteStore) -> None:
    assert pool.gather(words("ship", BM25F, mode="semantic"), store, EMBEDDER).lexical_model == "fts5"


def test_bm25f_answer_is_sorted_by_score(store: SqliteStore) -> None:
    found = answering.answer(words("ship harbour", BM25F, mode="lexical"), store, None)
    listed = answering.page(found, store)
    assert [hit.doc.path for hit in listed] == ["c.txt", "a.txt", "b.txt"]
    assert [hit.score for hit in listed] == sorted((hit.score or 0 for hit in listed), reverse=True)


class Plainer(SqliteStore):
    """A store without a raw full-text syntax and with an approximate vector index."""

    capabilities = frozenset()

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        return super().nearest(vector, where=where, k=k)._replace(is_exact=False)


@pytest.fixture
def plain_store(store: SqliteStore) -> Plainer:
    return Plainer(store.db, store.path, writable=True)


def test_store_without_raw_syntax_never_gets_raw_queries(plain_store: Plainer) -> None:
    asked = plan_rql("SELECT * FROM chunk USING lexical_fts('ship')", config=BM25F, exact=False)
    with pytest.raises(UsageError) as refused:
        pool.gather(asked, plain_store, None)
    assert refused.value.code == "lexical_fts_unsupported"
    assert lexical(pool.gather(words("ship", BM25F), plain_store, EMBEDDER)).keys() == {"a.txt", "b.txt"}


@pytest.mark.parametrize(("few", "kind"), [(0, "approximate"), (20_000, "exact")])
def test_approximate_index_is_reported(
    plain_store: Plainer, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, few: int, kind: str
) -> None:
    monkeypatch.setattr(pool, "EXACT_VECTORS", few)
    found = pool.gather(words("ship", BM25F), plain_store, EMBEDDER)
    assert (found.index_kind, found.exact) == (kind, few > 0)
    assert pool.gather(words("ship", BM25F), store, EMBEDDER).index_kind == "exact"


def test_up_to_20_000_vectors_every_row_is_a_candidate(store: SqliteStore) -> None:
    plan = words("ship", Config(embedding_dim=64, pool=1))
    store.db.pragma("query_only", False)  # the stored number of vectors is raised
    for vectors, is_whole in ((20_000, True), (20_001, False)):
        store.db.execute("UPDATE meta SET value = ? WHERE key = 'vectors'", (str(vectors),))
        found = pool.gather(plan, store, EMBEDDER)

        assert (found.exact, len(found.keys) == store.info().chunks) == (is_whole, is_whole), vectors


def test_lexical_query_never_uses_an_approximate_index(plain_store: Plainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "EXACT_VECTORS", 0)
    found = pool.gather(words("ship", BM25F, mode="lexical"), plain_store, None)
    assert (found.index_kind, found.exact) == ("exact", False)


class Watched(SqliteStore):
    """A store that counts the requested cosines."""

    asked = 0

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        found = super().cosines(vector, where=where, rowids=rowids)
        self.asked += len(found)
        return found


def test_page_settles_few_cosines_unless_it_needs_all() -> None:
    made = memory_store()
    names = ["oat", "eel", "arp", "ice", "ush", "old", "and", "elm"]
    texts = [" ".join(f"{'bcdfghk'[(n + s) % 7]}{names[n * s % 8]}" for s in range(1, 9)) for n in range(600)]
    put(made, *(new_file(f"{n:03}.txt", [text]) for n, text in enumerate(texts)))
    watched = Watched(made.db, made.path, writable=True)
    watched.memory_mb = 0
    cases: list[tuple[dict[str, object], bool]] = [
        ({}, False),
        ({"min_score": 0.2}, False),
        ({"min_cosine": 0.2}, True),
        ({"lexical_model": "bm25f"}, False),
        ({"fusion": "rrf"}, True),
        ({"normalize": "max"}, True),
    ]
    for settings, is_whole in cases:
        plan = words("boat heel card", Config(embedding_dim=64)._replace(**settings))
        watched.asked = 0
        with watched.reading():
            answer = answering.answer(plan, watched, EMBEDDER, is_read_on=True)
            page = answering.page(answer, watched)
            settled = watched.asked
            whole = answering.answer(plan, made, EMBEDDER)
            assert (page, answer.total) == (answering.page(whole, made), whole.total), settings

        assert settled == 600 if is_whole else 0 < settled < 400, settings
        watched.asked = 0
        answering.answer(plan, watched, EMBEDDER)
        assert watched.asked == 600, settings


def test_without_sqlite_vec_every_cosine_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    made = memory_store()
    put(made, *(new_file(f"{n:03}.txt", [f"boat {n} heel {n % 7}"]) for n in range(310)))
    plan = words("boat heel 3", Config(embedding_dim=64))
    expected = answering.page(answering.answer(plan, made, EMBEDDER), made)
    monkeypatch.setattr("recall_core.store.sqlite.connect.find_spec", lambda name: None)
    with made.reading():
        found = answering.answer(plan, made, EMBEDDER, is_read_on=True)
        assert answering.page(found, made) == expected
    assert made.estimates(EMBEDDER.embed(["boat"])[0], where=None) is None


def test_vector_of_wrong_size_ends_every_kind_of_answer() -> None:
    made = memory_store()
    put(made, *(new_file(f"{n:03}.txt", [f"boat {n}"]) for n in range(310)))
    with made.unlock():
        made.execute("UPDATE vec_block SET embeddings = substr(embeddings, 1, 64) WHERE block = 1")
    plan = words("boat", Config(embedding_dim=64))
    codes = []
    for is_read_on in (False, True):
        with made.reading(), pytest.raises(RecallError) as refused:
            answering.answer(plan, made, EMBEDDER, is_read_on=is_read_on)
        codes.append((refused.value.code, refused.value.message))
    assert codes[0] == codes[1]
