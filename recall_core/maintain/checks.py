"""The checks of doctor that look further than the store's own tables.

Files that changed or would now be read differently, chunks that their own text does not find, chunks that say almost
the same, and a ceiling under which sparse-document recall can never fire.
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
from recall_core.retrieve.query import telling
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import Finding
from recall_core.text import nfc, space_cjk
from recall_core.types import Fingerprint, LiteralQuery, Phrase, Root, Row, Vector, is_granted

_SYNC = Hint("sync")

_NAMED = 5  # files that are named, and read to see whether they can be: reading all may take as long as a sync


_State = State | Literal["earlier"]
"""What there is to do about a file. earlier: an earlier version of its parser read it."""

_HOW: Mapping[_State, str] = {
    "missing": "is missing",
    "modified": "is modified",
    "earlier": "was read by an earlier version",
}


class _Stale(NamedTuple):
    """A file that is not as it was read, or would be read otherwise by now."""

    file: Fingerprint
    state: _State


class _Met(NamedTuple):
    """A file that a sync reads, and the root that it is read by."""

    found: Found
    root: Root


def unchanged_files(store: Store, *, base: Path, config: Config) -> Finding:
    """A warning where documents were read from files that are missing or modified, as a search would mark them, or by
    an earlier version of their parser, which may have made other texts of them.

    Each file costs one look at its status; it is read only where that differs. Documents that a program brought have
    no file. The first few are named, by path. The fix is `recall sync` where that reads or takes out any of them, and
    for the first few that it leaves as they are `recall add` or `recall rm`.  Never raises for a file.
    """
    files = [file for file in store.files() if file.os_path and file.documents]
    may_read = partial(is_granted, store.roots())
    stale: list[_Stale] = []
    for file in files:
        state: _State | None = file_state(file, base, may_read=may_read)
        if state is not None or is_earlier(parser_in_settings(file.settings)):
            stale.append(_Stale(file, state or "earlier"))
    if not stale:
        return Finding("ok", f"{len(files)} files are as they were read")
    named = ", ".join(f"{file.path} {_HOW[state]}" for file, state in stale[:_NAMED])
    more = f", and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    evidence = f"of {len(files)} files {_count_stale(stale)}: {named}{more}"
    try:
        return Finding("warning", evidence, _remedy(stale, store, base=base, config=config))
    except IngestError as error:  # a sync would say the same
        return Finding("warning", evidence, error.hint or _SYNC)


def left_parts(store: Store, *, removed: Sequence[str] = ()) -> Finding:
    """Return a warning that lists what killed commands left of copies, here and where the store remembers a folder.

    removed: what was removed just now.
    """
    home = files.home_of(store.path)
    left = [each for each in files.find(home) if each.state != "living"] if home is not None else []
    gone = f"removed {_list_names(removed)}" if removed else ""
    if not left:
        return Finding("ok", gone or "killed commands left no copy", files=tuple(removed))
    lines = [_list_names([str(each.path) for each in left]) + " left by killed commands"]
    if any(each.state == "unknown" for each in left):
        lines.append("what another machine or an earlier version made can go a day after its last change")
    away = sorted({str(each.folder) for each in left if each.folder is not None})
    fix = "" if len(away) < len(left) else f"mount the disk of {away[0]}, then: {Hint('doctor', fix=True)}"
    evidence = "; ".join([gone, *lines] if gone else lines)
    can_go = any(each.state != "unknown" or files.is_abandoned(each.path) for each in left)
    return Finding("warning" if can_go else "ok", evidence, fix, files=(*removed, *(str(each.path) for each in left)))


def remove_left(store: Store) -> tuple[str, ...]:
    """Remove what killed commands left of copies. Return the names of the files that are gone."""
    home = files.home_of(store.path)
    if home is None:
        return ()
    before = [each.path for each in files.find(home) if each.folder is None]
    remaining = {each.path for each in files.remove(home, is_thorough=True)}
    return tuple(str(path) for path in before if path not in remaining)


def _list_names(names: Sequence[str]) -> str:
    """Return how many files there are, and the first few of them."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} file{'s' * (len(names) > 1)}: {', '.join(names[:_NAMED])}{more}"


def _count_stale(stale: Sequence[_Stale]) -> str:
    states = Counter(each.state for each in stale)
    missing, modified, earlier = states["missing"], states["modified"], states["earlier"]
    told = [f"{missing} are missing and {modified} modified"] if missing or modified else []
    told += [f"{earlier} were read by an earlier version of their parser"] if earlier else []
    return ", ".join(told)


def _remedy(stale: Sequence[_Stale], store: Store, *, base: Path, config: Config) -> str:
    """Return what helps, as one line. Raises IngestError `root_missing`."""
    roots = store.roots()[::-1]
    met = _meet(standing_roots(roots, known={file.path: file for file in store.files()}, base=base), base, config)
    read = [(each, here) for each in stale if (here := met.get(each.file.path))]
    skipped = []
    for each, here in read[:_NAMED]:  # a sync skips the file for what is in it
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
    hints += _read_again([each.file for each in left if each.state == "earlier"][:_NAMED], store, base)
    return ", then ".join(hints)


