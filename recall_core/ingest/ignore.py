"""Ignore rules from `.gitignore` files, `.git/info/exclude` and the user's global ignore file.

Each line is one rule. The innermost file decides first; within a file the last matching line wins. Nothing below an
excluded folder can be included again. The repository's `.git/info/exclude` comes after its `.gitignore` files, and
the user's global file comes last.

A line becomes a GLOB pattern. It matches a name if it contains no `/` except at the end, else the path below the
file's folder. Bytes are compared as Latin-1 code points, because git compares bytes. One quirk of git is missing:
after literal text, `**` (as in `foo**/bar`) does not cross folders.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from recall_core.errors import UsageError
from recall_core.rql.patterns import compiled_glob

_SECTION = re.compile(r'\[\s*+([-.\w]++)\s*+("(?:\\.|[^"\\])*+")?\s*+\]\s*', re.ASCII)
_KEY = re.compile(r"([a-z][-a-z0-9]*)\s*=\s*(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
_VALUE_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}


def find_personal_file(environ: Mapping[str, str]) -> Path | None:
    """Return the path of the user's global ignore file, which may be missing; None if there is none.

    git's lookup: the last value in `~/.gitconfig`, then in `git/config` below XDG_CONFIG_HOME. `GIT_CONFIG_GLOBAL`
    replaces both files. Without a value, `git/ignore` below XDG_CONFIG_HOME.
    A relative value is ignored, and config includes are not read.
    """
    home = environ.get("HOME", "")
    own = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    named: str | None = None
    places = [Path(folder, name) for folder, name in ((own, "git/config"), (home, ".gitconfig")) if folder]
    for config in [Path(environ["GIT_CONFIG_GLOBAL"])] if "GIT_CONFIG_GLOBAL" in environ else places:
        try:
            text = regular_bytes(config).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        except (OSError, ValueError):
            continue
        for value in _values(text):
            named = value
    if named is None:
        named = f"{own}/git/ignore" if own else ""
    found = Path(home + named[1:] if home and named.startswith("~/") else os.path.expanduser(named))  # noqa: PTH111
    return found if found.is_absolute() else None


def regular_bytes(place: str | Path) -> bytes:
    """Return the content of a regular file; empty for a pipe or device, where reading could block forever.

    Raises OSError.
    """
    with open(place, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
        return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def _values(text: str) -> Iterator[str]:
    """Yield every value of `core.excludesFile`, in order."""
    section = ""
    for line in _lines(text):
        rest = line
        while header := _SECTION.match(rest):
            section = "" if header[2] else header[1].lower()
            rest = rest[header.end() :]
        pair = _KEY.match(rest)
        if pair and (section, pair[1].lower()) == ("core", "excludesfile"):
            yield _parse_value(pair[2])


def _lines(text: str) -> Iterator[str]:
    """Yield lines without indent. A line that ends in a backslash continues on the next, except in a comment."""
    joined = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        joined += line if joined else line.lstrip()
        if not joined.startswith(("#", ";")) and (len(joined) - len(joined.rstrip("\\"))) % 2 == 1:
            joined = joined[:-1]
            continue
        yield joined
        joined = ""
    yield joined


def _parse_value(raw: str) -> str:
    """Parse a value as git does: resolve quotes and escapes, and cut a trailing comment."""
    value, quoted, length = "", False, 0
    for each in _VALUE_TOKEN.findall(raw):
        if each == '"':
            quoted = not quoted
        elif each in "#;" and not quoted:
            break
        else:
            value += _ESCAPED.get(each[1], each[1]) if len(each) == 2 else each
        if quoted or not each.isspace():
            length = len(value)
    return value[:length]


_NAME = ".gitignore"
_EXCLUDE = Path(".git", "info", "exclude")
_BOM = b"\xef\xbb\xbf"

_TOKEN = re.compile(
    r"\\.|\[[!^]?\]?(?:\\.|\[:[a-z]*:\]|[^\]\\/])*\]|(?P<open>\[(?:\\.|[^\]\\/])++)|\*{3,}|.", re.DOTALL
)
_UNCLOSED = re.compile(r"\\.|\*{3,}|.", re.DOTALL)  # tokens after a bracket that is never closed
_CLASS = re.compile(r"\[:([a-z]*):\]")
_CLASSES = {  # without `/`, which brackets never match; `!` never comes first, because it would negate
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\0-\x1f\x7f",
    "digit": "0-9",
    "graph": r"0-\[\\\]-~!-.",
    "lower": "a-z",
    "print": r" -.0-\[\\\]-~",
    "punct": r":-@\[\\\]-`{-~!-.",
    "space": "\t-\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Rule(NamedTuple):
    """One line that contains a rule."""

    excludes: bool
    """False for a line that starts with `!`."""
    folders_only: bool
    by_name: bool
    """True if the pattern is compared with the name alone; False if with the path below the file's folder."""
    matching: re.Pattern[str]
    line: int
    text: str

    def decides_on(self, relative: str, *, is_folder: bool) -> bool:
        """Return True if the line matches a place below its file's folder."""
        if self.folders_only and not is_folder:
            return False
        return self.matching.fullmatch(relative.rpartition("/")[2] if self.by_name else relative) is not None


