"""The queries of an evaluation and their judgements: from files, from the store, or both; by document or by chunk."""

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
"""A unit as figures name it."""


class Graded(NamedTuple):
    """What judgements say of items that can be ranked: documents by their path, chunks by path and offset.

    grades: query to item to grade.  unknown: the items that the store does not hold.
    lines: of each graded chunk, its path and its first and last line.
    """

    grades: Mapping[str, Mapping[str, int]]
    unknown: frozenset[str]
    lines: Mapping[str, tuple[str, int, int]]


def unit_of(judgements: Collection[Judgement]) -> Unit:
    """Return the default unit of judgements in a store: chunks, if every one is of a chunk or a span.

    One of a whole document does not say which of its chunks is relevant, while one of a chunk says that its document
    is: judgements of both sorts have documents in common.
    """
    return "chunk" if judgements and not whole(judgements) else "doc"


def whole(judgements: Iterable[Judgement]) -> int:
    """Return how many judgements are of a whole document."""
    return sum(each.spot[1:] == WHOLE for each in judgements)


def grade_items(store: Store, names: Names, judgements: Collection[Judgement], unit: Unit) -> Graded:
    """Return the grades of documents or of chunks. A document has the highest grade of its spans.

    A chunk has the highest of the judgements that stand for it, as the workbench shows it; one of a whole document
    stands for every chunk of it. A judgement that stands for no live chunk is an item that no ranking has.
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
    """Return a chunk as rankings and grades name it."""
    return f"{path}[{offset}]"


def items(keys: Iterable[Key], unit: Unit) -> tuple[str, ...]:
    """Return candidates as rankings name them, in their order."""
    return tuple(key.path if unit == "doc" else item(key.path, key.offset) for key in keys)


def ranked_as(plan: Plan, unit: Unit) -> Plan:
    """Return the plan with a row for each document, or for each chunk, copies of a text too."""
    if unit == "doc":
        return plan._replace(table="doc")
    return plan._replace(config=plan.config._replace(collapse=False))


class _Chunks:
    """Where the chunks of documents stand, each document looked up once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[tuple[Spot, int, int], ...]] = {}

    def of(self, path: str) -> tuple[tuple[Spot, int, int], ...]:
        """Return the place of each chunk with its first and last line, by offset; none for an unknown document."""
        if path not in self._known:
            doc_id = self._store.document_at(path)
            chunks = [row.chunk for row in self._store.chunks_of(doc_id)] if doc_id is not None else []
            self._known[path] = tuple(
                (Spot(path, each.offset, each.end), each.line_start, each.line_end) for each in chunks
            )
        return self._known[path]


class Questions(NamedTuple):
    """What is asked. grades: query to document or chunk to grade, of evaluated queries, shorter ids first, so
    that numbers stand in their order and the same queries give the same figures wherever they come from.

    unit: what is graded and ranked.
    unjudged and without_relevant: queries passed over, because nothing or nothing relevant is known for them.
    judgements: graded documents or chunks of the evaluated queries, and unknown: those among them that the store does
    not hold. lines: of each graded chunk, its path and its first and last line.
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
        """Return the highest grade."""
        return max(grade for grades in self.grades.values() for grade in grades.values())


def questions(
    store: Store, names: Names, *, queries: Path | None, qrels: Path | None, unit: Unit | None = None
) -> Questions:
    """Return the queries to evaluate; what no file gives comes from the store.

    unit: None for documents where a file gives the judgements, and what `unit_of` says of those in the store.
    Raises UsageError `no_judgements` when no query has a relevant document; `bad_queries`, `bad_qrels`, `bad_value`.
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
            "No query has a document that is judged relevant.",
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
    """Return the judgements under the ids that these texts have; only Quepid's files name queries by their text."""
    if not qrels.texts:
        return qrels
    ids = {text: query for query, text in reversed(list(texts.items()))}
    rows = tuple(row._replace(query=ids.get(qrels.texts[row.query], row.query)) for row in qrels.rows)
    return Qrels(rows, {ids.get(text, query): text for query, text in qrels.texts.items()})


def warnings(unknown: int, without_text: int, *, may_be_records: bool) -> tuple[str, ...]:
    """Return what has to be said about judgements that find no document, and those that find no query.

    may_be_records: where none finds its document, and a file of records was read as one.
    """
    said = []
    if unknown:
        said.append(
            f"W_UNKNOWN_DOCUMENT: {unknown} of the judgements name{'s' if unknown == 1 else ''} no document of this "
            "store, or more than one; none of those can be found"
            + (f"; {Hint('add', 'FILE', parser='jsonl')} makes a document of each record" if may_be_records else "")
        )
    if without_text:
        which = "judgement is of a query" if without_text == 1 else "judgements are of queries"
        said.append(f"W_UNKNOWN_QUERY: {without_text} {which} whose text is not given")
    return tuple(said)


def import_(store: Store, *, queries: Path | None, qrels: Path | None) -> JudgeResponse:
    """Read queries and judgements into the store: all of both files, or nothing. Doing it again changes nothing.

    A judgement of a query whose text neither a file nor the store has is left out, and a warning says so; one of a
    document that the store does not hold is kept for when it comes.
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
    """Write the store's queries and judgements, in the order of their ids, paths and spans.

    A document is called by the id of its record where that is enough to find it, else by its path.
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
