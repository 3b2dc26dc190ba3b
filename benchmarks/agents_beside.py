"""Compare what an agent gets from Recall and from qmd on the same notes. `python -m benchmarks.agents_beside --qmd
DIR`.

DIR is a folder where `tests/e2e/npm/package.json` was installed with npm, including development dependencies. They
contain qmd and the Markdown documentation of Next.js. The notes are that documentation and the pages of this
repository. Only qmd's lexical search is measured, without its models and its reranker. Each program is asked over MCP
for 5 results, as an agent would ask. Times are processor time, including children.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.timing import Spread, on_one_thread, spread
from recall_core._version import __version__
from recall_core.model_tokens import model_tokens

ROOT = Path(__file__).parents[1]
ROUNDS = 5
SHOWN = 5
"""Results in each answer. A question counts as answered if a right file is one of them."""


class Question(NamedTuple):
    """A question in two forms, and the files that answer it.

    words: the question as an agent types it.
    sentence: the question as a full sentence.
    files: endings of the paths of right files.
    """

    words: str
    sentence: str
    files: tuple[str, ...]


QUESTIONS = (
    Question("gitignore rules", "Why is .gitignore read here instead of asking git?", ("0018-*.md",)),
    Question(
        "deadline receipt", "What is done about a deadline while a question is asked?", ("decisions/0023-*.md",)
    ),
    Question("purge deleted bytes", "Is nothing left of a document after a purge?", ("0021-*.md", "docs/trust.md")),
    Question("vectors sixteen row", "How many vectors lie in one row of the table?", ("decisions/0029-*.md",)),
    Question("pdf page citation", "How is a page of a PDF cited?", ("docs/parsers.md",)),
    Question("subtitles srt", "What becomes of the times in subtitles?", ("docs/parsers.md",)),
    Question("onnx model folder", "How do I use an embedding model of my own?", ("docs/embedders.md",)),
    Question("pins weights", "Which weights keep the chunks that I chose in an answer?", ("docs/tuning.md",)),
    Question("store locked", "What does it mean that the store is locked?", ("docs/errors.md",)),
    Question("chunk size tokens", "Do smaller chunks find more?", ("docs/chunks.md",)),
    Question("nonce inline script", "How do I allow an inline script?", ("content-security-policy.md",)),
    Question("code after response", "How do I run code once the response was sent?", ("04-functions/after.md",)),
    Question(
        "modal intercepting route",
        "How do I open a photo in a modal and keep the page behind it?",
        ("intercepting-routes.md", "parallel-routes.md"),
    ),
    Question("multi zones domain", "How are two applications served on one domain?", ("multi-zones.md",)),
    Question("build memory usage", "What helps when a build runs out of memory?", ("memory-usage.md",)),
    Question(
        "web vitals hook", "How do I measure Core Web Vitals?", ("use-report-web-vitals.md", "02-guides/analytics.md")
    ),
    Question("migrate vite", "How do I move an application over from Vite?", ("from-vite.md",)),
    Question("split sitemap", "How is a large sitemap split?", ("generate-sitemaps.md", "sitemap.md")),
    Question("vitest setup", "How do I test components with Vitest?", ("testing/vitest.md",)),
    Question(
        "static export unsupported", "What does not work when pages are exported as files?", ("static-exports.md",)
    ),
)


class Answer(NamedTuple):
    """An answer.

    text: its text blocks, joined.
    whole: the complete result as JSON.
    files: the files in it, best first.
    """

    text: str
    whole: str
    files: tuple[str, ...]


class Peer(NamedTuple):
    """One way to ask: the command of the server, the command line of a search, and the tool to call."""

    name: str
    serve: tuple[str, ...]
    search: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    environment: Mapping[str, str]

    def call(self, text: str) -> dict[str, Any]:
        """Return the parameters of `tools/call`."""
        if self.tool == "query":
            return {"name": self.tool, "arguments": {"searches": [{"type": "lex", "query": text}], **self.arguments}}
        return {"name": self.tool, "arguments": {"query": text, **self.arguments}}

    def read(self, result: dict[str, Any]) -> Answer:
        """Return the answer in a result of the server."""
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        if "structuredContent" in result:
            files = [each["file"] for each in result["structuredContent"]["results"]]
        else:
            files = re.findall(r"^\d+\. \*\*(.+?\.md)\b", text, re.MULTILINE)
        return Answer(text, json.dumps(result, ensure_ascii=False, separators=(",", ":")), tuple(files))


class Asked(NamedTuple):
    """The answers of one server process, and its processor time from start to end, in milliseconds."""

    answers: list[Answer]
    took_ms: float


def children_ms() -> float:
    """Return the processor time of children that have ended, in milliseconds."""
    used = getrusage(RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def run(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command and return its processor time in milliseconds. Raises CalledProcessError if it fails."""
    before = children_ms()
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return children_ms() - before


