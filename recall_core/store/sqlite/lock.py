"""Who holds a database's write lock, as the kernel tells it.

The question is asked in a process of its own: closing the -shm file here would drop every lock that this
process's connections hold on it (POSIX advisory locks belong to the process, not to the descriptor).
"""

from __future__ import annotations

import sys

from recall_core._lazy import subprocess

_WAL_WRITE_LOCK = 120  # the byte of the -shm file that a writer locks (SQLite file format, "WAL-Index")


def holder(path: str) -> int | None:
    """The pid of the process that is writing to the database at `path`, or None when nobody can tell."""

    try:
        answer = subprocess.run(
            [sys.executable, "-I", __file__, f"{path}-shm"], capture_output=True, text=True, timeout=5, check=False
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(answer) if answer.isdigit() else None


def _ask(shm_path: str) -> str:
    import fcntl  # noqa: PLC0415 - not on every platform
    import os  # noqa: PLC0415
    import struct  # noqa: PLC0415

    linux = sys.platform.startswith("linux")
    with open(shm_path, "rb+") as shm:
        if linux:  # struct flock: type, whence, start, length, pid
            question = struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _WAL_WRITE_LOCK, 1, 0)
            kind, _, _, _, pid = struct.unpack("@hhqqi4x", fcntl.fcntl(shm, fcntl.F_GETLK, question))
        else:  # macOS and the BSDs: start, length, pid, type, whence
            question = struct.pack("@qqihh", _WAL_WRITE_LOCK, 1, 0, fcntl.F_WRLCK, os.SEEK_SET)
            _, _, pid, kind, _ = struct.unpack("@qqihh", fcntl.fcntl(shm, fcntl.F_GETLK, question))
    return str(pid) if kind != fcntl.F_UNLCK and pid > 0 else ""


if __name__ == "__main__":
    sys.stdout.write(_ask(sys.argv[1]))
