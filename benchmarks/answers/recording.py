"""A recording: one JSON line for each question and answer, after a first line with seed and size."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from benchmarks.answers import mutations
from benchmarks.answers.checkout import Checkout, Output
from benchmarks.answers.normalize import normalized
from benchmarks.answers.questions import Question, mistakes, questions
from benchmarks.answers.world import Size, World, build

VERSION = 1
"""Version of the file format."""


class Answer(NamedTuple):
    """One line of a recording."""

    question: str
    """The command line in its folder, as a shell command with placeholders for ids: see `world.Places`."""
    line: str
    """The same with the ids of this checkout."""
    stdin: str
    output: Output

    @property
    def command(self) -> str:
        """The command of `recall` that was asked, or "" for none."""
        program, *words = shlex.split(self.question.partition(" && ")[2])
        if program == mutations.LOOK:
            return program
        return next((word for word in words if not word.startswith("-")), "")


class Recording(NamedTuple):
    """head: version, seed and size. Two recordings can be compared only if these are equal."""

    head: Mapping[str, Any]
    answers: tuple[Answer, ...]


def record(
    tree: Path, python: str, *, count: int, seed: int, size: Size, in_process: bool, work: Path | None = None
) -> Recording:
    """Return the answers of a checkout to `count` random questions, to mistakes and to steps that change stores.

    python: the interpreter with the libraries of the checkout.
    in_process: ask every question in one process.
    work: keep the world in this folder, which must not exist. By default the world is removed.
    """
    with _folder(work) as folder, Checkout(tree, python, work=folder) as checkout:
        (folder / "world").mkdir()
        world = build(checkout, folder / "world", seed=seed, size=size)
        where = {str(folder / "world"): "<world>", str(folder): "<work>", str(tree): "<tree>"}
        asked = (*questions(count, world.corpora, seed=seed), *mistakes(size.mistakes_step))
        answers = [_answer(checkout, world, each, where, in_process=in_process) for each in asked]
        answers += (_kept(step.question, step.argv, step.output, where) for step in mutations.play(checkout, world))
        stores = {name: len(places.chunks) for name, places in world.places.items()}
    head = {"version": VERSION, "seed": seed, "count": count, "stores": stores}
    return Recording(head, tuple(answers))


def write(recording: Recording, out: Path) -> None:
    """Write the recording to a file."""
    lines = [json.dumps(recording.head)]
    for each in recording.answers:
        view = {"question": each.question, "line": each.line, "stdin": each.stdin, **each.output._asdict()}
        lines.append(json.dumps(view, ensure_ascii=False))
    out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read(path: Path) -> Recording:
    """Return the recording of a file."""
    with path.open(encoding="utf-8") as lines:  # not splitlines(): texts contain other line ends
        head, *views = map(json.loads, lines)
    answers = (
        Answer(view["question"], view["line"], view["stdin"], Output(view["status"], view["stdout"], view["stderr"]))
        for view in views
    )
    return Recording(head, tuple(answers))


def coverage(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield commands by exit status, then the codes of warnings and JSON errors with their counts."""
    statuses: dict[str, dict[int, int]] = {}
    codes: dict[str, int] = {}
    for each in answers:
        row = statuses.setdefault(each.command or "-", {})
        row[each.output.status] = row.get(each.output.status, 0) + 1
        for code in _codes(each.output):
            codes[code] = codes.get(code, 0) + 1
    for command, row in sorted(statuses.items()):
        yield f"{command:<12}{sum(row.values()):>5}  " + "  ".join(f"exit {n}: {row[n]}" for n in sorted(row))
    yield from wrap(", ".join(f"{code} {number}" for code, number in sorted(codes.items())), width=118)


def _codes(output: Output) -> Iterator[str]:
    """Yield the error of a JSON answer, and the warnings of any answer."""
    if output.stdout.startswith('{"ok"'):
        view = json.loads(output.stdout)
        if "error" in view:
            yield view["error"]["code"]
        yield from {warning.partition(":")[0] for warning in view.get("warnings", [])}
    yield from {line.split()[1].rstrip(":") for line in output.stderr.splitlines() if line.startswith("warning: W_")}


def _answer(
    checkout: Checkout, world: World, question: Question, where: Mapping[str, str], *, in_process: bool
) -> Answer:
    places = world.place(question.folder)
    argv = [places.filled(part) for part in question.argv]
    stdin = places.filled(question.stdin)
    ask = checkout.start if question.in_a_process and not in_process else checkout.ask
    output = ask(argv, folder=world.folder / question.folder, stdin=stdin)
    return _kept(question, argv, output, where)._replace(stdin=stdin)


def _kept(question: Question, argv: Sequence[str], output: Output, where: Mapping[str, str]) -> Answer:
    """Return the normalized answer. argv: the arguments of the question with real ids."""
    question_line, line = (_shell(question.folder, each) for each in (question.argv, argv))
    return Answer(question_line, line, question.stdin, normalized(output, where=where))


def _shell(folder: str, argv: Sequence[str]) -> str:
    program = () if argv and argv[0] == mutations.LOOK else ("recall",)
    return f"cd {shlex.quote(folder)} && {shlex.join((*program, *argv))}"


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    if work is not None:
        work.mkdir()
        yield work.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="answers-") as made:
        yield Path(os.path.realpath(made))
