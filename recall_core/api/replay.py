"""The question of a receipt asked again: is the answer the same, and if not, what is another by now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.api import answers
from recall_core.api.receipts import receipt_view
from recall_core.contract import OK
from recall_core.contract.replaying import ReplayView
from recall_core.contract.responses import ReplayResponse
from recall_core.maintain import receipts
from recall_core.maintain.receipts import ReceiptPacking
from recall_core.retrieve.asking import Ask, Pack
from recall_core.store.port import Store

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.contract.responses import ContextResponse, SearchResponse


def replay(engine: Engine, given: Path | str) -> ReplayResponse:
    """The question of a receipt asked again under the settings of this store, and what is another by now.

    given: its file, or its text. Raises UsageError `bad_receipt`, `untrusted_receipt`, and what the question raises.
    """
    before = (
        receipts.read(given) if isinstance(given, Path) else receipts.read_receipt(given.encode(errors="replace"))
    )
    question = before.question
    ask = Ask(question.k, question.mode, question.filter, question.settings, exact=question.exact, receipt=True)
    plan = engine.rql_plan(question.text, ask) if question.is_rql else engine.words_plan(question.text, ask)
    with engine.store.reading():
        counters = (engine.store.info().counter, engine.config.pack_counter)
        receipts.expect_harmless(question, plan.config, set_rerank=engine.config.rerank, counters=counters)
        response: SearchResponse | ContextResponse
        if question.packing is None:
            response = answers.listed(engine, plan, ask)
        else:
            response = answers.packed(engine, plan, ask, _pack(question.packing, engine.store))
        after = receipts.read_receipt(response["receipt"]["text"].encode())
        changes = list(receipts.changes(before, after, engine.store))
    view = ReplayView(
        identical=receipts.is_identical(changes),
        rows=len(before.rows),
        sha256=receipt_view(before)["sha256"],
        changes=changes,
    )
    return {**OK, "replay": view, "warnings": response["warnings"]}


def _pack(packing: ReceiptPacking, store: Store) -> Pack:
    """The same, without the chunks that have left: their rows are told."""
    pins, drops = (tuple(each for each in ids if store.resolve(each)) for ids in (packing.pins, packing.drops))
    return Pack(packing.budget_tokens, packing.diversity, packing.counter, packing.format, pins, drops, packing.pack)
