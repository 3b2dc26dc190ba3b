"""The pipeline: discover, read, chunk, embed and commit files, told as a stream of Progress events."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic

from recall_core import shell
from recall_core.config import COMMIT_SECONDS, Config
from recall_core.errors import IngestError, UsageError
from recall_core.ingest import content, discover, kinds, read
from recall_core.ingest.ahead import ReadAhead
from recall_core.ingest.batch import Batch
from recall_core.ingest.discover import Found
from recall_core.ingest.parse import AUTO, identity, is_earlier, missing_plug_ins, name_of
from recall_core.ingest.reader import FileReader
from recall_core.ingest.skips import skip_of
from recall_core.ingest.targets import (
    are_two,
    as_remembered,
    belongs,
    inherited,
    is_as_read,
    is_gone,
    is_no_file,
    is_overruled,
    is_record,
    named_roots,
    standing_roots,
)
from recall_core.ingest.vectors import (
    Pace,
    TextVector,
    check_cut,
    check_embedder,
    cut_by,
    made_in_turn,
    missing_texts,
    tokens_of,
    with_vectors,
)
from recall_core.ports import Embedder
from recall_core.store.port import Store
from recall_core.text import counter, nfc
from recall_core.types import Fingerprint, NewFile, Progress, Root, Skip, Stage, is_granted

EVENT_SECONDS = 0.05  # between two events about files, so that nobody drowns in them
_FIRST_COMMIT_CHARS = 20_000  # before anything is known of the embedder's pace


def ingest(
    targets: Sequence[str],
    *,
    template: Root,
    store: Store,
    embedder: Embedder,
    config: Config,
    base: Path,
    mtime_only: bool = False,
) -> Iterator[Progress]:
    """Read the named files and folders into the store, and remember them.

    template: the options of the call; its folder is filled in for each target.  config: chunker and counter as the
    store has them.  base: the store's directory.  mtime_only: a file of equal size and time is not even read.
    Files of a folder that was added before with the same options, and that vanished from it, are taken out.
    A file in a folder that cannot be read is skipped; a named one raises IngestError before anything is written.
    Every commit is complete in itself, so stopping at any event loses at most what came after the last one.
    """
    roots = named_roots(targets, template=template, config=config, base=base)
    run = _IngestRun(store, embedder, config, base)
    roots = tuple(dict.fromkeys(as_remembered(root, run.remembered) for root in roots))
    run.mtime_only = mtime_only
    run.batch.roots = [root for root in roots if root not in run.remembered]
    run.take_back(roots)
    yield from run.all_of(roots, swept=[root for root in roots if root in run.remembered])


def ingest_content(
    raw: read.RawFile,
    name: str,
    *,
    template: Root,
    store: Store,
    embedder: Embedder,
    config: Config,
    base: Path,
) -> Iterator[Progress]:
    """Read content that no file holds into the store, under a name of its own; it takes the place of what had it.

    template: parser and labels.  Raises IngestError as a named file does; UsageError `bad_value` for what is no path
    below the store's directory, `name_taken` for that of a file or of a document from one.
    """
    run = _IngestRun(store, embedder, config, base)
    yield from run.read_content(raw, nfc(name), template)


def sync(
    store: Store, embedder: Embedder, config: Config, base: Path, *, reparse: bool = False
) -> Iterator[Progress]:
    """Bring every remembered folder and file up to date; what vanished from disk is taken out.

    reparse: read and parse every file, also those that did not change: what is told of texts by now, and was not when
    they were read, comes in. A text that stays keeps its vector.
    Where several roots find the same file, the one that was added last gives it its labels.  Raises IngestError
    `root_missing` before anything is written.
    """
    run = _IngestRun(store, embedder, config, base)
    run.is_sync = True
    run.reparse = reparse
    standing = standing_roots(run.remembered, known=run.known, base=base)
    yield from run.all_of(standing, swept=run.remembered)


class _IngestRun:
    """One ingest run: its counters, and the batch that is being filled."""

    def __init__(self, store: Store, embedder: Embedder, config: Config, base: Path) -> None:
        self.store = store
        self.embedder = embedder
        self.config = config
        self.base = base
        self.counter = counter(config.counter)
        self.reader = FileReader(config)
        self.notes: list[tuple[str, str]] = []
        self.cut_by = cut_by(store)
        self.known: dict[str, Fingerprint] = {file.path: file for file in store.files()}
        self.remembered = store.roots()[::-1]  # newest first
        self.left_out = {each.root: frozenset(each.left_out) for each in store.known_roots() if each.left_out}
        self.taken_back: set[str] = set()
        self.is_sync = False
        self.mtime_only = False
        self.reparse = False
        self.batch = Batch()
        self.pace = Pace()
        self.tokens_before = tokens_of(embedder)
        self.told = monotonic()
        self.jobs: dict[str, tuple[Found, Root]] = {}
        self.options: dict[str, Root] = {}
        self.skips: dict[str, Skip] = {}
        self.displaced: dict[str, Skip] = {}
        self.renewed: set[Root] = set()
        self.files_done = self.documents = self.chunks = self.embedded = self.reused = 0
        self.unchanged = self.added = self.updated = self.removed = self.without_text = 0
        self.is_discovered = False

    def all_of(self, roots: Sequence[Root], *, swept: Sequence[Root]) -> Iterator[Progress]:
        """The whole run. A file belongs to the first root that finds it; vanished files of `swept` are taken out."""
        with self.reader:
            yield from self._all_of(roots, swept)

    def _all_of(self, roots: Sequence[Root], swept: Sequence[Root]) -> Iterator[Progress]:
        for root in roots:
            yield from self._discover(root)
        self.skips = {path: skip for path, skip in self.skips.items() if path not in self.jobs}
        self._sweep(swept)
        self.is_discovered = True
        jobs = [self.jobs[path] for path in sorted(self.jobs)]
        ahead = ReadAhead(jobs, reader=self.reader, options=self._options, begin=self._begin)
        for at, (found, root) in enumerate(jobs):
            path = found.path
            ahead.turn(at)
            self._take(found, root)
            self.reader.forget(path)
            self.files_done += 1
            yield from self._tell("read", path)
            if self.batch.is_due(self._chars_in_time()):
                yield from self._commit(path)
        yield from self._commit("")
        yield self._event("done", "")

    def read_content(self, raw: read.RawFile, name: str, options: Root) -> Iterator[Progress]:
        """The whole run of content without a file."""
        with self.reader:
            yield from self._read_content(raw, name, options)

    def _read_content(self, raw: read.RawFile, name: str, options: Root) -> Iterator[Progress]:
        content.check_name(name)
        if raw.size > self.config.max_file_bytes:
            raise read.too_large(name, raw.size, self.config)
        self.is_discovered = True
        found = Found(name, "", raw.size, raw.mtime_ns)
        made = self._documents(found, raw, options)
        content.check_free(name, made.documents, store=self.store, base=self.base)
        known = self._as_known(found)
        is_same = known is not None and (known.hash, known.settings) == (raw.digest, made.settings)
        if known and is_same and content.is_as_kept(known, made.documents, store=self.store):
            self.unchanged, self.documents = 1, known.documents
        else:
            self._put(found, raw, None, made)
            self.batch.taken_back = [name]
        self.files_done = 1
        yield from self._commit(name)
        yield self._event("done", "")

    def take_back(self, roots: Sequence[Root]) -> None:
        """Files that are named themselves are read again, whatever folder left them out."""
        left_out = {path for paths in self.left_out.values() for path in paths}
        for name in {nfc(root.folder) for root in roots}:
            if back := {path for path in left_out if path == name or is_record(path, name, self.base)}:
                self.taken_back.add(name)
                self.batch.taken_back = sorted({*self.batch.taken_back, *back})

    def _discover(self, root: Root) -> Iterator[Progress]:
        place = self.base / root.folder
        is_folder = os.path.isdir(place)  # noqa: PTH112 - Path.is_dir raises where one may not look
        steps = discover.walk(root, self.base, self.config) if is_folder else [discover.single(root, self.base)]
        for step in steps:
            if isinstance(step, Skip):
                self.skips.setdefault(step.path, step)
            else:
                self._claim(step, root)
            yield from self._tell("discover", step.path)

    def _claim(self, found: Found, root: Root) -> None:
        """Give the file its path, unless another file of the same name in another form of Unicode has it.

        What the store holds keeps it while it is there, or each run would put the one in the place of the other.
        """
        if found.path in self.left_out.get(root, ()):
            if not self.is_sync:
                reason = f"it was removed from the store (recall add {shell.quote(found.path)})"
                self.skips.setdefault(found.path, Skip(found.path, "left_out", reason))
            return
        known, job = self.known.get(found.path), self.jobs.get(found.path)
        for holder in (known.os_path if known else "", job[0].os_path if job else ""):
            if holder and holder != found.os_path and are_two(self.base / holder, self.base / found.os_path):
                reason = (
                    f"its name, {found.os_path!a}, is {holder!a} in another form of Unicode, and that file is read"
                )
                self.displaced[found.os_path] = Skip(found.path, "same_name", reason)
                return
        self.jobs.setdefault(found.path, (found, root))

    def _sweep(self, roots: Sequence[Root]) -> None:
        """What these roots read once and find no more: taken out where no file is left, else told when it changed.

        What a program brought was never read from a file, and stays.
        """
        for path, file in self.known.items():
            if not file.os_path or path in self.jobs:
                continue
            if self.is_sync and read.is_edited(file) and not self._is_held_up(path):
                self.batch.gone.append(path)
                self.removed += 1
                continue
            if not any(belongs(root, path) for root in roots):
                continue
            place = self.base / file.os_path
            if is_no_file(place) or (path not in self.skips and is_gone(place)):
                self.batch.gone.append(path)
                self.removed += 1
            elif path in self.skips or not self.is_sync or not is_granted(roots, path):
                continue
            elif not is_as_read(file, place, self.config):
                reason = "a rule leaves it out by now, and what was read of it stays"
                self._skip(path, "excluded", f"{reason} (recall rm {shell.quote(path)})")

    def _is_held_up(self, path: str) -> bool:
        """Whether a file was not met for another reason than that no root asks for it."""
        skip = self.skips.get(path)
        if skip is not None:
            return skip.code != "symlink_outside"
        above = (path[:end] for end, mark in enumerate(path) if mark == "/")
        return any(folder in self.skips and self.skips[folder].code == "unreadable" for folder in above)

    def _take(self, found: Found, root: Root) -> None:
        """One file: left alone, refreshed, put into the batch, or skipped with its reason."""
        options = self._options(found, root)
        del self.options[found.path]
        self._renew(root, found.path)
        known = self._as_known(found)
        if known and self.mtime_only and self._is_as_before(known, found, options):
            self._leave(known, root)
            return
        try:
            raw = read.read_raw(self.base / found.os_path, path=found.path, config=self.config)
            if known and self._is_same(known, raw, options):
                if (known.size, known.mtime_ns) != (raw.size, raw.mtime_ns):
                    self.batch.touched.append((found.path, raw))
                elif known.stamp != raw.stamp:
                    self.batch.settled.append((found.path, raw))
                self._leave(known, root)
            else:
                self._put(found, raw, root, self._documents(found, raw, options))
        except OSError as error:
            self._skip(found.path, "unreadable", f"it cannot be read: {error.strerror}")
        except (IngestError, UsageError) as error:
            if isinstance(error, UsageError) and (options.parser, options.encoding) == (AUTO, ""):
                raise  # recall.toml is wrong, and with it every root
            self.skips[found.path] = skip_of(found.path, error)

    def _begin(self, found: Found, options: Root) -> None:
        """Have a file parsed before its turn, unless it stays as it is. Raises what reading it raises."""
        known = self._as_known(found)
        if known and self._is_as_before(known, found, options):
            return
        raw = read.read_raw(self.base / found.os_path, path=found.path, config=self.config)
        if not (known and self._is_same(known, raw, options)):
            self.reader.begin(raw.content, path=found.path, root=options, digest=raw.digest)

    def _options(self, found: Found, root: Root) -> Root:
        """The root of a file with all that it inherits, found out once."""
        if found.path not in self.options:
            self.options[found.path] = inherited(root, found.path, self.remembered)
        return self.options[found.path]

    def _renew(self, root: Root, path: str) -> None:
        """A root that is added again is the last one added, if that makes a difference to what a sync reads."""
        if not self.is_sync and root not in self.renewed and is_overruled(root, path, self.remembered):
            self.renewed.add(root)
            self.batch.renewed.append(root)

    def _as_known(self, found: Found) -> Fingerprint | None:
        """The file as last read, provided that it may stay so."""
        known = None if self.reparse or found.path in self.taken_back else self.known.get(found.path)
        return known if known and known.os_path == found.os_path else None

    def _is_same(self, known: Fingerprint, raw: read.RawFile, options: Root) -> bool:
        """Whether a file has the bytes that it had, and would be read the same way."""
        own = self.reader.parser_of(raw.content, path=known.path, root=options) if known.hash == raw.digest else None
        return own is not None and self._is_read_by(own, known, options)

    def _is_as_before(self, known: Fingerprint, found: Found, options: Root) -> bool:
        """Whether a file has the size and time it had, and would be read the same way as far as its name tells."""
        if (known.size, known.mtime_ns) != (found.size, found.mtime_ns):
            return False
        name = kinds.choose(known.path, b"", parser=options.parser, overrides=self.config.parsers)
        before = read.read_by(known.settings)
        is_free = options.parser == AUTO and name == "text" and not is_earlier(before)
        own = before.partition(";")[0] if is_free else identity(name)
        return self._is_read_by(own, known, options)

    def _is_read_by(self, own: str, known: Fingerprint, options: Root) -> bool:
        """Return True if that parser has read the file, or any version of it where the plug-in is not installed."""
        before = read.read_by(known.settings).partition(";")[0]
        if name_of(own) == name_of(before) and missing_plug_ins({own: 1}):
            own = before
        return known.settings == read.settings_by(read.asked_of(own, options), self.config)

    def _leave(self, known: Fingerprint, root: Root) -> None:
        self.unchanged += 1
        self.documents += known.documents
        if not self.is_sync and (root.tags or root.source is not None or root.meta):
            self.batch.labelled.append((known.path, root))

    def _documents(self, found: Found, raw: read.RawFile, options: Root) -> read.FileDocuments:
        made = read.documents(
            raw, path=found.path, root=options, reader=self.reader, counter=self.counter, config=self.config
        )
        self.notes += [(found.path, note) for note in made.notes]
        return made

    def _put(self, found: Found, raw: read.RawFile, root: Root | None, made: read.FileDocuments) -> None:
        documents = made.documents
        is_back = root is None or found.path in self.taken_back
        left_out = frozenset() if is_back else self.left_out.get(root, frozenset())  # type: ignore[arg-type]
        documents = tuple(each for each in documents if each.path not in left_out) if left_out else documents
        self.batch.add(
            NewFile(
                found.path,
                found.os_path,
                raw.size,
                raw.mtime_ns,
                raw.digest,
                made.settings,
                root,
                documents,
                raw.ctime_ns,
                raw.inode,
            )
        )
        self.documents += len(documents)
        self.chunks += sum(len(document.chunks) for document in documents)
        self.without_text += sum(not document.chunks for document in documents)
        if found.path in self.known:
            self.updated += 1
        else:
            self.added += 1

    def _skip(self, path: str, code: str, reason: str) -> None:
        self.skips[path] = Skip(path, code, reason)

    def _chars_in_time(self) -> float:
        """How many characters the embedder reads in the time between two commits."""
        return self.pace.chars_per_second * COMMIT_SECONDS or _FIRST_COMMIT_CHARS

    def _commit(self, path: str) -> Iterator[Progress]:
        """Embed what is new and write the batch in one transaction; nothing of it when a vector is not fit."""
        batch = self.batch
        if batch.is_empty():
            return
        missing = missing_texts(batch.files, self.store)
        made: dict[bytes, TextVector] = {}
        yield from self._embed(missing, made, path)
        files = [with_vectors(file, made) for file in batch.files]
        with self.store.writer() as writer:
            check_embedder(self.store, self.embedder)
            check_cut(self.store, self.cut_by)
            batch.write(writer, self._still_to_write(files))
        self.reused += batch.chunks - len(missing)
        self.batch = Batch()
        yield self._event("commit", path)

    def _still_to_write(self, files: Sequence[NewFile]) -> list[NewFile]:
        """Return the files that no other process has written since this run began, and count what is left to do."""
        self.removed -= sum(self.store.known(path) is None for path in self.batch.gone)
        writing = []
        for file in files:
            before, now = self.known.get(file.path), self.store.known(file.path)
            was_known, is_known = before is not None, now is not None
            self.added += was_known - is_known
            self.updated += is_known - was_known
            is_others = now != before and file.os_path != "" and not self.reparse
            if is_others and _as_read(now) == _as_read(file):
                self.updated -= 1
                self.unchanged += 1
                self.chunks -= sum(len(document.chunks) for document in file.documents)
                self.without_text -= sum(not document.chunks for document in file.documents)
            else:
                writing.append(file)
        return writing

    def _embed(self, missing: Mapping[bytes, str], made: dict[bytes, TextVector], path: str) -> Iterator[Progress]:
        """Fill `made`; what takes longer than a commit may, or is stopped, is kept for the next run on the way."""
        self.batch.waiting = len(missing)
        unkept: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in made_in_turn(missing, self.embedder, self.pace):
                made |= answers
                unkept |= answers
                self.embedded += len(answers)
                self.batch.waiting -= len(answers)
                if self.batch.waiting and monotonic() - since >= COMMIT_SECONDS:
                    self._keep(unkept)
                    unkept, since = {}, monotonic()
                yield from self._tell("embed", path)
        finally:
            if self.batch.waiting:
                self._keep(unkept)

    def _keep(self, made: Mapping[bytes, TextVector]) -> None:
        if not made:
            return
        with self.store.writer() as writer:
            if self.store.embedder() == self.embedder.identity:
                writer.keep_vectors(made)

    def _tell(self, stage: Stage, path: str) -> Iterator[Progress]:
        """An event, unless the last one was only just told."""
        if monotonic() - self.told >= EVENT_SECONDS:
            yield self._event(stage, path)

    def _event(self, stage: Stage, path: str) -> Progress:
        self.told = monotonic()
        tokens = tokens_of(self.embedder)
        return Progress(
            stage=stage,
            path=path,
            files_done=self.files_done,
            files_total=len(self.jobs) if self.is_discovered else 0,
            documents=self.documents,
            chunks=self.chunks,
            embedded=self.embedded,
            reused=self.reused,
            unchanged=self.unchanged,
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            skipped=tuple(sorted((*self.skips.values(), *self.displaced.values()))) if self.is_discovered else (),
            waiting=self.batch.waiting,
            tokens=None if tokens is None else tokens - (self.tokens_before or 0),
            without_text=self.without_text,
            notes=tuple(self.notes) if stage == "done" else (),
        )


def _as_read(file: NewFile | Fingerprint | None) -> tuple[str, str, str] | None:
    """Return what makes two readings of a file one: its place, its bytes, and how they were read."""
    return None if file is None else (file.os_path, file.hash, file.settings)
