"""Files of queries, judgements and runs: BEIR, TREC, JSON lines and Quepid, told apart by what stands in them."""

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
    """One judgement as a file has it: how relevant a document, by the file's name for it, is to a query."""

    query: str
    document: str
    grade: int


class Qrels(NamedTuple):
    """The judgements of a file, in file order, and the texts of queries where the file brings them (Quepid)."""

    rows: tuple[Qrel, ...]
    texts: dict[str, str]


def read_queries(path: Path) -> dict[str, str]:
    """Return the text of each query by its id, in file order. Raises UsageError `bad_queries`."""
    return parse_queries(_text(path, "bad_queries", _QUERIES_HINT), name=str(path))


def parse_queries(text: str, *, name: str) -> dict[str, str]:
    """Return the text of each query by its id, from JSON lines (`_id` or `id`, `text`) or lines of id, tab and text.

    Empty lines are passed over; further keys are ignored; a line repeated word for word is one query. name: the
    file, for messages. Raises UsageError `bad_queries` with the line and what was expected there.
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
            raise _bad_query(where, f"query {query} has another text above")
    if not found:
        raise _bad_query(name, "there is no query")
    return found


def read_qrels(path: Path) -> Qrels:
    """Return the judgements of a file. Raises UsageError `bad_qrels`."""
    return parse_qrels(_text(path, "bad_qrels", _QRELS_HINT), name=str(path))


def parse_qrels(text: str, *, name: str) -> Qrels:
    """Parse judgements of BEIR (three columns between tabs), TREC (four between blanks) or Quepid (CSV with a head).

    Grades are whole numbers from -9999 to 9999. name: the file, for messages. Raises UsageError `bad_qrels` with the
    line and what was expected there.
    """
    lines = list(_lines(text))
    if not lines:
        _bad_qrel(name, "there is no judgement")
    head = lines[0][1]
    names = {name.strip().strip('"').lower() for name in head.split(",")}
    if {"query", "rating"} <= names and names & _QUEPID_IDS:
        return _quepid(text, name)
    columns = 3 if head.count("\t") == 2 else 4
    rows = []
    for number, line in lines:
        cells = line.split("\t") if columns == 3 else line.split()
        if len(cells) != columns:
            expected = "3 columns between tabs" if columns == 3 else "4 columns: query, 0, document, grade"
            _bad_qrel(f"{name}:{number}", f"there are {len(cells)} columns, not {expected}")
        if columns == 3 and number == lines[0][0] and cells[-1].strip().lower() in _GRADE_HEADS:
            continue
        rows.append(_qrel(cells[0], cells[-2], cells[-1], f"{name}:{number}"))
    return Qrels(tuple(rows), {})


def queries_lines(queries: Mapping[str, str]) -> Iterator[str]:
    """Yield the queries as BEIR JSON lines, in the order given."""
    for query, text in queries.items():
        yield json.dumps({"_id": query, "text": text}, ensure_ascii=False) + "\n"


def holds_queries(path: Path) -> bool:
    """Return True if a file begins as queries do, and not as judgements. Raises UsageError `bad_qrels`."""
    _, first = next(_lines(_text(path, "bad_qrels", _QRELS_HINT)), (0, ""))
    return first.lstrip().startswith("{") or first.count("\t") == 1


def qrels_lines(rows: Iterable[Qrel], form: Literal["beir", "trec"]) -> Iterator[str]:
    """Yield the judgements as BEIR's or TREC's lines, in the order given."""
    if form == "beir":
        yield "query-id\tcorpus-id\tscore\n"
    between = "\t" if form == "beir" else " 0 "
    last = "\t" if form == "beir" else " "
    for row in rows:
        yield f"{row.query}{between}{row.document}{last}{row.grade}\n"


def quepid_lines(rows: Iterable[Qrel], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the judgements as Quepid's CSV, in the order given. texts: of the queries, used in place of ids."""
    yield "query,docid,rating\n"
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow((texts[row.query], row.document, row.grade))
        yield line.getvalue()


def _text(path: Path, code: str, hint: str) -> str:
    """Return the whole file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(code, f"{path} cannot be read: {why_unread(error)}.", hint=hint) from error


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines that are not blank, without their ends."""
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
        raise _bad_query(where, "it has no id that is a string or a whole number")
    if not isinstance(words, str):
        raise _bad_query(where, 'it has no string under "text"')
    return str(query), words


