"""Which files are manual pages, by their names and their first lines."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"[^/]\.(?:[1-9][A-Za-z]{0,9}|[ln]|man|mdoc)$")
_COMMENT = re.compile(r"[.']?[ \t]*\\\"|'''|[.'][ \t]*$")
_REQUEST = re.compile(
    r"[.'][ \t]*"
    r"(?:TH|Dd|Dt|SH|Sh|so|de1?|ds1?|nr|if|ie|ig|am|als|tr|mso|nh|ad|na|hy|ss|ll|po|do|nf|char|lf|rn|rm|cs|ft|fp)\b"
)
_SURE = re.compile(r"[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b|[.'][ \t]*so[ \t]+[\w./+-]+\.\w+[ \t]*$")
_PREAMBLE = 20  # lines of requests that are roff without a title among them


def is_man(path: str, head: str) -> bool:
    """Whether a file is a manual page in roff. head: its beginning, a few KiB are enough.

    Both its name and its lines must say so: `ls.1`, which begins with a request or a comment of roff, and has a
    title, a section or a reference to another page.
    """
    if not _SUFFIX.search(path):
        return False
    lines = [line.rstrip() for line in head.split("\n")]
    first = next((line for line in lines if line), "")
    if not (_COMMENT.match(first) or _REQUEST.match(first)):
        return False
    return any(map(_SURE.match, lines)) or (len(lines) > _PREAMBLE and any(map(_REQUEST.match, lines)))
