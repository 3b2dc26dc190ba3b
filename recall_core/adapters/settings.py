"""The command config: list, read, change and reset a person's own settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recall_core import api, personal
from recall_core.adapters.flags import Command, Flag, Operand, in_lines
from recall_core.adapters.render import clean
from recall_core.config import to_toml
from recall_core.errors import UsageError
from recall_core.shell import Hint

if TYPE_CHECKING:
    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.contract.responses import ConfigResponse

_ACTIONS = {
    "list": ((), Hint("config", "list")),
    "get": (("NAME",), Hint("config", "get", "color")),
    "set": (("NAME", "VALUE"), Hint("config", "set", "color", "never")),
    "unset": (("NAME",), Hint("config", "unset", "color")),
}
"""Each action with the words it takes, and an example."""


def config(request: Request, streams: Streams, opener: Opener) -> ConfigResponse:
    """List the settings, or read or change one."""
    action, *words = request.words or ("list",)
    takes, example = _ACTIONS[action]
    if len(words) < len(takes):
        raise UsageError("missing_argument", f"recall config {action} needs {takes[len(words)]}.", hint=example)
    if len(words) > len(takes):
        message = f"recall config {action} does not take {words[len(takes)]!r}. Quote a value with spaces."
        raise UsageError("unexpected_argument", message, hint=example)

    name, value = (*words, None, None)[:2]
    return api.recall.Recall.personal(name, value=value, unset=action == "unset")


def _lines(request: Request) -> Command[Any]:
    """Return the command that prints what these words and flags ask for.

    `get` prints the bare value, `list` each setting as in config.toml with its meaning, a change the new line. The
    origin follows a `#` if --show-origin is given, or after a change.
    """
    action = request.words[0] if request.words else "list"
    shows_origin = request.flags.show_origin or action in ("set", "unset")

    def lines(response: ConfigResponse) -> Iterator[str]:
        for view in response["settings"]:
            value = to_toml(view["value"])
            line = f"{view['name']} = {value}"
            if action == "get":
                line = clean(value if not isinstance(view["value"], str) else view["value"])
            comment = view["origin"] if shows_origin else view["meaning"] if action == "list" else ""
            yield f"{line}  # {clean(comment)}" if comment else line

    return COMMANDS[0]._replace(prints=in_lines(lines))


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "config",
        "List, read and change your own settings, which apply to every store.",
        run=config,
        prints=None,
        operand=Operand(
            "ACTION",
            "list (the default), get NAME, set NAME VALUE, or unset NAME",
            least=0,
            most=3,
            actions=tuple(_ACTIONS),
            offers=tuple(personal.TABLE.settings),
        ),
        flags=(Flag("--show-origin", "show where each value comes from: built-in, your file, or a variable"),),
        examples=(
            "recall config",
            "recall config set color never",
            "recall config set init.chunk_tokens 300",
            "recall config get editor --show-origin",
        ),
        note="A variable such as RECALL_COLOR overrides your file, config.toml, which overrides the default.\n"
        "Settings that start with init. are written into the recall.toml of new stores.",
        variant=_lines,
    ),
)
