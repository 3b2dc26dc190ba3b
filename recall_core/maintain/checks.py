"""Doctor's checks beyond the store's own tables.

They look at changed files, files that a newer parser reads differently, chunks that their own text does not find,
near duplicates, and a ceiling too low for sparse-document recall.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from recall_core import files
from recall_core.config import Config
from recall_core.errors import IngestError, StoreCorrupt, UsageError
from recall_core.ingest import discover
from recall_core.ingest.discover import Found
from recall_core.ingest.parse import PLUG_INS, is_earlier, missing_plug_ins, name_of
from recall_core.ingest.reader import PIECES, FileReader, parser_in_settings, read_raw
from recall_core.ingest.targets import belongs, inherit_options, is_gone, standing_roots
from recall_core.ingest.vectors import embed
from recall_core.ports import Embedder, ParsedDocument
from recall_core.retrieve.answer import embedded_of
from recall_core.retrieve.freshness import State, file_state
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import Finding
from recall_core.text import nfc
from recall_core.types import Fingerprint, LiteralQuery, Root, Row, Vector, is_granted
from recall_core.words.question import telling

_SYNC = Hint("sync")

_NAMED = 5  # files named and test-read; reading all could take as long as a sync


_State = State | Literal["earlier"]
"""State of a file. earlier: read by an earlier version of its parser."""

_HOW: Mapping[_State, str] = {
    "missing": "is missing",
    "modified": "is modified",
    "earlier": "was read by an earlier version",
}


class _Stale(NamedTuple):
    """A file that changed, or that its parser now reads differently."""

    file: Fingerprint
    state: _State


class _Met(NamedTuple):
    """A file that a sync reads, and its root."""

    found: Found
    root: Root


def unchanged_files(store: Store, *, base: Path, config: Config) -> Finding:
    """Return a warning if files are missing, modified, or read by an earlier version of their parser.

    An earlier version may have made different texts. Each file costs one stat call; it is read only if that differs.
    Documents without a file are skipped. The evidence names the first few files by path. The fix is `recall sync` for
    files that a sync reads or removes, else `recall add` or `recall rm` for the first few. Never raises for a file.
    """
    files = [file for file in store.files() if file.os_path and file.documents]
    may_read = partial(is_granted, store.roots())
    stale: list[_Stale] = []
    for file in files:
        state: _State | None = file_state(file, base, may_read=may_read)
        if state is not None or is_earlier(parser_in_settings(file.settings)):
            stale.append(_Stale(file, state or "earlier"))
    if not stale:
        return Finding("ok", f"{len(files)} files are unchanged since they were read")
    named = ", ".join(f"{file.path} {_HOW[state]}" for file, state in stale[:_NAMED])
    more = f", and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    evidence = f"{len(files)} files checked, {_count_stale(stale)}: {named}{more}"
    try:
        return Finding("warning", evidence, _remedy(stale, store, base=base, config=config))
    except IngestError as error:  # a sync would report the same
        return Finding("warning", evidence, error.hint or _SYNC)


def left_parts(store: Store, *, removed: Sequence[str] = ()) -> Finding:
    """Return a warning that lists copies left behind by killed commands, here and in every remembered folder.

    removed: files removed just now.
    """
    home = files.home_of(store.path)
    left = [each for each in files.find(home) if each.state != "living"] if home is not None else []
    gone = f"removed {_list_names(removed)}" if removed else ""
    if not left:
        return Finding("ok", gone or "no copies left by killed commands", files=tuple(removed))
    lines = [_list_names([str(each.path) for each in left]) + " left by killed commands"]
    if any(each.state == "unknown" for each in left):
        lines.append(
            "files made by another machine or an earlier version can be removed one day after their last change"
        )
    away = sorted({str(each.folder) for each in left if each.folder is not None})
    fix = "" if len(away) < len(left) else f"mount the disk of {away[0]}, then: {Hint('doctor', fix=True)}"
    evidence = "; ".join([gone, *lines] if gone else lines)
    can_go = any(each.state != "unknown" or files.is_abandoned(each.path) for each in left)
    return Finding("warning" if can_go else "ok", evidence, fix, files=(*removed, *(str(each.path) for each in left)))


def remove_left(store: Store) -> tuple[str, ...]:
    """Remove copies left behind by killed commands. Return the names of the removed files."""
    home = files.home_of(store.path)
    if home is None:
        return ()
    before = [each.path for each in files.find(home) if each.folder is None]
    remaining = {each.path for each in files.remove(home, is_thorough=True)}
    return tuple(str(path) for path in before if path not in remaining)


def _list_names(names: Sequence[str]) -> str:
    """Return the number of files and the names of the first few."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} file{'s' * (len(names) > 1)}: {', '.join(names[:_NAMED])}{more}"


