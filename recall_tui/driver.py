"""What a workbench behind a tab of a browser draws through: it leaves when its server is gone, however that ended.

It leaves its question behind: the server gives that to the next one when the same page is reloaded.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers import web_driver
from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp

from recall_tui.app import Workbench
from recall_tui.home.history import line_of, past_of
from recall_tui.terminal import PasteParser
from recall_tui.widgets import Do

QUESTION = "question"
"""The type of the packets that carry a question, as a line of the history, from and to the server."""
web_driver.XTermParser = PasteParser  # type: ignore[attr-defined]


class TabDriver(WebDriver):
    """Reads keys from one pipe and writes the screen into another. A server that was killed closes both."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = partial(write_packet, self.fileno)

    def run_input_thread(self) -> None:
        """Pass on what the page sends; if that ends before the workbench does, the page is gone."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(ExitApp())

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """A question is the one that this page had before it was reloaded; all else is Textual's."""
        if packet_type != QUESTION:
            super().on_meta(packet_type, payload)
        elif (question := past_of(str(payload[QUESTION]).encode())) is not None:
            self._app.post_message(Do("restore_question", question))

    def stop_application_mode(self) -> None:
        """Tell the server the question, which may be asked again; that of a defect is kept with its report."""
        if isinstance(self._app, Workbench) and self._app.stopped is None:
            self.write_meta({"type": QUESTION, QUESTION: line_of(self._app.question).decode()})
        super().stop_application_mode()


def write_packet(fileno: int, packet: bytes) -> int:
    """Write a packet; a reader that is gone is not a defect: the workbench is about to leave."""
    try:
        return os.write(fileno, packet)
    except BrokenPipeError:
        return 0
