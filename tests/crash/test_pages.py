"""A file with a flipped bit, swapped or zeroed pages: doctor finds and repairs it, or no answer is affected."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CompletedProcess
from typing import Any, NamedTuple

import pytest

from recall_core import Recall
from recall_core.errors import RecallError
from tests import damage, warm
from tests.examples import mostly_nightly

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
FEW, MANY, KILLS = 12, 492, 5 if IS_NIGHTLY else 2
FOREIGN = 379  # puts rows of another table in place of vectors
ROOT = Path(__file__).parents[2]
KINDS = ("flip", "swap", "zero")
OUTCOMES = ("unaffected", "told_at_once", "mended_whole", "mended_in_part")
LEFT = {"slices", "digest"}
"""Faults that no repair removes: a missing part, and labels that match no digest. Doctor names both."""


class Known(NamedTuple):
    """The answers of the undamaged store."""

    export: str
    answers: list[str]
    texts: dict[str, str]
    """Of each document and each chunk, by path or id."""
    judged: list[Any]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return damage.make_store(tmp_path_factory.mktemp("pages") / "store", documents=16)


@pytest.fixture(scope="module")
def known(template: Path) -> Known:
    with Recall.open(str(template)) as recall:
        export = export_text(recall)
        lines = [json.loads(line) for line in export.splitlines()]
        names = [line["path"] for line in lines if line["type"] == "document"]
        names += [line["id"] for line in lines if line["type"] == "chunk"]
        texts = {name: recall.get(name)["found"]["text"] for name in names}
        return Known(export, answers(recall), texts, read_judgements(recall))


def export_text(recall: Recall) -> str:
    out = io.StringIO()
    recall.export(out)
    return out.getvalue()


def read_judgements(recall: Recall) -> list[Any]:
    """Return every judgement with its query."""
    queries = recall.store.judged_queries()
    return [(queries[row.query], row) for row in recall.store.judgements() if row.query in queries]


def answers(recall: Recall) -> list[str]:
    """Return the answers to queries of every kind, without their times."""
    asked = [
        recall.search("quokka wombat", k=30, explain=True),
        recall.search("東京 café", k=30, mode="lexical"),
        recall.search("koala echidna", k=30, mode="semantic"),
        recall.query("SELECT * FROM doc FILTER doc.meta.year >= 1992 OR doc.tag = 'zoo'"),
        recall.query("SELECT * FROM chunk FILTER doc.source = 'diary' LIMIT 50"),
        recall.context("where do possums glide?", budget_tokens=400),
        recall.roots(),
    ]
    return [
        json.dumps({**answer, "stats": {**answer.get("stats", {}), "took_ms": 0, "timings": {}}}) for answer in asked
    ]


def spoil(path: Path, chance: Random, kind: str) -> str:
    """Damage the file and return the tree that was hit."""
    raw = bytearray(path.read_bytes())
    page = chance.randrange(len(raw) // damage.PAGE)
    start = page * damage.PAGE
    if kind == "flip":
        raw[start + chance.randrange(damage.PAGE)] ^= 1 << chance.randrange(8)
    elif kind == "zero":
        raw[start : start + damage.PAGE] = bytes(damage.PAGE)
    else:
        other = chance.choice([each for each in range(len(raw) // damage.PAGE) if each != page]) * damage.PAGE
        mine, theirs = raw[start : start + damage.PAGE], raw[other : other + damage.PAGE]
        raw[start : start + damage.PAGE], raw[other : other + damage.PAGE] = theirs, mine
    path.write_bytes(raw)
    return f"page {page + 1}"


def outcome_of(ask: Callable[[], Any]) -> Any:
    """Return the answer, or the refusal; damage may raise no other error."""
    try:
        return ask()
    except RecallError as error:
        return error


def read(recall: Recall, known: Known) -> dict[str, str]:
    """Return every readable text, by path and by id."""
    found = {name: outcome_of(lambda name=name: recall.get(name)["found"]["text"]) for name in known.texts}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def case(seed: int, made: Path, known: Known, place: Path) -> str:
    """Damage a store, find and repair it, and return the outcome."""
    chance = Random(seed)
    kind = KINDS[seed % len(KINDS)]
    shutil.rmtree(place, ignore_errors=True)
    base = damage.copied(made, place)
    where = spoil(base / "recall.db", chance, kind)
    opened = outcome_of(lambda: Recall.open(str(base)))
    if isinstance(opened, RecallError):
        assert opened.exit_code == 6, (kind, where, opened)
        assert Recall.verify(base / "recall.db")["checks"][0]["severity"] == "error"
        return "told_at_once"
    with opened as recall:
        before = read(recall, known)
        assert before.items() <= known.texts.items(), (kind, where, "a text has changed")
        rows = outcome_of(lambda: read_judgements(recall))
        broken = {check["code"] for check in recall.doctor()["checks"] if check["severity"] == "error"}
        if not broken:
            assert outcome_of(lambda: export_text(recall)) == known.export, (kind, where, "export")
            assert outcome_of(lambda: answers(recall)) == known.answers, (kind, where, "answers")
            assert rows == known.judged, (kind, where, "judged")
            return "unaffected"
        checks = {check["code"]: check for check in recall.doctor(fix=True)["checks"]}
    left = {code for code, check in checks.items() if check["severity"] == "error"}
    assert left <= LEFT, (kind, where, broken, {code: checks[code]["evidence"] for code in left})
    with Recall.open(str(base)) as recall:
        after = read(recall, known)
        assert before.items() <= after.items(), (kind, where, sorted(before.keys() - after.keys()))
        assert after.items() <= known.texts.items(), (kind, where)
        if isinstance(rows, list):
            assert set(rows) & set(known.judged) <= set(read_judgements(recall)), (kind, where)
        lost = {each["path"] for each in checks.get("rebuilt", {}).get("lost", [])}
        told = " ".join(checks[code]["evidence"] for code in left)
        unsaid = {name for name in known.texts.keys() - after.keys() - lost if len(name) != 64 and name not in told}
        assert not unsaid, (kind, where, "an unreadable document is neither reported lost nor named by a check")
    return "mended_whole" if after == known.texts else "mended_in_part"


IN_CI = (3, 5, 9, FOREIGN)
"""A bit, a page and two swapped pages: one harmless, one that removes a part, and two in between."""


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=[] if seed in IN_CI else [pytest.mark.slow], id=str(seed))
        for seed in (*range(FEW), FOREIGN)
    ],
)
def test_damaged_page_is_repaired_or_changes_no_answer(
    template: Path, known: Known, tmp_path: Path, seed: int
) -> None:
    assert case(seed, template, known, tmp_path / "store") in OUTCOMES


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(1_800)
def test_many_damaged_pages_are_repaired_or_change_no_answer(
    template: Path, known: Known, tmp_path: Path, kind: str, counted: Callable[..., None]
) -> None:
    seeds = range(KINDS.index(kind), FEW + MANY, len(KINDS))

    outcomes = Counter(case(seed, template, known, tmp_path / "store") for seed in seeds)

    assert outcomes.total() == (FEW + MANY) // len(KINDS)
    assert outcomes["mended_whole"] > outcomes["mended_in_part"] > 0
    counted("pages", kind, cases=outcomes.total(), **{name: outcomes[name] for name in OUTCOMES})


SMALL = ("root", "left_out", "judged_query", "judgement", "meta")
"""Tables on a single page, without hashes of their rows."""

LIKE = {"root": "vec_rerank", "left_out": "vec_windowed", "judgement": "vec_next", "meta": "vec_cache"}
"""For each table another tree whose page can pass for its own."""


def exchange(made: Path, base: Path, one: str, other: str) -> None:
    """Swap the pages of two trees, and check that this is found and repaired."""
    pages = damage.trees(made / "recall.db")
    damage.exchange(damage.copied(made, base) / "recall.db", pages[one], pages[other])
    opened = outcome_of(lambda: Recall.open(str(base)))
    if isinstance(opened, RecallError):
        assert opened.exit_code == 6
        return
    with opened as recall:
        assert "error" in {check["severity"] for check in recall.doctor()["checks"]}, (one, other)
        after = {check["code"]: check for check in recall.doctor(fix=True)["checks"]}
    left = {code for code, check in after.items() if check["severity"] == "error"}
    assert left <= LEFT, (one, other, left)
    assert one == "meta" or after["rebuilt"]["severity"] == "warning", (one, other, "no loss is reported")


@pytest.mark.parametrize("table", mostly_nightly(LIKE, "judgement", "meta"))
def test_swapped_page_of_similar_small_table_is_found(template: Path, tmp_path: Path, table: str) -> None:
    exchange(template, tmp_path / "store", table, LIKE[table])


@pytest.mark.slow
@pytest.mark.parametrize("table", SMALL)
def test_swapped_page_of_any_small_table_is_found(
    template: Path, tmp_path: Path, table: str, counted: Callable[..., None]
) -> None:
    others = damage.trees(template / "recall.db").keys() - {table}

    for other in sorted(others):
        exchange(template, tmp_path / other, table, other)

    counted("pages", f"swapped {table}", cases=len(others))


KILLED = """
import os, signal, sys
from recall_core import Recall
from tests.crash.disk import disk

