"""Embedders of a store: list, reembed, index the vectors, and write settings to recall.toml."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, NamedTuple

from recall_core import files
from recall_core._lazy import tomlkit
from recall_core.config import (
    COMMIT_SECONDS,
    CUTTING,
    EXACT_VECTORS,
    FILE_NAME,
    NAMES,
    NO_VECTORS,
    Config,
    GivenSettings,
    assign,
    assignments,
    replace,
    settings_of,
)
from recall_core.contract.store import VectorIndexView
from recall_core.contract.views import EmbedderView, ReembedView
from recall_core.embed.providers.remote import RemoteKind
from recall_core.embed.registry import AUTO, HASH_NOTE, agrees, kind, kinds, new_embedder, resolve_auto, vector_weight
from recall_core.embed.trust import EMBEDDER, Act, FoundSettings
from recall_core.errors import ConfigError, EmbedError, StoreError, UsageError, why_unread
from recall_core.ingest.vectors import Pace, TextVector, cost, embed, embed_in_calls, tokens_of
from recall_core.ports import Embedder, EmbedderKind
from recall_core.retrieve.pool import by_index
from recall_core.shell import Hint, flag
from recall_core.store.port import Store
from recall_core.store.values import Finding, ReembedTarget, given_error, index_of
from recall_core.text import GIVEN
from recall_core.types import Progress, Row, Stage
from recall_core.words.question import telling

_COMPACT = Hint("compact")
_REPAIR = Hint("doctor", fix=True)
_QUESTIONS = 20
_LEAST_QUESTIONS = 4
_COMPARED = 2_000_000  # vectors compared for all questions together, above the minimum number of questions
_WORDS = 5
_DEPTH = 10


class IndexRecall(NamedTuple):
    """Mean share of the nearest rows that the index finds, over some word questions."""

    questions: int
    at_10: float | None
    at_pool: float | None
    pool: int

    def __str__(self) -> str:
        if self.at_10 is None or self.at_pool is None:
            return "no questions to measure recall with"
        return (
            f"recall@10 {self.at_10:.3f} and recall@{self.pool} {self.at_pool:.3f} on {self.questions} word questions"
        )


def index_vectors(store: Store, config: Config) -> int | None:
    """Make or drop the index as the settings say. Return the vectors in it, or None if the settings want none."""
    if store.capabilities.isdisjoint(("signatures", "hnsw")):
        return None
    wanted = index_of(config, store.capabilities)
    store.sign(wanted)
    return None if wanted is None else store.info().vectors


def make_anew(store: Store, config: Config) -> None:
    """Make the index that the settings want again if some signatures do not match their vectors."""
    if (wanted := index_of(config, store.capabilities)) is None:
        return
    if store.signing() == wanted and store.wrong_signatures():
        store.sign(None)
    store.sign(wanted)


def measure_recall(store: Store, embedder: Embedder, config: Config) -> IndexRecall:
    """Return the share of the nearest rows that the index finds. Every vector must be in it.

    Questions come from up to 20 chunks, evenly spaced by path and offset. Each is five significant words of the text,
    evenly spaced. To bound the time, above 100,000 vectors there are fewer questions, but at least 4.
    """
    depth = max(config.pool, _DEPTH)
    shares: dict[int, list[float]] = {_DEPTH: [], depth: []}
    with store.reading():
        texts = [text for row in _sample(store) if (text := _question(store, row, config.stop_words))]
        for vector in embedder.embed(texts, is_query=True) if texts else ():
            near = by_index(store, vector, config, where=None, k=depth) if vector else None
            if near is not None:
                exact = store.nearest(vector, where=None, k=depth).cosines
                for k in shares:
                    wanted = [rowid for rowid, cosine in list(exact.items())[:k] if cosine > 0]
                    found = set(list(near.cosines)[:k])
                    shares[k] += [sum(rowid in found for rowid in wanted) / len(wanted)] if wanted else []
    return IndexRecall(len(shares[depth]), _mean(shares[_DEPTH]), _mean(shares[depth]), config.pool)


def _sample(store: Store) -> list[Row]:
    rowids = store.in_order()
    most = max(_LEAST_QUESTIONS, min(_QUESTIONS, _COMPARED // max(1, store.info().vectors)))
    count = min(len(rowids), most)
    return store.fetch([rowids[place * len(rowids) // count] for place in range(count)])


def _question(store: Store, row: Row, stop_words: str) -> str:
    words = telling(dict.fromkeys(store.analyzer.tokens(row.chunk.text)), stop_words)
    count = min(len(words), _WORDS)
    return " ".join(words[place * len(words) // count] for place in range(count))


def _mean(shares: list[float]) -> float | None:
    return round(sum(shares) / len(shares), 6) if shares else None


def view_of(store: Store, own: Callable[[], Embedder], config: Config) -> VectorIndexView:
    """Return the index that the settings want, as stats reports it."""
    index = index_of(config, store.capabilities)
    is_ready = index is not None and store.is_signed(index)
    is_used = is_ready and store.info().vectors > EXACT_VECTORS
    view = VectorIndexView(name="hnsw", ready=is_ready, used=is_used)
    if config.vector_index == "lsh":
        view = {"name": "lsh", "bits": config.ann_bits, "seed": config.ann_seed, "ready": is_ready, "used": is_used}
    found = _recall_or_reason(store, own, config) if is_ready else None
    if isinstance(found, str):
        view["unmeasured"] = found
    elif found is not None:
        view["questions"] = found.questions
        view["recall_at_10"] = found.at_10
        view["recall_at_pool"] = found.at_pool
    return view


def check(store: Store, own: Callable[[], Embedder], config: Config) -> Finding:
    """Return a warning if the index that the settings want is missing, or an error if it is wrong."""
    index = index_of(config, store.capabilities)
    if index is None:
        return Finding("ok", f"this kind of store has no index {config.vector_index!r}")
    if index == "hnsw":
        if not store.is_signed(index):
            return Finding("warning", "the index is missing; searches compare every vector", _COMPACT)
        return Finding("ok", f"{store.info().vectors} vectors in the index; {_recall_or_reason(store, own, config)}")
    made = f"signatures of {index.bits} bits with seed {index.seed}"
    if not store.is_signed(index):
        return Finding("warning", f"some vectors have no {made}; searches compare every vector", _COMPACT)
    if wrong := store.wrong_signatures():
        return Finding("error", f"{wrong} signatures do not match their vectors", _REPAIR)
    return Finding("ok", f"{store.info().vectors} {made}; {_recall_or_reason(store, own, config)}")


def _recall_or_reason(store: Store, own: Callable[[], Embedder], config: Config) -> IndexRecall | str:
    """Return the measured recall, or why it is not measured. Sends no text off this machine."""
    try:
        if kind(config.embedding).sends_text(config):
            return "recall not measured: the embedder sends text off this machine"
        return measure_recall(store, own(), config)
    except (EmbedError, ConfigError) as error:
        return f"recall not measured: {error.message}"


_BOM = "\ufeff"
_NAME_STORE = f"""mkdir DIR; echo 'store_path = "URL"' > DIR/{FILE_NAME}; cd DIR; recall trust"""


def write_settings(toml: Path, values: Mapping[str, str | float | bool]) -> None:
    """Write these values to the settings file atomically; create a missing file.

    values: by key. A setting keeps the name it already has in the file.

    Raises ConfigError `settings_unwritable`, which names the lines to write by hand.
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
        if toml.parent.name == ":":  # not a folder; see `api.stores.find`
            message, hint = f"No {FILE_NAME} names this store; add by hand: {by_hand}", _NAME_STORE
        else:
            why = str(error) if isinstance(error, tomlkit.exceptions.TOMLKitError) else why_unread(error)
            message, hint = f"{toml} cannot be written ({why}); add by hand: {by_hand}", None
        raise ConfigError("settings_unwritable", message, hint=hint) from error


