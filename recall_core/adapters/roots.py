"""`recall roots`, the folders that were added; and what `add` and `sync` say of them and of what they skipped."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from recall_core.adapters.options import read_metadata
from recall_core.adapters.progress import follow
from recall_core.adapters.render import clean, counted, ingested, transferred
from recall_core.api.recall import Recall
from recall_core.contract import OK
from recall_core.contract.store import (
    ForgottenView,
    IngestView,
    RootChangeView,
    RootEditView,
    RootsPart,
    RootValue,
    RootView,
    SkipGroupView,
    SkipView,
)
from recall_core.errors import UsageError
from recall_core.shell import Hint, join
from recall_core.types import Progress, Root

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.plain import Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.write import RootFields
    from recall_core.contract.responses import IngestResponse, Response, RootsResponse

_FEW = 3  # skipped files of which each is told with its reason
_NOUNS = ("PDF", "archive", "book", "database", "document", "font", "image", "link", "name", "notebook", "record")
_ADJECTIVES = ("broken", "damaged")  # before a noun
_SWITCHES = ("hidden", "gitignore", "follow")
_FIELDS = {"globs": "glob", "ignores": "ignore", "tags": "tag"}
"""Fields whose flag has another name."""


def roots(recall: Recall, request: Request, streams: Streams) -> RootsResponse:
    """The roots, once one of them is edited, or some are accepted or forgotten."""
    action, *words = request.words or ("",)
    flags, changes = request.flags, _changes(request.flags)
    _check_flags(action, flags, changes)
    if action == "accept" and not words:
        raise UsageError("missing_argument", "Which root is to be accepted?", hint=Hint("roots", "accept", "N"))
    if action and not words:
        raise UsageError("missing_argument", f"Which root is meant by {action}?", hint=Hint("roots", action, "N"))
    for number in words:
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise UsageError("bad_value", f"{number} is not the number of a root.", hint=Hint("roots"))
    numbers = tuple(map(int, words))
    if action == "edit":
        return _edited(recall, numbers, changes, request, streams)
    if action == "forget":
        return recall.roots(forget=numbers, rm=flags.rm)
    return recall.roots(accept=numbers)


def add_stdin(
    recall: Recall, request: Request, streams: Streams, template: Root
) -> Generator[Progress, None, IngestResponse]:
    """What stdin holds, as a document of the name that is given."""
    flags, example = request.flags, Hint("add", "-", name="notes/today.md")
    if request.words != ("-",):
        message = "--name names what - brings, alone." if "-" not in request.words else "- is added alone."
        raise UsageError("unexpected_argument", message, hint=example)
    if flags.name is None:
        raise UsageError("missing_argument", "What comes through stdin needs --name.", hint=example)
    rules = template._replace(globs=(), ignores=(), hidden=False, gitignore=True, follow=False)
    if template != rules or flags.mtime_only:
        raise UsageError("conflicting_flags", "- is no folder: it takes labels and a parser.", hint=example)
    if not streams.may_wait:
        raise UsageError("bad_value", "There is no stdin here.", hint=Hint("add", "FILE"))
    source = getattr(streams.stdin, "buffer", None)
    most = recall.config.max_file_bytes + 1
    content = streams.stdin.read().encode() if source is None else source.read(most)
    return recall.add([flags.name], template, content=content)


def lines(response: Response) -> Iterator[str]:
    """What was done to the roots; else every root with its number, its rules, and what is left out of it."""
    if "edited" in response:
        yield from _edited_lines(response["edited"])
    elif "forgotten" in response:
        yield from _forgotten_lines(response["forgotten"])
    else:
        for root in response["roots"]:
            yield from _root_lines(root)
    if "ingest" in response:
        yield from ingested(response)


def imported(response: Response) -> Iterator[str]:
    """Yield what an import read, and the roots that it accepted or left waiting."""
    yield from transferred(response)
    for root in response["transfer"].get("accepted_roots", []):
        yield from _root_lines(root, state="  accepted: synced from now on")
    for root in response["transfer"].get("waiting_roots", []):
        yield from _root_lines(root)


def next_step(response: Response) -> Iterator[str]:
    """What to do next, where there is anything."""
    edited = response.get("edited")
    if edited is not None and not edited["active"]:
        yield f"it waits: {Hint('roots', 'accept', str(edited['number']))}, then {Hint('sync')}"
    elif edited is not None and edited["changes"] and "ingest" not in response:
        yield f"next: {Hint('sync')} applies it to {counted(edited['files'], 'file')} in the store, and to new ones"
    elif not response["roots"] and "forgotten" not in response:
        yield f"no folder was added; next: {Hint('add', 'DIR')}"


def ingest_talk(view: IngestView, *, verbose: bool) -> Iterator[str]:
    """Which roots an add made or changed, and what was skipped."""
    yield from map(_root_change, view.get("roots", []))
    skipped, groups = view["skipped"], [group for group in view.get("skipped_by", []) if group["new"]]
    if verbose or "skipped_by" not in view:
        yield from map(_skip_line, skipped)
    elif sum(group["new"] for group in groups) <= _FEW:
        new = {(group["code"], path) for group in groups for path in group["first"]}
        yield from (_skip_line(skip) for skip in skipped if (skip["code"], skip["path"]) in new)
    else:
        told = " · ".join(f"{group['new']:,} {_label(group['kind'], group['new'])}" for group in groups)
        yield f"skipped {told} (--verbose names each)"
        yield from map(_group_line, groups)


def _changes(flags: Namespace) -> RootFields:
    """What is to be changed; an empty value takes away what was there."""
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
            raise UsageError("conflicting_flags", f"--{name} and --no-{name} exclude each other.", hint=hint)
        if is_on or is_off:
            changes[name] = is_on  # type: ignore[literal-required]
    return changes


def _check_flags(action: str, flags: Namespace, changes: RootFields) -> None:
    """Raises UsageError `conflicting_flags` for a flag of another action."""
    if action != "edit" and (changes or flags.sync):
        name = "sync" if flags.sync else _flag_of(next(iter(changes)))
        message = f"--{name} goes with edit."
        raise UsageError("conflicting_flags", message, hint=f"{Hint('roots', 'edit', 'N')} --{name}")
    if action != "forget" and flags.rm:
        hint = Hint("roots", "forget", "N", rm=True)
        raise UsageError("conflicting_flags", "--rm goes with forget.", hint=hint)


def _edited(
    recall: Recall, numbers: Sequence[int], changes: RootFields, request: Request, streams: Streams
) -> RootsResponse:
    if len(numbers) > 1:
        hint = Hint("roots", "edit", str(numbers[0]))
        raise UsageError("unexpected_argument", "One root is edited at a time.", hint=hint)
    if not changes:
        hint = Hint("roots", "edit", str(numbers[0]), glob="**/*.md")
        raise UsageError("missing_argument", "What is to be changed?", hint=hint)
    answer = recall.roots(edit=numbers[0], changes=changes)
    if not request.flags.sync:
        return answer
    synced = follow(recall.sync(), streams=streams)
    done: RootsPart = {"edited": answer["edited"], "ingest": synced["ingest"]}
    return {**OK, "roots": recall.roots()["roots"], **done, "warnings": synced["warnings"]}


def _root_lines(root: RootView, state: str = "") -> Iterator[str]:
    rules = [*root["globs"], *(f"not {pattern}" for pattern in root["ignores"])]
    state = state if root["active"] else "  waits: not synced until accepted"
    told = "  ".join([root["folder"], *rules])
    yield f"{root['number']:>3}  {clean(told)}  {counted(root['documents'], 'document')}{state}"
    if others := _other_flags(root):
        yield f"     {clean(others)}"
    yield from (f"     left out  {clean(path)}" for path in root["left_out"])


def _other_flags(root: RootView) -> str:
    """Labels and switches of a root, as the flags that it was added with."""
    words: list[str] = [] if root["parser"] == "auto" else ["--parser", root["parser"]]
    words += ["--encoding", root["encoding"]] if "encoding" in root else []
    words += [word for tag in root["tags"] for word in ("--tag", tag)]
    words += ["--source", root["source"]] if "source" in root else []
    words += [word for key, value in root["meta"].items() for word in ("--meta", f"{key}={_plain(value)}")]
    words += ["--hidden"] if root["hidden"] else []
    words += ["--follow"] if root["follow"] else []
    words += [] if root["gitignore"] else ["--no-gitignore"]
    return join(words)


def _edited_lines(view: RootEditView) -> Iterator[str]:
    yield f"{view['number']:>3}  {clean(view['folder'])}{'' if view['changes'] else '  is just so already'}"
    for change in view["changes"]:
        before, after = _shown(change["before"]), _shown(change["after"])
        yield f"     {_flag_of(change['field'])}  {clean(before)} -> {clean(after)}"


def _forgotten_lines(view: ForgottenView) -> Iterator[str]:
    for root in view["roots"]:
        yield f"{root['number']:>3}  {clean(root['folder'])}  is forgotten"
    stay = f"{counted(view['kept'], 'document')} of {'it' if len(view['roots']) == 1 else 'them'} stay"
    stay += "s" if view["kept"] == 1 else ""
    if view["documents"]:
        held = f"; {stay}, which another root holds" if view["kept"] else ""
        yield f"     removed {counted(view['documents'], 'document')}{held}"
    elif view["kept"]:
        folders = [root["folder"] for root in view["roots"]]
        yield f"     {stay} in the store ({Hint('rm', *folders)} takes out all that is there)"


def _root_change(view: RootChangeView) -> str:
    """One line of what became of a root."""
    folder, number = clean(view["folder"]), view["number"]
    others = f"{'roots' if len(view['others']) > 1 else 'root'} {', '.join(map(str, view['others']))}"
    if view["change"] == "accepted":
        return f"root {number}, {folder}, is synced from now on"
    if view["change"] == "last":
        return f"root {number}, {folder}, is the last added now, and decides about files of {others} too"
    hint = Hint("roots", "edit", str(view["others"][-1]))
    return f"root {number} is new: {folder} with other flags than {others}, which stays ({hint} … changes it instead)"


def _skip_line(skip: SkipView) -> str:
    return f"skipped {skip['path']}: {skip['reason']} ({skip['code']})"


def _group_line(group: SkipGroupView) -> str:
    """`  PDF: a.pdf, b.pdf, c.pdf and 12 more`."""
    more = group["new"] - len(group["first"])
    named = ", ".join(map(clean, group["first"]))
    return f"  {group['kind']}: {named}{f' and {more:,} more' if more > 0 else ''}"


def _label(kind: str, files: int) -> str:
    """The kind as it is counted: `image (.png)` are images where they are several."""
    first, space, rest = kind.partition(" ")
    if first in _ADJECTIVES:
        return f"{first} {_label(rest, files)}"
    if files == 1 or first not in _NOUNS:
        return kind
    return f"{first}s{space}{rest}"


def _flag_of(field: str) -> str:
    return _FIELDS.get(field, field)


def _shown(value: RootValue) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={_plain(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return " ".join(value) or "none"
    return "none" if value is None else _plain(value)


def _plain(value: str | int | float | bool | None) -> str:
    """A value as `--meta` reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
