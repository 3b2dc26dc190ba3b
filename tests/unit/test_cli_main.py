"""The outermost frame of the command line: every failure becomes an exit code, a sentence and a hint."""

from __future__ import annotations

import io
import json

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.errors import RqlError, UsageError


def failing(error: BaseException, *, as_json: bool = False) -> tuple[int, str, str]:
    def run() -> int:
        raise error

    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.guard_run(run, streams=streams, as_json=as_json)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def rql_error() -> RqlError:
    return RqlError(
        "rql_syntax", "Expected FROM.", text="SELECT *", start=8, end=8, expected="FROM", hint="FROM chunk"
    )


def test_recall_error_prints_sentence_and_hint_on_stderr() -> None:
    assert failing(UsageError("x", "Wrong.", hint="recall --help")) == (2, "", "error: Wrong.\nhint: recall --help\n")


def test_query_error_shows_its_position() -> None:
    _, _, err = failing(rql_error())

    assert err == "error: Expected FROM.\n  SELECT *\n          ^  expected FROM\nhint: FROM chunk\n"


def test_json_error_has_code_message_details_and_hint() -> None:
    code, out, err = failing(rql_error(), as_json=True)

    assert (code, err) == (2, "")
    assert json.loads(out) == {
        "ok": False,
        "schema_version": "1",
        "error": {
            "code": "rql_syntax",
            "message": "Expected FROM.",
            "details": {"line": 1, "column": 9, "span": [8, 8], "expected": "FROM"},
            "hint": "FROM chunk",
        },
    }


def test_ctrl_c_is_130_without_a_traceback() -> None:
    code, out, err = failing(KeyboardInterrupt())

    assert (code, out, err) == (130, "", "Interrupted.\n")


def test_defect_is_one_line_and_exit_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECALL_DEBUG", raising=False)

    code, out, err = failing(ZeroDivisionError("division by zero"))

    assert (code, out) == (1, "")
    assert err.startswith("error: Unexpected ZeroDivisionError: division by zero\nhint: ")
    assert "Traceback" not in err


def test_recall_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_DEBUG", "1")

    _, _, err = failing(ZeroDivisionError("division by zero"))

    assert "Traceback" in err


def test_unwritable_file_is_an_error_not_a_defect() -> None:
    code, out, _ = failing(PermissionError(13, "Permission denied", "out.jsonl"), as_json=True)

    assert code == 1
    assert json.loads(out)["error"]["code"] == "io_error"


def test_closed_pipe_is_left_to_the_process() -> None:
    with pytest.raises(BrokenPipeError):
        failing(BrokenPipeError())
