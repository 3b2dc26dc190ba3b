"""Conformance tests for counters of tokens. The author of a plug-in subclasses them:

    class TestMine(CounterConformance):
        name = "mine"

pytest collects the subclass. It needs no other pytest feature.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

from recall_core.config import Config
from recall_core.ingest.chunk import chunk
from recall_core.testing.embedders import TEXTS
from recall_core.text import counter

_ELSEWHERE = """
import json, sys
from recall_core.text import counter
json.dump([counter(sys.argv[1]).count(text) for text in json.load(sys.stdin)], sys.stdout)
"""
_ODD = ("", " ", "\n\t", "e\u0301", "\u0000", "\U0001f600" * 9, "-" * 999)


class CounterConformance:
    """Requirements of every counter. name: as for `counter` in recall.toml."""

    name: str

    def test_count_is_a_whole_number_from_0(self) -> None:
        for text in (*TEXTS, *_ODD):
            tokens = counter(self.name).count(text)
            assert isinstance(tokens, int), text
            assert tokens >= 0, text

    def test_only_text_has_tokens(self) -> None:
        count = counter(self.name).count
        assert count("") == 0
        assert all(count(text) > 0 for text in TEXTS)

    def test_count_does_not_depend_on_process_or_locale(self) -> None:
        environment = {"LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)}
        command, texts = [sys.executable, "-c", _ELSEWHERE, self.name], [*TEXTS, *_ODD]
        other = subprocess.run(
            command, input=json.dumps(texts).encode(), env=environment, capture_output=True, check=True
        )
        assert json.loads(other.stdout) == [counter(self.name).count(text) for text in texts]

    def test_repeated_text_counts_more(self) -> None:
        count = counter(self.name).count
        for text in TEXTS:
            assert count(f"{text}\n" * 50) > count(text), text

    def test_chunks_cover_the_text_within_the_limit(self) -> None:
        text = "\n".join(TEXTS * 20)
        counting, limits = counter(self.name), Config(chunk_tokens=40, overlap_tokens=5)
        spans = chunk(text, counter=counting, config=limits, marks=())
        assert (spans[0].offset, spans[-1].end) == (0, len(text))
        assert all(one.end >= other.offset for one, other in pairwise(spans))
        for span in spans:
            assert span.tokens == counting.count(text[span.offset : span.end]) <= 40, span
