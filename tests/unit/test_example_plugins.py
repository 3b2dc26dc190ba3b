"""The plug-ins of examples/plugins keep the promises of their kinds, and the command line uses them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from recall_core.api.stores import store_kind
from recall_core.config import Config
from recall_core.embed.registry import kind
from recall_core.embed.rescore import new_reranker
from recall_core.errors import RecallError
from recall_core.ingest.parse import parser
from recall_core.store.port import Store
from recall_core.testing import (
    CounterConformance,
    DeterministicEmbedderConformance,
    ParserConformance,
    RerankerConformance,
    StoreConformance,
)
from recall_core.text import counter
from tests.plug_ins import write_plug_in
from tests.unit.test_ambiguous_places import run

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"
POINTS = tomllib.loads((EXAMPLES / "pyproject.toml").read_text())["project"]["entry-points"]
INI = "[tea]\nwater = 80 degrees\n\n[coffee]\nwater = 95 degrees\n"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the examples, as pip would from their pyproject.toml."""
    lines = [
        line
        for group, points in POINTS.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    write_plug_in(tmp_path / "site", "recall_examples", "\n".join(lines))
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("RECALL_SHELF", str(tmp_path / "shelf"))


class TestParser(ParserConformance):
    name = "ini"
    samples: ClassVar = {"a.ini": INI.encode()}


class TestEmbedder(DeterministicEmbedderConformance):
    @pytest.fixture(autouse=True)
    def found(self, installed: None) -> None:
        self.kind = kind("letters")


class TestReranker(RerankerConformance):
    name = "overlap"


class TestCounter(CounterConformance):
    name = "bytes"


class TestStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def closed(self, installed: None) -> Iterator[None]:
        self.made: list[Store] = []
        yield
        for store in self.made:
            store.close()

    def new(self, *, embedder: str, dimension: int, counter: str, chunker: str) -> Store:
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        self.made.append(store_kind("shelf").create(str(len(self.made)), dimension=dimension, **recorded))
        return self.made[-1]


def test_command_line_uses_every_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "shelf" / "work"
    home.mkdir(parents=True)
    (home / "drinks.ini").write_text(INI)
    monkeypatch.chdir(home)

    run("init", "--embedding", "letters", "--set", "counter=bytes", "--set", "rerank=overlap")
    run("add", "drinks.ini", "--parser", "ini")
    hits = run("search", "coffee water")["results"]
    context = run("context", "coffee water", "--counter", "bytes", "--budget-tokens", "200")["context"]
    monkeypatch.chdir(tmp_path)
    elsewhere = run("stats", "--store", "shelf:work")["store"]
    monkeypatch.chdir(home)
    rechunked = run("rechunk", "--counter", "whitespace"), run("rechunk", "--counter", "bytes")

    assert [hit["doc"]["path"] for hit in hits] == ["drinks.ini#coffee", "drinks.ini#tea"]
    assert context["used_tokens"] == len(context["text"].encode()) <= 200
    assert (elsewhere["documents"], elsewhere["embedder"]) == (2, "letters-1:64")
    assert [each["warnings"] for each in rechunked] == [[], []]
    assert run("search", "water", "--bm25")["ok"]


def test_broken_plug_in_is_a_coded_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "raise RuntimeError('no licence')\n"
    groups = ("parser", "embedder", "reranker", "counter", "store")
    points = "".join(f"[recall.{group}]\nsundial = broken_for_recall:X\n" for group in groups)
    write_plug_in(tmp_path / "broken", "broken_for_recall", points, source=source)
    monkeypatch.syspath_prepend(tmp_path / "broken")

    for load, code in (
        (lambda: parser("sundial"), "parser_unavailable"),
        (lambda: kind("sundial"), "embedder_unavailable"),
        (lambda: new_reranker("sundial", Config()), "embedder_unavailable"),
        (lambda: counter("sundial"), "counter_unavailable"),
        (lambda: store_kind("sundial"), "store_kind_unavailable"),
    ):
        with pytest.raises(RecallError, match=r"cannot be loaded: no licence\.") as caught:
            load()
        assert (caught.value.code, bool(caught.value.hint)) == (code, True)
