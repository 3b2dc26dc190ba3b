"""Conformance tests for embedders, rerankers and counters. The author of a plug-in subclasses them:

    class TestMine(DeterministicEmbedderConformance):
        kind = MINE

    class TestMyCounter(CounterConformance):
        name = "mine"

pytest collects the subclasses. They need no other pytest feature.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

from recall_core.config import Config
from recall_core.embed.rescore import check_reranker, new_reranker
from recall_core.ingest.chunk import chunk
from recall_core.ports import Embedder, EmbedderKind
from recall_core.store.values import find_flaws
from recall_core.text import counter

TEXTS = (
    "A deployment without downtime drains one server after the other.",
    "The recipe takes two eggs, flour and a pinch of salt.",
    "Der Zug nach München fährt um acht Uhr.",
    "def add(a, b):\n    return a + b\n",
    "服务器重新启动",
)
_ODD_TEXTS = ("", " ", "\n\t", "e\u0301", "\u0000", "\U0001f600" * 9, "-" * 999)
_QUESTIONS = ("how do I deploy without downtime?", "Eier", "", "?")
_ELSEWHERE = """
import json, sys
from recall_core.text import counter
json.dump([counter(sys.argv[1]).count(text) for text in json.load(sys.stdin)], sys.stdout)
"""


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


class RerankerConformance:
    """Requirements of every reranker. name, config: as for `rerank` in recall.toml, and the other settings."""

    name: str
    config: Config = Config()

    def test_name_has_one_identity(self) -> None:
        check_reranker(self.name)
        one, other = new_reranker(self.name, self.config), new_reranker(self.name, self.config)
        assert one.identity == other.identity != ""

    def test_each_text_has_one_value_from_0_to_1(self) -> None:
        reranker = new_reranker(self.name, self.config)
        assert reranker.score(_QUESTIONS[0], []) == []
        for question in (*_QUESTIONS, "server " * 500):
            texts = [*TEXTS, *_ODD_TEXTS, "server " * 5_000]
            values = reranker.score(question, texts)
            assert len(values) == len(texts), question
            assert all(0 <= value <= 1 for value in values), question

    def test_same_texts_have_the_same_values(self) -> None:
        one, other = new_reranker(self.name, self.config), new_reranker(self.name, self.config)
        for question in _QUESTIONS:
            values = one.score(question, TEXTS)
            assert one.score(question, TEXTS) == other.score(question, TEXTS) == values, question


class CounterConformance:
    """Requirements of every counter. name: as for `counter` in recall.toml."""

    name: str

    def test_only_text_has_tokens(self) -> None:
        count = counter(self.name).count
        assert count("") == 0
        for text in (*TEXTS, *_ODD_TEXTS):
            assert isinstance(count(text), int), text
            assert count(text) >= (text in TEXTS), text

    def test_repeated_text_counts_more(self) -> None:
        count = counter(self.name).count
        for text in TEXTS:
            assert count(f"{text}\n" * 50) > count(text), text

    def test_count_does_not_depend_on_process_or_locale(self) -> None:
        texts = [*TEXTS, *_ODD_TEXTS]
        environment = {"LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)}
        command, given = [sys.executable, "-c", _ELSEWHERE, self.name], json.dumps(texts).encode()
        other = subprocess.run(command, input=given, env=environment, capture_output=True, check=True)
        assert json.loads(other.stdout) == [counter(self.name).count(text) for text in texts]

    def test_chunks_cover_the_text_within_the_limit(self) -> None:
        text = "\n".join(TEXTS * 20)
        counting, limits = counter(self.name), Config(chunk_tokens=40, overlap_tokens=5)
        spans = chunk(text, counter=counting, config=limits, marks=())
        assert (spans[0].offset, spans[-1].end) == (0, len(text))
        assert all(one.end >= other.offset for one, other in pairwise(spans))
        for span in spans:
            assert span.tokens == counting.count(text[span.offset : span.end]) <= 40, span
