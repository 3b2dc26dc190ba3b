"""The subtitles parser: the spoken text, one line per cue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any, NamedTuple

from recall_core.ingest.parse.text import decode, short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_TIME = re.compile(
    r"[ \t]*+(?:\d{1,4}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,6})?[ \t]*+--+>[ \t]*+(?:\d{1,4}:)?\d{1,3}:\d{1,2}"
)
_SPEAKER = re.compile(r"<v(?:\.[^\s<>]{0,80})?[ \t]([^<>\n]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|</?>|<\d[\d:.]{0,20}>|\{\\[^{}\n]{0,200}\}")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|$)")
_LANGUAGE = re.compile(r"Language:[ \t]*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)[ \t]*$")
_ROLLED = 8  # lines of a cue that may repeat in the next one


class _CueBlock(NamedTuple):
    """Lines between empty ones. line: number of the first, from 1."""

    line: int
    lines: list[str]


class Subtitles:
    """Reads SubRip (.srt) and WebVTT (.vtt): the text of each cue on its own line, without times and tags.

    The speaker comes before a colon, if known. In rolling captions, where a cue repeats the line above, each line is
    read once.
    """

    version = 1
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document, with a place `cue` per cue; meta: `cues` and `language`.

        Anything else is skipped with a note. Raises IngestError `binary_file` and `not_utf8`.
        """
        blocks = list(_blocks(decode(raw, path=path)))
        title, meta = _header(blocks)
        pieces: list[str] = []
        marks: list[Mark] = []
        unknown: list[int] = []
        offset, above = 0, [""]
        for block in blocks[1:] if meta is not None else blocks:
            at = next((i for i, line in enumerate(block.lines[:2]) if _TIME.match(line)), None)
            if at is None:
                if not _ASIDE.match(block.lines[0]):
                    unknown.append(block.line)
                continue
            lines = [line for line in map(_plain, block.lines[at + 1 :]) if line]
            text = " ".join(_drop_repeated(lines, above))
            above = lines or above
            marks.append(Mark(offset, "cue"))
            if text:
                pieces.append(f"{text}\n")
                offset += len(text) + 1
        meta = {**(meta or {}), "cues": len(marks)}
        notes: tuple[str, ...] = ()
        if unknown:
            others = f", like {len(unknown) - 1} more" if len(unknown) > 1 else ""
            notes = (f"line {unknown[0]}: a block without a time was skipped{others}",)
        title = title or path.rpartition("/")[2]
        return (ParsedDocument(None, "".join(pieces), title, digest, len(raw), meta, tuple(marks), notes=notes),)


def _blocks(text: str) -> Iterator[_CueBlock]:
    """Yield the blocks between empty lines. A time also begins a block, together with the number above it."""
    block = _CueBlock(1, [])
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        is_time = "-->" in line and _TIME.match(line) is not None
        if block.lines and (not line.strip() or (is_time and not _is_name(block.lines))):
            above = [block.lines.pop()] if is_time and len(block.lines) > 1 and block.lines[-1].isdecimal() else []
            yield block
            block = _CueBlock(number - len(above), above)
        if line.strip():
            block = block if block.lines else _CueBlock(number, [])
            block.lines.append(line)
    if block.lines:
        yield block


def _is_name(lines: Sequence[str]) -> bool:
    """Return True if these lines above a time are the name of the cue."""
    return len(lines) == 1 and not lines[0].startswith("WEBVTT") and not _TIME.match(lines[0])


def _header(blocks: Sequence[_CueBlock]) -> tuple[str, dict[str, Any] | None]:
    """Return the title and metadata of a WebVTT file; "" and None if it has no header."""
    lines = blocks[0].lines if blocks else []
    if not lines or not lines[0].startswith("WEBVTT"):
        return "", None
    language = next((found[1] for line in lines if (found := _LANGUAGE.match(line))), "")
    title = short(lines[0].removeprefix("WEBVTT").strip(" \t-–"))
    return title, {"language": language} if language else {}


def _plain(line: str) -> str:
    """Return a line without tags and with white space collapsed."""
    if "<" in line or "{" in line:
        line = _TAG.sub("", _SPEAKER.sub(r"\1: ", line))
    return " ".join((unescape(line) if "&" in line else line).split())


def _drop_repeated(lines: list[str], above: list[str]) -> list[str]:
    """Return the lines of a cue without the first ones that repeat the end of the cue above."""
    for count in range(min(len(lines), len(above), _ROLLED), 0, -1):
        if above[-count:] == lines[:count]:
            return lines[count:]
    return lines
