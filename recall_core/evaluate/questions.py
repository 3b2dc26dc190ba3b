"""The queries of an evaluation and their judgements, from files, the store or both, by document or chunk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TextIO, get_args

from recall_core.contract import OK
from recall_core.contract.judging import JudgedView
from recall_core.contract.responses import JudgeResponse
from recall_core.errors import UsageError, expect_choice
from recall_core.evaluate.formats import (
    Qrel,
    Qrels,
    QrelsFormat,
    qrels_lines,
    quepid_lines,
    queries_lines,
    read_qrels,
    read_queries,
)
from recall_core.evaluate.judgements import (
    WHOLE,
    Judgement,
    Names,
    Spot,
    by_document,
    locate,
    names_of,
    put,
    read_stored,
    stands_for,
)
from recall_core.retrieve.plan import Plan
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store
from recall_core.types import Key

Unit = Literal["chunk", "doc"]
PLURAL: Mapping[Unit, str] = {"chunk": "chunks", "doc": "documents"}
"""The plural of each unit, for messages."""


class Graded(NamedTuple):
    """The grades of rankable items: documents by path, chunks by path and offset.

    grades: query to item to grade.
    unknown: the items that are not in the store.
    lines: path, first and last line of each graded chunk.
    """

    grades: Mapping[str, Mapping[str, int]]
    unknown: frozenset[str]
    lines: Mapping[str, tuple[str, int, int]]


def unit_of(judgements: Collection[Judgement]) -> Unit:
    """Return the default unit of the store's judgements: chunks, if all of them are of chunks or spans.

    A judgement of a chunk also covers its document, but a judgement of a document does not tell which chunk is
    relevant. So mixed judgements use documents.
    """
    return "chunk" if judgements and not whole(judgements) else "doc"


def whole(judgements: Iterable[Judgement]) -> int:
    """Return how many judgements are of a whole document."""
    return sum(each.spot[1:] == WHOLE for each in judgements)


def grade_items(store: Store, names: Names, judgements: Collection[Judgement], unit: Unit) -> Graded:
    """Return the grades of documents or of chunks. A document has the highest grade of its spans.

    A chunk has the highest grade of the judgements that count for it, as in the workbench. A judgement of a whole
    document counts for each of its chunks. A judgement that matches no live chunk becomes an item in no ranking.
    """
    if unit == "doc":
        grades = by_document(judgements)
        paths = {path for documents in grades.values() for path in documents}
        return Graded(grades, frozenset(path for path in paths if path not in names), {})
    last = {(each.query, each.spot): each for each in judgements}
    chunks = _Chunks(store)
    found: dict[str, dict[str, int]] = {}
    lines: dict[str, tuple[str, int, int]] = {}
    unknown: set[str] = set()
    by_path = defaultdict[tuple[str, str], list[Judgement]](list)
    for each in last.values():
        by_path[each.query, each.spot.path].append(each)
    for (query, path), judged in by_path.items():
        grades_of = found.setdefault(query, {})
        left = dict.fromkeys(each.spot for each in judged)
        for spot, first, end in chunks.of(path):
            standing = [each for each in judged if stands_for(each.spot, spot)]
            if standing:
                name = item(path, spot.offset)
                grades_of[name] = max(each.grade for each in standing)
                lines[name] = (path, first, end)
                for each in standing:
                    left.pop(each.spot, None)
        absent = {
            path if each.spot[1:] == WHOLE else f"{path}[{each.spot.offset}:{each.spot.end}]": each.grade
            for each in judged
            if each.spot in left
        }
        grades_of.update(absent)
        unknown.update(absent)
    return Graded(found, frozenset(unknown), lines)


def item(path: str, offset: int) -> str:
    """Return the name of a chunk in rankings and grades."""
    return f"{path}[{offset}]"


def items(keys: Iterable[Key], unit: Unit) -> tuple[str, ...]:
    """Return the names of candidates in rankings, in order."""
    return tuple(key.path if unit == "doc" else item(key.path, key.offset) for key in keys)


def ranked_as(plan: Plan, unit: Unit) -> Plan:
    """Return the plan with a row for each document, or for each chunk, including copies of a text."""
    if unit == "doc":
        return plan._replace(table="doc")
    return plan._replace(config=plan.config._replace(collapse=False))


class _Chunks:
    """The spots of chunks, with one lookup per document."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[tuple[Spot, int, int], ...]] = {}

    def of(self, path: str) -> tuple[tuple[Spot, int, int], ...]:
        """Return the spot, first and last line of each chunk, by offset; empty for an unknown document."""
        if path not in self._known:
            doc_id = self._store.document_at(path)
            chunks = [row.chunk for row in self._store.chunks_of(doc_id)] if doc_id is not None else []
            self._known[path] = tuple(
                (Spot(path, each.offset, each.end), each.line_start, each.line_end) for each in chunks
            )
        return self._known[path]


