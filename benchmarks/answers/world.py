"""The folders and stores of the questions, built by the recorded checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.answers import inputs
from benchmarks.answers.checkout import Checkout
from benchmarks.answers.corpus import File, files, is_plain, wide

_PLACE = re.compile(r"\{(chunk|doc):([0-9]+)(?:/([0-9]+))?\}|\{digest\}")
_NO_ID = "0" * 64
_ALL_IDS = "SELECT chunk.id, doc.id FROM chunk LIMIT 1000000"
_WIDE = "data/wide.jsonl"

ADDED = (
    ("docs", "--glob=**/*.md", "--tag=docs", "--source=handbook", "--meta=year=2024", "--meta=draft=false"),
    ("src", "--tag=code", "--source=repo", "--meta=lang=python", "--meta=review-by=2025-06-30"),
    ("notes", "--tag=notes"),
    ("wiki", "--tag=docs", "--tag=wiki", "--source=wiki", "--meta=author=ana", "--meta=rating=4.5"),
    ("archive", "--tag=archive", "--ignore=**/skipped*", "--meta=year=2019", "--meta=draft=true"),
    ("data/records.jsonl", "--parser=jsonl", "--tag=data", "--source=records"),
    ("data/people.jsonl", "--parser=jsonl", "--tag=data", "--tag=people"),
)
"""Arguments of `add`, one line for each folder."""

_WORN_SETTINGS = (
    "embedding_dim=64",
    "counter=approx",
    "chunk_tokens=48",
    "overlap_tokens=8",
    "normalize=minmax",
    "bm25_weight=0.6",
    "vector_weight=0.4",
    "sparse_distance_ceiling=0.7",
    "max_limit=4",
    "budget_tokens=250",
    "header={n} {title} {path}:{lines}",
)
_MADE_WITH = {
    "hash": ("--embedding=hash", "--set=chunk_tokens=60", "--set=overlap_tokens=12"),
    "local": ("--embedding=local", "--set=chunk_tokens=90", "--set=overlap_tokens=0"),
    "worn": ("--embedding=hash", *(f"--set={each}" for each in _WORN_SETTINGS)),
    "wide": ("--embedding=hash", "--set=embedding_dim=16"),
    "void": ("--embedding=hash",),
}


class Size(NamedTuple):
    """Size of a world, and how much is asked in addition to the random questions."""

    share: float = 1.0
    """Part of the full corpus."""
    worn_share: float = 0.3
    wide_rows: int = 20_400
    """Rows of the store that is too wide to score every row."""
    with_model: bool = True
    """True adds a store with vectors of the small model, if that is installed."""
    mistakes_step: int = 1
    """Use every n-th mistake."""


TINY = Size(share=0.08, worn_share=0.04, wide_rows=30, with_model=False, mistakes_step=12)


class Places(NamedTuple):
    """Ids of a store: of its chunks and documents by path and offset, and its digest."""

    chunks: tuple[str, ...]
    documents: tuple[str, ...]
    digest: str

    def filled(self, text: str) -> str:
        """Return the text with ids for `{chunk:7}`, `{chunk:7/8}` (eight digits), `{doc:7}` and `{digest}`."""
        return _PLACE.sub(self._name, text)

    def _name(self, found: re.Match[str]) -> str:
        kind, number, digits = found.groups()
        if kind is None:
            return self.digest
        ids = self.chunks if kind == "chunk" else self.documents
        name = ids[int(number) % len(ids)] if ids else _NO_ID
        return name[: int(digits)] if digits else name


class World(NamedTuple):
    """Everything in one folder. corpora: the files of each store. places: the ids of each store."""

    folder: Path
    corpora: Mapping[str, tuple[File, ...]]
    places: Mapping[str, Places]

    def place(self, folder: str) -> Places:
        """Return the ids of the store in a folder, or those of the first store."""
        return self.places.get(folder.partition("/")[0], self.places["hash"])


def build(checkout: Checkout, folder: Path, *, seed: int, size: Size) -> World:
    """Fill the folder with stores in every state: full, with a model, worn, wide, void, none and broken."""
    whole, part = files(seed, share=size.share), files(seed + 1, share=size.worn_share)
    corpora = {"hash": whole, "local": whole, "worn": part, "wide": (), "void": ()}
    if not (size.with_model and _has_model(checkout, folder)):
        del corpora["local"]
    for name, corpus in corpora.items():
        made = _wide(seed, size.wide_rows) if name == "wide" else corpus
        _fill(checkout, folder / name, name, made, judged=corpus or whole, seed=seed)
    _wear(checkout, folder / "worn", part)
    _break(folder)
    (folder / "none").mkdir()
    return World(folder, corpora, {name: places(checkout, folder / name) for name in corpora})


def places(checkout: Checkout, folder: Path) -> Places:
    """Return the ids of the store in a folder."""
    rows = checkout.answer_of(["query", _ALL_IDS], folder=folder)["results"]
    digest = checkout.answer_of(["stats"], folder=folder)["store"]["digest"]
    documents = tuple(dict.fromkeys(row["doc"]["id"] for row in rows))
    return Places(tuple(row["chunk"]["id"] for row in rows), documents, digest)


def write(folder: Path, corpus: tuple[File, ...]) -> None:
    """Write the files, each with its own time."""
    for file in corpus:
        put(folder / file.path, file.content, file.mtime_ns)


def put(path: Path, content: bytes, mtime_ns: int) -> None:
    """Write one file with a fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def _has_model(checkout: Checkout, folder: Path) -> bool:
    found = checkout.answer_of(["embedders"], folder=folder)["embedders"]
    return any(each["name"] == "local" and each["available"] for each in found)


