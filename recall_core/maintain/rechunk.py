"""Rechunk: every document cut anew from its stored text, while questions use the old chunks until all are there.

What takes long is made ahead: the vectors of texts that the store does not know, kept by text as those of an add that
was interrupted are. The rows of the new chunks come in with the change itself, in one transaction.
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
from recall_core.embed.trust import FoundSettings
from recall_core.errors import UsageError
from recall_core.ingest.parse import is_markdown
from recall_core.ingest.parse.text import outline_marks
from recall_core.ingest.reader import PIECES, chunks_of, parser_in_settings, settings_by, settings_of_pieces
from recall_core.ingest.vectors import Pace, TextVector, check_embedder, embed_in_calls, missing_texts, tokens_of
from recall_core.maintain.embedders import record_settings
from recall_core.marks import Mark, Places
from recall_core.ports import Embedder, ParsedDocument
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.text import counter
from recall_core.types import NewChunk, NewDocument, NewFile, Progress, Stage

_EVENT_SECONDS = 0.05  # between two events about files
_BLOCK_TEXTS = 1_024  # that wait in memory to be embedded
_NAMED = 3  # files that a warning names


class Rechunked(NamedTuple):
    """What was done, or would be, and the settings as they are by now."""

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
    """Cut every document as wanted, then change recall.toml (at `toml`) accordingly. No file is read.

    settings: some of CUTTING; what they do not name is as recall.toml says, or else as the store has it. own: the
    store's embedder, asked for once a text has no vector yet. dry_run: only count; nothing is embedded or written.
    Stopping at any event, or a failure, leaves the store answering as before, and the same call goes on where it was.
    Raises ConfigError, UsageError `setting_fixed`, `bad_value`; EmbedError; StoreError `embedder_changed`,
    StoreCorrupt, StoreLocked.
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
    after_all = found._replace(config=config).follow(found, is_written=toml == found.toml)
    view = run.view(before, _cut_of(store, config), dry_run=False)
    return Rechunked(view, after_all.found, (*warnings, *after_all.warnings, *run.warnings()))


