"""`recall explain`: print the ledger of a chunk as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recall_core.adapters.flags import (
    EXPLAIN,
    QUESTION,
    RQL,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    ask_of,
    check_question,
    in_lines,
    on_store,
    read_rql,
)
from recall_core.adapters.render import DIGITS, INDENT, clean, count_of, short, weight_of
from recall_core.text import behind_unit

if TYPE_CHECKING:
    from recall_core.adapters.flags import Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.ledger import (
        ColumnsView,
        LeafView,
        LedgerView,
        PartView,
        StabilityView,
        VersusView,
    )
    from recall_core.contract.responses import ExplainResponse
    from recall_core.contract.views import NormalizerEcho


WIDTH = 20  # cells of the longest bar
_TEXT = 60
_VISIBLE = 0.0005  # smaller values round to 0 with three decimals

_DECISIONS = {
    "score": "by score",
    "path": "equal scores, by path",
    "offset": "equal scores, by position in the document",
    "fused": "equal scores, by order before reranking",
    "order_by": "by ORDER BY",
    "recall": "by sparse-document recall",
}

_ABSENCES = {
    "not_in_pool": "no signal found it",
    "filtered": "the filter excludes it",
    "below_min_score": "its score is below min_score",
    "below_min_cosine": "it has no query word and its cosine is below min_cosine",
    "copy": "an earlier row has the same text",
    "document": "another chunk represents its document",
    "no_score": "the query computes no score",
}


def explain(recall: Recall, request: Request, streams: Streams) -> ExplainResponse:
    """Run `recall explain WORDS [--chunk TARGET] [--vs TARGET]`."""
    flags = request.flags
    check_question(request)
    words = " ".join(request.words) if flags.rql is None else None
    rql = None if flags.rql is None else read_rql(flags.rql, streams.stdin)
    return recall.explain(words, flags.chunk, ask_of(flags), versus=flags.vs, rql=rql)


def _indent(text: str) -> Iterator[str]:
    yield from (f"{'':{INDENT}}{clean(line)}".rstrip() for line in text.split("\n"))


def lines(response: ExplainResponse, quoted: Callable[[str], Iterable[str]] = _indent) -> Iterator[str]:
    """Yield one or two ledgers as trees, their differences, and the stability of the list.

    quoted: formats a passage as lines.
    """
    view = response["explanation"]
    signals = response["query"].get("plan", {}).get("signals", [])
    scales = {echo["signal"]: scale(echo["normalizer"]) for echo in signals if "normalizer" in echo}
    yield from _ledger(view["chunk"], scales, quoted)
    if "other" in view:
        yield ""
        yield from _ledger(view["other"], scales, quoted)
    if "versus" in view:
        yield ""
        yield from _versus(view["versus"], view["chunk"]["id"])
    if "stability" in view:
        yield ""
        yield from _stability(view["stability"])


def leaf_lines(part: PartView) -> Iterator[str]:
    """Yield the leaves of a part, one per line. Leaves that round to 0.000 are left out."""
    for leaf in part.get("leaves", []):
        if abs(leaf["points"]) >= _VISIBLE:
            yield f"    {leaf['points']:+.3f}  {leaf['kind']:<9} {_about(leaf)}"


def scale(echo: NormalizerEcho) -> str:
    """Return a short description of the normalization."""
    if "rrf_k" in echo:
        return f"weight / ({echo['rrf_k']:g} + rank)"
    if "bound" in echo:
        return f"of at most {echo['bound']:.3f}"
    return f"{echo['method']} {echo['low']:.3f} to {echo['high']:.3f} of {count_of(echo['pool_size'], 'candidate')}"


def _ledger(view: LedgerView, scales: dict[str, str], quoted: Callable[[str], Iterable[str]]) -> Iterator[str]:
    unit = view.get("passage", view)
    where = clean(view["path"] + behind_unit(view["path"], unit))
    yield "  ".join([where, view["id"][:DIGITS], *([clean(unit["heading"])] if "heading" in unit else [])])
    if "passage" in view:
        yield from quoted(view["passage"]["text"])
    if view["rank"] is None:
        copy = view.get("copy_of")
        where = "" if copy is None else f", {clean(copy['path'])} at rank {copy['rank']}"
        rows = count_of(view["of"], "row")
        yield f"not among the {rows}: {_ABSENCES[view['absent']]}{where}; {clean(view['hint'])}"
    else:
        yield f"rank {view['rank']} of {view['of']}"
    if "score" not in view:
        return
    if "summary" in view["explain"]:
        yield clean(view["explain"]["summary"])
    parts = view["explain"]["parts"]
    most = max([abs(leaf["points"]) for part in parts for leaf in [part, *part.get("leaves", [])]], default=0.0)
    for part in parts:
        yield from _part(part, most, scales.get(part["signal"], ""))
    sign = "✓" if abs(view["residual"]) < 1e-9 else "✗"
    yield f"{view['score']:>+11.6f}  Σ {sign}  residual {view['residual']:.1e}"
    if "recall" in view:
        yield f"{'recalled':<9}short document at distance {view['recall']['distance']:g}"
    for neighbour in view.get("neighbours", []):
        flip = f"  {_flip(neighbour['flips_at'])}" if "flips_at" in neighbour else ""
        decision = f"{neighbour['margin']:.6f}  {_DECISIONS[neighbour['decided_by']]}{flip}"
        place = f"#{neighbour['rank']} {neighbour['id'][:DIGITS]}  {clean(neighbour['path'])}"
        yield f"{neighbour['side']:<9}{decision}  {place}"


def _part(part: PartView, most: float, scale_of: str) -> Iterator[str]:
    raw = "-" if part["raw"] is None else f"{part['raw']:.3f}"
    rank = "-" if part["rank"] is None else f"#{part['rank']}"
    figures = f"value {part['value']:.6f}  weight {part['weight']:g}  raw {raw}  rank {rank}"
    bar = _bar(part["points"], most)
    yield f"{part['points']:>+11.6f}  {bar}  {part['signal']:<9} {figures}  {scale_of}".rstrip()
    for leaf in part.get("leaves", []):
        bar = _bar(leaf["points"], most)
        yield f"{leaf['points']:>+11.6f}  {bar}    {leaf['kind']:<9} {_about(leaf)}"


def _bar(points: float, most: float) -> str:
    """Return a bar whose length is points relative to `most`. Negative points use minus signs."""
    cells = round(WIDTH * abs(points) / most) if most else 0
    return (("-" if points < 0 else "#") * cells).ljust(WIDTH)


def _about(leaf: LeafView) -> str:
    text = _leaf_text(leaf["text"])
    if leaf["kind"] != "term":
        return text
    floored = ", floored" if leaf.get("floored") else ""
    length, average = _sum_columns(leaf["length"]), _sum_columns(leaf["average_length"])
    return (
        f"{text}{weight_of(leaf)}{floored}  in {count_of(leaf['df'], 'chunk')}  "
        f"title {leaf['tf']['title']:g} body {leaf['tf']['body']:g}  {length:g} words of {average:.0f} on average"
    )


def _leaf_text(text: str) -> str:
    """Return a leaf's text, quoted if it is only white space."""
    return short(text, _TEXT) if text.strip() else repr(text)