def _count_stale(stale: Sequence[_Stale]) -> str:
    states = Counter(each.state for each in stale)
    missing, modified, earlier = states["missing"], states["modified"], states["earlier"]
    parts = [f"{missing} missing, {modified} modified"] if missing or modified else []
    parts += [f"{earlier} read by an earlier version of their parser"] if earlier else []
    return ", ".join(parts)


def _remedy(stale: Sequence[_Stale], store: Store, *, base: Path, config: Config) -> str:
    """Return the commands that help, as one line. Raises IngestError `root_missing`."""
    roots = store.roots()[::-1]
    met = _meet(standing_roots(roots, known={file.path: file for file in store.files()}, base=base), base, config)
    read = [(each, here) for each in stale if (here := met.get(each.file.path))]
    skipped = []
    for each, here in read[:_NAMED]:  # a sync skips the file because of its content
        root = inherit_options(here.root, here.found.path, roots)
        if not _can_be_read(base / here.found.os_path, here.found.path, root, config):
            skipped.append(each)
    left = [each for each in stale if each in skipped or not _is_synced(each, met, roots, base)]
    changed = [each for each in left if each.state != "earlier"][:_NAMED]
    added = [each for each in changed if each not in skipped and _can_be_added(each, roots, base, config)]
    readable = [str(base / each.file.os_path) for each in added]
    unread = [each.file.path for each in changed if each not in added]
    hints: list[str] = [_SYNC] if len(left) < len(stale) else []
    hints += [Hint("add", *readable)] if readable else []
    hints += [Hint("rm", *unread)] if unread else []
    hints += _hints_to_read([each.file for each in left if each.state == "earlier"][:_NAMED], store, base)
    return ", then ".join(hints)


def _hints_to_read(files: Sequence[Fingerprint], store: Store, base: Path) -> list[str]:
    """Return commands for files that no sync reads: accept their root, or add the files with their old parser."""
    waiting = {number: each.root for number, each in enumerate(store.known_roots(), 1) if not each.is_active}
    accepted: dict[int, None] = {}
    named: dict[str, list[str]] = {}
    for file in files:
        number = next((number for number, root in waiting.items() if belongs(root, file.path)), None)
        if number is None:
            named.setdefault(name_of(parser_in_settings(file.settings)), []).append(str(base / file.os_path))
        else:
            accepted[number] = None
    hints: list[str] = [Hint("roots", "accept", *map(str, accepted)), _SYNC] if accepted else []
    return hints + [Hint("add", *paths, parser=name) for name, paths in named.items()]


def _meet(roots: Iterable[Root], base: Path, config: Config) -> dict[str, _Met | None]:
    """Return the files that a sync finds, by path; None for a skipped file. roots: newest first."""
    met: dict[str, _Met | None] = {}
    for root in roots:
        is_folder = os.path.isdir(base / root.folder)  # noqa: PTH112 - Path.is_dir raises without permission
        steps = discover.walk(root, base, config) if is_folder else [discover.single(root, base)]
        for step in steps:
            here = _Met(step, root) if isinstance(step, Found) else None
            met[step.path] = met.get(step.path) or here
    return met


def _is_synced(stale: _Stale, met: Mapping[str, _Met | None], roots: Iterable[Root], base: Path) -> bool:
    """Return True if a sync reads the file, or removes it because it is gone."""
    path = stale.file.path
    if path in met:
        return met[path] is not None
    return any(belongs(root, path) for root in roots) and is_gone(base / stale.file.os_path)


def _can_be_added(stale: _Stale, roots: Sequence[Root], base: Path, config: Config) -> bool:
    """Return True if adding the file by name would read it, despite the rules of its folder.

    A file known only from an import is not tried.
    """
    path, os_path = stale.file.path, stale.file.os_path
    if stale.state != "modified" or not is_granted(roots, path):
        return stale.state == "modified"
    return _can_be_read(base / os_path, path, Root(path), config)


def _can_be_read(place: Path, path: str, root: Root, config: Config) -> bool:
    """Return True if the file can be read. A missing parser counts as readable, because a sync reports it."""
    try:
        raw = read_raw(place, path=path, config=config)
        with FileReader(config) as reader:
            reader.read(raw.content, path=path, root=root, digest=raw.digest)
    except UsageError:
        return True
    except IngestError as error:
        return error.code == "parser_missing"
    except OSError:
        return False
    return True


_SAMPLE = 20

_WORDS = 50  # of a chunk; the rarest of them are searched for

_RAREST = 3

_TIE = 0.01  # cosines closer than this are equal: one model differs that little between machines

