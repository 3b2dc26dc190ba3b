"""The question that is being explained: put, changed and asked again, and whether the target is in its answer."""

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
from recall_core.rql.ast import Expr, Query
from recall_core.rql.parser import parse_query
from recall_core.rql.print import print_filter, print_query
from recall_core.shell import Hint, Options, flag
from recall_core.types import Block, Packed, Pool, Signal, Table


class Question(NamedTuple):
    """Words or RQL with everything that decides the answer. budget_tokens: None for a list, else for a context."""

    words: str
    rql: str | None = None
    mode: str = "hybrid"
    filter: str | None = None
    k: int | None = None
    settings: Settings | tuple[str, ...] = ()
    """As they were put."""
    changes: Settings = MappingProxyType({})
    """What is set otherwise than as it was put."""
    exact: bool = False
    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    query: Query | None = None
    """The tree of the RQL, once it was read."""
    where: Expr | None = None
    """The tree of the filter of words, once it was read."""


def plan_of(question: Question, asker: Asker) -> Plan:
    """Return the plan that a search, a query or a context makes of it."""
    if question.rql is not None and question.query is not None:
        exact, settings = question.exact, settings_in(question)
        plan = plan_query(question.query, question.rql, config=asker.config, exact=exact, settings=settings)
        return plan if question.k is None else plan._replace(limit=question.k, is_capped=True)
    where, settings = question.where, settings_in(question)
    ask = Ask(question.k, question.mode, question.filter, settings, exact=question.exact)
    if question.rql is not None:
        return asker.rql_plan(question.rql, ask)
    if where is None:
        return asker.words_plan(question.words, ask)
    plan = asker.words_plan(question.words, ask._replace(filter=None))
    return plan._replace(where=where, filters=print_filter(where))


def pack_of(question: Question) -> Pack:
    """Return the options that pack its hits."""
    return Pack(budget_tokens=question.budget_tokens, diversity=question.diversity, counter=question.counter)


def with_trees(question: Question, plan: Plan) -> Question:
    """Return the question with the trees of its texts, which its plan has read."""
    return question._replace(query=plan.query, where=plan.where if question.rql is None else None)


def settings_in(question: Question) -> Settings | tuple[str, ...]:
    """Return the settings under which it is asked."""
    if not question.changes:
        return question.settings
    return {**settings_of(question.settings, where=flag("set")), **question.changes}


def tree(question: Question, rql: str) -> Query:
    """Return the tree of its query."""
    return parse_query(rql).query if question.query is None else question.query


def with_query(question: Question, query: Query) -> Question:
    """Return the question as another query."""
    return question._replace(rql=print_query(query), query=query)


def with_settings(question: Question, values: Settings) -> Question:
    """Return the question under other settings: an option of the query where it has one, else as --set takes them."""
    settings = dict(values)
    if question.rql is not None:
        query = tree(question, question.rql)
        options = dict(query.options)
        said = {name: key for name in options if (key := KEYS.get(name, name)) in settings}
        values = {name: settings.pop(key) for name, key in said.items()}
        options |= {name: False if value == "" else value for name, value in values.items()}
        if said:
            question = with_query(question, query._replace(options=tuple(options.items())))
    kept = {key: value for key, value in question.changes.items() if key not in settings}
    return question._replace(changes={**kept, **settings})


