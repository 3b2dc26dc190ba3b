"""Pane 5: the packed context with its budget, its blocks, what was left out, and its details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import commonpath
from posixpath import basename, dirname
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Resize

from recall_core import adapters
from recall_core.errors import RecallError
from recall_core.text import behind
from recall_core.types import Omission, Packed
from recall_tui.actions.table import TABLE, Table, table_of
from recall_tui.state import packing
from recall_tui.state.packing import Entry, Worth, count_covered, digest, is_packed
from recall_tui.state.records import Waiting, cite_row
from recall_tui.state.session import Session, is_stale, result_of
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Glyphs, blank, figure, fit, fit_place, fold, gauge, pluralize
from recall_tui.widgets.lines import NONE, LineView, entitle
from recall_tui.widgets.slider import Track

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
PASSED_OVER = "not considered"
"""Shown when packing by value stopped at the first rows and never considered these."""
LABELS = {"value": "quality", "words": "terms"}
"""Labels of the account lines that differ from those of the command."""
LABEL_CELLS = 11  # width of the labels
FIRST_LINE_CHARS = 400  # more than any terminal shows on a line
ID_DIGITS = 12
DIM = Style(dim=True)


class Look(NamedTuple):
    """Everything the pane draws."""

    packed: Packed | None
    block_tokens: tuple[int, ...]
    entries: tuple[Entry, ...]
    cursor: int
    pins: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    unfolded: str
    is_whole: bool
    """Every block is shown in full."""
    has_details: bool
    worth: Worth | None
    is_settled: bool
    """`worth` belongs to this context, not to the previous one."""
    trouble: str
    """Why the worth is unknown."""
    places: Mapping[str, str] = {}
    """Place of each chunk that was left out, such as `:88 › Budget`, by chunk id."""


def places_of(session: Session, glyphs: Glyphs) -> dict[str, str]:
    """Return the line and the last heading of each chunk that was left out, if its row is fetched."""
    places, results = {}, session.results
    omitted = {each.chunk_id for each in session.context.packed.omitted} if session.context.packed else set()
    for hit in results.hits.values():
        if hit.chunk is not None and hit.chunk.id in omitted:
            line, heading = cite_row(hit, results.passages.get(hit.chunk.id))
            places[hit.chunk.id] = line + _crumb(heading, glyphs)
    return places


def _crumb(heading: str, glyphs: Glyphs) -> str:
    last = heading.rsplit("›", maxsplit=1)[-1].strip()
    return f"{glyphs.crumb}{blank(last)}" if last else ""


class Listing(NamedTuple):
    """The lines, and the first line of each entry."""

    lines: list[Text]
    starts: tuple[int, ...]


def listing(look: Look, width: int, glyphs: Glyphs, *, is_low: bool = False) -> Listing:
    """Return the list at this width, with a pointer at the chosen entry. is_low: give each block one line."""
    packed = look.packed
    if packed is None:
        return Listing([], ())
    lines = [Text(line, Style(bold=True)) for text in packed.warnings for line in fold(text, width)]
    starts = []
    previous = "block"
    folder = "" if look.is_whole else _shared_folder(packed)
    for row, entry in enumerate(look.entries):
        if entry.kind != previous:
            lines += _heading("left out" if entry.kind == "omission" else "waiting", width, glyphs)
            previous = entry.kind
        starts.append(len(lines))
        if entry.kind == "block":
            drawn = _block(look, packed, entry, folder, width - 1, glyphs=glyphs, is_low=is_low)
        elif entry.kind == "omission":
            drawn = [_omission(look, packed.omitted[entry.place], folder, width - 1, glyphs)]
        else:
            drawn = [_waiting(look.waiting[entry.place], look.pins, width - 1, glyphs)]
        mark = glyphs.pointer if row == look.cursor else " "
        lines += [Text(mark if place == 0 else " ").append_text(line) for place, line in enumerate(drawn)]
    lines += _coverage(look, width)
    if look.has_details or look.is_whole:
        lines += _account(look, packed, width, glyphs)
    return Listing(lines, tuple(starts))


def _shared_folder(packed: Packed) -> str:
    """Return the folder that all packed documents share, with a trailing slash."""
    folders = {dirname(block.doc.path) for block in packed.blocks}
    if len({folder.startswith("/") for folder in folders}) != 1:
        return ""
    folder = commonpath(folders)
    return f"{folder.rstrip('/')}/" if folder else ""


def _heading(name: str, width: int, glyphs: Glyphs) -> list[Text]:
    return [Text(fit(f"{glyphs.line * 2} {name} {glyphs.line * 2}", width, glyphs), DIM)]


def _block(
    look: Look, packed: Packed, entry: Entry, folder: str, width: int, *, glyphs: Glyphs, is_low: bool
) -> list[Text]:
    """Return `1 recall.md:88 › Budget  212` and the first line of the text, or the whole text if open."""
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
        named = _fit_path(block.doc.path, place, folder, min(room, max(24, room // 2)), glyphs).rstrip()
        line = Text(f"{number}{named}  ").append(fit(text, max(0, room - cell_len(named) - 2), glyphs), DIM)
        return [line.append(size)]
    head = Text(f"{number}{_fit_path(block.doc.path, place, folder, room, glyphs)}").append(size)
    indent = " " * cell_len(number)
    if not is_open:
        return [head, Text(fit(f"{indent}{text}", width, glyphs), DIM)]
    lines = [head, *(Text(f"{indent}{line}") for line in fold(block.text, width - len(indent)))]
    if block.truncated:
        why = " to fit the budget"
        if look.worth is not None and look.is_settled:
            cut = look.worth.view["truncated_tokens"]
            why = f": {pluralize(cut, 'token')} of this chunk {'is' if cut == 1 else 'are'} left out"
        lines.append(Text(fit(f"{indent}{glyphs.cut} cut here{why}", width, glyphs), DIM))
    return [*lines, Text()] if look.is_whole else lines


def _fit_path(path: str, place: str, folder: str, width: int, glyphs: Glyphs) -> str:
    """Fit a path relative to the shared folder, with its line and heading. Shorten the folders before the heading."""
    below = blank(path.removeprefix(folder))
    line, crumb, heading = place.partition(glyphs.crumb)
    shortest = f"{glyphs.cut_front}/{basename(below)}{place}" if "/" in below else f"{below}{place}"
    if cell_len(shortest) <= width:
        return fit_place(below, place, width, glyphs)
    return fit_place(below, line, width, glyphs, more=crumb + heading)


def _first_line(text: str, place: str) -> str:
    """Return the first line that is neither blank nor the heading, without control characters."""
    start = text.lstrip()[:FIRST_LINE_CHARS]
    line, _, others = start.partition("\n")
    if line.startswith("#") and others.strip() and place.endswith(line.lstrip("# ").rstrip()):
        line = others.lstrip().partition("\n")[0]
    return blank(line.expandtabs(4)).rstrip()


def _omission(look: Look, omission: Omission, folder: str, width: int, glyphs: Glyphs) -> Text:
    reason = PASSED_OVER if omission.reason == "budget" and not omission.chunk_id else REASONS[omission.reason]
    reason = f" pinned, {reason} " if omission.chunk_id in look.pins else f" {reason} "
    head, room = f"{glyphs.out} ", width - cell_len(glyphs.out) - 1 - cell_len(reason)
    if not omission.path:
        first = f"#{figure(omission.rank)}"
        named = fit(f"{first} and {figure(omission.chunks - 1)} more" if omission.chunks > 1 else first, room, glyphs)
    else:
        place = (
            f" and {figure(omission.chunks - 1)} more"
            if omission.chunks > 1
            else look.places.get(omission.chunk_id, "")
        )
        named = _fit_path(omission.path, place, folder, room, glyphs)
    return Text(f"{head}{named}{reason}", DIM)


def _waiting(waiting: Waiting, pins: tuple[str, ...], width: int, glyphs: Glyphs) -> Text:
    mark = "pinned" if waiting.chunk_id in pins else "excluded"
    reason = f" {mark}, {'not in this answer' if waiting.path else 'not in the store'} "
    name = blank(waiting.path) or waiting.chunk_id[:ID_DIGITS]
    where = f"? {fit_place(name, '', width - 2 - cell_len(reason), glyphs)}"
    return Text(fit(where, width - cell_len(reason), glyphs) + reason, DIM)


def _coverage(look: Look, width: int) -> list[Text]:
    """Return the query terms that the context lacks, or nothing if it has all of them."""
    counts = count_covered(look.worth) if look.worth is not None else None
    if look.worth is None or counts is None or counts[0] == counts[1] or not look.is_settled:
        return []
    missing = _terms(look.worth, packed=False)
    text = f"{figure(counts[0])} of {figure(counts[1])} query terms in the context; missing: {missing}"
    return [Text(line) for line in fold(text, width)]


def _account(look: Look, packed: Packed, width: int, glyphs: Glyphs) -> list[Text]:
    """Return what the context is worth, as `recall context --explain` prints it, and the digest of its bytes."""
    lines = _heading("details" if look.is_settled else f"details {glyphs.cut}", width, glyphs)
    if look.trouble:
        lines += [Text(line) for line in fold(look.trouble, width)]
    elif look.worth is not None:
        style = Style() if look.is_settled else DIM
        for label, text in _fold_facts(look.worth):
            lines += _label_line(label, text, width, style)
    return lines + _label_line("sha256", digest(packed), width, Style())


def _label_line(label: str, text: str, width: int, style: Style) -> list[Text]:
    first, *others = fold(text, width - LABEL_CELLS) or [""]
    lines = [Text(f"{label:<{LABEL_CELLS}}{first}", style)]
    return [*lines, *(Text(" " * LABEL_CELLS + line, style) for line in others)]


def _fold_facts(worth: Worth) -> Iterator[tuple[str, str]]:
    for line in adapters.render.account_lines(worth.view, figure):
        label = line[:LABEL_CELLS].rstrip()
        yield LABELS.get(label, label), line[LABEL_CELLS:]
        if label == "words" and (covered := _terms(worth, packed=True)):
            yield "covered", covered
    if worth.model_tokens is not None:
        yield "model", f"about {figure(worth.model_tokens)} model tokens"


def _terms(worth: Worth, *, packed: bool) -> str:
    terms: Sequence[Mapping[str, object]] = worth.view["coverage"]["terms"] if "coverage" in worth.view else []
    return ", ".join(str(term["text"]) for term in terms if term["packed"] is packed)


LEAST_GAUGE = 16
"""Least width of the gauge at which the legend explains its fills."""
KEYS = "{type_budget} budget  {pin_chunk} pin  {drop_chunk} exclude  {details} details"


def title(session: Session) -> str:
    """Return the pane's title with the tokens of the packed blocks."""
    return f"5 Context  {tokens_line(session)}" if session.context.packed else "5 Context"


