"""The rows of an answer for other programs: paths alone, a line of JSON each, or CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from recall_core import rql
from recall_core._lazy import csv
from recall_core.adapters.options import lists_paths
from recall_core.adapters.render import json_line
from recall_core.adapters.streams import for_data, shown
from recall_core.errors import UsageError
from recall_core.text import one_line

if TYPE_CHECKING:
    from recall_core.adapters.plain import Request
    from recall_core.contract.responses import Response
    from recall_core.contract.views import ResultView

RowsWriter: TypeAlias = "Callable[[Response, TextIO], None]"

_CHUNKS = (
    "score doc.path chunk.line_start chunk.line_end doc.title chunk.heading chunk.text chunk.offset chunk.id"
    " chunk.place".split()
)
_DOCUMENTS = "score doc.path doc.title doc.tags doc.source doc.mtime doc.id".split()
"""The columns where SELECT chose none."""


def chosen(request: Request) -> RowsWriter | None:
    """What writes the rows, where a flag asks for one of these forms. Raises UsageError `conflicting_flags`."""
    asked = [name for name in _FORMS if getattr(request.flags, name, False)]
    if getattr(request.flags, "by_meaning", False) and not lists_paths(request.flags):
        hint = "add -l, or leave out --by-meaning"
        raise UsageError("conflicting_flags", "--by-meaning goes with -l or -q.", hint=hint)
    if not asked:
        return None
    if asked == ["paths", "quiet"]:
        asked = ["quiet"]
    others = [name for name in ("json", "explain") if getattr(request.flags, name, False)]
    conflict = [*asked, *(name for name in others if not (name == "explain" and asked == ["jsonl"]))]
    if len(conflict) > 1:
        message = f"--{conflict[0]} and --{conflict[1]} are two ways to write the same rows."
        raise UsageError("conflicting_flags", message, hint=f"leave out --{conflict[1]}")
    return _FORMS[asked[0]]


def _paths(response: Response, stdout: TextIO) -> None:
    """Each document once, where its best row stands."""

    _expect_path(response)
    for path in dict.fromkeys(result["doc"]["path"] for result in response["results"]):
        stdout.write(shown(f"{one_line(path)}\n", stdout))


def _expect_path(response: Response) -> None:
    if any("path" not in result.get("doc", {}) for result in response["results"]):
        message = "--paths needs doc.path among what SELECT chooses."
        raise UsageError("conflicting_flags", message, hint="SELECT doc.path, or leave out --paths")


def _json_lines(response: Response, stdout: TextIO) -> None:
    for_data(stdout).writelines(map(json_line, response["results"]))


def _csv(response: Response, stdout: TextIO) -> None:
    """The names, then a row each; a text has its line breaks, in quotes."""
    from io import StringIO  # noqa: PLC0415 - as above

    names = _columns(response)
    for row in (names, *([_cell(result, name) for name in names] for result in response["results"])):
        line = StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        stdout.write(shown(line.getvalue(), stdout))


def _columns(response: Response) -> list[str]:
    """What SELECT names; without one, what finds and shows a row."""
    text = response["query"].get("rql")
    if text is None:
        return _CHUNKS

    query, _ = rql.parser.parse_query(text)
    if query.select is not None:
        return list(rql.fields.selected(query))
    names = _CHUNKS if query.table == "chunk" else _DOCUMENTS
    return names if query.using else names[1:]


def _cell(result: ResultView, name: str) -> str:
    value: Any = result
    for key in _steps(name):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _steps(name: str) -> list[str]:
    """A key of meta may have dots of its own."""
    table, _, rest = name.partition(".")
    key, _, of_meta = rest.partition(".")
    return [step for step in (table, key, of_meta) if step]


_FORMS: dict[str, RowsWriter] = {
    "paths": _paths,
    "quiet": lambda response, stdout: None,
    "jsonl": _json_lines,
    "csv": _csv,
}
