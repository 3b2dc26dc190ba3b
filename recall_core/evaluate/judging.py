"""Judgements on their way between files and the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from recall_core import respond
from recall_core.contract import Response
from recall_core.contract.evaluation import JudgedView
from recall_core.errors import UsageError
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
from recall_core.evaluate.judgements import located, names_of, put, stored, stored_queries
from recall_core.evaluate.questions import warnings, with_ids
from recall_core.store.sqlite.store import SqliteStore


def import_(store: SqliteStore, *, queries: Path | None, qrels: Path | None) -> Response:
    """Read queries and judgements into the store: all of both files, or nothing. Doing it again changes nothing.

    A judgement of a query whose text neither a file nor the store has is left out, and a warning says so; one of a
    document that the store does not hold is kept for when it comes.
    Raises UsageError `missing_argument`, `bad_queries`, `bad_qrels`, `query_conflict`.
    """
    if queries is None and qrels is None:
        raise UsageError("missing_argument", "judge import needs --queries or --qrels.", hint="--qrels FILE")
    file = Qrels((), {}) if qrels is None else read_qrels(qrels)
    known = stored_queries(store)
    texts = {} if queries is None else read_queries(queries)
    file = with_ids(file, known | texts)
    texts = file.texts | texts
    names = names_of(store)
    rows = [row for row in file.rows if row.query in texts or row.query in known]
    found = located(rows, names)
    put(store, texts, found.judgements)
    view = JudgedView(
        queries=len(texts), judgements=len({each[:2] for each in found.judgements}), unknown=found.unknown
    )
    left_out = {row[:2] for row in file.rows} - {row[:2] for row in rows}
    may_be_records = names.has_uncut and found.unknown == view["judgements"]
    return respond.ok(
        judged=view, warnings=list(warnings(found.unknown, len(left_out), may_be_records=may_be_records))
    )


def export(store: SqliteStore, *, queries: TextIO | None, qrels: TextIO | None, form: QrelsFormat) -> Response:
    """Write the store's queries and judgements, in the order of their ids, paths and spans.

    A document is called by the id of its record where that is enough to find it, else by its path.
    """
    with store.reading():
        names = names_of(store)
        texts, found = stored_queries(store), stored(store, names)
    rows = [Qrel(each.query, names.name(each.spot), each.grade) for each in found.judgements]
    _write(queries, queries_lines(texts))
    _write(qrels, quepid_lines(rows, texts) if form == "quepid" else qrels_lines(rows, form))
    view = JudgedView(
        queries=len(texts) if queries is not None else 0,
        judgements=len(rows) if qrels is not None else 0,
        unknown=found.unknown,
    )
    return respond.ok(judged=view, warnings=list(warnings(found.unknown, 0, may_be_records=False)))


def _write(out: TextIO | None, lines: Iterable[str]) -> None:
    if out is not None:
        out.writelines(lines)
