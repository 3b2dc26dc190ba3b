"""Rechunk and reindex: make chunks, or the words of the index, again from the stored texts.

Searches use the old ones until all are ready. For a rechunk, vectors of new texts are made first and kept by text, as
an interrupted add keeps them. One transaction then replaces the rows of all chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple, cast

from recall_core.config import (
    COMMIT_SECONDS,
    CUTTING,
    EDITED,
    EXPIRED,
    Config,
    GivenSettings,
    SettingValue,
    assign,
    chunker_identity,
    cut_as,
    read_toml,
    replace,
    settings_of,
)
from recall_core.contract.store import CutView, RechunkView
from recall_core.contract.views import ReindexView
from recall_core.embed.registry import AUTO
from recall_core.embed.trust import COUNTER, FoundSettings
from recall_core.errors import ConfigError, StoreError, UsageError
from recall_core.ingest.parse import is_markdown
from recall_core.ingest.parse.text import outline_marks
from recall_core.ingest.reader import PIECES, chunks_of, parser_in_settings, settings_by, settings_of_pieces
from recall_core.ingest.vectors import Pace, TextVector, check_embedder, embed_in_calls, missing_texts, tokens_of
from recall_core.maintain.embedders import record_settings
from recall_core.marks import Mark, Places
from recall_core.ports import Embedder, ParsedDocument
from recall_core.shell import Hint, flag
from recall_core.store.port import Store
from recall_core.text import counter
from recall_core.types import NewChunk, NewDocument, NewFile, Progress, Stage
from recall_core.words.versions import words_of

_EVENT_SECONDS = 0.05  # between two events about files
_BLOCK_TEXTS = 1_024  # texts that wait in memory to be embedded
_NAMED = 3  # files named in a warning


class Rechunked(NamedTuple):
    """Result of a rechunk or its dry run, and the settings after it."""

    view: RechunkView
    found: FoundSettings
    warnings: tuple[str, ...]


def rechunk(
    store: Store,
    settings: GivenSettings,
    *,
    found: FoundSettings,
    toml: Path,
    own: Callable[[], Embedder],
    dry_run: bool = False,
) -> Generator[Progress, None, Rechunked]:
    """Cut every document again, then update recall.toml (at `toml`). Reads no file.

    settings: some of CUTTING; the others come from recall.toml, or else from the store.
    own: returns the store's embedder; called when a text has no vector yet.
    dry_run: only count; embed and write nothing.

    Stopping at any event, or a failure, leaves the store answering as before, and the same call resumes. Raises
    ConfigError; UsageError `setting_fixed`, `bad_value`; EmbedError; StoreError `embedder_changed`; StoreCorrupt;
    StoreLocked.
    """
    before = _cut_of(store, found.config)
    wanted = _resolve_settings(store, settings, found=found, toml=toml)
    run = _RechunkRun(store, wanted, own)
    if dry_run:
        yield from run.count()
        after = _cut_view(wanted, chunks=run.chunks, tokens=run.chunk_tokens)
        return Rechunked(run.view(before, after, dry_run=True), found, run.warnings())
    yield from run.all_chunks()
    changed = {key: value for key, value in _cutting(wanted).items() if getattr(found.config, key) != value}
    warnings = record_settings(toml, changed) if changed else ()
    config = replace(found.config, changed, where=str(toml))
    successor = found._replace(config=config)
    after_all = successor.follow(found, successor.acts(COUNTER), is_written=toml == found.toml)
    view = run.view(before, _cut_of(store, config), dry_run=False)
    return Rechunked(view, after_all.found, (*warnings, *after_all.warnings, *run.warnings()))


def _resolve_settings(store: Store, settings: GivenSettings, *, found: FoundSettings, toml: Path) -> Config:
    """Return the settings to cut texts with."""
    where, info = Hint("rechunk"), store.info()
    named = settings_of(settings, where=where)
    for key in named:
        if key not in CUTTING:
            raise UsageError("setting_fixed", f"{key} does not affect how text is cut into chunks.", hint=where)
    in_toml = read_toml(toml).keys()
    stored = cut_as(found.config, chunker=info.chunker, counter=info.counter)
    from_store = {key: value for key, value in _cutting(stored).items() if key not in in_toml}
    config = found.config._replace(**from_store)  # type: ignore[arg-type]  # values of its own fields
    tokens = named.get("chunk_tokens", config.chunk_tokens)
    overlap = named.get("overlap_tokens", config.overlap_tokens)
    if isinstance(tokens, int) and isinstance(overlap, int) and 0 < tokens <= overlap:
        raise UsageError(
            "bad_value",
            f"overlap_tokens ({overlap}) must be below chunk_tokens ({tokens}).",
            hint=Hint("rechunk", chunk_tokens=tokens, overlap_tokens=tokens // 5),
        )
    return assign(config, named, where=where)


def _cutting(config: Config) -> dict[str, SettingValue]:
    return {key: getattr(config, key) for key in CUTTING}


def _cut_of(store: Store, config: Config) -> CutView:
    """Return the store's cutting settings and their chunk counts."""
    info = store.info()
    stored = cut_as(config, chunker=info.chunker, counter=info.counter)
    return _cut_view(stored, chunks=info.chunks, tokens=store.totals().tokens)


