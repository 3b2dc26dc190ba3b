"""The question that is being explained: as it was put, with something changed, and as a command to type."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from recall_core.retrieve import Plan
from recall_core.retrieve.asking import Ask, Asker, Pack
from recall_core.rql.ast import Expr, Value
from recall_core.rql.parser import parse_query
from recall_core.rql.print import print_filter, print_query
from recall_core.shell import Hint, Options


class Question(NamedTuple):
    """Words or RQL with everything that decides the answer. budget_tokens: None for a list, else for a context."""

    words: str
    rql: str | None = None
    mode: str = "hybrid"
    filter: str | None = None
    k: int | None = None
    settings: tuple[str, ...] = ()
    exact: bool = False
    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None


def planned(question: Question, asker: Asker) -> Plan:
    """The plan that a search, a query or a context makes of it."""
    ask = Ask(question.k, question.mode, question.filter, question.settings, exact=question.exact)
    return asker.words_plan(question.words, ask) if question.rql is None else asker.rql_plan(question.rql, ask)


def pack_of(question: Question) -> Pack:
    """How its hits are packed."""
    return Pack(budget_tokens=question.budget_tokens, diversity=question.diversity, counter=question.counter)


def with_settings(question: Question, values: Mapping[str, Value]) -> Question:
    """The question under other settings: an option of the query where it has one, else as --set takes them."""
    settings = dict(values)
    if question.rql is not None:
        query = parse_query(question.rql).query
        options = dict(query.options)
        said = [key for key in settings if key in options]
        options |= {key: _option(settings.pop(key)) for key in said}
        if said:
            question = question._replace(rql=print_query(query._replace(options=tuple(options.items()))))
    kept = [each for each in question.settings if each.partition("=")[0].strip() not in settings]
    return question._replace(settings=(*kept, *assignments(settings)))


def assignments(values: Mapping[str, Value]) -> tuple[str, ...]:
    """`key=value` for each setting, as --set takes them."""
    return tuple(f"{key}={_spelt(value)}" for key, value in values.items())


def counted(number: int, noun: str) -> str:
    """A count as sentences about a fix have it.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2000 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def decimal(number: float, *, digits: int = 6) -> str:
    """A number without an exponent, so that it can be read beside others.

    >>> decimal(1e-07), decimal(0.23284190004, digits=9), decimal(0.5)
    ('0.0000001', '0.2328419', '0.5')
    """
    return f"{Decimal(f'{number:.{digits}g}'):f}"


def with_limit(question: Question, limit: int, offset: int | None = None) -> Question:
    """The question for so many rows. offset: rows of a query to pass over, None to leave it as it is."""
    if question.rql is None:
        return question._replace(k=limit)
    query = parse_query(question.rql).query
    query = query._replace(limit=limit, offset=query.offset if offset is None else offset)
    return question._replace(rql=print_query(query), k=None)


def with_filter(question: Question, where: Expr | None) -> Question:
    """The question under another filter, or under none."""
    if question.rql is None:
        return question._replace(filter=None if where is None else print_filter(where))
    return question._replace(rql=print_query(parse_query(question.rql).query._replace(where=where)))


def with_word(question: Question, word: str) -> Question:
    """The question with one more word, in each text that it searches for."""
    if question.rql is None:
        return question._replace(words=f"{question.words} {word}")
    query = parse_query(question.rql).query
    using = tuple(each._replace(text=f"{each.text} {word}") for each in query.using)
    return question._replace(rql=print_query(query._replace(using=using)))


def command(question: Question) -> Hint:
    """What asks it."""
    is_list = question.budget_tokens is None
    if question.rql is None:
        how: Options = {"mode": question.mode, "k": question.k, "filter": question.filter, **_options(question)}
        return Hint("search" if is_list else "context", question.words, **how)
    text = _limited(question)
    return Hint("query", text, **_options(question)) if is_list else Hint("context", rql=text, **_options(question))


def _options(question: Question) -> Options:
    return {
        "budget_tokens": question.budget_tokens,
        "diversity": question.diversity,
        "counter": question.counter,
        "set": question.settings,
        "exact": question.exact or None,
    }


def _limited(question: Question) -> str:
    text = question.rql or ""
    return text if question.k is None else with_limit(question, question.k).rql or ""


def _option(value: Value) -> Value:
    return False if value == "" and isinstance(value, str) else value


def _spelt(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
