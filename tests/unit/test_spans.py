"""Positions of query words in a text, and the chunks near a chunk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_core.words.analyzer import Analyzer


def test_words_are_found_as_in_the_index() -> None:
    for text, phrases, found in [
        ("Packing tokens: TOKEN budgets.", ["token", "budget"], ["tokens", "TOKEN", "budgets"]),
        ("Le café est fermé.", ["cafe"], ["café"]),
        ("打开文件, then 文件", ["文件"], ["文件", "文件"]),
        ("a token budget, a budget", ['"token budget"'], ["token budget"]),
        ("one two three", ["one two", "two three"], ["one two three"]),
        ("nothing here", [], []),
        ("nothing here", ["..."], []),
        ("", ["word"], []),
    ]:
        spans = Analyzer().spans(text, phrases)

        assert [text[start:end] for start, end in spans] == found, phrases


@pytest.fixture
def recall(tmp_path: Path) -> Recall:
    (tmp_path / "Long.txt").write_text("word " * 300, encoding="utf-8")
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    os.utime(tmp_path / "Long.txt", (1, 1))
    Recall.init(str(tmp_path), settings=("chunk_tokens=50", "overlap_tokens=5"))
    recall = Recall.open(str(tmp_path))
    for _ in recall.add([str(tmp_path / "Long.txt"), str(tmp_path / "other.txt")], Root("")):
        pass
    return recall


def test_chunks_near_a_place_overlap_it(recall: Recall) -> None:
    with recall:
        rows = recall.store.chunks_of(recall.store.resolve("Long.txt")[0][1])
        second = rows[1].chunk

        near = recall.store.fetch(recall.store.chunks_near(second.doc_id, second.offset, second.end))

        assert [row.chunk.id for row in near] == [row.chunk.id for row in rows[:3]]


def test_paths_contain_every_word_in_any_case(recall: Recall) -> None:
    cases: list[tuple[list[str], list[str]]] = [
        ([], ["other.txt", "Long.txt"]),
        (["LONG"], ["Long.txt"]),
        (["txt", "oth"], ["other.txt"]),
        (["%"], []),
    ]
    with recall:
        for words, paths in cases:
            assert recall.store.paths_with(words, 9) == paths, words
            assert recall.store.paths_with(words, 1) == paths[:1], words
