"""Measure each change of the default ranking on judged collections: `python -m benchmarks.changes --data DIR`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality import Collection, Run, documents, options_of, read_collection, store_of
from recall_core.api.recall import Ask, Recall
from recall_core.config import NEW, Config, Settings, replace
from recall_core.evaluate.figures import Paired, compare_columns, intervals
from recall_core.evaluate.measures import parse_measures, values

MEASURES = parse_measures("ndcg@10,recall@100,mrr")
BEFORE: Settings = {key: getattr(Config(), key) for key in NEW}
"""The old values of these settings, which apply to an older recall.toml that does not set them."""
CHANGES: Mapping[str, Settings] = {
    "before": {},
    "bm25f (2)": {"lexical_model": "bm25f"},
    "leftovers (4)": {"stop_words": "leftovers"},
    "questions (4)": {"stop_words": "questions"},
    "together": NEW,
}
"""Settings that differ from BEFORE, by the name and number of the change."""
RERANKED = "local + rerank"
TITLES = "-titles"
"""Suffix of the name of a collection that `without_texts` made."""
_TEXTLESS_PERCENT = 37  # share of such records in a real collection


class Figure(NamedTuple):
    """One change, one kind of search and one measure. paired: the comparison with the ranking before."""

    collection: str
    system: str
    change: str
    measure: str
    mean: float
    low: float
    high: float
    paired: Paired | None


def without_texts(collection: Collection, work: Path) -> Collection:
    """Return a copy of the collection in which 37 % of the records have only a title. The id of a record decides."""
    folder = work / f"{collection.name}{TITLES}"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        (collection.folder / "corpus.jsonl").open(encoding="utf-8") as records,
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as out,
    ):
        for record in map(json.loads, records):
            if is_textless(record["_id"]) and record.get("title", "").strip():
                record["text"] = ""
            out.write(json.dumps(record) + "\n")
    return collection._replace(name=folder.name, folder=folder)


def is_textless(record: str) -> bool:
    """Return True if `without_texts` removes the text of this record. The record must also have a title."""
    return int(sha256(record.encode()).hexdigest(), 16) % 100 < _TEXTLESS_PERCENT


def figures(collection: Collection, embedders: Sequence[str], work: Path) -> Iterator[Figure]:
    """Yield every change for words and for each hybrid, and for `local` reranked if `minilm` is measured too."""
    for embedder in embedders:
        with store_of(collection, embedder, work) as recall:
            if embedder == embedders[0]:
                yield from _compare_changes(collection, "words", runs(recall, collection, "lexical", {}))
            plain = runs(recall, collection, "hybrid", {})
            yield from _compare_changes(collection, embedder, plain)
            if embedder == "local" and "minilm" in embedders:
                again = runs(recall, collection, "hybrid", {"rerank": "minilm"}, ("before", "together"))
                reranked = {"rerank (5)": again["before"], "rerank, together": again["together"]}
                yield from _compare_changes(collection, RERANKED, {"before": plain["before"], **reranked})


def runs(
    recall: Recall, collection: Collection, mode: str, settings: Settings, names: Sequence[str] = tuple(CHANGES)
) -> dict[str, Run]:
    """Return the best documents of every query for each change. `settings` apply on top of the change."""
    found: dict[str, Run] = {}
    for name in names:
        config = replace(recall.config, {**BEFORE, **CHANGES[name], **settings}, where=name)
        engine = recall.engine.beside(config)
        found[name] = {}
        for number, (query, text) in enumerate(collection.queries.items()):
            if number % 50 == 0:
                print(f"\r{collection.name} {mode} {name}: {number} ", end="", file=sys.stderr)
            found[name][query] = documents(
                engine.answer(engine.words_plan(text, Ask(mode=mode, settings=("collapse=false",))))
            )
    print(file=sys.stderr)
    return found


def unseen(run: Run) -> Run:
    """Return the ranking without records that have no text, as it was when such records were not indexed."""
    return {query: [each for each in found if not is_textless(each)] for query, found in run.items()}


def table(found: Sequence[Figure]) -> Iterator[str]:
    """Yield the figures as aligned lines."""
    head = f"{'collection':<17}{'system':<16}{'change':<20}{'measure':<12}{'mean':>7}  {'95 % interval':<16}"
    yield f"{head}  against the first"
    for each in found:
        line = f"{each.collection:<17}{each.system:<16}{each.change:<20}{each.measure:<12}{each.mean:>7.4f}  "
        line += f"[{each.low:.3f}, {each.high:.3f}]  "
        if each.paired is not None:
            p = each.paired
            line += f"{p.difference:+.4f} [{p.low:+.4f}, {p.high:+.4f}] p={p.p:.3f} {p.verdict}"
        yield line.rstrip()


def _compare_changes(collection: Collection, system: str, found: Mapping[str, Run]) -> Iterator[Figure]:
    """Compare each run with the first. If records have no text, finding them counts as a change of its own."""
    if not collection.name.endswith(TITLES):
        yield from _compare_with_first(collection, system, found)
        return
    first, *others = found
    lost = {first: unseen(found[first]), "titles found (1)": found[first], "all of it": found[others[-1]]}
    yield from _compare_with_first(collection, system, lost)
    renamed = {"titles found (1)": found[first], **found}
    yield from list(_compare_with_first(collection, system, renamed))[2 * len(MEASURES) :]


def _compare_with_first(collection: Collection, system: str, found: Mapping[str, Run]) -> Iterator[Figure]:
    queries = sorted(collection.queries)
    scored: dict[str, list[list[float]]] = {}
    for change, run in found.items():
        by_measure = values(MEASURES, collection.grades, run)
        scored[change] = [[by_measure[measure][query] for query in queries] for measure in MEASURES]
    first = next(iter(scored))
    for change, columns in scored.items():
        against: Sequence[Paired | None] = [None] * len(MEASURES)
        if change != first:
            against = compare_columns(columns, scored[first])
        for measure, column, (low, high), difference in zip(
            MEASURES, columns, intervals(columns), against, strict=True
        ):
            mean = sum(column) / len(column)
            yield Figure(collection.name, system, change, measure.name, mean, low, high, difference)


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv, "changes", __doc__)
    found: list[Figure] = []
    for collection in map(read_collection, options.folders):
        for each in (collection, without_texts(collection, options.work)):
            found += figures(each, options.embedders.split(","), options.work)
    if found and options.json:
        print(json.dumps([{**each._asdict(), "paired": each.paired and each.paired._asdict()} for each in found]))
    elif found:
        print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
