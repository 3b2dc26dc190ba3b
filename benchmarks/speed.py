"""How fast Recall is beside bare SQLite, bare NumPy and bare Python: `python -m benchmarks.speed`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from benchmarks import corpus, peers
from benchmarks.timing import Comparison, average, child, compare, cpu, on_one_thread
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.ingest import read
from recall_core.ingest.parse import parser
from recall_core.ingest.pipeline import ingest
from recall_core.ingest.vectors import TextVector, with_vectors
from recall_core.ports import Embedder
from recall_core.retrieve import Answer
from recall_core.text import counter
from recall_core.types import NewFile, Pool, Root, Vector

SIZES = (1_000, 5_000, 20_000)
K = 10
_QUESTIONS = 10
_BATCH_FILES = 25  # 500 chunks a transaction, about what the pipeline commits
_WIDE_GROWTH = 4.6
_MOST_GROWTH = {
    "write": 5.0,
    "add, no vectors": 5.0,
    "add, hash vectors": 5.0,
    "search, rare word": 1.5,
    "search, 3 words": _WIDE_GROWTH,
    "search, 8 words": _WIDE_GROWTH,
    "search, vector": _WIDE_GROWTH,
    "cold --help": 1.2,
}


class Lab(NamedTuple):
    """An open store of so many chunks, beside the files it was made from, in `home / "docs"`."""

    home: Path
    chunks: int
    text_bytes: int
    recall: Recall
    questions: corpus.Questions
    rounds: int

    def beside(self, name: str, ours: Callable[[], float], peer_name: str, peer: Callable[[], float]) -> Comparison:
        """One comparison at this size."""
        return compare(name, ours, peer_name, peer, chunks=self.chunks, rounds=self.rounds)


class Weight(NamedTuple):
    """A store file beside what it holds. ratio: the file to text and vectors together."""

    chunks: int
    file_bytes: int
    text_bytes: int
    vector_bytes: int
    ratio: float


class Growth(NamedTuple):
    """What four times as many chunks cost, measured between two sizes."""

    name: str
    chunks: tuple[int, int]
    factor: float
    most: float | None


class NoVectors:
    """An embedder that finds no feature in any text."""

    identity = HashEmbedder().identity
    dimension = HashEmbedder().dimension
    max_input = None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        return [b""] * len(texts)

    def windows(self, texts: Sequence[str]) -> list[int]:
        return [1] * len(texts)


def measure(chunks: int, home: Path, *, rounds: int) -> tuple[list[Comparison], Weight]:
    """Every comparison at one size. home: an empty folder for files and stores."""
    text_bytes = corpus.write(home / "docs", chunks)
    Recall.init(str(home), settings=corpus.SETTINGS)
    with Recall.open(start=home) as recall:
        for _ in recall.add([str(home / "docs")], Root("")):
            pass
    with Recall.open(start=home) as recall:
        count = recall.store.info().chunks
        lab = Lab(home, count, text_bytes, recall, corpus.questions(_QUESTIONS), rounds)
        few = lab._replace(rounds=max(1, rounds // 3))
        found = [*ingesting(few), *searching(lab), *showing(lab), *ranking(lab), *starting(lab)]
        return found, weight(lab)


def ingesting(lab: Lab) -> Iterator[Comparison]:
    """Files into a new store, beside the same chunks into a bare full-text table."""
    files = _prepared(lab)
    rows = [
        (document.title, chunk.text) for file in files for document in file.documents for chunk in document.chunks
    ]
    folder = lab.home / "new"
    folder.mkdir()
    bare = cpu(partial(peers.insert, folder / "bare.db", rows, batch=_BATCH_FILES * corpus.PARAGRAPHS_PER_FILE))
    ways: tuple[tuple[str, Callable[[Recall], None]], ...] = (
        ("write", partial(_write, files)),
        ("add, no vectors", partial(_add, NoVectors())),
        ("add, hash vectors", partial(_add, HashEmbedder())),
    )
    for name, work in ways:
        yield lab.beside(name, cpu(partial(_in_new_store, folder, lab.home, work)), "FTS5 insert", bare)


def searching(lab: Lab) -> Iterator[Comparison]:
    """A warm question with its texts, ledger and provenance, beside the bare search for its best rows."""
    rare, middling, wide = lab.questions
    lexical = peers.lexical(lab.recall, (*rare, *middling, *wide), k=K)
    nearest = peers.nearest(lab.recall, wide, k=K)

    def both(text: str) -> object:
        return lexical(text), nearest(text)

    ways = (
        ("search, rare word", "lexical", rare, "FTS5 bm25()", lexical),
        ("search, 3 words", "lexical", middling, "FTS5 bm25()", lexical),
        ("search, 8 words", "lexical", wide, "FTS5 bm25()", lexical),
        ("search, vector", "semantic", wide, "NumPy matmul", nearest),
        ("search, hybrid", "hybrid", wide, "FTS5 and NumPy", both),
    )
    for name, mode, asked, peer_name, peer in ways:
        yield lab.beside(name, average(_search(lab, Ask(k=K, mode=mode)), asked), peer_name, average(peer, asked))


def showing(lab: Lab) -> Iterator[Comparison]:
    """What explaining and packing add to a search."""
    wide = lab.questions.wide
    plain = average(_search(lab, Ask(k=K)), wide)
    yield lab.beside("search --explain", average(_search(lab, Ask(k=K, explain=True)), wide), "search", plain)
    yield lab.beside("context", average(lambda text: lab.recall.context(text, Ask(), Pack()), wide), "search", plain)


def ranking(lab: Lab) -> Iterator[Comparison]:
    """A slider moved by one step, beside the same sum and order in NumPy."""
    whole = lab.recall.engine.answer(lab.recall.engine.plan(lab.questions.wide[0]))
    config = whole.plan.config._replace(bm25_weight=0.4, vector_weight=0.6)
    for candidates in (500, 5_000):
        answer = lab.recall.engine.weigh(
            _shortened(whole, candidates), whole.plan.config
        )  # the first step has been taken
        if answer.pool is not None and len(answer.pool.keys) == candidates:
            ours = cpu(partial(lab.recall.engine.weigh, answer, config))
            yield lab.beside(f"slider, {candidates} hits", ours, "NumPy sort", cpu(peers.order(answer.pool, config)))


def starting(lab: Lab) -> Iterator[Comparison]:
    """Whole processes, beside an interpreter that does nothing."""
    bare = child(["-c", "pass"], cwd=lab.home)
    words = lab.questions.middling[0]
    ways = (
        ("cold --help", ("--help",)),
        ("cold search, words", ("search", "--bm25", words)),
        ("cold search, hybrid", ("search", words)),
    )
    for name, arguments in ways:
        yield lab.beside(name, child(["-m", "recall_core", *arguments], cwd=lab.home), "python -c pass", bare)


def weight(lab: Lab) -> Weight:
    """The store's file, after everything was written."""
    info = lab.recall.store.info()
    file_bytes, vector_bytes = lab.recall.store.size_bytes(), 4 * info.dimension * info.vectors
    ratio = round(file_bytes / (lab.text_bytes + vector_bytes), 3)
    return Weight(lab.chunks, file_bytes, lab.text_bytes, vector_bytes, ratio)


