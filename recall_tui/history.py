"""The queries that were answered before: one file for all stores, one JSON object a line, the newest last."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

MOST = 1_000  # queries that are remembered
LONGEST = 20_000  # characters; a longer text was pasted by mistake
TAIL_BYTES = 8_000_000  # what is read of a file that somebody else made large


def place(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The file: below XDG_STATE_HOME where it is set, else where the platform keeps it; None without a home."""
    state, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if Path(state).is_absolute():
        return Path(state) / "recall" / "history.jsonl"
    if not home:
        return None
    folder = "Library/Application Support" if platform == "darwin" else ".local/state"
    return Path(home) / folder / "recall" / "history.jsonl"


def load(path: Path) -> list[str]:
    """The remembered queries, the newest first and each once; what cannot be read is passed over."""
    found: dict[str, None] = {}
    for line in reversed(_lines(path)):
        text = _text(line)
        if text:
            found.setdefault(text)
        if len(found) == MOST:
            break
    return list(found)


def append(path: Path, text: str) -> None:
    """Remember a query as the newest. One write, so that two workbenches do not mix their lines. Raises OSError."""
    if not text.strip() or len(text) > LONGEST:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if len(_lines(path)) >= 2 * MOST:
        _rewrite(path, load(path))
    target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(target, _line(text))
    finally:
        os.close(target)


def _rewrite(path: Path, newest_first: list[str]) -> None:
    """Put a shorter file in the place of the old one; at no time is there none."""
    target, name = tempfile.mkstemp(dir=path.parent, prefix=".history-")
    with os.fdopen(target, "wb") as file:
        file.writelines(map(_line, reversed(newest_first)))
    Path(name).replace(path)


def _line(text: str) -> bytes:
    return f"{json.dumps({'text': text})}\n".encode()


def _lines(path: Path) -> list[bytes]:
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return []


def _text(line: bytes) -> str:
    """The query on a line; "" where the line is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    text = record.get("text") if isinstance(record, dict) else None
    return text if isinstance(text, str) and text.strip() and len(text) <= LONGEST else ""
