"""Files left by an interrupted workbench: the query, and after a defect a report that quotes no texts."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from traceback import TracebackException
from typing import NamedTuple

from recall_core._version import __version__
from recall_core.errors import RecallError
from recall_core.files import write_private
from recall_core.paths import state_folder

EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h; `recall` itself never uses it
MOST_ACTIONS = 20  # actions before the defect, in the report
MOST_REPORTS = 10  # older ones are deleted
MOST_FRAMES = 200  # of each error; an endless recursion has a thousand
QUERY_FILES = "interrupted-*.rql"


class Defect(NamedTuple):
    """The end of a workbench by a defect. actions: ids of the last ones, newest last; query: text of the editor."""

    error: BaseException
    actions: tuple[str, ...]
    query: str


def leave_report(defect: Defect, environ: Mapping[str, str]) -> str:
    """Save the query and the report, and return the text for stderr: the report's place, or the report itself."""
    text = report(defect.error, defect.actions, environ)
    folder = state_folder(environ)
    if folder is None:
        return f"recall-tui stopped by a defect; there is no home folder for this report:\n{text}"
    try:
        keep_query(defect.query, environ)
        path = folder / f"crash-{_stamp()}.txt"
        write_private(path, text)
        for old in sorted(folder.glob("crash-*.txt"))[:-MOST_REPORTS]:
            old.unlink(missing_ok=True)
    except OSError as error:
        return f"recall-tui stopped by a defect; its report cannot be written ({error.strerror}):\n{text}"
    offered = "; the query is offered again at the next start" if defect.query.strip() else ""
    return (
        f"recall-tui stopped by a defect; report: {path}\n"
        f"hint: it contains versions, lines of code and names of actions, but none of your texts{offered}\n"
    )


def keep_query(query: str, environ: Mapping[str, str]) -> bool:
    """Save the editor's text for a later start, unless the same text is already saved.

    Texts of other workbenches stay.
    Return False if there is no text or no folder. Raises OSError.
    """
    folder = state_folder(environ)
    if folder is None or not query.strip():
        return False
    if query not in (saved.query for saved in kept_queries(environ)):
        write_private(folder / QUERY_FILES.replace("*", _stamp()), query)
    return True


class Kept(NamedTuple):
    """An interrupted query, and its file, which stays until the user decides about it."""

    query: str
    path: Path


def kept_queries(environ: Mapping[str, str]) -> list[Kept]:
    """Return the interrupted queries, newest first. Skip those that cannot be read."""
    folder = state_folder(environ)
    if folder is None or not os.path.isdir(folder):  # noqa: PTH112 - False without permission
        return []
    queries = []
    for path in sorted(folder.glob(QUERY_FILES), reverse=True):
        with suppress(OSError):
            if path.is_file():
                queries.append(Kept(path.read_text(encoding="utf-8", errors="replace"), path))
    return queries


def drop_query(saved: Kept) -> None:
    """Delete a saved query."""
    with suppress(OSError):  # offering it again is better than not starting
        saved.path.unlink()


def report(error: BaseException, actions: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return versions, the last actions and the traceback.

    Messages and values are left out, since they may quote texts.
    """
    facts = {
        "recall-tui": __version__,
        "python": platform.python_version(),
        "textual": version("textual"),
        "rich": version("rich"),
        "system": f"{sys.platform} {platform.machine()}",
        "TERM": environ.get("TERM", ""),
        "last actions": ", ".join(actions[-MOST_ACTIONS:]) or "none",
    }
    heads = [f"{name}: {value}" for name, value in facts.items()]
    traced = _trace(error, environ.get("HOME", ""))
    return "\n".join(["recall-tui was stopped by a defect.", "", *heads, "", *traced]) + "\n"


def _trace(error: BaseException, home: str) -> Iterator[str]:
    """Yield the frames of an error, innermost last, after those of the errors that led to it."""
    seen: set[int] = set()
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        chain.append(each)
        each = _reason(each)
    for place, link in enumerate(reversed(chain)):
        if place:
            yield "which led to"
        yield from _frames(link, home)


def _reason(error: BaseException) -> BaseException | None:
    """Return the error that led to this one. A Textual task has it in a field."""
    inner = getattr(error, "error", None)
    if isinstance(inner, BaseException):
        return inner
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _frames(error: BaseException, home: str) -> Iterator[str]:
    code = f" {error.code}" if isinstance(error, RecallError) else ""
    yield f"{type(error).__name__}{code} (its message is left out)"
    for frame in TracebackException.from_exception(error).stack[-MOST_FRAMES:]:
        yield f"  {shorten(frame.filename, home)}:{frame.lineno} in {frame.name}"
        if frame.line:
            yield f"    {frame.line}"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield "contains"
            yield from _frames(each, home)


def shorten(path: str, home: str) -> str:
    """Return a path of code without the user's folders."""
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in path:
            return path.rpartition(folder)[2]
    for package in ("/recall_tui/", "/recall_core/"):
        if package in path:
            return package[1:] + path.rpartition(package)[2]
    is_at_home = len(home) > 1 and path.startswith(home.rstrip("/") + "/")
    return "~" + path[len(home.rstrip("/")) :] if is_at_home else path


def _stamp() -> str:
    """Return part of a file name: sorted by time, and unique to the process."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
