"""Check a store against the conformance suite of this version.

    python -m recall_core.conformance [--store URL] [--report]

Exit status: 0 if every check holds, 1 if one differs, 2 if the suite could not run.
"""

from __future__ import annotations

import json
import locale
import os
import platform
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from struct import iter_unpack
from tempfile import TemporaryDirectory
from typing import Any

from recall_core import steps
from recall_core._lazy import apsw, metadata
from recall_core.api import stores
from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import CUTTING, Config, replace
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import RecallError
from recall_core.words.versions import analyzer_named, words_of

DATA = Path(__file__).parent / steps.SPEC_VERSION
_ABSENT = "(absent)"
_SHOWN = 160

Json = Any
"""A JSON value."""


def read_lines(name: str) -> list[dict[str, Json]]:
    """Return the objects of a JSON Lines file of the suite."""
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def run(url: str) -> list[dict[str, Json]]:
    """Fill a new store at this URL with the corpus, ask every question, and return all differences by question.

    Each has the `id` of the question, the `place` in the answer (like `rows[2].score`), `expected` and `got`.
    Raises StoreError if the store exists, and the errors of that kind of store.
    """
    expected = {line["id"]: line["answer"] for line in read_lines("expected.jsonl")}
    return [
        {"id": key, "place": place, "expected": wanted, "got": got}
        for key, answer in answers(url)
        for place, (wanted, got) in differ(expected.get(key, _ABSENT), answer)
    ]


def answers(url: str) -> Iterator[tuple[str, Json]]:
    """Yield the id of each question and its answer from a new store at this URL, filled with the corpus."""
    config = replace(Config(), json.loads((DATA / "store.json").read_text(encoding="utf-8")), where="store.json")
    with TemporaryDirectory() as base:  # paths of the corpus must not meet files of the current folder
        store = stores.create(stores.store_url(url), config)
        with Recall(Engine(store, config=config, base=Path(base))) as recall:
            for line in read_lines("corpus.jsonl"):
                _apply(recall, line)
            for question in read_lines("queries.jsonl"):
                try:
                    answer = _KINDS[question["kind"]](recall, question)
                except RecallError as error:
                    answer = {"error": error.code}
                yield question["id"], _rounded(answer)


