"""A parsed query: words or RQL with every default filled in."""

from collections.abc import Mapping
from typing import Any

from recall_core import embed, rql
from recall_core.config import KEYS, NAMES, SEARCH_K, Config, GivenSettings, override, replace
from recall_core.errors import ConfigError, EmbedError, UsageError, expect_choice
from recall_core.named import NamedTuple
from recall_core.rql.ast import And, Expr, Not, OrderKey, Query, Words
from recall_core.shell import AGAIN, Hint, flag
from recall_core.text import is_storable
from recall_core.types import Table
from recall_core.words.typed import TypedQuestion, take_apart

MODES = ("hybrid", "lexical", "semantic")
"""Combinations of signals for a search by words."""

_MODE_NAMES = {"bm25": "lexical", "vector": "semantic"}
"""Other names of the modes, as flags and diagrams use them."""


LONGEST_QUESTION = 20_000
"""Maximum characters of a query's words. Each term costs an index lookup and a line of the answer."""


class Plan(NamedTuple):
    """Everything that decides an answer, except the store."""

    text: str
    """As typed: words or RQL."""
    rql: str | None
    table: Table
    select: tuple[str, ...] | None
    """Fields to return; None for all."""
    lexical: str | None
    lexical_raw: bool
    """The lexical text is in FTS5's own syntax."""
    semantic: str | None
    where: Expr | None
    filters: str | None
    """The filter in its canonical spelling."""
    order: tuple[OrderKey, ...]
    limit: int
    offset: int
    is_capped: bool
    """True if the limit was given; a context ignores a default limit."""
    exact: bool
    config: Config
    warnings: tuple[str, ...] = ()
    query: Query | None = None
    """The parsed RQL, so that its text is parsed once."""
    typed: TypedQuestion | None = None
    """Words with syntax, taken apart; see `words.typed`. Their exclusions are part of the filter."""

    @property
    def mode(self) -> str:
        """The signals of the plan: hybrid, lexical, semantic, or filter if there are none."""
        match (self.lexical is not None, self.semantic is not None):
            case (True, True):
                return "hybrid"
            case (True, False):
                return "lexical"
            case (False, True):
                return "semantic"
        return "filter"

    @property
    def collapses(self) -> bool:
        """True if a text that appears in several rows is shown once."""
        return self.config.collapse and self.table == "chunk"


def mode_named(name: str) -> str:
    """Return the mode of this name; `bm25` and `vector` are names too. Raises UsageError `bad_value`."""
    expect_choice("mode", name, (*MODES, *_MODE_NAMES))
    return _MODE_NAMES.get(name, name)


def with_copies(plan: Plan) -> Plan:
    """Return the plan for a list in which every copy of a text has its own row."""
    return plan._replace(config=plan.config._replace(collapse=False))


def plan_words(
    words: str,
    *,
    config: Config,
    mode: str,
    filter_text: str | None,
    k: int | None,
    exact: bool,
    is_typed: bool = False,
) -> Plan:
    """Return the plan of a search for words. Raises UsageError `bad_value`, RqlError.

    mode: see `mode_named`.
    is_typed: the words may have syntax, see `words.typed`.
    """
    mode = mode_named(mode)
    if not is_storable(words):
        raise UsageError("bad_value", f"The words {words!r} are not valid UTF-8.", hint=Hint("", help=True))
    _expect_length(words)
    _expect_count(k)
    where, filters = None, None
    warnings: tuple[str, ...] = ()
    if filter_text is not None:
        where, warnings = rql.parser.parse_filter_with_warnings(filter_text)
        filters = rql.print.print_filter(where)
    typed = take_apart(words) if is_typed else None
    if typed is not None and typed.excluded:
        terms = where.terms if isinstance(where, And) else () if where is None else (where,)
        excluded = (Not(Words(word)) for word in typed.excluded)
        terms = (*terms, *(each for each in excluded if each not in terms))
        where = And(terms) if len(terms) > 1 else terms[0]
        filters = rql.print.print_filter(where)
    return Plan(
        text=words,
        rql=None,
        table="chunk",
        select=None,
        lexical=None if mode == "semantic" else words,
        lexical_raw=False,
        semantic=None if mode == "lexical" else words if typed is None else typed.meaning,
        where=where,
        filters=filters,
        order=(),
        limit=SEARCH_K if k is None else k,
        offset=0,
        is_capped=k is not None,
        exact=exact,
        config=config,
        warnings=warnings,
        typed=typed,
    )


