"""A question asked of one state of the store: its candidates are read once, and ranked for every change to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from recall_core.config import Config
from recall_core.retrieve import copies
from recall_core.retrieve.answer import Answer, limited, packable
from recall_core.retrieve.asking import Asker, Pack
from recall_core.retrieve.plan import Plan
from recall_core.types import Packed, Signal

_RANKING = """
fusion normalize bm25_weight vector_weight rrf_k min_score min_cosine
rerank rerank_rows rerank_weight rerank_keep rerank_mb
collapse sparse_recall sparse_chunk_threshold sparse_distance_ceiling sparse_max_injections sparse_share
max_limit pack_counter budget_tokens diversity min_fragment pack header footer separator line_numbers strict
""".split()

_RANKINGS_KEPT = 4
"""A change and the next smaller one, each asked for twice. At a million rows a ranking takes 30 MB."""

_DEFAULTS = {name: Config._field_defaults[name] for name in _RANKING}


class KeptAsker:
    """An asker that reads the candidates of a question once, however they are ranked, paged and packed.

    It is for one state of the store: inside one `reading` block.
    """

    def __init__(self, asker: Asker) -> None:
        self.store, self.base, self.config = asker.store, asker.base, asker.config
        self.words_plan, self.rql_plan = asker.words_plan, asker.rql_plan
        self.vector, self.weigh, self.cited = asker.vector, asker.weigh, asker.cited
        self._asker = asker
        self._answers: dict[Plan, Answer] = {}
        self._rankings: OrderedDict[Plan, Answer] = OrderedDict()
        self._lists: list[tuple[Answer, Answer]] = []
        self._places: dict[tuple[object, ...], Mapping[int, int]] = {}
        self._packed: list[_PackedOnce] = []
        self.ranks: dict[tuple[Plan, int], dict[Signal, int | None]] = {}
        """What `signals.full_ranks` has found out, by what was retrieved and the rowid of a chunk."""

    def answer(self, plan: Plan) -> Answer:
        """Search and rank. Rank alone if the candidates are known, and page alone if their order is known."""
        ranking = plan._replace(limit=0, offset=0, is_capped=False, text="", rql=None, query=None, select=None)
        known = self._rankings.get(ranking)
        if known is None:
            known = self._ranked(plan)
        elif known.plan != plan:
            known = limited(known, plan, self.store)
        if known.fused is not None:
            self._rankings[ranking] = known
            self._rankings.move_to_end(ranking)
            while len(self._rankings) > _RANKINGS_KEPT:
                self._rankings.popitem(last=False)
        return known

    def _ranked(self, plan: Plan) -> Answer:
        retrieved = retrieval(plan)
        kept = self._answers.get(retrieved)
        if kept is None:
            self._answers[retrieved] = found = self._asker.answer(plan)
            return found
        if kept.pool is None:
            return kept._replace(plan=plan) if kept.plan.collapses == plan.collapses else self._asker.answer(plan)
        before = kept.plan.config
        found = self._asker.weigh(kept._replace(plan=plan._replace(config=before)), plan.config)
        known = kept.known._replace(chunk_counts=found.known.chunk_counts, texts=found.known.texts)
        self._answers[retrieved] = kept._replace(known=known)
        return found

    def packable(self, answer: Answer) -> Answer:
        """The answer as a context takes it; see `retrieve.answer.packable`."""
        for before, listed in self._lists:
            if before is answer:
                return listed
        listed = packable(answer, self.store)
        self._lists = [*self._lists[1 - _RANKINGS_KEPT :], (answer, listed)]
        return listed

    def pack(self, answer: Answer, options: Pack, *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget."""
        packed = self.packed(answer, options) if cites else None
        if packed is None:
            packed = self._asker.pack(answer, options, cites=cites)
            if cites:
                self._packed.append(_PackedOnce(answer, options, packed))
        return packed

    def packed(self, answer: Answer, options: Pack) -> Packed | None:
        """The context as it was packed before; None if it was not."""
        return next((each.packed for each in self._packed if each.answer is answer and each.options == options), None)

    def places(self, plan: Plan) -> Mapping[int, int]:
        """Where each row stands, from 0, in a list without scores: by rowid, of the table that the plan lists."""
        listed = (plan.table, plan.filters, plan.order, plan.collapses)
        if listed not in self._places:
            rows = copies.listed(plan, self.store, start=0, stop=None)
            column = 0 if plan.table == "doc" else 1
            self._places[listed] = {row[column] or 0: at for at, row in enumerate(rows)}
        return self._places[listed]

    def struck(self, plan: Plan) -> Mapping[int, int]:
        """Of a list without scores that shows a text once: chunk rowid of a row to that of the row with its text."""
        return copies.scanned(plan, self.store).first if plan.collapses and plan.mode == "filter" else {}


class _PackedOnce(NamedTuple):
    answer: Answer
    options: Pack
    packed: Packed


def kept(asker: Asker) -> KeptAsker:
    """The same asker, which keeps what it reads."""
    return asker if isinstance(asker, KeptAsker) else KeptAsker(asker)


def retrieval(plan: Plan) -> Plan:
    """The plan with all left out that ranks, pages and packs: two that are equal retrieve the same candidates."""
    return plan._replace(
        text="",
        rql=None,
        select=None,
        order=(),
        limit=0,
        offset=0,
        is_capped=False,
        warnings=(),
        query=None,
        config=plan.config._replace(**_DEFAULTS),
    )
