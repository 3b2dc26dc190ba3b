"""The query that whynot explains: run, changed and run again, with a check whether the target is in its answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from recall_core.config import KEYS, Config, Settings, assignments, settings_of
from recall_core.explain.whynot.target import Sought
from recall_core.rank.columns import KeyColumns, Series, positions_of
from recall_core.retrieve import copies
from recall_core.retrieve.answer import Answer, cut_to_limit, packable, standing_for
from recall_core.retrieve.asking import Ask, Asker, Pack
from recall_core.retrieve.plan import Plan, plan_query
from recall_core.rql.ast import And, Expr, Not, Query, Words
from recall_core.rql.parser import parse_query
from recall_core.rql.print import print_filter, print_query
from recall_core.shell import Hint, Options, flag
from recall_core.types import Block, Packed, Pool, Signal, Table
from recall_core.words.typed import take_apart, without_excluded


class Question(NamedTuple):
    """Words or RQL with everything that decides the answer. budget_tokens: None for a list, else for a context."""

    words: str
    rql: str | None = None
    mode: str = "hybrid"
    filter: str | None = None
    k: int | None = None
    settings: Settings | tuple[str, ...] = ()
    """Settings as the caller gave them."""
    changes: Settings = MappingProxyType({})
    """Settings that differ from the caller's."""
    exact: bool = False
    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    query: Query | None = None
    """The parsed RQL, once read."""
    where: Expr | None = None
    """The parsed filter of a words query, once read."""


def plan_of(question: Question, asker: Asker) -> Plan:
    """Return the plan that a search, a query or a context makes of the question."""
    if question.rql is not None and question.query is not None:
        exact, settings = question.exact, settings_in(question)
        plan = plan_query(question.query, question.rql, config=asker.config, exact=exact, settings=settings)
        plan = asker.scoped(plan)
        return plan if question.k is None else plan._replace(limit=question.k, is_capped=True)
    where, settings = question.where, settings_in(question)
    ask = Ask(question.k, question.mode, question.filter, settings, exact=question.exact)
    if question.rql is not None:
        return asker.rql_plan(question.rql, ask)
    if where is None:
        return asker.words_plan(question.words, ask)
    plan = asker.words_plan(question.words, ask._replace(filter=None))
    return asker.scoped(plan._replace(where=where, filters=print_filter(where)))


def pack_of(question: Question) -> Pack:
    """Return the packing options."""
    return Pack(budget_tokens=question.budget_tokens, diversity=question.diversity, counter=question.counter)


def with_trees(question: Question, plan: Plan) -> Question:
    """Return the question with the parsed texts of its plan."""
    return question._replace(query=plan.query, where=plan.where if question.rql is None else None)


def settings_in(question: Question) -> Settings | tuple[str, ...]:
    """Return the settings in effect."""
    if not question.changes:
        return question.settings
    return {**settings_of(question.settings, where=flag("set")), **question.changes}


def tree(question: Question, rql: str) -> Query:
    """Return the parsed query."""
    return parse_query(rql).query if question.query is None else question.query


def with_query(question: Question, query: Query) -> Question:
    """Return the question with another RQL query."""
    return question._replace(rql=print_query(query), query=query)


def with_settings(question: Question, values: Settings) -> Question:
    """Return the question with other settings: as query options where they exist, else as --set takes them."""
    settings = dict(values)
    if question.rql is not None:
        query = tree(question, question.rql)
        options = dict(query.options)
        given = {name: key for name in options if (key := KEYS.get(name, name)) in settings}
        values = {name: settings.pop(key) for name, key in given.items()}
        options |= {name: False if value == "" else value for name, value in values.items()}
        if given:
            question = with_query(question, query._replace(options=tuple(options.items())))
    kept = {key: value for key, value in question.changes.items() if key not in settings}
    return question._replace(changes={**kept, **settings})


