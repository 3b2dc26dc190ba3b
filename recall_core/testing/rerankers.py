"""Conformance tests for rerankers. The author of a plug-in subclasses them:

    class TestMine(RerankerConformance):
        name = "mine"

pytest collects the subclass. It needs no other pytest feature.
"""

from __future__ import annotations

from recall_core.config import Config
from recall_core.embed.rescore import check_reranker, new_reranker
from recall_core.ports import Reranker
from recall_core.testing.embedders import TEXTS

_QUESTIONS = ("how do I deploy without downtime?", "Eier", "", "?")


class RerankerConformance:
    """Requirements of every reranker. name, config: as for `rerank` in recall.toml, and the other settings."""

    name: str
    config: Config = Config()

    def reranker(self) -> Reranker:
        """Return a new reranker to test."""
        return new_reranker(self.name, self.config)

    def test_name_is_known_without_loading(self) -> None:
        check_reranker(self.name)

    def test_identity_is_the_same_every_time(self) -> None:
        assert self.reranker().identity
        assert self.reranker().identity == self.reranker().identity

    def test_each_text_has_one_value_from_0_to_1(self) -> None:
        for question in _QUESTIONS:
            values = self.reranker().score(question, [*TEXTS, "", " \n"])
            assert len(values) == len(TEXTS) + 2, question
            assert all(0 <= value <= 1 for value in values), question

    def test_no_text_has_no_value(self) -> None:
        assert self.reranker().score(_QUESTIONS[0], []) == []

    def test_same_texts_have_the_same_values(self) -> None:
        one = self.reranker()
        for question in _QUESTIONS:
            values = one.score(question, TEXTS)
            assert one.score(question, TEXTS) == self.reranker().score(question, TEXTS) == values, question

    def test_long_texts_are_scored(self) -> None:
        assert len(self.reranker().score("server " * 500, ["server " * 5_000, TEXTS[0]])) == 2
