"""`recall mcp` tested with npm packages: the conformance suite of the protocol, and the inspector's command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from recall_core import Recall

ROOT = Path(__file__).parents[2]
PINNED = Path(__file__).parent / "npm" / "package.json"
CONFORMANCE_PAGE = ROOT / "benchmarks" / "mcp-conformance.md"
LATEST = 600.0  # seconds that suffice on the busiest machine
_INSTALL = ("install", "--omit=dev", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
_RETRIES = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")
_UNREACHABLE = re.compile(
    r"npm error code (ENOTFOUND|EAI_AGAIN|ECONNRE|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)"
)
NOTES = {
    "retries.md": "# Retries\n\nEvery call to the upstream is tried again three times, with jitter.\n",
    "deploy.md": "# Deploys\n\nA deploy is undone with one command, within three minutes.\n",
    "budget.md": "# Budgets\n\nThe token budget bounds what is packed into a context.\n",
}


Checks: TypeAlias = list[dict[str, Any]]
Run: TypeAlias = dict[str, Checks]
"""The checks of each scenario."""


class NotApplicable(NamedTuple):
    """Scenarios that do not apply to this server, the reason, and the text of each failed check or warning."""

    reason: str
    says: str
    scenarios: str


NOT_APPLICABLE = (
    NotApplicable(
        "calls a tool of the suite's own server; an unknown one is refused with -32602, as it should be",
        r"Unknown tool: test_|Tool 'json_schema_2020_12_tool' not found",
        """
        tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
        tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12
        """,
    ),
    NotApplicable(
        "reads a resource of the suite's own server; an unknown one is refused with -32602, as it should be",
        r"Resource not found: test://",
        "resources-read-text resources-read-binary resources-templates-read",
    ),
    NotApplicable(
        "gets a prompt of the suite's own server; an unknown one is refused with -32602, as it should be",
        r"Unknown prompt: test_",
        "prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image",
    ),
    NotApplicable(
        "needs a capability that is not declared: logging, completions, subscriptions; refused with -32601",
        r"Method not found",
        """
        logging-set-level tools-call-with-logging completion-complete resources-subscribe
        resources-unsubscribe
        """,
    ),
    NotApplicable(
        "has a tool ask the client for sampling, input or roots, which no tool here does",
        r"Unknown (tool|prompt): test_|Expected InputRequiredResult|could not get initial InputRequiredResult"
        r"|JSON-RPC error instead of re-requesting",
        """
        tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums
        input-required-result-basic-elicitation input-required-result-basic-sampling
        input-required-result-basic-list-roots input-required-result-request-state
        input-required-result-multiple-input-requests input-required-result-multi-round
        input-required-result-missing-input-response input-required-result-non-tool-request
        input-required-result-result-type input-required-result-tampered-state
        input-required-result-capability-check input-required-result-ignore-extra-params
        """,
    ),
    NotApplicable(
        "resumes a stream that was cut off (recommended, not required), by a tool of the suite's own server",
        r"^Server did not send (priming event|retry field)",
        "server-sse-polling",
    ),
    NotApplicable(
        "needs the extension for tasks, which is not declared: an answer takes milliseconds",
        r"Unknown tool: |^Not testable: no task was created|extensions MUST be advertised|got -32601"
        r"|routing-task fixture .* unavailable|^tools/call for failing_job returned error code -32602",
        """
        tasks-lifecycle tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal
        tasks-mrtr-input tasks-request-headers tasks-dispatch-and-envelope tasks-status-notifications
        tasks-required-task-error tasks-mrtr-composition
        """,
    ),
    NotApplicable(
        "needs a tool whose arguments are mirrored in HTTP headers; there is none",
        r"^Not testable: server exposes no tool with x-mcp-header",
        "http-custom-header-server-validation",
    ),
    NotApplicable(
        "four of its checks call tools of the suite's own server; the others pass",
        r"^Not testable: server does not list the diagnostic tool 'test_",
        "server-stateless",
    ),
)  # fmt: skip

_EVER = ("tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection")
_SESSIONS = ("server-initialize", "ping")
_STATELESS = (
    "caching", "sep-2164-resource-not-found", "http-header-validation", "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
)  # fmt: skip


WHY = {scenario: group for group in NOT_APPLICABLE for scenario in group.scenarios.split()}


class Suite(NamedTuple):
    """A run of the conformance suite: its package, its flags and the passing scenarios."""

    package: str
    flags: tuple[str, ...]
    passes: tuple[str, ...]


SUITES = {
    "released": Suite("@modelcontextprotocol/conformance", ("--suite", "all"), (*_EVER, *_SESSIONS)),
    "2025-11-25": Suite(
        "conformance-next", ("--requirements", "2025-11-25"), (*_EVER, *_SESSIONS, "server-session-lifecycle")
    ),
    "2026-07-28": Suite("conformance-next", ("--requirements", "2026-07-28"), (*_EVER, *_STATELESS)),
}


class Packages(NamedTuple):
    """The packages installed by npm, and their environment."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script of a package, by its path below node_modules."""
        command = ["node", str(self.folder / "node_modules" / script), *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, text=True, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=LATEST, check=False,
        )  # fmt: skip

    def inspect(self, *arguments: str) -> Any:
        """Return the result of one method as the inspector prints it."""
        done = self.run("@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["result"]


class Served(NamedTuple):
    """`recall mcp --http` as a process."""

    process: subprocess.Popen[str]
    address: str
    state: Path

    @property
    def token(self) -> str:
        """Token that requests must carry."""
        (file,) = (self.state / "recall").glob("mcp-*.token")
        return file.read_text(encoding="utf-8").strip()


def serve(store: Path, state: Path, *flags: str) -> Served:
    """Start a server on a free port and return it once it accepts requests."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recall_core", "mcp", "--store", str(store), "--http", "--port", "0", *flags],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state)}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    return Served(process, process.stdout.readline().strip(), state)


def stop(server: Served) -> None:
    """Stop the server, as Ctrl-C does."""
    server.process.send_signal(signal.SIGINT)
    server.process.communicate(timeout=LATEST)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    kept = os.environ.get("RECALL_NPM")
    folder = Path(kept).absolute() if kept else tmp_path_factory.mktemp("npm")
    node = folder / "node_modules" / "node" / "bin"
    done = folder / "installed.json"
    if not done.exists() or done.read_bytes() != PINNED.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(PINNED, folder)
        command = [npm, *_INSTALL, *_RETRIES]
        ran = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=LATEST, check=False)
        if _UNREACHABLE.search(ran.stderr):
            pytest.skip("the npm registry is unreachable")
        assert ran.returncode == 0, ran.stderr
        shutil.copy(PINNED, done)
    home = tmp_path_factory.mktemp("home")
    path = os.pathsep.join((str(node), os.environ["PATH"]))
    return Packages(folder, {"PATH": path, "HOME": str(home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    for name, text in NOTES.items():
        (folder / "notes").mkdir(exist_ok=True)
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    Recall.init(str(folder), embedding="hash")
    with Recall.open(str(folder)) as recall:
        recall.index(str(folder / "notes"))
    return folder


@pytest.fixture(scope="module")
def unguarded(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = serve(store, tmp_path_factory.mktemp("state"), "--no-token")
    yield server
    stop(server)


@pytest.fixture(scope="module")
def guarded(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = serve(store, tmp_path_factory.mktemp("state"))
    yield server
    stop(server)


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, store: Path) -> tuple[str, ...]:
    """Return the target for the inspector: a command, or an address and the token."""
    if request.param == "stdio":
        return ("-e", f"PYTHONPATH={ROOT}", "--", sys.executable, "-m", "recall_core", "mcp", "--store", str(store))
    server: Served = request.getfixturevalue("guarded")
    return ("--server-url", server.address, "--header", f"Authorization: Bearer {server.token}")


@pytest.fixture(scope="module")
def runs(packages: Packages, unguarded: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    found = {}
    for name, suite in SUITES.items():
        out = tmp_path_factory.mktemp("run")
        script = f"{suite.package}/dist/index.js"
        ran = packages.run(script, "server", "--url", unguarded.address, *suite.flags, "-o", str(out))
        found[name] = checks_of(out)
        assert found[name], ran.stdout + ran.stderr
    return found


def checks_of(folder: Path) -> Run:
    """Return the checks of a run from the folder of each scenario."""
    found: Run = defaultdict(list)
    for file in sorted(folder.glob("*/checks.json")):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\dZ-]+$", "", file.parent.name.removeprefix("server-"))
        found[scenario] += json.loads(file.read_text(encoding="utf-8"))
    return found


def passing_scenarios(run: Run) -> set[str]:
    """Return scenarios without complaints that check more than the form of messages."""
    return {scenario for scenario, checks in run.items() if not complaints(checks) and _shows_more(checks)}


def complaints(checks: Checks) -> list[str]:
    """Return the failed checks and warnings."""
    named = ("FAILURE", "WARNING")
    return [str(each.get("errorMessage") or each["id"]) for each in checks if each["status"] in named]


def _shows_more(checks: Checks) -> bool:
    return any(each["status"] == "SUCCESS" and each["id"] != "wire-schema-valid" for each in checks)


@pytest.mark.slow
@pytest.mark.timeout(LATEST)
@pytest.mark.parametrize("name", SUITES)
def test_every_applicable_scenario_passes(name: str, runs: Mapping[str, Run]) -> None:
    run = runs[name]
    unlike = [
        f"{scenario}: {complaint}"
        for scenario in sorted(run.keys() - passing_scenarios(run))
        for complaint in complaints(run[scenario])
        if scenario not in WHY or not re.search(WHY[scenario].says, complaint)
    ]

    assert unlike == []
    assert passing_scenarios(run) == set(SUITES[name].passes)


@pytest.mark.slow
@pytest.mark.timeout(LATEST)
def test_list_of_inapplicable_scenarios_is_exact(runs: Mapping[str, Run]) -> None:
    others = {scenario for run in runs.values() for scenario in run.keys() - passing_scenarios(run)}

    assert sorted(others ^ WHY.keys()) == []


@pytest.mark.slow
@pytest.mark.timeout(LATEST)
def test_inspector_lists_tools_and_accepts_their_schemas(packages: Packages, target: tuple[str, ...]) -> None:
    tools = packages.inspect("--format", "json", "--strict", "--method", "tools/list", *target)["tools"]

    assert {"search", "get", "context", "memory_search"} <= {tool["name"] for tool in tools}


@pytest.mark.slow
@pytest.mark.timeout(LATEST)
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_searches_in_both_protocol_eras(era: str, packages: Packages, target: tuple[str, ...]) -> None:
    call = (
        "--method",
        "tools/call",
        "--tool-name",
        "search",
        "--tool-args-json",
        '{"query": "undo a deploy", "k": 1}',
    )
    result = packages.inspect("--format", "json", "--protocol-era", era, *call, *target)

    assert result["isError"] is False
    assert "**notes/deploy.md:" in result["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.timeout(LATEST)
def test_inspector_reads_a_fenced_resource(packages: Packages, target: tuple[str, ...]) -> None:
    read = ("--format", "json", "--method", "resources/read", "--uri", "recall://notes/deploy.md")
    (contents,) = packages.inspect(*read, *target)["contents"]

    assert contents["text"] == f"**notes/deploy.md**\n```\n{NOTES['deploy.md']}```"


def test_npm_versions_are_exact() -> None:
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    versions = {**pinned["dependencies"], **pinned["devDependencies"]}

    assert [each for each, version in versions.items() if not re.search(r"(^|@)\d+\.\d+\.\d+[\w.-]*$", version)] == []


def test_page_names_every_passing_or_inapplicable_scenario() -> None:
    page = CONFORMANCE_PAGE.read_text(encoding="utf-8")
    named = {*WHY, *(each for suite in SUITES.values() for each in suite.passes)}

    assert sorted(set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.M)) ^ named) == []
    assert [group.reason for group in NOT_APPLICABLE if group.reason not in page] == []
