"""The live documents of a store, listed by path."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from recall_core.contract import OK
from recall_core.errors import UsageError
from recall_core.rql.patterns import check_glob
from recall_core.shell import Hint
from recall_core.text import is_storable, nfc

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.contract.responses import ListResponse
    from recall_core.contract.store import ListedView
    from recall_core.contract.views import NextPart
    from recall_core.store.port import Store
    from recall_core.store.values import ListedDocument

_MOST = 2**31 - 1


def listed(engine: Engine, prefix: str, glob: str | None, *, limit: int | None, offset: int) -> ListResponse:
    """The live documents whose path, as Recall prints it, begins with the prefix and matches the glob, by path.

    prefix: the name of a folder, with or without a slash behind it, means all below it.  glob: of the whole path, as
    in a filter by doc.path.  limit: None for all from the offset on.  No file is looked at, and no embedder loaded.
    Raises UsageError `bad_value`, `bad_pattern`.
    """
    started = perf_counter()
    _expect(prefix, glob, limit, offset)
    prefix, glob = nfc(prefix), None if glob is None else nfc(glob)
    store = engine.store
    with store.reading():
        info = store.info()
        begins = _folder_or_not(store, prefix)
        total, page = store.list_documents(begins, glob=glob, limit=limit, offset=offset)
    following = offset + len(page)
    next_part: NextPart = {"next_offset": following} if page and following < total else {}
    return {
        **OK,
        "documents": list(map(_view, page)),
        "total": total,
        "stats": {
            "took_ms": round((perf_counter() - started) * 1000, 3),
            "snapshot": info.snapshot,
            "digest": info.digest,
        },
        "warnings": [],
        **next_part,
    }


def _expect(prefix: str, glob: str | None, limit: int | None, offset: int) -> None:
    for name, text in (("prefix", prefix), ("glob", glob or "")):
        if not is_storable(text):
            raise UsageError("bad_value", f"The {name} {text!r} is not valid UTF-8.", hint=Hint("ls"))
    for name, number in (("limit", limit or 0), ("offset", offset)):
        if not 0 <= number <= _MOST:
            message = f"{name} takes a whole number from 0 to {_MOST}, not {number}."
            raise UsageError("bad_value", message, hint=f"{name}=10")
    if glob is not None:
        check_glob(glob)


def _folder_or_not(store: Store, prefix: str) -> str:
    """The prefix, with a slash behind it where it is the name of a folder."""
    if not prefix or prefix.endswith("/"):
        return prefix
    _, below = store.list_documents(f"{prefix}/", glob=None, limit=1, offset=0)
    return f"{prefix}/" if below else prefix


def _view(row: ListedDocument) -> ListedView:
    path, doc_id, title, mtime, source, chunks, tokens = row
    view: ListedView = {
        "path": path,
        "id": doc_id,
        "title": title,
        "mtime": mtime,
        "chunks": chunks,
        "tokens": tokens,
    }
    if source is not None:
        view["source"] = source
    return view
