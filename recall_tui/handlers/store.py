"""Actions of the store pane: views, checks and their fixes, embedders, removing documents."""

from __future__ import annotations

import asyncio
import shlex
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.widgets import Input

from recall_core import api, maintain
from recall_core.errors import RecallError
from recall_core.rql.parser import is_query
from recall_core.types import Progress
from recall_tui import screens
from recall_tui.handlers import ingest, query
from recall_tui.handlers.ingest import UNDER_WAY
from recall_tui.host import reason_of
from recall_tui.state import session as state
from recall_tui.state import store_pane, weighing
from recall_tui.state.commands import join_command
from recall_tui.state.events import StoreOpened, TaskDone
from recall_tui.state.session import Pane, Session
from recall_tui.state.store_pane import StoreCommand
from recall_tui.widgets.editor import Editor

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_tui.host import Host

    Say = Callable[[Progress], None]

DOCTOR = """\
The store is first copied to a backup next to it. Then its indexes, vectors and counts are rebuilt. Documents stay."""
COMPACT = (
    "Removed documents are deleted for good, and the file is rewritten. This needs free space of twice its size."
)
REEMBED = """\
Embeds every text with {name}. Queries use the old vectors until it finishes. Also changes recall.toml.{more}"""
SENDS = " Every text is sent to the cloud."
NAMING = "a path, a folder, an id, or a glob such as docs/**/*.md; Enter shows what it matches"
STAYS = "The files stay on disk, and a sync adds those of an added folder again. compact frees the space."
FORGOTTEN = "The files stay on disk. The folder is no longer synced. compact frees the space."
MOST_NAMED = 5  # documents listed in a question


class NamedTarget(NamedTuple):
    """The meaning of a target: the paths of documents, and whether it is a source."""

    paths: tuple[str, ...]
    is_source: bool


def choose_line(app: Host, pane: Pane, row: int) -> None:
    """Select a row of the ingest or the store pane, if that pane is active."""
    if pane == app.session.pane:
        select_line(app, row)


def select_line(app: Host, row: int) -> None:
    """Select a row of the active pane."""
    if store_pane.rows_of(app.session):
        app.become(store_pane.pick_line(app.session, row))


def point_line(app: Host, rows: int) -> None:
    """Select the row `rows` rows further."""
    select_line(app, store_pane.cursor_of(app.session) + rows)


def point_last(app: Host) -> None:
    """Select the last row."""
    select_line(app, store_pane.rows_of(app.session) - 1)


async def open_line(app: Host) -> None:
    """Run the action of the chosen row."""
    match store_pane.view_of(app.session):
        case "checks":
            await _fix(app)
        case "documents":
            _take_filter(app)
        case _:
            await _take_embedder(app)


def turn_store(app: Host, views: int) -> None:
    """Show another view of the store. Among the documents, open or close the chosen folder."""
    if store_pane.view_of(app.session) != "documents":
        app.become(store_pane.turn_view(app.session, views))
    else:
        app.become(store_pane.open_chosen(app.session) if views > 0 else store_pane.close_chosen(app.session))


def next_store_view(app: Host) -> None:
    """Show the next view of the store."""
    app.become(store_pane.turn_view(app.session, 1))


def check(app: Host) -> None:
    """Show the checks, and run them again if they are shown already."""
    if store_pane.view_of(app.session) == "checks":
        kept = {analysis: found for analysis, found in app.session.analyses.items() if analysis.kind != "health"}
        app.become(app.session._replace(analyses=kept))
    app.become(store_pane.show_view(app.session, "checks"))


async def compact(app: Host) -> None:
    """Compact the store once confirmed."""
    await _ask_first(app, StoreCommand("compact"))


def reembed(app: Host) -> None:
    """Show the embedders to choose from."""
    app.become(store_pane.show_view(app.session, "embedder"))


async def remove(app: Host) -> None:
    """Ask which documents to remove."""
    if _may_begin(app):
        await _ask_for_documents(app, "", NAMING)


def cancel(app: Host) -> None:
    """Stop a long search, else the ingest run or the re-embedding."""
    if state.is_lingering(app.session):
        app.become(state.give_up(app.session))
        return
    app.threads.cancel()
    stop_reembed(app)


