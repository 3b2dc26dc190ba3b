"""Compare the ranking with peers on judged collections: `python -m benchmarks.quality --data DIR`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core.api.recall import Ask, Recall
from recall_core.config import replace
from recall_core.evaluate.figures import Paired, compare_columns, intervals
from recall_core.evaluate.formats import parse_qrels, parse_queries
from recall_core.evaluate.measures import parse_measure, values
from recall_core.retrieve.answer import Answer
from recall_core.types import Root

MEASURE = parse_measure("ndcg@10")
DEPTH = 100
ONE_CHUNK = ("chunk_tokens=100000", "overlap_tokens=0", "max_chunk_chars=1000000")
"""Documents as single chunks, so that every system ranks the same texts."""
EMBEDDERS = ("hash", "local", "minilm")
FUSIONS: Mapping[str, Mapping[str, object]] = {
    "rrf 60": {"fusion": "rrf", "bm25_weight": 1.0, "vector_weight": 1.0},
    "max .3": {"normalize": "max", "bm25_weight": 0.7, "vector_weight": 0.3},
    "max .5": {"normalize": "max", "bm25_weight": 0.5, "vector_weight": 0.5},
    "minmax .3": {"normalize": "minmax", "bm25_weight": 0.7, "vector_weight": 0.3},
    "minmax .5": {"normalize": "minmax", "bm25_weight": 0.5, "vector_weight": 0.5},
}
"""Other ways to fuse the same two signals. The number is the weight of the vectors."""

Run = dict[str, list[str]]
"""Document ids by query id, best first."""


class Collection(NamedTuple):
    """A judged collection in BEIR layout: corpus.jsonl, queries.jsonl, qrels.tsv."""

    name: str
    folder: Path
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]


class Figure(NamedTuple):
    """One system on one collection. against: the peer it is compared with. paired: the comparison."""

    collection: str
    system: str
    mean: float
    low: float
    high: float
    against: str | None = None
    paired: Paired | None = None


def read_collection(folder: Path) -> Collection:
    """Return the collection in a folder, with the queries that have a relevant document."""
    texts = parse_queries((folder / "queries.jsonl").read_text(encoding="utf-8"), name="queries.jsonl")
    grades: dict[str, dict[str, int]] = {}
    for row in parse_qrels((folder / "qrels.tsv").read_text(encoding="utf-8"), name="qrels.tsv").rows:
        grades.setdefault(row.query, {})[row.document] = row.grade
    judged = {query: text for query, text in texts.items() if any(grades.get(query, {}).values())}
    grades = {query: grades[query] for query in judged}
    return Collection(folder.name, folder, judged, grades)


def store_of(collection: Collection, embedder: str, work: Path) -> Recall:
    """Return a store of the collection with vectors of that embedder. Reuse the store of an earlier run."""
    folder = work / f"{collection.name}-{embedder}"
    if not (folder / "recall.db").exists():
        Recall.init(str(folder), embedding=embedder, settings=ONE_CHUNK)
    recall = Recall.open(str(folder))
    corpus = folder / "corpus.jsonl"
    if not corpus.exists():
        corpus.symlink_to((collection.folder / "corpus.jsonl").resolve())
    for progress in recall.add([str(corpus)], Root(folder="", parser="jsonl", follow=True)):
        print(f"\r{collection.name} {embedder}: {progress.embedded} embedded ", end="", file=sys.stderr)
    print(file=sys.stderr)
    return recall


def runs_of(recall: Recall, collection: Collection) -> dict[str, Run]:
    """Return the runs of every way to rank with the vectors of this store, from one search a query and mode."""
    variants = {name: replace(recall.config, settings, where=name) for name, settings in FUSIONS.items()}
    found: dict[str, Run] = {name: {} for name in ("lexical", "vector", "hybrid", *variants)}
    for query, text in collection.queries.items():
        for name, mode in (("lexical", "lexical"), ("vector", "semantic"), ("hybrid", "hybrid")):
            answer = recall.engine.answer(
                recall.engine.words_plan(text, Ask(mode=mode, settings=("collapse=false",)))
            )
            found[name][query] = documents(answer)
        for name, config in variants.items():
            found[name][query] = documents(recall.engine.weigh(answer, config))
    return found


def bm25s_run(collection: Collection) -> Run:
    """Return the run of bm25s with its defaults, Snowball stems and its English stop words."""
    import bm25s  # noqa: PLC0415 - optional, used only here
    import Stemmer  # noqa: PLC0415

    names, texts = _corpus(collection)
    stemmer = Stemmer.Stemmer("english")
    model = bm25s.BM25()
    model.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    asked = list(collection.queries.values())
    tokens = bm25s.tokenize(asked, stopwords="en", stemmer=stemmer, show_progress=False)
    ids, _ = model.retrieve(tokens, k=DEPTH, show_progress=False)
    return {query: [names[i] for i in row] for query, row in zip(collection.queries, ids, strict=True)}


def tantivy_run(collection: Collection) -> Run:
    """Return the run of tantivy with en_stem. Any word may match."""
    import tantivy  # noqa: PLC0415 - optional, used only here

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="en_stem")
    builder.add_text_field("name", stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    writer = index.writer(50_000_000, 1)
    for name, text in zip(*_corpus(collection), strict=True):
        writer.add_document(tantivy.Document(body=[text], name=[name]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    found: Run = {}
    for query, text in collection.queries.items():
        words = " ".join(re.findall(r"\w+", text)).lower()
        hits = searcher.search(index.parse_query(words, ["body"]), DEPTH).hits
        found[query] = [searcher.doc(address)["name"][0] for _, address in hits]
    return found


PEERS: Mapping[str, Callable[[Collection], Run]] = {"bm25s": bm25s_run, "tantivy": tantivy_run}


def figures(collection: Collection, embedders: Sequence[str], work: Path) -> Iterator[Figure]:
    """Yield every system on a collection. Ours are compared with the best peer of their kind in this run."""
    scored = {name: _scores(run(collection), collection) for name, run in PEERS.items()}
    best = max(scored, key=lambda name: sum(scored[name]))
    yield from (_figure(collection, name, scored[name]) for name in scored)
    for embedder in embedders:
        with store_of(collection, embedder, work) as recall:
            ours = {name: _scores(run, collection) for name, run in runs_of(recall, collection).items()}
        if embedder == embedders[0]:
            yield _figure(collection, "recall lexical", ours["lexical"], best, scored[best])
        yield _figure(collection, f"recall vector, {embedder}", ours["vector"])
        other = max(FUSIONS, key=lambda name: sum(ours[name]))
        yield from (_figure(collection, f"{name}, {embedder}", ours[name]) for name in FUSIONS)
        yield _figure(collection, f"recall hybrid, {embedder}", ours["hybrid"], f"{other}, {embedder}", ours[other])
        yield _figure(collection, f"recall hybrid, {embedder}", ours["hybrid"], "rrf 60", ours["rrf 60"])
        yield _figure(collection, f"recall hybrid, {embedder}", ours["hybrid"], "recall lexical", ours["lexical"])


def table(found: Sequence[Figure]) -> Iterator[str]:
    """Yield the figures as aligned lines."""
    yield f"{'collection':<12}{'system':<26}{'nDCG@10':>8}  {'95 % interval':<16}  compared with"
    for each in found:
        line = f"{each.collection:<12}{each.system:<26}{each.mean:>8.4f}  [{each.low:.3f}, {each.high:.3f}]  "
        if each.paired is not None:
            p = each.paired
            line += f"  {each.against}: {p.difference:+.4f} [{p.low:+.4f}, {p.high:+.4f}] p={p.p:.3f} {p.verdict}"
        yield line.rstrip()


def documents(answer: Answer) -> list[str]:
    """Return the ids of the best documents. The path of a record ends in `#id`."""
    pool, ranked = answer.pool, answer.ranked
    if pool is None or ranked is None:
        return []
    return [pool.keys[position].path.rpartition("#")[2] for position in ranked.order[:DEPTH]]


def _corpus(collection: Collection) -> tuple[list[str], list[str]]:
    names, texts = [], []
    with (collection.folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            names.append(record["_id"])
            texts.append(f"{record.get('title', '')} {record['text']}".strip())
    return names, texts


def _scores(run: Run, collection: Collection) -> list[float]:
    found = values([MEASURE], collection.grades, run)[MEASURE]
    return [found[query] for query in sorted(collection.queries)]


def _figure(
    collection: Collection,
    system: str,
    scores: list[float],
    against: str | None = None,
    peer: list[float] | None = None,
) -> Figure:
    [(low, high)] = intervals([scores])
    difference = None if peer is None else compare_columns([scores], [peer])[0]
    return Figure(collection.name, system, sum(scores) / len(scores), low, high, against, difference)


def options_of(argv: Sequence[str] | None, name: str, description: str | None) -> argparse.Namespace:
    """Parse the flags of a benchmark over judged collections. `folders` are the folders of the collections."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--data", type=Path, help="folder of judged collections, one folder each in BEIR layout")
    parser.add_argument("--embedders", default=",".join(EMBEDDERS), help="embedders, separated by commas")
    parser.add_argument("--work", type=Path, default=Path(".quality"), help="folder that keeps stores between runs")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of the table")
    options = parser.parse_args(argv)
    options.folders = sorted(each.parent for each in options.data.glob("*/corpus.jsonl")) if options.data else []
    if not options.folders:
        print("no judged collection. Pass --data DIR with DIR/NAME/{corpus.jsonl,queries.jsonl,qrels.tsv}")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv, "quality", __doc__)
    found: list[Figure] = []
    for folder in options.folders:
        found += figures(read_collection(folder), options.embedders.split(","), options.work)
    if found and options.json:
        print(json.dumps([{**each._asdict(), "paired": each.paired and each.paired._asdict()} for each in found]))
    elif found:
        print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
