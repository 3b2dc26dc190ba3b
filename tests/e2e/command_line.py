"""Runs command lines of pages and hints in this process, because starting takes longest; a shell runs the others."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams

ROOT = Path(__file__).parents[2]
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_FOR_A_SHELL = re.compile(r"[^\w\s./:,=@%+-]")
_PIPE = re.compile(r" \| ")
_INTO_FILE = re.compile(r" >(?!>) ?(?P<file>[\w./-]+)$")


def typed_here(command: str, folder: Path) -> CompletedProcess[str]:
    """Run a `recall` command line in that folder; return its exit status and both streams together.

    One pipe to or from another program and one redirection also run without a shell. A shell runs the line if it has
    any other unquoted shell character, or another command.
    """
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), command)
    if _is_plain(masked):
        code, out, err = _run(command, folder, "", is_joined=True)
        return CompletedProcess(command, code, out + err)
    if (file := _INTO_FILE.search(masked)) and _is_plain(masked[: file.start()]):
        code, out, err = _run(command[: file.start()], folder, "")
        (folder / file["file"]).write_text(out, encoding="utf-8")
        return CompletedProcess(command, code, err)
    if pipe := _PIPE.search(masked):
        before, after = command[: pipe.start()], command[pipe.end() :]
        if _is_plain(masked[pipe.end() :]) and not before.startswith("recall "):
            code, out, err = _run(after, folder, _shell(before, folder, "").stdout, is_joined=True)
            return CompletedProcess(command, code, out + err)
        if _is_plain(masked[: pipe.start()]):
            _, out, err = _run(before, folder, "")
            done = _shell(after, folder, out)
            return CompletedProcess(command, done.returncode, err + done.stdout)
    return typed(command, folder)


def typed(command: str, folder: Path) -> CompletedProcess[str]:
    recall = f'recall() {{ {shlex.join([sys.executable, "-m", "recall_core"])} "$@"; }}; '
    return subprocess.run(
        ["sh", "-c", recall + command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def _is_plain(masked: str) -> bool:
    return masked.startswith("recall ") and not _FOR_A_SHELL.search(masked)


def _run(command: str, folder: Path, given: str, *, is_joined: bool = False) -> tuple[int, str, str]:
    """Run `recall` in this process. is_joined: send stderr to stdout."""
    stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    out = io.StringIO()
    err = out if is_joined else io.StringIO()
    with contextlib.chdir(folder):
        code = cli.main(shlex.split(command)[1:], streams=Streams(stdin, out, err))
    return code, out.getvalue(), "" if is_joined else err.getvalue()


def _shell(command: str, folder: Path, given: str) -> CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", check=False,
    )  # fmt: skip