def growth(found: Sequence[Comparison]) -> list[Growth]:
    """How our own cost grows from each size to the next."""
    grown = []
    for name in dict.fromkeys(row.name for row in found):
        costs = sorted((row.chunks, row.ours_ms.median) for row in found if row.name == name)
        for (few, before), (many, after) in pairwise(costs):
            factor = (after / before) ** (log(4) / log(many / few))
            grown.append(Growth(name, (few, many), round(factor, 2), _MOST_GROWTH.get(name)))
    return grown


def report(sizes: Sequence[int], *, rounds: int) -> dict[str, Any]:
    """All figures at all sizes, with what they were taken with, ready for JSON."""
    found: list[Comparison] = []
    weights: list[Weight] = []
    for chunks in sizes:
        with tempfile.TemporaryDirectory() as folder:
            compared, weighed = measure(chunks, Path(folder), rounds=rounds)
        found += compared
        weights.append(weighed)
    return {
        "python": sys.version.split()[0],
        "sqlite": apsw.sqlite_lib_version(),
        "numpy": version("numpy"),
        "cores": os.cpu_count(),
        "rounds": rounds,
        "comparisons": [_named(row) for row in found],
        "files": [_named(row) for row in weights],
        "growth": [_named(row) for row in growth(found)],
    }


