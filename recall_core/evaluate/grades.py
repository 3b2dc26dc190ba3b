"""The grade of a chunk, from judgements of spans and of whole documents, and what has to change for another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recall_core.evaluate.names import WHOLE, Spot


class Judgement(NamedTuple):
    """How relevant a document, or a span of it, is to a query. spot.path may be of no live document."""

    query: str
    spot: Spot
    grade: int


class Regrade(NamedTuple):
    """A change of one query's judgements, with all that it takes to make it and to take it back.

    begins, ends: the query itself comes into the store with the change, or leaves it.
    """

    query: str
    text: str
    removed: tuple[Judgement, ...] = ()
    added: tuple[Judgement, ...] = ()
    begins: bool = False
    ends: bool = False


def stands_for(judged: Spot, chunk: Spot) -> bool:
    """True when a judgement of one spot counts for the other: one of both is the whole document, or the judged span
    has its middle in the chunk, or the chunk lies within it.

    A neighbour that merely shares its overlap with a judged chunk is not judged by that.
    """
    if judged.path != chunk.path:
        return False
    if WHOLE in (judged[1:], chunk[1:]):
        return True
    middle = (judged.offset + judged.end) // 2
    is_within = judged.offset <= chunk.offset and chunk.end <= judged.end
    return is_within or chunk.offset <= middle < chunk.end


def grade_of_chunk(judgements: Iterable[Judgement], chunk: Spot) -> int | None:
    """The highest grade of the judgements that stand for the chunk, None without any.

    judgements: of one query, each span once. chunk: the place of a chunk, or a whole document.
    """
    return max((grade for _, spot, grade in judgements if stands_for(spot, chunk)), default=None)


def regraded(query: str, text: str, judgements: Iterable[Judgement], chunk: Spot, grade: int | None) -> Regrade:
    """The smallest change after which the chunk has this grade, or with None no grade at all.

    Where the document is judged as a whole, the grade becomes that of the document. A lower grade takes the place of
    higher ones of other spans that stand for the chunk.
    """
    standing = [each for each in judgements if each.query == query and stands_for(each.spot, chunk)]
    if grade is None:
        return Regrade(query, text, removed=tuple(standing))
    whole = any(each.spot[1:] == WHOLE for each in standing)
    added = Judgement(query, Spot(chunk.path) if whole else chunk, grade)
    removed = tuple(each for each in standing if each.spot == added.spot or each.grade > grade)
    return Regrade(query, text, removed, (added,))


def taken_back(change: Regrade) -> Regrade:
    """The change that undoes this one."""
    return change._replace(removed=change.added, added=change.removed, begins=change.ends, ends=change.begins)


def changed(judgements: Iterable[Judgement], change: Regrade) -> tuple[Judgement, ...]:
    """The judgements of a query after a change, in the order of their places."""
    gone = {each.spot for each in (*change.removed, *change.added)}
    left = [each for each in judgements if each.query != change.query or each.spot not in gone]
    return tuple(sorted((*left, *change.added)))


def at_home(change: Regrade, texts: Mapping[str, str], ids: Mapping[str, str]) -> Regrade:
    """The change under the id that its query has among these by now, and with the text that stands there.

    Where its own id is taken by another query, it goes to that of its words, or begins under the next free one.
    texts: query id to text.  ids: words to query id.
    """
    known = words(change.text)
    query = change.query if words(texts.get(change.query, "")) == known else ids.get(known, change.query)
    if query in texts and words(texts[query]) != known:
        if not change.begins:
            return change
        query = free_id(texts)
    removed, added = (tuple(each._replace(query=query) for each in of) for of in (change.removed, change.added))
    return change._replace(query=query, text=texts.get(query, change.text), removed=removed, added=added)


def free_id(queries: Iterable[str]) -> str:
    """The id of the next query: the first of q1, q2, ... that is not taken."""
    taken = set(queries)
    return next(query for number in range(1, len(taken) + 2) if (query := f"q{number}") not in taken)


def words(text: str) -> str:
    """A query's text as it is compared with others: its words, one blank between."""
    return " ".join(text.split())
