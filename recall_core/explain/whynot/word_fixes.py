"""Fixes of words: spelling corrections of words in no chunk, and words of the target to add."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from recall_core.config import BM25_K1
from recall_core.contract.explaining import WordsView
from recall_core.deadline import check
from recall_core.explain.whynot.fix import Change, Lead, Start, from_start, lead, try_change
from recall_core.explain.whynot.question import KeptAsker, Question, plan_of, with_spelling, with_word
from recall_core.explain.whynot.target import Sought
from recall_core.store.port import Store
from recall_core.types import LiteralQuery, Phrase, TermStat
from recall_core.words.form import readable
from recall_core.words.question import telling

MISSPELT_TRIED = 3
TERMS_READ = 50_000
SPELLINGS_TRIED = 5
_ALPHABET = 31
"""Code points around a letter that include its alphabet: few alphabets have more than 32 letters."""


class Spelling(NamedTuple):
    """A spelling from the texts. edits: distance from the typed word."""

    word: TermStat
    edits: int


def spelling_changes(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield for each word in no chunk the nearest spelling that brings in the target.

    If no single word does, yield all of them together, each in its nearest spelling.
    """
    store, is_found = asker.store, False
    words = misspelt(start, store)[:MISSPELT_TRIED]
    tried = {
        typed: [each.word for each in spellings(store, typed, target_chunk)[:SPELLINGS_TRIED]] for typed in words
    }
    led = lead(asker, start, target_chunk, [word for spelt in tried.values() for word in spelt])
    for typed, spelt in tried.items():
        for word in spelt:
            change = _change(start, store, {typed: word.text})
            if led is not None and led.stays(plan_of(change.question, asker), word, instead_of=typed):
                continue
            if confirmed := try_change(asker, change, target_chunk):
                is_found = True
                yield confirmed
                break
    nearest = {typed: spelt[0].text for typed, spelt in tried.items() if spelt}
    if (
        len(nearest) > 1
        and not is_found
        and (confirmed := try_change(asker, _change(start, store, nearest), target_chunk))
    ):
        yield confirmed


def misspelt(start: Start, store: Store) -> list[str]:
    """Return the query's words that no chunk contains, as the index folds them, in query order."""
    pool = start.answer.pool
    if pool is None or start.answer.plan.lexical is None or start.answer.plan.lexical_raw:
        return []
    words = [term.text for term in pool.terms if term.df == 0 and term.words == 1 and '"' not in term.text]
    return list(dict.fromkeys(word for word in words if edits_allowed(word)))


def edits_allowed(word: str) -> int:
    """Return how many letters may be wrong: none of two, one of up to five, two of more (Elasticsearch's `AUTO`).

    >>> [edits_allowed(word) for word in ("it", "wing", "wings", "wingss")]
    [0, 1, 1, 2]
    """
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


def spellings(store: Store, typed: str, target_chunk: Sought) -> list[Spelling]:
    """Return likely spellings of a typed word: fewest edits first, then most chunks, then alphabetically."""
    most, own = (
        edits_allowed(typed),
        _words_of(store, f"{target_chunk.row.doc.title or ''} {target_chunk.row.chunk.text}"),
    )
    written = dict.fromkeys(own)
    (phrase,) = store.analyzer.each(store.analyzer.tokens(typed))
    for term, _ in near_terms(store, phrase.terms[0], most)[:SPELLINGS_TRIED]:
        if term not in own.values():
            written |= dict.fromkeys(_words_of(store, _text_with(store, term)))
    near = {
        word: edits for word, edits in zip(written, distances(typed, [*written], most), strict=True) if edits <= most
    }
    stats = store.term_stats(_query(store, [*near]), is_searched=False) if near else ()
    found = [Spelling(each, near[each.text]) for each in stats if each.df]
    return sorted(found, key=lambda each: (each.edits, -each.word.df, each.word.text))


def near_terms(store: Store, word: str, most: int) -> list[tuple[str, int]]:
    """Return the terms within this many edits of a word, each with its edits, nearest first.

    The lookup covers terms that begin with one of the word's first `most` + 1 letters. A term with another first
    letter is found only if that letter is the only difference: added before the word, or replacing its first letter.
    """
    letters = "".join(dict.fromkeys(word[: most + 1]))
    first, last = max(ord(word[0]) - _ALPHABET, 0x21), min(ord(word[0]) + _ALPHABET, sys.maxunicode)
    alphabet = [chr(code) for code in range(first, last + 1) if not 0xD800 <= code <= 0xDFFF]
    also = [letter + rest for letter in alphabet for rest in (word, word[1:])]
    shortest, longest = len(word) - most, len(word) + most
    terms = store.terms_beginning(letters, shortest, longest, also=also, most=TERMS_READ)
    near = zip(distances(word, [*terms], most), terms.items(), strict=True)
    return [
        (term, edits) for edits, _, term in sorted((edits, -df, term) for edits, (term, df) in near if edits <= most)
    ]


