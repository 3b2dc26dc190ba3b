"""Conformance tests for embedders. The author of a plug-in subclasses them:

    class TestMine(DeterministicEmbedderConformance):
        kind = MINE

pytest collects the subclasses. They need no other pytest feature.
"""

from __future__ import annotations

from recall_core.config import Config
from recall_core.ports import Embedder, EmbedderKind
from recall_core.store.values import find_flaws

TEXTS = (
    "A deployment without downtime drains one server after the other.",
    "The recipe takes two eggs, flour and a pinch of salt.",
    "Der Zug nach München fährt um acht Uhr.",
    "def add(a, b):\n    return a + b\n",
    "服务器重新启动",
)


class EmbedderConformance:
    """Requirements of every embedder. kind, config: the kind under test and its settings."""

    kind: EmbedderKind
    config: Config = Config()

    def embedder(self) -> Embedder:
        """Return a new embedder to test."""
        return self.kind.new(self.config)

    def test_embedder_is_usable_here(self) -> None:
        assert self.kind.missing(self.config) is None

    def test_weight_is_between_0_and_1(self) -> None:
        assert 0 <= self.kind.vector_weight <= 1

    def test_identity_ends_with_the_dimension(self) -> None:
        embedder = self.embedder()
        assert embedder.identity.endswith(f":{embedder.dimension}")
        assert self.kind.recognises(embedder.identity, self.config)
        assert not self.kind.recognises(f"another-{embedder.identity}", self.config)

    def test_announced_dimension_is_the_dimension(self) -> None:
        assert self.kind.dimension(self.config) in (None, self.embedder().dimension)

    def test_store_gets_the_same_embedder(self) -> None:
        embedder = self.embedder()
        again = self.kind.new(self.config, dimension=embedder.dimension)
        assert (again.identity, again.dimension) == (embedder.identity, embedder.dimension)

    def test_every_vector_can_be_stored(self) -> None:
        embedder = self.embedder()
        vectors = embedder.embed(TEXTS)
        assert [len(vector) for vector in vectors] == [4 * embedder.dimension] * len(TEXTS)
        assert find_flaws(vectors, dimension=embedder.dimension) == {}

    def test_query_vector_has_the_same_form(self) -> None:
        embedder = self.embedder()
        (vector,) = embedder.embed(["how do I deploy without downtime?"], is_query=True)
        assert find_flaws([vector], dimension=embedder.dimension) == {}
        assert len(vector) == 4 * embedder.dimension

    def test_invisible_text_has_no_vector(self) -> None:
        embedder = self.embedder()
        assert embedder.embed(["", " \n\t"]) == [b"", b""]
        assert embedder.embed([]) == []

    def test_long_text_is_embedded(self) -> None:
        embedder = self.embedder()
        text = "server " * (1_000 if embedder.max_input is None else embedder.max_input + 1)
        (vector,) = embedder.embed([text])
        assert len(vector) == 4 * embedder.dimension
        (windows,) = embedder.windows([text])
        assert windows > 1 if embedder.max_input else windows == 1

    def test_short_text_is_one_window(self) -> None:
        assert self.embedder().windows(TEXTS) == [1] * len(TEXTS)

    def test_different_texts_have_different_vectors(self) -> None:
        assert len(set(self.embedder().embed(TEXTS))) == len(TEXTS)


class DeterministicEmbedderConformance(EmbedderConformance):
    """Additional requirements of a model in this process: a vector is a function of its text."""

    def test_second_embedder_makes_the_same_bytes(self) -> None:
        assert self.embedder().embed(TEXTS) == self.embedder().embed(TEXTS)

    def test_batch_and_order_change_no_byte(self) -> None:
        embedder = self.embedder()
        together = embedder.embed(TEXTS)
        alone = [vector for text in reversed(TEXTS) for vector in embedder.embed([text])]
        assert together == alone[::-1]
