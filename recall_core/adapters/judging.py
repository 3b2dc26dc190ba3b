"""`recall eval` and `recall judge`: options, the result board, and files of runs and judgements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from recall_core import adapters, api, evaluate
from recall_core.adapters.flags import SET, TIMEOUT, Command, Flag, Operand, exit_by_gate, in_lines, on_store
from recall_core.adapters.progress import follow
from recall_core.adapters.streams import Streams, for_data, replacing
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from recall_core.adapters.flags import Request
    from recall_core.api.recall import Ask, Recall
    from recall_core.contract.judging import (
        CalibrationView,
        CeilingView,
        ComparisonView,
        EvaluationView,
        FixturesView,
        IntervalView,
        RateView,
    )
    from recall_core.contract.responses import (
        CalibrationResponse,
        EvaluationResponse,
        FixturesResponse,
        JudgeResponse,
    )
    from recall_core.evaluate.formats import QrelsFormat
    from recall_core.evaluate.measures import EvalOptions, RunWriter


Rows = list[tuple[str, ...]]
"""A header row, then the data rows."""
LEFT = {"mode", "measure", "unit", "verdict", "query", "text", "against", "condition", "gate"}
"""Columns of text, aligned left. The others are numbers."""
MODE_PLACE = "{mode}"
_UNBOUND = 10_000  # wider than any terminal


def evaluate_ranking(recall: Recall, request: Request, streams: Streams) -> EvaluationResponse:
    """Run `recall eval`. Raises Interrupted on Ctrl-C and then writes nothing."""
    work = recall.evaluate(_options(request.flags))
    return follow(work, streams=streams, name="asking", kept=lambda _: "nothing was written")


def judge(recall: Recall, request: Request, streams: Streams) -> JudgeResponse:
    """Run `recall judge import` or `recall judge export`."""
    flags = request.flags
    queries, qrels = _path(flags.queries), _path(flags.qrels)
    if request.words[0] == "export":
        return _export(recall, queries, qrels, flags.format or "beir", streams)
    if flags.format is not None:
        raise UsageError("conflicting_flags", "judge import detects the format.", hint="leave out --format")
    return recall.judge_import(queries=queries, qrels=qrels)


def _options(flags: Namespace) -> EvalOptions:
    modes = "hybrid" if flags.modes is None else flags.modes
    return evaluate.measures.EvalOptions(
        queries=_path(flags.queries),
        qrels=_path(flags.qrels),
        modes=modes,
        metrics=evaluate.measures.DEFAULT if flags.metrics is None else flags.metrics,
        depth=evaluate.measures.DEPTH if flags.k is None else flags.k,
        baseline=_path(flags.baseline),
        gate=flags.gate,
        per_query=flags.per_query,
        settings=tuple(flags.set or ()),
        unit=flags.unit,
        write_run=None if flags.run is None else _run_writer(flags.run, evaluate.measures.parse_modes(modes)),
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _run_writer(pattern: str, modes: tuple[str, ...]) -> RunWriter:
    """Return a function that writes the run file of a mode. The file appears when it is complete."""
    if len(modes) > 1 and MODE_PLACE not in pattern:
        raise UsageError("bad_value", f"--run needs {MODE_PLACE} with several modes.", hint="--run {mode}.run")

    def write(mode: str, lines: Iterator[str]) -> str:
        target = Path(pattern.replace(MODE_PLACE, mode))
        with replacing(target, hint=Hint("eval", run="FILE")) as out:
            out.writelines(lines)
        return str(target)

    return write


def _export(
    recall: Recall, queries: Path | None, qrels: Path | None, form: QrelsFormat, streams: Streams
) -> JudgeResponse:
    """Write both files or neither. `-` is stdout."""
    named = [path for path in (queries, qrels) if path is not None]
    if not named:
        raise UsageError(
            "missing_argument", "judge export needs --queries or --qrels.", hint=Hint(AGAIN, qrels="FILE")
        )
    if len(named) != len({os.path.realpath(path) for path in named}):
        raise UsageError(
            "conflicting_flags", "--queries and --qrels name the same file.", hint=Hint(AGAIN, qrels="qrels.tsv")
        )
    with ExitStack() as files:

        def open_output(path: Path | None) -> TextIO | None:
            if path is None or str(path) == "-":
                return None if path is None else for_data(streams.stdout)
            return files.enter_context(replacing(path, hint=Hint("judge export", qrels="FILE")))

        queries_out, qrels_out = open_output(queries), open_output(qrels)
        response = recall.judge_export(queries=queries_out, qrels=qrels_out, form=form)
    response["judged"]["paths"] = [str(path) for path in named]
    return response


def check_fixtures(recall: Recall, request: Request, streams: Streams) -> FixturesResponse:
    """Run `recall eval --fixtures FILE`."""
    flags = request.flags
    _refuse(flags, "fixtures", ("queries", "qrels", "metrics", "unit", "run", "per_query", "calibrate_sparse"))
    baseline = None if flags.baseline is None else Path(flags.baseline)
    return recall.check_fixtures(Path(flags.fixtures), _ask(flags), baseline=baseline, gate=flags.gate)


def calibrate(recall: Recall, request: Request, streams: Streams) -> CalibrationResponse:
    """Run `recall eval --calibrate-sparse`."""
    flags = request.flags
    _refuse(flags, "calibrate_sparse", ("metrics", "unit", "run", "per_query", "baseline", "gate"))
    queries, qrels = (None if text is None else Path(text) for text in (flags.queries, flags.qrels))
    return recall.calibrate_sparse(_ask(flags), queries=queries, qrels=qrels)


def fixture_lines(view: FixturesView) -> Iterator[str]:
    """Yield the rates, the verdicts, and each fixture that failed or barely passed."""
    recall = view["sparse_recall"]
    rates = (
        ("forced", view["forced"]),
        ("on", view["on"]),
        ("on, sparse", view["sparse_on"]),
        ("on, dense", view["dense_on"]),
        ("on, recall off", view["without"]),
        ("gold found", view["gold_hit"]),
        ("recovered", recall["recovery_rate"]),
        ("injections right", recall["sparse_recall_hit_rate"]),
    )
    yield from (f"{name:<18}{_rate(each)}" for name, each in rates)
    yield f"{'verdicts':<18}" + ", ".join(f"{count} {name}" for name, count in view["verdicts"].items())
    for result in view["results"]:
        if result["verdict"] != "ok":
            cause = result.get("cause")
            why = f"  {cause['code']}: {cause['detail']}" if cause else ""
            blocked = f"  sparse recall: {result['blocked']}" if "blocked" in result else ""
            yield f"{result['verdict']:<28}{result['id']}{why}{blocked}"
    for condition in view.get("gate", []):
        value = "-" if condition["value"] is None else f"{condition['value']:.3f}"
        yield f"{'gate':<18}{condition['condition']}  {value}  {'holds' if condition['holds'] else 'FAILS'}"


def calibration_lines(view: CalibrationView) -> Iterator[str]:
    """Yield the effect of the current and the proposed ceiling, and the line for recall.toml."""
    lists = f"{view['mostly_long']} of {view['queries']} contain mostly long documents"
    yield f"{'lists':<16}{lists}; the others are not changed"
    for name, distances in (("relevant", view["relevant"]), ("nearest wrong", view["irrelevant"])):
        if distances["count"]:
            spread = " ".join(f"{distances[key] or 0.0:.3f}" for key in ("least", "median", "most"))
            yield f"{name:<16}{distances['count']} distances, min median max {spread}"
        else:
            yield f"{name:<16}none near and missing from the list"
    yield f"{'current':<16}{_ceiling(view['current'])}"
    if not view["can_fire"]:
        yield f"{'':<16}no missing short document is that near: no effect on these queries"
    if "proposed" in view and "held_out" in view and "setting" in view:
        yield f"{'proposed':<16}{_ceiling(view['proposed'])}"
        held_out = view["held_out"]
        yield f"{'held out':<16}precision {_rate(held_out['precision'])}, recall {_rate(held_out['recall'])}"
        yield view["setting"]
    else:
        yield f"{'proposed':<16}nothing: no relevant short document is near and missing"


def _refuse(flags: Namespace, own: str, others: tuple[str, ...]) -> None:
    name = own.replace("_", "-")
    for other in others:
        if getattr(flags, other) not in (None, False):
            flag = other.replace("_", "-")
            raise UsageError(
                "conflicting_flags", f"--{flag} cannot be used with --{name}.", hint=f"leave out --{flag}"
            )


def _ask(flags: Namespace) -> Ask:
    modes = evaluate.measures.parse_modes("hybrid" if flags.modes is None else flags.modes)
    if len(modes) > 1:
        raise UsageError("bad_value", "--modes takes a single mode here.", hint=Hint(AGAIN, modes=modes[0]))
    return api.recall.Ask(k=flags.k, mode=evaluate.measures.MODES[modes[0]], settings=tuple(flags.set or ()))


def _rate(view: RateView) -> str:
    if view["rate"] is None or view["interval"] is None:
        return "-  (no cases)"
    bounds = f"{view['interval']['low']:.3f} to {view['interval']['high']:.3f}"
    return f"{view['rate']:.3f}  {view['passed']} of {view['of']}  ({bounds})"


def _ceiling(view: CeilingView) -> str:
    effect = f"ceiling {view['ceiling']:g}: {view['injections']} injections, {view['relevant']} relevant"
    return f"{effect}; precision {_rate(view['precision'])}, recall {_rate(view['recall'])}"


def board_lines(view: EvaluationView) -> Iterator[str]:
    """Yield the lines of the board, with an empty line between tables."""
    for number, rows in enumerate(board_tables(view)):
        if number:
            yield ""
        yield from align(rows)
    yield from run_lines(view)


def run_lines(view: EvaluationView) -> Iterator[str]:
    """Yield the files written by --run."""
    yield from (f"wrote  {path}" for path in view.get("runs", []))


def board_tables(view: EvaluationView) -> Iterator[Rows]:
    """Yield the non-empty tables: modes, comparisons, regressions, single queries, gate."""
    yield _mode_rows(view)
    if view["comparisons"]:
        yield _comparison_rows(view["comparisons"])
    fallen = _regression_rows(view["comparisons"])
    if len(fallen) > 1:
        yield fallen
    if "per_query" in view:
        yield _query_rows(view)
    if "gate" in view:
        rows: Rows = [("gate", "condition", "value")]
        for each in view.get("gate", []):
            value = "-" if each["value"] is None else f"{each['value']:.6f}".rstrip("0").rstrip(".")
            rows.append(("holds" if each["holds"] else "fails", each["condition"], value))
        yield rows


def align(rows: Rows) -> Iterator[str]:
    """Yield the rows in columns, numbers aligned right. The last column is not limited."""
    head = rows[0]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    for row in rows:
        cells = [
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def talk_of_evaluation(response: EvaluationResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the size of the measurement on one line."""
    view = response["evaluation"]
    passed_over = [
        f"{count} {what}"
        for count, what in (
            (view["unjudged"], "without a judgement"),
            (view["without_relevant"], "without a relevant document"),
        )
        if count
    ]
    left_out = f" ({', '.join(passed_over)} skipped)" if passed_over else ""
    yield (
        f"{count_queries(view['queries'])}{left_out}, {view['judgements']} judgements, "
        f"{view['depth']} hits deep, in {response['stats']['took_ms'] / 1000:.1f} s"
    )


