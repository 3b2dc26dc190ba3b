"""Where in the texts of a few rows the index counts each phrase of a query, as it is written there.

FTS5 says which tokens of a row count; the tokenizer that made them says where each of these stands in the text.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence

import apsw

from recall_core.deadline import check
from recall_core.store.instances import Instance
from recall_core.store.sqlite.lexical import AT_ONCE, alternatives, expression, own_tokenizer, quoted
from recall_core.store.sqlite.records import Execute
from recall_core.text import alone_places
from recall_core.types import LexicalQuery, RawQuery, Row, TermStat

_FOUND = "SELECT rowid, recall_instances(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? AND "

_SEEKING = "rowid IN (SELECT value FROM json_each(?))"

_WALKING = "+" + _SEEKING  # as `postings.counted` has to of FTS5's own syntax, for the same counts

_SEEK = 1_000  # entries of posting lists that FTS5 walks past in the time in which it finds one row in them

Tokens = Callable[[bytes], Sequence[tuple[int, int, str]]]
"""A text's tokens, each from its first byte to the end of its last."""


def instances(
    db: apsw.Connection, execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
) -> list[tuple[Instance, ...]]:
    """See store.port.Search."""
    if query.is_empty or not rows:
        return [() for _ in rows]
    found: dict[int, set[tuple[int, int, int, int]]] = {}
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
    tokens = own_tokenizer(db)
    return [_in_row(row, sorted(found.get(row.rowid, ())), tokens) for row in rows]


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


def _in_row(row: Row, places: Sequence[tuple[int, int, int, int]], tokens: Tokens) -> tuple[Instance, ...]:
    """places: column, first token, tokens and phrase of all that counts in the row, sorted."""
    check()
    spans: dict[int, Callable[[int, int], tuple[int, int]]] = {}
    for column, text in enumerate((row.doc.title, row.chunk.text)):
        if any(place[0] == column for place in places):
            spans[column] = _spans(text, tokens)
    return tuple(
        Instance(phrase, *spans[column](first, first + size - 1), in_title=column == 0)
        for column, first, size, phrase in places
    )


def _spans(text: str, tokens: Tokens) -> Callable[[int, int], tuple[int, int]]:
    """Two tokens of a text, as the index has them, to the code points from the one to the end of the other."""
    indexed, alone = alone_places(text)
    content = indexed.encode()
    found = tokens(content)
    if not alone and len(content) == len(indexed):  # of plain letters
        return lambda first, last: (found[first][0], found[last][1])

    def code_point(byte: int) -> int:
        return byte if len(content) == len(indexed) else len(content[:byte].decode())

    def own(place: int) -> int:
        before = bisect_left(alone, place)
        return place - 2 * before - (before < len(alone) and alone[before] == place)

    return lambda first, last: (own(code_point(found[first][0])), own(code_point(found[last][1]) - 1) + 1)
