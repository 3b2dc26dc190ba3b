"""Stop words, escaping, ids, citations, times and token counters."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import recall_core
from recall_core.deadline import check
from recall_core.errors import UsageError
from recall_core.named import NamedTuple
from recall_core.shell import AGAIN, Hint, install_extra

if TYPE_CHECKING:
    import hashlib

STOP_WORDS_NAME = "english-127"
STOP_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below between
    both but by can did do does doing don down during each few for from further had has have having he her here
    hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of
    off on once only or other our ours ourselves out over own s same she should so some such t than that the
    their theirs them themselves then there these they this those through to too under until up very was we were
    what when where which while who whom why will with you your yours yourself yourselves""".split()
)
"""English function words. The list is fixed, because it affects ranking. Single letters come from it's and don't."""

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts without blanks between words: kana, bopomofo, Han with its extensions, and Thai, Lao, Khmer, Burmese."""


def is_storable(text: str) -> bool:
    """Return False for a text with a lone surrogate, which UTF-8 and stores cannot represent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def one_line(name: str) -> str:
    """Return the name with line breaks, control characters and direction marks escaped."""
    return name if name.isprintable() else _controls("").sub(_escape, name)


def harmless(text: str) -> str:
    """Escape control characters and direction marks for a terminal, except line breaks and tabs."""
    return text if text.isprintable() else _controls("\t\n").sub(_escape, text.replace("\r\n", "\n"))


def harmless_json(text: str) -> str:
    """Return equivalent JSON for a terminal, with control characters escaped as in JSON."""
    return _controls("\t\n").sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)


@cache
def _controls(kept: str) -> re.Pattern[str]:
    """Return a pattern of control characters, direction marks and lone surrogates, without those in `kept`."""
    marks = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    return re.compile(f"(?![{kept}])[{marks}]" if kept else f"[{marks}]")


def _escape(mark: re.Match[str]) -> str:
    return mark[0].encode("unicode_escape").decode()


def nfc(path: str) -> str:
    """Normalize a path to NFC, the form used for lookup and ids."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def sha256(data: bytes) -> hashlib._Hash:
    """Return a sha256 object from hashlib if it is loaded, else from the interpreter. The latter is slower, but
    loading OpenSSL takes longer than the few hashes of a query."""
    return (sys.modules.get("hashlib") or _lightest()).sha256(data)  # type: ignore[no-any-return]


@cache
def _lightest() -> Any:
    for name in ("_sha256", "_sha2"):  # Python 3.11, later versions
        with suppress(ImportError):
            return import_module(name)
    return import_module("hashlib")


def document_id(path: str, content_hash: str, read_by: str = "") -> str:
    """Return sha256 of path NUL hash. It identifies one version of a document.

    read_by: appended after another NUL, if not empty: `parser@version;encoding` of a text that is not the plain UTF-8
    decoding, or `given_by`.
    """
    read = f"\0{read_by}" if read_by else ""
    return sha256(f"{path}\0{content_hash}{read}".encode()).hexdigest()


def chunk_id(doc_id: str, offset: int) -> str:
    """Return sha256 of the document id, a colon and the chunk's offset."""
    return sha256(f"{doc_id}:{offset}".encode()).hexdigest()


def behind(path: str, first: int, last: int | None = None, place: str | None = None) -> str:
    """Return the part of a citation after the path: `:120-131`, or `#page=12` if the place is not a line.

    place: of a chunk or passage. `id NAME` and `heading NAME` become `#NAME`. Records are cited by lines, because
    all of their text has the same place.
    """
    kind, _, value = (place or "").partition(" ")
    if not value or (kind == "line" and "#" in path):
        return f":{first}" if last is None else f":{first}-{last}"
    if kind in ("id", "heading"):
        return f"#{value}"
    return f":{value}" if kind == "line" else f"#{kind}={value}"


def cite(path: str, first: int, last: int | None = None, place: str | None = None) -> str:
    """Return a citation that `recall get` accepts: the path and `behind`."""
    return path + behind(path, first, last, place)


def behind_unit(path: str, unit: Mapping[str, Any]) -> str:
    """Return `behind` for the view of a chunk or a passage. A single line appears once."""
    first, last = unit["line_start"], unit["line_end"]
    return behind(path, first, last if last > first else None, unit.get("place"))


def utc(mtime_ns: int) -> str:
    """Format a file time as fixed-width UTC with microseconds, so that text order is time order."""
    from datetime import UTC, datetime  # noqa: PLC0415 - not needed by a search

    seconds, rest = divmod(mtime_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}Z"


def embedded_text(path: str, title: str, text: str) -> str:
    """Return the input of an embedder for a chunk: the document's title above the chunk's text.

    The title is left out if it is empty or the file's name, or if the text begins with it.
    """
    if not title or title == path.rpartition("/")[2] or text.lstrip("#= \n").startswith(title):
        return text
    return f"{title}\n\n{text}"


def embedded_hash(path: str, title: str, text: str, read_by: str = "") -> bytes:
    """Return sha256 of the embedded text. Equal hashes have equal vectors.

    A vector that was `given_by` a program has a key of its own, so that not even an equal text shares it.
    """
    own = sha256(embedded_text(path, title, text).encode()).digest()
    return GIVEN_KEY + sha256(read_by.encode() + own).digest() if read_by.startswith(GIVEN) else own


