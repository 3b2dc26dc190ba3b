"""Command lines of pages and hints, done where nothing of a process is at stake without one: that is most of the time."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from subprocess import CompletedProcess

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from tests.e2e.test_readme import typed

_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_FOR_A_SHELL = re.compile(r"[^\w\s./:,=@%+-]")


def typed_here(command: str, folder: Path) -> CompletedProcess[str]:
    """What `recall` does in that folder, what it says on either stream as one; by a shell if a mark outside of quotes is
    for one, or it is another command."""
    if not command.startswith("recall ") or _FOR_A_SHELL.search(_QUOTED.sub("", command)):
        return typed(command, folder)
    said = io.StringIO()
    with contextlib.chdir(folder):
        code = cli.main(shlex.split(command)[1:], streams=Streams(io.StringIO(), said, said))
    return CompletedProcess(command, code, said.getvalue())
