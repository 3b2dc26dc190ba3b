"""Doctor's look at how files were read: some of them are parsed again, and held against what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from recall_core.config import Config
from recall_core.errors import IngestError, StoreCorrupt, UsageError
from recall_core.ingest.parse import PLUG_INS, missing_plug_ins, name_of
from recall_core.ingest.read import PIECES, RawFile, read_by, read_raw
from recall_core.ingest.reader import FileReader
from recall_core.ports import ParsedDocument
from recall_core.retrieve.freshness import file_state
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import Finding
from recall_core.text import nfc
from recall_core.types import Fingerprint, Root, is_granted

_SAMPLE = 40  # reading all of them may take as long as a sync
_NAMED = 3


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
    """A warning where a file that did not change gives other texts or marks by now: its parser, or the package behind
    it, has changed. Up to 40 files are read, spread evenly over their paths. Never raises for a file.
    """
    may_read = partial(is_granted, store.roots())
    files = [file for file in store.files() if file.os_path and file.documents and read_by(file.settings) != PIECES]
    sample = files[:: max(1, len(files) // _SAMPLE)][:_SAMPLE]
    sample = [file for file in sample if may_read(file.path) and file_state(file, base, may_read=may_read) is None]
    with FileReader(config) as reader:
        other = [file.path for file in sample if not _is_as_stored(file, reader, store, base, config)]
    if not other:
        return Finding("ok", f"{len(sample)} files are read as they were")
    more = f", and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
    evidence = f"{len(other)} of {len(sample)} files give another text by now: {', '.join(other[:_NAMED])}{more}"
    return Finding("warning", evidence, Hint("sync", reparse=True))


def _is_as_stored(file: Fingerprint, reader: FileReader, store: Store, base: Path, config: Config) -> bool:
    """Whether each document of the file that is stored has this text and these marks.

    A file that cannot be read, or not any more, and a text that is damaged, are other checks'.
    """
    try:
        raw = read_raw(base / file.os_path, path=file.path, config=config)
        if raw.digest != file.hash:
            return True
        documents = _parsed(raw, file, reader)
    except (OSError, IngestError, UsageError):
        return True
    return all(_is_stored(document, file.path, store) for document in documents)


def _parsed(raw: RawFile, file: Fingerprint, reader: FileReader) -> Sequence[ParsedDocument]:
    asked = read_by(file.settings)
    root = Root(file.path, parser=name_of(asked), encoding=asked.partition(";")[2])
    return reader.read(raw.content, path=file.path, root=root, digest=raw.digest).documents


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
