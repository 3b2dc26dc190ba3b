from __future__ import annotations

from recall_core.rql.parser import is_query


def test_query_begins_with_select() -> None:
    for text, expected in [
        ("SELECT * FROM chunk", True),
        ("select* from doc", True),
        ("  \n\tSelect", True),
        ("-- what is late\n-- and why\nSELECT doc.path FROM doc", True),
        ("selected works", False),
        ("select-all shortcut", False),
        ("how to SELECT", False),
        ("-- only a comment", False),
        ("-- SELECT * FROM chunk", False),
        ("", False),
        (" " * 100_000 + "x", False),
    ]:
        assert is_query(text) is expected, text
