"""The command line and the MCP server. Each command parses a request, calls one method of Recall and prints the
response."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.adapters import (
        care,
        cli,
        client,
        commands,
        daemon,
        flags,
        ledger,
        mcp,
        parser,
        progress,
        reading,
        recalld,
        rest,
        searching,
        terminal,
        whynot,
    )
else:
    __getattr__ = attach(__name__)
