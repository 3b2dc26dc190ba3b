"""SQL in any position of a query is a value or a coded error, never a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.errors import RecallError
from recall_core.rql.print import print_value
from tests.builders import memory_store, new_file, put

MARK = "planted"
SQL = (
    "'; DROP TABLE planted; --",
    '"; DELETE FROM doc; -- planted',
    "x' OR 1=1 -- planted",
    "planted') OR 1 IN (SELECT rowid FROM doc",
    'planted"] OR 1=1 --',
    "$.planted') OR 1=1 --",
    "planted\\' UNION SELECT * FROM meta --",
    "planted'' OR ''='",
    "?1 planted",
    ":planted @planted $planted",
    "planted%' ESCAPE '\\",
    "planted*[^]'",
    'planted NEAR(" OR title:*',
    "{planted,';--}",
    "planted\n;DELETE FROM chunk",
)
# Positions of the payload: bare, quoted as one value, or raw between quotes.
BARE = (
    "SELECT {p} FROM chunk",
    "SELECT doc.meta.{p} FROM doc",
    "SELECT * FROM {p}",
    "SELECT * FROM chunk {p}",
    "SELECT * FROM chunk FILTER {p}",
    "SELECT * FROM chunk FILTER {p} = 1",
    "SELECT * FROM chunk FILTER doc.{p} = 'x'",
    "SELECT * FROM chunk FILTER doc.meta.{p} = 1",
    "SELECT * FROM chunk FILTER chunk.tokens {p} 1",
    "SELECT * FROM chunk FILTER chunk.tokens < {p}",
    "SELECT * FROM chunk FILTER doc.tag IN ({p})",
    "SELECT * FROM chunk USING {p}('x')",
    "SELECT * FROM chunk ORDER BY {p}",
    "SELECT * FROM chunk ORDER BY doc.meta.{p}",
    "SELECT * FROM chunk ORDER BY doc.path {p}",
    "SELECT * FROM chunk LIMIT {p}",
    "SELECT * FROM chunk LIMIT 1 OFFSET {p}",
    "SELECT * FROM chunk OPTION {p} 1",
    "SELECT * FROM chunk OPTION fusion {p}",
    "SELECT * FROM chunk -- {p}",
    "{p}",
)
QUOTED = (
    "SELECT doc.meta.{p} FROM doc",
    "SELECT * FROM chunk FILTER doc.meta.{p} = 'x'",
    "SELECT * FROM chunk FILTER doc.meta.{p} IS NULL",
    "SELECT * FROM doc FILTER doc.meta.{p} IN (1, 'a', TRUE)",
    "SELECT * FROM doc FILTER doc.meta.{p} BETWEEN 1 AND 2",
    "SELECT * FROM doc FILTER doc.meta.{p} LIKE {p}",
    "SELECT * FROM chunk FILTER doc.path = {p}",
    "SELECT * FROM chunk FILTER doc.path != {p}",
    "SELECT * FROM chunk FILTER doc.source < {p} OR doc.id BETWEEN {p} AND {p}",
    "SELECT * FROM doc FILTER chunk.text = {p}",
    "SELECT * FROM chunk FILTER doc.tag = {p}",
    "SELECT * FROM chunk FILTER doc.tags HAS ALL ({p}, 'x')",
    "SELECT * FROM chunk FILTER doc.tag IN ('a', {p})",
    "SELECT * FROM chunk FILTER doc.path LIKE {p}",
    "SELECT * FROM chunk FILTER chunk.text ILIKE {p}",
    "SELECT * FROM chunk FILTER doc.path NOT GLOB {p}",
    "SELECT * FROM chunk FILTER doc.mtime >= {p}",
    "SELECT * FROM chunk FILTER chunk.tokens = {p}",
    "SELECT * FROM chunk USING lexical({p})",
    "SELECT * FROM chunk USING lexical_fts({p})",
    "SELECT * FROM doc USING semantic({p}), lexical({p})",
    "SELECT * FROM doc ORDER BY doc.meta.{p} DESC",
    "SELECT * FROM chunk USING lexical('x') OPTION rerank {p}",
    "SELECT * FROM chunk OPTION fusion {p}",
    "SELECT * FROM chunk LIMIT {p}",
)


INTERNAL = ("internal_error", "store_failed", "store_corrupt", "io_error")


def refusal(ask: Callable[[], Any]) -> str | None:
    """Return the error code of a refused query."""
    try:
        ask()
    except RecallError as error:
        return error.code
    return None


class Guard:
    """A store with data to lose, and every statement that runs in it."""

    def __init__(self) -> None:
        self.store = memory_store()
        put(self.store, new_file("a.txt", ["retry text"], tags=["x"], meta={"k": 1}), new_file("b.txt", ["more"]))
        self.recall = Recall(Engine(self.store, config=Config(embedding_dim=64), base=Path("/nonexistent")))
        self.statements: list[str] = []
        self.before = self.everything()
        self.store.db.exec_trace = self.record

    def record(self, cursor: Any, sql: str, bindings: Any) -> bool:
        self.statements.append(sql)
        return True

    def everything(self) -> list[Any]:
        tables = ("sqlite_master", "meta", "doc", "doc_tag", "chunk", "chunk_fts", "vec", "file")
        return [self.store.db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]

    def check(self, rql: str) -> None:
        """Check that the query is answered or refused, nothing changed, and no statement contained its text."""
        self.statements.clear()
        for ask in (
            self.recall.query,
            self.recall.explain_rql,
            lambda text: self.recall.complete_rql(text, len(text)),
        ):
            assert refusal(partial(ask, rql)) not in INTERNAL, rql
        assert [sql for sql in self.statements if MARK in sql] == []
        assert not any(word in sql for sql in self.statements for word in ("DROP ", "DELETE ", "INSERT ", "UPDATE "))
        assert self.everything() == self.before


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    made = Guard()
    yield made
    made.store.db.exec_trace = None
    made.recall.close()


def test_bare_sql_is_refused_or_harmless(guard: Guard) -> None:
    for position in BARE:
        for payload in SQL:
            guard.check(position.replace("{p}", payload))


def test_sql_in_a_printed_value_is_bound(guard: Guard) -> None:
    for position in QUOTED:
        for payload in SQL:
            guard.check(position.replace("{p}", print_value(payload)))


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_sql_in_quotes_is_bound(guard: Guard, step: int) -> None:
    for position in QUOTED:
        for payload in SQL[::step]:
            guard.check(position.replace("{p}", f"'{payload}'"))
            guard.check(position.replace("{p}", f'"{payload}"'))


def test_sql_in_a_search_filter_is_bound(guard: Guard) -> None:
    for payload, where in product(SQL, ("doc.path = {p}", "doc.meta.{p} = {p}", "doc.tag = {p}", "{p}")):
        filters = [where.replace("{p}", text) for text in (print_value(payload), payload)]
        for text in filters:
            guard.statements.clear()
            asked = partial(guard.recall.search, payload, Ask(filter=text))
            assert refusal(asked) not in INTERNAL, text
            assert [sql for sql in guard.statements if MARK in sql] == []
            assert guard.everything() == guard.before


def test_guard_notices_injected_sql() -> None:
    guard = Guard()
    guard.store.execute("SELECT 'planted'")

    assert [sql for sql in guard.statements if MARK in sql] == ["SELECT 'planted'"]
    with guard.store.transaction():
        guard.store.execute("DELETE FROM doc_tag")
    assert guard.everything() != guard.before


@given(
    position=st.sampled_from(BARE + QUOTED),
    parts=st.lists(st.sampled_from(["planted", "'", '"', "\\", ";", "--", " OR 1=1", "\n", "(", ")", "?", "%", "é"])),
)
def test_sql_in_pieces_is_harmless(guard: Guard, position: str, parts: list[str]) -> None:
    guard.check(position.replace("{p}", "".join(parts)))