GIVEN = "given:"
GIVEN_KEY = b"given vector:"
"""Prefix of the keys of given vectors. Other keys are plain hashes."""


def given_by(vector: bytes) -> str:
    """Return the `read_by` of a document whose vector a program gave. Its id and the store's digest depend on it."""
    return GIVEN + sha256(vector).hexdigest()


MODEL_COUNTER = "approx-2"
"""Default counter of budgets. It estimates the largest count among the vocabularies of models."""

MODERN_COUNTER = "approx:modern"
"""Like approx-2, for vocabularies of 100,000 entries and more."""

ESTIMATES = ("whitespace", "approx", MODEL_COUNTER, MODERN_COUNTER)
"""Counters without a vocabulary file."""

COUNTER_GROUP = "recall.counter"
"""The entry points of plug-ins, each a `recall_core.ports.CountTokens`, for names that are not built in."""


class Counter(NamedTuple):
    """A token counter. Chunks use one, whose name is stored in the database. Budgets use another."""

    name: str
    count: Callable[[str], int]


@cache
def counter(name: str) -> Counter:
    """Return a token counter by name: `whitespace`, `approx`, `approx-2`, `approx:modern`, `hf:PATH` or a plug-in.

    Raises UsageError `unknown_counter`, or `counter_unavailable` if hf: or a plug-in cannot be loaded.
    """
    if name == "whitespace":
        return Counter(name, _count_whitespace)
    if name == "approx":
        return Counter(name, _count_approx)
    if name in (MODEL_COUNTER, MODERN_COUNTER):
        counters = recall_core.model_tokens
        return Counter(name, counters.model_tokens if name == MODEL_COUNTER else counters.modern_tokens)
    if name.startswith("hf:"):
        return Counter(name, _hugging_face(name[3:]))
    points = recall_core.plug_ins.find(COUNTER_GROUP)
    if name in points:
        hint = Hint(AGAIN, counter=MODEL_COUNTER)
        with recall_core.plug_ins.loading("counter", points[name], UsageError, "counter_unavailable", hint=hint):
            return Counter(name, cast(Callable[[str], int], points[name].load()))
    known = ", ".join((*ESTIMATES, *points))
    message = f"There is no token counter named {name!r}."
    raise UsageError("unknown_counter", message, hint=f"use {known} or hf:path/to/tokenizer.json")


_AT_ONCE = 1 << 16  # characters between two checks of the deadline


def _parts(text: str, apart: str) -> Iterator[str]:
    """Split a long text before matches of the pattern. Check the deadline before each part."""
    pattern, start = re.compile(apart), 0
    while start < len(text):
        check()
        cut = pattern.search(text, start + _AT_ONCE)
        end = cut.start() if cut else len(text)
        yield text[start:end]
        start = end


def _count_whitespace(text: str) -> int:
    if len(text) > _AT_ONCE:
        return sum(len(part.split()) for part in _parts(text, r"\s"))
    return len(text.split())


class _Runs(NamedTuple):
    """The patterns that split a text. others: characters beyond ASCII. whole: those that are single tokens."""

    letters: re.Pattern[str]
    digits: re.Pattern[str]
    others: re.Pattern[str]
    whole: re.Pattern[str]


@cache
def _runs() -> _Runs:
    patterns = ("[A-Za-z]+", "[0-9]+", r"[^\x00-\x7f]+", rf"[{SPACELESS}]|[^\w\s]")
    return _Runs(*map(re.compile, patterns))


def _count_approx(text: str) -> int:
    """Estimate the tokens of a byte-pair vocabulary, within about 10 % for prose and 20 % for code.

    A run of letters costs one token up to six letters and one more for every five beyond, three digits cost one,
    a CJK character or punctuation mark costs one, a letter of another script costs half.
    """
    pieces = sum(map(_pieces, _parts(text, "[^A-Za-z0-9]"))) if len(text) > _AT_ONCE else _pieces(text)
    return int(pieces + 0.5) if pieces >= 1 else int(bool(pieces))


def _pieces(text: str) -> float:
    """Return the tokens of `_count_approx` in multiples of 0.5, whose sums are exact."""
    runs = _runs()
    letters = list(map(len, runs.letters.findall(text)))
    digits = list(map(len, runs.digits.findall(text)))
    solid = "".join(text.split())
    others = "" if solid.isascii() else "".join(runs.others.findall(solid))
    single_tokens = len(runs.whole.findall(others))
    low = text.count("_")
    halves = text.count("\n") + low + len(others) - single_tokens
    marks = len(solid) - sum(letters) - sum(digits) - low - len(others) + single_tokens
    pieces: float = sum([1 + max(0, size - 2) // 5 for size in letters]) + sum([-(-size // 3) for size in digits])
    return pieces + marks + halves / 2


def _hugging_face(path: str) -> Callable[[str], int]:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an optional package

        tokenizer = Tokenizer.from_file(path)
    except ImportError as error:
        raise UsageError(
            "counter_unavailable",
            "The counter hf: needs the tokenizers package.",
            hint=install_extra("hf"),
        ) from error
    except Exception as error:  # tokenizers raises plain Exception for every error
        message = f"{path} is not a tokenizer.json: {error}"
        raise UsageError("counter_unavailable", message, hint=Hint(AGAIN, counter="approx-2")) from error
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