_NEW_STORE = (
    f"{Hint('export', embeddings=False, out='FILE')}, then {Hint('init')} a new store and {Hint('import', 'FILE')}"
)


def self_retrieval(
    store: Store, embedder: Embedder | None, *, instead: str = "", stop_words: str = "english"
) -> Finding:
    """Return a warning if a sampled chunk is not found by its rarest words, or is not nearest to its own vector.

    The sample is up to 20 chunks, evenly spaced by path and offset. Their vectors are made again, to detect vectors
    stored for another text or by a model that has changed. A chunk within a small tolerance of the nearest passes. A
    chunk without a vector is searched by words alone. The check compares with every vector once. Raises EmbedError.

    embedder: None to use the stored vectors; `instead` is the reason to report.
    stop_words: value of the setting; a search ignores these words.
    """
    with store.reading():
        rows = store.fetch(_spread(store.in_order(), _SAMPLE))
        if not rows:
            return Finding("ok", "no chunks to check")
        missed = [row for row in rows if not _is_found_by_words(store, row, stop_words)]
        near = store.bests(_vectors(store, rows, embedder))
    strays = [row for row in rows if row.rowid in near and near[row.rowid][0] < near[row.rowid][1] - _TIE]
    by = f"their rarest words and {'stored vectors' if embedder is None else 'fresh vectors'}"
    by += f" ({instead})" if instead else ""
    lost = [row for row in rows if row in missed or row in strays]
    if not lost:
        return Finding("ok", f"{len(rows)} chunks are found by {by}")
    first = f"{lost[0].where} by its {'words' if lost[0] in missed else 'vector'}"
    evidence = f"{len(lost)} of {len(rows)} chunks are not found by {by}; first: {first}"
    return Finding("warning", evidence, "" if missed else _NEW_STORE)


