"""Which agent gets a message, and the key of its session."""

from __future__ import annotations

from typing import Literal

from recall_core.agents.profiles import Agents, Binding, rank
from recall_core.errors import UsageError
from recall_core.named import NamedTuple
from recall_core.shell import flag

Rule = Literal["peer", "account", "channel", "any", "default"]
_RULES: tuple[Rule, ...] = ("any", "channel", "account", "peer")
"""The field that decides, by rank of the binding."""


class Message(NamedTuple):
    """Where a message comes from. The kind of a peer is such as `dm` or `group`; "" without a peer."""

    channel: str
    account: str | None = None
    peer_kind: str = ""
    peer_id: str = ""


class Route(NamedTuple):
    """An agent's id, the key of the session, the field that decided, and the binding; None for the default agent."""

    agent: str
    session: str
    rule: Rule
    binding: Binding | None


def message_of(channel: str, account: str | None, peer: str | None) -> Message:
    """Return the message. peer: `kind:id`. Raises UsageError `bad_value`."""
    kind, colon, name = (peer or "").partition(":")
    if not channel or ":" in channel:
        raise UsageError("bad_value", f"A channel cannot be {channel!r}.", hint=f"{flag('channel')} slack")
    if peer is not None and not (kind and colon and name):
        raise UsageError("bad_value", f"A peer is KIND:ID, not {peer!r}.", hint=f"{flag('peer')} dm:alice")
    return Message(channel, account, kind, name)


def route(agents: Agents, message: Message) -> Route:
    """Return the route of a message: of the bindings that match, the most specific one, ties in their order.

    The session is `agent:ID:CHANNEL:KIND:PEER`, or `agent:ID:CHANNEL:main` without a peer.
    """
    matching = (
        binding
        for binding in agents.bindings
        if all(wanted in (None, value) for wanted, value in zip(binding[1:5], message, strict=True))
    )
    best = max(matching, key=rank, default=None)
    agent = agents.default if best is None else best.agent
    context = f"{message.peer_kind}:{message.peer_id}" if message.peer_kind else "main"
    rule: Rule = "default" if best is None else _RULES[rank(best)]
    return Route(agent, f"agent:{agent}:{message.channel}:{context}", rule, best)
