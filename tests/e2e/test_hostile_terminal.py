"""Hostile names and texts on a terminal and in a pipe: none steers the terminal or forges a line."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import Recall
from recall_core.evaluate.formats import query_id
from recall_core.types import Root
from tests.hostile import FOLDER, LABEL, NAMES, QUESTION, STYLE, build, forged, obeyed
from tests.terminal import Terminal

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
MARK = "@@@ next @@@"
LINES = """
import json, sys
from recall_core.adapters import cli
from recall_core.adapters.streams import standard
for argv in json.load(open(sys.argv[1])):
    streams = standard()
    print("exit", cli.main(argv, streams=streams), flush=True)
    print(sys.argv[2], flush=True)
"""
HOSTILE = f"\x1b[{STYLE}m\x9b2J\u202e\nerror: forged"


def terminal_output(argv: list[str], cwd: Path) -> str:
    """Return everything that a terminal reads from a process, on both streams."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    flags = termios.tcgetattr(terminal)
    flags[1] &= ~termios.OPOST  # bytes arrive as they are written
    termios.tcsetattr(terminal, termios.TCSANOW, flags)
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        argv, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    read = b""
    try:
        while more := os.read(keeper, 1 << 16):
            read += more
    except OSError:  # Linux reports this when the other side is closed
        pass
    os.close(keeper)
    assert process.wait() in range(9)
    return read.decode("utf-8", "surrogateescape")