def count_of(number: int, noun: str) -> str:
    """Return a count with its noun.

    >>> count_of(1, "row"), count_of(2000, "row")
    ('1 row', '2000 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def decimal(number: float, *, digits: int = 6) -> str:
    """Return a number without an exponent.

    >>> decimal(1e-07), decimal(0.23284190004, digits=9), decimal(0.5)
    ('0.0000001', '0.2328419', '0.5')
    """
    return f"{Decimal(f'{number:.{digits}g}'):f}"


def with_limit(question: Question, limit: int, offset: int | None = None) -> Question:
    """Return the question with this limit. offset: rows of a query to skip; None to keep it."""
    if question.rql is None:
        return question._replace(k=limit)
    query = tree(question, question.rql)
    offset = query.offset if offset is None else offset
    return with_query(question, query._replace(limit=limit, offset=offset))._replace(k=None)


def with_filter(question: Question, where: Expr | None) -> Question:
    """Return the question with another filter, or None. Its words keep the exclusions that the filter has."""
    if question.rql is not None:
        return with_query(question, tree(question, question.rql)._replace(where=where))
    terms = where.terms if isinstance(where, And) else () if where is None else (where,)
    typed = take_apart(question.words)
    excluded = {} if typed is None else {word: Not(Words(word)) for word in typed.excluded}
    words = without_excluded(question.words, [word for word, term in excluded.items() if term not in terms])
    own = tuple(term for term in terms if term not in excluded.values())
    text = print_filter(own[0] if len(own) == 1 else And(own)) if own else None
    return question._replace(words=words, filter=text, where=where)


def with_word(question: Question, word: str) -> Question:
    """Return the question with one more word in each of its search texts."""
    if question.rql is None:
        return question._replace(words=f"{question.words} {word}")
    query = tree(question, question.rql)
    using = tuple(each._replace(text=f"{each.text} {word}") for each in query.using)
    return with_query(question, query._replace(using=using))


def with_spelling(question: Question, respell: Callable[[str], str]) -> Question:
    """Return the question with `respell` applied to each of its search texts."""
    if question.rql is None:
        return question._replace(words=respell(question.words))
    query = tree(question, question.rql)
    using = tuple(each._replace(text=respell(each.text)) for each in query.using)
    return with_query(question, query._replace(using=using))


def command(question: Question) -> Hint:
    """Return the command that runs the question."""
    is_list = question.budget_tokens is None
    if question.rql is None:
        how: Options = {"mode": question.mode, "k": question.k, "filter": question.filter, **_options(question)}
        return Hint("search" if is_list else "context", question.words, **how)
    text = (question if question.k is None else with_limit(question, question.k)).rql or ""
    return Hint("query", text, **_options(question)) if is_list else Hint("context", rql=text, **_options(question))


def _options(question: Question) -> Options:
    put = (each for each in assignments(question.settings) if each.partition("=")[0].strip() not in question.changes)
    return {
        "budget_tokens": question.budget_tokens,
        "diversity": question.diversity,
        "counter": question.counter,
        "set": (*put, *assignments(question.changes)),  # as typed, then the changes
        "exact": question.exact or None,
    }


_RANKING = """
fusion normalize bm25_weight vector_weight rrf_k min_score min_cosine
rerank rerank_rows rerank_weight rerank_keep rerank_mb
collapse sparse_recall sparse_chunk_threshold sparse_distance_ceiling sparse_max_injections sparse_share
max_limit pack_counter budget_tokens diversity min_fragment pack header footer separator line_numbers strict
""".split()

_RANKINGS_KEPT = 4
"""A change and the next smaller one, each run twice. At a million rows a ranking takes 30 MB."""

_DEFAULTS = {name: Config._field_defaults[name] for name in _RANKING}


class KeptAsker:
    """An asker that reads a query's candidates once, then reranks, pages and packs them.

    Valid for one state of the store: inside one `reading` block.
    """

    def __init__(self, asker: Asker) -> None:
        self.store, self.base, self.config = asker.store, asker.base, asker.config
        self.words_plan, self.rql_plan, self.scoped = asker.words_plan, asker.rql_plan, asker.scoped
        self.vector, self.weigh, self.cited = asker.vector, asker.weigh, asker.cited
        self._asker = asker
        self._answers: dict[Plan, Answer] = {}
        self._rankings: OrderedDict[Plan, Answer] = OrderedDict()
        self._lists: list[tuple[Answer, Answer]] = []
        self._places: dict[tuple[object, ...], Mapping[int, int]] = {}
        self._packed: list[tuple[Answer, Pack, Packed]] = []
        self.ranks: dict[tuple[Plan, int], dict[Signal, int | None]] = {}
        """Cached results of `stages.full_ranks`, by retrieval plan and rowid of a chunk."""

    def answer(self, plan: Plan) -> Answer:
        """Search and rank. Only rank if the candidates are known, and only page if their order is known."""
        ranking = plan._replace(limit=0, offset=0, is_capped=False, text="", rql=None, query=None, select=None)
        known = self._rankings.get(ranking)
        if known is None:
            known = self._rank(plan)
        elif known.plan != plan:
            known = cut_to_limit(known, plan, self.store)
        if known.fused is not None:
            self._rankings[ranking] = known
            self._rankings.move_to_end(ranking)
            while len(self._rankings) > _RANKINGS_KEPT:
                self._rankings.popitem(last=False)
        return known

    def _rank(self, plan: Plan) -> Answer:
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
        """Return the answer as a context takes it; see `retrieve.answer.packable`."""
        for before, listed in self._lists:
            if before is answer:
                return listed
        listed = packable(answer, self.store)
        self._lists = [*self._lists[1 - _RANKINGS_KEPT :], (answer, listed)]
        return listed

    def pack(self, answer: Answer, options: Pack, *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget."""
        packed = self.find_packed(answer, options) if cites else None
        if packed is None:
            packed = self._asker.pack(answer, options, cites=cites)
            if cites:
                self._packed.append((answer, options, packed))
        return packed

    def find_packed(self, answer: Answer, options: Pack) -> Packed | None:
        """Return the context packed earlier with these options, or None."""
        return next((packed for of, how, packed in self._packed if of is answer and how == options), None)

    def places(self, plan: Plan) -> Mapping[int, int]:
        """Return the place of each row, from 0, in a list without scores, by rowid of the listed table."""
        listed = (plan.table, plan.filters, plan.order, plan.collapses)
        if listed not in self._places:
            rows = copies.list_rows(plan, self.store, start=0, stop=None)
            column = 0 if plan.table == "doc" else 1
            self._places[listed] = {row[column] or 0: at for at, row in enumerate(rows)}
        return self._places[listed]

    def struck_rows(self, plan: Plan) -> Mapping[int, int]:
        """Return the rowid of each copy with the rowid of the row listed for its text, for a list without scores."""
        return copies.scan(plan, self.store).first if plan.collapses and plan.mode == "filter" else {}


