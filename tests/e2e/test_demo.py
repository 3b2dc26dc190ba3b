"""The demo, run as `make demo` runs it, on a small library."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from recall_tui.demo import link_library, write_topics

ROOT = Path(__file__).parents[2]
CITATION = re.compile(r"^\[\d+\] (?P<path>.+):\d+-\d+  characters (?P<offset>\d+)-(?P<end>\d+)  verbatim$", re.M)
LIBRARY = {
    "jobs/command.py": '"""Run a command with a timeout and capture its output: café."""\n\nTIMEOUT = "é"\n',
    "jobs/sockets.py": '"""Wait for many sockets at once."""\n\ndef wait(sockets):\n    return sorted(sockets)\n',
    "jobs/test/test_command.py": "def test_command_output_is_captured_before_the_timeout():\n    assert True\n",
}
TOPICS = None if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 20
TWICE = f"""
from pydoc_data import topics
from recall_tui.demo import main
topics.topics = dict(list(topics.topics.items())[:{TOPICS}])
assert main() == 0
print("once more", flush=True)
assert main() == 0
"""
"""The demo over some topics of the reference in CI, and over all at night."""


class Demo(NamedTuple):
    folder: Path
    library: Path
    first: str
    second: str


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Return the printed tour of a new demo store, and of the same store a second time."""
    top = tmp_path_factory.mktemp("demo")
    library = top / "library"
    write_tree(library, LIBRARY)
    command = [sys.executable, "-c", TWICE, "--dir", str(top / "store"), "--source", str(library)]
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = done.stdout.split("once more\n")
    return Demo(top / "store", library, first, second)


def write_tree(top: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")


def files_of(demo: Demo) -> int:
    return len(list((demo.folder / "topics").glob("*.txt"))) + 2


def test_demo_finds_the_file_that_answers_the_question(demo: Demo) -> None:
    search = demo.first.split("$ recall ")[1]

    assert "library/jobs/command.py:1\n" in search


def test_demo_explains_the_first_hit(demo: Demo) -> None:
    explanation = demo.first.split("$ recall ")[2]

    assert "lexical" in explanation
    assert "semantic" in explanation


def test_demo_cites_only_text_from_the_cited_file(demo: Demo) -> None:
    cited = list(CITATION.finditer(demo.first))

    assert cited
    for citation in cited:
        text = (demo.folder / citation["path"]).read_bytes().decode("utf-8")
        assert text[int(citation["offset"]) : int(citation["end"])] in demo.first


def test_demo_omits_the_tests_of_the_library(demo: Demo) -> None:
    assert "test_command.py" not in demo.first
    assert re.search(rf"^documents +{files_of(demo)}$", demo.first, re.M)


def test_second_demo_reports_that_it_embeds_nothing(demo: Demo) -> None:
    assert not demo.first.startswith("chunks: 0 embedded")
    assert demo.second.startswith("chunks: 0 embedded, 0 reused; ")
    assert f" {files_of(demo)} unchanged of {files_of(demo)};" in demo.second


def test_second_demo_gives_the_same_context(demo: Demo) -> None:
    first, second = (text.split("$ recall ")[3] for text in (demo.first, demo.second))

    assert first == second


def test_existing_topics_are_not_rewritten(tmp_path: Path) -> None:
    count = write_topics(tmp_path)
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))

    again = write_topics(tmp_path)

    assert again == count == len(list(tmp_path.iterdir()))
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} <= {1}


def test_upgraded_python_library_replaces_the_old_one(tmp_path: Path) -> None:
    for version in ("python3.11", "python3.12"):
        write_tree(tmp_path / version, {"version.py": version})
    link_library(tmp_path / "library", tmp_path / "python3.11")

    link_library(tmp_path / "library", tmp_path / "python3.12")

    assert (tmp_path / "library" / "version.py").read_text(encoding="utf-8") == "python3.12"
