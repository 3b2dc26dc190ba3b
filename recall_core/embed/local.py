"""The `local` embedder: the mean of a text's static token vectors, from a small offline model of meaning.

The vectors are WordLlama's l2_supercat with 256 components (MIT), trained from the token embeddings of Llama 2. They
are read directly from the files of the `wordllama` package, which is never imported.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import mul
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.embed.model_files import ModelFile, Tokens, digest, missing, read, unavailable, unit
from recall_core.ports import Share
from recall_core.types import Vector

if TYPE_CHECKING:
    import mmap

DIMENSION = 256
IDENTITY = f"local-l2_supercat-1:{DIMENSION}"
PACKAGE = "wordllama"
WEIGHTS = ModelFile(
    PACKAGE,
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = ModelFile(
    PACKAGE,
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)

_ROW = Struct(f"<{DIMENSION}e")
_PLAIN_TOKENS = 2048  # below this, plain Python is faster than importing NumPy
_BATCH_CHARS = 1 << 18
_SPACE, _LINE_END = "▁", "<0x0A>"  # spelling in the vocabulary
_DECIMALS = 12
_STEPS = 1 << 12


class LocalEmbedder:
    """Turns texts into unit vectors by averaging token vectors; offline, the same bytes on every machine.

    Loading is lazy and checks the sha256 of both files. Weights are float16: each component is a multiple of 2**-24
    below 2**4, so float64 adds up to 2**25 tokens exactly, in any order.
    """

    dimension = DIMENSION
    identity = IDENTITY

    def __init__(self, weights: ModelFile = WEIGHTS, tokenizer: ModelFile = TOKENIZER) -> None:
        self._files = (weights, tokenizer)

    @property
    def checksum(self) -> str:
        """Checksum of the model files, the only ones that are accepted."""
        return digest(" ".join((IDENTITY, *(file.sha256 for file in self._files))).encode())[:16]

    @property
    def max_input(self) -> None:
        """None: a text is a bag of tokens, without a limit."""
        return

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return 1 per text: a text is never divided."""
        return [1] * len(texts)

    def load(self) -> None:
        """Read and check the model now. Raises EmbedError `embedder_unavailable`, `embedder_damaged`."""
        self._model  # noqa: B018 - accessing the property loads the model

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order; b"" for a text without a visible character.

        A vector does not depend on the other texts. Queries are embedded like other texts.
        """
        return [vector for batch in _batches(texts) for vector in self._embed(batch)]

    def shares(self, question: str, texts: Sequence[str]) -> list[list[Share]]:
        """Split each text's cosine with the query into shares per distinct word of the text; see ports.Additive.

        A word is a run of tokens that spell letters and digits. Words come in order of first appearance; values have
        12 decimals, which makes them equal on every machine.
        """
        weights, first, tokens = self._model
        table = np.frombuffer(weights, "<f2", offset=first).reshape(-1, DIMENSION)
        query_ids, *found = self._ids([question, *texts])
        direction = table[query_ids].astype(np.float64).sum(axis=0)
        length = float(np.sqrt(direction @ direction))
        shared: list[list[Share]] = []
        for ids in found:
            rows = table[ids].astype(np.float64)
            total = rows.sum(axis=0)
            lengths = length * float(np.sqrt(total @ total))
            values = (rows @ direction / lengths).tolist() if lengths else []
            shared.append(_add_by_word(tokens.names(ids), values) if lengths else [])
        return shared

    def shares_of(
        self, question: str, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """Return the share of each span's tokens; see ports.Locating.

        The query's direction is rounded to multiples of 2 ** -12, so that sums are exact in any order.
        """
        weights, first, tokens = self._model
        rows = [_ROW.unpack_from(weights, first + _ROW.size * i) for i in self._ids([question])[0]]
        direction = [round(sum(column) * _STEPS) / _STEPS for column in zip(*rows, strict=True)]
        if not direction:
            return [[0.0] * len(own) for own in spans]
        found = []
        for text in texts:
            check()
            found.append(tokens.tokens_with_starts(text))
        values = self._products(sorted({i for placed in found for i, _ in placed}), direction)
        shared: list[list[float]] = []
        for placed, own in zip(found, spans, strict=True):
            check()
            starts = [start for _, start in placed]
            pairs = ((bisect_left(starts, start), bisect_left(starts, end)) for start, end in own)
            shared.append([sum(values[i] for i, _ in placed[low:high]) for low, high in pairs])
        return shared

    def _products(self, ids: Sequence[int], direction: Sequence[float]) -> dict[int, float]:
        """Return the product of each token's vector with the direction, by token id. Uses NumPy if it is loaded."""
        weights, first, _ = self._model
        if "numpy" not in sys.modules:
            rows = (_ROW.unpack_from(weights, first + _ROW.size * i) for i in ids)
            return {i: sum(map(mul, direction, row)) for i, row in zip(ids, rows, strict=True)}

        table = np.frombuffer(weights, "<f2", offset=first).reshape(-1, DIMENSION)
        products: list[float] = (table[ids].astype(np.float64) @ np.array(direction)).tolist()
        return dict(zip(ids, products, strict=True))

    @cached_property
    def _model(self) -> tuple[mmap.mmap, int, Tokens]:
        """The weights, the offset of their first row, and the tokenizer."""
        weights, tokenizer = self._files
        return *_rows(weights), Tokens(read(tokenizer, extra="local"))

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        weights, first, _ = self._model
        ids = self._ids(texts)
        if sum(map(len, ids)) <= _PLAIN_TOKENS:
            return [embed_plain(each, weights, first) for each in ids]
        return embed_numpy(ids, weights, first)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        tokens = self._model[2]
        return [found if text.strip() else [] for text, found in zip(texts, tokens.ids(texts), strict=True)]


