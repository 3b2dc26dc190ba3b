"""Analyses for the explain pane: a score, two chunks, the funnel, why not, and the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recall_core import adapters, api, explain, retrieve, rql, shell
from recall_core.explain import whynot
from recall_tui.state.explaining import (
    Comparison,
    DocumentPassage,
    FixOffer,
    Funnel,
    Ledger,
    LineMark,
    MarkKind,
    Missing,
    PassageLine,
    Paths,
    RowsAround,
    Stretch,
)
from recall_tui.state.packing import to_pack
from recall_tui.state.records import Analysis, Tweaks
from recall_tui.state.session import Session, filter_of, k_of, list_range
from recall_tui.state.weighing import differences
from recall_tui.threads.analysis_thread import AnalysisRun

if TYPE_CHECKING:
    from recall_core.contract.explaining import FixView, WhyNotView
    from recall_core.explain.explanation import Ground
    from recall_core.explain.whynot.question import KeptAsker, Question
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.asking import Asker, Pack
    from recall_core.retrieve.plan import Plan
    from recall_core.store.port import Store
    from recall_core.types import Packed

KEPT = "ground"
FIRST_ROWS = 50  # whose words the sentence above a ledger considers


def answer_of(session: Session) -> Answer:
    """Return the answer whose hits are explained."""
    answer = session.results.answer
    assert answer is not None  # noqa: S101 - only hits of an answer are explained
    return answer


def ground(run: AnalysisRun) -> Ground:
    """Return the ground of explanations of the current answer, cached until the answer changes."""
    cached = run.kept.get(KEPT)
    if isinstance(cached, tuple) and cached[0] is run.session.results.answer:
        made = cached[1]
    else:
        made = explain.explanation.ground_of(answer_of(run.session))
        run.kept[KEPT] = run.session.results.answer, made
        run.checkpoint()
    assert isinstance(made, explain.explanation.Ground)  # noqa: S101 - the cache has nothing else under this name
    return made


def context_question(session: Session) -> Question:
    """Return the question whose context is packed under the budget."""
    answer = session.results.answer
    assert answer is not None  # noqa: S101 - analyses start after an answer
    plan = answer.plan
    return whynot.question.Question(
        words="" if plan.rql is not None else plan.text,
        rql=plan.rql,
        filter=filter_of(plan),
        k=session.weights.k,
        settings=differences(plan.config, session.weights.plain),
        exact=plan.exact and plan.rql is None,
        budget_tokens=session.context.budget_tokens,
        query=plan.query,
        where=plan.where if plan.rql is None else None,
    )


class PausingAsker:
    """Asks the store step by step. Each step yields to the user's next action."""

    def __init__(self, engine: Asker, checkpoint: Callable[[], None]) -> None:
        self.store, self.base, self.config = engine.store, engine.base, engine.config
        self.words_plan, self.rql_plan, self.scoped = engine.words_plan, engine.rql_plan, engine.scoped
        self.vector, self.weigh, self.cited = engine.vector, engine.weigh, engine.cited
        self._engine = engine
        self._checkpoint = checkpoint

    def answer(self, plan: Plan) -> Answer:
        """Search and rank."""
        self._checkpoint()
        return self._engine.answer(plan)

    def pack(self, answer: Answer, options: Pack, *, cites: bool = True) -> Packed:
        """Pack the ranked list under a budget."""
        self._checkpoint()
        return self._engine.pack(answer, options, cites=cites)


def asker_of(run: AnalysisRun, question: Question) -> PausingAsker:
    """Return an asker for the question."""
    return PausingAsker(api.whynot.asker_of(run.recall.engine, question), run.checkpoint)


def chunk_ledger(run: AnalysisRun, analysis: Analysis) -> Ledger:
    """Return the explanation of the chunk with this id in the current answer."""
    recall, answer = run.recall, answer_of(run.session)
    with recall.store.reading():
        embedder = None if answer.plan.semantic is None else recall.engine.embedder
        row = retrieve.targets.chunk(recall.store, analysis.target, base=recall.engine.base)
        view = explain.explanation.explanation(answer, row, store=recall.store, embedder=embedder, ground=ground(run))
        rank = view["chunk"]["rank"]
        if rank is None:
            return Ledger(view)
        run.checkpoint()
        return Ledger(view, rows_around(answer, rank, recall.store, first=_first_words(run, answer)))


