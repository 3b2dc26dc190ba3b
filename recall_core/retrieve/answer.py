"""A plan answered, in steps that can be taken apart: search once, rank and page and pack as often as one likes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from recall_core import retrieve, rql
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.errors import EmbedError, Outdated
from recall_core.ports import Embedder, Reranker
from recall_core.rank.columns import documents_of, keys_at, rowids_of
from recall_core.rank.fuse import best_of_each_document, cut_by_cosine, has_word, rank
from recall_core.rank.sparse import Recalled, in_place, near_documents, recall_short
from recall_core.rank.weighing import DECIMALS, Ranking, head, rescore
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import gather
from recall_core.shell import AGAIN, Hint
from recall_core.store.port import Store
from recall_core.text import embedded_text
from recall_core.types import Chunk, Document, Hit, Injection, Key, MatchKind, Pool, Row, Twins

if TYPE_CHECKING:
    from recall_core.rank.copies import Copies

_FIRST_ROWS = 24  # texts that packing reads first: a context seldom looks at more
_FETCH_ROWS = 64  # as many at a time after them


class RankingCache(NamedTuple):
    """What ranking learned of some candidates, kept so that a weight that moves does not ask again."""

    chunk_counts: Mapping[int, int] = {}
    """By document rowid."""
    rerank_values: Mapping[int, float] = {}
    """By chunk rowid, from the reranker that the plan names."""
    texts: Mapping[int, int] | None = None
    """Position in the pool to the number of a text, of those that stand more than once in the store; None where
    nobody has asked yet."""


class Answer(NamedTuple):
    """A question answered. ranked is the whole list, best first; without a signal it is None and rows are scanned."""

    plan: Plan
    pool: Pool | None
    ranked: Ranking | None
    total: int
    """Rows in the full list, whatever LIMIT and OFFSET say; of those that share a text, the one that stands."""
    digest: str
    generation: int
    snapshot: str
    took_ms: float
    timings: dict[str, float]
    warnings: tuple[str, ...]
    counter: str
    """What the tokens of the store are counted by."""
    rows: dict[int, Row]
    """By chunk rowid: the texts read so far. It grows; all answers that were weighed from one pool share it."""
    fused: Ranking | None = None
    """The list before sparse-document recall gave rows away, of the rows that stand."""
    recall: Recalled | None = None
    """What sparse-document recall did; None where it is off."""
    known: RankingCache = RankingCache()
    copies: Copies | None = None
    """Which rows stand for others with their text; None where a text may stand several times, or none does."""
    struck: int = 0
    """How many rows of the list do not stand."""
    twins: dict[int, Twins | None] | None = None
    """By chunk rowid: the other chunks with a text, as far as they were asked for. It grows as `rows` does."""

    @property
    def exact(self) -> bool:
        """Nothing that the filter lets through was skipped."""
        return self.pool is None or self.pool.exact


def answer(
    plan: Plan,
    store: Store,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    *,
    is_read_on: bool = False,
) -> Answer:
    """Search and rank. The store is read at one state; no text is fetched unless ORDER BY or a reranker needs it.

    reranker: the one that the plan's config names.  is_read_on: the caller shows a page of it and is done with it
    within the block of `store.reading` that it asks in, so that what nobody looks at need not be known.
    """
    started = perf_counter()
    with store.reading():
        info = store.info()
        pool = gather(plan, store, embedder, is_read_on=is_read_on) if plan.mode != "filter" else None
        retrieved = perf_counter()
        found = Answer(
            plan=plan,
            pool=pool,
            ranked=None,
            total=0,
            digest=info.digest,
            generation=info.generation,
            snapshot=info.snapshot,
            took_ms=0.0,
            timings={},
            warnings=plan.warnings + (pool.warnings if pool else ()),
            counter=info.counter,
            rows={},
            twins={},
        )
        found = _count_rows(found, store) if pool is None else _rank_pool(found, plan, store, reranker)
    done = perf_counter()
    if pool is not None and not pool.exact and plan.offset + plan.limit > found.total:
        found = found._replace(warnings=(*found.warnings, _pool_end(found)))
    timings = {"retrieve": _ms(started, retrieved), "rank": _ms(retrieved, done)}
    return found._replace(took_ms=_ms(started, done), timings=timings)


def _count_rows(answer: Answer, store: Store) -> Answer:
    """A list without scores: how many rows it has."""
    plan = answer.plan
    if plan.collapses:
        scanned = retrieve.copies.scan(plan, store)
        return answer._replace(total=len(scanned.rows), struck=len(scanned.first))
    return answer._replace(total=store.scan(plan.where, table=plan.table, order=(), limit=0, offset=0)[0])


def with_words_only(answer: Answer) -> Answer:
    """Return the documents with a query word, each at its best row with one: as many as were asked for, or all."""
    pool, ranked, plan = answer.pool, answer.ranked, answer.plan
    if pool is None or ranked is None or plan.lexical is None:
        return answer
    order = [
        position
        for position in ranked.order[: ranked.kept]
        if has_word(pool, position, by_document=plan.table == "doc")
    ]
    first = dict(zip(reversed(documents_of(pool.keys, order)), reversed(order), strict=True))
    chosen = frozenset(first.values())
    order = [position for position in order if position in chosen]
    plan = plan if plan.is_capped else plan._replace(limit=len(order))
    warnings = answer.warnings
    if not pool.exact and plan.offset + plan.limit >= len(order):
        warnings = tuple(dict.fromkeys((*warnings, _pool_end(answer))))
    listed = ranked.reorder(order, kept=len(order))
    return answer._replace(plan=plan, ranked=listed, total=len(order), recall=None, warnings=warnings)


def _pool_end(answer: Answer) -> str:
    copies = f", {answer.struck} more of which are copies of these" if answer.struck else ""
    return f"W_POOL_END: the list ends at the {answer.total} candidates of the pool{copies}; OPTION exact ON reads on"


def weigh(answer: Answer, config: Config, store: Store, reranker: Reranker | None = None) -> Answer:
    """The same pool under other ranking settings: those of the answer's plan with what is to be changed.

    The store is asked only for what is not known yet: fields that ORDER BY names, sizes of documents that
    sparse-document recall looks at, texts that the reranker has not scored.
    """
    if answer.pool is None:
        return answer
    if config.rerank != answer.plan.config.rerank:
        answer = answer._replace(known=answer.known._replace(rerank_values={}))
    return _rank_pool(answer, answer.plan._replace(config=config), store, reranker)


def packable(answer: Answer, store: Store) -> Answer:
    """The answer as a context takes it: no limit of its own, no row to take from anyone.

    A document that sparse-document recall would bring into a list of the usual length stands where it is ranked, and
    has its share of the budget instead. Without such shares, recall may only add to the whole list.
    """
    if answer.fused is None or answer.recall is None or answer.plan.is_capped:
        return answer
    if not answer.plan.config.sparse_share:
        return with_all_rows(answer, store)
    recall, known = _recall_sparse(answer, answer.fused, answer.plan.config, store, limit=answer.plan.limit)
    return _with_recall(answer, in_place(answer.fused, recall, answer.copies), known)


def with_all_rows(answer: Answer, store: Store) -> Answer:
    """The answer as a list of every row, unless a limit was asked for: sparse-document recall may add to its end."""
    if answer.fused is None or answer.recall is None or answer.plan.is_capped:
        return answer
    config = answer.plan.config
    limit = answer.fused.kept + config.sparse_max_injections
    return _with_recall(answer, *_recall_sparse(answer, answer.fused, config, store, limit=limit))


def _with_recall(answer: Answer, recall: Recalled, known: RankingCache) -> Answer:
    answer = answer._replace(ranked=recall.ranking, total=recall.ranking.kept, recall=recall, known=known)
    return answer if answer.copies is None else answer._replace(struck=standing_for(answer).struck)


def standing_for(answer: Answer) -> Copies:
    """Which rows of the list stand, and for which others; those that were injected stand for their texts."""
    assert answer.copies is not None  # noqa: S101 - the caller looked
    return answer.copies if answer.recall is None else answer.copies.led_by(answer.recall.given)


def hits(answer: Answer, store: Store, *, start: int, stop: int) -> list[Hit]:
    """Ranks start + 1 to stop of the full list, with their texts. Raises Outdated."""
    stop = min(stop, answer.total)
    if start >= stop:
        return []
    if answer.pool is None or answer.ranked is None:
        return _scan(answer.plan, store, start, stop)
    chosen = answer.ranked[start:stop]
    rows = _read(answer, keys_at(answer.pool.keys, [each.position for each in chosen]), store)
    given = _injections(answer, store) if answer.recall is not None and answer.recall.given else {}
    listed = []
    for number, (each, row) in enumerate(zip(chosen, rows, strict=True), start=start + 1):
        hit = Hit(number, each.score, row.doc, row.chunk, each.parts, given.get(each.position))
        listed.append(hit._replace(matched=_match_of(hit, each.position, answer)))
    return listed


def is_distant(answer: Answer, position: int) -> bool:
    """Return True if min_cosine alone keeps the row out of the list."""
    config, pool, ranked = answer.plan.config, answer.pool, answer.ranked
    if pool is None or ranked is None or not (config.min_cosine and pool.semantic):
        return False
    if ranked.scores[position] < config.min_score or has_word(pool, position, by_document=answer.plan.table == "doc"):
        return False
    cosine = pool.semantic[position]
    return cosine is None or cosine < config.min_cosine


def _match_of(hit: Hit, position: int, answer: Answer) -> MatchKind:
    assert answer.pool is not None  # noqa: S101 - positions are those of a pool
    if has_word(answer.pool, position, by_document=answer.plan.table == "doc"):
        return "words" if (hit.cosine or 0.0) <= 0 else "both"
    return "meaning"


def page(answer: Answer, store: Store) -> list[Hit]:
    """The rows that LIMIT and OFFSET ask for, with the other places of their texts where a text is shown once."""
    plan = answer.plan
    start, stop = plan.offset, min(answer.total, plan.offset + plan.limit)
    return with_twins(answer, hits(answer, store, start=start, stop=stop), store, start=start)


def with_twins(answer: Answer, shown: list[Hit], store: Store, *, start: int) -> list[Hit]:
    """The hits from rank start + 1 on, with the other places of their texts where a text is shown once."""
    plan, stop = answer.plan, start + len(shown)
    if not plan.collapses or not shown:
        return shown
    if answer.pool is None or answer.ranked is None:
        rowids = [chunk or 0 for _, chunk in retrieve.copies.list_rows(plan, store, start=start, stop=stop)]
    else:
        shared = answer.known.texts or {}
        positions = answer.ranked.order[start:stop]
        if not any(position in shared for position in positions):
            return shown
        rowids = [key.rowid for key in keys_at(answer.pool.keys, positions)]
    twins = twins_of(answer, rowids, store)
    return [hit._replace(twins=twins.get(rowid)) for hit, rowid in zip(shown, rowids, strict=True)]


def twins_of(answer: Answer, rowids: Sequence[int], store: Store) -> Mapping[int, Twins | None]:
    """The other chunks with the texts of these, each asked for once."""
    told = {} if answer.twins is None else answer.twins
    unknown = [each for each in rowids if each not in told]
    if unknown and (answer.pool is None or answer.known.texts):
        told.update(retrieve.copies.twins_of(unknown, answer.plan, store))
    return told


def candidates(answer: Answer, store: Store) -> Iterator[Hit]:
    """Every hit that may be packed, in rank order, read a few at a time; see `candidate_range`."""
    start, stop = candidate_range(answer)
    for first in (start, *range(start + _FIRST_ROWS, stop, _FETCH_ROWS)):
        count = _FIRST_ROWS if first == start else _FETCH_ROWS
        for hit in hits(answer, store, start=first, stop=min(stop, first + count)):
            yield _with_chunk(hit, store)


def hit_at(answer: Answer, position: int, *, rank: int, store: Store) -> Hit:
    """The candidate at a position of the pool, whether it stands in the list or not, under this rank."""
    assert answer.pool is not None and answer.ranked is not None  # noqa: S101, PT018 - positions are those of a pool
    (row,) = _read(answer, [answer.pool.keys[position]], store)
    (own,) = answer.ranked.reorder([position], kept=1)
    hit = Hit(rank, own.score, row.doc, row.chunk, own.parts)
    return hit._replace(matched=_match_of(hit, position, answer))


def take_injected(answer: Answer, store: Store) -> tuple[Hit, ...]:
    """Of the hits that may be packed, those that sparse-document recall brought in, nearest first."""
    if answer.ranked is None or answer.recall is None or not answer.recall.given:
        return ()
    start, stop = candidate_range(answer)
    places = {position: place for place, position in enumerate(answer.ranked.order[start:stop], start=start)}
    chosen = [places[position] for position in answer.recall.given if position in places]
    return tuple(
        _with_chunk(hit, store) for place in chosen for hit in hits(answer, store, start=place, stop=place + 1)
    )


def candidate_range(answer: Answer) -> tuple[int, int]:
    """The stretch of the full list that may be packed: all of it, unless a limit was asked for."""
    plan = answer.plan
    if not plan.is_capped:
        return plan.offset, max(plan.offset, answer.total)
    return plan.offset, max(plan.offset, min(answer.total, plan.offset + plan.limit))


def rows_with_words(answer: Answer) -> int | None:
    """How many rows of the full list, copies among them, the words match; None unless words and meaning were asked.

    A document is a row that they match where any of its chunks is.
    """
    pool, ranked = answer.pool, answer.ranked if answer.copies is None else answer.copies.ranking
    if pool is None or ranked is None or not (pool.terms and pool.lexical and pool.semantic):
        return None
    is_document = answer.plan.table == "doc"
    if not is_document and ranked.kept == len(pool.keys):
        return len(pool.lexical) - pool.lexical.count(None)
    held = [position for position, raw in enumerate(pool.lexical) if raw is not None]
    if is_document:
        return len(set(documents_of(pool.keys, held)) & set(documents_of(pool.keys, ranked.order[: ranked.kept])))
    return len(set(held).intersection(ranked.order[: ranked.kept]))


def outdated_error(answer: Answer) -> Outdated:
    """What to say where the store no longer has a row of this answer."""
    return Outdated(
        "outdated",
        f"The store has changed since g{answer.generation}, and no longer has what was found in it.",
        details={"generation": answer.generation},
    )


def _rank_pool(answer: Answer, plan: Plan, store: Store, reranker: Reranker | None) -> Answer:
    """The pool in order under this plan's config: fused, one row a document, reranked, recalled or by ORDER BY."""
    check()
    pool, config = answer.pool, plan.config
    if pool is None:
        return answer
    fused = rank(pool, config)
    if plan.table == "doc":
        fused = best_of_each_document(pool, fused)
    if config.rerank:
        assert reranker is not None  # noqa: S101 - whoever names one in the config gives it
        keys = {position: pool.keys[position] for position in head(fused, config)}
        values = _values(answer, list(keys.values()), store, reranker)
        answer = answer._replace(known=answer.known._replace(rerank_values=values))
        fused = rescore(fused, {position: values[key.rowid] for position, key in keys.items()}, config)
    fused = cut_by_cosine(pool, fused, config.min_cosine, by_document=plan.table == "doc")
    if plan.order:
        fused = _by_keys(answer, pool, fused, plan, store)
    known, copies = answer.known, None
    if plan.collapses and known.texts is None:
        known = known._replace(texts=store.same_texts(rowids_of(pool.keys)))
    if known.texts:
        copies = retrieve.copies.collapse(fused, known.texts, plan)
    fused = fused if copies is None else copies.standing()
    return cut_to_limit(answer._replace(known=known, copies=copies, fused=fused), plan, store)


