"""A context as it was packed: its text, what it costs, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall_core.pack.layout import Draft, Layout, finished, render
from recall_core.pack.reserve import Injected, Reserve
from recall_core.types import Omission, Packed


def context(
    sheet: Layout,
    drafts: Sequence[Draft],
    own: Reserve,
    added: Injected,
    *,
    total: int,
    budget_tokens: int,
    omitted: Iterable[Omission],
    warnings: Iterable[str],
) -> Packed:
    """The context of these blocks. own, added: who has a part of the budget, and what became of them.
    total: how many candidates there were."""
    text = render(sheet, drafts)
    return Packed(
        text=text,
        budget_tokens=budget_tokens,
        used_tokens=sheet.count(text),
        counter=sheet.counter,
        candidates=total,
        blocks=tuple(map(finished, drafts)),
        omitted=tuple(omitted),
        warnings=tuple(warnings),
        reserved_for=own.ids,
        reserved_tokens=own.tokens,
        reserved_used_tokens=added.used_tokens,
    )


def unseen_pins(ids: Iterable[str]) -> list[str]:
    """The warnings for pinned chunks that are not among the candidates."""
    return [f"W_PIN: {chunk_id} is not among the candidates" for chunk_id in sorted(ids)]
