"""Consent for what a found recall.toml may do.

A recall.toml may have come with the folder it is in. Without consent it cannot decide where texts and keys go, what
code is loaded, or what is read and written outside its own folder.
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
from recall_core import caller, embed, paths
from recall_core._lazy import hashlib, metadata, urls
from recall_core.config import SYNCING, Config, SettingValue, assignments, to_toml
from recall_core.embed import providers, registry
from recall_core.embed.registry import KINDS
from recall_core.errors import SECRETS, ConfigError, why_unread
from recall_core.named import NamedTuple
from recall_core.shell import REST, Hint
from recall_core.text import COUNTER_GROUP, ESTIMATES, one_line

EMBEDDER, RERANKER, COUNTER, STORE, BASE, SYNC = "embedder", "reranker", "counter", "store", "base", "sync"
"""Purpose of an act."""
AT_HOME: dict[str, Any] = {"embedding": "hash", "embedding_model": "", "embedding_url": ""}
"""Settings of an embedder without outside effects, used in place of one that waits for consent."""

_LOCAL_KINDS = frozenset(("hash", "local", "minilm", "given", "none"))


class Act(NamedTuple):
    """An effect of settings that waits for a person's consent.

    role: its purpose.
    what: a kind of embedder or reranker, or a place on disk.
    url, model: given to the kind; the kind's defaults if the settings name none.
    network: True if it may leave this machine.
    keys: environment variables; the first one set is sent as the key.
    """

    role: str
    what: str
    url: str = ""
    model: str = ""
    network: bool = False
    keys: tuple[str, ...] = ()

    @property
    def deed(self) -> tuple[object, ...]:
        """The effect, without its purpose."""
        return self[1:]


class FoundSettings(NamedTuple):
    """Settings from a recall.toml. is_vouched: this program accepts them unconditionally."""

    config: Config
    toml: Path
    is_vouched: bool = False

    def acts(self, *roles: str) -> tuple[Act, ...]:
        """Return the effects that need consent, limited to these roles if any are given."""
        wanted = roles or (EMBEDDER, RERANKER, COUNTER, STORE, BASE, SYNC)
        return tuple(act for role in wanted for act in self._acts(role))

    def is_accepted(self) -> bool:
        """Return True if all effects are accepted."""
        if self.is_vouched or not (acts := self.acts()):
            return True

        return is_named(digest(acts)) or self.is_kept()

    def is_kept(self) -> bool:
        """Return True if the acceptance is saved."""
        acts = self.acts()
        is_known = bool(acts) and of_folder(self.folder) == digest(acts)
        return is_known and is_own(self.toml)

    def refusal(self, *roles: str) -> ConfigError | None:
        """Return the error `untrusted_config` if an act of these roles is not accepted, else None."""
        acts = self.acts(*roles)
        if not acts or self.is_accepted():
            return None

        return untrusted_error(acts, toml=self.toml, digest=digest(self.acts()))

    def expect(self, *roles: str) -> None:
        """Raise ConfigError `untrusted_config` if an act of these roles is not accepted."""
        if (refused := self.refusal(*roles)) is not None:
            raise refused

    def keep(self) -> None:
        """Accept all acts permanently. Raises ConfigError `trust_unkept` if that cannot be saved."""
        if not (acts := self.acts()):
            return

        keep(self.folder, digest(acts), toml=self.toml)

    @property
    def folder(self) -> str:
        """The folder that an acceptance applies to."""
        return os.path.realpath(self.toml.parent)

    # Requests by name.

    def expect_reranker(self, name: str) -> None:
        """Check that a query may use this reranker, which it may have named itself.

        Raises ConfigError `untrusted_config` if found settings would decide what the reranker does.
        """
        if name == self.config.rerank:
            self.expect(RERANKER)
        elif (act := _act(RERANKER, name, self.config, self.toml.parent)) is not None:
            hint = f'rerank = "{name}" in {self.toml.name}, then {Hint("trust")}'
            self._expect_named(act, _find_unnamed(act, self.config, {}), hint=hint)

    def asked(self, wanted: Config, named: Mapping[str, SettingValue], *, is_auto: bool) -> tuple[Act, ...]:
        """Return the acts that a person requested with a new embedder; they need no further consent.

        named: settings given with the request; everything else in `wanted` was found.
        is_auto: the request gave no name.
        Raises ConfigError `untrusted_config` if found settings would decide what an act does.
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
        """Check that `auto` may use its fallback embedder. Raises ConfigError `untrusted_config`."""
        name = self.config.embedding_fallback
        act = None if "embedding_fallback" in named else _act(EMBEDDER, name, self.config, self.toml.parent)
        if act is not None:
            self._expect_named(act, {"embedding_fallback": name}, hint=Hint("reembed", name))

    def follow(self, before: FoundSettings, asked: tuple[Act, ...] = (), *, is_written: bool = True) -> Followed:
        """Return these settings as the successor of `before`, accepted if a person accepted all their acts.

        asked: acts requested now, in addition to those accepted before.
        is_written: the settings are in recall.toml; otherwise they apply to this program only.
        """
        known = {act.deed for act in (*asked, *(before.acts() if before.is_accepted() else ()))}
        is_known = all(act.deed in known for act in self.acts())
        successor = self._replace(is_vouched=self.is_vouched or is_known)
        if self.is_accepted() or not is_written:
            return Followed(successor, ())
        try:
            self.keep() if is_known else self.expect()
        except ConfigError as error:
            return Followed(successor, (f"W_TRUST: {error.message} {error.hint}",))
        return Followed(successor, ())

    def _expect_named(self, act: Act, found: Mapping[str, SettingValue], *, hint: str) -> None:
        """Raise ConfigError if found settings decide what the act does and it was not accepted."""
        if self.is_vouched or not found or (self.is_accepted() and act.deed in {each.deed for each in self.acts()}):
            return

        raise unnamed_error(act, toml=self.toml, found=tuple(found), hint=hint)

    # Acts of these settings.

    def _acts(self, role: str) -> Iterator[Act]:
        if role == STORE:
            yield from self._store()
            return
        if role == BASE:
            place = os.path.realpath(self.toml.parent / paths.expand(self.config.base))
            if self.config.base and not Path(place).is_relative_to(self.folder):
                yield Act(role, place)
            return
        if role == SYNC:
            if rules := [f"{key} = {to_toml(value)}" for key in SYNCING if (value := getattr(self.config, key))]:
                yield Act(role, ", ".join(rules))
            return
        if role == COUNTER:
            names = {self.config.counter: None, self.config.pack_counter: None}
            others = [name for name in names if name not in ("", *ESTIMATES) and not name.startswith("hf:")]
            yield from (Act(role, name) for name in others if name in recall_core.plug_ins.find(COUNTER_GROUP))
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
        """Yield an act if the database is not in the folder of its settings."""
        name, folder = self.config.store_path, self.toml.parent
        if "://" in name:
            yield Act(STORE, name, network=True)
            return
        if os.path.basename(name) == name and not os.path.islink(folder / name) and name != "..":  # noqa: PTH114, PTH119
            return
        place = os.path.realpath(folder / name)
        if not Path(place).is_relative_to(self.folder):
            yield Act(STORE, place)


