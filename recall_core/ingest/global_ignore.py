"""The person's own ignore file: where git's settings say that it lies.

Of these settings one value is read, as data: `core.excludesFile` of the person's own files. What a repository says of
itself is never asked, because a folder that was found must not decide which file outside of it is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

_SECTION = re.compile(r'\[\s*+([-.\w]++)\s*+("(?:\\.|[^"\\])*+")?\s*+\]\s*', re.ASCII)
_KEY = re.compile(r"([a-z][-a-z0-9]*)\s*=\s*(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}


def place(environ: Mapping[str, str]) -> Path | None:
    """The file whose rules hold in every folder of this person, whether it is there or not; None where none does.

    As git looks for it: the last value in `~/.gitconfig` and, before that, `git/config` below XDG_CONFIG_HOME, or
    `GIT_CONFIG_GLOBAL` in the place of both; without a value `git/ignore` below XDG_CONFIG_HOME. A value that begins
    neither at the root nor at a home folder names nothing, and other files that the settings include are not read.
    """
    home = environ.get("HOME", "")
    own = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    named: str | None = None
    for config in _configs(environ, own, home):
        for value in _values(_text(config)):
            named = value
    if named is None:
        named = f"{own}/git/ignore" if own else ""
    found = Path(home + named[1:] if home and named.startswith("~/") else os.path.expanduser(named))  # noqa: PTH111
    return found if found.is_absolute() else None


def regular_bytes(place: str | Path) -> bytes:
    """The content of a file; nothing of what is no file, such as a pipe, in which a reader may wait for ever.

    Raises OSError.
    """
    with open(place, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
        return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def _configs(environ: Mapping[str, str], own: str, home: str) -> list[Path]:
    if "GIT_CONFIG_GLOBAL" in environ:
        return [Path(environ["GIT_CONFIG_GLOBAL"])]
    return [Path(folder, name) for folder, name in ((own, "git/config"), (home, ".gitconfig")) if folder]


def _text(config: Path) -> str:
    try:
        return regular_bytes(config).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""


def _values(text: str) -> Iterator[str]:
    """Every value of `core.excludesFile`, in the order in which they stand."""
    section = ""
    for line in _lines(text):
        rest = line
        while header := _SECTION.match(rest):
            section = "" if header[2] else header[1].lower()
            rest = rest[header.end() :]
        pair = _KEY.match(rest)
        if pair and (section, pair[1].lower()) == ("core", "excludesfile"):
            yield _meant(pair[2])


def _lines(text: str) -> Iterator[str]:
    """Lines without their indent; one that ends in a backslash goes on in the next, unless it is a comment."""
    whole = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        whole += line if whole else line.lstrip()
        if not whole.startswith(("#", ";")) and (len(whole) - len(whole.rstrip("\\"))) % 2 == 1:
            whole = whole[:-1]
            continue
        yield whole
        whole = ""
    yield whole


def _meant(raw: str) -> str:
    """A value as git understands it: quotes, escapes, and a comment that ends it."""
    kept, quoted, length = "", False, 0
    for each in _TOKEN.findall(raw):
        if each == '"':
            quoted = not quoted
        elif each in "#;" and not quoted:
            break
        else:
            kept += _ESCAPED.get(each[1], each[1]) if len(each) == 2 else each
        if quoted or not each.isspace():
            length = len(kept)
    return kept[:length]
