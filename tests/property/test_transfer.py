"""An export survives import unchanged, and no altered export is imported, for any store."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.embed.hash import HashEmbedder
from recall_core.errors import StoreError
from recall_core.maintain.transfer import export, import_
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.text import nfc
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Span
from tests.examples import examples

EMBEDDER = HashEmbedder(16)
letters = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
names = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | letters
metas = st.dictionaries(letters, st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=4))
roots = st.builds(
    Root,
    folder=names,
    globs=st.tuples(letters),
    parser=st.just("auto"),
    source=st.none() | letters,
    meta=st.lists(st.tuples(letters, letters), max_size=2).map(tuple),
    hidden=st.booleans(),
    follow=st.booleans(),
)


@st.composite
def documents(draw: st.DrawFn, path: str) -> NewDocument:
    texts = draw(st.lists(letters.filter(bool), max_size=3))
    is_title = bool("".join(texts).strip()) and draw(st.booleans())
    chunks, offset = [], 0
    for text in texts:
        span = Span(offset, offset + len(text), len(text.split()), draw(st.none() | letters))
        digest = sha256(text.encode()).digest()
        chunks.append(NewChunk(span, 1, 1, text, digest, EMBEDDER.embed([text])[0], is_title=is_title))
        offset = span.end
    return NewDocument(
        path,
        draw(st.text("0123456789abcdef", min_size=64, max_size=64)),
        "".join(texts) if is_title else draw(letters),
        draw(st.integers(0, 2**40)),
        tuple(draw(st.lists(names, max_size=3))),
        draw(st.none() | letters),
        draw(metas),
        tuple(chunks),
    )


@st.composite
def files(draw: st.DrawFn) -> list[NewFile]:
    built = []
    for spelt in draw(st.lists(names.filter(lambda name: "#" not in name), max_size=4, unique_by=nfc)):
        path = nfc(spelt)
        records = draw(st.lists(st.integers(0, 9), max_size=3, unique=True))
        paths = [f"{path}#{record}" for record in records] or ([path] if draw(st.booleans()) else [])
        mtime_ns = draw(st.integers(-(10**18), 4 * 10**18))
        content = tuple(draw(documents(each)) for each in paths)
        root = draw(st.none() | roots)
        built.append(
            NewFile(path, spelt, draw(st.integers(0, 2**40)), mtime_ns, "0" * 64, draw(letters), root, content)
        )
    return built


def _empty() -> SqliteStore:
    return create_store(":memory:", embedder=EMBEDDER.identity, dimension=16, counter="whitespace", chunker="c")


def _fill(content: list[NewFile]) -> SqliteStore:
    store = _empty()
    with store.writer() as writer:
        for file in content:
            writer.put(file)
    return store


def _export_bytes(store: SqliteStore) -> bytes:
    out = StringIO()
    export(store, out)
    return out.getvalue().encode()


def _import(store: SqliteStore, raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.jsonl"
        path.write_bytes(raw)
        import_(store, path, embedder=EMBEDDER)


@given(files())
@examples(10)
def test_export_import_export_keeps_every_byte(content: list[NewFile]) -> None:
    first, copy = _fill(content), _empty()
    raw = _export_bytes(first)

    _import(copy, raw)

    assert _export_bytes(copy) == raw
    assert copy.info().digest == first.info().digest


@given(files(), st.data())
@examples(10)
def test_import_refuses_any_changed_or_missing_byte(content: list[NewFile], data: st.DataObject) -> None:
    raw = _export_bytes(_fill(content))
    place = data.draw(st.integers(0, len(raw) - 2))
    other = bytes([data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[place]))])
    spoiled = data.draw(
        st.sampled_from([raw[:place] + other + raw[place + 1 :], raw[:place] + raw[place + 1 :], raw[:place]])
    )
    store = _empty()

    with pytest.raises(StoreError):
        _import(store, spoiled)

    assert store.info().documents == store.info().generation == 0
