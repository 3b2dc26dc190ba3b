"""Instances of a query's phrases in a chunk: what a store counts, told by where it is written."""

from __future__ import annotations

from recall_core.named import NamedTuple


class Instance(NamedTuple):
    """One place where the index counts a phrase: a half-open range of code points, of the chunk's text or the title.

    From the first letter of its first token to the last one of its last, as written.
    """

    phrase: int
    """Its number in the query, from 0; of phrases that are one to the index, the first."""
    start: int
    end: int
    in_title: bool = False
