"""Words of the question that no chunk holds, written as words that the store does hold.

What is looked at is bounded: 3 words of the question; for each the 50,000 most frequent terms of about its length, of
which the 10 nearest are looked up as they are written, and 5 spellings that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from recall_core.deadline import check
from recall_core.explain.whynot.fix import Change, Start, confirmed, from_start
from recall_core.explain.whynot.kept import KeptAsker
from recall_core.explain.whynot.lead import lead
from recall_core.explain.whynot.question import Question, planned, with_spelling
from recall_core.explain.whynot.target import Sought
from recall_core.store.port import Store
from recall_core.text import spaced
from recall_core.types import LiteralQuery, Phrase, TermStat

WORDS_TRIED = 3

TERMS_READ = 50_000

_TERMS_LOOKED_UP = 10

SPELLINGS_TRIED = 5


class Spelling(NamedTuple):
    """A word as texts have it. edits: from the word that was typed."""

    word: TermStat
    edits: int


def spelling_changes(asker: KeptAsker, start: Start, sought: Sought) -> Iterator[Change]:
    """For each word that no chunk holds the nearest spelling that brings the target in, confirmed.

    Where no word does so alone, all of them together, each in its nearest spelling.
    """
    store, is_found = asker.store, False
    words = misspelt(start, store)[:WORDS_TRIED]
    tried = {typed: [each.word for each in spellings(store, typed, sought)[:SPELLINGS_TRIED]] for typed in words}
    led = lead(asker, start, sought, [word for spelt in tried.values() for word in spelt])
    for typed, spelt in tried.items():
        for word in spelt:
            change = _change(start, store, {typed: word.text})
            if led is not None and led.stays(planned(change.question, asker), word, instead_of=typed):
                continue
            if done := confirmed(asker, change, sought):
                is_found = True
                yield done
                break
    nearest = {typed: spelt[0].text for typed, spelt in tried.items() if spelt}
    if len(nearest) > 1 and not is_found and (done := confirmed(asker, _change(start, store, nearest), sought)):
        yield done


def misspelt(start: Start, store: Store) -> list[str]:
    """The words that the question looks for and no chunk holds, as the index folds them, in the question's order."""
    pool = start.found.pool
    if pool is None or start.found.plan.lexical is None or start.found.plan.lexical_raw:
        return []
    tokens = [store.tokens(spaced(term.text)) for term in pool.terms if term.df == 0]
    return list(dict.fromkeys(each[0] for each in tokens if len(each) == 1 and edits_allowed(each[0])))


def edits_allowed(word: str) -> int:
    """How many letters may be wrong: none of two, one of up to five, two of more (Elasticsearch's `AUTO`).

    >>> [edits_allowed(word) for word in ("it", "wing", "wings", "wingss")]
    [0, 1, 1, 2]
    """
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


def spellings(store: Store, typed: str, sought: Sought) -> list[Spelling]:
    """Words that somebody may have meant: the fewest edits first, then those of the most chunks, then by letters."""
    most, own = edits_allowed(typed), _words_of(store, f"{sought.row.doc.title or ''} {sought.row.chunk.text}")
    near = {word: edits for word in own if (edits := distance(typed, word, most)) is not None}
    for stem in _near_terms(store, typed, most):
        for word in own if stem in own.values() else _words_of(store, _text_with(store, stem)):
            if word not in near and (edits := distance(typed, word, most)) is not None:
                near[word] = edits
    words = tuple(Phrase(word, (word,)) for word in near)
    stats = store.term_stats(LiteralQuery("", words), is_searched=False) if words else ()
    found = [Spelling(each, near[each.text]) for each in stats if each.df]
    return sorted(found, key=lambda each: (each.edits, -each.word.df, each.word.text))


def _near_terms(store: Store, typed: str, most: int) -> list[str]:
    """The terms of the index that are nearest to the word as the index would hold it."""
    stems = store.stems(typed)
    if len(stems) != 1:
        return []
    near: list[tuple[int, int, str]] = []
    terms = store.terms_of_length(len(stems[0]) - most, len(stems[0]) + most, TERMS_READ)
    for term, df in compress(terms, _share_letters(stems[0], [term for term, _ in terms], most)):
        check()
        if (edits := distance(stems[0], term, most)) is not None:
            near.append((edits, -df, term))
    return [term for _, _, term in sorted(near)[:_TERMS_LOOKED_UP]]


def _share_letters(word: str, terms: Sequence[str], most: int) -> list[bool]:
    """Which terms may be so few edits from the word: a letter that is changed puts one in and takes one out.

    A letter is one bit of 64, which several share.
    """
    if not terms:
        return []
    ends = np.cumsum([len(term) for term in terms])
    codes = np.frombuffer("".join((*terms, word)).encode("utf-32-le"), dtype="<u4")
    bits = np.left_shift(np.uint64(1), (codes & 63).astype(np.uint64))
    letters = np.bitwise_or.reduceat(bits, [0, *ends])
    differing = np.unpackbits((letters[:-1] ^ letters[-1]).view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1)
    likely: list[bool] = (differing <= 2 * most).tolist()
    return likely


def _text_with(store: Store, stem: str) -> str:
    """The first text, in natural order, that holds a term of the index; "" where none is found by it."""
    counts = store.occurrences(LiteralQuery("", (Phrase(stem, (stem,)),)), None).counts
    keys = store.candidates(None, rowids=list(counts[0])) if counts and counts[0] else ()
    rows = store.fetch([keys[0].rowid]) if len(keys) else []
    return "".join(f"{row.doc.title or ''} {row.chunk.text}" for row in rows)


def _words_of(store: Store, text: str) -> dict[str, str]:
    """The words of a text in its order, each with its term of the index."""
    apart = spaced(text)
    return dict(zip(store.tokens(apart), store.stems(apart), strict=True))


def _change(start: Start, store: Store, spelt: dict[str, str]) -> Change:
    question = _respelt(start.question, store, spelt)
    said = "; ".join(f"write {word} instead of {typed}, which no chunk holds" for typed, word in spelt.items())
    return from_start(start, "spelling", said, question, size=len(spelt))


def _respelt(question: Question, store: Store, spelt: dict[str, str]) -> Question:
    def written(text: str) -> str:
        for typed, word in spelt.items():
            (spans,) = store.spans([text], [typed])
            text = _replaced(text, spans, word)
        return text

    return with_spelling(question, written)


def _replaced(text: str, spans: Sequence[tuple[int, int]], word: str) -> str:
    for first, end in reversed(spans):
        text = text[:first] + word + text[end:]
    return text


def distance(one: str, other: str, most: int) -> int | None:
    """Letters to put in, take out, change, or swap with the next, each place once; None for more than `most`.

    >>> [distance(*pair, 2) for pair in (("recieve", "receive"), ("wing", "wings"), ("cat", "dog"), ("ca", "abc"))]
    [1, 1, None, None]
    """
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, beside in enumerate(other, start=1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != beside))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == beside:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
        if min(row) > most and min(before) > most:
            return None
    return row[-1] if row[-1] <= most else None