def _read_again(files: Sequence[Fingerprint], store: Store, base: Path) -> list[str]:
    """Return what has files read again that no sync reads: accept their root, or add them as they were."""
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
    """Return what a sync comes upon, by path; None where it skips it. roots: newest first."""
    met: dict[str, _Met | None] = {}
    for root in roots:
        is_folder = os.path.isdir(base / root.folder)  # noqa: PTH112 - Path.is_dir raises where one may not look
        steps = discover.walk(root, base, config) if is_folder else [discover.single(root, base)]
        for step in steps:
            here = _Met(step, root) if isinstance(step, Found) else None
            met[step.path] = met.get(step.path) or here
    return met


def _is_synced(stale: _Stale, met: Mapping[str, _Met | None], roots: Iterable[Root], base: Path) -> bool:
    """Return True if a sync reads the file, or takes out what vanished."""
    path = stale.file.path
    if path in met:
        return met[path] is not None
    return any(belongs(root, path) for root in roots) and is_gone(base / stale.file.os_path)


def _can_be_added(stale: _Stale, roots: Sequence[Root], base: Path, config: Config) -> bool:
    """Return True if naming the file would read it, whatever rule leaves it out of its folder.

    A file that only an import names is not tried.
    """
    path, os_path = stale.file.path, stale.file.os_path
    if stale.state != "modified" or not is_granted(roots, path):
        return stale.state == "modified"
    return _can_be_read(base / os_path, path, Root(path), config)


def _can_be_read(place: Path, path: str, root: Root, config: Config) -> bool:
    """Return True if the file can be read. A parser that is not installed is no fault of the file: a sync says so."""
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

_WORDS = 50  # of a chunk, from which the rarest are taken

_RAREST = 3

_TIE = 0.01  # as good as first: what a model makes of one text differs that little between machines

_ANEW = (
    f"{Hint('export', embeddings=False, out='FILE')}, then {Hint('init')} a new store and {Hint('import', 'FILE')}"
)


def self_retrieval(
    store: Store, embedder: Embedder | None, *, instead: str = "", stop_words: str = "english"
) -> Finding:
    """A warning when a chunk of the sample is not found by its rarest words, or is not the nearest to its own vector.

    Up to 20 chunks are tried, evenly spaced by path and offset. Their vectors are made anew, so that those stored for
    other texts, or by a model that has changed since, are found out; without an embedder the stored ones stand in,
    `instead` says why. A chunk as near as the nearest is no stray, and one without a vector is asked by words alone.
    Time grows with the number of vectors, which are gone through once.  Raises EmbedError.

    stop_words: as the setting has it, which words of a text a question would not look for.
    """
    with store.reading():
        rows = store.fetch(_spread(store.in_order(), _SAMPLE))
        if not rows:
            return Finding("ok", "there is no chunk to try")
        unheard = [row for row in rows if not _is_found_by_words(store, row, stop_words)]
        near = store.bests(_vectors(store, rows, embedder))
    strays = [row for row in rows if row.rowid in near and near[row.rowid][0] < near[row.rowid][1] - _TIE]
    by = f"their rarest words and {'stored vectors' if embedder is None else 'vectors made anew'}"
    by += f" ({instead})" if instead else ""
    lost = [row for row in rows if row in unheard or row in strays]
    if not lost:
        return Finding("ok", f"{len(rows)} chunks are found by {by}")
    first = f"{lost[0].where} by its {'words' if lost[0] in unheard else 'vector'}"
    evidence = f"of {len(rows)} chunks {len(lost)} are not found by {by}, the first {first}"
    return Finding("warning", evidence, "" if unheard else _ANEW)


