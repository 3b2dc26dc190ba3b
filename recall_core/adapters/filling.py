"""Commands that fill a store: init, add, rm, roots, sync, trust, export, import, copy."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import adapters, api, caller, embed, ingest, personal
from recall_core.adapters.flags import (
    MODE,
    Command,
    Flag,
    Operand,
    in_lines,
    mode_of,
    on_store,
    read_metadata,
)
from recall_core.adapters.progress import follow
from recall_core.adapters.render import clean, count_of
from recall_core.adapters.streams import expect_source, for_data, replacing
from recall_core.config import FILE_NAME, Config, assignments, load
from recall_core.contract import OK
from recall_core.errors import RecallError, UsageError
from recall_core.shell import Hint, join
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.api.write import RootFields
    from recall_core.contract.responses import (
        IngestResponse,
        RemoveResponse,
        RootsResponse,
        StatsResponse,
        TransferResponse,
        TrustResponse,
    )
    from recall_core.contract.store import (
        ForgottenView,
        IngestView,
        RootChangeView,
        RootsPart,
        RootValue,
        RootView,
        SkipView,
    )


_LOOKED_AT = 20_000  # files whose names are checked for missing parsers
_FEW = 3  # up to this many skipped files, each is reported with its reason
_NOUNS = ("PDF", "archive", "book", "database", "document", "font", "image", "link", "name", "notebook", "record")
_ADJECTIVES = ("broken", "damaged")  # before a noun
_SWITCHES = ("hidden", "gitignore", "follow")
_FIELDS = {"globs": "glob", "ignores": "ignore", "tags": "tag"}
"""Root fields whose flag has another name."""
_VERBOSE = Flag("--verbose", "list every skipped file with its reason, including files reported before", short="-v")

_RULES = (
    Flag("--glob", "only files that match, relative to the root", "PATTERN", many=True),
    Flag("--ignore", "skip files that match", "PATTERN", many=True),
    Flag("--tag", "tag every document", "TAG", many=True),
    Flag("--source", "label for where the documents come from", "LABEL"),
    Flag("--meta", "metadata to store with every document", "KEY=VALUE", many=True),
    Flag(
        "--parser",
        "parser to use: auto (by name and content, the default), text (plain text), or one by name",
        "NAME",
    ),
    Flag("--encoding", "encoding of files that do not declare one (default UTF-8)", "NAME"),
)
"""Flags that become rules of a root, without the switches."""


def init(request: Request, streams: Streams, opener: Opener) -> StatsResponse:
    """Create a store in a folder."""
    is_on_server = request.store is not None and "://" in request.store
    if request.store is not None and not is_on_server:
        raise UsageError("conflicting_flags", "init takes a folder instead of --store.", hint=Hint("init", "DIR"))
    folder = request.words[0] if request.words else "."
    flags, mode = request.flags, mode_of(request.flags)
    settings = (*(flags.set or ()), *((f"store_path={request.store}",) if is_on_server else ()))
    if not os.path.exists(Path(folder) / FILE_NAME):  # noqa: PTH110 - False, not an error, without permission
        is_named = flags.embedding is not None or any(each.strip().startswith("embedding") for each in settings)
        own = dict(personal.load(os.environ).of_new_store(with_embedder=not is_named))
        if flags.language is not None:
            own.pop("language", None)
        settings = (*assignments(own), *settings)

    embedding = flags.embedding if flags.embedding is not None else choose_embedder(Path(folder), settings)
    options = api.stores.NewStoreFields(
        embedding=embedding, language=flags.language, settings=settings, citus=flags.citus
    )
    return api.recall.Recall.init(folder, **options if mode is None else {**options, "mode": mode})


def choose_embedder(folder: Path, settings: tuple[str, ...]) -> str | None:
    """Return `local` if it is installed and no setting names an embedder, else None."""
    is_set = any(each.strip().startswith("embedding") for each in settings) or (folder / FILE_NAME).exists()
    return None if is_set or embed.registry.kind("local").missing(Config()) is not None else "local"


def created_lines(made: StatsResponse) -> Iterator[str]:
    """Yield the new files, the embedder, missing parsers, and the next command."""
    if "://" in made["store"]["path"]:
        yield f"{'created':<10}{made['store']['path']}, named in {FILE_NAME}"
        yield f"{'next':<10}{Hint('add', 'PATH')}"
        return
    path = Path(made["store"]["path"])
    config = load(path.parent / FILE_NAME)
    store = None if path.parent == caller.folder() else str(path)
    yield f"{'created':<10}{path} and {FILE_NAME}"
    yield f"{'embedder':<10}{_embedder_text(config)}"
    steps = islice(ingest.discover.walk(Root("."), path.parent, Config()), _LOOKED_AT)
    names = (step.path for step in steps if isinstance(step, ingest.discover.Found))
    for files, what, install in ingest.kinds.missing_packages(names):
        yield f"{'to read':<10}{files:,} {what}{'s' * (files > 1)}: {install}"
    yield f"{'next':<10}{Hint('add', 'PATH', store=store)}"
    if better := _better_ranking(config, store):
        yield f"{'later':<10}{better}, which ranks better"


def _embedder_text(config: Config) -> str:
    """Return the embedder, what its vectors match, and why `local` is not used."""
    kind = embed.registry.kind(config.embedding)
    if kind.name != "hash":
        where = "; texts leave this machine" if kind.sends_text(config) else ""
        return f"{config.embedding}: {kind.purpose}{where}"
    reason = embed.registry.kind("local").missing(config)
    return f"hash: {embed.registry.HASH_NOTE}" + ("" if reason is None else f"; {reason}")


def _better_ranking(config: Config, store: str | None) -> Hint | None:
    """Return the command for the best ranking available here, or None if the settings already use it."""
    if config.rerank or config.embedding not in ("hash", "local"):
        return None
    if any(embed.registry.kind(name).missing(config) is not None for name in ("local", "minilm")):
        return None
    return Hint("reembed", "local", set="rerank=minilm", store=store)


def add(recall: Recall, request: Request, streams: Streams) -> IngestResponse:
    """Add files and folders, with a progress bar."""
    flags = request.flags
    template = Root(
        folder="",
        globs=tuple(flags.glob or ()),
        ignores=tuple(flags.ignore or ()),
        parser=flags.parser or "auto",
        encoding=flags.encoding or "",
        tags=tuple(flags.tag or ()),
        source=flags.source,
        meta=read_metadata(flags.meta or ()),
        hidden=flags.hidden,
        gitignore=not flags.no_gitignore,
        follow=flags.follow,
    )
    if flags.name is not None or "-" in request.words:
        return follow(add_stdin(recall, request, streams, template), streams=streams)
    work = recall.add(
        request.words,
        template,
        mtime_only=flags.mtime_only,
        strict=flags.strict,
        executor=flags.executor or "inline",
    )
    return follow(work, streams=streams)


def add_stdin(
    recall: Recall, request: Request, streams: Streams, template: Root
) -> Generator[Progress, None, IngestResponse]:
    """Add the text on stdin as a document named by --name."""
    flags, example = request.flags, Hint("add", "-", name="notes/today.md")
    if request.words != ("-",):
        message = (
            "--name works only with -." if "-" not in request.words else "- cannot be combined with other paths."
        )
        raise UsageError("unexpected_argument", message, hint=example)
    if flags.name is None:
        raise UsageError("missing_argument", "Text from stdin needs --name.", hint=example)
    rules = template._replace(globs=(), ignores=(), hidden=False, gitignore=True, follow=False)
    if template != rules or flags.mtime_only or flags.executor:
        raise UsageError(
            "conflicting_flags", "- takes only labels and a parser; the other flags are for folders.", hint=example
        )
    if not streams.may_wait:
        raise UsageError("bad_value", "stdin is not available here.", hint=Hint("add", "FILE"))
    source = getattr(streams.stdin, "buffer", None)
    most = recall.config.max_file_bytes + 1
    content = streams.stdin.read().encode() if source is None else source.read(most)
    return recall.add([flags.name], template, content=content)


def ingest_line(view: IngestView) -> str:
    """Return the outcome of add or sync on one line."""
    counts = [(view["added"], "added"), (view["updated"], "updated")]
    counts += [(view["unchanged"], "unchanged"), (view["removed"], "removed")]
    outcome = "files: " + ", ".join(f"{count} {name}" for count, name in counts)
    skipped = f", {len(view['skipped'])} skipped" if view["skipped"] else ""
    tokens = f"; {count_of(view['tokens'], 'token')} embedded" if "tokens" in view else ""
    without = f", {view['without_text']} without text" if "without_text" in view else ""
    purged = f"; text of {count_of(view['purged'], 'old session')} purged" if "purged" in view else ""
    documents = f"{count_of(view['documents'], 'document')}{without}"
    return f"{outcome}{skipped}; {documents}, {count_of(view['chunks'], 'chunk')}{tokens}{purged}"


def ingest_lines(view: IngestView) -> Iterator[str]:
    """Yield the outcome of add or sync, and how the language was decided if most function words are German."""
    yield ingest_line(view)
    if "language" in view:
        own = view["language"]
        few = f", too few of {own['words']:,} words" if own["language"] != "de" else ""
        other = "en" if own["language"] == "de" else "de"
        yield (
            f"language: {own['language']} ({own['german']:,} of {own['function_words']:,} function words in "
            f"{count_of(own['files'], 'file')} are German{few}; for another: {Hint('reindex', language=other)})"
        )


def removed_lines(response: RemoveResponse) -> Iterator[str]:
    """Yield the removed documents, or with --dry-run those to remove."""
    view = response["removed"]
    did = "would remove" if view["dry_run"] else "removed"
    yield f"{did} {count_of(view['documents'], 'document')}{', purged' if view['purged'] else ''}"
    yield from view["paths"]
    yield from (f"backup  {path}" for path in view["backups"])
    yield from (f"copy    {path}" for path in view.get("copies", []))


def roots(recall: Recall, request: Request, streams: Streams) -> RootsResponse:
    """Edit, accept or forget roots, then list them all."""
    action, *words = request.words or ("",)
    flags, changes = request.flags, _changes_of(request.flags)
    _check_flags(action, flags, changes)
    if action == "accept" and not words:
        raise UsageError("missing_argument", "Which root do you want to accept?", hint=Hint("roots", "accept", "N"))
    if action and not words:
        raise UsageError("missing_argument", f"Which root do you want to {action}?", hint=Hint("roots", action, "N"))
    for number in words:
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise UsageError("bad_value", f"{number} is not a root number.", hint=Hint("roots"))
    numbers = tuple(map(int, words))
    if action == "edit":
        return _edit(recall, numbers, changes, request, streams)
    if action == "forget":
        return recall.roots(forget=numbers, rm=flags.rm)
    return recall.roots(accept=numbers)


def _changes_of(flags: Namespace) -> RootFields:
    """Return the rules to change. An empty value removes the rule."""
    changes: RootFields = {}
    if flags.glob is not None:
        changes["globs"] = tuple(filter(None, flags.glob))
    if flags.ignore is not None:
        changes["ignores"] = tuple(filter(None, flags.ignore))
    if flags.tag is not None:
        changes["tags"] = tuple(filter(None, flags.tag))
    if flags.source is not None:
        changes["source"] = flags.source or None
    if flags.meta is not None:
        changes["meta"] = read_metadata(tuple(filter(None, flags.meta)))
    if flags.parser is not None:
        changes["parser"] = flags.parser or "auto"
    if flags.encoding is not None:
        changes["encoding"] = flags.encoding
    for name in _SWITCHES:
        is_on, is_off = getattr(flags, name), getattr(flags, f"no_{name}")
        if is_on and is_off:
            hint = f"leave out --{name}, or --no-{name}"
            raise UsageError("conflicting_flags", f"--{name} and --no-{name} cannot be combined.", hint=hint)
        if is_on or is_off:
            changes[name] = is_on  # type: ignore[literal-required]
    return changes


def _check_flags(action: str, flags: Namespace, changes: RootFields) -> None:
    """Raise UsageError `conflicting_flags` for a flag of another action."""
    if action != "edit" and (changes or flags.sync):
        field = next(iter(changes), "sync")
        name = "sync" if flags.sync else _FIELDS.get(field, field)
        message = f"--{name} works only with edit."
        raise UsageError("conflicting_flags", message, hint=f"{Hint('roots', 'edit', 'N')} --{name}")
    if action != "forget" and flags.rm:
        hint = Hint("roots", "forget", "N", rm=True)
        raise UsageError("conflicting_flags", "--rm works only with forget.", hint=hint)


def _edit(
    recall: Recall, numbers: Sequence[int], changes: RootFields, request: Request, streams: Streams
) -> RootsResponse:
    if len(numbers) > 1:
        hint = Hint("roots", "edit", str(numbers[0]))
        raise UsageError("unexpected_argument", "edit takes one root at a time.", hint=hint)
    if not changes:
        hint = Hint("roots", "edit", str(numbers[0]), glob="**/*.md")
        raise UsageError("missing_argument", "Which rule do you want to change?", hint=hint)
    answer = recall.roots(edit=numbers[0], changes=changes)
    if not request.flags.sync:
        return answer
    synced = follow(recall.sync(), streams=streams)
    done: RootsPart = {"edited": answer["edited"], "ingest": synced["ingest"]}
    return {**OK, "roots": recall.roots()["roots"], **done, "warnings": synced["warnings"]}


def root_answer_lines(response: RootsResponse) -> Iterator[str]:
    """Yield the changes to the roots; without any, each root with its number, rules and excluded paths."""
    if (edited := response.get("edited")) is not None:
        yield f"{edited['number']:>3}  {clean(edited['folder'])}{'' if edited['changes'] else '  unchanged'}"
        for change in edited["changes"]:
            before, after = _value_text(change["before"]), _value_text(change["after"])
            yield f"     {_FIELDS.get(change['field'], change['field'])}  {clean(before)} -> {clean(after)}"
    elif (forgotten := response.get("forgotten")) is not None:
        yield from _forgotten_lines(forgotten)
    else:
        for root in response["roots"]:
            yield from _root_lines(root)
    if (ingest := response.get("ingest")) is not None:
        yield from ingest_lines(ingest)


def _root_lines(root: RootView, state: str = "") -> Iterator[str]:
    rules = [*root["globs"], *(f"not {pattern}" for pattern in root["ignores"])]
    state = state if root["active"] else "  not synced until accepted"
    folder_and_rules = "  ".join([root["folder"], *rules])
    yield f"{root['number']:>3}  {clean(folder_and_rules)}  {count_of(root['documents'], 'document')}{state}"
    if others := _other_flags(root):
        yield f"     {clean(others)}"
    yield from (f"     excluded  {clean(path)}" for path in root["left_out"])


def _other_flags(root: RootView) -> str:
    """Return the labels and switches of a root as flags of `recall add`."""
    words: list[str] = [] if root["parser"] == "auto" else ["--parser", root["parser"]]
    words += ["--encoding", root["encoding"]] if "encoding" in root else []
    words += [word for tag in root["tags"] for word in ("--tag", tag)]
    words += ["--source", root["source"]] if "source" in root else []
    words += [word for key, value in root["meta"].items() for word in ("--meta", f"{key}={_meta_text(value)}")]
    words += ["--hidden"] if root["hidden"] else []
    words += ["--follow"] if root["follow"] else []
    words += [] if root["gitignore"] else ["--no-gitignore"]
    return join(words)


def _forgotten_lines(view: ForgottenView) -> Iterator[str]:
    for root in view["roots"]:
        yield f"{root['number']:>3}  {clean(root['folder'])}  forgotten"
    stay = f"{count_of(view['kept'], 'document')} of {'it' if len(view['roots']) == 1 else 'them'} stay"
    stay += "s" if view["kept"] == 1 else ""
    if view["documents"]:
        remainder = f"; {stay} (also in another root)" if view["kept"] else ""
        yield f"     removed {count_of(view['documents'], 'document')}{remainder}"
    elif view["kept"]:
        folders = [root["folder"] for root in view["roots"]]
        yield f"     {stay} in the store ({Hint('rm', *folders)} removes all documents there)"


def talk_of_roots(response: RootsResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the report of the sync, if one ran, and the next command."""
    edited, ingest = response.get("edited"), response.get("ingest")
    if ingest is not None:
        yield from talk_of_files(ingest, verbose=is_verbose)
    if edited is not None and not edited["active"]:
        yield f"not synced yet: {Hint('roots', 'accept', str(edited['number']))}, then {Hint('sync')}"
    elif edited is not None and edited["changes"] and ingest is None:
        yield f"next: {Hint('sync')} applies this to {count_of(edited['files'], 'file')} in the store and new files"
    elif not response["roots"] and response.get("forgotten") is None:
        yield f"no roots yet; next: {Hint('add', 'DIR')}"


