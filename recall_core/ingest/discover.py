"""Discovery: list the readable files of a folder, and skip the others with a reason."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core import paths
from recall_core.config import FILE_NAME, Config
from recall_core.files import is_part
from recall_core.ingest import ignore
from recall_core.ingest.ignore import Rules
from recall_core.rql.patterns import glob_match
from recall_core.shell import flag
from recall_core.text import nfc
from recall_core.types import Root, Skip

NEVER_READ = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
"""Folders that are never read, whatever the options."""

_REPOSITORY = frozenset({"HEAD", "config", "objects", "refs"})
"""Names that identify a folder as git's own (a bare repository)."""

_BESIDE_STORE = re.compile(r"(\.bak(-(schema-)?[0-9]+)?)?(-wal|-shm|-journal)?")


class Found(NamedTuple):
    """A regular file that no rule excludes."""

    path: str
    """Document name, see `path_of`."""
    os_path: str
    """Name as spelled on disk; relative to the store's directory if `path` is."""
    size: int
    mtime_ns: int


def walk(root: Root, base: Path, config: Config) -> Iterator[Found | Skip]:
    """Yield the files below a root in code-point order of their paths, each as Found or as a Skip with its reason.

    Excluded files do not appear: hidden names, `.gitignore`, globs, built-in folders, virtual environments, bare
    repositories, the store's own files. A link is read only if it points to a file inside the folder, unless
    `follow` is set.
    """
    walker = _Walker(root, base, config)
    waiting: list[_Node] = [walker.top()]
    while waiting:
        node = waiting.pop()
        if node.is_folder:
            children, skips = walker.children(node)
            yield from skips
            waiting += reversed(children)
        else:
            yield walker.file(node)


def find_one(root: Root, base: Path, config: Config, path: str) -> Found | Skip | None:
    """Return what `walk` yields for this path, or None if a rule excludes it."""
    walker = _Walker(root, base, config)
    node = walker.top()
    while node.is_folder:
        children, skips = walker.children(node)
        for skip in skips:
            if _is_below(path, skip.path):
                return skip
        named = [child for child in children if _is_below(path, nfc(walker.os_path(child.relative)))]
        if not named:
            return None
        node = named[0]
    return walker.file(node)


def single(root: Root, base: Path) -> Found | Skip:
    """Return the file of a root that is not a folder."""
    path = nfc(root.folder)
    try:
        status = (base / root.folder).stat()
    except OSError as error:
        return Skip(path, "unreadable", f"cannot be read: {error.strerror}")
    except ValueError:
        return Skip(path, "unreadable", "cannot be read: the locale cannot encode its name")
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, "not_a_file", "not a file or folder")
    return Found(path, root.folder, status.st_size, status.st_mtime_ns)


def covers(root: Root, path: str) -> bool:
    """Return True if the path lies below the root's folder and matches its globs."""
    folder = nfc(root.folder)
    if folder == ".":
        return not path.startswith("/") and _is_selected(root, path)
    prefix = folder.rstrip("/") + "/"
    return path.startswith(prefix) and _is_selected(root, path.removeprefix(prefix))


def is_own(place: str, store: str) -> bool:
    """Return True for Recall's own files: settings, unfinished files, this store, its log and its backups."""
    if place.startswith(store) and _BESIDE_STORE.fullmatch(place, len(store)):
        return True
    name = place.rpartition("/")[2]
    return name == FILE_NAME or is_part(name)


def matches_any(patterns: Sequence[str], relative: str) -> bool:
    """Return True if one of the globs matches a path below a root, in any Unicode form."""
    return any(glob_match(nfc(pattern), relative) for pattern in patterns)