def keep_reads(asker: Asker) -> KeptAsker:
    """Return an asker that caches its reads."""
    return asker if isinstance(asker, KeptAsker) else KeptAsker(asker)


def retrieval(plan: Plan) -> Plan:
    """Return the plan without ranking, paging and packing. Equal results retrieve the same candidates."""
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


def ask_question(asker: Asker, question: Question) -> Answer:
    """Plan and answer the question."""
    return as_asked(asker, question, asker.answer(plan_of(question, asker)))


def as_asked(asker: Asker, question: Question, answer: Answer) -> Answer:
    """Return the answer as listed, or as packed for a context."""
    if question.budget_tokens is None:
        return answer
    return asker.packable(answer) if isinstance(asker, KeptAsker) else packable(answer, asker.store)


def is_present(asker: KeptAsker, question: Question, target_chunk: Sought) -> bool:
    """Return True if the question, run again, shows the target."""
    return is_shown(asker, question, ask_question(asker, question), target_chunk)


def is_shown(asker: KeptAsker, question: Question, answer: Answer, target_chunk: Sought) -> bool:
    """Return True if the page of the answer, or the context packed from it, shows the target."""
    if question.budget_tokens is not None:
        packed = asker.find_packed(answer, pack_of(question))
        if packed is None and is_packed_by_rank(asker, answer, target_chunk):
            packed = packed_until(asker, question, answer, target_chunk)
        return is_packed(packed or asker.pack(answer, pack_of(question)), answer.plan.table, target_chunk)
    at, plan = row_of(asker, answer, target_chunk), answer.plan
    return at is not None and plan.offset <= at < min(plan.offset + plan.limit, answer.total)


_WHOLE_CHUNKS = 2**24
"""More tokens than any chunk has, so no chunk is cut."""


def packed_until(asker: KeptAsker, question: Question, answer: Answer, target_chunk: Sought) -> Packed:
    """Pack the list up to the target. Rows after it do not decide whether it is packed.

    If the whole chunk fits, cuts of other chunks are not computed.
    """
    at, plan = row_of(asker, answer, target_chunk), answer.plan
    limit = 0 if at is None else at + 1 - plan.offset
    if not plan.is_capped or limit < plan.limit:
        plan = plan._replace(limit=max(limit, 0), is_capped=True)
    is_whole = target_chunk.snippet is None and target_chunk.lines is None
    if is_whole:
        plan = plan._replace(config=plan.config._replace(min_fragment=_WHOLE_CHUNKS))
    return asker.pack(answer._replace(plan=plan), pack_of(question), cites=not is_whole)


