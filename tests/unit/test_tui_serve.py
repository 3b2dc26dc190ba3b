"""The flags of `recall-tui --serve`, and the command behind each tab."""

from __future__ import annotations

import io
import os
import socket
import sys

import pytest

from recall_core.adapters.streams import Streams
from recall_core.errors import RecallError, UsageError
from recall_core.shell import install_extra
from recall_tui import program
from recall_tui.driver import write_packet
from recall_tui.serve import HOST, Site, serve


def refused(*argv: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        program.run(argv, streams=Streams(io.StringIO(), io.StringIO(), io.StringIO()))
    return caught.value


def test_serving_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "recall_tui.serve", None)

    error = refused("--serve")

    assert (error.code, error.hint) == ("serve_unavailable", install_extra("serve"))


def test_conflicting_flags_are_rejected() -> None:
    for argv, code in [
        (("--port", "8000"), "conflicting_flags"),
        (("--serve", "--cmd", "stats"), "conflicting_flags"),
        (("--serve", "--port", "65536"), "bad_value"),
        (("--serve", "--port", "-1"), "bad_value"),
        (("--serve", "--port", "http"), "bad_value"),
        (("--serve", "one", "two"), "unexpected_argument"),
    ]:
        assert refused(*argv).code == code, argv


def test_a_taken_port_is_a_coded_error() -> None:
    with socket.create_server((HOST, 0)) as door:
        port = door.getsockname()[1]
        with pytest.raises(RecallError) as caught:
            serve(None, port=port, streams=Streams(io.StringIO(), io.StringIO(), io.StringIO()))

    assert caught.value.message == f"Port {port} cannot be opened: Address already in use."
    assert (caught.value.code, caught.value.hint) == ("port_unavailable", "recall-tui --serve --port 0")


def test_each_workbench_gets_the_store_path_as_typed() -> None:
    for store in ["notes.db", "my notes; rm -rf ~", "$HOME/`x`", "--help"]:
        assert Site(store, port=7322).words == (sys.executable, "-P", "-m", "recall_tui", f"--store={store}"), store


def test_without_a_store_each_workbench_looks_for_the_nearest() -> None:
    assert Site(None, port=7322).words[-2:] == ("-m", "recall_tui")


def test_every_server_has_its_own_loopback_address() -> None:
    one, two = Site(None, port=7322), Site(None, port=7322)

    assert one.address.startswith("http://127.0.0.1:7322/")
    assert one.address != two.address
    assert HOST == "127.0.0.1"


def test_writing_to_a_closed_pipe_is_not_a_defect() -> None:
    reader, writer = os.pipe()
    try:
        assert write_packet(writer, b"frame") == 5
        assert os.read(reader, 10) == b"frame"
        os.close(reader)
        assert write_packet(writer, b"frame") == 0
    finally:
        os.close(writer)
