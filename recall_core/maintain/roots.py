"""Folders and files that were added: which of them are synced, and how one that came from elsewhere becomes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall_core.contract.views import RootView, TransferView
from recall_core.errors import UnknownTarget
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.store.values import KnownRoot, Source


def accept(store: Store, numbers: Sequence[int]) -> None:
    """Sync these roots from now on, all of them or none. Raises UnknownTarget for a number that none has."""
    known = store.known_roots()
    for number in numbers:
        if not 0 < number <= len(known):
            raise UnknownTarget("unknown_target", f"No root has the number {number}.", hint=Hint("roots"))
    waiting = [known[number - 1].root for number in numbers if not known[number - 1].is_active]
    if waiting:
        with store.writer() as writer:
            for root in waiting:
                writer.put_root(root)


def listed(store: Store) -> list[RootView]:
    """Every root by its number."""
    known = zip(store.known_roots(), store.root_sources(), strict=True)
    return [_view(number, *each) for number, each in enumerate(known, 1)]


def inactive(view: TransferView) -> Iterator[str]:
    """What is to be told of the roots that an import brought."""
    if folders := view.get("inactive_roots"):
        some = ", ".join(folders[:3]) + (f" and {len(folders) - 3} more" if len(folders) > 3 else "")
        yield (
            f"W_ROOTS: {some}: outside of the store's folder, hence not synced until you accept it; {Hint('roots')}"
        )


def _view(number: int, known: KnownRoot, source: Source) -> RootView:
    """A root by its number."""
    root = known.root
    view = RootView(
        number=number,
        folder=root.folder,
        globs=list(root.globs),
        ignores=list(root.ignores),
        parser=root.parser,
        tags=list(root.tags),
        meta=dict(root.meta),
        hidden=root.hidden,
        gitignore=root.gitignore,
        follow=root.follow,
        active=known.is_active,
        documents=source.documents,
        left_out=list(known.left_out),
    )
    if root.source is not None:
        view["source"] = root.source
    return view
