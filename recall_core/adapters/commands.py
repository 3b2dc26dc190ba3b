"""Find a command by name, parse plain command lines without argparse, and run a request.

A line is plain if the command comes first, each flag is spelled in full and given once, and the line has no error.
All other lines go to `parser.parse`. Importing argparse takes much longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from recall_core import adapters, api, caller, personal
from recall_core.adapters.flags import GLOBALS, LARGEST, Request, wants_json
from recall_core.adapters.render import CAUTION, json_line
from recall_core.adapters.streams import Streams, encode_for, for_data
from recall_core.deadline import within
from recall_core.errors import RecallError, UsageError
from recall_core.shell import Hint, in_store

if TYPE_CHECKING:
    from recall_core.adapters.flags import Command, Flag, Opener
    from recall_core.api.recall import Recall

FAMILIES = {
    "init": "filling",
    "add": "filling",
    "rm": "filling",
    "roots": "filling",
    "sync": "filling",
    "search": "searching",
    "query": "searching",
    "rql": "reading",
    "context": "searching",
    "replay": "reading",
    "get": "reading",
    "ls": "reading",
    "explain": "ledger",
    "whynot": "whynot",
    "trace": "whynot",
    "diff": "comparing",
    "report": "report",
    "eval": "judging",
    "judge": "judging",
    "tune": "tuning",
    "mcp": "care",
    "serve": "serve",
    "agents": "agents",
    "route": "agents",
    "status": "agents",
    "daemon": "daemon",
    "trust": "filling",
    "embedders": "embedding",
    "reembed": "embedding",
    "rechunk": "embedding",
    "reindex": "embedding",
    "warm": "embedding",
    "stats": "care",
    "doctor": "care",
    "compact": "care",
    "backup": "care",
    "verify": "care",
    "recover": "care",
    "export": "filling",
    "import": "filling",
    "copy": "filling",
    "config": "settings",
    "schema": "care",
    "completion": "care",
}
"""The module of each command, in help order. A command imports only its own module."""


class _Commands(Mapping[str, "Command[Any]"]):
    """Commands by name, imported on first use."""

    def __getitem__(self, name: str) -> Command[Any]:
        commands: tuple[Command[Any], ...] = getattr(adapters, FAMILIES[name]).COMMANDS
        return next(command for command in commands if command.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(FAMILIES)

    def __len__(self) -> int:
        return len(FAMILIES)


BY_NAME = _Commands()


class _NotPlainError(Exception):
    """Raised if the line needs argparse."""


def asks_for_json(argv: Sequence[str]) -> bool:
    """Return True if argv contains the flag --json. Used to report a bad command line in JSON."""
    flags = argv[: list(argv).index("--")] if "--" in argv else argv
    return "--json" in flags


def parse_plain(argv: Sequence[str]) -> Request | None:
    """Return the request in argv (without the program's name), or None if the line needs `parser.parse`."""
    command = BY_NAME.get(argv[0]) if argv else None
    if command is None:
        return None
    try:
        words, given = _read(command, argv[1:])
    except _NotPlainError:
        return None
    if not _fits(command, words) or given["help"]:
        return None
    return Request(command, words, SimpleNamespace(**given), given["store"], given["json"], agent=given["agent"])


def _read(command: Command[Any], argv: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the words and the flag values by key."""
    flags = {name: flag for flag in (*command.flags, *GLOBALS) for name in flag.names}
    given: dict[str, Any] = {flag.key: None if flag.metavar else False for flag in flags.values()}
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise _NotPlainError
        if not word.startswith("-"):
            words.append(word)
            continue
        name, equals, text = word.partition("=")
        if name not in flags or (equals and not (flags[name].metavar and name.startswith("--"))):
            raise _NotPlainError
        _take(flags[name], given, text if equals else None, rest)
    return tuple(words), given


def _take(flag: Flag, given: dict[str, Any], text: str | None, rest: Iterator[str]) -> None:
    """Store a flag's value in `given`: the text after `=`, else the next word."""
    if not flag.metavar:
        given[flag.key] = True
        return
    text = next(rest, "") if text is None else text
    if not text or text.startswith("-") or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _NotPlainError
    value = _read_value(flag, text)
    if flag.many:
        given[flag.key] = [*(given[flag.key] or ()), value]
    elif given[flag.key] is None:
        given[flag.key] = value
    else:
        raise _NotPlainError


def _read_value(flag: Flag, text: str) -> object:
    if flag.is_seconds or (flag.choices and text not in flag.choices):
        raise _NotPlainError
    if flag.least is None:
        return text
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    if not is_number or not flag.least <= int(text) <= LARGEST:
        raise _NotPlainError
    return int(text)


def _fits(command: Command[Any], words: Sequence[str]) -> bool:
    """Return True if the command accepts these words."""
    operand = command.operand
    if operand is None:
        return not words
    if len(words) < operand.least or (operand.most is not None and len(words) > operand.most):
        return False
    if operand.actions and words and words[0] not in operand.actions:
        return False
    return not operand.choices or all(word in operand.choices for word in words)


def run(request: Request, *, streams: Streams, opener: Opener | None = None) -> int:
    """Run the request and return its exit code. opener: see cli.main."""
    command = _command(request)
    command.in_rows(request)  # report conflicting flags before the search starts
    if command.draws is not None and streams.color is None:
        streams = streams._replace(color=personal.load(caller.environ()).color)
    with ExitStack() as left_open:
        opened = opener or open_store
        if request.agent is not None:
            opened = _opener_of_agent(request, streams)
        if hasattr(request.flags, "timeout"):  # a query may leave vectors to save after its answer is printed
            opened = _closing_late(opened, left_open)
        with within(getattr(request.flags, "timeout", None)):
            response = command.run(request, streams, opened)
        if response is None:
            return 0
        if command.takes_stdout(request.flags):
            streams = streams._replace(stdout=streams.stderr)
        emit(response, request, streams)
        streams.stdout.flush()
    return command.exit_code(response, request.flags)


def _closing_late(opener: Opener, left_open: ExitStack) -> Opener:
    """Wrap the opener: a store with vectors to save is closed by `left_open`, not at the end of the query."""

    @contextmanager
    def until_closed(recall: Recall, own: ExitStack) -> Iterator[Recall]:
        with own:
            yield recall
            if recall.engine.has_vectors_to_keep:
                left_open.enter_context(own.pop_all())

    def open_late(store: str | None) -> AbstractContextManager[Recall]:
        own = ExitStack()
        return until_closed(own.enter_context(opener(store)), own)

    return open_late


def open_store(store: str | None) -> Recall:
    """Open the store of --store or $RECALL_STORE, else the nearest recall.toml in this or a parent folder."""
    return api.recall.Recall.open(store or caller.environ().get("RECALL_STORE") or None)


_WITHOUT_AGENT = frozenset(
    "init add import trust agents route daemon config verify recover schema completion".split()
)
"""Commands that open no store, and those whose documents an agent would not find: agents.toml says what it reads."""


def _opener_of_agent(request: Request, streams: Streams) -> Opener:
    """Return an opener of the agent's memory and of no other store. Raises UsageError `conflicting_flags`."""
    name = "" if request.command is None else request.command.name
    if request.store is not None or name in _WITHOUT_AGENT:
        other = "--store" if request.store is not None else f"recall {name}"
        raise UsageError("conflicting_flags", f"--agent cannot be used with {other}.", hint="leave out --agent")

    @contextmanager
    def open_agent(store: str | None) -> Iterator[Recall]:
        if store is not None:
            message = f"--agent opens the memory of {request.agent} alone, not {store}."
            raise UsageError("conflicting_flags", message, hint="leave out --agent")
        with api.recall.Recall.agent(request.agent or "") as recall:
            if name in adapters.client.COMMANDS and (failed := api.agents.sync_before_search(recall.engine)):
                streams.say(f"warning: {failed}")
            try:
                yield recall
            except RecallError as error:
                action = error.hint.action.partition(" ")[0] if isinstance(error.hint, Hint) else ""
                if action in BY_NAME.keys() - _WITHOUT_AGENT:
                    error.hint = in_store(str(error.hint), None, agent=request.agent)
                raise

    return open_agent


def _command(request: Request) -> Command[Any]:
    """Return the command, or its variant for another kind of answer."""
    assert request.command is not None  # noqa: S101 - the caller answers help itself
    return request.command.variant(request) or request.command


def emit(response: Any, request: Request, streams: Streams) -> None:
    """Write the answer in the requested form, and its notes and warnings to stderr."""
    command, flags, stdout = _command(request), request.flags, streams.stdout
    if getattr(flags, "quiet", False):
        return
    if wants_json(request):
        for_data(stdout).write(json_line(response))
        return
    if getattr(flags, "brackets", False):
        response = adapters.searching.put_in_brackets(response)
    for warning in response.get("warnings", []):
        if warning.startswith(CAUTION):
            streams.say(f"warning: {warning}")
            streams.stderr.flush()
    if (in_rows := command.in_rows(request)) is not None:
        in_rows(response, stdout)
    elif not (
        (stdout.isatty() or streams.color == "always") and draw(command, response, stdout, flags, streams.color)
    ):
        for piece in _pieces(command, response, stdout, flags):
            stdout.write(encode_for(piece, stdout, raw=getattr(flags, "raw", False)))
    for line in talk(command, response, is_verbose=getattr(flags, "verbose", False)):
        streams.say_in_parts(line)


def draw(
    command: Command[Any], response: Mapping[str, Any], stdout: TextIO, flags: Any, color: str | None = None
) -> bool:
    """Draw the answer with Rich. Return False if the command has no drawing for it."""
    if command.draws is None:
        return False
    console = adapters.terminal.new_console(stdout, color)
    picture = command.draws(response, console, flags)
    if picture is not None:
        console.print(picture, soft_wrap=False)
    return picture is not None


def _pieces(command: Command[Any], response: Mapping[str, Any], stdout: TextIO, flags: Any) -> Iterable[str]:
    """Return the command's output, wrapped to the width of the terminal."""
    printer = command.printer(flags)
    pieces = printer(response) if printer is not None else ()
    if command.is_text or not stdout.isatty():
        return pieces
    width = adapters.terminal.width_of(stdout)
    return (f"{line}\n" for piece in pieces for line in adapters.terminal.fit(piece.removesuffix("\n"), width))


def talk(command: Command[Any], response: Mapping[str, Any], *, is_verbose: bool = False) -> Iterator[str]:
    """Yield the lines for stderr: figures, skips and warnings."""
    yield from command.talks(response, is_verbose)
    yield from (f"warning: {warning}" for warning in response.get("warnings", []) if not warning.startswith(CAUTION))