def _first_words(run: AnalysisRun, answer: Answer) -> Mapping[int, tuple[str, ...]]:
    """Return the phrases in the first rows, cached until the answer changes."""
    cached = run.kept.get("words")
    if not isinstance(cached, tuple) or cached[0] is not run.session.results.answer:
        before, rows = list_range(answer)
        first = range(before + 1, before + min(rows, FIRST_ROWS) + 1)
        cached = run.session.results.answer, words_by_rank(answer, first, run.recall.store)
        run.kept["words"] = cached
    words: Mapping[int, tuple[str, ...]] = cached[1]
    return words


def words_by_rank(answer: Answer, ranks: Iterable[int], store: Store) -> dict[int, tuple[str, ...]]:
    """Return the query's phrases in the rows at these ranks, or nothing if rows are documents."""
    pool, ranked = answer.pool, answer.ranked
    if pool is None or ranked is None or answer.plan.table == "doc":
        return {}
    rowids = {rank: pool.keys[ranked.order[rank - 1]].rowid for rank in ranks if rank <= answer.total}
    terms = explain.ledger.lexical_contributions(answer, list(rowids.values()), store)
    return {rank: tuple(each.text for each in terms.get(rowid, [])) for rank, rowid in rowids.items()}


def rows_around(answer: Answer, rank: int, store: Store, *, first: Mapping[int, tuple[str, ...]]) -> RowsAround:
    """Return the rows around the row at a rank. first: the phrases in the first rows, by rank."""
    words = {**words_by_rank(answer, {rank - 1, rank} - {0, *first}, store), **first}
    return RowsAround(
        chunks=store.info().chunks,
        first=first,
        df={term.text: term.df for term in answer.pool.terms} if answer.pool is not None else {},
        held=words.get(rank, ()),
        above=next(iter(retrieve.answer.hits(answer, store, start=rank - 2, stop=rank - 1)), None)
        if rank > 1
        else None,
        held_above=words.get(rank - 1, ()),
        of_documents=answer.plan.table == "doc",
    )


def two_chunks(run: AnalysisRun, analysis: Analysis) -> Comparison:
    """Return the explanation of the selected chunk compared with the marked one."""
    recall, answer = run.recall, answer_of(run.session)
    with recall.store.reading():
        embedder = None if answer.plan.semantic is None else recall.engine.embedder
        rows = [
            retrieve.targets.chunk(recall.store, each, base=recall.engine.base)
            for each in (analysis.target, analysis.other)
        ]
        view = explain.explanation.explanation(
            answer, *rows, store=recall.store, embedder=embedder, ground=ground(run)
        )
        return Comparison(view)


def row_funnel(run: AnalysisRun, _analysis: Analysis) -> Funnel:
    """Return the funnel of the current question, with the milliseconds of each step."""
    with run.recall.store.reading():
        question = context_question(run.session)
        return Funnel(explain.funnel.trace(asker_of(run, question), question).view)


def missing_target(run: AnalysisRun, analysis: Analysis) -> Missing:
    """Return why the target is missing from the list, or from the context if the list has it."""
    recall, session = run.recall, run.session
    with recall.store.reading():
        question = context_question(session)
        rows = question._replace(budget_tokens=None, k=k_of(session))  # the listed rows, not their context
        asker = whynot.question.keep_reads(asker_of(run, question))
        in_list = whynot.why.why_not(asker, rows, analysis.target, fixes=False).view["present"]
        question_asked = question if in_list else rows
        done = whynot.why.why_not(asker, question_asked, analysis.target)
        api.whynot.add_passage(done.view, recall.engine, done.answer)
        fixes, changed = done.view.get("fixes", []), [each.question for each in done.changes]
        for fix in fixes:
            fix["command"] = shell.in_store(fix["command"], run.store)
        changes = [
            remedy(question_asked, each, fix)._replace(proof=_proof(asker, each, done.view))
            for each, fix in zip(changed, fixes, strict=True)
        ]
        if in_list and not done.view["present"]:
            changes += _offer_pin(run, done.view)
        answer = session.results.answer
        most = answer.plan.limit if answer is not None and answer.plan.is_capped else None
        return Missing(done.view, in_list, tuple(sorted(changes, key=effort)), most)


def effort(offer: FixOffer) -> int:
    """Return the sort key of a fix: its order in `recall whynot`, with pins next to a larger budget."""
    return max(_EFFORT.get(kind, 0) for kind in offer.kind.split("+"))


