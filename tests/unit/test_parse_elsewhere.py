"""Every parser gives the same result in another process and another locale."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from recall_core.testing.parsers import ParserConformance, describe

ELSEWHERE = """
import json, sys
from recall_core.testing.parsers import describe
json.dump([describe(name, path, bytes.fromhex(raw)) for name, path, raw in json.load(sys.stdin)], sys.stdout)
"""


class NightlyElsewhere(ParserConformance):
    """The promises of every parser; the slow one, which starts a process, runs at night."""

    @pytest.mark.slow
    def test_documents_do_not_depend_on_process_or_locale(self) -> None:
        super().test_documents_do_not_depend_on_process_or_locale()


def test_parsers_read_the_same_in_another_process_and_locale() -> None:
    for path in sorted(Path(__file__).parent.glob("test_parse_*.py")):
        with suppress(pytest.skip.Exception):  # if a package is missing
            importlib.import_module(f"{__name__.rpartition('.')[0]}.{path.stem}")
    samples = [
        (case.name, path, raw) for case in NightlyElsewhere.__subclasses__() for path, raw in case.samples.items()
    ]
    environment = {
        "LC_ALL": "C",
        "TZ": "Pacific/Apia",
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": ":".join(sys.path),
    }

    sent = json.dumps([(name, path, raw.hex()) for name, path, raw in samples]).encode()
    other = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=sent, env=environment, capture_output=True, check=True
    )

    assert len({name for name, _, _ in samples}) >= 18
    for (name, path, raw), read in zip(samples, json.loads(other.stdout), strict=True):
        assert read == describe(name, path, raw), (name, path)
