"""Find, open and make stores."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import recall_core
from recall_core import contract, embed, maintain, paths
from recall_core import store as stores
from recall_core._lazy import urls
from recall_core.config import (
    CUTTING,
    FILE_NAME,
    NAMES,
    NEW,
    NO_VECTORS,
    Config,
    GivenSettings,
    assign,
    by_key,
    chunker_identity,
    cut_as,
    load,
    read_toml,
    render,
    replace,
    settings_of,
)
from recall_core.contract import OK
from recall_core.embed.registry import AUTO, KNOWN_BY_IDENTITY, agrees, new_embedder, resolve_auto, vector_weight
from recall_core.embed.trust import BASE, COUNTER, EMBEDDER, STORE, FoundSettings
from recall_core.errors import UNMADE, ConfigError, StoreError, UsageError, why_unread
from recall_core.named import NamedTuple
from recall_core.paths import PRIVATE
from recall_core.shell import Hint, flag, install_extra
from recall_core.store.port import Store, StoreKind
from recall_core.store.sqlite.connect import MEMORY, reaching, unmade
from recall_core.store.values import not_offered_error
from recall_core.text import is_storable
from recall_core.types import StoreInfo
from recall_core.words.versions import words_of

if TYPE_CHECKING:
    from recall_core.contract.responses import TrustResponse

STORE_KINDS: dict[str, str] = {
    "sqlite": "recall_core.store.sqlite.store:SQLITE",
    "postgresql": "recall_core.store.postgres.store:POSTGRES",
}
"""Built-in store kinds: name to `module:attribute` of a StoreKind, imported on use."""
STORE_GROUP = "recall.store"
"""The entry points of plug-ins, each a StoreKind, for names that are not built in."""

_WEIGHTS = frozenset({"bm25_weight", "vector_weight"})


"""Return the words of a text."""


class StoreUrl(NamedTuple):
    """A kind of store, and the location that the kind reads."""

    kind: str
    where: str


def store_url(text: str) -> StoreUrl:
    """Split `KIND:WHERE`. Paths and `:memory:` are SQLite's. If a file has the whole name, it is a path."""
    kind, colon, where = text.partition(":")
    is_url = colon and len(kind) > 1 and (kind.isidentifier() or where.startswith("//")) and not os.path.lexists(text)
    return StoreUrl(kind, where) if is_url else StoreUrl("sqlite", text)


def store_kind(name: str) -> StoreKind:
    """Return the kind of store with that name. Raises UsageError `unknown_store_kind`, `store_kind_unavailable`."""
    from importlib import import_module  # noqa: PLC0415 - next to its only use

    if name in STORE_KINDS:
        module, _, attribute = STORE_KINDS[name].partition(":")
        try:
            return cast(StoreKind, getattr(import_module(module), attribute))
        except ImportError as error:
            message = f"Stores of the kind {name} need a package that cannot be loaded: {error}."
            raise UsageError("store_kind_unavailable", message, hint=install_extra("postgres")) from error

    points = recall_core.plug_ins.find(STORE_GROUP)
    if name not in points:
        known = ", ".join([*STORE_KINDS, *(name for name in points if name not in STORE_KINDS)])
        message = f"Unknown kind of store {name!r}."
        raise UsageError(
            "unknown_store_kind", message, hint=f"use a path, or one of these before the colon:  {known}"
        )
    with recall_core.plug_ins.loading("kind of store", points[name], UsageError, "store_kind_unavailable"):
        return cast(StoreKind, points[name].load())


def expect_care(text: str, what: str) -> StoreKind:
    """Return the kind of the store with this name. Raises UsageError `not_offered` if it lacks the level `care`."""
    kind = store_kind(store_url(text).kind)
    if "care" not in kind.levels:
        raise not_offered_error(what)
    return kind


class StorePlace(NamedTuple):
    """A store's URL, its settings, its base folder, and the settings file.

    found: the file that the settings were read from, if different. needs: requests of opening it that wait.
    """

    url: StoreUrl
    config: Config
    base: Path
    toml: Path
    found: Path | None = None
    needs: tuple[str, ...] = ()

    def settings(self, *, is_vouched: bool) -> FoundSettings:
        """Return the settings as found. is_vouched: see there."""
        return FoundSettings(self.config, self.found or self.toml, is_vouched)


