"""The schema keeps the rules of Citus. The suites run on Citus where RECALL_TEST_CITUS_DSN names a coordinator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.api.stores import store_kind, store_url
from recall_core.store.port import Store
from recall_core.testing import SearchConformance, WriteConformance
from recall_core.testing.corpus import EMBEDDER
from tests import postgres_server
from tests.postgres_server import collection

if not postgres_server.is_available():
    pytest.skip(postgres_server.MISSING, allow_module_level=True)

from recall_core.store.postgres.schema import DISTRIBUTED, REFERENCE

CITUS = "RECALL_TEST_CITUS_DSN"
HERE = "n.nspname = current_schema()"
UNIQUE = f"""
SELECT c.relname, i.indexrelid::regclass::text, (SELECT array_agg(a.attname::text) FROM pg_attribute a
  WHERE a.attrelid = c.oid AND a.attnum = ANY(i.indkey))
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indisunique AND {HERE}
"""
FOREIGN = f"""
SELECT c.relname, f.relname, (SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum = k.own),
  (SELECT attname::text FROM pg_attribute WHERE attrelid = f.oid AND attnum = k.other)
FROM pg_constraint o JOIN pg_class c ON c.oid = conrelid JOIN pg_class f ON f.oid = confrelid
JOIN pg_namespace n ON n.oid = c.relnamespace, unnest(conkey, confkey) WITH ORDINALITY AS k(own, other, at)
WHERE contype = 'f' AND k.at = 1 AND {HERE}
"""
COUNTER = f"""
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S' AND {HERE} UNION
SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND {HERE}
"""
TABLES = f"SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND {HERE}"


def create(url: str) -> Store:
    recorded = {"counter": "whitespace", "chunker": "boundary-1:9:0:99"}
    kind, where = store_url(url)
    return store_kind(kind).create(where, embedder=EMBEDDER.identity, dimension=EMBEDDER.dimension, **recorded)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server.running() as url:
        yield url


def broken_rules(store: Store) -> list[str]:
    """Return what Citus would refuse in this collection."""
    tables = {table for (table,) in store.execute(TABLES)}
    broken = [f"{table}: neither distributed nor copied" for table in tables ^ {*DISTRIBUTED, *REFERENCE}]
    broken += [
        f"{index}: without {DISTRIBUTED[table]}"
        for table, index, columns in store.execute(UNIQUE)
        if table in DISTRIBUTED and DISTRIBUTED[table] not in columns
    ]
    broken += [
        f"{own} to {other}: not on one node"
        for own, other, column, referenced in store.execute(FOREIGN)
        if (DISTRIBUTED.get(own), DISTRIBUTED.get(other)) != (column, referenced)
    ]
    return broken + [f"{name}: a sequence or a trigger" for (name,) in store.execute(COUNTER)]


def test_schema_keeps_the_rules_of_citus(server: str) -> None:
    store = create(url := collection(server, "Lint"))
    assert broken_rules(store) == []
    for sql in (
        "CREATE UNIQUE INDEX wrong ON chunk(number)",
        "ALTER TABLE document ADD wrong serial",
        "CREATE TABLE wrong(id text PRIMARY KEY)",
        "ALTER TABLE embedding ADD FOREIGN KEY(doc_id) REFERENCES file(path)",
        "CREATE TRIGGER wrong BEFORE UPDATE ON term EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ):
        store.execute("BEGIN")
        store.execute(sql)
        assert len(broken_rules(store)) == 1, sql
        store.execute("ROLLBACK")
    store.close()
    store_kind("postgresql").discard(store_url(url).where)


def test_init_without_citus_leaves_nothing(server: str, tmp_path: Path) -> None:
    if "RECALL_TEST_PG_DSN" in os.environ:
        pytest.skip("the server of RECALL_TEST_PG_DSN may have Citus")
    url = collection(server, "whole")
    for path, code in ((url, "citus_missing"), ("recall.db", "conflicting_flags")):
        with pytest.raises(RecallError) as raised:
            Recall.init(str(tmp_path / code), settings=(f"store_path={path}",), citus=True)
        assert raised.value.code == code
        assert [each.name for each in tmp_path.rglob("*.*")] == []
    create(url).close()
    store_kind("postgresql").discard(store_url(url).where)


if CITUS in os.environ:

    class TestCitus(SearchConformance, WriteConformance):
        """The promises of a collection on several nodes."""

        @pytest.fixture(autouse=True)
        def clear(self) -> Iterator[None]:
            self.made: list[Store] = []
            yield
            for store in self.made:
                store.close()
                store_kind("postgresql").discard(store_url(store.path).where)

        def new(self, **recorded: object) -> Store:
            where = store_url(collection(os.environ[CITUS], f"citus{len(self.made)}")).where
            self.made.append(store_kind("postgresql").create(where, **recorded))
            self.made[-1].distribute()
            return self.made[-1]

else:

    def test_citus_keeps_the_promises_of_a_collection() -> None:
        pytest.skip(f"needs {CITUS}")
