"""Kernel locks: lock a folder while creating a store, and find the process that holds a database's write lock.

The search for the process runs in a subprocess. Closing the -shm file in this process would drop every lock that its
connections hold on the file, because POSIX advisory locks belong to the process. The subprocess runs this file as a
script, so this stays a separate module with few imports.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from time import monotonic, sleep

from recall_core._lazy import subprocess

_WAL_WRITE_LOCK = 120  # the byte of the -shm file that a writer locks (SQLite file format, "WAL-Index")


def lock_folder(folder: int, seconds: float) -> bool:
    """Wait for the lock of a folder; return False if its disk has no locks. Raises TimeoutError."""
    last = monotonic() + seconds
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > last:
                raise TimeoutError from None
            sleep(0.01)
        except OSError:
            return False
        else:
            return True


def holder(path: str) -> int | None:
    """Return the pid of the process that is writing to the database at `path`, or None if that is unknown."""
    try:
        answer = subprocess.run(
            [sys.executable, "-I", __file__, f"{path}-shm"], capture_output=True, text=True, timeout=5, check=False
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(answer) if answer.isdigit() else None


def _ask(shm_path: str) -> str:
    linux = sys.platform.startswith("linux")
    with open(shm_path, "rb+") as shm:
        if linux:  # struct flock: type, whence, start, length, pid
            request = struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _WAL_WRITE_LOCK, 1, 0)
            kind, _, _, _, pid = struct.unpack("@hhqqi4x", fcntl.fcntl(shm, fcntl.F_GETLK, request))
        else:  # macOS and the BSDs: start, length, pid, type, whence
            request = struct.pack("@qqihh", _WAL_WRITE_LOCK, 1, 0, fcntl.F_WRLCK, os.SEEK_SET)
            _, _, pid, kind, _ = struct.unpack("@qqihh", fcntl.fcntl(shm, fcntl.F_GETLK, request))
    return str(pid) if kind != fcntl.F_UNLCK and pid > 0 else ""


if __name__ == "__main__":
    sys.stdout.write(_ask(sys.argv[1]))