def judged_lines(response: JudgeResponse) -> Iterator[str]:
    """Yield the counts and the files written."""
    view = response["judged"]
    unknown = f", {view['unknown']} for documents not in the store" if view["unknown"] else ""
    judgements = f"{view['judgements']} judgement{'' if view['judgements'] == 1 else 's'}"
    yield f"{count_queries(view['queries'])}, {judgements}{unknown}"
    yield from (f"wrote  {path}" for path in view.get("paths", []))


def count_queries(count: int) -> str:
    """Return a count of queries: `1 query`, `2 queries`."""
    return f"{count} {'query' if count == 1 else 'queries'}"


def verdict_of(view: ComparisonView) -> str:
    """Return the verdict in words, such as `better (p=.012)`. It does not depend on colour."""
    chance = "p<.001" if view["p"] < 0.001 else f"p={view['p']:.3f}".replace("0.", ".")
    return f"{view['verdict']} ({chance})"


def _mode_rows(view: EvaluationView) -> Rows:
    rows: Rows = [("mode", "measure", "unit", "mean", "95 % interval", "judged", "could be")]
    for mode in view["modes"]:
        for measure in mode["measures"]:
            judged, bounds = measure["judged"], measure["bounds"]
            rows.append(
                (
                    mode["mode"],
                    measure["measure"],
                    view["unit"],
                    f"{measure['mean']:.3f}",
                    _between(measure["interval"]),
                    "-" if judged is None else f"{judged:.0%}",
                    "-" if bounds is None else _between(bounds),
                )
            )
    return rows


