"""A store in an SQLite file: full text (FTS5), vectors (sqlite-vec) and metadata. The only package that uses apsw."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store.sqlite import (
        check,
        copying,
        funnel,
        lexical,
        lock,
        lsh,
        rebuild,
        reranked,
        sums,
        write,
    )
else:
    __getattr__ = attach(__name__)
