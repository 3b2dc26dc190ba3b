"""Random questions: command, store, words, flags and settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.answers import flags, rql
from benchmarks.answers.corpus import is_plain
from benchmarks.answers.inputs import FOLDER
from benchmarks.answers.mistakes import MISTAKES
from benchmarks.answers.words import Corpus, running, topical, words

IN_A_PROCESS = 0.2
IN_JSON = 0.5
_STORES = {"hash": 40, "local": 30, "worn": 20, "wide": 8, "void": 2}


class Question(NamedTuple):
    """A command line in a folder of the world. It contains placeholders for ids and digests: see `world.Places`."""

    argv: tuple[str, ...]
    folder: str
    stdin: str = ""
    in_a_process: bool = False


class Line(NamedTuple):
    """A command line without its folder."""

    argv: Sequence[str]
    stdin: str = ""


def questions(count: int, corpora: Mapping[str, Corpus], *, seed: int) -> Iterator[Question]:
    """Yield `count` questions. A larger count only adds questions at the end. corpora: the corpus of each store."""
    for number in range(count):
        random = Random(f"question {seed} {number}")
        folder, asked = _random_line(random, corpora)
        argv = ("--json", *asked.argv) if random.random() < IN_JSON else tuple(asked.argv)
        yield Question(argv, folder, asked.stdin, random.random() < IN_A_PROCESS)


def mistakes(step: int = 1) -> Iterator[Question]:
    """Yield every `step`th mistake of the table, as plain text and with --json."""
    for folder, line in MISTAKES[::step]:
        argv = tuple(shlex.split(line))
        yield Question(argv, folder)
        yield Question(("--json", *argv), folder)


def _random_line(random: Random, corpora: Mapping[str, Corpus]) -> tuple[str, Line]:
    stores = [name for name in _STORES if name in corpora]
    folder = random.choices(stores, weights=[_STORES[name] for name in stores])[0]
    make = random.choices([kind for kind, _ in KINDS], weights=[share for _, share in KINDS])[0]
    return folder, make(random, corpora[folder] or corpora["hash"])


def _search(random: Random, corpus: Corpus) -> Line:
    return Line(["search", *_words(random, corpus), *flags.asking(random, corpus)])


def _query(random: Random, corpus: Corpus) -> Line:
    text = rql.query(random, corpus) if random.random() < 0.85 else rql.broken(random, corpus)
    checked = flags.checks(random, corpus)
    if random.random() < 0.1:
        return Line(["query", random.choice(("-", "--rql=-")), *checked], text)
    return Line(["query", *checked, *random.choice((["--rql", text], ["--", text]))])


def _context(random: Random, corpus: Corpus) -> Line:
    packing = flags.packing(random)
    if random.random() < 0.25:
        asked = ["--rql", rql.query(random, corpus), *flags.checks(random, corpus)]
    else:
        asked = [*_words(random, corpus), *flags.asking(random, corpus, without=("--k",))]
    return Line(["context", *asked, *packing])


def _explain(random: Random, corpus: Corpus) -> Line:
    versus = ["--vs", _chunk(random)] if random.random() < 0.35 else []
    return Line(["explain", *_question(random, corpus, without=("--explain",)), "--chunk", _chunk(random), *versus])


def _whynot(random: Random, corpus: Corpus) -> Line:
    fixes = ["--no-fixes"] if random.random() < 0.3 else []
    if random.random() < 0.3:
        file = random.choice(corpus)
        text = running(random, [file] if file.content else corpus)
        return Line(["whynot", f" {text}", *flags.mode(random), "--target", file.path, *fixes])
    asked = _question(random, corpus, without=("--explain", "--strict-fresh"))
    return Line(["whynot", *asked, "--target", _missed(random, corpus), *fixes, *_looked_into(random)])


def _trace(random: Random, corpus: Corpus) -> Line:
    asked = _question(random, corpus, without=("--explain", "--strict-fresh"))
    return Line(["trace", *asked, *_looked_into(random)])


def _diff(random: Random, corpus: Corpus) -> Line:
    others = (
        ["--b", "fusion=rrf"],
        ["--b", "bm25_weight=0.5,vector_weight=0.5"],
        ["--a", "normalize=max", "--b", "normalize=minmax,lexical_model=bm25f"],
        ["--b", f"{FOLDER}/even.toml"],
        ["--a", f"{FOLDER}/ranks.toml", "--b", f"{FOLDER}/words.toml"],
        ["--b-store", random.choice(("../hash", "../worn", "../void"))],
        ["--b", "rerank=hash,sparse_recall=false"],
        ["--b", "match=all,min_score=0.2"],
    )
    gate = ["--gate", random.choice(("rbo>=.9", "jaccard>.1,firsts_changed<=2", "queries_changed=0"))]
    asked = ["--queries", f"{FOLDER}/few.jsonl"] if random.random() < 0.2 else _diffed(random, corpus)
    return Line(["diff", *asked, *random.choice(others), *(gate if random.random() < 0.3 else [])])


def _diffed(random: Random, corpus: Corpus) -> list[str]:
    without = ("--explain", "--snapshot", "--strict-fresh")
    return [*_words(random, corpus), *flags.asking(random, corpus, without=without)]


def _report(random: Random, corpus: Corpus) -> Line:
    asked = _question(random, corpus, without=("--explain",))
    return Line(["report", *asked, random.choice(("--html", "--md", "--md")), "-", "--budget-tokens", "200"])


def _get(random: Random, corpus: Corpus) -> Line:
    return Line(
        ["get", random.choice((_chunk(random), _document(random), _place(random, corpus), _path(random, corpus)))]
    )


def _sweep(random: Random, corpus: Corpus) -> Line:
    asked = _question(random, corpus, without=("--explain", "--no-sparse", "--strict-fresh", "--mode"))
    return Line(["tune", *(part for part in asked if part not in ("--bm25", "--vector")), "--sweep"])


def _pins(random: Random, corpus: Corpus) -> Line:
    wished = [part for _ in range(random.randint(1, 3)) for part in _wish(random, corpus)]
    return Line(["tune", topical(random, corpus), "--k", random.choice("1358"), *wished])


def _wish(random: Random, corpus: Corpus) -> tuple[str, str]:
    target = random.choice((_chunk(random), _path(random, corpus), _document(random)))
    return random.choice(("--pin", "--pin", "--pin-not")), target


def _tune(random: Random, corpus: Corpus) -> Line:
    grids = ("normalize=bound,max", "fusion=weighted,rrf", "rrf_k=10,60", "title_weight=1,3", "lexical_model=bm25f")
    tried = [part for grid in random.sample(grids, random.choice((0, 0, 1, 2))) for part in ("--grid", grid)]
    metric = (
        ["--metric", random.choice(("ndcg@5", "map", "mrr", "p@3", "recall@20"))] if random.random() < 0.5 else []
    )
    curve = ["--sweep"] if random.random() < 0.4 else []
    return Line(["tune", *_judged(random), *metric, *tried, *curve])


def _eval(random: Random, corpus: Corpus) -> Line:
    chosen: list[str] = []
    for share, name, values in _EVALUATED:
        if random.random() < share:
            chosen += [name, random.choice(values)] if values else [name]
    return Line(["eval", *_judged(random), *chosen, *flags.settings(random)])


def _facts(random: Random, corpus: Corpus) -> Line:
    gate = ["--gate", random.choice(("forced>=.5", "on=1,dense_regressions=0"))] if random.random() < 0.4 else []
    which = ["--fixtures", f"{FOLDER}/facts.jsonl", *gate] if random.random() < 0.6 else ["--calibrate-sparse"]
    return Line(["eval", *which, *flags.settings(random)])


def _rql_check(random: Random, corpus: Corpus) -> Line:
    text = rql.query(random, corpus) if random.random() < 0.5 else rql.broken(random, corpus)
    strict = ["--set", "strict=true"] if random.random() < 0.3 else []
    return Line(["rql", "check", "--rql", text, *strict])


def _rql_format(random: Random, corpus: Corpus) -> Line:
    if random.random() < 0.3:
        return Line(["rql", "format", "-"], rql.query(random, corpus))
    return Line(["rql", "format", "--rql", rql.query(random, corpus)])


def _rql_explain(random: Random, corpus: Corpus) -> Line:
    return Line(["rql", "explain", "--rql", rql.query(random, corpus), *flags.settings(random)])


def _rql_complete(random: Random, corpus: Corpus) -> Line:
    text = rql.begun(random, corpus)
    cursor = ["--cursor", str(random.randint(0, len(text)))] if random.random() < 0.4 else []
    return Line(["rql", "complete", "--rql", text, *cursor])


def _care(random: Random, corpus: Corpus) -> Line:
    return Line(random.choice(_CARE))


def _help(random: Random, corpus: Corpus) -> Line:
    command = random.choice(
        "search query rql context get explain whynot trace diff report eval judge tune add".split()
    )
    return Line(random.choice(([command, "--help"], ["--help"], [], ["completion", "bash"], ["schema"])))


def _words(random: Random, corpus: Corpus) -> list[str]:
    """Return words as one or several operands, never as a flag."""
    text = words(random, corpus)
    if text.startswith("-") or not text.strip():
        return [f" {text}"]
    return (
        text.split() if random.random() < 0.2 and not any(part.startswith("-") for part in text.split()) else [text]
    )


def _question(random: Random, corpus: Corpus, *, without: tuple[str, ...]) -> list[str]:
    """Return words with their flags, or a query."""
    if random.random() < 0.25:
        k = ("--k",) if "--mode" in without else ()
        return ["--rql", rql.query(random, corpus), *flags.checks(random, corpus, without=(*without, *k))]
    return [*_words(random, corpus), *flags.asking(random, corpus, without=without)]


def _looked_into(random: Random) -> list[str]:
    """Return flags that make whynot and trace look into a context."""
    if random.random() < 0.65:
        return []
    capped = ["--diversity", random.choice("012")] if random.random() < 0.5 else []
    return ["--budget-tokens", random.choice(("20", "150", "900")), *capped]


def _judged(random: Random) -> list[str]:
    """Return flags for the judgements: those of the store, or files of any format."""
    queries, qrels = random.choice((("jsonl", "tsv"), ("tsv", "trec"), ("jsonl", "trec")))
    files = ["--queries", f"{FOLDER}/queries.{queries}", "--qrels", f"{FOLDER}/qrels.{qrels}"]
    return random.choice(([], [], files, ["--qrels", f"{FOLDER}/quepid.csv"]))


def _missed(random: Random, corpus: Corpus) -> str:
    targets = (
        _chunk(random),
        _chunk(random),
        _path(random, corpus),
        _place(random, corpus),
        _document(random),
        f'"{running(random, corpus, least=3, most=5)}"',
        random.choice(_UNREAD),
        random.choice([file.path for file in corpus if is_plain(file, "notes/")][:3]),  # removed, changed, gone
    )
    return random.choice(targets)


def _chunk(random: Random) -> str:
    return f"{{chunk:{random.randrange(30_000)}{random.choice(('', '/6', '/12'))}}}"


def _document(random: Random) -> str:
    return f"{{doc:{random.randrange(30_000)}{random.choice(('', '/8'))}}}"


def _path(random: Random, corpus: Corpus) -> str:
    path = random.choice(corpus).path
    return path if not path.endswith(".jsonl") else f"{path}#{random.choice(('retry-0', '1', 'r7'))}"


def _place(random: Random, corpus: Corpus) -> str:
    first = random.randint(1, 12)
    return f"{_path(random, corpus)}:{first}{random.choice(('', f'-{first + random.randint(0, 9)}'))}"


_UNREAD = (f"{FOLDER}/saved.rql", "notes/new.txt", "notes/.hidden.txt", "archive/skipped.txt", "elsewhere/new.txt")
_EVALUATED: tuple[tuple[float, str, tuple[str, ...]], ...] = (
    (0.5, "--modes", ("hybrid,bm25", "bm25", "vector", "hybrid,bm25,vector")),
    (0.5, "--metrics", ("ndcg@10,map,mrr,p@5,recall@100", "ndcg@3", "p@1,mrr@10")),
    (0.3, "--k", ("5", "20", "100")),
    (0.3, "--per-query", ()),
    (0.3, "--baseline", (f"{FOLDER}/run.trec", f"{FOLDER}/before.json")),
    (0.3, "--gate", ("ndcg@10>=.99", "ndcg@10>0,regressions=0", "mrr<=1")),
)
_CARE = (
    ["stats"],
    ["doctor"],
    ["doctor", "--dups"],
    ["embedders"],
    ["judge", "export", "--qrels", "-"],
    ["judge", "export", "--qrels", "-", "--format", "trec"],
    ["judge", "export", "--qrels", "-", "--format", "quepid"],
    ["judge", "export", "--queries", "-"],
)

KINDS: tuple[tuple[Callable[[Random, Corpus], Line], int], ...] = (
    (_search, 20),
    (_query, 16),
    (_context, 14),
    (_explain, 8),
    (_whynot, 12),
    (_trace, 5),
    (_diff, 7),
    (_report, 3),
    (_get, 4),
    (_sweep, 4),
    (_pins, 4),
    (_tune, 3),
    (_eval, 4),
    (_facts, 2),
    (_rql_check, 3),
    (_rql_format, 2),
    (_rql_explain, 4),
    (_rql_complete, 4),
    (_care, 4),
    (_help, 2),
)