def embed_plain(ids: Sequence[int], weights: mmap.mmap, first: int) -> Vector:
    """Return the mean of these rows, scaled to length 1. Reads no other rows and needs no NumPy."""
    if not ids:
        return b""
    rows = [_ROW.unpack_from(weights, first + _ROW.size * i) for i in ids]
    return unit([sum(column) for column in zip(*rows, strict=True)])


def embed_numpy(ids: Sequence[Sequence[int]], weights: mmap.mmap, first: int) -> list[Vector]:
    """Embed many texts like `embed_plain`, with NumPy; the same bytes."""
    table = np.frombuffer(weights, "<f2", offset=first).reshape(-1, DIMENSION)
    return [unit(table[list(each)].astype(np.float64).sum(axis=0).tolist()) if each else b"" for each in ids]


def _rows(file: ModelFile) -> tuple[mmap.mmap, int]:
    """Return a checked safetensors file with one float16 matrix, and the offset of its first row.

    Layout: 8 bytes with the length of a JSON header, the header, the numbers.
    """
    weights = read(file, extra="local")
    length = int.from_bytes(weights[:8], "little")
    (tensor,) = json.loads(weights[8 : 8 + length]).values()
    if tensor["dtype"] != "F16" or tensor["shape"][1] != DIMENSION:
        raise unavailable("local", f"{file.path} contains {tensor['dtype']} rows of {tensor['shape'][1]} components")
    return weights, 8 + length + int(tensor["data_offsets"][0])


def _add_by_word(names: Sequence[str], values: Sequence[float]) -> list[Share]:
    """Return the tokens' values summed by word: consecutive letters and digits."""
    words: dict[str, float] = {}
    pieces: list[str] = []
    total = 0.0
    for name, value in zip([*names, _SPACE], [*values, 0.0], strict=True):
        if pieces and not (name[:1].isalnum() and (pieces[-1][-1:].isalnum() or pieces[-1] == _SPACE)):
            word = "".join(pieces).replace(_LINE_END, " ").replace(_SPACE, " ").strip()
            words[word] = words.get(word, 0.0) + total
            pieces, total = [], 0.0
        pieces.append(name)
        total += value
    return [Share("token", word, round(value, _DECIMALS)) for word, value in words.items()]


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = chars = 0
    for i, text in enumerate(texts):
        if i > start and chars + len(text) > _BATCH_CHARS:
            check()
            yield texts[start:i]
            start, chars = i, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]


class LocalKind(NamedTuple):
    """The `local` kind. weights, tokenizer: its files."""

    name: str = "local"
    purpose: str = "meaning of words from a small offline model, fast"
    vector_weight: float = 0.3
    weights: ModelFile = WEIGHTS
    tokenizer: ModelFile = TOKENIZER

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> str | None:
        """Return why it cannot be used here, or None."""
        return missing(packages=("tokenizers",), files=(self.weights, self.tokenizer), extra="local")

    def dimension(self, config: Config) -> int:
        """Return 256."""
        return DIMENSION

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if the identity is this model's."""
        return identity == IDENTITY

    def new(self, config: Config, *, dimension: int | None = None) -> LocalEmbedder:
        """Return the embedder. For a new store (dimension is None), check its files now."""
        reason = self.missing(config)
        if reason is not None:
            raise unavailable(self.name, reason, extra="local")
        embedder = LocalEmbedder(self.weights, self.tokenizer)
        if dimension is None:
            embedder.load()
        return embedder


LOCAL = LocalKind()
