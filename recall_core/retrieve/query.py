"""Words as a person types them, turned into a full-text query that means exactly those words."""

from __future__ import annotations

import re
from collections.abc import Callable

from recall_core.text import STOP_WORDS, spaced
from recall_core.types import LiteralQuery, Phrase

_QUOTED = re.compile(r'"([^"]*)"?')


def literal(text: str, *, tokens: Callable[[str], tuple[str, ...]], match: str) -> LiteralQuery:
    """The literal query: every word a phrase of its own, "words in quotes" one phrase, repeats kept.

    Stop words outside quotes are dropped unless nothing would remain. match: "any" phrase will do, or "all" must.
    Nothing in the text is syntax but the double quote; an unclosed one reaches to the end.
    """
    quoted: list[Phrase] = []
    phrases: list[Phrase] = []
    end = 0
    for found in _QUOTED.finditer(text):
        phrases += _words(text[end : found.start()], tokens)
        folded = tokens(spaced(found.group(1)))
        if folded:
            quoted.append(Phrase(f'"{found.group(1).strip()}"', folded))
            phrases.append(quoted[-1])
        end = found.end()
    phrases += _words(text[end:], tokens)
    kept = [phrase for phrase in phrases if phrase in quoted or phrase.text not in STOP_WORDS] or phrases
    return LiteralQuery(text, tuple(kept), "any" if match == "any" else "all")


def _words(text: str, tokens: Callable[[str], tuple[str, ...]]) -> list[Phrase]:
    return [Phrase(token, (token,)) for token in tokens(spaced(text))]
