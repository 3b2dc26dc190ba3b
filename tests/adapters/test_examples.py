"""The example scripts for LangChain and LangGraph, and imports without their packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHOUT = """
import sys
from recall_core import RecallError
sys.modules["langchain_core"] = None
try:
    import recall_core.interfaces.langchain
except RecallError as error:
    print(error.code, error.hint)
"""


@pytest.mark.parametrize(
    ("script", "package", "printed"),
    [
        ("langchain_rag.py", "langchain_core", "deploy.md:1-1\nUndo a deploy"),
        ("retriever_node.py", "langgraph", "Undo a deploy with --undo."),
    ],
)
def test_examples_find_the_note(tmp_path: Path, script: str, package: str, printed: str) -> None:
    pytest.importorskip(package, reason="needs the extras langchain and langgraph")
    (tmp_path / "deploy.md").write_text("Undo a deploy with --undo.\n")
    (tmp_path / "cake.md").write_text("Bake the cake.\n")
    path = tmp_path if script == "langchain_rag.py" else tmp_path / "deploy.md"
    command = [sys.executable, str(EXAMPLES / script), str(path), "undo", "deploys"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert printed in done.stdout


def test_import_without_langchain_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("package_missing ")
    assert "langchain-core" in done.stdout


def test_core_imports_no_ecosystem() -> None:
    script = "import sys, recall_core.interfaces.foreign, recall_core.interfaces.langgraph; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert {"langchain_core", "langgraph", "llama_index", "haystack"}.isdisjoint(done.stdout.split())
