"""The store over HTTP: operations below /v1, a page, and the MCP server."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.adapters.rest import operations, service
else:
    __getattr__ = attach(__name__)
