"""The seam to a store: how it is written, one batch at a time; `port` has what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from recall_core.store.care import JudgementWriter
from recall_core.types import MetaValue, NewFile, Root, Stamp, Vector


class Writer(Protocol):
    """One atomic batch of changes; everything becomes visible at once when its `with` block ends."""

    @property
    def judgements(self) -> JudgementWriter:
        """Changes to judgements in the same batch."""

    def put(self, file: NewFile) -> None:
        """Replace whatever the store holds for this file's path by these documents."""

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file was touched and its bytes did not change."""

    def settle(self, path: str, digest: str, stamp: Stamp) -> None:
        """Record ctime and inode of a file whose size, time and bytes, of that sha256, are as they were read."""

    def relabel(
        self,
        path: str,
        *,
        tags: tuple[str, ...] | None,
        source: str | None,
        meta: Mapping[str, MetaValue] | None,
    ) -> bool:
        """Replace labels of a file's documents (None keeps what stands); True when anything changed.

        meta: these keys are set, others stay, because a record's own fields live there too.
        """

    def tombstone(self, paths: Iterable[str]) -> int:
        """Take these files' documents, or single records, out of every index; returns how many documents left."""

    def put_root(self, root: Root, *, is_active: bool = True) -> None:
        """Remember a root, once. is_active: False leaves a new one aside until it is put again without."""

    def leave_out(self, root: Root, paths: Iterable[str]) -> None:
        """Keep in mind that these files, or records, of a root are not read again."""

    def take_back(self, paths: Iterable[str]) -> None:
        """Let these files and records be read again, whatever root left them out."""

    def begin_purge(self, paths: Iterable[str], *, asked: Iterable[str] = ()) -> None:
        """Record, until `Store.purge` has done its work, that nothing of these documents may be left.

        asked: hashes of the names that the purge was asked for, see `Maintenance.last_purge`.
        """

    def renew_root(self, root: Root) -> None:
        """Make a remembered root the one that was added last; its files stay with it."""

    def edit_root(self, before: Root, after: Root, paths: Iterable[str]) -> None:
        """Change a remembered root in its place. paths: files that `is_edited` from now on."""

    def forget_roots(self, folders: Iterable[str]) -> None:
        """Stop syncing these folders."""

    def forget_root(self, root: Root) -> None:
        """Forget one root, whatever others there are of its folder; its documents stay."""

    def keep_told(self, skips: Iterable[str]) -> None:
        """Keep in mind which skips were told, in the place of those before; see `Maintenance.told_skips`."""

    def cut_by(self, *, chunker: str, counter: str) -> None:
        """Record what cuts texts into chunks and counts their tokens from now on; see `StoreInfo`."""

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Keep text_hash to (vector, windows) for chunks that come later; no answer changes."""
