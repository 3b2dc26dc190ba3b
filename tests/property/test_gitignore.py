"""A walk reads the files that git lists, on the same random trees."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.ingest import ignore
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
    """Make files and folders three levels deep, with a `.gitignore` at the top and in some folders."""
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
    """Return every file below that git does not exclude, without the developer's own settings."""
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**clean, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    ask = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"]
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment, check=True)
    said = subprocess.run(ask, cwd=folder, env=environment, check=True, capture_output=True)
    return sorted(path for path in said.stdout.decode().split("\0") if path and not path.endswith(".gitignore"))


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_walk_finds_what_git_lists(tmp_path: Path, seed: int) -> None:
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


def git_home(home: Path) -> dict[str, str]:
    """Return an environment in which git reads only the settings in this folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "own"),
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")
@pytest.mark.parametrize("seed", range(8))
def test_walk_omits_repository_and_personal_excludes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    environment = git_home(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, environment[name])
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    (tmp_path / "own/git").mkdir(parents=True)
    own = tmp_path / chance.choice(("own/git/ignore", "mine"))
    if own.name == "mine":
        (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")

    for number in range(12):
        folder = tmp_path / f"{number:03}"
        grow(folder, chance)
        subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment, check=True)
        own.write_text("\n".join(a_line(chance) for _ in range(chance.randrange(4))))
        lines = [a_line(chance) for _ in range(chance.randrange(4))]
        (folder / ".git/info/exclude").write_text("\n".join(lines))
        ask = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
        said = subprocess.run(ask, cwd=folder, env=environment, check=True, capture_output=True)
        listed = sorted(path for path in said.stdout.decode().split("\0") if path and ".gitignore" not in path)

        found = sorted(step.os_path for step in walk(Root("."), folder, Config()) if isinstance(step, Found))

        assert found == listed, (own.read_text(), lines)


VALUES = (
    *("~/x", "/a/b", "", '"/a b"', '"/a b "', "/a\\\\b", "/a ; c", '"/a;b" # c', "/a\\tb", " /s ", "/a\\\n/b"),
    *('/"q"r', "/a#b"),
)
HEADS = ("[core]\n", "[Core]", "[core] ", "[user]\n", '[core "x"]\n', "# [core] \\\n", "; c\n", "\n", "[a][core]\n")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")
def test_git_settings_are_read_as_git_reads_them(tmp_path: Path) -> None:
    chance = random.Random(5)
    environment = git_home(tmp_path)
    settings = tmp_path / ".gitconfig"
    found = 0
    for _ in range(150):
        pieces = [chance.choice(HEADS)]
        for _ in range(chance.randrange(1, 4)):
            key = chance.choice(("excludesFile", "excludesfile", "\tEXCLUDESFILE ", "editor", "excludes-file"))
            pieces += [chance.choice(("", *HEADS[:5])), f"{key} = {chance.choice(VALUES)}\n"]
        settings.write_text("".join(pieces))
        ask = ["git", "config", "--file", str(settings), "--get", "--type=path", "core.excludesFile"]
        said = subprocess.run(ask, env=environment, check=False, capture_output=True)
        if said.returncode > 1:
            continue  # git does not read these as settings
        value = said.stdout.decode().removesuffix("\n") if said.returncode == 0 else str(tmp_path / "own/git/ignore")

        place = ignore.find_personal_file(environment)

        assert (str(place) if place else "") == (value if value.startswith("/") else ""), settings.read_text()
        found += said.returncode == 0
    assert found > 30
