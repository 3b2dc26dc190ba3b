"""`make demo`: index Python's own reference and library on this machine, then open them in the workbench."""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core import shell
from recall_core.adapters import cli
from recall_core.adapters.progress import follow
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.contract.store import IngestView
from recall_core.contract.views import ContextBlock
from recall_core.ingest.kinds import missing_packages
from recall_core.types import Root
from recall_tui.app import run

QUESTION = "how do I run a command with a timeout and capture its output"
BUDGET_TOKENS = 600
LEFT_OUT = (
    "__pycache__ test tests idlelib lib2to3 turtledemo ensurepip pydoc_data encodings site-packages dist-packages"
)
"""Folders of a standard library that are not worth indexing: tests, tables and installed packages."""


class Corpus(NamedTuple):
    """A folder to index, and its name on the screen."""

    name: str
    root: Root


def main(argv: Sequence[str] | None = None) -> int:
    """Build or refresh the demo store, then open the workbench in a terminal or else print a tour.

    Return the exit code.
    """
    options = _options(argv)
    return cli.run_process(
        lambda streams: cli.guard_run(lambda: _run(options.dir, options.source, streams), streams=streams)
    )


def write_topics(folder: Path) -> int:
    """Write the interpreter's language reference, one file per topic, and return the number of topics.

    Files that already contain their topic are not touched, so that a second run finds them unchanged. Some Linux
    packages of Python have no topics; then return 0.
    """
    try:
        from pydoc_data.topics import topics  # noqa: PLC0415 - absent from some packages of Python
    except ImportError:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in topics.items():
        path = folder / f"{name}.txt"
        if not path.exists() or path.read_bytes() != text.encode():
            path.write_bytes(text.encode())
    return len(topics)


def link_library(link: Path, source: Path) -> None:
    """Point the link to the library.

    The link keeps citations short, and a newer Python replaces the old library in the store.
    """
    source = source.resolve()
    if link.is_symlink() and link.readlink() != source:
        link.unlink()
    if not link.is_symlink():
        link.symlink_to(source, target_is_directory=True)


def is_verbatim(block: ContextBlock, base: Path) -> bool:
    """Return True if the block's text equals its file's text between the cited offsets."""
    text = (base / block["path"]).read_bytes().decode("utf-8-sig")
    return text[block["offset"] : block["end"]] == block["text"]


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m recall_tui.demo", description=__doc__)
    parser.add_argument("--dir", type=Path, default=Path(".demo"), help="folder of the demo store (.demo)")
    parser.add_argument(
        "--source",
        type=Path,
        default=Path(sysconfig.get_path("stdlib")),
        help="folder of Python files to index (this interpreter's standard library)",
    )
    return parser.parse_args(argv)


def _run(folder: Path, source: Path, streams: Streams) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "recall.db"
    if not write_topics(folder / "topics"):
        streams.say("this Python has no language reference: indexing only the library")
    link_library(folder / "library", source)
    if not database.exists():
        made = Recall.init(str(folder), embedding="auto")
        for warning in made["warnings"]:
            streams.say(warning)
    with Recall.open(str(database)) as store:
        figures = _index(store, _corpora(folder), streams)
    streams.stdout.write(figures + "\n")
    if sys.stdin.isatty() and sys.stdout.isatty():
        return run(str(database), streams=streams, question=QUESTION)
    return _tour(database, streams)


def _corpora(folder: Path) -> Iterator[Corpus]:
    if (folder / "topics").is_dir():
        yield Corpus("language reference", Root(str(folder / "topics"), globs=("*.txt",), tags=("reference",)))
    ignores = tuple(f"**/{name}/**" for name in LEFT_OUT.split())
    library = Root(str(folder / "library"), globs=("**/*.py",), ignores=ignores, tags=("library",))
    yield Corpus("standard library", library)


def _index(store: Recall, corpora: Iterable[Corpus], streams: Streams) -> str:
    """Add every corpus, and return a line with the figures."""
    started = time.monotonic()
    reports: list[IngestView] = []
    for corpus in corpora:
        streams.say(f"indexing the {corpus.name}: {Path(corpus.root.folder).resolve()}")
        reports.append(follow(store.add([corpus.root.folder], corpus.root), streams=streams)["ingest"])
    for count, kind, install in missing_packages(path for path, _ in store.store.document_files()):
        streams.say(f"{count:,} {kind}s are split by lines; to split them by grammar: {install}")
    embedded = sum(report["embedded"] for report in reports)
    reused = sum(report["reused"] for report in reports)
    unchanged = sum(report["unchanged"] for report in reports)
    files = sum(report["files"] for report in reports)
    seconds = time.monotonic() - started
    return f"chunks: {embedded} embedded, {reused} reused; files: {unchanged} unchanged of {files}; {seconds:.1f} s"


def _tour(database: Path, streams: Streams) -> int:
    """Run the commands a newcomer would type, and check the citations. Return 1 if one is not verbatim."""
    for command in (
        ["search", QUESTION, "--k", "5"],
        ["search", QUESTION, "--k", "1", "--explain"],
        ["context", QUESTION, "--budget-tokens", str(BUDGET_TOKENS)],
        ["stats"],
    ):
        streams.stdout.write(f"\n$ recall --store {shell.join([str(database), *command])}\n")
        streams.stdout.flush()
        code = cli.main(["--store", str(database), *command], streams=streams)
        if code:
            return code
    return _check_citations(database, streams)


def _check_citations(database: Path, streams: Streams) -> int:
    with Recall.open(str(database)) as store:
        answer = store.context(QUESTION, Ask(), Pack(budget_tokens=BUDGET_TOKENS))
        blocks = answer["context"]["blocks"]
        wrong = [block for block in blocks if not is_verbatim(block, store.engine.base)]
    streams.stdout.write("\n")
    for block in blocks:
        lines = f"{block['line_start']}-{block['line_end']}"
        verdict = "NOT VERBATIM" if block in wrong else "verbatim"
        span = f"characters {block['offset']}-{block['end']}"
        streams.stdout.write(f"[{block['n']}] {block['path']}:{lines}  {span}  {verdict}\n")
    streams.stdout.write(f"citations checked against their files: {len(blocks) - len(wrong)} of {len(blocks)}\n")
    return 1 if wrong or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
