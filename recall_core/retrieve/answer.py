"""Answer a plan in separate steps: search once, then rank, page and pack any number of times."""

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

_FIRST_ROWS = 24  # texts that packing reads first; a context seldom needs more
_FETCH_ROWS = 64  # texts that it reads at a time after them


class RankingCache(NamedTuple):
    """Values that ranking learned about candidates, kept so that a new weight does not need them again."""

    chunk_counts: Mapping[int, int] = {}
    """Document rowid to number of chunks."""
    rerank_values: Mapping[int, float] = {}
    """Chunk rowid to value, from the reranker of the plan."""
    texts: Mapping[int, int] | None = None
    """Position in the pool to the number of a text that appears more than once in the store; None if not asked yet.
    """


class Answer(NamedTuple):
    """An answered query. ranked: the whole list, best first; None without a signal, when rows are scanned."""

    plan: Plan
    pool: Pool | None
    ranked: Ranking | None
    total: int
    """Rows in the full list, regardless of LIMIT and OFFSET. Collapsed copies are not counted."""
    digest: str
    generation: int
    snapshot: str
    took_ms: float
    timings: dict[str, float]
    warnings: tuple[str, ...]
    counter: str
    """Token counter of the store."""
    rows: dict[int, Row]
    """Chunk rowid to row, for the texts read so far. It grows; all answers weighed from one pool share it."""
    fused: Ranking | None = None
    """The list before sparse-document recall, without collapsed copies."""
    recall: Recalled | None = None
    """Result of sparse-document recall; None if it is off."""
    known: RankingCache = RankingCache()
    copies: Copies | None = None
    """Copies among the rows; None if copies are shown or there are none."""
    struck: int = 0
    """Number of collapsed copies in the list."""
    twins: dict[int, Twins | None] | None = None
    """Chunk rowid to other chunks with its text, as far as requested. It grows like `rows`."""

    @property
    def exact(self) -> bool:
        """True if no row that passes the filter was skipped."""
        return self.pool is None or self.pool.exact


