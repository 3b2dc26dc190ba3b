"""Reading ahead: files that are parsed in processes of their own are begun before their turn, several at a time.

What a run makes of them is the same: at its turn a file is read and told apart as any other, and what was made of the
same bytes by the same parser is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from recall_core.errors import RecallError
from recall_core.ingest.discover import Found
from recall_core.ingest.reader import FileReader
from recall_core.types import Root

_WINDOW = 64  # files behind the one whose turn it is, among which those to be begun are looked for


class ReadAhead:
    """Goes ahead of a run through its files.

    files: in their order, each with the root that it is read for.  options: that root with all that it inherits.
    begin: has a file parsed, unless it stays as it is.
    """

    def __init__(
        self,
        files: Sequence[tuple[Found, Root]],
        *,
        reader: FileReader,
        options: Callable[[Found, Root], Root],
        begin: Callable[[Found, Root], None],
    ) -> None:
        self._files = files
        self._reader = reader
        self._options = options
        self._begin = begin
        self._next = 0

    def turn(self, at: int) -> None:
        """Begin what may be begun at the turn of the file of that number. What cannot be read is told at its own.

        A file that is alone within reach is left to its turn.
        """
        end = min(at + _WINDOW, len(self._files))
        for i in range(max(self._next, at), end):
            found, root = self._files[i]
            if self._may_begin(i):
                if not self._reader.has_room(found.size):
                    return
                if i > at or any(map(self._may_begin, range(at + 1, end))):
                    with suppress(RecallError, OSError):
                        self._begin(found, self._options(found, root))
            self._next = i + 1

    def _may_begin(self, i: int) -> bool:
        found, root = self._files[i]
        with suppress(RecallError):
            return self._reader.may_begin(found.path, found.size, self._options(found, root))
        return False
