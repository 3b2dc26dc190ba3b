"""A MetadataFilter passes the same rows in Python, as RQL in SQLite and in a plain loop."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any as Json

import apsw
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.interfaces import All, Any, Eq, In, MetadataFilter, Not, Range
from recall_core.rql.filters import parse_filter
from recall_core.store.sqlite.compile import compile_filter
from tests.examples import examples

ROWS = 20_000
KEYS = ("n", "lang", "a.b", 'it\'s "odd"', "\\", "[0]", "$", " ", "ключ", "SELECT", "n.n", "#-1", "𝒳\n")
LEAVES = (
    *(None, True, False, 0, 1, -1, 1.0, 0.5, -0.0, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**70, 1e300, 5e-324),
    *(
        "",
        "0",
        "1",
        "1.0",
        "true",
        "null",
        "a",
        "A",
        "é",
        "e\u0301",
        "z\U0001f600",
        "\ufffe",
        "a'b",
        'a"b',
        "%",
        "\\",
    ),
)
INNER: tuple[Json, ...] = ([], {}, [1], {"b": 1}, {"n": {"n": 1}}, [None])


@cache
def rows() -> tuple[list[dict[str, Json]], apsw.Connection]:
    """Return the metadata of every row, and a database with them."""
    chance = Random(48)
    metadata = [
        {key: chance.choice((*LEAVES, *INNER, number % 7)) for key in KEYS if chance.random() < 0.7}
        for number in range(ROWS)
    ]
    database = apsw.Connection(":memory:")
    database.execute("CREATE TABLE doc (path TEXT, meta TEXT)")
    database.executemany("INSERT INTO doc VALUES (?, ?)", ((str(n), json.dumps(m)) for n, m in enumerate(metadata)))
    return metadata, database


values = st.sampled_from(LEAVES) | st.integers(-3, 9) | st.floats(-2, 9)
bounds = values.filter(lambda value: not isinstance(value, bool))
keys = st.sampled_from((*KEYS, "absent"))
leaves: st.SearchStrategy[MetadataFilter] = (
    st.builds(Eq, keys, values)
    | st.builds(In, keys, st.lists(values, max_size=4).map(tuple))
    | st.builds(Range, keys, bounds, bounds)
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(All, st.lists(inner, max_size=4).map(tuple))
        | st.builds(Any, st.lists(inner, max_size=4).map(tuple))
        | st.builds(Not, inner)
    ),
    max_leaves=12,
)


def plain(one: MetadataFilter, row: dict[str, Json]) -> bool:
    """Return what the table of docs/interfaces.md says, with no code of ours."""
    if isinstance(one, All):
        return all(plain(each, row) for each in one.filters)
    if isinstance(one, Any):
        return any(plain(each, row) for each in one.filters)
    if isinstance(one, Not):
        return not plain(one.filter, row)
    value = row.get(one.key)
    kind = {bool: "truth", int: "number", float: "number", str: "text"}.get(type(value))
    value = value if kind else None
    if kind == "number" and abs(value) >= 2**63 and value != -(2**63):
        value = float(value)
    for wanted in [one.value] if isinstance(one, Eq) else one.values if isinstance(one, In) else ():
        same_kind = kind == {bool: "truth", int: "number", float: "number", str: "text"}.get(type(wanted))
        if same_kind and value == wanted:
            return True
    if not isinstance(one, Range) or kind not in ("number", "text"):
        return False
    fitting = [
        each is None or (isinstance(each, str) == (kind == "text") and (value >= each if is_min else value <= each))
        for each, is_min in ((one.min, True), (one.max, False))
    ]
    return all(fitting)


@examples(30)
@given(trees)
@example(Any(tuple(Eq(key, value) for key in KEYS for value in (1, True, "1", None))))
@example(Eq("n", True))
@example(Not(Any((Range("n"), Not(In("lang", (None, "a")))))))
@example(All((Range("n"), Range("lang", "", 1), In("absent", ()))))
def test_interface_rql_and_a_plain_loop_agree(one: MetadataFilter) -> None:
    metadata, database = rows()
    expression = one.expression()
    compiled = compile_filter(expression, table="doc")
    test = one.test()

    by_loop = [number for number, row in enumerate(metadata) if plain(one, row)]
    assert [number for number, row in enumerate(metadata) if test(row)] == by_loop
    by_sql = database.execute(f"SELECT d.rowid - 1 FROM doc d WHERE {compiled.sql} ORDER BY 1", compiled.params)
    assert [number for (number,) in by_sql] == by_loop
    assert parse_filter(one.to_rql()) == expression
    assert repr(MetadataFilter.from_json(json.loads(json.dumps(one.to_json())))) == repr(one)
