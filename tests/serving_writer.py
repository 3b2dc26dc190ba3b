"""A process that changes a store commit by commit and reports its states, and a check of answers against them.

Each commit adds a new file and rewrites one of a few others. Every state therefore lacks something from the state
before it, and contains something new.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from recall_core.api.recall import Recall

ROOT = Path(__file__).parents[1]
RESTLESS = 7
"""Files that are rewritten in turn; only they contain the word `restless`."""
WORDS = "quokka wombat heron minnow trout stalks river bank morning slowly stone branch shadow water grass".split()


class Chunk(NamedTuple):
    """A chunk by its id. Its life begins at one state and ends at another; None while it lives."""

    path: str
    text: str
    born: int
    died: int | None = None


class History:
    """The committed states by digest, and the chunks in each."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.counts: list[int] = []
        self.chunks: dict[str, Chunk] = {}
        self._ids: dict[str, str] = {}
        """By text; no two chunks have the same."""
        self._live: dict[str, set[str]] = {}
        """The chunks of each path in the last state."""

    def read(self, journal: Path) -> None:
        """Read the new lines of the journal."""
        whole, _, _ = journal.read_text(encoding="utf-8").rpartition("\n")
        for line in whole.splitlines()[len(self.counts) :]:
            self.add(json.loads(line))

    def add(self, commit: Mapping[str, Any]) -> None:
        """Add the next state: its digest, and the chunks of each changed path."""
        state = len(self.counts)
        for path, chunks in commit["paths"].items():
            before = self._live.get(path, set())
            for gone in before - chunks.keys():
                self.chunks[gone] = self.chunks[gone]._replace(died=state)
            self._live[path] = set(chunks)
            self.chunks |= {each: Chunk(path, text, state) for each, text in chunks.items() if each not in before}
            self._ids |= {text: each for each, text in chunks.items()}
        self.numbers[commit["digest"]] = state
        self.counts.append(sum(map(len, self._live.values())))

    def complaints(self, answer: Mapping[str, Any], *, is_of_all: bool) -> Iterator[str]:
        """Yield the reasons why an answer belongs to no committed state. is_of_all: the query matches every chunk."""
        stats = answer.get("stats") or answer.get("store") or {}
        if "digest" not in stats:
            return
        state = self.numbers.get(stats["digest"])
        if state is None:
            yield f"no state has the digest {stats['digest'][:12]}"
            return
        for chunk_id, path, text in _chunks_of(answer):
            held = self.chunks.get(chunk_id)
            if held is None or held.born > state or (held.died is not None and held.died <= state):
                yield f"state {state} does not hold {chunk_id[:12]} of {path}"
            elif held.path != path or (text is not None and held.text != text):
                yield f"{chunk_id[:12]} of {path} is another text in state {state}"
        total = _total(answer)
        if is_of_all and total is not None and total != self.counts[state]:
            yield f"{total} chunks in all, of {self.counts[state]} in state {state}"

    def is_of_one(self, texts: Iterable[str]) -> bool:
        """Return True if one state contained all of these texts."""
        lives = [self.chunks.get(self._ids.get(text, "")) for text in texts]
        born = [0 if each is None else each.born for each in lives]
        died = [0 if each is None else len(self.counts) if each.died is None else each.died for each in lives]
        return not lives or max(born) < min(died)


def _chunks_of(answer: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    for result in answer.get("results", []):
        if "chunk" in result:
            yield result["chunk"]["id"], result["doc"]["path"], result["chunk"]["text"]
    for chunk in answer.get("context", {}).get("chunks", []):
        yield chunk["id"], chunk["path"], None  # the last line may be incomplete
    for name in ("chunk", "other"):
        ledger = answer.get("explanation", {}).get(name)
        if ledger is not None:
            yield ledger["id"], ledger["path"], None
    chosen = answer.get("whynot", {}).get("target", {}).get("chosen")
    if chosen is not None:
        yield chosen["chunk_id"], chosen["path"], None


def _total(answer: Mapping[str, Any]) -> int | None:
    """Return the number of chunks that the answer counts."""
    total: int | None = answer.get("stats", {}).get("total_hits", answer.get("store", {}).get("chunks"))
    return total


def filled(base: Path, files: int, *, seed: int = 0, **settings: Any) -> Path:
    """Make a store of `files` files, and the journal that a writer continues."""
    base.mkdir(parents=True, exist_ok=True)
    Recall.init(str(base), embedding="hash", settings={"embedding_dim": 64, **settings})
    for number in range(files):
        _write(base, f"docs/first{number:05}.md", number, seed)
    for number in range(RESTLESS):
        _write(base, f"docs/restless{number}.md", -1, seed)
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs"))
        held = recall.query("SELECT chunk.id, chunk.text, doc.path FROM chunk LIMIT 100000")["results"]
        (base / "journal").write_text(_line(recall, held), encoding="utf-8")
    return base


def started(base: Path, commits: int, *, first: int = 0) -> subprocess.Popen[bytes]:
    """Start a writer of `commits` commits, which continues the journal in the store's folder."""
    command = [sys.executable, "-m", "tests.serving_writer", str(base), str(first), str(commits)]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def caught_up(base: Path) -> int:
    """Add the unreported commits of a killed writer to the journal; return its number of states."""
    journal = base / "journal"
    whole = journal.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
    with Recall.open(str(base)) as recall:
        if json.loads(whole[-1])["digest"] != recall.store.info().digest:
            rows = recall.query("SELECT chunk.id, chunk.text, doc.path FROM chunk LIMIT 100000")["results"]
            whole.append(_line(recall, rows).strip())
    journal.write_text("\n".join(whole) + "\n", encoding="utf-8")
    return len(whole)


def main(base: Path, first: int, commits: int) -> None:
    """Commit, read the new state and report it."""
    with Recall.open(str(base)) as recall, (base / "journal").open("a", encoding="utf-8") as journal:
        for number in range(first, first + commits):
            journal.write(commit(recall, base, number))
            journal.flush()


def commit(recall: Recall, base: Path, number: int) -> str:
    """Make one commit with a new file and a rewritten one; return the line for the journal."""
    names = (f"docs/new{number:05}.md", f"docs/restless{number % RESTLESS}.md")
    for name in names:
        _write(base, name, number, 1)
    recall.index(*(str(base / name) for name in names))
    paths = ", ".join(f"'{name}'" for name in names)
    rql = f"SELECT chunk.id, chunk.text, doc.path FROM chunk FILTER doc.path IN ({paths}) LIMIT 1000"
    return _line(recall, recall.query(rql)["results"])


def _line(recall: Recall, rows: Any) -> str:
    paths: dict[str, dict[str, str]] = {}
    for row in rows:
        paths.setdefault(row["doc"]["path"], {})[row["chunk"]["id"]] = row["chunk"]["text"]
    return json.dumps({"digest": recall.store.info().digest, "paths": paths}) + "\n"


def _write(base: Path, name: str, number: int, seed: int) -> None:
    path = base / name
    path.parent.mkdir(exist_ok=True)
    words = " ".join(Random(f"{name} {number} {seed}").choices(WORDS, k=24))
    restless = "restless " if "restless" in name else ""
    path.write_text(f"# {path.stem}\n\n{restless}common {words}, version {number}.\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
