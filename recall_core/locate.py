"""Which store is meant, and making a new one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core.config import FILE_NAME, Config, assign, chunker_identity, load, render, replace
from recall_core.embed.registry import agrees, new_embedder
from recall_core.errors import StoreError
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.types import StoreInfo


class Place(NamedTuple):
    """A database file, the settings beside it and the folder that its relative paths start from."""

    path: Path
    config: Config
    base: Path


def find(store: str | None, *, start: Path) -> Place:
    """The store of that name, or the one that the nearest recall.toml from `start` upwards names.

    A folder stands for the store inside it. Raises StoreError `no_store`, ConfigError.
    """
    if store is not None:
        path = Path(store).absolute()
        if path.is_dir():
            return _beside(path / FILE_NAME)
        return Place(path, load(path.parent / FILE_NAME), path.parent)
    for folder in (start.absolute(), *start.absolute().parents):
        if (folder / FILE_NAME).is_file():
            return _beside(folder / FILE_NAME)
    raise StoreError("no_store", f"There is no {FILE_NAME} in {start.absolute()} or above.", hint="recall init")


def _beside(toml: Path) -> Place:
    config = load(toml)
    path = (toml.parent / config.store_path).absolute()
    return Place(path, config, path.parent)


def make(folder: Path, config: Config) -> tuple[Place, SqliteStore]:
    """A new store and its recall.toml in this folder, which is made if need be; an existing recall.toml is kept.

    Raises StoreError `store_exists`, `folder_unusable`; leaves nothing half-made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            "folder_unusable", f"{folder} cannot be made: {error.strerror}.", hint="recall init DIR"
        ) from error
    toml = folder / FILE_NAME
    if toml.exists():
        config = load(toml)
    path = (folder / config.store_path).absolute()
    embedder = new_embedder(config)
    store = create_store(
        str(path),
        embedder=embedder.identity,
        dimension=embedder.dimension,
        counter=config.counter,
        chunker=chunker_identity(config),
    )
    if not toml.exists():
        try:
            toml.write_text(render(config), encoding="utf-8")
        except OSError as error:
            store.close()
            path.unlink()
            raise StoreError("folder_unusable", f"{toml} cannot be written: {error.strerror}.") from error
    return Place(path, config, path.parent), store


def initial_config(embedding: str | None, settings: Sequence[str]) -> Config:
    """The settings of a new store: the defaults, with these on top."""
    config = assign(Config(), settings, where="--set")
    return config if embedding is None else replace(config, {"embedding": embedding}, where="--embedding")


def stored_config(config: Config, info: StoreInfo) -> Config:
    """The settings with those that the store was made with in place of what recall.toml says by now."""
    _, chunk_tokens, overlap_tokens, max_chunk_chars = info.chunker.split(":")
    return config._replace(
        counter=info.counter,
        chunk_tokens=int(chunk_tokens),
        overlap_tokens=int(overlap_tokens),
        max_chunk_chars=int(max_chunk_chars),
    )


def disagreements(config: Config, info: StoreInfo) -> tuple[str, ...]:
    """Where recall.toml and the store disagree: the store wins, and says so."""
    embedder = info.embedder if agrees(config, info.embedder) else config.embedding
    pairs = (
        ("embedder", embedder, info.embedder),
        ("counter", config.counter, info.counter),
        ("chunker", chunker_identity(config), info.chunker),
    )
    return tuple(
        f"W_CONFIG: {FILE_NAME} says {name} {wanted}, the store was made with {actual}; the store wins"
        for name, wanted, actual in pairs
        if wanted != actual
    )
