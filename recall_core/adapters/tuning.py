"""`recall tune`: tune on judged queries or one query, and print the curve, the figures and the break points."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import evaluate
from recall_core.adapters.flags import (
    CHECKS,
    RQL,
    SET,
    TIMEOUT,
    WORDS,
    Command,
    Flag,
    Operand,
    ask_of,
    in_lines,
    on_store,
    read_rql,
)
from recall_core.adapters.progress import follow
from recall_core.adapters.render import clean, count_of, short
from recall_core.config import by_name
from recall_core.errors import UsageError
from recall_core.shell import Hint, Verbatim
from recall_core.text import cite

if TYPE_CHECKING:
    from recall_core.adapters.flags import Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.judging import (
        BandView,
        CurveView,
        JudgedTuningView,
        PinnedView,
        ShiftView,
        SweepView,
        TuningView,
    )
    from recall_core.contract.ledger import WeightIntervalView
    from recall_core.contract.responses import SweepResponse, TuneResponse


COLUMNS = 64
"""Columns of the chart, for weights from 0 to 1."""
SHOWN = 5
"""Most winners, losers, combinations and plateau parts to print. JSON has all."""
_BARS = "▁▂▃▄▅▆▇█"
_JUDGED_ONLY = ("--queries", "--qrels", "--metric", "--unit", "--grid", "--apply")
_WORDS = Verbatim('"words"')
_QUESTION_ONLY = ("--pin", "--pin-not", "--collapse", "--k", "--filter", "--exact", "--snapshot")


def tune(recall: Recall, request: Request, streams: Streams) -> TuneResponse | SweepResponse:
    """Run `recall tune`. Raises Interrupted on Ctrl-C and then writes nothing."""
    flags = request.flags
    if request.words or flags.rql is not None:
        return _question(recall, request, streams)
    _refuse(flags, _QUESTION_ONLY, "needs WORDS", hint=Hint("tune", _WORDS, pin="ID"))
    if flags.apply and flags.set:
        raise UsageError(
            "conflicting_flags",
            "--apply compares with recall.toml, so it cannot be used with --set.",
            hint="save the settings in recall.toml first",
        )
    options = evaluate.tune.TuneOptions(
        queries=None if flags.queries is None else Path(flags.queries),
        qrels=None if flags.qrels is None else Path(flags.qrels),
        measure="ndcg@10" if flags.metric is None else flags.metric,
        grid=tuple(flags.grid or ()),
        curve=flags.sweep,
        unit=flags.unit,
        apply=flags.apply,
    )
    work = recall.tune(options, ask_of(flags))
    return follow(work, streams=streams, name="asking", kept=lambda _: "nothing was written")


def exit_by_outcome(response: TuneResponse | SweepResponse, flags: Any) -> int:
    """Return 7 if nothing is recommended or no weight satisfies every pin, else 0."""
    view = response["tuning"]
    is_refused = "judged" in view and "refused" in view["judged"]
    return 7 if is_refused or ("pinned" in view and not view["pinned"]["weights"]) else 0


def lines(response: TuneResponse | SweepResponse) -> Iterator[str]:
    """Yield the answer, one labelled line per figure."""
    view = response["tuning"]
    if "judged" in view:
        yield from _judged_lines(view, view["judged"])
    if "sweep" in view:
        yield from _sweep_lines(view, view["sweep"])
    if "pinned" in view:
        yield from _pinned_lines(view, view["pinned"])


def chart(curve: CurveView, *, plateau: Sequence[BandView], weight: float, name: str) -> Iterator[str]:
    """Yield the curve from weight 0 to 1: a bar per column for the mean at its centre, the plateau, the weight."""
    middles = [(column + 0.5) / COLUMNS for column in range(COLUMNS)]
    heights = [curve["means"][bisect_right(curve["weights"], each) - 1] for each in middles]
    low, high = min(heights), max(heights)
    steps = [0 if high == low else int((each - low) / (high - low) * (len(_BARS) - 1)) for each in heights]
    edges = [(column / COLUMNS, (column + 1) / COLUMNS) for column in range(COLUMNS)]
    touched = (any(band["low"] < right and left < band["high"] for band in plateau) for left, right in edges)
    near = "".join("=" if each else " " for each in touched)
    quarters = "".join(f"{each:>{COLUMNS // 4}}" for each in (".25", ".5", ".75"))
    yield f"{name:<12}{''.join(_BARS[each] for each in steps)}  {low:.3f} to {high:.3f}"
    yield f"{'plateau':<12}{near}".rstrip()
    yield f"{'now':<12}{' ' * min(int(weight * COLUMNS), COLUMNS - 1)}^"
    yield f"{'weight':<12}0{quarters}{'1':>{COLUMNS // 4 - 1}}"


def _question(recall: Recall, request: Request, streams: Streams) -> SweepResponse:
    flags = request.flags
    _refuse(
        flags, _JUDGED_ONLY, "cannot be used with WORDS or --rql", hint=Hint("tune", queries="FILE", qrels="FILE")
    )
    pins, nots = (tuple(given or ()) for given in (flags.pin, flags.pin_not))
    wishes = (
        *(evaluate.tune_question.PinTarget("in", each) for each in pins),
        *(evaluate.tune_question.PinTarget("out", each) for each in nots),
    )
    if wishes and flags.sweep:
        raise UsageError("conflicting_flags", "Give either --sweep or pins.", hint=Hint("tune", _WORDS, sweep=True))
    if flags.rql is not None:
        if request.words:
            raise UsageError("unexpected_argument", "Give either WORDS or --rql.", hint=Hint("tune", rql="@FILE"))
        _refuse(flags, ("--filter",), "cannot be used with --rql", hint="write it in the query: FILTER")
    text = " ".join(request.words) if flags.rql is None else read_rql(flags.rql, streams.stdin)
    return recall.sweep(
        text,
        ask_of(flags),
        is_rql=flags.rql is not None,
        breaks=flags.sweep,
        collapse=flags.collapse,
        wishes=wishes,
    )


def _refuse(flags: object, names: Sequence[str], why: str, *, hint: str) -> None:
    for name in names:
        if getattr(flags, name[2:].replace("-", "_")):
            raise UsageError("conflicting_flags", f"{name} {why}.", hint=hint)


def _judged_lines(tuning: TuningView, view: JudgedTuningView) -> Iterator[str]:
    if "curve" in view:
        yield from chart(view["curve"], plateau=view["plateau"], weight=tuning["weight"], name=view["measure"])
        yield ""
    settings = f"  {_write_settings(view['settings'])}" if view["settings"] else ""
    gain, interval = view["gain_interval"], view["best_weight_interval"]
    yield f"{'measure':<12}{view['measure']} of {evaluate.questions.PLURAL[view['unit']]}"
    yield f"{'now':<12}{view['current']:.4f}  weight {tuning['weight']:g}"
    yield f"{'best':<12}{view['best']:.4f}  weight {_bands(view['best_weights'])}{settings}"
    yield f"{'plateau':<12}{_bands(view['plateau'])}"
    yield f"{'best weight':<12}95 % of resamples: {interval['low']:.3f} to {interval['high']:.3f}"
    yield f"{'gain':<12}{view['gain']:+.4f}  95 % {gain['low']:+.4f} to {gain['high']:+.4f}"
    yield f"{'honest gain':<12}{view['honest_gain']:+.4f}  each query measured at the weight chosen without it"
    yield f"{'expected':<12}{view['expected_gain']:+.4f}  on new queries, corrected for picking the best"
    yield from _power_lines(view)
    yield f"{'p':<12}{view['p_picked']:.3f}  corrected for picking the best weight; {view['p']:.3f} uncorrected"
    yield f"{'judged':<12}{view['judged']['current']:.0%} of the rows now, {view['judged']['best']:.0%} at the best"
    fragile, median = view["stability"]["fragile"], view["stability"]["median"]
    middle = "" if median is None else f"; median at {median:.3f}"
    yield f"{'unstable':<12}{fragile} of {view['queries']} orders change if the weight moves by .02{middle}"
    tried = sorted(view["combinations"], key=lambda each: -each["best"]) if len(view["combinations"]) > 1 else []
    for place, each in enumerate(tried[:SHOWN]):
        settings = _write_settings(each["settings"]) or "as set"
        yield f"{'' if place else 'tried':<12}{each['best']:.4f}  {each['gain']:+.4f}  {settings}"
    yield from _more(len(tried))
    for name, changes in (("winners", view["winners"]), ("losers", view["losers"])):
        yield f"{name:<12}{len(changes)}"
        for change in changes[:SHOWN]:
            values = f"{change['before']:.3f} -> {change['after']:.3f}"
            yield f"{'':<12}{values}  {clean(change['query'])}  {short(change['text'], 60)}"
        yield from _more(len(changes))
    step = view["surer_step"]
    if step is not None:
        low, high = step["gain_interval"]["low"], step["gain_interval"]["high"]
        gain_text = f"{step['gain']:+.4f}  95 % {low:+.4f} to {high:+.4f}  p {step['p']:.3f}"
        settings_text = _write_settings(step["settings"])
        yield f"{'safer step':<12}{settings_text}  {gain_text}  {step['expected_gain']:+.4f} expected"
    recommended = view["recommended"]
    if recommended is not None:
        settings = _write_settings(recommended["settings"])
        yield f"{'recommended':<12}{settings}  {view['measure']} {recommended['mean']:.4f}"
    if "refused" in view:
        yield f"{'refused':<12}{view['refused']['reason']} ({view['refused']['code']})"
    if "applied" in view:
        yield f"{'applied':<12}{_write_settings(view['applied']['settings'])}  in {view['applied']['path']}"


def _power_lines(view: JudgedTuningView) -> Iterator[str]:
    """Yield the smallest detectable gain, and how many more judged queries would confirm the observed gains."""
    power = view["power"]
    least = power["detectable"]
    if least is not None:
        yield f"{'detectable':<12}gains of {least:.4f} or more, in 4 of 5 cases with {view['queries']} queries"
    queries_needed = {view["gain"]: power["more_queries"], view["expected_gain"]: power["more_queries_expected"]}
    needs = [f"{more or 'no'} more for {gain:+.4f}" for gain, more in queries_needed.items() if more is not None]
    if needs:
        yield f"{'to confirm':<12}judged queries: {', '.join(needs)}"


def _sweep_lines(tuning: TuningView, view: SweepView) -> Iterator[str]:
    unstable = ", unstable" if view["fragile"] else ""
    candidates = count_of(view["candidates"], "candidate")
    candidates += f" of {count_of(view['texts'], 'text')}" if "texts" in view else ""
    yield f"{'now':<12}weight {tuning['weight']:g}, {candidates}, {_first(view['k'])}"
    yield f"{'order':<12}{_interval(view['order'])}  {_distance(view['order_distance'])}{unstable}"
    yield f"{'members':<12}{_interval(view['members'])}  {_distance(view['members_distance'])}"
    yield f"{'over all':<12}{count_of(view['orders'], 'order')} of {count_of(view['sets'], 'set')}"
    for point in view.get("break_points", []):
        shifts = "  ".join(_shift(each) for each in point["changes"])
        yield f"{'at':<4}{point['weight']:<10.6f}{shifts}"


def _first(k: int) -> str:
    return "the first row" if k == 1 else f"first {k} rows"


def _shift(view: ShiftView) -> str:
    where = clean(cite(view["path"], view["line_start"], view["line_end"], view.get("place")))
    if view["before"] is None:
        return f"+{where} #{view['after']}"
    return f"-{where} #{view['before']}" if view["after"] is None else f"{where} #{view['before']}->{view['after']}"


def _pinned_lines(tuning: TuningView, view: PinnedView) -> Iterator[str]:
    yield f"{'now':<12}weight {tuning['weight']:g}, {_first(view['k'])}"
    for wish in view["wishes"]:
        name = "pin" if wish["want"] == "in" else "pin-not"
        holds = "holds" if wish["holds"] else "fails"
        absent = "" if wish["candidates"] else "  not a candidate"
        yield f"{name:<12}{holds}  {clean(wish['target'])}  {_intervals(wish['weights'])}{absent}"
    yield f"{'weights':<12}{_intervals(view['weights'])}"
    if view["conflict"]:
        names = [clean(view["wishes"][each]["target"]) for each in view["conflict"]]
        yield f"{'conflict':<12}no weight satisfies {' and '.join(names)}{' together' if len(names) > 1 else ''}"
    proposed = view["proposed"]
    if proposed is not None:
        sets = " ".join(f"--set {key}={value:g}" for key, value in by_name(proposed["settings"]).items())
        yield f"{'proposed':<12}{sets}  {'confirmed' if proposed['confirmed'] else 'NOT confirmed'}"


def _distance(distance: float | None) -> str:
    return "at every weight" if distance is None else f"{distance:.4f} to the nearest end"


def _bands(views: Sequence[BandView]) -> str:
    """Return the widest bands in ascending order."""
    widest = sorted(views, key=lambda each: each["low"] - each["high"])[:SHOWN]
    bands = ", ".join(f"{each['low']:.4f} to {each['high']:.4f}" for each in sorted(widest, key=lambda b: b["low"]))
    more = len(views) - len(widest)
    return f"{bands}, and {more} narrower" if more else bands


def _interval(view: WeightIntervalView) -> str:
    left, right = "(" if view["low_open"] else "[", ")" if view["high_open"] else "]"
    return f"{left}{view['low']:.6g}, {view['high']:.6g}{right}"


def _intervals(views: Sequence[WeightIntervalView]) -> str:
    return " ".join(map(_interval, views)) or "none"


def _write_settings(settings: Mapping[str, str | float]) -> str:
    named = by_name(settings).items()
    return " ".join(f"{key}={f'{value:g}' if isinstance(value, float) else value}" for key, value in named)


def _more(count: int) -> Iterator[str]:
    if count > SHOWN:
        yield f"{'':<12}and {count - SHOWN} more"


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "tune",
        "Find the weights that rank judged queries best, or that put chosen chunks on top.",
        run=on_store(tune),
        prints=in_lines(lines),
        operand=Operand("WORDS", WORDS + "; without words, tune on judged queries", least=0, most=None),
        flags=(
            Flag("--sweep", "show every weight at which the ranking changes, or the curve over judged queries"),
            Flag("--collapse", "count copies of a text once, as search does"),
            Flag("--pin", "find weights that rank this chunk or document in the top N", "TARGET", many=True),
            Flag("--pin-not", "find weights that keep this chunk or document out of the top N", "TARGET", many=True),
            Flag("--k", "size of the top (default 10)", "N", least=1, short="-n"),
            Flag("--queries", "judged queries: JSON lines (BEIR), or TSV (default: the store's)", "FILE"),
            Flag("--qrels", "judgements: BEIR TSV, TREC qrels or Quepid CSV (default: the store's)", "FILE"),
            Flag(
                "--metric", "measure to improve: ndcg, map, mrr, p or recall, with a cutoff (default ndcg@10)", "NAME"
            ),
            Flag(
                "--unit",
                "unit to measure (default: the unit of the judgements)",
                "UNIT",
                choices=("chunk", "doc"),
            ),
            Flag("--grid", "also try these comma-separated values of a ranking setting", "KEY=VALUES", many=True),
            Flag("--apply", "save the recommended settings in recall.toml"),
            RQL,
            Flag("--filter", "search only chunks that match this filter", "EXPR"),
            SET,
            *CHECKS[:2],
            TIMEOUT,
        ),
        examples=(
            "recall tune --queries queries.jsonl --qrels qrels.tsv --sweep",
            "recall tune --grid normalize=bound,max --grid fusion=weighted,rrf --grid rrf_k=10,60 --apply",
            'recall tune "undo a deploy" --sweep',
            'recall tune "undo a deploy" --pin notes/deploy.md --pin-not notes/office.md --k 3',
        ),
        note="Exits with 7 if nothing is recommended or no weight satisfies every pin.",
        exit_code=exit_by_outcome,
    ),
)
