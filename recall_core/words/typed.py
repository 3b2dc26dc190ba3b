"""Read the syntax of typed questions: `back*`, `-word` and `title:word`. Spell the words of FTS5 expressions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from recall_core.named import NamedTuple
from recall_core.types import Phrase
from recall_core.words.analyzer import Analyzer

MOST_TYPED = 12
"""A text of more words is a pasted sentence, which has no syntax."""


class TypedQuestion(NamedTuple):
    """A question with syntax, taken apart."""

    text: str
    """Its other words, for `question.literal`."""
    meaning: str
    """Its words without signs, for embedders."""
    prefixes: tuple[str, ...]
    """Beginnings of words, without the star."""
    titles: tuple[str, ...]
    """Words that count in titles only."""
    excluded: tuple[str, ...]
    """Words that no row may have."""


class TermIndex(Protocol):
    """What the beginning of a word asks of a store."""

    def terms_beginning(
        self, letters: Sequence[str], shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> Mapping[str, int]:
        """See `store.port.Search`."""

    def texts_with(self, term: str, *, most: int) -> Sequence[str]:
        """See `store.port.Search`."""


def take_apart(text: str) -> TypedQuestion | None:
    """Return a question with syntax, taken apart, or None if it has none.

    Quoted text has none. An exclusion follows a blank and another word, and has at least three small letters. Next
    to a `--flag`, a word with a dash excludes nothing.
    """
    found = list(_syntax_in(text))
    if not found:
        return None
    left, meaning, end = "", "", 0
    values: dict[str, list[str]] = {"prefix": [], "title": [], "excluded": []}
    for kind, value, start, stop in found:
        left += text[end:start]
        meaning += text[end:start] + ("" if kind == "excluded" else value)
        values[kind].append(value)
        end = stop
    rest = text[end:]
    distinct = (tuple(dict.fromkeys(each)) for each in values.values())
    return TypedQuestion(left + rest, " ".join((meaning + rest).split()), *distinct)


def without_excluded(text: str, words: Collection[str]) -> str:
    """Return the question without the exclusion of these words."""
    for kind, value, start, end in reversed(list(_syntax_in(text))):
        if kind == "excluded" and value in words:
            text = text[:start].rstrip() + text[end:]
    return text


MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u00ad\u200c\u200d"
"""What may follow a letter within a word, for a set of a pattern."""
_SYNTAX = (
    r'"[^"]*"?'
    r"|(?<!\S)title:(?P<title>[^\W_][^\s\"]*)(?!\S)"
    rf"|(?<= )-(?P<excluded>(?:[^\W\d_][{MARKS}]*){{3,}})(?!\S)"
    rf"|(?<!\S)(?P<prefix>(?:[^\W_][{MARKS}]*){{2,}})\*(?!\S)"
)


def _syntax_in(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield the kind, the word and the range of each piece of syntax, in order."""
    has_any = "*" in text or " -" in text or "title:" in text
    if not has_any or len(text.split()) > MOST_TYPED:
        return
    has_flag = re.search(r"(?<!\S)--\w", text) is not None
    for found in re.finditer(_SYNTAX, text):
        kind = found.lastgroup
        is_off = kind == "excluded" and (has_flag or not found[kind].islower() or not text[: found.start()].strip())
        if kind and not is_off:
            yield kind, found[kind], found.start(), found.end()


def typed_phrases(typed: TypedQuestion, analyzer: Analyzer, index: TermIndex) -> Iterator[Phrase]:
    """Yield the phrases of titles and of beginnings of words."""
    for word in typed.titles:
        if (phrase := analyzer.phrase(word, f"title:{word}")) is not None:
            yield phrase._replace(any_of=(phrase,), in_title=True)
    for word in typed.prefixes:
        tokens = analyzer.tokens(word)
        if len(tokens) != 1:  # pairs of a script without blanks already match within words
            if (phrase := analyzer.phrase(word)) is not None:
                yield phrase
            continue
        name = f"{word}*"
        terms = terms_of_words(tokens[0], analyzer, index) or [name]  # no term of an index has a star
        yield Phrase(name, (name,), (name,), any_of=tuple(Phrase(term, (term,), (term,)) for term in terms))


MOST_TERMS = 200
"""At most so many terms match one beginning."""
_MOST_READ = 5_000
_LONGEST = 64
_TEXTS_READ = 100
"""Chunks that are read to see whether a term has a word with this beginning."""
_ENDINGS = ("", "i", "e", "l", "le")
"""Letters that stemmers put in place of others: `happy` becomes happi, `sizing` size, `stability` stabl."""


def terms_of_words(beginning: str, analyzer: Analyzer, index: TermIndex) -> list[str]:
    """Return the terms of words that begin so, those in the most chunks first, ties in code point order.

    The index has stems only. `relational` has the term relat, which other words have too: whether one of its words
    begins so is read in at most 100 chunks with it. Returns at most 200 terms.
    """
    heads = [beginning[:length] for length in range(2, len(beginning) + 1)]
    also = [head + ending for head in heads for ending in _ENDINGS]
    found = index.terms_beginning((beginning,), 1, _LONGEST, also=also, most=_MOST_READ)
    known: set[str] = set()
    kept: list[str] = []
    for term, _ in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        is_sure = term.startswith(beginning) and (len(term) > len(beginning) + 1 or term[-1] not in "iel")
        for text in () if is_sure or term in known else index.texts_with(term, most=_TEXTS_READ):
            words = {token for token in analyzer.tokens(text, ends="all") if token.startswith(beginning)}
            known.update(analyzer.stem(sorted(words)))
            if term in known:
                break
        if is_sure or term in known:
            kept.append(term)
        if len(kept) == MOST_TERMS:
            break
    return kept


_BARE = r"[A-Za-z0-9_\x1a\x80-\U0010ffff]"
_PIECES = (
    rf"\{{[^}}]*+\}}|{_BARE}++(?=\s*:)|\"(?:[^\"]|\"\")*+\"(?=\s*:)"  # columns
    rf"|NEAR(?=\s*\()|,\s*[0-9]++|(?:AND|OR|NOT)(?!{_BARE})"  # operators
    r'|"(?P<string>(?:[^"]|"")*+)"'
    rf"|(?P<word>{_BARE}++(?:[-./@'&]++{_BARE}++)*+)(?!\s*:)"
)
"""What follows a comma is the distance of NEAR. A joined word, such as v2.8.3, is a string without quotes."""


def spell_expression(expression: str, analyzer: Analyzer) -> str:
    """Return an FTS5 expression with its words, strings and prefixes in the indexed form.

    Operators, columns and words that are their own form stay as they are.
    """

    def spell_piece(found: re.Match[str]) -> str:
        if found.lastgroup is None:
            return found[0]
        text = found[found.lastgroup]
        form = analyzer.form(text.replace('""', '"'), ends="inner").replace('"', '""')
        is_kept = form == text and (found.lastgroup == "string" or re.fullmatch(f"{_BARE}+", text))
        return found[0] if is_kept else f'"{form}"'

    return re.sub(_PIECES, spell_piece, expression)
