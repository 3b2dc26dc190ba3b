"""The commands that measure ranking: flags into options, runs and judgements into files."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TextIO

from recall_core.adapters import facts
from recall_core.adapters.parser import Request
from recall_core.adapters.progress import follow
from recall_core.adapters.replacing import replacing
from recall_core.adapters.streams import Streams
from recall_core.contract import Response
from recall_core.errors import UsageError
from recall_core.evaluate.formats import QrelsFormat
from recall_core.evaluate.measures import DEFAULT
from recall_core.evaluate.options import DEPTH, Options, RunWriter, parse_modes
from recall_core.service import Recall

MODE = "{mode}"


def evaluate(recall: Recall, request: Request, streams: Streams) -> Response:
    """`recall eval`. Raises Interrupted on Ctrl-C; nothing is written then."""
    if request.flags.fixtures is not None:
        return facts.check_fixtures(recall, request.flags)
    if request.flags.calibrate_sparse:
        return facts.calibrate(recall, request.flags)
    work = recall.evaluate(_options(request.flags))
    return follow(work, streams=streams, kept=lambda _: "nothing was written")


def judge(recall: Recall, request: Request, streams: Streams) -> Response:
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


def _options(flags: Namespace) -> Options:
    modes = "hybrid" if flags.modes is None else flags.modes
    return Options(
        queries=_path(flags.queries),
        qrels=_path(flags.qrels),
        modes=modes,
        metrics=DEFAULT if flags.metrics is None else flags.metrics,
        depth=DEPTH if flags.k is None else flags.k,
        baseline=_path(flags.baseline),
        gate=flags.gate,
        per_query=flags.per_query,
        settings=tuple(flags.set or ()),
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
        with replacing(target, hint="recall eval --run FILE") as out:
            out.writelines(lines)
        return str(target)

    return write


def _opened(path: Path, streams: Streams) -> AbstractContextManager[TextIO]:
    if str(path) == "-":
        return nullcontext(streams.stdout)
    return replacing(path, hint="recall judge export --qrels FILE")


def _export(
    recall: Recall, queries: Path | None, qrels: Path | None, form: QrelsFormat, streams: Streams
) -> Response:
    """Both files, or neither; `-` is stdout."""
    named = [path for path in (queries, qrels) if path is not None]
    if not named:
        raise UsageError("missing_argument", "judge export needs --queries or --qrels.", hint="--qrels FILE")
    if len(named) != len({os.path.realpath(path) for path in named}):
        raise UsageError("conflicting_flags", "--queries and --qrels name the same file.", hint="--qrels qrels.tsv")
    with ExitStack() as files:
        queries_out, qrels_out = (
            None if path is None else files.enter_context(_opened(path, streams)) for path in (queries, qrels)
        )
        response = recall.judge_export(queries=queries_out, qrels=qrels_out, form=form)
    response["judged"]["paths"] = [str(path) for path in named]
    return response
