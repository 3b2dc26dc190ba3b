"""Output on a terminal of 60, 80, 100 or 120 columns: no line is too wide, and nothing is missing."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.adapters.terminal import fit

WIDTHS = (60, 80, 100, 120) if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else (60, 100)
STYLES = re.compile(r"\x1b\[[0-9;]*m")
QUESTIONS = {"q1": "undo a deploy", "q2": "restore a backup", "q3": "call at night"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*argv: str, stdout: io.StringIO | None = None) -> str:
    streams = Streams(io.StringIO(), stdout or io.StringIO(), io.StringIO())
    cli.main(argv, streams=streams)
    return streams.stdout.getvalue()  # type: ignore[attr-defined,no-any-return]


def on_terminal(width: int, *argv: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return STYLES.sub("", run(*argv, stdout=Terminal())).splitlines()


def bare(text: str) -> str:
    """Return the text independent of its line ends; a quoted word over two lines has its quotes twice."""
    return "".join(text.replace("'\\\n'", "").replace("\\\n", "").split())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("widths")
    deep = home / "a-folder-with-a-name-that-is-long" / "and-another-one-below-it-that-is-longer-still"
    deep.mkdir(parents=True)
    (deep / "deploy.md").write_text("# Deploy\n\nUndo a deploy with the switch, then tell the team.\n" * 30)
    (home / "backup.md").write_text("# Backup\n\nRestore a backup once a month.\n\n" * 40)
    (home / "café 倉庫 night.md").write_text("Whoever is on call at night answers.\n")
    (home / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in QUESTIONS.items())
    )
    path = deep.relative_to(home) / "deploy.md"
    (home / "qrels.tsv").write_text(
        f"q1\t{path}\t1\nq2\tbackup.md\t1\nq3\tbackup.md\t0\nq3\tcafé%20倉庫%20night.md\t1\n"
    )
    run("init", str(home), "--embedding", "hash")
    rules = [part for name in ("build", "dist", "generated") for part in ("--ignore", f"**/{name}/**/*.md")]
    run("--store", str(home), "add", str(home), "--glob", "**/*.md", *rules)
    return home


@pytest.fixture(autouse=True)
def here(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store)
    for package in ("wordllama", "httpx"):
        monkeypatch.setitem(sys.modules, package, None)


def chunk(words: str) -> str:
    return str(json.loads(run("search", words, "--jsonl", "-n", "1"))["chunk"]["id"])


FILTER = "doc.path != 'nothing-of-this-name.md' AND (chunk.tokens > 1 OR doc.source = 'somewhere')"
PLAIN = {
    "roots": lambda: ["roots"],
    "explain": lambda: ["explain", "undo a deploy", "--chunk", chunk("undo a deploy")],
    "explain vs": lambda: ["explain", "undo a", "--chunk", chunk("undo"), "--vs", chunk("restore")],
    "diff": lambda: ["diff", "undo a deploy", "--b", "vector_weight=0.5"],
    "whynot misspelt": lambda: ["whynot", "deploy bakcup", "--target", "backup.md", "-n", "1"],
    "whynot": lambda: ["whynot", "undo", "--target", "café 倉庫 night.md", "-n", "1", "--filter", FILTER],
    "whynot in full": lambda: ["whynot", "undo", "--target", "backup.md", "-n", "1", "--filter", FILTER, "--all"],
    "whynot filtered": lambda: ["whynot", "undo", "--target", "backup.md", "--filter", "doc.path = 'x'"],
    "whynot in a context": lambda: ["whynot", "undo", "--target", "backup.md", "--budget-tokens", "50"],
    "trace": lambda: ["trace", "undo", "--filter", FILTER],
}
DRAWN = {
    "embedders": ["embedders"],
    "stats": ["stats"],
    "eval": ["eval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv"],
    "eval of modes": "eval --queries queries.jsonl --qrels qrels.tsv --modes hybrid,bm25,vector --per-query".split(),
    "search": ["search", "undo a deploy"],
    "search explained": ["search", "undo a deploy", "--explain"],
}


def test_wrapped_lines_keep_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, words in PLAIN.items():
        argv = words()
        piped = run(*argv)
        for width in WIDTHS:
            lines = on_terminal(width, *argv, monkeypatch=monkeypatch)

            assert max(map(cell_len, lines)) <= width, (name, width)
            if name != "trace":  # its milliseconds vary
                assert bare("\n".join(lines)) == bare(piped), (name, width)


def test_last_line_of_an_answer_breaks_at_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in WIDTHS:
        for command in ["search", "context"]:
            told = []
            monkeypatch.setenv("COLUMNS", str(width))
            for stderr in (io.StringIO(), Terminal()):
                cli.main(
                    [command, "undo a deploy"],
                    streams=Streams(io.StringIO(), io.StringIO(), stderr),
                )
                told.append(re.sub(r"[0-9.]+ ms", "- ms", stderr.getvalue()).splitlines())
            (line,), lines = told

            assert max(map(cell_len, lines)) <= width, (width, command)
            assert bare("·".join(lines)).replace("·", "") == bare(line).replace("·", ""), (width, command)
            assert len(lines) > 1 or width > 60 or command == "search", (width, command)


def test_tables_fit_and_contain_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, argv in DRAWN.items():
        piped = run(*argv)
        for width in WIDTHS:
            lines = on_terminal(width, *argv, monkeypatch=monkeypatch)

            assert max(map(cell_len, lines)) <= width, (width, name)
            if not name.startswith("search"):  # its rows are cut to their first words, with a mark
                drawn = bare("\n".join(lines))
                figures = [line for line in piped.splitlines() if not line.startswith(("mode ", "query ", "gate "))]
                assert [
                    word for word in re.findall(r"[\w@.+-]{4,}", "\n".join(figures)) if word not in drawn
                ] == [], (width, name)


def test_list_of_embedders_is_not_overly_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for width, most in ((60, 50), (80, 40), (100, 34), (120, 34)):
        assert len(on_terminal(width, "embedders", monkeypatch=monkeypatch)) <= most, width


def test_every_fix_on_a_terminal_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in WIDTHS:
        argv = PLAIN["whynot"]()
        fixes = json.loads(run(*argv, "--json"))["whynot"]["fixes"]
        assert fixes, width

        for fix in fixes:
            lines = list(fit(f"fix   {fix['command']}", width))
            pasted = "\n".join([lines[0].removeprefix("fix   "), *lines[1:]])

            assert words_of_shell(pasted) == words_of_shell(fix["command"]), width


def words_of_shell(line: str) -> list[str]:
    script = f'recall() {{ printf "%s\\0" "$@"; }}; {line}'
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.split("\0")


def test_text_is_never_broken(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    (store / "wide.txt").write_text("word " * 100 + "\n")
    run("add", "wide.txt")

    assert run("get", "wide.txt", stdout=Terminal()) == "word " * 100 + "\n"
