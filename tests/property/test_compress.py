"""Excerpts of any passages under any budget."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recall_core.pack.compress import Passage, compress, overlap, sentence_spans
from recall_core.text import counter

TEXTS = st.text(alphabet="ab c.!\n。é", max_size=60)
COUNTER = counter("whitespace")


@given(text=TEXTS)
def test_sentences_contain_every_visible_character_once(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@given(
    document=TEXTS,
    cuts=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5),
    sentences=st.integers(1, 3),
    budget=st.integers(0, 20),
    query=st.lists(st.sampled_from(["a", "b", "ab", "c"]), max_size=3),
)
def test_excerpts_fit_verbatim_without_overlap(
    document: str, cuts: list[tuple[int, int]], sentences: int, budget: int, query: list[str]
) -> None:
    passages = [Passage("d", n, min(cut), document[min(cut) : max(cut)]) for n, cut in enumerate(cuts)]

    def score(texts: list[str]) -> list[float]:
        return overlap(query, texts, words=lambda text: text.replace(".", " ").split())

    def run() -> list[tuple[int, int, int, str, float]]:
        found = compress(passages, score=score, sentences=sentences, budget_tokens=budget, counter=COUNTER)  # type: ignore[arg-type]
        return [(each.chunk_index, each.offset, each.end, each.text, each.score) for each in found]

    found = run()
    assert sum(COUNTER.count(text) for *_, text, _ in found) <= budget
    assert all(document[offset:end] == text and value > 0 for _, offset, end, text, value in found)
    places = sorted((offset, end) for _, offset, end, *_ in found)
    assert all(left[1] <= right[0] for left, right in pairwise(places))
    keys = [(-value, number, offset) for number, offset, *_, value in found]
    assert keys == sorted(keys)
    assert found == run()
