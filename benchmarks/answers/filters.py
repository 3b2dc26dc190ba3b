"""Random filter expressions: every field, every operator of its type, and their combinations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from benchmarks.answers.corpus import TOPICS
from benchmarks.answers.words import Corpus, topical

_EQUALITY = ("=", "!=", "<>")
_COMPARISON = ("<", "<=", ">", ">=")
_TAGS = ("docs", "code", "notes", "wiki", "archive", "data", "people", "none")
_SOURCES = ("handbook", "repo", "wiki", "records", "nobody")
_GLOBS = (
    "docs/**",
    "**/*.md",
    "*/*.txt",
    "**/v1/*",
    "{docs,src}/**",
    "notes/[a-m]*",
    "[!a]*/**",
    "**/short/?*",
    "**",
)
_LIKES = ("docs/%", "%.md", "%_done%", "%100\\%%", "notes/_hort/%", "%", "%RETRY%", "%deploy%", "")
_DAYS = (
    "2022-02-01",
    "2023-07-15",
    "2024-01-01",
    "2025-03-31T12:00:00Z",
    "2024-06-30T23:59:59.5+02:00",
    "2026-06-30",
)


def filter_expression(random: Random, corpus: Corpus, *, depth: int = 0) -> str:
    """Return a filter expression for chunks."""
    kind = random.random()
    if depth >= 3 or kind < 0.5:
        return _predicate(random, corpus)
    if kind < 0.6:
        return f"NOT {_bracketed(random, corpus, depth)}"
    joint = random.choice((" AND ", " OR ", " and "))
    return joint.join(_bracketed(random, corpus, depth) for _ in range(random.randint(2, 3)))


def quoted(text: str) -> str:
    """Return the text as an RQL string."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _bracketed(random: Random, corpus: Corpus, depth: int) -> str:
    inner = filter_expression(random, corpus, depth=depth + 1)
    return f"({inner})" if " " in inner and random.random() < 0.6 else inner


def _predicate(random: Random, corpus: Corpus) -> str:
    make = random.choices([each for each, _ in _PREDICATES], weights=[share for _, share in _PREDICATES])[0]
    return make(random, corpus)


def _compared(random: Random, field: str, values: Sequence[str], *, ordered: bool) -> str:
    """Return a comparison of a field with values in RQL."""
    forms = ("op", "in", "between", "null") if ordered else ("op", "in", "null")
    form = random.choices(forms, weights=(6, 2, 2, 1)[: len(forms)])[0]
    no = random.choice(("", "", "NOT "))
    if form == "in":
        return f"{field} {no}IN ({', '.join(random.choices(values, k=random.randint(1, 3)))})"
    if form == "between":
        low, high = sorted(random.choices(values, k=2))
        return f"{field} {no}BETWEEN {low} AND {high}"
    if form == "null":
        return f"{field} IS {no}NULL"
    operators = (*_EQUALITY, *_COMPARISON) if ordered else _EQUALITY
    return f"{field} {random.choice(operators)} {random.choice(values)}"


def _path(random: Random, corpus: Corpus) -> str:
    paths = [quoted(random.choice(corpus).path) for _ in range(3)]
    return _compared(random, "doc.path", paths, ordered=True)


def _pattern(random: Random, corpus: Corpus) -> str:
    field = random.choice(("doc.path", "doc.path", "doc.path", "doc.source", "chunk.text", "doc.tag", "doc.mtime"))
    no = random.choice(("", "", "NOT "))
    operator = random.choice(("LIKE", "ILIKE", "GLOB"))
    patterns = _GLOBS if operator == "GLOB" else _LIKES
    pattern = f"*{random.choice(TOPICS['retry'].split())}*" if field == "chunk.text" else random.choice(patterns)
    return f"{field} {no}{operator} {quoted(pattern.replace('*', '%') if operator != 'GLOB' else pattern)}"


def _tag(random: Random, corpus: Corpus) -> str:
    tags = ", ".join(map(quoted, random.sample(_TAGS, random.randint(1, 3))))
    if random.random() < 0.3:
        return f"doc.tags HAS {random.choice(('ANY', 'ALL'))} ({tags})"
    return _compared(random, random.choice(("doc.tag", "doc.tags")), list(map(quoted, _TAGS)), ordered=False)


def _source(random: Random, corpus: Corpus) -> str:
    return _compared(random, "doc.source", list(map(quoted, _SOURCES)), ordered=True)


def _time(random: Random, corpus: Corpus) -> str:
    return _compared(random, "doc.mtime", list(map(quoted, _DAYS)), ordered=True)


def _whole(random: Random, corpus: Corpus) -> str:
    field, most = random.choice((("chunk.tokens", 70), ("chunk.offset", 2_000)))
    return _compared(random, field, [str(random.randint(0, most)) for _ in range(3)], ordered=True)


def _number_meta(random: Random, corpus: Corpus) -> str:
    key, values = random.choice(
        (("year", ("2019", "2021", "2024")), ("rating", ("4.5", "1e0", "-1", "2.75")), ("shelf", ("3", "17")))
    )
    return _compared(random, f"doc.meta.{key}", values, ordered=True)


def _text_meta(random: Random, corpus: Corpus) -> str:
    key, values = random.choice(
        (
            ("author", ("ana", "Bo", "çelik", "d'Arcy")),
            ("'review-by'", ("2025-06-30", "2025-01-15")),
            ("lang", ("python",)),
        )
    )
    if random.random() < 0.2:
        return (
            f"doc.meta.{key} {random.choice(('LIKE', 'ILIKE', 'NOT LIKE'))} {random.choice(('%a%', 'A%', '2025%'))!r}"
        )
    return _compared(random, f"doc.meta.{key}", list(map(quoted, values)), ordered=True)


def _other_meta(random: Random, corpus: Corpus) -> str:
    truth = f"doc.meta.draft {random.choice(('=', '!='))} {random.choice(('TRUE', 'FALSE', 'true'))}"
    return random.choice((truth, "doc.meta.note IS NULL", "doc.meta.place IS NOT NULL", "doc.meta.keys = 'retry'"))


def _identity(random: Random, corpus: Corpus) -> str:
    place = random.randrange(1_000)
    return random.choice(
        (
            f"chunk.id = '{{chunk:{place}}}'",
            f"doc.id IN ('{{doc:{place}}}', '{{doc:{place + 1}}}')",
            f"chunk.doc_id = '{{doc:{place}}}'",
            "doc.hash LIKE 'a%'",
            f"chunk.id < '{{chunk:{place}/8}}'",
        )
    )


def _text(random: Random, corpus: Corpus) -> str:
    word = topical(random, corpus).split()[0]
    return random.choice(
        (f"chunk.text ILIKE {quoted(f'%{word}%')}", f"chunk.text LIKE {quoted(f'%{word.title()}%')}")
    )


_PREDICATES: tuple[tuple[Callable[[Random, Corpus], str], int], ...] = (
    (_tag, 6),
    (_pattern, 5),
    (_time, 4),
    (_whole, 4),
    (_source, 3),
    (_path, 3),
    (_number_meta, 3),
    (_text_meta, 3),
    (_other_meta, 2),
    (_identity, 2),
    (_text, 2),
)
