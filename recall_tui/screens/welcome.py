"""The screen that replaces the panes while no store is open."""

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
from textual.events import Click, Resize
from textual.widgets import Input, OptionList, Static

from recall_core import caller
from recall_core.errors import RecallError
from recall_core.paths import expand, spot
from recall_tui import opening
from recall_tui.opening import Count, FirstStore
from recall_tui.panes.store import NAME_CELLS, embedder_line
from recall_tui.screens.bench import NO_ROOM, Bench
from recall_tui.screens.dialog import SizedScreen
from recall_tui.state.store_pane import embedder_words
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Drawing, figure, fit
from recall_tui.widgets.lines import PointedList, entitle

if TYPE_CHECKING:
    from recall_core.contract.views import EmbedderView

OFFER = "A store is one file with the text and the vectors of the files you add: {file}."
KEPT = "{toml} exists and is kept. It sets the embedder."
KEYS = "Enter makes the store   Tab folder or embedder   Up Down select   ^q quits"
FEW_KEYS = "Enter makes the store   Tab embedder   ^q quits"
TITLE = "Recall"
MOST_FOLDERS = 6
FOLDER_CELLS = 70  # width of a folder with its count, if there is room
EDGES = 9  # cells of the screen that a list cannot use
WIDE = 65  # width from which an embedder's row shows where it runs
FIRST_CHOICE = ("local", "minilm", "hash")
"""The embedder to select at first: the first of these that is ready. All start quickly; the best comes first."""


class ChoiceList(PointedList, can_focus=True):
    """A list whose choice follows the keys. Enter belongs to the screen."""


class CreateLine(Static):
    """The last line: the keys, and a place to click."""

    def on_click(self, _event: Click) -> None:
        """Create the store, like Enter."""
        self.screen.action_create()  # type: ignore[attr-defined]  # its screen is a WelcomeScreen