def _sum_columns(columns: ColumnsView) -> float:
    return columns["title"] + columns["body"]


def _flip(weight: float | None) -> str:
    return "never swaps" if weight is None else f"swaps at weight {weight:.4f}"


def _versus(view: VersusView, first: str) -> Iterator[str]:
    side = "the first" if view["winner"] == first else "the second"
    flip = f"; {_flip(view['flips_at'])}" if "flips_at" in view else ""
    yield f"{side} leads by {view['margin']:.6f}, {_DECISIONS[view['decided_by']]}{flip}"
    yield f"{'first':>11}{'second':>11}{'delta':>11}"
    most = max((abs(each["delta"]) for each in view["differences"]), default=0.0)
    for each in view["differences"]:
        figures = f"{each['points']:>+11.6f}{each['other_points']:>+11.6f}{each['delta']:>+11.6f}"
        about = f"{each['signal']:<9} {each['kind']:<9} {_leaf_text(each['text'])}"
        yield f"{figures}  {_bar(each['delta'], most)}  {about}".rstrip()
    for total in view["subtotals"]:
        figures = f"{total['points']:>+11.6f}{total['other_points']:>+11.6f}{total['delta']:>+11.6f}"
        yield f"{figures}  {total['signal']} total"
    yield f"{sum(each['delta'] for each in view['differences']):>+33.6f}  Σ"


def _stability(view: StabilityView) -> Iterator[str]:
    unstable = "  unstable" if view["fragile"] else ""
    yield f"{'weight':<9}{view['weight']:g} semantic, first {view['k']}{unstable}"
    for name, kept, distance in (
        ("order", view["order"], view["order_distance"]),
        ("members", view["members"], view["members_distance"]),
    ):
        away = "never changes" if distance is None else f"changes within {distance:.4f}"
        yield f"{name:<9}stays from {kept['low']:.4f} to {kept['high']:.4f}, {away}"


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "explain",
        "Show the ledger of a chunk: how its score adds up, word by word.",
        run=on_store(explain),
        prints=in_lines(lines),
        operand=Operand("WORDS", WORDS + "; or use --rql", least=0, most=None),
        flags=(
            Flag(
                "--chunk",
                "chunk to explain: an id (6 digits are enough) or path:LINE (default: the first hit)",
                "TARGET",
            ),
            Flag("--vs", "compare with this chunk, word by word", "TARGET"),
            RQL,
            K,
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        examples=(
            'recall explain "zero-downtime deploy"',
            'recall explain "zero-downtime deploy" --chunk docs/deploy.md:40',
            "recall explain retries --chunk 3f2a9c --vs 81b04d",
            "recall explain --rql @nightly.rql --chunk 3f2a9c --json",
        ),
    ),
)
