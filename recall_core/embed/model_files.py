"""Model files in installed packages or sentence-transformers folders, and their tokenizers."""

from __future__ import annotations

import json
import mmap
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from math import fsum, isfinite, sqrt
from pathlib import Path
from struct import Struct, pack
from typing import Any, Literal, NamedTuple

from recall_core._lazy import hashlib
from recall_core.errors import EmbedError, why_unread
from recall_core.shell import INSTALL, REST, Hint, install_extra
from recall_core.types import Vector


class ModelFile(NamedTuple):
    """A file of a package, with the sha256 of the only accepted bytes."""

    package: str
    path: str
    sha256: str


def folder_of(package: str) -> Path | None:
    """Return the folder of an installed top-level package without importing it; None if it is not installed."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) if folders else None


def missing(*, packages: tuple[str, ...], files: tuple[ModelFile, ...], extra: str) -> str | None:
    """Return why these packages and files cannot be used, with the extra to install; None if all are present."""
    for package in (*packages, *(file.package for file in files)):
        if find_spec(package) is None:
            return f"the package {package} is not installed: {install_extra(extra)}"
    for file in files:
        folder = folder_of(file.package)
        if folder is None or not (folder / file.path).is_file():
            return f"the package {file.package} has no {file.path}: {install_extra(extra)}"
    return None


def unavailable(name: str, reason: str, *, extra: str = "") -> EmbedError:
    """Return the error for an embedder that cannot be used here. Its hint installs what the reason names."""
    hint = Hint("search", REST, mode="lexical")
    if extra and reason.endswith(f": {install_extra(extra)}"):
        hint = install_extra(extra)
        reason = reason.removesuffix(f": {hint}")
    return EmbedError("embedder_unavailable", f"The embedder {name} cannot be used: {reason}.", hint=hint)


def read(file: ModelFile, *, extra: str) -> mmap.mmap:
    """Map the file into memory and check it; takes about 15 ms for 16 MB. extra: the extra that installs it.

    Raises EmbedError `embedder_unavailable` if it is missing, `embedder_damaged` if its bytes differ.
    """
    folder = folder_of(file.package)
    if folder is None:
        raise unavailable(file.package, f"the package {file.package} is not installed")
    return map_checked(folder / file.path, file.sha256, extra=extra)


def map_checked(path: Path, sha256: str, *, extra: str) -> mmap.mmap:
    """Map a file into memory and check its sha256."""
    try:
        mapped = mapped_file(path)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _damage_error(path, why_unread(error) if isinstance(error, OSError) else str(error), extra) from error
    actual = digest(mapped)
    if actual != sha256:
        raise _damage_error(path, f"its sha256 begins with {actual[:12]} instead of {sha256[:12]}", extra)
    return mapped


def mapped_file(path: Path) -> mmap.mmap:
    """Map a file into memory without copying it."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def digest(content: mmap.mmap | bytes) -> str:
    """Return the sha256 in hex."""
    return hashlib.sha256(content).hexdigest()


def _damage_error(path: Path, reason: str, extra: str) -> EmbedError:
    return EmbedError(
        "embedder_damaged",
        f"The model file {path} does not match the tested one: {reason}.",
        hint=install_extra(extra, force_reinstall=True),
    )


MAX_INPUT = 256  # input limit of all-MiniLM-L6-v2; default for a folder that does not declare one
_MODELS = ("model.onnx", "onnx/model.onnx")
_UNBOUNDED = 1_000_000  # tokenizers without a limit declare 1e30
_STEPS = ("Transformer", "Pooling", "Normalize")

Pooling = Literal["mean", "cls"]


class OnnxModel(NamedTuple):
    """An ONNX model with everything that affects its vectors. The prompts precede a query or a document."""

    model: Path
    tokenizer: Path
    pooling: Pooling = "mean"
    max_input: int = MAX_INPUT
    query_prompt: str = ""
    document_prompt: str = ""