def _comparison_rows(views: Sequence[ComparisonView]) -> Rows:
    rows: Rows = [("mode", "against", "measure", "difference", "95 % interval", "wins", "losses", "ties", "verdict")]
    for view in views:
        low, high = view["interval"]["low"], view["interval"]["high"]
        rows.append(
            (
                view["mode"],
                compared_with(view),
                view["measure"],
                _with_sign(view["difference"]),
                f"{_with_sign(low)} to {_with_sign(high)}",
                str(view["wins"]),
                str(view["losses"]),
                str(view["ties"]),
                verdict_of(view),
            )
        )
    return rows


def compared_with(view: ComparisonView) -> str:
    """Return the mode or baseline compared with."""
    return f"baseline {view['against']}" if view["baseline"] else view["against"]


def _regression_rows(views: Iterable[ComparisonView]) -> Rows:
    """Return the queries that lost most against the baseline, by each mode's first measure."""
    rows: Rows = [("mode", "measure", "query", "before", "after", "text")]
    seen = set()
    for view in views:
        if not view["baseline"] or view["mode"] in seen:
            continue
        seen.add(view["mode"])
        for each in view["regressions"]:
            before, after = f"{each['before']:.3f}", f"{each['after']:.3f}"
            rows.append((view["mode"], view["measure"], each["query"], before, after, _short_text(each["text"])))
    return rows


