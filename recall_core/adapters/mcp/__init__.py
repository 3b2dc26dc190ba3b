"""Recall as a Model Context Protocol (MCP) server for agents."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.adapters.mcp import command, http, offers, remote, server, stdio, tools, views
else:
    __getattr__ = attach(__name__)
