"""The query field: RQL in colours, bracket pairs, and completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.events import Key
from textual.geometry import Offset
from textual.widgets import TextArea
from textual.widgets.text_area import Location

from recall_core import rql
from recall_core.rql.parser import is_query
from recall_tui.state.records import KnownNames, Lookup, LookupResult
from recall_tui.widgets import Do
from recall_tui.widgets.draw import COLOURS, fit
from recall_tui.widgets.lines import MARGIN, PointedList

if TYPE_CHECKING:
    from recall_core.rql.complete import Completion

MOST_TEXT = 40  # width of a candidate
MOST_DETAIL = 60  # width of its description
MOST_ROWS = 8  # as in the style sheet; more rows add a scroll bar of one cell
FRAME = 1  # cells of the border on each side


class Offers(PointedList, can_focus=False):
    """The list of completions. If none is chosen, Enter inserts a line break."""

    def __init__(self) -> None:
        super().__init__(id="offers")
        self.display = False
        self._candidates: tuple[Completion, ...] = ()

    @property
    def is_open(self) -> bool:
        """True while the list has candidates."""
        return bool(self._candidates)

    def open(self, candidates: Sequence[Completion], below: Offset, *, is_chosen: bool) -> None:
        """Show these candidates, aligned with the typed text above, and choose the first one or none."""
        self._candidates = tuple(candidates)
        width = min(MOST_TEXT, max(cell_len(candidate.text) for candidate in candidates))
        details = min(MOST_DETAIL, max(cell_len(candidate.detail) for candidate in candidates))
        lines = [
            Text(f"{fit(candidate.text, width, self.glyphs)}  ").append(
                fit(candidate.detail, details, self.glyphs), Style(dim=True)
            )
            for candidate in candidates
        ]
        self.fill(lines, chosen=0 if is_chosen else None)
        self.absolute_offset = below + Offset(-MARGIN - FRAME, 1)
        self.styles.width = MARGIN + width + 2 + details + 2 * FRAME + (len(lines) > MOST_ROWS)
        self.display = True
        self.refresh(layout=True)

    def close(self) -> None:
        """Close the list."""
        self._candidates = ()
        self.display = False

    def candidate_at(self, row: int | None = None) -> Completion | None:
        """Return the candidate of a row or the chosen one, or None."""
        place = self.highlighted if row is None else row
        return None if place is None or place >= len(self._candidates) else self._candidates[place]


# Okabe and Ito's colours. Weight, slant or spelling also distinguish every kind.
_FIELD, _STRING, _NUMBER = "#cc79a7", "#2fb58a", "#f0e442"
STYLES = {
    "keyword": Style(bold=True),
    "constant": Style(bold=True, color=_NUMBER),
    "field": Style(color=_FIELD),
    "table": Style(color=_FIELD),
    "option": Style(color=_FIELD),
    "function": Style(bold=True),
    "string": Style(color=_STRING),
    "number": Style(color=_NUMBER),
    "comment": Style(italic=True, dim=True),
    "error": Style(underline=True),
}
FAULT = Style(underline=True, bold=True)
BRACKET, PARTNER = Style(bold=True), Style(bold=True, reverse=True)
_SIGNALS = {"lexical": "lexical", "lexical_fts": "lexical", "semantic": "semantic"}
_JOINS = " \t\r\n(,.=<>"
"""Characters that a new word may follow without a blank."""
MOST_READ = 10_000  # characters; parsing a longer query at every key would delay the keys


class Editor(TextArea):
    """The text of the query. offers: the list of completions, which the pane mounts."""

    def __init__(self, offers: Offers) -> None:
        super().__init__(id="editor", soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        self.cursor_blink = False  # each blink draws the screen, twice a second
        self.highlight_cursor_line = False
        self.match_cursor_bracket = False
        self.offers = offers
        self._fault: tuple[int, int] | None = None
        self._entries: Mapping[Lookup, LookupResult] = {}
        self._offered: tuple[str, int] | None = None
        self._coloured: tuple[str, list[tuple[int, int, Style]]] = ("", [])

    @property
    def cursor(self) -> int:
        """The place of the cursor in the text, in code points."""
        return self._index(self.cursor_location)

    def mark(self, fault: tuple[int, int] | None) -> None:
        """Underline this span of the text, in code points, or nothing."""
        if fault != self._fault:
            self._fault = fault
            self.notify_style_update()
            self.refresh()

    def put(self, text: str) -> None:
        """Replace the text as one undo step, and move the cursor to its end."""
        self.close_offers()
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.history.checkpoint()
        self.move_cursor(self.document.end)

    # Drawing.

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor if it is on a line of the text.

        After an undo that removes lines, Textual calls this once with the cursor still below them, and again once it
        has moved.
        """
        is_in_text = self.cursor_location[0] < self.document.line_count
        return super().scroll_cursor_visible(center, animate) if is_in_text else Offset()

    def get_line(self, line_index: int) -> Text:
        """Return a line of the text with its colours, the bracket pair at the cursor, and the error underlined."""
        line = super().get_line(line_index)
        before = self._index((line_index, 0))
        for start, end, style in self._styles():
            if start - before < len(line.plain) and end > before:
                line.stylize(style, max(0, start - before), end - before)
        return line

    def _styles(self) -> Iterator[tuple[int, int, Style]]:
        text = self.text
        if is_read(text):
            if self._coloured[0] != text:
                self._coloured = (text, colour(text))
            yield from self._coloured[1]
            yield from brackets(text, self.cursor)
        if self._fault is not None:
            yield (*self._fault, FAULT)

    # Completion.

    def learn(self, entries: Mapping[Lookup, LookupResult]) -> None:
        """Take answers of the store, and extend the list if the cursor has not moved since."""
        if entries is self._entries:
            return
        self._entries = entries
        if self._offered == (self.text, self.cursor):
            self._offer()

    def follow(self) -> None:
        """Update the open list for the text and the cursor, or close it if only the cursor moved."""
        if self._offered is None or self._offered == (self.text, self.cursor):
            return
        if self.offers.is_open and self.text != self._offered[0]:
            self._offer()
        else:
            self.close_offers()

    def close_offers(self) -> None:
        """Close the list until the next key."""
        self._offered = None
        self.offers.close()

    def take(self, candidate: Completion) -> None:
        """Replace the typed part by a candidate."""
        start, end = map(self._location, (candidate.start, candidate.end))
        self.close_offers()
        self.replace(candidate.text, start, end, maintain_selection_offset=False)
        if candidate.text.endswith((".", "(")):
            self._offer()

    async def _on_key(self, event: Key) -> None:
        if self.offers.is_open and self._steers(event.key):
            event.stop()
            event.prevent_default()
        elif event.is_printable:
            await super()._on_key(event)  # it inserts the character and prevents the default
            self._offer()

    def on_blur(self) -> None:
        """Close the list."""
        self.close_offers()

    def _steers(self, key: str) -> bool:
        """Handle a key for the open list. Return False if the key has no meaning there."""
        if key in ("down", "up"):
            self.offers.step(1 if key == "down" else -1)
        elif key == "tab" or (key == "enter" and self.offers.candidate_at() is not None):
            candidate = self.offers.candidate_at() or self.offers.candidate_at(0)
            if candidate is not None:
                self.take(candidate)
        elif key in ("escape", "enter"):
            self.close_offers()
            return key == "escape"
        else:
            return False
        return True

    def _offer(self) -> None:
        text, cursor = self.text, self.cursor
        lexicon = KnownNames(self._entries)
        completions = candidates(text, cursor, lexicon) if is_read(text) and self.selection.is_empty else []
        self._offered = (text, cursor)
        if lexicon.missing:
            self.post_message(Do("look_up", tuple(lexicon.missing)))
        if not completions:
            self.offers.close()
            return
        typed = text[completions[0].start : cursor]
        self.offers.open(completions, self.cursor_screen_offset - Offset(cell_len(typed), 0), is_chosen=bool(typed))

    def _index(self, location: Location) -> int:
        row, column = location
        lines = self.document.lines[:row]
        return sum(map(len, lines)) + len(lines) * len(self.document.newline) + column

    def _location(self, index: int) -> Location:
        row = self.text[:index].count(self.document.newline)
        return row, index - self._index((row, 0))


