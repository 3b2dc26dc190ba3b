"""Export and import by example: the exported data, refusals, and no change after a refusal."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from recall_core.embed.hash import HashEmbedder
from recall_core.errors import StoreError, UsageError
from recall_core.maintain.transfer import export, import_
from recall_core.store.sqlite.store import SqliteStore, create_store, open_store
from recall_core.text import embedded_hash, embedded_text
from recall_core.types import LiteralQuery, NewChunk, NewDocument, NewFile, Phrase, Root, Span

EMBEDDER = HashEmbedder(64)
ROOT = Root("/notes", globs=("**/*.md",), tags=("n",), meta=(("owner", "ann"),))


def empty(embedder: HashEmbedder = EMBEDDER, counter: str = "whitespace") -> SqliteStore:
    return create_store(
        ":memory:", embedder=embedder.identity, dimension=embedder.dimension, counter=counter, chunker="c-1"
    )


def chunk(path: str, title: str, text: str, offset: int = 0, heading: str | None = None) -> NewChunk:
    return NewChunk(
        Span(offset, offset + len(text), len(text.split()), heading),
        1,
        1 + text.count("\n", 0, len(text) - 1),
        text,
        embedded_hash(path, title, text),
        EMBEDDER.embed([embedded_text(path, title, text)])[0],
    )


def document(path: str, *texts: str, title: str | None = None, **labels: Any) -> NewDocument:
    title = path.title() if title is None else title
    offset, chunks = 0, []
    for text in texts:
        chunks.append(chunk(path, title, text, offset))
        offset += len(text)
    whole = "".join(texts)
    fields: dict[str, Any] = {"tags": (), "source": None, "meta": {}, **labels}
    digest = sha256(whole.encode()).hexdigest()
    return NewDocument(path, digest, title, len(whole), chunks=tuple(chunks), **fields)


def file(path: str, *documents: NewDocument, root: Root | None = None) -> NewFile:
    size = sum(each.size for each in documents)
    return NewFile(path, path, size, 1_700_000_000_123_456_789, "f" * 64, "text c-1 whitespace", root, documents)


def write_files(store: SqliteStore, *files: NewFile) -> SqliteStore:
    with store.writer() as writer:
        for each in files:
            writer.put(each)
    return store


def sample() -> SqliteStore:
    store = empty()
    with store.writer() as writer:
        writer.put_root(Root("/unused"))
    labels = {"tags": ("b", "a"), "source": "wiki", "meta": {"n": 1.5, "deep": [None, {"é": "日本"}], "a-b": True}}
    return write_files(
        store,
        file("b.md", document("b.md", "alpha beta\n", "gamma «delta» 東京\n", **labels), root=ROOT),
        file("a.jsonl", document("a.jsonl#2", "second record"), document("a.jsonl#1", "first record")),
        file("blank.txt", document("blank.txt")),
        file("stop.txt", document("stop.txt", "the of and", title="stop.txt")),
        file("none.jsonl"),
    )


def export_text(store: SqliteStore, *, embeddings: bool = True) -> str:
    out = StringIO()
    export(store, out, embeddings=embeddings)
    return out.getvalue()


@cache
def sample_text() -> str:
    return export_text(sample())


@pytest.fixture
def save_text(tmp_path: Path) -> Callable[[str], Path]:
    def save(text: str) -> Path:
        path = tmp_path / "export.jsonl"
        path.write_bytes(text.encode())
        return path

    return save


def reseal(lines: list[str]) -> str:
    """Return the lines with a valid checksum."""
    body = "".join(line + "\n" for line in lines[:-1])
    return body + json.dumps({"type": "end", "sha256": sha256(body.encode()).hexdigest()}) + "\n"


def test_export_survives_import_byte_for_byte(save_text: Callable[[str], Path]) -> None:
    text = sample_text()
    copy = empty()

    import_(copy, save_text(text), embedder=EMBEDDER)

    assert export_text(copy) == text


def test_imported_store_answers_like_its_origin(save_text: Callable[[str], Path]) -> None:
    first, copy = sample(), empty()

    import_(copy, save_text(export_text(first)), embedder=EMBEDDER)

    asked = EMBEDDER.embed(["delta"])[0]
    query = LiteralQuery("東京", (Phrase("東京", ("東京",), ("東京",)),))
    assert copy.info()._replace(generation=0, tombstones=0) == first.info()._replace(generation=0, tombstones=0)
    for store in (first, copy):
        assert len(store.lexical(query, where=None, k=None, title_weight=3.0)) == 1
    by_id = [
        {
            row.chunk.id: store.cosines(asked, where=None)[row.rowid]
            for row in store.fetch(list(store.cosines(asked, where=None)))
        }
        for store in (first, copy)
    ]
    assert by_id[0] == by_id[1]
    assert copy.known("b.md") == first.known("b.md")


def test_export_has_header_roots_and_each_file_with_chunks(
    save_text: Callable[[str], Path],
) -> None:
    lines = [json.loads(line) for line in sample_text().splitlines()]

    kinds = [(line["type"], line.get("path", "")) for line in lines]
    assert kinds == [
        ("header", ""),
        ("root", ""),
        ("root", ""),
        ("file", "a.jsonl"),
        ("document", "a.jsonl#1"),
        ("chunk", ""),
        ("document", "a.jsonl#2"),
        ("chunk", ""),
        ("file", "b.md"),
        ("document", "b.md"),
        ("chunk", ""),
        ("chunk", ""),
        ("file", "blank.txt"),
        ("document", "blank.txt"),
        ("file", "none.jsonl"),
        ("file", "stop.txt"),
        ("document", "stop.txt"),
        ("chunk", ""),
        ("end", ""),
    ]
    assert (lines[0]["documents"], lines[0]["chunks"]) == (5, 5)
    assert [line["vector"] is None for line in lines if line["type"] == "chunk"] == [False] * 4 + [True]


def test_missing_vectors_are_recomputed_on_import(save_text: Callable[[str], Path]) -> None:
    first, copy = sample(), empty()
    text = export_text(first, embeddings=False)

    import_(copy, save_text(text), embedder=EMBEDDER)

    assert '"vector"' not in text
    assert export_text(copy) == export_text(first)


def test_another_embedder_is_refused_unless_vectors_are_recomputed(save_text: Callable[[str], Path]) -> None:
    wide = HashEmbedder(128)
    copy = empty(wide)
    path = save_text(sample_text())

    with pytest.raises(StoreError, match="has vectors from") as refused:
        import_(copy, path, embedder=wide)
    import_(copy, path, embedder=wide, reembed=True)

    assert refused.value.code == "embedder_mismatch"
    assert copy.info().vectors == 4


def test_another_counter_is_refused(save_text: Callable[[str], Path]) -> None:
    with pytest.raises(StoreError) as refused:
        import_(empty(counter="approx"), save_text(sample_text()), embedder=EMBEDDER)

    assert refused.value.code == "counter_mismatch"


def test_truncated_export_imports_nothing(save_text: Callable[[str], Path]) -> None:
    for lines_lost in [1, 2, 5, 18]:
        lines = sample_text().splitlines(keepends=True)
        store = empty()

        with pytest.raises(StoreError) as refused:
            import_(store, save_text("".join(lines[:-lines_lost])), embedder=EMBEDDER)

        assert refused.value.code == "import_invalid", lines_lost
        assert store.info().documents == store.info().generation == 0, lines_lost
        assert store.roots() == (), lines_lost


def test_altered_export_imports_nothing(save_text: Callable[[str], Path]) -> None:
    for old, new in [
        ("alpha", "alphb"),
        ('"wiki"', '"wikj"'),
        ('"tokens":2', '"tokens":3'),
        ('"type":"header",', '"type":"header","surprise":1,'),
        ('{"type":"end"', '{"type":"end","sha256":"0"}\n{"type":"end"'),
        ("\n", "\r\n"),
    ]:
        text = sample_text()
        store = empty()

        with pytest.raises(StoreError) as refused:
            import_(store, save_text(text.replace(old, new, 1)), embedder=EMBEDDER)

        assert refused.value.code == "import_invalid", old
        assert store.info().documents == store.info().generation == 0, old


def _shuffle(lines: list[str]) -> list[str]:
    return [lines[0], lines[3], lines[1], *lines[4:]]


def _without_a_document(lines: list[str]) -> list[str]:
    return [line for line in lines if '"path":"blank.txt","hash"' not in line]


def _with_a_foreign_id(lines: list[str]) -> list[str]:
    return [line.replace('"offset":0', '"offset":1').replace('"end":12', '"end":13') for line in lines]


def _with_a_long_vector(lines: list[str]) -> list[str]:
    return [line.replace('"vector":"', '"vector":"AAAA') for line in lines]


def _with_no_base64(lines: list[str]) -> list[str]:
    return [line.replace('"vector":"', '"vector":"!') for line in lines]


def _with_a_zero_vector(lines: list[str]) -> list[str]:
    objects = [json.loads(line) for line in lines]
    return [
        json.dumps({**each, "vector": "A" * len(each["vector"][:-2]) + "=="})
        if each.get("vector")
        else json.dumps(each)
        for each in objects
    ]


def _with_an_unknown_root(lines: list[str]) -> list[str]:
    return [line.replace('"root":1', '"root":7') for line in lines]


def _twice_a_header(lines: list[str]) -> list[str]:
    return [lines[0], *lines]


def test_invalid_export_with_a_valid_checksum_is_refused(save_text: Callable[[str], Path]) -> None:
    for spoil in [
        _shuffle,
        _without_a_document,
        _with_a_foreign_id,
        _with_a_long_vector,
        _with_no_base64,
        _with_a_zero_vector,
        _with_an_unknown_root,
        _twice_a_header,
    ]:
        lines = spoil(sample_text().splitlines())
        store = empty()

        with pytest.raises(StoreError) as refused:
            import_(store, save_text(reseal(lines)), embedder=EMBEDDER)

        assert refused.value.code == "import_invalid", spoil
        assert store.info().documents == store.info().generation == 0, spoil


def test_file_other_than_an_export_is_refused(save_text: Callable[[str], Path]) -> None:
    for text in ["", "\n", "{}\n", "[]\n", "\xff\n", '{"type":"end","sha256":""}\n']:
        with pytest.raises(StoreError) as refused:
            import_(empty(), save_text(text), embedder=EMBEDDER)

        assert refused.value.code == "import_invalid", text


def test_export_of_a_later_format_asks_for_an_upgrade(save_text: Callable[[str], Path]) -> None:
    lines = sample_text().replace('"recall_export":1', '"recall_export":2').splitlines()

    with pytest.raises(StoreError) as refused:
        import_(empty(), save_text(reseal(lines)), embedder=EMBEDDER)

    assert refused.value.code == "import_version"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="absent") as refused:
        import_(empty(), tmp_path / "absent.jsonl", embedder=EMBEDDER)

    assert refused.value.code == "import_unreadable"


def test_export_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    producer = threading.Thread(target=pipe.write_bytes, args=(sample_text().encode(),))
    producer.start()

    view = import_(empty(), pipe, embedder=EMBEDDER)

    producer.join()
    assert view["documents"] == sample().info().documents


def test_reading_an_export_begins_before_locking(save_text: Callable[[str], Path], tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    own = create_store(
        place, embedder=EMBEDDER.identity, dimension=EMBEDDER.dimension, counter="whitespace", chunker="c-1"
    )

    with own.writer(), pytest.raises(StoreError) as refused:
        import_(open_store(place), save_text("no export\n"), embedder=EMBEDDER)

    assert refused.value.code == "import_invalid"


def test_conflict_fails_by_default_and_imports_nothing(save_text: Callable[[str], Path]) -> None:
    store = write_files(empty(), file("stop.txt", document("stop.txt", "mine")))
    before = export_text(store)

    with pytest.raises(StoreError, match=r"stop\.txt") as refused:
        import_(store, save_text(sample_text()), embedder=EMBEDDER)

    assert refused.value.code == "import_conflict"
    assert export_text(store) == before


def test_conflict_can_keep_the_stored_file(save_text: Callable[[str], Path]) -> None:
    store = write_files(empty(), file("stop.txt", document("stop.txt", "mine")))

    view = import_(store, save_text(sample_text()), embedder=EMBEDDER, on_conflict="skip")

    assert (view["documents"], view["chunks"]) == (4, 4)
    kept = next(
        row for row in store.fetch([key.rowid for key in store.candidates(None)]) if row.doc.path == "stop.txt"
    )
    assert kept.chunk.text == "mine"


def test_conflict_can_replace_the_stored_file(save_text: Callable[[str], Path]) -> None:
    text = sample_text()
    store = write_files(empty(), file("stop.txt", document("stop.txt", "mine")))

    import_(store, save_text(text), embedder=EMBEDDER, on_conflict="replace")

    assert export_text(store) == text


def test_record_with_the_path_of_a_live_file_conflicts(save_text: Callable[[str], Path]) -> None:
    store = write_files(empty(), file("a.jsonl#1", document("a.jsonl#1", "a file of that very name")))

    with pytest.raises(StoreError, match=r"a\.jsonl#1") as refused:
        import_(store, save_text(sample_text()), embedder=EMBEDDER)

    assert refused.value.code == "import_conflict"


def test_repeated_import_is_reported_as_done_and_changes_nothing(save_text: Callable[[str], Path]) -> None:
    store, text = write_files(empty(), file("mine.txt", document("mine.txt", "mine"))), sample_text()
    first = import_(store, save_text(text), embedder=EMBEDDER)
    before, generation = export_text(store), store.generation()

    again = import_(store, save_text(text), embedder=EMBEDDER)

    assert again == {**first, "documents": 0, "chunks": 0, "unchanged": first["documents"]}
    assert (export_text(store), store.generation()) == (before, generation)


def test_store_already_contains_its_own_export(save_text: Callable[[str], Path]) -> None:
    store = sample()
    assert import_(store, save_text(export_text(store)), embedder=EMBEDDER)["unchanged"] == 5


def test_export_that_differs_from_the_store_conflicts(save_text: Callable[[str], Path]) -> None:
    for change in [
        lambda writer: writer.tombstone(["stop.txt"]),
        lambda writer: writer.tombstone(["a.txt"]),
        lambda writer: writer.relabel("stop.txt", tags=("new",), source=None, meta=None),
        lambda writer: writer.relabel("stop.txt", tags=None, source="new", meta=None),
        lambda writer: writer.relabel("stop.txt", tags=None, source=None, meta={"new": 1}),
        lambda writer: writer.refresh("stop.txt", size=8, mtime_ns=1),
        lambda writer: writer.put(file("stop.txt", document("stop.txt", "of thy"))),
        lambda writer: writer.put(file("stop.txt", document("stop.txt", "of the"))._replace(settings="text c-2")),
        lambda writer: writer.put(file("stop.txt", document("stop.txt", "of the"), document("stop.txt#1", ""))),
        lambda writer: writer.put(file("stop.txt", document("stop.txt", "of the", title="Another title"))),
        lambda writer: writer.put(file("stop.txt")),
    ]:
        text = export_text(
            write_files(empty(), *(file(f"{name}.txt", document(f"{name}.txt", "of the")) for name in ("a", "stop")))
        )
        store = empty()
        import_(store, save_text(text), embedder=EMBEDDER)
        with store.writer() as writer:
            change(writer)
        before = export_text(store)

        with pytest.raises(StoreError) as refused:
            import_(store, save_text(text), embedder=EMBEDDER)

        assert (refused.value.code, export_text(store)) == ("import_conflict", before), change


def test_altered_export_is_refused_even_if_nothing_is_new(save_text: Callable[[str], Path]) -> None:
    store, text = sample(), sample_text()
    with pytest.raises(StoreError) as refused:
        import_(store, save_text(text.replace('"sha256":"', '"sha256":"0')), embedder=EMBEDDER)
    assert refused.value.code == "import_invalid"


def test_duplicate_key_in_a_line_is_refused(save_text: Callable[[str], Path]) -> None:
    for kind in ["header", "root", "file", "document", "chunk"]:
        lines = sample_text().splitlines()
        number = next(place for place, line in enumerate(lines) if f'"type":"{kind}"' in line)
        lines[number] = f'{lines[number][:-1]},"type":"{kind}"}}'
        store = empty()

        with pytest.raises(StoreError, match=f"line {number + 1}: the key 'type' appears twice") as refused:
            import_(store, save_text(reseal(lines)), embedder=EMBEDDER)

        assert (refused.value.code, store.info().documents) == ("import_invalid", 0), kind


def test_unknown_conflict_policy_is_refused(save_text: Callable[[str], Path]) -> None:
    with pytest.raises(UsageError, match="overwrite"):
        import_(empty(), save_text(sample_text()), embedder=EMBEDDER, on_conflict="overwrite")


def test_windows_are_exported_with_their_vectors(save_text: Callable[[str], Path]) -> None:
    store, back = empty(), empty()
    long = document("long.md", "far more than the model reads at once")
    windowed = long._replace(chunks=tuple(each._replace(windows=4) for each in long.chunks))
    write_files(store, file("long.md", windowed), file("short.md", document("short.md", "short")))
    text = export_text(store)

    import_(back, save_text(text), embedder=EMBEDDER)

    chunks = [json.loads(line) for line in text.splitlines() if json.loads(line)["type"] == "chunk"]
    assert [chunk.get("windows") for chunk in chunks] == [4, None]
    assert back.info().windowed == 1
    assert export_text(back) == text
    assert "windows" not in export_text(store, embeddings=False)