def _query_rows(view: EvaluationView) -> Rows:
    measures = [measure["measure"] for measure in view["modes"][0]["measures"]]
    rows: Rows = [("query", "mode", "relevant", *measures, "text")]
    for each in view.get("per_query", []):
        for mode, found in each["values"].items():
            figures = [f"{found[measure]:.3f}" for measure in measures]
            rows.append((each["query"], mode, str(each["relevant"]), *figures, _short_text(each["text"])))
    return rows


def _with_sign(value: float) -> str:
    """Return the value with its sign, without one if it rounds to 0."""
    text = f"{value:+.3f}"
    return text if float(text) else "0.000"


def _between(view: IntervalView) -> str:
    return f"{view['low']:.3f} to {view['high']:.3f}"


def _short_text(text: str, width: int = 60) -> str:
    """Return the start of the text on one line, without control characters."""
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return line if len(line) <= width else line[: width - 1] + "…"


def draw_board(response: EvaluationResponse, console: Console, flags: Any) -> RenderableType:
    """Draw the tables of the board."""
    view, terminal = response["evaluation"], adapters.terminal
    return terminal.Group(
        *(_draw_rows(rows, console) for rows in board_tables(view)), *map(terminal.cell, run_lines(view))
    )


def _draw_rows(rows: Rows, console: Console) -> RenderableType:
    """Return a table of the board, or several lines per row if the terminal is too narrow."""
    table = _board_table(rows)
    if (
        adapters.terminal.Measurement.get(console, console.options.update(max_width=_UNBOUND), table).maximum
        <= console.width
    ):
        return table
    lines = (line for row in rows[1:] for line in _stack(rows[0], row, console.width))
    return adapters.terminal.Group(adapters.terminal.Text(""), *lines)


def _stack(head: tuple[str, ...], row: tuple[str, ...], width: int) -> Iterator[Text]:
    """Yield the text columns of a row, and below them its numbers with their names."""
    named = list(zip(head, map(one_line, row), strict=True))
    words = [
        f"against {cell}" if name == "against" else cell
        for name, cell in takewhile(lambda pair: pair[0] in LEFT, named)
    ]
    figures = [f"{name} {cell}" for name, cell in named[len(words) :]]
    style = "bold" if _is_significant(row) else ""
    yield from (adapters.terminal.Text(line, style=style) for line in adapters.terminal.fit("  ".join(words), width))
    yield from (adapters.terminal.Text(line) for line in adapters.terminal.join_with_dots(figures, width, indent=2))


