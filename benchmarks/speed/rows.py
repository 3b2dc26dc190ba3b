"""Rows of figures: ours beside a peer, taken in turns, questions that nobody was asked before in each round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple, TypeVar

from benchmarks.timing import Spread, spread

Asked = TypeVar("Asked")


class Row(NamedTuple):
    """One thing beside a peer. ratio: ours divided by the peer's, taken within each round. Milliseconds each.

    recall: of the ten that are truly best, the share that the peer found, where it may miss some; in rows of `signed`
    the share that we found.
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
    """Each peer's name, our cost, its cost and the ratio. Of several rounds the first does not count.

    cost: of putting these questions in one of the ways, in ms for each; by default this process's time.
    ours_last: the peers are asked first.
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
    """A row by its field names, spreads too."""
    return {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in row._asdict().items()}


def told(way: Callable[[Asked], float], asked: Sequence[Asked]) -> float:
    """What the ways say themselves that each costs, on average."""
    return sum(map(way, asked)) / len(asked)


def _cost(way: Callable[[Asked], object], asked: Sequence[Asked]) -> float:
    """Processor time of a question, on average, in ms."""
    started = process_time()
    for each in asked:
        way(each)
    return (process_time() - started) * 1000 / len(asked)
