"""What a receipt and its replay answer."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class ReceiptView(TypedDict):
    """A receipt of this answer. sha256: its seal. text: what a file of it holds; path: the file that was written."""

    sha256: str
    text: NotRequired[str]
    path: NotRequired[str]


class ReceiptPart(TypedDict, total=False):
    """The receipt, where one is wanted."""

    receipt: ReceiptView


class ReplayChangeView(TypedDict):
    """Something that is another than in the receipt. key: which setting, or part of the plan or the context.

    what, of a document: edited, deleted or relabelled (fields: in what); of a row: gone, new, moved (before and after
    are its ranks), score, or cut (its end). id: of the row's chunk.
    """

    kind: str
    what: NotRequired[Literal["edited", "deleted", "relabelled", "gone", "new", "moved", "score", "cut"]]
    key: NotRequired[str]
    path: NotRequired[str]
    id: NotRequired[str]
    fields: NotRequired[list[str]]
    before: NotRequired[str | int | float | bool | None]
    after: NotRequired[str | int | float | bool | None]


class ReplayView(TypedDict):
    """An answer beside its receipt. identical: its rows, scores, documents and text are, and what it was asked under.

    Changes of version and store alone leave it identical. rows: of the receipt.
    """

    identical: bool
    rows: int
    sha256: str
    changes: list[ReplayChangeView]