def _text_with(store: Store, term: str) -> str:
    """Return the first text, in natural order, that contains a term of the index; "" if none is found."""
    counts = store.occurrences(LiteralQuery("", (Phrase(term, (term,), (term,)),)), None).counts
    keys = store.candidates(None, rowids=list(counts[0])) if counts and counts[0] else ()
    rows = store.fetch([keys[0].rowid]) if len(keys) else []
    return "".join(f"{row.doc.title or ''} {row.chunk.text}" for row in rows)


def _words_of(store: Store, text: str) -> dict[str, str]:
    """Return the words of a text that can be typed, in order, each with its term of the index."""
    words = store.analyzer
    phrases = words.each(tuple(dict.fromkeys(words.tokens(text, ends="all"))))
    return {phrase.text: phrase.terms[0] for phrase in phrases if words.tokens(phrase.text) == phrase.tokens}


def _change(start: Start, store: Store, spelt: dict[str, str]) -> Change:
    question = _respelt(start.question, store, spelt)
    description = "; ".join(
        f'search for "{word}" instead of "{typed}", which no chunk contains' for typed, word in spelt.items()
    )
    return from_start(start, "spelling", description, question, size=len(spelt))


def _respelt(question: Question, store: Store, spelt: dict[str, str]) -> Question:
    def respell(text: str) -> str:
        for typed, word in spelt.items():
            for first, end in reversed(store.analyzer.spans(text, [typed])):
                text = text[:first] + word + text[end:]
        return text

    return with_spelling(question, respell)


def distances(word: str, others: Sequence[str], most: int) -> list[int]:
    """Return the edit distance to each of the others: insert, delete, change, or swap neighbouring letters.

    Distances above `most` are returned as `most` + 1. Each cell of the table is one NumPy column over all others.

    >>> distances("recieve", ["receive", "recieves", "relive", "cat"], 2), distances("ca", ["abc"], 2) ([1, 1, 2, 3],
    [3])
    """
    far, width = most + 1, len(word) + most
    padded = "".join(other[:width].ljust(width, "\0") for other in others)
    letters = np.frombuffer(padded.encode("utf-32-le"), dtype="<u4").reshape(len(others), width).T.copy()
    none = np.full(len(others), far, dtype=np.uint8)
    earlier, before = [none] * (width + 1), [np.minimum(none, at) for at in range(width + 1)]
    for i, letter in enumerate(map(ord, word), start=1):
        check()
        row = [np.minimum(none, i)] + [none] * width
        for j in range(max(1, i - most), min(width, i + most) + 1):
            least = np.minimum(before[j], row[j - 1]) + 1
            np.minimum(least, before[j - 1] + (letters[j - 1] != letter), out=least)
            if i > 1 and j > 1:
                is_swapped = (letters[j - 1] == ord(word[i - 2])) & (letters[j - 2] == letter)
                np.minimum(least, earlier[j - 2] + 1, out=least, where=is_swapped)
            row[j] = np.minimum(least, far)
        earlier, before = before, row
    lengths = np.array([len(other) for other in others], dtype=np.intp)
    cells = np.stack([*before, none])[np.minimum(lengths, width + 1), np.arange(len(others))]
    found: list[int] = cells.tolist()
    return found


WORDS_TRIED = 20
FEW_WORDS_TRIED = 3
"""In a context, with `match = all` and with ts_rank, where every word needs a search because no bound applies."""