def is_read(text: str) -> bool:
    """Return True for a query that is short enough to be coloured and completed."""
    return len(text) <= MOST_READ and is_query(text)


def colour(text: str) -> list[tuple[int, int, Style]]:
    """Return the styled spans of a query, in order: start, end (exclusive, code points), style."""
    spans = []
    for start, end, kind in rql.highlight.highlight(text):
        style = STYLES.get(kind)
        if kind == "function":
            style = STYLES[kind] + Style(color=COLOURS[_SIGNALS[text[start:end]]])
        if style is not None:
            spans.append((start, end, style))
    return spans


def brackets(text: str, cursor: int) -> list[tuple[int, int, Style]]:
    """Return the spans of the bracket at the cursor and of its partner, or nothing."""
    pair = rql.highlight.bracket_match(text, cursor)
    if pair is None:
        return []
    here, partner = pair if pair[0] in (cursor, cursor - 1) else pair[::-1]
    return [(here, here + 1, BRACKET), (partner, partner + 1, PARTNER)]


def candidates(text: str, cursor: int, lexicon: KnownNames) -> list[Completion]:
    """Return the completions at a cursor: none for a finished word, and no new word directly after another."""
    completions = rql.complete.complete(text, cursor, vocabulary=lexicon)
    if any(candidate.text.lower() == text[candidate.start : candidate.end].lower() for candidate in completions):
        return []
    is_glued = text[cursor - 1 : cursor] not in _JOINS
    return [candidate for candidate in completions if not (is_glued and candidate.start == cursor)]
