"""The words of languages besides English: German stems, or no stems at all; and which language a store is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from recall_core._lazy import Stemmer
from recall_core.deadline import check
from recall_core.types import LanguageChoice, Phrase
from recall_core.words.analyzer import FOLDING, Analyzer, tokenize
from recall_core.words.form import Ends, form_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from recall_core.marks import Mark

_KEPT_STEMS = 1 << 16
"""Words whose stems stay in memory. With `_LONGEST` letters each, they take 32 MB; real words take about 13 MB."""
_LONGEST = 80
"""In letters. Longer words stay as they are."""


class Unstemmed(Analyzer):
    """Words without stems, for any language."""

    name = "words-1 none"
    tokenizer = FOLDING


_PLAIN = Unstemmed()


class German(Unstemmed):
    """Words with the stems of Snowball's algorithm for German.

    The form of a text is its terms, so that the full-text index needs no tokenizer of its own.
    """

    name = "words-1 de"

    def __init__(self) -> None:
        stem: Callable[[str], str] = Stemmer.Stemmer("german", 0).stemWord  # no cache of its own
        self._stem = lru_cache(maxsize=_KEPT_STEMS)(stem)

    def form(self, text: str, *, ends: Ends = "all") -> str:
        """Return the terms of a text, or its form without stems if all words are stems."""
        tokens = self.tokens(text, ends=ends)
        terms = self.stem(tokens)
        return _PLAIN.form(text, ends=ends) if terms == tokens else " ".join(terms)

    def tokens(self, text: str, *, ends: Ends = "none") -> tuple[str, ...]:
        """Return the tokens of a text, folded, before stemming."""
        return tokenize(FOLDING, form_of(text, ends=ends))

    def stem(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """Return the stem of each token. Only words of the letters a to z have one."""
        check()
        return tuple(
            self._stem(each) if each.isascii() and each.isalpha() and len(each) <= _LONGEST else each
            for each in tokens
        )

    def phrase_of(self, tokens: Sequence[str], text: str = "") -> Phrase:
        """Return these tokens as a phrase. The index is asked for its terms."""
        phrase = super().phrase_of(tokens, text)
        return phrase._replace(indexed=phrase.terms)

    def each(self, tokens: Sequence[str]) -> tuple[Phrase, ...]:
        """Return each token as a phrase of one word. The index is asked for its term."""
        return tuple(phrase._replace(indexed=phrase.terms) for phrase in super().each(tokens))

    def locate(self, text: str) -> list[tuple[int, int, str]]:
        """Return what `terms` returns. A stem covers its whole word."""
        found = _PLAIN.locate(text)
        terms = self.stem([token for _, _, token in found])
        return [(start, end, term) for (start, end, _), term in zip(found, terms, strict=True)]

    def titles(self, title: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[str]:
        """Return the full-text titles of a document's chunks; names are split before they are stemmed."""
        own, stemmed = _PLAIN.form(title), self.form(title)
        return [
            "\n".join((stemmed, *map(self.form, each[len(own) :].split("\n")[1:])))
            for each in _PLAIN.titles(title, marks, spans)
        ]


LEAST_WORDS = 2_000
"""Words of prose from which a language is decided."""
LEAST_SHARE = 0.6
"""Of the function words found, those that must be German."""
LEAST_DENSITY = 0.05
"""Of all words, those that must be German function words. German prose has .15 to .25; quotations do not count."""

_GERMAN = frozenset(
    """aber auch auf aus bei beim bis damit dann das dass daß der dessen dies diese dieser dieses doch durch ein
    eine einem einen einer eines für gegen haben hatte ich ihr ihre immer ist jede jeder kann kein keine können
    mehr mit muss nach nicht noch nur ob oder ohne schon sehr sein seine seit sich sie sind sowie über und unter
    vom von vor wenn werden wir wird wurde wurden zu zum zur zwischen""".split()
)
_OTHER = frozenset(
    """aan about after all als also anche and any ao aos are as at att au aux av avec be been bij but by can ce ces
    cette che com como con cosa could cuando da dal dalla dans dat de degli dei del della delle den des det deze
    di dit do dos du e each een el ella elle eller em en entre est esta este esto et ett foi for fra from från
    för geen gli haar had han har has have he heb heeft her het hij his hon how i if ik ikke il ils inte into is
    it its jag je kan la las le les leur lo los maar mais mas may med meer men met more most muy más na naar nas
    ne nel nella niet no nog non nos not nous não när når o och of og om on only ook op or os other ou our out
    over où par para pas pela pelo per pero più plus pode por pour på quando que questa questo qui sa se ses seu
    she should si sig sin ska skal sobre som some son sono sont su sua such sur sus são te than that the their
    them then there these they this through til till to tot tra uit uma un under une uno up use used using van
    var vi voor vous være waar wat we werd were when where which who will with wordt would y you your ze zijn zo
    être""".split()
)
"""Function words of Danish, Dutch, English, French, Italian, Norwegian, Portuguese, Spanish and Swedish."""


def guess(texts: Sequence[str]) -> LanguageChoice:
    """Return the language of these texts: `de` if they have enough words and are German, else `en`.

    The order of the texts does not matter.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.lower().split())
    german, other = (sum(counts[word] for word in words) for words in (_GERMAN, _OTHER))
    total = counts.total()
    needed = max(LEAST_SHARE * (german + other), LEAST_DENSITY * total)
    is_german = total >= LEAST_WORDS and german >= needed
    return LanguageChoice("de" if is_german else "en", len(texts), total, german + other, german)
