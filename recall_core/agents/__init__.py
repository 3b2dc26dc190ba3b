"""Agents: profiles that each have a memory of their own, read from agents.toml, and the agent of a message."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.agents import profiles, routing
else:
    __getattr__ = attach(__name__)
