"""What settings that were found may do only once a person has accepted it.

A recall.toml may have come with the folder that it lies in. It does not decide alone where texts and keys go, what
code is loaded, nor what outside of its own folder is read or written.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import recall_core
from recall_core import embed, paths
from recall_core._lazy import hashlib, metadata, urls
from recall_core.config import Config, SettingValue, assignments
from recall_core.embed import providers, registry
from recall_core.embed.registry import KINDS
from recall_core.errors import ConfigError, why_unread
from recall_core.named import NamedTuple
from recall_core.shell import REST, Hint
from recall_core.text import one_line

EMBEDDER, RERANKER, STORE = "embedder", "reranker", "store"
"""What an act is for."""
AT_HOME: dict[str, Any] = {"embedding": "hash", "embedding_model": "", "embedding_url": ""}
"""The settings of an embedder that keeps to itself, for the place of one that waits."""

_AT_HOME = frozenset(("hash", "local", "minilm"))


class Act(NamedTuple):
    """Something that waits for a person.

    role: what for.  what: a kind of embedder or reranker, or a place on disk.  url, model: what the kind is given,
    its own ones where the settings name none.  network: whether it may leave this machine.  keys: the variables of
    the environment of which one is sent along.
    """

    role: str
    what: str
    url: str = ""
    model: str = ""
    network: bool = False
    keys: tuple[str, ...] = ()

    @property
    def deed(self) -> tuple[object, ...]:
        """What happens, whatever for."""
        return self[1:]


class FoundSettings(NamedTuple):
    """Settings as they stand in a recall.toml. is_vouched: this program answers for them, whatever they say."""

    config: Config
    toml: Path
    is_vouched: bool = False

    def acts(self, *roles: str) -> tuple[Act, ...]:
        """All that these settings would have done which waits; of these roles, where some are named."""
        wanted = roles or (EMBEDDER, RERANKER, STORE)
        return tuple(act for role in wanted for act in self._acts(role))

    def is_accepted(self) -> bool:
        """Whether all of it may happen."""
        if self.is_vouched or not (acts := self.acts()):
            return True

        return is_named(digest(acts)) or self.is_kept()

    def is_kept(self) -> bool:
        """Whether a person has accepted it for good."""
        acts = self.acts()
        is_known = bool(acts) and of_folder(self.folder) == digest(acts)
        return is_known and is_own(self.toml)

    def refusal(self, *roles: str) -> ConfigError | None:
        """Why what is for these may not happen, `untrusted_config`; None where it may, or there is none of it."""
        acts = self.acts(*roles)
        if not acts or self.is_accepted():
            return None

        return untrusted_error(acts, toml=self.toml, digest=digest(self.acts()))

    def expect(self, *roles: str) -> None:
        """Raises ConfigError `untrusted_config` where what is for these waits."""
        if (refused := self.refusal(*roles)) is not None:
            raise refused

    def keep(self) -> None:
        """Accept all of it from now on. Raises ConfigError `trust_unkept` where that cannot be kept."""
        if not (acts := self.acts()):
            return

        keep(self.folder, digest(acts), toml=self.toml)

    @property
    def folder(self) -> str:
        """What is accepted is accepted for this folder."""
        return os.path.realpath(self.toml.parent)

    # What a person asks for by name.

    def expect_reranker(self, name: str) -> None:
        """That a question may be reranked by this one, which it may have named itself.

        Raises ConfigError `untrusted_config` where settings that were found would decide what that does.
        """
        if name == self.config.rerank:
            self.expect(RERANKER)
        elif (act := _act(RERANKER, name, self.config, self.toml.parent)) is not None:
            hint = f'rerank = "{name}" in {self.toml.name}, then {Hint("trust")}'
            self._expect_named(act, _find_unnamed(act, self.config, {}), hint=hint)

    def asked(self, wanted: Config, named: Mapping[str, SettingValue], *, is_auto: bool) -> tuple[Act, ...]:
        """What waits no longer in the settings that a new embedder brings, because a person asked for it.

        named: the settings that they gave along; all else in `wanted` was found.  is_auto: they gave no name.
        Raises ConfigError `untrusted_config` where settings that were found would decide what that does.
        """
        embedder = _act(EMBEDDER, wanted.embedding, wanted, self.toml.parent)
        reranker = _act(RERANKER, wanted.rerank, wanted, self.toml.parent) if "rerank" in named else None
        for act in filter(None, (embedder, reranker)):
            found = _find_unnamed(act, wanted, named)
            if is_auto and act.network and "allow_network" not in named:
                found["allow_network"] = True
            hint = Hint("reembed", wanted.embedding, set=assignments({**named, **found}))
            self._expect_named(act, found, hint=hint)
        return tuple(filter(None, (embedder, reranker)))

    def expect_fallback(self, named: Mapping[str, SettingValue]) -> None:
        """That `auto` may look at the embedder it falls back to. Raises ConfigError `untrusted_config`."""
        name = self.config.embedding_fallback
        act = None if "embedding_fallback" in named else _act(EMBEDDER, name, self.config, self.toml.parent)
        if act is not None:
            self._expect_named(act, {"embedding_fallback": name}, hint=Hint("reembed", name))

    def follow(self, before: FoundSettings, asked: tuple[Act, ...] = (), *, is_written: bool = True) -> Followed:
        """These settings in the place of others, accepted where a person has accepted all that they do.

        asked: what they asked for now, beside what they had accepted before.  is_written: they stand in recall.toml;
        those that do not hold for this program alone.
        """
        known = {act.deed for act in (*asked, *(before.acts() if before.is_accepted() else ()))}
        is_known = all(act.deed in known for act in self.acts())
        going_on = self._replace(is_vouched=self.is_vouched or is_known)
        if self.is_accepted() or not is_written:
            return Followed(going_on, ())
        try:
            self.keep() if is_known else self.expect()
        except ConfigError as error:
            return Followed(going_on, (f"W_TRUST: {error.message} {error.hint}",))
        return Followed(going_on, ())

    def _expect_named(self, act: Act, found: Mapping[str, SettingValue], *, hint: str) -> None:
        """Raises ConfigError where settings that were found decide what the act is, and it was not accepted."""
        if self.is_vouched or not found or (self.is_accepted() and act.deed in {each.deed for each in self.acts()}):
            return

        raise unnamed_error(act, toml=self.toml, found=tuple(found), hint=hint)

    # What waits.

    def _acts(self, role: str) -> Iterator[Act]:
        if role == STORE:
            yield from self._store()
            return
        for name in self._embedders() if role == EMBEDDER else (self.config.rerank,):
            if name and (act := _act(role, name, self.config, self.toml.parent)) is not None:
                yield act

    def _embedders(self) -> tuple[str, ...]:
        config = self.config
        if config.embedding != registry.AUTO:
            return (config.embedding,)
        return tuple(dict.fromkeys((*registry.FOUND_BY_AUTO, config.embedding_fallback)))

    def _store(self) -> Iterator[Act]:
        """The database, where it is not in the folder of its settings."""
        name, folder = self.config.store_path, self.toml.parent
        if os.path.basename(name) == name and not os.path.islink(folder / name) and name != "..":  # noqa: PTH114, PTH119
            return
        place = os.path.realpath(folder / name)
        if not Path(place).is_relative_to(self.folder):
            yield Act(STORE, place)


class Followed(NamedTuple):
    """Settings that were written. found: as this program may go on with them.  warnings: what is to be told."""

    found: FoundSettings
    warnings: tuple[str, ...]


def _act(role: str, name: str, config: Config, folder: Path) -> Act | None:
    """What an embedder or reranker of this name does; None where it keeps to itself, or there is none."""
    bare, _, argument = name.partition(":")
    if bare in _AT_HOME:
        return None
    if bare == "onnx":
        return _model_elsewhere(role, argument, folder)
    if bare not in registry.KINDS:
        known = Act(role, name, config.embedding_url, config.embedding_model, config.allow_network)
        return known if bare in _plug_ins() else None
    if bare == "sentence-transformers":
        return Act(role, bare, model=config.embedding_model or providers.sentence.MODEL, network=config.allow_network)

    server = cast(providers.remote.RemoteKind, registry.kind(bare))
    sends_text = server.sends_text(config)
    if sends_text and not config.allow_network:
        return None  # which is `network_not_allowed` for whoever asks it
    url, model = config.embedding_url or server.url, config.embedding_model or server.model
    return Act(role, bare, url, model, sends_text, server.variables)


def _find_unnamed(act: Act, config: Config, named: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """What the settings say of the act's server and model that nobody named."""
    said = {"embedding_url": config.embedding_url, "embedding_model": config.embedding_model}
    own = {"embedding_url": act.url, "embedding_model": act.model}
    return {key: value for key, value in said.items() if value and own[key] and key not in named}