def find(store: str | None, *, start: Path | None) -> StorePlace:
    """Return the store of that name, or the one named by the nearest recall.toml from `start` upwards.

    A folder means the store inside it. A start of None is the current folder. A store that is not a file uses the
    settings of the nearest recall.toml, or the defaults.
    Raises StoreError `no_store`, `no_settings`, `store_unreadable`; RecallError `no_folder`; UsageError; ConfigError.
    """
    if store is not None:
        url = store_url(store)
        if url.kind != "sqlite" or url.where == MEMORY:
            return _apart(url, paths.absolute(start or Path()))
        path = paths.absolute(Path(url.where))
        with reaching(path):
            is_folder = path.is_dir()
        if is_folder:
            return _beside(path / FILE_NAME)
        toml = path.parent / FILE_NAME
        config = load(toml)
        url = StoreUrl("sqlite", str(path))
        return StorePlace(url, config, _base(config, toml, url), toml, needs=(BASE, COUNTER))
    first = paths.absolute(start or Path())
    nearest = _nearest(first)
    if nearest is None:
        raise _nowhere(first)
    return _beside(nearest)


def _nearest(first: Path) -> Path | None:
    for toml in (folder / FILE_NAME for folder in (first, *first.parents)):
        with reaching(toml):
            is_there = toml.is_file()
        if is_there:
            return toml
    return None


def _apart(url: StoreUrl, first: Path) -> StorePlace:
    """Return the place of a store that is not a file. Settings are written only to a recall.toml with its URL."""
    toml = _nearest(first)
    config = initial_config(None, (), is_new=url.where == MEMORY)[0] if toml is None else load(toml)
    base = first if toml is None else toml.parent
    needs = (EMBEDDER, COUNTER) if url.where == MEMORY or config.embedding == AUTO else (COUNTER,)
    if toml is not None and config.store_path == f"{url.kind}:{url.where}":
        return StorePlace(url, config, _base(config, toml, url), toml, needs=(*needs, BASE))
    return StorePlace(url, config, base, base / ":" / FILE_NAME, toml, needs)


def _nowhere(first: Path) -> StoreError:
    """Return the error for a missing recall.toml. A store without settings can still be opened by name."""
    path = first / Config().store_path
    with reaching(path):
        is_there = path.is_file()
        is_empty = is_there and path.stat().st_size == 0
    if is_empty:
        return unmade(str(path))
    if is_there:
        hint = Hint("stats", store=str(path))
        return StoreError("no_settings", f"There is no {FILE_NAME} next to {path} or above it.", hint=hint)
    return StoreError("no_store", f"There is no {FILE_NAME} in {first} or above.", hint=Hint("init"))


def _beside(toml: Path) -> StorePlace:
    config = load(toml)
    url = _named_in(toml.parent, config.store_path)
    return StorePlace(url, config, _base(config, toml, url), toml, needs=(STORE, BASE, COUNTER))


def _base(config: Config, toml: Path, url: StoreUrl) -> Path:
    """Return the folder that paths of documents are relative to."""
    if config.base:
        return paths.spelt(toml.parent / paths.expand(config.base))
    return Path(url.where).parent if url.kind == "sqlite" else toml.parent


def _named_in(folder: Path, name: str) -> StoreUrl:
    """Return the store that settings in this folder name: a URL with `//`, or a file."""
    return store_url(name) if "://" in name else StoreUrl("sqlite", str(folder / name))


class OpenedStore(NamedTuple):
    """A store, its settings in effect, and the settings as found."""

    store: Store
    config: Config
    found: FoundSettings


def open_store(place: StorePlace, *, is_vouched: bool = False) -> OpenedStore:
    """Open an existing store, or a new one in memory. is_vouched: accept what its settings request.

    Raises StoreError, UsageError, EmbedError; ConfigError `untrusted_config` if opening waits for acceptance.
    """
    found = place.settings(is_vouched=is_vouched)
    if place.needs:
        found.expect(*place.needs)
    config = _resolve(place.config)[0] if EMBEDDER in place.needs else place.config
    is_new = place.url == StoreUrl("sqlite", MEMORY)
    store = create(place.url, config) if is_new else store_kind(place.url.kind).open(place.url.where)
    return OpenedStore(store, config, found)