def _spread(rowids: Sequence[int], most: int) -> list[int]:
    """Return so many of the rowids at most, evenly spread."""
    count = min(len(rowids), most)
    return [rowids[place * len(rowids) // count] for place in range(count)]


def _is_found_by_words(store: Store, row: Row, stop_words: str) -> bool:
    """Return True if its rarest words find the chunk; one without a word has none to miss."""
    words = list(dict.fromkeys(store.tokens(space_cjk(row.chunk.text))))[:_WORDS]
    words = telling(words, stop_words) or words
    phrases = tuple(Phrase(word, (word,)) for word in words)
    terms = store.term_stats(LiteralQuery("", phrases), is_searched=False)
    rarest = sorted(range(len(words)), key=lambda place: (terms[place].df, place))[:_RAREST]
    query = LiteralQuery("", tuple(phrases[place] for place in rarest), "all")
    return not words or row.rowid in store.lexical_scores(query, [row.rowid], title_weight=1.0)


def _vectors(store: Store, rows: Sequence[Row], embedder: Embedder | None) -> dict[int, Vector]:
    """Return the vector of each chunk, by its rowid, whose text has a feature."""
    if embedder is None:
        return store.vectors([row.rowid for row in rows])
    made = embed([embedded_of(row.doc, row.chunk) for row in rows], embedder)
    return {row.rowid: vector for row, (vector, _) in zip(rows, made, strict=True) if vector}


NEAR = 0.95  # with the embedders here: an edited copy, a text on another page's template; well above two on one topic

_SHOWN = 3


def near_duplicates(store: Store) -> Finding:
    """Return how many pairs of chunks have a cosine of NEAR or more, and the first few by path and offset.

    Both chunks have vectors and stand in documents of different content; `duplicates` tells of those of the same.
    Never a warning: what is alike may be meant. Every two chunks are compared, exactly.
    """
    with store.reading():
        near = store.near_pairs(least=NEAR, shown=_SHOWN)
        rows = {row.rowid: row for row in store.fetch([rowid for pair in near.first for rowid in pair[:2]])}
    shown = [f"{rows[one].where} and {rows[other].where} ({cosine:.3f})" for one, other, cosine in near.first]
    first = f"; the first {', '.join(shown)}" if shown else ""
    return Finding("ok", f"{near.pairs} pairs of chunks in different documents have a cosine from {NEAR:g} on{first}")


CALIBRATE = f"{Hint('eval', calibrate_sparse=True)}, then set sparse_distance_ceiling"

_SHORT_SAMPLE = 50

_LEAST_CHARS = 24  # half a shorter sentence is no question

_SENTENCE_END = re.compile(r"[.!?]\s|[\n。！？]")


def ceiling_reachable(store: Store, embedder: Embedder, config: Config) -> Finding:
    """Return a warning if no short document is within the ceiling of half its own first sentence.

    Without judgements there is nothing to calibrate a ceiling by, and it is a note.

    Up to 50 short documents, evenly spaced by path, are asked for with the first half of their first sentence: few
    questions come nearer to the document that answers them. What calibrates a ceiling is judged questions.
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
        return Finding("ok", "there is no short document to try")
    near = sum(distance <= config.sparse_distance_ceiling for distance in distances)
    evidence = (
        f"{near} of {len(distances)} short documents are within {config.sparse_distance_ceiling:g} of half "
        f"their first sentence; the nearest is at {min(distances):.3f}, the median {median(distances):.3f}"
    )
    return Finding("ok" if near or not store.judgement_count() else "warning", evidence)


def _half_sentence(text: str) -> str:
    """Return the first half of the first sentence, in whole words if it has any; "" if it is too short."""
    sentence = next((part.strip() for part in _SENTENCE_END.split(text) if len(part.strip()) >= _LEAST_CHARS), "")
    half = sentence[: len(sentence) // 2]
    return half.rpartition(" ")[0] or half


_FILES_READ_AGAIN = 40  # reading all of them may take as long as a sync
_FILES_NAMED = 3


def plug_ins_installed(store: Store) -> Finding:
    """Return a warning if files of the store were read by a plug-in of Recall's own that is not installed."""
    missing = missing_plug_ins(store.parsers())
    if not missing:
        return Finding("ok", "the parser of every file is installed")
    evidence = "; ".join(
        f"{PLUG_INS[name].distribution} is not installed; files left as it read them: {files:,}"
        for name, files in missing.items()
    )
    return Finding("warning", evidence, ", then ".join(PLUG_INS[name].install() for name in missing))


def read_again(store: Store, *, base: Path, config: Config) -> Finding:
    """Return a warning where a file that did not change gives other texts or marks by now: its parser, or the package
    behind it, has changed. Up to 40 files are read, spread evenly over their paths. Never raises for a file.
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
        other = [file.path for file in sample if not _is_as_stored(file, reader, store, base, config)]
    if not other:
        return Finding("ok", f"{len(sample)} files are read as they were")
    more = f", and {len(other) - _FILES_NAMED} more" if len(other) > _FILES_NAMED else ""
    evidence = (
        f"{len(other)} of {len(sample)} files give another text by now: {', '.join(other[:_FILES_NAMED])}{more}"
    )
    return Finding("warning", evidence, Hint("sync", reparse=True))


def _is_as_stored(file: Fingerprint, reader: FileReader, store: Store, base: Path, config: Config) -> bool:
    """Return True if each document of the file that is stored has this text and these marks.

    A file that cannot be read, or not any more, and a text that is damaged, are other checks'.
    """
    try:
        raw = read_raw(base / file.os_path, path=file.path, config=config)
        if raw.digest != file.hash:
            return True
        asked = parser_in_settings(file.settings)
        root = Root(file.path, parser=name_of(asked), encoding=asked.partition(";")[2])
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
