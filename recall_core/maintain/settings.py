"""Changing settings in a recall.toml: its comments, its order and its line ends stay as their owner left them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recall_core import files
from recall_core._lazy import tomlkit
from recall_core.config import NAMES
from recall_core.errors import ConfigError, why_unread

_BOM = "\ufeff"


def write_settings(toml: Path, values: Mapping[str, str | float | bool]) -> None:
    """Put these values into the file, which is either whole and new or as it was; a missing one is made.

    values: by key. A setting that the file has keeps the name that it has there.

    Raises ConfigError `settings_unwritable`, with what to write by hand.
    """
    try:
        text = toml.read_bytes().decode() if toml.exists() else ""
        document = tomlkit.parse(text.removeprefix(_BOM))
        for key, value in values.items():
            document[key if key in document else NAMES.get(key, key)] = value
        files.write(toml, (_BOM * text.startswith(_BOM) + tomlkit.dumps(document)).encode())
    except (OSError, UnicodeDecodeError, tomlkit.exceptions.TOMLKitError) as error:
        by_hand = (
            tomlkit.dumps({NAMES.get(key, key): value for key, value in values.items()}).strip().replace("\n", ", ")
        )
        why = str(error) if isinstance(error, tomlkit.exceptions.TOMLKitError) else why_unread(error)
        raise ConfigError(
            "settings_unwritable", f"{toml} cannot be written ({why}); put into it: {by_hand}"
        ) from error


def settle(toml: Path, values: Mapping[str, str | float | bool]) -> tuple[str, ...]:
    """Put these values into the file, or give the warning that says which: what they go with is done already."""
    try:
        write_settings(toml, values)
    except ConfigError as error:
        return (f"W_CONFIG: {error.message}",)
    return ()