def record_settings(toml: Path, values: Mapping[str, str | float | bool]) -> tuple[str, ...]:
    """Write these values to the settings file, or return the warning if that fails. The action itself is already
    done."""
    try:
        write_settings(toml, values)
    except ConfigError as error:
        return (f"W_CONFIG: {error.message}",)
    return ()


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
    """Return every kind of embedder in a fixed order; `given` and `none`, which make no vectors, only if in use.

    in_use: identity of the embedder behind the store's vectors.
    probe: embed for about a second with each available embedder that sends nothing off this machine.
    waits: do not load the embedder that the settings name, because the settings are not accepted yet.
    """
    idle = {"given": GIVEN, NO_VECTORS: NO_VECTORS}
    listed = [kind for kind in kinds() if (in_use or "").startswith(idle.get(kind.name, ""))]
    return [_view(kind, config, in_use=in_use, probe=probe, waits=waits) for kind in listed]


def _view(
    kind: EmbedderKind, config: Config, *, in_use: str | None, probe: bool, waits: bool = False
) -> EmbedderView:
    # The model and address in the settings belong to another kind.
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
        view["reason"] = reason or f"waiting for {Hint('trust')}"
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
    """Add what only the embedder itself knows. Load it only for a probe, and never if that would be a request."""
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
    """Measure texts of 100 words. The first text only loads the model."""
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
    """Result of a reembed, and the settings after it."""

    view: ReembedView
    found: FoundSettings
    warnings: tuple[str, ...]


