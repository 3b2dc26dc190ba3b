"""The store pane and the ingest pane: overview, checks, embedders and documents. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from recall_core import rql, store
from recall_core.errors import RecallError
from recall_tui.state.records import Analysis
from recall_tui.state.runs import EVERYTHING
from recall_tui.state.session import Session, is_seen, move_cursor, result_of, value_of

if TYPE_CHECKING:
    from recall_core.contract.store import StoreView
    from recall_core.contract.views import CheckView, EmbedderView
    from recall_core.store.values import Source

MOST_LINES = 300
"""Most entries of a folder, and most tags, that are shown. Others are counted."""
MOST_OPEN = 40
"""Most open folders, since each is read again after every write."""
TAGS = Analysis("documents", "", "tags")
_WILD = re.compile(r"[][*?{}\\]")


class TagCounts(NamedTuple):
    """Tags with their number of documents, most frequent first. has_more: there are others."""

    tags: tuple[tuple[str, int], ...]
    has_more: bool


class TreeLine(NamedTuple):
    """One line of the tree. path: with a trailing slash for a folder; for a tag, the tag."""

    kind: Literal["folder", "file", "records", "tag", "more", "heading"]
    path: str
    name: str
    depth: int = 0
    documents: int = 0
    chunks: int = 0
    is_open: bool = False


def tree_analyses(session: Session) -> Iterator[Analysis]:
    """Yield the analyses for the tree: the top folders, the tags, and the open folders."""
    yield Analysis("documents", "")
    yield TAGS
    yield from (Analysis("documents", folder) for folder in session.store.open_folders)


def tree(session: Session) -> tuple[TreeLine, ...]:
    """Return every line, from top to bottom."""
    return (*_inside(session, "", 0), *_tags(session))


def choosable_lines(session: Session) -> tuple[TreeLine, ...]:
    """Return the lines that can be chosen."""
    return tuple(line for line in tree(session) if line.kind not in ("more", "heading"))


def open_folder(session: Session, path: str) -> Session:
    """Return the session with a folder open. If too many are open, the oldest closes."""
    folders = (*(each for each in session.store.open_folders if each != path), path)[-MOST_OPEN:]
    return session._replace(store=session.store._replace(open_folders=folders))


def close_folder(session: Session, path: str) -> Session:
    """Return the session with a folder and the folders inside it closed."""
    folders = tuple(each for each in session.store.open_folders if not each.startswith(path))
    return session._replace(store=session.store._replace(open_folders=folders))


def filter_of(line: TreeLine) -> str:
    """Return the filter for a line: its tag, its path, or all paths below its folder."""
    match line.kind:
        case "tag":
            return f"doc.tag = {rql.print.print_value(line.path)}"
        case "file":
            return f"doc.path = {rql.print.print_value(line.path)}"
        case "records":
            literally = re.sub(r"([%_\\])", r"\\\1", line.path)
            return f"doc.path LIKE {rql.print.print_value(f'{literally}#%')}"
        case _:
            literally = _WILD.sub(lambda match: f"\\{match[0]}", line.path)
            return f"doc.path GLOB {rql.print.print_value(f'{literally}**')}"


def _inside(session: Session, folder: str, depth: int) -> Iterator[TreeLine]:
    """Yield the lines of an open folder and of its open folders, or nothing before it is read."""
    known = value_of(session, Analysis("documents", folder), store.values.FolderListing)
    if known is None:
        return
    for entry in known.entries:
        path = folder + entry.name
        is_open = entry.kind == "folder" and path in session.store.open_folders
        yield TreeLine(entry.kind, path, entry.name, depth, entry.documents, entry.chunks, is_open)
        if is_open:
            yield from _inside(session, path, depth + 1)
    hidden = known.total - len(known.entries)
    if hidden:
        yield TreeLine("more", folder, f"{hidden:,} more", depth)


def _tags(session: Session) -> Iterator[TreeLine]:
    known = value_of(session, TAGS, TagCounts)
    if known is None or not known.tags:
        return
    yield TreeLine("heading", "", "tags")
    for tag, documents in known.tags:
        yield TreeLine("tag", tag, tag, documents=documents)
    if known.has_more:
        yield TreeLine("more", "", "more tags")


View = Literal["stats", "checks", "embedder", "documents"]
VIEWS: tuple[View, ...] = ("stats", "checks", "embedder", "documents")
"""The views of the store pane, in the order of t and of Right."""

CHECKS = (
    *("integrity", "foreign_keys", "schema", "fulltext", "fulltext_rows", "orphan_vectors", "vector_values"),
    *("vectors", "texts", "documents", "ids", "slices", "words", "tokens", "digest", "counts", "purge_pending"),
    *("space", "duplicates", "reembed", "embedder", "left_parts", "parser_missing", "files", "readings"),
    *("self_retrieval", "sparse_ceiling", "environment"),
)
"""Every check of `recall doctor` without flags, in its order."""
URGENCY = {"error": 0, "warning": 1, "": 2, "ok": 2}
"""Sort key of the checks by severity. Finishing a check does not move it, a problem does."""
QUALITY = {"hash": (0.397, 0.704), "local": (0.406, 0.722), "minilm": (0.445, 0.739)}
"""nDCG@10 of the hybrid ranking on Cranfield and SciFact, from docs/embedders.md."""
QUALITY_OF_WORDS = (0.396, 0.704)
"""The same of words alone."""

PACE = {
    "hash": "No model is loaded.",
    "local": "It reads thousands of texts a second.",
    "minilm": "It takes about a hundred times as long as local.",
}
"""Speed of the embedders that run in this process, from docs/embedders.md."""
SERVERS = ("ollama", "llamacpp")
"""Embedders with a server on this machine."""
_VIEW = "store view"  # the name of the cursor for the open view


class StoreOverview(NamedTuple):
    """The overview of a store: `recall stats`, the files of each root, and `recall embedders`."""

    view: StoreView
    sources: tuple[Source, ...]
    embedders: tuple[EmbedderView, ...]


class Health(NamedTuple):
    """The result of one check."""

    check: CheckView


class StoreCommand(NamedTuple):
    """A command that the workbench can run itself. name, settings: of an embedder."""

    verb: Literal["doctor", "compact", "reembed", "sync"]
    name: str = ""
    settings: tuple[str, ...] = ()


OVERVIEW = Analysis("overview")


def is_outdated(session: Session) -> bool:
    """Return True if the answer belongs to an older state of the store."""
    answer, info = session.results.answer, session.store.info
    if answer is None or info is None:
        return False
    return (answer.generation, answer.digest) != (info.generation, info.digest)


def wants(session: Session) -> Iterator[Analysis]:
    """Yield the overview for either pane, and the checks and documents while they are visible."""
    is_open = is_seen(session, "store")
    if is_open or is_seen(session, "ingest"):
        yield OVERVIEW
    if is_open and view_of(session) == "checks":
        yield from (Analysis("health", code) for code in CHECKS)
    if is_open and view_of(session) == "documents":
        yield from tree_analyses(session)


def view_of(session: Session) -> View:
    """Return the open view of the store pane."""
    return VIEWS[session.cursors.get(_VIEW, 0)]


def turn_view(session: Session, views: int) -> Session:
    """Return the session `views` views further, wrapping around."""
    place = (VIEWS.index(view_of(session)) + views) % len(VIEWS)
    return session._replace(cursors={**session.cursors, _VIEW: place})


def show_view(session: Session, view: View) -> Session:
    """Return the session with this view open."""
    return turn_view(session, VIEWS.index(view) - VIEWS.index(view_of(session)))


def overview(session: Session) -> StoreOverview | RecallError | None:
    """Return the overview of the store, if known."""
    return result_of(session, OVERVIEW, StoreOverview)


def checks(session: Session) -> tuple[tuple[str, CheckView | None], ...]:
    """Return every check with its code, errors first, then warnings, each in its order. None if not done yet."""
    results = [(code, _check(session, code)) for code in CHECKS]
    return tuple(sorted(results, key=lambda each: URGENCY[each[1]["severity"] if each[1] else ""]))


def embedders(session: Session) -> tuple[EmbedderView, ...]:
    """Return every embedder, or () until they are known."""
    known = overview(session)
    return known.embedders if isinstance(known, StoreOverview) else ()


def list_of(session: Session) -> str:
    """Return the name of the list that has the keys in the active pane."""
    return f"store {view_of(session)}" if session.pane == "store" else "ingest"


def rows_of(session: Session) -> int:
    """Return the number of lines in that list."""
    if session.pane == "ingest":
        return len(session.store.run.skipped) if session.store.run else 0
    match view_of(session):
        case "stats":
            return 0
        case "checks":
            return len(CHECKS)
        case "embedder":
            return len(embedders(session))
        case "documents":
            return len(choosable_lines(session))


def cursor_of(session: Session) -> int:
    """Return the chosen line of that list. A chosen check stays chosen when problems move it."""
    row_saved = session.cursors.get(list_of(session), 0)
    if list_of(session) == "store checks" and list_of(session) in session.cursors:
        return next(row for row, (code, _) in enumerate(checks(session)) if code == CHECKS[row_saved])
    return max(0, min(row_saved, rows_of(session) - 1))


def pick_line(session: Session, row: int) -> Session:
    """Return the session with this line of that list chosen. For a check, its place in CHECKS is kept."""
    rows = rows_of(session)
    row = max(0, min(row, rows - 1))
    saved = CHECKS.index(checks(session)[row][0]) if list_of(session) == "store checks" else row
    return move_cursor(session, list_of(session), saved, rows)


def chosen_check(session: Session) -> CheckView | None:
    """Return the chosen check, if it is done."""
    if session.pane != "store" or view_of(session) != "checks":
        return None
    return checks(session)[cursor_of(session)][1]


def chosen_embedder(session: Session) -> EmbedderView | None:
    """Return the chosen embedder."""
    if session.pane != "store" or view_of(session) != "embedder" or not embedders(session):
        return None
    return embedders(session)[cursor_of(session)]


def chosen_line(session: Session) -> TreeLine | None:
    """Return the chosen folder, file or tag."""
    if session.pane != "store" or view_of(session) != "documents":
        return None
    lines = choosable_lines(session)
    return lines[cursor_of(session)] if lines else None


def open_chosen(session: Session) -> Session:
    """Return the session with the chosen folder open. Other lines cannot open."""
    line = chosen_line(session)
    return session if line is None or line.kind != "folder" else open_folder(session, line.path)


def close_chosen(session: Session) -> Session:
    """Return the session with the chosen folder closed. From a line inside a folder, choose that folder."""
    line = chosen_line(session)
    if line is None or line.kind == "tag":
        return session
    if line.is_open:
        return close_folder(session, line.path)
    above = line.path[: line.path.rstrip("/").rfind("/") + 1]  # "" at the top
    rows = [row for row, each in enumerate(choosable_lines(session)) if above and each.path == above]
    return pick_line(session, rows[0]) if rows else session


def state_of(embedder: EmbedderView) -> str:
    """Return the state of an embedder in a word. A server's state is unknown until it is asked."""
    if embedder["in_use"]:
        return "in use"
    if not embedder["available"]:
        return "missing"
    return "server" if embedder["name"] in SERVERS else "ready"