class Questions(NamedTuple):
    """The queries of an evaluation.

    grades: query to document or chunk to grade, of evaluated queries. Shorter ids come first, so that numbers are in
    order and the same queries from any source give the same figures.
    unit: what is graded and ranked.
    unjudged, without_relevant: queries skipped because they have no judgement, or no relevant one.
    judgements: the number of graded documents or chunks of the evaluated queries.
    unknown: how many of these are not in the store.
    lines: path, first and last line of each graded chunk.
    """

    unit: Unit

    texts: dict[str, str]
    grades: Mapping[str, Mapping[str, int]]
    unjudged: int
    without_relevant: int
    judgements: int
    unknown: int
    lines: Mapping[str, tuple[str, int, int]]
    warnings: tuple[str, ...]

    @property
    def best(self) -> int:
        """The highest grade."""
        return max(grade for grades in self.grades.values() for grade in grades.values())


def questions(
    store: Store, names: Names, *, queries: Path | None, qrels: Path | None, unit: Unit | None = None
) -> Questions:
    """Return the queries to evaluate, from the files or else the store.

    unit: None for documents if a file contains the judgements, else `unit_of` the stored ones.
    Raises UsageError `no_judgements` if no query has a relevant document; `bad_queries`, `bad_qrels`, `bad_value`.
    """
    if unit is not None:
        expect_choice("unit", unit, get_args(Unit))
    file = None if qrels is None else read_qrels(qrels)
    texts = read_queries(queries) if queries is not None else (file.texts if file else {}) or store.judged_queries()
    found = read_stored(store, names) if file is None else locate(with_ids(file, texts).rows, names)
    wanted = [each for each in found.judgements if each.query in texts]
    unit = unit or ("doc" if file is not None else unit_of(wanted))
    judged, absent, lines = grade_items(store, names, wanted, unit)
    asked = sorted(texts, key=lambda query: (len(query), query))
    grades = {query: judged[query] for query in asked if any(grade >= 1 for grade in judged.get(query, {}).values())}
    if not grades:
        raise UsageError(
            "no_judgements",
            "No query has a relevant judgement.",
            hint=Hint("judge import", queries="FILE", qrels="FILE"),
        )
    unjudged = sum(query not in judged for query in texts)
    unknown = sum(name in absent for items in grades.values() for name in items)
    judgements = sum(map(len, grades.values()))
    may_be_records = names.has_uncut and unknown == judgements
    return Questions(
        unit=unit,
        texts={query: texts[query] for query in grades},
        grades=grades,
        unjudged=unjudged,
        without_relevant=len(texts) - len(grades) - unjudged,
        judgements=judgements,
        unknown=unknown,
        lines=lines,
        warnings=(
            *warnings(
                unknown, sum(each.query not in texts for each in found.judgements), may_be_records=may_be_records
            ),
            *(_of_whole_documents(whole(wanted)) if unit == "chunk" else ()),
        ),
    )


