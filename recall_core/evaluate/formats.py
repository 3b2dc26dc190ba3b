"""Files of queries, judgements and runs: BEIR, TREC, JSON lines and Quepid, detected by content."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

from recall_core.errors import UsageError, why_unread
from recall_core.ingest.metadata import KeyTwice, unique, why_no_json
from recall_core.rank.weighing import DECIMALS, MILLION
from recall_core.retrieve.plan import LONGEST_QUESTION
from recall_core.shell import AGAIN, Hint
from recall_core.text import is_storable

QrelsFormat = Literal["beir", "trec", "quepid"]
_GRADE = re.compile(r"([+-]?[0-9]{1,4})(?:\.0+)?")
_QUERY_HEADS = {"id", "_id", "qid", "query-id", "query_id"}
_GRADE_HEADS = {"score", "grade", "rel", "relevance", "rating", "label"}
_QUEPID_IDS = {"docid", "doc_id", "doc id"}
_QUERIES_HINT = '{"_id": "q1", "text": "…"} or q1<TAB>… on each line'
_QRELS_HINT = "q1<TAB>doc1<TAB>1 (BEIR) or q1 0 doc1 1 (TREC) on each line"


class Qrel(NamedTuple):
    """A judgement from a file: how relevant a document, by its name in the file, is to a query."""

    query: str
    document: str
    grade: int


class Qrels(NamedTuple):
    """The judgements of a file, in file order, and the query texts if the file contains them (Quepid)."""

    rows: tuple[Qrel, ...]
    texts: dict[str, str]


def read_queries(path: Path) -> dict[str, str]:
    """Return the text of each query by its id, in file order. Raises UsageError `bad_queries`."""
    return parse_queries(_text(path, "bad_queries", _QUERIES_HINT), name=str(path))


def parse_queries(text: str, *, name: str) -> dict[str, str]:
    """Return the text of each query by its id, from JSON lines (`_id` or `id`, `text`) or lines of id, tab and text.

    Empty lines, other keys and repeated lines are ignored. name: the file, for messages. Raises UsageError
    `bad_queries` with the line and the expected format.
    """
    found: dict[str, str] = {}
    lines = list(_lines(text))
    read = _json_query if lines and lines[0][1].lstrip().startswith("{") else _tab_query
    for number, line in lines:
        where = f"{name}:{number}"
        query, words = read(line, where)
        if read is _tab_query and not found and query.lower() in _QUERY_HEADS:
            continue
        _check_query(query, words, where)
        if found.setdefault(query, words) != words:
            raise _bad_query(where, f"query {query} appears above with a different text")
    if not found:
        raise _bad_query(name, "the file has no queries")
    return found


def read_qrels(path: Path) -> Qrels:
    """Return the judgements of a file. Raises UsageError `bad_qrels`."""
    return parse_qrels(_text(path, "bad_qrels", _QRELS_HINT), name=str(path))


def parse_qrels(text: str, *, name: str) -> Qrels:
    """Parse judgements of BEIR (3 tab-separated columns), TREC (4 blank-separated ones) or Quepid (CSV with a
    header).

    Grades are integers from -9999 to 9999. name: the file, for messages. Raises UsageError `bad_qrels` with the line
    and the expected format.
    """
    lines = list(_lines(text))
    if not lines:
        _bad_qrel(name, "the file has no judgements")
    head = lines[0][1]
    names = {name.strip().strip('"').lower() for name in head.split(",")}
    if {"query", "rating"} <= names and names & _QUEPID_IDS:
        return _quepid(text, name)
    columns = 3 if head.count("\t") == 2 else 4
    rows = []
    for number, line in lines:
        cells = line.split("\t") if columns == 3 else line.split()
        if len(cells) != columns:
            expected = "3 tab-separated columns" if columns == 3 else "4 columns: query, 0, document, grade"
            _bad_qrel(f"{name}:{number}", f"found {len(cells)} columns, expected {expected}")
        if columns == 3 and number == lines[0][0] and cells[-1].strip().lower() in _GRADE_HEADS:
            continue
        rows.append(_qrel(cells[0], cells[-2], cells[-1], f"{name}:{number}"))
    return Qrels(tuple(rows), {})


def queries_lines(queries: Mapping[str, str]) -> Iterator[str]:
    """Yield the queries as BEIR JSON lines, in the given order."""
    for query, text in queries.items():
        yield json.dumps({"_id": query, "text": text}, ensure_ascii=False) + "\n"


def holds_queries(path: Path) -> bool:
    """Return True if the file starts with queries, not judgements. Raises UsageError `bad_qrels`."""
    _, first = next(_lines(_text(path, "bad_qrels", _QRELS_HINT)), (0, ""))
    return first.lstrip().startswith("{") or first.count("\t") == 1


def qrels_lines(rows: Iterable[Qrel], form: Literal["beir", "trec"]) -> Iterator[str]:
    """Yield the judgements as BEIR or TREC lines, in the given order."""
    if form == "beir":
        yield "query-id\tcorpus-id\tscore\n"
    between = "\t" if form == "beir" else " 0 "
    last = "\t" if form == "beir" else " "
    for row in rows:
        yield f"{row.query}{between}{row.document}{last}{row.grade}\n"


def quepid_lines(rows: Iterable[Qrel], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the judgements as Quepid CSV, in the given order. texts: query texts, which replace ids."""
    yield "query,docid,rating\n"
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow((texts[row.query], row.document, row.grade))
        yield line.getvalue()


