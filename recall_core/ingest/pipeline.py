"""The pipeline: discover, read, chunk, embed and commit files, as a stream of Progress events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic

from recall_core import shell, words
from recall_core.config import COMMIT_SECONDS, DAY_NS, EXPIRED, Config
from recall_core.errors import IngestError, RecallError, UsageError
from recall_core.ingest import discover, kinds
from recall_core.ingest.discover import Found, printable
from recall_core.ingest.parse import AUTO, identity, is_earlier, is_own, missing_plug_ins, name_of
from recall_core.ingest.reader import (
    FileDocuments,
    FileReader,
    RawFile,
    asked_of,
    is_edited,
    parser_in_settings,
    read_documents,
    read_raw,
    settings_by,
    too_large,
)
from recall_core.ingest.skips import skip_of
from recall_core.ingest.targets import (
    are_two,
    as_remembered,
    belongs,
    inherit_options,
    is_as_read,
    is_gone,
    is_no_file,
    is_overruled,
    is_record,
    named_roots,
    standing_roots,
)
from recall_core.ingest.vectors import (
    TEXT_CHARS,
    Pace,
    TextVector,
    check_cut,
    check_embedder,
    cut_by,
    embed_in_calls,
    missing_texts,
    tokens_of,
    with_vectors,
)
from recall_core.marks import is_session
from recall_core.paths import shorten
from recall_core.ports import Embedder
from recall_core.shell import Hint, flag
from recall_core.store.port import Store, Writer
from recall_core.text import counter, nfc
from recall_core.types import (
    Fingerprint,
    LanguageChoice,
    NewDocument,
    NewFile,
    Progress,
    Root,
    Skip,
    Stage,
    is_granted,
)

EVENT_SECONDS = 0.05  # minimum time between two events about files
_COMMIT_CHARS = 4_000_000  # upper limit: a slow embedder handles fewer in COMMIT_SECONDS
_COMMIT_CHUNKS = 512
_WINDOW = 64  # files after the current one that may be parsed ahead
SAMPLE_FILES = 200
"""Files from which a language is guessed, evenly over their sorted paths."""
SAMPLE_CHARS = 400_000
"""Characters of all these files together."""
_EARLY_BYTES = 32_000_000  # files that stay in memory after the guess, until their turn
_NO_PROSE = ("code", "outline", "json", "jsonl", "table")
_FIRST_COMMIT_CHARS = 20_000  # used until the embedder's pace is known


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
    """Read the named files and folders into the store, and remember them as roots.

    Files that vanished from a folder added before with the same options are removed.
    An unreadable file in a folder is skipped; an unreadable target raises IngestError before anything is written.
    Each commit is complete: stopping at any event loses only the work after the last commit.

    template: options of the call; each target fills in the folder.
    config: the store's chunker and counter.
    base: the store's directory.
    mtime_only: do not read a file whose size and time did not change.
    """
    roots = named_roots(targets, template=template, config=config, base=base)
    run = _IngestRun(store, embedder, config, base)
    roots = tuple(dict.fromkeys(as_remembered(root, run.remembered) for root in roots))
    run.mtime_only = mtime_only
    run.batch.roots = [root for root in roots if root not in run.remembered]
    run.take_back(roots)
    with run.reader:
        yield from run.read_roots(roots, swept=[root for root in roots if root in run.remembered])


def ingest_content(
    raw: RawFile,
    name: str,
    *,
    template: Root,
    store: Store,
    embedder: Embedder,
    config: Config,
    base: Path,
) -> Iterator[Progress]:
    """Store content without a file, under a name of its own. It replaces earlier content of that name.

    Raises IngestError as for a named file. Raises UsageError `bad_value` if the name is not a path below the store's
    directory, and `name_taken` if a file or a file's document has the name.

    template: parser and labels.
    """
    run = _IngestRun(store, embedder, config, base)
    with run.reader:
        yield from run.read_content(raw, nfc(name), template)


def sync(
    store: Store, embedder: Embedder, config: Config, base: Path, *, reparse: bool = False, now_ns: int = 0
) -> Iterator[Progress]:
    """Update every remembered folder and file, and remove the files that vanished from disk.

    If several roots contain a file, the root added last sets its labels. Raises IngestError `root_missing` before
    anything is written. Sessions follow the settings `session_min_bytes`, `session_min_messages` and
    `retention_days`; those that wait or are too old are among the skipped files.

    reparse: also read unchanged files, because a newer parser may extract more. Unchanged texts keep their vectors.
    now_ns: the time from which `retention_days` counts.
    """
    run = _IngestRun(store, embedder, config, base)
    run.is_sync = True
    run.oldest_ns = now_ns - config.retention_days * DAY_NS if config.retention_days else 0
    run.reparse = reparse
    standing = standing_roots(run.remembered, known=run.known, base=base)
    with run.reader:
        yield from run.read_roots(standing, swept=run.remembered)


class _IngestRun:
    """State of one ingest run: counters and the current batch."""

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
        self.oldest_ns = 0
        """Sessions whose file is older are removed; 0 keeps all."""
        self.batch = Batch()
        self.pace = Pace()
        self.tokens_before = tokens_of(embedder)
        self.last_event = monotonic()
        self.jobs: dict[str, tuple[Found, Root]] = {}
        self.options: dict[str, Root] = {}
        self.skips: dict[str, Skip] = {}
        self.displaced: dict[str, Skip] = {}
        self.renewed: set[Root] = set()
        self.files_done = self.documents = self.chunks = self.embedded = self.reused = 0
        self.unchanged = self.added = self.updated = self.removed = self.without_text = 0
        self.is_discovered = False
        self.language = "" if config.language == AUTO else config.language
        """What a store without documents gets with its first; "" leaves it as it is."""
        self.guess: LanguageChoice | None = None
        self.read_early: dict[str, tuple[str, FileDocuments | IngestError | UsageError]] = {}
        """Files that were read to guess the language, by path, with the hash of their bytes."""

    def read_roots(self, roots: Sequence[Root], *, swept: Sequence[Root]) -> Iterator[Progress]:
        """Read all files of these roots and yield the events.

        A file belongs to the first root that contains it. Files that vanished from `swept` are removed.
        """
        for root in roots:
            yield from self._discover(root)
        self.skips = {path: skip for path, skip in self.skips.items() if path not in self.jobs}
        self._sweep(swept)
        self.is_discovered = True
        jobs = [self.jobs[path] for path in sorted(self.jobs)]
        yield from self._choose_language(jobs)
        ahead = ReadAhead(jobs, reader=self.reader, options=self._options, begin=self._begin)
        for at, (found, root) in enumerate(jobs):
            path = found.path
            ahead.turn(at)
            self._process(found, root)
            self.reader.forget(path)
            self.files_done += 1
            yield from self._report("read", path)
            if self.batch.is_due(self.pace.chars_per_second * COMMIT_SECONDS or _FIRST_COMMIT_CHARS):
                yield from self._commit(path)
        yield from self._commit("")
        yield self._event("done", "")

    def read_content(self, raw: RawFile, name: str, options: Root) -> Iterator[Progress]:
        """Store content without a file and yield the events."""
        _check_content_name(name)
        if raw.size > self.config.max_file_bytes:
            raise too_large(name, raw.size, self.config)
        self.is_discovered = True
        found = Found(name, "", raw.size, raw.mtime_ns)
        made = self._documents(found, raw, options)
        _check_free(name, made.documents, store=self.store, base=self.base)
        if self._is_language_open():
            self._guess_language([made])
        known = self._known_file(found)
        is_same = known is not None and (known.hash, known.settings) == (raw.digest, made.settings)
        if known and is_same and _is_unchanged(known, made.documents, store=self.store):
            self.unchanged, self.documents = 1, known.documents
        else:
            self._put(found, raw, None, made)
            self.batch.taken_back = [name]
        self.files_done = 1
        yield from self._commit(name)
        yield self._event("done", "")

    def take_back(self, roots: Sequence[Root]) -> None:
        """Read named files again even if they were removed from a folder earlier."""
        left_out = {path for paths in self.left_out.values() for path in paths}
        for name in {nfc(root.folder) for root in roots}:
            if back := {path for path in left_out if path == name or is_record(path, name, self.base)}:
                self.taken_back.add(name)
                self.batch.taken_back = sorted({*self.batch.taken_back, *back})

    def _discover(self, root: Root) -> Iterator[Progress]:
        place = self.base / root.folder
        is_folder = os.path.isdir(place)  # noqa: PTH112 - Path.is_dir raises without permission
        steps = discover.walk(root, self.base, self.config) if is_folder else [discover.single(root, self.base)]
        for step in steps:
            if isinstance(step, Skip):
                self.skips.setdefault(step.path, step)
            else:
                self._claim(step, root)
            yield from self._report("discover", step.path)

    def _claim(self, found: Found, root: Root) -> None:
        """Assign the path to this file, unless another file has the same name in a different Unicode form.

        The file already in the store keeps the path while it exists. Otherwise each run would swap the two files.
        """
        if found.path in self.left_out.get(root, ()):
            if not self.is_sync:
                reason = f"it was removed from the store (recall add {shell.quote(found.path)})"
                self.skips.setdefault(found.path, Skip(found.path, "left_out", reason))
            return
        known, job = self.known.get(found.path), self.jobs.get(found.path)
        for holder in (known.os_path if known else "", job[0].os_path if job else ""):
            if holder and holder != found.os_path and are_two(self.base / holder, self.base / found.os_path):
                reason = f"its name {found.os_path!a} is another Unicode form of {holder!a}, which is read instead"
                self.displaced[found.os_path] = Skip(found.path, "same_name", reason)
                return
        self.jobs.setdefault(found.path, (found, root))

    def _is_language_open(self) -> bool:
        return not self.language and not self.store.info().documents

    def _choose_language(self, jobs: Sequence[tuple[Found, Root]]) -> Iterator[Progress]:
        """Guess the language of a store without documents from prose among these files, and keep what was read."""
        if not self._is_language_open():
            return
        prose = [job for job in jobs if self._is_prose(*job)]
        count = min(len(prose), SAMPLE_FILES)
        sample = [prose[at * len(prose) // count] for at in range(count)]
        ahead = ReadAhead(sample, reader=self.reader, options=self._options, begin=self._begin)
        sampled: list[FileDocuments] = []
        kept = 0
        for at, (found, root) in enumerate(sample):
            ahead.turn(at)
            made: FileDocuments | IngestError | UsageError
            with suppress(OSError, IngestError, UsageError):  # reported at the file's turn
                raw = read_raw(self.base / found.os_path, path=found.path, config=self.config)
                try:
                    made = self._documents(found, raw, self._options(found, root))
                    sampled.append(made)
                except (IngestError, UsageError) as error:  # a parser at its limit is not run again
                    made = error
                kept += raw.size
                if kept <= _EARLY_BYTES:
                    self.read_early[found.path] = raw.digest, made
            self.reader.forget(found.path)
            yield from self._report("discover", found.path)
        self._guess_language(sampled)

    def _is_prose(self, found: Found, root: Root) -> bool:
        parser = self._options(found, root).parser
        with suppress(RecallError):  # reported at the file's turn
            name = kinds.choose(found.path, b"", parser=parser, overrides=self.config.parsers)
            return is_own(name) and name not in _NO_PROSE
        return False

    def _guess_language(self, sample: Sequence[FileDocuments]) -> None:
        texts = ("\n".join(chunk.text for each in made.documents for chunk in each.chunks) for made in sample)
        guess = words.language.guess([text[: SAMPLE_CHARS // len(sample)] for text in texts])
        self.language = guess.language
        self.guess = guess if 2 * guess.german > guess.function_words else None

    def _sweep(self, roots: Sequence[Root]) -> None:
        """Remove files of these roots that are gone. Report changed files that a rule now excludes.

        Content added by a program has no file and stays.
        """
        for path, file in self.known.items():
            if not file.os_path or path in self.jobs:
                continue
            if self.is_sync and is_edited(file) and not self._may_be_unreadable(path):
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
                reason = "a rule now excludes it; its earlier text stays in the store"
                self.skips[path] = Skip(path, "excluded", f"{reason} (recall rm {shell.quote(path)})")

    def _may_be_unreadable(self, path: str) -> bool:
        """Return True if the file may be missing only because it or a folder above it cannot be read."""
        skip = self.skips.get(path)
        if skip is not None:
            return skip.code != "symlink_outside"
        above = (path[:end] for end, mark in enumerate(path) if mark == "/")
        return any(folder in self.skips and self.skips[folder].code == "unreadable" for folder in above)

    def _process(self, found: Found, root: Root) -> None:
        """Keep the file, refresh it, add it to the batch, or skip it with a reason."""
        options = self._options(found, root)
        del self.options[found.path]
        if not self.is_sync and root not in self.renewed and is_overruled(root, found.path, self.remembered):
            self.renewed.add(root)  # a root added again takes precedence over the others
            self.batch.renewed.append(root)
        known = self._known_file(found)
        if known and self.mtime_only and self._is_unchanged_by_status(known, found, options):
            self._keep_unchanged(known, root)
            return
        try:
            self._read(found, root, options)
        except OSError as error:
            self.skips[found.path] = Skip(found.path, "unreadable", f"cannot be read: {error.strerror}")
        except (IngestError, UsageError) as error:
            if isinstance(error, UsageError) and (options.parser, options.encoding) == (AUTO, ""):
                raise  # recall.toml is wrong, which affects every root
            self.skips[found.path] = skip_of(found.path, error)

    def _read(self, found: Found, root: Root, options: Root) -> None:
        """Read the file, unless it is unchanged or a session that waits or is too old. Raises what reading raises."""
        known = self._known_file(found)
        raw = read_raw(self.base / found.os_path, path=found.path, config=self.config)
        if known and self._is_expired(known, raw):
            self._expire(found, raw, root, known.settings.removesuffix(EXPIRED))
        elif known and (lacking := self._lacking(known, raw, options)):
            self._keep_unchanged(known, root)
            self.skips[found.path] = Skip(found.path, "session_waits", f"waits for {lacking}")
        elif known and self._is_unchanged_by_content(known, raw, options):
            if (known.size, known.mtime_ns) != (raw.size, raw.mtime_ns):
                self.batch.touched.append((found.path, raw))
            elif known.stamp != raw.stamp:
                self.batch.settled.append((found.path, raw))
            self._keep_unchanged(known, root)
        else:
            made = self._documents(found, raw, options)
            is_old = raw.mtime_ns < self.oldest_ns
            if is_old and any(each.path == found.path and is_session(each.marks) for each in made.documents):
                self._expire(found, raw, root, made.settings)
            else:
                self._put(found, raw, root, made)

    def _begin(self, found: Found, options: Root) -> None:
        """Start parsing a file ahead of its turn unless it is unchanged or was read early.

        Raises what reading it raises.
        """
        known = self._known_file(found)
        is_read = found.path in self.read_early
        if is_read or (known and self._is_unchanged_by_status(known, found, options)):
            return
        raw = read_raw(self.base / found.os_path, path=found.path, config=self.config)
        is_left = known and (
            self._is_unchanged_by_content(known, raw, options)
            or self._is_expired(known, raw)
            or self._lacking(known, raw, options)
        )
        if not is_left:
            self.reader.begin(raw.content, path=found.path, root=options, digest=raw.digest)

    def _is_expired(self, known: Fingerprint, raw: RawFile) -> bool:
        """Return True if the file is an unchanged session that is too old to keep."""
        if not (raw.mtime_ns < self.oldest_ns and known.hash == raw.digest):
            return False
        return known.settings.endswith(EXPIRED) or self._is_known_session(known)

    def _is_known_session(self, known: Fingerprint) -> bool:
        doc_id = self.store.document_at(known.path)
        return doc_id is not None and is_session(self.store.marks_of(doc_id))

    def _expire(self, found: Found, raw: RawFile, root: Root, settings: str) -> None:
        """Remove the documents of an old session. Its file stays known, so that it is not parsed again."""
        known = self.known.get(found.path)
        reason = f"older than retention_days ({self.config.retention_days})"
        self.skips[found.path] = Skip(found.path, "session_expired", reason)
        if known and (known.hash, known.settings) == (raw.digest, settings + EXPIRED):
            self.unchanged += 1
            return
        self._put(found, raw, root, FileDocuments((), settings + EXPIRED, ()))
        if known is None:
            self.added -= 1
        else:
            self.updated -= 1
            self.removed += known.documents > 0

    def _lacking(self, known: Fingerprint, raw: RawFile, options: Root) -> str:
        """Return what a session that only grew must still grow by to be read again; "" if it is to be read now."""
        config = self.config
        wanted = {"byte": config.session_min_bytes, "message": config.session_min_messages}
        grown = raw.content[known.size :]
        if not (self.is_sync and grown and any(wanted.values())) or raw.mtime_ns < self.oldest_ns:
            return ""
        same = raw._replace(content=raw.content[: known.size], digest=known.hash)
        if sha256(same.content).hexdigest() != known.hash or not self._is_unchanged_by_content(known, same, options):
            return ""
        there = {"byte": len(grown), "message": sum(bool(line.strip()) for line in grown.splitlines())}
        lacking = {unit: least - there[unit] for unit, least in wanted.items() if least}
        if min(lacking.values()) <= 0 or not self._is_known_session(known):
            return ""
        return " or ".join(f"{count:,} more {unit}{'s' * (count > 1)}" for unit, count in lacking.items())

    def _options(self, found: Found, root: Root) -> Root:
        """Return the file's root with all inherited options."""
        if found.path not in self.options:
            self.options[found.path] = inherit_options(root, found.path, self.remembered)
        return self.options[found.path]

    def _known_file(self, found: Found) -> Fingerprint | None:
        """Return the file as last read, or None if it must be read again."""
        known = None if self.reparse or found.path in self.taken_back else self.known.get(found.path)
        return known if known and known.os_path == found.os_path else None

    def _is_unchanged_by_content(self, known: Fingerprint, raw: RawFile, options: Root) -> bool:
        """Return True if the file has the same bytes and would be parsed the same way."""
        own = self.reader.parser_of(raw.content, path=known.path, root=options) if known.hash == raw.digest else None
        return own is not None and self._is_read_by(own, known, options)

    def _is_unchanged_by_status(self, known: Fingerprint, found: Found, options: Root) -> bool:
        """Return True if size and time are unchanged and the name selects the same parser."""
        if (known.size, known.mtime_ns) != (found.size, found.mtime_ns):
            return False
        name = kinds.choose(known.path, b"", parser=options.parser, overrides=self.config.parsers)
        before = parser_in_settings(known.settings)
        is_free = options.parser == AUTO and name == "text" and not is_earlier(before)
        own = before.partition(";")[0] if is_free else identity(name)
        return self._is_read_by(own, known, options)

    def _is_read_by(self, own: str, known: Fingerprint, options: Root) -> bool:
        """Return True if this parser read the file. Ignore the version if the plug-in is not installed."""
        before = parser_in_settings(known.settings).partition(";")[0]
        if name_of(own) == name_of(before) and missing_plug_ins({own: 1}):
            own = before
        return known.settings == settings_by(asked_of(own, options), self.config)

    def _keep_unchanged(self, known: Fingerprint, root: Root) -> None:
        self.unchanged += 1
        self.documents += known.documents
        if not self.is_sync and (root.tags or root.source is not None or root.meta):
            self.batch.labelled.append((known.path, root))

    def _documents(self, found: Found, raw: RawFile, options: Root) -> FileDocuments:
        early = self.read_early.pop(found.path, None)
        if early is not None and early[0] == raw.digest:
            if isinstance(early[1], RecallError):
                raise early[1]
            return early[1]
        return read_documents(
            raw, path=found.path, root=options, reader=self.reader, counter=self.counter, config=self.config
        )

    def _put(self, found: Found, raw: RawFile, root: Root | None, made: FileDocuments) -> None:
        documents = made.documents
        self.notes += [(found.path, note) for note in made.notes]
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

    def _commit(self, path: str) -> Iterator[Progress]:
        """Embed new texts and write the batch in one transaction. If a vector is invalid, write nothing."""
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
            if batch.files and self.language:
                self.guess = self.guess if writer.use_language(self.language) else None
                self.language = ""
            batch.write(writer, self._select_unwritten(files))
        self.reused += batch.chunks - len(missing)
        self.batch = Batch()
        yield self._event("commit", path)

    def _select_unwritten(self, files: Sequence[NewFile]) -> list[NewFile]:
        """Return the files that no other process wrote during this run, and correct the counters."""
        self.removed -= sum(self.store.known(path) is None for path in self.batch.gone)
        writing = []
        for file in files:
            before, now = self.known.get(file.path), self.store.known(file.path)
            was_known, is_known = before is not None, now is not None
            if before and now:  # a search may have noted the status of the file meanwhile without reading it again
                now = now._replace(ctime_ns=before.ctime_ns, inode=before.inode)
            self.added += was_known - is_known
            self.updated += is_known - was_known
            is_others = now != before and file.os_path != "" and not self.reparse
            if is_others and _reading_key(now) == _reading_key(file):
                self.updated -= 1
                self.unchanged += 1
                self.chunks -= sum(len(document.chunks) for document in file.documents)
                self.without_text -= sum(not document.chunks for document in file.documents)
            else:
                writing.append(file)
        return writing

    def _embed(self, missing: Mapping[bytes, str], made: dict[bytes, TextVector], path: str) -> Iterator[Progress]:
        """Fill `made`. Store vectors early if embedding outlasts COMMIT_SECONDS or is stopped."""
        self.batch.waiting = len(missing)
        unstored: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in embed_in_calls(missing, self.embedder, self.pace):
                made |= answers
                unstored |= answers
                self.embedded += sum(1 for made_text in answers.values() if made_text.vector)
                self.batch.waiting -= len(answers)
                if self.batch.waiting and monotonic() - since >= COMMIT_SECONDS:
                    self._store_vectors(unstored)
                    unstored, since = {}, monotonic()
                yield from self._report("embed", path)
        finally:
            if self.batch.waiting:
                self._store_vectors(unstored)

    def _store_vectors(self, made: Mapping[bytes, TextVector]) -> None:
        if not made:
            return
        with self.store.writer() as writer:
            if self.store.embedder() == self.embedder.identity:
                writer.keep_vectors(made)

    def _report(self, stage: Stage, path: str) -> Iterator[Progress]:
        """Yield an event unless the last event was less than EVENT_SECONDS ago."""
        if monotonic() - self.last_event >= EVENT_SECONDS:
            yield self._event(stage, path)

    def _event(self, stage: Stage, path: str) -> Progress:
        self.last_event = monotonic()
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
            language=self.guess if stage == "done" else None,
        )


