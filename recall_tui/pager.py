"""A document in the person's pager."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall_core.errors import UsageError

FALLBACKS = ("less", "more")
_TAKES_LINES = ("less", "more", "most")
"""Pagers that begin at line N where they are told +N."""


def pager(environ: Mapping[str, str]) -> list[str]:
    """The command of the person's pager: $PAGER, else less, else more. Raises UsageError where there is none such."""
    written, path = environ.get("PAGER"), environ.get("PATH")
    if not written:
        written = next((name for name in FALLBACKS if shutil.which(name, path=path)), FALLBACKS[-1])
    hint = "export PAGER=less"
    try:
        command = shlex.split(written)
    except ValueError as error:
        raise UsageError("no_pager", f"The pager {written} has a quote that is not closed.", hint=hint) from error
    if not command or shutil.which(command[0], path=path) is None:
        raise UsageError("no_pager", f"There is no pager {written!r} on PATH.", hint=hint)
    return command


def page(text: str, command: Sequence[str], *, name: str, line: int) -> None:
    """Show a text until the person leaves the pager. name: of the file there. Raises UsageError, OSError."""
    at = [f"+{line}"] if Path(command[0]).name in _TAKES_LINES and line > 1 else []
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        file = Path(folder) / (Path(name).name or "document")
        file.write_bytes(text.encode("utf-8", "replace"))
        code = subprocess.run([*command, *at, str(file)], check=False).returncode
    if code != 0:
        raise UsageError("pager_failed", f"{command[0]} ended with code {code}.", hint="export PAGER=less")
