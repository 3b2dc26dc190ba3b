"""What a row comes from, in another program: its file in the editor, or what the store has of it in the pager."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.app import SuspendNotSupported

from recall_core import retrieve
from recall_core.errors import RecallError, UsageError, why_unread
from recall_core.shell import REST, Hint
from recall_tui import files
from recall_tui.opening import open_store
from recall_tui.state import explaining
from recall_tui.state.packing import chosen_entry

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_tui.host import Host


class Place(NamedTuple):
    """Where a chunk begins. file: None where no file holds the text as it stands; text: of the document then."""

    name: str
    line: int
    file: Path | None
    text: str


async def open_file(app: Host) -> None:
    """Open the file of the chosen row at its line; of what is no file by itself, page the text that was read."""
    entry = chosen_entry(app.session) if app.session.pane == "context" else None
    chunk_id = entry.chunk_ids[0] if entry is not None and entry.chunk_ids else explaining.chunk_of(app.session)
    try:
        place = await asyncio.to_thread(place_of, app.store, chunk_id)
    except RecallError as error:
        app.warn(f"{error.message} ({error.hint})" if error.hint else error.message)
        return
    what = f"{place.name}:{place.line}"
    try:
        if place.file is not None:
            command = files.editor(os.environ)
            with app.suspend():
                files.edit_at(place.file, place.line, command)
        else:
            command = files.pager(os.environ)
            with app.suspend():
                files.page(place.text, command, name=place.name, line=place.line)
    except SuspendNotSupported:
        app.warn(f"{what} cannot be opened from here: there is no terminal to lend to another program.")
    except RecallError as error:
        app.warn(f"{error.message} ({error.hint})" if error.hint else error.message)
    except OSError as error:
        app.warn(f"{what} cannot be opened: {why_unread(error)}.")


def place_of(store: str | None, chunk_id: str) -> Place:
    """Where a chunk of a store begins. Raises RecallError, also where it has left the store since."""

    with open_store(store) as recall, recall.store.reading():
        row = retrieve.targets.chunk(recall.store, chunk_id, base=recall.engine.base)
        source = recall.store.sources([row.doc.id]).get(row.doc.id)
        is_file = source is not None and source.os_path != "" and source.path == row.doc.path  # no record of one
        file = recall.engine.base / source.os_path if source is not None and is_file else None
        file = file if file is not None and file.is_file() else None
        text = "" if file is not None else document_text(recall, row.doc.id)
        return Place(row.doc.path, row.chunk.line_start, file, text)


def document_text(recall: Recall, doc_id: str) -> str:
    """A document as it was read. Raises RecallError."""
    found = recall.get(doc_id)["found"]
    if found["kind"] != "doc":
        raise UsageError("unknown_target", f"{doc_id} is no document.", hint=Hint("search", REST))
    return found["text"]
