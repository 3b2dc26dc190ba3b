"""The program `recall-tui`: the workbench in a terminal or a browser, or command lines without it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from recall_core._version import __version__
from recall_core.adapters import cli, parser
from recall_core.adapters.flags import VERSION, Flag
from recall_core.adapters.streams import Streams
from recall_core.errors import UsageError
from recall_core.shell import install_extra
from recall_tui import home

PORT = 7322  # "RECA" on a phone keypad; not used by services common on developers' machines
LAST_PORT = 65_535
FLAGS = (
    Flag(
        "--store",
        "same as STORE: a database file or a folder with a recall.toml (default: the nearest upward)",
        "PATH",
    ),
    Flag(
        "--cmd",
        "run this recall command line instead of the workbench; @FILE contains one per line",
        "LINE",
        many=True,
    ),
    Flag("--serve", "open it in a browser instead of a terminal; prints the address"),
    Flag("--port", f"port for --serve (default {PORT}; 0 takes a free port)", "N", least=0),
    Flag("--keys", "print all keys as a keymap.toml to start from"),
    Flag("--help", "show this help", short="-h"),
    VERSION,
)
_IN_MEMORY = (":memory:", "sqlite::memory:")
_EXAMPLES = """\
examples:
  recall-tui
  recall-tui ~/notes
  recall-tui ~/notes --serve
  recall-tui --cmd "search 'zero-downtime deploy' --k 5 --json"
  recall-tui --cmd @nightly.txt"""


def run(argv: Sequence[str], *, streams: Streams) -> int:
    """Open the workbench, or run the command lines of --cmd. Raises UsageError, such as `no_terminal`."""
    command_line = command_parser()
    flags, extras = parser.parse_known(command_line, argv)
    parser.refuse_flags(extras, FLAGS, prog="recall-tui")
    if len(extras) > (flags.store is None):
        raise UsageError("unexpected_argument", f"recall-tui does not take {extras[-1]!r}.", hint="recall-tui --help")
    store = extras[0] if extras else flags.store or os.environ.get("RECALL_STORE")
    if flags.help or flags.version:
        streams.stdout.write(command_line.format_help() if flags.help else f"recall-tui {__version__}\n")
        return 0
    if flags.keys:
        return _keys(streams)
    if flags.port is not None and not flags.serve:
        raise UsageError("conflicting_flags", "--port needs --serve.", hint="recall-tui --serve --port 0")
    if flags.cmd and flags.serve:
        raise UsageError("conflicting_flags", "--cmd cannot be combined with --serve.", hint="leave one out")
    if flags.cmd:
        return cli.run_commands(flags.cmd, store=store, streams=streams)
    if store in _IN_MEMORY:
        message = f"The workbench opens a store several times, and {store} would be a new one each time."
        raise UsageError("bad_value", message, hint="recall-tui scratch.db")
    if flags.serve:
        return _serve(store, flags.port, streams)
    needed = streams.stdin, streams.stdout, streams.stderr  # it draws on stderr
    if not all(stream.isatty() for stream in needed) and "TEXTUAL_DRIVER" not in os.environ:
        raise UsageError(
            "no_terminal",
            "The workbench needs a terminal.",
            hint="ssh -t HOST recall-tui, recall-tui --serve, or recall-tui --cmd \"search 'words'\"",
        )
    from recall_tui.app import run as open_workbench  # noqa: PLC0415 - load Textual only for the workbench

    return open_workbench(store, streams=streams)


def _keys(streams: Streams) -> int:
    table, faults, shared = home.keymap.read(os.environ)
    for fault in (*faults, *shared):
        streams.say(fault)
    streams.stdout.write(home.keymap.to_toml(table))
    return 0


def _serve(store: str | None, port: int | None, streams: Streams) -> int:
    port = PORT if port is None else port
    if port > LAST_PORT:
        raise UsageError("bad_value", f"--port: there is no port {port}.", hint="recall-tui --serve --port 0")
    try:
        from recall_tui.serve import serve  # noqa: PLC0415 - aiohttp may not be installed
    except ImportError as error:
        raise UsageError(
            "serve_unavailable",
            f"--serve needs textual-serve, which is not installed ({error}).",
            hint=install_extra("serve"),
        ) from error
    return serve(store, port=port, streams=streams)


def command_parser(*, operands: bool = False) -> parser.CommandParser:
    """Build the parser. operands: also declare the store, for completion; parsing takes it from the rest."""
    command_line = parser.CommandParser(
        prog="recall-tui",
        usage="recall-tui [STORE] [--serve [--port N] | --cmd LINE...]",
        description="Open the workbench on a store, in a terminal or a browser, or run recall commands without it.",
        epilog=_EXAMPLES,
        formatter_class=parser.FORMAT,
    )
    if operands:
        command_line.add_argument("words", nargs="?", metavar="STORE")
    parser.add_flags(command_line, FLAGS)
    return command_line