def _model_elsewhere(role: str, argument: str, folder: Path) -> Act | None:
    place = os.path.realpath(folder / paths.expand(argument))
    return None if Path(place).is_relative_to(os.path.realpath(folder)) else Act(role, f"onnx:{place}")


def _plug_ins() -> set[str]:
    """The names of those that are installed; none is loaded."""
    return {
        point.name for group in (registry.GROUP, embed.rescore.GROUP) for point in metadata.entry_points(group=group)
    }


VARIABLE = "RECALL_TRUST"
"""In the environment: sha256 digests, with commas between them, that are accepted by the programs that have it."""

_SINCE = "0.1.0"  # the version from which settings wait
_TEXTS = {"embedder": "every question and text", "reranker": "every question and the best texts"}


def digest(acts: Sequence[Act]) -> str:
    """sha256 of what settings would have done, in hex: the same for the same acts, on every machine."""
    canonical = json.dumps([act._asdict() for act in acts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


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


def untrusted_error(acts: Sequence[Act], *, toml: Path, digest: str) -> ConfigError:
    """That settings wait, what they would have done, and what accepts them. digest: of all that they say."""
    message = f"{toml.name} in {toml.parent} would {', and '.join(map(describe, acts))}. {_why(toml)}"
    is_open = all(act.role != "store" for act in acts)  # else words cannot be searched either
    hint = f"{_accepting(toml)}, or {Hint('search', REST, mode='lexical')}" if is_open else _accepting(toml)
    return ConfigError("untrusted_config", message, hint=hint, details=_details(acts, digest))


def _accepting(toml: Path) -> Hint:
    """What accepts these settings, for who is where this program was started."""
    here = paths.known()
    above = (here, *here.parents) if here else ()
    nearest = next((folder for folder in above if os.path.isfile(folder / toml.name)), None)  # noqa: PTH113
    return Hint("trust") if nearest == toml.parent else Hint("trust", store=str(toml.parent))


def unnamed_error(act: Act, *, toml: Path, found: Sequence[str], hint: str) -> ConfigError:
    """That an act was asked for whose place or model was not named but found."""
    said = " and ".join(found)
    message = (
        f"With the {said} that {toml.name} in {toml.parent} has, this would {describe(act)}. You did not name that."
    )
    return ConfigError("untrusted_config", message, hint=hint, details=_details([act], digest([act])))


def _details(acts: Sequence[Act], digest: str) -> dict[str, object]:
    return {"sha256": digest, "acts": [describe(act) for act in acts]}


def _unkept(reason: str, digest: str = "") -> ConfigError:
    """That an acceptance ends with this run, and what takes its place."""
    hint = f"export {VARIABLE}={digest}" if digest else None
    return ConfigError("trust_unkept", f"What you accept cannot be kept: {reason}.", hint=hint)


def describe(act: Act) -> str:
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
        text = f"send {texts} to {_strip_secrets(act.url)}{model}{key}"
    else:
        server = f" for {_strip_secrets(act.url)}" if act.url else ""
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


def _strip_secrets(url: str) -> str:
    """The address without a user's name and password, which may be secret."""
    try:
        parts = urls.urlsplit(url)
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
    recall_core.files.write_private(place, json.dumps(kept, indent=1) + "\n")


def _read() -> Mapping[str, object]:
    """What is kept; nothing where it cannot be read, or another user has written it."""
    place = _place()
    if place is None or not is_own(place):
        return {}
    with suppress(OSError, ValueError, RecursionError):
        kept = json.loads(place.read_bytes())
        return kept if isinstance(kept, dict) else {}
    return {}
