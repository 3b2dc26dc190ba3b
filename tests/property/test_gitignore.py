"""A walk reads the files that git would list: the same random trees, asked of both."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.ingest.discover import Found, walk
from recall_core.types import Root

TREES = 200
NAMES = ("a", "b", "foo", "x.md", "x.log", "[z]", "A", "a b", "#h", "!n", "trail ", "é", "{c,d}", "a\tb")
OFTEN = ("a", "b", "foo", "*", "**", "*.md", "*.log", "f*")
SELDOM = (
    *(
        "?",
        "[a-c]",
        "[!a]",
        "[^a]",
        "a*",
        "*b",
        "f?o",
        "x.*",
        "\\a",
        "\\#h",
        "\\!n",
        "#h",
        "!n",
        "[z]",
        "\\[z\\]",
        "a b",
    ),
    *("[", "[a", "a\\", ".", "..", "***", "[[:alpha:]]", "[[:punct:]]*", "[[:nope:]]", "[]a]", "[a\\]]", "[z-a]"),
    *("[a-]", "**.md", "*foo**", "trail\\ ", "trail ", "é", "??", "a\tb", "{a,b}", "{c,d}", "[{]c,d}", "[!]"),
)
ENDS = ("", "", "", "", "", "", " ", "  ", "\t", "\\ ", " \t", "\\  ")
ODD = (
    "",
    "/",
    "!",
    "#x",
    "//",
    " ",
    " a",
    "!/",
    "\x0c",
    "a\x0cb",
    "*.md\x0bx",
    "!!a",
    "/*",
    "/**",
    "\u2028a",
    "\ufeffa",
)


def a_line(chance: random.Random) -> str:
    if chance.random() < 0.05:
        return chance.choice(ODD)
    segments = [
        chance.choice(OFTEN if chance.random() < 0.6 else SELDOM) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))
    ]
    prefix = ("!" if chance.random() < 0.35 else "") + ("/" if chance.random() < 0.25 else "")
    return prefix + "/".join(segments) + ("/" if chance.random() < 0.35 else "") + chance.choice(ENDS)


def grow(folder: Path, chance: random.Random, depth: int = 0) -> None:
    """Files and folders three levels deep, a `.gitignore` at the top and in some of the folders."""
    folder.mkdir()
    for name in chance.sample(NAMES, chance.randrange(1, 6)):
        if depth < 3 and chance.random() < 0.5:
            grow(folder / name, chance, depth + 1)
        else:
            (folder / name).write_text("text\n")
    if depth == 0 or chance.random() < 0.25:
        lines = [a_line(chance) for _ in range(chance.randrange(1, 5))]
        text = chance.choice(("", "", "", "\ufeff")) + chance.choice(("\n", "\n", "\r\n")).join(lines)
        (folder / ".gitignore").write_bytes((text + chance.choice(("", "\n", "\r\n"))).encode())


def listed_by_git(folder: Path) -> list[str]:
    """Every file below that no rule excludes, as git says; the developer's own settings do not count."""
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**clean, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    ask = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"]
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment, check=True)
    said = subprocess.run(ask, cwd=folder, env=environment, check=True, capture_output=True)
    return sorted(path for path in said.stdout.decode().split("\0") if path and not path.endswith(".gitignore"))


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_walk_finds_what_git_lists(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(TREES):
        grow(tmp_path / f"{number:03}", chance)

    found = sorted(step.os_path for step in walk(Root("."), tmp_path, Config()) if isinstance(step, Found))

    expected = listed_by_git(tmp_path)
    different = {path.partition("/")[0] for path in set(found) ^ set(expected)}
    rules = {
        str(file.relative_to(tmp_path)): file.read_bytes()
        for tree in sorted(different)
        for file in (tmp_path / tree).rglob(".gitignore")
    }
    assert (sorted(set(found) - set(expected)), sorted(set(expected) - set(found)), rules) == ([], [], {})
    assert len(found) > TREES
