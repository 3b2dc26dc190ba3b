"""What a word is in a store: the indexed form of a text, its terms with their places, and phrases of a question.

Terms come from FTS5's own tokenizer, called as a function, so every kind of store has the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from recall_core._lazy import apsw
from recall_core.deadline import check
from recall_core.marks import Outline, defines
from recall_core.named import NamedTuple
from recall_core.text import STOP_WORDS_NAME
from recall_core.types import Phrase
from recall_core.words.fold import composes, fold
from recall_core.words.form import Ends, form_with_places, readable, spell_words

if TYPE_CHECKING:
    from recall_core.marks import Mark

PORTER = "porter unicode61 remove_diacritics 2"

FOLDING = "unicode61 remove_diacritics 2"

_JOINT = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"

_OF_TESTS = r"tests?[_-].*|.*[._-](?:tests?|spec)\.\w+|.*(?:Tests?|Spec)\.\w+"
"""Names of test files: test_a.py, a_test.go, a.spec.ts, ATest.java."""


class Term(NamedTuple):
    """A term of a text, with the half-open range of code points that it covers."""

    start: int
    end: int
    term: str


class Analyzer:
    """The words of a store. name: their identity, which the store keeps; other words need another index."""

    version = "words-1"
    """Beginning of the name; "" for words from before words had names. Words of another version have other rules."""
    name = "words-1 en"
    tokenizer = PORTER
    """FTS5's tokenizer for the forms."""

    @property
    def language(self) -> str:
        """The language whose stems are used, or `none`."""
        return self.name.partition(" ")[2] or "en"

    @property
    def described(self) -> str:
        """How the figures of a store name its words."""
        return "; ".join(filter(None, (self.tokenizer, self.name, f"stop words {STOP_WORDS_NAME}")))

    def form(self, text: str, *, ends: Ends = "all") -> str:
        """Return the indexed form of a text, or the text itself if the tokenizer makes the same words of it."""
        folded = fold(text)
        form = spell_words(folded, ends=ends)
        is_same = form == folded and not composes(text) and all(map(_is_folded_by_tokenizer, set(text)))
        return text if is_same else form

    def tokens(self, text: str, *, ends: Ends = "none") -> tuple[str, ...]:
        """Return the tokens of a text, folded, before stemming."""
        return tokenize(FOLDING, self.form(text, ends=ends))

    def stem(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """Return the term of each token."""
        check()
        return tokenize(self.tokenizer, " ".join(tokens))

    def phrase(self, text: str, written: str | None = None) -> Phrase | None:
        """Return the phrase of a text, or None if it has no token. written: how an answer names it."""
        tokens = self.tokens(text, ends="inner")
        return self.phrase_of(tokens, text if written is None else written) if tokens else None

    def phrase_of(self, tokens: Sequence[str], text: str = "") -> Phrase:
        """Return these tokens as a phrase. text: how an answer names it."""
        return Phrase(text, tuple(tokens), self.stem(tokens))

    def each(self, tokens: Sequence[str]) -> tuple[Phrase, ...]:
        """Return each token as a phrase of one word."""
        terms = self.stem(tokens)
        return tuple(Phrase(readable(each), (each,), (term,)) for each, term in zip(tokens, terms, strict=True))

    def terms(self, text: str) -> list[Term]:
        """Return the terms of a whole text as the index stores them, in order, with their places in the text."""
        return list(map(Term._make, self.locate(text)))

    def locate(self, text: str) -> list[tuple[int, int, str]]:
        """Return what `terms` returns, as plain tuples, which are faster to make."""
        check()
        if self.form(text) == text:
            return _locate(self.tokenizer, text)
        form, starts, ends = self._mapped(text)
        return [(starts[start], ends[end - 1], term) for start, end, term in _locate(self.tokenizer, form)]

    def spans(self, text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
        """Return the half-open ranges of code points that match one of the phrases, in order; overlaps are merged."""
        wanted = {self.stem(self.tokens(phrase, ends="inner")) for phrase in phrases} - {()}
        if not wanted:
            return []
        found = self.terms(text)
        first = {terms[0] for terms in wanted}
        spans: list[tuple[int, int]] = []
        for at, term in enumerate(found):
            if term.term not in first:
                continue
            for terms in wanted:
                run = found[at : at + len(terms)]
                if tuple(each.term for each in run) == terms:
                    spans.append((term.start, run[-1].end))
        return list(_merge(sorted(spans)))

    def titles(self, title: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[str]:
        """Return the full-text titles of a document's chunks with these spans, in order; "" for all without a title.

        The document's title is followed by the names of all definitions that overlap the chunk. They weigh like
        titles, so the definition of something ranks before its uses. Test files get no names: their definitions are
        named after what they test and would otherwise outrank it.
        """
        own = self.form(title)
        if not own or not spans or re.fullmatch(_OF_TESTS, own) or not any(map(defines, marks)):
            return [own for _ in spans]
        outline = Outline(marks, spans[-1][1])
        return ["\n".join((own, *map(self._with_pieces, outline.names_within(*span)))) for span in spans]

    def _with_pieces(self, name: str) -> str:
        """Return a name followed by its compound words split: `class NetRCAuth Net RC Auth`."""
        name = self.form(name)
        return " ".join((name, *(apart for word in name.split() if (apart := re.sub(_JOINT, " ", word)) != word)))

    _mapped = staticmethod(form_with_places)


def _merge(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last: tuple[int, int] | None = None
    for start, end in spans:
        if last is not None and start < last[1]:
            last = last[0], max(end, last[1])
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last


@cache
def _tokenizer(spelled: str) -> Any:
    name, *arguments = spelled.split()
    return _tokenizers().fts5_tokenizer(name, arguments)


@cache
def _tokenizers() -> apsw.Connection:
    """Return a connection for tokenizers; that of a store may be in use."""
    return apsw.Connection(":memory:")


def tokenize(tokenizer: str, form: str) -> tuple[str, ...]:
    """Return the tokens of a form by a tokenizer of FTS5."""
    return tuple(_call(tokenizer, form, include_offsets=False))


def _call(tokenizer: str, form: str, *, include_offsets: bool) -> Any:
    tokenize, reason = _tokenizer(tokenizer), apsw.FTS5_TOKENIZE_DOCUMENT
    return tokenize(form.encode(), reason, None, include_offsets=include_offsets, include_colocated=False)


def _locate(tokenizer: str, text: str) -> list[tuple[int, int, str]]:
    """Return the terms of a text, each with its range of code points."""
    found: list[tuple[int, int, str]] = _call(tokenizer, text, include_offsets=True)
    if text.isascii():
        return found
    content, at, byte = text.encode(), 0, 0
    for place, (start, end, term) in enumerate(found):
        first = at + len(content[byte:start].decode())
        at, byte = first + len(content[start:end].decode()), end
        found[place] = first, at, term
    return found


@lru_cache(65_536)
def _is_folded_by_tokenizer(letter: str) -> bool:
    """Return True if the tokenizer makes the same token of a letter and of its folded form."""
    return letter < "\x80" or tokenize(FOLDING, f"a{letter}a") == tokenize(FOLDING, f"a{fold(letter)}a")
