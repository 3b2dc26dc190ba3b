"""Where query texts come from and go to besides the keys: the history, .rql files and another editor."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from recall_core.config import Config, assignments, override
from recall_core.errors import RecallError, UsageError
from recall_core.text import cited
from recall_core.types import Hit
from recall_tui import files, home, screens
from recall_tui.home import history
from recall_tui.home.history import KeptRow, PastQuestion
from recall_tui.screens.bench import Bench
from recall_tui.state.records import Moved
from recall_tui.state.session import Session, filter_of, listed
from recall_tui.state.weighing import KEYS
from recall_tui.widgets.draw import Glyphs, glyphs_in

if TYPE_CHECKING:
    from recall_tui.home.crash import Kept
    from recall_tui.host import Host

MOST_KEPT = 10  # rows of an answer that the history keeps


def to_keep(session: Session) -> PastQuestion | None:
    """The question that belongs into the history and is not there yet.

    Settings that are moved while an answer stands belong there once it is asked again.
    """
    answer = session.results.answer
    if not session.query.is_settled or session.query.busy or session.query.trouble is not None or answer is None:
        return None
    if session.query.question == session.query.kept_at or session.query.text != answer.plan.text:
        return None
    hits = [session.results.hits[row] for row in range(MOST_KEPT) if row in session.results.hits]
    rows = tuple(KeptRow(hit.chunk.id if hit.chunk else hit.doc.id, _where(hit)) for hit in hits)
    digest = session.store.info.digest if session.store.info else ""
    filters = filter_of(answer.plan) or ""
    past = PastQuestion(session.query.text, filters, _settings(session), digest, rows, listed(answer)[0])
    return past if past[:3] != session.query.kept[:3] else None


def question_of(session: Session, text: str) -> PastQuestion:
    """The question as it stands, answered or not. text: what is written in the field."""
    return PastQuestion(text, session.query.filter, _settings(session))


def _settings(session: Session) -> tuple[str, ...]:
    """What is moved, as `key=value`."""
    rows = () if session.weights.k is None else (f"k={session.weights.k}",)
    return (*assignments(session.weights.tweaks), *rows)


def moved_by(past: PastQuestion) -> tuple[Moved, tuple[str, ...]]:
    """What was moved when it was asked, and what of its settings is none that can be moved."""
    moved, unknown = Moved(), []
    for setting in past.settings:
        key, _, value = setting.partition("=")
        if key == "k" and value.isdecimal() and int(value) > 0:
            moved = moved._replace(k=int(value))
        elif key in KEYS and (config := _under(setting)) is not None:
            moved = moved._replace(tweaks={**moved.tweaks, key: getattr(config, key)})
        else:
            unknown.append(setting)
    return moved, tuple(unknown)


def _under(setting: str) -> Config | None:
    try:
        return override(Config(), [setting])
    except RecallError:
        return None


def _where(hit: Hit) -> str:
    chunk = hit.chunk
    return cited(hit.doc.path, chunk.line_start, chunk.line_end, chunk.place) if chunk else hit.doc.path


SHOWN_LINES, SHOWN_CHARACTERS = 8, 400  # of a query that is offered again


class Texts:
    """The dialogs around the editor of one workbench. What fails is said, and the text stays as it was."""

    def __init__(self, app: Host, bench: Bench) -> None:
        self._app = app
        self._bench = bench
        self._history = history.place(os.environ)
        self._can_remember = True
        self._file = ""

    def remember(self, past: PastQuestion) -> None:
        """Put an answered question into the history; say so once when that fails."""
        if self._history is None or not self._can_remember:
            return
        try:
            history.append(self._history, past)
        except OSError as error:
            self._can_remember = False
            self._warn(f"The history cannot be written: {_reason(error)}")

    def past(self) -> list[PastQuestion]:
        """The earlier queries, the newest first."""
        return history.load(self._history) if self._history is not None else []

    def offer_interrupted(self) -> None:
        """Offer the newest query that a defect or a signal interrupted, at every start until there is an answer."""

        for kept in home.crash.kept_queries(os.environ)[:1]:
            shown = _beginning(kept.query, glyphs_in(self._app))
            question = f"recall-tui was stopped. Restore the query that was in the editor?\n\n{shown}"
            screen = screens.confirm.UnaskedScreen("Interrupted", question, behind=self._bench.editor)
            self._app.push_screen(screen, partial(self._taken_up, kept))

    def put(self, text: str) -> None:
        """Put a text into the editor, and go there."""
        self._bench.give_focus("query")
        if text != self._bench.editor.text:
            self._bench.editor.put(text)

    async def ask_load(self) -> None:
        """Ask which file to load."""
        hint = "an .rql file, then Enter"
        await self._app.prompt("Load a query", self._file, hint, self._unread, self._load)

    async def ask_save(self) -> None:
        """Ask where to save the text."""
        await self._app.prompt("Save the query", self._file, "an .rql file, then Enter", _no_name, self._save)

    def edit_outside(self) -> None:
        """Lend the terminal to the person's editor."""
        editor = self._bench.editor
        try:
            command = files.editor(os.environ)
            with self._app.suspend():
                text = files.edited(editor.text, command)
        except SuspendNotSupported:
            self._warn("This terminal cannot be lent to an editor.")
        except (UsageError, OSError) as error:
            self._warn(_reason(error))
        else:
            self.put(text)

    def _taken_up(self, kept: Kept, is_wanted: bool | None) -> None:

        if is_wanted:
            self.put(kept.query)
        home.crash.drop_query(kept)

    def _unread(self, typed: str) -> str:
        """Why a file cannot be loaded; "" when it can."""
        try:
            files.load(files.place(typed))
        except (UsageError, OSError) as error:
            return _reason(error)
        return ""

    def _load(self, typed: str | None) -> None:
        if typed is None:
            return
        try:
            text = files.load(files.place(typed))
        except (UsageError, OSError) as error:
            self._warn(_reason(error))
            return
        self._file = typed
        self.put(text)

    async def _save(self, typed: str | None) -> None:
        if typed is None:
            return
        text = self._bench.editor.text
        try:
            path = files.place(typed)
            differs = path.exists() and not files.holds(path, text)
        except OSError as error:
            self._warn(_reason(error))
            return
        self._file = typed
        if differs:
            question = f"{path} exists and differs. Replace it?"
            await self._app.confirm("Save the query", question, partial(self._write, path, text))
        else:
            self._write(path, text, True)

    def _write(self, path: Path, text: str, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        try:
            files.save(path, text)
        except OSError as error:
            self._warn(_reason(error))
        else:
            self._app.notify(f"Saved: {path}", markup=False)

    def _warn(self, message: str) -> None:
        self._app.notify(message, severity="error", markup=False)


def _beginning(text: str, glyphs: Glyphs) -> str:
    """A text, or with a mark what a question has room for."""
    lines = text.rstrip().splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])[:SHOWN_CHARACTERS]
    return shown if shown == "\n".join(lines) else f"{shown.rstrip()} {glyphs.cut}"


def _no_name(typed: str) -> str:
    return "" if typed else "Name a file."


def _reason(error: UsageError | OSError) -> str:
    if isinstance(error, UsageError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)
