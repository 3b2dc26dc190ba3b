"""Every action has a handler that takes its arguments, and every handler is used."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

from textual.app import App

import recall_tui
from recall_tui.actions.table import ACTIONS, GESTURES
from recall_tui.host import Host

TUI = Path(recall_tui.__file__).parent
MODULES = sorted(path.stem for path in (TUI / "handlers").glob("[a-z]*.py"))
OVERRIDDEN = {"suspend", "notify"}
"""Methods of Textual that the workbench overrides."""


def of_application(module: str) -> dict[str, inspect.Signature]:
    """Return the public functions of a handler module that take the application."""
    loaded = import_module(f"recall_tui.handlers.{module}")
    made = {
        name: inspect.signature(each)
        for name, each in vars(loaded).items()
        if inspect.isfunction(each) and each.__module__ == loaded.__name__ and not name.startswith("_")
    }
    return {name: each for name, each in made.items() if next(iter(each.parameters), "") == "app"}


def test_an_action_has_a_handler_that_takes_its_arguments() -> None:
    for action in ACTIONS:
        module, function, *arguments = action.call
        if action.step is not None:
            inspect.signature(action.step).bind(None, *arguments)
            continue

        assert function in of_application(module), action
        of_application(module)[function].bind(None, *arguments)


def test_panes_post_only_known_actions_and_gestures() -> None:
    posted = set()
    for path in TUI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "Do"
                and isinstance(node.args[0], ast.Constant)
            ):
                name, arguments = str(node.args[0].value), node.args[1:]
                posted.add(name)
                if name in GESTURES and not any(isinstance(each, ast.Starred) for each in arguments):
                    does = GESTURES[name]
                    takes = inspect.signature(does) if callable(does) else of_application(does)[name]
                    takes.bind(None, *arguments)

    assert posted - GESTURES.keys() <= {action.id for action in ACTIONS}
    assert GESTURES.keys() - posted == set()


def test_every_handler_belongs_to_an_action_or_event() -> None:
    acting = {action.call[:2] for action in ACTIONS if action.step is None} | {
        (module, name) for name, module in GESTURES.items()
    }
    code = "".join(path.read_text(encoding="utf-8") for path in (TUI / "app.py", *(TUI / "handlers").glob("*.py")))
    called = set(re.findall(r"(?<!def )\b(\w+)(?:\(|, )(?:self|app)\b", code))
    handlers = {(module, name) for module in MODULES for name in of_application(module)}

    assert {name for _, name in handlers - acting} - called == set()


def test_the_host_overrides_no_name_of_textual() -> None:
    own = {name for name in {*vars(Host), *inspect.get_annotations(Host)} if not name.startswith(("__", "_inherit_"))}
    made = {"_decorated_handlers", "_merged_bindings", "_css_type_name", "_css_type_names", "_reactives", "_computes"}

    assert {name for name in own - made if hasattr(App, name)} == OVERRIDDEN
