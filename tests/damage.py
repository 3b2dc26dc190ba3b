"""A store with something in every table, its pages, and ways to damage them, for tests of damage."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import apsw

from recall_core import Recall
from recall_core.store.values import JudgementRow
from recall_core.types import Root

PAGE = 8192

WORDS = "quokka wombat numbat bilby quoll dunnart possum glider wallaby 東京 café kangaroo koala echidna".split()


TITLES = ("Where a bilby digs", "東京 koala")
"""Of records without a text."""


def text_of(chance: Random, words: int) -> str:
    lines = []
    while words > 0:
        size = chance.randrange(4, 14)
        lines.append(" ".join(chance.choice(WORDS) + str(chance.randrange(99)) for _ in range(size)) + ".")
        words -= size
    return "\n".join(lines) + "\n"


def make_store(base: Path, *, documents: int = 12, words: int = 900) -> Path:
    """Make a store with labels, records, two roots, a removed file, judgements and documents of several chunks."""
    chance = Random(documents)
    for folder in ("docs", "notes"):
        (base / folder).mkdir(parents=True)
    for n in range(documents):
        folder = "notes" if n % 3 == 0 else "docs"
        title = f"# 東京 number {n}\n\n" if n % 4 == 0 else f"# Animals of region {n}\n\n"
        (base / folder / f"page-{n:02}.md").write_text(title + text_of(chance, chance.randrange(20, words)))
    (base / "docs" / "empty.txt").write_text("")
    records = [f'{{"id": "r{n}", "text": "{text_of(chance, 12).strip()!s}", "year": {1990 + n}}}' for n in range(5)]
    records += [f'{{"id": "t{n}", "text": " ", "title": "{title}"}}' for n, title in enumerate(TITLES)]
    (base / "docs" / "records.jsonl").write_text("\n".join(each.replace("\n", " ") for each in records) + "\n")
    Recall.init(str(base), settings={"chunk_tokens": 120, "overlap_tokens": 20})
    with Recall.open(str(base)) as recall:
        for step in (
            recall.add(
                [str(base / "docs")], Root("", tags=("zoo", "work"), meta=(("year", 2024), ("team", "marsupials")))
            ),
            recall.add([str(base / "notes")], Root("", source="diary")),
            recall.add([str(base / "docs" / "records.jsonl")], Root("", parser="jsonl")),
        ):
            for _ in step:
                pass
        recall.remove(["docs/page-01.md"])
        with recall.store.judging() as writer:
            writer.put_query("q1", "where do quokkas live?")
            writer.put_query("q2", "wombat")
            writer.put(JudgementRow("q1", "docs/page-02.md", 0, -1, 2))
            writer.put(JudgementRow("q2", "notes/page-00.md", 10, 90, 1))
    return base


def copied(made: Path, place: Path) -> Path:
    """Copy a store. The source files stay in place, relative to the copy."""
    return Path(shutil.copytree(made, place, copy_function=shutil.copy2))


def exported(store: str | Path) -> list[str]:
    """Return the lines of an export without the first and the last."""
    out = io.StringIO()
    with Recall.open(str(store)) as recall:
        recall.export(out)
    return out.getvalue().splitlines()[1:-1]


def judged(store: str | Path) -> list[Any]:
    with Recall.open(str(store)) as recall:
        return [*recall.store.judged_queries().items(), *recall.store.judgements()]


def trees(path: Path) -> dict[str, int]:
    """Return the root page number of every table and index, by name."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = dict(db.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"))
    db.close()
    return found


def spoil(path: Path, page: int, content: bytes = b"\xee" * PAGE) -> None:
    """Overwrite a page, as a disk would."""
    with path.open("r+b") as raw:
        raw.seek((page - 1) * PAGE)
        raw.write(content)


def exchange(path: Path, page: int, other: int) -> None:
    """Swap two pages."""
    raw = path.read_bytes()
    contents = {number: raw[(number - 1) * PAGE : number * PAGE] for number in (page, other)}
    spoil(path, page, contents[other])
    spoil(path, other, contents[page])


def pages_of(path: Path) -> Iterator[bytes]:
    raw = path.read_bytes()
    return (raw[at : at + PAGE] for at in range(0, len(raw), PAGE))


_CHANGED_VECTORS = """
CREATE TEMP TRIGGER IF NOT EXISTS vec_changed INSTEAD OF UPDATE ON vec BEGIN
  UPDATE vec_place SET windows = new.windows, checksum = new.checksum WHERE chunk = old.chunk;
  UPDATE vec_block SET embeddings = CAST(
    substr(embeddings, 1, (p.place & 15) * (length(embeddings) / 16))
    || substr(CAST(new.embedding || zeroblob(length(embeddings)) AS BLOB), 1, length(embeddings) / 16)
    || substr(embeddings, 1 + ((p.place & 15) + 1) * (length(embeddings) / 16)) AS BLOB)
  FROM vec_place p WHERE p.chunk = old.chunk AND block = p.place >> 4;
END;
CREATE TEMP TRIGGER IF NOT EXISTS vec_gone INSTEAD OF DELETE ON vec BEGIN
  DELETE FROM vec_place WHERE chunk = old.chunk;
END;
CREATE TEMP TRIGGER IF NOT EXISTS vec_come INSTEAD OF INSERT ON vec BEGIN
  INSERT INTO vec_place SELECT new.chunk, min(place), new.windows, new.checksum FROM vec_free;
  DELETE FROM vec_free WHERE place = (SELECT place FROM vec_place WHERE chunk = new.chunk);
  UPDATE vec SET embedding = new.embedding WHERE chunk = new.chunk;
END
"""


def change_vectors(db: apsw.Connection) -> None:
    """Allow this connection to change rows of the vector view as if it were a table."""
    db.execute(_CHANGED_VECTORS)
