"""The embedders to choose from, and reembedding: questions use the old vectors until every new one is stored."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from time import monotonic, perf_counter
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
from recall_core.contract.views import EmbedderView, ReembedView
from recall_core.embed.providers.remote import RemoteKind
from recall_core.embed.registry import AUTO, HASH_NOTE, agrees, kinds, new_embedder, resolve_auto, vector_weight
from recall_core.embed.trust import EMBEDDER, Act, FoundSettings
from recall_core.errors import EmbedError, StoreError, UsageError
from recall_core.ingest.vectors import Pace, TextVector, cost, embed, embed_in_calls, tokens_of
from recall_core.maintain.settings import settle
from recall_core.ports import Embedder, EmbedderKind
from recall_core.shell import Hint, flag
from recall_core.store.port import Store
from recall_core.store.values import ReembedTarget
from recall_core.types import Progress, Stage

_PROBE_SECONDS = 1.0
_PROBE_WORDS = (
    "the harbour pilot wrote a short report on tides wind cargo and crew before each vessel left its berth "
    "while the night engineer tested pumps valves engines and radio as required by section {n} of the handbook"
).split()
_PROBE_TEXTS = tuple(
    " ".join(_PROBE_WORDS[(n * 7 + i * (1 + n % 5)) % len(_PROBE_WORDS)] for i in range(100)).format(n=n)
    for n in range(256)
)


def embedders(config: Config, *, in_use: str | None, probe: bool, waits: bool = False) -> list[EmbedderView]:
    """Return every kind in its standing order. in_use: the identity behind a store's vectors.

    probe: embed for about a second with each that is available and sends nothing off this machine.
    waits: the one that the settings name is left alone, because nobody has accepted what they say.
    """
    return [_view(kind, config, in_use=in_use, probe=probe, waits=waits) for kind in kinds()]


def _view(
    kind: EmbedderKind, config: Config, *, in_use: str | None, probe: bool, waits: bool = False
) -> EmbedderView:
    # Another kind's model and address are not its own.
    bare = config._replace(embedding=kind.name, embedding_model="", embedding_url="")
    own = config if _is_named(kind, config) else bare
    size = (in_use or "").rpartition(":")[2]
    recorded = own._replace(embedding_dim=int(size)) if size.isdecimal() else own
    is_in_use = in_use is not None and kind.recognises(in_use, recorded)
    own = recorded if is_in_use else own
    reason = kind.missing(own)
    note = HASH_NOTE if kind.name == "hash" else ""
    view = EmbedderView(
        name=kind.name,
        purpose=kind.purpose,
        available=reason is None,
        reason=reason or note,
        network=kind.sends_text(own),
        in_use=is_in_use,
        vector_weight=kind.vector_weight,
    )
    dimension = kind.dimension(own)
    if dimension is not None:
        view["dimension"] = dimension
    if waits and _is_named(kind, config):
        view["reason"] = reason or f"it waits for {Hint('trust')}"
    elif reason is None:
        _look_closer(view, kind, own, probe=probe)
    needs_server = view["network"] or isinstance(kind, RemoteKind)
    if view["available"] and needs_server and "texts_per_second" not in view:
        view["probed"] = False
    if view["available"] and not is_in_use:
        view["hint"] = str(Hint("reembed", kind.name))
    return view


def _is_named(kind: EmbedderKind, config: Config) -> bool:
    return config.embedding.partition(":")[0] == kind.name


def _look_closer(view: EmbedderView, kind: EmbedderKind, config: Config, *, probe: bool) -> None:
    """What only the embedder itself knows; it is loaded to be probed, and not asked when that would be a request."""
    measured = probe and not view["network"]
    if not measured and "dimension" not in view:
        return
    try:
        embedder = kind.new(config, dimension=view.get("dimension"))
        if measured:
            view["texts_per_second"] = _texts_per_second(embedder)
            view["dimension"] = embedder.dimension
        if embedder.max_input is not None:
            view["max_input"] = embedder.max_input
    except EmbedError as error:
        view["available"], view["reason"] = False, error.message.rstrip(".")


def _texts_per_second(embedder: Embedder) -> float:
    """Of texts of 100 words, after a first one that may load a model."""
    embedder.embed(_PROBE_TEXTS[:1])
    pace, done, started = Pace(), 0, perf_counter()
    seconds = 0.0
    while seconds < _PROBE_SECONDS:
        texts = _PROBE_TEXTS[: pace.next_call(_PROBE_TEXTS)]
        embedder.embed(texts)
        done, before, seconds = done + len(texts), seconds, perf_counter() - started
        pace.note(cost(texts), seconds - before, is_full=True)
    return round(done / seconds, 1)


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
    wanted, reasons, asked = _resolve(name, settings, found)
    embedder = new_embedder(wanted)
    previous = store.embedder()
    command = Hint("reembed", wanted.embedding, set=assignments(settings))
    run = _ReembedRun(store, embedder, ReembedTarget(embedder.identity, embedder.dimension, command))
    warnings = [f"W_AUTO: {reason}" for reason in reasons] + run.warn_of_dropped()
    if embedder.identity == previous:
        if store.reembed_target() is not None:
            store.drop_reembed()
        yield run.event("done")
    else:
        yield from run.all_vectors()
    changed = _changed_settings(wanted, settings, is_new=_is_new(wanted, embedder, found))
    if changed:
        warnings += settle(toml, changed)
    config = replace(wanted, changed, where=str(toml))
    after = found._replace(config=config).follow(found, asked, is_written=toml == found.toml)
    return Reembedded(run.view(previous), after.found, (*warnings, *after.warnings))


def _resolve(
    name: str, settings: GivenSettings, found: FoundSettings
) -> tuple[Config, tuple[str, ...], tuple[Act, ...]]:
    """Return settings with the new embedder, a sentence on each that `auto` tried, and what is accepted with it."""
    named, is_auto = settings_of(settings, where=flag("set")), name == AUTO
    before = _with_embedder(name, settings, found.config)
    if is_auto:
        found.expect_fallback(named)
    wanted, reasons = resolve_auto(before)
    return wanted, reasons, found.asked(wanted, named, is_auto=is_auto)


def _with_embedder(name: str, settings: GivenSettings, config: Config) -> Config:
    for setting in assignments(settings):
        key, _, text = setting.partition("=")
        key = key.strip()
        if key in _FIXED:
            hint = Hint("reembed", text or "NAME") if key == "embedding" else Hint("init")
            if key in CUTTING:
                hint = Hint("rechunk", **{key: text or "VALUE"})
            raise UsageError("setting_fixed", f"{key} cannot be set along with a new embedder.", hint=hint)
    return assign(replace(config, {"embedding": name}, where=Hint("reembed")), settings, where=flag("set"))


def _is_new(wanted: Config, embedder: Embedder, found: FoundSettings) -> bool:
    """Return True if recall.toml names another embedder; one that waits is not asked."""
    if wanted.embedding != found.config.embedding and found.refusal(EMBEDDER) is not None:
        return True
    return not agrees(found.config, embedder.identity)


def _changed_settings(wanted: Config, settings: GivenSettings, *, is_new: bool) -> dict[str, Any]:
    """Return what recall.toml gets: a new embedder, with weights that suit it unless set, and what was set."""
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

    def warn_of_dropped(self) -> list[str]:
        """Return a warning where an unfinished reembed to another embedder ends here."""
        old = self.store.reembed_target()
        if old is None or self._is_next():
            return []
        return [f"W_REEMBED: the unfinished reembed to {old.embedder} is dropped"]

    def _is_next(self) -> bool:
        """Return True if the vectors that come in are the target's."""
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
                raise self._replaced_error()
            self.texts = self.store.texts()
            yield from self._embed_left()
        self.info = self.store.info()
        yield self.event("commit")
        yield self.event("done")

    def _embed_left(self) -> Iterator[Progress]:
        """Yield every text that waits, saved at least every COMMIT_SECONDS, and when this is stopped or fails."""
        unsaved: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            for answers in self._embed_in_blocks():
                unsaved |= answers
                self.embedded += len(answers)
                if monotonic() - since >= COMMIT_SECONDS:
                    if not self._save(unsaved):
                        return
                    unsaved, since = {}, monotonic()
                yield self.event("embed")
        finally:
            self._save(unsaved)

    def _embed_in_blocks(self) -> Iterator[dict[bytes, TextVector]]:
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
        raise self._replaced_error()

    def _replaced_error(self) -> StoreError:
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
        """Return what the run did."""
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
