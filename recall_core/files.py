"""Write files atomically: a file is either complete and new, or unchanged.

An unfinished file (a part) is named after the process that writes it, so that parts of killed processes can be
removed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import BinaryIO, Literal, NamedTuple

from recall_core.paths import PRIVATE, expect_file

_EARLIER = re.compile(r"\.recall-[0-9a-f]{16}(-[a-z]+)?")
_PART = re.compile(
    r"(?P<owner>\.recall-(?P<machine>[0-9a-f]{8})-(?P<boot>[0-9a-f]{8})-(?P<space>[0-9a-f]{8})"
    r"-(?P<pid>[0-9]{1,10})-(?P<start>[0-9]{1,20}))-[0-9a-f]{8}(?P<suffix>-[a-z]+)?"
)
_NOTE = "-to"  # suffix of a note, which names another folder where its owner writes parts
_UNKNOWN = "0" * 8
_OLD_S = 86_400  # a running copy is written to more often than once a day


class LeftPart(NamedTuple):
    """A part that a process left behind or is writing."""

    path: Path
    state: Literal["living", "dead", "unknown"]
    """unknown: the process may run on another machine, or an earlier version named the part."""
    folder: Path | None = None
    """The other folder, for a note. Its disk may be missing."""


def part_of(place: Path) -> Path:
    """Return a new part name next to a path, for a file that will replace it. The name contains the process."""
    pid = os.getpid()
    return place.parent / f".recall-{'-'.join(_here())}-{pid}-{_status(pid)[1]}-{os.urandom(4).hex()}"


def is_part(name: str) -> bool:
    """Return True for the name of a part, or of a file that SQLite keeps next to one."""
    return name.startswith(".recall-") and bool(_PART.fullmatch(name) or _EARLIER.fullmatch(name))


@contextmanager
def remembering(store: str, target: Path) -> Iterator[None]:
    """While the block runs, keep a note in the store's folder that parts are written to the target's folder.

    If the process is killed, the note remains, and `remove` finds the other folder. Without a writable folder there
    is no note.
    """
    home, note = home_of(store), None
    with suppress(OSError, ValueError):
        folder = Path(os.path.realpath(target)).parent
        if home is not None and home != folder:
            content = json.dumps({"folder": str(folder), "inode": folder.stat().st_ino})
            place = Path(f"{part_of(home / 'note')}{_NOTE}")
            with place.open("x", encoding="ascii") as out:
                note = place
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
    try:
        yield
    finally:
        if note is not None:
            with suppress(OSError):
                note.unlink()


def home_of(store: str) -> Path | None:
    """Return the folder of a store's file, or None for a store without a file."""
    return Path(os.path.realpath(store)).parent if os.path.exists(store) else None  # noqa: PTH110 - store may not be a path


def find(home: Path) -> list[LeftPart]:
    """Return all parts in a store's folder and in the folders named by its notes, notes last."""
    own = _parts_in(home)
    notes = [part for part in own if part.folder is not None]
    others = {note.folder for note in notes if note.folder is not None and note.folder != home}
    parts = [part for part in own if part.folder is None]
    parts += [part for folder in others for part in _parts_in(folder) if part.folder is None]
    return [*sorted(set(parts)), *sorted(notes)]


def remove(home: Path, *, is_thorough: bool = False) -> list[LeftPart]:
    """Remove the parts of dead processes. Return the remaining parts.

    is_thorough: also remove parts of unknown processes, if they are unlocked and older than a day.
    """
    remaining = []
    for part in find(home):
        if part.state == "unknown":
            may_go = is_thorough and is_abandoned(part.path)
        else:
            may_go = part.state == "dead" and (part.folder is None or _is_settled(part, part.folder))
        if not (may_go and discard(part.path)):
            remaining.append(part)
    return remaining


def discard(path: Path) -> bool:
    """Remove a part: a file, or a folder with its contents. Return False on failure."""
    try:
        if path.is_dir() and not path.is_symlink():
            for each in path.iterdir():
                each.unlink()
            path.rmdir()
        else:
            path.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _parts_in(folder: Path) -> list[LeftPart]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(".recall-")]
    except OSError:
        return []
    return [_part(folder / name) for name in names if is_part(name)]


def _part(path: Path) -> LeftPart:
    match = _PART.fullmatch(path.name)
    if match is None:
        return LeftPart(path, "unknown")
    folder = None
    if match["suffix"] == _NOTE:
        with suppress(OSError, ValueError, LookupError, TypeError):
            folder = Path(json.loads(path.read_text(encoding="ascii"))["folder"])
    return LeftPart(path, _state(match), folder)


def _state(match: re.Match[str]) -> Literal["living", "dead", "unknown"]:
    """Return the state of a part's process, or "unknown"."""
    machine, boot, space = _here()
    if match["boot"] != boot or boot == _UNKNOWN:
        is_earlier_boot = match["machine"] == machine != _UNKNOWN and _UNKNOWN not in (match["boot"], boot)
        return "dead" if is_earlier_boot else "unknown"
    if match["space"] != space:
        return "unknown"  # another container
    return "living" if _is_running(int(match["pid"]), match["start"]) else "dead"


