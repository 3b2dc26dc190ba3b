"""The installation of this Recall: the command that adds packages, the packages of an extra, and the source folder.

Recall is not on a package index, so no command may name it as a package.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DISTRIBUTION = "recall-tui"
_OF_EXTRA = re.compile(r"""\bextra\s*==\s*(['"])(?P<name>[^'"]+)\1""")
_SELF = re.compile(rf"{DISTRIBUTION}\[(?P<names>[^\]]+)\]")


def command(*, upgrade: bool = False, force_reinstall: bool = False) -> tuple[str, ...]:
    """Return the command that installs packages into this environment, without their names.

    Environments of pipx and uv have no pip. pip refuses environments that the system's package manager owns.
    """
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return ("pipx", "inject", *_flags(force=upgrade or force_reinstall), prefix.name)
    if _is_of_uv(prefix):
        flags = _flags(upgrade=upgrade, reinstall=force_reinstall)
        return ("uv", "pip", "install", *_flags(python=True), sys.executable, *flags)
    import sysconfig  # noqa: PLC0415 - used only for hints

    # PEP 668: pip must not install into the system's interpreter.
    marker = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    managed = sys.prefix == sys.base_prefix and marker.is_file()
    flags = _flags(user=managed, break_system_packages=managed, upgrade=upgrade, force_reinstall=force_reinstall)
    return (sys.executable, "-m", "pip", "install", *flags)


def _flags(**wanted: bool) -> list[str]:
    """Return the flags for pip, pipx or uv."""
    return [f"--{name.replace('_', '-')}" for name, is_wanted in wanted.items() if is_wanted]


def _is_of_uv(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)


def requirements(extra: str) -> tuple[str, ...]:
    """Return the packages of an extra with versions, from the project's metadata."""
    return tuple(dict.fromkeys(_of_source(extra) or _of_metadata(extra)))


def source() -> Path | None:
    """Return the source folder that this Recall runs from, or None if it is an installed copy."""
    toml = Path(__file__).parent.parent / "pyproject.toml"
    return toml.parent if toml.is_file() and f'name = "{DISTRIBUTION}"' in _text(toml) else None


def locate_plug_in(distribution: str) -> str | None:
    """Return what pip installs a plug-in of the project from, a folder or a URL; None if its source is unknown."""
    subdirectory = Path("plugins", distribution)
    origin = source() or _came_from()
    if isinstance(origin, str) and "://" in origin and not origin.endswith(".whl"):
        return f"{origin}#subdirectory={subdirectory}"
    folder = origin and Path(origin, subdirectory)
    return str(folder) if folder and folder.is_dir() else None


def upgrade() -> str:
    """Return how to upgrade Recall: a command if its source is known, else a sentence."""
    folder = source()
    if folder is not None:
        is_checkout = (folder / ".git").exists()
        return f"git -C {_quote(str(folder))} pull" if is_checkout else f"bring {folder} up to date"
    url = _came_from()
    if url is None:
        return "install the Recall that wrote it"
    return " ".join(map(_quote, (*command(upgrade=True), url)))


def _came_from() -> str | None:
    """Return the folder, repository or file that Recall was installed from (PEP 610)."""
    import json  # noqa: PLC0415 - only a hint asks
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - as above
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - as above

    try:
        record = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = str(record.get("url", ""))
    if "vcs_info" in record:
        return f"{record['vcs_info'].get('vcs', 'git')}+{url}"
    return (unquote(urlsplit(url).path) if url.startswith("file:") else url) or None


def _of_source(extra: str) -> list[str]:
    folder = source()
    if folder is None:
        return []
    import tomllib  # noqa: PLC0415 - only a hint asks

    extras = tomllib.loads(_text(folder / "pyproject.toml"))["project"].get("optional-dependencies", {})
    return _resolve(extras, extra)


def _resolve(extras: dict[str, list[str]], extra: str) -> list[str]:
    """Return the requirements with the project's own extras expanded."""
    names_of_packages: list[str] = []
    for each in extras.get(extra, ()):
        own = _SELF.fullmatch(each)
        names = own["names"].split(",") if own else ()
        names_of_packages += [part for name in names for part in _resolve(extras, name.strip())] if own else [each]
    return names_of_packages


def _of_metadata(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - only a hint asks

    try:
        entries = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []
    pairs = [(each.partition(";")[0].strip(), _OF_EXTRA.search(each)) for each in entries]
    extras: dict[str, list[str]] = {}
    for name, marker in pairs:
        if marker is not None:
            extras.setdefault(marker["name"], []).append(name)
    return _resolve(extras, extra)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _quote(word: str) -> str:
    import shlex  # noqa: PLC0415 - only a hint asks

    return shlex.quote(word)
