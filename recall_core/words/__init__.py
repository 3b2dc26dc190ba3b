"""What a word is: folding, indexed forms, terms with their places, titles. Nothing else decides it."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.words import language, old
else:
    __getattr__ = attach(__name__)
