"""Filters on metadata, with one meaning in Python and as RQL.

A value is a text, a number, or true or false. Null, a list, an object and an absent key all count as no value. Values
of two kinds are never equal and have no order: "1", 1 and True differ. 1 and 1.0 are equal. Text compares by code
point. A key is one name: "a.b" is not the b of an object a.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from sys import float_info
from typing import Any as Json
from typing import cast

from recall_core.errors import UsageError
from recall_core.rql import ast
from recall_core.rql.fields import FieldValue, check_meta, meta_equals, scalar
from recall_core.rql.filters import MAX_DEPTH
from recall_core.rql.print import print_filter
from recall_core.types import MetaValue

Test = Callable[[Mapping[str, object]], bool]

_NEVER = ast.IsNull(ast.Field("doc", "path"))
_ALWAYS = ast.Compare(ast.Field("doc", "path"), ">=", "")


class MetadataFilter:
    """A condition on metadata: Eq, In, Range, All, Any or Not.

    The constructors raise UsageError `bad_filter` for keys and values that metadata cannot have, `rql_too_large` for
    more than 64 levels of All, Any and Not, where Not counts twice. An empty key is not a key.
    """

    def test(self) -> Test:
        """Return a function that returns True for metadata that passes."""
        match self:
            case Eq(key, value):
                return In(key, (value,)).test()
            case In(key, values):
                wanted = {_with_kind(each) for each in values}
                texts = {each for each in values if isinstance(each, str)}  # most filters are on text

                def is_one(metadata: Mapping[str, object]) -> bool:
                    value = metadata.get(key)
                    return value in texts if isinstance(value, str) else _with_kind(value) in wanted

                return is_one
            case Range(key, low, high):
                least, most = scalar(low), scalar(high)
                return lambda metadata: _is_within(scalar(metadata.get(key)), least, most)
            case All(filters):
                tests = [each.test() for each in filters]
                return lambda metadata: all(test(metadata) for test in tests)
            case Any(filters):
                tests = [each.test() for each in filters]
                return lambda metadata: any(test(metadata) for test in tests)
            case Not(inner):
                passes = inner.test()
                return lambda metadata: not passes(metadata)
        raise NotImplementedError

    def to_rql(self) -> str:
        """Return the filter as RQL, for FILTER and every argument `filter` of Recall."""
        return print_filter(self.expression())

    def expression(self) -> ast.Expr:
        """Return the filter as a tree of RQL."""
        match self:
            case Eq(key, value):
                return meta_equals(key, value)
            case In(key, values):
                field = ast.Field("doc", "meta", key)
                present = [value for value in map(_literal, values) if value is not None]
                terms: list[ast.Expr] = [ast.In(field, tuple(present))] if present else []
                return _join(ast.Or, [*terms, ast.IsNull(field)] if None in values else terms)
            case Range(key, low, high):
                return _range(ast.Field("doc", "meta", key), _literal(low), _literal(high))
            case All(filters):
                return _join(ast.And, [each.expression() for each in filters])
            case Any(filters):
                return _join(ast.Or, [each.expression() for each in filters])
            case Not(inner):
                return ast.Not(inner.expression())
        raise NotImplementedError

    def to_json(self) -> dict[str, Json]:
        """Return the filter as JSON values, such as {"Eq": ["lang", "de"]} or {"All": [...]}."""
        match self:
            case Eq(key, value):
                return {"Eq": [key, value]}
            case In(key, values):
                return {"In": [key, list(values)]}
            case Range(key, low, high):
                return {"Range": {"key": key, "min": low, "max": high}}
            case All(filters) | Any(filters):
                return {type(self).__name__: [each.to_json() for each in filters]}
            case Not(inner):
                return {"Not": inner.to_json()}
        raise NotImplementedError

    @staticmethod
    def from_json(value: object, levels: int = MAX_DEPTH) -> MetadataFilter:
        """Return the filter of these JSON values. levels: most levels of All, Any and Not.

        Raises UsageError as the constructors do.
        """
        match value:
            case {"Eq": [key, wanted]}:
                return Eq(key, wanted)
            case {"In": [key, [*values]]}:
                return In(key, tuple(values))
            case {"Range": {"key": key, "min": low, "max": high}}:
                return Range(key, low, high)
            case {"All": [*filters]} if levels:
                return All(tuple(MetadataFilter.from_json(each, levels - 1) for each in filters))
            case {"Any": [*filters]} if levels:
                return Any(tuple(MetadataFilter.from_json(each, levels - 1) for each in filters))
            case {"Not": inner} if levels:
                return Not(MetadataFilter.from_json(inner, levels - 1))
        raise _too_deep() if levels == 0 else _bad_filter("This is not a filter")


@dataclass(frozen=True)
class Eq(MetadataFilter):
    """The key has this value, or no value if it is None."""

    key: str
    value: MetaValue

    def __post_init__(self) -> None:
        check_meta(self.key, self.value)


@dataclass(frozen=True)
class In(MetadataFilter):
    """The key has one of these values. Without values, nothing passes."""

    key: str
    values: tuple[MetaValue, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        check_meta(self.key, *self.values)


@dataclass(frozen=True)
class Range(MetadataFilter):
    """The key has a text or number from min to max, both included. Without bounds, any text or number passes."""

    key: str
    min: str | int | float | None = None
    max: str | int | float | None = None

    def __post_init__(self) -> None:
        check_meta(self.key, self.min, self.max)
        if isinstance(self.min, bool) or isinstance(self.max, bool):
            raise _bad_filter("True and False have no order")


@dataclass(frozen=True)
class All(MetadataFilter):
    """Every filter passes. Without filters, everything passes."""

    filters: tuple[MetadataFilter, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", _checked_filters(self.filters))


@dataclass(frozen=True)
class Any(MetadataFilter):
    """At least one filter passes. Without filters, nothing passes."""

    filters: tuple[MetadataFilter, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", _checked_filters(self.filters))


@dataclass(frozen=True)
class Not(MetadataFilter):
    """The filter does not pass. A key without a value passes the Not of every comparison but Eq(key, None)."""

    filter: MetadataFilter

    def __post_init__(self) -> None:
        _checked_filters((self.filter,), levels=2)  # in RQL, NOT and a bracket


def _checked_filters(filters: Iterable[MetadataFilter], levels: int = 1) -> tuple[MetadataFilter, ...]:
    """Return the filters of a group after checking that they are filters, and not too deep. levels: the group's."""
    checked = tuple(filters)
    if not all(isinstance(each, MetadataFilter) for each in checked):
        raise _bad_filter("All, Any and Not take filters")
    inside = [(each, levels) for each in checked]
    while inside:
        each, above = inside.pop()
        if isinstance(each, All | Any | Not):
            below = above + (2 if isinstance(each, Not) else 1)
            if below > MAX_DEPTH:
                raise _too_deep()
            inside += [(inner, below) for inner in ((each.filter,) if isinstance(each, Not) else each.filters)]
    return checked


