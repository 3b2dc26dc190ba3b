"""The lines of a context: blocks, what was left out, what waits, and behind them the details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import commonpath
from posixpath import basename, dirname
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core import adapters
from recall_core.text import behind
from recall_core.types import Omission, Packed
from recall_tui.state.packing import Entry, Worth, covered, digest
from recall_tui.state.records import Waiting, cited
from recall_tui.state.session import Session
from recall_tui.widgets.draw import Glyphs, blanked, counted, figure, fit, fit_place, folded

REASONS = {
    "budget": "over budget",
    "diversity": "limit per document",
    "duplicate": "already packed",
    "copy": "identical copy",
    "below_min_score": "below min_score",
    "below_min_cosine": "below min_cosine",
    "dropped": "excluded",
    "empty": "no text",
}
PASSED_OVER = "not looked at"
"""In place of a reason: packing for value chooses among the first rows only, whatever room is left."""
LABELS = {"value": "quality", "words": "terms"}
"""How the account's lines are named, where the command names them otherwise."""
LABEL_CELLS = 11  # the names before the lines of the account
FIRST_LINE_CHARS = 400  # more than any terminal shows of a line
ID_DIGITS = 12
DIM = Style(dim=True)


class Look(NamedTuple):
    """All that the pane draws."""

    packed: Packed | None
    block_tokens: tuple[int, ...]
    entries: tuple[Entry, ...]
    cursor: int
    pins: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    unfolded: str
    is_whole: bool
    """Every block is shown whole."""
    has_details: bool
    worth: Worth | None
    is_settled: bool
    """`worth` is that of this context, not of the one before."""
    trouble: str
    """Why the worth could not be found out."""
    places: Mapping[str, str] = {}
    """By chunk that is left out, `:88 › Budget`."""


def places_of(session: Session, glyphs: Glyphs) -> dict[str, str]:
    """Return the line and the last heading of chunks that are left out, of the rows that are fetched."""
    found, results = {}, session.results
    left = {each.chunk_id for each in session.context.packed.omitted} if session.context.packed else set()
    for hit in results.hits.values():
        if hit.chunk is not None and hit.chunk.id in left:
            line, heading = cited(hit, results.passages.get(hit.chunk.id))
            found[hit.chunk.id] = line + _crumb(heading, glyphs)
    return found


def _crumb(heading: str, glyphs: Glyphs) -> str:
    last = heading.rsplit("›", maxsplit=1)[-1].strip()
    return f"{glyphs.crumb}{blanked(last)}" if last else ""


class Listing(NamedTuple):
    """Lines, and the line at which each entry begins."""

    lines: list[Text]
    starts: tuple[int, ...]


def listing(look: Look, width: int, glyphs: Glyphs, *, is_low: bool = False) -> Listing:
    """The list in `width` cells; the head of the chosen entry has a pointer. is_low: a block has one line."""
    packed = look.packed
    if packed is None:
        return Listing([], ())
    lines = [Text(line, Style(bold=True)) for text in packed.warnings for line in folded(text, width)]
    starts = []
    previous = "block"
    folder = "" if look.is_whole else _shared_folder(packed)
    for row, entry in enumerate(look.entries):
        if entry.kind != previous:
            lines += _heading("left out" if entry.kind == "omission" else "waiting", width, glyphs)
            previous = entry.kind
        starts.append(len(lines))
        drawn = _entry(look, packed, entry, folder, width - 1, glyphs=glyphs, is_low=is_low)
        mark = glyphs.pointer if row == look.cursor else " "
        lines += [Text(mark if place == 0 else " ").append_text(line) for place, line in enumerate(drawn)]
    lines += _coverage(look, width, glyphs)
    if look.has_details or look.is_whole:
        lines += _account(look, packed, width, glyphs)
    return Listing(lines, tuple(starts))


def _shared_folder(packed: Packed) -> str:
    """The folder that all packed documents share, with its slash."""
    folders = {dirname(block.doc.path) for block in packed.blocks}
    if len({folder.startswith("/") for folder in folders}) != 1:
        return ""
    folder = commonpath(folders)
    return f"{folder.rstrip('/')}/" if folder else ""


def _heading(name: str, width: int, glyphs: Glyphs) -> list[Text]:
    return [Text(fit(f"{glyphs.line * 2} {name} {glyphs.line * 2}", width, glyphs), DIM)]


def _entry(
    look: Look, packed: Packed, entry: Entry, folder: str, width: int, *, glyphs: Glyphs, is_low: bool
) -> list[Text]:
    if entry.kind == "block":
        return _block(look, packed, entry, folder, width, glyphs=glyphs, is_low=is_low)
    if entry.kind == "omission":
        return [_omission(look, packed.omitted[entry.place], folder, width, glyphs)]
    return [_waiting(look.waiting[entry.place], look.pins, width, glyphs)]