def _text(path: Path, code: str, hint: str) -> str:
    """Return the file's text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(code, f"{path} cannot be read: {why_unread(error)}.", hint=hint) from error


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield nonblank lines without line ends, with their numbers."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.removesuffix("\r")


def _json_query(line: str, where: str) -> tuple[str, str]:
    try:
        record: Any = json.loads(line, object_pairs_hook=unique)
    except KeyTwice as error:
        raise _bad_query(where, str(error)) from error
    except (ValueError, RecursionError) as error:
        spot = f" in column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise _bad_query(where, f"not valid JSON{spot}: {why_no_json(error)}") from error
    if not isinstance(record, dict):
        raise _bad_query(where, "not a JSON object")
    query = record.get("_id", record.get("id"))
    words = record.get("text")
    if isinstance(query, bool) or not isinstance(query, str | int):
        raise _bad_query(where, "the id is missing, or is not a string or an integer")
    if not isinstance(words, str):
        raise _bad_query(where, '"text" is missing or not a string')
    return str(query), words


def _tab_query(line: str, where: str) -> tuple[str, str]:
    query, tab, words = line.partition("\t")
    if not tab:
        raise _bad_query(where, "neither a JSON object nor an id, a tab and a text")
    return query, words


def _check_query(query: str, words: str, where: str) -> None:
    if not is_query_id(query):
        raise _bad_query(where, f"the id {query!r} is empty, or contains blanks or unprintable characters")
    if not words.strip():
        raise _bad_query(where, f"query {query} has no text")
    if not is_storable(words):
        raise _bad_query(where, f"the text of query {query} contains an unpaired surrogate")
    if len(words) > LONGEST_QUESTION:
        count = f"{len(words):,} characters; the limit is {LONGEST_QUESTION:,}"
        raise _bad_query(where, f"the text of query {query} has {count}")


def is_query_id(query: str) -> bool:
    """Return True if every format can store this id. TREC files use blanks as separators."""
    return bool(query) and query.isprintable() and " " not in query


def _qrel(query: str, document: str, grade: str, where: str) -> Qrel:
    document = document.strip()
    if not is_query_id(query):
        _bad_qrel(where, f"the query id {query!r} is empty, or contains blanks or unprintable characters")
    if not document or not is_storable(document):
        _bad_qrel(where, "the document is missing")
    number = _GRADE.fullmatch(grade.strip())
    if number is None:
        _bad_qrel(where, f"the grade {grade.strip()!r} is not an integer from -9999 to 9999")
    return Qrel(query, document, int(number[1]))


def _quepid(text: str, name: str) -> Qrels:
    """Parse rows of query text, document and rating. Unrated rows are skipped. A query's id comes from its text."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Qrel] = []
    texts: dict[str, str] = {}
    head: list[str] = []
    try:
        for cells in reader:
            where = f"{name}:{reader.line_num}"
            if not head:
                head = [cell.strip().lower() for cell in cells]
                places = head.index("query"), head.index("rating"), min(map(head.index, _QUEPID_IDS & set(head)))
                continue
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                _bad_qrel(where, f"found {len(cells)} columns, expected {len(head)} as in the header")
            words, rating, document = (cells[place] for place in places)
            query = query_id(words)
            _check_query(query, words, where)
            texts[query] = words
            if rating.strip():
                rows.append(_qrel(query, document, rating, where))
    except (csv.Error, ValueError) as error:
        raise UsageError("bad_qrels", f"{name}:{reader.line_num}: {error}.", hint="query,docid,rating") from error
    if not rows:
        _bad_qrel(name, "the file has no judgements")
    return Qrels(tuple(rows), texts)


