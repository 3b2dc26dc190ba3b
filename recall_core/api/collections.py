"""Collections: named stores in one folder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from recall_core import paths
from recall_core.api import stores
from recall_core.api.engine import Engine
from recall_core.argument_types import checks_types
from recall_core.config import FILE_NAME, load, replace
from recall_core.embed.registry import resolve_auto
from recall_core.embed.trust import EMBEDDER, FoundSettings
from recall_core.errors import StoreError, UsageError
from recall_core.shell import Hint
from recall_core.text import is_storable, nfc

Opened = TypeVar("Opened")

_SUFFIX = ".db"
_UNFIT = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f-\x9f]|^[.\s]|[.\s]$')
"""What a file name cannot have on some system, and what hides a file."""
_LONGEST = 200  # bytes; with the suffixes of SQLite, file systems take 255


@checks_types
class Collections(Generic[Opened]):
    """The collections of a folder. Each is the file `NAME.db`, with an embedder, a language and idf of its own.

    Ranking and chunk limits come from the folder's recall.toml, or the defaults. Nothing is written to that file.
    Threads may share this object, but not an open collection.
    """

    def __init__(self, folder: Path, wrap: Callable[[Engine], Opened], *, trust: bool = False) -> None:
        self.folder = paths.absolute(folder)
        self._wrap = wrap  # class Recall, which this module cannot import
        self._trust = trust

    def names(self) -> list[str]:
        """Return the name of each collection, by code point. A missing folder has none."""
        found = (place.name.removesuffix(_SUFFIX) for place in self.folder.glob(f"*{_SUFFIX}") if place.is_file())
        return sorted(name for name in found if _is_fit(name))

    def create(self, name: str, *, embedding: str | None = None, language: str | None = None) -> Opened:
        """Make an empty collection, and the folder if needed, and open it.

        name: in NFC, up to 200 bytes. It is part of a file's name, so no other name may differ in case alone.
        embedding, language: see `recall init`; by default, those of the folder's recall.toml.
        Raises UsageError `bad_collection`; StoreError `store_exists`, `folder_unusable`; EmbedError; ConfigError.
        """
        path = self._place(name)
        twins = [each for each in self.names() if each != path.stem and each.casefold() == path.stem.casefold()]
        if twins:
            message = f"{name!r} cannot be a collection: it differs from {twins[0]!r} in case alone."
            raise UsageError("bad_collection", message, hint=f"open({twins[0]!r})")
        given = {"embedding": embedding, "language": language}
        chosen = {key: value for key, value in given.items() if value is not None}
        found = self._found()
        config = replace(found.config, chosen, where="create")
        found._replace(config=config).expect(EMBEDDER)
        config = resolve_auto(config)[0]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{self.folder} cannot be created: {error.strerror}."
            raise StoreError("folder_unusable", message, hint=Hint("init", "DIR")) from error
        stores.create(stores.StoreUrl("sqlite", str(path)), config).close()
        return self.open(name, embedding=config.embedding)

    def open(self, name: str, *, embedding: str | None = None) -> Opened:
        """Open a collection.

        embedding: name of its embedder, if neither the folder's recall.toml nor the file names it (`openai`, `onnx`).
        Raises UsageError `bad_collection`; StoreError, such as `no_store`; ConfigError.
        """
        path = self._place(name)
        if path.stem not in (known := self.names()):
            hint = f"one of: {', '.join(known)}" if known else f"create({name!r})"
            raise StoreError("no_store", f"There is no collection {name!r} in {self.folder}.", hint=hint)
        found = self._found()
        config = found.config
        if embedding is not None:
            config = replace(config, {"embedding": embedding}, where="open")
        store = stores.store_kind("sqlite").open(str(path))
        config = stores.fit(found._replace(config=config), store.info(), chosen=found.config.embedding)
        toml = self.folder / ":" / FILE_NAME  # never written, because the folder's belongs to all collections
        found = found._replace(config=config)
        return self._wrap(Engine(store, config=config, base=self.folder, toml=toml, found=found))

    def _place(self, name: str) -> Path:
        """Return the file of a collection. Raises UsageError `bad_collection`."""
        if not _is_fit(nfc(name)):
            message = f"{name!r} cannot be a collection: it is empty, too long, or not safe as the name of a file."
            raise UsageError("bad_collection", message, hint='create("notes")')
        return self.folder / (nfc(name) + _SUFFIX)

    def _found(self) -> FoundSettings:
        toml = self.folder / FILE_NAME
        config = load(toml) if toml.is_file() else stores.initial_config(None, ())[0]
        return FoundSettings(config, toml, self._trust)


def _is_fit(name: str) -> bool:
    return (
        is_storable(name)
        and 0 < len(name.encode()) <= _LONGEST
        and _UNFIT.search(name) is None
        and unicodedata.is_normalized("NFC", name)
    )