def reembed(
    store: Store, name: str, settings: GivenSettings, *, found: FoundSettings, toml: Path, given: bool = False
) -> Generator[Progress, None, Reembedded]:
    """Embed every text with the named embedder, then update recall.toml (at `toml`).

    settings: settings of the new embedder; they are saved too. The caller accepts these and the name. Other settings
    in
    `found` have effect only if they were accepted.

    Each distinct text is embedded once; none is if the store already uses this embedder. Stopping at any event, or a
    failure, leaves the store answering as before, and the same call resumes. Raises ConfigError, UsageError
    `setting_fixed`; EmbedError; StoreError `reembed_replaced`, `vectors_given`, StoreLocked.

    given: also replace the vectors that programs gave; their documents are ordinary ones from then on.
    """
    wanted, reasons, asked = _resolve(name, settings, found)
    embedder = new_embedder(wanted)
    previous = store.embedder()
    options = {"given": True} if given else {}
    command = Hint("reembed", wanted.embedding, set=assignments(settings), **options)
    run = _ReembedRun(store, embedder, ReembedTarget(embedder.identity, embedder.dimension, command), given=given)
    is_same = embedder.identity == previous
    if not is_same and embedder.identity.startswith(GIVEN):
        message = f"{embedder.identity} makes no vectors; only a new store can have it."
        raise EmbedError("embedder_unavailable", message, hint=Hint("init", "DIR", embedding=embedder.identity))
    if not (is_same or given) and run.given:
        raise given_error(run.given)
    warnings = [f"W_AUTO: {reason}" for reason in reasons] + run.warn_of_dropped()
    if is_same and not (given and run.given):
        if store.reembed_target() is not None:
            store.drop_reembed()
        yield run.event("done")
    else:
        yield from run.all_vectors()
    changed = _changed_settings(wanted, settings, is_new=_is_new(wanted, embedder, found))
    if changed:
        warnings += record_settings(toml, changed)
    config = replace(wanted, changed, where=str(toml))
    after = found._replace(config=config).follow(found, asked, is_written=toml == found.toml)
    return Reembedded(run.view(previous), after.found, (*warnings, *after.warnings))


def _resolve(
    name: str, settings: GivenSettings, found: FoundSettings
) -> tuple[Config, tuple[str, ...], tuple[Act, ...]]:
    """Return settings with the new embedder, one sentence per embedder that `auto` tried, and the accepted acts."""
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
            raise UsageError("setting_fixed", f"{key} cannot be changed together with the embedder.", hint=hint)
    named = settings_of(settings, where=flag("set"))
    if not named.get("vectors", config.vectors) and name != NO_VECTORS:
        hint = Hint("reembed", name, set=(*assignments(settings), "vectors=true"))
        raise UsageError("vectors_off", "recall.toml sets vectors = false, so there are none to make.", hint=hint)
    config = replace(config._replace(vectors=True), {"embedding": name}, where=Hint("reembed"))
    return assign(config, settings, where=flag("set"))


def _is_new(wanted: Config, embedder: Embedder, found: FoundSettings) -> bool:
    """Return True if recall.toml names another embedder. One that is not accepted yet is not loaded."""
    if wanted.embedding != found.config.embedding and found.refusal(EMBEDDER) is not None:
        return True
    return not agrees(found.config, embedder.identity)


