"""Grading results, going through the judged queries, and bringing judgements in and out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import inf
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from recall_core import paths
from recall_core.adapters.output import replacing
from recall_core.errors import UsageError
from recall_core.evaluate.grades import Regrade
from recall_core.types import Progress
from recall_tui.handlers.holder import Holder
from recall_tui.messages import LinePicked, LineStepped
from recall_tui.panes.judge import JudgePane
from recall_tui.state import explaining, grading, judging
from recall_tui.state.session import Session

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract import Response
    from recall_core.evaluate.formats import QrelsFormat

_FORMATS: dict[str, QrelsFormat] = {".tsv": "beir", ".csv": "quepid"}

"""How judgements are written, by the ending of the file; TREC's way for every other one."""

_IMPORT_HINT = "judgements (TREC, BEIR, Quepid), queries, or one file of each; then Enter"

_EXPORT_HINT = "judgements: .tsv BEIR, .csv Quepid, else TREC; queries: .jsonl; one or both, then Enter"


class JudgeActions(Holder):
    """The group Judge of the table."""

    displaced_at = -inf
    """When another document last came under the selection by itself, by the clock of the keys."""

    def selection_moved(self, before: Session) -> None:
        """Remember when an event brought another document under the selection."""
        if self.session.displaced != before.displaced:
            self.displaced_at = Message().time

    def on_line_picked(self, message: LinePicked) -> None:
        """A line of the pane was clicked."""
        self.become(judging.picked(self.session, message.name, message.row))
        if message.is_meant:
            self.action_take_query()

    def on_line_stepped(self, message: LineStepped) -> None:
        """The wheel was turned over the pane."""
        self.become(judging.stepped(self.session, message.rows))

    def action_grade(self, grade: int) -> None:
        """Grade the selected row and go on to the next."""
        if (change := self._change_to(grade)) is not None:
            self.become(grading.advanced(self._with_grade(change)))

    def action_clear_grade(self) -> None:
        """Take the grade of the selected row away."""
        change = self._change_to(None)
        if change is not None and grading.changes(change):
            self.become(self._with_grade(change))
        elif change is not None:
            self.notify("The row has no grade.")

    def action_undo_grade(self) -> None:
        """Take the last grade back."""
        session, change = grading.ungraded(self.session)
        self.do(grading.GRADE, partial(_taken_back, change))
        self.become(session._replace(chore=grading.GRADE))

    def action_point_query(self, rows: int) -> None:
        """Choose another line of the list that takes the keys."""
        self.become(judging.stepped(self.session, rows))

    def action_page_query(self, pages: int) -> None:
        """Choose the line that is one page away."""
        pane = self.bench.query_one(JudgePane)
        self.action_point_query(pages * pane.page_rows(judging.front_of(self.session)))

    def action_point_first_query(self) -> None:
        """Choose the first line of the list that takes the keys."""
        self.become(judging.picked(self.session, judging.front_of(self.session), 0))

    def action_point_last_query(self) -> None:
        """Choose its last line."""
        name = judging.front_of(self.session)
        self.become(judging.picked(self.session, name, judging.rows_of(self.session, name) - 1))

    def action_enter_missed(self) -> None:
        """Go to what the chosen query misses."""
        line = judging.pointed_line(self.session)
        if line is not None and not line.missed:
            self.notify(f"{line.query}: {judging.in_top(line)}", markup=False)
        self.become(judging.sided(self.session, missed=True))

    def action_leave_missed(self) -> None:
        """Go back to the queries."""
        self.become(judging.sided(self.session, missed=False))

    def action_next_measure(self) -> None:
        """Show the next measure."""
        self.become(judging.next_measure(self.session))

    def action_take_query(self) -> None:
        """Ask the chosen query, unless its rows are on the screen; of a missed document, ask why it is missed."""
        line, missed = judging.pointed_line(self.session), judging.pointed_missed(self.session)
        if line is None:
            return
        if judging.query_here(self.session) != line.query:
            self.bench.editor.put(line.text)
            self.ask()
        if missed is not None:
            self.become(explaining.sought_after(self.session, missed.path))
            self.bench.give_focus("explain")

    async def action_import_judgements(self) -> None:
        """Ask which files to read."""
        await self.prompt("Import judgements", "", _IMPORT_HINT, unreadable, self._import_typed)

    async def action_export_judgements(self) -> None:
        """Ask where to write, if there is something to write."""
        known = judging.judged(self.session)
        if known is not None and not known.texts:
            self.notify("Nothing is judged yet, so there is nothing to export.")
            return
        await self.prompt("Export judgements", "", _EXPORT_HINT, unwritable, self._export_typed)

    def _change_to(self, grade: int | None) -> Regrade | None:
        """What gives the selected row this grade; None where that cannot be, which is said."""
        if self._is_unread():
            self.notify("Not graded: what was selected has left the list, and another document stands there.")
            return None
        if reason := grading.why_not(self.session):
            self.warn(reason)
            return None
        return grading.change_for(self.session, grade)

    def _is_unread(self) -> bool:
        """True for a key that was pressed before anybody can have read what stands in the selected row."""
        from recall_tui.screens.confirm import READING_SECONDS  # noqa: PLC0415 - a dialog may wait until it is opened

        return self.pressed_at < self.displaced_at + READING_SECONDS

    def _with_grade(self, change: Regrade) -> Session:
        if not grading.changes(change):
            return self.session
        self.do(grading.GRADE, partial(_written, change))
        return grading.graded(self.session, change)._replace(chore=grading.GRADE)

    def _import_typed(self, typed: str | None) -> None:
        if typed is not None:
            self.do("Import judgements", partial(_imported, paths_of(typed)))

    async def _export_typed(self, typed: str | None) -> None:
        if typed is None:
            return
        paths = paths_of(typed)
        there = [str(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - False where nobody may look
        if there:
            question = f"Replace {' and '.join(there)}?"
            await self.confirm("Export judgements", question, partial(self._export_agreed, paths))
        else:
            self._export_agreed(paths, True)

    def _export_agreed(self, paths: list[Path], is_agreed: bool | None) -> None:
        if is_agreed:
            self.do("Export judgements", partial(_exported, paths))


def paths_of(typed: str) -> list[Path]:
    """The paths in a line: words, or quoted where they hold blanks. Raises ValueError for an open quote."""
    return [paths.expanded(word) for word in shlex.split(typed)]


def unreadable(typed: str) -> str:
    """What is wrong with the files to import; "" when they are there."""
    paths, wrong = _understood(typed)
    missing = next((path for path in paths if not os.path.isfile(path)), None)  # noqa: PTH113 - as above
    return wrong or ("" if missing is None else f"There is no file {str(missing)!r}.")


def unwritable(typed: str) -> str:
    """What is wrong with the files to write; "" when they can be."""
    paths, wrong = _understood(typed)
    if wrong:
        return wrong
    if len(paths) == 2 and sum(map(_is_of_queries, paths)) != 1:
        return "Of two files one is .jsonl, for the queries."
    homeless = next((path for path in paths if not isdir(path.parent) or isdir(path)), None)  # noqa: PTH112 - as above
    return "" if homeless is None else f"{str(homeless)!r} is no place for a file."


def _understood(typed: str) -> tuple[list[Path], str]:
    try:
        paths = paths_of(typed)
    except ValueError:
        return [], "A quote is not closed."
    return paths, "" if 1 <= len(paths) <= 2 else "Name one file or two; a path with blanks stands in quotes."


def _is_of_queries(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl"


def _place(change: Regrade) -> str:
    return (*change.added, *change.removed)[0].spot.path


def _written(change: Regrade, recall: Recall, _say: Callable[[Progress], None]) -> str:
    from recall_core.evaluate.judgements import change as make  # noqa: PLC0415 - the engine loads behind the first frame

    make(recall.store, change)
    return ""


def _taken_back(change: Regrade, recall: Recall, _say: Callable[[Progress], None]) -> str:
    from recall_core.evaluate.judgements import take_back  # noqa: PLC0415 - the engine loads behind the first frame

    since = take_back(recall.store, change)
    if since is None:
        return f"Taken back: the grade of {_place(change)}"
    what = "its grade was taken away" if since.grade is None else f"it was graded {since.grade}"
    return f"Not taken back: {what} since, by somebody else: {since.spot.path}"


def _imported(paths: list[Path], recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Read the files, whole or not at all. Raises UsageError."""
    from recall_core.evaluate.formats import holds_queries  # noqa: PLC0415 - the engine loads behind the first frame

    sorts = [holds_queries(path) for path in paths]
    if len(paths) == 2 and sorts[0] == sorts[1]:
        what = "queries" if sorts[0] else "judgements"
        raise UsageError("bad_value", f"Both files hold {what}.", hint="name one of queries and one of judgements")
    queries = next((path for path, is_queries in zip(paths, sorts, strict=True) if is_queries), None)
    qrels = next((path for path, is_queries in zip(paths, sorts, strict=True) if not is_queries), None)
    return f"Imported: {_counted(recall.judge_import(queries=queries, qrels=qrels), queries, qrels)}"


def _exported(paths: list[Path], recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Write the files, all of them or none. Raises RecallError `out_unwritable`."""
    queries = next((path for path in paths if _is_of_queries(path)), None)
    qrels = next((path for path in paths if not _is_of_queries(path)), None)
    form = "trec" if qrels is None else _FORMATS.get(qrels.suffix.lower(), "trec")
    with ExitStack() as files:
        outs = [None if path is None else files.enter_context(replacing(path, hint="E")) for path in (queries, qrels)]
        response = recall.judge_export(queries=outs[0], qrels=outs[1], form=form)
    return f"Exported: {_counted(response, queries, qrels)}"


def _counted(response: Response, queries: Path | None, qrels: Path | None) -> str:
    """How many there were of what was asked for, and what is wrong; Quepid's judgements bring queries too."""
    view, counts = response["judged"], []
    if queries is not None or view["queries"]:
        counts.append(f"{view['queries']:,} {'query' if view['queries'] == 1 else 'queries'}")
    if qrels is not None or view["judgements"]:
        counts.append(f"{view['judgements']:,} judgement{'' if view['judgements'] == 1 else 's'}")
    wrong = "".join(f". {warning.partition(': ')[2]}" for warning in response["warnings"])
    return f"{', '.join(counts)}{wrong}{'.' if wrong else ''}"
