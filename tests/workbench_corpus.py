"""The small store for tests of the workbench: the same bytes, times and ids on every machine."""

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from recall_core.api.recall import Recall
from recall_core.types import Root
from tests.provider_server import ProviderServer

MODIFIED = 1_700_000_000 * 10**9
QUESTION = "token budget"
PARTS = ("docs", "manual", "notes", "src")

TEXTS = {
    "docs/budget.md": (
        "# Token budget\n\nA context has a budget of tokens. Chunks are packed by score until it is spent.\n\n"
        "## Headers\n\nHeaders and separators count against the budget too.\n"
    ),
    "docs/files.md": (
        "# Reading files\n\nIterate over a file object: it yields one line at a time, so memory stays small.\n"
        "Use a with block so that it is closed.\n"
    ),
    "docs/scoring.md": (
        "# Scoring\n\nThe lexical signal weighs a rare token more than a common one.\n"
        "The semantic signal is a cosine.\n"
    ),
    "notes/cafe.txt": "Le café est fermé. 打开文件, then read it.\n",
    "notes/diary.txt": "Today the budget of the household was spent on tea.\n",
    "src/pack.py": (
        'def pack(hits, budget):\n    """Pack hits under a token budget."""\n    return list(hits)[:budget]\n'
    ),
    "src/read.py": (
        'def lines(path):\n    """Yield every line of a file."""\n'
        "    with open(path) as file:\n        yield from file\n"
    ),
}
TEXTS |= {
    f"manual/part{number:02}.txt": (
        f"Part {number} of the manual.\n\n" + f"Section {number} explains step {number}. " * (4 + number % 5) + "\n"
        "Keep the budget in mind.\n"
    )
    for number in range(1, 31)
}


def write_corpus(folder: Path) -> None:
    """Write the texts below a folder, all with the same time."""
    for path, text in TEXTS.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        os.utime(place, ns=(MODIFIED, MODIFIED))


@cache
def _template() -> Path:
    """Return a store over the corpus, made once for all tests of a process; it contains no absolute path."""
    folder = mkdtemp(prefix="corpus-")
    atexit.register(shutil.rmtree, folder)
    return _make(Path(folder), None, ())


def build_store(folder: Path, embedding: str | None = None, settings: tuple[str, ...] = ()) -> Path:
    """Make a store over the corpus and other files in this folder; return the database file."""
    if embedding or settings or any((folder / part).exists() for part in PARTS):
        return _make(folder, embedding, settings)
    store = _template()
    shutil.copytree(store.parent, folder, dirs_exist_ok=True)
    return folder / store.name


def _make(folder: Path, embedding: str | None, settings: tuple[str, ...]) -> Path:
    write_corpus(folder)
    Recall.init(str(folder), embedding=embedding, settings=("pack_counter=whitespace", *settings))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / part) for part in PARTS], Root("")):
            pass
        return Path(recall.store.info().path)


def build_store_elsewhere(folder: Path, server: ProviderServer) -> Path:
    """Make the same store with vectors of a server that counts as remote: its address is not loopback."""
    url = server.url.replace("127.0.0.1", "0.0.0.0")
    return build_store(folder, "ollama", (f"embedding_url={url}", "allow_network=true"))
