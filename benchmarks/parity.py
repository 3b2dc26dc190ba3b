"""Check that an answer is the same to the byte in every way to ask. `python -m benchmarks.parity ask STORE --out
FILE`.

A seed draws questions over modes, filters, documents, contexts, explanations and settings. Each answer is kept as the
SHA-256 of its bytes without timings. `compare` compares two such files, from two checkouts or from one checkout asked
in two ways. Either checkout may have made the store; its files must be the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.answers.normalize import MOMENTARY, MOMENTARY_TABLES
from benchmarks.speed.asked import KINDS, Asker
from recall_core.api.recall import Recall
from recall_core.errors import RecallError

SETTINGS: Mapping[str, Sequence[str]] = {
    "fusion": ("weighted", "rrf"),
    "normalize": ("bound", "max", "minmax"),
    "lexical_model": ("fts5", "bm25f"),
    "match": ("any", "all"),
    "title_weight": ("0", "1", "3"),
    "stop_words": ("none", "english", "questions"),
    "bm25_weight": ("0", "0.5"),
    "vector_weight": ("0", "0.7"),
    "min_score": ("0.05", "0.3"),
    "pool": ("1", "30", "1000"),
    "sparse_recall": ("true", "false"),
}
"""Settings of a question, each with values that change the ranking."""

FILTERS = (
    "doc.path GLOB 'docs/3/**'",
    "doc.path GLOB 'docs/1/2/**'",
    "doc.path GLOB 'docs/0/0/*/**'",
    "NOT doc.path GLOB 'docs/[0-8]/**'",
    "chunk.tokens > 150",
    "chunk.tokens BETWEEN 120 AND 125",
    "chunk.offset = 0",
    "doc.mtime < '2024-03-01' AND chunk.tokens > 110",
    "doc.path LIKE '%7.txt' OR doc.path LIKE '%00001.txt'",
    "doc.tag = 'nobody'",
)
_MOMENTARY = frozenset((*MOMENTARY, *MOMENTARY_TABLES, "ms"))
_MODES = ("hybrid", "hybrid", "lexical", "semantic")


class Asked(NamedTuple):
    """A method of Recall with its arguments."""

    method: str
    arguments: tuple[str, ...]
    fields: dict[str, Any]


def questions(pieces: Sequence[str], count: int, *, seed: int) -> list[Asked]:
    """Return `count` questions for a store of these texts, the same for the same seed."""
    random, asker = Random(f"parity {seed}"), Asker(pieces, seed=seed)
    makers, shares = zip(*_KINDS, strict=True)
    return [random.choices(makers, weights=shares)[0](random, asker) for _ in range(count)]


def answer(recall: Recall, asked: Asked) -> bytes:
    """Return the whole response without timings, or the error, as bytes."""
    try:
        response: Any = getattr(recall, asked.method)(*asked.arguments, **asked.fields)
    except RecallError as error:
        response = {"error": error.code, "message": str(error)}
    return json.dumps(_lasting(response), ensure_ascii=False).encode()


def digests(recall: Recall, asked: Sequence[Asked]) -> list[str]:
    """Return the SHA-256 of each answer."""
    return [sha256(answer(recall, each)).hexdigest() for each in asked]


def whole(each: Sequence[str]) -> str:
    """Return one SHA-256 of all answers."""
    return sha256("".join(each).encode()).hexdigest()


def differences(asked: Sequence[Asked], one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """Yield the questions whose answers differ."""
    for question, before, after in zip(asked, one, other, strict=True):
        if before != after:
            yield f"{question.method} {question.arguments} {question.fields}"


def _lasting(value: Any) -> Any:
    """Return the value without numbers that depend on a clock."""
    if isinstance(value, Mapping):
        return {key: _lasting(inner) for key, inner in value.items() if key not in _MOMENTARY}
    return [_lasting(each) for each in value] if isinstance(value, list | tuple) else value


def _search(random: Random, asker: Asker) -> Asked:
    return Asked("search", (_text(random, asker),), _fields(random))


def _documents(random: Random, asker: Asker) -> Asked:
    return Asked("query", (_rql(random, asker, "doc"),), _rql_fields(random))


def _rows(random: Random, asker: Asker) -> Asked:
    return Asked("query", (_rql(random, asker, "chunk"),), _rql_fields(random))


def _context(random: Random, asker: Asker) -> Asked:
    packing = {"budget_tokens": random.choice((150, 600, 4_000)), "pack": random.choice((None, "rank", "optimal"))}
    return Asked("context", (_text(random, asker),), {**_fields(random), **packing})


def _trace(random: Random, asker: Asker) -> Asked:
    return Asked("trace", (_text(random, asker),), {**_fields(random), "explain": False})


def _why_not(random: Random, asker: Asker) -> Asked:
    number = random.randrange(10)
    target = f"docs/{number}/0/0/0000{number}.txt"
    return Asked("why_not", (_text(random, asker), target), {"mode": random.choice(_MODES), "k": 5})


_KINDS: tuple[tuple[Callable[[Random, Asker], Asked], int], ...] = (
    (_search, 60),
    (_documents, 12),
    (_rows, 12),
    (_context, 12),
    (_trace, 3),
    (_why_not, 1),
)


def _text(random: Random, asker: Asker) -> str:
    return asker.draw(random.choice(KINDS), 1)[0].text


def _fields(random: Random) -> dict[str, Any]:
    """Return the mode, rows, filter and settings of a question."""
    chosen: dict[str, Any] = {"mode": random.choice(_MODES), "k": random.choice((1, 5, 10, 10, 40))}
    if random.random() < 0.4:
        chosen["filter"] = random.choice(FILTERS)
    if random.random() < 0.3:
        chosen["explain"] = True
    if random.random() < 0.1:
        chosen["exact"] = True
    return {**chosen, "settings": _settings(random)}


def _settings(random: Random) -> tuple[str, ...]:
    names = random.sample(tuple(SETTINGS), random.choice((0, 0, 1, 2, 3)))
    return tuple(f"{name}={random.choice(SETTINGS[name])}" for name in names)


def _rql_fields(random: Random) -> dict[str, Any]:
    return {"explain": random.random() < 0.3, "settings": _settings(random)}


def _rql(random: Random, asker: Asker, table: str) -> str:
    text = f"'{asker.draw(random.choice(('1 words', '3 words', '5 words')), 1)[0].text}'"
    using = random.choice((f"lexical({text})", f"semantic({text})", f"lexical({text}), semantic({text})"))
    fields = "doc.path, score" if table == "doc" else "doc.path, chunk.offset, chunk.text, score"
    clauses = [f"SELECT {fields} FROM {table} USING {using}"]
    if random.random() < 0.4:
        rows = [each for each in FILTERS if table == "chunk" or "chunk." not in each]
        clauses.append(f"FILTER {random.choice(rows)}")
    if random.random() < 0.25:
        clauses.append(
            random.choice(("ORDER BY doc.path", "ORDER BY score ASC, doc.path", "ORDER BY doc.mtime DESC"))
        )
    clauses.append(random.choice(("LIMIT 10", "LIMIT 3 OFFSET 7", "LIMIT 100")))
    if random.random() < 0.2:
        clauses.append(f"OPTION {random.choice(('fusion rrf', 'pool 20', 'exact ON', 'collapse ON'))}")
    return " ".join(clauses)


def main(argv: Sequence[str] | None = None) -> int:
    """Ask and keep the answers, or compare. Return 1 if anything differs."""
    options = _parser().parse_args(argv)
    if options.action == "one":
        return _one(options.store)
    if options.action == "compare":
        return _compare(*(json.loads(path.read_text(encoding="utf-8")) for path in (options.old, options.new)))
    pieces = json.loads((options.store / "pieces.json").read_text(encoding="utf-8"))
    asked = questions(pieces, options.count, seed=options.seed)
    with Recall.open(start=options.store) as recall:
        found = digests(recall, asked)
    kept = {"questions": [json.dumps(each) for each in asked], "answers": found, "whole": whole(found)}
    options.out.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} answers of {options.store}: {kept['whole']}")
    return 0


def _one(store: Path) -> int:
    """Print the first answer of a process."""
    method, arguments, fields = json.load(sys.stdin)
    with Recall.open(start=store) as recall:
        print(*digests(recall, [Asked(method, arguments, fields)]))
    return 0


def _compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> int:
    if old["questions"] != new["questions"]:
        print("not comparable: the files contain answers to different questions")
        return 1
    pairs = zip(old["questions"], old["answers"], new["answers"], strict=True)
    differing = [question for question, before, after in pairs if before != after]
    print("\n".join((*differing, f"{len(old['answers'])} answers, {len(differing)} different")))
    return 1 if differing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    ask = actions.add_parser("ask", help="ask a store and keep the hash of each answer")
    ask.add_argument("store", type=Path, metavar="STORE", help="a folder that benchmarks.speed made in --stores")
    ask.add_argument("--count", type=int, default=2_000)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--out", type=Path, required=True, metavar="FILE")
    one = actions.add_parser("one", help="ask the question on stdin, in the format of a file of questions")
    one.add_argument("store", type=Path, metavar="STORE")
    compare = actions.add_parser("compare", help="exit 1 if two files differ, and list the questions")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