def _reading_key(file: NewFile | Fingerprint | None) -> tuple[str, str, str] | None:
    """Return the key that makes two readings of a file equal: place, bytes and settings."""
    return None if file is None else (file.os_path, file.hash, file.settings)


class Batch:
    """Changes that the next commit writes."""

    def __init__(self) -> None:
        self.since = monotonic()
        self.roots: list[Root] = []
        self.renewed: list[Root] = []
        self.files: list[NewFile] = []
        self.touched: list[tuple[str, RawFile]] = []
        self.settled: list[tuple[str, RawFile]] = []
        self.labelled: list[tuple[str, Root]] = []
        self.gone: list[str] = []
        self.taken_back: list[str] = []
        self.chunks = 0
        self.waiting = 0
        self.chars = 0

    def add(self, file: NewFile) -> None:
        """Add a file; it is written once its texts have vectors."""
        self.files.append(file)
        chunks = sum(len(document.chunks) for document in file.documents)
        self.chunks += chunks
        self.waiting += chunks
        self.chars += file.size

    def is_empty(self) -> bool:
        """Return True if there is nothing to write."""
        names = (self.touched, self.settled, self.labelled, self.gone, self.taken_back)
        return not any((self.roots, self.renewed, self.files, *names))

    def is_due(self, chars: float) -> bool:
        """Return True if the batch should be written. chars: characters the embedder handles between commits."""
        if self.is_empty():
            return False
        late = monotonic() - self.since >= COMMIT_SECONDS
        read = self.chars + TEXT_CHARS * self.chunks
        return late or self.chunks >= _COMMIT_CHUNKS or read >= min(chars, _COMMIT_CHARS)

    def write(self, writer: Writer, files: Sequence[NewFile]) -> None:
        """Write the batch. files: the batch's files with their vectors."""
        for root in self.roots:
            writer.put_root(root)
        for root in self.renewed:
            writer.renew_root(root)
        for path, raw in self.touched:
            writer.refresh(path, size=raw.size, mtime_ns=raw.mtime_ns)
        for path, raw in (*self.touched, *self.settled):
            writer.settle(path, raw.digest, raw.stamp)
        for path, root in self.labelled:
            writer.relabel(path, tags=root.tags or None, source=root.source, meta=dict(root.meta) or None)
        writer.tombstone(self.gone)
        writer.take_back(self.taken_back)
        for file in files:
            writer.put(file)


