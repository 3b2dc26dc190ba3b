"""Thin ways in: each parses a request, calls one method of Recall and prints one Response."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.adapters import (
        cli,
        commands,
        creating,
        headless,
        hits,
        options,
        parser,
        process,
        progress,
        receipts,
        render,
        roots,
        rows,
        streams,
        tables,
        tuning,
        whynot,
        width,
    )
else:
    __getattr__ = attach(__name__)