def read_folder(folder: Path) -> OnnxModel:
    """Return the model in a folder.

    Requires `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`. Reads the settings for pooling (mean by
    default), length and prompts if present. Raises EmbedError `embedder_unavailable` if a file is missing, or if the
    model needs a step that is not supported.
    """
    reason = lacks(folder)
    if reason is not None:
        raise unavailable(f"onnx:{folder}", reason)
    _check_steps(folder)
    query, document = _prompts(folder)
    return OnnxModel(
        model=next(folder / name for name in _MODELS if (folder / name).is_file()),
        tokenizer=folder / "tokenizer.json",
        pooling=_pooling(folder, is_prompted=bool(query or document)),
        max_input=_max_input(folder),
        query_prompt=query,
        document_prompt=document,
    )


def lacks(folder: Path) -> str | None:
    """Return why the folder lacks a required file; None if it does not."""
    if not folder.is_dir():
        return f"the folder {folder} does not exist"
    if not any((folder / name).is_file() for name in _MODELS):
        return f"{folder} has no model.onnx"
    return None if (folder / "tokenizer.json").is_file() else f"{folder} has no tokenizer.json"


def fingerprint(model: OnnxModel) -> str:
    """Return 16 hex digits of the sha256 over the model's files and all settings that affect its vectors."""
    weights = sorted(model.model.parent.glob(f"{model.model.name}*"))  # large models keep weights in a second file
    parts = [digest(mapped_file(path)) for path in (*weights, model.tokenizer)]
    rest = [model.pooling, model.max_input, model.query_prompt, model.document_prompt]
    return digest(json.dumps([*parts, *rest]).encode())[:16]


def _check_steps(folder: Path) -> None:
    steps = _json(folder / "modules.json", [])
    for step in steps:
        kind = str(step.get("type", "")).rpartition(".")[2]
        if kind not in _STEPS:
            raise unavailable(f"onnx:{folder}", f"its modules.json needs the step {kind}, which is not supported")


def _pooling(folder: Path, *, is_prompted: bool) -> Pooling:
    table = _json(folder / "1_Pooling" / "config.json", {})
    modes = [key.removeprefix("pooling_mode_") for key, on in table.items() if key.startswith("pooling_mode_") and on]
    modes = modes or [str(table.get("pooling_mode", "mean"))]
    found = {"mean_tokens": "mean", "cls_token": "cls"}.get(modes[0], modes[0])
    if len(modes) > 1 or found not in ("mean", "cls"):
        raise unavailable(f"onnx:{folder}", f"its pooling {' + '.join(modes)} is not supported, only mean and cls")
    if is_prompted and table.get("include_prompt") is False:
        raise unavailable(f"onnx:{folder}", "its pooling excludes the prompt, which is not supported")
    return "cls" if found == "cls" else "mean"


def _max_input(folder: Path) -> int:
    candidates = (
        _json(folder / "sentence_bert_config.json", {}).get("max_seq_length"),
        _json(folder / "tokenizer_config.json", {}).get("model_max_length"),
        _json(folder / "config.json", {}).get("max_position_embeddings"),
    )
    return next((int(found) for found in candidates if found and 0 < found < _UNBOUNDED), MAX_INPUT)


def _prompts(folder: Path) -> tuple[str, str]:
    """Return the prompts for a query and for a document."""
    table = _json(folder / "config_sentence_transformers.json", {})
    prompts: dict[str, str] = table.get("prompts") or {}
    default = prompts.get(table.get("default_prompt_name") or "", "")
    names = [name for name in ("document", "passage", "corpus") if name in prompts]
    return prompts.get("query", default), prompts[names[0]] if names else default


def _json(path: Path, default: Any) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except (OSError, UnicodeDecodeError) as error:
        raise unavailable(f"onnx:{path.parent}", f"{path.name} cannot be read: {why_unread(error)}") from error
    except ValueError as error:
        raise unavailable(f"onnx:{path.parent}", f"{path.name} cannot be read: {error}") from error


