"""The care of stores as responses: a backup that is checked, what a file holds, and what mends a damaged one."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import maintain, paths
from recall_core.api.engine import Engine
from recall_core.api.stores import store_kind, store_url
from recall_core.config import FILE_NAME, load
from recall_core.contract import OK
from recall_core.embed.trust import EMBEDDER, FoundSettings
from recall_core.types import Progress

if TYPE_CHECKING:
    from recall_core.contract.responses import BackupResponse, DoctorResponse, RecoverResponse, VerifyResponse


def backup(
    engine: Engine, target: Path, *, force: bool = False, mode: int | None = None
) -> Generator[Progress, None, BackupResponse]:
    """Copy the store of one moment into a file, in steps that say how far it is; see `Recall.backup`.

    force: take the place of a file that is there. mode: of the copy, which else is for its owner alone.
    Until the last step the target is as it was.
    """

    kind = store_kind(store_url(engine.store.path).kind)
    view = yield from maintain.copies.backup(engine.store, target, kind=kind, force=force, mode=mode)
    return {**OK, "backup": view, "warnings": []}


def verify(source: Path) -> VerifyResponse:
    """Check a store's file, a backup or an export."""

    view, checks = maintain.copies.verify(source, store_kind("sqlite"))
    return {**OK, "verified": view, "checks": checks, "warnings": []}


def doctor(engine: Engine, *, fix: bool, dups: bool) -> DoctorResponse:
    """Every check of the store, mended where that is wanted; an embedder that waits to be accepted is not asked."""
    with engine.store.guard.turn():  # a check that is refused would read as damage
        checks = maintain.doctor.doctor(
            engine.store,
            engine.base,
            config=engine.usable,
            own=lambda: engine.embedder,
            is_known=engine.usable == engine.config,
            fix=fix,
            dups=dups,
        )
    return {**OK, "checks": checks, "warnings": []}


def recover(old: Path, new: Path) -> RecoverResponse:
    """Make a new store of what can be read of a damaged one."""

    toml = paths.absolute(old).parent / FILE_NAME
    found = FoundSettings(load(toml), toml) if toml.is_file() else None
    config = found.config if found is not None and found.refusal(EMBEDDER) is None else None
    view, checks = maintain.copies.recover(old, new, kind=store_kind("sqlite"), config=config)
    return {**OK, "recovered": view, "checks": checks, "warnings": []}
