"""Command lines of pages and hints, in this process unless a shell has a part in them: starting takes longest."""

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
    """What `recall` does in that folder, and what it says on both streams together.

    A shell does it where a mark outside of quotes is for a shell, or another command is asked for.
    """
    if not command.startswith("recall ") or _FOR_A_SHELL.search(_QUOTED.sub("", command)):
        return typed(command, folder)
    said = io.StringIO()
    with contextlib.chdir(folder):
        code = cli.main(shlex.split(command)[1:], streams=Streams(io.StringIO(), said, said))
    return CompletedProcess(command, code, said.getvalue())
