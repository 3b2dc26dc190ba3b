"""Raw signal values on one scale, 0 to 1, rounded half-even to 6 decimals."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core._lazy import np
from recall_core.rank.columns import RawColumn, Series, rounded
from recall_core.types import Pool, Signal

DECIMALS = 6


def lexical_values(pool: Pool, normalize: str) -> Sequence[float]:
    """One value a candidate; 0 where no term matches.

    bound: raw / B, where B = (k1 + 1) times the sum of idf is what no chunk can exceed, so that the value does
    not depend on the other candidates and adds up over terms. max and minmax look at the pool.
    """
    if normalize == "bound":
        return _shares(pool.lexical, pool.bound)
    return _scaled(pool.lexical, normalize)


def semantic_values(pool: Pool, normalize: str) -> Sequence[float]:
    """One value a candidate, from max(0, cosine); 0 where the chunk has no vector."""
    if normalize == "minmax":
        return _scaled(pool.semantic, normalize)
    if normalize == "max":
        return _scaled(_above_zero(pool.semantic), normalize)
    if isinstance(pool.semantic, RawColumn):
        return Series(np.where(pool.semantic.array > 0, pool.semantic.array, 0.0))
    return [cosine if cosine and cosine > 0 else 0.0 for cosine in pool.semantic]


def _above_zero(raw: Sequence[float | None]) -> Sequence[float | None]:
    if isinstance(raw, RawColumn):
        return RawColumn(np.where(raw.array <= 0, 0.0, raw.array))
    return [None if cosine is None else max(0.0, cosine) for cosine in raw]


def scale(pool: Pool, signal: Signal, normalize: str) -> tuple[float, float]:
    """The raw values that become 0 and 1. Those of `bound` do not depend on the pool's candidates."""
    if normalize == "bound":
        return 0.0, pool.bound if signal == "lexical" else 1.0
    low, high = limits(pool.lexical if signal == "lexical" else pool.semantic)
    return (low, high) if normalize == "minmax" else (0.0, max(0.0, high))


def limits(raw: Sequence[float | None]) -> tuple[float, float]:
    """The lowest and highest value present, (0, 0) when there is none."""
    if isinstance(raw, RawColumn):
        held = raw.array[~np.isnan(raw.array)]
        # argmin and argmax find the first of equal ones, as min and max do: a zero keeps its sign.
        return (float(held[held.argmin()]), float(held[held.argmax()])) if len(held) else (0.0, 0.0)
    present = [value for value in raw if value is not None]
    return (min(present), max(present)) if present else (0.0, 0.0)


def _shares(raw: Sequence[float | None], bound: float) -> Sequence[float]:
    if isinstance(raw, RawColumn):
        return _share_column(raw, bound)
    if bound <= 0:
        return [0.0] * len(raw)
    return [0.0 if value is None else min(1.0, round(value / bound, DECIMALS)) for value in raw]


def _share_column(raw: RawColumn, bound: float) -> Series[float]:
    if bound <= 0:
        return Series(np.zeros(len(raw)))
    with np.errstate(over="ignore"):
        shares = np.where(np.isnan(raw.array), 0.0, raw.array) / bound
    return Series(np.minimum(rounded(shares, DECIMALS), 1.0))


def _scaled(raw: Sequence[float | None], normalize: str) -> Sequence[float]:
    """Divided by the highest (max), or stretched between lowest and highest (minmax; all equal gives 1)."""
    low, high = limits(raw)
    if normalize == "max":
        low = 0.0
    width = high - low
    flat = 1.0 if normalize == "minmax" else 0.0
    if isinstance(raw, RawColumn):
        return _scaled_column(raw, low, width, flat)
    if width <= 0:
        return [0.0 if value is None else flat for value in raw]
    return [0.0 if value is None else round((value - low) / width, DECIMALS) for value in raw]


def _scaled_column(raw: RawColumn, low: float, width: float, flat: float) -> Series[float]:
    absent = np.isnan(raw.array)
    if width <= 0:
        return Series(np.where(absent, 0.0, flat))
    return Series(np.where(absent, 0.0, rounded((np.where(absent, low, raw.array) - low) / width, DECIMALS)))
