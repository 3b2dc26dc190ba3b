"""Answers command lines in one interpreter: a script that `checkout` starts with the interpreter to be recorded.

It reads a line of JSON a question from stdin and writes one an answer to stdout. Of Recall it knows the entry point
alone, and of this project it imports nothing, so that it runs beside any checkout.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from typing import Any, BinaryIO


def answer(question: dict[str, Any], main: Any) -> dict[str, Any]:
    """What the command line says: its exit status and the bytes of both streams."""
    os.chdir(question["folder"])
    kept = sys.argv, sys.stdin, sys.stdout, sys.stderr
    stdin, stdout, stderr = (
        io.TextIOWrapper(io.BytesIO(each), "utf-8") for each in (question["stdin"].encode(), b"", b"")
    )
    sys.argv = ["recall", *question["argv"]]
    sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
    try:
        status = main()
    except SystemExit as stop:
        status = stop.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = kept
    return {"status": status, "stdout": _written(stdout), "stderr": _written(stderr)}


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return base64.b64encode(written).decode()


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Say where the recorded package lies, then answer until there are no more questions."""
    import recall_core  # noqa: PLC0415 - the recorded checkout's, which a reader of this file need not have
    from recall_core.__main__ import main  # noqa: PLC0415

    _tell(answers, {"package": recall_core.__file__})
    for line in questions:
        _tell(answers, answer(json.loads(line), main))


def _tell(answers: BinaryIO, view: dict[str, Any]) -> None:
    answers.write(json.dumps(view).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