def differ(expected: Json, got: Json, place: str = "") -> Iterator[tuple[str, tuple[Json, Json]]]:
    """Yield the place of every difference, with both values."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in dict.fromkeys([*expected, *got]):
            yield from differ(expected.get(key, _ABSENT), got.get(key, _ABSENT), f"{place}.{key}".lstrip("."))
    elif isinstance(expected, list) and isinstance(got, list):
        for number, (one, other) in enumerate(zip_longest(expected, got, fillvalue=_ABSENT)):
            yield from differ(one, other, f"{place}[{number}]")
    elif expected != got:
        yield place, (expected, got)


def _apply(recall: Recall, line: Mapping[str, Json]) -> None:
    if "remove" in line:
        recall.remove([line["remove"]])
        return
    segment = steps.Segment(line["doc_id"], line["text"], line["title"], tuple(line["tags"]), line["metadata"])
    limits = {key: getattr(recall.config, key) for key in CUTTING}
    pieces = steps.chunk([segment], steps.ChunkPolicy(**limits, markdown=line["markdown"]))
    steps.index(pieces, recall, mtime_ns=line["mtime_ns"])


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, 6) + 0.0  # no minus before a zero
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(each) for each in value]
    return value


def _pick(view: Mapping[str, Json], keys: str) -> dict[str, Json]:
    return {key: view[key] for key in keys.split() if view.get(key) is not None}


def _listing(answer: Mapping[str, Json]) -> Json:
    return {
        "total": answer["stats"].get("total_hits"),
        "rows": list(map(_row, answer["results"])),
        **_pick(answer["query"], "dropped"),
        "warnings": [text.partition(":")[0] for text in answer["warnings"]],
    }


def _row(hit: Mapping[str, Json]) -> Json:
    view = {**hit.get("doc", {}), **hit.get("chunk", {}), **hit, "copies": hit.get("copies", {}).get("count")}
    view = _pick(view, "path offset id score matched cosine copies recall_injected")
    if "explain" in hit:
        view["ledger"] = [
            _pick(part, "signal raw value weight rank points")
            | {"leaves": [_pick(leaf, "kind text points df idf tf") for leaf in part["leaves"]]}
            for part in hit["explain"]["parts"]
        ]
    return view


def _context(recall: Recall, question: Mapping[str, Json]) -> Json:
    answer = recall.context(question.get("text"), rql=question.get("rql"), **question.get("ask", {}))
    packed: Mapping[str, Json] = answer["context"]
    return {
        **_pick(packed, "text used_tokens candidates reserved_tokens"),
        "blocks": [_pick(block, "path offset end ranks truncated") for block in packed["blocks"]],
        "omitted": [_pick(each, "reason rank count path") for each in packed["omitted"]],
    }


def _whynot(recall: Recall, question: Mapping[str, Json]) -> Json:
    view = recall.why_not(question["text"], question["target"], fixes=False, **question.get("ask", {}))["whynot"]
    return {"verdict": view["verdict"], "stages": {each["stage"]: each["status"] for each in view["stages"]}}


def _chunks(recall: Recall, question: Mapping[str, Json]) -> Json:
    path = question["doc_id"].replace("'", "''")
    rows = recall.query(f"SELECT * FROM chunk FILTER doc.path = '{path}' LIMIT 1000")["results"]
    return [_pick(row["chunk"], "id offset end tokens line_start line_end heading") for row in rows]


def _vector(_: Recall, question: Mapping[str, Json]) -> Json:
    (vector,) = HashEmbedder(question["dimension"]).embed([question["text"]], is_query=question["is_query"])
    values = {str(place): value for place, value in enumerate(_floats(vector)) if value}
    return {"sha256": sha256(vector).hexdigest(), "values": values}


def _floats(vector: bytes) -> list[float]:
    return [value for (value,) in iter_unpack("<f", vector)]


def _nearest(recall: Recall, question: Mapping[str, Json]) -> Json:
    (vector,) = recall.engine.embedder.embed([question["text"]], is_query=True)
    return _listing(recall.nearest(_floats(vector), question["k"], question.get("filter")))


def _digest(recall: Recall, _: Mapping[str, Json]) -> Json:
    info = recall.store.info()
    documents = {file.path: [document.id for document in file.documents] for file in recall.store.live_files()}
    fields = "digest embedder counter chunker language documents chunks"
    return {**{name: getattr(info, name) for name in fields.split()}, "ids": documents}


def _steps(recall: Recall, question: Mapping[str, Json]) -> Json:
    text = question["text"]
    lists = [steps.retrieve(text, steps.RetrievePlan(**plan), recall) for plan in question["plans"]]
    found = lists[0]
    if "method" in question:
        found = steps.fuse(lists, question["method"], steps.FuseParams(**question["params"]))
    if "compress" in question:
        policy = steps.CompressPolicy(**question["compress"])
        return [each._asdict() for each in steps.compress(text, found, policy)]
    return [[each.doc_id, each.chunk_index, each.score] for each in found]


_KINDS: Mapping[str, Callable[[Recall, Mapping[str, Json]], Json]] = {
    "digest": _digest,
    "chunks": _chunks,
    "cut": lambda _, question: [
        [piece.offset, piece.content, piece.heading]
        for piece in steps.chunk(question["text"], steps.ChunkPolicy(**question["policy"]))
    ],
    "vector": _vector,
    "words": lambda _, question: analyzer_named(words_of(question["language"])).terms(question["text"]),
    "search": lambda recall, question: _listing(recall.search(question["text"], **question.get("ask", {}))),
    "query": lambda recall, question: _listing(recall.query(question["rql"], **question.get("ask", {}))),
    "nearest": _nearest,
    "context": _context,
    "whynot": _whynot,
    "trace": lambda recall, question: [
        [stage["stage"], stage["rows_in"], stage["rows_out"]]
        for stage in recall.trace(question["text"], **question.get("ask", {}))["trace"]["stages"]
    ],
    "steps": _steps,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite, print its differences or a report, and return the exit status."""
    parser = ArgumentParser(prog="python -m recall_core.conformance")
    parser.add_argument("--store", metavar="URL", help="new store, like sqlite:PATH (default: a temporary one)")
    parser.add_argument("--report", action="store_true", help="print a JSON report with the environment")
    options = parser.parse_args(arguments)
    try:
        with TemporaryDirectory() as folder:
            found = run(options.store or f"sqlite:{folder}/recall.db")
    except RecallError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        print(f"error: {error.message}{hint}", file=sys.stderr)
        return 2
    checks = len(read_lines("queries.jsonl"))
    held = checks - len({each["id"] for each in found})
    if options.report:
        environment = {
            "python": platform.python_version(),
            "sqlite": apsw.sqlite_lib_version(),
            **{name: metadata.version(name) for name in ("apsw", "numpy")},
            "platform": platform.platform(),
            "byteorder": sys.byteorder,
            "locale": locale.setlocale(locale.LC_ALL),
            "hash_seed": os.environ.get("PYTHONHASHSEED", "random"),
        }
        counts = {"spec_version": steps.SPEC_VERSION, "checks": checks, "held": held}
        print(json.dumps({**counts, "differences": found, "environment": environment}, indent=1))
    else:
        for each in reversed({each["id"]: each for each in reversed(found)}.values()):  # the first difference of each
            expected, got = (json.dumps(value)[:_SHOWN] for value in (each["expected"], each["got"]))
            print(f"{each['id']} {each['place'] or 'answer'}: expected {expected}, got {got}")
        print(f"{held} of {checks} hold")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error as error:
        print(f"error: the locale of the environment cannot be set: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