def _is_significant(row: tuple[str, ...]) -> bool:
    return any(cell == "fails" or cell.startswith(("better", "worse")) for cell in row)


def _board_table(rows: Rows) -> Table:
    """Return the rows as a table."""
    table = adapters.terminal.new_table()
    for name in rows[0]:
        table.add_column(name, justify="left" if name in LEFT else "right", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(adapters.terminal.cell, row), style="bold" if _is_significant(row) else "")
    return table


def exports_to_stdout(flags: Any) -> bool:
    """Return True if an export goes to stdout."""
    return "-" in (flags.queries, flags.qrels)


_FIXTURES = Command(
    "eval --fixtures",
    "Check that contexts contain the required facts.",
    run=on_store(check_fixtures),
    prints=in_lines(lambda response: fixture_lines(response["fixtures"])),
    exit_code=lambda response, flags: exit_by_gate(response["fixtures"].get("gate", [])),
)
_CALIBRATION = Command(
    "eval --calibrate-sparse",
    "Propose a ceiling for sparse-document recall.",
    run=on_store(calibrate),
    prints=in_lines(lambda response: calibration_lines(response["calibration"])),
)


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "eval",
        "Measure ranking quality on judged queries (queries with known relevant documents).",
        run=on_store(evaluate_ranking),
        prints=in_lines(lambda response: board_lines(response["evaluation"])),
        flags=(
            Flag("--queries", "queries: JSON lines of {_id, text} (BEIR), or TSV (default: the store's)", "FILE"),
            Flag("--qrels", "judgements: BEIR TSV, TREC qrels or Quepid CSV (default: the store's)", "FILE"),
            Flag(
                "--fixtures",
                "facts that a context must contain; tells retrieval failures from ingestion failures",
                "FILE",
            ),
            Flag("--modes", "comma-separated modes: hybrid, bm25, vector (default hybrid)", "LIST"),
            Flag("--metrics", "comma-separated measures, such as ndcg@10, map, mrr, p@5, recall@100", "LIST"),
            Flag(
                "--unit",
                "unit to measure (default: the unit of the judgements)",
                "UNIT",
                choices=("chunk", "doc"),
            ),
            Flag("--k", "hits to rank per query (default 100)", "N", least=1, short="-n"),
            Flag("--baseline", "compare with an earlier --json answer or a TREC run", "FILE"),
            Flag("--gate", 'exit 7 unless these hold: "ndcg@10>=.38,regressions=0"', "CONDITIONS"),
            Flag("--run", "write a TREC run file per mode; {mode} in the name is replaced", "FILE"),
            Flag("--per-query", "show every query, not only the totals"),
            Flag("--calibrate-sparse", "suggest a sparse_distance_ceiling based on the judged documents"),
            SET,
            TIMEOUT,
        ),
        examples=(
            "recall eval --queries queries.jsonl --qrels qrels.tsv",
            "recall eval --queries q.jsonl --qrels q.tsv --modes hybrid,bm25 --baseline before.json --json",
            'recall eval --baseline before.json --gate "ndcg@10>=.38,regressions=0"',
        ),
        draws=draw_board,
        talks=talk_of_evaluation,
        exit_code=lambda response, flags: exit_by_gate(response["evaluation"].get("gate", [])),
        variant=lambda request: (
            _FIXTURES
            if request.flags.fixtures is not None
            else _CALIBRATION
            if request.flags.calibrate_sparse
            else None
        ),
    ),
    Command(
        "judge",
        "Import or export judgements: which documents are relevant to which queries.",
        run=on_store(judge),
        prints=in_lines(judged_lines),
        operand=Operand("ACTION", "import or export", choices=("import", "export")),
        flags=(
            Flag("--queries", "queries to import, or file to export them to", "FILE"),
            Flag("--qrels", "judgements to import, or file to export them to", "FILE"),
            Flag(
                "--format",
                "export format of the judgements (default beir)",
                "FORMAT",
                choices=("beir", "trec", "quepid"),
            ),
        ),
        examples=(
            "recall judge import --queries queries.jsonl --qrels qrels.tsv",
            "recall judge export --queries queries.jsonl --qrels qrels.txt --format trec",
        ),
        takes_stdout=exports_to_stdout,
    ),
)
