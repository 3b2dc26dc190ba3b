"""What a command is made of, the request that it gets, the flags that several commands share, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeAlias, TypeVar

from recall_core import api, ingest
from recall_core.errors import UsageError, why_unread
from recall_core.named import NamedTuple
from recall_core.paths import PRIVATE
from recall_core.shell import AGAIN, Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from contextlib import AbstractContextManager

    from rich.console import Console, RenderableType

    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Ask, Pack, Recall
    from recall_core.contract.judging import ConditionView, FixtureConditionView
    from recall_core.contract.responses import AnyResponse, SearchResponse
    from recall_core.types import MetaValue

LARGEST = 2**31 - 1

Opener: TypeAlias = "Callable[[str | None], AbstractContextManager[Recall]]"
"""How a store is opened, by the value of --store."""
Response = TypeVar("Response", bound="AnyResponse")
"""What a command answers."""
Verb: TypeAlias = "Callable[[Request, Streams, Opener], Response | None]"
"""What a command does; None where it wrote its answer itself."""
Printer: TypeAlias = "Callable[[Response], Iterable[str]]"
"""An answer as it goes to stdout, in pieces that are written one after the other."""
Drawer: TypeAlias = "Callable[[Response, Console, Any], RenderableType | None]"
"""An answer as a terminal shows it, under these flags; None leaves it to the plain lines."""
Talk: TypeAlias = "Callable[[Response, bool], Iterable[str]]"
"""Lines for stderr beside the answer; True asks for each skip of its own, too, and for what changed nothing."""
RowsWriter: TypeAlias = "Callable[[SearchResponse, TextIO], None]"
"""Writes the rows of an answer for other programs."""


class Flag(NamedTuple):
    """One flag. Without a metavar it is a switch; with `least` its value is a whole number from there up."""

    name: str
    doc: str
    metavar: str = ""
    least: int | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    """May be given several times; the values are collected in order."""
    is_seconds: bool = False
    """Its value is a number of seconds above 0."""
    short: str = ""
    """Its other name, a dash and a letter."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the short one first, where there is one."""
        return (self.short, self.name) if self.short else (self.name,)

    @property
    def key(self) -> str:
        """Return the name under which the parsed value is found."""
        return self.name.lstrip("-").replace("-", "_")


class Operand(NamedTuple):
    """What follows a command without a flag: from `least` to `most` words (None: any number)."""

    name: str
    doc: str
    least: int = 1
    most: int | None = 1
    choices: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """What the first word has to be one of; the others are free."""


class Request(NamedTuple):
    """One parsed command line. command: None when only help or the version was asked for."""

    command: Command[Any] | None
    words: tuple[str, ...]
    """The operands, in order."""
    flags: Any
    """One attribute a flag, by its key; a flag that was not given is None, False or ()."""
    store: str | None
    json: bool
    help: bool = False
    version: bool = False


class Command(NamedTuple, Generic[Response]):
    """One command of `recall`, in one place: what it takes, what it does, how its answer is shown, its exit code."""

    name: str
    purpose: str
    run: Verb[Response]
    prints: Printer[Response] | None
    """None where `run` writes the answer itself."""
    operand: Operand | None = None
    flags: tuple[Flag, ...] = ()
    examples: tuple[str, ...] = ()
    note: str = ""
    is_text: bool = False
    """What it prints is a text, whose lines are never broken to fit a terminal."""
    prints_all: Printer[Response] | None = None
    """Used instead of `prints` with --all or --long."""
    draws: Drawer[Response] | None = None
    talks: Talk[Response] = lambda response, is_verbose: ()
    exit_code: Callable[[Response, Any], int] = lambda response, flags: 0
    """Return the exit code of an answer under these flags."""
    takes_stdout: Callable[[Any], bool] = lambda flags: False
    """Return True if the command writes its own content to stdout under these flags, so that the answer may not."""
    in_rows: Callable[[Request], RowsWriter | None] = lambda request: None
    """Return what writes the rows if a flag asks for that. Raises UsageError `conflicting_flags`."""
    variant: Callable[[Request], Command[Any] | None] = lambda request: None
    """Return the row that answers instead of this one, if the request asks for another kind of answer."""

    def printer(self, flags: Any) -> Printer[Response] | None:
        """Return how it prints under these flags."""
        wants_all = getattr(flags, "all", False) or getattr(flags, "long", False)
        return self.prints_all if self.prints_all is not None and wants_all else self.prints


