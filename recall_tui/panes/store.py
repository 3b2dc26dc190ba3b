"""Pane 8: the store's figures, its checks, the embedders, and the tree of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.events import Click

from recall_core import adapters
from recall_core.errors import RecallError
from recall_core.types import StoreInfo
from recall_tui.actions.table import Table, table_of
from recall_tui.state.session import Session
from recall_tui.state.store_pane import (
    VIEWS,
    TreeLine,
    View,
    checks,
    cursor_of,
    embedder_words,
    filter_of,
    ndcg,
    overview,
    remedy,
    rows_of,
    state_of,
    tree,
    view_of,
)
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Glyphs, bar, blank, figure, fit, fold, pluralize, split
from recall_tui.widgets.lines import NONE, ChoosingView, value_at

if TYPE_CHECKING:
    from recall_core.contract.store import StoreView
    from recall_core.contract.views import CheckView, EmbedderView

NAME_CELLS = 21  # of an embedder

KEYS = {
    "stats": "{check} check  {remove} remove documents  {next_store_view} next view",
    "embedder": "{open_line} re-embeds all chunks",
    "documents": "{open_line} filters the query  {turn_store(1)} opens  {turn_store(-1)} closes",
}
NAME = 11  # width of a figure's name
NUMBER = 9  # width of a figure
SIZE_CELLS = 20
TITLE_AT = 3  # cells from the pane's left edge to its title
WIDE = 66  # width from which two figures share a line
_MIB = 1 << 20


class StorePane(ChoosingView):
    """Four views of the store: stats, checks, embedder and documents."""

    def __init__(self) -> None:
        super().__init__("store")
        self._shown: tuple[object, ...] = ()
        self._front: View | None = None

    def show_session(self, session: Session) -> None:
        """Show the store of this session."""
        known = overview(session), checks(session), tree(session) if view_of(session) == "documents" else ()
        seen = (
            session.store.info,
            known,
            session.query.filter,
            session.cursors,
            session.store.task,
            session.store.task_progress,
            session.pane,
        )
        if seen == self._shown or session.store.info is None:
            return
        self._shown = seen
        self._entitle(view_of(session), _summary(session, table_of(self.app)))
        chosen = cursor_of(session) if session.pane == "store" else NONE

        def build(width: int) -> list[Text]:
            lines = _task_lines(session, width, self.glyphs)
            views = {"stats": _stats, "checks": _checks, "embedder": _embedders, "documents": document_rows}
            rows, places = views[view_of(session)](session, width, self.glyphs)
            self.places = [len(lines) + place for place in places]
            return [*lines, *rows]

        self.offer(build, chosen=chosen)

    def on_click(self, event: Click) -> None:
        """Open the view whose name was clicked in the title."""
        view = value_at(title_pieces(self._front, self.glyphs), event.x - TITLE_AT) if event.y == 0 else None
        if view is not None and self._front is not None and view != self._front:
            for _ in range((VIEWS.index(view) - VIEWS.index(self._front)) % len(VIEWS)):  # the views form a ring
                self.post_message(Do("next_store_view"))

    def _entitle(self, front: View, summary: str) -> None:
        """Set the title only if it changed: setting it redraws the whole pane."""
        if front != self._front:
            self._front = front
            pieces = title_pieces(front, self.glyphs)
            self.border_title = Content.assemble(*((text, "reverse" * (view == front)) for text, view in pieces))
        if summary != self.border_subtitle:
            self.border_subtitle = summary


def title_pieces(front: View | None, glyphs: Glyphs) -> list[tuple[str, View | None]]:
    """Return the title in pieces, each with the view that it opens. A pointer marks the open view."""
    made: list[tuple[str, View | None]] = [("8 Store  ", None)]
    for view in VIEWS:
        made += [(glyphs.dot, None)] if len(made) > 1 else []
        made.append((f"{glyphs.pointer if view == front else ''}{view.capitalize()}", view))
    return made


Rows = tuple[list[Text], list[int]]
"""Lines, and the indexes of the lines that can be chosen."""


def _task_lines(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the task that is running, with its progress if known."""
    if not session.store.task:
        return []
    line, progress = f"{session.store.task} is running", session.store.task_progress
    if progress is not None and progress.chunks:
        share = adapters.progress.share_done(progress)
        drawn = f"{glyphs.left}{bar(share, 10, glyphs)}{glyphs.right}{share:>5.0%}"
        done = f"{figure(progress.chunks - progress.waiting)} of {figure(progress.chunks)} texts"
        line = f"{session.store.task} {drawn}  {done}{glyphs.dot}^g stops"
    return [Text(fit(line, width, glyphs), Style(bold=True, reverse=True))]