def printable(name: str) -> str:
    """Return the name in printable form: bytes that are not UTF-8 become backslash escapes."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that does not represent a byte
        return name.encode("utf-8", "backslashreplace").decode()


class _Node(NamedTuple):
    """A place during the walk. relative: below the root, `/`-separated. rules: of the folders above it."""

    place: str
    relative: str
    is_folder: bool
    rules: tuple[Rules, ...]


class _Walker:
    """One walk: the root's rules, and the real folders reached through links."""

    def __init__(self, root: Root, base: Path, config: Config) -> None:
        self.root = root
        self.base = paths.spelt(base)
        self.config = config
        self.folder = str(self.base / root.folder)
        self.inside = [os.path.realpath(self.folder)]
        self.store = str(self.base / Path(config.store_path).name)

    def top(self) -> _Node:
        rules = ignore.above(Path(self.folder)) if self.root.gitignore else ()
        return _Node(self.folder, "", is_folder=True, rules=rules)

    def children(self, node: _Node) -> tuple[list[_Node], list[Skip]]:
        """Return the entries of a folder in order of their full paths, and the entries that cannot be read."""
        try:
            with os.scandir(node.place) as entries:
                found = {entry.name: entry for entry in entries}
        except OSError as error:
            return [], [self._skip(node.relative, "unreadable", f"the folder cannot be read: {error.strerror}")]
        if node.relative and ("pyvenv.cfg" in found or found.keys() >= _REPOSITORY):
            return [], []
        rules = node.rules
        if self.root.gitignore and ".git" in found and node.relative:
            rules = (*rules, *ignore.of_repository(Path(node.place)))
        if self.root.gitignore and ".gitignore" in found:
            rules = (*rules, *ignore.of_folder(Path(node.place)))
        nodes: list[_Node] = []
        skips: list[Skip] = []
        for name, entry in found.items():
            child = _Node(entry.path, f"{node.relative}/{name}" if node.relative else name, False, rules)
            match self._classify(child, entry):
                case Skip() as skip:
                    skips.append(skip)
                case _Node() as node_below:
                    nodes.append(node_below)
        nodes.sort(key=lambda child: child.relative + "/" * child.is_folder)
        return nodes, sorted(skips)

    def file(self, node: _Node) -> Found | Skip:
        """Return the file, or a Skip if its status makes it unreadable."""
        try:
            status = os.stat(node.place)  # noqa: PTH116 - creating a Path per file costs more than the call
        except OSError as error:
            if error.errno == errno.ENOENT and os.path.islink(node.place):  # noqa: PTH114
                aim = printable(os.readlink(node.place))  # noqa: PTH115
                return self._skip(node.relative, "broken_link", f"the link points to {aim}, which does not exist")
            return self._skip(node.relative, "unreadable", f"cannot be read: {error.strerror}")
        if not stat.S_ISREG(status.st_mode):
            return self._skip(node.relative, "not_a_file", "not a file or folder")
        if status.st_size > self.config.max_file_bytes:
            reason = f"{status.st_size} bytes, more than max_file_bytes ({self.config.max_file_bytes})"
            return self._skip(node.relative, "file_too_large", reason)
        os_path = self.os_path(node.relative)
        return Found(nfc(os_path), os_path, status.st_size, status.st_mtime_ns)

    def _classify(self, node: _Node, entry: os.DirEntry[str]) -> _Node | Skip | None:
        """Return the node to continue with, a Skip, or None if a rule excludes it."""
        try:
            node.relative.encode()
        except UnicodeEncodeError:
            return self._skip(node.relative, "bad_name", "its name is not UTF-8")
        failure = ""
        try:
            is_folder, is_link = entry.is_dir(), entry.is_symlink()
        except OSError as error:  # a link to itself
            is_folder, is_link, failure = False, True, error.strerror or str(error)
        node = node._replace(is_folder=is_folder)
        if self._is_excluded(node, entry.name):
            return None
        if failure:
            return self._skip(node.relative, "symlink_loop", f"the link cannot be followed: {failure}")
        try:
            return self._follow_link(node) if is_link else node
        except OSError as error:  # the link vanished during the check
            return self._skip(node.relative, "unreadable", f"the link cannot be read: {error.strerror}")

    def _is_excluded(self, node: _Node, name: str) -> bool:
        if name in NEVER_READ or (name.startswith(".") and not self.root.hidden):
            return True
        if ignore.is_ignored(node.rules, node.place, is_folder=node.is_folder):
            return True
        if node.is_folder:
            return matches_any(self.root.ignores, nfc(node.relative))
        return is_own(node.place, self.store) or not _is_selected(self.root, nfc(node.relative))

    def _follow_link(self, node: _Node) -> _Node | Skip | None:
        """Follow a link to a file inside the folder; with `follow` also to files and folders outside it."""
        real = os.path.realpath(node.place)
        enclosing = next((folder for folder in self.inside if _is_below(real, folder)), None)
        if not node.is_folder:
            if enclosing is None and not self.root.follow:
                return self._skip(node.relative, "symlink_outside", _outside_reason(real))
            return node
        if _is_below(os.path.realpath(os.path.dirname(node.place)), real):  # noqa: PTH120
            return self._skip(node.relative, "symlink_loop", "the link points to a folder that contains it")
        if enclosing is not None:
            return self._skip(node.relative, "symlink_inside", "the link points to a folder that is already read")
        if not self.root.follow:
            return self._skip(node.relative, "symlink_outside", _outside_reason(real))
        self.inside.append(real)
        return node

    def os_path(self, relative: str) -> str:
        """Return a path below the root in the form of `Found.os_path`."""
        if self.root.folder == ".":
            return relative
        return f"{self.root.folder.rstrip('/')}/{relative}" if relative else self.root.folder

    def _skip(self, relative: str, code: str, reason: str) -> Skip:
        return Skip(nfc(printable(self.os_path(relative))), code, reason)


def _outside_reason(real: str) -> str:
    return f"the link points outside the folder, to {printable(real)} ({flag('follow')} reads it)"


def _is_selected(root: Root, relative: str) -> bool:
    """Return True if the path matches a glob (or there are none) and no ignore pattern."""
    if root.globs and not matches_any(root.globs, relative):
        return False
    return not matches_any(root.ignores, relative)


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")
