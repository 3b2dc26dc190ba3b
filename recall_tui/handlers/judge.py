"""Grading results, stepping through the judged queries, and importing and exporting judgements."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from recall_core import evaluate, paths
from recall_core.adapters.streams import replacing
from recall_core.errors import UsageError
from recall_core.evaluate.judgements import Regrade
from recall_core.types import Progress
from recall_tui import screens
from recall_tui.panes.judge import JudgePane
from recall_tui.state import explaining, judging
from recall_tui.state import session as state
from recall_tui.state.session import Session

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import JudgeResponse
    from recall_core.evaluate.formats import QrelsFormat
    from recall_tui.host import Host

_FORMATS: dict[str, QrelsFormat] = {".tsv": "beir", ".csv": "quepid"}
"""Format of exported judgements by suffix. Other suffixes are written in TREC's format."""
_IMPORT_HINT = "judgements (TREC, BEIR, Quepid), queries, or one file of each; then Enter"
_EXPORT_HINT = "judgements: .tsv BEIR, .csv Quepid, else TREC; queries: .jsonl; one or both, then Enter"


def selection_moved(app: Host, before: Session) -> None:
    """Record the time when an event moved another document under the selection."""
    if app.session.results.displaced != before.results.displaced:
        app.displaced_at = Message().time


def choose_query(app: Host, name: str, row: int, is_meant: bool) -> None:
    """Select a line of the list `judge` or `missed`. is_meant: also run it."""
    app.become(judging.pick_line(app.session, name, row))
    if is_meant:
        take_query(app)


def grade(app: Host, grade: int) -> None:
    """Grade the selected row and select the next one."""
    if (change := _change_to(app, grade)) is not None:
        app.become(state.move_selection(_with_grade(app, change), 1))


def clear_grade(app: Host) -> None:
    """Remove the grade of the selected row."""
    change = _change_to(app, None)
    if change is not None and judging.changes(change):
        app.become(_with_grade(app, change))
    elif change is not None:
        app.notify("The row has no grade.")


def undo_grade(app: Host) -> None:
    """Undo the last grade."""
    session, change = judging.take_grade_back(app.session)
    app.do(judging.GRADE, partial(_take_back_grade, change))
    app.become(session._replace(store=session.store._replace(task=judging.GRADE)))


def page_query(app: Host, pages: int) -> None:
    """Select the line that is `pages` pages away."""
    pane = app.bench.query_one(JudgePane)
    rows = pages * pane.page_rows(judging.front_of(app.session))
    app.become(judging.step_line(app.session, rows))


def point_first_query(app: Host) -> None:
    """Select the first line of the active list."""
    app.become(judging.pick_line(app.session, judging.front_of(app.session), 0))


def point_last_query(app: Host) -> None:
    """Select the last line of the active list."""
    name = judging.front_of(app.session)
    app.become(judging.pick_line(app.session, name, judging.rows_of(app.session, name) - 1))


def enter_missed(app: Host) -> None:
    """Go to the documents that the chosen query misses."""
    line = judging.pointed_line(app.session)
    if line is not None and not line.missed:
        app.notify(f"{line.query}: {judging.in_top(line, judging.unit_here(app.session))}", markup=False)
    app.become(judging.choose_side(app.session, missed=True))


def take_query(app: Host) -> None:
    """Run the chosen query, unless its rows are shown. For a missed document, explain why it is missing."""
    line, missed = judging.pointed_line(app.session), judging.pointed_missed(app.session)
    if line is None:
        return
    if judging.query_here(app.session) != line.query:
        app.bench.editor.put(line.text)
        app.ask()
    if missed is not None:
        app.become(explaining.seek_target(app.session, missed.place))
        app.bench.give_focus("explain")


async def import_judgements(app: Host) -> None:
    """Ask which files to read."""
    title = "Import judgements"
    await app.prompt(
        title, "", _IMPORT_HINT, unreadable, lambda typed: app.do(title, partial(_import, paths_of(typed)))
    )


async def export_judgements(app: Host) -> None:
    """Ask where to write, if there is something to write."""
    known = judging.judged_queries(app.session)
    if known is not None and not known.texts:
        app.notify("Nothing is judged yet, so there is nothing to export.")
        return
    await app.prompt("Export judgements", "", _EXPORT_HINT, unwritable, partial(_export_typed, app))


def _change_to(app: Host, grade: int | None) -> Regrade | None:
    """Return the change that gives the selected row this grade, or None after a notice if it is impossible."""
    if app.pressed_at < app.displaced_at + screens.dialog.READING_SECONDS:  # the key was meant for the row before
        app.notify("Not graded: another result has just replaced the selected one.")
        return None
    if reason := judging.why_not_gradable(app.session):
        app.warn(reason)
        return None
    return judging.change_for(app.session, grade)