class Followed(NamedTuple):
    """Settings after a change. found: settings to continue with. warnings: warnings to print."""

    found: FoundSettings
    warnings: tuple[str, ...]


def _act(role: str, name: str, config: Config, folder: Path) -> Act | None:
    """Return the act of an embedder or reranker; None if it has no outside effects, or the name is empty."""
    bare, _, argument = name.partition(":")
    if bare in _LOCAL_KINDS:
        return None
    if bare == "onnx":
        return _outside_model(role, argument, folder)
    if bare not in registry.KINDS:
        known = Act(role, name, config.embedding_url, config.embedding_model, config.allow_network)
        return known if bare in _plug_ins() else None
    if bare == "sentence-transformers":
        return Act(role, bare, model=config.embedding_model or providers.sentence.MODEL, network=config.allow_network)

    server = cast(providers.remote.RemoteKind, registry.kind(bare))
    sends_text = server.sends_text(config)
    if sends_text and not config.allow_network:
        return None  # using it raises `network_not_allowed`
    url, model = config.embedding_url or server.url, config.embedding_model or server.model
    return Act(role, bare, url, model, sends_text, server.variables)


def _find_unnamed(act: Act, config: Config, named: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Return the settings for the act's server and model that were found, not named."""
    values = {"embedding_url": config.embedding_url, "embedding_model": config.embedding_model}
    own = {"embedding_url": act.url, "embedding_model": act.model}
    return {key: value for key, value in values.items() if value and own[key] and key not in named}


def _outside_model(role: str, argument: str, folder: Path) -> Act | None:
    place = os.path.realpath(folder / paths.expand(argument))
    return None if Path(place).is_relative_to(os.path.realpath(folder)) else Act(role, f"onnx:{place}")


def _plug_ins() -> set[str]:
    """Return the names of installed plug-ins without loading them."""
    return {
        point.name for group in (registry.GROUP, embed.rescore.GROUP) for point in metadata.entry_points(group=group)
    }


VARIABLE = "RECALL_TRUST"
"""Environment variable with accepted sha256 digests, separated by commas. They apply to the programs that have it."""

_SINCE = "0.1.0"  # the version that introduced consent
_TEXTS = {
    "embedder": "every question and text",
    "reranker": "every question and the best texts",
    "counter": "every text",
}


def digest(acts: Sequence[Act]) -> str:
    """Return the sha256 of the acts in hex: equal for equal acts, on every machine."""
    canonical = json.dumps([act._asdict() for act in acts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def is_named(digest: str) -> bool:
    """Return True if the environment accepts this digest."""
    return digest in (each.strip() for each in caller.environ().get(VARIABLE, "").split(","))


def is_accepted(path: Path) -> bool:
    """Return True if a person accepted this file with this content. Raises OSError."""
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return is_named(content) or (of_folder(os.path.realpath(path)) == content and is_own(path))


def is_own(path: Path) -> bool:
    """Return True if the file is this user's, is missing, or the system has no users."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return True
    return not hasattr(os, "geteuid") or owner == os.geteuid()


def of_folder(folder: str) -> str | None:
    """Return the digest accepted for this folder, or None."""
    found = _read().get(folder)
    return found if isinstance(found, str) else None


def keep(folder: str, digest: str, *, toml: Path) -> None:
    """Save this digest as accepted for this folder, replacing any other.

    Raises ConfigError `trust_unkept` if there is no place to save it, or the settings belong to another user.
    """
    if not is_own(toml):
        raise _unsaved_error(f"{toml} belongs to another user", digest)
    try:
        _write({**_read(), folder: digest})
    except OSError as error:
        raise _unsaved_error(why_unread(error), digest) from error


def forget(folder: str) -> None:
    """Remove the acceptance for this folder. Raises ConfigError `trust_unkept`."""
    digests = _read()
    try:
        if folder in digests:
            _write({name: value for name, value in digests.items() if name != folder})
    except OSError as error:
        raise _unsaved_error(why_unread(error)) from error


def untrusted_error(acts: Sequence[Act], *, toml: Path, digest: str) -> ConfigError:
    """Return the error for settings that wait: their acts, and how to accept them. digest: of all their acts."""
    message = f"{toml.name} in {toml.parent} would {', and '.join(map(describe, acts))}. {_explain_waiting(toml)}"
    is_open = all(
        act.role not in (COUNTER, STORE, BASE) for act in acts
    )  # otherwise lexical search does not work either
    hint = f"{_accept_hint(toml)}, or {Hint('search', REST, mode='lexical')}" if is_open else _accept_hint(toml)
    return ConfigError("untrusted_config", message, hint=hint, details=_details(acts, digest))


def _accept_hint(toml: Path) -> Hint:
    """Return the command that accepts these settings, from the current folder."""
    here = caller.folder()
    above = (here, *here.parents) if here else ()
    nearest = next((folder for folder in above if os.path.isfile(folder / toml.name)), None)  # noqa: PTH113
    return Hint("trust") if nearest == toml.parent else Hint("trust", store=str(toml.parent))


def unnamed_error(act: Act, *, toml: Path, found: Sequence[str], hint: str) -> ConfigError:
    """Return the error for an act whose server or model was found, not named."""
    keys = " and ".join(found)
    message = f"With {keys} from {toml.name} in {toml.parent}, this would {describe(act)}. You did not name that."
    return ConfigError("untrusted_config", message, hint=hint, details=_details([act], digest([act])))


def _details(acts: Sequence[Act], digest: str) -> dict[str, object]:
    return {"sha256": digest, "acts": [describe(act) for act in acts]}


def _unsaved_error(reason: str, digest: str = "") -> ConfigError:
    """Return the error for an acceptance that cannot be saved, with a replacement as its hint."""
    hint = f"export {VARIABLE}={digest}" if digest else None
    return ConfigError("trust_unkept", f"Your acceptance cannot be saved: {reason}.", hint=hint)


def describe(act: Act) -> str:
    """Return the act in words that follow "would"."""
    texts = _TEXTS.get(act.role, "")
    model = f" as model {act.model}" if act.model else ""
    if act.role == "store":
        text = f"keep the store outside of its own folder, at {_strip_secrets(act.what)}"
    elif act.role == BASE:
        text = f"read the files of its documents outside of its own folder, below {act.what}"
    elif act.role == SYNC:
        text = f"let servers sync the added folders by themselves ({act.what})"
    elif act.what.startswith("onnx:"):
        text = f"read the model in {act.what.removeprefix('onnx:')}, outside of its own folder"
    elif act.what == "sentence-transformers":
        download = ", and download it if it is missing" if act.network else ""
        text = f"load the model {act.model} with sentence-transformers{download}"
    elif act.what in KINDS:
        key = f" with the key in {' or '.join(act.keys)}" if act.keys else ""
        text = f"send {texts} to {_strip_secrets(act.url)}{model}{key}"
    else:
        server = f" for {_strip_secrets(act.url)}" if act.url else ""
        text = f"load the plug-in {act.what} and give it {texts}{server}{model}"
    return one_line(text)


def _explain_waiting(toml: Path) -> str:
    if not is_own(toml):
        return "The file belongs to another user, so it can only be accepted for one run."
    if _place() is None:
        return "It is not accepted, and without a home folder no acceptance can be saved."
    if of_folder(os.path.realpath(toml.parent)) is not None:
        return "The settings have changed since you accepted them."
    return f"Since version {_SINCE} such settings wait until you accept them."


def _strip_secrets(url: str) -> str:
    """Return the address without user name and password, which may be secret."""
    try:
        parts = urls.urlsplit(url)
    except ValueError:
        return url
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    is_bare = parts.netloc.endswith("@")  # a host in the query; urllib drops the slashes
    return SECRETS.sub(r"\1…", shown.replace(":", "://", 1) if is_bare else shown)


def _place() -> Path | None:
    folder = paths.state_folder(caller.environ())
    return folder / "trust.json" if folder else None


def _write(digests: Mapping[str, object]) -> None:
    """Write the accepted digests. Raises OSError."""
    place = _place()
    if place is None:
        raise OSError(errno.ENOENT, "There is no home folder")
    recall_core.files.write_private(place, json.dumps(digests, indent=1) + "\n")


def _read() -> Mapping[str, object]:
    """Return the saved digests; empty if unreadable or written by another user."""
    place = _place()
    if place is None or not is_own(place):
        return {}
    with suppress(OSError, ValueError, RecursionError):
        digests = json.loads(place.read_bytes())
        return digests if isinstance(digests, dict) else {}
    return {}
