"""Turn typed words into a full-text query for exactly those words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, TypeAlias

from recall_core.deadline import check
from recall_core.named import NamedTuple
from recall_core.text import STOP_WORDS, STOP_WORDS_NAME, space_cjk
from recall_core.types import LiteralQuery, Phrase

Tokens: TypeAlias = Callable[[str], tuple[str, ...]]

_QUOTED = re.compile(r'"([^"]*)"?')

_STAYS, _FUNCTION, _LEFTOVER, _ASKING = range(4)


class _PhraseGroup(NamedTuple):
    """Phrases that are kept or dropped together. written: reported if they are dropped."""

    kind: int
    """Lower kinds are dropped first; _STAYS is never dropped."""
    phrases: tuple[Phrase, ...]
    written: str = ""


def literal(text: str, *, tokens: Tokens, match: str, stop_words: str = "english") -> LiteralQuery:
    """Return the literal query: every word is a phrase, "words in quotes" are one phrase, repeats are kept.

    The only syntax is the double quote; an unclosed one extends to the end.

    match: "any" phrase must match, or "all".
    stop_words: value of the setting; which words outside quotes are dropped. At least one word always remains.
    """
    read = _read_closely if stop_words in ("leftovers", "questions") else _read
    parts: list[_PhraseGroup] = []
    end = 0
    for found in _QUOTED.finditer(text):
        parts += read(text[end : found.start()], tokens, stop_words)
        if folded := tokens(space_cjk(found.group(1))):
            parts.append(_PhraseGroup(_STAYS, (Phrase(f'"{found.group(1).strip()}"', folded),)))
        end = found.end()
    parts += read(text[end:], tokens, stop_words)
    most = _most_dropped(parts, text, stop_words)
    kept = tuple(phrase for part in parts if _is_kept(part, most) for phrase in part.phrases)
    dropped = tuple(part.written for part in parts if part.written and not _is_kept(part, most))
    return LiteralQuery(text, kept, "any" if match == "any" else "all", dropped)


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


def _read(text: str, tokens: Tokens, stop_words: str) -> Iterator[_PhraseGroup]:
    """Yield every word, marked if it is a function word."""
    for token in tokens(space_cjk(text)):
        is_function = token in STOP_WORDS and stop_words != "none"
        yield _PhraseGroup(_FUNCTION if is_function else _STAYS, (Phrase(token, (token,)),))


def _read_closely(text: str, tokens: Tokens, stop_words: str) -> Iterator[_PhraseGroup]:
    """Like `_read`, but also classify words by their neighbours."""
    for piece in pieces(text, with_question_words=stop_words == "questions"):
        check()
        written = text[piece.start : piece.end]
        if piece.kind == "words":
            yield from _read(written, tokens, stop_words)
            continue
        folded = tokens(space_cjk(written))
        words = tuple(Phrase(token, (token,)) for token in folded)
        match piece.kind:
            case "phrase":
                yield _PhraseGroup(_STAYS, (Phrase(written, folded),))
            case "capital":
                yield _PhraseGroup(_STAYS, words)
            case "question":
                yield _PhraseGroup(_ASKING, words, written)
            case _ if all(token in STOP_WORDS for token in folded):
                yield _PhraseGroup(_FUNCTION, words)
            case _:
                yield _PhraseGroup(_LEFTOVER, words, written)


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