def count_of(number: int, noun: str) -> str:
    """Return a count as sentences about a fix have it.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2000 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def decimal(number: float, *, digits: int = 6) -> str:
    """Return a number without an exponent, so that it can be read beside others.

    >>> decimal(1e-07), decimal(0.23284190004, digits=9), decimal(0.5)
    ('0.0000001', '0.2328419', '0.5')
    """
    return f"{Decimal(f'{number:.{digits}g}'):f}"


def with_limit(question: Question, limit: int, offset: int | None = None) -> Question:
    """Return the question for so many rows. offset: rows of a query to pass over, None to leave it as it is."""
    if question.rql is None:
        return question._replace(k=limit)
    query = tree(question, question.rql)
    offset = query.offset if offset is None else offset
    return with_query(question, query._replace(limit=limit, offset=offset))._replace(k=None)


def with_filter(question: Question, where: Expr | None) -> Question:
    """Return the question under another filter, or under none."""
    if question.rql is not None:
        return with_query(question, tree(question, question.rql)._replace(where=where))
    return question._replace(filter=None if where is None else print_filter(where), where=where)


def with_word(question: Question, word: str) -> Question:
    """Return the question with one more word, in each text that it searches for."""
    if question.rql is None:
        return question._replace(words=f"{question.words} {word}")
    query = tree(question, question.rql)
    using = tuple(each._replace(text=f"{each.text} {word}") for each in query.using)
    return with_query(question, query._replace(using=using))


def with_spelling(question: Question, respell: Callable[[str], str]) -> Question:
    """Return the question with each text that it searches for as it is written otherwise."""
    if question.rql is None:
        return question._replace(words=respell(question.words))
    query = tree(question, question.rql)
    using = tuple(each._replace(text=respell(each.text)) for each in query.using)
    return with_query(question, query._replace(using=using))


def command(question: Question) -> Hint:
    """Return the command that asks the question."""
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
        "set": (*put, *assignments(question.changes)),  # as they were typed, and last what is changed
        "exact": question.exact or None,
    }


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
        self._packed: list[tuple[Answer, Pack, Packed]] = []
        self.ranks: dict[tuple[Plan, int], dict[Signal, int | None]] = {}
        """What `signals.full_ranks` has found out, by what was retrieved and the rowid of a chunk."""

    def answer(self, plan: Plan) -> Answer:
        """Search and rank. Rank alone if the candidates are known, and page alone if their order is known."""
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
        """Return the context as it was packed before; None if it was not."""
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
        """Of a list without scores that shows a text once: chunk rowid of a row to that of the row with its text."""
        return copies.scan(plan, self.store).first if plan.collapses and plan.mode == "filter" else {}


def keep_reads(asker: Asker) -> KeptAsker:
    """Return an asker that keeps what it reads."""
    return asker if isinstance(asker, KeptAsker) else KeptAsker(asker)


def retrieval(plan: Plan) -> Plan:
    """Return the plan without what ranks, pages and packs: equal ones retrieve the same candidates."""
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
    """Return the answer as it is listed; of a context, as it is packed."""
    if question.budget_tokens is None:
        return answer
    return asker.packable(answer) if isinstance(asker, KeptAsker) else packable(answer, asker.store)


def is_present(asker: KeptAsker, question: Question, sought: Sought) -> bool:
    """Return True if the question, asked anew, is answered with what is sought."""
    return is_shown(asker, question, ask_question(asker, question), sought)


def is_shown(asker: KeptAsker, question: Question, answer: Answer, sought: Sought) -> bool:
    """Return True if the page of an answer, or the context that is packed of it, shows what is sought."""
    if question.budget_tokens is not None:
        packed = asker.find_packed(answer, pack_of(question))
        if packed is None and is_packed_by_rank(asker, answer, sought):
            packed = packed_until(asker, question, answer, sought)
        return is_packed(packed or asker.pack(answer, pack_of(question)), answer.plan.table, sought)
    at, plan = row_of(asker, answer, sought), answer.plan
    return at is not None and plan.offset <= at < min(plan.offset + plan.limit, answer.total)


_WHOLE_CHUNKS = 2**24
"""More tokens than a part of a chunk has: none is packed."""


def packed_until(asker: KeptAsker, question: Question, answer: Answer, sought: Sought) -> Packed:
    """Pack the list as far as what is sought: the rows behind it do not decide whether it is packed.

    If the whole chunk is sought, where another chunk would be cut is not worked out.
    """
    at, plan = row_of(asker, answer, sought), answer.plan
    limit = 0 if at is None else at + 1 - plan.offset
    if not plan.is_capped or limit < plan.limit:
        plan = plan._replace(limit=max(limit, 0), is_capped=True)
    is_whole = sought.snippet is None and sought.lines is None
    if is_whole:
        plan = plan._replace(config=plan.config._replace(min_fragment=_WHOLE_CHUNKS))
    return asker.pack(answer._replace(plan=plan), pack_of(question), cites=not is_whole)


def is_packed_by_rank(asker: KeptAsker, answer: Answer, sought: Sought) -> bool:
    """Return True if only the rows before it decide whether it is packed."""
    at, is_recalled = row_of(asker, answer, sought), answer.recall is not None and bool(answer.recall.given)
    return at is not None and answer.plan.config.pack == "rank" and not is_recalled


def is_packed(packed: Packed, table: Table, sought: Sought) -> bool:
    """Return True if a context holds it: the whole chunk, or at least the text that was looked for."""
    for block in packed.blocks:
        if table == "doc" and block.doc.id == sought.row.doc.id:
            return True
        if sought.row.chunk.id in block.chunk_ids:
            return not block.truncated or _is_within(sought, block)
    return False


def _is_within(sought: Sought, block: Block) -> bool:
    """Return True if the part of a chunk that was packed contains the text or the lines that were looked for."""
    if sought.snippet is not None:
        return sought.snippet in block.text
    start, end = (sought.row.chunk.offset + each for each in sought.wanted_span)
    return sought.lines is not None and block.offset <= start and end <= block.end


def place(answer: Answer, sought: Sought, *, order: Sequence[int] | None = None) -> int | None:
    """Return the target's index in the ranked list (or in this order of the pool's positions), or None."""
    if answer.pool is None or answer.ranked is None:
        return None
    order = answer.ranked.order if order is None else order
    if answer.plan.table == "doc":
        keys = answer.pool.keys
        documents = keys.doc_rowids.tolist() if isinstance(keys, KeyColumns) else [key.doc_rowid for key in keys]
        return next((at for at, each in enumerate(order) if documents[each] == sought.doc_rowid), None)
    position = position_in(answer.pool, sought)
    if position is None:
        return None
    return places_in(order, [position]).get(position)


def places_in(order: Sequence[int], positions: Iterable[int]) -> dict[int, int]:
    """Return where these positions stand in a list, of those that do."""
    if isinstance(order, Series):
        found = ((position, (order.array == position).nonzero()[0].tolist()) for position in positions)
        return {position: at[0] for position, at in found if at}
    return {position: order.index(position) for position in positions if position in order}


def standing(answer: Answer, sought: Sought) -> int | None:
    """Return the position of the other row that shows the target's text, or None."""
    if answer.copies is None or answer.pool is None:
        return None
    position = position_in(answer.pool, sought)
    copies = standing_for(answer)
    return copies.first(position) if position is not None and copies.is_struck(position) else None