class WordsToAdd:
    """The words to add to a query, and how many were tried so far."""

    def __init__(self, asker: KeptAsker, start: Start, target_chunk: Sought) -> None:
        plan, is_context = start.answer.plan, start.question.budget_tokens is not None
        self._asker, self._start, self._target_chunk = asker, start, target_chunk
        self._can_add = not plan.lexical_raw and (plan.lexical is not None or plan.semantic is not None)
        needs_all = plan.lexical is not None and plan.config.match == "all"
        is_by_rank = plan.lexical is not None and plan.config.lexical_model == "ts_rank"
        self._few_for: Literal["context", "match", "model", ""] = "model" if is_by_rank else ""
        if is_context or needs_all:
            self._few_for = "context" if is_context else "match"
        self._most = FEW_WORDS_TRIED if self._few_for else WORDS_TRIED
        self._tried = 0

    @property
    def view(self) -> WordsView | None:
        """The number of words tried; None if there is no word to try."""
        count = len(self._names) + len(self._rare)
        if not count:
            return None
        view = WordsView(tried=self._tried, most=self._most, of=count)
        if self._few_for:
            view["few_for"] = self._few_for
        return view

    def of_name(self) -> Iterator[Change]:
        """Yield the first word of the path, title or heading that works. One try is left for the text."""
        yield from self._first("name", self._names[: self._most - 1])

    def of_text(self) -> Iterator[Change]:
        """Yield the best rare word of the text that works."""
        yield from self._first("term", self._rare[: self._most - self._tried])

    def _first(self, kind: str, words: Sequence[TermStat]) -> Iterator[Change]:
        for place, word in enumerate(words):
            self._tried += 1
            question = with_word(self._start.question, word.text)
            # The first word usually works, and searching for it costs less than computing the bounds.
            if place and self._lead is not None and self._lead.stays(plan_of(question, self._asker), word):
                continue
            change = from_start(self._start, kind, f'also search for "{word.text}"', question, size=1)
            if confirmed := try_change(self._asker, change, self._target_chunk):
                yield confirmed
                return

    @cached_property
    def _names(self) -> list[TermStat]:
        return name_words(self._asker, self._start, self._target_chunk) if self._can_add else []

    @cached_property
    def _rare(self) -> list[TermStat]:
        names = " ".join(word.text for word in self._names)
        return rare_words(self._asker, self._start, self._target_chunk, names) if self._can_add else []

    @cached_property
    def _lead(self) -> Lead | None:
        words = [*self._names[: self._most], *self._rare[: self._most]]
        return None if self._few_for else lead(self._asker, self._start, self._target_chunk, words)


def name_words(asker: KeptAsker, start: Start, target_chunk: Sought) -> list[TermStat]:
    """Return the words of the path, title and heading that are in some chunk and not in the query.

    Words in the chunk itself come first, then the rarest. Other words are left out if many chunks contain them.
    """
    row = target_chunk.row
    name = f"{row.doc.path} {row.doc.title or ''} {row.chunk.heading or ''}"
    words = [word for word in _new_words(asker, start, name) if word.df]
    if not words:
        return []
    counts = asker.store.occurrences(_query(asker.store, [word.text for word in words]), [row.rowid]).counts
    held = {word.text: row.rowid in each for word, each in zip(words, counts, strict=True)}
    telling = [word for word in words if held[word.text] or word.idf >= _TELLING_IDF]
    return sorted(telling, key=lambda word: (not held[word.text], -word.idf))


_TELLING_IDF = 3.0
"""At most one chunk in twenty contains the word. A folder name in more chunks does not identify one."""


def rare_words(asker: KeptAsker, start: Start, target_chunk: Sought, names: str = "") -> list[TermStat]:
    """Return the words of the text that neither query nor names contain, best first, ties in text order.

    Rare words, words frequent in the text, and words that a person can type are better.
    """
    text = target_chunk.row.chunk.text
    times = Counter(map(readable, asker.store.analyzer.tokens(text, ends="all")))

    def weight(word: TermStat) -> float:
        value = word.idf * times[word.text] / (times[word.text] + BM25_K1)
        return value if word.text.isalpha() and len(word.text) <= _TYPED_LETTERS else value / 2

    return sorted(_new_words(asker, start, text, names), key=lambda word: -weight(word))


_TYPED_LETTERS = 20
"""Longer words are hashes and joined names, which people do not type."""


def _new_words(asker: KeptAsker, start: Start, text: str, names: str = "") -> list[TermStat]:
    """Return the words of a text, in order, that neither the query nor these names contain in any form."""
    store, plan = asker.store, start.answer.plan
    asked = {*_words_of(store, f"{plan.lexical or ''} {plan.semantic or ''} {names}").values()}
    terms = _words_of(store, text)
    new = [word for word in telling(terms, plan.config.stop_words) if terms[word] not in asked]
    stats = store.term_stats(_query(store, new), is_searched=False) if new else ()
    # A word of one or two letters brings in the chunk but tells a person nothing.
    return [each for each in stats if len(each.text) > 2 or not each.text.isascii()] or list(stats)


def _query(store: Store, words: Sequence[str]) -> LiteralQuery:
    """Return a query for these words, each of which is one token."""
    return LiteralQuery("", store.analyzer.each([store.analyzer.tokens(word)[0] for word in words]))
