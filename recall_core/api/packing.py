"""A ranked list packed under a budget, as the options of a question say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from recall_core.config import Config, replace
from recall_core.errors import UsageError
from recall_core.retrieve import Answer
from recall_core.retrieve.answer import candidate_range, candidates, injected
from recall_core.retrieve.asking import Pack
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store
from recall_core.text import counter
from recall_core.types import Hit, Omission, Packed

if TYPE_CHECKING:
    from recall_core.pack.policy import Terms

MARKDOWN_HEADER = "### [{n}] {path}:{lines}"


def packing(found: Answer, options: Pack, *, store: Store, seen: list[Hit] | None = None) -> Packed:
    """The ranked list under a budget. found: as `packable` gives it. seen collects every hit whose text was read."""
    from recall_core.pack.policy import pack  # noqa: PLC0415 - a search never needs it

    config, counting, pinned, dropped = terms(found, options, store)
    start, stop = candidate_range(found)
    own = injected(found, store) if config.sparse_share else ()
    if seen is not None:
        seen += own
    stream: Iterable[Hit] = _with_text(candidates(found, store), seen if seen is not None else [])
    context = pack(
        stream,
        total=stop - start,
        budget_tokens=config.budget_tokens,
        counter=counting,
        config=config,
        pinned=pinned,
        dropped=dropped,
        injected=own,
    )
    below = _below_min_score(found)
    if below is None:
        return context
    return context._replace(candidates=context.candidates + below.chunks, omitted=(*context.omitted, below))


def terms(found: Answer, options: Pack, store: Store) -> Terms:
    """What the packing goes by: the settings, how tokens are counted, the chunks that are pinned and dropped."""
    from recall_core.pack.policy import Terms  # noqa: PLC0415 - a search never needs it

    config = _pack_config(found.plan.config, options)
    counting = counter(options.counter or found.counter)
    return Terms(config, counting, _ids(options.pins, store), _ids(options.drops, store))


def _pack_config(config: Config, options: Pack) -> Config:
    if options.pack is not None:
        config = replace(config, {"pack": options.pack}, where=flag("pack"))
    if options.format not in ("plain", "markdown"):
        raise UsageError(
            "bad_value", f"There is no context format {options.format!r}.", hint=Hint(AGAIN, format="markdown")
        )
    if options.format == "markdown":
        config = config._replace(header=MARKDOWN_HEADER)
    if options.budget_tokens is not None:
        config = config._replace(budget_tokens=options.budget_tokens)
    if config.budget_tokens < 1:
        raise UsageError("bad_value", "A budget has at least one token.", hint=Hint(AGAIN, budget_tokens=2000))
    if options.diversity is not None:
        config = config._replace(diversity=options.diversity)
    if config.diversity < 0:
        message = f"{flag('diversity')} goes from 0, which means no cap."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, diversity=2))
    return config


def _ids(targets: tuple[str, ...], store: Store) -> frozenset[str]:
    chosen = set()
    for target in targets:
        chunks = [full for kind, full in store.resolve(target) if kind == "chunk"]
        if len(chunks) != 1:
            message = f"{target} is not the id of one chunk."
            raise UsageError("unknown_chunk", message, hint=Hint("search", "WORDS", json=True))
        chosen.add(chunks[0])
    return frozenset(chosen)


def _with_text(stream: Iterator[Hit], seen: list[Hit]) -> Iterator[Hit]:
    for hit in stream:
        seen.append(hit)
        yield hit


def _below_min_score(found: Answer) -> Omission | None:
    """What min_score keeps out of a list that no limit cuts."""
    ranked, pool = found.ranked, found.pool
    if ranked is None or pool is None or found.plan.is_capped or len(ranked) <= ranked.kept:
        return None
    first = pool.keys[ranked.order[ranked.kept]]
    return Omission("below_min_score", ranked.kept + 1, len(ranked) - ranked.kept, "", first.path)
