"""The command that serves a store to other programs."""

from recall_core.adapters.flags import Command, Flag, later

_CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "vscode", "zed", "opencode")

COMMANDS: tuple[Command, ...] = (
    Command(
        "mcp",
        "Serve the store to agents over the Model Context Protocol, on stdin and stdout.",
        later("mcp.command:run"),
        None,
        flags=(
            Flag("--http", "serve on a port of this machine instead, for who has the token"),
            Flag("--port", "with --http: the port (8765); 0 takes a free one", "N", least=0),
            Flag("--no-token", "with --http: answer every user of this machine"),
            Flag("--watch", "sync when files of added folders change, once they have rested"),
            Flag("--on-boot", "sync as the server starts"),
            Flag("--interval", "sync every so many seconds", "SECONDS", is_seconds=True),
            Flag("--base", "the folder that paths are relative to (the store's)", "DIR"),
            Flag("--structured", "also send each answer as structured content"),
            Flag(
                "--max-answer-chars",
                "characters of an answer, beyond which it names what is left out",
                "N",
                least=200,
            ),
            Flag("--call-timeout", "how long a call may take (60)", "SECONDS", is_seconds=True),
            Flag("--connections", "connections to the store (4)", "N", least=1),
            Flag("--install", "print what this client's configuration needs", "CLIENT", choices=_CLIENTS),
            Flag("--write", "with --install: put it into the client's file, and keep the former one beside it"),
        ),
        examples=(
            "recall mcp --install claude-code",
            "recall mcp --install codex --write",
            "recall mcp --watch",
            "recall mcp --http --port 0",
        ),
        note="It only reads; with --watch, --on-boot or --interval it also brings added folders up to date.",
    ),
)
