"""What a cosine is made of: words, where an embedder can tell them apart; sentences, where it has to be asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import fsum
from operator import mul

from recall_core.embed.unit import components
from recall_core.explain.lexical import Contribution
from recall_core.explain.shapley import shapley
from recall_core.ports import Additive, Embedder

SHAPLEY_SENTENCES = 8
"""Sentences up to which every subset of them is embedded."""

_SENTENCE = re.compile(r".+?(?:[.!?][\"'”’)\]]*\s+|[。！？]\s*|\n\s*\n|\Z)", re.DOTALL)


def word_contributions(embedder: Embedder, question: str, texts: Sequence[str]) -> list[list[Contribution]] | None:
    """For each text what its words give to its cosine with the question; None where the embedder cannot tell."""
    if not isinstance(embedder, Additive):
        return None
    return [[Contribution(*share) for share in shares] for shares in embedder.shares(question, texts)]


def sentence_contributions(embedder: Embedder, question: str, text: str) -> list[Contribution]:
    """What each sentence gives to the cosine of the question and a text, for an embedder that is a black box.

    Up to 8 sentences: their exact Shapley values, which add up to the cosine, from all 2 ** n - 1 subsets, embedded
    in one call (Shapley 1953). More: what the cosine loses without each (kind "removal"), and a residual.
    """
    pieces = sentences(text)
    (asked,) = embedder.embed([question], is_query=True)
    if not asked or not pieces:
        return []
    axis = components(asked)
    if len(pieces) <= SHAPLEY_SENTENCES:
        subsets = ["".join(_members(pieces, coalition)) for coalition in range(1, 1 << len(pieces))]
        worths = [0.0, *_cosines(embedder, axis, subsets)]
        values = shapley(worths.__getitem__, len(pieces))
        return [Contribution("sentence", *each) for each in zip(_shown(pieces), values, strict=True)]
    without = ["".join(pieces[:i] + pieces[i + 1 :]) for i in range(len(pieces))]
    whole, *rest = _cosines(embedder, axis, [text, *without])
    lost = [whole - cosine for cosine in rest]
    removals = [Contribution("removal", *each) for each in zip(_shown(pieces), lost, strict=True)]
    return [*removals, Contribution("residual", "sentences together", whole - fsum(lost))]


def sentences(text: str) -> list[str]:
    """The text cut behind every sentence and empty line; put together again they are the text.

    >>> sentences("Retry once. Then give up!")
    ['Retry once. ', 'Then give up!']
    """
    return _SENTENCE.findall(text) if text.strip() else []


def _members(pieces: Sequence[str], coalition: int) -> list[str]:
    return [piece for i, piece in enumerate(pieces) if coalition >> i & 1]


def _shown(pieces: Sequence[str]) -> list[str]:
    return [" ".join(piece.split()) for piece in pieces]


def _cosines(embedder: Embedder, axis: Sequence[float], texts: Sequence[str]) -> list[float]:
    vectors = embedder.embed(texts)
    return [fsum(map(mul, axis, components(vector))) if vector else 0.0 for vector in vectors]