def tokens_line(session: Session) -> str:
    """Return the used and the allowed tokens."""
    packed = session.context.packed
    used, budget = (packed.used_tokens, packed.budget_tokens) if packed else (0, session.context.budget_tokens)
    return f"{figure(used)} of {pluralize(budget, 'token')}"


def budget_line(session: Session) -> str:
    """Return the used and the allowed tokens, and the budget of a packing that is still running."""
    return ", ".join([tokens_line(session), *_under_way(session)])


def under_line(session: Session, width: int, glyphs: Glyphs, table: Table = TABLE) -> str:
    """Return what is pinned, excluded, waiting or being packed. If there is nothing, return the keys if they fit."""
    marked = (*session.context.pins, *session.context.drops)
    waiting = [each.chunk_id for each in session.context.waiting if each.chunk_id in marked]
    pinned = sum(each not in waiting for each in session.context.pins)
    excluded = sum(each not in waiting for each in session.context.drops)
    counts = [(pinned, "pinned"), (excluded, "excluded"), (len(waiting), "waiting")]
    words = ["stale"] if is_stale(session) else []
    words += [f"{figure(count)} {word}" for count, word in counts if count]
    words += _under_way(session)
    if words:
        return glyphs.dot.join(words)
    keys = table.spell(KEYS)
    return keys if cell_len(keys) <= width else ""


