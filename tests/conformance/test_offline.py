"""Without a network everything works: stores are made and searched, and answers have the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.examples import mostly_nightly

TEXTS = {
    "deploy.md": "# Deploying\n\nRolling restarts drain one server after the other, without downtime.\n",
    "cake.md": "# Apple cake\n\nTwo eggs, flour, butter and a pinch of salt.\n",
    "long.md": "# Log\n\n" + "The night engineer tested pumps, valves and engines before the vessel left. " * 40,
}
ALONE = ("unshare", "--user", "--map-root-user", "--net")
SCRIPT = """
import json, socket, sys
from pathlib import Path
from recall_core.api.recall import Ask, Recall
from recall_core.types import Root

is_alone = [name for _, name in socket.if_nameindex()] == ["lo"]
answers = [Recall.init(".", embedding=sys.argv[1])]
with Recall.open(start=Path.cwd()) as recall:
    for _ in recall.add(["."], Root("")):
        pass
    answers += [recall.search(words, Ask(explain=True)) for words in ("restart a server", "eggs", "ship engines")]
for answer in answers:
    for key in ("took_ms", "timings"):
        answer["stats"].pop(key, None)
print(json.dumps([is_alone, answers]))
"""

pytestmark = pytest.mark.netns


def refusal() -> str | None:
    """Return the reason why this machine cannot cut off a process from the network, or None."""
    if shutil.which(ALONE[0]) is None:
        return "needs unshare on PATH"
    tried = subprocess.run([*ALONE, "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"this machine does not permit it: {tried.stderr.strip()}"


def ask_new_store(folder: Path, embedding: str, *prefix: str) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether the process had no network, and the answers of a new store in this folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    command = [*prefix, sys.executable, "-c", SCRIPT, embedding]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    is_alone, answers = json.loads(done.stdout)
    return is_alone, answers


@pytest.mark.parametrize("embedding", mostly_nightly(["hash", "local", "minilm"], "local"))
def test_answers_are_identical_without_network(tmp_path: Path, embedding: str) -> None:
    reason = refusal()
    if reason is not None:
        pytest.skip(reason)
    _, with_network = ask_new_store(tmp_path / "store", embedding)

    is_alone, without = ask_new_store(tmp_path / "store", embedding, *ALONE)

    assert is_alone
    assert json.dumps(without) == json.dumps(with_network)
    assert [answer["ok"] for answer in without] == [True] * 4
    assert without[1]["results"][0]["doc"]["path"] == "deploy.md"
