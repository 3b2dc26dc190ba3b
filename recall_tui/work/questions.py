"""The question on the screen, as the explanations of absence ask it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.state.explaining import rows_given
from recall_tui.state.session import Session, assignments, filter_of
from recall_tui.state.weighing import differences
from recall_tui.work.studying import Lab

if TYPE_CHECKING:
    from recall_core.explain.explanation import Ground
    from recall_core.explain.whynot.question import Asker, Question
    from recall_core.retrieve import Answer, Plan
    from recall_core.types import Packed

KEPT = "ground"


def answer_of(session: Session) -> Answer:
    """The answer as the command asks for it: where recall adds rows to words, so many have to be asked for."""
    answer = session.answer
    assert answer is not None  # noqa: S101 - only hits of an answer are explained
    rows = rows_given(answer)
    return answer if rows is None else answer._replace(plan=answer.plan._replace(limit=rows, is_capped=True))


def ground(lab: Lab) -> Ground:
    """What the explanations of the answer on the screen stand on, kept until there is another answer."""
    from recall_core.explain.explanation import Ground, ground_of  # noqa: PLC0415 - the engine loads behind the frame

    kept = lab.kept.get(KEPT)
    if isinstance(kept, tuple) and kept[0] is lab.session.answer:
        made = kept[1]
    else:
        made = ground_of(answer_of(lab.session))
        lab.kept[KEPT] = lab.session.answer, made
        lab.checkpoint()
    assert isinstance(made, Ground)  # noqa: S101 - nobody else keeps anything under this name
    return made


def context_question(session: Session) -> Question:
    """The question whose context is packed under the budget."""
    from recall_core.explain.whynot.question import Question  # noqa: PLC0415 - the engine loads behind the first frame

    answer = session.answer
    assert answer is not None  # noqa: S101 - nothing is looked into before there is an answer
    plan = answer.plan
    return Question(
        words="" if plan.rql is not None else plan.text,
        rql=plan.rql,
        filter=filter_of(plan),
        k=session.k,
        settings=assignments(differences(plan.config, session.plain)),
        exact=plan.exact and plan.rql is None,
        budget_tokens=session.budget_tokens,
    )


def list_question(question: Question, rows: int) -> Question:
    """The same question for its rows. rows: of the store, since words alone list the whole ranking."""
    question = question._replace(budget_tokens=None)
    return question if question.rql is not None or question.k is not None else question._replace(k=max(1, rows))


def asker_of(lab: Lab, question: Question) -> Asker:
    """The store, asked step by step; each step gives way to what a person does next."""
    asker = lab.recall.seeker(question)

    def answer(plan: Plan) -> Answer:
        lab.checkpoint()
        return asker.answer(plan)

    def pack(found: Answer, changed: Question) -> Packed:
        lab.checkpoint()
        return asker.pack(found, changed)

    return asker._replace(answer=answer, pack=pack)
