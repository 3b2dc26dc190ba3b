"""Words as a person types them, turned into a full-text query that means exactly those words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from recall_core import retrieve
from recall_core.deadline import check
from recall_core.named import NamedTuple
from recall_core.text import STOP_WORDS, STOP_WORDS_NAME, spaced
from recall_core.types import LiteralQuery, Phrase

Tokens: TypeAlias = Callable[[str], tuple[str, ...]]

_QUOTED = re.compile(r'"([^"]*)"?')

_STAYS, _FUNCTION, _LEFTOVER, _ASKING = range(4)


class _PhraseGroup(NamedTuple):
    """Phrases that stay or go together. written: what is told of them once they are dropped."""

    kind: int
    """Kinds are dropped from the lowest up, but _STAYS."""
    phrases: tuple[Phrase, ...]
    written: str = ""


def literal(text: str, *, tokens: Tokens, match: str, stop_words: str = "english") -> LiteralQuery:
    """The literal query: every word a phrase of its own, "words in quotes" one phrase, repeats kept.

    stop_words: what is dropped outside quotes, as the setting has it; never so much that nothing would remain.
    match: "any" phrase will do, or "all" must. Nothing in the text is syntax but the double quote; an unclosed one
    reaches to the end.
    """
    read = _read_closely if stop_words in ("leftovers", "questions") else _read
    parts: list[_PhraseGroup] = []
    end = 0
    for found in _QUOTED.finditer(text):
        parts += read(text[end : found.start()], tokens, stop_words)
        if folded := tokens(spaced(found.group(1))):
            parts.append(_PhraseGroup(_STAYS, (Phrase(f'"{found.group(1).strip()}"', folded),)))
        end = found.end()
    parts += read(text[end:], tokens, stop_words)
    most = _most_dropped(parts, text, stop_words)
    kept = tuple(phrase for part in parts if _is_kept(part, most) for phrase in part.phrases)
    dropped = tuple(part.written for part in parts if part.written and not _is_kept(part, most))
    return LiteralQuery(text, kept, "any" if match == "any" else "all", dropped)


def lists_of(stop_words: str) -> str:
    """The lists that such a question drops words by, each by its name and version."""

    names = {
        "none": (),
        "english": (STOP_WORDS_NAME,),
        "leftovers": (STOP_WORDS_NAME, retrieve.question_words.LEFTOVERS_NAME),
    }
    return (
        ", ".join(
            names.get(
                stop_words,
                (
                    STOP_WORDS_NAME,
                    retrieve.question_words.LEFTOVERS_NAME,
                    retrieve.question_words.QUESTION_WORDS_NAME,
                ),
            )
        )
        or "none"
    )


def telling(words: Iterable[str], stop_words: str) -> list[str]:
    """Those of these tokens that a question of many words looks for; see `literal`."""
    if stop_words == "none":
        return list(words)
    left = [word for word in words if word not in STOP_WORDS]
    if stop_words == "english":
        return left

    left = [word for word in left if len(word) > 1 or not ("a" <= word <= "z")]
    return (
        left
        if stop_words == "leftovers"
        else [word for word in left if word not in retrieve.question_words.QUESTION_WORDS]
    )


def _read(text: str, tokens: Tokens, stop_words: str) -> Iterator[_PhraseGroup]:
    """Every word, and which ones are function words."""
    for token in tokens(spaced(text)):
        is_function = token in STOP_WORDS and stop_words != "none"
        yield _PhraseGroup(_FUNCTION if is_function else _STAYS, (Phrase(token, (token,)),))


def _read_closely(text: str, tokens: Tokens, stop_words: str) -> Iterator[_PhraseGroup]:
    """The same, with what is known of words by what stands around them."""

    for piece in retrieve.question_words.pieces(text, with_question_words=stop_words == "questions"):
        check()
        written = text[piece.start : piece.end]
        if piece.kind == "words":
            yield from _read(written, tokens, stop_words)
            continue
        folded = tokens(spaced(written))
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
    """The last kind that is dropped together with those before it."""
    left = [
        sum(len(phrase.tokens) for part in parts if _is_kept(part, kind) for phrase in part.phrases)
        for kind in range(4)
    ]
    if stop_words == "questions" and (
        left[_ASKING] >= retrieve.question_words.LEAST_LEFT
        and len(text.split()) >= retrieve.question_words.LONG_QUESTION
    ):
        return _ASKING
    return next((kind for kind in (_LEFTOVER, _FUNCTION) if left[kind]), _STAYS)


def _is_kept(part: _PhraseGroup, most: int) -> bool:
    return part.kind == _STAYS or part.kind > most