class WelcomeScreen(SizedScreen[None], Drawing):
    """The reason why there is no store. If one can be created, the user chooses a folder and an embedder."""

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
    HORIZONTAL_BREAKPOINTS = Bench.HORIZONTAL_BREAKPOINTS
    VERTICAL_BREAKPOINTS = Bench.VERTICAL_BREAKPOINTS
    AUTO_FOCUS = "#folder"

    def __init__(
        self, error: RecallError, store: str | None, *, can_create: bool, before: FirstStore | None = None
    ) -> None:
        super().__init__()
        self._error = error
        self._store = store
        self._spot = spot(store)
        self._before = before
        self.can_create = can_create
        self._folders: tuple[str, ...] = ()
        self._counts: dict[str, Count] = {}
        self._embedders: tuple[EmbedderView, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield the reason, then the choices, or the command that helps."""
        yield Static(NO_ROOM, id="small", markup=False)
        with Vertical(id="welcome", classes="first" if self.can_create else "") as box:
            box.border_title = TITLE
            yield Static(self._error.message, id="reason", markup=False)
            if not self.can_create:
                hint = f"Try: {self._error.hint}\n\n" if self._error.hint else ""
                yield Static(f"{hint}r tries again   ^q quits", id="offer", markup=False)
                return
            hint = f"Try: {self._error.hint}\n" if self._before and self._error.hint else ""
            yield Static(hint + OFFER.format(file=self._file()), id="offer", markup=False)
            yield Static("Folder to add", classes="heading", markup=False)
            folder = self._before.folder if self._before else ""
            yield Input(folder, placeholder=self._spot.folder, id="folder", compact=True)
            yield PointedList(id="folders")
            yield Static(self._heading(), classes="heading", id="ranks", markup=False)
            yield ChoiceList(id="embedders")
            yield Static(id="words", markup=False)
            yield CreateLine(self._keys(), id="create", markup=False)

    def on_mount(self) -> None:
        """List the folders and the embedders."""
        if self.can_create:
            self._list_folders("")
            self.run_worker(self._list_embedders, group="embedders")  # type: ignore[arg-type]  # its type is too narrow

    def on_resize(self, _event: Resize) -> None:
        """Draw the rows for the new width, and focus the field again once it is visible."""
        if self.query(CreateLine):  # missing if no store can be created or the workbench is ending
            self.query_one("#ranks", Static).update(self._heading())
            self.query_one("#create", CreateLine).update(self._keys())
            self._draw_folders()
            self._draw_embedders(self.query_one("#embedders", ChoiceList).highlighted)

            def focus_again() -> None:
                if self.focused is None and self.app.app_focus and self.has_room and self.query(CreateLine):
                    self.set_focus(self.query_one("#folder", Input))

            self.call_after_refresh(focus_again)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Ignore actions while one line replaces the screen."""
        return self.has_room and super().check_action(action, parameters)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the folders by the typed text, unless it is a listed folder."""
        if event.value not in self._folders:
            self._list_folders(event.value)
        else:
            self._draw_folders()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Describe the chosen embedder."""
        if event.option_list.id == "embedders" and event.option_index < len(self._embedders):
            self._say_words(self._embedders[event.option_index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the folder that was clicked."""
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
        """Go back to the folder. Esc does not leave the screen, so that no typed text is lost."""
        if isinstance(self.focused, ChoiceList):
            self.query_one("#folder", Input).focus()
        else:
            self.notify("^q quits.")

    def action_create(self) -> None:
        """Ask the application to create the store."""
        embedder = self.chosen_embedder
        if not self.can_create or embedder is None:
            return
        if not embedder["available"]:
            self._say_words(embedder)
            self.notify(f"{embedder['name']} cannot be used: {embedder['reason']}", severity="error", markup=False)
            return
        sends_text = embedder["network"]
        settings = {"allow_network": True} if sends_text else {}
        folder = self.query_one("#folder", Input).value.strip() or self._spot.folder
        self.post_message(Do("create_first_store", FirstStore(folder, embedder["name"], settings), sends_text))

    def action_again(self) -> None:
        """Ask the application to open the store again."""
        if not self.can_create:
            self.post_message(Do("open_again"))

    @property
    def has_room(self) -> bool:
        """False if the screen shows one line instead."""
        return not (self.has_class("-tiny") or self.has_class("-flat"))

    @property
    def chosen_embedder(self) -> EmbedderView | None:
        """The chosen embedder."""
        row = self.query_one("#embedders", ChoiceList).highlighted if self.can_create else None
        return self._embedders[row] if row is not None and row < len(self._embedders) else None

    @property
    def _room(self) -> int:
        return self.app.size.width - EDGES

    def _file(self) -> str:
        folder, name = self._spot
        if not name and opening.settings_there(self._store):
            return "the one set in recall.toml"
        name = name or "recall.db"
        return f"{name} in the current folder" if folder == "." else f"{folder}/{name}"

    def _heading(self) -> str:
        if toml := opening.settings_there(self._store):
            return KEPT.format(toml=toml)
        return f"{'Embedder':<30}{'dimension':>9}  nDCG@10{': Cranfield, SciFact' if self._room >= WIDE else ''}"

    def _keys(self) -> str:
        return KEYS if self._room >= WIDE else FEW_KEYS

    def _take(self, row: int) -> None:
        if row < len(self._folders):
            field = self.query_one("#folder", Input)
            field.value = self._folders[row]
            field.cursor_position = len(field.value)

    def _list_folders(self, typed: str) -> None:
        home = Path.home() if expand("~") != Path("~") else None
        if typed:
            folders = opening.completions(typed, MOST_FOLDERS)
        else:
            folders = opening.candidates(self._spot.folder, caller.folder(), home)
        self._folders = folders
        self._draw_folders()
        wanted = folders if not typed or typed in folders else (typed, *folders)
        count = partial(self._count, wanted)  # a function: Python warns about a coroutine that never starts
        self.run_worker(count, exclusive=True, group="count")  # type: ignore[arg-type]  # its type is too narrow

    async def _count(self, folders: Sequence[str]) -> None:
        for folder in folders:
            known = self._counts.get(folder)
            if known is None or not known.is_there:
                self._counts[folder] = await asyncio.to_thread(opening.count_files, folder, time.monotonic)
                self._draw_folders()

    async def _list_embedders(self) -> None:
        self._embedders = await asyncio.to_thread(opening.embedders)
        names = [each["name"] for each in self._embedders]
        ready = [each["name"] for each in self._embedders if each["available"]]
        wanted = self._before.embedder if self._before else next(each for each in FIRST_CHOICE if each in ready)
        self._draw_embedders(names.index(wanted))

    def _draw_embedders(self, chosen: int | None) -> None:
        lines = (
            Text(
                embedder_line(
                    each, fit(each["name"], NAME_CELLS, self.glyphs), self.glyphs, says_where=self._room >= WIDE
                )
            )
            for each in self._embedders
        )
        self.query_one("#embedders", ChoiceList).fill(lines, chosen=chosen)

    def _draw_folders(self) -> None:
        if not self.query("#folders"):
            return  # the screen closed while files were counted
        view = self.query_one("#folders", PointedList)
        typed = self.query_one("#folder", Input).value
        room = min(FOLDER_CELLS, self._room)
        lines = []
        for folder in self._folders:
            count_known = self._counts.get(folder)
            counted = _files(count_known) if count_known else "counting"
            lines.append(Text(fit(folder, room - 26, self.glyphs) + f"{counted:>26}"))
        view.fill(lines, chosen=self._folders.index(typed) if typed in self._folders else None)
        count = None if typed in self._folders else self._counts.get(typed)
        entitle(self.query_one("#welcome"), TITLE, f"{typed}: {_files(count)}" if count else "")

    def _say_words(self, embedder: EmbedderView) -> None:
        words = Text(f"{embedder['name']}: ", Style(bold=True))
        words.append(embedder_words(embedder), Style(bold=False))
        self.query_one("#words", Static).update(words)


def _files(count: Count) -> str:
    if not count.is_there:
        return "not found"
    if not count.is_all:
        return f"{figure(count.files)} text files or more"
    return f"{figure(count.files)} text file{'' if count.files == 1 else 's'}"