def ndcg(name: str) -> str:
    """Return the nDCG of an embedder on the two measured collections, in a fixed width. Dashes if not measured."""
    return "  ".join(_short(value) for value in QUALITY[name]) if name in QUALITY else f"{'-':>4}  {'-':>4}"


def embedder_words(embedder: EmbedderView) -> str:
    """Return the purpose of an embedder, its speed, and what prevents its use."""
    words = [f"{embedder['purpose']}.", PACE.get(embedder["name"], "")]
    if embedder["reason"] and not embedder["available"]:
        words.append(f"{embedder['reason']}.")
    if state_of(embedder) == "server":
        words.append("It needs a running server, which was not checked yet.")
    if embedder["network"]:
        words.append("Every text is sent to the cloud.")
    if embedder["name"] in QUALITY:
        words.append(f"Words alone rank at {' and '.join(map(_short, QUALITY_OF_WORDS))}.")
    return " ".join(filter(None, words))


def command_words(session: Session) -> list[str]:
    """Return the words of the command for the content of the ingest or the store pane."""
    if session.pane == "store":
        line = chosen_line(session)
        chosen = f" FILTER {filter_of(line)}" if line is not None else ""
        limit = f" LIMIT {line.documents}" if line is not None else ""
        listing = ["query", f"SELECT doc.path FROM doc{chosen} ORDER BY doc.path{limit}"]
        words = {"stats": ["stats", "--sizes"], "checks": ["doctor"], "embedder": ["embedders"], "documents": listing}
        return words[view_of(session)]
    if session.store.watching:
        return ["sync", "--watch"]
    if session.store.run is None or session.store.run.folder == EVERYTHING:
        return ["sync"]
    folder = session.store.run.folder
    return ["add", *(["--"] if folder.startswith("-") else []), folder]


def remedy(command: str) -> StoreCommand | None:
    """Return the command of a `recall doctor` fix, if it is a single command that the workbench also has."""
    match shlex.split(command):
        case ["recall", "doctor", "--fix"]:
            return StoreCommand("doctor")
        case ["recall", "compact"]:
            return StoreCommand("compact")
        case ["recall", "sync"]:
            return StoreCommand("sync")
        case ["recall", "reembed", name, *rest] if rest[::2] == ["--set"] * (len(rest) // 2):
            return StoreCommand("reembed", name, tuple(rest[1::2]))
    return None


def _short(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def _check(session: Session, code: str) -> CheckView | None:
    result = result_of(session, Analysis("health", code), Health)
    if isinstance(result, RecallError):
        return {"code": code, "severity": "error", "evidence": result.message, "fix": result.hint or ""}
    return result.check if result is not None else None
