"""Common set-up of all tests: a neutral environment, example counts and checks for missing programs."""

import gc
import os
import shutil
import signal
from collections.abc import Callable
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.examples import USUAL
from tests.seconds import Stopwatch

_TASTE = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "VISUAL", "EDITOR")
_KEPT = (
    "RECALL_DATA",
    "RECALL_HYPOTHESIS",
    "RECALL_NPM",
    "RECALL_TEST_PG_DSN",
    "RECALL_TEST_PG_KILLS",
    "RECALL_TEST_PG_SECONDS",
    "TEXTUAL_SNAPSHOT_TEMPDIR",
)

# Subprocesses and test workers inherit this; Textual reads some of its variables when it is imported.
for _name in list(os.environ):
    if _name in _TASTE or (_name.startswith(("TEXTUAL_", "RECALL_")) and _name not in _KEPT):
        del os.environ[_name]

# Tests neither read nor change what the developer accepted or saved.
_STATE = TemporaryDirectory(prefix="recall-tests-")
os.environ["XDG_STATE_HOME"] = _STATE.name

# The same holds for the developer's ignore files.
os.environ["XDG_CONFIG_HOME"] = _STATE.name
os.environ["GIT_CONFIG_GLOBAL"] = os.devnull

# A shell starts its background jobs with Ctrl-C ignored, and tests send Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, so that a red build is red on every machine; nightly runs look for new ones.
settings.register_profile(
    "ci", deadline=None, max_examples=USUAL, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "nightly", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# Few of these examples, without shrinking failures: `make mutants` runs a test very often.
settings.register_profile(
    "mutants", settings.get_profile("ci"), max_examples=25, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("RECALL_HYPOTHESIS", "ci"))

PROGRAMS = {"tmux": ("tmux",), "chromium": ("chromium", "chromium-browser", "google-chrome")}
"""Marker to programs, one of which must be on PATH."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --part, which splits a nightly run into parts that finish one by one."""
    parser.addoption("--part", default="1/1", metavar="I/N", help="only every N-th test file, from the I-th on")


def pytest_configure(config: pytest.Config) -> None:
    """Time every test file."""
    config.pluginmanager.register(Stopwatch(config), "stopwatch")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of one part; a file is never split."""
    first, parts = (int(number) for number in config.getoption("part").split("/"))
    files = sorted({item.path for item in items})
    kept = set(files[first - 1 :: parts])
    config.hook.pytest_deselected(items=[item for item in items if item.path not in kept])
    items[:] = [item for item in items if item.path in kept]


def pytest_collection_finish() -> None:
    """Freeze the collected tests, which outnumber the objects of any test, so that no collection scans them."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing on this machine, and name the program."""
    for marker, programs in PROGRAMS.items():
        if item.get_closest_marker(marker) and not any(map(shutil.which, programs)):
            pytest.skip(f"needs {marker} on PATH")


@pytest.fixture
def counted(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Return a function that records how much a crash test did; the end of the run prints it line by line."""

    def tell(suite: str, name: str, **counts: int) -> None:
        told = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in counts.items())
        record_property("counted", f"{suite} {name}: {told}")

    return tell


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts by suite."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    told = [
        value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "counted"
    ]
    if told:
        terminalreporter.section("counted")
    for line in sorted(set(told)):
        terminalreporter.line(line)
