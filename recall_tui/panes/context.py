"""Pane 5: the packed context under its budget, block by block, what was left out, and what it is worth."""

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
            line, heading = cite_row(hit, results.passages.get(hit.chunk.id))
            found[hit.chunk.id] = line + _crumb(heading, glyphs)
    return found


def _crumb(heading: str, glyphs: Glyphs) -> str:
    last = heading.rsplit("›", maxsplit=1)[-1].strip()
    return f"{glyphs.crumb}{blank(last)}" if last else ""


class Listing(NamedTuple):
    """Lines, and the line at which each entry begins."""

    lines: list[Text]
    starts: tuple[int, ...]


def listing(look: Look, width: int, glyphs: Glyphs, *, is_low: bool = False) -> Listing:
    """The list in `width` cells; the head of the chosen entry has a pointer. is_low: a block has one line."""
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
    """The folder that all packed documents share, with its slash."""
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
    """A path below the folder that all share, with its line and heading; folders give way before the heading does."""
    below = blank(path.removeprefix(folder))
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
    return blank(line.expandtabs(4)).rstrip()


def _omission(look: Look, left: Omission, folder: str, width: int, glyphs: Glyphs) -> Text:
    reason = PASSED_OVER if left.reason == "budget" and not left.chunk_id else REASONS[left.reason]
    reason = f" pinned, {reason} " if left.chunk_id in look.pins else f" {reason} "
    head, room = f"{glyphs.out} ", width - cell_len(glyphs.out) - 1 - cell_len(reason)
    if not left.path:
        first = f"#{figure(left.rank)}"
        named = fit(f"{first} and {figure(left.chunks - 1)} more" if left.chunks > 1 else first, room, glyphs)
    else:
        place = f" and {figure(left.chunks - 1)} more" if left.chunks > 1 else look.places.get(left.chunk_id, "")
        named = _fit_path(left.path, place, folder, room, glyphs)
    return Text(f"{head}{named}{reason}", DIM)


def _waiting(waiting: Waiting, pins: tuple[str, ...], width: int, glyphs: Glyphs) -> Text:
    mark = "pinned" if waiting.chunk_id in pins else "excluded"
    reason = f" {mark}, {'not in this answer' if waiting.path else 'not in the store'} "
    name = blank(waiting.path) or waiting.chunk_id[:ID_DIGITS]
    where = f"? {fit_place(name, '', width - 2 - cell_len(reason), glyphs)}"
    return Text(fit(where, width - cell_len(reason), glyphs) + reason, DIM)


def _coverage(look: Look, width: int) -> list[Text]:
    """Which of the query's terms the context does not hold, where it lacks one."""
    counts = count_covered(look.worth) if look.worth is not None else None
    if look.worth is None or counts is None or counts[0] == counts[1] or not look.is_settled:
        return []
    missing = _terms(look.worth, packed=False)
    said = f"{figure(counts[0])} of {figure(counts[1])} query terms, not in the context: {missing}"
    return [Text(line) for line in fold(said, width)]


def _account(look: Look, packed: Packed, width: int, glyphs: Glyphs) -> list[Text]:
    """What the context is worth, as `recall context --explain` has it, and the digest of its bytes."""
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
        if label == "words" and (held := _terms(worth, packed=True)):
            yield "covered", held
    if worth.model_tokens is not None:
        yield "model", f"about {figure(worth.model_tokens)} model tokens"


def _terms(worth: Worth, *, packed: bool) -> str:
    terms: Sequence[Mapping[str, object]] = worth.view["coverage"]["terms"] if "coverage" in worth.view else []
    return ", ".join(str(term["text"]) for term in terms if term["packed"] is packed)


LEAST_GAUGE = 16
"""Cells of the gauge next to which its fills are named."""
KEYS = "{type_budget} budget  {pin_chunk} pin  {drop_chunk} exclude  {details} details"


def title(session: Session) -> str:
    """The pane's title with the tokens of what is packed."""
    return f"5 Context  {tokens_line(session)}" if session.context.packed else "5 Context"


def tokens_line(session: Session) -> str:
    """Used and allowed tokens of what is packed."""
    packed = session.context.packed
    used, budget = (packed.used_tokens, packed.budget_tokens) if packed else (0, session.context.budget_tokens)
    return f"{figure(used)} of {pluralize(budget, 'token')}"


