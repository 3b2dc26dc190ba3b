"""Query texts in .rql files and in an editor, and documents in a pager."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall_core import files, paths, personal, shell
from recall_core.errors import UsageError
from recall_core.text import harmless, one_line

SUFFIX = ".rql"
FOLDERS = ("", "..")
MOST_BYTES = 1_000_000  # a larger file is not a query and would block the editor


def place(typed: str) -> Path:
    """Return the file for a typed name: ~ is the home folder, and a name without a suffix gets .rql.

    Names that can only be folders, such as / and .., stay as they are.
    """
    path = paths.expand(typed)
    return path if path.suffix or path.name in FOLDERS else path.with_name(path.name + SUFFIX)


def load(path: Path) -> str:
    """Return the text of a file, without trailing line breaks. Raises UsageError and OSError."""
    paths.expect_file(path)
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise UsageError(
            "query_file_too_large", f"{path} is larger than {MOST_BYTES:,} bytes, too large for a query."
        )
    try:
        return path.read_text(encoding="utf-8-sig").rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError("not_text", f"{path} is not UTF-8 text.", hint=f"file {shell.quote(str(path))}") from error


def save(path: Path, text: str) -> None:
    """Write the text with one trailing line break. A failure keeps the old file. Raises OSError."""
    files.write(path, _bytes(text))


def holds(path: Path, text: str) -> bool:
    """Return True if the file contains exactly this text. Raises OSError."""
    paths.expect_file(path)
    return path.read_bytes() == _bytes(text)


def editor(environ: Mapping[str, str]) -> list[str]:
    """Return the user's editor command: their setting `editor`, $VISUAL, $EDITOR, else vi.

    Raises UsageError if there is no such program, ConfigError.
    """
    own = personal.load(environ).editor
    written = own or environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    hint = shell.Hint("config", "set", "editor", "nano") if own else "export EDITOR=nano"
    return _split(written, environ, "editor", code="no_editor", hint=hint)


def _split(written: str, environ: Mapping[str, str], what: str, *, code: str, hint: str) -> list[str]:
    """Return the words of a command on PATH. Raises UsageError with this code."""
    try:
        command = shlex.split(written)
    except ValueError as error:
        raise UsageError(code, f"The {what} {written} has a quote that is not closed.", hint=hint) from error
    if not command or shutil.which(command[0], path=environ.get("PATH")) is None:
        raise UsageError(code, f"There is no {what} {written!r} on PATH.", hint=hint)
    return command


def edit(text: str, command: list[str]) -> str:
    """Return the text as the editor leaves it. Raises OSError, and UsageError if the editor fails."""
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        path = Path(folder) / f"query{SUFFIX}"
        save(path, text)
        code = subprocess.run([*command, str(path)], check=False).returncode
        if code != 0:
            raise UsageError("editor_failed", f"{command[0]} ended with code {code}; the query is unchanged.")
        return load(path)


def _bytes(text: str) -> bytes:
    return (text.rstrip("\n") + "\n").encode("utf-8", "replace")


_PLUS = ("vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "mg")
_GOTO = ("code", "code-insiders", "codium", "cursor", "windsurf")
_COLON = ("hx", "helix", "subl", "zed")
"""Editors by their syntax for a line: `+12 FILE`, `-g FILE:12`, `FILE:12`. Others get only the file."""


def edit_at(path: Path, line: int, command: Sequence[str]) -> None:
    """Open a file in an editor, at the line if the editor supports it. Raises UsageError, OSError."""
    name, place = Path(command[0]).name, f"{path}:{line}"
    if name in _PLUS:
        words = [f"+{line}", str(path)]
    else:
        words = ["-g", place] if name in _GOTO else [place if name in _COLON else str(path)]
    code = subprocess.run([*command, *words], check=False).returncode
    if code != 0:
        raise UsageError("editor_failed", f"{command[0]} ended with code {code}.")


FALLBACKS = ("less", "more")
_LONGEST = 60  # of a name; at four bytes per letter it is still valid
_TAKES_LINES = ("less", "more", "most")
"""Pagers that start at line N when given +N."""


def pager(environ: Mapping[str, str]) -> list[str]:
    """Return the user's pager command: $PAGER, else less, else more. Raises UsageError if there is none."""
    written, path = environ.get("PAGER"), environ.get("PATH")
    if not written:
        written = next((name for name in FALLBACKS if shutil.which(name, path=path)), FALLBACKS[-1])
    return _split(written, environ, "pager", code="no_pager", hint="export PAGER=less")


def page(text: str, command: Sequence[str], *, name: str, line: int) -> None:
    """Show a text in the pager. Control characters are removed, since a pager may pass them to the terminal.

    name: of the temporary file. Raises UsageError, OSError.
    """
    at = [f"+{line}"] if Path(command[0]).name in _TAKES_LINES and line > 1 else []
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        plain = Path(name).name
        shown = one_line(plain)  # safe for a terminal, but perhaps too long for a file name
        file = Path(folder) / ((plain if shown == plain else shown[-_LONGEST:]) or "document")
        file.write_bytes(harmless(text).encode())
        code = subprocess.run([*command, *at, str(file)], check=False).returncode
    if code != 0:
        raise UsageError("pager_failed", f"{command[0]} ended with code {code}.", hint="export PAGER=less")
