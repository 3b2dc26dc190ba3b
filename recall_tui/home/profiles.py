"""Settings kept under a name: a file each, with the moved settings in the form of recall.toml."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recall_core.config import Config
from recall_core.errors import ConfigError, why_unread
from recall_core.files import write_private
from recall_core.paths import state_folder
from recall_tui.state.records import Tweaks
from recall_tui.state.session import Session
from recall_tui.state.weighing import KEYS

SUFFIX = ".toml"
DEFAULT = "default"
"""What is saved in recall.toml, without anything moved."""
_NAME = re.compile(r"[^\W_][\w .-]{0,39}")


class Profile(NamedTuple):
    """Moved settings under a name."""

    name: str
    tweaks: Tweaks


def folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Where the profiles are kept, for all stores; None without a home."""
    state = state_folder(environ, platform)
    return None if state is None else state / "profiles"


def wrong_name(name: str) -> str:
    """Why a profile cannot be called so; "" when it can."""
    if name.lower() == DEFAULT:
        return f"{DEFAULT} is what recall.toml says; choose another name."
    if not _NAME.fullmatch(name) or name.endswith((".", " ")):
        return "A name has up to 40 letters, digits, spaces, points and hyphens, and begins with a letter or digit."
    return ""


def load(place: Path) -> list[Profile]:
    """Every profile of the folder by name; a file that holds no settings is passed over."""
    found = [_read(path) for path in sorted(place.glob(f"*{SUFFIX}")) if os.path.isfile(path)]  # noqa: PTH113 - False where nobody may look
    return [profile for profile in found if profile is not None]


def keep(place: Path, profile: Profile) -> None:
    """Write a profile in the place of any other of its name. Raises ConfigError `settings_unwritable`."""
    import tomlkit  # noqa: PLC0415 - only a kept profile writes settings

    path = _path(place, profile.name)
    try:
        write_private(path, tomlkit.dumps(profile.tweaks))
    except OSError as error:
        raise ConfigError("settings_unwritable", f"{path} cannot be written: {why_unread(error)}.") from error


def drop(place: Path, name: str) -> None:
    """Take a profile away. Raises OSError."""
    _path(place, name).unlink(missing_ok=True)


def heading(session: Session) -> str:
    """The name of the chosen profile, with a star while something is moved away from it."""
    chosen, saved = session.weights.profile, session.weights.saved or Config()
    kept = saved._replace(**dict(chosen.tweaks)) if chosen is not None else saved  # type: ignore[arg-type]
    is_moved = kept != saved._replace(**dict(session.weights.tweaks))  # type: ignore[arg-type]
    return f"{DEFAULT if chosen is None else chosen.name}{'*' if is_moved else ''}"


def _path(place: Path, name: str) -> Path:
    return place / f"{name}{SUFFIX}"


def _read(path: Path) -> Profile | None:
    import tomllib  # noqa: PLC0415 - the engine loads behind the first frame

    from recall_core.config import replace  # noqa: PLC0415 - as above

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        replace(Config(), table, where=str(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ConfigError):
        return None
    return Profile(path.stem, {key: table[key] for key in KEYS if key in table})
