"""The ledger tab: why a row has its rank, the parts of its score, and what would change its rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.config import LEAST_WEIGHT
from recall_core.types import SIGNALS, Hit, Part
from recall_tui.panes.plot import stability
from recall_tui.state.explaining import Ledger, RowsAround
from recall_tui.widgets.draw import (
    BOLD,
    COLOURS,
    DIM,
    LABEL,
    TEXTS,
    Glyphs,
    bar,
    figure,
    fit,
    fit_place,
    fold,
    fold_beside,
    harmless,
    keep_sign,
    number,
    one_line,
    pluralize,
    raw_number,
    round_to_total,
    spelt,
    split,
    truncate,
    wrap,
)

if TYPE_CHECKING:
    from recall_core.contract.ledger import (
        ExplanationView,
        LeafView,
        LedgerView,
        NeighbourView,
        StabilityView,
        VersusView,
    )

ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")
TIES = {
    "path": "equal scores go by path",
    "offset": "equal scores in a document go by place",
    "fused": "equal scores keep their order from before the reranker",
}
"""How rows with equal scores are ordered."""
BEST = {"lexical": "best match of words", "semantic": "nearest in meaning", "rerank": "first by the reranker"}
BY = {"lexical": "by words", "semantic": "in meaning", "rerank": "by the reranker"}
NONE = {"lexical": "no query term", "semantic": "no vector", "rerank": "not seen by the reranker"}
AHEAD = {
    "lexical": "{} matches the words better",
    "semantic": "{} is nearer in meaning",
    "rerank": "the reranker puts {} higher",
}


class TextPiece(NamedTuple):
    """A piece of a sentence. is_word: it is a word of the question, which is emphasised."""

    text: str
    is_word: bool = False


def sentence(hit: Hit, view: LedgerView | None, around: RowsAround | None) -> list[TextPiece]:
    """Explain the rank of a row in a sentence. view, around: None while only the hit is known."""
    place = [TextPiece(f"{_place(hit, view, around)}: ")]
    if hit.injection is not None:
        distance = f"{hit.injection.distance:g}"
        text = f"sparse-document recall added it, as it is short and near, at distance {distance}."
        return [*place, TextPiece(text)]
    if hit.score is None:
        return [*place, TextPiece("the query names no signal, so rows have an order but no score.")]
    above, below = (_neighbour(view, side) for side in ("above", "below"))
    if (rule := _rule(above, below)) is not None:
        return [*place, TextPiece(f"{rule}.")]
    own = _own(hit, view, around, below)
    return [*place, *own, *_rival(hit, around, above), TextPiece(".")]


def _place(hit: Hit, view: LedgerView | None, around: RowsAround | None) -> str:
    if hit.rank <= len(ORDINALS):
        place = ORDINALS[hit.rank - 1]
    else:
        place = f"Row {figure(hit.rank)}" + (f" of {figure(view['of'])}" if view is not None else "")
    return f"{place} of the documents, by its best chunk" if around is not None and around.of_documents else place


def _neighbour(view: LedgerView | None, side: str) -> NeighbourView | None:
    return next(
        (each for each in (view.get("neighbours", []) if view is not None else ()) if each["side"] == side), None
    )


def _rule(above: NeighbourView | None, below: NeighbourView | None) -> str | None:
    """Return the rule that set the place, or None if the score did."""
    neighbour = above or below
    if neighbour is not None and neighbour["decided_by"] == "order_by":
        return "ORDER BY sets the place, not the score"
    ties = [each for each in (above, below) if each is not None and each["decided_by"] in TIES]
    if not ties or (above is not None and above not in ties):
        return None
    ranks = " and ".join(f"#{figure(each['rank'])}" for each in ties)
    scores = "its score equals those of" if len(ties) > 1 else "its score equals that of"
    return f"{scores} {ranks}, and {TIES[ties[0]['decided_by']]}"


def _own(
    hit: Hit, view: LedgerView | None, around: RowsAround | None, below: NeighbourView | None
) -> Iterator[TextPiece]:
    """Yield what favours the row: a word that only this row contains, else its rank by each signal."""
    parts = sorted((part for part in hit.parts if part.weight > 0), key=lambda part: SIGNALS.index(part.signal))
    explained = view["explain"]["parts"] if view is not None and "explain" in view else []
    leaves = [leaf for part in explained for leaf in part.get("leaves", [])]
    terms = [leaf for leaf in leaves if leaf["kind"] == "term" and leaf["points"] > 0]
    if all(part.points <= 0 for part in parts):
        yield TextPiece("no signal ranks it")
        return
    alone = _alone(hit, terms, around, below)
    if alone is not None and around is not None:
        chunks, df = figure(around.chunks), alone["df"]
        if df == 1:
            yield from (
                TextPiece(f"only this chunk of {chunks} contains "),
                TextPiece(_word(alone["text"]), is_word=True),
            )
            return
        yield from (
            TextPiece(f"only this row of the first {figure(len(around.first))} contains "),
            TextPiece(_word(alone["text"]), is_word=True),
        )
        yield TextPiece(f", found in {figure(df)} of {chunks} chunks")
        return
    yield TextPiece(_ranks(parts, is_alone=len(hit.parts) == 1))
    best = max(terms, key=lambda leaf: leaf["points"], default=None)
    lexical = next((part for part in parts if part.signal == "lexical"), None)
    if (
        best is not None
        and around is not None
        and lexical is not None
        and lexical.points >= sum(part.points for part in parts) / 2
    ):
        yield from (TextPiece(", most by "), TextPiece(_word(best["text"]), is_word=True))
        yield TextPiece(f" ({figure(best['df'])} of {figure(around.chunks)})")


def _ranks(parts: Sequence[Part], *, is_alone: bool) -> str:
    """Return the rank by each signal, first ranks in words. Signals with the same rank share a phrase."""
    first = [BEST[part.signal] for part in parts if part.rank == 1]
    others = {
        rank: [BY[part.signal] for part in parts if part.rank == rank]
        for rank in sorted({part.rank for part in parts if part.rank is not None and part.rank > 1})
    }
    places = [" and ".join(first)] if first else []
    places += [f"{ordinal(rank)} {' and '.join(names)}" for rank, names in others.items()]
    places += [NONE[part.signal] for part in parts if part.rank is None]
    return ", ".join([*places, *(["the only signal"] if is_alone else [])])


def ordinal(number: int) -> str:
    """Return a place in digits.

    >>> [ordinal(place) for place in (1, 2, 3, 11, 21, 1_112)]
    ['1st', '2nd', '3rd', '11th', '21st', '1,112th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{figure(number)}{ending}"


def _alone(
    hit: Hit, terms: list[LeafView], around: RowsAround | None, below: NeighbourView | None
) -> LeafView | None:
    """Return the word that keeps the row above the next one and is in no other of the first rows."""
    if around is None or below is None or around.of_documents:
        return None
    elsewhere = {text for rank, texts in around.first.items() if rank != hit.rank for text in texts}
    is_known = hit.rank in around.first and len(around.first) > 1
    decisive = [leaf for leaf in terms if leaf["points"] > below["margin"]]
    alone = [leaf for leaf in decisive if leaf["df"] == 1 or (is_known and leaf["text"] not in elsewhere)]
    return max(alone, key=lambda leaf: leaf["points"], default=None)


def _rival(hit: Hit, around: RowsAround | None, above: NeighbourView | None) -> Iterator[TextPiece]:
    """Yield the advantage of the row above: its strongest signal, and the rarest word that this row lacks."""
    rival = around.above if around is not None else None
    if around is None or rival is None or above is None:
        return
    name = f"#{figure(above['rank'])}"
    if rival.injection is not None or above["decided_by"] == "recall":
        yield TextPiece(f"; {name} was added by sparse-document recall")
        return
    points = {part.signal: part.points for part in hit.parts}
    leads = {part.signal: part.points - points.get(part.signal, 0.0) for part in rival.parts}
    signal = max(leads, key=leads.__getitem__, default=None)
    if signal is None or leads[signal] <= 0:
        return
    missing = [text for text in around.held_above if text not in around.held and text in around.df]
    if signal == "lexical" and missing:
        rarest = min(missing, key=lambda text: around.df[text])
        yield from (
            TextPiece(f"; {name} {'also ' if around.held else ''}contains "),
            TextPiece(_word(rarest), is_word=True),
        )
        yield TextPiece(f" ({figure(around.df[rarest])} of {figure(around.chunks)})")
        return
    yield TextPiece("; " + AHEAD[signal].format(name))


def _word(text: str) -> str:
    return harmless(" ".join(text.split()))


NAME, NAME_MOST = 10, 28  # width of the first column
BAR, BAR_MOST = 4, 24  # width of a share's bar
GAP = 2  # blanks between columns
WORDS = ("feature", "token")
"""Leaf kinds that are words."""
DECISIONS = {
    "path": ", equal scores, by path",
    "offset": ", equal scores, by place in the document",
    "fused": ", equal scores, in the order before the reranker",
    "order_by": ", by ORDER BY",
    "recall": ", by sparse-document recall",
}
"""How a place was decided, if not by the score alone."""


class LedgerColumns(NamedTuple):
    """Width of each column of the table, 0 for a column that does not fit."""

    width: int
    glyphs: Glyphs
    name: int
    raw: int
    normalized: int
    weight: int
    points: int
    share: int
    bar: int

    @property
    def before_points(self) -> int:
        """Cells before the points."""
        return sum(cells + GAP for cells in (self.raw, self.normalized, self.weight) if cells) + self.name


def table_of(parts: Sequence[Part], width: int, glyphs: Glyphs) -> LedgerColumns:
    """Return the columns that fit. Drop the raw values first, then the bars, then the factors of the points."""
    raw = max((len(_raw(part)) for part in parts), default=0)
    weight = max((len(f"{part.weight:.2f}") for part in parts), default=0)
    chosen = LedgerColumns(
        width, glyphs, NAME, max(raw, 6), len("normalized"), max(weight, 6), len("points"), len("share"), BAR
    )
    dropped: dict[str, int] = {}
    for name in ("raw", "bar", "share", "normalized", "weight"):
        if _cells(chosen) > width:
            dropped[name] = 0
            chosen = LedgerColumns(**{**chosen._asdict(), **dropped})
    spare = max(0, width - _cells(chosen))
    bars = min(spare, BAR_MOST - BAR) // 2 if chosen.bar else 0
    return chosen._replace(name=min(NAME_MOST, NAME + spare - bars), bar=chosen.bar + bars)


def _cells(shape: LedgerColumns) -> int:
    after = (shape.points, shape.share, shape.bar)
    return shape.before_points + sum(cells + GAP for cells in after if cells)


def ledger_lines(
    hit: Hit, result: Ledger | None, bound: float | None, width: int, glyphs: Glyphs, *, most: int | None = None
) -> list[Text]:
    """Return the sentence, the table of signals and leaves with its checked total, the ranks, and possible changes.

    result: None while only the hit is known.
    bound: the maximum lexical score, if raw values are divided by it.
    most: number of leaves with their own line (words share one line), or None for all leaves.
    """
    view = result.view if result is not None else None
    chunk = view["chunk"] if view is not None else None
    text = Text()
    for piece in sentence(hit, chunk, result.around if result is not None else None):
        text.append(piece.text, BOLD if piece.is_word else None)
    lines = [line for _, line in wrap(text, width)]
    if hit.score is None:
        return lines
    parts = sorted(hit.parts, key=lambda part: SIGNALS.index(part.signal))
    shape = table_of(parts, width, glyphs)
    explained = chunk["explain"]["parts"] if chunk is not None and "explain" in chunk else []
    leaves = {part["signal"]: part.get("leaves", []) for part in explained}
    lines.append(_heads(shape))
    painted = round_to_total([part.points for part in parts], hit.score)
    for part, points, share in zip(parts, painted, _shares(parts, hit.score), strict=True):
        lines.append(_signal(part, keep_sign(part.points, points), share, shape))
        lines += _leaf_lines(leaves.get(part.signal, []), points, shape, most)
    lines += _total(hit, hit.score, chunk, shape)
    ranks = glyphs.dot.join(f"{part.signal} {figure(part.rank) if part.rank else 'none'}" for part in parts)
    lines += fold_beside("ranks", ranks, width)
    if view is not None and chunk is not None:
        lines += [Text(line) for line in fold(glyphs.dot.join(_changes(view)), width)]
    about = [*_about_words(leaves.get("lexical", []), bound), *_about_weights(parts)]
    lines += [Text(line, DIM) for line in fold(glyphs.dot.join(about), width)]
    if view is not None and chunk is not None:
        lines += _neighbours(chunk, width, glyphs)
        lines += _stability(view["stability"], width, glyphs) if "stability" in view else []
    return lines


def _heads(shape: LedgerColumns) -> Text:
    heads = f"{'signal':<{shape.name}}"
    for name in ("raw", "normalized", "weight", "points"):
        cells = getattr(shape, name)
        heads += f"{'':<{GAP}}{name:>{cells}}" if cells else ""
    heads += f"{'':<{GAP}}{'share':<{shape.share}}" if shape.share else ""
    return Text(fit(heads.rstrip(), shape.width, shape.glyphs).rstrip(), DIM)


def _raw(part: Part) -> str:
    return "none" if part.raw is None else raw_number(part.raw)


def _shares(parts: Sequence[Part], score: float) -> list[float]:
    """Return the share of each signal in whole percents that add up to 100, or 0 if there is no score."""
    if score <= 0 or any(part.points < 0 for part in parts):
        return [part.points / score if score > 0 else 0.0 for part in parts]
    return [percent / 100 for percent in split([part.points for part in parts], 100)]


def _signal(part: Part, points: float, share: float, shape: LedgerColumns) -> Text:
    line = Text(fit(part.signal, shape.name, shape.glyphs))
    for cells, shown in (
        (shape.raw, _raw(part)),
        (shape.normalized, number(part.value)),
        (shape.weight, f"{part.weight:.2f}"),
    ):
        line.append(f"{'':<{GAP}}{shown:>{cells}}" if cells else "")
    line.append(f"{'':<{GAP}}{number(points):>{shape.points}}", BOLD)
    if shape.bar:
        series = SIGNALS.index(part.signal)
        line.append(" " * GAP).append(
            bar(share, shape.bar, shape.glyphs, series=series), Style(color=COLOURS[part.signal])
        )
    if shape.share:
        line.append(f"{'':<{GAP}}{share:>{shape.share}.0%}")
    return truncate(line, shape.width)


def _leaf_lines(leaves: list[LeafView], total: float, shape: LedgerColumns, most: int | None) -> Iterator[Text]:
    """Yield the terms with their BM25 figures, then the other leaves. Rounding has no line.

    total: the points of the signal, to which the points shown add up.
    """
    terms = [leaf for leaf in leaves if leaf["kind"] == "term"]
    others = [leaf for leaf in leaves if leaf["kind"] not in ("term", "rounding")]
    rest: list[LeafView] = []
    if most is not None and any(leaf["kind"] in WORDS for leaf in others):
        others, rest = _words(others, shape.before_points - 2, shape.glyphs)
        is_line = True
    else:
        is_line = False
        if most is not None and len(others) > most + 1:  # a line about one leaf would take as much room
            others, rest = others[:most], others[most:]
    values = [leaf["points"] for leaf in (*terms, *others)] + [fsum(leaf["points"] for leaf in rest)]
    points = [keep_sign(value, shown) for value, shown in zip(values, round_to_total(values, total), strict=True)]
    names = max((cell_len(harmless(leaf["text"])) for leaf in terms), default=0)
    for leaf, each in zip(terms, points, strict=False):
        yield _leaf(harmless(leaf["text"]), _about_term(leaf, shape.glyphs), each, shape, names)
    of_others = points[len(terms) : -1]
    if is_line:
        yield _line_of_words(others, of_others, rest, points[-1], shape)
        return
    for leaf, each in zip(others, of_others, strict=True):
        yield _leaf(*_about_leaf(leaf, shape.glyphs), each, shape)
    if rest:
        yield _leaf(f"{figure(len(rest))} more, z shows them", [], points[-1], shape)


def _leaf(name: str, about: Sequence[str], points: float, shape: LedgerColumns, names: int = NAME_MOST) -> Text:
    """Return a name, the longest of the remarks that leaves `names` cells for names, and the points."""
    room = shape.before_points - 2
    column = max(1, min(names, shape.name - 2, room))
    remark = next((each for each in about if column + GAP + cell_len(each) <= room), None)
    if remark is None:
        shown = fit(name, room, shape.glyphs)
    else:
        shown = fit(name, column if cell_len(name) <= column else room - GAP - cell_len(remark), shape.glyphs)
        shown = fit(f"{shown}{'':<{GAP}}{remark}", room, shape.glyphs)
    line = Text(f"  {shown}", DIM).append(f"{'':<{GAP}}{number(points):>{shape.points}}", Style(dim=False))
    return truncate(line, shape.width)


def _about_term(leaf: LeafView, glyphs: Glyphs) -> list[str]:
    """Return the BM25 figures of a term, from long to short. A star marks the minimum idf."""
    tf, chunks = leaf["tf"], f"in {pluralize(leaf['df'], 'chunk')}"
    idf = f"idf {leaf['idf']:.2f}" + ("*" if leaf.get("floored") else "")
    where = f"{tf['title']:g} in title, {tf['body']:g} in text"
    times = "once" if tf["title"] + tf["body"] == 1 else f"{tf['title'] + tf['body']:g} times"
    return [*(glyphs.dot.join(each) for each in ((idf, chunks, where), (idf, chunks, times), (idf, chunks))), chunks]


def _about_leaf(leaf: LeafView, glyphs: Glyphs) -> tuple[str, list[str]]:
    """Return the name of a leaf that is not a term, and its remarks."""
    text = spelt(leaf)
    if leaf["kind"] not in TEXTS:
        return (text if text.startswith(leaf["kind"]) else f"{leaf['kind']}: {text}"), []
    cosine = [f"cosine {number(leaf['contribution'])}"] if "contribution" in leaf else []
    return text, [glyphs.dot.join([leaf["kind"], *cosine]), leaf["kind"]]


def _words(leaves: list[LeafView], room: int, glyphs: Glyphs) -> tuple[list[LeafView], list[LeafView]]:
    """Return the words with the most points that fit in `room` cells, and all other leaves."""
    shown: list[LeafView] = []
    rest = list(leaves)
    for leaf in leaves:
        if leaf["kind"] not in WORDS or not one_line(leaf["text"]):
            continue
        less = [each for each in rest if each is not leaf]
        if cell_len(_list_words([*shown, leaf], [each["points"] for each in (*shown, leaf)], less, glyphs)) > room:
            break
        shown, rest = [*shown, leaf], less
    return shown, rest


def _list_words(words: list[LeafView], points: Sequence[float], rest: list[LeafView], glyphs: Glyphs) -> str:
    """Return each word with its points, and the number of other leaves."""
    words_shown = [f"{one_line(leaf['text'])} {number(each)}" for leaf, each in zip(words, points, strict=True)]
    more = [f"{figure(sum(leaf.get('count', 1) for leaf in rest))} more"] if rest else []
    return glyphs.dot.join([*words_shown, *more])


def _line_of_words(
    words: list[LeafView], points: Sequence[float], rest: list[LeafView], of_rest: float, shape: LedgerColumns
) -> Text:
    """Return the words with the most points in one line, and the rest as one figure."""
    room = shape.before_points - 2
    text = fit(_list_words(words, points, rest, shape.glyphs), room, shape.glyphs)
    line = Text(f"  {text}", DIM).append(f"{'':<{GAP}}{number(of_rest) if rest else '':>{shape.points}}")
    return truncate(line, shape.width)


def _about_words(leaves: list[LeafView], bound: float | None) -> Iterator[str]:
    """Yield what the raw value is divided by, and what the star after an idf means."""
    if bound:
        yield f"maximum possible BM25 here: {raw_number(bound)}"
    if any(leaf.get("floored") for leaf in leaves):
        yield "* minimum idf: half the chunks or more contain it"
    if any("words" in leaf for leaf in leaves):
        yield "idf of a phrase: the sum of its words'"


def _about_weights(parts: list[Part]) -> Iterator[str]:
    """Yield what the points are divided by, if the weights of a weighted sum do not add up to 1."""
    weights = fsum(part.weight for part in parts)
    if weights <= 0 or abs(weights - 1) < LEAST_WEIGHT:
        return
    if all(abs(part.points - part.value * part.weight / weights) < 1e-9 for part in parts):
        yield f"points: normalized × weight / {weights:.2f}, the sum of weights"


def _total(hit: Hit, score: float, chunk: LedgerView | None, shape: LedgerColumns) -> list[Text]:
    """Return the total, and whether the parts and the known leaves add up to the score."""
    points = sum(part.points for part in hit.parts)
    residual = chunk.get("residual", 0.0) if chunk is not None else 0.0
    if points != score:
        mark, text = shape.glyphs.no, f"parts do not sum to the score {score:.6f}"
    elif abs(residual) >= 1e-9:
        mark, text = shape.glyphs.no, f"the lines above differ from the score by {residual:.0e}"
    else:
        mark, text = shape.glyphs.yes, "parts sum to score"
    line = Text(f"{'total':<{LABEL}}", BOLD)
    if LABEL + len(f"{mark} {text}") <= shape.before_points:
        line.append(f"{mark} {text}", Style(bold=False))
        text = ""
    line.pad_right(shape.before_points - line.cell_len)
    line.append(f"{'':<{GAP}}{number(points):>{shape.points}}")
    return [
        truncate(line, shape.width),
        *(Text(each) for each in fold(f"{mark} {text}" if text else "", shape.width)),
    ]


def _changes(view: ExplanationView) -> Iterator[str]:
    """Yield the weights at which the row changes places with its neighbours."""
    now = view["stability"]["weight"] if "stability" in view else None
    for each in view["chunk"].get("neighbours", []):
        if "flips_at" not in each or now is None:
            continue
        rank, weight, is_above = f"#{figure(each['rank'])}", each["flips_at"], each["side"] == "above"
        if weight is None or not 0 < weight < 1:
            yield f"never overtakes {rank} at any weight" if is_above else f"stays above {rank} at any weight"
        else:
            verb, sign = "overtakes" if is_above else "falls below", "<" if weight >= now else ">"
            yield f"{verb} {rank} where lexical {sign} {1 - weight:.3f}"


def _neighbours(chunk: LedgerView, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """Yield the rows right above and below, their margin, and what decided it."""
    for each in chunk.get("neighbours", []):
        is_above = each["side"] == "above"
        name = f"{each['side']} #{figure(each['rank'])}"
        score, margin = chunk.get("score", 0.0), each["margin"]
        other = score + margin if is_above else score - margin
        shown = keep_sign(margin, round(abs(round(other, 3) - round(score, 3)), 3))  # of the scores as shown
        lead = f", {'leads' if is_above else 'follows'}{lead_of(each, shown)}"
        room = width - max(LABEL, cell_len(name) + 1)
        yield from fold_beside(name, fit_place(harmless(each["path"]), lead, room, glyphs).rstrip(), width, DIM)


def lead_of(view: NeighbourView | VersusView, lead: float) -> str:
    """Return the lead of one of two rows as shown, and what decided it."""
    by = f" by {number(lead)}" if view["margin"] > 0 else ""
    return f"{by}{DECISIONS.get(view['decided_by'], '')}"


def _stability(view: StabilityView, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """Yield the weights at which the first rows keep their order, and those at which they stay the same rows."""
    order, members = (
        (each["low"], each["high"], each["low_open"], each["high_open"]) for each in (view["order"], view["members"])
    )
    pieces = stability(view["k"], order, members, glyphs, fragile=view["fragile"])
    yield from fold_beside("weights", glyphs.dot.join(pieces), width, DIM)
