"""The embedder that runs a sentence-transformers model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, NamedTuple

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.embed.providers.remote import cut, identity_prefix, means, unit
from recall_core.errors import EmbedError
from recall_core.shell import INSTALL, Hint
from recall_core.types import Vector

MODEL = "all-MiniLM-L6-v2"
_OTHER_MAX_INPUT = 512  # for a model that does not declare it


class SentenceEmbedder:
    """Vectors of a model on this machine. The model is loaded when something is embedded.

    model: a folder, or the name of a model that is downloaded already, or may be if allow_network is true.
    """

    def __init__(self, model: str, *, allow_network: bool, dimension: int | None) -> None:
        self._name = model
        self._allow_network = allow_network
        self.dimension: int = dimension or self._model.get_sentence_embedding_dimension()
        self.identity = f"{_identity_prefix(model)}{self.dimension}"

    @property
    def max_input(self) -> int:
        """Word pieces per window. Loads the model."""
        return int(self._model.max_seq_length or _OTHER_MAX_INPUT)

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return the number of windows of each text; 1 for an empty text."""
        return [max(1, len(cut(text, self.max_input))) for text in texts]

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order: unit length, the mean of its windows; b"" without visible characters.

        Raises EmbedError `embedder_unavailable` if the model cannot be loaded, `embed_invalid` if it returns vectors
        without a direction.
        """
        windows = [cut(text, self.max_input) for text in texts]
        flat = [window for of_text in windows for window in of_text]
        if not flat:
            return [b""] * len(texts)
        check()
        # Models that distinguish queries from documents have a prompt of that name.
        prompt = "query" if is_query and "query" in self._model.prompts else None
        raw = self._model.encode(flat, prompt_name=prompt, show_progress_bar=False).astype("float64")
        try:
            return means(unit(raw), [len(of_text) for of_text in windows])
        except ValueError as error:
            raise EmbedError(
                "embed_invalid", f"The model {self._name} returned an invalid answer: {error}."
            ) from error

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra that takes seconds to load

            return SentenceTransformer(self._name, local_files_only=not self._allow_network)
        except ImportError as error:
            message = "The sentence-transformers package is not installed."
            raise EmbedError("embedder_unavailable", message, hint=Hint(INSTALL, "sentence-transformers")) from error
        except (OSError, ValueError) as error:
            message = f"The model {self._name} cannot be loaded: {error}"
            raise EmbedError("embedder_unavailable", message, hint='embedding_model = "FOLDER"') from error


class SentenceKind(NamedTuple):
    """The `sentence-transformers` kind. embedding_model names the model or its folder."""

    name: str = "sentence-transformers"
    purpose: str = "any sentence-transformers model in a folder, run on this machine"
    vector_weight: float = 0.5

    def sends_text(self, config: Config) -> bool:
        """Return False: the model runs here, even if it is downloaded first."""
        return False

    def missing(self, config: Config) -> str | None:
        """Return why the package is missing, or None. A missing model is reported at first use."""
        found = find_spec("sentence_transformers")
        return None if found else f"it is not installed: {Hint(INSTALL, 'sentence-transformers')}"

    def dimension(self, config: Config) -> int | None:
        """Return None: the dimension is known once the model is loaded."""
        return None

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if the identity is of the model in these settings, in any folder."""
        prefix = _identity_prefix(config.embedding_model or MODEL)
        return identity.startswith(prefix) and identity[len(prefix) :].isdecimal()

    def new(self, config: Config, *, dimension: int | None = None) -> SentenceEmbedder:
        """Return an embedder for these settings. Load the model now if the dimension is unknown."""
        model = config.embedding_model or MODEL
        return SentenceEmbedder(model, allow_network=config.allow_network, dimension=dimension)


def _identity_prefix(model: str) -> str:
    return identity_prefix("sentence-transformers", PurePath(model).name)


SENTENCE = SentenceKind()
