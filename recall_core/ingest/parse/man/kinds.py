"""Which files are manual pages, by their names and their first lines."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"[^/]\.(?:[1-9][A-Za-z]{0,9}|[1-9]p?m|[nl]|man|mdoc)$")
_FIRST_LINES = 60
_COMMENT = re.compile(r"[.'][ \t]*\\\"|'\\\"|[.'][ \t]*$|\.\\ |'''")
_REQUEST = re.compile(
    r"[.'][ \t]*(?:TH|Dd|Dt|SH|Sh|so|de1?|ds1?|nr|if|ie|el|ig|am|als|tr|mso|nh|ad|hy|ss|ll|po|\\\})\b"
)
_SURE = re.compile(r"[.'][ \t]*(?:TH|Dd|Dt|SH|Sh|so man)\b|\.so [\w./+-]+\.\w+$")
_MARKUP = re.compile(r"[.'][ \t]*(?:[A-Za-z]\w{0,2}\b|\\)")


def is_man(path: str, head: str) -> bool:
    """Whether a file is a manual page in roff. head: its beginning, a few KiB are enough.

    Both its name and its first lines must say so: `ls.1`, with .TH, .Dd, .Sh, .SH or .so before any running text.
    """
    if not _SUFFIX.search(path):
        return False
    is_commented = False
    for line in head.split("\n", _FIRST_LINES)[:_FIRST_LINES]:
        line = line.rstrip("\r")  # noqa: PLW2901 - a line end of two bytes is still a line end
        if _SURE.match(line):
            return True
        if _COMMENT.match(line):
            is_commented = True
        elif line[:1] not in (".", "'", "") and not is_commented:
            return False
    return is_commented and any(_REQUEST.match(line) for line in head.split("\n"))
