"""The ledger tab: what the score of a hit adds up from, down to words; and the compare tab, two hits leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.config import LEAST_WEIGHT
from recall_core.types import SIGNALS, Hit, Part
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, figure, fit, fit_place, folded

if TYPE_CHECKING:
    from recall_core.contract.ledger import (
        DifferenceView,
        ExplanationView,
        LeafView,
        LedgerView,
        NeighbourView,
        StabilityView,
        VersusView,
    )

NAME = 10  # cells of the first column where there is no room for more

NAME_MOST = 28

FIGURES = 33  # cells of the columns behind it: 9 raw, 8 value, 8 weight, 8 points

SHARE_CELLS = 12

VISIBLE = 0.0005  # the least that three decimals show

DIM = Style(dim=True)

TEXTS = ("feature", "collision", "token", "sentence", "removal")

"""The kinds of leaves that are a piece of a text; the others are terms and arithmetic."""

DECISIONS = {
    "path": ", equal scores, by path",
    "offset": ", equal scores, by place in the document",
    "fused": ", equal scores, in the order before the reranker",
    "order_by": ", by ORDER BY",
    "recall": ", by sparse-document recall",
}

"""What decides where it is not the score alone."""

ABSENCES = {
    "not_in_pool": "no signal proposed it",
    "filtered": "the filter does not let it through",
    "below_min_score": "its score is below min_score",
    "copy": "a row before it has its very text",
    "document": "another chunk of its document stands for it",
    "no_score": "the query asks for no score",
}


def name_width(width: int) -> int:
    """Cells of the first column in a pane of this width."""
    return max(NAME, min(NAME_MOST, width - FIGURES - 2 - SHARE_CELLS - 5))


def ledger_lines(
    hit: Hit,
    view: ExplanationView | None,
    bound: float | None,
    width: int,
    glyphs: Glyphs,
    *,
    most: int | None = None,
) -> list[Text]:
    """One line a signal above its leaves, a total that is checked, ranks, neighbours and the stretch of weights.

    view: None while only the hit itself is known. bound: the most that words could score, where that scales.
    most: leaves that are not words of the query, for each signal; the rest of them make one line.
    """
    if hit.score is None:
        return [
            Text(line) for line in folded("The query names no signal, so rows have an order and no score.", width)
        ]
    names = name_width(width)
    heads = f"{'signal':<{names}}{'raw':>9}{'value':>8}{'weight':>8}{'points':>8}  share"
    lines = [Text(fit(heads, width, glyphs), DIM)]
    parts = sorted(hit.parts, key=lambda part: SIGNALS.index(part.signal))
    leaves = _leaves_of(view)
    for part in parts:
        lines.append(_signal(part, hit.score, width, glyphs))
        lines += _leaf_lines(leaves.get(part.signal, []), hit.score, width, glyphs, most)
        if part.signal == "lexical":
            lines += _about_words(leaves.get("lexical", []), bound, width, glyphs)
    lines += [Text(fit(f"  {told}", width, glyphs).rstrip(), DIM) for told in _about_weights(parts)]
    lines += _total(hit, hit.score, view, width, glyphs)
    ranks = glyphs.dot.join(f"{part.signal} {figure(part.rank) if part.rank else 'none'}" for part in parts)
    lines += _told(f"rank {figure(hit.rank)}", ranks, width)
    if view is not None:
        lines += _standing(view["chunk"], width)
        if "stability" in view:
            lines += _stability(view["stability"], width, glyphs)
    return lines


def number(value: float) -> str:
    """A figure in three decimals; where those would show nothing, on which side of zero it is."""
    if value == 0 or abs(value) >= VISIBLE:
        return f"{value + 0.0:.3f}"  # never -0.000
    return "<.001" if value > 0 else ">-.001"


def raw_number(value: float) -> str:
    """A signal's own figure, which may be tiny and still be divided by another: in powers of ten then."""
    return f"{value:.0e}" if 0 < abs(value) < VISIBLE else f"{value:.3f}"


def count(value: int) -> str:
    """A count in at most five cells."""
    return str(value) if value < 100_000 else f"{value // 1000}k" if value < 10_000_000 else f"{value // 1_000_000}M"


