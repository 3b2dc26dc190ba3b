"""The command line as a client of recalld: ask it for an answer, or return None for a cold run.

Every `recall search` imports this module, so it imports no other module that is not loaded yet.

A request is texts that end with a zero byte, after their length in four bytes: the protocol, the folder, the width of
the terminal, which streams are terminals, the number of variables, the variables, the arguments. The store's
descriptor comes with its first byte. The answer is frames: a letter, four bytes of length, the content. `o` and `e`
are for stdout and stderr, `x` is the exit code and the end. `k` only says that the query still runs. `c` asks for a
cold run, and so does any other ending.
"""

from __future__ import annotations

import os
import stat
import sys

from recall_core._lazy import sockets, zlib
from recall_core._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PROTOCOL = f"recalld 1 {__version__}"
COMMANDS = frozenset(("search", "query", "context", "get", "explain", "whynot", "ls", "stats"))
"""The commands that only read."""
IDENTITY = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "LANG", "LC_ALL")
"""Variables that must equal those of recalld."""
_SENT = (
    *("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *IDENTITY,
)
_COLD = ("RECALL_TRUST", "RECALL_DEBUG")
"""Variables that change what one run may do, or how it reports."""
_OFF = ("0", "false")
CONNECT_SECONDS = 1.0
SILENT_SECONDS = 10.0
"""recalld sends `k` every second while a query runs. After so much silence, the command line runs cold."""
LONGEST_PATH = 107
"""Bytes of a socket's name on Linux."""


def runtime_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the folder for the socket: in XDG_RUNTIME_DIR if set, else in the folder for temporary files."""
    named = environ.get("XDG_RUNTIME_DIR", "")
    if named.startswith("/"):
        return f"{named}/recall"
    temporary = environ.get("TMPDIR", "") if platform == "darwin" else ""
    return f"{temporary.rstrip('/') or '/tmp'}/recall-{os.geteuid()}"  # noqa: S108 - checked by is_private


def socket_path(environ: Mapping[str, str]) -> str | None:
    """Return the path of recalld's socket for this version and person; None if it is too long."""
    who = "\0".join((PROTOCOL, *(environ.get(name, "") for name in IDENTITY)))
    path = f"{runtime_folder(environ)}/{zlib.crc32(who.encode(errors='surrogateescape')):08x}.sock"
    return path if len(os.fsencode(path)) <= LONGEST_PATH else None


def is_private(folder: str) -> bool:
    """Return True if the folder is this person's own, closed to others, and not a link."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def ask(argv: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """Print recalld's answer and return the exit code, or print nothing and return None."""
    answer = fetch(argv, environ) if _may_ask(argv) else None
    try:
        return None if answer is None else _print(*answer)
    except OSError:
        return None


Pieces = list[tuple[int, bytes]]
"""Output, with the number of the stream that gets it."""


def fetch(
    argv: Sequence[str], environ: Mapping[str, str], connected: Callable[[sockets.socket], None] | None = None
) -> tuple[int, Pieces] | None:
    """Return the exit code and the output of recalld's answer, or None for a cold run.

    connected: receives the connection. The query ends when the connection does.
    """
    may_ask = (
        os.name == "posix"
        and environ.get("RECALL_DAEMON", "").lower() not in _OFF
        and not any(name in environ for name in _COLD)
    )
    path = socket_path(environ) if may_ask else None
    if path is None or not is_private(os.path.dirname(path)):  # noqa: PTH120 - no pathlib here
        return None
    opened: list[int] = []
    connection = None
    try:
        connection = connect(path)
        if connected is not None:
            connected(connection)
        opened.append(_open_store(argv, environ))
        send(connection, _request(argv, environ), opened[0])
        return complete(receive(connection))
    except (OSError, ValueError):
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)
        if connection is not None:
            connection.close()


def _may_ask(argv: Sequence[str]) -> bool:
    """Return True if recalld can answer this command line as its own process would."""
    return (
        bool(argv)
        and argv[0] in COMMANDS
        and not any(word.partition("=")[0] == "--agent" for word in argv)  # its settings are read cold
        and None not in (sys.stdin, sys.stdout, sys.stderr)  # a socket would get the number of a closed stream
    )


