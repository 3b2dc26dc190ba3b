"""Where the workbench keeps what it remembers, and where a person keeps its settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from recall_core import files


def state_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Below XDG_STATE_HOME where it is set, else where the platform keeps such things; None without a home."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state", platform)


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Below XDG_CONFIG_HOME where it is set, else where the platform keeps such things; None without a home."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config", platform)


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone reads, whole or not at all; folders are made. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    files.write(path, text.encode("utf-8", "replace"), mode=files.PRIVATE)


def _folder(environ: Mapping[str, str], variable: str, otherwise: str, platform: str) -> Path | None:
    named, home = environ.get(variable, ""), environ.get("HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "recall"
    if not home:
        return None
    return Path(home) / ("Library/Application Support" if platform == "darwin" else otherwise) / "recall"
