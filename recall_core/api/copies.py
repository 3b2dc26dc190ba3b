"""Copies of stores as responses: a backup that is checked, and what a file holds."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from recall_core.api.engine import Engine
from recall_core.api.stores import store_kind, store_url
from recall_core.contract import OK
from recall_core.contract.responses import BackupResponse, VerifyResponse
from recall_core.maintain import copies
from recall_core.types import Progress


def backup(
    engine: Engine, target: Path, *, force: bool = False, mode: int | None = None
) -> Generator[Progress, None, BackupResponse]:
    """Copy the store of one moment into a file, in steps that say how far it is; see `Recall.backup`.

    force: take the place of a file that is there. mode: of the copy, which else is for its owner alone.
    Until the last step the target is as it was.
    """
    kind = store_kind(store_url(engine.store.path).kind)
    view = yield from copies.backup(engine.store, target, kind=kind, force=force, mode=mode)
    return {**OK, "backup": view, "warnings": []}


def verify(source: Path) -> VerifyResponse:
    """Check a store's file, a backup or an export."""
    view, checks = copies.verify(source, store_kind("sqlite"))
    return {**OK, "verified": view, "checks": checks, "warnings": []}
