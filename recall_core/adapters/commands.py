"""What each command does: flags into options, one method of Recall, its Response onto the streams."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from recall_core import adapters, api, paths
from recall_core.adapters import render
from recall_core.adapters.flags import AS_ROWS, BY_MEANING
from recall_core.adapters.options import ask_of, check_question, lists_paths, mode_of, pack_of
from recall_core.adapters.progress import follow
from recall_core.adapters.rql import given_rql, read_rql
from recall_core.adapters.streams import Streams, for_data, replacing, shown
from recall_core.api.recall import Recall
from recall_core.api.stores import NewStoreFields
from recall_core.config import CUTTING
from recall_core.contract import response_of
from recall_core.deadline import within
from recall_core.errors import NO_STORE, RecallError, StoreError, UsageError, why_unread
from recall_core.shell import AGAIN, Hint
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from recall_core.adapters.flags import Command, Opener
    from recall_core.adapters.plain import Request
    from recall_core.adapters.rows import RowsWriter
    from recall_core.contract.responses import AnyResponse, Response, StatsResponse

SCHEMA = Path(__file__).parent.parent / "schema" / "response.schema.json"


def run(request: Request, *, streams: Streams, opener: Opener | None = None) -> int:
    """Carry the request out and return its exit code. opener: see cli.main."""
    _rows_writer(request)  # flags that contradict each other are told before anything is asked
    with ExitStack() as left_open:
        opened = opener or open_store
        if hasattr(request.flags, "timeout"):  # it asks, and may have made what is kept once its answer is out
            opened = _closing_late(opened, left_open)
        with within(getattr(request.flags, "timeout", None)):
            answer = _command(request).run(request, streams, opened)
        if answer is None:
            return 0
        response = response_of(answer)
        if _is_stdout_taken(request):
            streams = streams._replace(stdout=streams.stderr)
        _emit(response, request, streams)
        streams.stdout.flush()
    if lists_paths(request.flags) and not response["results"]:
        return 7
    return _exit_code(response)


def _closing_late(opener: Opener, left_open: ExitStack) -> Opener:
    """The opener, but what has vectors to keep is left open for others to close."""

    @contextmanager
    def until_closed(recall: Recall, own: ExitStack) -> Iterator[Recall]:
        with own:
            yield recall
            if recall.engine.has_vectors_to_keep:
                left_open.enter_context(own.pop_all())

    def opened(store: str | None) -> AbstractContextManager[Recall]:
        own = ExitStack()
        return until_closed(own.enter_context(opener(store)), own)

    return opened


def _is_stdout_taken(request: Request) -> bool:
    """Whether the command has written its own content there, so that the response has to go elsewhere."""
    name, flags = _command(request).name, vars(request.flags)
    written = (flags["queries"], flags["qrels"]) if name == "judge" else (flags.get("html"), flags.get("md"))
    return (name == "export" and flags["out"] in (None, "-")) or "-" in written


def _exit_code(response: Response) -> int:
    """0 for an answer, 6 where doctor found an error, 7 where a gate failed or the answer is no."""
    if any(check["severity"] == "error" for check in response.get("checks", [])):
        return 6
    held = [condition["holds"] for condition in response.get("evaluation", {}).get("gate", [])]
    held += [condition["holds"] for condition in response.get("fixtures", {}).get("gate", [])]
    held += [condition["holds"] for condition in response.get("diff", {}).get("gate", [])]
    held.append(response.get("whynot", {}).get("present", True))
    held.append(response.get("replay", {}).get("identical", True))
    if "tuning" in response:
        held.append(not adapters.tuning.is_negative(response))
    return 0 if all(held) else 7


def open_store(store: str | None) -> Recall:
    """The store of --store, else of $RECALL_STORE, else of the nearest recall.toml upward."""
    return Recall.open(store or os.environ.get("RECALL_STORE") or None)


def _command(request: Request) -> Command:
    assert request.command is not None  # noqa: S101 - the caller answers help itself
    return request.command


def _emit(response: Response, request: Request, streams: Streams) -> None:
    command = _command(request)
    if getattr(request.flags, "quiet", False):
        return
    if _wants_json(request):
        for_data(streams.stdout).write(render.json_line(response))
        return
    if getattr(request.flags, "brackets", False):
        response = adapters.hits.bracketed(response)
    for warning in response.get("warnings", []):
        if warning.startswith(render.CAUTION):
            streams.say(f"warning: {warning}")
            streams.stderr.flush()
    if (in_rows := _rows_writer(request)) is not None:
        in_rows(response, streams.stdout)
    elif not (command.is_drawn and streams.stdout.isatty() and _drawn(response, request, streams.stdout)):
        for piece in _pieces(command._replace(prints=command.printer(request.flags)), response, streams.stdout):
            streams.stdout.write(shown(piece, streams.stdout, raw=getattr(request.flags, "raw", False)))
    for line in render.talk(response, is_verbose=getattr(request.flags, "verbose", False)):
        streams.say_in_parts(line)


def _rows_writer(request: Request) -> RowsWriter | None:
    """What writes the rows for other programs, where a flag asks for it. Raises UsageError `conflicting_flags`."""
    if not any(getattr(request.flags, flag.key, False) for flag in (*AS_ROWS, BY_MEANING)):
        return None

    return adapters.rows.chosen(request)


def _pieces(command: Command, response: Response, stdout: TextIO) -> Iterable[str]:
    """What the command prints, in lines that a terminal is wide enough for."""
    pieces = command.prints(response) if command.prints is not None else ()
    if command.is_text or not stdout.isatty():
        return pieces

    width = adapters.width.width_of(stdout)
    return (f"{line}\n" for piece in pieces for line in adapters.width.fitted(piece.removesuffix("\n"), width))


def _wants_json(request: Request) -> bool:
    return request.json or getattr(request.flags, "format", None) == "json"


def _drawn(response: Response, request: Request, stdout: TextIO) -> bool:

    return adapters.tables.draw(response, stdout, is_long=getattr(request.flags, "long", False))


def schema(request: Request, streams: Streams, opener: Opener) -> None:
    """The JSON Schema, as it is shipped."""
    streams.stdout.write(SCHEMA.read_text(encoding="utf-8"))


def completion_script(request: Request, streams: Streams, opener: Opener) -> None:
    """The script of the shell that is named."""

    streams.stdout.write(adapters.parser.script(request.words[0]))


def init(request: Request, streams: Streams, opener: Opener) -> StatsResponse:
    """A new store in a folder."""
    if request.store is not None:
        raise UsageError("conflicting_flags", "init takes a folder, not --store.", hint=Hint("init", "DIR"))
    folder = request.words[0] if request.words else "."
    flags, mode = request.flags, mode_of(request.flags)
    given = tuple(flags.set or ())

    embedding = flags.embedding if flags.embedding is not None else adapters.creating.best_here(Path(folder), given)
    options = NewStoreFields(embedding=embedding, settings=given)
    return Recall.init(folder, **options if mode is None else {**options, "mode": mode})


def add(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Files and folders into the store, watched."""

    flags = request.flags
    template = Root(
        folder="",
        globs=tuple(flags.glob or ()),
        ignores=tuple(flags.ignore or ()),
        parser=flags.parser or "auto",
        encoding=flags.encoding or "",
        tags=tuple(flags.tag or ()),
        source=flags.source,
        meta=adapters.options.read_metadata(flags.meta or ()),
        hidden=flags.hidden,
        gitignore=not flags.no_gitignore,
        follow=flags.follow,
    )
    if flags.name is not None or "-" in request.words:
        return follow(adapters.roots.add_stdin(recall, request, streams, template), streams=streams)
    work = recall.add(request.words, template, mtime_only=flags.mtime_only, strict=flags.strict)
    return follow(work, streams=streams)


