"""Read a store: its statistics, or a document, lines of it or a chunk, verbatim as ingested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, get_args

from recall_core import evaluate, maintain, views
from recall_core.api.engine import Engine
from recall_core.api.stores import store_kind, store_url
from recall_core.config import assignments, find_outdated
from recall_core.contract import OK
from recall_core.errors import StoreCorrupt, UnknownTarget, UsageError
from recall_core.marks import Places, Unit, stretch
from recall_core.retrieve.freshness import stale_documents
from recall_core.retrieve.pool import OLD_WORDS
from recall_core.retrieve.targets import (
    PART,
    ambiguous,
    by_ending,
    document_of_part,
    first_document,
    holder,
    lines_in,
    named_part,
    no_such_lines,
    no_such_place,
    one,
    readings,
    record_at,
    record_on,
    several,
    unknown,
)
from recall_core.rql.patterns import check_glob
from recall_core.shell import Hint
from recall_core.store.values import Level
from recall_core.text import behind, is_storable, nfc
from recall_core.words.analyzer import Analyzer

if TYPE_CHECKING:
    from recall_core.contract.responses import GetResponse, ListResponse, StatsResponse
    from recall_core.contract.store import ListedView
    from recall_core.contract.views import DocView, NextPart, StatsView, TextView
    from recall_core.store.port import Store
    from recall_core.store.values import ListedDocument

_DIGITS = 12  # of an id in a printed name
_MOST_OTHERS = 3  # parts with the same name in a warning


def describe_store(engine: Engine, *, sizes: bool = False) -> StatsResponse:
    """Return the store's statistics. sizes: also the sizes of the parts of its file."""
    started = perf_counter()
    store = engine.store
    info, totals = store.info(), store.totals()
    view = views.store_view(
        info,
        size=store.size_bytes(),
        sizes=store.sizes() if sizes else None,
        tokens=totals.tokens,
        parsers=store.parsers(),
        roots=store.roots(),
        judgements=evaluate.judgements.count(store) if store.stray_judgements() else store.judgement_count(),
    )
    if engine.config.vector_index in ("lsh", "hnsw"):
        view["vector_index"] = maintain.embedders.view_of(store, lambda: engine.embedder, engine.usable)
    if engine.config.lexical_model != "fts5":
        view["lexical_model"] = engine.config.lexical_model
    if older := find_outdated(engine.config, engine.toml):
        view["older_settings"] = list(assignments({key: getattr(engine.config, key) for key in older}))
    if lacking := {*get_args(Level)} - store_kind(store_url(store.path).kind).levels:
        view["not_offered"] = sorted(lacking)
    took_ms = round((perf_counter() - started) * 1000, 3)
    stats: StatsView = {
        "took_ms": took_ms,
        "snapshot": info.snapshot,
        "digest": info.digest,
        "without_text": totals.without_text,
    }
    return {
        **OK,
        "store": view,
        "stats": stats,
        "warnings": [*engine.notes(), *([OLD_WORDS] if store.analyzer.version != Analyzer.version else [])],
    }


def _by_ending(store: Store, name: str, base: Path, part: str) -> str | None:
    """Return the only path of a document or record file with this ending, or None. Raises `ambiguous_path`.

    part: see `one`.
    """
    paths = by_ending(store, name, base=base)
    if len(paths) > 1:
        raise several(name, paths, part=part)
    return paths[0] if paths else None


def find(store: Store, target: str, *, base: Path) -> GetResponse:
    """Return the document, lines or chunk with that name, verbatim as ingested. Warns if its file changed.

    Names are tried as live paths, ids, places, then names of parts. If a path is also a place of another document, a
    warning tells how to get that one. Raises the errors of `one`, and UnknownTarget.
    """
    kind, full_id = one(store, target, base=base) or ("", "")
    if not kind:
        return _part(store, target, base)
    if kind == "doc":
        answer = _document(store, full_id, base, lines=None)
        answer["warnings"] += _other_meaning(store, target, full_id, base)
        return answer
    row = next(iter(store.fetch([store.rowid("chunk", full_id)])), None)
    if row is None:
        raise _damage_error(store, full_id)
    doc, warnings = _check_file(store, views.doc_view(row.doc), base)
    view: TextView = {
        "kind": "chunk",
        "doc": doc,
        "chunk": views.chunk_view(row.chunk),
        "text": row.chunk.text,
    }
    return {**OK, "found": view, "warnings": warnings}


