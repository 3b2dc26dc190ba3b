"""The driver of a workbench in a browser tab: it quits when its server is gone.

On quitting it sends its question to the server, which passes it on when the same page is reloaded.
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
"""Type of the packets that carry a question, as a line of the history, in both directions."""
web_driver.XTermParser = PasteParser  # type: ignore[attr-defined]


class TabDriver(WebDriver):
    """Reads keys from one pipe and writes the screen to another. A killed server closes both."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = partial(write_packet, self.fileno)

    def run_input_thread(self) -> None:
        """Pass on the page's input. If it ends before the workbench does, the page is gone."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(ExitApp())

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Restore the question that this page had before a reload. Other packets go to Textual."""
        if packet_type != QUESTION:
            super().on_meta(packet_type, payload)
        elif (question := past_of(str(payload[QUESTION]).encode())) is not None:
            self._app.post_message(Do("restore_question", question))

    def stop_application_mode(self) -> None:
        """Send the question to the server, to be asked again.

        After a defect the question is in the report instead.
        """
        if isinstance(self._app, Workbench) and self._app.stopped is None:
            self.write_meta({"type": QUESTION, QUESTION: line_of(self._app.question).decode()})
        super().stop_application_mode()


def write_packet(fileno: int, packet: bytes) -> int:
    """Write a packet. Ignore a closed pipe, since the workbench is then about to quit."""
    try:
        return os.write(fileno, packet)
    except BrokenPipeError:
        return 0