def table(figures: dict[str, Any]) -> Iterator[str]:
    """The same for people, line by line."""
    yield f"{'':23}{'chunks':>7}  {'ours, ms':>10}  {'peer, ms':>10}  {'ratio':>8}  (least to most)"
    for row in figures["comparisons"]:
        ours, peer, ratio = row["ours_ms"]["median"], row["peer_ms"]["median"], row["ratio"]
        shown = f"{ratio['median']:>8.2f}  ({ratio['least']:.2f} to {ratio['most']:.2f}) x {row['peer']}"
        yield f"{row['name']:<23}{row['chunks']:>7}  {ours:>10.3f}  {peer:>10.3f}  {shown}"
    yield ""
    for row in figures["files"]:
        yield f"{'file':<23}{row['chunks']:>7}  {row['ratio']:.2f} x text and vectors ({row['file_bytes']} bytes)"
    yield ""
    for row in figures["growth"]:
        aim = f", at most {row['most']:g} is meant" if row["most"] else ""
        yield f"{row['name']:<23}{row['chunks'][0]:>7} to {row['chunks'][1]}: {row['factor']:.2f} for 4 x{aim}"


def main() -> None:
    """Measure, print the table, and keep the figures where --out says."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="CHUNKS")
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--out", type=Path, metavar="FILE", help="write the figures there, in JSON")
    options = arguments.parse_args()
    figures = report(options.sizes, rounds=options.rounds)
    print("\n".join(table(figures)))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _prepared(lab: Lab) -> list[NewFile]:
    """The files, parsed and cut, their chunks without vectors."""
    config, root = lab.recall.config, Root("docs")
    prepared = []
    for place in sorted((lab.home / "docs").iterdir()):
        path = f"docs/{place.name}"
        raw = read.read_raw(place, path=path, config=config)
        documents = read.documents(
            raw, path=path, root=root, parser=parser("auto"), counter=counter(config.counter), config=config
        )
        file = NewFile(path, path, raw.size, raw.mtime_ns, raw.digest, "", None, documents)
        prepared.append(
            with_vectors(file, {chunk.text_hash: TextVector(b"") for each in documents for chunk in each.chunks})
        )
    return prepared


def _in_new_store(folder: Path, base: Path, work: Callable[[Recall], None]) -> None:
    """The work in a store of its own that names files from `base`."""
    peers.remove(folder / "recall.db")
    Recall.init(str(folder), settings=corpus.SETTINGS)
    with Recall.open(str(folder / "recall.db")) as recall:
        recall.engine.base = base
        work(recall)


def _write(files: Sequence[NewFile], recall: Recall) -> None:
    for first in range(0, len(files), _BATCH_FILES):
        with recall.store.writer() as writer:
            for file in files[first : first + _BATCH_FILES]:
                writer.put(file)


def _add(embedder: Embedder, recall: Recall) -> None:
    place = str(recall.engine.base / "docs")
    for _ in ingest(
        [place],
        template=Root(""),
        store=recall.store,
        embedder=embedder,
        config=recall.config,
        base=recall.engine.base,
    ):
        pass


def _search(lab: Lab, ask: Ask) -> Callable[[str], object]:
    return lambda text: lab.recall.search(text, ask)


def _shortened(answer: Answer, candidates: int) -> Answer:
    """The answer with only the first candidates of its pool."""
    pool = answer.pool or Pool((), (), (), 0.0, (), exact=True, index_kind="exact")
    lexical, semantic = pool.lexical[:candidates], pool.semantic[:candidates]
    return answer._replace(pool=pool._replace(keys=pool.keys[:candidates], lexical=lexical, semantic=semantic))


def _named(row: Any) -> dict[str, Any]:
    """A row of figures by its field names, spreads too."""
    return {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in row._asdict().items()}


if __name__ == "__main__":
    on_one_thread("benchmarks.speed")
    main()
