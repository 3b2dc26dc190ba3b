"""Model files inside installed packages: where they lie, and whether they are the ones that were tested."""

from __future__ import annotations

import mmap
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from recall_core._lazy import hashlib
from recall_core.errors import EmbedError, why_unread
from recall_core.shell import REST, Hint, install_extra


class ModelFile(NamedTuple):
    """A file of a package, with the sha256 of the only bytes that are accepted."""

    package: str
    path: str
    sha256: str


def folder_of(package: str) -> Path | None:
    """The folder of an installed top-level package, found without importing it; None when it is not installed."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) if folders else None


def missing(*, packages: tuple[str, ...], files: tuple[ModelFile, ...], extra: str) -> str | None:
    """Why these packages and files cannot be used, with the extra that installs them; None when all are there."""
    for package in (*packages, *(file.package for file in files)):
        if find_spec(package) is None:
            return f"the package {package} is not installed: {install_extra(extra)}"
    for file in files:
        folder = folder_of(file.package)
        if folder is None or not (folder / file.path).is_file():
            return f"the package {file.package} has no {file.path}: {install_extra(extra)}"
    return None


def unavailable(name: str, reason: str, *, extra: str = "") -> EmbedError:
    """The error of an embedder that cannot be used on this machine; its hint installs what the reason names."""
    hint = Hint("search", REST, mode="lexical")
    if extra and reason.endswith(f": {install_extra(extra)}"):
        hint = install_extra(extra)
        reason = reason.removesuffix(f": {hint}")
    return EmbedError("embedder_unavailable", f"The embedder {name} cannot be used: {reason}.", hint=hint)


def read(file: ModelFile, *, extra: str) -> mmap.mmap:
    """The file's bytes, mapped into memory and checked; a 16 MB file takes about 15 ms. extra: that it comes with.

    Raises EmbedError `embedder_unavailable` (not there), `embedder_damaged` (other bytes than were tested).
    """
    folder = folder_of(file.package)
    if folder is None:
        raise unavailable(file.package, f"the package {file.package} is not installed")
    return checked(folder / file.path, file.sha256, extra=extra)


def checked(path: Path, sha256: str, *, extra: str) -> mmap.mmap:
    """A file mapped into memory, once its bytes are known to be the right ones."""
    try:
        mapped = mapped_file(path)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _damaged(path, why_unread(error) if isinstance(error, OSError) else str(error), extra) from error
    actual = digest(mapped)
    if actual != sha256:
        raise _damaged(path, f"its sha256 begins with {actual[:12]} instead of {sha256[:12]}", extra)
    return mapped


def mapped_file(path: Path) -> mmap.mmap:
    """A file's bytes without a copy in memory."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def digest(content: mmap.mmap | bytes) -> str:
    """sha256, in hex."""

    return hashlib.sha256(content).hexdigest()


def _damaged(path: Path, reason: str, extra: str) -> EmbedError:
    return EmbedError(
        "embedder_damaged",
        f"The model file {path} is not the one that was tested: {reason}.",
        hint=install_extra(extra, force_reinstall=True),
    )