def _cut_view(config: Config, *, chunks: int, tokens: int) -> CutView:
    return CutView(
        chunk_tokens=config.chunk_tokens,
        overlap_tokens=config.overlap_tokens,
        max_chunk_chars=config.max_chunk_chars,
        counter=config.counter,
        chunks=chunks,
        tokens_per_chunk=round(tokens / chunks, 1) if chunks else 0.0,
    )


class _Cutter:
    """Cuts files of the store with other settings, from the texts of their chunks."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store = store
        self.config = config
        self.counter = counter(config.counter)
        self.left: set[str] = set()
        """Files that only their parser can cut."""

    def cut(self, file: NewFile, *, is_checked: bool = False) -> NewFile | None:
        """Return the file to put into the store, or None if it stays as it is.

        is_checked: first compare each document with its digest; raises StoreCorrupt if a part is missing.
        """
        parser = parser_in_settings(file.settings)
        settings = settings_by(parser, self.config) + _mark(file)
        if file.settings == settings:
            return None
        if is_checked:
            for document in file.documents:
                self.store.text_of(document.id)
        documents = [] if parser == PIECES else [self._cut(each, file.path, parser) for each in file.documents]
        cut = [document for document in documents if document is not None]
        if parser != PIECES and len(cut) == len(documents):
            return self._put_again(file, settings, cut)
        if parser != PIECES:
            self.left.add(file.path)
        is_counted_so = self.store.info().counter == self.config.counter
        return None if is_counted_so else self._recount(file, parser)

    def _cut(self, document: NewDocument, path: str, parser: str) -> NewDocument | None:
        """Return the document with new chunks, or None if only its parser knows where to cut.

        A document stored before marks were kept has no marks. Its marks are derived as its parser made them at the
        time.
        """
        text = _join(document.chunks)
        if document.marks or document.read_by:
            return document._replace(chunks=self._chunks(document, text, document.marks))
        known = is_markdown(parser, path)
        found = [
            self._chunks(document, text, outline_marks(text, markdown=markdown))
            for markdown in ((False, True) if known is None else (known,))
        ]
        return document._replace(chunks=found[0]) if found[0] == found[-1] else None

    def _chunks(self, document: NewDocument, text: str, marks: tuple[Mark, ...]) -> tuple[NewChunk, ...]:
        fields = document.title, document.hash, document.size, document.meta
        is_title = any(chunk.is_title for chunk in document.chunks)
        place = None if Places(marks).kind else next((each.place for each in document.chunks), None)
        parsed = ParsedDocument(None, text, *fields, marks, is_title, place)
        return chunks_of(parsed, path=document.path, counter=self.counter, config=self.config)

    def _recount(self, file: NewFile, parser: str) -> NewFile:
        """Return the file with the same chunks and new token counts. A sync reads a file with a parser again."""

        def recount(chunk: NewChunk) -> NewChunk:
            return chunk._replace(span=chunk.span._replace(tokens=self.counter.count(chunk.text)))

        documents = [each._replace(chunks=tuple(map(recount, each.chunks))) for each in file.documents]
        settings = f"{parser} recounted {self.config.counter}{_mark(file)}"
        if parser == PIECES:
            (only,) = documents
            spans = [chunk.span for chunk in only.chunks]
            settings = settings_of_pieces(spans, title=only.title, tags=only.tags, meta=only.meta)
        return self._put_again(file, settings, documents)

    def _put_again(self, file: NewFile, settings: str, documents: Sequence[NewDocument]) -> NewFile:
        """Return the file with its ctime and inode on this machine; its root does not change."""
        known = self.store.known(file.path)
        stamp = (None, None) if known is None else (known.ctime_ns, known.inode)
        return file._replace(
            settings=settings, documents=tuple(documents), root=None, ctime_ns=stamp[0], inode=stamp[1]
        )


def _mark(file: NewFile) -> str:
    """Return what a new cut must keep: the marks of an old session, and of a file to read for its edited root."""
    return "".join(mark for mark in (EXPIRED, EDITED) if mark in file.settings)


def _join(chunks: Sequence[NewChunk]) -> str:
    """Return the text that overlapping chunks without gaps cover."""
    pieces: list[str] = []
    end = 0
    for chunk in chunks:
        pieces.append(chunk.text[end - chunk.span.offset :])
        end = chunk.span.end
    return "".join(pieces)


class _RechunkRun:
    """One rechunk run; waiting texts are distinct."""

    def __init__(self, store: Store, config: Config, own: Callable[[], Embedder]) -> None:
        self.store = store
        self.config = config
        self.cutter = _Cutter(store, config)
        self.pace = Pace()
        self._own = own
        self._embedder: Embedder | None = None
        self._tokens_before = 0
        self._last_event = monotonic()
        self._featureless: set[bytes] = set()
        """Hashes of embedded texts that have no feature; no vector is kept for them."""
        self.files = self.files_done = self.documents = self.chunks = self.chunk_tokens = 0
        self.cut_documents = self.cut_chunks = self.embedded = self.waiting = 0
        self._furthest = (0, 0, 0, 0, 0, 0)

    def count(self) -> Iterator[Progress]:
        """Cut everything and count the result."""
        waiting: set[bytes] = set()
        for _, cut in self._files():
            if cut is not None:
                waiting |= self._missing(cut).keys()
            yield from self._progress("chunk")
        self.embedded = len(waiting)
        yield self.event("done")

    def all_chunks(self) -> Iterator[Progress]:
        """Embed the texts without a vector, then change the chunks. Texts that others add meanwhile are embedded
        first."""
        yield self.event("chunk")
        yield from self._embed_missing()
        yield self.event("index")
        while not self._replace_chunks():
            yield from self._embed_missing()
            yield self.event("index")
        yield self.event("commit")
        yield self.event("done")

    def _files(self) -> Iterator[tuple[NewFile, NewFile | None]]:
        """Yield every file with its new cut, or None, and count both."""
        self.files = sum(1 for _ in self.store.files())
        self.files_done = self.documents = self.chunks = self.chunk_tokens = self.cut_documents = self.cut_chunks = 0
        self.cutter.left.clear()
        for file in self.store.live_files():
            cut = self.cutter.cut(file)
            self._count(cut or file, is_cut=cut is not None)
            yield file, cut

    def _count(self, file: NewFile, *, is_cut: bool) -> None:
        chunks = [chunk for document in file.documents for chunk in document.chunks]
        self.files_done += 1
        self.documents += len(file.documents)
        self.chunks += len(chunks)
        self.chunk_tokens += sum(chunk.span.tokens for chunk in chunks)
        if is_cut:
            self.cut_documents += len(file.documents)
            self.cut_chunks += len(chunks)

    def _missing(self, cut: NewFile) -> dict[bytes, str]:
        """Return text_hash to text of the new chunks that have no vector yet."""
        if all(chunk.vector is not None for document in cut.documents for chunk in document.chunks):
            return {}
        texts = missing_texts([cut], self.store)
        return {text_hash: text for text_hash, text in texts.items() if text_hash not in self._featureless}

    def _embed_missing(self) -> Iterator[Progress]:
        """Embed every waiting text, block by block."""
        block: dict[bytes, str] = {}
        for _, cut in self._files():
            if cut is not None:
                block |= self._missing(cut)
                self.waiting = len(block)
            if len(block) >= _BLOCK_TEXTS:
                yield from self._embed(block)
                block = {}
            yield from self._progress("chunk")
        yield from self._embed(block)

    def _embed(self, texts: Mapping[bytes, str]) -> Iterator[Progress]:
        """Embed these texts. Keep the vectors at least every COMMIT_SECONDS, and when stopped or failing."""
        unsaved: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in embed_in_calls(texts, self.embedder, self.pace) if texts else ():
                unsaved |= answers
                self.embedded += len(answers)
                self.waiting -= len(answers)
                if monotonic() - since >= COMMIT_SECONDS:
                    self._save(unsaved)
                    unsaved, since = {}, monotonic()
                yield self.event("embed")
        finally:
            self._save(unsaved)

    @property
    def embedder(self) -> Embedder:
        """The store's own embedder, loaded when the first text needs a vector."""
        if self._embedder is None:
            self._embedder = self._own()
            self._tokens_before = tokens_of(self._embedder) or 0
        return self._embedder

    def _save(self, made: Mapping[bytes, TextVector]) -> None:
        if not made:
            return
        self._featureless |= {text_hash for text_hash, each in made.items() if not each.vector}
        with self.store.writer() as writer:
            check_embedder(self.store, self.embedder)
            writer.keep_vectors(made)

    def _replace_chunks(self) -> bool:
        """Replace the old chunks with the new ones. Return False and change nothing if a text has no vector yet."""
        with self.store.writer() as writer:
            if self._embedder is not None:
                check_embedder(self.store, self._embedder)
            for file in self.store.live_files():
                cut = self.cutter.cut(file, is_checked=True)
                if cut is not None and self._missing(cut):
                    return False
            for _, cut in self._files():
                if cut is not None:
                    writer.put(self._with_vectors(cut))
            writer.cut_by(chunker=chunker_identity(self.config), counter=self.config.counter)
        return True

    def _with_vectors(self, cut: NewFile) -> NewFile:
        """Return the file with an empty vector for texts without a feature. The store has all other vectors."""
        if not self._featureless:
            return cut
        documents = tuple(
            document._replace(
                chunks=tuple(
                    chunk._replace(vector=b"") if chunk.text_hash in self._featureless else chunk
                    for chunk in document.chunks
                )
            )
            for document in cut.documents
        )
        return cut._replace(documents=documents)

    def _progress(self, stage: Stage) -> Iterator[Progress]:
        if monotonic() - self._last_event >= _EVENT_SECONDS:
            yield self.event(stage)

    def event(self, stage: Stage) -> Progress:
        """Return the progress. Counters never go back, even if the files are read a second time.

        chunks: new chunks of the documents cut so far.
        """
        self._last_event = monotonic()
        reused = self.cut_chunks - self.embedded - self.waiting
        files, documents, chunks, embedded = self.files, self.documents, self.chunks, self.embedded
        before, now = self._furthest, (self.files_done, files, documents, chunks, embedded, reused)
        self._furthest = cast(tuple[int, int, int, int, int, int], tuple(map(max, before, now)))
        return Progress(stage, "", *self._furthest, 0, 0, 0, 0, (), waiting=self.waiting, tokens=self._tokens())

    def _tokens(self) -> int | None:
        tokens = None if self._embedder is None else tokens_of(self._embedder)
        return None if tokens is None else tokens - self._tokens_before

    def warnings(self) -> tuple[str, ...]:
        """Return a warning for the files that keep their chunks."""
        if not self.cutter.left:
            return ()
        first = ", ".join(sorted(self.cutter.left)[:_NAMED])
        more = f" and {len(self.cutter.left) - _NAMED} more" if len(self.cutter.left) > _NAMED else ""
        return (f"W_RECHUNK: only the parser can cut {first}{more}, so they keep their chunks until {Hint('sync')}",)

    def view(self, before: CutView, after: CutView, *, dry_run: bool) -> RechunkView:
        """Return the result of the run or the dry run."""
        view = RechunkView(
            dry_run=dry_run,
            before=before,
            after=after,
            documents=self.cut_documents,
            embedded=self.embedded,
            reused=max(0, self.cut_chunks - self.embedded),
            left=sorted(self.cutter.left),
        )
        tokens = self._tokens()
        if tokens is not None:
            view["tokens"] = tokens
        return view


