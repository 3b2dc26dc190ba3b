"""Files whose names and texts would steer a terminal, forge a line or reverse the reading direction."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

STYLE = "38;5;201"  # a style that Recall never uses

NAMES = (
    f"esc\x1b[2J\x1b[{STYLE}mred.md",
    "osc\x1b]52;c;aGFjaw==\x07clip.md",
    "title\x1b]0;owned\x1b\\.md",
    "c1\x9b31m\x9d0;t\x9c\x85.md",
    "bidi\u202egnp\u2066\u200f\u061c.md",
    "zero\u200b\u200d\ufeffwidth.md",
    "line\nerror: forged\nhint: forged.md",
    "tab\there\rback.md",
    "del\x7f\x08\x08\x08.md",
    "breaks\u2028of\u2029lines.md",
)
FOLDER = "dir\x1b[1A\nerror: forged"
UNDECODABLE = b"bad\xff\x1b[2J\nerror: forged.md"

TEXT = (
    f"# Quokka \x1b[{STYLE}mheading\x1b]8;;http://evil\x07\n\n"
    f"A quokka \x1b[2J\x1b]52;c;aGFjaw==\x07 smiles \x9b{STYLE}m \x9d0;t\x9c \u202eback\u2066\u2069 \x08\x7f\x0b\x0c"
    f" \x1b[{STYLE}m \r over\r\n\ta tab \u200b\u2028\u2029 end of quokka.\n"
)
LABEL = f"label\x1b[{STYLE}m\x9b2J\u202e\nerror: forged"
QUESTION = f"quokka \x1b[{STYLE}m\x9b2J\u202e smiles\nerror: forged"

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_STYLES = re.compile(r"\x1b\[([0-9;]*)m")
_PROGRESS = re.compile(r"\r|\x1b\[\?25[lh]|\x1b\[1A|\x1b\[2K")
"""The sequences that redraw the bar and hide the cursor."""


def build(base: Path) -> Path:
    """Make a folder of hostile files and records; the names contain the text of their file."""
    docs = base / "docs"
    (docs / FOLDER).mkdir(parents=True)
    for number, name in enumerate(NAMES):
        (docs / name).write_text(f"{TEXT}\nNumber {number}.\n", encoding="utf-8", newline="")
    (docs / FOLDER / "in.md").write_text(f"{TEXT}\nNumber 0.\n", encoding="utf-8", newline="")
    records = [
        {"id": f"{name}", "title": name, "text": TEXT, f"key\x1b[{STYLE}m": LABEL, "list": [LABEL]}
        for name in NAMES[:3]
    ]
    lines = [json.dumps(record) + "\n" for record in records]
    (docs / f"records\x1b[{STYLE}m.jsonl").write_text("".join(lines), encoding="utf-8")
    with open(os.fsencode(docs) + b"/" + UNDECODABLE, "wb") as file:
        file.write(TEXT.encode())
    return docs


def obeyed(text: str, *, is_progress: bool = False) -> list[str]:
    """Return what a terminal would obey in an output, with context: all but lines, tabs and own styles."""
    for style in set(_STYLES.findall(text)) - {STYLE}:
        text = text.replace(f"\x1b[{style}m", "")
    if is_progress:
        text = _PROGRESS.sub("", text)
    return [text[max(0, mark.start() - 30) : mark.end() + 10] for mark in _OBEYED.finditer(text)]


def forged(text: str) -> list[str]:
    """Return the lines that a name forged."""
    return [line for line in text.split("\n") if line.startswith(("error: forged", "hint: forged"))]
