"""Long work, watched: a bar on a terminal's stderr, quiet otherwise, and a clean stop on Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Generator

from recall_core.adapters.streams import Streams
from recall_core.contract import Response
from recall_core.errors import Interrupted
from recall_core.types import Progress

Work = Generator[Progress, None, Response]


def follow(work: Work, *, streams: Streams) -> Response:
    """Run the work to its end and return its response; a bar shows the way where stderr is a terminal.

    Raises Interrupted on Ctrl-C, after the work has closed its transaction.
    """
    if not streams.stderr.isatty():
        return _drain(work, lambda _: None)
    from rich.console import Console  # noqa: PLC0415 - only a terminal pays for Rich
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(file=streams.stderr), transient=True) as bar:
        task = bar.add_task("discover", total=None)

        def show(event: Progress) -> None:
            total = event.files_total or None
            bar.update(task, description=event.stage, completed=event.files_done, total=total)

        return _drain(work, show)


def _drain(work: Work, show: Callable[[Progress], None]) -> Response:
    documents = 0
    try:
        while True:
            event = next(work)
            if event.stage in ("commit", "done"):
                documents = event.documents
            show(event)
    except StopIteration as stop:
        response: Response = stop.value
        return response
    except KeyboardInterrupt as error:
        work.close()
        raise Interrupted(
            "interrupted",
            f"interrupted: {documents} documents are in; run the same command again to go on",
            hint="run the same command again",
        ) from error
