"""The questions that were answered before: one file for all stores, one JSON object a line, the newest last."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recall_core import files
from recall_core.config import NAMES
from recall_core.paths import PRIVATE, state_folder

MOST = 1_000  # queries that are remembered
LONGEST = 20_000  # characters; a longer text was pasted by mistake
MOST_DIGITS = 12  # of a digest that are shown
TAIL_BYTES = 8_000_000  # what is read of a file that somebody else made large


class KeptRow(NamedTuple):
    """A row of an answer: what it is, and where its text is."""

    id: str
    where: str


class PastQuestion(NamedTuple):
    """A question that was answered. settings: `key=value` for each that was moved away from its saved value."""

    text: str
    filter: str = ""
    settings: tuple[str, ...] = ()
    digest: str = ""
    """The state of the store that answered it."""
    top: tuple[KeptRow, ...] = ()
    """The first rows that it listed, in order."""
    offset: int = 0
    """How many rows of its ranking come before them."""


class RankMove(NamedTuple):
    """A row with its rank in one answer and in another; None where it is not among the rows that are kept."""

    row: KeptRow
    before: int | None
    after: int | None


def describe_changes(past: PastQuestion) -> str:
    """Return the filter and the settings of a question, in words."""
    return ", ".join([*([f"filter {past.filter}"] if past.filter else []), *map(_readable, past.settings)])


def _readable(setting: str) -> str:
    """Return a setting under the name that people read."""
    key, equals, value = setting.partition("=")
    return f"{NAMES.get(key, key)}{equals}{value}"


def place(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the file in the state folder; None without a home."""
    folder = state_folder(environ, platform)
    return folder / "history.jsonl" if folder is not None else None


def load(path: Path) -> list[PastQuestion]:
    """Return what is remembered, the newest first and each question once; what cannot be read is passed over."""
    found: dict[tuple[str, str, tuple[str, ...]], PastQuestion] = {}
    for line in reversed(_lines(path)):
        past = past_of(line)
        if past is not None:
            found.setdefault((past.text, past.filter, past.settings), past)
        if len(found) == MOST:
            break
    return list(found.values())


def append(path: Path, past: PastQuestion) -> None:
    """Remember this as the newest. One write, so that two workbenches do not mix their lines. Raises OSError."""
    if not past.text.strip() or len(past.text) > LONGEST:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = _lines(path)
    if len(lines) >= 2 * MOST:
        newest_first = load(path)  # replaced in one step: at no time is there no file
        files.write(path, b"".join(map(line_of, reversed(newest_first))), mode=PRIVATE)
        lines = []
    end = b"\n" if lines and lines[-1] else b""  # the last line may be torn, or edited by hand
    target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)  # a pipe is an error
    try:
        os.write(target, end + line_of(past))
    finally:
        os.close(target)


def moves(before: PastQuestion, after: PastQuestion) -> list[RankMove]:
    """Compare the first rows of two answers: those of the later in order, then those that left."""
    ranks = {row.id: rank for rank, row in enumerate(before.top, start=before.offset + 1)}
    found = [
        RankMove(row, ranks.pop(row.id, None), rank) for rank, row in enumerate(after.top, start=after.offset + 1)
    ]
    return [*found, *(RankMove(row, ranks[row.id], None) for row in before.top if row.id in ranks)]


def line_of(past: PastQuestion) -> bytes:
    """Return a line of JSON, without what is empty."""
    record = {key: value for key, value in past._asdict().items() if value}
    return f"{json.dumps(record)}\n".encode()


def _lines(path: Path) -> list[bytes]:
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return []


def past_of(line: bytes) -> PastQuestion | None:
    """Return what a line says; None where it says nothing. Parts that make no sense are left out."""
    try:
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()  # an escaped half of a surrogate pair can be in no question
    except (ValueError, RecursionError):
        return None
    text = record.get("text") if isinstance(record, dict) else None
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        return None
    rows = [row for row in _list(record.get("top")) if isinstance(row, list) and len(row) == 2]
    return PastQuestion(
        text,
        filter=_string(record.get("filter")),
        settings=tuple(each for each in _list(record.get("settings")) if isinstance(each, str)),
        digest=_string(record.get("digest")),
        top=tuple(KeptRow(*row) for row in rows if all(isinstance(each, str) for each in row)),
        offset=_count(record.get("offset")),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
