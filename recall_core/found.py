"""What a path, an id or `path:first-last` names in a store."""

from __future__ import annotations

import os
import re
from pathlib import Path

from recall_core import here, respond, shell
from recall_core.contract import DocView, Response, TextView
from recall_core.errors import UnknownTarget, UsageError
from recall_core.ports import Store
from recall_core.retrieve.freshness import stale_documents
from recall_core.text import nfc
from recall_core.types import Row

_LINES = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18}))?")  # int() has a limit itself


def find(store: Store, target: str, *, base: Path) -> Response:
    """The document, lines or chunk of that name, verbatim as ingested, with a warning when its file has changed.

    Live paths are tried first, then ids. Raises UnknownTarget, UsageError `ambiguous_id`.
    """
    kind, full_id = one(store, target, base=base) or ("", "")
    if not kind:
        lines = _LINES.fullmatch(target)
        whole = one(store, lines["path"], base=base) if lines else None
        if lines is None or whole is None or whole[0] != "doc":
            raise unknown(target)
        first = int(lines["first"])
        return _document(store, whole[1], base, lines=(first, int(lines["last"] or first)))
    if kind == "doc":
        return _document(store, full_id, base, lines=None)
    row = store.fetch([store.rowid("chunk", full_id)])[0]
    doc, warnings = _checked(store, respond.doc_view(row.doc), base)
    view = TextView(kind="chunk", doc=doc, chunk=respond.chunk_view(row.chunk), text=row.chunk.text)
    return respond.ok(found=view, warnings=warnings)


def one(store: Store, target: str, *, base: Path) -> tuple[str, str] | None:
    """(kind, id) of the only document or chunk that a live path, an id or a prefix names."""
    for spelling in spellings(target, base=base):
        found = store.resolve(spelling)
        if len(found) > 1:
            some = ", ".join(full[:12] for _, full in found[:4])
            raise UsageError("ambiguous_id", f"{target} could be any of {some}.", hint="give more digits")
        if found:
            return found[0]
    return None


def chunk(store: Store, target: str, *, base: Path) -> Row:
    """The chunk of that id or prefix. Raises UnknownTarget, also for a document; UsageError `ambiguous_id`."""
    kind, full_id = one(store, target, base=base) or ("", "")
    if kind == "doc":
        message = f"{target} is a document, not a chunk."
        raise UnknownTarget("unknown_target", message, hint="recall search WORDS --json")
    if not kind:
        raise unknown(target)
    return store.fetch([store.rowid("chunk", full_id)])[0]


def spellings(target: str, *, base: Path) -> list[str]:
    """How the store may know a path that was typed in the current folder: as typed, below the store, absolute.

    A relative path stands alone where the current folder is gone.
    """
    names = [nfc(target.replace("\\", "/"))]
    start = here.known()
    if start is None and not Path(target).is_absolute():
        return names
    absolute = (start or base) / target
    try:
        names.append(nfc(_normal(absolute).relative_to(os.path.realpath(base)).as_posix()))
    except ValueError:
        names.append(nfc(_normal(absolute).as_posix()))
    return list(dict.fromkeys(names))


def unknown(target: str) -> UnknownTarget:
    """The error for a target that names nothing."""
    is_quoted = len(target) > 2 and target[0] == target[-1] == '"'
    words = target[1:-1] if is_quoted else target
    hint = f"recall search {shell.quote(words)}" if words.strip() else "recall stats"
    message = f"The store holds nothing {'with the text' if is_quoted else 'named'} {target}."
    return UnknownTarget("unknown_target", message, hint=hint)


def _normal(path: Path) -> Path:
    """Without `.` and `..`, its folder resolved, its last part as it is, so that a link keeps its own name.

    A link to itself is resolved to itself; Path.resolve has an error for it.
    """
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent), path.name)


def _document(store: Store, doc_id: str, base: Path, *, lines: tuple[int, int] | None) -> Response:
    document = store.documents([store.rowid("doc", doc_id)]).popitem()[1]
    doc, warnings = _checked(store, respond.doc_view(document), base)
    text = store.text_of(doc_id)
    if lines is None:
        return respond.ok(found=TextView(kind="doc", doc=doc, text=text), warnings=warnings)
    split = text.split("\n")
    count = len(split) - (split[-1] == "")
    first, last = lines
    if not 1 <= first <= last or first > count:
        raise UsageError("bad_lines", f"{document.path} has lines 1 to {count}.", hint=f"{document.path}:1-{count}")
    last = min(last, count)
    body = "\n".join(split[first - 1 : last]) + ("\n" if last < len(split) else "")
    view = TextView(kind="lines", doc=doc, line_start=first, line_end=last, text=body)
    return respond.ok(found=view, warnings=warnings)


def _checked(store: Store, doc: DocView, base: Path) -> tuple[DocView, list[str]]:
    states = stale_documents([doc["id"]], store=store, base=base)
    if doc["id"] not in states:
        return doc, []
    doc["state"] = states[doc["id"]]
    return doc, [f"W_STALE: {doc['path']} is {doc['state']} since it was read"]
