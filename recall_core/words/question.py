"""Turn typed words into a literal query, with the spellings of them that the store has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import log
from typing import Literal, Protocol

from recall_core.deadline import check
from recall_core.named import NamedTuple
from recall_core.text import SPACELESS, STOP_WORDS, STOP_WORDS_NAME
from recall_core.types import LiteralQuery, Phrase, TermStat
from recall_core.words.analyzer import Analyzer
from recall_core.words.fold import without_ignored
from recall_core.words.form import is_sign, is_single
from recall_core.words.typed import MARKS, TermIndex, TypedQuestion, typed_phrases

_QUOTED = re.compile(r'"([^"]*)"?')

_STAYS, _FUNCTION, _LEFTOVER, _ASKING = range(4)


class _PhraseGroup(NamedTuple):
    """Phrases that are kept or dropped together. written: reported if they are dropped."""

    kind: int
    """Lower kinds are dropped first; _STAYS is never dropped."""
    phrases: tuple[Phrase, ...]
    written: str = ""
    pieces: tuple[_PhraseGroup, ...] = ()
    """Of a joined word."""


class Index(TermIndex, Protocol):
    """What a question asks of a store before its search."""

    def term_stats(self, query: LiteralQuery, *, is_searched: bool = True) -> Sequence[TermStat]:
        """See `store.port.Search`."""

    def terms_ending(self, letters: str, *, most: int) -> Sequence[str]:
        """See `store.port.Search`."""


def literal(
    text: str,
    *,
    analyzer: Analyzer,
    match: str,
    stop_words: str = "english",
    index: Index | None = None,
    typed: TypedQuestion | None = None,
) -> LiteralQuery:
    """Return the literal query: every word is a phrase, "words in quotes" are one phrase, repeats are kept.

    A word typed in one piece, such as `node.js`, is a phrase too. Where the store has that phrase, its loose pieces
    weigh little. Without `typed`, the only syntax is the double quote; an unclosed one extends to the end.

    match: "any" phrase must match, or "all".
    stop_words: value of the setting; which words outside quotes are dropped. At least one word always remains.
    index: tells which phrases the store has; without one, and in stores with old words, joined words are just their
    pieces.
    typed: the text taken apart; needs the index. Titles and beginnings of words follow the other words.
    """
    parts: list[_PhraseGroup] = []
    end = 0
    asked, text = text, without_ignored(text if typed is None else typed.text)
    for found in _QUOTED.finditer(text):
        parts += _read_unquoted(text[end : found.start()], analyzer, stop_words)
        if quoted := analyzer.phrase(found[1], f'"{found[1].strip()}"'):
            parts.append(_PhraseGroup(_STAYS, (quoted,)))
        end = found.end()
    parts += _read_unquoted(text[end:], analyzer, stop_words)
    spellings = index if analyzer.version else None
    parts = list(_weigh_joined(parts, match, analyzer, spellings))
    if spellings is not None:
        parts = _widen(_keep_rare(parts, spellings), analyzer, spellings)
    if typed is not None and index is not None:
        parts += [_PhraseGroup(_STAYS, (each,)) for each in typed_phrases(typed, analyzer, index)]
    most = _most_dropped(parts, text, stop_words)
    kept = tuple(phrase for part in parts if _is_kept(part, most) for phrase in part.phrases)
    dropped = tuple(part.written for part in parts if part.written and not _is_kept(part, most))
    return LiteralQuery(asked, kept, "any" if match == "any" else "all", dropped)


def _read_unquoted(text: str, analyzer: Analyzer, stop_words: str) -> Iterator[_PhraseGroup]:
    """Yield the words of a text without quotes; a joined word as a phrase, followed by its pieces."""
    read = _read_closely if stop_words in ("leftovers", "questions") else _read
    end = 0
    for found in () if _is_plain(text) else _joined().finditer(text):
        phrase = analyzer.phrase(found[0])
        if phrase is None or len(phrase.tokens) == 1 or _is_abbreviation(found[0]):
            continue
        if not STOP_WORDS.issuperset(phrase.tokens):
            yield from read(text[end : found.start()], analyzer, stop_words)
            whole = (phrase._replace(is_joined=True),)
            yield _PhraseGroup(_STAYS, whole, pieces=tuple(read(found[0], analyzer, stop_words)))
            end = found.end()
    yield from read(text[end:], analyzer, stop_words)


def _weigh_joined(
    parts: Sequence[_PhraseGroup], match: str, analyzer: Analyzer, index: Index | None
) -> Iterator[_PhraseGroup]:
    """Yield the parts with the pieces of joined words: alone if the store lacks the phrase, else with a small
    weight."""
    spellings = {part.phrases[0]: _spellings(part.phrases[0], analyzer) for part in parts if part.pieces}
    known = _known([each for both in spellings.values() for each in both], index)
    for part in parts:
        if not part.pieces:
            yield part
            continue
        (phrase,) = part.phrases
        found = tuple(each for each in spellings[phrase] if each.terms in known)
        if len(found) > 1 or (found and found[0].terms != phrase.terms):
            phrase = phrase._replace(any_of=found)
        if not found:
            yield from part.pieces
            continue
        is_words = _is_compound(phrase.text)
        share = SHARE_OF_WORDS if is_words else SHARE_OF_PIECES
        if match == "any" and is_words:
            phrase = phrase._replace(share=1 - share)
        yield part._replace(phrases=(phrase,))
        for piece in part.pieces if match == "any" else ():
            yield piece._replace(phrases=tuple(each._replace(share=share) for each in piece.phrases))


def _spellings(joined: Phrase, analyzer: Analyzer) -> tuple[Phrase, ...]:
    """Return a joined word as its pieces in order, and words with a hyphen also in one piece: `e-mail`, `email`."""
    if not (_is_compound(joined.text) and "-" in joined.text):
        return (joined,)
    return joined, *analyzer.each(analyzer.tokens(joined.text.replace("-", "")))


def _known(phrases: Sequence[Phrase], index: Index | None) -> dict[tuple[str, ...], int]:
    """Return terms to df of these phrases that the store has."""
    if not phrases or index is None:
        return {}
    stats = index.term_stats(LiteralQuery("", tuple(phrases)), is_searched=False)
    return {phrase.terms: stat.df for phrase, stat in zip(phrases, stats, strict=True) if stat.df}


def _widen(parts: Sequence[_PhraseGroup], analyzer: Analyzer, index: Index) -> list[_PhraseGroup]:
    """Return the parts with other spellings of their words that the store has.

    A single character of a script without blanks counts wherever a pair begins with it. A rare word counts also
    where it is two words, joined by a hyphen or not; an unknown one, where it ends a longer word.
    """
    loose = {phrase for part in parts if part.kind != _FUNCTION for phrase in part.phrases if phrase.is_plain}
    single = {phrase for phrase in loose if not phrase.text.startswith('"') or is_single(phrase.tokens[0])}
    long = [phrase for phrase in single if phrase.tokens[0].isalpha() and len(phrase.tokens[0]) >= LEAST_LETTERS]
    known = _known(long, index)
    wider: dict[Phrase, Phrase] = {}
    for phrase in single:
        others: Sequence[Phrase] = ()
        if is_single(phrase.tokens[0]):
            others = _beginning(phrase.terms[0], index)
        elif phrase in long and (df := known.get(phrase.terms, 0)) <= RARE:
            others = _halves(phrase.tokens[0], analyzer, index)
            others = [phrase, *others] if df and others else others
            if not (df or others):
                others = [Phrase(term, (term,), (term,)) for term in index.terms_ending(phrase.terms[0], most=MOST)]
        if others:
            wider[phrase] = phrase._replace(any_of=tuple(others))
    if not wider:
        return list(parts)
    return [part._replace(phrases=tuple(wider.get(each, each) for each in part.phrases)) for part in parts]


def _beginning(term: str, index: Index) -> list[Phrase]:
    """Return the terms that begin with this one, in code point order."""
    found = index.terms_beginning(term[0], len(term), LONGEST_PAIR, also=(), most=MOST_PAIRS)
    return [Phrase(each, (each,), (each,)) for each in sorted(found) if each.startswith(term)]


def _halves(word: str, analyzer: Analyzer, index: Index) -> list[Phrase]:
    """Return the pairs of words that make up this one and that the store has next to each other."""
    cuts = [(word[:at], word[at:]) for at in range(1, len(word))]
    halves = list(map(analyzer.phrase_of, cuts))
    known = _known(analyzer.each([half for pair in cuts for half in pair]), index)
    near = [half for half in halves if all((term,) in known for term in half.terms)]
    both = _known(near, index)
    return [half for half in near if half.terms in both]


LEAST_LETTERS = 5
"""Shorter words have no other spellings worth a look."""
RARE = 30
"""A word in more chunks is taken as it is written."""
MOST = 200
LONGEST_PAIR = 24
"""In code points: a pair of clusters with all their marks."""
MOST_PAIRS = 5_000


def _keep_rare(parts: list[_PhraseGroup], index: Index) -> list[_PhraseGroup]:
    """Return the parts; a question word that few chunks contain stays."""
    asking = [phrase for part in parts if part.kind == _ASKING for phrase in part.phrases]
    if not asking:
        return parts
    idfs = {stat.text: stat.idf for stat in index.term_stats(LiteralQuery("", tuple(asking)), is_searched=False)}
    rare = {text for text, idf in idfs.items() if idf > log((1 - COMMON) / COMMON)}

    def is_rare(part: _PhraseGroup) -> bool:
        return part.kind == _ASKING and any(phrase.text in rare for phrase in part.phrases)

    return [part._replace(kind=_STAYS) if is_rare(part) else part for part in parts]


COMMON = 0.02
"""A question word is dropped if at least this share of the chunks contain it."""
SHARE_OF_PIECES = 0.1
"""Weight of a loose piece of an identifier, relative to the word alone, where the store has the whole."""
SHARE_OF_WORDS = 0.9
"""The same of a compound, whose words also count apart; the phrase weighs the rest. See docs/decisions/0055."""

_JOINTS = "-_./:@#$+~%&='\u2019\\\\"
_LETTER = (
    rf"(?![{SPACELESS}\uac00-\ud7a3])"
    rf"(?:\w|[{MARKS}])"
)


@cache
def _joined() -> re.Pattern[str]:
    """Match a word that joins pieces by signs, or has a sign that makes another word of it."""
    word = f"(?:{_LETTER})+"
    return re.compile(
        rf"(?<![^\W_])(?:[#$@./](?={_LETTER}))?{word}(?:[{_JOINTS}]+{word})*(?:(?<=[A-Za-z0-9])\+\+|(?<=[A-Za-z])#)?"
    )


def _is_compound(text: str) -> bool:
    """Return True for two words of letters joined by a hyphen, a slash or an apostrophe, or more with a function
    word: `well-known` and `state-of-the-art`, but not `svc-cloud-dev`."""
    words = re.split("[-/'\u2019]", text)
    is_letters = len(words) > 1 and all(map(str.isalpha, words))
    return is_letters and (len(words) == 2 or any(word.lower() in STOP_WORDS for word in words))


def _is_abbreviation(text: str) -> bool:
    """Return True for what `pieces` reads: an abbreviation with dots, a word with a clitic or a possessive."""
    if "'" in text or "\u2019" in text:
        word = re.split("['\u2019]", text)
        return len(word) == 2 and (word[1].lower() in CLITICS or word[1].lower() in STOP_WORDS)
    found = _special().match(text)
    return found is not None and found.lastgroup in ("short", "dotted") and found.end() == len(text)


def lists_of(stop_words: str) -> str:
    """Return the names, with versions, of the lists by which such a query drops words."""
    names = {
        "none": (),
        "english": (STOP_WORDS_NAME,),
        "leftovers": (STOP_WORDS_NAME, LEFTOVERS_NAME),
    }
    return (
        ", ".join(
            names.get(
                stop_words,
                (
                    STOP_WORDS_NAME,
                    LEFTOVERS_NAME,
                    QUESTION_WORDS_NAME,
                ),
            )
        )
        or "none"
    )


def telling(words: Iterable[str], stop_words: str) -> list[str]:
    """Return the tokens that a long query searches for; see `literal`."""
    if stop_words == "none":
        return list(words)
    left = [word for word in words if word not in STOP_WORDS]
    if stop_words == "english":
        return left

    left = [word for word in left if len(word) > 1 or not ("a" <= word <= "z")]
    return left if stop_words == "leftovers" else [word for word in left if word not in QUESTION_WORDS]


def _read(text: str, analyzer: Analyzer, stop_words: str) -> Iterator[_PhraseGroup]:
    """Yield every word, marked if it is a function word."""
    for phrase in analyzer.each(analyzer.tokens(text)):
        if is_sign(phrase.tokens[0]):
            continue  # it means something only next to its word
        is_function = phrase.tokens[0] in STOP_WORDS and stop_words != "none"
        yield _PhraseGroup(_FUNCTION if is_function else _STAYS, (phrase,))


def _read_closely(text: str, analyzer: Analyzer, stop_words: str) -> Iterator[_PhraseGroup]:
    """Like `_read`, but also classify words by their neighbours."""
    for piece in pieces(text, with_question_words=stop_words == "questions"):
        check()
        written = text[piece.start : piece.end]
        if piece.kind == "words":
            yield from _read(written, analyzer, stop_words)
            continue
        each = analyzer.each(analyzer.tokens(written))
        match piece.kind:
            case "phrase" if phrase := analyzer.phrase(written):
                yield _PhraseGroup(_STAYS, (phrase,))
            case "capital":
                yield _PhraseGroup(_STAYS, each)
            case "question":
                yield _PhraseGroup(_ASKING, each, written)
            case _ if all(phrase.tokens[0] in STOP_WORDS for phrase in each):
                yield _PhraseGroup(_FUNCTION, each)
            case _:
                yield _PhraseGroup(_LEFTOVER, each, written)


def _most_dropped(parts: Sequence[_PhraseGroup], text: str, stop_words: str) -> int:
    """Return the highest kind that is dropped; lower kinds are dropped too."""
    left = [
        sum(len(phrase.tokens) for part in parts if _is_kept(part, kind) for phrase in part.phrases)
        for kind in range(4)
    ]
    if stop_words == "questions" and (left[_ASKING] >= LEAST_LEFT and len(text.split()) >= LONG_QUESTION):
        return _ASKING
    return next((kind for kind in (_LEFTOVER, _FUNCTION) if left[kind]), _STAYS)


def _is_kept(part: _PhraseGroup, most: int) -> bool:
    return part.kind == _STAYS or part.kind > most


LEFTOVERS_NAME = "leftovers-1"

CLITICS = ("d", "m", "ll", "ve", "re")
"""Verbs after an apostrophe; s and t are function words already."""

JOINTS = "+#-_./"
"""Marks that join a letter to a name, as in C++ and a.out, or two words, as in a path."""

QUESTION_WORDS_NAME = "questions-1"

QUESTION_WORDS = frozenset(
    """also anybody anyone anything article articles available concerning could deal dealing deals describe described
    describes describing discuss discussed discusses discussing exist existing exists explain explained explains find
    finding give given gives information kind kinds know known like look looking many might much must need needed
    needs paper papers please regarding related relating shall show showing shown shows somebody someone something
    tell thing things use used uses using want wanted way ways whether would""".split()
)
"""Words that English questions use regardless of their subject."""

LONG_QUESTION = 5
"""Number of words from which a question contains more than its subject."""

LEAST_LEFT = 2
"""Number of words that must remain when question words are dropped."""

Kind = Literal["words", "rest", "letter", "capital", "phrase", "question"]

# Besides letters and digits, the index accepts these in a word: combining accents, private use, other planes.
_MARK = "\\u0300-\\u036f\\ue000-\\uf8ff\\U00010000-\\U0010ffff"
_BEHIND = rf"(?<![^\W_])(?<![{_MARK}])"
_AHEAD = rf"(?![^\W_])(?![{_MARK}])"
_SPECIAL = rf"""
  (?P<short>(?<![\w./\\+\#@-])(?<![{_MARK}])
     (?:[Ee]\.[ ]?g(?:\.|{_AHEAD})|[Ii]\.[ ]?e(?:\.|{_AHEAD})|[ap]\.m(?:\.|{_AHEAD})
       |(?:[Ee]tc|[Vv]iz|[Cc]f)\.|[Ee]t[ ]al(?:\.|{_AHEAD}))(?!\.?\w){_AHEAD})
| (?P<dotted>{_BEHIND}(?<![._@])[A-Za-z]{{1,2}}(?:\.[A-Za-z]{{1,2}})+{_AHEAD}(?![._]\w|@)(?:\.{_AHEAD})?)
| (?P<word>{_BEHIND}[A-Za-z]+{_AHEAD})
| (?P<verb>(?:(?<=[^\W_])|(?<=[{_MARK}]))['’](?:{"|".join(CLITICS)}){_AHEAD})
"""


class QuestionPiece(NamedTuple):
    """A part of a text outside quotes.

    words: as the index tokenizes them. phrase: an abbreviation, whose letters must be adjacent. capital: a letter
    that is not the rest of a verb. Droppable kinds: rest (of an abbreviation or a verb), letter, question (word).
    """

    kind: Kind
    start: int
    end: int


def pieces(text: str, *, with_question_words: bool) -> Iterator[QuestionPiece]:
    """Yield the text in pieces, in order and without gaps. Alone, each piece gives the same tokens as in the text."""
    if _is_plain(text):
        yield from _plain_pieces(text, with_question_words=with_question_words)
        return
    end = 0
    for found in _special().finditer(text):
        kind = _kind(found, text, with_question_words=with_question_words)
        if kind != "words":
            yield QuestionPiece("words", end, found.start())
            yield QuestionPiece(kind, found.start(), found.end())
            end = found.end()
    yield QuestionPiece("words", end, len(text))


def _is_plain(text: str) -> bool:
    """Return True if the text is words and numbers separated by spaces, without single letters or abbreviations.

    Most queries are. They need no pattern, which takes 3 ms to compile.
    """
    words = text.split(" ")
    return text.isascii() and "al" not in words and all(map(_is_plain_word, words))


def _is_plain_word(word: str) -> bool:
    return not word or (word.isalnum() and (len(word) > 1 or word.isdigit()))


def _plain_pieces(text: str, *, with_question_words: bool) -> Iterator[QuestionPiece]:
    end = start = 0
    for word in text.split(" "):
        if with_question_words and word.lower() in QUESTION_WORDS:
            yield QuestionPiece("words", end, start)
            end = start + len(word)
            yield QuestionPiece("question", start, end)
        start += len(word) + 1
    yield QuestionPiece("words", end, len(text))


def _kind(found: re.Match[str], text: str, *, with_question_words: bool) -> Kind:
    written = found[0]
    match found.lastgroup:
        case "short" | "verb":
            return "rest"
        case "dotted":
            return "phrase" if any(len(part) == 1 for part in written.split(".")) else "words"
    if len(written) == 1:
        return _kind_of_letter(written, found, text)
    is_asking = with_question_words and written.lower() in QUESTION_WORDS
    return "question" if is_asking and not _is_joined(found, text) else "words"


def _kind_of_letter(letter: str, found: re.Match[str], text: str) -> Kind:
    """Return the kind of a single letter. Next to a joint, it is part of a name; S and T after a verb are function
    words."""
    before, behind = _around(text, found, 1)
    if letter.isupper():
        return "capital" if letter in "ST" and before not in tuple("'’") else "words"
    return "words" if any(mark and mark in JOINTS for mark in (before, behind)) else "letter"


def _around(text: str, found: re.Match[str], letters: int) -> tuple[str, str]:
    """Return up to this many letters before and after the match."""
    return text[max(0, found.start() - letters) : found.start()], text[found.end() : found.end() + letters]


def _is_joined(found: re.Match[str], text: str) -> bool:
    """Return True if a joint connects the match to a letter on its other side."""
    before, behind = _around(text, found, 2)
    return any(
        len(pair) == 2 and mark in JOINTS and not other.isspace()
        for pair, mark, other in ((before, before[-1:], before[:1]), (behind, behind[:1], behind[-1:]))
    )


@cache
def _special() -> re.Pattern[str]:
    return re.compile(_SPECIAL, re.VERBOSE)