def is_packed_by_rank(asker: KeptAsker, answer: Answer, target_chunk: Sought) -> bool:
    """Return True if only the rows before the target decide whether it is packed."""
    at, is_recalled = row_of(asker, answer, target_chunk), answer.recall is not None and bool(answer.recall.given)
    return at is not None and answer.plan.config.pack == "rank" and not is_recalled


def is_packed(packed: Packed, table: Table, target_chunk: Sought) -> bool:
    """Return True if a context contains the whole target chunk, or at least the target text."""
    for block in packed.blocks:
        if table == "doc" and block.doc.id == target_chunk.row.doc.id:
            return True
        if target_chunk.row.chunk.id in block.chunk_ids:
            return not block.truncated or _is_within(target_chunk, block)
    return False


def _is_within(target_chunk: Sought, block: Block) -> bool:
    """Return True if the packed part of the chunk contains the target text or lines."""
    if target_chunk.snippet is not None:
        return target_chunk.snippet in block.text
    start, end = (target_chunk.row.chunk.offset + each for each in target_chunk.wanted_span)
    return target_chunk.lines is not None and block.offset <= start and end <= block.end


def place(answer: Answer, target_chunk: Sought, *, order: Sequence[int] | None = None) -> int | None:
    """Return the target's index in the ranked list (or in this order of pool positions), or None."""
    if answer.pool is None or answer.ranked is None:
        return None
    order = answer.ranked.order if order is None else order
    if answer.plan.table == "doc":
        keys = answer.pool.keys
        documents = keys.doc_rowids.tolist() if isinstance(keys, KeyColumns) else [key.doc_rowid for key in keys]
        return next((at for at, each in enumerate(order) if documents[each] == target_chunk.doc_rowid), None)
    position = position_in(answer.pool, target_chunk)
    if position is None:
        return None
    return places_in(order, [position]).get(position)


def places_in(order: Sequence[int], positions: Iterable[int]) -> dict[int, int]:
    """Return the index of each of these positions in a list; absent positions are left out."""
    if isinstance(order, Series):
        found = ((position, (order.array == position).nonzero()[0].tolist()) for position in positions)
        return {position: at[0] for position, at in found if at}
    return {position: order.index(position) for position in positions if position in order}


def standing(answer: Answer, target_chunk: Sought) -> int | None:
    """Return the position of the other row that represents the target's text, or None."""
    if answer.copies is None or answer.pool is None:
        return None
    position = position_in(answer.pool, target_chunk)
    copies = standing_for(answer)
    return copies.first(position) if position is not None and copies.is_struck(position) else None


def is_struck_unscored(asker: KeptAsker, answer: Answer, target_chunk: Sought) -> bool:
    """Return True if a list without scores has an earlier row with the target's text."""
    return answer.pool is None and target_chunk.row.rowid in asker.struck_rows(answer.plan)


def position_in(pool: Pool, target_chunk: Sought) -> int | None:
    """Return the chunk's position in the pool's columns; None if it is not a candidate."""
    rowid = target_chunk.row.rowid
    if isinstance(pool.keys, KeyColumns):
        return next(iter((pool.keys.rowids == rowid).nonzero()[0].tolist()), None)
    return positions_of(pool.keys, [rowid]).get(rowid)


def rowids_in(pool: Pool) -> list[int]:
    """Return the candidates' rowids, by position."""
    keys = pool.keys
    return keys.rowids.tolist() if isinstance(keys, KeyColumns) else [key.rowid for key in keys]


def position(answer: Answer, target_chunk: Sought) -> int | None:
    """Return the target's position in the pool's columns; for a document, its best chunk's."""
    at = place(answer, target_chunk)
    return None if at is None or answer.ranked is None else answer.ranked.order[at]


def row_of(asker: KeptAsker, answer: Answer, target_chunk: Sought) -> int | None:
    """Return the target's index in the full list, with or without scores; None if absent."""
    if answer.pool is not None:
        return place(answer, target_chunk)
    return asker.places(answer.plan).get(
        target_chunk.doc_rowid if answer.plan.table == "doc" else target_chunk.row.rowid
    )
