"""The parts of a command, the parsed request, and the flags that several commands share."""

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
"""Opens the store that --store names."""
Response = TypeVar("Response", bound="AnyResponse")
"""The answer of a command."""
Verb: TypeAlias = "Callable[[Request, Streams, Opener], Response | None]"
"""Runs a command. Returns None if the command wrote its answer itself."""
Printer: TypeAlias = "Callable[[Response], Iterable[str]]"
"""Turns an answer into the pieces of text to write to stdout, in order."""
Drawer: TypeAlias = "Callable[[Response, Console, Any], RenderableType | None]"
"""Draws an answer for a terminal. Returns None to print the plain lines instead."""
Talk: TypeAlias = "Callable[[Response, bool], Iterable[str]]"
"""Yields lines for stderr. The second argument is True with --verbose."""
RowsWriter: TypeAlias = "Callable[[SearchResponse, TextIO], None]"
"""Writes the rows of an answer as paths, JSON lines or CSV."""


class Flag(NamedTuple):
    """One flag.

    metavar: placeholder of the value; a flag without one is a switch.
    least: the value is a whole number, at least this.
    """

    name: str
    doc: str
    metavar: str = ""
    least: int | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    """The flag may be repeated; values are collected in order."""
    is_seconds: bool = False
    """The value is a number of seconds above 0."""
    short: str = ""
    """The short name: a dash and a letter."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the short one first."""
        return (self.short, self.name) if self.short else (self.name,)

    @property
    def key(self) -> str:
        """The attribute name of the parsed value."""
        return self.name.lstrip("-").replace("-", "_")


class Operand(NamedTuple):
    """The positional words of a command: from `least` to `most` (None: any number)."""

    name: str
    doc: str
    least: int = 1
    most: int | None = 1
    choices: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """Allowed values of the first word. The other words are free."""
    offers: tuple[str, ...] = ()
    """Values of other words that completion offers."""


class Request(NamedTuple):
    """One parsed command line. command: None for the top-level help and for --version."""

    command: Command[Any] | None
    words: tuple[str, ...]
    """The operands, in order."""
    flags: Any
    """One attribute per flag, named by its key. Default: None, False or ()."""
    store: str | None
    json: bool
    help: bool = False
    version: bool = False
    agent: str | None = None


class Command(NamedTuple, Generic[Response]):
    """One command of `recall`: arguments, action, output and exit code."""

    name: str
    purpose: str
    run: Verb[Response]
    prints: Printer[Response] | None
    """None if `run` writes the answer itself."""
    operand: Operand | None = None
    flags: tuple[Flag, ...] = ()
    examples: tuple[str, ...] = ()
    note: str = ""
    is_text: bool = False
    """The output is a text. Its lines are never wrapped to the terminal width."""
    prints_all: Printer[Response] | None = None
    """Used instead of `prints` with --all or --long."""
    draws: Drawer[Response] | None = None
    talks: Talk[Response] = lambda response, is_verbose: ()
    exit_code: Callable[[Response, Any], int] = lambda response, flags: 0
    """Returns the exit code for an answer."""
    takes_stdout: Callable[[Any], bool] = lambda flags: False
    """Returns True if stdout is taken by the command's own content. The answer then goes to stderr."""
    in_rows: Callable[[Request], RowsWriter | None] = lambda request: None
    """Returns the row writer that a flag asks for. Raises UsageError `conflicting_flags`."""
    variant: Callable[[Request], Command[Any] | None] = lambda request: None
    """Returns the command to run instead, if the flags ask for another kind of answer."""

    def printer(self, flags: Any) -> Printer[Response] | None:
        """Return the printer to use with these flags."""
        wants_all = getattr(flags, "all", False) or getattr(flags, "long", False)
        return self.prints_all if self.prints_all is not None and wants_all else self.prints


def on_store(call: Callable[[Recall, Request, Streams], Response]) -> Verb[Response]:
    """Return a verb that opens the store and passes it to `call`."""

    def run(request: Request, streams: Streams, opener: Opener) -> Response:
        with opener(request.store) as recall:
            if recall.store.upgrade:
                streams.say(f"note: {recall.store.upgrade}.")
                recall.store.upgrade = ""
            return call(recall, request, streams)

    return run


def in_lines(lines: Printer[Response]) -> Printer[Response]:
    """Return a printer that writes each item on one line. Line breaks inside file names are escaped."""

    def prints(response: Response) -> Iterator[str]:
        return (f"{one_line(line)}\n" for line in lines(response))

    return prints


def exit_by_gate(conditions: Iterable[ConditionView | FixtureConditionView]) -> int:
    """Return 0 if every --gate condition is met, else 7."""
    return 0 if all(condition["holds"] for condition in conditions) else 7


GLOBALS = (
    Flag(
        "--store",
        "database file, or folder with a recall.toml (default: $RECALL_STORE, else the nearest here or above)",
        "PATH",
    ),
    Flag("--agent", "use the memory of this agent of agents.toml instead of a store", "ID"),
    Flag("--json", "print the answer, or the error, as one line of JSON"),
    Flag("--help", "show this help", short="-h"),
)
VERSION = Flag("--version", "show the version")

