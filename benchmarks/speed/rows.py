"""Rows of figures: ours and a peer, measured in turns, with new questions in each round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple, TypeVar

from benchmarks.timing import Spread, spread

Asked = TypeVar("Asked")


class Row(NamedTuple):
    """One measurement and its peer, in milliseconds. ratio: ours divided by the peer's, within each round.

    recall: for a peer that may miss results, the share of the true ten best that it found. In rows of `signed`, the
    share
    that we found.
    """

    name: str
    embedding: str
    chunks: int
    peer: str
    ours_ms: Spread
    peer_ms: Spread
    ratio: Spread
    recall: float | None = None


def in_turns(
    ours: Callable[[Asked], object],
    peers: Mapping[str, Callable[[Asked], object]],
    rounds: Sequence[Sequence[Asked]],
    *,
    cost: Callable[[Callable[[Asked], Any], Sequence[Asked]], float] | None = None,
    ours_last: bool = False,
) -> Iterator[tuple[str, Spread, Spread, Spread]]:
    """Yield each peer's name, our cost, its cost and the ratio. With several rounds, the first does not count.

    cost: the cost of one way for these questions, in ms for each; by default the processor time of this process.
    ours_last: ask the peers first.
    """
    ways = {**peers, "": ours} if ours_last else {"": ours, **peers}
    costs = [{name: (cost or _cost)(way, asked) for name, way in ways.items()} for asked in rounds]
    costs = costs[1:] or costs
    for name in peers:
        yield (
            name,
            spread([cost[""] for cost in costs]),
            spread([cost[name] for cost in costs]),
            spread([cost[""] / cost[name] for cost in costs]),
        )


def as_json(row: Any) -> dict[str, Any]:
    """Return a row by its field names, including spreads."""
    return {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in row._asdict().items()}


def average_of(way: Callable[[Asked], float], asked: Sequence[Asked]) -> float:
    """Return the average of the costs that the way itself returns."""
    return sum(map(way, asked)) / len(asked)


def _cost(way: Callable[[Asked], object], asked: Sequence[Asked]) -> float:
    """Return the average processor time of a question in ms."""
    started = process_time()
    for each in asked:
        way(each)
    return (process_time() - started) * 1000 / len(asked)