def on_store(call: Callable[[Recall, Request, Streams], Response]) -> Verb[Response]:
    """Return a command that opens the store for the call."""

    def run(request: Request, streams: Streams, opener: Opener) -> Response:
        with opener(request.store) as recall:
            if recall.store.upgrade:
                streams.say(f"note: {recall.store.upgrade}.")
                recall.store.upgrade = ""
            return call(recall, request, streams)

    return run


def in_lines(lines: Printer[Response]) -> Printer[Response]:
    """Return a printer of an answer line by line, whatever names stand in it."""

    def prints(response: Response) -> Iterator[str]:
        return (f"{one_line(line)}\n" for line in lines(response))

    return prints


def exit_by_gate(conditions: Iterable[ConditionView | FixtureConditionView]) -> int:
    """Return 0 if every condition of --gate holds, else 7."""
    return 0 if all(condition["holds"] for condition in conditions) else 7


GLOBALS = (
    Flag(
        "--store",
        "database file, or folder with a recall.toml; else $RECALL_STORE, else the nearest one upward",
        "PATH",
    ),
    Flag("--json", "answer with one line of JSON on stdout, errors too"),
    Flag("--help", "show this help", short="-h"),
)
VERSION = Flag("--version", "show the version")

MODE = Flag("--mode", "who may read and write the file, as chmod takes it (600)", "OCTAL")
ALL_WORDS = Flag("--all-words", "search for every word, also for stop words and phrases such as 'how do I'")
SET = Flag("--set", "override a ranking or packing setting for this question", "KEY=VALUE", many=True)
RQL = Flag("--rql", "the query: text, @FILE, or - for stdin", "TEXT")
CHECKS = (
    Flag("--exact", "scan every vector, whatever the index would skip"),
    Flag("--snapshot", "fail with exit 4 unless the store has this digest", "DIGEST"),
    Flag("--fresh", "sync the store with the disk first"),
    Flag("--strict-fresh", "fail with exit 3 when a returned file has changed"),
)
RAW = Flag("--raw", "on a terminal too, every byte as it is; else control characters are escaped there")
TIMEOUT = Flag("--timeout", "give up with exit 1 when there is no answer after S seconds", "S", is_seconds=True)
RECEIPT = Flag("--receipt", "write what replay needs to tell whether this answer is still the same", "FILE")
EXPLAIN = Flag("--explain", "show how each score adds up")
K = Flag("--k", "how many hits (10)", "N", least=0, short="-n")
VERBOSE = Flag("--verbose", "say more: each skip by itself, and checks that changed nothing", short="-v")
PASSAGE = (
    Flag("-C", "show N lines around each passage, from the text that is stored", "N", least=0),
    Flag("--brackets", "put what matches in [brackets], where bold cannot be seen"),
    Flag("--no-passages", "show each hit on one line, by its chunk, without its passage"),
)
QUESTION = (
    Flag("--bm25", "the lexical signal only (with --vector: both, which is the default)"),
    Flag("--vector", "the semantic signal only"),
    Flag("--filter", "keep only what matches this filter expression", "EXPR"),
    Flag("--no-sparse", "without sparse-document recall, which gives a row to a short, similar document"),
    Flag("--all-copies", "show every copy of a text, not only the first"),
    Flag("--min-cosine", "drop hits without a query word whose cosine is below X (0, which drops none)", "X"),
    ALL_WORDS,
    EXPLAIN,
    SET,
    *CHECKS,
    TIMEOUT,
)
QUIET = Flag("--quiet", "print nothing: exit 0 if -l would list a document, else 7", short="-q")
BY_MEANING = Flag("--by-meaning", "with -l or -q, also documents without a query word")
AS_ROWS = (
    Flag(
        "--paths",
        "the paths of documents with a query word, best first: all, or the first N with -n (--vector: of the hits)",
        short="-l",
    ),
    QUIET,
    Flag("--jsonl", "each hit as a line of JSON, as it stands in `results` of --json"),
    Flag("--csv", "each hit as a row of CSV, below a row of names"),
)
WORDS = 'the question; quote a "phrase" to keep its words together'


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
    """Check that there are words or --rql, and with --rql no flag for what the query itself has to say."""
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