def cut_to_limit(answer: Answer, plan: Plan, store: Store) -> Answer:
    """Return the ranked answer as a plan lists it that differs in LIMIT and OFFSET alone."""
    fused, copies, config = answer.fused, answer.copies, plan.config
    struck = 0 if copies is None else copies.struck
    assert fused is not None  # noqa: S101 - the caller ranked it
    answer = answer._replace(plan=plan, ranked=fused, total=fused.kept, recall=None, struck=struck)
    if plan.order or not config.sparse_recall:
        return answer
    return _with_recall(answer, *_recall_sparse(answer, fused, config, store, limit=plan.limit))


def _recall_sparse(
    answer: Answer, fused: Ranking, config: Config, store: Store, *, limit: int
) -> tuple[Recalled, RankingCache]:
    """What sparse-document recall makes of a list whose first `limit` rows count, and all that is known by then."""
    pool, known = answer.pool, answer.known
    assert pool is not None  # noqa: S101 - what is ranked comes out of a pool
    if unknown := near_documents(pool, fused, limit=limit) - known.chunk_counts.keys():
        counts = store.chunk_counts(sorted(unknown))
        if len(counts) < len(unknown):
            raise outdated_error(answer)
        known = known._replace(chunk_counts={**known.chunk_counts, **counts})
    sizes, copies = known.chunk_counts, answer.copies
    return recall_short(pool, fused, config, limit=limit, chunk_counts=sizes, copies=copies), known


