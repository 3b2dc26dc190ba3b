"""The terms of the full-text index, each with how many rows hold it, which the index itself counts whenever asked."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from recall_core._lazy import np

_BEHIND_ALL = b"\xff"
"""A byte that UTF-8 does not have: what begins with a letter comes before the letter with it."""


class TermFrequencies:
    """All terms of one state of a store, in ascending order, in as few bytes as they may take."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("i")
        self._lengths = array("i")
        self._frequencies = array("i")

    def put(self, terms: Sequence[tuple[str, int]]) -> None:
        """The next terms, behind all that were put before."""
        encoded = [term.encode() for term, _ in terms]
        self._ends.extend(accumulate(map(len, encoded[1:]), initial=len(self._text) + len(encoded[0])))
        self._text += b"".join(encoded)
        self._lengths.extend([len(term) for term, _ in terms])
        self._frequencies.extend([df for _, df in terms])

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        numbers = (self._ends, self._lengths, self._frequencies)
        return len(self._text) + sum(each.itemsize * len(each) for each in numbers)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """How many rows hold each of these terms, of those that any holds."""
        found: dict[str, int] = {}
        for term in terms:
            wanted = term.encode()
            at = bisect_left(range(len(self._ends)), wanted, key=self._term)
            if at < len(self._ends) and self._term(at) == wanted:
                found[term] = self._frequencies[at]
        return found

    def beginning(self, letters: str, shortest: int, longest: int) -> dict[str, int]:
        """How many rows hold each term of so many code points that begins with one of these letters."""

        lengths, every = np.frombuffer(self._lengths, dtype=np.intc), range(len(self._ends))
        found: dict[str, int] = {}
        for letter in letters:
            first = bisect_left(every, letter.encode(), key=self._term)
            stop = bisect_left(every, letter.encode() + _BEHIND_ALL, key=self._term)
            of_letter = lengths[first:stop]
            if not len(of_letter):
                continue
            text = self._text[self._ends[first - 1] if first else 0 : self._ends[stop - 1]].decode()
            ends, chosen = np.cumsum(of_letter), np.flatnonzero((of_letter >= shortest) & (of_letter <= longest))
            starts = (ends - of_letter)[chosen].tolist()
            terms = [text[start:end] for start, end in zip(starts, ends[chosen].tolist(), strict=True)]
            frequencies = np.frombuffer(self._frequencies, dtype=np.intc)[first:stop][chosen].tolist()
            found.update(zip(terms, frequencies, strict=True))
        return found

    def _term(self, at: int) -> bytes:
        return bytes(self._text[self._ends[at - 1] if at else 0 : self._ends[at]])
