"""The plans of a wished question, as it is and as saved, and its candidates ranked again under other settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recall_core.config import Config
from recall_core.tuning.grid import RETRIEVAL
from recall_tui.state.weighing import KEYS
from recall_tui.state.wishes import Wish

if TYPE_CHECKING:
    from recall_core.retrieve import Answer, Plan
    from recall_core.service import Recall


def take_over(recall: Recall, saved: Config | None, keys: Iterable[str] = KEYS) -> None:
    """Go by these settings as the workbench knows them from recall.toml."""
    if saved is not None:
        recall.config = recall.config._replace(**{key: getattr(saved, key) for key in keys})


def weighed(recall: Recall, answer: Answer, plan: Plan) -> Answer:
    """The candidates of an answer ranked as another plan of its question does; what chose them stays."""
    kept = {key: getattr(answer.plan.config, key) for key in RETRIEVAL}
    paged = answer.plan._replace(limit=plan.limit, offset=plan.offset, is_capped=plan.is_capped)
    return whole(recall.weigh(answer._replace(plan=paged), plan.config._replace(**kept)), recall)


def whole(answer: Answer, recall: Recall) -> Answer:
    """Words without a number of rows ask for all: sparse-document recall adds to the list's end, as in a context.

    A row given away in the middle of a list of all rows would be none that any command gives away.
    """
    from recall_core.retrieve.answer import packable  # noqa: PLC0415 - the engine loads behind the first frame

    return answer if answer.plan.rql is not None else packable(answer, recall.store)


def planned(recall: Recall, text: str, wish: Wish) -> Plan:
    """The question under the settings that are moved."""
    from recall_core.service import Ask  # noqa: PLC0415 - the engine loads behind the first frame

    return recall.plan(text, Ask(settings=wish.settings, k=wish.k, filter=wish.filter or None))


def plain(recall: Recall, text: str, wish: Wish) -> Plan:
    """The question under the saved settings."""
    from recall_core.service import Ask  # noqa: PLC0415 - the engine loads behind the first frame

    return recall.plan(text, Ask(filter=wish.filter or None))


def fixed(plan: Plan) -> tuple[str, ...]:
    """The settings that a query's OPTION clause decides."""
    if plan.rql is None:
        return ()
    from recall_core.rql.parser import parse_query  # noqa: PLC0415 - only for queries in RQL

    query, _ = parse_query(plan.rql, strict=plan.config.strict)
    return tuple(name for name, _ in query.options if name in KEYS)
