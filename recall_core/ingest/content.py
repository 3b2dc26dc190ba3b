"""Content that no file holds, such as what comes through a pipe: the name that it may have, and whether it is new."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recall_core.errors import UsageError
from recall_core.ingest.discover import printable
from recall_core.paths import typed
from recall_core.shell import Hint, flag
from recall_core.store.port import Store
from recall_core.types import Fingerprint, NewDocument


def check_name(name: str) -> None:
    """Raises UsageError `bad_value` for a name that no document could have which lies below the store's directory."""
    try:
        name.encode()
        is_path = "\0" not in name and not {"", ".", ".."} & {*name.split("/")}
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        message = f"{printable(name)!r} is no path that a document below the store's folder could have."
        raise UsageError("bad_value", message, hint=f"{flag('name')} notes/today.md")


def check_free(name: str, documents: Sequence[NewDocument], *, store: Store, base: Path) -> None:
    """Raises UsageError `name_taken` where a file has the name, or a document of a file the path of one of these."""
    if os.path.lexists(base / name) or any(_is_of_file(each.path, name, store) for each in documents):
        message = f"{name} is the name of a file, or of a document that came from one."
        raise UsageError("name_taken", message, hint=Hint("add", typed(base / name)))


def is_as_kept(known: Fingerprint, documents: Sequence[NewDocument], *, store: Store) -> bool:
    """Whether the store has these documents under that name, and no other, with these labels."""
    ids = {each.path: each.id for each in documents}
    if len(documents) != known.documents or any(store.document_at(path) != ids[path] for path in ids):
        return False
    kept = store.documents([store.rowid("doc", doc_id) for doc_id in ids.values()]).values()
    held = {each.path: (each.title, each.tags, each.source, dict(each.meta)) for each in kept}
    return all(held[each.path] == (each.title, each.tags, each.source, dict(each.meta)) for each in documents)


def _is_of_file(path: str, name: str, store: Store) -> bool:
    """Whether the live document of that path came from a file, or from other content than that of this name."""
    doc_id = store.document_at(path)
    sources = store.sources([doc_id]).values() if doc_id else ()
    return any(source.os_path or source.path != name for source in sources)
