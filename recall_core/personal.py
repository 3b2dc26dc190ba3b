"""A person's own settings: how they work with Recall, in every store. They never change a ranking.

A setting comes from its variable, else from the person's config.toml, else it has its default. A store's recall.toml
cannot contain these settings, so that a folder from elsewhere cannot start a daemon or choose an editor. It may say
when a server syncs (SYNCING), once that is accepted; a person's settings win.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import recall_core
from recall_core._lazy import tomlkit
from recall_core.config import (
    CUTTING,
    EMBEDDING,
    SYNCING,
    Config,
    Setting,
    Settings,
    SettingTable,
    SettingValue,
    check,
    from_text,
    read_toml,
    replace,
    to_toml,
)
from recall_core.config import SETTINGS as STORE_SETTINGS
from recall_core.errors import ConfigError, why_unread
from recall_core.named import NamedTuple
from recall_core.paths import config_folder
from recall_core.shell import join

FILE = "config.toml"
BUILT_IN = "built-in"
"""The origin of defaults."""


class Personal(NamedTuple):
    """The settings of a person, resolved."""

    daemon: bool = False
    daemon_idle_minutes: int = 10
    daemon_memory_mb: int = 512
    query_cache: int = 256
    query_cache_mb: int = 16
    color: str = "auto"
    editor: str = ""
    sync_on_boot: bool = False
    sync_on_session: bool = False
    sync_on_search_ms: int = 0
    sync_on_change: bool = False
    sync_interval_s: int = 0
    init: Settings = MappingProxyType({})
    """What `recall init` writes besides its defaults, by key of `Config`. Only the settings that were given."""

    def of_new_store(self, *, with_embedder: bool) -> Settings:
        """Return the settings for a new store. with_embedder: False if the caller names the embedder itself.

        The address of one embedder must not receive the texts meant for another.
        """
        return {key: value for key, value in self.init.items() if with_embedder or key not in EMBEDDING}


_INIT = (*EMBEDDING, "language", *CUTTING, "max_file_bytes", "guess_encoding")
_OWN = {
    "daemon": Setting("let a daemon answer commands; it keeps stores open between them"),
    "daemon_idle_minutes": Setting("minutes without a question after which the daemon closes a store", least=1),
    "daemon_memory_mb": Setting("most megabytes that the daemon uses", least=16, most=1_000_000),
    "query_cache": Setting("answers that a server remembers until the store changes; 0 for none", least=0),
    "query_cache_mb": Setting("most megabytes of remembered answers", least=1, most=1_000_000),
    "color": Setting(
        "when to use colours; always also draws for pipes as for terminals", choices=("auto", "always", "never")
    ),
    "editor": Setting("command of the editor, empty for $VISUAL or $EDITOR"),
    **{key: STORE_SETTINGS[key] for key in SYNCING},
}
_BEST = {"init.embedding": Setting("embedder of new stores, empty for the best that is installed")}
TABLE = SettingTable(
    {**_OWN, **{f"init.{key}": STORE_SETTINGS[key] for key in _INIT}, **_BEST},
    {
        **{name: Personal._field_defaults[name] for name in _OWN},
        **{f"init.{key}": Config._field_defaults[key] for key in _INIT},
        "init.embedding": "",
    },
)
"""Every setting by name. `init.KEY` is KEY in the file's table [init]."""


class Resolved(NamedTuple):
    """The value of a setting. origin: `BUILT_IN`, the path of the file, or the name of the variable."""

    value: SettingValue
    origin: str