def with_ids(qrels: Qrels, texts: Mapping[str, str]) -> Qrels:
    """Return the judgements with the query ids of these texts. Only Quepid files name queries by text."""
    if not qrels.texts:
        return qrels
    ids = {text: query for query, text in reversed(list(texts.items()))}
    rows = tuple(row._replace(query=ids.get(qrels.texts[row.query], row.query)) for row in qrels.rows)
    return Qrels(rows, {ids.get(text, query): text for query, text in qrels.texts.items()})


def warnings(unknown: int, without_text: int, *, may_be_records: bool) -> tuple[str, ...]:
    """Return warnings about judgements without a known document, and judgements without a known query.

    may_be_records: True if no judgement finds its document and a file of records was read as one document.
    """
    messages = []
    if unknown:
        messages.append(
            f"W_UNKNOWN_DOCUMENT: {unknown} of the judgements name{'s' if unknown == 1 else ''} no document of this "
            "store, or more than one; no search can find them"
            + (f"; {Hint('add', 'FILE', parser='jsonl')} reads each record as a document" if may_be_records else "")
        )
    if without_text:
        which = "judgement is of a query" if without_text == 1 else "judgements are of queries"
        messages.append(f"W_UNKNOWN_QUERY: {without_text} {which} without a text")
    return tuple(messages)


def import_(store: Store, *, queries: Path | None, qrels: Path | None) -> JudgeResponse:
    """Read queries and judgements into the store, all or nothing. Repeating it changes nothing.

    A judgement of a query without a text is skipped with a warning. A judgement of a document that is not in the
    store is kept for later.
    Raises UsageError `missing_argument`, `bad_queries`, `bad_qrels`, `query_conflict`.
    """
    if queries is None and qrels is None:
        message = f"judge import needs {flag('queries')} or {flag('qrels')}."
        raise UsageError("missing_argument", message, hint=Hint(AGAIN, qrels="FILE"))
    file = Qrels((), {}) if qrels is None else read_qrels(qrels)
    known = store.judged_queries()
    texts = {} if queries is None else read_queries(queries)
    file = with_ids(file, known | texts)
    texts = file.texts | texts
    names = names_of(store)
    rows = [row for row in file.rows if row.query in texts or row.query in known]
    found = locate(rows, names)
    put(store, texts, found.judgements)
    view = JudgedView(
        queries=len(texts), judgements=len({each[:2] for each in found.judgements}), unknown=found.unknown
    )
    left_out = {row[:2] for row in file.rows} - {row[:2] for row in rows}
    may_be_records = names.has_uncut and found.unknown == view["judgements"]
    return {
        **OK,
        "judged": view,
        "warnings": list(warnings(found.unknown, len(left_out), may_be_records=may_be_records)),
    }


def export(store: Store, *, queries: TextIO | None, qrels: TextIO | None, form: QrelsFormat) -> JudgeResponse:
    """Write the store's queries and judgements, in order of id, path and span.

    A document's name is its record id if that is enough to find it, else its path.
    Raises UsageError `bad_value`.
    """
    expect_choice("form", form, get_args(QrelsFormat))
    with store.reading():
        names = names_of(store)
        texts, found = store.judged_queries(), read_stored(store, names)
    rows = [Qrel(each.query, names.name(each.spot), each.grade) for each in found.judgements]
    _write(queries, queries_lines(texts))
    _write(qrels, quepid_lines(rows, texts) if form == "quepid" else qrels_lines(rows, form))
    view = JudgedView(
        queries=len(texts) if queries is not None else 0,
        judgements=len(rows) if qrels is not None else 0,
        unknown=found.unknown,
    )
    return {**OK, "judged": view, "warnings": list(warnings(found.unknown, 0, may_be_records=False))}


def _of_whole_documents(count: int) -> Iterator[str]:
    if count:
        which = (
            "judgement is of a whole document and counts"
            if count == 1
            else "judgements are of whole documents and count"
        )
        yield f"W_UNIT: {count} {which} for every chunk of it; {Hint(AGAIN, unit='doc')} measures documents"


def _write(out: TextIO | None, lines: Iterable[str]) -> None:
    if out is not None:
        out.writelines(lines)