def home(base: Path) -> Path:
    docs = build(base)
    Recall.init(str(base), settings={"chunk_tokens": 60, "overlap_tokens": 0})
    with Recall.open(str(base)) as recall:
        recall.index(str(docs))
        (records,) = docs.glob("*.jsonl")
        recall.index(str(records), template=Root("", parser="jsonl", tags=(LABEL,), source=LABEL))
    query, found = query_id(QUESTION), f"docs/{NAMES[0]}"
    (base / f"query{HOSTILE}.rql").write_text("select * from chunk")
    rows = [{"_id": query, "text": QUESTION}]
    (base / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (base / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{query}\t{found}\t1\n")
    return base


def commands(base: Path) -> list[list[str]]:
    """Return every command, and an error of most, with hostile text in each operand."""
    with Recall.open(str(base)) as recall:
        hits = recall.search("quokka")["results"]
        chunk, other = hits[0]["chunk"]["id"], hits[1]["chunk"]["id"]
    name = f"docs/{NAMES[0]}"
    return [
        ["search", "quokka"],
        ["search", "quokka", "--explain", "--k", "20"],
        ["search", QUESTION, "--json", "--explain"],
        ["search", "quokka", "--filter", f"doc.path = '{name}'"],
        ["search", "quokka", "--filter", f"doc.nope{HOSTILE} = 1"],
        ["query", "SELECT * FROM chunk USING lexical('quokka') LIMIT 20"],
        ["query", "SELECT doc.path, doc.tags, doc.source, doc.meta.list, chunk.text FROM chunk LIMIT 20"],
        ["query", "SELECT doc.path, doc.title FROM doc LIMIT 30"],
        ["query", f"SELECT \x1b[{STYLE}m FROM chunk"],
        ["query", f"SELECT * FROM chunk FILTER doc.path = 'open{HOSTILE}"],
        ["rql", "check", f"SELECT * FROM chunk FILTER doc.path = '{name}'"],
        ["rql", "format", f"SELECT * FROM chunk FILTER doc.path = '{HOSTILE}' -- {HOSTILE}"],
        ["rql", "format", "--write", f"@query{HOSTILE}.rql"],
        ["rql", "check", f"@none{HOSTILE}.rql"],
        ["rql", "explain", f"SELECT * FROM chunk USING lexical('quokka {HOSTILE}') FILTER doc.path = '{name}'"],
        ["rql", "complete", "SELECT * FROM chunk FILTER doc.path = '"],
        ["rql", "complete", "SELECT * FROM chunk FILTER doc.meta."],
        ["rql", "complete", "SELECT * FROM chunk FILTER doc.tag = '"],
        ["context", "quokka"],
        ["context", "quokka", "--format", "markdown", "--account"],
        ["context", "quokka", "--set", "header=[{n}] {path} {title} {heading}"],
        ["context", "quokka", "--json"],
        ["get", name],
        ["get", name, "--json"],
        ["get", f"docs/{FOLDER}/in.md"],
        ["get", f"docs/{HOSTILE}"],
        ["get", f"docs/{HOSTILE}", "--json"],
        ["explain", QUESTION, "--chunk", chunk, "--vs", other],
        ["explain", "quokka", "--chunk", HOSTILE],
        ["whynot", QUESTION, "--target", name],
        ["whynot", "wombat", "--target", f"docs/{NAMES[6]}"],
        ["whynot", "quokka", "--target", f"docs/{NAMES[7]}", "--json"],
        ["whynot", "quokka", "--target", HOSTILE],
        ["trace", QUESTION, "--filter", f"doc.path != '{name}'"],
        ["diff", "quokka", "--b", "vector_weight=1"],
        ["diff", "quokka", "--b", f"{HOSTILE}"],
        ["diff", "--queries", "queries.jsonl", "--b", "vector_weight=1"],
        ["report", QUESTION, "--md", "-"],
        ["report", "quokka", "--html", "-"],
        ["report", "quokka", "--md", f"page{HOSTILE}.md"],
        ["judge", "import", "--queries", "queries.jsonl", "--qrels", "qrels.tsv"],
        ["judge", "export", "--queries", "-"],
        ["judge", "export", "--qrels", f"out{HOSTILE}.tsv"],
        ["eval", "--per-query"],
        ["eval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "--run", f"run{HOSTILE}"],
        ["eval", "--gate", HOSTILE],
        ["tune", QUESTION, "--sweep"],
        ["tune", "--json"],
        ["roots"],
        ["roots", HOSTILE],
        ["stats"],
        ["stats", "--json"],
        ["doctor"],
        ["doctor", "--dups"],
        ["verify", "recall.db"],
        ["backup", f"copy{HOSTILE}.db"],
        ["export"],
        ["export", "--out", f"all{HOSTILE}.jsonl"],
        ["import", f"all{HOSTILE}.jsonl"],
        ["import", f"no{HOSTILE}.jsonl"],
        ["search", QUESTION, "--receipt", f"receipt{HOSTILE}.json"],
        ["context", "quokka", "--receipt", "receipt.json"],
        ["replay", f"receipt{HOSTILE}.json"],
        ["replay", f"receipt{HOSTILE}.json", "--json"],
        ["replay", f"none{HOSTILE}"],
        ["search", "quokka", "--timeout", HOSTILE],
        ["embedders"],
        ["schema"],
        ["completion", "bash"],
        ["rm", "docs/*", "--dry-run"],
        ["rm", HOSTILE],
        ["init", f"new{HOSTILE}", "--set", "chunk_tokens=50", "--set", "overlap_tokens=0"],
        ["init", f"new{HOSTILE}"],
        ["init", "x", "--set", f"{HOSTILE}=1"],
        ["init", "x", "--embedding", HOSTILE],
        ["--store", f"new{HOSTILE}", "stats"],
        ["--store", f"none{HOSTILE}", "stats"],
        ["reembed", HOSTILE],
        ["rechunk", "--counter", HOSTILE],
        ["rechunk", "--overlap-tokens", "1"],
        ["search", "quokka", f"--{HOSTILE}"],
        ["search", "quokka", "--k", HOSTILE],
        ["search", "quokka", "--set", f"rerank={HOSTILE}"],
        [HOSTILE],
        [f"sea{HOSTILE}rch", "--json"],
        ["add", f"docs/{HOSTILE}"],
        ["add", "docs", "--meta", HOSTILE],
        ["add", "docs", "--parser", HOSTILE],
        ["add", "docs", "--glob", "{" * 300 + HOSTILE],
        ["rm", name],
        ["replay", f"receipt{HOSTILE}.json"],
        ["sync", "--json"],
    ]


BARS = ("add", "sync", "diff", "eval", "tune", "reembed", "rechunk", "backup", "verify")
"""Commands that draw a progress bar."""
VERBATIM = ("context", "get", "export", "check", "format", "report")
"""Commands that write data verbatim into a pipe on request."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home(tmp_path_factory.mktemp("made"))


@pytest.fixture
def base(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True, symlinks=True))


def run_all(base: Path, lines: list[list[str]]) -> list[str]:
    (base / "lines.json").write_text(json.dumps(lines))
    return [sys.executable, "-c", LINES, str(base / "lines.json"), MARK]


def split_output(lines: list[list[str]], output: str) -> list[tuple[list[str], str]]:
    pieces = output.split(f"{MARK}\n")
    assert len(pieces) == len(lines) + 1, pieces[-1][-2000:]
    return list(zip(lines, pieces, strict=False))


def test_hostile_names_neither_steer_a_terminal_nor_forge_lines(base: Path) -> None:
    lines = commands(base)

    output = split_output(lines, terminal_output(run_all(base, lines), base))

    leaks = {" ".join(argv)[:60]: obeyed(said, is_progress=argv[0] in BARS)[:3] for argv, said in output}
    assert {line: leak for line, leak in leaks.items() if leak} == {}
    in_lines = [(argv, said) for argv, said in output if "--html" not in argv]
    assert {" ".join(argv)[:60]: forged(said)[:3] for argv, said in in_lines if forged(said)} == {}
    assert not [argv for argv, said in output if "internal_error" in said or "Unexpected " in said]


def test_terminal_json_equals_piped_json(base: Path) -> None:
    line = ["get", f"docs/{NAMES[3]}", "--json"]
    argv = [sys.executable, "-m", "recall_core", *line]

    on_terminal = terminal_output(argv, base)
    piped = subprocess.run(argv, cwd=base, capture_output=True, text=True, check=True, env=os.environ).stdout

    assert json.loads(on_terminal)["found"] == json.loads(piped)["found"]
    assert "\x9b" in piped


def test_hostile_names_do_not_steer_the_progress_bar(tmp_path: Path) -> None:
    docs = build(tmp_path)
    Recall.init(str(tmp_path))
    argv = [sys.executable, "-m", "recall_core", "--store", str(tmp_path), "add", str(docs), "--tag", LABEL]

    said = terminal_output([*argv, "--source", LABEL, "--meta", f"{LABEL}={LABEL}"], tmp_path)

    assert "files: 12 added" in said
    assert "bad_name" in said
    assert "\x1b[2K" in said
    assert (obeyed(said, is_progress=True), forged(said)) == ([], [])


def test_piped_names_never_start_a_new_line(base: Path) -> None:
    lines = commands(base)[:: 1 if IS_NIGHTLY else 6]
    argv = run_all(base, lines)

    done = subprocess.run(argv, cwd=base, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    output = split_output(lines, done.stdout.decode("utf-8", "surrogateescape"))

    headers = [(argv, said) for argv, said in output if not ({*VERBATIM} & {*argv[:2]} or "--json" in argv)]
    assert {" ".join(argv)[:60]: obeyed(said)[:3] for argv, said in headers if obeyed(said)} == {}
    assert {" ".join(argv)[:60]: forged(said)[:3] for argv, said in headers if forged(said)} == {}


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    running = Terminal(tmp_path_factory.mktemp("tmux") / "socket")
    yield running
    running.stop()


_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-B]|\]22;[a-z]*\x07|[=>78])|[\r\x0e\x0f]")
"""Sequences used by the workbench itself, including the pointer's shape: no title, no link, no clipboard."""


@pytest.mark.tmux
def test_hostile_texts_do_not_steer_the_workbench_terminal(terminal: Terminal, base: Path, tmp_path: Path) -> None:
    log = tmp_path / "written.bin"
    terminal.start(f"read go; {sys.executable} -m recall_tui --store {base}/recall.db; exec sleep 60", cwd=base)
    terminal.record(log)
    terminal.press("Enter")
    terminal.wait_for(lambda screen: "14 documents" in screen)

    terminal.type("quokka smiles")
    terminal.wait_for(lambda screen: "Explain #1" in screen and "of 2,000 tokens" in screen)
    terminal.press("Escape")
    terminal.wait_for(lambda screen: " NAV " in screen)
    for number in range(2, 11):
        terminal.press("j")
        terminal.wait_for(lambda screen, number=number: f"Explain #{number}" in screen)
    for keys, shown in (
        ("3M", "Marked"),
        ("5j", "Context"),
        ("3\x1b[C\x1b[C\x1b[C", "in the store"),
        ("8C", "fulltext_rows"),
        ("\x1b[F", "duplicates"),
        ("7", "Ingest"),
    ):
        terminal.type(keys)
        terminal.wait_for(lambda screen, shown=shown: shown in screen)
    for line, shown in (
        (f"get 'docs/{NAMES[0]}'", "exit"),
        ("rm docs/* --dry-run", "would remove"),
        ("roots", "docs"),
    ):
        terminal.type(":")
        terminal.type(line)
        terminal.press("Enter")
        terminal.wait_for(lambda screen, shown=shown: shown in screen)
        terminal.press("Escape")
    terminal.type("q")
    terminal.wait_for(lambda _: "\x1b[?1049l" in log.read_bytes().decode("utf-8", "replace"))

    written = log.read_bytes().decode("utf-8", "surrogateescape")
    assert STYLE not in _SEQUENCE.findall(written)
    assert obeyed(_SEQUENCE.sub("", written.replace(f"\x1b[{STYLE}m", "\x07"))) == []