def is_struck_unscored(asker: KeptAsker, answer: Answer, sought: Sought) -> bool:
    """Return True if, in a list without scores, a row before it has its text."""
    return answer.pool is None and sought.row.rowid in asker.struck_rows(answer.plan)


def position_in(pool: Pool, sought: Sought) -> int | None:
    """Return the position of the chunk in the pool's columns, or None where it is no candidate."""
    rowid = sought.row.rowid
    if isinstance(pool.keys, KeyColumns):
        return next(iter((pool.keys.rowids == rowid).nonzero()[0].tolist()), None)
    return positions_of(pool.keys, [rowid]).get(rowid)


def rowids_in(pool: Pool) -> list[int]:
    """Return the candidates' own, by position."""
    keys = pool.keys
    return keys.rowids.tolist() if isinstance(keys, KeyColumns) else [key.rowid for key in keys]


def position(answer: Answer, sought: Sought) -> int | None:
    """Return its position in the pool's columns; of a document, that of its best chunk."""
    at = place(answer, sought)
    return None if at is None or answer.ranked is None else answer.ranked.order[at]


def row_of(asker: KeptAsker, answer: Answer, sought: Sought) -> int | None:
    """Return its index in the whole list, with scores or without; None where it is not in it."""
    if answer.pool is not None:
        return place(answer, sought)
    return asker.places(answer.plan).get(sought.doc_rowid if answer.plan.table == "doc" else sought.row.rowid)
