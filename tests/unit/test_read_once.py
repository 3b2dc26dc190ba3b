"""A query's text is parsed once; everything later uses its tree."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.retrieve.plan import plan_rql, replan
from recall_core.rql.lexer import tokenize
from recall_tui.state.events import Repacked, Reweighed
from recall_tui.state.records import Packing
from recall_tui.state.transitions import QueryRequest
from recall_tui.threads.query_thread import QueryThread
from tests.event_log import EventLog
from tests.workbench_corpus import build_store

FILTER = "doc.path GLOB 'docs/*'"
RQL = f"SELECT * FROM chunk USING lexical('token budget'), semantic('token budget') FILTER {FILTER} LIMIT 3"
ODD = "SELECT doc.nonsense FROM chunk USING lexical('token budget') LIMIT 3 OPTION vector_weight 0.5"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("once"))


@contextmanager
def readings() -> Iterator[list[str]]:
    """Record the texts tokenized inside the block, in this thread and in threads started there."""
    read: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is tokenize.__code__:
            read.append(frame.f_locals["text"])

    before = sys.getprofile()
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield read
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


def test_slider_steps_do_not_reparse_the_query(store: Path) -> None:
    for text, filter_text, read_once in [(RQL, "", RQL), ("token budget", FILTER, FILTER)]:
        log = EventLog()
        with readings() as read:
            thread = QueryThread(lambda: Recall.open(str(store)), log.post, time.monotonic)
            thread.start()
            for step in range(1, 4):
                settings = {"vector_weight": step / 10}
                thread.submit(
                    QueryRequest(step, text, (0, 3), Packing(500), filter=filter_text, settings=settings, question=1)
                )
                log.wait_for(lambda event, step=step: isinstance(event, Repacked) and event.generation == step)
            thread.stop()

        weighed = [event.answer.plan for event in log.events if isinstance(event, Reweighed)]
        assert [plan.config.vector_weight for plan in weighed] == [0.2, 0.3], text
        assert read == [read_once], text


def test_whynot_parses_its_query_once(store: Path) -> None:
    for budget_tokens in [None, 200]:
        pack = Pack(budget_tokens=budget_tokens)
        with Recall.open(str(store)) as recall, readings() as read:
            view = recall.why_not(None, "notes/diary.txt", Ask(), pack, rql=RQL)["whynot"]
            asked = recall.why_not("token budget", "notes/diary.txt", Ask(k=1, filter=FILTER), pack)["whynot"]

        assert view["verdict"] == asked["verdict"] == "filter", budget_tokens
        assert view["fixes"], budget_tokens
        assert asked["fixes"], budget_tokens
        assert read == [RQL, FILTER], budget_tokens


def test_report_and_query_check_parse_it_once(store: Path) -> None:
    with Recall.open(str(store)) as recall, readings() as read:
        recall.report(RQL, Ask(), Pack(), is_rql=True)
        recall.report("token budget", Ask(filter=FILTER), Pack())
        recall.check_rql(RQL)

    assert read == [RQL, FILTER, RQL]


def test_replanning_equals_planning_under_the_new_settings() -> None:
    for text in [RQL, ODD]:
        for settings in [(), ("vector_weight=0.9", "min_score=0.1")]:
            for k in [None, 7]:
                plan = plan_rql(text, config=Config(pool=30), exact=True, settings={"fusion": "rrf"})

                asked = plan_rql(text, config=Config(pool=20), exact=True, settings=settings)
                expected = asked if k is None else asked._replace(limit=k, is_capped=True)
                assert replan(plan, config=Config(pool=20), settings=settings, k=k) == expected, (text, settings, k)
