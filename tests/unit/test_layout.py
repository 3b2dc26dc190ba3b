"""The documentation and the tree agree: links, commands, pins, module docstrings and the map."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

import recall_core
from recall_core.adapters.commands import BY_NAME

ROOT = Path(__file__).parents[2]
PACKAGES = ("recall_core", "recall_tui")
PAPERS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMED_TWICE = ("Named", "Document", "In", "Not")
"""Names of two classes, ignoring an underscore: a message inside the screen that sends it, and names that pipelines
expect."""
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)\s#]+)")
TREE_PATH = re.compile(r"(?<![\w./-])(?:\.ci|docs|recall_core|recall_tui|snapshots|tests)/[\w./-]*\b/?")
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+)`")
DOCSTRING = re.compile(r'"""[^"\s]')
STRING = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""')
CLASS = re.compile(r"^ *class _*(\w+)[(:]", re.M)


def relative_names(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def modules(layer: str) -> list[str]:
    return re.findall(r"\w+", layer.replace("recall_core.", ""))


def commands_in(paper: Path, program: str) -> set[str]:
    """Return the first word after the program in each shown command, in a fence or between backticks."""
    text = paper.read_text(encoding="utf-8")
    shown = [line for fence in FENCE.findall(text) for line in fence.splitlines()] + INLINE.findall(text)
    found = (re.match(rf"(?:\$ )?(?:\.venv/bin/)?{program} ([a-z]+)", line.strip()) for line in shown)
    return {match[1] for match in found if match}


def test_every_relative_link_resolves() -> None:
    for paper in PAPERS:
        links = LINK.findall(paper.read_text(encoding="utf-8"))

        assert [link for link in links if not (paper.parent / link).exists()] == [], paper


def test_every_file_named_in_contributing_exists() -> None:
    told = set(TREE_PATH.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))

    assert "tests/unit/" in told
    assert sorted(path for path in told if not (ROOT / path).exists()) == []


def test_every_make_target_shown_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))

    for paper in PAPERS:
        assert commands_in(paper, "make") <= targets, paper


def test_every_documentation_page_is_linked_from_the_readme() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}

    assert sorted(pages - linked) == []


def test_every_recall_command_in_the_readme_exists() -> None:
    shown = commands_in(ROOT / "README.md", "recall")

    assert shown
    assert shown <= set(BY_NAME)


def test_every_module_has_a_docstring() -> None:
    for module in MODULES:
        text = module.read_text(encoding="utf-8")

        assert not text.strip() or DOCSTRING.match(text), module


def test_no_two_classes_share_a_name() -> None:
    files: dict[str, list[str]] = {}
    for module, name in zip(MODULES, relative_names(MODULES), strict=True):
        for defined in CLASS.findall(STRING.sub("", module.read_text(encoding="utf-8"))):
            if defined not in NAMED_TWICE:
                files.setdefault(defined, []).append(name)

    assert len(files) > 100

    assert {name: found for name, found in files.items() if len(found) > 1} == {}


def test_map_lists_exactly_the_existing_packages() -> None:
    mapped = set(re.findall(r"`((?:recall_core|recall_tui)/[\w/.]*)`", MAP))
    rooms = {path.parent.relative_to(ROOT).as_posix() + "/" for path in MODULES if path.name == "__init__.py"}
    doors = {name for name in relative_names(MODULES) if name.count("/") == 1 and not name.endswith("__init__.py")}

    assert [path for path in sorted(mapped) if not (ROOT / path).exists()] == []
    assert sorted((rooms | doors) - mapped - {f"{package}/" for package in PACKAGES}) == []


def test_map_shows_the_checked_layers() -> None:
    contract = next(c for c in PYPROJECT["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    checked = [
        re.sub(r"\(.*?\)", "", layer) for layer in contract["layers"]
    ]  # optional layers may be missing from the map
    drawn = [line.partition(" " * 6)[0] for line in FENCE.findall(MAP)[0].splitlines()]

    assert [modules(line) for line in drawn] == [modules(line) for line in checked]


def test_every_dependency_is_pinned_inside_its_range() -> None:
    project = PYPROJECT["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    required = [Requirement(text) for text in [*project["dependencies"], *extras]]
    pins = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    )

    for requirement in required:
        if requirement.name != project["name"]:  # an extra made of other extras
            assert requirement.specifier.contains(pins[requirement.name.lower()]), requirement


def test_changelog_opens_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.findall(r"^## (\S+)", text, re.M)[0] == recall_core.__version__
