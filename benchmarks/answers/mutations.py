"""Commands that change a store, step by step, with their answers and the files they leave."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.answers import inputs
from benchmarks.answers.checkout import Checkout, Output
from benchmarks.answers.corpus import File, is_plain
from benchmarks.answers.questions import Question
from benchmarks.answers.world import World, places, put, write

LOOK = "cat"
"""First word of a step that is not a command of Recall: it shows a file that an earlier step wrote."""

_LATER = 1_760_000_000 * 10**9


class Step(NamedTuple):
    """One command line and its result. argv: the arguments of the question with real ids."""

    question: Question
    argv: tuple[str, ...]
    output: Output


def play(checkout: Checkout, world: World) -> Iterator[Step]:
    """Yield every step in order. Each sequence has its own folder."""
    corpus = world.corpora["worn"]
    write(world.folder / "changing", corpus)
    inputs.write(world.folder / "changing" / inputs.FOLDER, corpus, seed=len(corpus))
    for folder, lines in STEPS:
        (world.folder / folder).mkdir(exist_ok=True)
        for line in lines if lines != _WITH_MODEL or "local" in world.corpora else ():
            if line in CHANGES:
                CHANGES[line](world.folder / folder, corpus)
            else:
                yield _step(checkout, world.folder, folder, line)


def _step(checkout: Checkout, world: Path, folder: str, line: str) -> Step:
    question = Question(tuple(shlex.split(line)), folder)
    argv = question.argv
    if argv[0] == LOOK:
        path = world / folder / argv[1]
        content = path.read_bytes().decode("utf-8", "backslashreplace") if path.is_file() else ""
        return Step(question, argv, Output(0 if path.is_file() else 1, content, ""))
    if "{doc:" in line:
        known = places(checkout, world / folder)
        argv = tuple(map(known.filled, argv))
    return Step(question, argv, checkout.ask(argv, folder=world / folder))


def _edit(folder: Path, corpus: tuple[File, ...]) -> None:
    """Change some files, remove one, add one, and change only the time of another."""
    notes = [file for file in corpus if is_plain(file, "notes/")]
    put(folder / notes[0].path, notes[0].content + b"\nThe canary failed and we deploy no more.\n", _LATER)
    put(folder / notes[1].path, notes[1].content[: len(notes[1].content) // 2], _LATER + 1)
    (folder / notes[2].path).unlink()
    put(folder / "notes/new.txt", b"A new note on a rollback of the deploy.\n", _LATER + 2)
    touched = next(file for file in corpus if is_plain(file, "docs/"))
    put(folder / touched.path, touched.content, touched.mtime_ns + 10**9)
    put(folder / "docs/noise.md", b"\x00\x01binary", _LATER)


def _hide(folder: Path, corpus: tuple[File, ...]) -> None:
    """Hide a folder that was added, like a disk that is not mounted."""
    (folder / "notes").rename(folder / "unmounted")


def _show(folder: Path, corpus: tuple[File, ...]) -> None:
    (folder / "unmounted").rename(folder / "notes")


def _alter(folder: Path, corpus: tuple[File, ...]) -> None:
    """Write a copy of an export with one letter changed, and a copy that is cut off."""
    whole = (folder.parent / "changing" / "whole.jsonl").read_bytes()
    put(folder / "altered.jsonl", whole.replace(b'"notes/', b'"motes/', 1), _LATER)
    put(folder / "cut.jsonl", whole[: len(whole) // 2], _LATER)


CHANGES: Mapping[str, Callable[[Path, tuple[File, ...]], None]] = {
    "the files change": _edit,
    "a folder goes": _hide,
    "the folder comes back": _show,
    "the export is damaged": _alter,
}
"""Steps that are not commands."""

_FILLING = (
    "init --embedding hash --set embedding_dim=64 --set chunk_tokens=40 --set overlap_tokens=8 --json",
    "init",
    f"{LOOK} recall.toml",
    "add docs notes --tag first --source hand --meta year=2024 --json",
    "add docs notes --tag first --source hand --meta year=2024",
    "add data/records.jsonl --parser jsonl --tag data",
    "add src --glob '**/*.py' --ignore '**/deploy/**' --mtime-only --json",
    "add files/garbage.bin nowhere.txt",
    "add wiki --tag second --strict",
    "compact",
    "stats --json",
    "the files change",
    "search 'deploy rollback' --k 20",
    "search 'deploy rollback' --k 20 --strict-fresh --json",
    "trace deploy --fresh",
    "add docs --tag first --source hand --meta year=2024 --strict --json",
    "sync --json",
    "sync",
    "search 'deploy rollback' --k 20 --json",
    "a folder goes",
    "sync --json",
    "search 'rollback note' --json",
    "the folder comes back",
    "sync",
)
_CARING = (
    "export --no-embeddings",
    "rm --dry-run 'notes/**'",
    "rm ./notes/new.txt --json",
    "whynot rollback --target notes/new.txt",
    "rm {doc:3}",
    "rm {doc:5/10} --purge --json",
    "rm wiki",
    "rm wiki --json",
    "search 'deploy rollback' --explain --json",
    "compact --json",
    "search 'deploy rollback' --explain --json",
    "stats",
    "doctor",
    "doctor --fix --json",
    "doctor --dups",
)
_JUDGING = (
    "judge import --queries files/queries.jsonl --qrels files/qrels.tsv --json",
    "judge import --queries files/queries.tsv --qrels files/qrels.trec",
    "judge import --qrels files/quepid.csv",
    "judge import --qrels files/bad-qrels.tsv --json",
    "judge export --queries out.jsonl --qrels out.csv --format quepid --json",
    f"{LOOK} out.jsonl",
    f"{LOOK} out.csv",
    "eval --modes hybrid,bm25 --run run-{mode}.trec",
    f"{LOOK} run-bm25.trec",
    "report 'deploy rollback' --html page.html --md page.md --json",
    f"{LOOK} page.html",
    f"{LOOK} page.md",
    "rql format --write @files/saved.rql",
    "rql format --write @files/saved.rql --json",
    f"{LOOK} files/saved.rql",
    "tune --apply --json",
    "tune --grid normalize=bound,max,minmax --grid fusion=weighted,rrf --apply",
    f"{LOOK} recall.toml",
)
_EMBEDDING = (
    "export --out whole.jsonl --json",
    f"{LOOK} whole.jsonl",
    "reembed hash --set embedding_dim=32 --json",
    "reembed hash --set embedding_dim=32",
    f"{LOOK} recall.toml",
    "search 'deploy rollback' --vector --explain",
    "compact --json",
    "stats --json",
    "export",
)
_WITH_MODEL = (
    "reembed local --json",
    "search 'undo a change' --vector --explain --json",
    f"{LOOK} recall.toml",
    "doctor",
)
_COPYING = (
    "init --set embedding_dim=64 --set chunk_tokens=40 --set overlap_tokens=8 --json",
    "the export is damaged",
    "import altered.jsonl --json",
    "import cut.jsonl",
    "import ../changing/whole.jsonl --json",
    "export --json",
    "import ../changing/whole.jsonl --json",
    "import ../changing/whole.jsonl --on-conflict skip",
    "import ../changing/whole.jsonl --on-conflict replace --json",
    "import ../changing/whole.jsonl --on-conflict replace --no-embeddings",
    "import ../changing/whole.jsonl --on-conflict replace --reembed --json",
    "search 'deploy rollback' --k 20 --json",
    "compact",
    "stats --json",
    "export",
    "doctor --json",
)
STEPS = (
    ("changing", _FILLING),
    ("changing", _CARING),
    ("changing", _JUDGING),
    ("changing", _EMBEDDING),
    ("copied", _COPYING),
    ("wider", ("init --set embedding_dim=128", "import ../changing/whole.jsonl --json")),
    ("counted", ("init --set embedding_dim=64 --set counter=approx", "import ../changing/whole.jsonl --json")),
    ("narrow", ("init --set max_file_bytes=100", "add ../changing/whole.jsonl --json")),
    ("changing", _WITH_MODEL),
)
"""Folders and their lines, in order."""
