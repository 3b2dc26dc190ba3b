"""What each command does: flags into options, one method of Recall, its Response onto the streams."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from recall_core import paths
from recall_core.adapters import completion, render, rql
from recall_core.adapters.options import ask_of, check_question, pack_of
from recall_core.adapters.output import replacing
from recall_core.adapters.parser import Request
from recall_core.adapters.progress import follow
from recall_core.adapters.rql import given_rql, read_rql
from recall_core.adapters.streams import Streams, shown
from recall_core.api.recall import Recall
from recall_core.contract import AnyResponse, Response, StatsResponse, response_of
from recall_core.errors import NO_STORE, StoreError, UsageError, why_unread
from recall_core.shell import Hint
from recall_core.types import Progress, Root

Opener = Callable[[str | None], AbstractContextManager[Recall]]
SCHEMA = Path(__file__).parent.parent / "schema" / "response.schema.json"


def run(request: Request, *, streams: Streams, opener: Opener | None = None) -> int:
    """Carry the request out and return its exit code. opener: see cli.main."""
    assert request.command is not None  # noqa: S101 - the caller answers help itself
    name = request.command.name
    if name == "schema":
        streams.stdout.write(SCHEMA.read_text(encoding="utf-8"))
        return 0
    if name == "completion":
        streams.stdout.write(completion.script(request.words[0]))
        return 0
    if name == "init":
        made = _init(request)
        _emit(response_of(made), request, streams)
        if not request.json:
            streams.say(f"created {made['store']['path']}; next: recall add PATH")
        return 0
    if name in _OPENING:
        response = response_of(_OPENING[name](request, streams, opener or open_store))
        _emit(response, request, streams)
        return _exit_code(response)
    with (opener or open_store)(request.store) as recall:
        response = response_of(_VERBS[name](recall, request, streams))
    if _is_stdout_taken(request):
        streams = streams._replace(stdout=streams.stderr)
    _emit(response, request, streams)
    return _exit_code(response)


def _is_stdout_taken(request: Request) -> bool:
    """Whether the command has written its own content there, so that the response has to go elsewhere."""
    flags = vars(request.flags)
    is_export = request.command is not None and request.command.name == "export"
    is_judging = request.command is not None and request.command.name == "judge"
    written = (flags["queries"], flags["qrels"]) if is_judging else (flags.get("html"), flags.get("md"))
    return (is_export and flags["out"] in (None, "-")) or "-" in written


def _exit_code(response: Response) -> int:
    """0 for an answer, 6 where doctor found an error, 7 where a gate failed or the answer is no."""
    if any(check["severity"] == "error" for check in response.get("checks", [])):
        return 6
    held = [condition["holds"] for condition in response.get("evaluation", {}).get("gate", [])]
    held += [condition["holds"] for condition in response.get("fixtures", {}).get("gate", [])]
    held += [condition["holds"] for condition in response.get("diff", {}).get("gate", [])]
    held.append(response.get("whynot", {}).get("present", True))
    if "tuning" in response:
        from recall_core.adapters.tuning import is_negative  # noqa: PLC0415 - a search never needs it

        held.append(not is_negative(response))
    return 0 if all(held) else 7


def open_store(store: str | None) -> Recall:
    """The store of --store, else of $RECALL_STORE, else of the nearest recall.toml upward."""
    return Recall.open(store or os.environ.get("RECALL_STORE") or None)


def _emit(response: Response, request: Request, streams: Streams) -> None:
    if request.json:
        streams.stdout.write(render.json_line(response))
        return
    if not (streams.stdout.isatty() and _drawn(response, streams.stdout)):
        for piece in render.plain(response):
            streams.stdout.write(shown(piece, streams.stdout))
    for line in render.talk(response):
        streams.say(line)


def _drawn(response: Response, stdout: TextIO) -> bool:
    from recall_core.adapters.tables import draw  # noqa: PLC0415 - only a terminal pays for Rich

    return draw(response, stdout)


def _init(request: Request) -> StatsResponse:
    if request.store is not None:
        raise UsageError("conflicting_flags", "init takes a folder, not --store.", hint=Hint("init", "DIR"))
    folder = request.words[0] if request.words else "."
    return Recall.init(folder, embedding=request.flags.embedding, settings=tuple(request.flags.set or ()))


def _add(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.options import read_metadata  # noqa: PLC0415 - a search must not wait for ingest

    flags = request.flags
    template = Root(
        folder="",
        globs=tuple(flags.glob or ()),
        ignores=tuple(flags.ignore or ()),
        parser=flags.parser or "auto",
        tags=tuple(flags.tag or ()),
        source=flags.source,
        meta=read_metadata(flags.meta or ()),
        hidden=flags.hidden,
        gitignore=not flags.no_gitignore,
        follow=flags.follow,
    )
    work = recall.add(request.words, template, mtime_only=flags.mtime_only, strict=flags.strict)
    return follow(work, streams=streams)


def _rm(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.remove(request.words, purge=request.flags.purge, dry_run=request.flags.dry_run)


def _sync(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    if request.flags.watch:
        from recall_core.adapters.progress import watch  # noqa: PLC0415 - a search never needs it

        watch(recall, streams, lambda response: _emit(response_of(response), request, streams))
    return follow(recall.sync(), streams=streams)


def _search(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.search(" ".join(request.words), ask_of(request.flags))


def _query(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    given = given_rql(request.flags.rql, request.words, "recall query")
    return recall.query(read_rql(given, streams.stdin), ask_of(request.flags))


def _context(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    flags = request.flags
    check_question(request)
    if flags.rql is None:
        return recall.context(" ".join(request.words), ask_of(flags), pack_of(flags))
    return recall.context(None, ask_of(flags), pack_of(flags), rql=read_rql(flags.rql, streams.stdin))


def _explain(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.ledger import explain  # noqa: PLC0415 - a search never needs it

    return explain(recall, request, streams)


def _whynot(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.whynot import whynot  # noqa: PLC0415 - a search never needs it

    return whynot(recall, request, streams)


def _trace(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.whynot import trace  # noqa: PLC0415 - a search never needs it

    return trace(recall, request, streams)


def _get(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.get(request.words[0])


def _stats(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.stats()


def _doctor(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.doctor(fix=request.flags.fix, dups=request.flags.dups)


def _compact(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    return recall.compact()


def _export(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    embeddings = not request.flags.no_embeddings
    if request.flags.out in (None, "-"):
        return recall.export(streams.stdout, embeddings=embeddings)
    target = Path(request.flags.out)
    with replacing(target, hint=Hint("export", out="FILE")) as out:
        response = recall.export(out, embeddings=embeddings)
    if "transfer" in response:
        response["transfer"]["path"] = str(target)
    return response


def _import(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    flags, source = request.flags, Path(request.words[0])
    if not streams.may_wait:
        _expect_file(source)
    return recall.import_(
        source,
        on_conflict=flags.on_conflict or "error",
        embeddings=not flags.no_embeddings,
        reembed=flags.reembed,
    )


def _expect_file(source: Path) -> None:
    try:
        paths.expect_file(source)
    except OSError as error:
        message = f"{source} cannot be read: {why_unread(error)}."
        raise StoreError("import_unreadable", message, hint=f"ls -l {source}") from error


def _eval(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.judging import evaluate  # noqa: PLC0415 - a search never needs it

    return evaluate(recall, request, streams)


def _judge(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.judging import judge  # noqa: PLC0415 - a search never needs it

    return judge(recall, request, streams)


def _diff(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    from recall_core.adapters.comparing import diff  # noqa: PLC0415 - a search never needs it

    return diff(request, streams, opener)


def _embedders(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """Every embedder, under the settings of the store where there is one."""
    probe = request.flags.probe
    try:
        with opener(request.store) as recall:
            return Recall.embedders(recall.config, in_use=recall.store.embedder(), probe=probe)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise
        return Recall.embedders(probe=probe)


def _reembed(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every vector anew, watched."""
    work = recall.reembed(request.words[0], tuple(request.flags.set or ()))
    return follow(work, streams=streams, kept=_vectors_made)


def _vectors_made(last: Progress | None) -> str:
    done, texts = (last.embedded + last.reused, last.chunks) if last else (0, 0)
    return f"{done} of {texts} texts have their new vector, questions use the old ones"


def _report(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.report.writing import report  # noqa: PLC0415 - a search never needs it

    return report(recall, request, streams)


_OPENING: dict[str, Callable[[Request, Streams, Opener], AnyResponse]] = {
    "rql": rql.run,
    "embedders": _embedders,
    "diff": _diff,
}
"""The commands that open stores themselves: none, one or two."""


def _tune(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    from recall_core.adapters.tuning import tune  # noqa: PLC0415 - a search never needs it

    return tune(recall, request, streams)


_VERBS: dict[str, Callable[[Recall, Request, Streams], AnyResponse]] = {
    "add": _add,
    "rm": _rm,
    "sync": _sync,
    "search": _search,
    "query": _query,
    "context": _context,
    "explain": _explain,
    "get": _get,
    "whynot": _whynot,
    "trace": _trace,
    "eval": _eval,
    "judge": _judge,
    "tune": _tune,
    "report": _report,
    "reembed": _reembed,
    "stats": _stats,
    "doctor": _doctor,
    "compact": _compact,
    "export": _export,
    "import": _import,
}
