"""The process in which a `Worker` has files parsed: reads one task after the other, and answers each.

Its end follows from that of whoever started it, also where that one is killed: the pipe ends between two tasks, a
thread looks for it during one, and the system's own clock ends a task that lets no thread run.
"""

from __future__ import annotations

import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from math import ceil
from threading import Thread
from time import sleep
from typing import NoReturn

import msgspec

from recall_core.errors import RecallError
from recall_core.ingest import parse
from recall_core.ports import ParsedDocument, Parser

HEADER = struct.Struct("!Q")
"""Before each message: how many bytes it has."""

_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 5  # beyond the time that a file is given: until then whoever waits for it has ended this process
_PR_SET_PDEATHSIG = 1
_REPLY_CHARS = 1 << 20  # of text after which documents are sent, and the next ones go into another reply
_DOCUMENT_CHARS = 500  # that a document counts for besides its text
_LONGEST_MESSAGE = 500  # of an error that the parser did not mean: some repeat their whole input


class FileTask(msgspec.Struct, array_like=True, frozen=True):
    """A file to be parsed. parser: its name."""

    parser: str
    raw: bytes
    path: str
    digest: str
    seconds: float


class DocumentsReply(msgspec.Struct, array_like=True, tag="documents", frozen=True):
    """The next documents of the file. A file of many records has several replies, so that no process needs all."""

    documents: list[ParsedDocument]
    is_last: bool


class ErrorReply(msgspec.Struct, array_like=True, tag="error", frozen=True):
    """A deliberate error. kind: the name of its class."""

    kind: str
    code: str
    message: str
    hint: str | None
    details: object


class FailureReply(msgspec.Struct, array_like=True, tag="failure", frozen=True):
    """Any other exception, in words that follow a colon."""

    reason: str


def packed(message: msgspec.Struct) -> bytearray:
    """A message behind its header."""
    buffer = bytearray(HEADER.size)
    msgspec.msgpack.Encoder().encode_into(message, buffer, HEADER.size)
    HEADER.pack_into(buffer, 0, len(buffer) - HEADER.size)
    return buffer


def too_long(most: int) -> str:
    """Why a reply is refused."""
    return f"its text takes more than {size_told(most)}"


def size_told(count: int) -> str:
    """Bytes, for a person."""
    return f"{count / (1 << 30):g} GiB" if count >= 1 << 30 else f"{count / (1 << 20):g} MiB"


def main(requests: int, replies: int, parent: int, most: int, *, dies_with_thread: bool) -> None:
    """Answer tasks until there are no more; begins with an empty message, which says that it is ready.

    requests, replies: the ends of two pipes.  parent: the process that started this one.  most: bytes of a reply.
    dies_with_thread: it was started by a thread that lives as long as its process, so that the system may watch it.
    """
    os.set_inheritable(requests, False)
    os.set_inheritable(replies, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if dies_with_thread and sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - of no use elsewhere

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    Thread(target=_watch, args=(parent,), daemon=True).start()
    decoder = msgspec.msgpack.Decoder(FileTask)
    parsers: dict[str, Parser] = {}
    with open(requests, "rb") as incoming, open(replies, "wb", buffering=0) as outgoing:
        _send(outgoing.fileno(), bytearray(HEADER.size))
        while header := incoming.read(HEADER.size):
            task = decoder.decode(incoming.read(*HEADER.unpack(header)))
            signal.alarm(ceil(task.seconds) + _GRACE_SECONDS)
            for reply in _replies(task, parsers, most):
                _send(outgoing.fileno(), reply)
            signal.alarm(0)


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        sleep(_LOOK_SECONDS)
    os._exit(1)


def _send(replies: int, message: bytearray) -> None:
    left = memoryview(message)
    while left:
        left = left[os.write(replies, left) :]


def _replies(task: FileTask, parsers: dict[str, Parser], most: int) -> Iterator[bytearray]:
    """Yield what the parser makes of the file, ready to be sent. Never raises what a parser raises."""
    left = most
    try:
        for reply in _documents(task, parsers):
            message = packed(reply)
            left -= len(message) - HEADER.size
            if left < 0:
                yield packed(FailureReply(too_long(most)))
                return
            yield message
    except RecallError as error:
        hint = None if error.hint is None else str(error.hint)
        yield packed(ErrorReply(type(error).__name__, error.code, error.message, hint, error.details))
    except Exception as error:  # noqa: BLE001 - of foreign code; the caller reports it and goes on
        yield packed(FailureReply(_told(error)))


def _documents(task: FileTask, parsers: dict[str, Parser]) -> Iterator[DocumentsReply]:
    if task.parser not in parsers:
        parsers[task.parser] = parse.parser(task.parser)
    documents: list[ParsedDocument] = []
    chars = 0
    for document in parsers[task.parser].parse(task.raw, path=task.path, digest=task.digest):
        documents.append(document)
        chars += len(document.text) + _DOCUMENT_CHARS
        if chars >= _REPLY_CHARS:
            yield DocumentsReply(documents, is_last=False)
            documents, chars = [], 0
    yield DocumentsReply(documents, is_last=True)


def _told(error: Exception) -> str:
    message = " ".join(str(error).split()).encode(errors="replace").decode()[:_LONGEST_MESSAGE]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
