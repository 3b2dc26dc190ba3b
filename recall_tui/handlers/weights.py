"""Changing the settings of the ranking, undoing and redoing, and writing them to recall.toml."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import maintain
from recall_core.config import NAMES, Config, load
from recall_core.errors import ConfigError, RqlError
from recall_tui.host import reason_of
from recall_tui.state import commands, judging, records, tuning, weighing
from recall_tui.state import session as state
from recall_tui.state.records import Tweaks
from recall_tui.state.session import Session

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer
    from recall_tui.host import Host


NO_CURVE = "No result has a grade above 0 yet, so there is no curve: {switch_grading} in pane 2 starts grading."
NO_TARGET = "No target is set: {pin_row('in')} requires a result, {pin_row('out')} excludes it."


def slide_weight(app: Host, share: float, joins: bool) -> None:
    """Set the semantic share. joins: part of the last change, since the mouse is still down."""
    app.move(weighing.set_share(app.session, share, joins=joins))


def change_setting(app: Host, hundredths: int) -> None:
    """Change the chosen setting."""
    key = weighing.chosen_setting(app.session)
    _try(app, weighing.change_setting(app.session, hundredths), "vector_weight" if key == weighing.WEIGHT else key)


def choose_setting_at(app: Host, row: int, is_meant: bool) -> None:
    """Select a row of the form. is_meant: its value was clicked, so also change it."""
    app.become(weighing.choose_setting(app.session, row))
    if is_meant:
        change_setting(app, weighing.COARSE)


def count(app: Host, steps: int) -> None:
    """Ask for fewer or more rows."""
    _try(app, weighing.step_k(app.session, steps), "k")


def turn(app: Host, key: str) -> None:
    """Take the next choice of a setting."""
    _try(app, weighing.turn_choice(app.session, key), key)


def undo_weights(app: Host) -> None:
    """Undo the last change."""
    if not app.session.weights.undo:
        app.notify("There is nothing to undo.")
    app.take(weighing.undo(app.session))


def redo_weights(app: Host) -> None:
    """Redo the last undone change."""
    if not app.session.weights.redo:
        app.notify("There is nothing to redo.")
    app.take(weighing.redo(app.session))


def reset_weights(app: Host) -> None:
    """Go back to the saved settings."""
    if not weighing.is_moved(app.session):
        app.notify("Nothing is changed: these are the saved settings.")
    app.move(weighing.reset(app.session))


def turn_beside(app: Host) -> None:
    """Show the rows with the saved and the changed settings side by side, or the plot again."""
    weights = app.session.weights
    app.become(app.session._replace(weights=weights._replace(is_beside=not weights.is_beside)))


def turn_curve(app: Host) -> None:
    """Show the other curve."""
    if not judging.is_measurable(app.session):
        app.notify(app.table.spell(NO_CURVE))
        return
    app.become(
        app.session._replace(weights=app.session.weights._replace(is_of_all=not app.session.weights.is_of_all))
    )


def take_best(app: Host) -> None:
    """Go to the best weight by the grades, unless the current one is as good."""
    curve = tuning.curve_of(app.session)
    if curve is None or not curve.steps:
        return
    now = weighing.exact_share(weighing.current(app.session))
    weight = tuning.better_weight(curve, now)
    if weight is None:
        measure = f"{'mean ' * app.session.weights.is_of_all}{tuning.MEASURE}"
        figures = f"{measure} {tuning.value_at(curve, now):.3f}, at best {curve.best:.3f}"
        app.notify(f"The current weight is already among the best: {figures}.", markup=False)
    else:
        _try(app, weighing.set_exact_share(app.session, weight), "vector_weight")


def pin_row(app: Host, want: records.Want) -> None:
    """Require the selected row among the first, or exclude it from them."""
    answer = app.session.results.answer
    wrong = weighing.why_no_lines(answer) if answer is not None else ""
    if wrong:
        app.notify(wrong.replace("No rank lines", "No targets"), markup=False)
    else:
        app.become(tuning.toggle_target(app.session, want))


def take_granting(app: Host) -> None:
    """Go to the nearest weight that meets all targets."""
    weight = tuning.nearest_weight(app.session)
    if weight is None:
        pins = tuning.pins_of(app.session)
        app.notify("No weight meets all targets." if pins else app.table.spell(NO_TARGET))
        return
    _try(app, weighing.set_exact_share(app.session, weight), "vector_weight")


async def write_options(app: Host) -> None:
    """Write the changed settings into the query, so that the query alone gives this ranking."""
    session, answer = app.session, app.session.results.answer
    if answer is None or session.query.text != answer.plan.text:
        return
    options = {key: value for key, value in session.weights.tweaks.items() if commands.has_option(key)}
    query = answer.plan.query
    if query is None:
        await _offer_query(app, answer, options)
        return
    if not options and session.weights.k is None:
        app.notify("No changed setting has an OPTION, so none can be written into the query.")
        return
    _take_text(app, commands.with_options(session.query.text, query, options, limit=session.weights.k), options)


async def _offer_query(app: Host, answer: Answer, options: Tweaks) -> None:
    """Offer to replace plain words, which have no OPTION, by the query with the same rows."""
    words, limit = answer.plan.text.strip(), answer.plan.limit
    if answer.plan.typed is not None:
        app.notify("Plain words have no OPTION, and a query has no such syntax for words.")
        return
    try:
        query = commands.as_query(words, answer.plan.config, limit=limit, options=options)
    except RqlError as error:
        app.notify(f"Plain words have no OPTION, and these words cannot be a query: {error.message}", markup=False)
        return
    question = f"Plain words have no OPTION. Replace them with the query that gives the same results?\n\n{query}"
    await app.confirm("Write into the query", question, partial(_take_text, app, query, options))


def _take_text(app: Host, text: str, options: Tweaks) -> None:
    """Ask this text and put it into the editor, without the settings that the text sets itself."""
    fresh = weighing.drop_moves(app.session, options)
    app.become(state.ask(fresh, text, app.clock()))
    app.bench.editor.put(text)
    rest = ", ".join(NAMES.get(key, key) for key in fresh.weights.tweaks)
    message = f"Written. Settings without an OPTION: {rest}" if rest else "Written."
    app.notify(message, markup=False)


async def save_weights(app: Host) -> None:
    """Ask whether to write the changed settings."""
    tweaks, saved, toml = app.session.weights.tweaks, app.session.weights.saved, app.session.weights.toml
    if not tweaks or saved is None or toml is None:
        app.notify("Nothing is changed: these are the saved settings.")
        return
    await _ask_to_write(app, toml, tweaks, saved, f"Write to {toml.name}?")


def _try(app: Host, session: Session, key: str) -> None:
    if key in app.session.weights.fixed:
        app.notify(f"Set by the query: OPTION {NAMES.get(key, key)}")
    app.move(session)


async def _ask_to_write(app: Host, toml: Path, tweaks: Tweaks, was: Config, title: str) -> None:
    toml_of = partial(json.dumps, ensure_ascii=False)  # TOML writes these values as JSON does
    lines = [
        f"  {NAMES.get(key, key)} = {toml_of(value)} (was {toml_of(getattr(was, key))})"
        for key, value in tweaks.items()
    ]
    await app.confirm("Save the weights", "\n".join([title, *lines]), partial(_write, app, toml, tweaks, was))


async def _write(app: Host, toml: Path, tweaks: Tweaks, was: Config) -> None:
    """Write the settings, unless recall.toml changed since the question."""
    try:
        saved = await asyncio.to_thread(load, toml)
        if any(getattr(saved, key) != getattr(was, key) for key in tweaks):
            await _ask_to_write(app, toml, tweaks, saved, f"{toml.name} has changed. Write to it anyway?")
            return
        await asyncio.to_thread(maintain.embedders.write_settings, toml, tweaks)
    except ConfigError as error:
        app.notify(reason_of(error), severity="error", markup=False)
    else:
        app.move(weighing.confirm_save(app.session, tweaks, was=was))
        app.notify(f"Saved: {', '.join(NAMES.get(key, key) for key in tweaks)}", markup=False)
