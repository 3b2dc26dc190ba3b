"""Rules of `.gitignore` files, of a repository, and of the person's own file: what they exclude.

Every line is one rule, and the last one that matches a place decides on it, the innermost file first; what lies below
an excluded folder is never asked about, so nothing in there can be let in again. Beyond the outermost are the lines
of the repository's `.git/info/exclude`, and beyond these the person's own. A line becomes a GLOB pattern: of a
name where it holds no `/` but a last one, else of the path below the file's folder. git compares bytes, and so do we,
as Latin-1 code points. One quirk is left out: where literal text comes straight before `**` (`foo**/bar`), git lets
the `**` cross folders.
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
    """Return the file whose rules hold in every folder of this person, which may be missing; None if there is none.

    As git looks for it: the last value in `~/.gitconfig` and, before that, `git/config` below XDG_CONFIG_HOME, or
    `GIT_CONFIG_GLOBAL` in the place of both; without a value `git/ignore` below XDG_CONFIG_HOME. A value that begins
    neither at the root nor at a home folder names nothing, and other files that the settings include are not read.
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
    """Return the content of a file; nothing of a pipe or device, at which a reader may wait for ever.

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
    """Yield lines without their indent; one that ends in a backslash goes on in the next, unless it is a comment."""
    whole = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        whole += line if whole else line.lstrip()
        if not whole.startswith(("#", ";")) and (len(whole) - len(whole.rstrip("\\"))) % 2 == 1:
            whole = whole[:-1]
            continue
        yield whole
        whole = ""
    yield whole


def _parse_value(raw: str) -> str:
    """Return a value as git understands it: quotes, escapes, and a comment that ends it."""
    kept, quoted, length = "", False, 0
    for each in _VALUE_TOKEN.findall(raw):
        if each == '"':
            quoted = not quoted
        elif each in "#;" and not quoted:
            break
        else:
            kept += _ESCAPED.get(each[1], each[1]) if len(each) == 2 else each
        if quoted or not each.isspace():
            length = len(kept)
    return kept[:length]


_NAME = ".gitignore"
_EXCLUDE = Path(".git", "info", "exclude")
_BOM = b"\xef\xbb\xbf"

_TOKEN = re.compile(
    r"\\.|\[[!^]?\]?(?:\\.|\[:[a-z]*:\]|[^\]\\/])*\]|(?P<open>\[(?:\\.|[^\]\\/])++)|\*{3,}|.", re.DOTALL
)
_UNCLOSED = re.compile(r"\\.|\*{3,}|.", re.DOTALL)  # tokens where a bracket is open that nothing closes
_CLASS = re.compile(r"\[:([a-z]*):\]")
_CLASSES = {  # without `/`, which no bracket matches, and never with `!` first, which would negate
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
    """One line that means something."""

    excludes: bool
    """False for a line that begins with `!`."""
    folders_only: bool
    by_name: bool
    """True when it is compared with a name, wherever that lies; False: with the path below the file's folder."""
    matching: re.Pattern[str]
    line: int
    text: str

    def decides_on(self, relative: str, *, is_folder: bool) -> bool:
        """Return True if the line matches a place below its file's folder."""
        if self.folders_only and not is_folder:
            return False
        return self.matching.fullmatch(relative.rpartition("/")[2] if self.by_name else relative) is not None


class Rules(NamedTuple):
    """The rules of one file, the last line first. folder: what its lines are of, as a prefix that ends in `/`."""

    folder: str
    rules: tuple[Rule, ...]
    source: str
    """The file itself, as it can be opened."""


def above(folder: Path) -> tuple[Rules, ...]:
    """Return the rules from above a folder, outermost first: the person's, the repository's, and of each folder.

    None of them count if they exclude the folder itself: who names an ignored folder wants what is in it. Without a
    repository, the person's rules apply to the folder.
    """
    parents = [folder, *folder.parents]
    depth = next((i for i, parent in enumerate(parents) if os.path.exists(parent / ".git")), 0)  # noqa: PTH110 - Path.exists raises where one may not look
    personal = find_personal_file(os.environ)
    rules = (*(_of_file(personal, parents[depth]) if personal else ()), *of_repository(parents[depth]))
    rules += tuple(found for parent in reversed(parents[1 : depth + 1]) for found in of_folder(parent))
    excluded = any(is_ignored(rules, str(parent), is_folder=True) for parent in parents[:depth])
    return () if excluded else rules


def of_folder(folder: Path) -> tuple[Rules, ...]:
    """Return the rules of a folder's own `.gitignore`; none where it is missing or cannot be read."""
    return _of_file(folder / _NAME, folder)


def of_repository(folder: Path) -> tuple[Rules, ...]:
    """Return the rules of a repository's `.git/info/exclude`.

    There are none if the folder is not the top of a repository, or if a link or a `.git` file would lead out of the
    folder to them.
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
    """Return True if the rule that decides on this place, if there is one, excludes it."""
    decisive = decided_by(rules, place, is_folder=is_folder)
    return decisive is not None and decisive[1].excludes


def decided_by(rules: tuple[Rules, ...], place: str, *, is_folder: bool) -> tuple[Rules, Rule] | None:
    """Return the last rule of the innermost `.gitignore` that has an opinion on this place."""
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
    r"""Return the line as git keeps it: `\ ` at its end is a space of the pattern, and a tab always is one."""
    bare = line.rstrip(b" ")
    is_escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1
    return line[: len(bare) + 1] if is_escaped else bare


def _matching(body: str) -> re.Pattern[str] | None:
    """Return the expression of a pattern; None for one that matches nothing, which git passes over in silence."""
    tokens = [*map(_as_glob, _tokens(body.removeprefix("/")))]
    try:
        return compiled_glob("".join(tokens)) if tokens and "" not in tokens else None
    except UsageError:
        return None


def _tokens(body: str) -> Iterator[str]:
    for found in _TOKEN.finditer(body):
        if found["open"]:  # no bracket closes up to its end, so a search from each opening one would be in vain
            yield from _UNCLOSED.findall(found[0])
        else:
            yield found[0]


def _as_glob(token: str) -> str:
    """Return a character, an escape, a bracket or a run of `*` as GLOB spells it, "" if nothing can match it."""
    if token in ("[", "\\"):
        return ""
    if token in ("{", "}"):
        return f"\\{token}"
    if token.startswith("***"):
        return "**"
    if token.startswith("[") and not all(name in _CLASSES for name in _CLASS.findall(token)):
        return ""
    return _CLASS.sub(lambda found: _CLASSES[found[1]], token) if token.startswith("[") else token
