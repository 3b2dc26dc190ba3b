"""A check that a workbench under test is at rest: its loop has nothing to do, and its threads wait for work.

Textual's pilot sleeps until the process hardly uses the processor. That takes 20 ms or more for every key, and on a
loaded machine it returns before the work begins. This module looks at the pending work instead. Half of the work of a
test would be painting invisible frames. Only the last frame of a test is painted; a nightly run paints every frame at
rest. Style sheets are the same for every workbench and are parsed once.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from functools import partial
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import pytest
import textual.app
import textual.pilot
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from recall_tui.app import Workbench

STEP_SECONDS = 0.001
STILL_SECONDS = 0.05  # a thread idle for so long waits for something outside the process
STILL_CPU_SECONDS = 0.001
LOOP_SECONDS = 30.0
WAITS: CodeType = threading.Condition.wait.__code__
OUTWARD = "recall-watch"
"""The thread that waits for the file system; tests do not wait for it."""
PAINTS_EACH = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")
"""Attributes of a node that Textual sets while it applies rules."""
BY_NEIGHBOURS = ("_has_order_style", "_has_odd_or_even")
"""The flags that are True if the rules depend on the neighbours of a node."""


class Outcome(NamedTuple):
    """The styles of a node after the rules were applied."""

    rules: RulesMap
    components: dict[str, RulesMap]
    flags: tuple[bool, ...]


class Sheet:
    """The styles that rules give a node, by every property of the node and its ancestors that selectors test."""

    def __init__(self, rules: list[RuleSet]) -> None:
        self.rules = rules  # keeps them alive while their ids are keys
        self.outcomes: dict[int, Outcome] = {}
        self._places: dict[tuple[object, ...], int] = {}

    def place(self, node: DOMNode, known: dict[Any, Any]) -> int:
        """Return the same number for nodes that the same selectors match. known: places of this update."""
        if (place := known.get(node)) is None:
            above = self.place(node._parent, known) if isinstance(node._parent, DOMNode) else None
            pseudo = node._pseudo_classes_cache_key or node.pseudo_classes
            has_focus_within = isinstance(node, Widget) and node.has_focus_within
            key = (above, type(node), node._id, node.classes, pseudo, has_focus_within)
            place = known[node] = self._places.setdefault(key, len(self._places))
        return place


_paint = Screen._compositor_refresh
_parse = Stylesheet._parse_rules
apply_rules = Stylesheet.apply
_render = Compositor.render_update
_unpainted: WeakSet[Screen[object]] = WeakSet()
_parsed: dict[object, list[RuleSet]] = {}
_sheets: dict[tuple[int, ...], Sheet] = {}
_read: WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], Sheet]] = WeakKeyDictionary()


def set_up() -> None:
    """Make Textual's pilot wait like that, and limit painting and parsing to what tests need."""
    textual.app.wait_for_idle = partial(at_rest, paints=False)  # type: ignore[attr-defined]
    textual.pilot.wait_for_idle = at_rest  # type: ignore[attr-defined]
    Pilot._wait_for_screen = _wait_for_handlers  # type: ignore[method-assign]
    Screen._compositor_refresh = _paint_later  # type: ignore[method-assign]
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    Stylesheet.apply = _apply_once  # type: ignore[method-assign]
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign] # the same hash, without a million calls in Python
    if not PAINTS_EACH:
        Compositor.render_update = _render_whole  # type: ignore[method-assign]


