"""Random RQL queries, complete and broken."""

from __future__ import annotations

from random import Random

from benchmarks.answers.filters import filter_expression, quoted
from benchmarks.answers.words import Corpus, words

_CHUNK_FIELDS = "chunk.id chunk.doc_id chunk.offset chunk.tokens chunk.text".split()
_DOC_FIELDS = "doc.id doc.path doc.mtime doc.hash doc.tag doc.tags doc.source doc.meta.year doc.meta.author".split()
_OPTIONS = {
    "fusion": ("weighted", "rrf"),
    "normalize": ("bound", "max", "minmax"),
    "bm25_weight": ("0", "0.2", "1", "5"),
    "vector_weight": ("0.1", "0.5", "1", "2.5"),
    "min_score": ("0", "0.05", "0.3"),
    "pool": ("1", "20", "500"),
    "exact": ("ON", "OFF", "true"),
    "sparse_recall": ("OFF", "OFF", "ON"),
    "rerank": ("OFF", "hash"),
}
_BREAKS = ("", "'", "(", ")", ",", "SELECT", "FILTER", "doc.", "”", "10k", "AND", "--", "NOT NOT", "%", "score", ";")
_FTS = (
    "retry AND budget",
    "NEAR(deploy rollback, 5)",
    "back*",
    "retry (budget",
    "title: plan",
    '"a b" OR c',
    "^retry",
    "",
)


def query(random: Random, corpus: Corpus) -> str:
    """Return a complete query, with its clauses in any order and any layout."""
    table = random.choice(("chunk", "chunk", "doc"))
    has_using = random.random() < 0.7
    clauses = [_using(random, corpus)] if has_using else []
    if random.random() < 0.6:
        clauses.append(f"FILTER {filter_expression(random, corpus)}")
    if random.random() < 0.35:
        clauses.append(_order(random, table))
    if random.random() < 0.6:
        clauses.append(_limit(random))
    if has_using and random.random() < 0.4:
        clauses.append(_option(random))
    if random.random() < 0.2:
        random.shuffle(clauses)
    return _laid_out(random, [f"SELECT {_select(random, table)} FROM {table}", *clauses])


def broken(random: Random, corpus: Corpus) -> str:
    """Return a query with one part moved, removed or added."""
    pieces = query(random, corpus).split(" ")
    place = random.randrange(len(pieces))
    pieces[place] = random.choice(
        (random.choice(_BREAKS), pieces[place][:-1], pieces[place][::-1], pieces[place] * 2)
    )
    return " ".join(pieces)


def begun(random: Random, corpus: Corpus) -> str:
    """Return an unfinished query, as typed so far."""
    text = query(random, corpus)
    return text[: random.randint(0, len(text))]


def _select(random: Random, table: str) -> str:
    if random.random() < 0.35:
        return "*"
    fields = (
        _DOC_FIELDS + (_CHUNK_FIELDS if table == "chunk" else []) + ["score", "doc.size", "path" * (table == "doc")]
    )
    return ", ".join(dict.fromkeys(filter(None, random.choices(fields, k=random.randint(1, 5)))))


def _using(random: Random, corpus: Corpus) -> str:
    asked = quoted(words(random, corpus))
    lexical = f"lexical({asked})" if random.random() < 0.85 else f"lexical_fts({quoted(random.choice(_FTS))})"
    semantic = f"semantic({quoted(words(random, corpus)) if random.random() < 0.4 else asked})"
    return "USING " + random.choice((lexical, lexical, semantic, f"{lexical}, {semantic}", f"{semantic}, {lexical}"))


def _order(random: Random, table: str) -> str:
    fields = ["score", "doc.path", "doc.mtime", "doc.source", "doc.tag", "doc.meta.year", "doc.meta.author"]
    fields += ["chunk.tokens", "chunk.offset"] * (table == "chunk")
    keys = random.sample(fields, random.randint(1, 3))
    return "ORDER BY " + ", ".join(f"{key}{random.choice(('', ' ASC', ' DESC'))}" for key in keys)


def _limit(random: Random) -> str:
    limit = f"LIMIT {random.choice((0, 1, 2, 3, 5, 8, 20))}"
    return limit if random.random() < 0.6 else f"{limit} OFFSET {random.choice((0, 1, 5, 30, 5_000))}"


def _option(random: Random) -> str:
    names = random.sample(tuple(_OPTIONS), random.randint(1, 3))
    return "OPTION " + ", ".join(f"{name} {random.choice(_OPTIONS[name])}" for name in names)


def _laid_out(random: Random, clauses: list[str]) -> str:
    layout = random.random()
    if layout < 0.7:
        return " ".join(clauses)
    if layout < 0.85:
        return "\n".join(clauses) + random.choice((";", "", "\n"))
    return f"-- {random.choice(('nightly', 'as before'))}\n" + "  -- why\n  ".join(clauses).replace(
        "SELECT", "select"
    )
