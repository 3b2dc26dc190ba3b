"""What changes a store that is filled: documents that leave, other vectors, other chunks; as responses."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial

from recall_core import evaluate, maintain
from recall_core.api.engine import Engine
from recall_core.config import GivenSettings
from recall_core.contract import OK
from recall_core.contract.responses import RechunkResponse, ReembedResponse, RemoveResponse
from recall_core.types import Progress


def remove(engine: Engine, targets: Sequence[str], *, purge: bool, dry_run: bool) -> RemoveResponse:
    """Take documents out, or name them. purge: so that no byte of their text, nor a judgement, is left."""

    purging = partial(evaluate.judgements.forget, engine.store) if purge else None
    view = maintain.remove.remove(engine.store, targets, base=engine.base, purge=purging, dry_run=dry_run)
    return {**OK, "removed": view, "warnings": []}


def reembed(engine: Engine, name: str, settings: GivenSettings) -> Generator[Progress, None, ReembedResponse]:
    """Make every vector anew with another embedder; the settings follow."""

    done = yield from maintain.embedders.reembed(engine.store, name, settings, found=engine.found, toml=engine.toml)
    engine.take_over(done.found)
    return {**OK, "reembedded": done.view, "warnings": [*done.warnings, *engine.notes()]}


def rechunk(engine: Engine, settings: GivenSettings, *, dry_run: bool) -> Generator[Progress, None, RechunkResponse]:
    """Cut every document anew; the settings follow."""

    found, toml = engine.found, engine.toml
    done = yield from maintain.rechunk.rechunk(
        engine.store, settings, found=found, toml=toml, own=lambda: engine.embedder, dry_run=dry_run
    )
    engine.take_over(done.found)
    return {**OK, "rechunked": done.view, "warnings": [*done.warnings, *engine.notes()]}