def remove(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Documents out of the store."""
    return recall.remove(request.words, purge=request.flags.purge, dry_run=request.flags.dry_run)


def trust(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """What recall.toml says that waits, accepted where that is wanted."""
    flags, store = request.flags, _settings_of(request, opener)
    if sum((flags.yes, flags.show, flags.forget)) > 1:
        raise UsageError("conflicting_flags", "trust takes one of its flags.", hint=Hint("trust", show=True))
    response = Recall.trust(store, accept=flags.yes, forget=flags.forget)
    if flags.yes or flags.show or flags.forget or "trust" not in response or response["trust"]["accepted"]:
        return response
    if request.json or not (streams.stdin.isatty() and streams.stderr.isatty()):
        message = f"{response['trust']['toml']} waits to be accepted, and there is no terminal to ask on."
        raise UsageError("not_accepted", message, hint=Hint("trust", yes=True))
    for line in render.trust(response_of(response)):
        streams.say(line)
    streams.stderr.write("Accept this from now on? [y/N] ")
    streams.stderr.flush()
    if streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("not_accepted", "Nothing was accepted.", hint=Hint("trust"))
    return Recall.trust(store, accept=True)


def _settings_of(request: Request, opener: Opener) -> str | None:
    """The name of the store whose settings are meant; it is opened only where somebody else knows which it is."""
    if opener is not open_store:
        with suppress(RecallError), opener(request.store) as recall:
            return str(recall.engine.found.toml.parent)
    return request.store or os.environ.get("RECALL_STORE") or None


def sync(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """The remembered folders once, or again and again."""
    if request.flags.watch:
        reparse = request.flags.reparse
        adapters.progress.watch(
            recall, streams, lambda response: _emit(response_of(response), request, streams), reparse=reparse
        )
    return follow(recall.sync(reparse=request.flags.reparse), streams=streams)


def search(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Words, answered."""
    return _kept(request, lambda: recall.search(" ".join(request.words), ask_of(request.flags)))


def _kept(request: Request, ask: Callable[[], AnyResponse]) -> AnyResponse:
    """The answer; its receipt in a file, where one is named."""
    if request.flags.receipt is None:
        return ask()

    return adapters.receipts.kept(request.flags.receipt, ask)


def query(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """A query in RQL, answered."""
    given = given_rql(request.flags.rql, request.words, "recall query")
    return _kept(request, lambda: recall.query(read_rql(given, streams.stdin), ask_of(request.flags)))


def context(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """The best chunks of words or of a query, packed."""
    flags = request.flags
    check_question(request)
    ask, pack = ask_of(flags), pack_of(flags)
    if pack.lean and not _wants_json(request):
        raise UsageError("conflicting_flags", "--lean is for JSON.", hint=Hint(AGAIN, json=True))
    if flags.rql is None:
        return _kept(request, lambda: recall.context(" ".join(request.words), ask, pack))
    return _kept(request, lambda: recall.context(None, ask, pack, rql=read_rql(flags.rql, streams.stdin)))


def get(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """A text, byte for byte."""
    return recall.get(request.words[0])


def stats(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """The store at rest."""
    return recall.stats(sizes=request.flags.sizes)


def doctor(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every check, and repairs where they are wanted."""
    return recall.doctor(fix=request.flags.fix, dups=request.flags.dups)


def compact(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """The disk space of removed documents, given back."""
    return recall.compact()


def backup(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """A copy of the store, checked, watched."""

    steps = api.write.backup(
        recall.engine, Path(request.words[0]), force=request.flags.force, mode=mode_of(request.flags)
    )
    return follow(steps, streams=streams, name="copying", kept=lambda _: "no copy was written")


def verify(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """Every check of a file."""
    source = Path(request.words[0])
    if not streams.may_wait:
        _expect_file(source)
    return Recall.verify(source)


def recover(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """What is left of a damaged store."""
    return Recall.recover(*request.words)


def export(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every document and chunk, on stdout or into a file that is whole or as it was."""
    embeddings, mode, hint = not request.flags.no_embeddings, mode_of(request.flags), Hint("export", out="FILE")
    if request.flags.out in (None, "-"):
        if mode is not None:
            raise UsageError("conflicting_flags", "--mode is that of a file.", hint=hint)
        return recall.export(for_data(streams.stdout), embeddings=embeddings)
    target = Path(request.flags.out)
    with replacing(target, hint=hint, is_private=True, mode=mode, store=recall.store.path) as out:
        response = recall.export(out, embeddings=embeddings)
    if "transfer" in response:
        response["transfer"]["path"] = str(target)
    return response


def import_(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """An export, read from a file."""
    flags, source = request.flags, Path(request.words[0])
    if not streams.may_wait:
        _expect_file(source)
    return recall.import_(
        source,
        on_conflict=flags.on_conflict or "error",
        embeddings=not flags.no_embeddings,
        reembed=flags.reembed,
        accept_roots=flags.accept_roots,
    )


def _expect_file(source: Path) -> None:
    try:
        paths.expect_file(source)
    except OSError as error:
        message = f"{source} cannot be read: {why_unread(error)}."
        raise StoreError("import_unreadable", message, hint=f"ls -l {source}") from error


def embedders(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """Every embedder, under the settings of the store where there is one."""
    probe = request.flags.probe
    try:
        with opener(request.store) as recall:
            waits, in_use = recall.engine.usable != recall.config, recall.store.embedder()
            return Recall.embedders(recall.config, in_use=in_use, probe=probe, waits=waits)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise
        return Recall.embedders(probe=probe)


def reembed(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every vector anew, watched."""
    work = recall.reembed(request.words[0], tuple(request.flags.set or ()))
    return follow(work, streams=streams, name="embedding", kept=_vectors_made)


def rechunk(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every document cut anew, watched."""
    named = {key: getattr(request.flags, key) for key in CUTTING if getattr(request.flags, key) is not None}
    work = recall.rechunk(named, dry_run=request.flags.dry_run)
    return follow(work, streams=streams, kept=_texts_known)


def warm(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """What a reranker will read, embedded ahead, watched."""
    flags = request.flags
    work = recall.warm(
        queries=None if flags.queries is None else Path(flags.queries),
        everything=flags.all,
        budget_s=flags.budget_s,
        settings=tuple(flags.set or ()),
    )
    return follow(work, streams=streams, name="embedding", kept=lambda _: "what was embedded is kept")


def _texts_known(last: Progress | None) -> str:
    made = last.embedded if last else 0
    return f"{made} texts were embedded and are kept, questions use the old chunks"


def _vectors_made(last: Progress | None) -> str:
    done, texts = (last.embedded + last.reused, last.chunks) if last else (0, 0)
    return f"{done} of {texts} texts have their new vector, questions use the old ones"