def _wide(seed: int, rows: int) -> tuple[File, ...]:
    return (File(_WIDE, wide(seed, rows), 1_700_000_000 * 10**9, "data"),)


def _fill(
    checkout: Checkout, folder: Path, name: str, corpus: tuple[File, ...], *, judged: tuple[File, ...], seed: int
) -> None:
    """Make a store of these files and compact it, so that its size does not depend on when commits happen."""
    folder.mkdir()
    write(folder, corpus)
    inputs.write(folder / inputs.FOLDER, judged, seed=seed)
    checkout.succeed(["init", *_MADE_WITH[name]], folder=folder)
    for target, *labels in ADDED if name not in ("wide", "void") else ():
        checkout.succeed(["add", target, *labels], folder=folder)
    if name == "wide":
        checkout.succeed(["add", _WIDE, "--parser=jsonl", "--tag=data"], folder=folder)
    if name not in ("wide", "void"):
        _judge(checkout, folder)
    checkout.succeed(["compact"], folder=folder)


def _judge(checkout: Checkout, folder: Path) -> None:
    """Add judgements to the store, and write an answer of `eval` as a baseline."""
    named = [f"--queries={inputs.FOLDER}/queries.jsonl", f"--qrels={inputs.FOLDER}/qrels.tsv"]
    checkout.succeed(["judge", "import", *named], folder=folder)
    before = checkout.succeed(["eval", "--modes=hybrid,bm25", "--set=bm25_weight=1", "--json"], folder=folder)
    (folder / inputs.FOLDER / "before.json").write_text(before.stdout, encoding="utf-8")


def _wear(checkout: Checkout, folder: Path, corpus: tuple[File, ...]) -> None:
    """Remove documents, change and remove files on disk, and create files that were not added."""
    removed, changed, gone = [file for file in corpus if is_plain(file, "notes/")][:3]
    checkout.succeed(["rm", f"./{removed.path}"], folder=folder)
    put(folder / changed.path, changed.content + b"Something was added.\n", 1_750_000_000 * 10**9)
    (folder / gone.path).unlink()
    for name in ("notes/new.txt", "notes/.hidden.txt", "archive/skipped.txt", "elsewhere/new.txt"):
        put(folder / name, b"A retry that nobody has read yet.\n", 1_750_000_000 * 10**9)
    touched = next(file for file in corpus if file.path.startswith("docs/"))
    put(folder / touched.path, touched.content, touched.mtime_ns + 10**9)


def _break(folder: Path) -> None:
    """Make stores that cannot be opened, each for another reason."""
    whole = (folder / "void" / "recall.db").read_bytes()
    stores = {
        "garbage": (b"this is no database\n" * 500, ""),
        "zeros": (bytes(8_192), ""),
        "half": (whole[: len(whole) // 2], ""),
        "toml": (whole, "fusion = \n"),
        "setting": (whole, "fuson = 'rrf'\n"),
        "orphan": (whole, None),
    }
    for name, (store, settings) in stores.items():
        broken = folder / "broken" / name
        broken.mkdir(parents=True)
        (broken / "recall.db").write_bytes(store)
        if settings is not None:
            (broken / "recall.toml").write_text(settings, encoding="utf-8")
