"""A list of documents equals a scan of every path, for any prefix, glob and page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.rql.patterns import glob_match
from recall_core.text import nfc
from tests.builders import memory_store, new_file, put

LETTERS = "ab/.%_*?[]{},!\\'\"\0-#\u00e9e\u0301\ud7ff\ue000\uffff\U0010ffff"
PATHS = sorted(
    {
        *(
            "a",
            "a.md",
            "a/b",
            "a/b.md",
            "a/b/a.md",
            "ab/a",
            "a-b",
            "b/a/%",
            "b/_",
            "b/*",
            "b/[ab]",
            "b/{a,b}",
            "b/\\",
            "B/a",
        ),
        *("\u00e9/a", "e/a", "\u00e9", "/a/b", "/b", "a#1", "a#10", "a#2", "\ud7ff", "\ud7ff/a", "\ue000", "\uffff"),
        *("\U0010ffff", "\U0010ffff\U0010ffff", "a\U0010ffff", "a\U0010ffff/b", "b'", 'b"', "b--", ".a/b", "%", "_"),
    }
)
names = st.text(LETTERS, max_size=4) | st.sampled_from(PATHS).flatmap(
    lambda path: st.integers(0, len(path)).map(lambda end: path[:end])
)
globs = (
    st.none()
    | st.text(LETTERS, max_size=6)
    | st.sampled_from(("**", "*", "**/*", "a/**", "**/a*", "[!a]*/*", "{a,b}/*"))
)
counts = st.integers(0, len(PATHS) + 2)


@pytest.fixture(scope="module")
def recall() -> Iterator[Recall]:
    store = memory_store()
    put(store, *(new_file(path, ["words"] * (1 + n % 3)) for n, path in enumerate(["gone.md", *PATHS])))
    with store.writer() as writer:
        writer.tombstone(["gone.md"])
    with Recall(Engine(store, config=Config(), base=Path())) as opened:
        yield opened


def naive(prefix: str, glob: str | None) -> list[str]:
    """Return the list by a scan of every path."""
    prefix = nfc(prefix)
    if prefix and not prefix.endswith("/") and any(path.startswith(f"{prefix}/") for path in PATHS):
        prefix += "/"
    return [p for p in PATHS if p.startswith(prefix) and (glob is None or glob_match(nfc(glob), p))]


@given(prefix=names, glob=globs, limit=st.none() | counts, offset=counts)
def test_list_matches_a_scan_of_every_path(
    recall: Recall, prefix: str, glob: str | None, limit: int | None, offset: int
) -> None:
    expected = naive(prefix, glob)
    page = expected[offset:] if limit is None else expected[offset : offset + limit]

    answer = recall.list(prefix, glob=glob, limit=limit, offset=offset)

    assert [view["path"] for view in answer["documents"]] == page
    assert answer["total"] == len(expected)
    assert answer.get("next_offset") == (offset + len(page) if page and offset + len(page) < len(expected) else None)


@given(prefix=names, glob=globs, limit=st.integers(1, 9))
def test_every_document_is_on_one_page(recall: Recall, prefix: str, glob: str | None, limit: int) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = recall.list(prefix, glob=glob, limit=limit, offset=offset)
        seen += [view["path"] for view in answer["documents"]]
        offset = answer.get("next_offset")

    assert seen == naive(prefix, glob)