def _check_content_name(name: str) -> None:
    """Raise UsageError `bad_value` if the name is not a valid path below the store's directory."""
    try:
        name.encode()
        is_path = "\0" not in name and not {"", ".", ".."} & {*name.split("/")}
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        message = f"{printable(name)!r} is not a valid path below the store's folder."
        raise UsageError("bad_value", message, hint=f"{flag('name')} notes/today.md")


def _check_free(name: str, documents: Sequence[NewDocument], *, store: Store, base: Path) -> None:
    """Raise UsageError `name_taken` if a file has this name, or a file's document has one of these paths."""
    if os.path.lexists(base / name) or any(_is_of_file(each.path, name, store) for each in documents):
        message = f"{name} is already the name of a file, or of a document read from a file."
        raise UsageError("name_taken", message, hint=Hint("add", shorten(base / name)))


def _is_unchanged(known: Fingerprint, documents: Sequence[NewDocument], *, store: Store) -> bool:
    """Return True if the store already has exactly these documents and labels under this name."""
    ids = {each.path: each.id for each in documents}
    if len(documents) != known.documents or any(store.document_at(path) != ids[path] for path in ids):
        return False
    stored = store.documents([store.rowid("doc", doc_id) for doc_id in ids.values()]).values()
    labels = {each.path: (each.title, each.tags, each.source, dict(each.meta)) for each in stored}
    return all(labels[each.path] == (each.title, each.tags, each.source, dict(each.meta)) for each in documents)


