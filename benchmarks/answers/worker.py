"""Answer command lines in one interpreter. `checkout` runs this script with the interpreter of the recorded checkout.

It reads one JSON question per line from stdin, and writes one answer per line to stdout. It uses only the entry point
of Recall and imports nothing else of the project, so it works with any checkout.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from typing import Any, BinaryIO


def answer(question: dict[str, Any], main: Any) -> dict[str, Any]:
    """Return the exit status and the bytes of both streams."""
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
    """Report where the recorded package is, then answer until there are no more questions."""
    import recall_core  # noqa: PLC0415 - from the recorded checkout
    from recall_core.__main__ import main  # noqa: PLC0415

    _tell(answers, {"package": recall_core.__file__})
    for line in questions:
        _tell(answers, answer(json.loads(line), main))


def _tell(answers: BinaryIO, view: dict[str, Any]) -> None:
    answers.write(json.dumps(view).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
