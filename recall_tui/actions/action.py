"""One thing that a person can do, and when it can be done."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from recall_tui.state.session import Pane, Session

LISTING: tuple[Pane, ...] = ("results", "weights")
"""The panes in front of which j and k go through the results; elsewhere they go through what the pane shows."""


def always(_session: Session) -> bool:
    """At any time."""
    return True


class Call(NamedTuple):
    """A function of recall_tui.handlers that is called with the application and these arguments."""

    module: str
    function: str
    arguments: tuple[str | int, ...]


class Action(NamedTuple):
    """One thing a person can do. Printable keys act in the nav state only; in the edit state they are typed."""

    id: str
    """A name, and arguments where it takes any, as Python writes them."""
    keys: tuple[str, ...]
    label: str
    """One or two words for the footer; "" keeps it out of there."""
    help: str
    when: Callable[[Session], bool] = always
    panes: tuple[Pane, ...] = ()
    """The panes in front of which its keys act; () is all of them. A key means one thing in each pane."""
    handler: str = ""
    """What does it: a module of recall_tui.handlers, and where it has another name than the action, its function."""

    @property
    def call(self) -> Call:
        """What doing it calls."""
        name, _, arguments = self.id.partition("(")
        module, _, function = self.handler.partition(":")
        return Call(module, function or name, ast.literal_eval(f"({arguments.rstrip(')')},)") if arguments else ())


def handled_by(module: str, *actions: Action) -> tuple[Action, ...]:
    """The actions with their handlers in this module of recall_tui.handlers, but for those that name one."""
    return tuple(action if action.handler else action._replace(handler=module) for action in actions)


def acts_in(action: Action, pane: Pane) -> bool:
    """True when the action's keys act in front of this pane."""
    return not action.panes or pane in action.panes
