"""The lines of a context: blocks, what was left out, what-ifs that wait, and the account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.style import Style
from rich.text import Text

from recall_core.types import Block, Omission, Packed
from recall_tui.state.packing import Entry, Worth, digest
from recall_tui.state.records import Waiting
from recall_tui.widgets.draw import Glyphs, counted, figure, fit, fit_place, folded

REASONS = {
    "budget": "over budget",
    "diversity": "document cap",
    "duplicate": "already in",
    "copy": "a copy",
    "below_min_score": "below min score",
    "dropped": "forced out",
    "empty": "no text",
}
PASSED_OVER = "not looked at"
"""In place of a reason: packing for value chooses among the first rows only, whatever room is left."""
LABEL_CELLS = 11  # the names before the lines of the account
FIRST_LINE_CHARS = 400  # more than any terminal shows of a line
ID_DIGITS = 12


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
    worth: Worth | None
    is_settled: bool
    """`worth` is that of this context, not of the one before."""
    trouble: str
    """Why the worth could not be found out."""


class Listing(NamedTuple):
    """Lines, and the line at which each entry begins."""

    lines: list[Text]
    starts: tuple[int, ...]


def listing(look: Look, width: int, glyphs: Glyphs) -> Listing:
    """The list in `width` cells; the head of the chosen entry has a pointer."""
    packed = look.packed
    if packed is None:
        return Listing([], ())
    lines = [Text(line, Style(bold=True)) for text in packed.warnings for line in folded(text, width)]
    starts = []
    previous = "block"
    for row, entry in enumerate(look.entries):
        if entry.kind != previous:
            lines += _heading("left out" if entry.kind == "omission" else "waiting", width, glyphs)
            previous = entry.kind
        starts.append(len(lines))
        drawn = _entry(look, packed, entry, width - 1, glyphs)
        lines += _chosen(drawn, glyphs.pointer) if row == look.cursor else drawn
    lines += _account(look, packed, width, glyphs)
    return Listing(lines, tuple(starts))


def _chosen(lines: list[Text], pointer: str) -> list[Text]:
    head, *others = lines
    return [Text(pointer + head.plain[1:], head.style), *others]


def _line(text: str, style: Style | None = None) -> Text:
    """A line of an entry, behind the cell that its pointer takes when it is chosen."""
    return Text(f" {text}", style or "")


def _heading(name: str, width: int, glyphs: Glyphs) -> list[Text]:
    rule = f"{glyphs.line * 2} {name} "
    return [Text(rule + glyphs.line * max(0, width - len(rule)), Style(dim=True))]


def _entry(look: Look, packed: Packed, entry: Entry, width: int, glyphs: Glyphs) -> list[Text]:
    if entry.kind == "block":
        is_recalled = any(each in packed.reserved_for for each in entry.chunk_ids)
        tokens = look.block_tokens[entry.place]
        return _block(look, packed.blocks[entry.place], tokens, is_recalled, width=width, glyphs=glyphs)
    if entry.kind == "omission":
        return [_omission(packed.omitted[entry.place], look.pins, width, glyphs)]
    return [_waiting(look.waiting[entry.place], look.pins, width, glyphs)]


def _block(look: Look, block: Block, tokens: int, is_recalled: bool, *, width: int, glyphs: Glyphs) -> list[Text]:
    marks = ["pinned"] if any(each in look.pins for each in block.chunk_ids) else []
    marks += ["recalled"] if is_recalled else []
    marks += ["cut"] if block.truncated else []
    size = f" {', '.join(marks)} {figure(tokens):>6} tok" if marks else f" {figure(tokens):>6} tok"
    fill = glyphs.series[(block.number - 1) % 3]
    head = f"{fill} {block.number} "
    span = f":{block.line_start}-{block.line_end}"
    where = fit_place(block.doc.path, span, width - len(head) - len(size), glyphs)
    lines = [_line(fit(head + where, width - len(size), glyphs) + size, Style(bold=True))]
    if not (look.is_whole or look.unfolded in block.chunk_ids):
        return [*lines, _line(fit(f"  {_first_line(block.text)}", width, glyphs))]
    lines += [_line(f"  {line}") for line in folded(block.text, width - 2)]
    if block.truncated:
        lines.append(_line(fit(f"  {glyphs.cut} cut here{_cut(look)}", width, glyphs), Style(dim=True)))
    return [*lines, Text()] if look.is_whole else lines


def _first_line(text: str) -> str:
    """The first line with something on it, without control characters."""
    line = text.lstrip()[:FIRST_LINE_CHARS].partition("\n")[0].expandtabs(4)
    if line.isprintable():
        return line
    return "".join(mark if mark.isprintable() else " " for mark in line).rstrip()


def _cut(look: Look) -> str:
    if look.worth is None or not look.is_settled:
        return " to fit the budget"
    cut = look.worth.view["truncated_tokens"]
    return f": {counted(cut, 'token')} of this chunk {'is' if cut == 1 else 'are'} left out"


def _omission(left: Omission, pins: tuple[str, ...], width: int, glyphs: Glyphs) -> Text:
    reason = PASSED_OVER if left.reason == "budget" and not left.chunk_id else REASONS[left.reason]
    reason = f" pinned, {reason}" if left.chunk_id in pins else f" {reason}"
    more = f" and {figure(left.chunks - 1)} more" if left.chunks > 1 else ""
    head = f"{glyphs.out} #{figure(left.rank)}{' ' if left.path else ''}"
    where = head + fit_place(left.path, more, width - len(head) - len(reason), glyphs)
    return _line(fit(where, width - len(reason), glyphs) + reason, Style(dim=True))


def _waiting(waiting: Waiting, pins: tuple[str, ...], width: int, glyphs: Glyphs) -> Text:
    mark = "pinned" if waiting.chunk_id in pins else "forced out"
    reason = f" {mark}, {'no candidate' if waiting.path else 'not in the store'}"
    where = f"? {fit_place(waiting.path or waiting.chunk_id[:ID_DIGITS], '', width - 2 - len(reason), glyphs)}"
    return _line(fit(where, width - len(reason), glyphs) + reason, Style(dim=True))


def _account(look: Look, packed: Packed, width: int, glyphs: Glyphs) -> list[Text]:
    """What the context is worth, in the words of `recall context --explain`, and the digest of its bytes."""
    lines = _heading("worth" if look.is_settled else f"worth {glyphs.cut}", width, glyphs)
    if look.trouble:
        lines += [Text(line) for line in folded(look.trouble, width)]
    elif look.worth is not None:
        style = Style() if look.is_settled else Style(dim=True)
        for label, told in _told(look.worth):
            lines += _labelled(label, told, width, style)
    return lines + _labelled("sha256", digest(packed), width, Style())


def _labelled(label: str, told: str, width: int, style: Style) -> list[Text]:
    first, *others = folded(told, width - LABEL_CELLS) or [""]
    lines = [Text(f"{label:<{LABEL_CELLS}}{first}", style)]
    return [*lines, *(Text(" " * LABEL_CELLS + line, style) for line in others)]


def _told(worth: Worth) -> Iterator[tuple[str, str]]:
    from recall_core.adapters.render import account_lines  # noqa: PLC0415 - drawn only once the engine has answered

    for line in account_lines(worth.view, figure):
        yield line[:LABEL_CELLS].rstrip(), line[LABEL_CELLS:]
        if line.startswith("words") and (covered := _covered(worth)):
            yield "covered", covered
    if worth.model_tokens is not None:
        yield "model", f"about {figure(worth.model_tokens)} tokens as models count"


def _covered(worth: Worth) -> str:
    terms = worth.view["coverage"]["terms"] if "coverage" in worth.view else []
    return ", ".join(term["text"] for term in terms if term["packed"])
