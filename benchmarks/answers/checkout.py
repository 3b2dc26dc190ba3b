"""Ask the recorded checkout, with one interpreter for all questions or a new process for each."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

WORKER = Path(__file__).with_name("worker.py")
_KEPT = ("PATH", "LD_LIBRARY_PATH")


class Output(NamedTuple):
    """Exit status and output of a command line. Bytes that are not UTF-8 appear as escapes."""

    status: int
    stdout: str
    stderr: str


class Checkout:
    """A checkout of Recall. `python` runs its command line without the environment of this process.

    Each interpreter has a new hash seed, so an order that depends on hashes shows up as a difference.
    """

    def __init__(self, tree: Path, python: str, *, work: Path) -> None:
        self._tree, self._python, self._work = tree, python, work
        (work / "home").mkdir(exist_ok=True)
        self._environment = {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "PYTHONPATH": str(tree),
            "PYTHONPYCACHEPREFIX": str(work / "compiled"),  # keep the checkout clean
            "HOME": str(work / "home"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "80",
        }
        self._worker = subprocess.Popen(
            [python, "-P", str(WORKER)],
            cwd=work,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        package = Path(self._hear()["package"])
        if not package.resolve().is_relative_to(tree.resolve()):
            self.close()
            raise SystemExit(f"{python} imports recall_core from {package}, not from {tree}")

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the input of the interpreter and wait until it ends."""
        with self._worker:
            assert self._worker.stdin is not None
            self._worker.stdin.close()

    def ask(self, argv: Sequence[str], *, folder: Path, stdin: str = "") -> Output:
        """Return the answer of the shared interpreter."""
        assert self._worker.stdin is not None
        question = {"argv": list(argv), "folder": str(folder), "stdin": stdin}
        self._worker.stdin.write(json.dumps(question).encode() + b"\n")
        self._worker.stdin.flush()
        view = self._hear()
        return Output(
            view["status"], _text(base64.b64decode(view["stdout"])), _text(base64.b64decode(view["stderr"]))
        )

    def start(self, argv: Sequence[str], *, folder: Path, stdin: str = "") -> Output:
        """Return the answer of a new process."""
        done = subprocess.run(
            [self._python, "-P", "-m", "recall_core", *argv],
            cwd=folder,
            env=self._environment,
            input=stdin.encode(),
            capture_output=True,
            check=False,
        )
        return Output(done.returncode, _text(done.stdout), _text(done.stderr))

    def succeed(self, argv: Sequence[str], *, folder: Path) -> Output:
        """Return the answer. Raises SystemExit if the command fails, as the world would be incomplete."""
        output = self.ask(argv, folder=folder)
        if output.status:
            raise SystemExit(
                f"recall {' '.join(argv)} exited with status {output.status}:\n{output.stdout}{output.stderr}"
            )
        return output

    def answer_of(self, argv: Sequence[str], *, folder: Path) -> Mapping[str, Any]:
        """Return the answer with --json as an object."""
        view: Mapping[str, Any] = json.loads(self.succeed([*argv, "--json"], folder=folder).stdout)
        return view

    def _hear(self) -> Mapping[str, Any]:
        assert self._worker.stdout is not None
        line = self._worker.stdout.readline()
        if not line:
            raise SystemExit(f"{self._python} with {self._tree} exited with status {self._worker.wait()}")
        view: Mapping[str, Any] = json.loads(line)
        return view


def _text(written: bytes) -> str:
    return written.decode("utf-8", "backslashreplace")
