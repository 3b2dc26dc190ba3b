"""A store over pages written by people: the project's decisions, in chunks of a hundred tokens."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from recall_core.api.recall import Recall
from recall_core.types import Root
from tests.workbench_corpus import MODIFIED

PAGES = Path(__file__).parents[1] / "docs" / "decisions"
PATTERN = "00[0-3]?-*.md"
QUESTION = "how is the token budget kept"
MISSING = "0013-fold-the-log-on-close.md"
"""A page outside the first fifty rows of the query."""


def build_pages(folder: Path) -> Path:
    """Make a separate store over the pages in this folder and return the database file."""
    made = _make()
    shutil.copytree(made.parent, folder, dirs_exist_ok=True)
    return folder / made.name


@cache
def _make() -> Path:
    """Return the store, made once for all tests of a process."""
    folder = Path(mkdtemp(prefix="pages-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "decisions").mkdir()
    for page in sorted(PAGES.glob(PATTERN)):
        copy = folder / "decisions" / page.name
        copy.write_bytes(page.read_bytes())
        os.utime(copy, ns=(MODIFIED, MODIFIED))
    Recall.init(str(folder), settings=("chunk_tokens=100", "overlap_tokens=20"))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "decisions")], Root("")):
            pass
        return Path(recall.store.info().path)