def _is_of_file(path: str, name: str, store: Store) -> bool:
    """Return True if the live document at this path came from a file, or from content of another name."""
    doc_id = store.document_at(path)
    sources = store.sources([doc_id]).values() if doc_id else ()
    return any(source.os_path or source.path != name for source in sources)


class ReadAhead:
    """Parses files ahead of their turn, several at a time, in separate processes.

    The run itself does not change: it finds the parser's result for the same bytes already there.

    files: in run order, each with its root.
    options: returns the root with all inherited options.
    begin: starts parsing a file unless it is unchanged.
    """

    def __init__(
        self,
        files: Sequence[tuple[Found, Root]],
        *,
        reader: FileReader,
        options: Callable[[Found, Root], Root],
        begin: Callable[[Found, Root], None],
    ) -> None:
        self._files = files
        self._reader = reader
        self._options = options
        self._begin = begin
        self._next = 0

    def turn(self, at: int) -> None:
        """Start parsing files ahead, at the turn of file number `at`.

        A file that cannot be read, or has no other file within the window, waits for its turn.
        """
        end = min(at + _WINDOW, len(self._files))
        for i in range(max(self._next, at), end):
            found, root = self._files[i]
            if self._may_begin(i):
                if not self._reader.has_room(found.size):
                    return
                if i > at or any(map(self._may_begin, range(at + 1, end))):
                    with suppress(RecallError, OSError):
                        self._begin(found, self._options(found, root))
            self._next = i + 1

    def _may_begin(self, i: int) -> bool:
        found, root = self._files[i]
        with suppress(RecallError):
            return self._reader.may_begin(found.path, found.size, self._options(found, root))
        return False
