"""Same store, same query, same bytes, whatever happened to the file and however the answer is computed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.types import Root

WORDS = "engine store signal pool candidate hit budget plan weight chunk document token vector query answer".split()
QUESTIONS = ["store signal budget", "query weight", "vector tokens in a chunk", "unknown"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("made")
    docs = tmp_path / "docs"
    docs.mkdir()
    for n in range(60):
        text = "\n\n".join(
            " ".join(WORDS[(n * i + j * 7 + i) % len(WORDS)] for i in range(1, 40 + n)) for j in range(1 + n % 5)
        )
        (docs / f"{n}.txt").write_text(text)
        os.utime(docs / f"{n}.txt", ns=(1_700_000_000_000_000_000 + n, 1_700_000_000_000_000_000 + n))
    Recall.init(str(tmp_path), settings=("chunk_tokens=60", "overlap_tokens=10"))
    with Recall.open(start=tmp_path) as recall:
        ingest(recall, docs)
    return tmp_path


@pytest.fixture(scope="module")
def before(template: Path) -> str:
    """Return the reader's view of the fresh store."""
    return answers(template / "recall.db")


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def ingest(recall: Recall, *targets: Path) -> None:
    for _ in recall.add([str(target) for target in targets], Root("")):
        pass


def answers(store: Path, *, memory_mb: int = 512) -> str:
    """Return everything a reader gets, without what store and query do not determine."""
    with Recall.open(str(store)) as recall:
        recall.store.memory_mb = memory_mb
        responses: list[Any] = []
        for words in QUESTIONS:
            modes = ("hybrid", "lexical", "semantic")
            responses += [recall.search(words, Ask(mode=mode, explain=True, k=30)) for mode in modes]
            responses.append(recall.context(words, Ask(), Pack(budget_tokens=150)))
        responses.append(
            recall.query("SELECT * FROM chunk FILTER chunk.tokens > 40 ORDER BY doc.mtime DESC LIMIT 20")
        )
    for response in responses:
        del response["stats"]["took_ms"], response["stats"]["timings"]
    return json.dumps(responses, ensure_ascii=False)


def test_compaction_keeps_answers_byte_identical(home: Path) -> None:
    with Recall.open(start=home) as recall:
        (home / "docs" / "extra.txt").write_text("store signal budget " * 30)
        ingest(recall, home / "docs" / "extra.txt")
        recall.remove([str(home / "docs" / "extra.txt")])
    before = answers(home / "recall.db")
    with Recall.open(start=home) as recall:
        recall.compact()
    assert answers(home / "recall.db") == before


def test_export_and_import_keep_answers_byte_identical(home: Path, before: str) -> None:
    with Recall.open(start=home) as recall, (home / "out.jsonl").open("w") as out:
        recall.export(out)
    (home / "recall.db").rename(home / "first.db")
    Recall.init(str(home))
    with Recall.open(start=home) as recall:
        recall.import_(home / "out.jsonl")
    assert answers(home / "recall.db") == before


def test_ingest_order_and_batches_keep_answers_byte_identical(home: Path, before: str) -> None:
    (home / "recall.db").unlink()
    Recall.init(str(home))
    with Recall.open(start=home) as recall:
        step = 1 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 5
        for last in range(60, 0, -step):
            ingest(recall, *(home / "docs" / f"{n}.txt" for n in reversed(range(last - step, last))))
    assert answers(home / "recall.db") == before


def test_numpy_and_plain_python_and_cold_process_agree(home: Path, before: str) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.conformance.test_determinism import answers\n"
        "if sys.argv[2] == 'numpy': import numpy\n"
        "text = answers(Path(sys.argv[1]), memory_mb=512 if sys.argv[2] == 'numpy' else 0)\n"
        "assert ('numpy' in sys.modules) == (sys.argv[2] == 'numpy')\n"
        "sys.stdout.buffer.write(text.encode())"
    )
    root = Path(__file__).parents[2]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script, str(home / "recall.db"), how], cwd=root, capture_output=True, check=True
        ).stdout.decode()
        for how in ("plain", "numpy")
    ]
    assert outputs[0] == outputs[1] == before
