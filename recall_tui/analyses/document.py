"""A chunk in its document, with the words of the question; and documents whose paths hold what is being typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recall_core import retrieve
from recall_tui.state.analyses import Analysis
from recall_tui.state.explaining import DocumentPassage, LineMark, MarkKind, PassageLine, Paths, Stretch
from recall_tui.threads.analysis_thread import AnalysisRun

if TYPE_CHECKING:
    from pygments.token import _TokenType

    from recall_core.types import Row

AROUND = 10_000  # code points of a document on either side of the chunk: screens of text, and lexed in milliseconds

_KEPT = "passage"

_KEPT_MOST = 20

_KINDS: tuple[tuple[str, MarkKind], ...] = (
    ("Comment", "comment"),
    ("Literal.String", "string"),
    ("Keyword", "keyword"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "name"),
    ("Name.Attribute", "name"),
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
    ("Generic.Strong", "keyword"),
)


def document_passage(run: AnalysisRun, analysis: Analysis) -> DocumentPassage:
    """The document around the chunk with this id."""
    store, answer = run.recall.store, run.session.results.answer
    with store.reading():
        row = retrieve.targets.chunk(store, analysis.target, base=run.recall.engine.base)
        chunk = row.chunk
        first, last = max(0, chunk.offset - AROUND), chunk.end + AROUND
        rows = store.fetch(store.chunks_near(row.doc.id, first, last))
        more = store.fetch(store.chunks_near(row.doc.id, rows[-1].chunk.end - 1, rows[-1].chunk.end + AROUND))
    run.checkpoint()
    start, text = rows[0].chunk.offset, _text(rows)
    marks = _lexed(run, row.doc.path, (row.doc.id, start), text)
    phrases = [term.text for term in answer.pool.terms] if answer and answer.pool else []
    marks = sorted([*marks, *(LineMark(*span, "term") for span in store.spans([text], phrases)[0])])
    return DocumentPassage(
        path=row.doc.path,
        chunk_id=chunk.id,
        lines=tuple(_lines(text, start, rows[0].chunk.line_start, marks)),
        chunks=tuple(_stretch(each) for each in rows),
        from_start=start == 0,
        to_end=len(more) <= 1,
    )


def _text(rows: Sequence[Row]) -> str:
    """The text from the first chunk to the last, which overlap and leave no gap."""
    ends = [rows[0].chunk.offset, *(row.chunk.end for row in rows)]
    return "".join(row.chunk.text[end - row.chunk.offset :] for row, end in zip(rows, ends, strict=False))


def _stretch(row: Row) -> Stretch:
    chunk = row.chunk
    return Stretch(chunk.id, chunk.offset, chunk.end, chunk.line_start, chunk.line_end, chunk.tokens, chunk.place)


def _lines(text: str, start: int, number: int, marks: Sequence[LineMark]) -> Iterator[PassageLine]:
    """Each line with the marks that reach into it. marks: in code points of the text, by their start.

    A line break at the end ends the last line and begins none.
    """
    waiting = list(marks)
    offset = 0
    for at, line in enumerate(text.removesuffix("\n").split("\n"), start=number):
        end = offset + len(line)
        own = [mark for mark in waiting if mark.start < end]
        inside = tuple(LineMark(max(0, mark.start - offset), min(end, mark.end) - offset, mark.kind) for mark in own)
        yield PassageLine(at, start + offset, line, inside)
        waiting = [mark for mark in own if mark.end > end] + waiting[len(own) :]
        offset = end + 1


def _lexed(run: AnalysisRun, path: str, key: tuple[str, int], text: str) -> list[LineMark]:
    """What the language of the document makes of its text, kept for the next chunk of it."""
    kept = run.kept.setdefault(_KEPT, {})
    assert isinstance(kept, dict)  # noqa: S101 - nobody else keeps anything under this name
    if key not in kept:
        if len(kept) >= _KEPT_MOST:
            kept.pop(next(iter(kept)))
        kept[key] = len(text), language_marks(path, text)
    size, marks = kept[key]
    return marks if size == len(text) else language_marks(path, text)


def language_marks(path: str, text: str) -> list[LineMark]:
    """The kinds of words in a text, by the language of its path; none where that has no lexer."""
    from pygments.lexers import get_lexer_for_filename  # noqa: PLC0415 - only a passage is coloured
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    marks: list[LineMark] = []
    places = [at for at in range(len(text)) if text[at : at + 2] != "\r\n"]  # lexers see a \n in place of both
    at = 0
    for token, value in lexer.get_tokens(text):
        kind = _kind(token)
        own = places[at : at + len(value)]
        if kind is not None and own and value.strip():
            if marks and at and marks[-1].end == places[at - 1] + 1 and marks[-1].kind == kind:
                marks[-1] = marks[-1]._replace(end=own[-1] + 1)
            else:
                marks.append(LineMark(own[0], own[-1] + 1, kind))
        at += len(value)
    return marks


def _kind(token: _TokenType) -> MarkKind | None:
    name = str(token).removeprefix("Token.")
    return next((kind for prefix, kind in _KINDS if name.startswith(prefix)), None)


MOST = 200  # more than a person reads; another word finds the rest


def fitting_paths(run: AnalysisRun, analysis: Analysis) -> Paths:
    """Return the paths with every word of the target; without words graded documents first, then changed ones."""
    words = analysis.target.split()
    found = run.recall.store.paths_with(words, MOST + 1)
    if not words:
        gone = {row.path for row in run.recall.store.stray_judgements()}
        grades = Counter(row.path for row in run.recall.store.judgements() if row.grade > 0 and row.path not in gone)
        found = list(dict.fromkeys((*sorted(grades, key=lambda path: (-grades[path], path)), *found)))
    return Paths(tuple(found[:MOST]), are_all=len(found) <= MOST)
