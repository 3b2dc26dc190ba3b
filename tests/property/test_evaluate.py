"""Evaluation under any input: parsers answer or refuse, and measures agree with another library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG

from recall_core.errors import UsageError
from recall_core.evaluate.figures import compare_columns, read_baseline
from recall_core.evaluate.formats import (
    is_query_id,
    parse_qrels,
    parse_queries,
    parse_run,
    qrels_lines,
    queries_lines,
    run_lines,
)
from recall_core.evaluate.judgements import (
    Names,
    Spot,
    locate,
    names_of,
    put,
    read_stored,
    unknown_spot,
)
from recall_core.evaluate.measures import bounds, parse_gate, parse_measures, values
from tests.builders import memory_store

PIECES = st.sampled_from([
    "{", "}", '"_id"', '"id"', ":", ",", '"text"', '"a"', '"\\ud83d"', "1", "-1", "NaN", "1e999", "9" * 5000,
    "[" * 5000, "\t", " ", "\n", "\r", "\0", "\x85", "\u2028", "query", "docid", "rating", "score", "q1", "Q0", "0",
    "x", "\ufeff", '"', "'", ">=", "ndcg@10", "regressions", "@", "é", "٣", '{"evaluation":{"modes":[', "]}}",
])  # fmt: skip
HOSTILE = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


def answers_or_refuses(parse: Callable[[], object]) -> bool:
    try:
        parse()
    except UsageError as error:
        return bool(error.hint)
    return True


@given(HOSTILE)
def test_every_parser_answers_or_refuses_with_a_hint(text: str) -> None:
    assert answers_or_refuses(lambda: parse_queries(text, name="f"))
    assert answers_or_refuses(lambda: parse_qrels(text, name="f"))
    assert answers_or_refuses(lambda: parse_run(text, name="f"))
    assert answers_or_refuses(lambda: parse_gate(text))
    assert answers_or_refuses(lambda: parse_measures(text))


@given(st.one_of(st.binary(), HOSTILE.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_baseline_of_any_bytes_is_read_or_refused(raw: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "baseline"
        path.write_bytes(raw)

        assert answers_or_refuses(lambda: read_baseline(path, lambda run: {"mrr": dict.fromkeys(run, 0.0)}))


@given(HOSTILE, HOSTILE)
def test_readable_judgements_survive_storing(queries: str, qrels: str) -> None:
    store = memory_store()
    try:
        texts, rows = parse_queries(queries, name="f"), parse_qrels(qrels, name="f").rows
    except UsageError:
        return
    names = names_of(store)
    found = locate([row for row in rows if row.query in texts], names)

    put(store, texts, found.judgements)

    assert store.judged_queries() == dict(sorted(texts.items(), key=lambda each: each[0].encode()))
    assert len(read_stored(store, names).judgements) == len({each[:2] for each in found.judgements})


IDS = st.text(min_size=1, max_size=5).filter(is_query_id)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip() != "")


@given(st.dictionaries(IDS, WORDS, min_size=1), st.sampled_from(["beir", "trec"]))
def test_queries_and_judgements_survive_writing(queries: dict[str, str], form: str) -> None:
    names = Names([(f"docs/{text}", f"docs/{text}") for text in queries.values()])
    spots = [(query, Spot(f"docs/{text}", 1, 7), len(query)) for query, text in queries.items()]
    lines = "".join(f"{query}\t{names.name(spot)}\t{grade}\n" for query, spot, grade in spots)

    rows = parse_qrels(lines, name="f").rows
    again = parse_qrels("".join(qrels_lines(rows, form)), name="f").rows  # type: ignore[arg-type]

    assert parse_queries("".join(queries_lines(queries)), name="f") == queries
    assert again == rows
    assert [(row.query, unknown_spot(row.document), row.grade) for row in rows] == spots


PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]"), min_size=1, max_size=6)


@given(st.sets(PATHS, min_size=1, max_size=8), st.booleans(), st.integers(0, 9), st.integers(1, 9))
def test_name_finds_its_document(paths: set[str], records: bool, offset: int, length: int) -> None:
    literal = {path for path in paths if "%" not in path}  # a%20b and `a b` in one store: the exact file name wins
    names = Names([(f"c.jsonl#{path}", "c.jsonl") if records else (path, path) for path in sorted(literal)])

    for path in literal:
        whole = Spot(f"c.jsonl#{path}" if records else path)
        for spot in (whole, whole._replace(offset=offset, end=offset + length)):
            name = names.name(spot)
            assert names.find(name) == spot
            assert " " not in name
            assert name.isprintable()


@st.composite
def judged_rankings(draw: st.DrawFn) -> tuple[dict[str, int], list[str]]:
    documents = [f"d{number}" for number in range(draw(st.integers(2, 30)))]
    judged = {document: draw(st.integers(0, 3)) for document in documents}
    judged[draw(st.sampled_from(documents))] = draw(st.integers(1, 3))
    return judged, draw(st.permutations(documents))


@st.composite
def sparsely_judged(draw: st.DrawFn) -> tuple[dict[str, int], list[str]]:
    """Return judgements and hits: some hits unjudged, some judged documents missing, some grades below 0."""
    documents = [f"d{number}" for number in range(draw(st.integers(2, 30)))]
    judged = draw(st.dictionaries(st.sampled_from(documents), st.integers(-1, 3)))
    judged[draw(st.sampled_from(documents))] = draw(st.integers(1, 3))
    return judged, draw(st.lists(st.sampled_from(documents), unique=True))


@given(st.lists(sparsely_judged(), min_size=1, max_size=4), st.integers(1, 40))
def test_five_measures_equal_ir_measures_to_the_last_digit(
    cases: list[tuple[dict[str, int], list[str]]], k: int
) -> None:
    grades = {f"q{number}": judged for number, (judged, _) in enumerate(cases)}
    rankings = {f"q{number}": hits for number, (_, hits) in enumerate(cases)}
    theirs = [AP, AP @ k, RR, RR @ k, P @ k, R @ k, nDCG, nDCG @ k]
    ours = parse_measures(f"map,map@{k},mrr,mrr@{k},p@{k},recall@{k},ndcg,ndcg@{k}")
    run = {query: {document: float(-rank) for rank, document in enumerate(hits)} for query, hits in rankings.items()}
    known = {(each.measure, each.query_id): each.value for each in ir_measures.iter_calc(theirs, grades, run)}

    found = values(ours, grades, rankings)

    for measure, their in zip(ours, theirs, strict=True):
        assert found[measure] == {query: round(known.get((their, query), 0.0), 6) for query in grades}


@pytest.mark.slow  # two seconds of import; ir_measures is the reference in CI
@given(judged_rankings(), st.integers(1, 12))
def test_measures_agree_with_scikit_learn(case: tuple[dict[str, int], list[str]], k: int) -> None:
    from sklearn.metrics import average_precision_score, ndcg_score  # noqa: PLC0415 - two seconds, at night only

    judged, hits = case
    gains = np.array([[judged[document] for document in hits]])
    scores = np.arange(len(hits), 0, -1)[None, :]
    measures = parse_measures(f"ndcg@{k},ndcg,map")

    found = values(measures, {"q": judged}, {"q": hits})

    ndcg_at_k, ndcg, ap = (found[measure]["q"] for measure in measures)
    assert ndcg_at_k == pytest.approx(ndcg_score(gains, scores, k=k), abs=1e-6)
    assert ndcg == pytest.approx(ndcg_score(gains, scores), abs=1e-6)
    assert ap == pytest.approx(average_precision_score(gains[0] >= 1, scores[0]), abs=1e-6)


@given(judged_rankings(), st.integers(1, 12))
def test_measures_agree_with_their_definitions(case: tuple[dict[str, int], list[str]], k: int) -> None:
    judged, hits = case
    relevant = [judged[document] >= 1 for document in hits]
    measures = parse_measures(f"p@{k},recall@{k},mrr,mrr@{k}")

    found = values(measures, {"q": judged}, {"q": hits})

    first = relevant.index(True) + 1
    expected = [
        sum(relevant[:k]) / k,
        sum(relevant[:k]) / sum(relevant),
        1 / first,
        1 / first if first <= k else 0.0,
    ]
    assert [found[measure]["q"] for measure in measures] == pytest.approx(expected, abs=1e-6)


@given(judged_rankings(), st.integers(1, 12), st.data())
def test_measure_lies_within_bounds_for_any_missing_judgements(
    case: tuple[dict[str, int], list[str]], k: int, data: st.DataObject
) -> None:
    judged, hits = case
    holes = data.draw(st.sets(st.sampled_from(hits))) - {max(judged, key=judged.__getitem__)}
    known = {document: grade for document, grade in judged.items() if document not in holes}
    filled = known | {document: data.draw(st.sampled_from([0, 3])) for document in hits[:k] if document in holes}
    for measure in parse_measures(f"p@{k},ndcg@{k}"):
        low, high = bounds(measure, known, hits, best=3) or (1.0, 0.0)

        for grades in (known, filled):
            value = values([measure], {"q": grades}, {"q": hits})[measure]["q"]
            assert low - 1e-6 <= value <= high + 1e-6


VALUES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=40)


@given(VALUES)
def test_reversed_comparison_gives_the_same_result(pairs: list[tuple[int, int]]) -> None:
    after, before = ([pair[side] / 8 for pair in pairs] for side in (0, 1))

    one, other = compare_columns([after], [before])[0], compare_columns([before], [after])[0]

    assert (one.p, one.wins, one.losses, one.ties) == (other.p, other.losses, other.wins, other.ties)
    assert one.difference == pytest.approx(-other.difference, abs=1e-6)
    assert one.low - 1e-6 <= one.difference <= one.high + 1e-6 or len(pairs) < 20
    assert 0 < one.p <= 1


SCORES = st.floats(-2_000, 2_000) | st.sampled_from([0.0, 0.25, 1.0, 1_000.0])


@given(st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=5), min_size=1, max_size=5))
def test_run_survives_writing(rankings: dict[str, dict[str, float]]) -> None:
    lines = list(run_lines({query: list(scores.items()) for query, scores in rankings.items()}, tag="t"))

    assert parse_run("".join(lines), name="f") == {query: list(scores) for query, scores in rankings.items()}
    for query in rankings:
        read = np.array([line.split()[4] for line in lines if line.split()[0] == query], dtype=np.float32)
        assert np.all(np.diff(read) < 0), "trec_eval, which reads 32-bit floats, would rank differently"
