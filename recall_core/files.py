"""Files that Recall writes itself: whole and new, or as they were, whatever ends the writing.

An unfinished file (a part) has a name that says which process writes it, so that those of killed processes can go.
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
_NOTE = "-to"  # suffix of a note: the name of another folder in which its owner makes parts
_UNKNOWN = "0" * 8
_OLD_S = 86_400  # a copy that is being made is written to more often than once a day


class LeftPart(NamedTuple):
    """What a process has left, or is writing."""

    path: Path
    state: Literal["living", "dead", "unknown"]
    """unknown: its process may run on another machine, or the name is one of an earlier version."""
    folder: Path | None = None
    """Of a note: the other folder. It may be on a disk that is not there."""


def part_of(place: Path) -> Path:
    """Return a new name in the folder of a place, for what is to take the place. It says which process writes it."""
    pid = os.getpid()
    return place.parent / f".recall-{'-'.join(_here())}-{pid}-{_status(pid)[1]}-{os.urandom(4).hex()}"


def is_part(name: str) -> bool:
    """Return True for the name of a part, or of a file that SQLite keeps with one."""
    return name.startswith(".recall-") and bool(_PART.fullmatch(name) or _EARLIER.fullmatch(name))


@contextmanager
def remembering(store: str, target: Path) -> Iterator[None]:
    """Note in the folder of a store that parts are made in the target's, for as long as the block runs.

    Where the process is killed, the note stays, and `remove` finds the other folder. A folder that cannot be written,
    or a store without one, has no note.
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
    return Path(os.path.realpath(store)).parent if os.path.exists(store) else None  # noqa: PTH110 - it may be no path


def find(home: Path) -> list[LeftPart]:
    """Return every part in a store's folder and in the folders that its notes name, the notes last."""
    own = _parts_in(home)
    notes = [part for part in own if part.folder is not None]
    others = {note.folder for note in notes if note.folder is not None and note.folder != home}
    found = [part for part in own if part.folder is None]
    found += [part for folder in others for part in _parts_in(folder) if part.folder is None]
    return [*sorted(set(found)), *sorted(notes)]


def remove(home: Path, *, is_thorough: bool = False) -> list[LeftPart]:
    """Remove the parts of dead processes; return those that remain.

    is_thorough: remove those too whose process is unknown, if they are unlocked and older than a day.
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
    """Remove a part, and what a folder of that name holds. Return False where that is not possible."""
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
    """Return whether the process of a part still runs, as far as this process can know."""
    machine, boot, space = _here()
    if match["boot"] != boot or boot == _UNKNOWN:
        is_earlier_boot = match["machine"] == machine != _UNKNOWN and _UNKNOWN not in (match["boot"], boot)
        return "dead" if is_earlier_boot else "unknown"
    if match["space"] != space:
        return "unknown"  # of another container
    return "living" if _is_running(int(match["pid"]), match["start"]) else "dead"


def _is_running(pid: int, start: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # another user's
    state, began = _status(pid)
    return state not in ("Z", "X") and (start == "0" or began in ("0", start))


def _status(pid: int) -> tuple[str, str]:
    """Return the state of a process and when it began, or "0" where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), str(int(fields[19]))
    except (OSError, LookupError, ValueError):
        return "", "0"


@cache
def _here() -> tuple[str, str, str]:
    """Return short hashes of this machine, of its boot, and of the name space of its process numbers."""
    machine, boot = _of_mac() if sys.platform == "darwin" else ("", "")
    space = ""
    with suppress(OSError, ValueError):
        boot = boot or Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    with suppress(OSError, ValueError):
        machine = machine or Path("/etc/machine-id").read_text(encoding="ascii").strip()
    return _short(machine and f"{machine} {os.uname().nodename}"), _short(boot), _short(space)


def _of_mac() -> tuple[str, str]:
    """Return what macOS calls this machine and its boot; "" for what it does not say."""
    import ctypes  # noqa: PLC0415 - elsewhere there are files to read

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
    """Return True if the folder of a note is there, the same as then, and holds no part of the same process."""
    try:
        inode = json.loads(note.path.read_text(encoding="ascii"))["inode"]
        if folder.stat().st_ino != inode:  # the disk is not mounted, and this is the folder below it
            return False
        names = os.listdir(folder)  # noqa: PTH208 - names are enough
    except (OSError, ValueError, LookupError, TypeError):
        return False
    owner = note.path.name.rpartition("-to")[0].rpartition("-")[0]
    return not any(name.startswith(f"{owner}-") and folder / name != note.path for name in names)


_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a disk says that has no links, such as FAT."""


@contextmanager
def replacing(target: Path, *, mode: int | None = None, is_private: bool = False) -> Iterator[BinaryIO]:
    """A stream whose bytes take the target's place when the block ends well, and outlast a loss of power.

    mode: what the file has in any case; else one that is there keeps its own, and a new one is for its owner alone
    where is_private, or for whom the umask lets. Behind a symbolic link, the file that it leads to is replaced.
    Raises OSError, also for a pipe, a device, or a link to itself; then the target is as it was.
    """
    place = Path(os.path.realpath(target))  # resolve() has an error of its own for a link to itself
    remove(place.parent)
    part = part_of(place)
    try:
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
        expect_file(target)  # no pipe or device is taken away
        wanted = stat.S_IMODE(place.stat().st_mode) if mode is None and place.exists() else mode
        is_made = is_private or wanted is not None
        if is_made:
            make_private(part)  # at least until it is whole
        with part.open("wb" if is_made else "xb") as out:
            yield out
        if wanted is not None:
            part.chmod(wanted)
        put_in_place(part, place)
    finally:
        with suppress(OSError):  # after the replacement, or where it could not be made, there is none to take away
            part.unlink()


def write(target: Path, content: bytes, *, mode: int | None = None) -> None:
    """Let a file hold this, as `replacing` does. Raises OSError."""
    with replacing(target, mode=mode) as out:
        out.write(content)


def write_private(target: Path, text: str) -> None:
    """The same for a text that its owner alone reads; folders are made. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(target, text.encode("utf-8", "replace"), mode=PRIVATE)


def write_new(target: Path, content: bytes) -> None:
    """A file that was not there, for its owner alone; whoever looks for it finds all of it or nothing.

    Raises FileExistsError where anything has that name, OSError.
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
    """A folder beside a place, for its owner alone, that goes with the block. Raises OSError."""
    remove(place.parent)
    folder = part_of(place)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        discard(folder)


def make_private(path: Path, mode: int = PRIVATE) -> None:
    """Make a new, empty file of exactly this mode, whatever the umask; never wider on the way.

    Raises FileExistsError where anything has that name, OSError.
    """
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode & PRIVATE)
    try:
        if stat.S_IMODE(os.fstat(target).st_mode) != mode:
            with suppress(PermissionError):  # a disk without modes, such as FAT, has none to give
                os.fchmod(target, mode)
    finally:
        os.close(target)


def put_in_place(part: Path, place: Path) -> None:
    """Let a file that is closed take a name, in one step that outlasts a loss of power. Raises OSError."""
    _flush(part)  # or the name may lead to nothing
    part.replace(place)
    _settle(place.parent)


def put_new(part: Path, place: Path) -> None:
    """The same where nothing may have the name yet; the part keeps its own. Raises FileExistsError, OSError."""
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
    with suppress(OSError):  # some file systems know no flush of a folder
        _flush(folder)


def _flush(place: Path) -> None:
    number = os.open(place, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
