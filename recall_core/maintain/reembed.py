"""Reembed: every vector made anew with another embedder, while questions use the old ones until all are there."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from recall_core.config import (
    COMMIT_SECONDS,
    CUTTING,
    Config,
    GivenSettings,
    assign,
    assignments,
    replace,
    settings_of,
)
from recall_core.contract.views import ReembedView
from recall_core.embed.registry import AUTO, agrees, new_embedder, resolve_auto, vector_weight
from recall_core.embed.trust import EMBEDDER, Act, FoundSettings
from recall_core.errors import StoreError, UsageError
from recall_core.ingest.vectors import Pace, TextVector, embed, embed_in_calls, tokens_of
from recall_core.maintain.settings import settle
from recall_core.ports import Embedder
from recall_core.shell import Hint, flag
from recall_core.store.port import Store
from recall_core.store.values import ReembedTarget
from recall_core.types import Progress, Stage

_BLOCK_TEXTS = 1_024
_FIXED = ("store_path", "embedding", *CUTTING)


class Reembedded(NamedTuple):
    """What was done, and the settings as they are by now."""

    view: ReembedView
    found: FoundSettings
    warnings: tuple[str, ...]


def reembed(
    store: Store, name: str, settings: GivenSettings, *, found: FoundSettings, toml: Path
) -> Generator[Progress, None, Reembedded]:
    """Make every vector with the embedder of that name, then change recall.toml (at `toml`) accordingly.

    settings: those that go with the embedder; they are written down too. Whoever gives name and settings accepts what
    they do; what else `found` says decides nothing that was not accepted. Stopping at any event, or a failure,
    leaves the store answering as before, and the same call goes on where it was; each distinct text is embedded
    once. For the embedder that the store has already, nothing is embedded.
    Raises ConfigError, UsageError `setting_fixed`; EmbedError; StoreError `reembed_replaced`, StoreLocked.
    """
    wanted, reasons, asked = _resolved(name, settings, found)
    embedder = new_embedder(wanted)
    previous = store.embedder()
    command = Hint("reembed", wanted.embedding, set=assignments(settings))
    run = _ReembedRun(store, embedder, ReembedTarget(embedder.identity, embedder.dimension, command))
    warnings = [f"W_AUTO: {reason}" for reason in reasons] + run.dropped()
    if embedder.identity == previous:
        if store.reembed_target() is not None:
            store.drop_reembed()
        yield run.event("done")
    else:
        yield from run.all_vectors()
    changed = _changed(wanted, settings, is_new=_is_new(wanted, embedder, found))
    if changed:
        warnings += settle(toml, changed)
    config = replace(wanted, changed, where=str(toml))
    after = found._replace(config=config).follow(found, asked, is_written=toml == found.toml)
    return Reembedded(run.view(previous), after.found, (*warnings, *after.warnings))


def _resolved(
    name: str, settings: GivenSettings, found: FoundSettings
) -> tuple[Config, tuple[str, ...], tuple[Act, ...]]:
    """The settings with the new embedder, a sentence on each that `auto` looked at, and what is accepted with it."""
    named, is_auto = settings_of(settings, where=flag("set")), name == AUTO
    before = _wanted(name, settings, found.config)
    if is_auto:
        found.expect_fallback(named)
    wanted, reasons = resolve_auto(before)
    return wanted, reasons, found.asked(wanted, named, is_auto=is_auto)


def _wanted(name: str, settings: GivenSettings, config: Config) -> Config:
    for setting in assignments(settings):
        key = setting.partition("=")[0].strip()
        if key in _FIXED:
            hint = _apart(key, setting.partition("=")[2])
            raise UsageError("setting_fixed", f"{key} cannot be set along with a new embedder.", hint=hint)
    return assign(replace(config, {"embedding": name}, where=Hint("reembed")), settings, where=flag("set"))


def _apart(key: str, text: str) -> Hint:
    """What gives the store this value instead."""
    if key in CUTTING:
        return Hint("rechunk", **{key: text or "VALUE"})
    return Hint("reembed", text or "NAME") if key == "embedding" else Hint("init")


def _is_new(wanted: Config, embedder: Embedder, found: FoundSettings) -> bool:
    """Whether recall.toml names another embedder; one that waits is not asked."""
    if wanted.embedding != found.config.embedding and found.refusal(EMBEDDER) is not None:
        return True
    return not agrees(found.config, embedder.identity)


def _changed(wanted: Config, settings: GivenSettings, *, is_new: bool) -> dict[str, Any]:
    """What recall.toml has to say: a new embedder with the weights that suit it unless one was set; what was set."""
    named = settings_of(settings, where=flag("set"))
    changed: dict[str, Any] = {"embedding": wanted.embedding} if is_new else {}
    if is_new and not {"bm25_weight", "vector_weight"} & named.keys():
        weight = vector_weight(wanted)
        changed |= {"bm25_weight": round(1 - weight, 6), "vector_weight": weight}
    return changed | {key: getattr(wanted, key) for key in named}


class _ReembedRun:
    """One run: what is done and what waits, counted in distinct texts."""

    def __init__(self, store: Store, embedder: Embedder, target: ReembedTarget) -> None:
        self.store = store
        self.embedder = embedder
        self.target = target
        self.pace = Pace()
        self.tokens_before = tokens_of(embedder)
        self.info = store.info()
        self.texts = self.embedded = self.reused = 0

    def dropped(self) -> list[str]:
        """A warning where an unfinished reembed to another embedder ends here."""
        old = self.store.reembed_target()
        if old is None or self._is_next():
            return []
        return [f"W_REEMBED: the unfinished reembed to {old.embedder} is dropped"]

    def _is_next(self) -> bool:
        """Whether the vectors that come in are the target's."""
        found = self.store.reembed_target()
        return found is not None and found[:2] == self.target[:2]

    def all_vectors(self) -> Iterator[Progress]:
        """Embed what is left and switch; what others add in between is embedded first."""
        yield self.event("embed")
        if not self._is_next():
            embed(["Recall"], self.embedder)  # one that cannot be reached must not cost what another one has made
        self.store.begin_reembed(self.target)
        self.reused = self.store.reembedded()
        while not self.store.finish_reembed(self.target):
            if not self._is_next():
                if self.store.embedder() == self.target.embedder:
                    break  # another process has done the same and was faster
                raise self._replaced()
            self.texts = self.store.texts()
            yield from self._embed_left()
        self.info = self.store.info()
        yield self.event("commit")
        yield self.event("done")

    def _embed_left(self) -> Iterator[Progress]:
        """Every text that waits, saved at least every COMMIT_SECONDS, and when this is stopped or fails."""
        unsaved: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in self._answers():
                unsaved |= answers
                self.embedded += len(answers)
                if monotonic() - since >= COMMIT_SECONDS:
                    if not self._save(unsaved):
                        return
                    unsaved, since = {}, monotonic()
                yield self.event("embed")
        finally:
            self._save(unsaved)

    def _answers(self) -> Iterator[dict[bytes, TextVector]]:
        after = b""
        while texts := self.store.texts_to_reembed(after=after, limit=_BLOCK_TEXTS):
            yield from embed_in_calls(texts, self.embedder, self.pace)
            after = max(texts)

    def _save(self, made: Mapping[bytes, TextVector]) -> bool:
        """False when another process has made the switch to the same target meanwhile."""
        if not made or self.store.save_reembedded(self.target, made):
            return True
        if self.store.embedder() == self.target.embedder:
            return False
        raise self._replaced()

    def _replaced(self) -> StoreError:
        return StoreError(
            "reembed_replaced",
            f"Another reembed has taken the place of this one, to {self.target.embedder}.",
            hint=self.target.command,
        )

    def event(self, stage: Stage) -> Progress:
        """Documents count as files, which all are there; chunks are distinct texts."""
        documents = self.info.documents
        waiting = max(0, self.texts - self.embedded - self.reused)
        counters = (documents, documents, documents, self.texts, self.embedded, self.reused)
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting, tokens=self._tokens())

    def _tokens(self) -> int | None:
        tokens = tokens_of(self.embedder)
        return None if tokens is None else tokens - (self.tokens_before or 0)

    def view(self, previous: str) -> ReembedView:
        """What the run did."""
        view = ReembedView(
            embedder=self.target.embedder,
            previous=previous,
            dimension=self.target.dimension,
            chunks=self.info.chunks,
            vectors=self.info.vectors,
            embedded=self.embedded,
            reused=self.reused,
        )
        tokens = self._tokens()
        if tokens is not None:
            view["tokens"] = tokens
        return view
