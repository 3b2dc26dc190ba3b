"""What a person has accepted, by folder, in a file of their own, and what is said of what they have not."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recall_core import files, paths
from recall_core.embed.registry import KINDS
from recall_core.errors import ConfigError, why_unread
from recall_core.shell import REST, Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from recall_core.embed.trust import Act

VARIABLE = "RECALL_TRUST"
"""In the environment: sha256 digests, with commas between them, that are accepted by the programs that have it."""

_SINCE = "0.1.0"  # the version from which settings wait
_TEXTS = {"embedder": "every question and text", "reranker": "every question and the best texts"}


def digest(acts: Sequence[Act]) -> str:
    """sha256 of what settings would have done, in hex: the same for the same acts, on every machine."""
    canonical = json.dumps([act._asdict() for act in acts], sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def is_named(digest: str) -> bool:
    """Whether the environment accepts it."""
    return digest in (each.strip() for each in os.environ.get(VARIABLE, "").split(","))


def is_own(path: Path) -> bool:
    """Whether the file is this user's; where it is not there, or users are not told apart, it is nobody else's."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return True
    return not hasattr(os, "geteuid") or owner == os.geteuid()


def of_folder(folder: str) -> str | None:
    """The digest that was accepted for this folder, or None."""
    found = _read().get(folder)
    return found if isinstance(found, str) else None


def keep(folder: str, digest: str, *, toml: Path) -> None:
    """Accept this digest for this folder from now on, in the place of any other.

    Raises ConfigError `trust_unkept` where there is no place to keep it, or the settings are another user's.
    """
    if not is_own(toml):
        raise _unkept(f"{toml} belongs to another user", digest)
    try:
        _write({**_read(), folder: digest})
    except OSError as error:
        raise _unkept(why_unread(error), digest) from error


def forget(folder: str) -> None:
    """Accept nothing for this folder any more. Raises ConfigError `trust_unkept`."""
    kept = _read()
    try:
        if folder in kept:
            _write({name: value for name, value in kept.items() if name != folder})
    except OSError as error:
        raise _unkept(why_unread(error)) from error


def untrusted(acts: Sequence[Act], *, toml: Path, digest: str) -> ConfigError:
    """That settings wait, what they would have done, and what accepts them. digest: of all that they say."""
    message = f"{toml.name} in {toml.parent} would {', and '.join(map(told, acts))}. {_why(toml)}"
    is_open = all(act.role != "store" for act in acts)  # else words cannot be searched either
    hint = f"{_accepting(toml)}, or {Hint('search', REST, mode='lexical')}" if is_open else _accepting(toml)
    return ConfigError("untrusted_config", message, hint=hint, details=_details(acts, digest))


def _accepting(toml: Path) -> Hint:
    """What accepts these settings, for who is where this program was started."""
    here = paths.known()
    above = (here, *here.parents) if here else ()
    nearest = next((folder for folder in above if os.path.isfile(folder / toml.name)), None)  # noqa: PTH113
    return Hint("trust") if nearest == toml.parent else Hint("trust", store=str(toml.parent))


def unnamed(act: Act, *, toml: Path, found: Sequence[str], hint: str) -> ConfigError:
    """That an act was asked for whose place or model was not named but found."""
    said = " and ".join(found)
    message = f"With the {said} that {toml.name} in {toml.parent} has, this would {told(act)}. You did not name that."
    return ConfigError("untrusted_config", message, hint=hint, details=_details([act], digest([act])))


def _details(acts: Sequence[Act], digest: str) -> dict[str, object]:
    return {"sha256": digest, "acts": [told(act) for act in acts]}


def _unkept(reason: str, digest: str = "") -> ConfigError:
    """That an acceptance ends with this run, and what takes its place."""
    hint = f"export {VARIABLE}={digest}" if digest else None
    return ConfigError("trust_unkept", f"What you accept cannot be kept: {reason}.", hint=hint)


def told(act: Act) -> str:
    """What the act would be, as it stands behind "would"."""
    texts = _TEXTS.get(act.role, "")
    model = f" as model {act.model}" if act.model else ""
    if act.role == "store":
        text = f"keep the store outside of its own folder, at {act.what}"
    elif act.what.startswith("onnx:"):
        text = f"read the model in {act.what.removeprefix('onnx:')}, outside of its own folder"
    elif act.what == "sentence-transformers":
        download = ", and download it where it is not there" if act.network else ""
        text = f"load the model {act.model} with sentence-transformers{download}"
    elif act.what in KINDS:
        key = f" with the key in {' or '.join(act.keys)}" if act.keys else ""
        text = f"send {texts} to {_shown(act.url)}{model}{key}"
    else:
        server = f" for {_shown(act.url)}" if act.url else ""
        text = f"load the plug-in {act.what} and give it {texts}{server}{model}"
    return one_line(text)


def _why(toml: Path) -> str:
    if not is_own(toml):
        return "The file belongs to another user, so that it is accepted for one run at most."
    if _place() is None:
        return "Nothing is accepted for it, and without a home folder nothing can be kept."
    if of_folder(os.path.realpath(toml.parent)) is not None:
        return "Other settings than these were accepted."
    return f"Since version {_SINCE} such settings wait until you accept them."


def _shown(url: str) -> str:
    """The address without a user's name and password, which may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _place() -> Path | None:
    folder = paths.state_folder(os.environ)
    return folder / "trust.json" if folder else None


def _write(kept: Mapping[str, object]) -> None:
    """Raises OSError."""
    place = _place()
    if place is None:
        raise OSError(errno.ENOENT, "There is no home folder")
    files.write_private(place, json.dumps(kept, indent=1) + "\n")


def _read() -> Mapping[str, object]:
    """What is kept; nothing where it cannot be read, or another user has written it."""
    place = _place()
    if place is None or not is_own(place):
        return {}
    with suppress(OSError, ValueError, RecursionError):
        kept = json.loads(place.read_bytes())
        return kept if isinstance(kept, dict) else {}
    return {}
