"""A model's own tokens: text to token ids, by the tokenizer file that came with it."""

from __future__ import annotations

from collections.abc import Sequence
from mmap import mmap
from typing import Any

from recall_core.errors import EmbedError
from recall_core.shell import INSTALL, Hint


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
