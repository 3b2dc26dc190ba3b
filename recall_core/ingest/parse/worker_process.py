"""The process in which a `Worker` runs its parsers: it reads one task after another and answers each.

It ends with its parent process, even if the parent is killed. Between tasks the pipe closes; during a task a thread
checks for the parent; and a system alarm ends a task that blocks all threads.
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
"""Before each message: its size in bytes."""

_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 5  # beyond a file's time limit; the worker normally ends this process first
_PR_SET_PDEATHSIG = 1
_REPLY_CHARS = 1 << 20  # of text, after which the documents are sent and a new reply begins
_DOCUMENT_CHARS = 500  # fixed cost of a document, in characters
_LONGEST_MESSAGE = 500  # of an unexpected error; some repeat their whole input


class FileTask(msgspec.Struct, array_like=True, frozen=True):
    """A file to parse. parser: name of the parser."""

    parser: str
    raw: bytes
    path: str
    digest: str
    seconds: float


class DocumentsReply(msgspec.Struct, array_like=True, tag="documents", frozen=True):
    """The next documents of a file. A file of many records has several replies, which bounds memory."""

    documents: list[ParsedDocument]
    is_last: bool


class ErrorReply(msgspec.Struct, array_like=True, tag="error", frozen=True):
    """An expected error. kind: name of its class."""

    kind: str
    code: str
    message: str
    hint: str | None
    details: object


class FailureReply(msgspec.Struct, array_like=True, tag="failure", frozen=True):
    """Any other exception. reason: text that follows a colon."""

    reason: str


def pack(message: msgspec.Struct) -> bytearray:
    """Return a message with its header."""
    buffer = bytearray(HEADER.size)
    msgspec.msgpack.Encoder().encode_into(message, buffer, HEADER.size)
    HEADER.pack_into(buffer, 0, len(buffer) - HEADER.size)
    return buffer


def too_long(most: int) -> str:
    """Return why a reply is refused."""
    return f"its text is larger than {format_size(most)}"


def format_size(count: int) -> str:
    """Format a number of bytes for people."""
    return f"{count / (1 << 30):g} GiB" if count >= 1 << 30 else f"{count / (1 << 20):g} MiB"


def main(requests: int, replies: int, parent: int, most: int, *, dies_with_thread: bool) -> None:
    """Answer tasks until there are no more. Send an empty message first, as the ready signal.

    requests, replies: file descriptors of two pipes.
    parent: process id of the parent.
    most: size limit of a reply.
    dies_with_thread: the starting thread lives as long as its process, so the kernel can watch it.
    """
    os.set_inheritable(requests, False)
    os.set_inheritable(replies, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if dies_with_thread and sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - needed only here

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    Thread(target=end_with, args=(parent,), daemon=True).start()
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


def end_with(parent: int) -> NoReturn:
    """End this process as soon as its parent has ended. Run it in a thread."""
    while os.getppid() == parent:
        sleep(_LOOK_SECONDS)
    os._exit(1)


def _send(replies: int, message: bytearray) -> None:
    left = memoryview(message)
    while left:
        left = left[os.write(replies, left) :]


def _replies(task: FileTask, parsers: dict[str, Parser], most: int) -> Iterator[bytearray]:
    """Yield the parser's replies, ready to send. Never raises the parser's exceptions."""
    left = most
    try:
        for reply in _documents(task, parsers):
            message = pack(reply)
            left -= len(message) - HEADER.size
            if left < 0:
                yield pack(FailureReply(too_long(most)))
                return
            yield message
    except RecallError as error:
        hint = None if error.hint is None else str(error.hint)
        yield pack(ErrorReply(type(error).__name__, error.code, error.message, hint, error.details))
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything; the caller reports it and continues
        yield pack(FailureReply(_describe(error)))


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


def _describe(error: Exception) -> str:
    message = " ".join(str(error).split()).encode(errors="replace").decode()[:_LONGEST_MESSAGE]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
