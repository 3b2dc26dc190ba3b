"""A counter: a token is a byte of UTF-8, as for models that read bytes."""

from __future__ import annotations


def count_bytes(text: str) -> int:
    """Return the bytes of a text. `recall context --counter bytes WORDS`."""
    return len(text.encode("utf-8", "surrogatepass"))