def sync(recall: Recall, request: Request, streams: Streams) -> IngestResponse:
    """Sync the roots once, or with --watch on every change."""
    if request.flags.watch:
        reparse = request.flags.reparse
        adapters.progress.watch(
            recall,
            streams,
            lambda response: adapters.commands.emit(response, request, streams),
            reparse=reparse,
        )
    return follow(recall.sync(reparse=request.flags.reparse), streams=streams)


def talk_of_sync(response: IngestResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the new and changed roots, and the skipped files."""
    return talk_of_files(response["ingest"], verbose=is_verbose)


def talk_of_files(view: IngestView, *, verbose: bool) -> Iterator[str]:
    """Yield the new and changed roots, and the skipped files."""
    yield from map(_root_change, view.get("roots", []))
    skipped, groups = view["skipped"], [group for group in view.get("skipped_by", []) if group["new"]]
    if verbose or "skipped_by" not in view:
        yield from map(_skip_line, skipped)
    elif sum(group["new"] for group in groups) <= _FEW:
        new = {(group["code"], path) for group in groups for path in group["first"]}
        yield from (_skip_line(skip) for skip in skipped if (skip["code"], skip["path"]) in new)
    else:
        counts = " · ".join(f"{group['new']:,} {_label(group['kind'], group['new'])}" for group in groups)
        yield f"skipped {counts} (--verbose lists each)"
        for group in groups:  # `  PDF: a.pdf, b.pdf, c.pdf and 12 more`
            more = group["new"] - len(group["first"])
            named = ", ".join(map(clean, group["first"]))
            yield f"  {group['kind']}: {named}{f' and {more:,} more' if more > 0 else ''}"


def _root_change(view: RootChangeView) -> str:
    """Return how a root changed, on one line."""
    folder, number = clean(view["folder"]), view["number"]
    others = f"{'roots' if len(view['others']) > 1 else 'root'} {', '.join(map(str, view['others']))}"
    if view["change"] == "accepted":
        return f"root {number}, {folder}, is synced from now on"
    if view["change"] == "last":
        return f"root {number}, {folder}, was added last, so its rules also apply to files of {others}"
    hint = Hint("roots", "edit", str(view["others"][-1]))
    return f"root {number} is new: {folder}, with rules that differ from {others} (to change those: {hint} …)"


def _skip_line(skip: SkipView) -> str:
    return f"skipped {skip['path']}: {skip['reason']} ({skip['code']})"


def _label(kind: str, files: int) -> str:
    """Return the kind, in the plural if there are several files: `image (.png)` becomes `images (.png)`."""
    first, space, rest = kind.partition(" ")
    if first in _ADJECTIVES:
        return f"{first} {_label(rest, files)}"
    if files == 1 or first not in _NOUNS:
        return kind
    return f"{first}s{space}{rest}"


def _value_text(value: RootValue) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={_meta_text(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return " ".join(value) or "none"
    return "none" if value is None else _meta_text(value)


def _meta_text(value: str | int | float | bool | None) -> str:
    """Return a value as `--meta` parses it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def trust(request: Request, streams: Streams, opener: Opener) -> TrustResponse:
    """Show the settings that need acceptance, and accept them with --yes or after a prompt."""
    flags, store = request.flags, _settings_of(request, opener)
    if sum((flags.yes, flags.show, flags.forget)) > 1:
        raise UsageError("conflicting_flags", "trust takes only one flag.", hint=Hint("trust", show=True))
    response = api.agents.trust(store, accept=flags.yes, forget=flags.forget)
    if flags.yes or flags.show or flags.forget or response["trust"]["accepted"]:
        return response
    if request.json or not (streams.stdin.isatty() and streams.stderr.isatty()):
        message = f"{response['trust']['toml']} is not accepted yet, and there is no terminal for a prompt."
        raise UsageError("not_accepted", message, hint=Hint("trust", yes=True))
    for line in trust_lines(response):
        streams.say(line)
    streams.stderr.write("Accept these settings? [y/N] ")
    streams.stderr.flush()
    if streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("not_accepted", "Nothing was accepted.", hint=Hint("trust"))
    return api.agents.trust(store, accept=True)


def _settings_of(request: Request, opener: Opener) -> str | None:
    """Return the store whose settings to accept. Opens it only if a custom opener chooses it."""
    if opener is not adapters.commands.open_store:
        with suppress(RecallError), opener(request.store) as recall:
            return str(recall.engine.found.toml.parent)
    return request.store or os.environ.get("RECALL_STORE") or None


def trust_lines(response: TrustResponse) -> Iterator[str]:
    """Yield the settings that need acceptance, their digest, and their state."""
    view = response["trust"]
    if "sha256" not in view:
        yield f"{clean(view['toml'])} has nothing to accept"
        return
    yield f"{clean(view['toml'])} would"
    yield from (f"  {clean(act)}" for act in view["acts"])
    yield f"sha256  {view['sha256']}"
    yield "accepted" + ("" if view["kept"] else " for this run") if view["accepted"] else "not accepted yet"


def export(recall: Recall, request: Request, streams: Streams) -> TransferResponse:
    """Export to stdout or to a file. A failed export leaves an existing file unchanged."""
    embeddings, mode, hint = not request.flags.no_embeddings, mode_of(request.flags), Hint("export", out="FILE")
    if request.flags.out in (None, "-"):
        if mode is not None:
            raise UsageError("conflicting_flags", "--mode needs a file.", hint=hint)
        return recall.export(for_data(streams.stdout), embeddings=embeddings)
    target = Path(request.flags.out)
    with replacing(target, hint=hint, is_private=True, mode=mode, store=recall.store.path) as out:
        response = recall.export(out, embeddings=embeddings)
    response["transfer"]["path"] = str(target)
    return response


def transferred_lines(response: TransferResponse) -> Iterator[str]:
    """Yield the exported or imported amounts and the digest."""
    moved = response["transfer"]
    amount = f"{count_of(moved['documents'], 'document')}, {count_of(moved['chunks'], 'chunk')}"
    if "unchanged" in moved:
        amount = f"nothing to import: {count_of(moved['unchanged'], 'document')} already here"
    yield f"{amount}  sha256 {moved['sha256']}"


def import_(recall: Recall, request: Request, streams: Streams) -> TransferResponse:
    """Read an export from a file."""
    flags, source = request.flags, Path(request.words[0])
    if not streams.may_wait:
        expect_source(source)
    return recall.import_(
        source,
        on_conflict=flags.on_conflict or "error",
        embeddings=not flags.no_embeddings,
        reembed=flags.reembed,
        accept_roots=flags.accept_roots,
    )


def import_lines(response: TransferResponse) -> Iterator[str]:
    """Yield the imported amounts, and the roots that are accepted or not accepted yet."""
    yield from transferred_lines(response)
    for root in response["transfer"].get("accepted_roots", []):
        yield from _root_lines(root, state="  accepted")
    for root in response["transfer"].get("waiting_roots", []):
        yield from _root_lines(root)


def copy(request: Request, streams: Streams, opener: Opener) -> TransferResponse:
    """Copy one store into another."""
    if request.store is not None:
        raise UsageError("conflicting_flags", "copy takes FROM instead of --store.", hint=Hint("copy", "FROM", "TO"))
    source, target = request.words
    with opener(source) as recall:
        return recall.copy(target)


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "init",
        "Create recall.db and recall.toml in a folder.",
        run=init,
        prints=in_lines(created_lines),
        operand=Operand("DIR", "the folder (default: the current one)", least=0),
        flags=(
            Flag("--embedding", "embedder for the semantic signal (default: local if installed, else hash)", "NAME"),
            Flag(
                "--language", "of the documents: auto (decided at the first add), none (no stems), en, de, …", "NAME"
            ),
            Flag("--set", "save this setting in recall.toml", "KEY=VALUE", many=True),
            Flag("--citus", "with --store postgresql://…: distribute the tables by document, with Citus"),
            MODE,
        ),
        examples=("recall init", "recall init ~/notes --set chunk_tokens=200"),
    ),
    Command(
        "add",
        "Add files and folders to the store. Unchanged files are not processed again.",
        run=on_store(add),
        prints=in_lines(lambda response: ingest_lines(response["ingest"])),
        operand=Operand("PATH", "file, folder (saved as a root for sync), or - for stdin", most=None),
        flags=(
            *_RULES,
            Flag("--hidden", "include hidden files and folders"),
            Flag("--follow", "follow symbolic links that lead outside the root"),
            Flag("--no-gitignore", "include files that .gitignore excludes"),
            Flag("--mtime-only", "do not hash files whose size and time are unchanged"),
            Flag("--strict", "exit 1 if any file was skipped"),
            Flag(
                "--executor",
                "where vectors are computed: inline (the default) or process (one worker for each processor)",
                "WHERE",
                choices=("inline", "process"),
            ),
            Flag("--name", "with -: path of the document, in the store's folder", "PATH"),
            _VERBOSE,
        ),
        examples=(
            "recall add docs --glob '**/*.md' --tag docs",
            "recall add src tests --ignore '**/fixtures/**' --source repo",
            "recall add paper.txt --meta year=2024",
            "date | recall add - --name notes/today.md",
        ),
        talks=talk_of_sync,
    ),
    Command(
        "rm",
        "Remove documents from the store. Files on disk are not touched.",
        run=on_store(
            lambda recall, request, streams: recall.remove(
                request.words, purge=request.flags.purge, dry_run=request.flags.dry_run
            )
        ),
        prints=in_lines(removed_lines),
        operand=Operand("TARGET", "path, folder, quoted glob, or document id (6 digits are enough)", most=None),
        flags=(
            Flag("--dry-run", "list the documents without removing them"),
            Flag("--purge", "erase every byte of their text from the store's files"),
        ),
        examples=("recall rm docs/old.md", "recall rm 'docs/**/*.md' --dry-run", "recall rm 3f2a9c --purge"),
    ),
    Command(
        "roots",
        "List, edit, accept or forget roots: the files and folders that were added.",
        run=on_store(roots),
        prints=in_lines(root_answer_lines),
        operand=Operand(
            "ACTION",
            "accept, edit or forget, followed by one or more root numbers",
            least=0,
            most=None,
            actions=("accept", "edit", "forget"),
        ),
        flags=(
            *_RULES,
            Flag("--hidden", "include hidden files and folders"),
            Flag("--no-hidden", "skip hidden files and folders"),
            Flag("--follow", "follow symbolic links that lead outside the root"),
            Flag("--no-follow", "do not follow symbolic links"),
            Flag("--gitignore", "skip files that .gitignore excludes"),
            Flag("--no-gitignore", "include files that .gitignore excludes"),
            Flag("--sync", "edit: sync afterwards"),
            Flag("--rm", "forget: also remove its documents, except those in another root"),
            _VERBOSE,
        ),
        examples=(
            "recall roots",
            "recall roots edit 2 --glob '**/*.md' --tag docs --sync",
            "recall roots forget 3 --rm",
            "recall roots accept 2",
        ),
        note="With edit, a flag replaces the root's value and an empty value ('') removes it.",
        talks=talk_of_roots,
    ),
    Command(
        "sync",
        "Update the store from its roots: new, changed and deleted files.",
        run=on_store(sync),
        prints=in_lines(lambda response: ingest_lines(response["ingest"])),
        flags=(
            Flag("--watch", "keep syncing on every change, until Ctrl-C"),
            Flag("--reparse", "parse every file again, even if unchanged; vectors are reused"),
            _VERBOSE,
        ),
        examples=("recall sync", "recall sync --watch", "recall sync --json"),
        talks=talk_of_sync,
    ),
    Command(
        "trust",
        "Accept an agents.toml, or recall.toml settings that send text, load code or reach outside.",
        run=trust,
        prints=in_lines(trust_lines),
        flags=(
            Flag("--show", "only print these settings and their digest for RECALL_TRUST"),
            Flag("--yes", "accept without asking"),
            Flag("--forget", "withdraw the acceptance"),
        ),
        examples=("recall trust", "recall trust --show", "recall trust --yes"),
        note="To accept for one run without saving it, set RECALL_TRUST=SHA256.",
    ),
    Command(
        "export",
        "Export all documents and chunks as JSON lines.",
        run=on_store(export),
        prints=in_lines(transferred_lines),
        flags=(
            Flag("--out", "write to FILE instead of stdout", "FILE"),
            Flag("--no-embeddings", "leave out the vectors"),
            MODE,
        ),
        examples=("recall export --out backup.jsonl", "recall export --no-embeddings | gzip > backup.jsonl.gz"),
        note="Without --out (or with --out -) the lines go to stdout, and the --json report goes to stderr.",
        takes_stdout=lambda flags: flags.out in (None, "-"),
    ),
    Command(
        "import",
        "Import an export into this store: everything or nothing.",
        run=on_store(import_),
        prints=in_lines(import_lines),
        operand=Operand("FILE", "a file written by recall export"),
        flags=(
            Flag(
                "--on-conflict",
                "what to do if a document already exists (default error)",
                "ACTION",
                choices=("error", "skip", "replace"),
            ),
            Flag("--no-embeddings", "ignore the vectors in the file"),
            Flag("--reembed", "compute the vectors with this store's embedder"),
            Flag("--accept-roots", "sync the imported roots from now on; otherwise run recall roots accept"),
        ),
        examples=("recall import backup.jsonl", "recall import backup.jsonl --on-conflict skip"),
    ),
    Command(
        "copy",
        "Copy a store into a new file or collection: everything or nothing. Run it again to continue.",
        run=copy,
        prints=in_lines(transferred_lines),
        operand=Operand("FROM TO", "the store to copy and the new store, each a file or a URL", least=2, most=2),
        examples=(
            "recall copy recall.db 'postgresql://me@db.example/notes?collection=team'",
            "recall copy 'postgresql://me@db.example/notes?collection=team' team.db",
        ),
    ),
)