MODE = Flag("--mode", "permissions of the file, as for chmod (default 600)", "OCTAL")
ALL_WORDS = Flag("--all-words", "search for every word, including stop words and phrases such as 'how do I'")
SET = Flag("--set", "override a ranking or packing setting for this query", "KEY=VALUE", many=True)
RQL = Flag("--rql", "the query: text, @FILE, or - for stdin", "TEXT")
CHECKS = (
    Flag("--exact", "compare every vector instead of using the index"),
    Flag("--snapshot", "exit 4 unless the store has this digest", "DIGEST"),
    Flag("--fresh", "run recall sync first"),
    Flag("--strict-fresh", "exit 3 if a file in the results has changed on disk"),
)
RAW = Flag("--raw", "do not escape control characters on a terminal")
TIMEOUT = Flag("--timeout", "exit 1 if there is no answer after S seconds", "S", is_seconds=True)
RECEIPT = Flag("--receipt", "write a receipt, which recall replay compares with a later answer", "FILE")
EXPLAIN = Flag("--explain", "show how each score adds up")
K = Flag("--k", "number of hits (default 10)", "N", least=0, short="-n")
VERBOSE = Flag("--verbose", "print more detail: every skip, and checks that changed nothing", short="-v")
PASSAGE = (
    Flag("-C", "show N lines of context around each passage", "N", least=0),
    Flag("--brackets", "mark matches with [brackets] instead of bold"),
    Flag("--no-passages", "print one line per hit, without its passage"),
)
QUESTION = (
    Flag("--bm25", "rank by the lexical signal (BM25) only (default: both signals)"),
    Flag("--vector", "rank by the semantic signal (cosine) only"),
    Flag("--filter", "search only chunks that match this filter", "EXPR"),
    Flag("--no-sparse", "turn off sparse-document recall, which gives the last row to a short, similar document"),
    Flag("--all-copies", "show every copy of a text, not only the best"),
    Flag("--min-cosine", "drop hits that have no query word and a cosine below X (default 0: keep all)", "X"),
    ALL_WORDS,
    EXPLAIN,
    SET,
    *CHECKS,
    TIMEOUT,
)
QUIET = Flag("--quiet", "print nothing; exit 0 if -l would list a document, else 7", short="-q")
BY_MEANING = Flag("--by-meaning", "with -l or -q: include documents without a query word")
AS_ROWS = (
    Flag(
        "--paths",
        "print paths of documents with a query word, best first: all, or N with -n (with --vector: of the hits)",
        short="-l",
    ),
    QUIET,
    Flag("--jsonl", "print each hit as a line of JSON, as in `results` of --json"),
    Flag("--csv", "print hits as CSV with a header row"),
)
WORDS = 'words to search for; "a phrase", back* for beginnings, -word to leave out, title:word'


_MOST_RQL = 128 << 10
"""Most bytes read of a query: twice its limit, so that an endless file fails like a long one."""
_WORDS_ONLY = ("--bm25", "--vector", "--filter", "--no-sparse", "--all-copies", "--min-cosine")


def ask_of(flags: Namespace) -> Ask:
    """Return the search options in these flags. A flag that the command lacks has its default.

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
    """Return True for --paths and --quiet."""
    return getattr(flags, "paths", False) or getattr(flags, "quiet", False)


def _settings(flags: Namespace) -> tuple[str, ...]:
    """Return the settings of --set, then the settings that have their own flag."""
    own = {
        "no_sparse": "sparse_recall=false",
        "all_copies": "collapse=false",
        "all_words": "stop_words=none",
        "numbers": "line_numbers=true",
    }
    own_settings = [setting for flag, setting in own.items() if getattr(flags, flag, False)]
    if (least := getattr(flags, "min_cosine", None)) is not None:
        own_settings.append(f"min_cosine={least}")
    return (*(flags.set or ()), *own_settings)


def pack_of(flags: Namespace) -> Pack:
    """Return the packing options in these flags."""
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
    """Check that the request has either words or --rql. With --rql, refuse flags that RQL replaces."""
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
                f"{flag} cannot be used with --rql.",
                hint="write it in the query: USING, FILTER, OPTION",
            )


def given_rql(flag: str | None, words: Sequence[str], prog: str) -> str:
    """Return the query from --rql or from the words. Raises UsageError if both or neither are given."""
    if flag is not None and words:
        raise UsageError("unexpected_argument", "The query is given twice.", hint=f"{prog} --rql @FILE")
    text = " ".join(words) if flag is None else flag
    if flag is None and not words:
        raise UsageError("missing_argument", f"{prog} needs a query.", hint=f"{prog} --rql @FILE")
    return text


def read_rql(given: str, stdin: TextIO) -> str:
    """Return the query text. given: the query, @FILE, or - for stdin."""
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
    """Return True if the answer is printed as JSON."""
    return request.json or getattr(request.flags, "format", None) == "json"


def mode_of(flags: Namespace) -> int | None:
    """Return the value of --mode, or None. Raises UsageError `bad_value`."""
    text: str | None = flags.mode
    if text is None:
        return None
    is_octal = 3 <= len(text) <= 4 and not text.strip("01234567")
    if not is_octal or int(text, 8) > 0o777 or int(text, 8) & PRIVATE != PRIVATE:
        message = f"--mode takes three octal digits that let the owner read and write, not {text!r}."
        raise UsageError("bad_value", message, hint="--mode 640")
    return int(text, 8)


def read_metadata(pairs: Sequence[str]) -> tuple[tuple[str, MetaValue], ...]:
    """Return each `KEY=VALUE` as a key and a value, see `read_value`.

    Raises UsageError `bad_value`, also for a repeated key.
    """
    parsed = tuple(map(_pair, pairs))
    keys = [key for key, _ in parsed]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise UsageError("bad_value", f"--meta {key} is given twice.", hint=f"--meta {key}=VALUE, once")
    return parsed


def read_value(text: str) -> MetaValue:
    """Parse a JSON number, true, false, null or string. Return any other text unchanged.

    Raises ValueError for NaN, Infinity and numbers with more digits than Python reads.
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
        reason = "JSON cannot store this number"
    if reason:
        raise UsageError(
            "bad_value", f"--meta {key}: {reason}.", hint=f"--meta '{key}=\"{text[:40]}\"' keeps it as text"
        )
    return key, value
