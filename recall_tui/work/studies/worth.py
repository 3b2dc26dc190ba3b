"""What the context on the screen is worth."""

from __future__ import annotations

from recall_tui.state.packing import Worth
from recall_tui.state.studies import Study
from recall_tui.work.studying import Lab

ROUGH = "whitespace"
"""The counter that counts words: a model takes more tokens than that, so their number is estimated."""


def study(lab: Lab, study: Study) -> Worth:
    """The account of the context as it was packed, with an estimate of the tokens that a model would count."""
    from recall_core.pack.policy import Terms  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.retrieve.answer import packable  # noqa: PLC0415
    from recall_core.retrieve.worth import account_view  # noqa: PLC0415
    from recall_core.text import counter  # noqa: PLC0415

    answer, packed, packing = lab.session.answer, lab.session.packed, lab.session.packing
    assert answer is not None and packed is not None and packing is not None  # noqa: S101, PT018 - as was wanted
    store = lab.recall.store
    config = answer.plan.config._replace(budget_tokens=packing.budget_tokens)
    terms = Terms(config, counter(packed.counter), frozenset(packing.pins), frozenset(packing.drops))
    with store.reading():
        found = packable(answer, store)
        lab.checkpoint()
        view = account_view(packed, found, terms, store)
    model = counter("approx").count(packed.text) if packed.counter == ROUGH else None
    return Worth(view, model)