def _part(store: Store, target: str, base: Path) -> GetResponse:
    """Return the part of a document at the end of a name: `a.md:3-9`, `a.pdf#page=3`, `a.html#usage`.

    After places and before names of parts, tries the only document whose path ends with the target, or a place of it.
    Raises the errors of `find`, and UsageError `bad_place`, `bad_lines`.
    """
    named = PART.fullmatch(target)
    kind, doc_id = (one(store, named["path"], base=base, part=target[named.end("path") :]) if named else None) or (
        "",
        "",
    )
    if named and kind == "doc":
        first, last = int(named["first"]), int(named["last"] or named["first"])
        if named["kind"] and (named["kind"] != "line" or Places(store.marks_of(doc_id)).kind):
            return _stretch(store, doc_id, base, named["kind"], (first, last))
        return _document(store, doc_id, base, lines=(first, last))
    if named and not kind and named["kind"] in (None, "line") and named["last"] is None:
        record = record_at(store, named["path"], int(named["first"]), base=base)
        if record is not None:
            return _document(store, record, base, lines=None)
    for name in (target, named["path"]) if named and not kind else (target,):
        part = target[len(name) :]
        if not kind and (path := _by_ending(store, name, base, part)):
            return find(store, str(base / path) + part, base=base)
    if (part_of := document_of_part(store, target, base=base)) is not None:
        return _named_part(store, *part_of, base)
    raise holder(store, target, base=base) or unknown(target, store)


def _named_part(store: Store, doc_id: str, name: str, base: Path) -> GetResponse:
    """Return the first part of that name, with a warning on how to get the others."""
    document = next(iter(store.documents([store.rowid("doc", doc_id)]).values()), None)
    if document is None:
        raise _damage_error(store, doc_id)
    text, marks = store.text_of(doc_id), store.marks_of(doc_id)
    part = named_part(document.path, len(text), marks, name)
    doc, warnings = _check_file(store, views.doc_view(document), base)
    if part.others:
        places = Places(marks)
        others = [_by_place(text, unit, places.at(*unit)) for unit in part.others[:_MOST_OTHERS]]
        named = " or ".join(str(Hint("get", doc_id[:_DIGITS] + other)) for other in others)
        count = len(part.others) + 1
        warnings.append(
            f"W_AMBIGUOUS_PATH: {document.path} has {count} parts named {name}, this is the first: {named}"
        )
    view: TextView = {"kind": "place", "doc": doc, "place": part.place, "text": text[part.unit.start : part.unit.end]}
    return {**OK, "found": view, "warnings": warnings}


def _by_place(text: str, unit: Unit, place: str | None) -> str:
    first = text.count("\n", 0, unit.start) + 1
    return behind("", first, first + text[unit.start : unit.end].rstrip().count("\n"), place)


def _other_meaning(store: Store, target: str, doc_id: str, base: Path) -> list[str]:
    """Return a warning if a document's name is also a place in another document, with a name for that place.

    Raises UsageError `ambiguous_path` if one is relative to this folder and the other as Recall prints it.
    """
    named = PART.fullmatch(target)
    if named is None:
        return []
    found = []
    for whole, file in zip(readings(target, base=base), readings(named["path"], base=base), strict=False):
        other = at_place(store, file.names, named, base=base)
        if other is not None and not doc_id.startswith(other):
            if first_document(store, whole.names) is None:
                raise ambiguous(target, base=base)
            found.append(f"W_AMBIGUOUS_PATH: {target} is a place in {named['path']} too: {Hint('get', other)}")
    return found


def at_place(store: Store, names: Sequence[str], named: re.Match[str], *, base: Path) -> str | None:
    """Return an id-based name for what a document or record file has at a place, or None.

    names: possible names in the store. named: the place, as matched by `targets.PART`.
    """
    doc_id = first_document(store, names)
    if doc_id is None:
        is_line = named["kind"] in (None, "line") and named["last"] is None
        record = record_on(store, names, int(named["first"])) if is_line else None
        return record and record[:_DIGITS]
    behind = named.string[named.end("path") :]
    try:
        find(store, doc_id + behind, base=base)
    except (UnknownTarget, UsageError):
        return None
    return doc_id[:_DIGITS] + behind


