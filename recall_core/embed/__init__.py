"""Embedders: turn text into unit vectors."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.embed import hash_batch, registry, rescore, trust
else:
    __getattr__ = attach(__name__)
