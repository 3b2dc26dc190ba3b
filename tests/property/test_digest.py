"""The digest that a store maintains as documents come and go equals the digest of its content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest, store_digest
from recall_core.store.port import Store
from recall_core.text import document_id, utc
from tests.builders import EMBEDDER, MTIME_NS, memory_store, new_file, put
from tests.examples import examples

PATHS = st.sampled_from(["a.txt", "b/c.md", "d é.txt"])
FILES = st.builds(
    new_file,
    PATHS,
    st.lists(st.sampled_from(["one word ", "two\n", "色 "]), max_size=3),
    title=st.sampled_from(["", "A title"]),
    tags=st.lists(st.sampled_from(["x", "y", "ü"]), unique=True),
    source=st.sampled_from([None, "", "s"]),
    meta=st.dictionaries(st.sampled_from(["k", "é"]), st.none() | st.integers(-2, 2) | st.floats(-1, 1)),
    mtime_ns=st.sampled_from([MTIME_NS, MTIME_NS + 1_000_000]),
)
STEPS = st.lists(FILES | PATHS, max_size=8)


def by_the_rule(store: Store) -> str:
    """Return the digest of the content, computed from the data of an export."""
    states = [
        DocumentState(
            document_id(document.path, document.hash),
            document.source,
            utc(file.mtime_ns),
            canonical(document.meta),
            document.title,
            [(chunk.span.offset, chunk.span.end, chunk.span.tokens) for chunk in document.chunks],
            document.tags,
        )
        for file in store.live_files()
        for document in file.documents
    ]
    return store_digest(store.embedder(), digest_sum(map(document_digest, states)))


@examples(25)
@given(steps=STEPS)
def test_digest_depends_only_on_present_documents(steps: list[object]) -> None:
    store = memory_store()
    for step in steps:
        if isinstance(step, str):
            with store.writer() as writer:
                writer.tombstone([step])
        else:
            put(store, step)
        assert store.info().digest == by_the_rule(store)
    with store.writer() as writer:
        for path in ("a.txt", "b/c.md"):
            writer.relabel(path, tags=("new",), source="other", meta={"k": 3})
            writer.refresh(path, size=1, mtime_ns=MTIME_NS + 5_000)
    assert store.info().digest == by_the_rule(store)


def test_digest_covers_the_embedder_identity() -> None:
    assert store_digest(EMBEDDER.identity, digest_sum(())) == memory_store().info().digest
    assert store_digest("another", digest_sum(())) != memory_store().info().digest


def test_removal_reverses_what_addition_contributed() -> None:
    one, other = "f" * 64, "ab" * 32
    assert digest_sum([other], gone=[one], before=digest_sum([one])) == digest_sum([other])
