"""Stores and documents for tests, built the way the pipeline builds them."""

from __future__ import annotations

import os
import random
import string
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from recall_core.api import stores
from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.text import embedded_hash, embedded_text
from recall_core.types import NewChunk, NewDocument, NewFile, Span

EMBEDDER = HashEmbedder(64)
WINDOW = 8
TEMPORARY = Path(tempfile.gettempdir()).resolve()
MTIME_NS = 1_700_000_000_000_000_000


def memory_store(path: str = ":memory:") -> SqliteStore:
    return create_store(
        path, embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="boundary-1:400:80:6000"
    )


def opened_by(kind: type[Engine], store: str | Path) -> Recall:
    """Open a store with an engine of this kind."""
    place = stores.find(str(store), start=None)
    store_of, config, found = stores.open_store(place)
    return Recall(kind(store_of, config=config, base=place.base, toml=place.toml, found=found))


def new_chunk(text: str, *, offset: int = 0, line: int = 1, path: str = "", title: str = "") -> NewChunk:
    return NewChunk(
        span=Span(offset, offset + len(text), len(text.split())),
        line_start=line,
        line_end=line + text.count("\n", 0, -1),
        text=text,
        text_hash=embedded_hash(path, title, text),
        vector=EMBEDDER.embed([embedded_text(path, title, text)])[0],
    )


def new_file(
    path: str,
    texts: Sequence[str],
    *,
    title: str = "",
    tags: Sequence[str] = (),
    source: str | None = None,
    meta: Mapping[str, Any] | None = None,
    mtime_ns: int = MTIME_NS,
    settings: str = "text",
) -> NewFile:
    """Return a file of one document whose consecutive chunks have these texts."""
    chunks = []
    offset, line = 0, 1
    for text in texts:
        chunks.append(new_chunk(text, offset=offset, line=line, path=path, title=title))
        offset, line = offset + len(text), line + text.count("\n")
    raw = "".join(texts).encode()
    digest = sha256(raw).hexdigest()
    document = NewDocument(path, digest, title, len(raw), tuple(tags), source, meta or {}, tuple(chunks))
    return NewFile(path, path, len(raw), mtime_ns, digest, settings, None, (document,))


def put(store: SqliteStore, *files: NewFile) -> None:
    with store.writer() as writer:
        for file in files:
            writer.put(file)


def letters(seed: str) -> str:
    """Return words of random letters that occur nowhere else."""
    rng = random.Random(seed)
    return " ".join("".join(rng.choices(string.ascii_lowercase, k=12)) for _ in range(40))


def pieces_left(
    base: Path, *texts: str, pieces: frozenset[bytes] = frozenset(), within: str = "recall.db*"
) -> list[str]:
    """Return the pieces that the store's files contain: runs of WINDOW letters of the texts, and `pieces`.

    within: pattern of other files to search.
    """
    pieces |= {text[start : start + WINDOW].encode() for text in texts for start in range(len(text) - WINDOW + 1)}
    found = []
    for path in base.glob(within) if pieces else ():
        held = path.read_bytes() if path.is_file() else b""
        here = pieces.intersection(held[start : start + WINDOW] for start in range(len(held)))
        found += [f"{path.name}: {piece!r}" for piece in here]
    return sorted(found)


@contextmanager
def without_privileges(folder: Path) -> Iterator[None]:
    """Run the block as the user nobody, who may reach the folder, because file permissions do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    made_by_tests = [parent for parent in (folder, *folder.parents) if TEMPORARY in parent.parents]
    for parent in made_by_tests:
        parent.chmod(parent.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


FISH = {
    "a.txt": "red fish, blue fish",
    "b.txt": "one fish. fish fish fish",
    "c.txt": "色 blue blue 红色的鱼",
    "d.txt": "nothing of the kind",
}
"""Texts of few words: stems, a phrase, adjacent words in two scripts, and a text with none of them."""


def fish_store() -> SqliteStore:
    """Return a store of the fish texts; the title of one has two of the words."""
    made = memory_store()
    put(made, *(new_file(path, [text], title="Fish Story" if path == "b.txt" else "") for path, text in FISH.items()))
    return made