def _resolve_settings(store: Store, settings: GivenSettings, *, found: FoundSettings, toml: Path) -> Config:
    """Return the settings with those that texts are to be cut by."""
    where, info = Hint("rechunk"), store.info()
    named = settings_of(settings, where=where)
    for key in named:
        if key not in CUTTING:
            raise UsageError("setting_fixed", f"{key} is nothing that texts are cut by.", hint=where)
    said = read_toml(toml).keys()
    stored = cut_as(found.config, chunker=info.chunker, counter=info.counter)
    unsaid = {key: value for key, value in _cutting(stored).items() if key not in said}
    config = found.config._replace(**unsaid)  # type: ignore[arg-type]  # values of its own fields
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
    """Return how the store has its texts cut, and what that has come to."""
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
    """Cuts files of the store by other settings, from the texts of their chunks."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store = store
        self.config = config
        self.counter = counter(config.counter)
        self.left: set[str] = set()
        """Files that their parser alone can cut."""

    def cut(self, file: NewFile, *, is_checked: bool = False) -> NewFile | None:
        """Return the file as it is to be put into the store; None where it stays as it is.

        is_checked: first hold each document against its digest; StoreCorrupt where a part of it is missing.
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
        """Return the document with new chunks; None where these depend on what its parser alone can tell.

        What was stored before marks were kept has none: then they are those that its parser gave at the time.
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
        """Return the file cut as before with its tokens counted again; a sync reads one with a parser again."""

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
        """Return the file with what is known of it on this machine; its root stays as it is."""
        known = self.store.known(file.path)
        stamp = (None, None) if known is None else (known.ctime_ns, known.inode)
        return file._replace(
            settings=settings, documents=tuple(documents), root=None, ctime_ns=stamp[0], inode=stamp[1]
        )


def _mark(file: NewFile) -> str:
    """Return what says that a sync is to read the file as its edited root asks: a new cut leaves this to do."""
    return EDITED if file.settings.endswith(EDITED) else ""


def _join(chunks: Sequence[NewChunk]) -> str:
    """Return the text that they cover, overlapping and without a gap."""
    pieces: list[str] = []
    end = 0
    for chunk in chunks:
        pieces.append(chunk.text[end - chunk.span.offset :])
        end = chunk.span.end
    return "".join(pieces)


class _RechunkRun:
    """One run: what is cut, and what waits, counted in distinct texts."""

    def __init__(self, store: Store, config: Config, own: Callable[[], Embedder]) -> None:
        self.store = store
        self.config = config
        self.cutter = _Cutter(store, config)
        self.pace = Pace()
        self._own = own
        self._embedder: Embedder | None = None
        self._tokens_before = 0
        self._told = monotonic()
        self._without: set[bytes] = set()
        """Texts that were embedded and have no feature: nothing is kept of them."""
        self.files = self.files_done = self.documents = self.chunks = self.chunk_tokens = 0
        self.cut_documents = self.cut_chunks = self.embedded = self.waiting = 0
        self._furthest = (0, 0, 0, 0, 0, 0)

    def count(self) -> Iterator[Progress]:
        """Cut everything, to see what comes of it."""
        waiting: set[bytes] = set()
        for _, cut in self._files():
            if cut is not None:
                waiting |= self._missing(cut).keys()
            yield from self._tell("chunk")
        self.embedded = len(waiting)
        yield self.event("done")

    def all_chunks(self) -> Iterator[Progress]:
        """Embed what has no vector, and change the chunks; what others add in between is embedded first."""
        yield self.event("chunk")
        yield from self._embed_missing()
        yield self.event("index")
        while not self._is_changed():
            yield from self._embed_missing()
            yield self.event("index")
        yield self.event("commit")
        yield self.event("done")

    def _files(self) -> Iterator[tuple[NewFile, NewFile | None]]:
        """Yield every file as it is and as it is to be, counted on the way."""
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
        """Return the texts of new chunks that have no vector yet, by text_hash."""
        if all(chunk.vector is not None for document in cut.documents for chunk in document.chunks):
            return {}
        texts = missing_texts([cut], self.store)
        return {text_hash: text for text_hash, text in texts.items() if text_hash not in self._without}

    def _embed_missing(self) -> Iterator[Progress]:
        """Yield every text that waits, a block after the other."""
        block: dict[bytes, str] = {}
        for _, cut in self._files():
            if cut is not None:
                block |= self._missing(cut)
                self.waiting = len(block)
            if len(block) >= _BLOCK_TEXTS:
                yield from self._embed(block)
                block = {}
            yield from self._tell("chunk")
        yield from self._embed(block)

    def _embed(self, texts: Mapping[bytes, str]) -> Iterator[Progress]:
        """Yield all of these, kept at least every COMMIT_SECONDS, and when this is stopped or fails."""
        unkept: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in embed_in_calls(texts, self.embedder, self.pace) if texts else ():
                unkept |= answers
                self.embedded += len(answers)
                self.waiting -= len(answers)
                if monotonic() - since >= COMMIT_SECONDS:
                    self._keep(unkept)
                    unkept, since = {}, monotonic()
                yield self.event("embed")
        finally:
            self._keep(unkept)

    @property
    def embedder(self) -> Embedder:
        """Return the store's own; a store that lacks no vector needs none."""
        if self._embedder is None:
            self._embedder = self._own()
            self._tokens_before = tokens_of(self._embedder) or 0
        return self._embedder

    def _keep(self, made: Mapping[bytes, TextVector]) -> None:
        if not made:
            return
        self._without |= {text_hash for text_hash, each in made.items() if not each.vector}
        with self.store.writer() as writer:
            check_embedder(self.store, self.embedder)
            writer.keep_vectors(made)

    def _is_changed(self) -> bool:
        """Put the new chunks in place of the old ones. Return False, and change nothing, while a text waits."""
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
        """Return the file whose texts without a feature say so; of all others the store has the vector."""
        if not self._without:
            return cut
        documents = tuple(
            document._replace(
                chunks=tuple(
                    chunk._replace(vector=b"") if chunk.text_hash in self._without else chunk
                    for chunk in document.chunks
                )
            )
            for document in cut.documents
        )
        return cut._replace(documents=documents)

    def _tell(self, stage: Stage) -> Iterator[Progress]:
        if monotonic() - self._told >= _EVENT_SECONDS:
            yield self.event(stage)

    def event(self, stage: Stage) -> Progress:
        """Return how far it is. chunks: those of the documents that are cut so far, as they will be.

        Where everything is looked through once more, nothing goes back.
        """
        self._told = monotonic()
        reused = self.cut_chunks - self.embedded - self.waiting
        files, documents, chunks, embedded = self.files, self.documents, self.chunks, self.embedded
        before, now = self._furthest, (self.files_done, files, documents, chunks, embedded, reused)
        self._furthest = cast(tuple[int, int, int, int, int, int], tuple(map(max, before, now)))
        return Progress(stage, "", *self._furthest, 0, 0, 0, 0, (), waiting=self.waiting, tokens=self._tokens())

    def _tokens(self) -> int | None:
        tokens = None if self._embedder is None else tokens_of(self._embedder)
        return None if tokens is None else tokens - self._tokens_before

    def warnings(self) -> tuple[str, ...]:
        """Return what is to be told of files that stay as they were cut."""
        if not self.cutter.left:
            return ()
        first = ", ".join(sorted(self.cutter.left)[:_NAMED])
        more = f" and {len(self.cutter.left) - _NAMED} more" if len(self.cutter.left) > _NAMED else ""
        return (
            f"W_RECHUNK: {first}{more}: only their parser can tell where to cut, so they stay until {Hint('sync')}",
        )

    def view(self, before: CutView, after: CutView, *, dry_run: bool) -> RechunkView:
        """Return what the run did, or would do."""
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