class Tokens:
    """A `tokenizer.json`, with its own truncation and padding disabled.

    content: bytes of the file. Raises EmbedError `embedder_unavailable` if they do not describe a tokenizer.
    """

    def __init__(self, content: bytes | mmap.mmap) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - takes 20 ms, needed only to embed

        try:
            self._tokenizer: Any = Tokenizer.from_buffer(bytes(content))
        except Exception as error:  # tokenizers raises bare Exception for every kind of failure
            raise EmbedError(
                "embedder_unavailable",
                f"The embedder's tokenizer.json cannot be used: {error}.",
                hint=Hint(INSTALL, "tokenizers", upgrade=True),
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without special tokens."""
        readable = [_readable(text) for text in texts]
        if len(readable) == 1:  # a batch starts threads
            return [self._tokenizer.encode(readable[0], add_special_tokens=False).ids]
        return [found.ids for found in self._tokenizer.encode_batch_fast(readable, add_special_tokens=False)]

    def tokens_with_starts(self, text: str) -> list[tuple[int, int]]:
        """Return the tokens of a text as `ids` does, each with its start in code points."""
        found = self._tokenizer.encode(_readable(text), add_special_tokens=False)
        return [(each, start) for each, (start, _) in zip(found.ids, found.offsets, strict=True)]

    def names(self, ids: Sequence[int]) -> list[str]:
        """Return the vocabulary's spelling of these tokens."""
        return [self._tokenizer.id_to_token(each) or "" for each in ids]

    def frame(self) -> tuple[list[int], list[int]]:
        """Return the special tokens that the model expects before and after a text."""
        framed = self._tokenizer.encode("a")
        marks = framed.special_tokens_mask
        start = marks.index(0)
        end = len(marks) - marks[::-1].index(0)
        return framed.ids[:start], framed.ids[end:]


def _readable(text: str) -> str:
    """Return the text with lone surrogates, which no tokenizer accepts, replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def unit(components: Sequence[float]) -> Vector:
    """Return the components as little-endian float32 of length 1; b"" if all are 0, which has no direction.

    The length is a correctly rounded sum, so the order of addition does not matter. Non-finite components are
    returned unchanged; the check before every write rejects them.
    """
    norm = sqrt(fsum([x * x for x in components])) if all(map(isfinite, components)) else 1.0
    if norm == 0:
        return b""
    return pack(f"<{len(components)}f", *[x / norm for x in components])


def components(vector: Vector) -> tuple[float, ...]:
    """Return the components of a stored vector."""
    return Struct(f"<{len(vector) // 4}f").unpack(vector)


def windows(tokens: int, width: int) -> int:
    """Return the number of windows of at most `width` tokens for a text of this many tokens; at least 1.

    >>> windows(254, 254), windows(255, 254)
    (1, 2)
    """
    return max(1, -(-tokens // width))


def cut(ids: Sequence[int], width: int) -> list[Sequence[int]]:
    """Split the ids into as few windows of at most `width` as possible, in order, without overlap.

    Sizes differ by one at most, longer windows first, so that no short remainder counts as much as a full window.

    >>> cut([1, 2, 3, 4, 5], 4)
    [[1, 2, 3], [4, 5]]
    """
    count = windows(len(ids), width)
    size, longer = divmod(len(ids), count)
    starts = [i * size + min(i, longer) for i in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(starts)]


def mean(vectors: Sequence[Vector]) -> Vector:
    """Return the mean of unit vectors, scaled to length 1. All count the same, because windows have equal size.

    A single vector is returned unchanged. Returns b"" if the vectors cancel out.
    """
    if len(vectors) == 1:
        return vectors[0]
    return unit([fsum(column) for column in zip(*map(components, vectors), strict=True)])
