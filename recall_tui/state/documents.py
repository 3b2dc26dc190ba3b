"""The tree of what is in the store: its folders and files, the tags, and the filter that each of them is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from recall_core import rql, store
from recall_tui.state.analyses import Analysis
from recall_tui.state.results import result_of
from recall_tui.state.session import Session

MOST_LINES = 300
"""Entries of a folder, and tags, that are read and shown; the others are counted."""
MOST_OPEN = 40
"""Folders that are open at a time: each of them is read again once something is written."""
TAGS = Analysis("documents", "", "tags")
_WILD = re.compile(r"[][*?{}\\]")


class TagCounts(NamedTuple):
    """Tags with the number of documents that have each, the most frequent first. has_more: there are others."""

    tags: tuple[tuple[str, int], ...]
    has_more: bool


class TreeLine(NamedTuple):
    """One line of the tree. path: that of a folder ends in a slash; a tag stands in its place."""

    kind: Literal["folder", "file", "records", "tag", "more", "heading"]
    path: str
    name: str
    depth: int = 0
    documents: int = 0
    chunks: int = 0
    is_open: bool = False


def folder_analysis(path: str) -> Analysis:
    """The analysis that lists a folder; "" is where paths begin."""
    return Analysis("documents", path)


def wants(session: Session) -> Iterator[Analysis]:
    """What has to be read for the tree: where paths begin, the tags, and the open folders."""
    yield folder_analysis("")
    yield TAGS
    yield from map(folder_analysis, session.store.open_folders)


def tree(session: Session) -> tuple[TreeLine, ...]:
    """Every line, from top to bottom."""
    return (*_inside(session, "", 0), *_tags(session))


def choices(session: Session) -> tuple[TreeLine, ...]:
    """The lines that can be chosen."""
    return tuple(line for line in tree(session) if line.kind not in ("more", "heading"))


def opened(session: Session, path: str) -> Session:
    """The session with a folder open, and the one that was opened first closed where too many are."""
    folders = (*(each for each in session.store.open_folders if each != path), path)[-MOST_OPEN:]
    return session._replace(store=session.store._replace(open_folders=folders))


def closed(session: Session, path: str) -> Session:
    """The session with a folder and what is open in it closed."""
    folders = tuple(each for each in session.store.open_folders if not each.startswith(path))
    return session._replace(store=session.store._replace(open_folders=folders))


def parent_of(path: str) -> str:
    """The folder that a folder or a file lies in; "" where paths begin."""
    return path[: path.rstrip("/").rfind("/") + 1]


def filter_of(line: TreeLine) -> str:
    """The expression that lets through what a line stands for: a tag, a path, or all paths that begin so."""
    match line.kind:
        case "tag":
            return f"doc.tag = {rql.print.print_value(line.path)}"
        case "file":
            return f"doc.path = {rql.print.print_value(line.path)}"
        case "records":
            literally = re.sub(r"([%_\\])", r"\\\1", line.path)
            return f"doc.path LIKE {rql.print.print_value(f'{literally}#%')}"
        case _:
            literally = _WILD.sub(lambda found: f"\\{found[0]}", line.path)
            return f"doc.path GLOB {rql.print.print_value(f'{literally}**')}"


def _inside(session: Session, folder: str, depth: int) -> Iterator[TreeLine]:
    """What is in an open folder, with what is in those of its folders that are open; nothing before it is read."""
    known = result_of(session, folder_analysis(folder), store.values.FolderListing)
    if not isinstance(known, store.values.FolderListing):
        return
    for entry in known.entries:
        path = folder + entry.name
        is_open = entry.kind == "folder" and path in session.store.open_folders
        yield TreeLine(entry.kind, path, entry.name, depth, entry.documents, entry.chunks, is_open)
        if is_open:
            yield from _inside(session, path, depth + 1)
    left = known.total - len(known.entries)
    if left:
        yield TreeLine("more", folder, f"{left:,} more", depth)


def _tags(session: Session) -> Iterator[TreeLine]:
    known = result_of(session, TAGS, TagCounts)
    if not isinstance(known, TagCounts) or not known.tags:
        return
    yield TreeLine("heading", "", "tags")
    for tag, documents in known.tags:
        yield TreeLine("tag", tag, tag, documents=documents)
    if known.has_more:
        yield TreeLine("more", "", "more tags")
