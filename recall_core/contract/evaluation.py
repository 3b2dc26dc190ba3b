"""What eval and judge answer."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class IntervalView(TypedDict):
    """A 95 % confidence interval, by bootstrap over queries unless another source is named."""

    low: float
    high: float


class EvaluationView(TypedDict):
    """How good the ranking is."""

    queries: int


class JudgedView(TypedDict):
    """What judge did: how many queries and judgements were read or written, and how many name no live document."""

    queries: int
    judgements: int
    unknown: int
    path: NotRequired[str]
