"""Texts of this machine, by class, for fitting the estimate. None of them is in the golden.

They are documentation, sources, tables, JSON and translated messages of Debian, Python and Node, and random numbers
in
columns, base64 and hexadecimal digits. Another machine has other texts, and gives slightly different weights.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import re
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import NamedTuple

_LIBRARY = sysconfig.get_path("stdlib")
_PACKAGES = f"{_LIBRARY}/site-packages"
_SIZES = (1_800, 3_000, 5_000)
_SHORTER = (700, 1_200, 2_500)  # characters of scripts that cost several tokens each
_LEAST_BYTES, _MOST_BYTES = 1_500, 3_000_000

_FILES: tuple[tuple[str, str, int], ...] = (
    ("prose", "/usr/share/doc/**/*README*", 70),
    ("prose", "/usr/share/doc/**/*NEWS*", 40),
    ("prose", "/usr/share/doc/**/copyright", 20),
    ("prose", "/usr/share/doc/git/RelNotes/*.txt*", 20),
    ("prose", "/usr/share/cmake*/Help/**/*.rst", 30),
    ("prose", "/usr/lib/node_modules/**/*.md", 50),
    ("prose", "/usr/share/perl/**/*.pod", 20),
    ("code", f"{_PACKAGES}/*/*.py", 70),
    ("code", f"{_PACKAGES}/**/*.pyi", 20),
    ("code", f"{_PACKAGES}/**/*.c", 20),
    ("code", "/usr/lib/node_modules/**/*.js", 40),
    ("code", "/usr/include/**/*.h", 40),
    ("code", "/usr/share/perl/**/*.pm", 20),
    ("code", "/usr/share/vim/vim*/**/*.vim", 20),
    ("code", "/usr/share/cmake*/Modules/**/*.cmake", 20),
    ("code", "/usr/share/bash-completion/completions/*", 20),
    ("table", f"{_PACKAGES}/**/*.csv", 40),
    ("table", "/usr/share/zoneinfo/*.tab", 4),
    ("table", "/usr/share/zoneinfo/tzdata.zi", 1),
    ("table", "/usr/share/distro-info/*.csv", 3),
    ("table", "/usr/share/i18n/charmaps/*ISO*.gz", 6),
    ("table", "/etc/services", 1),
    ("table", "/etc/mime.types", 1),
    ("json", "/usr/lib/node_modules/**/*.json", 40),
    ("json", "/usr/share/**/*.json", 40),
    ("json", f"{_PACKAGES}/**/*.json", 60),
    ("base64", "/etc/ssl/certs/*.pem", 15),
)
_LISTS = ("ls -l /usr/lib", "ls -la --full-time /etc", "dpkg -l", "cat /proc/meminfo /proc/cpuinfo", "df", "mount")
_LATIN = ("de", "fr", "es", "pl", "cs", "hu", "fi", "tr", "vi")
_OTHERS = ("ru", "uk", "el", "ar", "fa", "he", "hi", "bn", "ta", "th", "ka", "my", "km")
_EASTERN = {"zh_CN": "Chinese", "zh_TW": "Chinese", "ja": "Japanese", "ko": "Korean"}
_MESSAGES = {**dict.fromkeys(_LATIN, "Latin"), **dict.fromkeys(_OTHERS, "other"), **_EASTERN}


class Sample(NamedTuple):
    """A part of a file, or random text."""

    kind: str
    text: str


def samples() -> list[Sample]:
    """Return the texts, in the same order on the same machine."""
    chance = random.Random(7)
    found = [*_of_files(chance), *_lists(chance), *_messages(chance), *_columns(), *_encoded()]
    return list(dict.fromkeys(found))


def _of_files(chance: random.Random) -> Iterator[Sample]:
    for kind, pattern, number in _FILES:
        paths = [path for path in sorted(glob(pattern, recursive=True)) if _is_usable(path)]  # noqa: PTH207 - from the root
        for path in chance.sample(paths, min(number, len(paths))):
            text = _read(path)
            yield from _stretches(chance, kind, text)
            if kind == "json" and text:
                yield from _stretches(chance, kind, _compact(text))


def _is_usable(path: str) -> bool:
    return Path(path).is_file() and _LEAST_BYTES < Path(path).stat().st_size < _MOST_BYTES


def _read(path: str) -> str:
    raw = Path(path).read_bytes()
    raw = gzip.decompress(raw) if path.endswith(".gz") else raw
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return ""


def _stretches(
    chance: random.Random, kind: str, text: str, *, number: int = 1, sizes: tuple[int, ...] = _SIZES
) -> Iterator[Sample]:
    for _ in range(number):
        size = chance.choice(sizes)
        start = chance.randrange(max(1, len(text) - size))
        if text:
            yield Sample(kind, text[start : start + size])


def _lists(chance: random.Random) -> Iterator[Sample]:
    for command in _LISTS:
        ran = subprocess.run(command.split(), capture_output=True, stdin=subprocess.DEVNULL, check=False)
        yield from _stretches(chance, "table", ran.stdout.decode(errors="replace"), number=2)


def _largest_first(path: str) -> tuple[int, str]:
    return -_size(path), path


def _messages(chance: random.Random) -> Iterator[Sample]:
    for language, kind in _MESSAGES.items():
        paths = sorted(glob(f"/usr/share/locale/{language}/LC_MESSAGES/*.mo"), key=_largest_first)  # noqa: PTH207 - as above
        for path in paths[:14]:
            number = 5 if language in _EASTERN else 1
            yield from _stretches(chance, kind, _translated(path), number=number, sizes=_SHORTER)


def _size(path: str) -> int:
    return Path(path).stat().st_size


def _translated(path: str) -> str:
    """Return the longer messages of a catalog."""
    raw = Path(path).read_bytes()
    number, _, table = struct.unpack("<III", raw[8:20])
    found = []
    for place in range(1, number):
        length, start = struct.unpack_from("<II", raw, table + 8 * place)
        found.append(raw[start : start + length].decode(errors="ignore").replace("\0", "\n"))
    return "\n\n".join(each for each in found if len(each) > 60)


def _columns() -> Iterator[Sample]:
    words = re.findall("[a-z]{3,}", str(sys.modules["re"].__doc__))
    for seed in range(40):
        chance = random.Random(seed)
        kinds = [chance.choice("iwfdn") for _ in range(chance.randint(3, 9))]
        rows = [[_cell(chance, kind, words) for kind in kinds] for _ in range(chance.randint(60, 200))]
        separator = (",", "\t", " | ", ";", "")[seed % 5]
        lines = [separator.join(row) if separator else "  ".join(f"{cell:14}" for cell in row) for row in rows]
        yield Sample("table", "\n".join(lines)[: chance.choice(_SIZES)])


def _cell(chance: random.Random, kind: str, words: list[str]) -> str:
    if kind == "i":
        return str(chance.randint(1, 10 ** chance.randint(1, 7)))
    if kind == "f":
        return f"{chance.random() * 10 ** chance.randint(0, 4):.{chance.randint(1, 6)}f}"
    if kind == "d":
        return f"20{chance.randint(10, 29)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    return chance.choice(words) if kind == "w" else f"{chance.choice(words)} {chance.choice(words)}".title()


def _encoded() -> Iterator[Sample]:
    program = Path(sys.executable).resolve().read_bytes()
    for seed in range(24):
        chance = random.Random(seed)
        raw = chance.randbytes(2_000) if seed % 4 else program[seed * 9_000 :][:2_000]
        in_base64, in_hex = base64.b64encode(raw).decode(), raw.hex()
        yield from (Sample("base64", _wrapped(in_base64, 76)), Sample("base64", in_base64[:1_500]))
        yield Sample("base64", base64.urlsafe_b64encode(raw).decode()[:1_500])
        yield from (Sample("hex", _wrapped(in_hex, 64)), Sample("hex", in_hex[:1_500].upper()))
        yield from (Sample("hex", raw[:500].hex(" ")), Sample("hex", raw[:700].hex(" ", 2)))
        yield Sample("hex", ", ".join(f"0x{each:02x}" for each in raw[:400]))
        sums = (hashlib.sha256(bytes((seed, n))).hexdigest() for n in range(20))
        yield Sample("hex", "\n".join(f"{each}  part-{n}.py" for n, each in enumerate(sums)))


def _wrapped(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))