calls, last = 0, int(sys.argv[2])

def act(call, do):
    global calls
    if call.kind in ("write", "truncate", "sync", "unlink", "flush", "rename", "remove"):
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)
    return do()

with disk(act), Recall.open(sys.argv[1]) as recall:
    recall.doctor(fix=True)
print(calls)
"""


def test_next_fix_repairs_store_after_killed_fix(
    template: Path, known: Known, tmp_path: Path, counted: Callable[..., None]
) -> None:
    def fixed(base: Path, last: int) -> CompletedProcess[str]:
        damage.copied(template, base)
        damage.spoil(base / "recall.db", damage.trees(base / "recall.db")["chunk_doc"])
        return warm.run([str(base), str(last)], cwd=ROOT, env=os.environ, program=KILLED, kind="ingest")

    whole = fixed(tmp_path / "whole", 0)
    calls = int(whole.stdout)
    for number in range(1, KILLS + 1):
        base = tmp_path / str(number)
        assert fixed(base, calls * number // KILLS).returncode == -signal.SIGKILL

        with Recall.open(str(base)) as recall:
            assert not {c["code"] for c in recall.doctor(fix=True)["checks"] if c["severity"] == "error"}
            assert export_text(recall) == known.export
    counted("pages", "fix", kills=KILLS)
