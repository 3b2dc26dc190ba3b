"""`recall diff`: rank a query on two sides and print the results in two columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recall_core import api
from recall_core.adapters.flags import (
    QUESTION,
    RQL,
    TIMEOUT,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    ask_of,
    check_question,
    exit_by_gate,
    in_lines,
    read_rql,
)
from recall_core.adapters.progress import follow
from recall_core.adapters.render import clean, count_of, place, short
from recall_core.config import by_name
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint

if TYPE_CHECKING:
    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.compare import DiffRequest
    from recall_core.contract.explaining import MoveView, StandingView
    from recall_core.contract.responses import DiffResponse
    from recall_core.contract.views import ResultView


_COMPARED = tuple(
    flag
    for flag in QUESTION
    if flag.name
    in ("--bm25", "--vector", "--filter", "--no-sparse", "--all-copies", "--min-cosine", "--all-words", "--set")
)

_EXACT = tuple(flag for flag in QUESTION if flag.name == "--exact")


def diff(request: Request, streams: Streams, opener: Opener) -> DiffResponse:
    """Run `recall diff`. Raises Interrupted on Ctrl-C."""
    flags = request.flags
    if not (flags.a or flags.b or flags.a_store or flags.b_store):
        raise UsageError(
            "missing_argument", "recall diff needs a second side.", hint=Hint("diff", "WORDS", b="CONFIG")
        )
    query = _question_of(request, streams)
    with ExitStack() as opened:
        if flags.a_store and flags.b_store:
            a, b = (opened.enter_context(opener(each)) for each in (flags.a_store, flags.b_store))
        else:
            here = opened.enter_context(opener(request.store))
            a, b = (
                here if each is None else opened.enter_context(opener(each))
                for each in (flags.a_store, flags.b_store)
            )
        work = a.under(flags.a or ()).diff(b.under(flags.b or ()), query, ask_of(flags))
        return follow(work, streams=streams, name="asking", kept=lambda _: "nothing was written")


def _question_of(request: Request, streams: Streams) -> DiffRequest:
    flags = request.flags
    if flags.queries is None:
        check_question(request)
        is_rql = flags.rql is not None
        text = read_rql(flags.rql, streams.stdin) if is_rql else " ".join(request.words)
        return api.compare.DiffRequest(text, is_rql=is_rql, gate=flags.gate)
    if request.words or flags.rql is not None:
        raise UsageError("unexpected_argument", "Give either WORDS or --queries.", hint=Hint(AGAIN, queries="FILE"))
    return api.compare.DiffRequest(queries=Path(flags.queries), gate=flags.gate)


def lines(response: DiffResponse) -> Iterator[str]:
    """Yield the measures, both lists side by side, and the causes of each change. For --queries, yield the changed
    queries."""
    view = response["diff"]
    k = view["k"]
    yield f"{'rbo':<9}{view['rbo']:.3f}  {_least(view, 'rbo_min')}first {view['depth']} rows, p {view['p']:g}"
    yield f"{'jaccard':<9}{view['jaccard']:.3f}  {_least(view, 'jaccard_min')}first {k}"
    for side, compared in (("a", view["a"]), ("b", view["b"])):
        settings = [f"{key}={_setting_text(value)}" for key, value in by_name(compared["settings"]).items()]
        store = [compared["store"]] if "store" in compared else []
        yield f"{side:<9}{clean('  '.join([*store, *settings])) or 'as set'}"
    if "queries" in view:
        yield (
            f"{'changed':<9}{view['queries_changed']} of {view['queries']} queries, "
            f"first row changed in {view['firsts_changed']}"
        )
    for change in view["sets"]:
        other = "b" if change["side"] == "a" else "a"
        yield f"{'absent':<9}{count_of(change['rows'], 'row')} of {other} not in {change['side']}: {change['cause']}"
    for each in view.get("changed", []):
        first = "first" if each["first_changed"] else ""
        figures = f"rbo {each['rbo']:.3f}  jaccard {each['jaccard']:.3f}"
        yield f"{'':<9}{figures}  {first:<5}  {clean(each['query'])}  {short(each['text'])}"
    if "moves" in view:
        yield from _columns(view["moves"], k)
        for move in view["moves"]:
            reasons = [*_split(move), *_notes(move)]
            if move["kind"] != "same" or reasons:
                ranks = f"{_rank(move['a'])} -> {_rank(move['b'])}"
                yield f"{ranks:>12}  {_place(move)}  {'; '.join(reasons)}".rstrip()
    for condition in view.get("gate", []):
        value = "-" if condition["value"] is None else f"{condition['value']:.3f}"
        yield f"{'gate':<9}{condition['condition']}  {value}  {'holds' if condition['holds'] else 'FAILS'}"


def _least(view: Mapping[str, Any], figure: str) -> str:
    return f"min {view[figure]:.3f}  " if figure in view else ""


def _setting_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else f"{value}"


def _columns(moves: Sequence[MoveView], k: int) -> Iterator[str]:
    """Yield each rank with the row of side a, the row of side b and its move."""
    a = {move["a"]["rank"]: move for move in moves}
    b = {move["b"]["rank"]: move for move in moves}
    rows = [
        (str(rank), _cell(a.get(rank), "a"), _cell(b.get(rank), "b"))
        for rank in range(1, k + 1)
        if rank in a or rank in b
    ]
    if not rows:
        return
    width = max(len(left) for _, left, _ in rows)
    for rank, left, right in rows:
        yield f"{rank:>4}  {left:<{width}}  | {right}".rstrip()


def _cell(move: MoveView | None, side: Literal["a", "b"]) -> str:
    if move is None:
        return ""
    before, after, note = move["a"]["rank"], move["b"]["rank"], ""
    if move["kind"] == ("gone" if side == "a" else "new"):
        note = move["kind"]
    elif side == "b" and move["kind"] != "same" and before is not None and after is not None:
        note = f"up {before - after}" if after < before else f"down {after - before}"
    score = move[side]["score"]
    figure = "" if score is None else f"{score:.3f}  "
    return f"{note:<7}{figure}{_place(move)}"


def _split(move: MoveView) -> Iterator[str]:
    before, after = move["a"]["score"], move["b"]["score"]
    if before is None or after is None or move["delta"] is None or not move["causes"]:
        return
    parts = ", ".join(f"{cause['factor']} {cause['points']:+.3f}" for cause in move["causes"])
    yield f"{before:.3f} -> {after:.3f}, {move['delta']:+.3f} = {parts}"
    if len(move["subtotals"]) > 1:
        yield ", ".join(f"{each['signal']} {each['delta']:+.3f}" for each in move["subtotals"])


def _notes(move: MoveView) -> Iterator[str]:
    yield from (f"not in {each['side']}: {each['cause']}" for each in move["absent"])
    for side, standing in (("a", move["a"]), ("b", move["b"])):
        if "injected" in standing:
            yield f"added by sparse recall in {side}"
        if "displaced" in standing:
            yield f"displaced by sparse recall in {side}"


def _rank(standing: StandingView) -> str:
    return "-" if standing["rank"] is None else f"#{standing['rank']}"


def _place(move: MoveView) -> str:
    row: ResultView = {"doc": move["doc"]}
    if "chunk" in move:
        row["chunk"] = move["chunk"]
    return place(row)


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "diff",
        "Compare two rankings of the same question: two configurations, two stores, or both.",
        run=diff,
        prints=in_lines(lines),
        operand=Operand("WORDS", WORDS + "; or use --rql or --queries", least=0, most=None),
        flags=(
            Flag("--a", "first side: a recall.toml, or comma-separated settings", "CONFIG", many=True),
            Flag("--b", "second side", "CONFIG", many=True),
            Flag("--a-store", "store of the first side (default: --store)", "PATH"),
            Flag("--b-store", "store of the second side", "PATH"),
            RQL,
            Flag("--queries", "compare these queries: JSON lines of {_id, text} (BEIR), or TSV", "FILE"),
            K,
            Flag("--gate", 'exit 7 unless these hold: "rbo>=.9,jaccard>=.8"', "CONDITIONS"),
            *_COMPARED,
            *_EXACT,
            TIMEOUT,
        ),
        examples=(
            "recall diff retries --b semantic_weight=0.5",
            "recall diff --queries queries.jsonl --b other.toml --gate 'rbo>=.9,firsts_changed<=2'",
            'recall diff "zero-downtime deploy" --b-store ../other/recall.db --json',
        ),
        exit_code=lambda response, flags: exit_by_gate(response["diff"].get("gate", [])),
    ),
)