def create(url: StoreUrl, config: Config, mode: int = PRIVATE) -> Store:
    """Make an empty store with these settings, but no recall.toml. Raises StoreError, UsageError, EmbedError."""
    embedder = new_embedder(config)
    store = store_kind(url.kind).create(
        url.where,
        embedder=embedder.identity,
        dimension=embedder.dimension,
        counter=config.counter,
        chunker=chunker_identity(config),
        mode=mode,
    )
    if "signatures" in store.capabilities:
        store.sign(stores.values.index_of(config, store.capabilities))
    if config.language != AUTO:
        with store.writer() as writer:
            writer.use_language(config.language)
    return store


def expect_free(kind: StoreKind, where: str) -> None:
    """Raise StoreError `store_exists` if a store is there."""
    try:
        store = kind.open(where)
    except StoreError as error:
        if error.code not in UNMADE:
            raise
    else:
        store.close()
        hint = Hint("stats", store=store.path)
        raise StoreError("store_exists", f"{store.path} already exists. Nothing was copied.", hint=hint)


def fit(found: FoundSettings, info: StoreInfo, *, chosen: str) -> Config:
    """Return settings that several stores share, with the embedder, language and limits of this one.

    chosen: the embedder that the weights in these settings suit.
    """
    config = found.config
    may_load = config.embedding != AUTO and found.refusal(EMBEDDER) is None
    if not (may_load and agrees(config, info.embedder)):
        dimension = config.embedding_dim if info.embedder == NO_VECTORS else info.dimension
        named = (config._replace(embedding=kind, embedding_dim=dimension) for kind in KNOWN_BY_IDENTITY)
        config = next((each for each in named if agrees(each, info.embedder)), config)
    if config.embedding not in (AUTO, chosen):
        config = weigh(config)
    if info.documents or info.language != StoreInfo._field_defaults["language"]:
        config = config._replace(language=info.language)
    return cut_as(config, chunker=info.chunker, counter=info.counter)


def trust(
    store: str | None = None, *, start: Path | None = None, accept: bool = False, forget: bool = False
) -> TrustResponse:
    """Return the waiting requests of that store's recall.toml. accept, forget: record a decision.

    Finds the store as `find` does. Raises ConfigError `trust_unkept`.
    """
    found = find(store, start=start).settings(is_vouched=False)
    if accept:
        found.keep()
    if forget:
        embed.trust.forget(found.folder)
    acts = found.acts()
    view = contract.views.TrustView(
        toml=str(found.toml),
        acts=[embed.trust.describe(act) for act in acts],
        accepted=found.is_accepted(),
        kept=found.is_kept(),
    )
    if acts:
        view["sha256"] = embed.trust.digest(acts)
    return {**OK, "trust": view, "warnings": []}


class NewStore(NamedTuple):
    """A new store and its notes."""

    place: StorePlace
    store: Store
    warnings: tuple[str, ...]


class NewStoreFields(TypedDict, total=False):
    """Options of a new store. embedding, settings: see `initial_config`; passing them accepts their requests.

    name: of the database; overrides the settings.
    mode: of its file, private by default.
    citus: distribute a collection in Postgres over the nodes of Citus.
    trust: accept the requests of an existing recall.toml.
    """

    embedding: str | None
    language: str | None
    settings: GivenSettings
    name: str
    mode: int
    citus: bool
    trust: bool