def _stats(session: Session, width: int, glyphs: Glyphs) -> Rows:
    known, info = overview(session), session.store.info
    if info is None:
        return [], []
    if isinstance(known, RecallError):
        return _wrong(known, width), []
    view = known.view if known else None
    facts = _identity(info, view)
    if width >= WIDE:
        pairs = [facts[row : row + 2] for row in range(0, len(facts), 2)]
        joined = ("".join(_fact(*fact, width // 2, glyphs).plain for fact in pair) for pair in pairs)
        lines = [Text(fit(line, width, glyphs)) for line in joined]
    else:
        lines = [_fact(*fact, width, glyphs) for fact in facts]
    lines.append(_fact("embedder", info.embedder, width, glyphs))
    if view is not None:
        lines += _sizes(view, width, glyphs)
        lines += [
            _fact("sources" if row == 0 else "", folder, width, glyphs) for row, folder in enumerate(view["roots"])
        ]
    lines.append(_fact("path", info.path, width, glyphs))
    return lines, []


def _identity(info: StoreInfo, view: StoreView | None) -> list[tuple[str, str]]:
    coverage = f"{100 * info.vectors // info.chunks}%" if info.chunks else "-"  # round down: 100% means all
    return [
        ("documents", _number(info.documents)),
        ("chunks", _number(info.chunks)),
        ("tokens", f"{_number(view['tokens'])} {info.counter}" if view else f"{'...':>{NUMBER}}"),
        ("judgements", _number(view["judgements"]) if view else f"{'...':>{NUMBER}}"),
        ("vectors", f"{_number(info.vectors)} {coverage} covered"),
        ("dimension", _number(info.dimension)),
        ("generation", _number(info.generation)),
        ("digest", info.digest[:12]),
        ("tombstones", _number(info.tombstones)),
        ("chunker", info.chunker),
    ]


def _number(count: int) -> str:
    return f"{figure(count):>{NUMBER}}"


def _sizes(view: StoreView, width: int, glyphs: Glyphs) -> list[Text]:
    """Return each part of the file with its share. The rest is small tables and free pages."""
    parts = (("texts", view["text_bytes"]), ("vectors", view["vector_bytes"]), ("index", view["index_bytes"]))
    total = view["bytes"]
    rest = ("other", max(0, total - sum(size for _, size in parts)))
    lines = [_fact("file", f"{mebibytes(total):>{NUMBER}}", width, glyphs)]
    percents = split([size for _, size in (*parts, rest)], 100)
    for series, ((name, size), percent) in enumerate(zip((*parts, rest), percents, strict=True)):
        share = size / total if total else 0.0
        drawn = f"{glyphs.left}{bar(share, SIZE_CELLS, glyphs, series=series)}{glyphs.right}{percent:>4}%"
        lines.append(_fact(f"  {name}", f"{mebibytes(size):>{NUMBER}}  {drawn}", width, glyphs))
    return lines


def _checks(session: Session, width: int, glyphs: Glyphs) -> Rows:
    done = checks(session)
    lines: list[Text] = []
    places = []
    for row, (code, check) in enumerate(done):
        is_chosen = session.pane == "store" and row == cursor_of(session)
        places.append(len(lines))
        lines.append(_check(code, check, is_chosen, width, glyphs))
        if is_chosen and check is not None:
            lines += _detail(check, width)
    return lines, places


def _check(code: str, check: CheckView | None, is_chosen: bool, width: int, glyphs: Glyphs) -> Text:
    mark = glyphs.pointer if is_chosen else " "
    if check is None:
        return Text(fit(f"{mark}   pending    {code}", width, glyphs), Style(dim=True))
    sign = {"ok": glyphs.yes, "warning": "!", "error": glyphs.no}[check["severity"]]
    sign = "" if sign == check["severity"] else sign  # without Unicode the sign is the word
    line = f"{mark}{sign:<2} {check['severity']:<8} {check['code']:<15} {blank(check['evidence'])}"
    return Text(fit(line, width, glyphs), Style(bold=is_chosen or check["severity"] != "ok"))


def _detail(check: CheckView, width: int) -> list[Text]:
    """Return the full evidence if the row has no room for it, and the command that fixes the problem."""
    evidence = fold(check["evidence"], width - 6) if len(check["evidence"]) > width - 29 else []
    runs = "   Enter runs it" if check.get("fix") and remedy(check["fix"]) is not None else ""
    fix = fold(f"fix: {check['fix']}{runs}", width - 6) if check.get("fix") else []
    return [Text(f"      {line}", Style(dim=True)) for line in evidence] + [
        Text(f"      {line}", Style(bold=True)) for line in fix
    ]


def _embedders(session: Session, width: int, glyphs: Glyphs) -> Rows:
    known = overview(session)
    if isinstance(known, RecallError):
        return _wrong(known, width), []
    if known is None:
        return [Text("...")], []
    heads = f" {'':<11}{'':<17}{'dimension':>9}  nDCG@10: Cranfield, SciFact"
    lines = [Text(fit(heads, width, glyphs), Style(dim=True))]
    places = []
    for row, embedder in enumerate(known.embedders):
        is_chosen = session.pane == "store" and row == cursor_of(session)
        places.append(len(lines))
        name = f"{embedder['name']:<{NAME_CELLS}}"
        text = (glyphs.pointer if is_chosen else " ") + embedder_line(embedder, name, glyphs)
        lines.append(Text(fit(text, width, glyphs), Style(bold=is_chosen or embedder["in_use"])))
        if is_chosen:
            lines += [Text(f"    {line}", Style(dim=True)) for line in fold(embedder_words(embedder), width - 4)]
    return lines, places


def embedder_line(embedder: EmbedderView, name: str, glyphs: Glyphs, *, says_where: bool = True) -> str:
    """Return one embedder: its state, name, dimension, ranking quality, and where it runs.

    name: padded to NAME_CELLS cells.
    """
    word = state_of(embedder)
    sign = {"missing": glyphs.out, "server": "?"}.get(word, glyphs.yes)
    where = f"  {'cloud' if embedder['network'] else 'this machine'}" if says_where else ""
    return f"{sign:<2} {word:<8}{name}{embedder.get('dimension', '-'):>5}  {ndcg(embedder['name'])}{where}"


def document_rows(session: Session, width: int, glyphs: Glyphs) -> Rows:
    """Return the tree: folders with their documents and chunks, then the tags."""
    shown = tree(session)
    if not shown:
        return [Text("..." if session.store.info is None or session.store.info.documents else "No documents.")], []
    lines: list[Text] = []
    places: list[int] = []
    for line in shown:
        is_choice = line.kind not in ("more", "heading")
        is_chosen = is_choice and session.pane == "store" and len(places) == cursor_of(session)
        if is_choice:
            places.append(len(lines))
        lines.append(_tree_line(line, session, width, glyphs, is_chosen=is_chosen))
    return lines, places


def _tree_line(line: TreeLine, session: Session, width: int, glyphs: Glyphs, *, is_chosen: bool) -> Text:
    """Return `- docs/   19 docs  162 chunks`, with `filter` before the counts if it filters the query."""
    indent = "  " * line.depth
    if line.kind == "heading":
        return Text(fit(f"{glyphs.line * 2} {line.name} {glyphs.line * 2}", width, glyphs), Style(dim=True))
    if line.kind == "more":
        return Text(fit(f"   {indent}{glyphs.cut} {line.name}", width, glyphs), Style(dim=True))
    sign = {"folder": "-" if line.is_open else "+", "tag": "#"}.get(line.kind, " ")
    is_filter = bool(session.query.filter) and session.query.filter == filter_of(line)
    counts = f"{pluralize(line.documents, 'doc'):>11}"
    if line.kind != "tag":
        counts += f"{pluralize(line.chunks, 'chunk'):>14}"
    counts = f"  {'filter' if is_filter else ''}{counts} "
    head = f"{glyphs.pointer if is_chosen else ' '}{sign} {indent}{blank(line.name)}"
    return Text(fit(head, width - cell_len(counts), glyphs) + counts, Style(bold=is_chosen or is_filter))


def _summary(session: Session, table: Table) -> str:
    if view_of(session) != "checks":
        return table.spell(KEYS[view_of(session)])
    done = [check for _, check in checks(session) if check is not None]
    if len(done) < rows_of(session._replace(pane="store")):
        return f"{len(done)} of {rows_of(session._replace(pane='store'))} checked"
    counts = {severity: sum(check["severity"] == severity for check in done) for severity in ("warning", "error")}
    bad = ", ".join(f"{count} {word}{'s' * (count > 1)}" for word, count in counts.items() if count)
    return bad or "no problems"


def _fact(name: str, value: str, width: int, glyphs: Glyphs) -> Text:
    return Text(fit(f"{name:<{NAME}}{blank(value)}", width, glyphs))


def _wrong(error: RecallError, width: int) -> list[Text]:
    text = f"{error.message} {error.hint or ''}"
    return [Text(line, Style(bold=True)) for line in fold(text, width)]


def mebibytes(size: int) -> str:
    """Return a size rounded for reading. `recall stats` has the exact one."""
    return f"{size / _MIB:,.1f} MiB" if size >= _MIB else f"{size / 1024:,.1f} KiB"
