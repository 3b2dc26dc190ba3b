"""Why something is not in the list, or, where the list has it, not in the context; and what would bring it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core import shell
from recall_tui.state.explaining import Absence, Remedy
from recall_tui.state.session import Session, Tweaks
from recall_tui.state.studies import Study
from recall_tui.work.questions import asker_of, context_question, list_question
from recall_tui.work.studying import Lab

if TYPE_CHECKING:
    from recall_core.contract.whynot import FixView, WhyNotView
    from recall_core.explain.whynot.question import Question


def study(lab: Lab, study: Study) -> Absence:
    """The account of the target in the question on the screen."""
    from recall_core.explain.whynot.why import why_not  # noqa: PLC0415 - the engine loads behind the first frame

    recall, session = lab.recall, lab.session
    with recall.store.reading():
        question = context_question(session)
        listed = list_question(question, recall.store.info().chunks)
        asker = asker_of(lab, question)
        in_list = why_not(asker, listed, study.target, fixes=False).view["present"]
        asked = question if in_list else listed
        done = why_not(asker, asked, study.target)
        fixes = done.view.get("fixes", [])
        for fix in fixes:
            fix["command"] = shell.in_store(fix["command"], lab.store)
        changes = [remedy(asked, each.question, fix) for each, fix in zip(done.changes, fixes, strict=True)]
        if in_list and not done.view["present"]:
            changes += _pinned(lab, done.view)
        return Absence(done.view, in_list, tuple(changes))


def remedy(before: Question, after: Question, fix: FixView) -> Remedy:
    """A fix as what the workbench has to change to ask the changed question."""
    texts = (before.rql, after.rql) if before.rql is not None else (before.words, after.words)
    text = texts[1] if texts[0] != texts[1] else None
    if after.exact and not before.exact:
        text = _exact(after)
    return Remedy(
        kind=fix["kind"],
        change=fix["change"],
        command=fix["command"],
        doubt=fix.get("next_smaller", ""),
        text=text,
        filter=(after.filter or "") if after.filter != before.filter else None,
        settings=_settings(before, after),
        k=_rows(before, after),
        budget_tokens=after.budget_tokens if after.budget_tokens != before.budget_tokens else None,
    )


def _rows(before: Question, after: Question) -> int | None:
    """How many rows are asked for, where that is another number. A number that was moved wins over LIMIT."""
    from recall_core.rql.parser import parse_query  # noqa: PLC0415 - with the rest of the engine

    if after.k is None and before.k is not None and after.rql is not None:
        return parse_query(after.rql).query.limit
    return after.k if after.k != before.k else None


def _settings(before: Question, after: Question) -> Tweaks:
    """What is set otherwise. A cap on a document is a flag of the command, and a setting here."""
    from recall_core.config import Config, assign  # noqa: PLC0415 - with the rest of the engine

    changed = [each for each in after.settings if each not in before.settings]
    if after.diversity is not None and after.diversity != before.diversity:
        changed.append(f"diversity={after.diversity}")
    config = assign(Config(), changed, where="--set")
    return {key: getattr(config, key) for key in (each.partition("=")[0] for each in changed)}


def _exact(question: Question) -> str | None:
    """The query with every row scored; words have no way to say so in the workbench."""
    from recall_core.rql.parser import parse_query  # noqa: PLC0415 - with the rest of the engine
    from recall_core.rql.print import print_query  # noqa: PLC0415

    if question.rql is None:
        return None
    query = parse_query(question.rql).query
    options = {**dict(query.options), "exact": True}
    return print_query(query._replace(options=tuple(options.items())))


def _pinned(lab: Lab, view: WhyNotView) -> list[Remedy]:
    """Forcing it into the context, where that is tried and does."""
    from recall_core.service import Pack  # noqa: PLC0415 - the engine loads behind the first frame

    session, chosen = lab.session, view["target"].get("chosen")
    if chosen is None or session.answer is None:
        return []
    pin = chosen["chunk_id"]
    packed = lab.recall.pack(
        session.answer, Pack(session.budget_tokens, pins=(*session.pins, pin), drops=_left(session, pin))
    )
    if not any(pin in block.chunk_ids and not block.truncated for block in packed.blocks):
        return []
    return [Remedy("pin", "pin it: it is packed before everything else", _command(lab, pin), pin=pin)]


def _left(session: Session, pin: str) -> tuple[str, ...]:
    return tuple(each for each in session.drops if each != pin)


def _command(lab: Lab, pin: str) -> str:
    from recall_core.explain.whynot.question import command  # noqa: PLC0415 - the engine loads behind the first frame

    return shell.in_store(f"{command(context_question(lab.session))} --pin {pin[:12]}", lab.store)