def _changed_settings(wanted: Config, settings: GivenSettings, *, is_new: bool) -> dict[str, Any]:
    """Return the values for recall.toml: a new embedder, matching weights unless set, and the given settings."""
    named = settings_of(settings, where=flag("set"))
    changed: dict[str, Any] = {"embedding": wanted.embedding} if is_new else {}
    if is_new and not {"bm25_weight", "vector_weight"} & named.keys():
        weight = vector_weight(wanted)
        changed |= {"bm25_weight": round(1 - weight, 6), "vector_weight": weight}
    return changed | {key: getattr(wanted, key) for key in named}


class _ReembedRun:
    """One reembed run; counters count distinct texts."""

    def __init__(self, store: Store, embedder: Embedder, target: ReembedTarget, *, given: bool) -> None:
        self.may_replace_given = given
        self.given = len(store.given_vectors())
        self.store = store
        self.embedder = embedder
        self.target = target
        self.pace = Pace()
        self.tokens_before = tokens_of(embedder)
        self.info = store.info()
        self.texts = self.embedded = self.reused = 0

    def warn_of_dropped(self) -> list[str]:
        """Return a warning if this run drops an unfinished reembed to another embedder."""
        old = self.store.reembed_target()
        if old is None or self._is_next():
            return []
        return [f"W_REEMBED: dropped the unfinished reembed to {old.embedder}"]

    def _is_next(self) -> bool:
        """Return True if the unfinished reembed has the same target."""
        found = self.store.reembed_target()
        return found is not None and found[:2] == self.target[:2]

    def all_vectors(self) -> Iterator[Progress]:
        """Embed the remaining texts and switch. Texts that others add meanwhile are embedded before the switch."""
        yield self.event("embed")
        if not self._is_next():
            embed(["Recall"], self.embedder)  # an unreachable embedder must not delete another run's vectors
        self.store.begin_reembed(self.target)
        self.reused = self.store.reembedded()
        while not self.store.finish_reembed(self.target, may_replace_given=self.may_replace_given):
            if not self._is_next():
                if self.store.embedder() == self.target.embedder:
                    break  # another process finished the same reembed first
                raise self._replaced_error()
            self.texts = self.store.texts()
            yield from self._embed_left()
        self.info = self.store.info()
        yield self.event("commit")
        yield self.event("done")

    def _embed_left(self) -> Iterator[Progress]:
        """Embed every remaining text. Save at least every COMMIT_SECONDS, and when stopped or failing."""
        unsaved: dict[bytes, TextVector] = {}
        since = monotonic()
        try:
            after = b""
            while texts := self.store.texts_to_reembed(after=after, limit=_BLOCK_TEXTS):
                for answers in embed_in_calls(texts, self.embedder, self.pace):
                    unsaved |= answers
                    self.embedded += len(answers)
                    if monotonic() - since >= COMMIT_SECONDS:
                        if not self._save(unsaved):
                            return
                        unsaved, since = {}, monotonic()
                    yield self.event("embed")
                after = max(texts)
        finally:
            self._save(unsaved)

    def _save(self, made: Mapping[bytes, TextVector]) -> bool:
        """Save vectors. Return False if another process already switched to the same target."""
        if not made or self.store.save_reembedded(self.target, made):
            return True
        if self.store.embedder() == self.target.embedder:
            return False
        raise self._replaced_error()

    def _replaced_error(self) -> StoreError:
        return StoreError(
            "reembed_replaced",
            f"Another reembed replaced the one to {self.target.embedder}.",
            hint=self.target.command,
        )

    def event(self, stage: Stage) -> Progress:
        """Return the progress: each document counts as a finished file, each distinct text as a chunk."""
        documents = self.info.documents
        waiting = max(0, self.texts - self.embedded - self.reused)
        counters = (documents, documents, documents, self.texts, self.embedded, self.reused)
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting, tokens=self._tokens())

    def _tokens(self) -> int | None:
        tokens = tokens_of(self.embedder)
        return None if tokens is None else tokens - (self.tokens_before or 0)

    def view(self, previous: str) -> ReembedView:
        """Return the result of the run."""
        view = ReembedView(
            embedder=self.target.embedder,
            previous=previous,
            dimension=self.target.dimension,
            chunks=self.info.chunks,
            vectors=self.info.vectors,
            embedded=self.embedded,
            reused=self.reused,
        )
        if self.given and self.may_replace_given:
            view["given"] = self.given
        tokens = self._tokens()
        if tokens is not None:
            view["tokens"] = tokens
        return view
