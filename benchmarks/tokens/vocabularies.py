"""The tokenizers of five language models, read from installed packages without importing them. Nothing is downloaded.

`pip install --no-deps wordllama litellm mistral-common` and `pip install tokenizers tiktoken` install all of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

Count = Callable[[str], int]

LARGEST = "Llama-2"
"""The vocabulary with the fewest entries (32,000, and bytes for all else), which usually counts the most tokens."""

_LITELLM = "litellm/litellm_core_utils/tokenizers"
_CL100K_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # tiktoken's cache names a file by the sha1 of its URL
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def vocabularies() -> dict[str, Count]:
    """Return the counters of the five vocabularies by name. They do not count the tokens that begin and end a text.

    Raises FileNotFoundError for a package that is not installed.
    """
    return {
        LARGEST: tokenizer(llama_file()),
        "Claude-2": tokenizer(_file("litellm", _LITELLM, "anthropic_tokenizer.json")),
        "cl100k": encoding("cl100k", CL100K_PATTERN, ranks(_file("litellm", _LITELLM, _CL100K_FILE))),
        "DeepSeek": tokenizer(_file("litellm", _LITELLM, "deepseek_tokenizer.json")),
        "Tekken": tekken(_file("mistral_common", "mistral_common/data", "tekken_240911.json")),
    }


def llama_file() -> Path:
    """Return the path of Llama-2's tokenizer."""
    return _file("wordllama", "wordllama/tokenizers", "l2_supercat_tokenizer_config.json")


def _file(package: str, folder: str, name: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{package} is not installed")
    return Path(found.origin).parent.parent / folder / name


def tokenizer(path: Path) -> Count:
    from tokenizers import Tokenizer  # noqa: PLC0415 - optional

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def ranks(path: Path) -> dict[bytes, int]:
    """Return the entries of a tiktoken file with their ranks, the most common first."""
    lines = (line.split() for line in path.read_text().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def tekken(path: Path) -> Count:
    data = json.loads(path.read_text(encoding="utf-8"))
    config = data["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    entries = {base64.b64decode(each["token_bytes"]): each["rank"] for each in data["vocab"][:size]}
    return encoding("tekken", config["pattern"], entries)


def encoding(name: str, pattern: str, entries: Mapping[bytes, int]) -> Count:
    import tiktoken  # noqa: PLC0415 - as above

    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=dict(entries), special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))
