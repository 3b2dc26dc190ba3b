"""Where in the texts of a few rows the index counts each phrase of a query, as it is written there.

Words and phrases count wherever their stems stand, so that the tokens of a row's texts tell all; of FTS5's own
syntax, FTS5 says which tokens count. The tokenizer that made the index says where each of these stands in the text.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import apsw

from recall_core.deadline import check
from recall_core.store.instances import Instance
from recall_core.store.sqlite.lexical import AT_ONCE, Stems, alternatives, expression, own_tokenizer, quoted, stems_of
from recall_core.store.sqlite.records import Execute
from recall_core.text import alone_places, spaced
from recall_core.types import LexicalQuery, LiteralQuery, RawQuery, Row, TermStat

_FOUND = "SELECT rowid, recall_instances(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? AND "

_SEEKING = "rowid IN (SELECT value FROM json_each(?))"

_MATCHING = f"SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? AND {_SEEKING}"

_WALKING = "+" + _SEEKING  # as `postings.counted` has to of FTS5's own syntax, for the same counts

_SEEK = 1_000  # entries of posting lists that FTS5 walks past in the time in which it finds one row in them

Tokens = Callable[[bytes], Sequence[tuple[int, int, str]]]
"""A text's tokens, each from its first byte to the end of its last."""

_Place = tuple[int, int, int, int]
"""Column, first token, tokens and phrase of what counts in a row."""


def instances(
    db: apsw.Connection, execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
) -> list[tuple[Instance, ...]]:
    """See store.port.Search."""
    if query.is_empty or not rows:
        return [() for _ in rows]
    tokens = own_tokenizer(db)
    if isinstance(query, LiteralQuery) and (stems := stems_of(db, query)) is not None:
        numbers: dict[Stems, int] = {}
        for number, each in enumerate(stems):
            numbers.setdefault(each, number)
        matching = _matching(execute, query, rows) if query.match == "all" else {row.rowid for row in rows}
        return [_in_tokens(row, numbers, tokens) if row.rowid in matching else () for row in rows]
    found = _asked_for(db, execute, query, terms, rows)
    return [_in_row(row, sorted(found.get(row.rowid, ())), tokens) for row in rows]


def _asked_for(
    db: apsw.Connection, execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
) -> Mapping[int, set[_Place]]:
    """By rowid what FTS5 says counts there."""
    found: dict[int, set[_Place]] = {}
    first_of: dict[Hashable, int] = {}
    db.register_fts5_function("recall_instances", _locate)
    rowids = json.dumps([row.rowid for row in rows])
    for match, numbers in _groups(query, len(terms)):
        walks = isinstance(query, RawQuery) or sum(terms[number].df for number in numbers) <= _SEEK * len(rows)
        for rowid, packed in execute(_FOUND + (_WALKING if walks else _SEEKING), (match, rowids)):
            for number, (stems, columns) in zip(numbers, json.loads(packed), strict=True):
                phrase = first_of.setdefault((*stems, terms[number].df), number)
                places = found.setdefault(rowid, set())
                for column, firsts in enumerate(columns):
                    places.update((column, first, len(stems), phrase) for first in firsts)
    return found


def _groups(query: LexicalQuery, phrases: int) -> Iterator[tuple[str, Sequence[int]]]:
    """Expressions that FTS5 can be given at once, and which phrases of the query each of them holds, in order.

    The query stays whole where an operator decides what counts; where OR alone joins its phrases, it is divided.
    """
    written = alternatives(query) if isinstance(query, RawQuery) else ()
    if not isinstance(query, RawQuery) and query.match == "any":
        written = tuple(quoted(phrase.tokens) for phrase in query.phrases)
    if not written:
        yield expression(query), range(phrases)
        return
    firsts: dict[str, int] = {}
    for number, phrase in enumerate(written):
        firsts.setdefault(phrase, number)
    distinct = list(firsts)
    for start in range(0, len(distinct), AT_ONCE):
        some = distinct[start : start + AT_ONCE]
        yield " OR ".join(some), [firsts[phrase] for phrase in some]


def _locate(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """For each phrase of the expression its tokens, and by column where in the row it begins, counted in tokens."""
    return json.dumps([[stems, api.phrase_locations(number)] for number, stems in enumerate(api.phrases)])


def _in_row(row: Row, places: Sequence[_Place], tokens: Tokens) -> tuple[Instance, ...]:
    """places: of all that counts in the row, sorted."""
    check()
    found: list[Instance] = []
    for column, text in enumerate((row.doc.title, row.chunk.text)):
        held = [place for place in places if place[0] == column]
        if held:
            read = _tokens_of(text, tokens)
            own = [place for place in held if place[1] + place[2] <= len(read[1])]  # names stand behind the title
            found += _spanned(text, own, *read)
    return tuple(found)


def _matching(execute: Execute, query: LiteralQuery, rows: Sequence[Row]) -> set[int]:
    """The rowids of those that hold every phrase."""
    rowids = json.dumps([row.rowid for row in rows])
    return {rowid for (rowid,) in execute(_MATCHING, (expression(query), rowids))}


def _in_tokens(row: Row, phrases: Mapping[Stems, int], tokens: Tokens) -> tuple[Instance, ...]:
    """The same of phrases that count wherever their stems stand."""
    check()
    by_first: dict[str, list[tuple[Stems, int]]] = {}
    for stems, number in phrases.items():
        by_first.setdefault(stems[0], []).append((stems, number))
    found: list[Instance] = []
    for column, text in enumerate((row.doc.title, row.chunk.text)):
        read = _tokens_of(text, tokens)
        own = [token[2] for token in read[1]]
        held = [
            (column, first, len(stems), number)
            for first, stem in enumerate(own)
            if stem in by_first
            for stems, number in by_first[stem]
            if len(stems) == 1 or tuple(own[first : first + len(stems)]) == stems
        ]
        held.sort()
        found += _spanned(text, held, *read)
    return tuple(found)


def _tokens_of(text: str, tokens: Tokens) -> tuple[bytes, Sequence[tuple[int, int, str]]]:
    content = spaced(text).encode()
    return content, tokens(content)


def _spanned(
    text: str, places: Sequence[_Place], content: bytes, found: Sequence[tuple[int, int, str]]
) -> Iterator[Instance]:
    """Places in a text, whose content the index has in these tokens, by code points of the text."""
    if len(content) == len(text):  # ASCII, where bytes are code points and nothing was spaced out
        for column, first, size, phrase in places:
            yield Instance(phrase, found[first][0], found[first + size - 1][1], in_title=column == 0)
        return
    indexed, alone = alone_places(text)

    def code_point(byte: int) -> int:
        return byte if len(content) == len(indexed) else len(content[:byte].decode())

    def own(place: int) -> int:
        before = bisect_left(alone, place)
        return place - 2 * before - (before < len(alone) and alone[before] == place)

    for column, first, size, phrase in places:
        start, end = found[first][0], found[first + size - 1][1]
        yield Instance(phrase, own(code_point(start)), own(code_point(end) - 1) + 1, in_title=column == 0)
