"""Embedders behind a model server or a model package: OpenAI-compatible, Gemini, sentence-transformers."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.embed.providers import remote, sentence
else:
    __getattr__ = attach(__name__)
