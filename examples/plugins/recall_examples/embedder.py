"""An embedder: counts the letters of a text. `recall init --embedding letters`."""

from array import array
from collections import Counter
from collections.abc import Sequence
from math import hypot

from recall_core.config import Config
from recall_core.types import Vector


class Letters:
    """Makes unit vectors of letter counts."""

    identity, dimension, max_input = "letters-1:64", 64, None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        counted = [Counter(ord(letter) % 64 for letter in "".join(text.split())) for text in texts]
        lengths = [hypot(*counts.values()) for counts in counted]
        return [
            array("f", [counts[place] / length for place in range(64)]).tobytes() if length else b""
            for counts, length in zip(counted, lengths, strict=True)
        ]

    def windows(self, texts: Sequence[str]) -> list[int]:
        return [1] * len(texts)


class LettersKind:
    """Names the embedder in settings, and creates it."""

    name, purpose, vector_weight = "letters", "counts letters, as an example", 0.2

    def sends_text(self, config: Config) -> bool:
        return False

    def missing(self, config: Config) -> None:
        return None

    def dimension(self, config: Config) -> int:
        return Letters.dimension

    def recognises(self, identity: str, config: Config) -> bool:
        return identity == Letters.identity

    def new(self, config: Config, *, dimension: int | None = None) -> Letters:
        return Letters()


LETTERS = LettersKind()