def connect(path: str) -> sockets.socket:
    """Return a connection to recalld. Raises OSError."""
    connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def send(connection: sockets.socket, texts: Sequence[str], store: int | None = None) -> None:
    """Send a request. store: the descriptor of an open store. Raises OSError."""
    body = b"".join(text.encode("utf-8", "surrogateescape") + b"\0" for text in texts)
    whole = len(body).to_bytes(4, "big") + body
    rights = [] if store is None else [(sockets.SOL_SOCKET, sockets.SCM_RIGHTS, store.to_bytes(4, sys.byteorder))]
    sent = connection.sendmsg([whole], rights)
    if sent < len(whole):
        connection.sendall(whole[sent:])


def receive(connection: sockets.socket) -> Iterator[tuple[bytes, bytes]]:
    """Yield the frames of the answer. Raises OSError or ValueError if it breaks off."""
    connection.settimeout(SILENT_SECONDS)
    while True:
        head = _receive_exactly(connection, 5)
        content = _receive_exactly(connection, int.from_bytes(head[1:], "big"))
        if head[:1] != b"k":
            yield head[:1], content


def _receive_exactly(connection: sockets.socket, length: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        piece = connection.recv(min(length - len(pieces), 1 << 20))
        if not piece:
            raise ValueError
        pieces += piece
    return bytes(pieces)


def _request(argv: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    sent = [f"{name}={environ[name]}" for name in environ if name in _SENT or name.startswith("RECALL_")]
    terminals = "".join(str(number) for number in (1, 2) if _is_terminal(number))
    return [PROTOCOL, os.getcwd(), _size(), terminals, str(len(sent)), *sent, *argv]  # noqa: PTH109


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


def _size() -> str:
    """Return columns and lines of the terminal, "" without one."""
    for number in (0, 1, 2):
        try:
            size = os.get_terminal_size(number)
        except OSError:
            continue
        return f"{size.columns}x{size.lines}"
    return ""


def _open_store(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Open the store's file. recalld finds it by its own rules and compares. Raises OSError, ValueError."""
    store = _named(argv) or environ.get("RECALL_STORE", "")
    if store and not os.path.isdir(store):  # noqa: PTH112
        return os.open(store, os.O_RDONLY | os.O_NONBLOCK)
    folder = store or os.getcwd()  # noqa: PTH109
    while not store and not os.path.isfile(f"{folder}/recall.toml"):  # noqa: PTH113
        if folder == "/":
            raise ValueError
        folder = os.path.dirname(folder)  # noqa: PTH120
    settings = os.open(f"{folder}/recall.toml", os.O_RDONLY | os.O_NONBLOCK)
    try:
        text = os.read(settings, 1 << 20)
    finally:
        os.close(settings)
    name = b"recall.db"
    for line in text.split(b"\n"):
        key, _, value = line.partition(b"=")
        if key.strip() == b"store_path":
            name = value.strip()[1:-1]
    return os.open(os.path.join(os.fsencode(folder), name), os.O_RDONLY | os.O_NONBLOCK)  # noqa: PTH118


def _named(argv: Sequence[str]) -> str:
    """Return the value of --store, "" without one."""
    named = ""
    for place, word in enumerate(argv):
        if word == "--":
            break
        if word == "--store":
            named = "".join(argv[place + 1 : place + 2])
        elif word.startswith("--store="):
            named = word[len("--store=") :]
    return named


def complete(frames: Iterator[tuple[bytes, bytes]]) -> tuple[int, Pieces] | None:
    """Return the exit code and the output once they are complete, None for a cold run."""
    pieces: Pieces = []
    for kind, content in frames:
        if kind == b"x":
            return int(content), pieces
        if kind not in (b"o", b"e"):
            break
        pieces.append((1 if kind == b"o" else 2, content))
    return None


def _print(code: int, pieces: Pieces) -> int:
    """Print the output, and return the exit code. Raises OSError if nothing could be printed."""
    is_begun = False
    for number, content in pieces:
        rest = memoryview(content)
        while rest:
            try:
                rest = rest[os.write(number, rest) :]
            except BrokenPipeError:
                return 0
            except OSError as error:
                if number == 2:
                    break
                if not is_begun:
                    raise  # a cold run reports it
                os.write(2, f"error: stdout: {error.strerror}.\n".encode())
                return 1
            is_begun = True
    return code
