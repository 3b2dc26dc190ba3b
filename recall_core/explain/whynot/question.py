"""The question that is being explained: as it was put, with something changed, and as a command to type."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from recall_core.config import KEYS, Settings, assignments, settings_of
from recall_core.retrieve.asking import Ask, Asker, Pack
from recall_core.retrieve.plan import Plan, plan_query
from recall_core.rql.ast import Expr, Query, Value
from recall_core.rql.parser import parse_query
from recall_core.rql.print import print_filter, print_query
from recall_core.shell import Hint, Options, flag


class Question(NamedTuple):
    """Words or RQL with everything that decides the answer. budget_tokens: None for a list, else for a context."""

    words: str
    rql: str | None = None
    mode: str = "hybrid"
    filter: str | None = None
    k: int | None = None
    settings: Settings | tuple[str, ...] = ()
    """As they were put."""
    changes: Settings = MappingProxyType({})
    """What is set otherwise than as it was put."""
    exact: bool = False
    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    query: Query | None = None
    """The tree of the RQL, once it was read."""
    where: Expr | None = None
    """The tree of the filter of words, once it was read."""


def planned(question: Question, asker: Asker) -> Plan:
    """The plan that a search, a query or a context makes of it."""
    if question.rql is not None and question.query is not None:
        exact, settings = question.exact, settings_in(question)
        plan = plan_query(question.query, question.rql, config=asker.config, exact=exact, settings=settings)
        return plan if question.k is None else plan._replace(limit=question.k, is_capped=True)
    where, ask = question.where, _ask(question)
    if question.rql is not None:
        return asker.rql_plan(question.rql, ask)
    if where is None:
        return asker.words_plan(question.words, ask)
    plan = asker.words_plan(question.words, ask._replace(filter=None))
    return plan._replace(where=where, filters=print_filter(where))


def _ask(question: Question) -> Ask:
    return Ask(question.k, question.mode, question.filter, settings_in(question), exact=question.exact)


def pack_of(question: Question) -> Pack:
    """How its hits are packed."""
    return Pack(budget_tokens=question.budget_tokens, diversity=question.diversity, counter=question.counter)


def understood(question: Question, plan: Plan) -> Question:
    """The question with the trees of its texts, which its plan has read."""
    return question._replace(query=plan.query, where=plan.where if question.rql is None else None)


def settings_in(question: Question) -> Settings | tuple[str, ...]:
    """The settings under which it is asked."""
    if not question.changes:
        return question.settings
    return {**settings_of(question.settings, where=flag("set")), **question.changes}


def tree(question: Question, rql: str) -> Query:
    """The tree of its query."""
    return parse_query(rql).query if question.query is None else question.query


def with_query(question: Question, query: Query) -> Question:
    """The question as another query."""
    return question._replace(rql=print_query(query), query=query)


def with_settings(question: Question, values: Settings) -> Question:
    """The question under other settings: an option of the query where it has one, else as --set takes them."""
    settings = dict(values)
    if question.rql is not None:
        query = tree(question, question.rql)
        options = dict(query.options)
        said = {name: key for name in options if (key := KEYS.get(name, name)) in settings}
        options |= {name: _option(settings.pop(key)) for name, key in said.items()}
        if said:
            question = with_query(question, query._replace(options=tuple(options.items())))
    kept = {key: value for key, value in question.changes.items() if key not in settings}
    return question._replace(changes={**kept, **settings})


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
    query = tree(question, question.rql)
    offset = query.offset if offset is None else offset
    return with_query(question, query._replace(limit=limit, offset=offset))._replace(k=None)


def with_filter(question: Question, where: Expr | None) -> Question:
    """The question under another filter, or under none."""
    if question.rql is not None:
        return with_query(question, tree(question, question.rql)._replace(where=where))
    return question._replace(filter=None if where is None else print_filter(where), where=where)


def with_word(question: Question, word: str) -> Question:
    """The question with one more word, in each text that it searches for."""
    if question.rql is None:
        return question._replace(words=f"{question.words} {word}")
    query = tree(question, question.rql)
    using = tuple(each._replace(text=f"{each.text} {word}") for each in query.using)
    return with_query(question, query._replace(using=using))


def with_spelling(question: Question, written: Callable[[str], str]) -> Question:
    """The question with each text that it searches for as it is written otherwise."""
    if question.rql is None:
        return question._replace(words=written(question.words))
    query = tree(question, question.rql)
    using = tuple(each._replace(text=written(each.text)) for each in query.using)
    return with_query(question, query._replace(using=using))


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
        "set": _assignments(question),
        "exact": question.exact or None,
    }


def _assignments(question: Question) -> tuple[str, ...]:
    """The settings as --set takes them: those that were put, as they were typed, and last what is changed."""
    put = (each for each in assignments(question.settings) if each.partition("=")[0].strip() not in question.changes)
    return (*put, *assignments(question.changes))


def _limited(question: Question) -> str:
    text = question.rql or ""
    return text if question.k is None else with_limit(question, question.k).rql or ""


def _option(value: Value) -> Value:
    return False if value == "" and isinstance(value, str) else value
