"""The notebook parser: cells of a Jupyter notebook in order, with their printed output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from recall_core.errors import IngestError
from recall_core.ingest.metadata import DEEPEST
from recall_core.ingest.parse.json_records import decode_json, is_deeper
from recall_core.ingest.parse.markdown import MarkdownOutline
from recall_core.ingest.parse.text import decode, short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

PRINTED = 2000
"""Characters of a cell's output that are kept."""

_COLOUR = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]?")
_DEEPEST_HEADING = 6


class Notebook:
    """Reads Jupyter notebooks (.ipynb) of formats 3 and 4.

    Markdown and raw cells become their text; code cells become their source, followed by up to 2,000 characters of
    text output. An empty line separates cells. The title is the first Markdown heading.
    """

    version = 2
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document, with a place `cell` for each cell.

        Raises IngestError `bad_notebook` with the reason, `too_deep`, `binary_file` and `not_utf8`.
        """
        decode(raw, path=path)
        notebook = _notebook(raw.removeprefix(b"\xef\xbb\xbf"), path)
        pieces: list[str] = []
        marks: list[Mark] = []
        offset = 0
        for number, cell in enumerate(_cells(notebook, path), start=1):
            kind, text = _cell(cell, number, path)
            if text and pieces:
                pieces.append("\n\n")
                offset += 2
            marks.append(Mark(offset, "cell"))
            marks += _units(cell, kind, text, offset)
            pieces.append(text)
            offset += len(text)
        title = next((mark.name for mark in marks if mark.kind == "heading" and mark.name), "")
        title = title or path.rpartition("/")[2]
        return (ParsedDocument(None, "".join(pieces), title, digest, len(raw), _about(notebook), tuple(marks)),)


def _bad(path: str, reason: str, **details: int) -> IngestError:
    return IngestError("bad_notebook", f"{path} is not a notebook: {reason}.", details={"path": path, **details})


def _notebook(raw: bytes, path: str) -> dict[str, Any]:
    too_deep = IngestError("too_deep", f"{path} is nested deeper than {DEEPEST} levels.", details={"path": path})
    try:
        notebook = decode_json(raw)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:
        raise _bad(path, f"it is not JSON ({error})" if raw.strip() else "it is empty") from error
    if is_deeper(notebook):
        raise too_deep
    if not isinstance(notebook, dict):
        raise _bad(path, "it is not a JSON object")
    return notebook


def _cells(notebook: dict[str, Any], path: str) -> Iterator[Any]:
    """Yield the cells. Format 3 keeps them in worksheets."""
    worksheets = notebook.get("worksheets")
    holders = worksheets if "cells" not in notebook and isinstance(worksheets, list) else [notebook]
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        if not isinstance(cells, list):
            raise _bad(path, "it has no list of cells")
        yield from cells


def _cell(cell: object, number: int, path: str) -> tuple[str, str]:
    """Return a cell's kind and text."""
    if not isinstance(cell, dict):
        raise _bad(path, f"cell {number} is not an object", cell=number)
    source = _join_lines(cell.get("source", cell.get("input", "")))
    if source is None:
        raise _bad(path, f"the source of cell {number} is not text", cell=number)
    if cell.get("cell_type") != "code":
        return str(cell.get("cell_type")), source
    return "code", "\n\n".join(filter(None, (source, _collect_output(cell.get("outputs")))))


def _units(cell: dict[str, Any], kind: str, text: str, offset: int) -> Iterator[Mark]:
    """Yield the units of a cell whose text begins at this offset."""
    if kind == "markdown":
        yield from (mark._replace(offset=offset + mark.offset) for mark in MarkdownOutline(text, 0).marks)
    elif kind == "heading":
        level = cell.get("level")
        level = min(max(level, 1), _DEEPEST_HEADING) if isinstance(level, int) else 1
        yield Mark(offset, "heading", short(text), level)


def _join_lines(lines: object) -> str | None:
    """Return the text of a string or a list of lines (early formats omit line ends); None for anything else."""
    if isinstance(lines, str):
        return lines
    if not isinstance(lines, list):
        return None
    try:
        return ("" if not lines or lines[0].endswith("\n") else "\n").join(lines)
    except (TypeError, AttributeError):
        return None


def _collect_output(outputs: object) -> str:
    """Return a cell's text output without terminal colours."""
    found, room = [], 4 * PRINTED  # colour codes are removed later and can be longer than the text
    for output in outputs if isinstance(outputs, list) else ():
        text = _output(output)[:room] if isinstance(output, dict) and room else ""
        room -= len(text)
        found.append(_COLOUR.sub("", text).strip("\n"))
    text = "\n".join(filter(str.strip, found))
    return text if len(text) <= PRINTED else text[: PRINTED - 1] + "…"


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        name, value = output.get("ename"), output.get("evalue")
        return ": ".join(each for each in (name, value) if isinstance(each, str) and each)
    data = output.get("data")
    text = data.get("text/plain") if isinstance(data, dict) else output.get("text")
    return _join_lines(text) or ""


def _about(notebook: dict[str, Any]) -> dict[str, str]:
    """Return `language` and `kernel`, as far as present."""
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    entries = (metadata.get(key) for key in ("kernelspec", "language_info"))
    kernel, language = (each if isinstance(each, dict) else {} for each in entries)
    found = {"language": language.get("name") or kernel.get("language"), "kernel": kernel.get("name")}
    return {key: short(value) for key, value in found.items() if isinstance(value, str) and value.strip()}
