"""What is shown instead of the panes while there is no store to open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static

from recall_core import here
from recall_core.errors import RecallError
from recall_tui import opening
from recall_tui.opening import Choice, Count
from recall_tui.state.keeping import embedder_words, ndcg, state_of
from recall_tui.widgets.draw import Glyphs, figure, fit, glyphs_in
from recall_tui.widgets.lines import entitle
from recall_tui.widgets.pointed import PointedList

if TYPE_CHECKING:
    from recall_core.contract import EmbedderView

OFFER = """\
A store is one file, recall.db, with the texts and the vectors of the files you add. It goes into {place}."""
KEPT = "{toml} is there already: it is kept, and what it says of the embedder holds."
KEYS = "Enter makes the store   Tab folder or embedder   Up Down choose   ^q quits"
TITLE = "Recall"
MOST_FOLDERS = 6
FOLDER_CELLS = 70  # of a folder with its count, where there is room
EDGES = 12  # cells of the screen that a list cannot have
FIRST_CHOICE = ("local", "minilm", "hash")
"""The embedder that is chosen at first: the best that is ready among those that are fast to begin with."""


class ChoiceList(PointedList, can_focus=True):
    """A list whose choice follows the keys; Enter belongs to the screen."""


class CreateLine(Static):
    """The last line: the keys, and a place to click."""

    def on_click(self, _event: Click) -> None:
        """A click is an Enter."""
        self.screen.action_create()  # type: ignore[attr-defined]  # it stands on a WelcomeScreen


class WelcomeScreen(Screen[None]):
    """Says why there is no store. Where one can be made, a folder and an embedder are chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "app.leave", "Quit", show=False),
        Binding("escape", "step_out", "Out", show=False),
        Binding("f1", "app.help", "Keys", show=False),
        Binding("enter", "create", "Create", show=False, priority=True),
        Binding("down", "step(1)", "Next", show=False, priority=True),
        Binding("up", "step(-1)", "Previous", show=False, priority=True),
        Binding("r", "again", "Try again", show=False),
    ]
    CSS_PATH = "dialogs.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#folder"

    class Named(Message):
        """A store to make."""

        def __init__(self, choice: Choice, *, sends_text: bool) -> None:
            super().__init__()
            self.choice = choice
            self.sends_text = sends_text

    class Again(Message):
        """The store is to be opened once more."""

    def __init__(
        self, error: RecallError, store: str | None, *, can_create: bool, before: Choice | None = None
    ) -> None:
        super().__init__()
        self._error = error
        self._store = store
        self._before = before
        self.can_create = can_create
        self._folders: tuple[str, ...] = ()
        self._counts: dict[str, Count] = {}
        self._embedders: tuple[EmbedderView, ...] = ()

    def compose(self) -> ComposeResult:
        """The reason, and what is to be chosen or the command that helps."""
        with Vertical(id="welcome") as box:
            box.border_title = TITLE
            yield Static(self._error.message, id="reason", markup=False)
            if not self.can_create:
                hint = f"Try: {self._error.hint}\n\n" if self._error.hint else ""
                yield Static(f"{hint}r tries again   ^q quits", id="offer", markup=False)
                return
            hint = f"Try: {self._error.hint}\n" if self._before and self._error.hint else ""
            yield Static(hint + OFFER.format(place=self._store or "the current folder"), id="offer", markup=False)
            yield Static("Folder to add", classes="heading", markup=False)
            yield Input(self._before.folder if self._before else "", placeholder=".", id="folder", compact=True)
            yield PointedList(id="folders")
            yield Static(self._heading(), classes="heading", id="ranks", markup=False)
            yield ChoiceList(id="embedders")
            yield Static(id="words", markup=False)
            yield CreateLine(KEYS, id="create", markup=False)

    def on_mount(self) -> None:
        """Look around for what can be chosen."""
        if self.can_create:
            self._list_folders("")
            self.run_worker(self._list_embedders, group="embedders")  # type: ignore[arg-type]  # its type is too narrow

    def on_input_changed(self, event: Input.Changed) -> None:
        """What is typed narrows the folders; one that was chosen stands in the field."""
        if event.value not in self._folders:
            self._list_folders(event.value)
        else:
            self._draw_folders()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say what the chosen embedder is good for."""
        if event.option_list.id == "embedders" and event.option_index < len(self._embedders):
            self._say_words(self._embedders[event.option_index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click on a folder takes it."""
        if event.option_list.id == "folders":
            self._take(event.option_index)

    def action_step(self, rows: int) -> None:
        """Choose another folder, or another embedder."""
        if not self.can_create:
            return
        if isinstance(self.focused, ChoiceList):
            self.focused.step(rows)
            return
        folders = self.query_one("#folders", PointedList)
        folders.step(rows)
        if folders.highlighted is not None:
            self._take(folders.highlighted)

    def action_step_out(self) -> None:
        """Go back to the folder; there is no step further out, and none that loses what is typed."""
        if isinstance(self.focused, ChoiceList):
            self.query_one("#folder", Input).focus()
        else:
            self.notify("^q leaves the workbench.")

    def action_create(self) -> None:
        """Ask the application to make the store."""
        embedder = self.chosen
        if not self.can_create or embedder is None:
            return
        if not embedder["available"]:
            self._say_words(embedder)
            self.notify(f"{embedder['name']} cannot be used: {embedder['reason']}", severity="error", markup=False)
            return
        sends_text = embedder["network"]
        settings = ("allow_network=true",) if sends_text else ()
        folder = self.query_one("#folder", Input).value.strip() or "."
        self.post_message(self.Named(Choice(folder, embedder["name"], settings), sends_text=sends_text))

    def action_again(self) -> None:
        """Ask the application to open the store once more."""
        if not self.can_create:
            self.post_message(self.Again())

    @property
    def chosen(self) -> EmbedderView | None:
        """The embedder that is chosen."""
        row = self.query_one("#embedders", ChoiceList).highlighted if self.can_create else None
        return self._embedders[row] if row is not None and row < len(self._embedders) else None

    @property
    def _glyphs(self) -> Glyphs:
        return glyphs_in(self.app)

    def _heading(self) -> str:
        toml = opening.settings_there(self._store)
        return KEPT.format(toml=toml) if toml else f"{'Embedder':<30}{'dimension':>9}  nDCG@10: Cranfield, SciFact"

    def _take(self, row: int) -> None:
        if row < len(self._folders):
            field = self.query_one("#folder", Input)
            field.value = self._folders[row]
            field.cursor_position = len(field.value)

    def _list_folders(self, typed: str) -> None:
        home = Path.home() if Path("~").expanduser() != Path("~") else None
        folders = opening.completions(typed, MOST_FOLDERS) if typed else opening.candidates(here.known(), home)
        self._folders = folders
        self._draw_folders()
        wanted = folders if not typed or typed in folders else (typed, *folders)
        count = partial(self._count, wanted)  # no coroutine: one that is never begun is told on the shell
        self.run_worker(count, exclusive=True, group="count")  # type: ignore[arg-type]  # its type is too narrow

    async def _count(self, folders: Sequence[str]) -> None:
        for folder in folders:
            if folder not in self._counts:
                self._counts[folder] = await asyncio.to_thread(opening.counted, folder, time.monotonic)
                self._draw_folders()

    async def _list_embedders(self) -> None:
        self._embedders = await asyncio.to_thread(opening.embedders)
        names = [each["name"] for each in self._embedders]
        ready = [each["name"] for each in self._embedders if each["available"]]
        wanted = self._before.embedder if self._before else next(each for each in FIRST_CHOICE if each in ready)
        self.query_one("#embedders", ChoiceList).fill(
            (Text(_embedder_line(each, self._glyphs)) for each in self._embedders), chosen=names.index(wanted)
        )

    def _draw_folders(self) -> None:
        view = self.query_one("#folders", PointedList)
        typed = self.query_one("#folder", Input).value
        room = min(FOLDER_CELLS, self.app.size.width - EDGES)
        lines = (Text(self._folder_line(folder, room)) for folder in self._folders)
        view.fill(lines, chosen=self._folders.index(typed) if typed in self._folders else None)
        count = None if typed in self._folders else self._counts.get(typed)
        entitle(self.query_one("#welcome"), TITLE, f"{typed}: {_files(count)}" if count else "")

    def _folder_line(self, folder: str, room: int) -> str:
        count = self._counts.get(folder)
        return fit(folder, room - 26, self._glyphs) + f"{_files(count) if count else 'counting':>26}"

    def _say_words(self, embedder: EmbedderView) -> None:
        words = Text(f"{embedder['name']}: ", Style(bold=True))
        words.append(embedder_words(embedder), Style(bold=False))
        self.query_one("#words", Static).update(words)


def _embedder_line(embedder: EmbedderView, glyphs: Glyphs) -> str:
    word = state_of(embedder)
    sign = {"missing": glyphs.out, "server": "?"}.get(word, glyphs.yes)
    size = str(embedder.get("dimension", "-"))
    where = "a provider" if embedder["network"] else "this machine"
    return f"{sign:<2} {word:<8}{embedder['name']:<21}{size:>5}  {ndcg(embedder['name'])}  {where}"


def _files(count: Count) -> str:
    if not count.is_all:
        return f"{figure(count.files)} text files or more"
    return f"{figure(count.files)} text file{'' if count.files == 1 else 's'}"
