"""Why not: the stages that keep a chunk out of an answer, and the smallest changes that bring it in."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.explain.whynot import fixes, question, target, why
else:
    __getattr__ = attach(__name__)