def plan_rql(text: str, *, config: Config, exact: bool, settings: GivenSettings = ()) -> Plan:
    """Return the plan of an RQL query. Raises RqlError with the place of the first mistake.

    settings: live ones, see `override`. A query's rows are reordered only if the query or these settings say so:
    sparse_recall, rerank and collapse are off even if the config sets them.
    """
    query, warnings = rql.parser.parse_query(text, strict=override(config, settings).strict)
    return plan_query(query, text, config=config, exact=exact, settings=settings)._replace(warnings=warnings)


def plan_query(query: Query, text: str, *, config: Config, exact: bool, settings: GivenSettings = ()) -> Plan:
    """Return the plan of a parsed query. text: its text. Raises RqlError for a wrong option."""
    options = dict(query.options)
    exact = bool(options.pop("exact", False)) or exact
    options = {name: "" if name == "rerank" and value is False else value for name, value in options.items()}
    plain = override(config._replace(sparse_recall=False, rerank="", collapse=False), settings)
    config = _with_options(plain, options, text)
    if config.sparse_recall:
        _check_sparse(query)
    if config.collapse and query.table == "doc":
        raise UsageError(
            "collapse_of_documents",
            "collapse works on chunks, but the rows here are documents.",
            hint="OPTION collapse OFF",
        )
    signals = {using.function: using.text for using in query.using}
    for words in signals.values():
        _expect_length(words)
    return Plan(
        text=text,
        rql=text,
        table=query.table,
        select=None if query.select is None else rql.fields.select_names(query),
        lexical=signals.get("lexical", signals.get("lexical_fts")),
        lexical_raw="lexical_fts" in signals,
        semantic=signals.get("semantic"),
        where=query.where,
        filters=None if query.where is None else rql.print.print_filter(query.where),
        order=query.keys,
        limit=config.max_limit if query.limit is None else query.limit,
        offset=query.offset,
        is_capped=query.limit is not None,
        exact=exact,
        config=config,
        query=query,
    )


def replan(plan: Plan, *, config: Config, settings: GivenSettings = (), k: int | None = None) -> Plan:
    """Return the plan of the same query with other settings and another k, without parsing its text again.

    Only `strict` can change the result of parsing: it turns warnings into errors.
    """
    if plan.query is None:
        _expect_count(k)
        limit = SEARCH_K if k is None else k
        return plan._replace(config=override(config, settings), limit=limit, is_capped=k is not None)
    if plan.warnings and override(config, settings).strict:
        again = plan_rql(plan.text, config=config, exact=plan.exact, settings=settings)
    else:
        again = plan_query(plan.query, plan.text, config=config, exact=plan.exact, settings=settings)
        again = again._replace(warnings=plan.warnings)
    return again if k is None else again._replace(limit=k, is_capped=True)


def _expect_length(words: str) -> None:
    if len(words) > LONGEST_QUESTION:
        message = f"The question has {len(words):,} characters; {LONGEST_QUESTION:,} are allowed."
        raise UsageError("query_too_long", message, hint="shorten it, or ask about one part at a time")


def _expect_count(k: int | None) -> None:
    if k is not None and k < 0:
        raise UsageError("bad_value", f"{flag('k')} must be at least 0, not {k}.", hint=Hint(AGAIN, k=10))


def _with_options(config: Config, options: Mapping[str, Any], text: str) -> Config:
    weights = [name for name in options if name in (*NAMES, *KEYS)]
    try:
        config = replace(config, options, where="OPTION")
    except ConfigError as error:
        if not weights:
            raise
        raise rql.options.at_option(text, weights[-1], error) from error
    if options.get("rerank"):
        try:
            embed.rescore.check_reranker(config.rerank)
        except EmbedError as error:
            raise rql.options.at_option(text, "rerank", error) from error
    return config


def _check_sparse(query: Query) -> None:
    if query.offset:
        raise UsageError(
            "sparse_with_offset",
            "sparse_recall replaces the last row of the first page, so it cannot be used with OFFSET.",
            hint="OPTION sparse_recall OFF",
        )
    if query.keys:
        raise UsageError(
            "sparse_with_order",
            "sparse_recall replaces the last row, so the rows must be ordered by score.",
            hint="OPTION sparse_recall OFF",
        )