def query_id(words: str) -> str:
    """Return an id for a query without one. The same text gets the same id."""
    return f"q-{sha256(words.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _bad_query(where: str, reason: str) -> UsageError:
    return UsageError("bad_queries", f"{where}: {reason}.", hint=_QUERIES_HINT)


def _bad_qrel(where: str, reason: str) -> NoReturn:
    raise UsageError("bad_qrels", f"{where}: {reason}.", hint=_QRELS_HINT)


_BITS_OF_A_FLOAT = 23  # fraction bits of a 32-bit float
_HINT = "q1 Q0 doc1 1 12.5 name on each line"


def parse_run(text: str, *, name: str) -> dict[str, list[str]]:
    """Return the documents of each query, best first: by score, then rank, then file order.

    name: the file, for messages. Raises UsageError `bad_run` with the line and the expected format.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for number, line in _lines(text):
        cells = line.split()
        where = f"{name}:{number}"
        if len(cells) != 6:
            raise _bad(where, f"found {len(cells)} columns, expected 6: query, Q0, document, rank, score, name")
        query, _, document, rank, score, _ = cells
        hits = found.setdefault(query, {})
        if document in hits:
            raise _bad(where, f"query {query} has document {document} twice")
        if not (rank.isascii() and rank.isdigit() and len(rank) < 10):
            raise _bad(where, f"the rank {rank!r} is not an integer")
        hits[document] = (-_score(score, where), int(rank))
    if not found:
        raise _bad(name, "the file has no hits")
    return {query: sorted(hits, key=hits.__getitem__) for query, hits in found.items()}


def run_lines(rankings: Mapping[str, Sequence[tuple[str, float]]], *, tag: str) -> Iterator[str]:
    """Yield the lines of a run under this tag: queries as given, each with its documents and scores, best first.

    Evaluators sort by score and break ties by document name. So each score is made lower than the previous one where
    needed: by a millionth, or by one step of a 32-bit float, which trec_eval uses.
    """
    for query, documents in rankings.items():
        above: int | None = None
        for rank, (document, score) in enumerate(documents, start=1):
            millionths = round(score * MILLION)
            if above is not None:
                millionths = min(millionths, above - 1 - (abs(above) >> _BITS_OF_A_FLOAT))
            above = millionths
            yield f"{query} Q0 {document} {rank} {millionths / MILLION:.{DECIMALS}f} {tag}\n"


def read_text(path: Path) -> str:
    """Return the text of a run file or baseline. Raises UsageError `bad_baseline`."""
    return _text(path, "bad_baseline", Hint(AGAIN, baseline="FILE"))


def _score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError as error:
        raise _bad(where, f"the score {text!r} is not a number") from error
    if not isfinite(score):
        raise _bad(where, f"the score {text!r} is not finite")
    return score


def _bad(where: str, reason: str) -> UsageError:
    return UsageError("bad_run", f"{where}: {reason}.", hint=_HINT)
