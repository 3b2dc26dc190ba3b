"""Skipped files, grouped by reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import NamedTuple

from recall_core.errors import RecallError
from recall_core.types import Skip

NAMED = 3  # paths listed per group

_KINDS = {
    "bad_archive": "damaged archive",
    "bad_docx": "damaged document (.docx)",
    "bad_eml": "not email",
    "bad_epub": "damaged book",
    "bad_metadata": "record with bad metadata",
    "bad_name": "name that is not UTF-8",
    "bad_notebook": "damaged notebook",
    "bad_pdf": "damaged PDF",
    "bad_record": "with a bad record",
    "bad_row": "with an unclosed quote",
    "bad_xml": "malformed XML",
    "binary_file": "binary",
    "broken_link": "broken link",
    "duplicate_record": "with a duplicate record",
    "encoding_mismatch": "not in the declared encoding",
    "excluded": "excluded by a rule",
    "file_too_large": "too large",
    "left_out": "removed earlier",
    "not_a_file": "neither file nor folder",
    "no_text": "PDF without text",
    "not_utf8": "not UTF-8",
    "parser_crashed": "failed to parse",
    "parser_missing": "needing a missing plug-in",
    "parser_timeout": "too slow to parse",
    "pdf_encrypted": "PDF with a password",
    "same_name": "with a duplicate name",
    "session_expired": "old session, removed",
    "session_waits": "grown session, waiting for more",
    "symlink_inside": "link to a folder already read",
    "symlink_loop": "link in a loop",
    "symlink_outside": "link outside the folder",
    "too_deep": "nested too deep",
    "unknown_encoding": "with an unknown encoding",
    "unknown_parser": "with an unknown parser",
    "unpacked_too_large": "too large when unpacked",
    "unreadable": "unreadable",
}


_SAY_MORE = ("bad_pdf", "no_text", "pdf_encrypted")
"""Codes whose text is more specific than the kind of file."""


class SkipGroup(NamedTuple):
    """Files skipped for one reason. kind: the kind of file, or the reason in words."""

    code: str
    kind: str
    files: int
    new: int
    """Number of files not reported before."""
    first: tuple[str, ...]
    """First paths of the new files; of all files if none is new."""


def skip_of(path: str, error: RecallError) -> Skip:
    """Return the Skip for a file that raised this error."""
    reason = error.message.removeprefix(path).lstrip(": ")
    details = error.details if isinstance(error.details, dict) else {}
    reason = f"{reason} ({error.hint})" if error.hint else reason
    return Skip(path, error.code, reason, str(details.get("kind", "")))


def by_reason(skips: Iterable[Skip], reported: Collection[str] = ()) -> tuple[SkipGroup, ...]:
    """Return the skips grouped by reason, largest group first, ties by kind and code.

    reported: the `key` of each skip reported before.
    """
    groups: dict[tuple[str, str], list[Skip]] = {}
    for skip in skips:
        groups.setdefault((kind_of(skip), skip.code), []).append(skip)
    found = []
    for (kind, code), members in groups.items():
        new = [skip for skip in members if key(skip) not in reported] if reported else members
        first = tuple(sorted(skip.path for skip in new or members)[:NAMED])
        found.append(SkipGroup(code, kind, len(members), len(new), first))
    return tuple(sorted(found, key=lambda group: (-group.files, group.kind, group.code)))


def kind_of(skip: Skip) -> str:
    """Return the kind of skip in words: the kind of file, else the reason. An unknown code becomes its own words."""
    return (
        (skip.code in _SAY_MORE and _KINDS[skip.code])
        or skip.kind
        or _KINDS.get(skip.code)
        or skip.code.replace("_", " ")
    )


def key(skip: Skip) -> str:
    """Return a hash of the skip's path and code, used to remember which skips were reported."""
    return sha256(f"{skip.path}\0{skip.code}".encode()).hexdigest()[:16]