class Reindexed(NamedTuple):
    """Result of a reindex, and the settings after it."""

    view: ReindexView
    found: FoundSettings
    warnings: tuple[str, ...]


def reindex(
    store: Store, language: str | None = None, *, found: FoundSettings, toml: Path
) -> Generator[Progress, None, Reindexed]:
    """Index every chunk with the words of a language, then update recall.toml (at `toml`) if one is named.

    language: as in the setting, but not `auto`; by default that of recall.toml, else the store's.

    Raises ConfigError `bad_value`, and what `index_words` raises.
    """
    config, warnings = found.config, tuple[str, ...]()
    if language is not None:
        where = flag("language")
        config = replace(config, {"language": language}, where=where)
        if config.language == AUTO:
            message = f"{where} auto: a language is decided at the first add only."
            raise ConfigError("bad_value", message, hint=Hint("reindex", language="en"))
    own = store.info().language
    view = yield from index_words(store, words_of(own if config.language == AUTO else config.language))
    if config.language != found.config.language:
        warnings = record_settings(toml, {"language": config.language})
    after = found._replace(config=config).follow(found, is_written=toml == found.toml)
    return Reindexed(view, after.found, (*warnings, *after.warnings))


def index_words(store: Store, words: str) -> Generator[Progress, None, ReindexView]:
    """Index every chunk with these words, then switch to them at once. Vectors stay, and no file is read.

    words: name of an analyzer. A store that has these words is indexed only if its indexed forms are wrong.

    Stopping at any event, or a failure, leaves the store answering as before, and the same call resumes. Raises
    StoreError `reindex_replaced`; StoreCorrupt; StoreLocked.
    """
    previous = store.analyzer.name
    documents, chunks = store.info().documents, store.info().chunks
    view = ReindexView(words=words, previous=previous, chunks=0)

    def event(stage: Stage) -> Progress:
        waiting = max(0, chunks - view["chunks"])
        counters = (documents, documents, documents, chunks, 0, min(chunks, view["chunks"]))
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting)

    if words == previous and store.check("words").severity == "ok":
        if store.reindex_target() is not None:
            store.drop_reindex()
        yield event("done")
        return view
    view["chunks"] = store.begin_reindex(words)
    yield event("index")
    while not store.finish_reindex(words):
        after = 0
        while done := store.reindex_some(words, after=after):
            after = done[0]
            view["chunks"] += done[1]
            yield event("index")
        if store.reindex_target() != words:
            if store.analyzer.name == words:
                break  # another process finished the same reindex first
            raise StoreError(
                "reindex_replaced", f"Another reindex replaced the one to {words!r}.", hint=Hint("reindex")
            )
    view["chunks"] = chunks = store.info().chunks
    yield event("commit")
    yield event("done")
    return view
