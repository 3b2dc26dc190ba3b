"""An embedder: counts the letters of a text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import hypot

from recall_core.config import Config
from recall_core.ports import Embedder
from recall_core.types import Vector

DIMENSION = 64


class Letters:
    """Vectors of letter counts."""

    identity = f"letters-1:{DIMENSION}"
    dimension = DIMENSION
    max_input = None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return a vector per text; see ports.Embedder."""
        return [_vector(text) for text in texts]

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return 1 for each text, however long."""
        return [1] * len(texts)


def _vector(text: str) -> Vector:
    counts = [0] * DIMENSION
    for letter in "".join(text.casefold().split()):
        counts[ord(letter) % DIMENSION] += 1
    length = hypot(*counts)
    return array("f", [count / length for count in counts]).tobytes() if length else b""


class LettersKind:
    """The kind of embedder that `recall init --embedder letters` names."""

    name = "letters"
    purpose = "counts letters, as an example"
    vector_weight = 0.2

    def sends_text(self, config: Config) -> bool:
        """Return False: everything is computed here."""
        return False

    def missing(self, config: Config) -> None:
        """Return None: nothing else is needed."""

    def dimension(self, config: Config) -> int:
        """Return the dimension."""
        return DIMENSION

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True for the identity of `Letters`."""
        return identity == Letters.identity

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        """Return an embedder."""
        return Letters()


LETTERS = LettersKind()
