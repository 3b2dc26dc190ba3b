"""Embedders behind a server: shared kinds, models, batches, windows and checks of answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.embed.providers.wire import TIMEOUT_SECONDS, Wire, is_loopback, key_of, server_of
from recall_core.errors import EmbedError
from recall_core.shell import install_extra
from recall_core.text import counter
from recall_core.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPACED_WORD = re.compile(r"(?<!\s)\s*+\S++")


def cut(text: str, max_input: int) -> list[str]:
    """Split the text into windows of at most max_input tokens: the whole text if it fits, else cut at whitespace.

    The model's own tokenizer is not available, so a quarter of max_input stays free for errors. A word that is too
    long is cut between code points. A text without a visible character has no windows.
    """
    room = max(1, max_input * 3 // 4)
    if not text.strip():
        return []
    count = counter("approx").count
    if len(text.encode("utf-8", "replace")) <= room or count(text) <= room:
        return [text]
    windows = [""]
    used = 0
    for piece in _pieces(text, room):
        tokens = count(piece)
        if used + tokens > room:
            windows.append("")
            used = 0
        windows[-1] += piece
        used += tokens
    return [window for window in windows if window.strip()]


def means(matrix: NDArray[np.float64], sizes: Sequence[int]) -> list[Vector]:
    """Return one vector per text, the mean of its windows; b"" for none. Text i has `sizes[i]` consecutive rows.

    Raises ValueError if windows cancel out, because their mean has no direction.
    """
    vectors = []
    done = 0
    for size in sizes:
        rows = matrix[done : done + size]
        done += size
        mean = unit(rows.mean(axis=0, keepdims=True)) if size > 1 else rows
        vectors.append(mean.astype("<f4").tobytes())
    return vectors


def unit(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1. Raises ValueError for a row of zeros, NaN or infinity."""
    if not np.isfinite(matrix).all():
        raise ValueError("a component is NaN or infinite")
    # Divide by the largest component first: squares of extreme components overflow.
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError("a vector is all zeros")
    scaled = matrix / largest
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    units: NDArray[np.float64] = scaled / lengths
    return units


def _pieces(text: str, room: int) -> Iterator[str]:
    """Yield words with the whitespace before them; a longer one in slices, as a code point is at most a token."""
    for match in _SPACED_WORD.finditer(text):
        word = match[0]
        for start in range(0, len(word), room):
            yield word[start : start + room]


_BATCH_CHARS = 100_000  # far below OpenAI's limit of 300,000 tokens, even at two tokens per character


class RemoteModel(NamedTuple):
    """Known properties of a model. dimension: None if unknown."""

    dimension: int | None
    max_input: int


class Dialect(Protocol):
    """Wire format of a family of servers."""

    def path(self, model: str) -> str:
        """Return the path below the server's address."""

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""

    def body(self, model: str, texts: Sequence[str], *, is_query: bool) -> object:
        """Return the request for these texts."""

    def rows(self, answer: object) -> list[object]:
        """Return one list of components per text, in order. Raises ValueError with what is wrong with the answer."""

    def tokens(self, answer: object) -> int:
        """Return the number of tokens that the server reports, or 0."""


class _Lack(NamedTuple):
    """The missing requirement of a server call, and the command that fixes it."""

    reason: str
    hint: str
    code: str = "embedder_unavailable"


class RemoteEmbedder:
    """Vectors from a server. The first request is sent when something is embedded, or now if dimension is None.

    connect: makes the wire.
    tokens_used: tokens reported by the server for this embedder.
    """

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        dialect: Dialect,
        connect: Callable[[], Wire],
        dimension: int | None,
        max_input: int,
        batch_texts: int,
    ) -> None:
        self._model = model
        self._dialect = dialect
        self._connect = connect
        self._wire: Wire | None = None
        self._batch_texts = batch_texts
        self.max_input = max_input
        self.tokens_used = 0
        self._interrupted = Event()
        self.dimension = dimension or self._matrix(["dimension"], is_query=False).shape[1]
        self.identity = f"{identity_prefix(kind, model)}{self.dimension}"

    def connect(self) -> Wire:
        """Return the connection to the server, made on first use. Sends no request."""
        if self._wire is None:
            self._wire = self._connect()
        return self._wire

    def interrupt(self) -> None:
        """End the current call to the server, or else the next one; it raises Interrupted. For other threads."""
        self._interrupted.set()

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return the number of windows of each text; 1 for a text that is not sent."""
        return [max(1, len(cut(text, self.max_input))) for text in texts]

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order: unit length, the mean of its windows; b"" without visible characters.

        Raises EmbedError: see Wire.post; `provider_invalid_response` also for a wrong number or dimension of
        vectors, NaN, infinity or zeros.
        """
        windows = [cut(text, self.max_input) for text in texts]
        flat = [window for of_text in windows for window in of_text]
        if not flat:
            return [b""] * len(texts)
        matrix = self._matrix(flat, is_query=is_query, dimension=self.dimension)
        try:
            return means(matrix, [len(of_text) for of_text in windows])
        except ValueError as error:
            raise self.connect().invalid(str(error)) from error

    def _matrix(self, texts: Sequence[str], *, is_query: bool, dimension: int | None = None) -> NDArray[np.float64]:
        """Return unit vectors of shape (n, dimension)."""
        wire = self.connect()
        batches = list(_batches(texts, self._batch_texts))
        bodies = [self._dialect.body(self._model, batch, is_query=is_query) for batch in batches]
        answers = wire.post(self._dialect.path(self._model), bodies, self._interrupted)
        try:
            rows = [
                row
                for batch, answer in zip(batches, answers, strict=True)
                for row in _check_count(self._dialect.rows(answer), len(batch))
            ]
            matrix = unit(_matrix(rows, dimension))
        except ValueError as error:
            raise wire.invalid(str(error)) from error
        self.tokens_used += sum(map(self._dialect.tokens, answers))
        return matrix