def _with_grade(app: Host, change: Regrade) -> Session:
    if not judging.changes(change):
        return app.session
    app.do(judging.GRADE, partial(_write_grade, change))
    fresh = judging.add_grade(app.session, change)
    return fresh._replace(store=fresh.store._replace(task=judging.GRADE))


async def _export_typed(app: Host, typed: str) -> None:
    paths = paths_of(typed)
    export = partial(app.do, "Export judgements", partial(_export, paths))
    existing = [str(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - False without permission
    if existing:
        question = f"Replace {' and '.join(existing)}?"
        await app.confirm("Export judgements", question, export)
    else:
        export()


def paths_of(typed: str) -> list[Path]:
    """Return the paths in a line: words, quoted if they contain blanks. Raises ValueError for an open quote."""
    return [paths.expand(word) for word in shlex.split(typed)]


def unreadable(typed: str) -> str:
    """Return what is wrong with the files to import, or ""."""
    paths, wrong = _parse_paths(typed)
    missing = next((path for path in paths if not os.path.isfile(path)), None)  # noqa: PTH113 - as above
    return wrong or ("" if missing is None else f"There is no file {str(missing)!r}.")


def unwritable(typed: str) -> str:
    """Return what is wrong with the files to write, or ""."""
    paths, wrong = _parse_paths(typed)
    if wrong:
        return wrong
    if len(paths) == 2 and sum(map(_is_of_queries, paths)) != 1:
        return "One of two files must be .jsonl, for the queries."
    homeless = next((path for path in paths if not isdir(path.parent) or isdir(path)), None)  # noqa: PTH112 - as above
    return (
        ""
        if homeless is None
        else f"{str(homeless)!r} cannot be written: its folder does not exist, or it is a folder."
    )


def _parse_paths(typed: str) -> tuple[list[Path], str]:
    try:
        paths = paths_of(typed)
    except ValueError:
        return [], "A quote is not closed."
    return paths, "" if 1 <= len(paths) <= 2 else "Name one or two files; quote a path that contains spaces."


def _is_of_queries(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl"


def _write_grade(change: Regrade, recall: Recall, _say: Callable[[Progress], None]) -> str:
    evaluate.judgements.change(recall.store, change)
    return ""


def _take_back_grade(change: Regrade, recall: Recall, _say: Callable[[Progress], None]) -> str:
    since = evaluate.judgements.take_back(recall.store, change)
    if since is None:
        return f"Undone: the grade of {(*change.added, *change.removed)[0].spot.path}"
    what = "removed the grade" if since.grade is None else f"graded it {since.grade}"
    return f"Not undone: another program {what}: {since.spot.path}"


def _import(paths: list[Path], recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Read all of the files, or none after an error. Raises UsageError."""
    sorts = [evaluate.formats.holds_queries(path) for path in paths]
    if len(paths) == 2 and sorts[0] == sorts[1]:
        what = "queries" if sorts[0] else "judgements"
        raise UsageError(
            "bad_value", f"Both files contain {what}.", hint="name one file of queries and one of judgements"
        )
    queries = next((path for path, is_queries in zip(paths, sorts, strict=True) if is_queries), None)
    qrels = next((path for path, is_queries in zip(paths, sorts, strict=True) if not is_queries), None)
    return f"Imported: {_summarize(recall.judge_import(queries=queries, qrels=qrels), queries, qrels)}"


def _export(paths: list[Path], recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Write all of the files, or none after an error. Raises RecallError `out_unwritable`."""
    queries = next((path for path in paths if _is_of_queries(path)), None)
    qrels = next((path for path in paths if not _is_of_queries(path)), None)
    form = "trec" if qrels is None else _FORMATS.get(qrels.suffix.lower(), "trec")
    with ExitStack() as files:
        outs = [None if path is None else files.enter_context(replacing(path, hint="E")) for path in (queries, qrels)]
        response = recall.judge_export(queries=outs[0], qrels=outs[1], form=form)
    return f"Exported: {_summarize(response, queries, qrels)}"


def _summarize(response: JudgeResponse, queries: Path | None, qrels: Path | None) -> str:
    """Return the counts of queries and judgements, and the warnings. Quepid's judgements add queries too."""
    view, counts = response["judged"], []
    if queries is not None or view["queries"]:
        counts.append(f"{view['queries']:,} {'query' if view['queries'] == 1 else 'queries'}")
    if qrels is not None or view["judgements"]:
        counts.append(f"{view['judgements']:,} judgement{'' if view['judgements'] == 1 else 's'}")
    wrong = "".join(f". {warning.partition(': ')[2]}" for warning in response["warnings"])
    return f"{', '.join(counts)}{wrong}{'.' if wrong else ''}"