def one_line(text: str) -> str:
    """A text without its line breaks and other marks that are not printed."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def spelt(leaf: LeafView | DifferenceView) -> str:
    """The text of a leaf on one line; in quotes where it is a piece of a text with nothing to see in it."""
    text = one_line(leaf["text"])
    return text or repr(leaf["text"]) if leaf["kind"] in TEXTS else text


def _signal(part: Part, score: float, width: int, glyphs: Glyphs) -> Text:
    raw = "none" if part.raw is None else raw_number(part.raw)
    figures = f"{raw:>9}{number(part.value):>8}{part.weight:>8.2f}{number(part.points):>8}"
    line = Text(f"{part.signal:<{name_width(width)}}{figures}", Style(bold=True))
    _add_share(line, part.points / score if score > 0 else 0.0, part.signal, width, glyphs)
    return line


def _add_share(line: Text, share: float, signal: str, width: int, glyphs: Glyphs) -> None:
    """A bar and a percentage, as far as there is room for a bar worth looking at."""
    cells = min(SHARE_CELLS, width - line.cell_len - 2 - 5)
    if cells >= 4:
        series = SIGNALS.index(signal)
        line.append("  ").append(bar(share, cells, glyphs, series=series), Style(color=COLOURS[signal], bold=False))
        line.append(f"{share:>5.0%}")


def _leaves_of(view: ExplanationView | None) -> dict[str, list[LeafView]]:
    if view is None or "explain" not in view["chunk"]:
        return {}
    return {part["signal"]: part.get("leaves", []) for part in view["chunk"]["explain"]["parts"]}


def _leaf_lines(leaves: list[LeafView], score: float, width: int, glyphs: Glyphs, most: int | None) -> Iterator[Text]:
    """Terms with what BM25 makes them of, then whatever else the points add up from; rounding is told below."""
    terms = [leaf for leaf in leaves if leaf["kind"] == "term"]
    others = [leaf for leaf in leaves if leaf["kind"] not in ("term", "rounding")]
    if terms:
        heads = f"{'  term':<{name_width(width)}}{'idf':>6}{'df':>6}{'tf':>5}{'len/avg':>8}{'':>8}"
        yield Text(fit(heads, width, glyphs).rstrip(), DIM)
    for leaf in terms:
        yield _with_share(_term(leaf, width, glyphs), leaf["points"], score, width)
    if others and others[0]["kind"] in TEXTS:
        heads = f"{'  text':<{name_width(width)}}{'kind':>17}{'cosine':>8}{'':>8}"
        yield Text(fit(heads, width, glyphs).rstrip(), DIM)
    most = None if most is None or len(others) == most + 1 else most  # one more takes no more than a line about it
    for leaf in others[:most]:
        yield _with_share(_leaf(leaf, width, glyphs), leaf["points"], score, width)
    if most is not None and len(others) > most:
        points = fsum(leaf["points"] for leaf in others[most:])
        name = fit(f"  {figure(len(others) - most)} more, z shows them", name_width(width) + FIGURES - 8, glyphs)
        yield _with_share(Text(f"{name}{number(points):>8}", DIM), points, score, width)


def _about_words(leaves: list[LeafView], bound: float | None, width: int, glyphs: Glyphs) -> Iterator[Text]:
    """What the raw value is divided by, and what the star of an idf says."""
    told = [f"of at most {raw_number(bound)}, the bound of its terms"] if bound else []
    told += ["* the least idf"] if any(leaf.get("floored") for leaf in leaves) else []
    told += ["idf of a phrase: the sum of its words'"] if any("words" in leaf for leaf in leaves) else []
    if told:
        yield Text(fit(f"  {glyphs.dot.join(told)}", width, glyphs).rstrip(), DIM)


def _term(leaf: LeafView, width: int, glyphs: Glyphs) -> Text:
    """idf with a star where it is the least there is; tf as title+body where the title holds the term."""
    tf, length, average = leaf["tf"], leaf["length"], leaf["average_length"]
    times = f"{tf['title']:g}+{tf['body']:g}" if tf["title"] else f"{tf['body']:g}"
    words = f"{length['title'] + length['body']:.0f}/{average['title'] + average['body']:.0f}"
    idf = f"{leaf['idf']:.2f}" + ("*" if leaf.get("floored") else "")
    name = fit(f"  {one_line(leaf['text'])}", name_width(width), glyphs)
    return Text(f"{name}{idf:>6}{count(leaf['df']):>6}{times:>5}{words:>8}{number(leaf['points']):>8}")


def _leaf(leaf: LeafView, width: int, glyphs: Glyphs) -> Text:
    """Words and sentences with their cosine; arithmetic with what it is."""
    names = name_width(width)
    if leaf["kind"] in TEXTS:
        about = f"{leaf['kind']:>10}{number(leaf['contribution']) if 'contribution' in leaf else '':>8}"
        name = fit(f"  {spelt(leaf)}", names + FIGURES - 8 - len(about), glyphs)
        return Text(f"{name}{about}{number(leaf['points']):>8}")
    said = spelt(leaf)
    named = said if said.startswith(leaf["kind"]) else f"{leaf['kind']}: {said}"
    name = fit(f"  {named}", names + FIGURES - 8, glyphs)
    return Text(f"{name}{number(leaf['points']):>8}", DIM)


def _with_share(line: Text, points: float, score: float, width: int) -> Text:
    if width - line.cell_len >= 2 + SHARE_CELLS + 5 and score > 0 and abs(points) >= VISIBLE:
        line.append(f"{'':<{2 + SHARE_CELLS}}{round(100 * points / score) or 0:>4}%", DIM)
    return line


def _about_weights(parts: list[Part]) -> Iterator[str]:
    """What the points are divided by, where the weights of a weighted sum do not add up to 1."""
    weights = fsum(part.weight for part in parts)
    if weights > 0 and abs(weights - 1) >= LEAST_WEIGHT and all(_is_of(part, weights) for part in parts):
        yield f"points: weighted value / {weights:.2f}, the sum of weights"


def _is_of(part: Part, weights: float) -> bool:
    return abs(part.points - part.value * part.weight / weights) < 1e-9


def _total(hit: Hit, score: float, view: ExplanationView | None, width: int, glyphs: Glyphs) -> list[Text]:
    """The total behind a mark that says whether the points, and once they are known the leaves, add up to it."""
    points = sum(part.points for part in hit.parts)
    mark = glyphs.yes if points == score else f"{glyphs.no} score {score:.6f}"
    cells = name_width(width) + FIGURES - 8
    total = Text(f"{'total':<{cells}}{points:>8.3f}", Style(bold=True)).append(f" {mark}")
    if view is None or "residual" not in view["chunk"]:
        return [total]
    told = _told_of_leaves(view, view["chunk"]["residual"], glyphs)
    fitting = next((each for each in told if total.cell_len + 1 + len(each) <= width), None)
    if fitting is not None:
        return [total.append(f" {fitting}")]
    return [total, *(Text(line, DIM) for line in folded(told[0], width))]


def _told_of_leaves(view: ExplanationView, residual: float, glyphs: Glyphs) -> list[str]:
    """Whether the leaves add up to the score, at length and in short."""
    if abs(residual) >= 1e-9:
        return [f"{glyphs.no} the leaves miss the score by {residual:.0e}"]
    rounding = fsum(
        leaf["points"] for made in _leaves_of(view).values() for leaf in made if leaf["kind"] == "rounding"
    )
    return [f"leaves add up, rounding {number(abs(rounding))}", "leaves add up"]


def _standing(view: LedgerView, width: int) -> Iterator[Text]:
    if "recall" in view:
        distance = view["recall"]["distance"]
        yield from _told("recalled", f"a short document at distance {distance:g} has this row", width)
    for neighbour in view.get("neighbours", []):
        yield from _told(f"{neighbour['side']} #{figure(neighbour['rank'])}", _neighbour(neighbour), width)


def _neighbour(view: NeighbourView) -> str:
    return f"{view['path']}{lead_of(view)}"


def lead_of(view: NeighbourView | VersusView) -> str:
    """By how much one of two rows leads, what decided that, and the weight at which they change places."""
    by = "" if view["margin"] == 0 else f" by {number(view['margin'])} points"
    flip = f", {flip_of(view['flips_at'])}" if "flips_at" in view else ""
    return f"{by}{DECISIONS.get(view['decided_by'], '')}{flip}"


def flip_of(weight: float | None) -> str:
    """The semantic weight at which two rows change places."""
    return "flips at no weight" if weight is None else f"flips at {weight:.3f}"


def _stability(view: StabilityView, width: int, glyphs: Glyphs) -> Iterator[Text]:
    mark, word = (glyphs.no, "fragile") if view["fragile"] else (glyphs.yes, "steady")
    order, members = (f"{each['low']:.3f} to {each['high']:.3f}" for each in (view["order"], view["members"]))
    firm = f"{mark} {word} at {view['weight']:.3f}"
    told = f"top {figure(view['k'])} in order from {order}, as a set from {members}"
    yield from _told("weight", glyphs.dot.join([firm, told]), width)


def _told(name: str, told: str, width: int) -> Iterator[Text]:
    """A name, and beside it what there is to say, folded below itself."""
    cells = max(NAME, len(name) + 1)
    for place, line in enumerate(folded(told, width - cells)):
        yield Text().append(f"{name if place == 0 else '':<{cells}}", DIM).append(line)


COMPARE_FIGURES = 9 + 9 + 9

BAR_CELLS = 14

WIDE = 66  # cells from which a bar stands beside the figures


def compare_lines(view: ExplanationView, width: int, glyphs: Glyphs) -> list[Text]:
    """Where both stand, then each leaf with its points here, there, and the difference; their sum is checked."""
    first, second = view["chunk"], view["other"]
    lines = [_head("this", first, width, glyphs), _head("other", second, width, glyphs)]
    for each in (first, second):
        if "absent" in each:
            lines += [Text(line) for line in folded(f"#{each['id'][:12]}: {ABSENCES[each['absent']]}.", width)]
    if "versus" not in view:
        return lines
    versus = view["versus"]
    lines += [Text(line, Style(bold=True)) for line in folded(_verdict(versus, first["id"]), width)]
    mark = 1 + max(cell_len(glyphs.yes), cell_len(glyphs.no))
    names = max(1, width - COMPARE_FIGURES - mark - (BAR_CELLS if width >= WIDE else 0))
    lines.append(Text(fit(f"{'leaf':<{names}}{'this':>9}{'other':>9}{'differ':>9}", width, glyphs), DIM))
    most = max((abs(each["delta"]) for each in versus["differences"]), default=0.0)
    lines += [_difference(each, most, names, width, glyphs) for each in versus["differences"]]
    return [*lines, *_sum(versus, first, second, names, glyphs)]


def _head(name: str, view: LedgerView, width: int, glyphs: Glyphs) -> Text:
    rank = "not listed" if view["rank"] is None else f"#{figure(view['rank'])}"
    score = f"{view['score']:>9.3f}" if "score" in view else ""
    head = f"{name:<7}{rank} "
    span = f":{view['line_start']}-{view['line_end']}"
    where = fit_place(view["path"], span, width - len(head) - len(score), glyphs)
    return Text(fit(head + where, width - len(score), glyphs) + score)


def _verdict(view: VersusView, first: str) -> str:
    side = "This" if view["winner"] == first else "The other"
    return f"{side} leads{lead_of(view)}."


def _difference(view: DifferenceView, most: float, names: int, width: int, glyphs: Glyphs) -> Text:
    about = "" if view["kind"] == "rounding" else spelt(view)
    named = about if about.startswith(view["kind"]) else f"{view['kind']} {about}"
    name = fit(f"{view['signal'][:3]} {named}", names - 1, glyphs)
    figures = f"{number(view['points']):>9}{number(view['other_points']):>9}{_signed(view['delta']):>9}"
    line = Text(f"{name} {figures}")
    if width >= WIDE and abs(view["delta"]) >= VISIBLE:
        series = 0 if view["delta"] >= 0 else 2
        drawn = bar(abs(view["delta"]) / most, BAR_CELLS, glyphs, series=series)
        line.append("  ").append(drawn, Style(color=COLOURS[view["signal"]] if view["signal"] in SIGNALS else None))
    return line


def _sum(versus: VersusView, first: LedgerView, second: LedgerView, names: int, glyphs: Glyphs) -> list[Text]:
    if "score" not in first or "score" not in second:
        return []
    delta = fsum(each["delta"] for each in versus["differences"])
    is_right = abs(delta - (first["score"] - second["score"])) < 1e-9
    figures = f"{first['score']:>9.3f}{second['score']:>9.3f}{_signed(delta):>9}"
    return [Text(f"{'sum':<{names}}{figures}", Style(bold=True)).append(f" {glyphs.yes if is_right else glyphs.no}")]


def _signed(value: float) -> str:
    return "=" if value == 0 else number(value) if value < VISIBLE else f"+{number(value)}"
