"""The history of answered questions: one file for all stores, one JSON object per line, newest last."""

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

MOST = 1_000  # queries in the history
LONGEST = 20_000  # characters; a longer text was pasted by mistake
MOST_DIGITS = 12  # of a digest, as shown
TAIL_BYTES = 8_000_000  # read from a file that another program made large


class KeptRow(NamedTuple):
    """A row of an answer: its id, and the place of its text."""

    id: str
    where: str


class PastQuestion(NamedTuple):
    """An answered question. settings: `key=value` for each that differed from its saved value."""

    text: str
    filter: str = ""
    settings: tuple[str, ...] = ()
    digest: str = ""
    """The state of the store that answered it."""
    top: tuple[KeptRow, ...] = ()
    """The first rows listed, in order."""
    offset: int = 0
    """Number of rows in the ranking before them."""


class RankMove(NamedTuple):
    """A row with its ranks in two answers, None where it is not among the stored rows."""

    row: KeptRow
    before: int | None
    after: int | None


def describe_changes(past: PastQuestion) -> str:
    """Return the filter and the settings of a question, in words."""
    return ", ".join([*([f"filter {past.filter}"] if past.filter else []), *map(_readable, past.settings)])


def _readable(setting: str) -> str:
    """Return a setting with its display name."""
    key, equals, value = setting.partition("=")
    return f"{NAMES.get(key, key)}{equals}{value}"


def place(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the file in the state folder, or None without a home folder."""
    folder = state_folder(environ, platform)
    return folder / "history.jsonl" if folder is not None else None


def load(path: Path) -> list[PastQuestion]:
    """Return the history, newest first, each question once. Skip unreadable lines."""
    questions: dict[tuple[str, str, tuple[str, ...]], PastQuestion] = {}
    for line in reversed(_lines(path)):
        past = past_of(line)
        if past is not None:
            questions.setdefault((past.text, past.filter, past.settings), past)
        if len(questions) == MOST:
            break
    return list(questions.values())


def append(path: Path, past: PastQuestion) -> None:
    """Add this as the newest question.

    It is a single write, so that lines of two workbenches do not mix. Raises OSError.
    """
    if not past.text.strip() or len(past.text) > LONGEST:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = _lines(path)
    if len(lines) >= 2 * MOST:
        newest_first = load(path)  # replaced atomically, so the file always exists
        files.write(path, b"".join(map(line_of, reversed(newest_first))), mode=PRIVATE)
        lines = []
    end = b"\n" if lines and lines[-1] else b""  # the last line may be torn, or edited by hand
    target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)  # a pipe is an error
    try:
        os.write(target, end + line_of(past))
    finally:
        os.close(target)


def moves(before: PastQuestion, after: PastQuestion) -> list[RankMove]:
    """Compare the first rows of two answers: the rows of the later one in order, then those that left."""
    ranks = {row.id: rank for rank, row in enumerate(before.top, start=before.offset + 1)}
    compared = [
        RankMove(row, ranks.pop(row.id, None), rank) for rank, row in enumerate(after.top, start=after.offset + 1)
    ]
    return [*compared, *(RankMove(row, ranks[row.id], None) for row in before.top if row.id in ranks)]


def line_of(past: PastQuestion) -> bytes:
    """Return a line of JSON, without empty fields."""
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
    """Return the question in a line, or None. Invalid parts are left out."""
    try:
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()  # reject an escaped lone surrogate
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