def make(folder: Path, **options: Unpack[NewStoreFields]) -> NewStore:
    """Make a store and its recall.toml in this folder, which is created if needed. An existing recall.toml is kept.

    On an error nothing half-made remains. Raises StoreError `store_exists`, `folder_unusable`, `store_unreadable`;
    RecallError `no_folder`; EmbedError; ConfigError.
    """
    path, name = paths.absolute(folder), options.get("name", "")
    embedding, language, settings = options.get("embedding"), options.get("language"), options.get("settings", ())
    config, warnings = initial_config(embedding, settings, language=language)
    kept: KeptSettings | None = None
    if not is_storable(str(path)):
        message = f"{str(folder)!r} cannot contain a store because its path is not UTF-8."
        raise StoreError("folder_unusable", message, hint=Hint("init", "DIR"))
    try:
        _expect_apart(path, name or config.store_path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else why_unread(error)
        raise StoreError(
            "folder_unusable", f"{folder} cannot be created:  {reason}.", hint=Hint("init", "DIR")
        ) from error
    toml = folder / FILE_NAME
    with reaching(toml):
        is_new = not toml.exists()
    if not is_new:
        found = FoundSettings(load(toml), toml, options.get("trust", False))
        found.expect(EMBEDDER, COUNTER, BASE, *(() if name else (STORE,)))
        kept = _keep(found, has_flags=any((embedding, language, settings)))
        config, warnings = kept.config, kept.warnings
        _expect_apart(path, name or config.store_path)
    url = _named_in(path, name or config.store_path)
    expect_no_password(url, f"store_path would write a password into {FILE_NAME}.")
    mode, citus = options.get("mode", PRIVATE), options.get("citus", False)
    if citus and url.kind != "postgresql":
        raise UsageError(
            "conflicting_flags",
            "Citus distributes only stores in Postgres.",
            hint=Hint("init", citus=True, store="URL"),
        )
    if is_new and config.lexical_model == "ts_rank" and url.kind != "postgresql":
        raise stores.values.ts_rank_error()
    store = _make(url, config, mode) if is_new else create(url, config, mode)
    try:
        if citus:
            cast(Any, store).distribute()
        if is_new:
            recall_core.files.write(toml, render(config).encode())
    except (OSError, StoreError) as error:
        store.close()
        store_kind(url.kind).discard(url.where)
        if isinstance(error, StoreError):
            raise
        raise StoreError("folder_unusable", f"{toml} cannot be written: {error.strerror}.") from error
    place = StorePlace(url, config, _base(config, toml, url), toml)
    return NewStore(place, store, (*warnings, *_settle(place, kept)))


def expect_no_password(url: StoreUrl, message: str) -> None:
    """Raise ConfigError `password_in_settings` if this URL has a password."""
    with suppress(ValueError):  # not a URL, which opening it reports
        parts = urls.urlsplit(url.where)
        if url.kind != "sqlite" and (parts.password or "password" in dict(urls.parse_qsl(parts.query))):
            raise ConfigError("password_in_settings", message, hint="export PGPASSWORD=…, or write it into ~/.pgpass")


def _settle(place: StorePlace, kept: KeptSettings | None) -> tuple[str, ...]:
    """Write new settings to recall.toml, accepted by the maker, and return notes on them."""
    before = FoundSettings(Config(), place.toml)
    notes: tuple[str, ...] = ()
    if kept is not None:
        before = kept.found
        if kept.resolved:
            notes = maintain.embedders.record_settings(place.toml, kept.resolved)
    if not place.settings(is_vouched=False).acts():
        return notes
    after = FoundSettings(load(place.toml), place.toml, before.is_vouched)
    return (*notes, *after.follow(before, () if kept else after.acts()).warnings)


def _make(url: StoreUrl, config: Config, mode: int) -> Store:
    """Return a new store, or one from a run that was killed before it wrote recall.toml."""
    try:
        return create(url, config, mode)
    except StoreError as error:
        begun = _find_begun(url, config) if error.code == "store_exists" else None
        if begun is None:
            raise
        return begun


def _find_begun(url: StoreUrl, config: Config) -> Store | None:
    """Return the store at this place if it is empty and has these settings."""
    try:
        store = store_kind(url.kind).open(url.where)
    except StoreError:
        return None
    info = store.info()
    if info.generation == 0 and not store.judged_queries() and not disagreements(config, config, info):
        return store
    store.close()
    return None


def _expect_apart(folder: Path, database: str) -> None:
    """Raise ConfigError if the database would be the folder or its recall.toml."""
    if os.path.realpath(folder / database) in (os.path.realpath(folder), os.path.realpath(folder / FILE_NAME)):
        message = f"store_path cannot be {database!r}: the database needs a file of its own."
        raise ConfigError("bad_value", message, hint=f'store_path = "{Config().store_path}"')


def initial_config(
    embedding: str | None, settings: GivenSettings, *, language: str | None = None, is_new: bool = True
) -> tuple[Config, tuple[str, ...]]:
    """Return the settings of a new store (defaults plus these), and notes on how `auto` was decided.

    The weights suit the embedder, unless the settings set one of them. is_new: False for an existing store without
    settings.
    """
    start = Config()._replace(**NEW) if is_new else Config()  # type: ignore[arg-type]  # values of its own fields
    if embedding is not None:  # first, because other settings depend on it
        start = replace(start, {"embedding": embedding}, where=flag("embedding"))
    if language is not None:
        start = replace(start, {"language": language}, where=flag("language"))
    values = settings_of(settings, where=flag("set"))
    config = assign(start, values, where=flag("set"))
    config, warnings = _resolve(
        config._replace(embedding=embedding) if embedding is not None and config.vectors else config
    )
    return (config if values.keys() & _WEIGHTS else weigh(config)), warnings


class KeptSettings(NamedTuple):
    """The settings of an existing recall.toml, with an embedder for `auto` and default weights.

    warnings: notes on these. resolved: settings to add to the file.
    """

    found: FoundSettings
    config: Config
    warnings: tuple[str, ...]
    resolved: dict[str, str | float]


def _keep(found: FoundSettings, *, has_flags: bool) -> KeptSettings:
    before, toml = found.config, found.toml
    config, warnings = _resolve(before)
    resolved: dict[str, str | float] = {"embedding": config.embedding} if before.embedding == AUTO else {}
    suited = weigh(config)
    if suited != config and not _WEIGHTS & by_key(read_toml(toml)).keys():
        weights = {"bm25_weight": suited.bm25_weight, "vector_weight": suited.vector_weight}
        values = " and ".join(f"{NAMES[key]} = {weight:g}" for key, weight in weights.items())
        warnings += (f"W_CONFIG: {FILE_NAME} sets no weight; using {values}, which suit {config.embedding}",)
        config, resolved = suited, {**resolved, **weights}
    if has_flags:
        warnings += (f"W_CONFIG: {FILE_NAME} already exists and is kept; the flags of init are ignored",)
    return KeptSettings(found, config, warnings, resolved)


def weigh(config: Config) -> Config:
    """Return the config with weights that suit the embedder."""
    weight = vector_weight(config)
    return config._replace(bm25_weight=round(1 - weight, 6), vector_weight=weight)


def _resolve(config: Config) -> tuple[Config, tuple[str, ...]]:
    config, reasons = resolve_auto(config)
    return config, tuple(f"W_AUTO: {reason}" for reason in reasons)


def disagreements(config: Config, usable: Config, info: StoreInfo) -> tuple[str, ...]:
    """Return warnings where recall.toml and the store disagree. The store wins.

    usable: the settings without an embedder that waits to be accepted, which is not loaded to compare.
    """
    embedder = info.embedder if usable != config or agrees(config, info.embedder) else config.embedding
    is_settled = not info.documents or config.language == AUTO or words_of(config.language) == words_of(info.language)
    pairs = (
        ("embedder", embedder, info.embedder),
        ("counter", config.counter, info.counter),
        ("chunker", chunker_identity(config), info.chunker),
        ("language", info.language if is_settled else config.language, info.language),
    )
    changes = {
        "embedder": Hint("reembed", config.embedding),
        "language": Hint("reindex", language=config.language),
    }
    stored = cut_as(config, chunker=info.chunker, counter=info.counter)
    cutting = {key: getattr(config, key) for key in CUTTING if getattr(config, key) != getattr(stored, key)}
    rechunk = Hint("rechunk", **cutting)
    return tuple(
        f"W_CONFIG: {FILE_NAME} sets {name} to {wanted}, but the store was made with {actual}; "
        f"the store's value applies until {changes.get(name, rechunk)}"
        for name, wanted, actual in pairs
        if wanted != actual
    )
