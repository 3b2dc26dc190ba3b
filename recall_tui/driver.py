"""What a workbench behind a tab of a browser draws through: it leaves when its server is gone, however that ended."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp


class TabDriver(WebDriver):
    """Reads keys from one pipe and writes the screen into another. A server that was killed closes both."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = partial(written, self.fileno)

    def run_input_thread(self) -> None:
        """Pass on what the page sends; where that ends before the workbench does, nobody is there any more."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(ExitApp())


def written(fileno: int, packet: bytes) -> int:
    """Write a packet; what nobody reads is no defect of the workbench, which is about to leave."""
    try:
        return os.write(fileno, packet)
    except BrokenPipeError:
        return 0
