"""A reranker: the share of the question's words that a text contains."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.config import Config


class Overlap:
    """Scores texts by the words they share with the question. `recall search --rerank overlap WORDS`."""

    identity = "overlap-1"

    def __init__(self, config: Config) -> None:
        self.config = config

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the share per text, 0 for a question without words."""
        words = set(question.casefold().split())
        return [len(words & set(text.casefold().split())) / max(1, len(words)) for text in texts]
