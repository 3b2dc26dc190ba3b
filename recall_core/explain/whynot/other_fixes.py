"""Fixes of everything else that a question says: its words, signals, settings, pool and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recall_core.explain.whynot.fix import Change, Start, confirmed, from_start, shows
from recall_core.explain.whynot.present import answered, is_shown, position, row_of
from recall_core.explain.whynot.question import Asker, Question, with_limit, with_settings, with_word
from recall_core.explain.whynot.signals import full_ranks
from recall_core.explain.whynot.target import Sought
from recall_core.rql.ast import Value
from recall_core.text import STOP_WORDS, spaced
from recall_core.types import LexicalQuery, Phrase

TERMS_TRIED = 20
_TERMS_TOLD = 3


def other_changes(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    """match, signals, fusion, normalize, pool, sparse recall, rerank, offset: each where it alone does, confirmed."""
    config, plan = start.found.plan.config, start.found.plan
    if config.match == "all" and plan.lexical is not None:
        yield from _setting(asker, start, sought, "match", "any", is_same_pool=False)
    if start.question.rql is None and start.question.mode != "hybrid":
        question = start.question._replace(mode="hybrid")
        yield from _tried(asker, from_start(start, "mode", "ask both signals", question, size=1), sought)
    if start.found.pool is not None and not start.found.pool.exact:
        yield from _pool(asker, start, sought)
    if position(start.found, sought) is not None and not plan.order:
        for normalize in ("bound", "max", "minmax"):
            if normalize != config.normalize and config.fusion == "weighted":
                yield from _setting(asker, start, sought, "normalize", normalize)
        yield from _setting(asker, start, sought, "fusion", "rrf" if config.fusion == "weighted" else "weighted")
        yield from _sparse(asker, start, sought)
    if config.rerank:
        yield from _setting(asker, start, sought, "rerank", "")
    at = row_of(asker, start.found, sought)
    if start.question.rql is not None and at is not None and at < plan.offset:
        yield from _offset(asker, start, sought, at)


def added_words(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    """Words of its text that, added to the question, bring it in: the rarest are tried, at most 3 are told."""
    plan = start.found.plan
    if (plan.lexical is None and plan.semantic is None) or plan.lexical_raw:
        return
    told = 0
    for word in rare_words(asker, start, sought)[:TERMS_TRIED]:
        question = with_word(start.question, word)
        change = from_start(start, "term", f"add the word {word}", question, size=1)
        if found := confirmed(asker, change, sought):
            yield found
            told += 1
            if told == _TERMS_TOLD:
                return


def rare_words(asker: Asker, start: Start, sought: Sought) -> list[str]:
    """The words of its text that the question does not have, by idf descending, ties in the text's order."""
    store, plan = asker.store, start.found.plan
    asked = set(store.tokens(spaced(f"{plan.lexical or ''} {plan.semantic or ''}")))
    words = dict.fromkeys(store.tokens(spaced(sought.row.chunk.text)))
    new = [word for word in words if word not in asked and word not in STOP_WORDS]
    phrases = tuple(Phrase(word, (word,)) for word in new)
    stats = store.term_stats(LexicalQuery("", "", phrases)) if phrases else ()
    # A word of a letter or two brings the chunk in and tells a person nothing.
    telling = [each for each in stats if len(each.text) > 2 or not each.text.isascii()] or list(stats)
    return [each.text for each in sorted(telling, key=lambda each: -each.idf)]


def _tried(asker: Asker, change: Change, sought: Sought) -> Iterator[Change]:
    if found := confirmed(asker, change, sought):
        yield found


def _setting(
    asker: Asker, start: Start, sought: Sought, key: str, value: Value, *, is_same_pool: bool = True
) -> Iterator[Change]:
    values: Mapping[str, Value] = {key: value}
    question = with_settings(start.question, values)
    if is_same_pool and not shows(asker, start, question, sought):
        return
    said = f"set {key} to {value}" if value != "" else f"leave {key} out"
    yield from _tried(asker, from_start(start, key, said, question, size=1, settings=values), sought)


def _sparse(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    """Nobody gets a row, or more documents do: as many as it takes."""
    recall, most = start.found.recall, start.found.plan.config.sparse_max_injections
    if recall is None:
        return
    if recall.given:
        yield from _setting(asker, start, sought, "sparse_recall", False)
    for more in range(most + 1, most + 1 + recall.report.blocked):
        question = with_settings(start.question, {"sparse_max_injections": more})
        if shows(asker, start, question, sought):
            smaller = with_settings(start.question, {"sparse_max_injections": more - 1})
            said = f"let {more} short documents take a row instead of {most}"
            values: dict[str, Value] = {"sparse_max_injections": more}
            told = (smaller, f"{more - 1} documents")
            change = from_start(start, "sparse", said, question, size=more - most, settings=values, smaller=told)
            yield from _tried(asker, change, sought)
            return


def _pool(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    """The shallowest pool that shows it, and no pool at all."""
    depth = start.found.plan.config.pool
    ranks = full_ranks(asker, start.found.plan, start.found, sought).values()
    for rank in sorted(rank for rank in ranks if rank is not None and rank > depth):
        values: dict[str, Value] = {"pool": rank}
        question = with_settings(start.question, values)
        if _answers(asker, question, sought):
            smaller = (with_settings(start.question, {"pool": rank - 1}), f"a pool of {rank - 1}")
            said = f"let each signal propose {rank} instead of {depth}"
            change = from_start(start, "pool", said, question, size=rank - depth, settings=values, smaller=smaller)
            yield from _tried(asker, change, sought)
            break
    exact = start.question._replace(exact=True)
    yield from _tried(asker, from_start(start, "exact", "score every row", exact, size=1), sought)


def _answers(asker: Asker, question: Question, sought: Sought) -> bool:
    return is_shown(asker, question, answered(asker, question), sought)


def _offset(asker: Asker, start: Start, sought: Sought, at: int) -> Iterator[Change]:
    plan = start.found.plan
    question = with_limit(start.question, plan.limit, offset=at)
    change = from_start(start, "offset", f"begin at OFFSET {at}", question, size=plan.offset - at)
    yield from _tried(asker, change, sought)
