"""The receipt of an answer: what was asked, under what, and what came."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from recall_core._version import __version__
from recall_core.api.context import terms
from recall_core.config import Config, settings_of
from recall_core.contract.explaining import ReceiptView
from recall_core.maintain import receipts
from recall_core.maintain.receipts import (
    EffectivePlan,
    Receipt,
    ReceiptContext,
    ReceiptPacking,
    ReceiptQuestion,
    ReceiptRow,
    ReceiptState,
)
from recall_core.retrieve.answer import Answer, page
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.plan import Plan
from recall_core.shell import flag
from recall_core.store.port import Store
from recall_core.types import Hit

if TYPE_CHECKING:
    from recall_core.contract.views import ContextView


def receipt_of_rows(found: Answer, ask: Ask, store: Store) -> ReceiptView:
    """The receipt of the page that an answer shows."""
    rows = [
        _row(hit, None if hit.chunk is None else (hit.chunk.id, hit.chunk.offset, hit.chunk.end))
        for hit in page(found, store)
    ]
    return receipt_view(_receipt(found, _question(found.plan, ask), rows, store))


def receipt_of_context(
    found: Answer, ask: Ask, pack: Pack, context: ContextView, *, packed: Mapping[str, Hit], store: Store
) -> ReceiptView:
    """The receipt of a context: of its chunks in the order of the text, each as far as it was packed.

    found: as `packable` gives it.  packed: by the id of the chunk.
    """
    rows = [
        _row(packed[chunk["id"]], (chunk["id"], chunk["offset"], chunk["offset"] + len(chunk["text"])))
        for chunk in context["chunks"]
    ]
    config, _, pinned, dropped = terms(found, pack, store)
    given = pack._replace(pins=tuple(sorted(pinned)), drops=tuple(sorted(dropped)))._asdict()
    packing = ReceiptPacking(**{name: given[name] for name in ReceiptPacking.__struct_fields__})
    return receipt_view(
        _receipt(found, _question(found.plan, ask, packing), rows, store, _PackedUnder(config, context))
    )


def _question(plan: Plan, ask: Ask, packing: ReceiptPacking | None = None) -> ReceiptQuestion:
    """What was asked. Its own settings are those that the plan has by now: each was checked."""
    own = settings_of(ask.settings, where=flag("set"))
    return ReceiptQuestion(
        text=plan.text,
        is_rql=plan.rql is not None,
        mode=ask.mode,  # type: ignore[arg-type]  # the plan was made of it
        filter=ask.filter,
        k=ask.k,
        exact=ask.exact,
        settings={key: getattr(plan.config, key) for key in sorted(own)},
        packing=packing,
    )


class _PackedUnder(NamedTuple):
    """A context, and the settings that it was packed under."""

    config: Config
    view: ContextView


def _receipt(
    found: Answer,
    question: ReceiptQuestion,
    rows: Sequence[ReceiptRow],
    store: Store,
    packed: _PackedUnder | None = None,
) -> Receipt:
    plan = found.plan
    config = plan.config if packed is None else packed.config
    return Receipt(
        recall_receipt=receipts.FORMAT,
        version=__version__,
        question=question,
        plan=EffectivePlan(
            mode=plan.mode,
            table=plan.table,
            filters=plan.filters,
            limit=plan.limit,
            offset=plan.offset,
            index=found.pool.index_kind if found.pool else "none",
        ),
        settings=receipts.in_force(config, is_packed=packed is not None, is_rql=question.is_rql),
        store=ReceiptState(digest=found.digest, embedder=store.embedder(), counter=found.counter),
        rows=tuple(rows),
        total=found.total + found.struck,
        context=None if packed is None else _context(packed.view),
    )


def _context(view: ContextView) -> ReceiptContext:
    digest = sha256(view["text"].encode()).hexdigest()
    return ReceiptContext(digest, view["used_tokens"], view["counter"])


def _row(hit: Hit, chunk: tuple[str, int, int] | None) -> ReceiptRow:
    chunk_id, offset, end = chunk or (None, None, None)
    return ReceiptRow(
        rank=hit.rank,
        score=hit.score,
        path=hit.doc.path,
        doc=hit.doc.id,
        hash=hit.doc.hash,
        labels=receipts.labels_of(hit.doc),
        chunk=chunk_id,
        offset=offset,
        end=end,
    )


def receipt_view(receipt: Receipt) -> ReceiptView:
    """As the contract has it: sealed, and named by its hash."""
    text = receipts.sealed(receipt)
    return ReceiptView(sha256=json.loads(text)["sha256"], text=text)