class Rules(NamedTuple):
    """Rules of one file, last line first. folder: the folder they apply to, as a prefix that ends in `/`."""

    folder: str
    rules: tuple[Rule, ...]
    source: str
    """Path of the file."""


def above(folder: Path) -> tuple[Rules, ...]:
    """Return the rules that apply above a folder, outermost first: global, repository, then each parent folder.

    Returns no rules if they would exclude the folder itself: naming an ignored folder reads it. Without a
    repository, the global rules apply to the folder.
    """
    parents = [folder, *folder.parents]
    depth = next((i for i, parent in enumerate(parents) if os.path.exists(parent / ".git")), 0)  # noqa: PTH110 - Path.exists raises without permission
    personal = find_personal_file(os.environ)
    rules = (*(_of_file(personal, parents[depth]) if personal else ()), *of_repository(parents[depth]))
    rules += tuple(found for parent in reversed(parents[1 : depth + 1]) for found in of_folder(parent))
    excluded = any(is_ignored(rules, str(parent), is_folder=True) for parent in parents[:depth])
    return () if excluded else rules


def of_folder(folder: Path) -> tuple[Rules, ...]:
    """Return the rules of the folder's own `.gitignore`; none if it is missing or unreadable."""
    return _of_file(folder / _NAME, folder)


def of_repository(folder: Path) -> tuple[Rules, ...]:
    """Return the rules of a repository's `.git/info/exclude`.

    Returns none if the folder is not the top of a repository, or if a link or a `.git` file points outside the
    folder.
    """
    place = folder / _EXCLUDE
    real, top = os.path.realpath(place), os.path.realpath(folder)
    return _of_file(place, folder) if real.startswith(top.rstrip("/") + "/") else ()


def _of_file(place: Path, folder: Path) -> tuple[Rules, ...]:
    try:
        content = regular_bytes(place)
    except (OSError, ValueError):
        return ()
    return (Rules(str(folder).rstrip("/") + "/", tuple(_rules(content))[::-1], str(place)),)


def is_ignored(rules: tuple[Rules, ...], place: str, *, is_folder: bool) -> bool:
    """Return True if the deciding rule excludes this place."""
    decisive = decided_by(rules, place, is_folder=is_folder)
    return decisive is not None and decisive[1].excludes


def decided_by(rules: tuple[Rules, ...], place: str, *, is_folder: bool) -> tuple[Rules, Rule] | None:
    """Return the rule that decides on this place: the last match in the innermost file. None if no rule matches."""
    for file in reversed(rules):
        if place.startswith(file.folder):
            relative = place[len(file.folder) :].encode("utf-8", "surrogateescape").decode("latin-1")
            for rule in file.rules:
                if rule.decides_on(relative, is_folder=is_folder):
                    return file, rule
    return None


def _rules(content: bytes) -> Iterator[Rule]:
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n"), start=1):
        bare = _without_trailing_spaces(line.removesuffix(b"\r"))
        pattern = bare.removeprefix(b"!").decode("latin-1")
        body = pattern.removesuffix("/")
        matching = _matching(body)
        if matching is not None and not bare.startswith(b"#"):
            text = bare.decode("utf-8", "replace")
            excludes = not bare.startswith(b"!")
            yield Rule(excludes, body != pattern, "/" not in body, matching, number, text)


def _without_trailing_spaces(line: bytes) -> bytes:
    r"""Strip trailing spaces as git does: a final `\ ` keeps its space, and tabs are always kept."""
    bare = line.rstrip(b" ")
    is_escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1
    return line[: len(bare) + 1] if is_escaped else bare


def _matching(body: str) -> re.Pattern[str] | None:
    """Return the compiled pattern; None if it can match nothing, which git ignores silently."""
    tokens = [*map(_as_glob, _tokens(body.removeprefix("/")))]
    try:
        return compiled_glob("".join(tokens)) if tokens and "" not in tokens else None
    except UsageError:
        return None


def _tokens(body: str) -> Iterator[str]:
    for found in _TOKEN.finditer(body):
        if found["open"]:  # no bracket closes before the end, so searching from each opening bracket finds nothing
            yield from _UNCLOSED.findall(found[0])
        else:
            yield found[0]


def _as_glob(token: str) -> str:
    """Translate a character, an escape, a bracket or a run of `*` to GLOB; return "" if nothing can match it."""
    if token in ("[", "\\"):
        return ""
    if token in ("{", "}"):
        return f"\\{token}"
    if token.startswith("***"):
        return "**"
    if token.startswith("[") and not all(name in _CLASSES for name in _CLASS.findall(token)):
        return ""
    return _CLASS.sub(lambda found: _CLASSES[found[1]], token) if token.startswith("[") else token
