"""`eval --fixtures` and `eval --calibrate-sparse`: flags into options, answers into lines."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from recall_core.contract import CalibrationView, FixturesView, Response
from recall_core.contract.fixtures import CeilingView, FixtureView, RateView
from recall_core.errors import UsageError
from recall_core.evaluate.options import MODES, parse_modes
from recall_core.service import Ask, Recall


def check_fixtures(recall: Recall, flags: Namespace) -> Response:
    """`recall eval --fixtures FILE`."""
    _refuse(flags, "fixtures", ("queries", "qrels", "metrics", "run", "per_query", "calibrate_sparse"))
    baseline = None if flags.baseline is None else Path(flags.baseline)
    return recall.check_fixtures(Path(flags.fixtures), _ask(flags), baseline=baseline, gate=flags.gate)


def calibrate(recall: Recall, flags: Namespace) -> Response:
    """`recall eval --calibrate-sparse`."""
    _refuse(flags, "calibrate_sparse", ("metrics", "run", "per_query", "baseline", "gate"))
    queries, qrels = (None if text is None else Path(text) for text in (flags.queries, flags.qrels))
    return recall.calibrate_sparse(_ask(flags), queries=queries, qrels=qrels)


def lines(response: Response) -> Iterator[str]:
    """Whichever of the two the response holds."""
    if "fixtures" in response:
        yield from fixture_lines(response["fixtures"])
    if "calibration" in response:
        yield from calibration_lines(response["calibration"])


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
        raise UsageError("bad_value", "--modes: one mode at a time here.", hint=f"--modes {modes[0]}")
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
