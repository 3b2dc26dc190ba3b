"""How this Recall was installed: what adds packages to it, which ones an extra is, where a newer one comes from.

No index has the project itself, so that nothing may be told to look for it there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DISTRIBUTION = "recall-tui"
_OF_EXTRA = re.compile(r"""\bextra\s*==\s*(['"])(?P<name>[^'"]+)\1""")
_SELF = re.compile(rf"{DISTRIBUTION}\[(?P<names>[^\]]+)\]")


def command(*, upgrade: bool = False, force_reinstall: bool = False) -> tuple[str, ...]:
    """The words that install packages beside this Recall, before their names.

    pipx and uv have environments without pip, and pip refuses one that the system's own package manager looks after.
    """
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return ("pipx", "inject", *_flags(force=upgrade or force_reinstall), prefix.name)
    if _is_of_uv(prefix):
        flags = _flags(upgrade=upgrade, reinstall=force_reinstall)
        return ("uv", "pip", "install", *_flags(python=True), sys.executable, *flags)
    import sysconfig  # noqa: PLC0415 - only a hint asks

    # PEP 668: an interpreter of the system, whose packages are not pip's.
    marker = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    managed = sys.prefix == sys.base_prefix and marker.is_file()
    flags = _flags(user=managed, break_system_packages=managed, upgrade=upgrade, force_reinstall=force_reinstall)
    return (sys.executable, "-m", "pip", "install", *flags)


def _flags(**wanted: bool) -> list[str]:
    """Those of pip, pipx or uv."""
    return [f"--{name.replace('_', '-')}" for name, is_wanted in wanted.items() if is_wanted]


def _is_of_uv(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)


def requirements(extra: str) -> tuple[str, ...]:
    """The packages of an extra with their versions, as the project's own metadata has them."""
    return tuple(dict.fromkeys(_of_source(extra) or _of_metadata(extra)))


def source() -> Path | None:
    """The folder of the project's source that this Recall runs from; None where it was copied out of one."""
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
    """What brings a newer Recall: a command where it is known where this one came from, else a sentence."""
    folder = source()
    if folder is not None:
        is_checkout = (folder / ".git").exists()
        return f"git -C {_quote(str(folder))} pull" if is_checkout else f"bring {folder} up to date"
    url = _came_from()
    if url is None:
        return "install the Recall that wrote it"
    return " ".join(map(_quote, (*command(upgrade=True), url)))


def _came_from() -> str | None:
    """The folder, the repository or the file that pip was given (PEP 610)."""
    import json  # noqa: PLC0415 - only a hint asks
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - as above
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - as above

    try:
        told = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = str(told.get("url", ""))
    if "vcs_info" in told:
        return f"{told['vcs_info'].get('vcs', 'git')}+{url}"
    return (unquote(urlsplit(url).path) if url.startswith("file:") else url) or None


def _of_source(extra: str) -> list[str]:
    folder = source()
    if folder is None:
        return []
    import tomllib  # noqa: PLC0415 - only a hint asks

    extras = tomllib.loads(_text(folder / "pyproject.toml"))["project"].get("optional-dependencies", {})
    return _resolve(extras, extra)


def _resolve(extras: dict[str, list[str]], extra: str) -> list[str]:
    """An extra that names others of the project is what these are."""
    found: list[str] = []
    for each in extras.get(extra, ()):
        own = _SELF.fullmatch(each)
        names = own["names"].split(",") if own else ()
        found += [part for name in names for part in _resolve(extras, name.strip())] if own else [each]
    return found


def _of_metadata(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - only a hint asks

    try:
        told = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []
    pairs = [(each.partition(";")[0].strip(), _OF_EXTRA.search(each)) for each in told]
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