def _with_kind(value: object) -> tuple[bool, FieldValue]:
    """Return the value so that true and 1 differ."""
    return isinstance(value, bool), scalar(value)


def _literal(value: MetaValue) -> ast.Value | None:
    """Return the value as RQL can spell it."""
    return cast("ast.Value | None", scalar(value))


def _is_within(value: Json, least: Json, most: Json) -> bool:
    if value is None or isinstance(value, bool):
        return False
    is_text = isinstance(value, str)
    return (least is None or (isinstance(least, str) == is_text and value >= least)) and (
        most is None or (isinstance(most, str) == is_text and value <= most)
    )


def _range(field: ast.Field, least: ast.Value | None, most: ast.Value | None) -> ast.Expr:
    """Return a range without NOT, so that a filter is never deeper as RQL than it is here."""
    if least is None and most is None:
        return ast.Or((ast.Compare(field, ">=", ""), ast.Compare(field, ">=", -float_info.max)))
    if least is None:
        return ast.Compare(field, "<=", cast("ast.Value", most))
    if most is None:
        return ast.Compare(field, ">=", least)
    return ast.Between(field, least, most) if isinstance(least, str) == isinstance(most, str) else _NEVER


def _join(kind: type[ast.And] | type[ast.Or], terms: list[ast.Expr]) -> ast.Expr:
    if not terms:
        return _ALWAYS if kind is ast.And else _NEVER
    return terms[0] if len(terms) == 1 else kind(tuple(terms))


def _bad_filter(reason: str) -> UsageError:
    return UsageError("bad_filter", f"{reason}.", hint='{"Eq": ["key", "value"]}, or In, Range, All, Any, Not')


def _too_deep() -> UsageError:
    message = f"A filter has more than {MAX_DEPTH} levels of All, Any and Not."
    return UsageError("rql_too_large", message, hint="put nested All into one All, and nested Any into one Any")