def gauge_of(session: Session, width: int, glyphs: Glyphs) -> str:
    """Return the gauge in `width` cells."""
    packed = session.context.packed
    used = packed.used_tokens if packed else 0
    budget = packed.budget_tokens if packed else session.context.budget_tokens
    return gauge(session.context.block_tokens, used, budget, width, glyphs)


def gauge_line(look: Look, width: int, glyphs: Glyphs) -> Text:
    """Return the gauge and the legend of its fills. The blank part is free."""
    packed = look.packed
    if packed is None:
        return Text(fit("Run a search to pack a context.", width, glyphs), Style(dim=True))
    legend = f" {''.join(glyphs.series[:3])} {pluralize(len(packed.blocks), 'block')} {glyphs.header} headers"
    if width < LEAST_GAUGE + cell_len(legend):
        legend = f" {pluralize(len(packed.blocks), 'block')}"
    cells = width - cell_len(legend)
    return Text(gauge(look.block_tokens, packed.used_tokens, packed.budget_tokens, cells, glyphs) + legend, DIM)


def sums(look: Look, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the secondary figures. A trailing mark means that the quality is being computed."""
    packed = look.packed
    if packed is None:
        return []
    mark = "" if look.is_settled or look.trouble else f" {glyphs.cut}"
    left_out = sum(omission.chunks for omission in packed.omitted)
    facts = [
        f"{pluralize(packed.candidates - left_out, 'chunk')} packed",
        f"{figure(left_out)} left out",
        *_quality(look.worth),
        f"headers {figure(packed.used_tokens - sum(look.block_tokens))}",
        f"free {figure(packed.budget_tokens - packed.used_tokens)}",
        *([f"{figure(packed.reserved_tokens)} for sparse-document recall"] if packed.reserved_for else []),
        f"counter {packed.counter}",
    ]
    first, *others = flow(facts, width, glyphs, reserved=2)
    lines = [fit(first, width - cell_len(mark), glyphs) + mark, *(fit(line, width, glyphs) for line in others)]
    return [Text(line, Style(dim=True)) for line in lines]


def flow(facts: Sequence[str], width: int, glyphs: Glyphs, *, reserved: int = 0) -> list[str]:
    """Join facts into lines of at most `width` cells, broken between facts. reserved: cells kept free on line 1."""
    lines = [""]
    for fact in facts:
        longer = f"{lines[-1]}{glyphs.dot}{fact}" if lines[-1] else fact
        if lines[-1] and cell_len(longer) > width - (reserved if len(lines) == 1 else 0):
            lines.append(fact)
        else:
            lines[-1] = longer
    return lines


def _under_way(session: Session) -> list[str]:
    packed = session.context.packed
    if packed is None or is_packed(session):
        return []
    is_other = packed.budget_tokens != session.context.budget_tokens
    return [f"packing for {figure(session.context.budget_tokens)}" if is_other else "packing"]


def _quality(worth: Worth | None) -> Iterator[str]:
    if worth is None:
        return
    view = worth.view
    if view["efficiency"] is not None:
        yield f"quality {view['efficiency']:.0%}"
    if (counts := count_covered(worth)) is not None:
        yield f"query terms {counts[0]} of {counts[1]}"
    if worth.model_tokens is not None:
        yield f"about {figure(worth.model_tokens)} model tokens"
    yield f"filled by {'value' if view['pack'] == 'optimal' else view['pack']}"


WHEEL_PERCENT = 5
LEAST_ROWS = 10  # height of the list from which a block has two lines
CORNERS = 4  # cells of the lower border on both sides of its text
TOKEN_CELLS = 7  # fixed width of the budget, so that the slider keeps its length while it moves


class BudgetSlider(Track):
    """The budget on a logarithmic line from 50 to 100,000 tokens."""

    def __init__(self) -> None:
        super().__init__(id="budget")
        self._tokens = 0

    def show(self, tokens: int) -> None:
        """Show this budget, clamped to the ends."""
        if tokens != self._tokens:
            self._tokens, self._share = tokens, packing.share_of(tokens)
            self.refresh()

    def labels(self, width: int) -> tuple[str, str]:
        """Return the name and the budget as text."""
        return "budget", f"{figure(self._tokens):>{TOKEN_CELLS}} tok"

    def slide(self, share: float, *, joins: bool) -> None:
        """Set the budget at this place."""
        self.post_message(Do("set_budget", packing.budget_at(share)))

    def turn(self, steps: int) -> None:
        """Change the budget by 5 % for each step of the wheel."""
        self.post_message(Do("set_budget", packing.scale_tokens(self._tokens, steps * WHEEL_PERCENT)))


class BudgetGauge(LineView, can_focus=False):
    """The budget, with one segment for each block."""


class Sums(LineView, can_focus=False):
    """The secondary figures of the context."""


class PackedList(LineView, can_focus=False):
    """The blocks, what was left out, what waits, and the account."""

    def __init__(self) -> None:
        super().__init__(id="packed")
        self._starts: tuple[int, ...] = ()
        self._cursor = 0

    def show_listing(self, look: Look) -> None:
        """Show these lines and keep the scroll offset."""
        self._cursor = look.cursor

        def build(width: int) -> list[Text]:
            is_low = self.size.height < LEAST_ROWS
            drawn: Listing = listing(look, width, self.glyphs, is_low=is_low)
            self._starts = drawn.starts
            self.chosen_line = drawn.starts[look.cursor] if look.cursor < len(drawn.starts) else NONE
            return drawn.lines

        self.show(build, keep_place=True)

    def follow(self, row: int) -> None:
        """Scroll just far enough to show an entry, or its head if the entry is taller than the view."""
        if row >= len(self._starts) or not self.size.height:
            return
        start = self._starts[row]
        end = self._starts[row + 1] if row + 1 < len(self._starts) else start + 2
        top, height = int(self.scroll_offset.y), self.size.height
        if start < top or end - start > height:
            self.scroll_to(y=0 if row == 0 else start, animate=False, immediate=True)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False, immediate=True)

    def on_resize(self, event: Resize) -> None:
        """Fold the lines to the new width and keep the chosen entry in view."""
        event.prevent_default()
        self._rebuild()
        self.follow(self._cursor)

    def on_click(self, event: Click) -> None:
        """Choose the entry under the mouse."""
        line = event.y + int(self.scroll_offset.y)
        rows = [row for row, start in enumerate(self._starts) if start <= line]
        if rows and line < len(self.lines):
            self.post_message(Do("choose_block", rows[-1]))


class ContextPane(Vertical, can_focus=True):
    """The context that an agent would receive."""

    def __init__(self) -> None:
        super().__init__(id="context")
        self._session = Session()
        self._shown: Look | None = None
        self._worth: tuple[int, Worth | None] = (0, None)

    def compose(self) -> ComposeResult:
        """Yield the gauge and the slider, then what they change."""
        yield BudgetGauge(id="gauge")
        yield BudgetSlider()
        yield Sums(id="sums")
        yield PackedList()

    def show_session(self, session: Session) -> None:
        """Show the context of this session at its budget."""
        self.set_class(is_stale(session), "-stale")
        self.set_class(session.context.details, "-details")
        slider, counts, blocks = self.query_one(BudgetSlider), self.query_one(Sums), self.query_one(PackedList)
        self._session = session
        room, table = self.size.width - CORNERS, table_of(self.app)
        entitle(self, title(session), under_line(session, room, counts.glyphs, table))
        slider.show(session.context.budget_tokens)
        look, before = self._look(session), self._shown
        if look == before:
            return
        self._shown = look
        self.query_one(BudgetGauge).show(lambda width: [gauge_line(look, width, counts.glyphs)])
        counts.show(lambda width: sums(look, width, counts.glyphs))
        blocks.show_listing(look)
        if before is not None and (look.cursor, look.unfolded, look.is_whole) != (
            before.cursor,
            before.unfolded,
            before.is_whole,
        ):
            blocks.follow(look.cursor)

    def on_resize(self, _event: Resize) -> None:
        """Fit the text in the border to its width."""
        self.show_session(self._session)

    def scroll_pages(self, pages: int) -> None:
        """Scroll the list by its visible height."""
        self.query_one(PackedList).scroll_pages(pages)

    def _look(self, session: Session) -> Look:
        """Return what to draw. Keep the previous worth, marked as unsettled, until the next is known."""
        analysis = packing.worth_analysis(session)
        result = result_of(session, analysis, Worth) if analysis is not None else None
        if isinstance(result, Worth):
            self._worth = session.results.answered, result
        question, known = self._worth
        return Look(
            packed=session.context.packed,
            block_tokens=session.context.block_tokens,
            entries=packing.entries(session),
            cursor=packing.cursor(session),
            pins=session.context.pins,
            waiting=session.context.waiting,
            unfolded=session.context.unfolded,
            is_whole=session.zoomed and session.pane == "context",
            has_details=session.context.details,
            places=places_of(session, self.query_one(Sums).glyphs),
            worth=known if question == session.results.answered else None,
            is_settled=isinstance(result, Worth),
            trouble=result.message if isinstance(result, RecallError) else "",
        )
