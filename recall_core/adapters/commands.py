"""What each command does: flags into options, one method of Recall, its Response onto the streams."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from recall_core.adapters import completion, render, rql
from recall_core.adapters.parser import Request
from recall_core.adapters.progress import follow
from recall_core.adapters.replacing import replacing
from recall_core.adapters.rql import given_rql, read_rql
from recall_core.adapters.streams import Streams
from recall_core.contract import Response
from recall_core.errors import UsageError
from recall_core.service import Ask, Pack, Recall
from recall_core.types import Root

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
        response = _init(request)
        _emit(response, request, streams)
        if not request.json:
            streams.say(f"created {response['store']['path']}; next: recall add PATH")
        return 0
    if name == "rql":
        _emit(rql.run(request, streams, opener or open_store), request, streams)
        return 0
    with (opener or open_store)(request.store) as recall:
        response = _VERBS[name](recall, request, streams)
    if name == "export" and request.flags.out is None:
        streams = streams._replace(stdout=streams.stderr)
    _emit(response, request, streams)
    broken = any(check["severity"] == "error" for check in response.get("checks", []))
    return 6 if broken else 0


def open_store(store: str | None) -> Recall:
    """The store of --store, else of $RECALL_STORE, else of the nearest recall.toml upward."""
    return Recall.open(store or os.environ.get("RECALL_STORE") or None)


def _emit(response: Response, request: Request, streams: Streams) -> None:
    if request.json:
        streams.stdout.write(render.json_line(response))
        return
    if not (streams.stdout.isatty() and _drawn(response, streams.stdout)):
        for piece in render.plain(response):
            streams.stdout.write(piece)
    for line in render.talk(response):
        streams.say(line)


def _drawn(response: Response, stdout: TextIO) -> bool:
    from recall_core.adapters.tables import draw  # noqa: PLC0415 - only a terminal pays for Rich

    return draw(response, stdout)


def _init(request: Request) -> Response:
    if request.store is not None:
        raise UsageError("conflicting_flags", "init takes a folder, not --store.", hint="recall init DIR")
    folder = request.words[0] if request.words else "."
    return Recall.init(folder, embedding=request.flags.embedding, settings=tuple(request.flags.set or ()))


def _add(recall: Recall, request: Request, streams: Streams) -> Response:
    flags = request.flags
    template = Root(
        folder="",
        globs=tuple(flags.glob or ()),
        ignores=tuple(flags.ignore or ()),
        parser=flags.parser or "auto",
        tags=tuple(flags.tag or ()),
        source=flags.source,
        meta=tuple(_pair("--meta", text) for text in flags.meta or ()),
        hidden=flags.hidden,
        gitignore=not flags.no_gitignore,
        follow=flags.follow,
    )
    work = recall.add(request.words, template, mtime_only=flags.mtime_only, strict=flags.strict)
    return follow(work, streams=streams)


def _rm(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.remove(request.words, purge=request.flags.purge)


def _sync(recall: Recall, request: Request, streams: Streams) -> Response:
    return follow(recall.sync(), streams=streams)


def _search(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.search(" ".join(request.words), _ask(request.flags))


def _query(recall: Recall, request: Request, streams: Streams) -> Response:
    given = given_rql(request.flags.rql, request.words, "recall query")
    return recall.query(read_rql(given, streams.stdin), _ask(request.flags))


def _context(recall: Recall, request: Request, streams: Streams) -> Response:
    flags = request.flags
    pack = Pack(
        budget_tokens=flags.budget_tokens,
        diversity=flags.diversity,
        counter=flags.counter,
        format=flags.format or "plain",
        pins=tuple(flags.pin or ()),
        drops=tuple(flags.drop or ()),
    )
    if flags.rql is None:
        if not request.words:
            raise UsageError("missing_argument", "recall context needs WORDS or --rql.", hint="recall context WORDS")
        return recall.context(" ".join(request.words), _ask(flags), pack)
    _check_rql_alone(request)
    return recall.context(None, _ask(flags), pack, rql=read_rql(flags.rql, streams.stdin))


def _check_rql_alone(request: Request) -> None:
    if request.words:
        raise UsageError("unexpected_argument", "Give either WORDS or --rql.", hint="recall context --rql @FILE")
    for key in ("bm25", "vector", "filter"):
        if getattr(request.flags, key):
            raise UsageError(
                "conflicting_flags", f"--{key} does not go with --rql.", hint="say it in the query: USING, FILTER"
            )


def _get(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.get(request.words[0])


def _stats(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.stats()


def _doctor(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.doctor(fix=request.flags.fix)


def _compact(recall: Recall, request: Request, streams: Streams) -> Response:
    return recall.compact()


def _export(recall: Recall, request: Request, streams: Streams) -> Response:
    embeddings = not request.flags.no_embeddings
    if request.flags.out is None:
        return recall.export(streams.stdout, embeddings=embeddings)
    target = Path(request.flags.out)
    with replacing(target, hint="recall export --out FILE") as out:
        response = recall.export(out, embeddings=embeddings)
    if "transfer" in response:
        response["transfer"]["path"] = str(target)
    return response


def _import(recall: Recall, request: Request, streams: Streams) -> Response:
    flags = request.flags
    return recall.import_(
        Path(request.words[0]),
        on_conflict=flags.on_conflict or "error",
        embeddings=not flags.no_embeddings,
        reembed=flags.reembed,
    )


_VERBS: dict[str, Callable[[Recall, Request, Streams], Response]] = {
    "add": _add,
    "rm": _rm,
    "sync": _sync,
    "search": _search,
    "query": _query,
    "context": _context,
    "get": _get,
    "stats": _stats,
    "doctor": _doctor,
    "compact": _compact,
    "export": _export,
    "import": _import,
}


def _ask(flags: Namespace) -> Ask:
    """The options of a reading command; query has no --k, --filter or mode of its own."""
    bm25, vector = getattr(flags, "bm25", False), getattr(flags, "vector", False)
    return Ask(
        k=getattr(flags, "k", None),
        mode="hybrid" if bm25 == vector else "lexical" if bm25 else "semantic",
        filter=getattr(flags, "filter", None),
        settings=tuple(flags.set or ()),
        explain=flags.explain,
        exact=flags.exact,
        snapshot=flags.snapshot,
        fresh=flags.fresh,
        strict_fresh=flags.strict_fresh,
    )


def _pair(flag: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError("bad_value", f"{flag} takes KEY=VALUE, not {text!r}.", hint=f"{flag} year=2024")
    return key, value