def _spread(rowids: Sequence[int], most: int) -> list[int]:
    """Return at most `most` of the rowids, evenly spread."""
    count = min(len(rowids), most)
    return [rowids[place * len(rowids) // count] for place in range(count)]


def _is_found_by_words(store: Store, row: Row, stop_words: str) -> bool:
    """Return True if its rarest words find the chunk, or if it has no words."""
    words = list(dict.fromkeys(store.analyzer.tokens(row.chunk.text, ends="all")))[:_WORDS]
    words = telling(words, stop_words) or words
    phrases = store.analyzer.each(words)
    terms = store.term_stats(LiteralQuery("", phrases), is_searched=False)
    rarest = sorted(range(len(words)), key=lambda place: (terms[place].df, place))[:_RAREST]
    query = LiteralQuery("", tuple(phrases[place] for place in rarest), "all")
    return not words or row.rowid in store.lexical_scores(query, [row.rowid], title_weight=1.0)


def _vectors(store: Store, rows: Sequence[Row], embedder: Embedder | None) -> dict[int, Vector]:
    """Return chunk rowid to vector, for chunks whose text has a feature. A given vector is the stored one."""
    rowids = [row.rowid for row in rows]
    stored = store.vectors(rowids if embedder is None else store.given_vectors(rowids))
    if embedder is None:
        return stored
    own = [row for row in rows if row.rowid not in stored]
    made = embed([embedded_of(row.doc, row.chunk) for row in own], embedder)
    return stored | {row.rowid: vector for row, (vector, _) in zip(own, made, strict=True) if vector}


NEAR = 0.95  # an edited copy or a shared page template; well above two texts on one topic

_SHOWN = 3


def near_duplicates(store: Store) -> Finding:
    """Return the number of chunk pairs with a cosine of at least NEAR, and the first few by path and offset.

    Compares every two chunks with vectors exactly, if their documents have different content; the check `duplicates`
    reports equal content. Never a warning, because similar chunks may be intended.
    """
    with store.reading():
        near = store.near_pairs(least=NEAR, shown=_SHOWN)
        rows = {row.rowid: row for row in store.fetch([rowid for pair in near.first for rowid in pair[:2]])}
    shown = [f"{rows[one].where} and {rows[other].where} ({cosine:.3f})" for one, other, cosine in near.first]
    first = f"; first: {', '.join(shown)}" if shown else ""
    return Finding(
        "ok", f"{near.pairs} pairs of chunks in different documents have a cosine of at least {NEAR:g}{first}"
    )


CALIBRATE = f"{Hint('eval', calibrate_sparse=True)}, then set sparse_distance_ceiling"

_SHORT_SAMPLE = 50

_LEAST_CHARS = 24  # half a shorter sentence is not a useful question

_SENTENCE_END = re.compile(r"[.!?]\s|[\n。！？]")


def ceiling_reachable(store: Store, embedder: Embedder, config: Config) -> Finding:
    """Return a warning if no short document is within the ceiling of half its own first sentence.

    Searches for up to 50 short documents, evenly spaced by path, with the first half of their first sentence. Few
    questions come nearer to the document that answers them. Without judgements, which a ceiling is calibrated with,
    the result is a note.
    """
    if not config.sparse_recall or config.sparse_max_injections == 0:
        return Finding("ok", "sparse-document recall is off")
    rows = _spread(store.short_documents(config.sparse_chunk_threshold), _SHORT_SAMPLE)
    halves = {row.rowid: half for row in store.fetch(rows) if (half := _half_sentence(row.chunk.text))}
    vectors = embedder.embed(list(halves.values()), is_query=True)
    distances = []
    for rowid, vector in zip(halves, vectors, strict=True):
        if vector:
            distances += [1 - cosine for cosine in store.cosines(vector, where=None, rowids=[rowid]).values()]
    if not distances:
        return Finding("ok", "no short documents to check")
    near = sum(distance <= config.sparse_distance_ceiling for distance in distances)
    evidence = (
        f"{near} of {len(distances)} short documents are within distance {config.sparse_distance_ceiling:g} of half "
        f"their first sentence; nearest {min(distances):.3f}, median {median(distances):.3f}"
    )
    return Finding("ok" if near or not store.judgement_count() else "warning", evidence)


def _half_sentence(text: str) -> str:
    """Return the first half of the first sentence, in whole words if possible; "" if it is too short."""
    sentence = next((part.strip() for part in _SENTENCE_END.split(text) if len(part.strip()) >= _LEAST_CHARS), "")
    half = sentence[: len(sentence) // 2]
    return half.rpartition(" ")[0] or half


_FILES_READ_AGAIN = 40  # reading all of them could take as long as a sync
_FILES_NAMED = 3


def plug_ins_installed(store: Store) -> Finding:
    """Return a warning if a plug-in of Recall that read files of the store is not installed."""
    missing = missing_plug_ins(store.parsers())
    if not missing:
        return Finding("ok", "the parser of every file is installed")
    evidence = "; ".join(
        f"{PLUG_INS[name].distribution} is not installed; files it parsed, kept unchanged: {files:,}"
        for name, files in missing.items()
    )
    return Finding("warning", evidence, ", then ".join(PLUG_INS[name].install() for name in missing))


def read_again(store: Store, *, base: Path, config: Config) -> Finding:
    """Return a warning if an unchanged file now gives different texts or marks.

    Then its parser, or a package behind it, has changed. Reads up to 40 files, evenly spaced by path. Never raises
    for a file.
    """
    may_read = partial(is_granted, store.roots())
    files = [
        file
        for file in store.files()
        if file.os_path and file.documents and parser_in_settings(file.settings) != PIECES
    ]
    sample = files[:: max(1, len(files) // _FILES_READ_AGAIN)][:_FILES_READ_AGAIN]
    sample = [file for file in sample if may_read(file.path) and file_state(file, base, may_read=may_read) is None]
    with FileReader(config) as reader:
        changed = [file.path for file in sample if not _is_as_stored(file, reader, store, base, config)]
    if not changed:
        return Finding("ok", f"{len(sample)} files still give the stored text")
    more = f", and {len(changed) - _FILES_NAMED} more" if len(changed) > _FILES_NAMED else ""
    evidence = (
        f"{len(changed)} of {len(sample)} files now give a different text: {', '.join(changed[:_FILES_NAMED])}{more}"
    )
    return Finding("warning", evidence, Hint("sync", reparse=True))


def _is_as_stored(file: Fingerprint, reader: FileReader, store: Store, base: Path, config: Config) -> bool:
    """Return True if each stored document of the file still has the same text and marks.

    Other checks report unreadable files and damaged texts.
    """
    try:
        raw = read_raw(base / file.os_path, path=file.path, config=config)
        if raw.digest != file.hash:
            return True
        parser = parser_in_settings(file.settings)
        root = Root(file.path, parser=name_of(parser), encoding=parser.partition(";")[2])
        documents = reader.read(raw.content, path=file.path, root=root, digest=raw.digest).documents
    except (OSError, IngestError, UsageError):
        return True
    return all(_is_stored(document, file.path, store) for document in documents)


def _is_stored(document: ParsedDocument, path: str, store: Store) -> bool:
    name = path if document.record is None else nfc(f"{path}#{document.record}")
    own_id = store.document_at(name)
    if own_id is None:
        return True
    try:
        marks, text = store.marks_of(own_id), store.text_of(own_id)
    except StoreCorrupt:
        return True
    is_same = text == document.text or not (text.strip() or document.text.strip())
    return is_same and marks in (document.marks, ())