class RemoteKind(NamedTuple):
    """A kind of embedder behind a server.

    url, model: defaults for empty settings.
    models: known models; `other` applies to the rest.
    variables: environment variables for the key; the first one set counts; empty if no key is sent.
    batch_texts: texts per request.
    """

    name: str
    purpose: str
    provider: str
    url: str
    model: str
    models: Mapping[str, RemoteModel]
    other: RemoteModel
    variables: tuple[str, ...]
    batch_texts: int
    dialect: Dialect
    vector_weight: float = 0.5

    def sends_text(self, config: Config) -> bool:
        """Return True if the server is another machine."""
        return not is_loopback(self._url(config))

    def missing(self, config: Config) -> str | None:
        """Return which package, key or permission is missing, or None. Does not contact the server."""
        lack = self._lack(config)
        return lack.reason if lack else None

    def dimension(self, config: Config) -> int | None:
        """Return the dimension of the model's vectors if the model is known."""
        return self._known_model(config).dimension

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if the identity is of this kind and of the model in these settings, at any address."""
        prefix = identity_prefix(self.name, self._model(config))
        return identity.startswith(prefix) and identity[len(prefix) :].isdecimal()

    def new(
        self,
        config: Config,
        *,
        dimension: int | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        pause: Callable[[float], None] | None = None,
    ) -> RemoteEmbedder:
        """Return an embedder for these settings. Ask the server for the dimension if it is unknown.

        A missing package or key and a forbidden address are reported now for a new store, and at first use for an
        existing one. Raises EmbedError `embedder_unavailable`, `network_not_allowed`, and the errors of Wire.

        timeout_seconds, pause: see Wire.
        """
        known = self._known_model(config)
        embedder = RemoteEmbedder(
            self.name,
            self._model(config),
            dialect=self.dialect,
            connect=partial(self._connect, config, timeout_seconds, pause),
            dimension=dimension or known.dimension,
            max_input=known.max_input,
            batch_texts=self.batch_texts,
        )
        if dimension is None:
            embedder.connect()
        return embedder

    def _connect(self, config: Config, timeout_seconds: float, pause: Callable[[float], None] | None) -> Wire:
        lack = self._lack(config)
        if lack:
            raise EmbedError(lack.code, f"{self.name} cannot be used: {lack.reason}.", hint=lack.hint)
        return Wire(
            self.provider,
            self._url(config),
            key=key_of(self.variables),
            headers=self.dialect.headers,
            timeout_seconds=timeout_seconds,
            pause=pause,
        )

    def _lack(self, config: Config) -> _Lack | None:
        sends_text = self.sends_text(config)
        if find_spec("httpx") is None:
            return _Lack("the httpx package is not installed", install_extra("providers"))
        if sends_text and self.variables and key_of(self.variables) is None:
            reason = f"{' or '.join(self.variables)} is not set"
            return _Lack(reason, f"export {self.variables[0]}=…")
        if sends_text and not config.allow_network:
            reason = f"it sends text to {server_of(self._url(config))}, and allow_network is false"
            return _Lack(reason, "allow_network = true in recall.toml", "network_not_allowed")
        return None

    def _url(self, config: Config) -> str:
        return config.embedding_url or self.url

    def _model(self, config: Config) -> str:
        return config.embedding_model or self.model

    def _known_model(self, config: Config) -> RemoteModel:
        return self.models.get(self._model(config), self.other)


def identity_prefix(kind: str, model: str) -> str:
    """Return an identity up to its dimension. It contains no address or key, so changing them re-embeds nothing."""
    return f"{kind}-{model or 'unnamed'}:"


def _batches(texts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    start = chars = 0
    for i, text in enumerate(texts):
        if i > start and (i - start >= most or chars + len(text) > _BATCH_CHARS):
            yield texts[start:i]
            start, chars = i, 0
        chars += len(text)
    yield texts[start:]


def _check_count(rows: list[object], count: int) -> list[object]:
    if len(rows) != count:
        raise ValueError(f"{len(rows)} vectors for {count} texts")
    return rows


def _matrix(rows: Sequence[object], dimension: int | None) -> NDArray[np.float64]:
    """Return the rows as numbers. Raises ValueError if a row is not a list of `dimension` numbers."""
    lists = [row for row in rows if isinstance(row, list)]
    if len(lists) != len(rows):
        raise ValueError("a vector is not a list")
    width = dimension or len(lists[0])
    for row in lists:
        if len(row) != width or width == 0:
            raise ValueError(f"{len(row)} components instead of {width or 'some'}")
        # NumPy would accept null, true and "1" as numbers.
        if not all(type(component) in (float, int) for component in row):
            raise ValueError("a component is not a number")
    try:
        return np.array(lists, dtype=np.float64)
    except OverflowError as error:
        raise ValueError("a component is NaN or infinite") from error