def answer(
    plan: Plan,
    store: Store,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    *,
    is_read_on: bool = False,
) -> Answer:
    """Search and rank, reading the store at one state. Texts are fetched only for ORDER BY or a reranker.

    reranker: the one that the plan's config names.
    is_read_on: the caller shows one page within its own `store.reading` block, so values that no one sees may be
    skipped.
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
    """Count the rows of a list without scores."""
    plan = answer.plan
    if plan.collapses:
        scanned = retrieve.copies.scan(plan, store)
        return answer._replace(total=len(scanned.rows), struck=len(scanned.first))
    return answer._replace(total=store.scan(plan.where, table=plan.table, order=(), limit=0, offset=0)[0])


def with_words_only(answer: Answer) -> Answer:
    """Return the documents with a query word, each with its best such row: up to the limit, or all."""
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
    copies = f" and their {answer.struck} copies" if answer.struck else ""
    return (
        f"W_POOL_END: the list ends after the pool's {answer.total} candidates{copies}; to see more: OPTION exact ON"
    )


def weigh(answer: Answer, config: Config, store: Store, reranker: Reranker | None = None) -> Answer:
    """Rank the same pool with other settings: those of the answer's plan with some changes.

    The store is asked only for unknown values: fields that ORDER BY names, sizes of documents for sparse-document
    recall, and texts that the reranker has not scored.
    """
    if answer.pool is None:
        return answer
    if config.rerank != answer.plan.config.rerank:
        answer = answer._replace(known=answer.known._replace(rerank_values={}))
    return _rank_pool(answer, answer.plan._replace(config=config), store, reranker)


def packable(answer: Answer, store: Store) -> Answer:
    """Return the answer as a context uses it, without a limit of its own, so that no row is displaced.

    A document that sparse-document recall would add to a list of the usual length keeps its rank and gets a share of
    the budget instead. Without such shares, recall may only add to the end of the whole list.
    """
    if answer.fused is None or answer.recall is None or answer.plan.is_capped:
        return answer
    if not answer.plan.config.sparse_share:
        return with_all_rows(answer, store)
    recall, known = _recall_sparse(answer, answer.fused, answer.plan.config, store, limit=answer.plan.limit)
    return _with_recall(answer, in_place(answer.fused, recall, answer.copies), known)


def with_all_rows(answer: Answer, store: Store) -> Answer:
    """Return the answer as a list of every row, unless a limit was given. Sparse-document recall may append rows."""
    if answer.fused is None or answer.recall is None or answer.plan.is_capped:
        return answer
    config = answer.plan.config
    limit = answer.fused.kept + config.sparse_max_injections
    return _with_recall(answer, *_recall_sparse(answer, answer.fused, config, store, limit=limit))


def _with_recall(answer: Answer, recall: Recalled, known: RankingCache) -> Answer:
    answer = answer._replace(ranked=recall.ranking, total=recall.ranking.kept, recall=recall, known=known)
    return answer if answer.copies is None else answer._replace(struck=standing_for(answer).struck)


def standing_for(answer: Answer) -> Copies:
    """Return the copies of the list. Injected rows represent their texts."""
    assert answer.copies is not None  # noqa: S101 - the caller looked
    return answer.copies if answer.recall is None else answer.copies.led_by(answer.recall.given)


def hits(answer: Answer, store: Store, *, start: int, stop: int) -> list[Hit]:
    """Return ranks start + 1 to stop of the full list, with their texts. Raises Outdated."""
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
    """Return True if min_cosine alone excludes the row from the list."""
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
    """Return the rows for LIMIT and OFFSET, with the other places of their texts if copies are collapsed."""
    plan = answer.plan
    start, stop = plan.offset, min(answer.total, plan.offset + plan.limit)
    return with_twins(answer, hits(answer, store, start=start, stop=stop), store, start=start)


def with_twins(answer: Answer, shown: list[Hit], store: Store, *, start: int) -> list[Hit]:
    """Add the other places of their texts to the hits from rank start + 1 on, if copies are collapsed."""
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
    """Return the other chunks with the texts of these. Each chunk is looked up once."""
    known = {} if answer.twins is None else answer.twins
    unknown = [each for each in rowids if each not in known]
    if unknown and (answer.pool is None or answer.known.texts):
        known.update(retrieve.copies.twins_of(unknown, answer.plan, store))
    return known


def candidates(answer: Answer, store: Store) -> Iterator[Hit]:
    """Yield every hit that may be packed, in rank order, read a few at a time; see `candidate_range`."""
    start, stop = candidate_range(answer)
    for first in (start, *range(start + _FIRST_ROWS, stop, _FETCH_ROWS)):
        count = _FIRST_ROWS if first == start else _FETCH_ROWS
        for hit in hits(answer, store, start=first, stop=min(stop, first + count)):
            yield _with_chunk(hit, store)


def hit_at(answer: Answer, position: int, *, rank: int, store: Store) -> Hit:
    """Return the candidate at a position of the pool, in the list or not, with this rank."""
    assert answer.pool is not None and answer.ranked is not None  # noqa: S101, PT018 - positions are those of a pool
    (row,) = _read(answer, [answer.pool.keys[position]], store)
    (own,) = answer.ranked.reorder([position], kept=1)
    hit = Hit(rank, own.score, row.doc, row.chunk, own.parts)
    return hit._replace(matched=_match_of(hit, position, answer))


def take_injected(answer: Answer, store: Store) -> tuple[Hit, ...]:
    """Return the hits that sparse-document recall added, of those that may be packed, nearest first."""
    if answer.ranked is None or answer.recall is None or not answer.recall.given:
        return ()
    start, stop = candidate_range(answer)
    places = {position: place for place, position in enumerate(answer.ranked.order[start:stop], start=start)}
    chosen = [places[position] for position in answer.recall.given if position in places]
    return tuple(
        _with_chunk(hit, store) for place in chosen for hit in hits(answer, store, start=place, stop=place + 1)
    )


def candidate_range(answer: Answer) -> tuple[int, int]:
    """Return the range of the full list that may be packed: all of it, unless a limit was given."""
    plan = answer.plan
    if not plan.is_capped:
        return plan.offset, max(plan.offset, answer.total)
    return plan.offset, max(plan.offset, min(answer.total, plan.offset + plan.limit))


def rows_with_words(answer: Answer) -> int | None:
    """Return how many rows of the full list, copies included, match the words. None unless both signals were used.

    A document matches if one of its chunks does.
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
    """Return the error for a row that the store no longer has."""
    return Outdated(
        "outdated",
        f"The store has changed since g{answer.generation} and no longer has the rows of this answer.",
        details={"generation": answer.generation},
    )


