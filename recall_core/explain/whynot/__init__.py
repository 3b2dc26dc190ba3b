"""Why not: what keeps a chunk out of an answer, stage by stage, and the smallest changes that bring it in."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.explain.whynot import fixes, kept, present, question, target, why
else:
    __getattr__ = attach(__name__)
