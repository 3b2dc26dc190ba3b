"""Flags and words of the commands that ask, as a question, its options and its packing; metadata as typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from recall_core import api, ingest
from recall_core.errors import UsageError, why_unread
from recall_core.paths import PRIVATE
from recall_core.shell import AGAIN, Hint

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.flags import Request
    from recall_core.api.recall import Ask, Pack
    from recall_core.types import MetaValue

_MOST_RQL = 128 << 10
"""Bytes read of a query, twice what one may have, so that an endless file is refused like a long one."""
_WORDS_ONLY = ("--bm25", "--vector", "--filter", "--no-sparse", "--all-copies", "--min-cosine")


def ask_of(flags: Namespace) -> Ask:
    """Return the options of a reading command, of which not every one has every flag.

    Raises UsageError `conflicting_flags`.
    """
    bm25, vector = getattr(flags, "bm25", False), getattr(flags, "vector", False)
    lines_around, no_passages = getattr(flags, "C", None) or 0, getattr(flags, "no_passages", False)
    if lines_around and no_passages:
        message = "-C shows lines around passages, and --no-passages shows none."
        raise UsageError("conflicting_flags", message, hint="leave out -C")
    return api.recall.Ask(
        k=getattr(flags, "k", None),
        mode="hybrid" if bm25 == vector else "lexical" if bm25 else "semantic",
        filter=getattr(flags, "filter", None),
        settings=_settings(flags),
        explain=getattr(flags, "explain", False),
        exact=getattr(flags, "exact", False),
        snapshot=getattr(flags, "snapshot", None),
        fresh=getattr(flags, "fresh", False),
        strict_fresh=getattr(flags, "strict_fresh", False),
        receipt=getattr(flags, "receipt", None) is not None,
        passages=not no_passages,
        lines_around=lines_around,
        verbose=getattr(flags, "verbose", False),
        documents_with_words=lists_paths(flags) and not getattr(flags, "by_meaning", False),
    )


def lists_paths(flags: Namespace) -> bool:
    """Return True if the answer is to be a list of documents, or only whether there is one."""
    return getattr(flags, "paths", False) or getattr(flags, "quiet", False)


def _settings(flags: Namespace) -> tuple[str, ...]:
    """Return those of --set, and after them those that have a flag of their own."""
    own = {
        "no_sparse": "sparse_recall=false",
        "all_copies": "collapse=false",
        "all_words": "stop_words=none",
        "numbers": "line_numbers=true",
    }
    chosen = [setting for flag, setting in own.items() if getattr(flags, flag, False)]
    if (least := getattr(flags, "min_cosine", None)) is not None:
        chosen.append(f"min_cosine={least}")
    return (*(flags.set or ()), *chosen)


def pack_of(flags: Namespace) -> Pack:
    """Return the options of a context."""
    written = getattr(flags, "format", None)
    return api.recall.Pack(
        budget_tokens=flags.budget_tokens,
        diversity=getattr(flags, "diversity", None),
        counter=getattr(flags, "counter", None),
        format="plain" if written in (None, "json") else written,
        pins=tuple(getattr(flags, "pin", None) or ()),
        drops=tuple(getattr(flags, "drop", None) or ()),
        pack=getattr(flags, "pack", None),
        lean=getattr(flags, "lean", False),
    )


def check_question(request: Request) -> None:
    """Words or --rql, one of them; with --rql none of the flags that the query itself has to say."""
    command = "" if request.command is None else f"recall {request.command.name}"
    if request.flags.rql is None:
        if not request.words:
            raise UsageError("missing_argument", f"{command} needs WORDS or --rql.", hint=f"{command} WORDS")
        return
    if request.words:
        raise UsageError("unexpected_argument", "Give either WORDS or --rql.", hint=f"{command} --rql @FILE")
    for flag in _WORDS_ONLY:
        if getattr(request.flags, flag[2:].replace("-", "_")):
            raise UsageError(
                "conflicting_flags",
                f"{flag} does not go with --rql.",
                hint="say it in the query: USING, FILTER, OPTION",
            )


def given_rql(flag: str | None, words: Sequence[str], prog: str) -> str:
    """Return the query as it was given, once: by --rql or by words."""
    if flag is not None and words:
        raise UsageError("unexpected_argument", "The query is given twice.", hint=f"{prog} --rql @FILE")
    given = " ".join(words) if flag is None else flag
    if flag is None and not words:
        raise UsageError("missing_argument", f"{prog} needs a query.", hint=f"{prog} --rql @FILE")
    return given


def read_rql(given: str, stdin: TextIO) -> str:
    """Return the query itself, from the command line, a file or stdin."""
    if given == "-":
        return stdin.read(_MOST_RQL).removeprefix("\ufeff")
    if not given.startswith("@"):
        return given
    path = Path(given[1:])
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_RQL)
        return data.decode("utf-8-sig", "strict" if len(data) < _MOST_RQL else "replace")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "rql_unreadable", f"{path} cannot be read: {why_unread(error)}.", hint=Hint(AGAIN, rql="@FILE")
        ) from error


def wants_json(request: Request) -> bool:
    """Return True if the answer is to be one line of JSON."""
    return request.json or getattr(request.flags, "format", None) == "json"


def mode_of(flags: Namespace) -> int | None:
    """Return what --mode says, or None. Raises UsageError `bad_value`."""
    text: str | None = flags.mode
    if text is None:
        return None
    is_octal = 3 <= len(text) <= 4 and not text.strip("01234567")
    if not is_octal or int(text, 8) > 0o777 or int(text, 8) & PRIVATE != PRIVATE:
        message = f"--mode takes three octal digits that let the owner read and write, not {text!r}."
        raise UsageError("bad_value", message, hint="--mode 640")
    return int(text, 8)


def read_metadata(pairs: Sequence[str]) -> tuple[tuple[str, MetaValue], ...]:
    """Return every `KEY=VALUE` as a key and a value; see `read_value`.

    Raises UsageError `bad_value`, also for a key that is given twice.
    """
    found = tuple(map(_pair, pairs))
    keys = [key for key, _ in found]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise UsageError("bad_value", f"--meta {key} is given twice.", hint=f"--meta {key}=VALUE, once")
    return found


def read_value(text: str) -> MetaValue:
    """Return a number, true, false, null or a text in double quotes, spelt as in JSON; any other text is itself.

    Raises ValueError for a number that JSON cannot hold: NaN, Infinity, more digits than Python reads.
    """
    if text != text.strip() or text[:1] in "[{":
        return text
    try:
        value: MetaValue = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:
        return text
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)


def _pair(pair: str) -> tuple[str, MetaValue]:
    key, equals, text = pair.partition("=")
    if not (key and equals):
        raise UsageError("bad_value", f"--meta takes KEY=VALUE, not {pair!r}.", hint="--meta year=2024")
    try:
        value = read_value(text)
        reason = ingest.metadata.why_unfit({key: value})
    except ValueError:
        reason = "no JSON holds this number"
    if reason:
        raise UsageError(
            "bad_value", f"--meta {key}: {reason}.", hint=f"--meta '{key}=\"{text[:40]}\"' keeps it as text"
        )
    return key, value