_EFFORT = {
    kind: effort
    for effort, kinds in enumerate(
        ("k offset budget diversity pin", "mode exact pool", "spelling", "name", "weight sparse", "term"), start=1
    )
    for kind in kinds.split()
}
"""Effort by kind, as in `recall_core.explain.whynot.fix`. Kinds that drop a filter or a flag have 0."""


def _proof(asker: KeptAsker, question: Question, view: WhyNotView) -> str:
    """Return the place of the target in the answer to the changed question."""
    if (chosen := view["target"].get("chosen")) is None:
        return ""
    row = retrieve.targets.chunk(asker.store, chosen["chunk_id"], base=asker.base)
    target = whynot.target.Sought(row, asker.store.rowid("doc", row.doc.id), None)
    answer = whynot.question.ask_question(asker, question)
    place = whynot.question.row_of(asker, answer, target)
    if place is None:
        return "in the context with it" if question.budget_tokens is not None else "listed with it"
    rows = f"rank {place + 1:,} of {list_range(answer)[1] + answer.plan.offset:,} with it"
    return rows if question.budget_tokens is None else f"in the context with it, rank {place + 1:,}"


def remedy(before: Question, after: Question, fix: FixView) -> FixOffer:
    """Return a fix as the changes that the workbench makes to ask the changed question."""
    texts = (before.rql, after.rql) if before.rql is not None else (before.words, after.words)
    text = texts[1] if texts[0] != texts[1] else None
    if after.exact and not before.exact:
        text = _exact(after)
    return FixOffer(
        kind=fix["kind"],
        change=fix["change"],
        command=adapters.whynot.command_of(fix),
        doubt=fix.get("next_smaller", ""),
        text=text,
        filter=(after.filter or "") if after.filter != before.filter else None,
        settings=_settings(before, after),
        k=_rows(before, after),
        budget_tokens=after.budget_tokens if after.budget_tokens != before.budget_tokens else None,
    )


def _rows(before: Question, after: Question) -> int | None:
    """Return the number of rows, if it changes. A moved number wins over LIMIT."""
    if after.k is None and before.k is not None and after.query is not None:
        return after.query.limit
    return after.k if after.k != before.k else None


def _settings(before: Question, after: Question) -> Tweaks:
    """Return the changed settings. A cap per document is a flag of the command but a setting here."""
    changed = dict(after.changes)
    if after.diversity is not None and after.diversity != before.diversity:
        changed["diversity"] = after.diversity
    return changed


def _exact(question: Question) -> str | None:
    """Return the query with every row scored, or None for plain words, which have no such option here."""
    query = question.query
    if query is None:
        return None
    options = {**dict(query.options), "exact": True}
    return rql.print.print_query(query._replace(options=tuple(options.items())))


def _offer_pin(run: AnalysisRun, view: WhyNotView) -> list[FixOffer]:
    """Return the fix that pins the target to the context, if that works."""
    session, chosen = run.session, view["target"].get("chosen")
    if chosen is None or session.results.answer is None:
        return []
    pin = chosen["chunk_id"]
    drops = tuple(each for each in session.context.drops if each != pin)
    packed = run.recall.engine.pack(
        to_pack(session.results.answer, is_k_moved=session.weights.k is not None),
        api.recall.Pack(session.context.budget_tokens, pins=(*session.context.pins, pin), drops=drops),
    )
    if not any(pin in block.chunk_ids and not block.truncated for block in packed.blocks):
        return []
    return [
        FixOffer(
            "pin",
            "pin it: it is packed before everything else",
            shell.in_store(f"{whynot.question.command(context_question(session))} --pin {pin[:12]}", run.store),
            proof="in the context with it",
            pin=pin,
        )
    ]


AROUND = 10_000  # code points on each side of the chunk: several screens of text, and lexed in milliseconds
_KEPT = "passage"
_KEPT_MOST = 20

_KINDS: tuple[tuple[str, MarkKind], ...] = (
    ("Comment", "comment"),
    ("Literal.String", "string"),
    ("Keyword", "keyword"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "name"),
    ("Name.Attribute", "name"),
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
    ("Generic.Strong", "keyword"),
)