def embedded_of(doc: Document, chunk: Chunk) -> str:
    """What an embedder or a reranker is given of a document's chunk."""
    return embedded_text(doc.path, "" if chunk.is_title else doc.title, chunk.text)


def _values(answer: Answer, keys: list[Key], store: Store, reranker: Reranker) -> Mapping[int, float]:
    """What the reranker says of these chunks, beside what it said before. Raises EmbedError."""
    known = answer.known.rerank_values
    unknown = [key for key in keys if key.rowid not in known]
    question = answer.plan.semantic if answer.plan.semantic is not None else answer.plan.lexical
    if not unknown or question is None:
        return known
    texts = [embedded_of(row.doc, row.chunk) for row in _read(answer, unknown, store)]
    values = reranker.score(question, texts)
    if len(values) != len(unknown) or not all(0.0 <= value <= 1.0 for value in values):
        raise EmbedError(
            "rerank_invalid",
            f"{reranker.identity} gave something else than one value from 0 to 1 for each of {len(unknown)} texts.",
            hint=Hint(AGAIN, set="rerank="),
        )
    return {**known, **{key.rowid: round(value, DECIMALS) for key, value in zip(unknown, values, strict=True)}}


def _injections(answer: Answer, store: Store) -> dict[int, Injection]:
    """Position to the injection that gave it its row."""
    if answer.pool is None or answer.recall is None:
        return {}
    keys, given = answer.pool.keys, answer.recall.given
    displaced = [keys[each.displaced] for each in given.values() if each.displaced is not None]
    ids = {row.rowid: row.chunk.id for row in _read(answer, displaced, store)}
    return {
        position: Injection(each.distance, None if each.displaced is None else ids[keys[each.displaced].rowid])
        for position, each in given.items()
    }