def _tab_query(line: str, where: str) -> tuple[str, str]:
    query, tab, words = line.partition("\t")
    if not tab:
        raise _bad_query(where, "neither a JSON object nor an id, a tab and a text")
    return query, words


def _check_query(query: str, words: str, where: str) -> None:
    if not is_query_id(query):
        raise _bad_query(where, f"the id {query!r} has blanks or unprintable characters, or is empty")
    if not words.strip():
        raise _bad_query(where, f"query {query} has no text")
    if not is_storable(words):
        raise _bad_query(where, f"the text of query {query} has half a surrogate pair")
    if len(words) > LONGEST_QUESTION:
        count = f"{len(words):,} characters; {LONGEST_QUESTION:,} are allowed"
        raise _bad_query(where, f"the text of query {query} has {count}")


def is_query_id(query: str) -> bool:
    """Return True if every format can carry this id: TREC files separate by blanks."""
    return bool(query) and query.isprintable() and " " not in query


def _qrel(query: str, document: str, grade: str, where: str) -> Qrel:
    document = document.strip()
    if not is_query_id(query):
        _bad_qrel(where, f"the query id {query!r} has blanks or unprintable characters, or is empty")
    if not document or not is_storable(document):
        _bad_qrel(where, "there is no document")
    number = _GRADE.fullmatch(grade.strip())
    if number is None:
        _bad_qrel(where, f"the grade {grade.strip()!r} is not a whole number from -9999 to 9999")
    return Qrel(query, document, int(number[1]))


def _quepid(text: str, name: str) -> Qrels:
    """Rows of query text, document and rating; an unrated one is no judgement. A query's id is made of its text."""
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
                _bad_qrel(where, f"there are {len(cells)} columns, not the header's {len(head)}")
            words, rating, document = (cells[place] for place in places)
            query = query_id(words)
            _check_query(query, words, where)
            texts[query] = words
            if rating.strip():
                rows.append(_qrel(query, document, rating, where))
    except (csv.Error, ValueError) as error:
        raise UsageError("bad_qrels", f"{name}:{reader.line_num}: {error}.", hint="query,docid,rating") from error
    if not rows:
        _bad_qrel(name, "there is no judgement")
    return Qrels(tuple(rows), texts)


def query_id(words: str) -> str:
    """Return the id of a query that was given none: the same for the same text."""
    return f"q-{sha256(words.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _bad_query(where: str, reason: str) -> UsageError:
    return UsageError("bad_queries", f"{where}: {reason}.", hint=_QUERIES_HINT)


def _bad_qrel(where: str, reason: str) -> NoReturn:
    raise UsageError("bad_qrels", f"{where}: {reason}.", hint=_QRELS_HINT)


_BITS_OF_A_FLOAT = 23  # of the fraction, in 32
_HINT = "q1 Q0 doc1 1 12.5 name on each line"


def parse_run(text: str, *, name: str) -> dict[str, list[str]]:
    """Return the documents of each query, best first: by score, equal scores by rank, then as they stand.

    name: the file, for messages. Raises UsageError `bad_run` with the line and what was expected there.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for number, line in _lines(text):
        cells = line.split()
        where = f"{name}:{number}"
        if len(cells) != 6:
            raise _bad(where, f"there are {len(cells)} columns, not 6: query, Q0, document, rank, score, name")
        query, _, document, rank, score, _ = cells
        hits = found.setdefault(query, {})
        if document in hits:
            raise _bad(where, f"query {query} has the document {document} above")
        if not (rank.isascii() and rank.isdigit() and len(rank) < 10):
            raise _bad(where, f"the rank {rank!r} is not a whole number")
        hits[document] = (-_score(score, where), int(rank))
    if not found:
        raise _bad(name, "there is no hit")
    return {query: sorted(hits, key=hits.__getitem__) for query, hits in found.items()}


def run_lines(rankings: Mapping[str, Sequence[tuple[str, float]]], *, tag: str) -> Iterator[str]:
    """Return the lines of a run: queries as given, their documents with their scores best first, under this tag.

    Evaluators order by score and break ties by the document's name. So each score is below the one above it: where
    it is not so by itself, by a millionth, or by what a float of 32 bits can tell, in which trec_eval reads it.
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
    """Return a run file's or baseline's text. Raises UsageError `bad_baseline`."""
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
