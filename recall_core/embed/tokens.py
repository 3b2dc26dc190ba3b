"""A model's own tokens: text to token ids, by the tokenizer file that came with it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, isfinite, sqrt
from mmap import mmap
from struct import Struct, pack
from typing import Any

from recall_core.errors import EmbedError
from recall_core.shell import INSTALL, Hint
from recall_core.types import Vector


class Tokens:
    """A `tokenizer.json`, with its own truncation and padding switched off.

    content: the file's bytes. Raises EmbedError `embedder_unavailable` when they describe no tokenizer.
    """

    def __init__(self, content: bytes | mmap) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - 20 ms that naming an embedder does not pay

        try:
            self._tokenizer: Any = Tokenizer.from_buffer(bytes(content))
        except Exception as error:  # tokenizers raises bare Exception for every kind of failure
            raise EmbedError(
                "embedder_unavailable",
                f"The embedder's tokenizer.json cannot be used: {error}.",
                hint=Hint(INSTALL, "tokenizers", upgrade=True),
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, without the special tokens that a model expects around them."""
        readable = [_readable(text) for text in texts]
        if len(readable) == 1:  # a batch starts threads
            return [self._tokenizer.encode(readable[0], add_special_tokens=False).ids]
        return [found.ids for found in self._tokenizer.encode_batch_fast(readable, add_special_tokens=False)]

    def placed(self, text: str) -> list[tuple[int, int]]:
        """The tokens of a text, as `ids` gives them, each with the code point at which it begins."""
        found = self._tokenizer.encode(_readable(text), add_special_tokens=False)
        return [(each, start) for each, (start, _) in zip(found.ids, found.offsets, strict=True)]

    def names(self, ids: Sequence[int]) -> list[str]:
        """How the vocabulary spells these tokens."""
        return [self._tokenizer.id_to_token(each) or "" for each in ids]

    def frame(self) -> tuple[list[int], list[int]]:
        """The special tokens that a model expects before and after a text."""
        framed = self._tokenizer.encode("a")
        marks = framed.special_tokens_mask
        start = marks.index(0)
        end = len(marks) - marks[::-1].index(0)
        return framed.ids[:start], framed.ids[end:]


def _readable(text: str) -> str:
    """The text with a question mark for every lone surrogate, which no tokenizer reads."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def unit(components: Sequence[float]) -> Vector:
    """The components as little-endian float32 of length 1; b"" where all are 0, which has no direction.

    The length is a correctly rounded sum, so the order of addition does not matter. Components that are not finite
    are passed on as they are, for the check that stands before every write.
    """
    norm = sqrt(fsum([x * x for x in components])) if all(map(isfinite, components)) else 1.0
    if norm == 0:
        return b""
    return pack(f"<{len(components)}f", *[x / norm for x in components])


def components(vector: Vector) -> tuple[float, ...]:
    """The components of a stored vector."""
    return Struct(f"<{len(vector) // 4}f").unpack(vector)


def windows(tokens: int, width: int) -> int:
    """How many windows of at most `width` tokens a text of so many tokens takes; at least 1.

    >>> windows(254, 254), windows(255, 254)
    (1, 2)
    """
    return max(1, -(-tokens // width))


def cut(ids: Sequence[int], width: int) -> list[Sequence[int]]:
    """The ids in as few windows of at most `width` as will do, in order, nothing twice and nothing left out.

    Their sizes differ by one at most, the longer first: no scrap at the end that would count as much as a page.

    >>> cut([1, 2, 3, 4, 5], 4)
    [[1, 2, 3], [4, 5]]
    """
    count = windows(len(ids), width)
    size, longer = divmod(len(ids), count)
    starts = [i * size + min(i, longer) for i in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(starts)]


def mean(vectors: Sequence[Vector]) -> Vector:
    """The mean of unit vectors, scaled to length 1; every window counts the same, because they are of one size.

    One vector is returned as it is. b"" where they cancel out.
    """
    if len(vectors) == 1:
        return vectors[0]
    return unit([fsum(column) for column in zip(*map(components, vectors), strict=True)])