def _read(answer: Answer, keys: Sequence[Key], store: Store) -> list[Row]:
    """These candidates with their texts, in the order asked for; each is read once. Raises Outdated."""
    unread = dict.fromkeys(key.rowid for key in keys if key.rowid not in answer.rows)
    if unread:
        rows = store.fetch(list(unread))
        if len(rows) < len(unread):
            raise outdated_error(answer)
        answer.rows.update((row.rowid, row) for row in rows)
    return [answer.rows[key.rowid] for key in keys]


def _by_keys(answer: Answer, pool: Pool, ranked: Ranking, plan: Plan, store: Store) -> Ranking:
    """The kept candidates in the order that ORDER BY names."""
    chosen = ranked[: ranked.kept]
    rows = _read(answer, [pool.keys[each.position] for each in chosen], store)
    hits = [Hit(each.position, each.score, row.doc, row.chunk, ()) for each, row in zip(chosen, rows, strict=True)]
    return ranked.reorder([hit.rank for hit in rql.match.sort_hits(hits, plan.order)], kept=len(hits))


def _scan(plan: Plan, store: Store, start: int, stop: int) -> list[Hit]:
    documents: dict[int, Document] = {}
    chunks: dict[int, Row] = {}
    with store.reading():
        rows = _rows_listed(plan, store, start, stop)
        if plan.table == "doc":
            documents = store.documents([doc for doc, _ in rows])
        else:
            chunks = {row.rowid: row for row in store.fetch([chunk for _, chunk in rows if chunk is not None])}
    listed = []
    for number, (doc, chunk) in enumerate(rows, start=start + 1):
        if chunk is None:
            listed.append(Hit(number, None, documents[doc], None, ()))
        else:
            listed.append(Hit(number, None, chunks[chunk].doc, chunks[chunk].chunk, ()))
    return listed


def _rows_listed(plan: Plan, store: Store, start: int, stop: int) -> list[tuple[int, int | None]]:
    if plan.collapses:
        return retrieve.copies.list_rows(plan, store, start=start, stop=stop)
    return store.scan(plan.where, table=plan.table, order=plan.order, limit=stop - start, offset=start)[1]


def _with_chunk(hit: Hit, store: Store) -> Hit:
    """A document without a scored chunk is represented by its first, an empty one by a chunk without text."""
    if hit.chunk is not None:
        return hit
    rows = store.chunks_of(hit.doc.id)
    return hit._replace(chunk=rows[0].chunk if rows else Chunk("", hit.doc.id, 0, 0, 1, 1, 0, None, ""))


def _ms(start: float, stop: float) -> float:
    return round((stop - start) * 1000, 3)
