"""Files of queries, judgements and runs: every format is recognised by content, and every error has a line number."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.formats import (
    Qrel,
    holds_queries,
    parse_qrels,
    parse_queries,
    parse_run,
    qrels_lines,
    quepid_lines,
    queries_lines,
    query_id,
    read_qrels,
    read_queries,
    run_lines,
)

BEIR = "query-id\tcorpus-id\tscore\nq1\tdoc 1\t2\nq2\td2\t0\n"
TREC = "q1 0 d1 2\nq2\t0\td2\t0\n"


def mistake(text: str, parse: str = "queries") -> str:
    parsers = {"queries": parse_queries, "qrels": parse_qrels, "run": parse_run}
    with pytest.raises(UsageError) as caught:
        parsers[parse](text, name="f")  # type: ignore[operator]
    assert caught.value.code == f"bad_{parse}"
    assert caught.value.hint
    return caught.value.message


def test_queries_are_read_in_every_format() -> None:
    for text in [
        '{"_id": "q1", "text": "a b", "metadata": {}}\n\n{"_id": "2", "text": "c"}\n',
        '{"id": "q1", "text": "a b"}\r\n{"id": 2, "text": "c"}\r\n',
        "q1\ta b\n2\tc",
        "query-id\ttext\nq1\ta b\n2\tc\n",
    ]:
        assert parse_queries(text, name="f") == {"q1": "a b", "2": "c"}, text


def test_bad_query_is_reported_with_its_line() -> None:
    for text, reason in [
        (
            '{"_id": "a", "text": "x"}\n{"_id": "b"',
            "f:2: not valid JSON in column 12: missing comma or closing bracket",
        ),
        ('{"_id": "a", "text": "x"}\n\n[1]', "f:3: not a JSON object"),
        ('{"_id": "a", "text": "x", "text": "y"}', "f:1: the key 'text' appears twice"),
        ('{"text": "x"}', "f:1: the id is missing"),
        ('{"_id": true, "text": "x"}', "f:1: the id is missing"),
        ('{"_id": "a", "text": 3}', 'f:1: "text" is missing or not a string'),
        ('{"_id": "a b", "text": "x"}', "f:1: the id 'a b' is empty, or contains blanks"),
        ('{"_id": "", "text": "x"}', "f:1: the id '' is empty, or contains blanks or unprintable characters"),
        ('{"_id": "a", "text": " "}', "f:1: query a has no text"),
        ('{"_id": "a", "text": "\\ud800"}', "f:1: the text of query a contains an unpaired surrogate"),
        ("a\tx\na\ty", "f:2: query a appears above with a different text"),
        ("just words", "f:1: neither a JSON object nor an id, a tab and a text"),
        ("\n \n", "f: the file has no queries"),
    ]:
        assert mistake(text).startswith(reason), text


def test_query_repeated_word_for_word_is_one_query() -> None:
    assert parse_queries("a\tx\na\tx", name="f") == {"a": "x"}


def test_judgements_are_read_in_every_format() -> None:
    beir, trec = parse_qrels(BEIR, name="f"), parse_qrels(TREC, name="f")

    assert beir.rows == (Qrel("q1", "doc 1", 2), Qrel("q2", "d2", 0))
    assert trec.rows == (Qrel("q1", "d1", 2), Qrel("q2", "d2", 0))
    assert parse_qrels(BEIR.split("\n", 1)[1], name="f") == beir


def test_quepid_queries_are_named_by_text_and_unrated_rows_skipped() -> None:
    found = parse_qrels('query,docid,rating\n"star, wars",d1,3\nstar trek,d2,\n', name="f")

    assert found.rows == (Qrel(query_id("star, wars"), "d1", 3),)
    assert found.texts == {query_id("star, wars"): "star, wars", query_id("star trek"): "star trek"}


def test_bad_judgement_is_reported_with_its_line() -> None:
    for text, reason in [
        ("q1\td1\tgood\nq1\td1\t1", "f:1: the grade 'good' is not an integer"),
        ("query-id\tcorpus-id\tscore\nquery-id\tcorpus-id\tscore", "f:2: the grade 'score'"),
        ("q1 0 d1 1\nq1 0 d1", "f:2: found 3 columns, expected 4 columns"),
        ("q1\td1\t1\nq1 0 d2 1", "f:2: found 1 columns, expected 3 tab-separated columns"),
        ("q1 0 d1 1.5", "f:1: the grade '1.5'"),
        ("q1 0 d1 ٣", "f:1: the grade '٣'"),
        ("q 1\td1\t1", "f:1: the query id 'q 1'"),
        ("q1\t \t1", "f:1: the document is missing"),
        ("query,docid,rating\na,b", "f:2: found 2 columns, expected 3 as in the header"),
        ('query,docid,rating\n"a,b,1', "f:2: unexpected end of data"),
        ("query,docid,rating\n", "f: the file has no judgements"),
        ("", "f: the file has no judgements"),
    ]:
        assert mistake(text, "qrels").startswith(reason), text


def test_unreadable_file_has_the_same_codes(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"q1\t\xe4")

    for read, code in ((read_queries, "bad_queries"), (read_qrels, "bad_qrels")):
        for name in ("nowhere", "latin"):
            with pytest.raises(UsageError) as caught:
                read(tmp_path / name)
            assert caught.value.code == code


def test_written_files_are_read_back() -> None:
    rows = (Qrel("q1", "docs/a.md", 3), Qrel("q2", "b", 0))
    queries = {"q1": 'say "hi"', "q2": "ö"}

    assert parse_queries("".join(queries_lines(queries)), name="f") == queries
    assert parse_qrels("".join(qrels_lines(rows, "beir")), name="f").rows == rows
    assert parse_qrels("".join(qrels_lines(rows, "trec")), name="f").rows == rows


def test_quepid_texts_keep_commas_quotes_and_lines() -> None:
    rows = (Qrel("q1", "docs/a,b.md", 3), Qrel("q2", "b", 0), Qrel("q1", "c", -1))
    texts = {"q1": 'say "hi", twice', "q2": "two\nlines"}

    read = parse_qrels("".join(quepid_lines(rows, texts)), name="f")

    assert [(read.texts[row.query], row.document, row.grade) for row in read.rows] == [
        (texts[row.query], row.document, row.grade) for row in rows
    ]


def test_query_file_is_not_a_judgement_file(tmp_path: Path) -> None:
    for text, queries in [
        ('\n{"_id": "q1", "text": "one"}\n', True),
        ("q1\tone\n", True),
        ("q1\tdocs/a.md\t1\n", False),
        ("q1 0 docs/a.md 1\n", False),
        ("q1\t0\tdocs/a.md\t1\n", False),
        ("query,docid,rating\none,a.md,1\n", False),
        ("", False),
    ]:
        (tmp_path / "file").write_text(text, encoding="utf-8")

        assert holds_queries(tmp_path / "file") is queries, text


def test_run_is_ordered_by_score_then_rank() -> None:
    run = "q1 Q0 b 2 1.5 x\nq1 Q0 a 1 1.5 x\nq1 Q0 c 9 2e1 x\nq2 Q0 a 1 -1 x\n"

    assert parse_run(run, name="f") == {"q1": ["c", "a", "b"], "q2": ["a"]}


def test_written_run_is_read_back_with_falling_scores() -> None:
    rankings = {"q1": [("z", 0.5), ("a", 0.5), ("m", 0.499999), ("b", 0.7), ("c", 0.1)], "q2": [("a", -1.0)]}

    text = "".join(run_lines(rankings, tag="t"))

    assert [line.split()[2:5] for line in text.splitlines()] == [
        ["z", "1", "0.500000"],
        ["a", "2", "0.499999"],
        ["m", "3", "0.499998"],
        ["b", "4", "0.499997"],
        ["c", "5", "0.100000"],
        ["a", "1", "-1.000000"],
    ]
    assert parse_run(text, name="f") == {"q1": ["z", "a", "m", "b", "c"], "q2": ["a"]}


def test_bad_run_is_reported_with_its_line() -> None:
    for text, reason in [
        ("q1 Q0 a 1 1", "f:1: found 5 columns, expected 6"),
        ("q1 Q0 a 1 x t", "f:1: the score 'x' is not a number"),
        ("q1 Q0 a 1 nan t", "f:1: the score 'nan' is not finite"),
        ("q1 Q0 a one 1 t", "f:1: the rank 'one' is not an integer"),
        ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t", "f:2: query q1 has document a twice"),
        (" ", "f: the file has no hits"),
    ]:
        assert mistake(text, "run").startswith(reason), text
