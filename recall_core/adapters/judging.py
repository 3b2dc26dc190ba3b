"""The commands that measure ranking, eval and judge: flags into options, answers into lines, runs into files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from recall_core.adapters import board
from recall_core.adapters.plain import Request
from recall_core.adapters.progress import follow
from recall_core.adapters.streams import Streams, for_data, replacing
from recall_core.api.recall import Ask, Recall
from recall_core.contract.judging import CalibrationView, CeilingView, FixturesView, FixtureView, RateView
from recall_core.contract.responses import AnyResponse, Response
from recall_core.errors import UsageError
from recall_core.evaluate.formats import QrelsFormat
from recall_core.evaluate.measures import DEFAULT
from recall_core.evaluate.options import DEPTH, MODES, EvalOptions, RunWriter, parse_modes
from recall_core.shell import AGAIN, Hint

if TYPE_CHECKING:
    from argparse import Namespace

MODE = "{mode}"


def evaluate(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """`recall eval`. Raises Interrupted on Ctrl-C; nothing is written then."""
    if request.flags.fixtures is not None:
        return check_fixtures(recall, request.flags)
    if request.flags.calibrate_sparse:
        return calibrate(recall, request.flags)
    work = recall.evaluate(_options(request.flags))
    return follow(work, streams=streams, name="asking", kept=lambda _: "nothing was written")


def judge(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """`recall judge import` and `recall judge export`."""
    flags = request.flags
    queries, qrels = _path(flags.queries), _path(flags.qrels)
    if request.words[0] == "export":
        return _export(recall, queries, qrels, flags.format or "beir", streams)
    if flags.format is not None:
        raise UsageError(
            "conflicting_flags", "judge import finds the format out by itself.", hint="leave out --format"
        )
    return recall.judge_import(queries=queries, qrels=qrels)


def _options(flags: Namespace) -> EvalOptions:
    modes = "hybrid" if flags.modes is None else flags.modes
    return EvalOptions(
        queries=_path(flags.queries),
        qrels=_path(flags.qrels),
        modes=modes,
        metrics=DEFAULT if flags.metrics is None else flags.metrics,
        depth=DEPTH if flags.k is None else flags.k,
        baseline=_path(flags.baseline),
        gate=flags.gate,
        per_query=flags.per_query,
        settings=tuple(flags.set or ()),
        unit=flags.unit,
        write_run=None if flags.run is None else _run_writer(flags.run, parse_modes(modes)),
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _run_writer(pattern: str, modes: tuple[str, ...]) -> RunWriter:
    """Writes the run of each mode to its file, which appears when it is complete."""
    if len(modes) > 1 and MODE not in pattern:
        raise UsageError(
            "bad_value", f"--run needs {MODE} where several modes are measured.", hint="--run {mode}.run"
        )

    def write(mode: str, lines: Iterator[str]) -> str:
        target = Path(pattern.replace(MODE, mode))
        with replacing(target, hint=Hint("eval", run="FILE")) as out:
            out.writelines(lines)
        return str(target)

    return write


def _opened(path: Path, streams: Streams) -> AbstractContextManager[TextIO]:
    if str(path) == "-":
        return nullcontext(for_data(streams.stdout))
    return replacing(path, hint=Hint("judge export", qrels="FILE"))


def _export(
    recall: Recall, queries: Path | None, qrels: Path | None, form: QrelsFormat, streams: Streams
) -> AnyResponse:
    """Both files, or neither; `-` is stdout."""
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
        queries_out, qrels_out = (
            None if path is None else files.enter_context(_opened(path, streams)) for path in (queries, qrels)
        )
        response = recall.judge_export(queries=queries_out, qrels=qrels_out, form=form)
    response["judged"]["paths"] = [str(path) for path in named]
    return response


def check_fixtures(recall: Recall, flags: Namespace) -> AnyResponse:
    """`recall eval --fixtures FILE`."""
    _refuse(flags, "fixtures", ("queries", "qrels", "metrics", "unit", "run", "per_query", "calibrate_sparse"))
    baseline = None if flags.baseline is None else Path(flags.baseline)
    return recall.check_fixtures(Path(flags.fixtures), _ask(flags), baseline=baseline, gate=flags.gate)


def calibrate(recall: Recall, flags: Namespace) -> AnyResponse:
    """`recall eval --calibrate-sparse`."""
    _refuse(flags, "calibrate_sparse", ("metrics", "unit", "run", "per_query", "baseline", "gate"))
    queries, qrels = (None if text is None else Path(text) for text in (flags.queries, flags.qrels))
    return recall.calibrate_sparse(_ask(flags), queries=queries, qrels=qrels)


def lines(response: Response) -> Iterator[str]:
    """What eval answers: a board, verdicts on fixtures, or a ceiling."""
    if "fixtures" in response:
        yield from fixture_lines(response["fixtures"])
    if "calibration" in response:
        yield from calibration_lines(response["calibration"])
    if "evaluation" in response:
        yield from board.lines(response["evaluation"])


def fixture_lines(view: FixturesView) -> Iterator[str]:
    """The rates, the verdicts, then every fixture that did not pass or only just."""
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
            yield _fixture_line(result)
    for condition in view.get("gate", []):
        value = "-" if condition["value"] is None else f"{condition['value']:.3f}"
        yield f"{'gate':<18}{condition['condition']}  {value}  {'holds' if condition['holds'] else 'FAILS'}"


def calibration_lines(view: CalibrationView) -> Iterator[str]:
    """What the set ceiling does, what the proposed one would do, and the line for recall.toml."""
    lists = f"{view['mostly_long']} of {view['queries']} are mostly of long documents"
    yield f"{'lists':<16}{lists}; the others are left as they are"
    for name, distances in (("relevant", view["relevant"]), ("nearest wrong", view["irrelevant"])):
        if distances["count"]:
            spread = " ".join(f"{distances[key] or 0.0:.3f}" for key in ("least", "median", "most"))
            yield f"{name:<16}{distances['count']} distances, least median most {spread}"
        else:
            yield f"{name:<16}none near and left out"
    yield f"{'set':<16}{_ceiling(view['current'])}"
    if not view["can_fire"]:
        yield f"{'':<16}no short document left out is that near: it never fires on these queries"
    if "proposed" in view and "held_out" in view and "setting" in view:
        yield f"{'proposed':<16}{_ceiling(view['proposed'])}"
        held_out = view["held_out"]
        yield f"{'held out':<16}precision {_rate(held_out['precision'])}, recall {_rate(held_out['recall'])}"
        yield view["setting"]
    else:
        yield f"{'proposed':<16}nothing: no relevant short document is near and left out"


def _refuse(flags: Namespace, own: str, others: tuple[str, ...]) -> None:
    name = own.replace("_", "-")
    for other in others:
        if getattr(flags, other) not in (None, False):
            flag = other.replace("_", "-")
            raise UsageError("conflicting_flags", f"--{flag} does not go with --{name}.", hint=f"leave out --{flag}")


def _ask(flags: Namespace) -> Ask:
    modes = parse_modes("hybrid" if flags.modes is None else flags.modes)
    if len(modes) > 1:
        raise UsageError("bad_value", "--modes: one mode at a time here.", hint=Hint(AGAIN, modes=modes[0]))
    return Ask(k=flags.k, mode=MODES[modes[0]], settings=tuple(flags.set or ()))


def _fixture_line(result: FixtureView) -> str:
    cause = result.get("cause")
    why = f"  {cause['code']}: {cause['detail']}" if cause else ""
    blocked = f"  sparse recall: {result['blocked']}" if "blocked" in result else ""
    return f"{result['verdict']:<28}{result['id']}{why}{blocked}"


def _rate(view: RateView) -> str:
    if view["rate"] is None or view["interval"] is None:
        return "-  (nothing to count)"
    bounds = f"{view['interval']['low']:.3f} to {view['interval']['high']:.3f}"
    return f"{view['rate']:.3f}  {view['passed']} of {view['of']}  ({bounds})"


def _ceiling(view: CeilingView) -> str:
    made = f"ceiling {view['ceiling']:g}: {view['injections']} injections, {view['relevant']} right"
    return f"{made}; precision {_rate(view['precision'])}, recall {_rate(view['recall'])}"
