"""A reranker: the share of the question's words that a text contains. `recall search --set rerank=overlap WORDS`."""

from collections.abc import Sequence

from recall_core.config import Config


class Overlap:
    """Compares words as they are spelled."""

    identity = "overlap-1"

    def __init__(self, config: Config) -> None:
        self.config = config

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        words = {*question.casefold().split()}
        return [len(words & {*text.casefold().split()}) / max(1, len(words)) for text in texts]
