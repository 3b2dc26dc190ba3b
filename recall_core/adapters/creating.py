"""What `recall init` decides for a new store, and what it says of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from recall_core import paths
from recall_core.config import FILE_NAME, Config, load
from recall_core.contract.responses import Response
from recall_core.embed.registry import HASH_NOTE, kind
from recall_core.ingest import discover, kinds
from recall_core.shell import Hint
from recall_core.types import Root

_LOOKED_AT = 20_000  # files of a folder, by whose names it is told what they want


def best_here(folder: Path, settings: tuple[str, ...]) -> str | None:
    """`local` where it is installed and nobody said a word of the embedder; None leaves it to the settings."""
    is_said = any(each.strip().startswith("embedding") for each in settings) or (folder / FILE_NAME).exists()
    return None if is_said or kind("local").missing(Config()) is not None else "local"


def created(made: Response) -> Iterator[str]:
    """What init made, with which embedder and what that means, and what comes next."""
    path = Path(made["store"]["path"])
    config = load(path.parent / FILE_NAME)
    store = None if path.parent == paths.known() else str(path)
    yield f"{'made':<10}{path} and {FILE_NAME} beside it"
    yield f"{'embedder':<10}{_meaning(config)}"
    offer = "" if (better := _better_ranking(config, store)) is None else f"  for better ranking: {better}"
    for line in _wanted(path.parent):
        yield f"{'wanted':<10}{line}"
    yield f"{'next':<10}{Hint('add', 'PATH', store=store)}{offer}"


def _wanted(folder: Path) -> Iterator[str]:
    """What the files of a folder would be read with that is not installed, as far as the first of them tell."""
    steps = islice(discover.walk(Root("."), folder, Config()), _LOOKED_AT)
    for files, what, install in kinds.missing_packages(
        step.path for step in steps if isinstance(step, discover.Found)
    ):
        yield f"{files:,} {what}{'s' * (files > 1)}: {install}"


def _meaning(config: Config) -> str:
    """The embedder, what its vectors match, and why it is not the better one."""
    found = kind(config.embedding)
    if found.name != "hash":
        where = "; texts leave this machine" if found.sends_text(config) else ""
        return f"{config.embedding}: {found.purpose}{where}"
    reason = kind("local").missing(config)
    return f"hash: {HASH_NOTE}" + ("" if reason is None else f"; {reason}")


def _better_ranking(config: Config, store: str | None) -> Hint | None:
    """What has a store ranked as well as its machine can without a model that reads every text; None where it is."""
    if config.rerank or config.embedding not in ("hash", "local"):
        return None
    if any(kind(name).missing(config) is not None for name in ("local", "minilm")):
        return None
    return Hint("reembed", "local", set="rerank=minilm", store=store)
