"""`make mutants` makes reproducible faults, names those that no test notices, and leaves the checkout unchanged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks.mutants import Mutant, chosen, planned
from benchmarks.mutation import is_called, sampled, statements, used_from
from benchmarks.reach import Reach

ROOT = Path(__file__).parents[2]

MODULE = '''"""A module to be mutated."""

MOST = 10


def least(a: int, b: int = 0) -> int:
    """The lesser of two."""
    if a < b:
        return a
    return b


def clipped(n: int) -> int:
    return n if n < MOST else MOST
'''
TESTS = """from pathlib import Path

from tiny import clipped, least


def test_the_lesser_is_taken():
    assert least(1, 2) == 1
    assert least(2, 1) == 1
    assert least(-1) == -1
    assert least(1) == 0


def test_what_is_small_stays():
    assert clipped(3) == 3
    Path(__file__).with_name("trace").touch()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tiny.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "tests/test_tiny.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def run(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    where = ["--root", str(project), "--files", "*.py", "--tests", "tests", "--workers", "1"]
    command = [sys.executable, "-m", "benchmarks.mutants", *where, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def changes(source: str) -> set[str]:
    """Return every change to a source, as its line is shown."""
    raw = source.encode()
    return {change.shown(raw) for change in sampled(raw, 1_000, Random(1))}


def test_survivor_is_named_with_its_change_and_checkout_stays_unchanged(project: Path) -> None:
    done = run(project, "--count", "100")

    assert done.returncode == 0, done.stderr
    assert "tiny.py:3  MOST = [-10-]{+11+}\n" in done.stdout
    assert "tiny.py:14  return n if n [-<-]{+<=+} MOST else MOST\n" in done.stdout
    assert "tiny.py:9  return [-a-]{+None+}" not in done.stdout
    assert (project / "tiny.py").read_text(encoding="utf-8") == MODULE
    assert {path.name for path in project.iterdir()} == {"tiny.py", "tests", ".mutants"}
    assert [path.name for path in (project / "tests").iterdir()] == ["test_tiny.py"]


@pytest.mark.slow
def test_results_are_reused_until_a_file_changes(project: Path) -> None:
    first = run(project, "--count", "100")
    again = run(project, "--count", "100")

    assert again.stdout == first.stdout
    assert {line.split(", ")[1] for line in again.stderr.splitlines()} == {"0 to try"}

    better = TESTS + "\n\ndef test_what_is_great_is_cut():\n    assert clipped(11) == 10\n"
    (project / "tests/test_tiny.py").write_text(better, encoding="utf-8")
    after = run(project, "--count", "100")

    assert "MOST = [-10-]" not in after.stdout
    assert len(after.stdout.splitlines()) < len(first.stdout.splitlines())


@pytest.mark.slow
def test_parts_make_up_the_whole_and_low_scores_fail(project: Path) -> None:
    parts = [run(project, "--count", "12", "--part", f"{n}/2", "--least", "10") for n in (1, 2)]
    whole = run(project, "--count", "12", "--least", "100")

    assert [part.returncode for part in parts] == [0, 0], parts[0].stderr
    assert whole.returncode == 1
    survivors = [{line for line in run.stdout.splitlines() if line.startswith("tiny.py:")} for run in (*parts, whole)]
    assert survivors[0] | survivors[1] == survivors[2]
    assert not survivors[0] & survivors[1]


@pytest.mark.slow
def test_endless_mutant_is_not_a_survivor(project: Path) -> None:
    endless = "def count(n):\n    while n:\n        n -= 1\n    return n\n"
    (project / "tiny.py").write_text(endless, encoding="utf-8")
    (project / "tests/test_tiny.py").write_text(
        "from tiny import count\n\n\ndef test_it():\n    assert count(2) == 0\n"
    )

    done = run(project, "--count", "100", "--grace", "1")

    assert "n [---]{+++}= 1" not in done.stdout
    _, _, _, timeouts, _ = next(line for line in done.stdout.splitlines() if line.startswith("all ")).split()
    assert int(timeouts) > 0


def test_equal_seeds_give_equal_mutants(project: Path) -> None:
    one, same, other = (planned(project, ["*.py"], seed=seed, count=6) for seed in (1, 1, 2))

    assert one == same
    assert [mutant.key for mutant in one] == [mutant.key for mutant in same]
    assert one != other


def test_mutants_are_spread_by_statement_count(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("import os\nimport sys\nA = 0\n", encoding="utf-8")
    (tmp_path / "large.py").write_text("A = 1\n" * 9, encoding="utf-8")

    found = planned(tmp_path, ["*.py"], seed=1, count=8)

    assert [mutant.path for mutant in found] == ["large.py"] * 7 + ["small.py"]
    assert statements((tmp_path / "large.py").read_bytes()) == 9


def test_only_lines_inside_functions_count_as_called() -> None:
    source = b"def made():\n    return 1\n\ndef asked():\n    return MADE\n\nMADE = made()\n"

    assert [is_called(source, line) for line in (1, 2, 5, 7)] == [False, False, True, False]


def test_pattern_without_files_is_refused(project: Path) -> None:
    with pytest.raises(SystemExit, match="moved/"):
        planned(project, ["*.py", "moved/*.py"], seed=1, count=8)


def test_every_kind_of_change_is_known() -> None:
    source = (
        "def f(a, b, c):\n"
        "    if a <= b and not c:\n"
        "        g.x = min(a, 2) // b\n"
        "        a += 1\n"
        "    for row in sorted(c):\n"
        "        h(row)\n"
        "        continue\n"
        "    return [x for x in c[a:] if x in (True, b)]\n"
    )

    found = changes(source)

    assert {
        "if a [-<=-]{+<+} b and not c:",
        "if a <= b [-and-]{+or+} not c:",
        "if a <= b and [-not c-]{+c+}:",
        "if [-a <= b and not c-]{+not (a <= b and not c)+}:",
        "g.x = [-min-]{+max+}(a, 2) // b",
        "g.x = min(a, [-2-]{+3+}) // b",
        "g.x = min(a, [-2-]{+1+}) // b",
        "g.x = min(a, 2) [-//-]{+*+} b",
        "[-g.x = min(a, 2) // b-]{+pass+}",
        "a [-+-]{+-+}= 1",
        "[-a += 1-]{+pass+}",
        "for row in [-sorted(c)-]{+sorted(c)[::-1]+}:",
        "[-h(row)-]{+pass+}",
        "[-continue-]{+pass+}",
        "return [-[x for x in c[a:] if x in (True, b)]-]{+None+}",
        "return [x for x in c[[-a-]{++}:] if x in (True, b)]",
        "return [x for x in c[[-a-]{+(a) + 1+}:] if x in (True, b)]",
        "return [x for x in c[a:] if x [-in-]{+not in+} (True, b)]",
        "return [x for x in c[a:] if [-x in (True, b)-]{+True+}]",
        "return [x for x in c[a:] if x in ([-True-]{+False+}, b)]",
    } <= found


def test_sql_strings_are_mutated_but_other_texts_are_not() -> None:
    found = changes('A = f"SELECT x FROM {a < b} WHERE x < ? AND y = 0 ORDER BY x DESC"\nB = "this < that, DESC"\n')

    assert found == {
        'A = f"SELECT x FROM {a < b} WHERE x [-<-]{+<=+} ? AND y = 0 ORDER BY x DESC"',
        'A = f"SELECT x FROM {a < b} WHERE x < ?[- AND -]{+ OR +}y = 0 ORDER BY x DESC"',
        'A = f"SELECT x FROM {a < b} WHERE x < ? AND [-y = -]{+y <> +}0 ORDER BY x DESC"',
        'A = f"SELECT x FROM {a < b} WHERE x < ? AND y = [-0-]{+1+} ORDER BY x DESC"',
        'A = f"SELECT x FROM {a < b} WHERE x < ? AND y = 0 ORDER BY x [-DESC-]{+ASC+}"',
    }


def test_annotations_and_docstrings_are_not_mutated() -> None:
    source = (
        '"""1 < 2"""\n'
        "from typing import TYPE_CHECKING\n"
        "__all__ = ['a' * 1]\n"
        "if TYPE_CHECKING:\n"
        "    A = 1\n"
        "@cached(size=1)\n"
        "def f(a: Literal[1]) -> Literal[2]:\n"
        "    '''3'''\n"
        "    b: Literal[4] = a\n"
        "    assert a > 1\n"
        "    log.info(5)\n"
        "    raise Wrong(f'{a + 1}', 1 + 2, hint='x' * 6)\n"
    )

    assert changes(source) == {"[-raise Wrong(f'{a + 1}', 1 + 2, hint='x' * 6)-]{+pass+}"}


def test_nearest_tests_run_first_within_the_time_limit() -> None:
    source = b"MOST = 1\n\ndef f(n):\n    return n < MOST\n"
    near, far, quick = "tests/unit/test_fuse.py::a", "tests/unit/test_other.py::b", "tests/unit/test_other.py::c"
    reach = Reach(
        {"rank/fuse.py": {0: [near, far, quick], 1: [far], 4: [far, near, quick]}},
        {near: 12.0, far: 9.0, quick: 7.0},
        100.0,
    )
    below = next(change for change in sampled(source, 9, Random(1)) if change.text == "<=")
    most = next(change for change in sampled(source, 9, Random(1)) if change.text == "2")

    assert chosen(Mutant("rank/fuse.py", below, source), reach) == [quick, near]
    assert used_from(source, 1) == {4}
    assert chosen(Mutant("rank/fuse.py", most, source), reach) == [quick, near]
    reach.tests["rank/fuse.py"][4].clear()
    assert chosen(Mutant("rank/fuse.py", below, source), reach) == []