def stop_reembed(app: Host) -> None:
    """Stop re-embedding. Finished vectors are kept for the next time."""
    if app.reembed_stop is not None:
        app.reembed_stop.set()


def task_ended(app: Host, event: TaskDone) -> None:
    """Report the result of a task, and ask again if it changed the store."""
    app.threads.mark_reported(event)
    if event.error is not None:
        app.warn(f"{event.name}: {reason_of(event.error)}")
    elif event.summary:
        app.notify(event.summary, markup=False)
    if store_pane.is_outdated(app.session):
        app.ask()


def store_opened(app: Host, before: Session, event: StoreOpened) -> None:
    """Ask again after other programs wrote. The tasks of this workbench report on their own."""
    if event.upgrade:
        app.notify(f"{event.upgrade}.", markup=False)
    if before.weights.saved is not None and weighing.current(before) != weighing.current(app.session):
        app.notify("recall.toml has changed: its settings apply now.")
    is_own = app.session.store.task or state.is_ingesting(app.session)
    if event.is_altered and not is_own and store_pane.is_outdated(app.session):
        app.ask()
        app.notify("The store changed: results refreshed.")


async def _fix(app: Host) -> None:
    """Run the fix of the chosen check, if it is one command for this store."""
    check = store_pane.chosen_check(app.session)
    if check is None or not check.get("fix"):
        return
    remedy = store_pane.remedy(check["fix"])
    if remedy is None:
        app.notify(f"This fix takes more than one step: {check['fix']}", markup=False)
    elif remedy.verb == "sync":
        ingest.sync(app)  # a sync removes nothing that is still on disk, so it needs no question
    else:
        await _ask_first(app, remedy)


def _take_filter(app: Host) -> None:
    """Filter the query by the chosen folder, file or tag, or remove that filter if it is set."""
    chosen = store_pane.chosen_line(app.session)
    if chosen is None:
        return
    if is_query(app.bench.editor.text):
        app.notify("A query in RQL has its own FILTER; a folder, a file or a tag filters plain words.")
        return
    expression = store_pane.filter_of(chosen)
    if wrong := query.wrong_filter(expression):
        app.warn(wrong)
    elif expression == app.session.query.filter:
        query.filter_by(app, "")
        app.notify("Filter removed.")
    else:
        query.filter_by(app, expression)
        app.notify(f"Filter: {expression}; Enter again removes it.", markup=False)


async def _take_embedder(app: Host) -> None:
    chosen = store_pane.chosen_embedder(app.session)
    if chosen is None:
        return
    if chosen["in_use"]:
        app.notify(f"{chosen['name']} is already the embedder.", markup=False)
    elif not chosen["available"]:
        app.warn(f"{chosen['name']} cannot be used: {chosen['reason']}")
    else:
        await _ask_first(app, StoreCommand("reembed", chosen["name"]), SENDS if chosen["network"] else "")


def _may_begin(app: Host) -> bool:
    if state.is_ingesting(app.session):
        app.notify(UNDER_WAY)
    elif app.session.store.task:
        app.notify(f"{app.session.store.task} is under way.", markup=False)
    else:
        return True
    return False


async def _ask_first(app: Host, remedy: StoreCommand, more: str = "") -> None:
    if not _may_begin(app):
        return
    words, question = {
        "doctor": (("doctor", "--fix"), DOCTOR),
        "compact": (("compact",), COMPACT),
        "reembed": (("reembed", remedy.name), REEMBED.format(name=remedy.name, more=more)),
    }[remedy.verb]
    title = shlex.join(["recall", *words])
    command = join_command(app.store, *words)
    await app.confirm(title, question, partial(_run_remedy, app, title, remedy), command=command)


async def _ask_for_documents(app: Host, target: str, hint: str) -> None:
    await app.prompt(
        "Remove documents", target, hint, lambda typed: "" if typed else NAMING, partial(_target_typed, app)
    )


def _target_typed(app: Host, target: str) -> None:
    """Look up the documents in the background: a glob may be matched against a million paths."""
    look = partial(_look_up, app, target)
    app.run_worker(look, exclusive=True, group="remove")  # type: ignore[arg-type]  # its type is too narrow


