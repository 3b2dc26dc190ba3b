"""After the workbench has been left: what was to be written is waited for, and what was not written is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from recall_core.adapters.streams import Streams
from recall_core.errors import Interrupted, RecallError

if TYPE_CHECKING:
    from recall_tui.threads.writer_thread import WriterThread


def finish(writer: WriterThread | None, streams: Streams) -> int:
    """Wait until the tasks have ended, or for Ctrl-C; stderr gets those that were not done, and they an exit code.

    No limit is needed: SQLite itself gives a lock up that another process holds for too long.
    """
    if writer is None:
        return 0
    code = 0
    try:
        if not writer.finish(0):
            with suppress(OSError):  # the terminal may be gone, and the store is written all the same
                streams.say(f"Still to be written: {_counted(writer.unfinished)}. Ctrl-C leaves it undone.")
            writer.finish()
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    undone = _undone(writer)
    for line in undone:
        streams.say(line)
    return code or (RecallError.exit_code if undone else 0)


def _undone(writer: WriterThread) -> list[str]:
    """An error for each reason why something was not written, with what helps against it."""
    lines = []
    reasons = {each.error.message: each.error.hint for each in writer.untold if each.error}
    for reason, hint in reasons.items():
        names = _counted(each.name for each in writer.untold if each.error and each.error.message == reason)
        lines += [f"error: {names}: {reason}", *([f"hint: {hint}"] if hint else [])]
    if writer.unfinished:
        lines.append(f"error: {_counted(writer.unfinished)}: not done.")
    return lines


def _counted(names: Iterable[str]) -> str:
    """Each name once, with how often it stands there."""
    return ", ".join(name if times == 1 else f"{name} ({times} times)" for name, times in Counter(names).items())
