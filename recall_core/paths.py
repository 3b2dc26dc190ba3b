"""Paths: where they start, how a person types them, how a store spells them, and a person's own folders."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from recall_core.errors import RecallError
from recall_core.named import NamedTuple
from recall_core.text import nfc

PRIVATE = 0o600
"""The mode of a file that holds people's texts, unless they want another."""


def folder() -> Path:
    """Where relative paths start. Raises RecallError `no_folder` when that folder is gone."""
    found = known()
    if found is None:
        raise RecallError("no_folder", "The folder that this program was started in is gone.", hint="cd DIR")
    return found


def known() -> Path | None:
    """The same; None when it is gone, for who can do without."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def absolute(path: Path) -> Path:
    """A path from the root, `..` and links as they are. Raises RecallError `no_folder` for one that has no start."""
    return path if path.is_absolute() else folder() / path


def shorten(place: Path) -> str:
    """A place as it can be typed in the current folder: from there where it lies below it, else from the root."""
    start, place = known(), spelt(place)
    return str(place.relative_to(start) if start is not None and place.is_relative_to(start) else place)


def expand(typed: str) -> Path:
    """A path as a person types it: ~ and ~NAME are home folders. Where nobody has one of that name, it is a name."""
    return Path(os.path.expanduser(typed))  # noqa: PTH111 - Path.expanduser() has an error for that


def expect_file(path: Path) -> None:
    """Raises OSError for a pipe or a device: reading one may go on for ever, and replacing one takes it away.

    A folder, and what is not there, has an error of its own when it is opened.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def path_of(location: Path, base: Path) -> str:
    """The name of a file as documents carry it: NFC, `/`-separated, relative to base where it lies below it."""
    return nfc(os_path_of(location, base))


def os_path_of(location: Path, base: Path, *, is_added: bool = False) -> str:
    """The same in the disk's spelling, so that `base / os_path` opens the file.

    is_added: of a link elsewhere to a folder below base, return that folder. Other links keep their name.
    """
    location, base = spelt(location), spelt(base)
    if location.is_relative_to(base):
        return location.relative_to(base).as_posix()
    real, real_base = Path(os.path.realpath(location.parent), location.name), Path(os.path.realpath(base))
    if is_added and not real.is_relative_to(real_base) and os.path.isdir(location):  # noqa: PTH112 - False without permission
        real = Path(os.path.realpath(location))
    return real.relative_to(real_base).as_posix() if real.is_relative_to(real_base) else location.as_posix()


def spelt(path: Path) -> Path:
    """A path from the root without `.` and `..`, and with its links as they are: it keeps its user's spelling."""
    return Path(os.path.abspath(absolute(path)))  # noqa: PTH100 - without following links


class NewPlace(NamedTuple):
    """Where a new store goes, as a person types it: its folder, and the database in it; "" where settings name it."""

    folder: str
    name: str


def spot(store: str | None) -> NewPlace:
    """Where a store of this name is made. A folder that is there stands for the store inside it, also with a dot."""
    place = Path(store or ".")
    has_name = place.suffix and not os.path.isdir(place)  # noqa: PTH112 - False where nobody may look
    folder = str(place.parent if has_name else place)
    return NewPlace(f"./{folder}" if folder.startswith("~") else folder, place.name if has_name else "")


def state_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Below XDG_STATE_HOME where it is set, else where the platform keeps such things; None without a home."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state", platform)


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Below XDG_CONFIG_HOME where it is set, else where the platform keeps such things; None without a home."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config", platform)


def _folder(environ: Mapping[str, str], variable: str, otherwise: str, platform: str) -> Path | None:
    named, home = environ.get(variable, ""), environ.get("HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "recall"
    if not home:
        return None
    return Path(home) / ("Library/Application Support" if platform == "darwin" else otherwise) / "recall"