def _block(
    look: Look, packed: Packed, entry: Entry, folder: str, width: int, *, glyphs: Glyphs, is_low: bool
) -> list[Text]:
    """`1 recall.md:88 › Budget  212` and below it the first line of its text; or all of it."""
    block = packed.blocks[entry.place]
    marks = ["pinned"] if any(each in look.pins for each in block.chunk_ids) else []
    marks += ["recalled"] if any(each in packed.reserved_for for each in block.chunk_ids) else []
    marks += ["cut"] if block.truncated else []
    size = f" {', '.join(marks)}{figure(look.block_tokens[entry.place]):>6} "
    number = f"{block.number:>{len(str(len(packed.blocks)))}} "
    is_open = look.is_whole or look.unfolded in block.chunk_ids
    last = block.line_end if look.is_whole else None
    place = behind(block.doc.path, block.line_start, last, block.place) + _crumb(block.heading, glyphs)
    text = _first_line(block.text, place)
    room = width - cell_len(number) - cell_len(size)
    if is_low and not is_open:
        named = _placed(block.doc.path, place, folder, min(room, max(24, room // 2)), glyphs).rstrip()
        line = Text(f"{number}{named}  ").append(fit(text, max(0, room - cell_len(named) - 2), glyphs), DIM)
        return [line.append(size)]
    head = Text(f"{number}{_placed(block.doc.path, place, folder, room, glyphs)}").append(size)
    indent = " " * cell_len(number)
    if not is_open:
        return [head, Text(fit(f"{indent}{text}", width, glyphs), DIM)]
    lines = [head, *(Text(f"{indent}{line}") for line in folded(block.text, width - len(indent)))]
    if block.truncated:
        lines.append(Text(fit(f"{indent}{glyphs.cut} cut here{_cut(look)}", width, glyphs), DIM))
    return [*lines, Text()] if look.is_whole else lines


def _placed(path: str, place: str, folder: str, width: int, glyphs: Glyphs) -> str:
    """A path below the folder that all share, with its line and heading; folders give way before the heading does."""
    below = blanked(path.removeprefix(folder))
    line, crumb, heading = place.partition(glyphs.crumb)
    shortest = f"{glyphs.cut_front}/{basename(below)}{place}" if "/" in below else f"{below}{place}"
    if cell_len(shortest) <= width:
        return fit_place(below, place, width, glyphs)
    return fit_place(below, line, width, glyphs, more=crumb + heading)


def _first_line(text: str, place: str) -> str:
    """The first line with something on it that is not the heading, without control characters."""
    start = text.lstrip()[:FIRST_LINE_CHARS]
    line, _, others = start.partition("\n")
    if line.startswith("#") and others.strip() and place.endswith(line.lstrip("# ").rstrip()):
        line = others.lstrip().partition("\n")[0]
    return blanked(line.expandtabs(4)).rstrip()


def _cut(look: Look) -> str:
    if look.worth is None or not look.is_settled:
        return " to fit the budget"
    cut = look.worth.view["truncated_tokens"]
    return f": {counted(cut, 'token')} of this chunk {'is' if cut == 1 else 'are'} left out"


def _omission(look: Look, left: Omission, folder: str, width: int, glyphs: Glyphs) -> Text:
    reason = PASSED_OVER if left.reason == "budget" and not left.chunk_id else REASONS[left.reason]
    reason = f" pinned, {reason} " if left.chunk_id in look.pins else f" {reason} "
    head, room = f"{glyphs.out} ", width - cell_len(glyphs.out) - 1 - cell_len(reason)
    if not left.path:
        first = f"#{figure(left.rank)}"
        named = fit(f"{first} and {figure(left.chunks - 1)} more" if left.chunks > 1 else first, room, glyphs)
    else:
        place = f" and {figure(left.chunks - 1)} more" if left.chunks > 1 else look.places.get(left.chunk_id, "")
        named = _placed(left.path, place, folder, room, glyphs)
    return Text(f"{head}{named}{reason}", DIM)


def _waiting(waiting: Waiting, pins: tuple[str, ...], width: int, glyphs: Glyphs) -> Text:
    mark = "pinned" if waiting.chunk_id in pins else "excluded"
    reason = f" {mark}, {'not in this answer' if waiting.path else 'not in the store'} "
    name = blanked(waiting.path) or waiting.chunk_id[:ID_DIGITS]
    where = f"? {fit_place(name, '', width - 2 - cell_len(reason), glyphs)}"
    return Text(fit(where, width - cell_len(reason), glyphs) + reason, DIM)


def _coverage(look: Look, width: int, glyphs: Glyphs) -> list[Text]:
    """Which of the query's terms the context does not hold, where it lacks one."""
    counts = covered(look.worth) if look.worth is not None else None
    if look.worth is None or counts is None or counts[0] == counts[1] or not look.is_settled:
        return []
    missing = _terms(look.worth, packed=False)
    said = f"{figure(counts[0])} of {figure(counts[1])} query terms, not in the context: {missing}"
    return [Text(line) for line in folded(said, width)]


def _account(look: Look, packed: Packed, width: int, glyphs: Glyphs) -> list[Text]:
    """What the context is worth, as `recall context --explain` has it, and the digest of its bytes."""
    lines = _heading("details" if look.is_settled else f"details {glyphs.cut}", width, glyphs)
    if look.trouble:
        lines += [Text(line) for line in folded(look.trouble, width)]
    elif look.worth is not None:
        style = Style() if look.is_settled else DIM
        for label, told in _told(look.worth):
            lines += _labelled(label, told, width, style)
    return lines + _labelled("sha256", digest(packed), width, Style())


def _labelled(label: str, told: str, width: int, style: Style) -> list[Text]:
    first, *others = folded(told, width - LABEL_CELLS) or [""]
    lines = [Text(f"{label:<{LABEL_CELLS}}{first}", style)]
    return [*lines, *(Text(" " * LABEL_CELLS + line, style) for line in others)]


def _told(worth: Worth) -> Iterator[tuple[str, str]]:

    for line in adapters.render.account_lines(worth.view, figure):
        label = line[:LABEL_CELLS].rstrip()
        yield LABELS.get(label, label), line[LABEL_CELLS:]
        if label == "words" and (held := _terms(worth, packed=True)):
            yield "covered", held
    if worth.model_tokens is not None:
        yield "model", f"about {figure(worth.model_tokens)} model tokens"


def _terms(worth: Worth, *, packed: bool) -> str:
    terms: Sequence[Mapping[str, object]] = worth.view["coverage"]["terms"] if "coverage" in worth.view else []
    return ", ".join(str(term["text"]) for term in terms if term["packed"] is packed)