def ask(peer: Peer, texts: Sequence[str]) -> Asked:
    """Start the server, ask every question and wait until the server ends."""
    before = children_ms()
    process = subprocess.Popen(
        peer.serve, env=peer.environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client = {"name": "benchmark", "version": "0"}
    _request(process, 0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    _send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    answers = [
        peer.read(_request(process, number, "tools/call", peer.call(text))) for number, text in enumerate(texts, 1)
    ]
    process.communicate()
    return Asked(answers, children_ms() - before)


def _request(process: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            result: dict[str, Any] = message["result"]
            return result
    raise RuntimeError(f"{method}: the server ended")


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def collect(folder: Path, packages: Path) -> int:
    """Copy the notes into a folder and return how many there are. Pages about agents are left out."""
    documentation = packages / "node_modules" / "next" / "dist" / "docs"
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    taken = {Path("recall") / page.relative_to(ROOT): page for page in pages if "/agents" not in page.as_posix()}
    taken |= {Path("next") / page.relative_to(documentation): page for page in documentation.rglob("*.md")}
    for place, page in taken.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, folder / place)
    places = [Path("notes") / place for place in taken]
    gone = [right for each in QUESTIONS for right in each.files if not any(place.match(right) for place in places)]
    if gone:
        raise SystemExit(f"no such note: {', '.join(gone)}")
    return len(taken)


def is_found(question: Question, answer: Answer) -> bool:
    """Return True if a right file is among the first SHOWN results."""
    return any(Path(file).match(right) for file in answer.files[:SHOWN] for right in question.files)


class Lab:
    """A folder with the notes, a Recall store and a qmd index, and the environments in which both run."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.documents = collect(self.notes, packages)
        modules = packages / "node_modules"
        self.node = str(modules / "node" / "bin" / "node")
        self.qmd = (self.node, str(modules / "@tobilu" / "qmd" / "bin" / "qmd"))
        self.recall = (sys.executable, "-m", "recall_core")
        path = os.pathsep.join((str(Path(self.node).parent), os.environ["PATH"]))
        dropped = ("XDG_", "QMD_", "RECALL_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        self.environment = {**kept, "PATH": path, "HOME": str(folder), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def index_qmd(self, number: int) -> tuple[float, int]:
        """Index the notes with qmd. Return the processor time and the size of the index in bytes."""
        home = self.folder / f"qmd-{number}"
        home.mkdir()
        took = run((*self.qmd, "collection", "add", str(self.notes), "--name", "notes"), self._at(home))
        return took, _size(home / ".cache" / "qmd")

    def index_recall(self, number: int, *flags: str) -> tuple[float, int]:
        """Create a store and add the notes. Return the processor time and the size of the store in bytes."""
        home = self.folder / f"recall-{'-'.join(flags)}-{number}"
        took = run((*self.recall, "init", str(home), *flags), self._at(self.folder))
        store = ("--store", str(home))
        took += run((*self.recall, "add", str(self.notes), "--glob", "**/*.md", *store), self._at(self.folder))
        return took, _size(home)

    def peers(self) -> list[Peer]:
        """Return the ways to ask that are compared."""
        store = ("--store", str(self.folder / "recall--0"))
        served, search = (*self.recall, "mcp", *store), (*self.recall, "search", *store, "-n", str(SHOWN))
        mine, home = self._at(self.folder), self._at(self.folder / "qmd-0")
        lexical = {"rerank": False, "limit": SHOWN}
        return [
            Peer("qmd, lex", (*self.qmd, "mcp"), (*self.qmd, "search", "-n", str(SHOWN)), "query", lexical, home),
            Peer("recall, lexical", served, (*search, "--bm25"), "search", {"k": SHOWN, "mode": "lexical"}, mine),
            Peer("recall, defaults", served, search, "search", {"k": SHOWN}, mine),
        ]

    def _at(self, home: Path) -> dict[str, str]:
        return {**self.environment, "HOME": str(home)}


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


class Times(NamedTuple):
    """Milliseconds of each round.

    cold: one search as a command.
    first: a server from its start to its first answer.
    following: each further answer of that server.
    """

    cold: list[float]
    first: list[float]
    following: list[float]


def times(peers: Sequence[Peer]) -> list[Times]:
    """Measure every peer in turn, round by round. The first round does not count."""
    texts = [each.words for each in QUESTIONS] + [each.sentence for each in QUESTIONS]
    measured = [Times([], [], []) for _ in peers]
    for number in range(ROUNDS + 1):
        some = QUESTIONS[number::ROUNDS]
        for peer, taken in zip(peers, measured, strict=True):
            first, every = ask(peer, texts[:1]).took_ms, ask(peer, texts).took_ms
            taken.cold.append(sum(run((*peer.search, each.words), peer.environment) for each in some) / len(some))
            taken.first.append(first)
            taken.following.append((every - first) / (len(texts) - 1))
    return [Times(*(values[1:] for values in each)) for each in measured]


def answers_of(peer: Peer) -> str:
    """Return the row of a peer for the table of answers."""
    found, answers = [], []
    for texts in ([each.words for each in QUESTIONS], [each.sentence for each in QUESTIONS]):
        some = ask(peer, texts).answers
        found.append(sum(is_found(*pair) for pair in zip(QUESTIONS, some, strict=True)))
        answers += some
    answered = [each for each in answers if each.files]
    text, whole = _amount([each.text for each in answered]), _amount([each.whole for each in answered])
    missing = len(answers) - len(answered)
    return f"| {peer.name} | {found[0]} of 20 | {found[1]} of 20 | {missing} of 40 | {text} | {whole} |"


def _times_row(peer: Peer, ours: Times, baseline: Times) -> str:
    cells = [
        f"{median(some):.0f} ms, {ratio.median:.2f} × ({ratio.least:.2f} to {ratio.most:.2f})"
        for some, others in zip(ours, baseline, strict=True)
        for ratio in (spread([one / other for one, other in zip(some, others, strict=True)]),)
    ]
    return f"| {peer.name} | {' | '.join(cells)} |"


def _amount(texts: Sequence[str]) -> str:
    size, tokens = (median(map(count, texts)) for count in (lambda text: len(text.encode()), model_tokens))
    return f"{size:.0f} B, {tokens:.0f} tokens"


def _indexing(name: str, taken: Sequence[tuple[float, int]]) -> str:
    took: Spread = spread([each[0] / 1000 for each in taken])
    return f"| {name} | {took.median:.2f} s ({took.least:.2f} to {took.most:.2f}) | {taken[0][1] / 1e6:.1f} MB |"


def _version(packages: Path, name: str) -> str:
    return str(json.loads((packages / "node_modules" / name / "package.json").read_text(encoding="utf-8"))["version"])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents_beside", description=__doc__)
    parser.add_argument("--qmd", type=Path, help="folder with the installed npm packages")
    options = parser.parse_args(argv)
    if options.qmd is None or not (options.qmd / "node_modules" / "@tobilu").is_dir():
        print("qmd not found: copy tests/e2e/npm/package.json into a folder, run `npm install`, pass --qmd FOLDER")
        return 0
    packages = options.qmd.absolute()
    versions = {name: _version(packages, name) for name in ("@tobilu/qmd", "next", "node")}
    with TemporaryDirectory(prefix="recall-beside-") as folder:
        lab = Lab(Path(folder), packages)
        programs = ", ".join(f"{name} {version}" for name, version in versions.items())
        size = _size(lab.notes) / 1e6
        print(f"{date.today()}: recall {__version__}, {programs}; {lab.documents} notes, {size:.1f} MB\n")
        print("| | indexing, processor time | on disk |\n|---|---|---|")
        print(_indexing("qmd, no vectors", [lab.index_qmd(number) for number in range(3)]))
        print(_indexing("recall, defaults", [lab.index_recall(number) for number in range(3)]))
        hashed = [lab.index_recall(number, "--embedding", "hash") for number in range(3)]
        print(_indexing("recall, `--embedding hash`", hashed), end="\n\n")
        peers = lab.peers()
        print("| | words: found | sentences: found | no answer | text | whole result |\n|---|---|---|---|---|---|")
        print("\n".join(map(answers_of, peers)), end="\n\n")
        measured = times(peers)
        print("| | a command | served: the first answer | served: each more |\n|---|---|---|---|")
        for peer, taken in zip(peers, measured, strict=True):
            print(_times_row(peer, taken, measured[0]))
    return 0


if __name__ == "__main__":
    on_one_thread("benchmarks.agents_beside")
    raise SystemExit(main())
