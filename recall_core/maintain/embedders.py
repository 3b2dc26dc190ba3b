"""Every kind of embedder, as a person chooses among them: which can be used here, and how fast each one is."""

from __future__ import annotations

from time import perf_counter

from recall_core.config import Config
from recall_core.contract.views import EmbedderView
from recall_core.embed.providers.remote import RemoteKind
from recall_core.embed.registry import HASH_NOTE, kinds
from recall_core.errors import EmbedError
from recall_core.ingest.vectors import Pace, cost
from recall_core.ports import Embedder, EmbedderKind
from recall_core.shell import Hint

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
    """Every kind in its standing order. in_use: the identity behind a store's vectors.

    probe: embed for about a second with each that is available and sends nothing off this machine.
    waits: the one that the settings name is left alone, because nobody has accepted what they say.
    """
    return [_view(kind, config, in_use=in_use, probe=probe, waits=waits) for kind in kinds()]


def _view(
    kind: EmbedderKind, config: Config, *, in_use: str | None, probe: bool, waits: bool = False
) -> EmbedderView:
    own = config if _is_named(kind, config) else _bare(kind, config)
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


def _bare(kind: EmbedderKind, config: Config) -> Config:
    """The settings as if this kind were chosen: another kind's model and address are not its own."""
    return config._replace(embedding=kind.name, embedding_model="", embedding_url="")


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
