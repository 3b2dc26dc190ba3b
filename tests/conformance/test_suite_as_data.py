"""The conformance suite as data: Recall gives its answers, and a difference shows."""

import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recall_core.conformance.__main__ import DATA, differ, main, read_lines, run
from recall_core.steps import SPEC_VERSION

SCHEMA = json.loads((DATA / "schema.json").read_text(encoding="utf-8"))
LINES = {"corpus.jsonl": "change", "queries.jsonl": "question", "expected.jsonl": "expected"}
SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "CJK", "KATAKANA", "HANGUL", "THAI")


def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]})


def spell(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def hexed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_every_check_of_the_suite_holds(tmp_path: Path) -> None:
    assert run(f"sqlite:{tmp_path / 'new.db'}") == []


def test_every_line_of_the_suite_fits_its_schema() -> None:
    for name, kind in LINES.items():
        checking = validator(kind)
        for line in read_lines(name):
            checking.validate(line)


def test_the_questions_are_written_in_ten_scripts() -> None:
    letters = set("".join(each["text"] for each in read_lines("queries.jsonl") if each["kind"] == "search"))

    assert {name for name in SCRIPTS for letter in letters if unicodedata.name(letter, "").startswith(name)} == {
        *SCRIPTS
    }


def test_the_suite_asks_every_kind_once_per_id() -> None:
    questions = read_lines("queries.jsonl")
    kinds = {each["properties"]["kind"]["const"] for each in SCHEMA["$defs"]["question"]["oneOf"]}

    assert Counter(each["id"] for each in questions).most_common(1)[0][1] == 1
    assert {each["kind"] for each in questions} == kinds
    assert [each["id"] for each in questions] == [each["id"] for each in read_lines("expected.jsonl")]
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 400_000


def test_the_rules_of_the_readme_give_ids_and_digest() -> None:
    answers = {line["id"]: line["answer"] for line in read_lines("expected.jsonl")}
    asked = {line["doc_id"]: line["id"] for line in read_lines("queries.jsonl") if line["kind"] == "chunks"}
    live = {line.get("remove", line.get("doc_id")): line for line in read_lines("corpus.jsonl")}
    total = 0
    for path in sorted(asked):
        line = live[path]
        own = hexed(f"{path}\0{hexed(line['text'])}")
        chunks = answers[asked[path]]
        mtime = f"{datetime.fromtimestamp(line['mtime_ns'] // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
        fields = [own, None, mtime, spell(line["metadata"]), line["title"]]
        spans = [[chunk["offset"], chunk["end"], chunk["tokens"]] for chunk in chunks]
        total += int(hexed(spell([fields, spans, [[tag] for tag in sorted(line["tags"])]])), 16)
        assert answers["digest-01"]["ids"][path] == [own]
        assert [chunk["id"] for chunk in chunks] == [hexed(f"{own}:{chunk['offset']}") for chunk in chunks]

    assert answers["digest-01"]["digest"] == hexed(f"hash-1:64:{total % 2**256:064x}")
    assert answers["digest-01"]["documents"] == len(asked)


def test_a_difference_names_place_and_both_values() -> None:
    expected = {"rows": [{"path": "a", "score": 0.5}, {"path": "b", "score": 0.25}], "total": 2}
    got = {"rows": [{"path": "a", "score": 0.500001}], "total": 2, "copies": 1}

    assert list(differ(expected, got)) == [
        ("rows[0].score", (0.5, 0.500001)),
        ("rows[1]", ({"path": "b", "score": 0.25}, "(absent)")),
        ("copies", ("(absent)", 1)),
    ]


def test_the_report_names_version_results_and_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", ":memory:", "--report"]) == 0

    report = json.loads(capsys.readouterr().out)
    validator("report").validate(report)
    assert (report["spec_version"], report["held"]) == (SPEC_VERSION, report["checks"])


def test_an_existing_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.db").write_bytes(b"mine")

    assert main(["--store", f"sqlite:{tmp_path / 'old.db'}"]) == 2
    assert (tmp_path / "old.db").read_bytes() == b"mine"
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["C", "C.UTF-8", "tr_TR.UTF-8"])
def test_no_locale_and_no_hash_seed_changes_an_answer(name: str) -> None:
    for seed in range(10):
        environment = {**os.environ, "LC_ALL": name, "PYTHONHASHSEED": str(seed)}
        ran = subprocess.run(
            [sys.executable, "-m", "recall_core.conformance", "--store", ":memory:", "--report"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if "locale of the environment cannot be set" in ran.stderr:
            pytest.skip(f"the locale {name} is not installed")
        assert ran.returncode == 0, (seed, ran.stdout, ran.stderr)
