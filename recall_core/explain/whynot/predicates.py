"""The filter's say on one row: which predicates fail, on what values, and the fewest to drop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from recall_core.deadline import check
from recall_core.rql.ast import And, Expr, Not, Or
from recall_core.rql.fields import FieldValue, value_of
from recall_core.rql.match import match
from recall_core.rql.print import print_filter
from recall_core.types import Row

_ALTERNATIVES = 5


class Failing(NamedTuple):
    """A predicate, with the NOT that stands over it, that the row fails, and the row's value."""

    text: str
    value: FieldValue


def failing(where: Expr, row: Row) -> tuple[Failing, ...]:
    """Return every predicate that the row fails in a part of the filter that fails, in reading order, each once."""
    found: dict[str, Failing] = {}
    for literal in _false_literals(_push_nots(where, negated=False), row):
        text, predicate = print_filter(literal), literal.operand if isinstance(literal, Not) else literal
        assert not isinstance(predicate, Not | And | Or)  # noqa: S101 - NOT has been pushed down
        found[text] = Failing(text, value_of(predicate.field, row.doc, row.chunk))
    return tuple(found.values())


def drops(where: Expr, row: Row) -> tuple[tuple[str, ...], ...]:
    """Return the fewest predicates whose dropping lets the row through, as `failing` spells them; several when tied.

    An AND needs all of its failing terms dropped, an OR those of its cheapest branch; NOT is pushed down first. A
    dropped predicate holds for every row. At most 5 sets, in reading order; () when the row passes.
    """
    if match(where, row):
        return ()
    return tuple(tuple(each) for each in _cheapest(_push_nots(where, negated=False), row))


def describe_dropped(parts: Iterable[Expr]) -> str:
    """Return what leaving these parts out is called: predicates are dropped, without a whole OR is asked."""
    parts = tuple(parts)
    if not any(isinstance(_inner(each), And | Or) for each in parts):
        return f"drop {' and '.join(map(print_filter, parts))}"
    told = [f"({print_filter(each)})" if isinstance(each, And | Or) else print_filter(each) for each in parts]
    return f"ask without {' and without '.join(told)}"


def _inner(expr: Expr) -> Expr:
    """Return the part under every NOT."""
    return _inner(expr.operand) if isinstance(expr, Not) else expr


def given_up(expr: Expr, dropped: Collection[str]) -> Iterator[Expr]:
    """Yield the parts of a filter that `without` leaves out, in reading order; an OR as a whole."""
    if isinstance(expr, Not) and isinstance(expr.operand, And | Or | Not):
        pushed = _push_nots(expr, negated=False)
        left = without(pushed, dropped)
        if left is None:
            yield expr
        elif left != pushed:
            yield from given_up(pushed, dropped)
    elif isinstance(expr, Or) and without(expr, dropped) is None:
        yield expr
    elif isinstance(expr, And | Or):
        for term in expr.terms:
            yield from given_up(term, dropped)
    elif print_filter(expr) in dropped:
        yield expr


def without(expr: Expr, dropped: Collection[str]) -> Expr | None:
    """Return the filter without these predicates (as `failing` spells them); None when nothing of it is left.

    A part in which nothing is dropped stays as it was written.
    """
    if isinstance(expr, Not) and not isinstance(expr.operand, And | Or | Not):
        return None if print_filter(expr) in dropped else expr
    if isinstance(expr, Not):
        pushed = _push_nots(expr, negated=False)
        kept = without(pushed, dropped)
        return expr if kept == pushed else kept
    if isinstance(expr, And | Or):
        terms = [without(term, dropped) for term in expr.terms]
        kept_terms = tuple(term for term in terms if term is not None)
        if isinstance(expr, Or) and len(kept_terms) < len(terms):
            return None
        if len(kept_terms) > 1:
            return And(kept_terms) if isinstance(expr, And) else Or(kept_terms)
        return kept_terms[0] if kept_terms else None
    return None if print_filter(expr) in dropped else expr


def _push_nots(expr: Expr, *, negated: bool) -> Expr:
    """Return the same meaning with every NOT on a predicate."""
    if isinstance(expr, Not):
        return _push_nots(expr.operand, negated=not negated)
    if isinstance(expr, And | Or):
        terms = tuple(_push_nots(term, negated=negated) for term in expr.terms)
        return And(terms) if isinstance(expr, And) != negated else Or(terms)
    return Not(expr) if negated else expr


def _false_literals(expr: Expr, row: Row) -> list[Expr]:
    if match(expr, row):
        return []
    if isinstance(expr, And | Or):
        return [literal for term in expr.terms for literal in _false_literals(term, row)]
    return [expr]


def _cheapest(expr: Expr, row: Row) -> list[dict[str, None]]:
    """Return the smallest sets of predicates (as keys, to keep their order) without which the row passes."""
    check()
    if match(expr, row):
        return [{}]
    if isinstance(expr, Or):
        branches = [found for term in expr.terms for found in _cheapest(term, row)]
        return _smallest(branches)
    if isinstance(expr, And):
        together: list[dict[str, None]] = [{}]
        for term in expr.terms:
            together = _smallest([one | other for one in together for other in _cheapest(term, row)])
        return together
    return [{print_filter(expr): None}]


def _smallest(sets: list[dict[str, None]]) -> list[dict[str, None]]:
    least = min(map(len, sets))
    distinct = {frozenset(each): each for each in sets if len(each) == least}
    return list(distinct.values())[:_ALTERNATIVES]
