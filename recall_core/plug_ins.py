"""Objects from other packages, by entry point. See docs/plugins.md."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recall_core._lazy import metadata
from recall_core.errors import RecallError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def find(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, in order. Loads none of them."""
    return {point.name: point for point in sorted(metadata.entry_points(group=group), key=lambda point: point.name)}


@contextmanager
def loading(
    kind: str, point: EntryPoint, error: type[RecallError], code: str, *, hint: str | None = None
) -> Iterator[None]:
    """Raise `error` if the block, which loads the plug-in, fails in any way but with a RecallError.

    kind: as messages name it. hint: None for the command that shows the whole error.
    """
    try:
        yield
    except RecallError:
        raise
    except Exception as cause:  # a third-party module may raise anything on import
        message = f"The {kind} {point.name} ({point.value}) cannot be loaded: {cause}."
        raise error(code, message, hint=hint or f'python -c "import {point.module}"') from cause