def as_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint every frame and parse for every workbench, for tests of painting."""
    monkeypatch.setattr(Screen, "_compositor_refresh", _paint)
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse)
    monkeypatch.setattr(Stylesheet, "apply", apply_rules)
    monkeypatch.setattr(Compositor, "render_update", _render)


def paint_last(app: Workbench) -> None:
    """Draw every visible line of the last screen of a test, unless the workbench left it.

    Textual's way to join lines on a screen takes three times as long and is the same for all screens.
    """
    if app.is_running and app._screen_stack:
        for widget in [*app.screen._compositor.visible_widgets]:
            for row in range(widget.size.height):
                widget.render_line(row)


async def at_rest(_least: float = 0.0, most: float = 1.0, *, paints: bool = True) -> None:
    """Wait until all work is done and painted, at most `most` seconds for a blocked thread.

    The loop gets longer: a machine may stall for a second before it paints.
    """
    end = time.monotonic() + most
    latest = end + LOOP_SECONDS
    since, used = time.monotonic(), _others_cpu()
    while True:
        await asyncio.sleep(0)
        now = time.monotonic()
        if now < latest and _has_more():
            continue
        is_working = _threads_work()
        if now < latest and _has_more():  # everything that threads reported before they rested is in the loop now
            continue
        is_held_up = now - since >= STILL_SECONDS and _others_cpu() - used < STILL_CPU_SECONDS
        if is_working and now < end and not is_held_up:
            if now - since >= STILL_SECONDS:
                since, used = now, _others_cpu()
            await asyncio.sleep(STEP_SECONDS)
        elif now >= latest or not (_draws() or (paints and _paints())):
            return


async def _wait_for_handlers(pilot: Pilot[object], timeout: float = LOOP_SECONDS) -> bool:
    """Wait until the app and its screen have handled their messages. Return False if a handler failed.

    Textual's own function asks every widget, which causes a third of the messages of a test. Only handlers of these
    two wait for a thread, and `at_rest` waits for all others.
    """
    app, end = pilot.app, time.monotonic() + timeout
    pumps = (app, app.screen) if app._screen_stack else ()
    busy = {pump for pump in pumps if pump.call_later(lambda pump=pump: busy.discard(pump))}
    while busy and not app._exception_event.is_set():
        assert time.monotonic() < end, f"the handlers of {busy} have not finished"
        await asyncio.sleep(0 if _has_more() else STEP_SECONDS)
    return not busy


def _others_cpu() -> float:
    """Return the CPU seconds used by other threads; this thread polls a thousand times a second."""
    return time.process_time() - time.thread_time()


def _has_more() -> bool:
    return bool(asyncio.get_running_loop()._ready)  # type: ignore[attr-defined]


def _draws() -> bool:
    """Resize, lay out again or draw a pending frame. Return False if nothing is pending.

    Textual does so some milliseconds later. A new layout may change sizes and draw other lines.
    """
    app = active_app.get()
    if app._resize_event is not None:
        app._check_resize()
        return True
    screens = app._screen_stack
    if not screens or app._batch_count:
        return False
    screen = screens[-1]
    if not (screen._layout_required or screen._scroll_required or screen._callbacks):
        return False
    screen._on_timer_update()
    return True


def _paints() -> bool:
    """Paint what has changed. Return False if nothing has."""
    screens = [screen for screen in active_app.get()._screen_stack if screen in _unpainted]
    _unpainted.clear()
    for screen in screens:
        _paint(screen)
    return bool(screens)


def _paint_later(screen: Screen[object]) -> None:
    _unpainted.add(screen)


def _render_whole(compositor: Compositor, full: bool = False, *asked: Any, **named: Any) -> RenderableType | None:
    """Render the whole screen for a caller that looks at it; changes go to a terminal, and tests have none."""
    if full:
        return _render(compositor, full, *asked, **named)
    compositor._dirty_regions.clear()
    return None


def _parse_once(sheet: Stylesheet, *asked: Any, **named: Any) -> list[RuleSet]:
    key = (asked, frozenset(named.items()), frozenset(sheet._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, *asked, **named)
    return _parsed[key]


def _apply_once(
    sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: dict[Any, Any] | None = None
) -> None:
    """Give a node the styles of an equal node if its own differ."""
    styles = _styles_of(sheet)
    place = styles.place(node, {} if cache is None else cache)
    if (outcome := styles.outcomes.get(place)) is None:
        apply_rules(sheet, node, animate=animate, cache=cache)
        if not (node.styles.base._rules.get("transitions") or any(getattr(node, name) for name in BY_NEIGHBOURS)):
            flags = tuple(getattr(node, name) for name in FLAGS)
            styles.outcomes[place] = Outcome(node.styles.base._rules.copy(), _components(node), flags)
        return
    for name, flag in zip(FLAGS, outcome.flags, strict=True):
        setattr(node, name, flag)
    if node.styles.base._rules == outcome.rules:
        node.notify_style_update()
    else:
        sheet.replace_rules(node, outcome.rules, animate=animate)
    if _components(node) != outcome.components:
        sheet._process_component_classes(node)


def _styles_of(sheet: Stylesheet) -> Sheet:
    """Return the known styles of the current rules of a style sheet; other workbenches share them."""
    rules, styles = _read.get(sheet, (None, None))
    if styles is None or rules is not sheet.rules:
        styles = _sheets.setdefault(tuple(map(id, sheet.rules)), Sheet(sheet.rules))
        _read[sheet] = sheet.rules, styles
    return styles


def _components(node: DOMNode) -> dict[str, RulesMap]:
    return {name: styles.base._rules for name, styles in node._component_styles.items()}


def _threads_work() -> bool:
    app = active_app.get()
    if isinstance(app, Workbench) and app.threads.writer is not None and app.threads.writer.unfinished:
        return True
    if any(worker.is_running for worker in app.workers):
        return True
    frames = sys._current_frames()
    ours = [each for each in threading.enumerate() if each.name.startswith("recall-") and each.name != OUTWARD]
    return any(not _waits(frames.get(each.ident or 0)) for each in ours if each.name != "recall-writer")


def _waits(frame: FrameType | None) -> bool:
    """Return True for a thread that waits for others and has no wake-up pending: its lock is not released yet."""
    if frame is None or frame.f_code is not WAITS:
        return frame is None
    return frame.f_locals.get("waiter") in frame.f_locals["self"]._waiters
