"""Skips by their reason: how many files of each kind, which of them come first, and which are new."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import NamedTuple

from recall_core.errors import RecallError
from recall_core.types import Skip

NAMED = 3  # paths of a group that are named

_KINDS = {
    "bad_archive": "damaged archive",
    "bad_docx": "damaged document of Word",
    "bad_eml": "no message",
    "bad_epub": "damaged book",
    "bad_metadata": "record with bad metadata",
    "bad_name": "name in other bytes than UTF-8",
    "bad_notebook": "damaged notebook",
    "bad_pdf": "damaged PDF",
    "bad_record": "with a bad record",
    "bad_row": "table with an open quote",
    "bad_xml": "XML that is not well-formed",
    "binary_file": "binary",
    "broken_link": "broken link",
    "duplicate_record": "with a record twice",
    "encoding_mismatch": "in another encoding than it says",
    "excluded": "left out by a rule since",
    "file_too_large": "too large",
    "left_out": "removed before",
    "not_a_file": "neither file nor folder",
    "no_text": "PDF without text",
    "not_utf8": "not UTF-8",
    "parser_crashed": "too much for its parser",
    "parser_missing": "for a plug-in that is not installed",
    "parser_timeout": "too slow to read",
    "pdf_encrypted": "PDF with a password",
    "same_name": "of the same name",
    "symlink_inside": "link to a folder that is read anyway",
    "symlink_loop": "link in a circle",
    "symlink_outside": "link out of the folder",
    "too_deep": "nested too deep",
    "unknown_encoding": "to be read in an unknown encoding",
    "unknown_parser": "to be read by an unknown parser",
    "unpacked_too_large": "too large once unpacked",
    "unreadable": "unreadable",
}


_SAY_MORE = ("bad_pdf", "no_text", "pdf_encrypted")
"""Reasons that say more than what kind of file it is."""


class SkipGroup(NamedTuple):
    """Files that were skipped for one reason. kind: what they are, or the reason in words."""

    code: str
    kind: str
    files: int
    new: int
    """How many of them were not reported before."""
    first: tuple[str, ...]
    """The first paths of those that are new, else of all."""


def skip_of(path: str, error: RecallError) -> Skip:
    """Return the skip of a file that an error keeps from being read."""
    reason = error.message.removeprefix(path).lstrip(": ")
    details = error.details if isinstance(error.details, dict) else {}
    reason = f"{reason} ({error.hint})" if error.hint else reason
    return Skip(path, error.code, reason, str(details.get("kind", "")))


def by_reason(skips: Iterable[Skip], reported: Collection[str] = ()) -> tuple[SkipGroup, ...]:
    """Return the groups of these skips, the largest first, ties by kind and code.

    reported: `key` of those that were reported before.
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
    """Return what was skipped, in words: by its first bytes, else by the reason; a plug-in's reason is its code."""
    return (
        (skip.code in _SAY_MORE and _KINDS[skip.code])
        or skip.kind
        or _KINDS.get(skip.code)
        or skip.code.replace("_", " ")
    )


def key(skip: Skip) -> str:
    """Return a hash of a skip's path and reason, by which it is remembered."""
    return sha256(f"{skip.path}\0{skip.code}".encode()).hexdigest()[:16]