def _stretch(store: Store, doc_id: str, base: Path, kind: str, places: tuple[int, int]) -> GetResponse:
    first, last = places
    document = next(iter(store.documents([store.rowid("doc", doc_id)]).values()), None)
    if document is None:
        raise _damage_error(store, doc_id)
    text, marks = store.text_of(doc_id), store.marks_of(doc_id)
    found = stretch(marks, len(text), kind, first, last) if first <= last else None
    place = f"{kind} {first}" if first == last else f"{kind} {first}-{last}"
    if found is None or (kind == "bytes" and found.start == len(text)):
        raise no_such_place(document.path, place, marks)
    doc, warnings = _check_file(store, views.doc_view(document), base)
    view: TextView = {"kind": "place", "doc": doc, "place": place, "text": text[found.start : found.end]}
    return {**OK, "found": view, "warnings": warnings}


def _document(store: Store, doc_id: str, base: Path, *, lines: tuple[int, int] | None) -> GetResponse:
    if lines is not None and Places(store.marks_of(doc_id)).kind == "line":  # its lines are the file's
        return _stretch(store, doc_id, base, "line", lines)
    document = next(iter(store.documents([store.rowid("doc", doc_id)]).values()), None)
    if document is None:
        raise _damage_error(store, doc_id)
    doc, warnings = _check_file(store, views.doc_view(document), base)
    text = store.text_of(doc_id)
    if lines is None:
        return {**OK, "found": {"kind": "doc", "doc": doc, "text": text}, "warnings": warnings}
    split = text.split("\n")
    count = lines_in(text)
    first, last = lines
    if not 1 <= first <= last or first > count:
        raise no_such_lines(document.path, count)
    last = min(last, count)
    body = "\n".join(split[first - 1 : last]) + ("\n" if last < len(split) else "")
    view: TextView = {
        "kind": "lines",
        "doc": doc,
        "line_start": first,
        "line_end": last,
        "text": body,
    }
    return {**OK, "found": view, "warnings": warnings}


def _damage_error(store: Store, name: str) -> StoreCorrupt:
    """Return the error for an id without a row."""
    message = f"{store.path} is damaged: the row of {name[:12]} is missing."
    return StoreCorrupt("store_corrupt", message, hint=Hint("doctor", store=store.path))


def _check_file(store: Store, doc: DocView, base: Path) -> tuple[DocView, list[str]]:
    states = stale_documents([doc["id"]], store=store, base=base)
    if doc["id"] not in states:
        return doc, []
    doc["state"] = states[doc["id"]]
    return doc, [f"W_STALE: {doc['path']} is {doc['state']} since it was read"]


_MOST = 2**31 - 1


def list_documents(engine: Engine, prefix: str, glob: str | None, *, limit: int | None, offset: int) -> ListResponse:
    """Return live documents whose printed path starts with the prefix and matches the glob, by path.

    prefix: the name of a folder, with or without a trailing slash, means everything below it.
    glob: matches the whole path, as in a filter on doc.path.
    limit: None for all rows from the offset on.
    Reads no file and loads no embedder. Raises UsageError `bad_value`, `bad_pattern`.
    """
    started = perf_counter()
    _expect(prefix, glob, limit, offset)
    prefix, glob = nfc(prefix), None if glob is None else nfc(glob)
    store = engine.store
    with store.reading():
        info = store.info()
        if prefix and not prefix.endswith("/"):
            folder = f"{prefix}/"
            prefix = folder if store.list_documents(folder, glob=None, limit=1, offset=0)[1] else prefix
        total, page = store.list_documents(prefix, glob=glob, limit=limit, offset=offset)
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
            message = f"{name} must be from 0 to {_MOST}, not {number}."
            raise UsageError("bad_value", message, hint=f"{name}=10")
    if glob is not None:
        check_glob(glob)


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