def _is_running(pid: int, start: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # a process of another user
    state, began = _status(pid)
    return state not in ("Z", "X") and (start == "0" or began in ("0", start))


def _status(pid: int) -> tuple[str, str]:
    """Return the state and start time of a process, "0" if unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), str(int(fields[19]))
    except (OSError, LookupError, ValueError):
        return "", "0"


@cache
def _here() -> tuple[str, str, str]:
    """Return short hashes of this machine, its boot and its process id namespace."""
    machine, boot = _of_mac() if sys.platform == "darwin" else ("", "")
    space = ""
    with suppress(OSError, ValueError):
        boot = boot or Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    with suppress(OSError, ValueError):
        machine = machine or Path("/etc/machine-id").read_text(encoding="ascii").strip()
    return _short(machine and f"{machine} {os.uname().nodename}"), _short(boot), _short(space)


def _of_mac() -> tuple[str, str]:
    """Return the ids of this machine and its boot on macOS, "" if unknown."""
    import ctypes  # noqa: PLC0415 - used only on macOS

    identity, session, size = (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    try:
        system = ctypes.CDLL(None)
        wait = (ctypes.c_long * 2)(1, 0)
        machine = bytes(identity).hex() if system.gethostuuid(identity, wait) == 0 else ""
        is_known = system.sysctlbyname(b"kern.bootsessionuuid", session, ctypes.byref(size), None, 0) == 0
    except (OSError, AttributeError):
        return "", ""
    return machine, session.value.decode("ascii", "replace") if is_known else ""


def _short(text: str) -> str:
    return blake2b(text.encode(), digest_size=4, person=b"recall part").hexdigest() if text else _UNKNOWN


def is_abandoned(path: Path) -> bool:
    """Return True if a file has not changed for a day and no process of this machine has locked it."""
    try:
        inner = [*path.iterdir()] if path.is_dir() and not path.is_symlink() else [path]
        newest = max(each.lstat().st_mtime for each in (path, *inner))
        if time() - newest < _OLD_S:
            return False
        for each in inner:
            with each.open("r+b") as file:
                os.lockf(file.fileno(), os.F_TEST, 0)
    except OSError:
        return False
    return True


def _is_settled(note: LeftPart, folder: Path) -> bool:
    """Return True if the folder of a note is still the same folder and contains no part of the same process."""
    try:
        inode = json.loads(note.path.read_text(encoding="ascii"))["inode"]
        if folder.stat().st_ino != inode:  # the disk is not mounted; this is its mount point
            return False
        names = os.listdir(folder)  # noqa: PTH208 - only names are needed
    except (OSError, ValueError, LookupError, TypeError):
        return False
    owner = note.path.name.rpartition("-to")[0].rpartition("-")[0]
    return not any(name.startswith(f"{owner}-") and folder / name != note.path for name in names)


_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""Errors of file systems without hard links, such as FAT."""


@contextmanager
def replacing(target: Path, *, mode: int | None = None, is_private: bool = False) -> Iterator[BinaryIO]:
    """Yield a stream whose bytes replace the target if the block succeeds, safe against a power loss.

    mode: the mode of the file. Default: an existing file keeps its mode, a new one uses the umask.
    is_private: a new file is readable by its owner only.

    A symbolic link is followed. Raises OSError, also for a pipe, a device or a link loop; the target is then
    unchanged.
    """
    place = Path(os.path.realpath(target))  # resolve() raises another error for a link loop
    remove(place.parent)
    part = part_of(place)
    try:
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
        expect_file(target)  # never replace a pipe or a device
        wanted = stat.S_IMODE(place.stat().st_mode) if mode is None and place.exists() else mode
        is_made = is_private or wanted is not None
        if is_made:
            make_private(part)  # until it is complete
        with part.open("wb" if is_made else "xb") as out:
            yield out
        if wanted is not None:
            part.chmod(wanted)
        put_in_place(part, place)
    finally:
        with suppress(OSError):  # the part is gone after the replacement, or was never created
            part.unlink()


def write(target: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file with `replacing`. Raises OSError."""
    with replacing(target, mode=mode) as out:
        out.write(content)


def write_private(target: Path, text: str) -> None:
    """Write a text that only its owner can read. Creates folders. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(target, text.encode("utf-8", "replace"), mode=PRIVATE)


def write_new(target: Path, content: bytes) -> None:
    """Create a file that only its owner can read. It appears when it is complete.

    Raises FileExistsError if the path exists, OSError.
    """
    remove(target.parent)
    part = part_of(target)
    try:
        make_private(part)
        part.write_bytes(content)
        put_new(part, target)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """Yield a private temporary folder next to a path. It is removed after the block. Raises OSError."""
    remove(place.parent)
    folder = part_of(place)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        discard(folder)


def make_private(path: Path, mode: int = PRIVATE) -> None:
    """Create an empty file with exactly this mode, regardless of the umask. Its mode is never wider.

    Raises FileExistsError if the path exists, OSError.
    """
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode & PRIVATE)
    try:
        if stat.S_IMODE(os.fstat(target).st_mode) != mode:
            with suppress(PermissionError):  # file systems without modes, such as FAT
                os.fchmod(target, mode)
    finally:
        os.close(target)


def put_in_place(part: Path, place: Path) -> None:
    """Rename a closed file to its final path, atomically and safe against a power loss. Raises OSError."""
    _flush(part)  # else the name may point to an empty file after a power loss
    part.replace(place)
    _settle(place.parent)


def put_new(part: Path, place: Path) -> None:
    """Link a closed file to a path that must not exist. The part keeps its name. Raises FileExistsError, OSError."""
    _flush(part)
    try:
        os.link(part, place)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from error
        part.replace(place)
    _settle(place.parent)


def _settle(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot flush a folder
        _flush(folder)


def _flush(place: Path) -> None:
    number = os.open(place, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