def place(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the path of the person's file, which may not exist; None without a home folder."""
    folder = config_folder(environ, platform)
    return folder / FILE if folder is not None else None


def variable(name: str) -> str:
    """Return the environment variable of a setting: RECALL_COLOR, RECALL_INIT_LANGUAGE."""
    return f"RECALL_{name.upper().replace('.', '_')}"


def wants_daemon(environ: Mapping[str, str]) -> bool:
    """Return True if recalld should start by itself. Wrong settings are an error of other commands."""
    try:
        return load(environ).daemon
    except ConfigError:
        return False


def load(environ: Mapping[str, str], platform: str = sys.platform) -> Personal:
    """Return the settings of a person. See `resolve`."""
    given = {name: each.value for name, each in resolve(environ, platform).items() if each.origin != BUILT_IN}
    return Personal(
        **{name: value for name, value in given.items() if name in _OWN},  # type: ignore[arg-type]  # checked values
        init=_init_of(given),
    )


def resolve(environ: Mapping[str, str], platform: str = sys.platform) -> dict[str, Resolved]:
    """Return every setting with its origin, in the order of TABLE. An empty variable counts as missing.

    A missing file, or one that is not a regular file, sets nothing. NO_COLOR wins over the file's `color`.
    Raises ConfigError `config_invalid`, which names the file or the variable.
    """
    path = place(environ, platform)
    resolved = {name: Resolved(default, BUILT_IN) for name, default in TABLE.defaults.items()}
    try:
        if path is not None and os.path.isfile(path):  # noqa: PTH113 - False, not an error, if out of reach
            for name, value in _flat(read_toml(path)).items():
                resolved[name] = Resolved(check(name, value, where=str(path), name=name, table=TABLE), str(path))
        if environ.get("NO_COLOR"):
            resolved["color"] = Resolved("never", "NO_COLOR")
        for name in TABLE.defaults:
            if text := environ.get(origin := variable(name)):
                resolved[name] = Resolved(
                    _parse(name, text, where=origin, example=f"export {origin}={{value}}"), origin
                )
        values = {name: each.value for name, each in resolved.items() if each.origin != BUILT_IN}
        replace(Config(), _init_of(values), where=f"[init] in {path}")
    except ConfigError as error:
        raise ConfigError("config_invalid", error.message, hint=error.hint) from error
    return resolved


def default_of(name: str) -> SettingValue:
    """Return the default of a setting. Raises ConfigError `unknown_key`."""
    default: SettingValue = check(name, TABLE.defaults.get(name), where="config", name=name, table=TABLE)
    return default


class Saved(NamedTuple):
    """A change of the person's file. warnings: what keeps it from having an effect."""

    setting: Resolved
    warnings: tuple[str, ...]


def save(name: str, text: str | None, environ: Mapping[str, str], platform: str = sys.platform) -> Saved:
    """Write a setting to the person's file, or remove it if the text is None. Keeps comments and all other lines.

    The file appears complete, readable by its owner only. Other settings in it may be wrong, except those of [init],
    which must agree with each other.
    Raises ConfigError `unknown_key`, `bad_value`, `config_invalid` (not TOML), `settings_unwritable`.
    """
    default = default_of(name)
    value = (
        default if text is None else _parse(name, text, where="config", example="recall config set {name} {value}")
    )
    path = place(environ, platform)
    if path is None:
        line = join(["export", f"{variable(name)}={text or ''}"])
        raise ConfigError("settings_unwritable", "There is no home folder to save settings in.", hint=line)
    section, _, key = name.rpartition(".")
    try:
        content = path.read_bytes().decode("utf-8-sig") if os.path.isfile(path) else ""  # noqa: PTH113 - as above
        document = tomlkit.parse(content)
        table: Any = document if not section else document.get(section, {})
        if not isinstance(table, dict):
            raise ConfigError("config_invalid", f"{path}: {section} is not a table.", hint=f"edit {path}")
        if text is None:
            table.pop(key, None)
        else:
            table[key] = value
            if section and section not in document:
                document[section] = table
        replace(Config(), _init_of(_flat(document.unwrap())), where=f"[init] in {path}")
        recall_core.files.write_private(path, tomlkit.dumps(document))
    except (UnicodeDecodeError, tomlkit.exceptions.TOMLKitError) as error:
        why = why_unread(error) if isinstance(error, UnicodeDecodeError) else str(error)
        raise ConfigError("config_invalid", f"{path}: {why}", hint=f"edit {path}") from error
    except OSError as error:
        message = f"{path} cannot be written ({why_unread(error)}); add by hand: {name} = {to_toml(value)}"
        raise ConfigError("settings_unwritable", message) from error
    stronger = [each for each in (variable(name), *["NO_COLOR"] * (name == "color")) if environ.get(each)]
    return Saved(
        Resolved(value, BUILT_IN if text is None else str(path)),
        tuple(f"W_CONFIG: {each} is set and wins over {name} in {path}" for each in stronger),
    )


def _parse(name: str, text: str, *, where: str, example: str) -> SettingValue:
    """Return the checked value that a text spells. Strings have no escapes, since commands contain backslashes.

    example: how to give a value, for hints.
    """
    is_text = isinstance(TABLE.defaults.get(name), str)
    value = text if is_text else from_text(name, text, where=where, table=TABLE)
    checked: SettingValue = check(name, value, where=where, name=name, table=TABLE, example=example)
    return checked


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file by setting: those of the table [init] as `init.KEY`."""
    init = values.get("init")
    if not isinstance(init, dict):
        return dict(values)
    own = {name: value for name, value in values.items() if name != "init"}
    return {**own, **{f"init.{key}": value for key, value in init.items()}}


def _init_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of [init] by key, without an empty embedder."""
    own = {name.removeprefix("init."): value for name, value in values.items() if name.startswith("init.")}
    return {key: value for key, value in own.items() if (key, value) != ("embedding", "")}
