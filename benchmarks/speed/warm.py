"""Compare questions to an open store with bare searches: complete responses with texts, ledger and freshness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, repeat
from typing import NamedTuple

from benchmarks import prose
from benchmarks.speed.asked import KINDS, Question
from benchmarks.speed.lab import Lab, settle
from benchmarks.speed.peers import (
    BOTH,
    FTS5,
    HYBRIDS,
    LANCE_VECTOR,
    NUMPY,
    VECTORS,
    WORDS,
    Peers,
    absent,
    rankings,
)
from benchmarks.speed.rows import Row, in_turns
from recall_core.api.recall import Ask, Pack

A_ROUND = 3
"""New questions in each round."""
_NAMES = {"1 words": "1 word", "phrase": "a phrase", "all words": "all of 3 words", "paragraph": "a paragraph"}
USUAL = "5 words"
BUDGET_TOKENS = 4_000
QUESTIONS_OF_WHY_NOT = 8
"""In each round. The cost of a question depends on the place of its target, so there are several."""

Way = Callable[[Question], object]


class Kind(NamedTuple):
    """Questions of one kind, how to ask them, and the peers."""

    name: str
    drawn: str
    way: Way
    peers: Sequence[str]


def answers(lab: Lab) -> Iterator[Row]:
    """Yield every kind of question."""
    peers = Peers(lab)
    settle(lab.recall, lambda: lab.recall.search(lab.asker.draw(USUAL, 1)[0].text))
    missing = absent()
    for kind in (*_kinds(lab), *_filtered(lab)):
        named = [name for name in kind.peers if name not in missing]
        rounds = [lab.asker.draw(kind.drawn, A_ROUND) for _ in range(lab.rounds + 1)]
        for asked in rounds:
            for question in asked:
                peers.vector(question)
        ways = {name: peers.named(name) for name in named}
        for name, ours, its, ratio in in_turns(kind.way, ways, rounds):
            recall = _recall(peers, [each for asked in rounds for each in asked]) if name == LANCE_VECTOR else None
            yield Row(kind.name, lab.made.embedding, lab.chunks, name, ours, its, ratio, recall)


def about_answers(lab: Lab) -> Iterator[Row]:
    """Yield explanations, contexts, reasons and traces, each compared with a search for other words."""
    settle(lab.recall, lambda: lab.recall.search(lab.asker.draw(USUAL, 1)[0].text))
    ways: tuple[tuple[str, Way], ...] = (
        ("explain", lambda asked: lab.recall.search(asked.text, asked.ask._replace(explain=True))),
        ("context, 4,000 tokens", lambda asked: lab.recall.context(asked.text, Ask(), Pack(BUDGET_TOKENS))),
        ("why not, with fixes", lambda asked: lab.recall.why_not(asked.text, any_file(lab))),
        ("trace", lambda asked: lab.recall.trace(asked.text)),
    )
    for name, way in ways:
        rounds = [_pairs(lab) for _ in range(max(3, lab.rounds // 2) + 1)]
        found = in_turns(partial(_first, way), {"search": partial(_second, _search(lab, "hybrid"))}, rounds)
        for peer, ours, its, ratio in found:
            yield Row(name, lab.made.embedding, lab.chunks, peer, ours, its, ratio)


def why_not(lab: Lab) -> Iterator[Row]:
    """Compare the search for reasons with a plain search for the same words.

    Each question is searched for before its reasons, as users do. Targets are random files.
    """
    settle(lab.recall, lambda: lab.recall.search(lab.asker.draw(USUAL, 1)[0].text))
    context = Pack(BUDGET_TOKENS)
    ways: tuple[tuple[str, Callable[[str], str], Pack], ...] = (
        ("why not", str, Pack()),
        ("why not, a misspelt word", misspelt, Pack()),
        ("why not, a context", str, context),
    )
    for name, written, pack in ways:
        rounds = [lab.asker.draw(USUAL, QUESTIONS_OF_WHY_NOT) for _ in range(lab.rounds + 1)]
        texts = [[written(question.text) for question in asked] for asked in rounds]
        look = partial(_look_into, lab, pack)
        for peer, ours, its, ratio in in_turns(look, {"search": lab.recall.search}, texts, ours_last=True):
            yield Row(name, lab.made.embedding, lab.chunks, peer, ours, its, ratio)


def _look_into(lab: Lab, pack: Pack, text: str) -> object:
    return lab.recall.why_not(text, any_file(lab), Ask(), pack)


def misspelt(text: str) -> str:
    """Return the question with two letters of its longest word swapped."""
    word = max(text.split(), key=len)
    middle = len(word) // 2
    return text.replace(word, word[:middle] + word[middle + 1] + word[middle] + word[middle + 2 :], 1)


def _kinds(lab: Lab) -> Iterator[Kind]:
    for drawn in KINDS:
        name = _NAMES.get(drawn, drawn)
        usual = drawn == USUAL
        yield Kind(f"lexical, {name}", drawn, _search(lab, "lexical"), WORDS if usual else (FTS5,))
        if drawn in (USUAL, "paragraph"):
            yield Kind(f"vector, {name}", drawn, _search(lab, "semantic"), VECTORS if usual else (NUMPY,))
        yield Kind(f"hybrid, {name}", drawn, _search(lab, "hybrid"), HYBRIDS if usual else (BOTH,))
    yield Kind("hybrid, documents", USUAL, lambda asked: lab.recall.query(_documents(asked)), (BOTH,))


def _filtered(lab: Lab) -> Iterator[Kind]:
    """Yield filters that let a share of the rows pass: one filter for all questions, then a new one for each."""
    files = _files(lab)
    for parts, share in ((1, "10 %"), (2, "1 %"), (3, ".1 %")):
        if files < 10**parts:
            continue
        yield Kind(f"hybrid, filter of {share}", USUAL, _within(lab, repeat(_folder(0, parts))), (BOTH,))
        if parts > 1:
            others = (_folder(number, parts) for number in count(1))
            yield Kind(f"hybrid, new filters of {share}", USUAL, _within(lab, others), (BOTH,))
    few = " OR ".join(f"doc.path = '{_file(number)}'" for number in range(min(5, files)))
    yield Kind("hybrid, in 5 files", USUAL, _within(lab, repeat(few)), (BOTH,))


def _folder(number: int, parts: int) -> str:
    """Return a filter for the files of one folder."""
    return f"doc.path GLOB 'docs/{'/'.join(prose.leaf(number).split('/')[:parts])}/**'"


def _within(lab: Lab, filters: Iterator[str]) -> Way:
    return lambda asked: lab.recall.search(asked.text, asked.ask._replace(filter=next(filters)))


def _search(lab: Lab, mode: str) -> Way:
    return lambda asked: lab.recall.search(asked.text, asked.ask._replace(mode=mode))


def _documents(asked: Question) -> str:
    text = f"'{asked.text}'"
    return f"SELECT doc.path, score FROM doc USING lexical({text}), semantic({text}) LIMIT 10"


def any_file(lab: Lab) -> str:
    return _file(lab.asker.number(_files(lab)))


def _files(lab: Lab) -> int:
    return -(-lab.chunks // prose.PIECES_PER_FILE)


def _file(number: int) -> str:
    return f"docs/{prose.leaf(number)}/{number:05}.txt"


def _pairs(lab: Lab) -> list[tuple[Question, Question]]:
    """Return pairs of questions, so that the second way never gets a question that the first just asked."""
    drawn = lab.asker.draw(USUAL, 2 * A_ROUND)
    return list(zip(drawn[::2], drawn[1::2], strict=True))


def _first(way: Way, pair: tuple[Question, Question]) -> object:
    return way(pair[0])


def _second(way: Way, pair: tuple[Question, Question]) -> object:
    return way(pair[1])


def _recall(peers: Peers, questions: Sequence[Question]) -> float:
    """Return the share of the ten nearest that LanceDB's index finds."""
    found, nearest = (rankings(peers.named(name), questions) for name in (LANCE_VECTOR, NUMPY))
    shares = [len(some & best) / len(best) for some, best in zip(found, nearest, strict=True)]
    return round(sum(shares) / len(shares), 3)