def budget_line(session: Session) -> str:
    """Used and allowed tokens, and whether another packing is on its way: for which budget."""
    return ", ".join([tokens_line(session), *_under_way(session)])


def under_line(session: Session, width: int, glyphs: Glyphs, table: Table = TABLE) -> str:
    """What is pinned, excluded, waiting or being packed; where nothing is, the keys, if there is room for them."""
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
    """The gauge, in `width` cells."""
    packed = session.context.packed
    used = packed.used_tokens if packed else 0
    budget = packed.budget_tokens if packed else session.context.budget_tokens
    return gauge(session.context.block_tokens, used, budget, width, glyphs)


def gauge_line(look: Look, width: int, glyphs: Glyphs) -> Text:
    """The gauge, and what its fills stand for; the rest of it is free."""
    packed = look.packed
    if packed is None:
        return Text(fit("Run a search to pack a context.", width, glyphs), Style(dim=True))
    legend = f" {''.join(glyphs.series[:3])} {pluralize(len(packed.blocks), 'block')} {glyphs.header} headers"
    if width < LEAST_GAUGE + cell_len(legend):
        legend = f" {pluralize(len(packed.blocks), 'block')}"
    cells = width - cell_len(legend)
    return Text(gauge(look.block_tokens, packed.used_tokens, packed.budget_tokens, cells, glyphs) + legend, DIM)


def sums(look: Look, width: int, glyphs: Glyphs) -> list[Text]:
    """The secondary figures. A mark at the end says that what follows from the quality is being worked out."""
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
    """Facts in lines of at most `width` cells, broken between facts only; never none. reserved: of the first line."""
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
LEAST_ROWS = 10  # of the list, from which a block has two of them
CORNERS = 4  # cells of a border's lower edge on both sides of its text
TOKEN_CELLS = 7  # the budget in figures, so that the line stays as long while it moves


class BudgetSlider(Track):
    """The budget on a line that ends at 50 and at 100,000 tokens; every cell is the same step in percent."""

    def __init__(self) -> None:
        super().__init__(id="budget")
        self._tokens = 0

    def show(self, tokens: int) -> None:
        """Show this budget; one beyond an end is shown at the end."""
        if tokens != self._tokens:
            self._tokens, self._share = tokens, packing.share_of(tokens)
            self.refresh()

    def labels(self, width: int) -> tuple[str, str]:
        """What it is, and the budget in figures."""
        return "budget", f"{figure(self._tokens):>{TOKEN_CELLS}} tok"

    def slide(self, share: float, *, joins: bool) -> None:
        """The budget is to be that of this place."""
        self.post_message(Do("set_budget", packing.budget_at(share)))

    def turn(self, steps: int) -> None:
        """The wheel moves the budget by 5 %."""
        self.post_message(Do("set_budget", packing.scale_tokens(self._tokens, steps * WHEEL_PERCENT)))


class BudgetGauge(LineView, can_focus=False):
    """The budget with a segment a block."""


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
        """Scroll as little as it takes to see an entry: its head first, where it is longer than the view."""
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
        """Another width folds the lines elsewhere; the chosen entry stays in sight."""
        event.prevent_default()
        self._rebuild()
        self.follow(self._cursor)

    def on_click(self, event: Click) -> None:
        """A click chooses the entry under it."""
        line = event.y + int(self.scroll_offset.y)
        rows = [row for row, start in enumerate(self._starts) if start <= line]
        if rows and line < len(self.lines):
            self.post_message(Do("choose_block", rows[-1]))


class ContextPane(Vertical, can_focus=True):
    """What an agent would be given."""

    def __init__(self) -> None:
        super().__init__(id="context")
        self._session = Session()
        self._shown: Look | None = None
        self._worth: tuple[int, Worth | None] = (0, None)

    def compose(self) -> ComposeResult:
        """The gauge and the slider above everything that they change."""
        yield BudgetGauge(id="gauge")
        yield BudgetSlider()
        yield Sums(id="sums")
        yield PackedList()

    def show_session(self, session: Session) -> None:
        """Show this session's context at its budget."""
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
        """Scroll the list by what is visible of it."""
        self.query_one(PackedList).scroll_pages(pages)

    def _look(self, session: Session) -> Look:
        """What is to be drawn. The worth of the context before stays until the next is known, and says so."""
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
