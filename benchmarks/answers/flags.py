"""Random flags and settings of questions, by purpose."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from benchmarks.answers.filters import filter_expression
from benchmarks.answers.words import Corpus

SETTINGS = {
    "fusion": ("weighted", "rrf"),
    "normalize": ("bound", "max", "minmax"),
    "rrf_k": ("0", "1", "60", "1000"),
    "min_score": ("0.02", "0.1", "0.3", "0.9"),
    "match": ("any", "all"),
    "title_weight": ("0", "1", "10"),
    "lexical_model": ("fts5", "bm25f", "bm25f"),
    "bm25_k1": ("0", "0.9", "2"),
    "bm25_b": ("0", "0.4", "1"),
    "rerank": ("hash", ""),
    "rerank_rows": ("1", "10"),
    "rerank_weight": ("0", "0.5", "1"),
    "sparse_recall": ("true", "false"),
    "sparse_chunk_threshold": ("1", "3"),
    "sparse_distance_ceiling": ("0", "0.5", "0.8", "1"),
    "sparse_max_injections": ("0", "2"),
    "sparse_share": ("0.15", "0.5"),
    "pool": ("1", "30", "1000"),
    "max_limit": ("0", "3"),
    "budget_tokens": ("40", "300"),
    "diversity": ("0", "1", "2"),
    "min_fragment": ("1", "40"),
    "pack": ("rank", "optimal"),
    "header": ("{n}. {title} ({path})", "[{n:>3}] {lines} {heading}", ""),
    "separator": (r"\n--\n", " ", ""),
    "strict": ("true", "false"),
}
"""Every setting that a question may override, with values to try."""

_WEIGHTS = ((1, 0), (0, 1), (0.5, 0.5), (0.8, 0.2), (3, 1), (0.3, 0.7))
Flags = list[str]


def settings(random: Random) -> Flags:
    """Return zero or more --set flags."""
    chosen = [
        f"{key}={random.choice(SETTINGS[key])}"
        for key in random.sample(tuple(SETTINGS), random.choice((0, 1, 2, 3, 5)))
    ]
    if random.random() < 0.35:
        lexical, semantic = random.choice(_WEIGHTS)
        chosen += [f"bm25_weight={lexical}", f"vector_weight={semantic}"]
    return [part for each in chosen for part in ("--set", each)]


def mode(random: Random) -> Flags:
    """Return flags for words only, vectors only, or both."""
    return list(random.choice(((), (), ("--bm25",), ("--vector",), ("--bm25", "--vector"))))


def asking(random: Random, corpus: Corpus, *, without: tuple[str, ...] = ()) -> Flags:
    """Return flags of commands that search for words, in random order. without: flags that the command lacks."""
    groups = [mode(random)]
    for share, name, make in _ASKING:
        if name not in without and random.random() < share:
            groups.append(make(random, corpus))
    random.shuffle(groups)
    return [part for group in groups for part in group]


def checks(random: Random, corpus: Corpus, *, without: tuple[str, ...] = ()) -> Flags:
    """Return flags that check a query against its store, and settings."""
    kept = [(share, name, make) for share, name, make in _ASKING if name in _CHECKS and name not in without]
    return [part for share, _, make in kept if random.random() < share for part in make(random, corpus)]


def packing(random: Random) -> Flags:
    """Return flags of a context."""
    chosen: Flags = []
    for share, name, values in _PACKING:
        if random.random() < share:
            chosen += [name, random.choice(values)]
    for flag in ("--pin", "--drop"):
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            chosen += [flag, f"{{chunk:{random.randrange(2_000)}{random.choice(('', '/8'))}}}"]
    return chosen


_ASKING: tuple[tuple[float, str, Callable[[Random, Corpus], Flags]], ...] = (
    (0.6, "--k", lambda random, corpus: ["--k", str(random.choice((0, 1, 2, 3, 3, 5, 5, 8, 12, 40)))]),
    (0.35, "--filter", lambda random, corpus: ["--filter", filter_expression(random, corpus)]),
    (0.5, "--set", lambda random, corpus: settings(random)),
    (0.3, "--explain", lambda random, corpus: ["--explain"]),
    (0.15, "--no-sparse", lambda random, corpus: ["--no-sparse"]),
    (0.15, "--exact", lambda random, corpus: ["--exact"]),
    (0.1, "--snapshot", lambda random, corpus: ["--snapshot", "{digest}"]),
    (0.05, "--strict-fresh", lambda random, corpus: ["--strict-fresh"]),
)
_CHECKS = ("--set", "--explain", "--exact", "--snapshot", "--strict-fresh")
_PACKING = (
    (0.7, "--budget-tokens", ("1", "12", "60", "200", "200", "800", "3000")),
    (0.3, "--diversity", ("0", "1", "2")),
    (0.25, "--format", ("plain", "markdown")),
    (0.4, "--pack", ("rank", "optimal", "optimal")),
    (0.3, "--counter", ("whitespace", "approx")),
    (0.3, "--k", ("1", "5", "30")),
)
