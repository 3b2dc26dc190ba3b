"""Words of the target that, added to the question, bring it in: of its name first, then one of its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from recall_core.config import BM25_K1
from recall_core.contract.explaining import WordsView
from recall_core.explain.whynot.fix import Change, Start, confirmed, from_start
from recall_core.explain.whynot.kept import KeptAsker
from recall_core.explain.whynot.lead import Lead, lead
from recall_core.explain.whynot.question import planned, with_word
from recall_core.explain.whynot.target import Sought
from recall_core.retrieve.query import telling
from recall_core.text import spaced
from recall_core.types import LiteralQuery, Phrase, TermStat

WORDS_TRIED = 20

FEW_WORDS_TRIED = 3
"""In a context and with `match = all`: there each word is asked for, because no bound tells which stay behind."""


class WordsToAdd:
    """The words that may be added to a question, and how many of them were tried so far."""

    def __init__(self, asker: KeptAsker, start: Start, sought: Sought) -> None:
        plan, is_context = start.found.plan, start.question.budget_tokens is not None
        self._asker, self._start, self._sought = asker, start, sought
        self._can_add = not plan.lexical_raw and (plan.lexical is not None or plan.semantic is not None)
        needs_all = plan.lexical is not None and plan.config.match == "all"
        self._few_for: Literal["context", "match", ""] = "context" if is_context else "match" if needs_all else ""
        self._most = FEW_WORDS_TRIED if self._few_for else WORDS_TRIED
        self._tried = 0

    @property
    def view(self) -> WordsView | None:
        """How many words were tried; None where there is none to try."""
        count = len(self._names) + len(self._rare)
        if not count:
            return None
        view = WordsView(tried=self._tried, most=self._most, of=count)
        if self._few_for:
            view["few_for"] = self._few_for
        return view

    def of_name(self) -> Iterator[Change]:
        """The first word of its path, title or heading that brings it in. One try is left for its text."""
        yield from self._first("name", self._names[: self._most - 1])

    def of_text(self) -> Iterator[Change]:
        """The best of the rare words of its text that bring it in."""
        yield from self._first("term", self._rare[: self._most - self._tried])

    def _first(self, kind: str, words: Sequence[TermStat]) -> Iterator[Change]:
        for place, word in enumerate(words):
            self._tried += 1
            question = with_word(self._start.question, word.text)
            # The first word mostly brings it in, and to ask for it costs less than to know which rows lead it.
            if place and self._led is not None and self._led.stays(planned(question, self._asker), word):
                continue
            change = from_start(self._start, kind, f"add the word {word.text}", question, size=1)
            if done := confirmed(self._asker, change, self._sought):
                yield done
                return

    @cached_property
    def _names(self) -> list[TermStat]:
        return name_words(self._asker, self._start, self._sought) if self._can_add else []

    @cached_property
    def _rare(self) -> list[TermStat]:
        names = " ".join(word.text for word in self._names)
        return rare_words(self._asker, self._start, self._sought, names) if self._can_add else []

    @cached_property
    def _led(self) -> Lead | None:
        words = [*self._names[: self._most], *self._rare[: self._most]]
        return None if self._few_for else lead(self._asker, self._start, self._sought, words)


def name_words(asker: KeptAsker, start: Start, sought: Sought) -> list[TermStat]:
    """Return the words of its path, title and heading that some chunk holds and the question does not have.

    Those that the chunk itself holds come first, then the rarest. Others that many chunks hold are left out.
    """
    row = sought.row
    name = f"{row.doc.path} {row.doc.title or ''} {row.chunk.heading or ''}"
    words = [word for word in _new_words(asker, start, name) if word.df]
    if not words:
        return []
    counts = asker.store.occurrences(_literal([word.text for word in words]), [row.rowid]).counts
    held = {word.text: row.rowid in each for word, each in zip(words, counts, strict=True)}
    telling = [word for word in words if held[word.text] or word.idf >= _TELLING_IDF]
    return sorted(telling, key=lambda word: (not held[word.text], -word.idf))


_TELLING_IDF = 3.0
"""At most one chunk in twenty has the word: a folder's name that more have tells nothing."""


def rare_words(asker: KeptAsker, start: Start, sought: Sought, names: str = "") -> list[TermStat]:
    """Return the words of its text that neither question nor names have, the best first, ties in the text's order.

    A word is the better the rarer it is and the more often the text has it, and better if a person could type it.
    """
    text = sought.row.chunk.text
    times = Counter(asker.store.tokens(spaced(text)))

    def weight(word: TermStat) -> float:
        value = word.idf * times[word.text] / (times[word.text] + BM25_K1)
        return value if word.text.isalpha() and len(word.text) <= _TYPED_LETTERS else value / 2

    return sorted(_new_words(asker, start, text, names), key=lambda word: -weight(word))


_TYPED_LETTERS = 20
"""Longer words are hashes and joined names, which no one types."""


def _new_words(asker: KeptAsker, start: Start, text: str, names: str = "") -> list[TermStat]:
    """The words of a text, in their order, that the question does not have in any form, nor these names."""
    store, plan, apart = asker.store, start.found.plan, spaced(text)
    asked = set(store.stems(spaced(f"{plan.lexical or ''} {plan.semantic or ''} {names}")))
    stems = dict(zip(store.tokens(apart), store.stems(apart), strict=True))
    new = [word for word in telling(stems, plan.config.stop_words) if stems[word] not in asked]
    stats = store.term_stats(_literal(new), is_searched=False) if new else ()
    # A word of a letter or two brings the chunk in and tells a person nothing.
    return [each for each in stats if len(each.text) > 2 or not each.text.isascii()] or list(stats)


def _literal(words: Sequence[str]) -> LiteralQuery:
    return LiteralQuery("", tuple(Phrase(word, (word,)) for word in words))