def document_passage(run: AnalysisRun, analysis: Analysis) -> DocumentPassage:
    """Return the document around the chunk with this id."""
    store, answer = run.recall.store, run.session.results.answer
    with store.reading():
        row = retrieve.targets.chunk(store, analysis.target, base=run.recall.engine.base)
        chunk = row.chunk
        first, last = max(0, chunk.offset - AROUND), chunk.end + AROUND
        rows = store.fetch(store.chunks_near(row.doc.id, first, last))
        more = store.fetch(store.chunks_near(row.doc.id, rows[-1].chunk.end - 1, rows[-1].chunk.end + AROUND))
    run.checkpoint()
    start = rows[0].chunk.offset
    ends = [start, *(row.chunk.end for row in rows)]  # chunks overlap and leave no gap
    text = "".join(row.chunk.text[end - row.chunk.offset :] for row, end in zip(rows, ends, strict=False))
    marks = _lex(run, row.doc.path, (row.doc.id, start), text)
    phrases = [term.text for term in answer.pool.terms] if answer and answer.pool else []
    marks = sorted([*marks, *(LineMark(*span, "term") for span in store.analyzer.spans(text, phrases))])
    return DocumentPassage(
        path=row.doc.path,
        chunk_id=chunk.id,
        lines=tuple(_lines(text, start, rows[0].chunk.line_start, marks)),
        chunks=tuple(
            Stretch(each.id, each.offset, each.end, each.line_start, each.line_end, each.tokens, each.place)
            for each in (row.chunk for row in rows)
        ),
        from_start=start == 0,
        to_end=len(more) <= 1,
    )


def _lines(text: str, start: int, number: int, marks: Sequence[LineMark]) -> Iterator[PassageLine]:
    """Yield each line with the marks that overlap it. marks: in code points of the text, sorted by start.

    A line break at the end starts no further line.
    """
    waiting = list(marks)
    offset = 0
    for at, line in enumerate(text.removesuffix("\n").split("\n"), start=number):
        end = offset + len(line)
        own = [mark for mark in waiting if mark.start < end]
        inside = tuple(LineMark(max(0, mark.start - offset), min(end, mark.end) - offset, mark.kind) for mark in own)
        yield PassageLine(at, start + offset, line, inside)
        waiting = [mark for mark in own if mark.end > end] + waiting[len(own) :]
        offset = end + 1


def _lex(run: AnalysisRun, path: str, key: tuple[str, int], text: str) -> list[LineMark]:
    """Return the marks that the document's language gives its text, cached for its other chunks."""
    cache = run.kept.setdefault(_KEPT, {})
    assert isinstance(cache, dict)  # noqa: S101 - the cache has nothing else under this name
    if key not in cache:
        if len(cache) >= _KEPT_MOST:
            cache.pop(next(iter(cache)))
        cache[key] = len(text), language_marks(path, text)
    size, marks = cache[key]
    return marks if size == len(text) else language_marks(path, text)


def language_marks(path: str, text: str) -> list[LineMark]:
    """Return the kinds of words in a text by the language of its path, or none without a lexer."""
    from pygments.lexers import get_lexer_for_filename  # noqa: PLC0415 - only a passage is coloured
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    marks: list[LineMark] = []
    places = [at for at in range(len(text)) if text[at : at + 2] != "\r\n"]  # lexers see \n for \r\n
    at = 0
    for token, value in lexer.get_tokens(text):
        name = str(token).removeprefix("Token.")
        kind = next((kind for prefix, kind in _KINDS if name.startswith(prefix)), None)
        own = places[at : at + len(value)]
        if kind is not None and own and value.strip():
            if marks and at and marks[-1].end == places[at - 1] + 1 and marks[-1].kind == kind:
                marks[-1] = marks[-1]._replace(end=own[-1] + 1)
            else:
                marks.append(LineMark(own[0], own[-1] + 1, kind))
        at += len(value)
    return marks


MOST = 200  # more than a person reads; typing another word narrows the list


def fitting_paths(run: AnalysisRun, analysis: Analysis) -> Paths:
    """Return the paths that contain every word of the target.

    Without words, list graded documents first, then changed ones.
    """
    words = analysis.target.split()
    matches = run.recall.store.paths_with(words, MOST + 1)
    if not words:
        missing = {row.path for row in run.recall.store.stray_judgements()}
        grades = Counter(
            row.path for row in run.recall.store.judgements() if row.grade > 0 and row.path not in missing
        )
        matches = list(dict.fromkeys((*sorted(grades, key=lambda path: (-grades[path], path)), *matches)))
    return Paths(tuple(matches[:MOST]), are_all=len(matches) <= MOST)