async def _look_up(app: Host, target: str) -> None:
    try:
        target_found = await asyncio.to_thread(find_target_in, app.store, target)
    except RecallError as error:
        await _ask_for_documents(app, target, error.message)
        return
    words = ("rm", *(["--"] if target.startswith("-") else []), target)
    title = shlex.join(["recall", *words])

    def remove_if_agreed(is_agreed: bool | None) -> None:
        if is_agreed and _may_begin(app):
            app.do(title, partial(remove_documents, target=target, found=target_found))

    behind = app.focused if isinstance(app.focused, Editor | Input) else None  # the user may be typing elsewhere
    command = join_command(app.store, *words)
    screen = screens.dialog.UnaskedScreen(title, removal_question(target_found), command=command, behind=behind)
    await app.push_screen(screen, remove_if_agreed)


def _run_remedy(app: Host, title: str, remedy: StoreCommand) -> None:
    if not _may_begin(app):
        return
    app.reembed_stop = threading.Event()
    runs: dict[str, Callable[[Recall, Say], str]] = {
        "doctor": repair,
        "compact": compact_store,
        "reembed": partial(reembed_all, remedy=remedy, stopped=app.reembed_stop),
    }
    app.do(title, runs[remedy.verb])


def find_target_in(store: str | None, target: str) -> NamedTarget:
    """Return the meaning of a target in a store. Raises RecallError, also if it matches nothing."""
    with api.recall.Recall.open(store) as recall, recall.store.reading():
        return find_target(recall, target)


def find_target(recall: Recall, target: str) -> NamedTarget:
    """Return the meaning of a target. Raises RecallError, also if it is ambiguous."""
    going = maintain.remove.find_removal(recall.store, [target], base=recall.engine.base)
    return NamedTarget(going.paths, bool(going.sources))


def removal_question(named: NamedTarget) -> str:
    """Return the question: the number of documents, the first of them, and what stays."""
    count = len(named.paths)
    lines = [f"{count:,} document{'s' * (count > 1)} will be removed from the store:"]
    lines += [f"  {path}" for path in named.paths[:MOST_NAMED]]
    lines += [f"  and {count - MOST_NAMED:,} more"] if count > MOST_NAMED else []
    return "\n".join([*lines, "", FORGOTTEN if named.is_source else STAYS])


def remove_documents(recall: Recall, _say: Say, *, target: str, found: NamedTarget) -> str:
    """Remove the documents the user agreed to, or nothing if the target matches others now."""
    if find_target(recall, target) != found:
        return f"Nothing was removed: {target} now matches other documents."
    count = recall.remove([target])["removed"]["documents"]
    return f"{count:,} document{'s' * (count > 1)} removed; the files stay on disk"


def repair(recall: Recall, _say: Say) -> str:
    """Repair the store, and return the errors left, the backup and the losses."""
    checks = recall.doctor(fix=True)["checks"]
    bad = sum(check["severity"] == "error" for check in checks)
    facts = [check["evidence"] for check in checks if check["code"] in ("backup", "rebuilt")]
    errors_left = f"{bad} error{'s' * (bad > 1)} left" if bad else "no errors left"
    return "; ".join([errors_left, *facts])


def compact_store(recall: Recall, _say: Say) -> str:
    """Compact the store, and return the space freed."""
    done = recall.compact()["compacted"]
    return f"{done['tombstones']} tombstones deleted, {done['bytes_before']:,} to {done['bytes_after']:,} bytes"


def reembed_all(recall: Recall, say: Say, *, remedy: StoreCommand, stopped: threading.Event) -> str:
    """Embed every text again until `stopped` is set. Finished vectors are kept for the next time."""
    run = recall.reembed(remedy.name, remedy.settings)
    while not stopped.is_set():
        try:
            say(next(run))
        except StopIteration as end:
            view = end.value["reembedded"]
            texts = f"{view['embedded']:,} text{'' if view['embedded'] == 1 else 's'}"
            return f"{view['embedder']}: {texts} embedded, {view['reused']:,} reused"
    run.close()
    return f"stopped; queries use the old vectors, and re-embedding with {remedy.name} resumes from here"
