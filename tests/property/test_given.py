"""Whatever is added, put, deleted and moved, each document has the vector that it was given, or its text's own."""

from __future__ import annotations

import tempfile
from array import array
from io import StringIO
from itertools import count
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core import PutDocument, Recall
from recall_core.api.engine import result_of
from recall_core.api.put import id_of, path_of
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import UsageError
from tests.examples import examples

DIMENSION = 16
TEXTS = ("The pilot wrote a report.", "Cargo and crew.")
OWN = dict(zip(TEXTS, HashEmbedder(DIMENSION).embed(TEXTS), strict=True))
names = st.sampled_from("abc")
texts = st.sampled_from(TEXTS)
axes = st.none() | st.integers(0, 3)
steps = st.one_of(
    st.tuples(st.just("add"), names, texts, st.none()),
    st.tuples(st.just("put"), names, texts, axes),
    st.tuples(st.sampled_from(["delete", "remove"]), names, st.none(), st.none()),
    st.tuples(st.sampled_from(["compact", "rebuild", "rechunk", "import", "sync"]), st.none(), st.none(), st.none()),
)


def axis(number: int) -> list[float]:
    return [float(each == number) for each in range(DIMENSION)]


def vectors(recall: Recall) -> dict[str, bytes]:
    keys = recall.store.candidates(None)
    found = recall.store.vectors([key.rowid for key in keys])
    return {key.path: found[key.rowid] for key in keys}


@examples(60)
@given(st.lists(steps, max_size=9))
def test_each_document_has_its_own_vector(run: list[tuple[str, str, str, int | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = (f"{folder}/{number}" for number in count())
        recall = new(next(fresh))
        expected: dict[str, bytes] = {}
        for step, name, text, number in run:
            base = recall.engine.base
            match step:
                case "add":
                    (base / name).write_text(text)
                    recall.index(str(base / name))
                    expected[name] = OWN[text]
                case "put":
                    recall.put([PutDocument(name, text, embedding=None if number is None else axis(number))])
                    expected[path_of(name)] = OWN[text] if number is None else array("f", axis(number)).tobytes()
                case "delete":
                    assert recall.delete([name]) == (expected.pop(path_of(name), None) is not None)
                case "remove" if name in expected:
                    recall.remove([name])
                    del expected[name]
                case "import":
                    recall = imported(recall, next(fresh))
                case "compact":
                    recall.compact()
                case "rebuild":
                    recall.store.rebuild(copy=None, made_with=lambda: None)
                case "rechunk":
                    result_of(recall.rechunk({"chunk_tokens": 50, "overlap_tokens": 0, "counter": "approx"}))
                case "sync":
                    result_of(recall.sync())
            assert vectors(recall) == expected, step
        recall.close()


def new(folder: str) -> Recall:
    Recall.init(folder, embedding="hash", settings={"embedding_dim": DIMENSION})
    return Recall.open(folder)


def imported(recall: Recall, folder: str) -> Recall:
    """Return a new store with an import of this one, which ends, and its files."""
    other, out = new(folder), StringIO()
    if other.store.info().counter != recall.store.info().counter:
        result_of(other.rechunk({"counter": recall.store.info().counter}))
    recall.export(out)
    source = Path(folder) / "export.jsonl"
    source.write_text(out.getvalue())
    other.import_(source, accept_roots=True)
    for file in "abc":
        if (recall.engine.base / file).exists():
            (Path(folder) / file).write_bytes((recall.engine.base / file).read_bytes())
    recall.close()
    return other


FLAWS = (
    PutDocument("", "text"),
    PutDocument("new", "\udc00"),
    PutDocument("new", "text", {"a": inf}),
    *(PutDocument("new", "text", embedding=each) for each in ([1.0], [nan] * DIMENSION, [0.0] * DIMENSION)),
)
good = st.builds(
    lambda name, number: PutDocument(f"{name}-1", "text", embedding=None if number is None else axis(number)),
    names,
    axes,
)


@examples(60)
@given(st.lists(good, max_size=4, unique_by=lambda each: each.id), st.sampled_from(FLAWS), st.integers(0, 4))
def test_refused_put_leaves_the_store_as_it_was(documents: list[PutDocument], flaw: PutDocument, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder, new(folder) as recall:
        recall.put([PutDocument("a-1", "text", embedding=axis(0))])
        before = recall.store.info()
        with pytest.raises(UsageError):
            recall.put([*documents[:at], flaw, *documents[at:]])
        assert recall.store.info() == before


grid = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)


@examples(60)
@given(st.lists(grid, min_size=1, max_size=12), grid, st.integers(0, 13), st.integers(0, 12))
def test_nearest_equals_a_loop(given: list[list[int]], asked: list[int], k: int, least: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Recall.init(folder, embedding="given:3")
        with Recall.open(folder) as recall:
            recall.put([PutDocument(f"{n:02}", "text", {"n": n}, each) for n, each in enumerate(given)])
            found = recall.nearest([float(each) for each in asked], k, f"doc.meta.n >= {least}")["results"]
    wanted = sorted((-cosine(each, asked), f"{n:02}") for n, each in enumerate(given) if n >= least)[:k]
    assert [(id_of(hit["doc"]["path"]), hit["score"]) for hit in found] == [(name, -value) for value, name in wanted]


def cosine(one: list[int], other: list[int]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    norm = (sum(a * a for a in one) * sum(b * b for b in other)) ** 0.5
    return round(dot / norm, 6) + 0.0