def _rank_pool(answer: Answer, plan: Plan, store: Store, reranker: Reranker | None) -> Answer:
    """Order the pool by this plan's config: fuse, one row for each document, rerank, ORDER BY, recall."""
    check()
    pool, config = answer.pool, plan.config
    if pool is None:
        return answer
    fused = rank(pool, config)
    if plan.table == "doc":
        fused = best_of_each_document(pool, fused)
    if config.rerank:
        assert reranker is not None  # noqa: S101 - a config with a reranker comes with it
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
    """Return the ranked answer for a plan that differs only in LIMIT and OFFSET."""
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
    """Return the result of sparse-document recall for a list cut to `limit` rows, and all known values."""
    pool, known = answer.pool, answer.known
    assert pool is not None  # noqa: S101 - a ranking comes from a pool
    if unknown := near_documents(pool, fused, limit=limit) - known.chunk_counts.keys():
        counts = store.chunk_counts(sorted(unknown))
        if len(counts) < len(unknown):
            raise outdated_error(answer)
        known = known._replace(chunk_counts={**known.chunk_counts, **counts})
    sizes, copies = known.chunk_counts, answer.copies
    return recall_short(pool, fused, config, limit=limit, chunk_counts=sizes, copies=copies), known


def embedded_of(doc: Document, chunk: Chunk) -> str:
    """Return the text of a chunk that an embedder or a reranker gets."""
    return embedded_text(doc.path, "" if chunk.is_title else doc.title, chunk.text)


def _values(answer: Answer, keys: list[Key], store: Store, reranker: Reranker) -> Mapping[int, float]:
    """Return the reranker's values of these chunks, and all earlier ones. Raises EmbedError."""
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
            f"{reranker.identity} did not return one value from 0 to 1 for each of {len(unknown)} texts.",
            hint=Hint(AGAIN, set="rerank="),
        )
    return {**known, **{key.rowid: round(value, DECIMALS) for key, value in zip(unknown, values, strict=True)}}


def _injections(answer: Answer, store: Store) -> dict[int, Injection]:
    """Return position to the injection that placed the row there."""
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
    """Return these candidates with their texts, in the given order. Each is read once. Raises Outdated."""
    unread = dict.fromkeys(key.rowid for key in keys if key.rowid not in answer.rows)
    if unread:
        rows = store.fetch(list(unread))
        if len(rows) < len(unread):
            raise outdated_error(answer)
        answer.rows.update((row.rowid, row) for row in rows)
    return [answer.rows[key.rowid] for key in keys]


def _by_keys(answer: Answer, pool: Pool, ranked: Ranking, plan: Plan, store: Store) -> Ranking:
    """Return the kept candidates in ORDER BY order."""
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
    """Return a hit with a chunk: a document's first chunk, or an empty chunk for an empty document."""
    if hit.chunk is not None:
        return hit
    rows = store.chunks_of(hit.doc.id)
    return hit._replace(chunk=rows[0].chunk if rows else Chunk("", hit.doc.id, 0, 0, 1, 1, 0, None, ""))


def _ms(start: float, stop: float) -> float:
    return round((stop - start) * 1000, 3)
