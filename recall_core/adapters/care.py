"""Commands that maintain a store (stats, doctor, compact, backup, verify, recover), and mcp, schema, completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import adapters, api
from recall_core.adapters.flags import MODE, TIMEOUT, Command, Flag, Operand, in_lines, mode_of, on_store
from recall_core.adapters.progress import follow
from recall_core.adapters.render import clean, count_of
from recall_core.adapters.streams import expect_source

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import (
        BackupResponse,
        CompactResponse,
        DoctorResponse,
        RecoverResponse,
        StatsResponse,
        VerifyResponse,
    )
    from recall_core.contract.views import LostView


SCHEMA = Path(__file__).parent.parent / "schema" / "response.schema.json"
_SEVERITY = {"ok": "green", "warning": "yellow", "error": "bold red"}
_CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "vscode", "zed", "opencode")


def verify(request: Request, streams: Streams, opener: Opener) -> VerifyResponse:
    """Check a file."""
    source = Path(request.words[0])
    if not streams.may_wait:
        expect_source(source)
    return api.recall.Recall.verify(source)


def verified_lines(response: VerifyResponse) -> Iterator[str]:
    """Yield the contents of the file and the checks."""
    view = response["verified"]
    contents = "damaged"
    if "documents" in view and "chunks" in view:
        named = f"digest {view['digest']}" if "digest" in view else f"sha256 {view.get('sha256', '')}"
        contents = f"{count_of(view['documents'], 'document')}, {count_of(view['chunks'], 'chunk')}  {named}"
    yield f"{clean(view['path'])}: {view['kind']}, {contents}"
    yield from check_lines(response)


def recovered_lines(response: RecoverResponse) -> Iterator[str]:
    """Yield the contents of the new store, the losses, and the failed checks."""
    view = response["recovered"]
    amount = f"{count_of(view['documents'], 'document')}, {count_of(view['chunks'], 'chunk')}"
    without = f", {view['without_vector']} without a vector" if view["without_vector"] else ""
    yield f"{clean(view['path'])}: {amount}{without}  digest {view['digest']}"
    yield from lost_lines(view["lost"])
    for check in response["checks"]:
        if check["severity"] != "ok":
            yield f"{check['severity']:<9}{check['code']:<24}{check['evidence']}  fix: {check['fix']}"


def store_lines(response: StatsResponse) -> Iterator[str]:
    """Yield the figures of the store, one per line."""
    yield from (f"{name:<16}{value}" for name, value in store_rows(response))


def store_rows(response: StatsResponse) -> Iterator[tuple[str, str]]:
    """Yield the figures of the store as (name, value)."""
    without_text = response["stats"].get("without_text")
    for name, value in response["store"].items():
        if isinstance(value, list):
            yield from ((name.replace("_", " ").removesuffix("s"), clean(str(entry))) for entry in value)
        elif isinstance(value, dict):
            yield name.replace("_", " "), clean(", ".join(f"{key} {each}" for key, each in value.items()))
        else:
            yield name.replace("_", " "), clean(str(value))
        if name == "documents" and without_text:
            yield "without text", str(without_text)


def draw_store(response: StatsResponse, console: Console, flags: Any) -> Table:
    """Draw the figures as a table."""
    table = adapters.terminal.Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in store_rows(response):
        table.add_row(adapters.terminal.Text(name), adapters.terminal.Text(value))
    return table


def check_lines(response: DoctorResponse | VerifyResponse) -> Iterator[str]:
    """Yield each check with its evidence and fix."""
    for check in response["checks"]:
        fix = f"  fix: {check['fix']}" if "fix" in check else ""
        yield f"{check['severity']:<9}{check['code']:<24}{check['evidence']}{fix}"
        yield from lost_lines(check.get("lost", []))


def lost_lines(lost: Sequence[LostView]) -> Iterator[str]:
    """Yield what the repair lost, one per line."""
    for each in lost:
        yield "  ".join(
            [f"  lost {each['kind']}", *(clean(part) for part in (each["path"], each.get("place", "")) if part)]
        )


def draw_checks(response: DoctorResponse, console: Console, flags: Any) -> Table:
    """Draw the checks as a table."""
    table = adapters.terminal.new_table()
    for name in ("", "check", "evidence", "fix"):
        table.add_column(name, overflow="fold")
    for check in response["checks"]:
        severity = adapters.terminal.Text(check["severity"], style=_SEVERITY[check["severity"]])
        evidence = adapters.terminal.Text("\n").join(
            map(adapters.terminal.cell, [check["evidence"], *lost_lines(check.get("lost", []))])
        )
        table.add_row(
            severity, adapters.terminal.cell(check["code"]), evidence, adapters.terminal.cell(check.get("fix", ""))
        )
    return table


def exit_by_checks(response: DoctorResponse | VerifyResponse | RecoverResponse, flags: Any) -> int:
    """Return 6 if a check found an error, else 0."""
    return 6 if any(check["severity"] == "error" for check in response["checks"]) else 0


def compacted_lines(response: CompactResponse) -> Iterator[str]:
    """Yield what compact removed and freed."""
    freed = response["compacted"]
    sizes = f"{freed['bytes_before']} -> {freed['bytes_after']} bytes"
    indexed = f", {count_of(freed['signatures'], 'vector')} indexed" if "signatures" in freed else ""
    yield f"dropped {count_of(freed['tombstones'], 'tombstone')}, {sizes}{indexed}"
    if "reason" in freed:
        yield f"the store is {freed['bytes_after'] - freed['bytes_before']} bytes larger: {freed['reason']}"


def backup(recall: Recall, request: Request, streams: Streams) -> BackupResponse:
    """Copy the store and verify the copy, with a progress bar."""
    steps = api.write.backup(
        recall.engine, Path(request.words[0]), force=request.flags.force, mode=mode_of(request.flags)
    )
    return follow(steps, streams=streams, name="copying", kept=lambda _: "no copy was written")


def backup_lines(response: BackupResponse) -> Iterator[str]:
    """Yield the contents of the copy and its digest."""
    view = response["backup"]
    amount = f"{count_of(view['documents'], 'document')}, {count_of(view['chunks'], 'chunk')}, {view['bytes']} bytes"
    yield f"{clean(view['path'])}: {amount}  digest {view['digest']}"


def schema(request: Request, streams: Streams, opener: Opener) -> None:
    """Print the packaged JSON Schema."""
    streams.stdout.write(SCHEMA.read_text(encoding="utf-8"))


def completion_script(request: Request, streams: Streams, opener: Opener) -> None:
    """Print the completion script of a shell."""
    streams.stdout.write(adapters.parser.script(request.words[0]))


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "mcp",
        "Serve the store to agents over the Model Context Protocol (MCP) on stdin and stdout.",
        # A lambda, so that the server is imported only when it runs.
        run=lambda request, streams, opener: adapters.mcp.command.run(request, streams, opener),  # noqa: PLW0108
        prints=None,
        flags=(
            Flag("--http", "serve on a local port instead; clients need the token"),
            Flag("--port", "with --http: port (default 8765; 0 picks a free one)", "N", least=0),
            Flag("--no-token", "with --http: require no token; any user of this machine can connect"),
            Flag("--watch", "sync when files in a root change"),
            Flag("--on-boot", "sync when the server starts"),
            Flag("--interval", "sync every SECONDS seconds", "SECONDS", is_seconds=True),
            Flag("--base", "folder that paths are relative to (default: the store's)", "DIR"),
            Flag(
                "--tools",
                "comma-separated tools to offer (default: all), or openai: search and fetch for ChatGPT",
                "NAMES",
            ),
            Flag("--structured", "also send answers as structured content"),
            Flag(
                "--max-answer-chars",
                "most characters per answer; longer answers name what is left out",
                "N",
                least=1,
            ),
            Flag("--call-timeout", "time limit of a call (default 60)", "SECONDS", is_seconds=True),
            Flag("--connections", "connections to the store (default 4)", "N", least=1),
            Flag("--install", "print the configuration entry for this client", "CLIENT", choices=_CLIENTS),
        ),
        examples=(
            "recall mcp --install claude-code",
            "recall mcp --install codex",
            "recall mcp --watch",
            "recall mcp --http --port 0",
        ),
        note="The server only reads the store. With --watch, --on-boot or --interval it also syncs the roots.",
    ),
    Command(
        "stats",
        "Show what the store contains.",
        run=on_store(lambda recall, request, streams: recall.stats(sizes=request.flags.sizes)),
        prints=in_lines(store_lines),
        flags=(Flag("--sizes", "also show what takes up space in the file (reads all of it)"), TIMEOUT),
        examples=("recall stats", "recall stats --sizes", "recall stats --json"),
        draws=draw_store,
    ),
    Command(
        "doctor",
        "Check the store and suggest repairs. Exits with 6 if something is broken.",
        run=on_store(lambda recall, request, streams: recall.doctor(fix=request.flags.fix, dups=request.flags.dups)),
        prints=in_lines(check_lines),
        flags=(
            Flag("--fix", "repair what can be repaired, after a backup"),
            Flag("--dups", "also count near-duplicate chunks of different documents"),
        ),
        examples=("recall doctor", "recall doctor --fix", "recall doctor --dups"),
        draws=draw_checks,
        exit_code=exit_by_checks,
    ),
    Command(
        "compact",
        "Delete removed documents permanently and free disk space.",
        run=on_store(lambda recall, request, streams: recall.compact()),
        prints=in_lines(compacted_lines),
        examples=("recall compact", "recall compact --json"),
    ),
    Command(
        "backup",
        "Copy the store to a file, even while in use, and verify the copy.",
        run=on_store(backup),
        prints=in_lines(backup_lines),
        operand=Operand("FILE", "file to write; it appears only when complete"),
        flags=(Flag("--force", "overwrite an existing file"), MODE),
        examples=("recall backup notes-2026-05.db", "recall backup /mnt/usb/notes.db --force"),
    ),
    Command(
        "verify",
        "Check a store, backup or export without changing it. Exits with 6 if something is wrong.",
        run=verify,
        prints=in_lines(verified_lines),
        operand=Operand("FILE", "a file made by init, backup or export"),
        examples=("recall verify notes-2026-05.db", "recall verify export.jsonl --json"),
        exit_code=exit_by_checks,
    ),
    Command(
        "recover",
        "Build a new store from the readable parts of a damaged one, and list what is lost.",
        run=lambda request, streams, opener: api.recall.Recall.recover(*request.words),
        prints=in_lines(recovered_lines),
        operand=Operand("OLD NEW", "the damaged store (only read) and the file for the new store", least=2, most=2),
        examples=("recall recover recall.db recovered.db",),
        exit_code=exit_by_checks,
    ),
    Command(
        "schema",
        "Print the JSON Schema of --json answers.",
        run=schema,
        prints=None,
        examples=("recall schema > recall.schema.json",),
    ),
    Command(
        "completion",
        "Print a shell completion script.",
        run=completion_script,
        prints=None,
        operand=Operand("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),
        examples=(
            'eval "$(recall completion bash)"',
            "recall completion fish > ~/.config/fish/completions/recall.fish",
        ),
    ),
)
